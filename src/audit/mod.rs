//! The audit as a whole, for the Stop hook, `punchlist audit` and `punchlist eval`.
//!
//! A session, its plan and a workspace become an [`AuditInput`]: evidence and facts. [`reading`] asks the two readers
//! about it, with the checks between them; `outcome` decides what the findings come to, `reason` words it, `record`
//! is what the log has of it, `staleness` whether the findings of a background audit still hold.

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
use crate::evidence::masking::{mask_plan, mask_session};
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
    PlanPlaces::new(workspace.root().to_path_buf(), workspace.plan_folders().to_vec(), &config.plan)
}

pub fn plan_in_play(session: &mut Session, workspace: &Workspace, places: &PlanPlaces) -> Option<Plan> {
    // What a plan was before the session tells which ticks are the session's own.
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

/// Everything that an audit rests on. All text in it is masked.
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
    /// Puts the evidence together, and what it proves by itself. What `memory` has of files that are as they were is not
    /// worked out again; it has what was seen now afterwards.
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
        // What the newest edits put in the place of what: secrets and switches are looked for in it.
        file_history::fetch(&mut session, |_| Wanted::Change);
        let max_bytes = config.max_prompt_bytes;
        let room = max_bytes.saturating_sub(prompts.bytes());
        let sections = Sections::new(&session, plan.as_ref(), judged.as_ref(), room);
        let file_bytes = prompt::room_for_files(&prompts, &sections, max_bytes);
        let scope = Scope { file_bytes, judged };
        let evidence = evidence::gather(session, plan, workspace, scope, memory);
        Self::with_facts(evidence, masked, prompts, sections, max_bytes)
    }

    /// Puts together what a report needs where no reader is asked. The disk and git are looked at only
    /// if a fact or an advisory may depend on them; there are no sections for a prompt.
    pub fn without_readers(
        mut session: Session,
        mut plan: Option<Plan>,
        workspace: &Workspace,
        config: &AuditConfig,
    ) -> Self {
        let masked = mask_session(&mut session) + plan.as_mut().map_or(0, mask_plan);
        file_history::fetch(&mut session, |_| Wanted::Change);
        let evidence = Evidence {
            plan,
            session,
            files: Vec::new(),
            unlisted: 0,
            limits: Vec::new(),
            repository: None,
            judged: None,
        };
        if facts::need_files(&evidence) || advisories::need_git(&evidence) {
            let Evidence { session, plan, .. } = evidence;
            let cache = &mut FileCache::default();
            return Self::new(session, plan, workspace, Prompts::default(), config, None, cache);
        }
        let (prompts, sections) = (Prompts::default(), Sections::default());
        Self::with_facts(evidence, masked, prompts, sections, config.max_prompt_bytes)
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

    /// What both readers are shown. A template of the person's own that can't be filled in gives way to the built-in one, and
    /// what is wrong with it is given beside.
    pub fn shown(&self) -> Result<(SharedPrompt, Option<PromptError>), PromptError> {
        let fence = random_fence();
        match self.shown_with(&self.prompts, &fence) {
            Ok(shown) => Ok((shown, None)),
            Err(fault) => self.shown_with(&Prompts::default(), &fence).map(|shown| (shown, Some(fault))),
        }
    }

    /// The same between marks that are known beforehand, for prompts that are written to files and compared.
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

/// How much a session has done that can be judged.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Work {
    /// Files changed and commands that may have had effects.
    pub done: usize,
    pub finished: usize,
}

impl Work {
    pub fn in_session(session: &Session) -> Self {
        let finished = session.todos.iter().filter(|todo| todo.status == "completed").count();
        Self { done: session.work_done(), finished }
    }
}

/// Returns why there is nothing to audit: nothing was done since the last audit, and no task was finished.
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
