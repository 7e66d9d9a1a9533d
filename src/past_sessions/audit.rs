//! One saved session: takes its transcript and a workspace, gives everything that an audit of it knows, and with
//! the auditor's word what it comes to. Must not write anything: no log, no state.

use std::path::{Path, PathBuf};

use crate::audit::outcome::outcome_of;
use crate::audit::reading::{self, Readers, Reading, Setting};
use crate::audit::{AuditInput, plan_in_play, plan_places};
use crate::config::{AuditConfig, Config};
use crate::decision::{Cause, Held, Outcome};
use crate::env::Env;
use crate::evidence::{FileCache, JudgedUntil, Workspace};
use crate::finding::Finding;
use crate::gates::StopReport;
use crate::gates::audit::{Work, nothing_to_audit};
use crate::plan::{Plan, PlanPlaces};
use crate::readers::prompt::PromptError;
use crate::readers::{Prompt, Prompts, ReaderOutcome, RecordedReply, second};
use crate::session::Session;
use crate::session::load::{self, Loaded};
use crate::timing;

/// What to audit, and against which disk.
#[derive(Debug)]
pub struct Request<'a> {
    /// The session's transcript.
    pub transcript: &'a Path,
    /// The workspace.
    pub workspace: &'a Path,
    /// The home and the client's folders.
    pub env: &'a Env,
    /// The settings.
    pub config: &'a Config,
    /// The texts.
    pub prompts: Prompts,
    /// Up to where the session was judged before.
    pub judged: Option<JudgedUntil>,
}

/// A session that is ready to be judged.
#[derive(Debug)]
pub struct Prepared {
    /// Everything that the audit rests on.
    pub brief: AuditInput,
    /// The disk.
    pub workspace: Workspace,
    /// What was learned so far.
    pub story: StopReport,
    /// Why the hook would not have audited this stop, if it would not.
    pub passed_over: Option<&'static str>,
    config: AuditConfig,
}

/// What an audit came to.
#[derive(Debug)]
pub struct Audited {
    /// Everything that it rests on.
    pub brief: AuditInput,
    /// What was learned, the findings and the auditor's part included.
    pub story: StopReport,
    /// What the hook would have decided.
    pub decision: Held,
    /// Why.
    pub cause: Cause,
    /// In words.
    pub detail: Option<String>,
}

impl Audited {
    /// Every finding, those that were refuted too.
    pub fn findings(&self) -> &[Finding] {
        &self.story.findings
    }
}

/// Reads a session, finds its plan and puts the evidence together. `given` is a plan that counts whatever the
/// session did; it is made from the session as it was read.
pub fn prepare(
    request: Request<'_>,
    given: impl FnOnce(&Session) -> Option<Plan>,
) -> Result<Prepared, String> {
    let mut story = StopReport::default();
    let loaded = story.phase(timing::READ, |_| load::load_saved(request.transcript));
    prepare_loaded(request, loaded, story, given)
}

/// The same for a session that was read.
pub fn prepare_loaded(
    request: Request<'_>,
    loaded: Loaded,
    mut story: StopReport,
    given: impl FnOnce(&Session) -> Option<Plan>,
) -> Result<Prepared, String> {
    let workspace = workspace_at(request.workspace, request.env);
    let config = &request.config.audit;
    let places = plan_places(&workspace, config);
    let promised = promised_in(loaded, request.transcript, &workspace, &places, &mut story, given)?;
    let Promised { session, plan, passed_over } = promised;
    let brief = story.phase(timing::EVIDENCE, |_| {
        AuditInput::new(
            session,
            plan,
            &workspace,
            request.prompts,
            config,
            request.judged,
            &mut FileCache::default(),
        )
    });
    story.tell_evidence(&brief);
    Ok(Prepared { brief, workspace, story, passed_over, config: config.clone() })
}

/// The workspace at a folder.
fn workspace_at(folder: &Path, env: &Env) -> Workspace {
    Workspace::new(folder, folder, env.home(), &crate::client::folders::plan_folders(env, folder))
}

/// A session and what it promised.
struct Promised {
    session: Session,
    plan: Option<Plan>,
    passed_over: Option<&'static str>,
}

/// Finds a session's plan.
fn promised_in(
    loaded: Loaded,
    transcript: &Path,
    workspace: &Workspace,
    places: &PlanPlaces,
    story: &mut StopReport,
    given: impl FnOnce(&Session) -> Option<Plan>,
) -> Result<Promised, String> {
    story.tell_transcript(Some(transcript), &loaded);
    if let Some(problem) = loaded.problem {
        return Err(problem);
    }
    let mut session = loaded.session;
    follow(&mut session, workspace.root());
    // Asked more than once.
    let plan = story
        .phase(timing::PLAN, |_| given(&session).or_else(|| plan_in_play(&mut session, workspace, places)));
    if let Some(plan) = &plan {
        story.tell_plan(plan);
    }
    let passed_over = nothing_to_audit(&session, plan.as_ref(), Work::of(&session), None).map(|(_, why)| why);
    Ok(Promised { session, plan, passed_over })
}

/// A project of which many sessions are judged: config, plan folders and git are read once.
#[derive(Debug)]
pub struct Project {
    /// Its folder.
    pub folder: PathBuf,
    config: AuditConfig,
    workspace: Workspace,
    places: PlanPlaces,
}

impl Project {
    /// The one in a folder, as it is at this moment.
    pub fn at(folder: &Path, env: &Env) -> Self {
        let (config, _) = Config::load(env, folder);
        let workspace = workspace_at(folder, env);
        let places = plan_places(&workspace, &config.audit);
        Self { folder: folder.to_path_buf(), config: config.audit, workspace, places }
    }

    /// Judges a session with no reader. Its files are looked at if the report lists them, or if a
    /// finding may depend on them.
    pub fn judge(&self, transcript: &Path, loaded: Loaded, lists_files: bool) -> Result<Audited, String> {
        let mut story = StopReport::default();
        let promised = promised_in(loaded, transcript, &self.workspace, &self.places, &mut story, |_| None)?;
        let Promised { session, plan, passed_over } = promised;
        let brief = story.phase(timing::EVIDENCE, |_| {
            let (workspace, config) = (&self.workspace, &self.config);
            if lists_files {
                let cache = &mut FileCache::default();
                AuditInput::new(session, plan, workspace, Prompts::default(), config, None, cache)
            } else {
                AuditInput::without_readers(session, plan, workspace, config)
            }
        });
        story.tell_evidence(&brief);
        let reading = Reading::without_readers(&brief, ReaderOutcome::NotAsked);
        Ok(judged(brief, story, passed_over, &self.config, reading, ("none", "", "")))
    }
}

/// Where the workspace stands elsewhere than at the time of the session, its files are looked for there.
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
    /// What the first reader would be sent.
    pub fn prompt(&self) -> Result<(Option<Prompt>, Option<PromptError>), PromptError> {
        let (shown, fault) = self.brief.shown()?;
        Ok((Some(shown.first(self.brief.prompts())?), fault))
    }

    /// What the second reader would be sent after this answer of the first; nothing where nothing of it would hold.
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
    pub fn ask(mut self, readers: Readers<'_>, second_model: &str) -> Result<Audited, PromptError> {
        let (shown, fault) = self.brief.shown()?;
        self.story.config_faults.extend(fault.map(|fault| fault.to_string()));
        let prompt = shown.first(self.brief.prompts())?;
        let (backend, model) = (readers.first.backend(), readers.first.model().to_owned());
        let setting = self.setting();
        let reading = reading::read(&self.brief, &shown, &prompt, readers, setting)?;
        let Self { brief, story, passed_over, config, .. } = self;
        Ok(judged(brief, story, passed_over, &config, reading, (backend, &model, second_model)))
    }

    /// What the readers' words are judged against.
    pub fn setting(&self) -> Setting<'_> {
        Setting { workspace: &self.workspace, config: &self.config, is_disputed: &|_| false }
    }

    /// Judges by disk and session alone.
    pub fn ask_nobody(self) -> Audited {
        let reading = Reading::without_readers(&self.brief, ReaderOutcome::NotAsked);
        let Self { brief, story, passed_over, config, .. } = self;
        judged(brief, story, passed_over, &config, reading, ("none", "", ""))
    }
}

/// What it all comes to.
fn judged(
    brief: AuditInput,
    mut story: StopReport,
    passed_over: Option<&'static str>,
    config: &AuditConfig,
    reading: Reading,
    (backend, first_model, second_model): (&str, &str, &str),
) -> Audited {
    story.tell_reader(&reading.first, backend, first_model);
    if let Some(run) = &reading.second {
        story.tell_second_reader(run, backend, second_model);
    }
    story.advisories = brief.advisories.iter().chain(&reading.advisories).cloned().collect();
    story.findings = reading.findings;
    let outcome =
        outcome_of(&reading.first.outcome, &story.findings, config, (&brief.prompts().reason, "last"));
    let decision = if outcome.wants_block() { Held::Block } else { Held::Allow };
    let (cause, detail) = match outcome {
        Outcome::Pass { cause, detail } => (cause, detail),
        Outcome::Hold { cause, reason } => (cause, Some(reason)),
        Outcome::Advise { cause, message } | Outcome::CouldNotCheck { cause, message } => {
            (cause, Some(message))
        }
    };
    // The hook would not have come this far.
    let (decision, cause, detail) = match passed_over {
        Some(why) => (Held::Allow, Cause::NothingToAudit, Some(why.to_owned())),
        None => (decision, cause, detail),
    };
    Audited { brief, story, decision, cause, detail }
}
