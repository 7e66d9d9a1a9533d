//! Every saved session of a project, or of all: audited on all cores without a reader, printed as a
//! table. Must not trust what rests on a disk that has moved on since.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::{Refusal, code_of, has_conversation, json, print, progress, project};
use crate::child;
use crate::cli::{AuditArgs, Format};
use crate::commands::complain;
use crate::config::Config;
use crate::env::Env;
use crate::past_sessions::audit::Project;
use crate::past_sessions::find::{Found, Shelf};
use crate::past_sessions::moved_on::moved_on;
use crate::render::Report;
use crate::render::report_text::sessions;
use crate::session::load::load_saved;

pub(super) fn run(args: &AuditArgs, env: &Env) -> Result<u8, Refusal> {
    let shelf = Shelf::of(env).map_err(|why| why.to_string())?;
    let found = if args.all_projects { shelf.all() } else { shelf.of_project(&project(args)?) };
    let found = found.map_err(|why| why.to_string())?;
    let mut reports = audit_all(&found, args, env)?;
    reports.sort_by(|one, other| {
        (&one.session.ended, &one.session.id).cmp(&(&other.session.ended, &other.session.id))
    });
    doubt_old_disks(&mut reports, env);
    match args.format {
        Format::Json => print(&json(&reports)?)?,
        _ => print(&sessions(&reports, args.all_projects))?,
    }
    Ok(code_of(&reports))
}

/// The projects of the sessions, by their folders.
type Projects = Mutex<HashMap<PathBuf, Arc<Project>>>;

/// Audits them, on as many threads as there are cores.
fn audit_all(found: &[Found], args: &AuditArgs, env: &Env) -> Result<Vec<Report>, Refusal> {
    let bar = progress::bar(found.len(), "sessions");
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let (next, reports) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let projects = Projects::default();
    let interrupted = child::watch_interrupts();
    std::thread::scope(|scope| {
        for _ in 0..cores {
            scope.spawn(|| {
                while let Some(found) = found.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if interrupted.load(Ordering::Relaxed) {
                        break;
                    }
                    let report = audit(found, args, env, &projects);
                    reports.lock().unwrap_or_else(PoisonError::into_inner).push(report);
                    bar.inc();
                }
            });
        }
    });
    drop(bar);
    if interrupted.load(Ordering::Relaxed) {
        return Err("interrupted".to_owned());
    }
    let reports = reports.into_inner().unwrap_or_else(PoisonError::into_inner);
    let mut good = Vec::new();
    for report in reports {
        match report {
            Ok(Some(report)) => good.push(report),
            Ok(None) => {}
            Err(why) => complain(&format!("passed over: {why}")),
        }
    }
    Ok(good)
}

/// Audits one of them; `None` if nothing was said in it.
fn audit(found: &Found, args: &AuditArgs, env: &Env, projects: &Projects) -> Result<Option<Report>, String> {
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

/// Takes back what rests on a disk that is another one by now.
fn doubt_old_disks(reports: &mut [Report], env: &Env) {
    let mut ends: HashMap<PathBuf, Vec<Option<String>>> = HashMap::new();
    for report in reports.iter() {
        ends.entry(report.workspace.clone()).or_default().push(report.session.ended.clone());
    }
    for ends in ends.values_mut() {
        ends.sort_unstable();
    }
    let mut configs: HashMap<PathBuf, Config> = HashMap::new();
    for report in reports {
        let ended = report.session.ended.as_deref();
        let all = ends.get(&report.workspace).map(Vec::as_slice).unwrap_or_default();
        let later = all.len() - all.partition_point(|other| other.as_deref() <= ended);
        if let Some(why) = moved_on(&report.workspace, ended, later) {
            let workspace = report.workspace.clone();
            let config = configs.entry(workspace).or_insert_with_key(|folder| Config::load(env, folder).0);
            report.doubt_the_disk(&why, &config.audit);
        }
    }
}
