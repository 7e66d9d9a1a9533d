//! One audit, whoever wants it: the Stop hook, `punchlist audit`, `punchlist eval`.
//!
//! A session, its plan and a workspace become a [`Brief`]: evidence and facts. From it come the prompt and, with
//! the auditor's word on it, the findings; `outcome` says what they come to. `fingerprint` tells whether anything
//! has changed, `looks` what the verifier has to see, `reason` finds the words,
//! `seen` tells what is kept of the evidence for people. Must not ask anybody: how the
//! auditor is reached is the caller's business.

pub mod fingerprint;
pub mod looks;
pub mod outcome;
pub mod reason;
pub mod seen;

use std::collections::HashSet;
use std::time::{Duration, Instant};

use crate::auditor::prompt::{self, PromptError};
use crate::auditor::{AuditorOutcome, Prompt, Prompts};
use crate::config::{AuditConfig, Planless, plan_globs};
use crate::evidence::masking::{mask_plan, mask_session};
use crate::evidence::shown::{self, Sections};
use crate::evidence::{self, Evidence, Memory, Workspace};
use crate::facts::{self, Facts};
use crate::finding::Finding;
use crate::names::random_fence;
use crate::plan::{self, Plan, PlanPlaces};
use crate::readings;
use crate::session::originals::{self, Wanted};
use crate::session::{Session, Touch};
use crate::verify::merge::without_lone_words;
use crate::verify::verify;
use crate::words::is_markdown;

/// Where plans live in a workspace.
pub fn plan_places(workspace: &Workspace, config: &AuditConfig) -> PlanPlaces {
    let globs = plan_globs(&config.plan).unwrap_or_default();
    PlanPlaces::new(workspace.root().to_path_buf(), workspace.plan_folders().to_vec(), globs)
}

/// The plan in play, as the session and the workspace tell it.
pub fn plan_in_play(session: &mut Session, workspace: &Workspace, places: &PlanPlaces) -> Option<Plan> {
    // What a plan was before the session tells which ticks are the session's own.
    plan::note_names(session, places);
    if session.naming.touches.any() || session.naming.notes.any() {
        let named = session.naming.touches.of(&session.touches).map(|touch| touch.path.as_str());
        let named: HashSet<String> =
            named.filter(|path| places.globs.is_match(path)).map(str::to_owned).collect();
        let may_be_plan = |touch: &Touch| is_markdown(&touch.path) || named.contains(&touch.path);
        originals::fetch(session, |touch| if may_be_plan(touch) { Wanted::All } else { Wanted::Nothing });
    }
    let read = plan::Read {
        now: &|path| workspace.plan_text(path),
        committed: &|path| workspace.committed_text(path),
    };
    plan::find(session, places, read)
}

/// Up to so many changed files and commands with effects are a small session: what it did can be seen at a glance.
const SMALL_SESSION: usize = 25;

/// Masks session and plan: from here on nothing has a secret that could be shown. Gives how many there were.
fn mask_all(session: &mut Session, plan: Option<&mut Plan>) -> usize {
    let masked_in_plan = plan.map_or(0, mask_plan);
    if masked_in_plan > 0 {
        readings::forget();
    }
    mask_session(session) + masked_in_plan
}

/// Everything that an audit rests on. All text in it is masked.
#[derive(Debug)]
pub struct Brief {
    /// Plan, session and disk side by side.
    pub evidence: Evidence,
    /// What they show by themselves.
    pub facts: Facts,
    /// How many secrets were masked.
    pub masked: usize,
    /// How long it took to see what they show.
    pub facts_took: Duration,
    prompts: Prompts,
    sections: Sections,
    max_bytes: usize,
}

impl Brief {
    /// Puts the evidence together, and what it shows by itself. What `memory` has of files that are as they were is not
    /// worked out again; it has what was seen now afterwards.
    pub fn new(
        mut session: Session,
        mut plan: Option<Plan>,
        workspace: &Workspace,
        prompts: Prompts,
        config: &AuditConfig,
        memory: &mut Memory,
    ) -> Self {
        let masked = mask_all(&mut session, plan.as_mut());
        Self::of_masked(session, plan, workspace, prompts, config, masked, Some(memory))
    }

    /// The same where nobody is asked and nobody is told what of a file would have been shown: no more is read of the
    /// files than facts look at. There is no prompt.
    pub fn for_facts(
        mut session: Session,
        mut plan: Option<Plan>,
        workspace: &Workspace,
        config: &AuditConfig,
    ) -> Self {
        let masked = mask_all(&mut session, plan.as_mut());
        let memory = &mut Memory::default();
        let memory = facts::look_into_files(&session, plan.as_ref()).then_some(memory);
        Self::of_masked(session, plan, workspace, Prompts::default(), config, masked, memory)
    }

    /// Without a memory the files' contents are looked through and not shown.
    fn of_masked(
        session: Session,
        plan: Option<Plan>,
        workspace: &Workspace,
        prompts: Prompts,
        config: &AuditConfig,
        masked: usize,
        memory: Option<&mut Memory>,
    ) -> Self {
        let max_bytes = config.max_prompt_bytes;
        let (sections, evidence) = match memory {
            Some(memory) => {
                let room = max_bytes.saturating_sub(prompts.bytes());
                let sections = shown::sections(&session, plan.as_ref(), room);
                let file_bytes = prompt::room_for_files(&prompts, &sections, max_bytes);
                (sections, evidence::gather(session, plan, workspace, file_bytes, memory))
            }
            None => (Sections::default(), evidence::gather_unread(session, plan, workspace)),
        };
        let begun = Instant::now();
        let facts = facts::facts(&evidence, config);
        let facts_took = begun.elapsed();
        let masked = masked + evidence.files.iter().map(|file| file.masked).sum::<usize>();
        Self { evidence, facts, masked, facts_took, prompts, sections, max_bytes }
    }

    /// The prompt. A template of the person's own that can't be filled in gives way to the built-in one, and
    /// what is wrong with it is given beside.
    pub fn prompt(&self) -> Result<(Prompt, Option<PromptError>), PromptError> {
        let fence = random_fence();
        match self.prompt_with(&self.prompts, &fence) {
            Ok(prompt) => Ok((prompt, None)),
            Err(fault) => self.prompt_with(&Prompts::default(), &fence).map(|prompt| (prompt, Some(fault))),
        }
    }

    fn prompt_with(&self, prompts: &Prompts, fence: &str) -> Result<Prompt, PromptError> {
        prompt::write(prompts, &self.sections, &self.evidence, &self.facts, fence, self.max_bytes)
    }

    /// Whether a second opinion is worth its price. A session without a plan, that claims nothing that is in doubt
    /// and did little, is not worth it by default.
    pub fn wants_auditor(&self, config: &AuditConfig) -> bool {
        let is_small = self.evidence.session.work_done() <= SMALL_SESSION;
        self.evidence.plan.is_some()
            || config.planless == Planless::Always
            || !self.facts.findings.is_empty()
            || !is_small
    }

    /// The texts in use.
    pub fn prompts(&self) -> &Prompts {
        &self.prompts
    }

    /// What facts and auditor come to, each finding judged. Where no auditor answered, the facts stand alone.
    pub fn findings(&self, auditor: &AuditorOutcome, workspace: &Workspace) -> Vec<Finding> {
        let facts = self.facts.findings.clone();
        match auditor {
            AuditorOutcome::Answered(verdict) => {
                let looks = looks::looks(workspace, verdict, &self.evidence);
                let mut findings = verify(verdict, &looks, &self.evidence, facts);
                without_lone_words(&mut findings);
                findings
            }
            _ => facts,
        }
    }
}
