//! Takes a case, lays it out, audits it as `punchlist audit` would, and holds the result against the truth. Must
//! not read the person's settings but for whom to ask, and only where somebody is asked.

use std::io;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use serde::Serialize;

use super::case::{Case, CaseError, Kind, Part, Truth};
use super::layout::{LaidOut, lay_out};
use super::matching::{Advised, Worth, match_advisories, match_up};
use crate::audit::reading::{Readers, Second};
use crate::child;
use crate::config::Config;
use crate::decision::{Cause, Held};
use crate::env::Env;
use crate::finding::{Finding, Status};
use crate::readers::prompt::PromptError;
use crate::readers::{Prompts, Proposal, SealedClient};
use crate::saved::audit::{Audited, Prepared, Request, prepare};
use crate::state::StateFolder;

/// Whom to ask.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// Nobody: disk and session alone.
    None,
    /// The client, really.
    Claude,
    /// The reply that stands in the case.
    Recorded,
    /// What is true in that reply, and inventions: it measures the verifier.
    Lying,
}

impl Mode {
    /// As it is written.
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Claude => "claude",
            Self::Recorded => "recorded",
            Self::Lying => "lying",
        }
    }
}

/// A finding and what it is worth.
#[derive(Debug, Clone, Serialize)]
pub struct Weighed {
    /// The finding.
    pub finding: Finding,
    /// What it is worth.
    pub worth: Worth,
}

/// A true finding of the case's own reply, and what the verifier made of it.
#[derive(Debug, Clone, Serialize)]
pub struct Kept {
    /// Which truth it is.
    pub truth: usize,
    /// What the reply says.
    pub proposal: Proposal,
    /// What the verifier made of it.
    pub status: Status,
    /// Why.
    pub note: String,
}

/// A lie, and what the verifier made of it.
#[derive(Debug, Clone, Serialize)]
pub struct Told {
    /// Which kind of lie.
    pub kind: &'static str,
    /// What became of it.
    pub finding: Finding,
}

/// What became of a case.
#[derive(Debug, Clone, Serialize)]
pub struct CaseResult {
    /// Its name.
    pub name: String,
    /// Which part it belongs to.
    pub part: Part,
    /// What kind of session it is.
    pub kind: Kind,
    /// What there is to be found.
    pub truths: Vec<Truth>,
    /// What was found.
    pub findings: Vec<Weighed>,
    /// What the person was told beside.
    pub advised: Advised,
    /// True findings of the reply, and what became of them.
    pub kept: Vec<Kept>,
    /// Lies, and what became of them.
    pub told: Vec<Told>,
    /// What the hook would have decided.
    pub decision: Held,
    /// Why.
    pub cause: Cause,
    /// How the auditor ended, where that is no answer.
    pub auditor_fault: Option<String>,
    /// How long it took, the laying out aside.
    pub millis: u128,
}

impl CaseResult {
    /// Whether there is nothing to be found in it.
    pub fn is_clean(&self) -> bool {
        self.truths.is_empty()
    }

    /// The finding that is this truth.
    pub fn found(&self, truth: usize) -> Option<&Finding> {
        let of_truth = |weighed: &&Weighed| weighed.worth == Worth::True(truth);
        self.findings.iter().find(of_truth).map(|weighed| &weighed.finding)
    }
}

/// A case that could not be run.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// It can't be read.
    #[error(transparent)]
    Case(#[from] CaseError),
    /// It can't be laid out.
    #[error("{name} can't be laid out: {why}")]
    Layout {
        /// Which case.
        name: String,
        /// In the system's words.
        why: io::Error,
    },
    /// Its transcript can't be read.
    #[error("{name}: {why}")]
    Transcript {
        /// Which case.
        name: String,
        /// What is wrong.
        why: String,
    },
    /// Somebody wants us to end.
    #[error("interrupted")]
    Interrupted,
    /// Its prompt can't be written.
    #[error("{name}: {why}")]
    Prompt {
        /// Which case.
        name: String,
        /// What is wrong.
        why: PromptError,
    },
}

/// Runs every case, on as many threads as there are cores; a client is asked by one at a time. `done` is told of
/// every case that has ended.
pub fn run_all(
    cases: &[Case],
    mode: Mode,
    env: &Env,
    done: &(dyn Fn() + Sync),
) -> Result<Vec<CaseResult>, RunError> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let threads = if mode == Mode::Claude { 1 } else { cores };
    let (next, results) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let interrupted = child::watch_interrupts();
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some((at, case)) = {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    cases.get(at).map(|case| (at, case))
                } {
                    if interrupted.load(Ordering::Relaxed) {
                        break;
                    }
                    let result = run(case, mode, env);
                    results.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push((at, result));
                    done();
                }
            });
        }
    });
    if interrupted.load(Ordering::Relaxed) {
        return Err(RunError::Interrupted);
    }
    let mut results = results.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    results.sort_by_key(|(at, _)| *at);
    results.into_iter().map(|(_, result)| result).collect()
}

/// Runs one case.
pub fn run(case: &Case, mode: Mode, env: &Env) -> Result<CaseResult, RunError> {
    let laid_out = lay_out(case).map_err(|why| RunError::Layout { name: case.name.clone(), why })?;
    let started = Instant::now();
    // The cases say what is right under the built-in settings.
    let config = Config::default();
    let (own_env, prompts) = (laid_out.env(), prompts_of(mode, env));
    let request = Request {
        transcript: &laid_out.transcript,
        workspace: laid_out.workspace(),
        env: &own_env,
        config: &config,
        prompts,
        judged: None,
    };
    let prepared =
        prepare(request, |_| None).map_err(|why| RunError::Transcript { name: case.name.clone(), why })?;
    let audited = match mode {
        Mode::None | Mode::Recorded | Mode::Lying => prepared.ask_nobody(),
        Mode::Claude => ask_client(case, prepared, env)?,
    };
    let millis = started.elapsed().as_millis();
    Ok(result_of(case, &laid_out, &audited, millis))
}

fn prompts_of(mode: Mode, env: &Env) -> Prompts {
    let own = || Config::load(env, &std::env::current_dir().unwrap_or_default()).0.auditor.prompts;
    let own = if mode == Mode::Claude { own() } else { None };
    own.and_then(|folder| Prompts::with_overrides(&folder).ok()).unwrap_or_default()
}

fn ask_client(case: &Case, prepared: Prepared, env: &Env) -> Result<Audited, RunError> {
    let config = Config::load(env, &std::env::current_dir().unwrap_or_default()).0.auditor;
    let state = StateFolder::find(env);
    let mut client =
        SealedClient { env, config: &config, model: &config.model, known: &state, is_wanted: None };
    let deadline = Instant::now() + config.timeout * 2;
    let readers = Readers { first: &mut client, second: Second::Same, timeout: config.timeout, deadline };
    prepared.ask(readers, &config.model).map_err(|why| RunError::Prompt { name: case.name.clone(), why })
}

fn result_of(case: &Case, laid_out: &LaidOut, audited: &Audited, millis: u128) -> CaseResult {
    let plan = audited.brief.evidence.plan.as_ref();
    let worth = match_up(audited.findings(), &case.findings, plan);
    let findings = audited.findings().iter().map(|finding| placeless(finding, laid_out));
    let kinds: Vec<_> = case.advisories.iter().map(|advisory| advisory.kind).collect();
    let fault = audited.story.auditor.as_ref().and_then(|auditor| {
        let is_fault = !["answered", "not-asked"].contains(&auditor.outcome.as_str());
        is_fault.then(|| format!("{}: {}", auditor.outcome, auditor.detail.as_deref().unwrap_or_default()))
    });
    CaseResult {
        name: case.name.clone(),
        part: case.part,
        kind: case.kind,
        truths: case.findings.clone(),
        findings: findings.zip(worth).map(|(finding, worth)| Weighed { finding, worth }).collect(),
        advised: match_advisories(&audited.story.advisories, &kinds),
        kept: Vec::new(),
        told: Vec::new(),
        decision: audited.decision,
        cause: audited.cause,
        auditor_fault: fault,
        millis,
    }
}

/// A finding without the paths of the temporary folder.
fn placeless(finding: &Finding, laid_out: &LaidOut) -> Finding {
    let text = |text: &String| laid_out.unplaced(text);
    Finding {
        claim: text(&finding.claim),
        proof: text(&finding.proof),
        path: finding.path.as_ref().map(text),
        why: text(&finding.why),
        settle: text(&finding.settle),
        check: text(&finding.check),
        ..finding.clone()
    }
}
