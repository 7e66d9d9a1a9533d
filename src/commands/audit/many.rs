//! Every saved session of a project, or of all: audited on all cores without a reader, printed as a
//! table. Must not trust findings that depend on a disk that has changed since.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use super::super::output::{print, print_json};
use super::super::progress::Progress;
use super::{Result, code_of, complain, has_conversation, project};
use crate::cli::{AuditArgs, Format};
use crate::env::Env;
use crate::parallel::{self, Interrupted};
use crate::past_sessions::audit::Project;
use crate::past_sessions::find::{Found, Shelf};
use crate::past_sessions::moved_on;
use crate::render::Report;
use crate::render::report_text::sessions;
use crate::session::load::load_saved;
use crate::state::load_config;

pub(super) fn run(args: &AuditArgs, env: &Env) -> Result {
    let shelf = Shelf::from_env(env)?;
    let found = if args.all_projects { shelf.all() } else { shelf.of_project(&project(args)?) }?;
    let mut reports = audit_all(&found, args, env)?;
    reports.sort_by(|one, other| {
        (&one.session.ended, &one.session.id).cmp(&(&other.session.ended, &other.session.id))
    });
    doubt_old_disks(&mut reports, env);
    match args.format {
        Format::Json => print_json(&reports)?,
        _ => print(&sessions(&reports, args.all_projects))?,
    };
    Ok(code_of(&reports))
}

/// The projects of the sessions, by folder.
type Projects = Mutex<HashMap<PathBuf, Arc<Project>>>;

/// Audits them, on one thread per core.
fn audit_all(found: &[Found], args: &AuditArgs, env: &Env) -> Result<Vec<Report>> {
    let (bar, projects) = (Progress::start(), Projects::default());
    let done = || bar.inc(found.len(), "sessions");
    let audit = |one: &Found| Ok::<_, Interrupted>(audit(one, args, env, &projects));
    let reports = parallel::map(found, parallel::cores(), &done, audit)?;
    drop(bar);
    let mut good = Vec::new();
    for report in reports {
        match report {
            Ok(report) => good.extend(report),
            Err(why) => complain(&format!("skipped: {why}")),
        }
    }
    Ok(good)
}

/// Audits one of them; `None` if nothing was said in it.
fn audit(
    found: &Found,
    args: &AuditArgs,
    env: &Env,
    projects: &Projects,
) -> std::result::Result<Option<Report>, String> {
    let loaded = load_saved(&found.transcript);
    if loaded.problem.is_none() && !has_conversation(&loaded.session) {
        return Ok(None);
    }
    let own = loaded.session.cwd.as_ref().map(PathBuf::from);
    let workspace = args.cwd.clone().or(own).unwrap_or_default();
    let mut projects = projects.lock().unwrap_or_else(PoisonError::into_inner);
    let project = projects.entry(workspace).or_insert_with_key(|folder| {
        let folder = std::fs::canonicalize(folder).unwrap_or_else(|_| folder.clone());
        Arc::new(Project::at(&folder, env))
    });
    let project = Arc::clone(project);
    drop(projects);
    let audited = project.judge(loaded, args.format == Format::Json)?;
    Ok(Some(Report::new(&found.id, &found.transcript, &project.folder, &audited)))
}

/// Withdraws what depends on a disk that has changed since.
fn doubt_old_disks(reports: &mut [Report], env: &Env) {
    let ends: Vec<(PathBuf, Option<String>)> =
        reports.iter().map(|report| (report.workspace.clone(), report.session.ended.clone())).collect();
    for report in reports {
        let ended = &report.session.ended;
        let is_later = |(folder, other): &&(PathBuf, _)| *folder == report.workspace && other > ended;
        let later = ends.iter().filter(is_later).count();
        if let Some(why) = moved_on(&report.workspace, ended.as_deref(), later) {
            let (config, _) = load_config(env, &report.workspace);
            report.doubt_the_disk(&why, &config.audit);
        }
    }
}
