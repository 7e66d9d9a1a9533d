//! The audit as a whole, for the Stop hook, `punchlist audit` and `punchlist eval`.
//!
//! A session, its plan and a workspace become an [`AuditInput`]: evidence and facts. [`reading`]
//! asks the two readers about it and runs the checks between them, `outcome` turns the findings
//! into an outcome, `reason` words it, `record` builds the log's record of it, and `staleness`
//! tells whether the findings of a background audit still hold.

pub mod outcome;
pub mod reading;
pub mod reason;
pub mod record;
pub mod staleness;

use std::time::{Duration, Instant};

use crate::advisories;
use crate::config::AuditConfig;
use crate::decision::Cause;
use crate::evidence::gather::Scope;
use crate::evidence::masking::{mask_advisories, mask_findings, mask_plan, mask_session, mask_values};
use crate::evidence::{self, Evidence, FileCache, JudgedUntil, Sections, Workspace};
use crate::facts;
use crate::finding::{Advisory, Finding};
use crate::ids::random_fence;
use crate::paths::is_markdown;
use crate::plan::{self, Plan, PlanPlaces};
use crate::readers::Prompts;
use crate::readers::prompt::{self, PromptError, SharedPrompt};
use crate::session::file_history;
use crate::session::file_history::Wanted;
use crate::session::{Session, Touch};

pub fn plan_places(workspace: &Workspace, config: &AuditConfig) -> PlanPlaces {
    let (projects, own): (Vec<_>, Vec<_>) =
        config.plan.iter().cloned().partition(|glob| config.projects_plan.contains(glob));
    let (root, folders) = (workspace.root().to_path_buf(), workspace.plan_folders().to_vec());
    PlanPlaces::new(root, folders, &own).with_projects(&projects)
}

pub fn plan_in_play(session: &mut Session, workspace: &Workspace, places: &PlanPlaces) -> Option<Plan> {
    // The plan from before the session shows which ticks are the session's own.
    file_history::fetch(
        session,
        |touch: &Touch| {
            if is_markdown(&touch.path) { Wanted::All } else { Wanted::Nothing }
        },
    );
    let session: &Session = session;
    let started = session.started.clone();
    let read = plan::Read {
        now: &|path| workspace.plan_text(path),
        first_read: &|read| file_history::text_of_read(session, read),
        committed: &|path| workspace.text_before(path, started.as_deref()),
    };
    plan::find(session, places, read)
}

/// Everything an audit is based on. All text in it that is sent, shown or logged is masked.
#[derive(Debug)]
pub struct AuditInput {
    /// Plan, session and disk side by side.
    pub evidence: Evidence,
    pub facts: Vec<Finding>,
    /// What the person should know; never a reason to block.
    pub advisories: Vec<Advisory>,
    pub masked: usize,
    pub facts_took: Duration,
    prompts: Prompts,
    sections: Sections,
    max_bytes: usize,
}

impl AuditInput {
    /// Gathers the evidence and the facts it proves. Results for unchanged files come from
    /// `memory`, which is updated with what was seen now.
    pub fn new(
        mut session: Session,
        mut plan: Option<Plan>,
        workspace: &Workspace,
        prompts: Prompts,
        config: &AuditConfig,
        judged: Option<JudgedUntil>,
        memory: &mut FileCache,
    ) -> Self {
        let masked = mask_session(&mut session) + plan.as_mut().map_or(0, mask_plan);
        // The replaced text of the newest edits: secrets and disabled hooks are looked for in it.
        file_history::fetch(&mut session, |_| Wanted::Change);
        let max_bytes = config.max_prompt_bytes;
        let room = max_bytes.saturating_sub(prompts.bytes());
        let sections = Sections::new(&session, plan.as_ref(), judged.as_ref(), room);
        let file_bytes = prompt::room_for_files(&prompts, &sections, max_bytes);
        let scope = Scope { file_bytes, judged };
        let evidence = evidence::gather(session, plan, workspace, scope, memory);
        let mut input = Self::with_facts(evidence, masked, prompts, sections, max_bytes);
        let values = workspace.secret_values();
        input.masked += mask_values(values, &mut input.evidence, &mut input.sections, &mut input.facts);
        input
    }

    /// Gathers what a report needs when no reader is asked. Looks at the disk and git only if a
    /// fact or an advisory may depend on them. Builds no prompt, and so masks only the plan, facts
    /// and advisories, not everything that was said and run.
    pub fn without_readers(
        mut session: Session,
        plan: Option<Plan>,
        workspace: &Workspace,
        config: &AuditConfig,
    ) -> Self {
        file_history::fetch(&mut session, |_| Wanted::Change);
        let evidence = Evidence { plan, session, ..Evidence::default() };
        if facts::need_files(&evidence) || advisories::need_git(&evidence) {
            let Evidence { session, plan, .. } = evidence;
            let cache = &mut FileCache::default();
            return Self::new(session, plan, workspace, Prompts::default(), config, None, cache);
        }
        let (prompts, sections) = (Prompts::default(), Sections::default());
        let mut input = Self::with_facts(evidence, 0, prompts, sections, config.max_prompt_bytes);
        input.masked += input.evidence.plan.as_mut().map_or(0, mask_plan)
            + mask_findings(&mut input.facts)
            + mask_advisories(&mut input.advisories);
        input
    }

    fn with_facts(
        evidence: Evidence,
        masked: usize,
        prompts: Prompts,
        sections: Sections,
        max_bytes: usize,
    ) -> Self {
        let begun = Instant::now();
        let facts = facts::facts(&evidence);
        let advisories = advisories::advisories(&evidence);
        let facts_took = begun.elapsed();
        let masked = masked + evidence.files.iter().map(|file| file.masked).sum::<usize>();
        Self { evidence, facts, advisories, masked, facts_took, prompts, sections, max_bytes }
    }

    /// Returns what both readers are shown. If the person's own template can't be rendered, the
    /// built-in one is used, and the error is returned as well.
    pub fn shown(&self) -> Result<(SharedPrompt, Option<PromptError>), PromptError> {
        let fence = random_fence();
        match self.shown_with(&self.prompts, &fence) {
            Ok(shown) => Ok((shown, None)),
            Err(fault) => self.shown_with(&Prompts::default(), &fence).map(|shown| (shown, Some(fault))),
        }
    }

    /// Like `shown` with a fixed fence, for prompts that are written to files and compared.
    pub fn shown_between(&self, fence: &str) -> Result<SharedPrompt, PromptError> {
        self.shown_with(&self.prompts, fence)
    }

    fn shown_with(&self, prompts: &Prompts, fence: &str) -> Result<SharedPrompt, PromptError> {
        SharedPrompt::new(prompts, &self.sections, &self.evidence, &self.facts, fence, self.max_bytes)
    }

    pub fn prompts(&self) -> &Prompts {
        &self.prompts
    }
}

/// How much judgeable work a session has done.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Work {
    /// Changed files, and commands that may have had effects.
    pub done: usize,
    pub finished: usize,
}

impl Work {
    pub fn in_session(session: &Session) -> Self {
        let finished = session.todos.iter().filter(|todo| todo.status == "completed").count();
        Self { done: session.work_done(), finished }
    }
}

/// Returns why there is nothing to audit: nothing was done since the last audit, and no task was
/// finished.
pub fn nothing_to_audit(
    session: &Session,
    plan: Option<&Plan>,
    last: Option<Work>,
) -> Option<(Cause, &'static str)> {
    let work = Work::in_session(session);
    let is_comparable = plan.is_some()
        || work.finished > 0
        || !session.asks.is_empty()
        || session.final_message.as_deref().is_some_and(|message| !message.trim().is_empty());
    match last {
        Some(last) if work == last => Some((Cause::Unchanged, "nothing was done since the last audit")),
        None if work == Work::default() => Some((Cause::NothingToAudit, "nothing was done yet")),
        _ if !is_comparable => Some((Cause::NothingToAudit, "nothing was asked, planned or said")),
        _ => None,
    }
}
