//! Audits one saved session, given its transcript and a workspace. Must not write anything: no log,
//! no state.

use std::path::{Path, PathBuf};

use crate::audit::outcome::outcome_of;
use crate::audit::reading::{self, Reading, Setting};
use crate::audit::record::{file_record, reader_record};
use crate::audit::{AuditInput, nothing_to_audit, plan_in_play, plan_places};
use crate::config::{AuditConfig, Config};
use crate::decision::{Action, Cause};
use crate::env::Env;
use crate::evidence::{FileCache, JudgedUntil, Workspace};
use crate::finding::{Advisory, Finding};
use crate::log::record::{FileRecord, ReaderRecord};
use crate::plan::{Plan, PlanPlaces};
use crate::readers::prompt::PromptError;
use crate::readers::{Prompt, Prompts, ReaderOutcome, Readers, RecordedReply, second};
use crate::session::Session;
use crate::session::load::{Loaded, load_saved};
use crate::state::load_config;

/// What to audit, and against which disk.
#[derive(Debug)]
pub struct Request<'a> {
    pub transcript: &'a Path,
    pub workspace: &'a Path,
    /// The home and the client's folders.
    pub env: &'a Env,
    pub config: &'a Config,
    pub prompts: Prompts,
    /// How much of the session was judged before.
    pub judged: Option<JudgedUntil>,
}

/// A session that is ready to be judged.
#[derive(Debug)]
pub struct Prepared {
    pub brief: AuditInput,
    pub workspace: Workspace,
    /// Why the hook would not have audited this stop, if so.
    pub passed_over: Option<&'static str>,
    config: AuditConfig,
}

/// The result of an audit.
#[derive(Debug)]
pub struct Audited {
    pub brief: AuditInput,
    /// Every finding, refuted ones included.
    pub findings: Vec<Finding>,
    /// What the person should know.
    pub advisories: Vec<Advisory>,
    pub first: ReaderRecord,
    /// The second reader, if it was asked.
    pub second: Option<ReaderRecord>,
    /// Errors in the person's own texts; the built-in ones were used instead.
    pub config_faults: Vec<String>,
    /// What the hook would have decided.
    pub decision: Action,
    pub cause: Cause,
    pub detail: Option<String>,
}

impl Audited {
    /// Returns every file, and how it is presented in the evidence.
    pub fn files(&self) -> Vec<FileRecord> {
        self.brief.evidence.files.iter().map(file_record).collect()
    }
}

/// Reads a session, finds its plan and gathers the evidence. `given` makes a plan from the session
/// that is used whatever the session did.
pub fn prepare(
    request: Request<'_>,
    given: impl FnOnce(&Session) -> Option<Plan>,
) -> Result<Prepared, String> {
    let loaded = load_saved(request.transcript);
    let workspace = workspace_at(request.workspace, request.env);
    let config = &request.config.audit;
    let places = plan_places(&workspace, config);
    let (session, plan, passed_over) = find_plan(loaded, &workspace, &places, given)?;
    let (prompts, cache) = (request.prompts, &mut FileCache::default());
    let brief = AuditInput::new(session, plan, &workspace, prompts, config, request.judged, cache);
    Ok(Prepared { brief, workspace, passed_over, config: config.clone() })
}

fn workspace_at(folder: &Path, env: &Env) -> Workspace {
    Workspace::new(folder, folder, env.home(), &crate::client::folders::plan_folders(env, folder))
}

/// Finds a session's plan, and why the hook would not have audited it, if so.
fn find_plan(
    loaded: Loaded,
    workspace: &Workspace,
    places: &PlanPlaces,
    given: impl FnOnce(&Session) -> Option<Plan>,
) -> Result<(Session, Option<Plan>, Option<&'static str>), String> {
    if let Some(problem) = loaded.problem {
        return Err(problem);
    }
    let mut session = loaded.session;
    follow(&mut session, workspace.root());
    let plan = given(&session).or_else(|| plan_in_play(&mut session, workspace, places));
    let passed_over = nothing_to_audit(&session, plan.as_ref(), None).map(|(_, why)| why);
    Ok((session, plan, passed_over))
}

/// A project with many sessions to judge: config, plan folders and git are read once.
#[derive(Debug)]
pub struct Project {
    pub folder: PathBuf,
    config: AuditConfig,
    workspace: Workspace,
    places: PlanPlaces,
}

impl Project {
    /// Returns the project in a folder, as it is at this moment.
    pub fn at(folder: &Path, env: &Env) -> Self {
        let (config, _) = load_config(env, folder);
        let workspace = workspace_at(folder, env);
        let places = plan_places(&workspace, &config.audit);
        Self { folder: folder.to_path_buf(), config: config.audit, workspace, places }
    }

    /// Judges a session without a reader. Looks at its files if the report lists them, or if a
    /// finding may depend on them.
    pub fn judge(&self, loaded: Loaded, lists_files: bool) -> Result<Audited, String> {
        let (session, plan, passed_over) = find_plan(loaded, &self.workspace, &self.places, |_| None)?;
        let (workspace, config) = (&self.workspace, &self.config);
        let brief = if lists_files {
            let cache = &mut FileCache::default();
            AuditInput::new(session, plan, workspace, Prompts::default(), config, None, cache)
        } else {
            AuditInput::without_readers(session, plan, workspace, config)
        };
        let reading = Reading::without_readers(&brief, config, ReaderOutcome::NotAsked);
        Ok(judged(brief, passed_over, &self.config, reading, ("none", "", "")))
    }
}

/// If the workspace has moved since the session, its files are looked for in the new place.
fn follow(session: &mut Session, root: &Path) {
    let Some(cwd) = session.cwd.clone().map(PathBuf::from) else { return };
    if cwd == root {
        return;
    }
    let real = std::fs::canonicalize(&cwd).unwrap_or_else(|_| cwd.clone());
    if real.starts_with(root) || root.starts_with(&real) {
        return;
    }
    let moved = |path: &mut String| {
        if let Ok(below) = Path::new(path.as_str()).strip_prefix(&cwd) {
            *path = root.join(below).to_string_lossy().into_owned();
        }
    };
    session.touches.iter_mut().map(|touch| &mut touch.path).for_each(moved);
    session.reads.iter_mut().map(|read| &mut read.path).for_each(moved);
    session.plans.iter_mut().filter_map(|plan| plan.path.as_mut()).for_each(moved);
}

impl Prepared {
    /// Returns the first reader's prompt.
    pub fn prompt(&self) -> Result<(Option<Prompt>, Option<PromptError>), PromptError> {
        let (shown, fault) = self.brief.shown()?;
        Ok((Some(shown.first(self.brief.prompts())?), fault))
    }

    /// Returns the second reader's prompt after this answer of the first; `None` if nothing in it
    /// would block.
    pub fn second_prompt(&self, answer: &str) -> Result<(Option<Prompt>, Option<PromptError>), PromptError> {
        let (shown, fault) = self.brief.shown()?;
        let setting = self.setting();
        let findings =
            reading::proposed(&self.brief, &shown, RecordedReply(answer).replay(), setting).findings;
        let asked = reading::asked_about(&findings, setting);
        if asked.is_empty() {
            return Ok((None, fault));
        }
        let asked: Vec<&Finding> = asked.iter().map(|at| &findings[*at]).collect();
        Ok((Some(shown.second(self.brief.prompts(), &second::list_findings(&asked))?), fault))
    }

    /// Asks the readers, and judges. `models` are the names of both, for the report.
    pub fn ask(self, mut readers: Readers<'_>, second_model: &str) -> Result<Audited, PromptError> {
        let (shown, fault) = self.brief.shown()?;
        let prompt = shown.first(self.brief.prompts())?;
        let (backend, model) = (readers.first.backend(), readers.first.model().to_owned());
        let setting = self.setting();
        let reading = reading::read(&self.brief, &shown, &prompt, &mut readers, setting)?;
        let Self { brief, passed_over, config, .. } = self;
        let audited = judged(brief, passed_over, &config, reading, (backend, &model, second_model));
        Ok(Audited { config_faults: fault.map(|fault| fault.to_string()).into_iter().collect(), ..audited })
    }

    /// Returns what the readers' answers are judged against.
    pub fn setting(&self) -> Setting<'_> {
        Setting { workspace: &self.workspace, config: &self.config, is_disputed: &|_| false }
    }

    /// Judges by disk and session alone.
    pub fn ask_nobody(self) -> Audited {
        let reading = Reading::without_readers(&self.brief, &self.config, ReaderOutcome::NotAsked);
        let Self { brief, passed_over, config, .. } = self;
        judged(brief, passed_over, &config, reading, ("none", "", ""))
    }
}

/// Puts together the result.
fn judged(
    brief: AuditInput,
    passed_over: Option<&'static str>,
    config: &AuditConfig,
    reading: Reading,
    (backend, first_model, second_model): (&str, &str, &str),
) -> Audited {
    let first = reader_record(&reading.first, backend, first_model);
    let second = reading.second.as_ref().map(|run| reader_record(run, backend, second_model));
    let advisories = brief.advisories.iter().chain(&reading.advisories).cloned().collect();
    let findings = reading.findings;
    let outcome = outcome_of(&reading.first.outcome, &findings, config, (&brief.prompts().reason, "last"));
    let decision = if outcome.wants_block() { Action::Block } else { Action::Allow };
    // The hook would not have got this far.
    let (decision, cause, detail) = match passed_over {
        Some(why) => (Action::Allow, Cause::NothingToAudit, Some(why.to_owned())),
        None => (decision, outcome.cause, Some(outcome.words).filter(|words| !words.is_empty())),
    };
    let config_faults = Vec::new();
    Audited { brief, findings, advisories, first, second, config_faults, decision, cause, detail }
}
