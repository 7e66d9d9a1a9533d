//! Runs a case: lays it out, audits it as `punchlist audit` would with the chosen readers, and
//! compares the result with the truth. Must not read the person's settings, except for whom to ask
//! if somebody is asked.

use std::time::{Duration, Instant};

use serde::Serialize;

use super::case::{Case, EvalError, Kind, Part, Truth};
use super::checked::{CheckOutcome, Checked, check_alone};
use super::layout::{LaidOut, lay_out};
use super::lying;
use super::matching::{Advised, match_advisories, truths_of};
use super::replies::{self, FirstReply, Replies, Reply};
use super::stored::{FindingKey, RecordedSecond};
use crate::config::{Allowed, Config};
use crate::decision::{Action, Cause};
use crate::env::Env;
use crate::finding::{Finding, Status};
use crate::parallel;
use crate::past_sessions::audit::{Audited, Prepared, Request, prepare};
use crate::readers::prompt::SharedPrompt;
use crate::readers::{Answer, Budget, Prompts, Proposal, Readers, RecordedReply, SealedClient, Second};
use crate::state::StateFolder;

/// The first reader.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum ReaderChoice {
    /// No reader: what the disk proves by itself
    None,
    /// The answers stored with the cases
    Recorded,
    /// Plausible false findings stored with the clean cases
    Sloppy,
    /// Made-up findings, in the clean cases
    Lying,
    /// The real client, which costs money
    Claude,
}

/// The second reader.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum SecondChoice {
    /// The answers stored with the cases; with `--reader claude` the client
    #[default]
    Recorded,
    /// No reader: what passes the checks blocks
    Off,
}

impl ReaderChoice {
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Recorded => "recorded",
            Self::Sloppy => "sloppy",
            Self::Lying => "lying",
            Self::Claude => "claude",
        }
    }

    /// Returns whether all its findings are false, in which case only clean cases are run.
    pub fn is_false(self) -> bool {
        matches!(self, Self::Sloppy | Self::Lying)
    }
}

#[derive(Debug, Clone, Copy)]
pub struct Asking<'a> {
    pub reader: ReaderChoice,
    pub second: SecondChoice,
    /// Answers that are not stored yet.
    pub replies: Option<&'a Replies>,
    /// Who gave them, if they are to be stored.
    pub record: Option<&'a str>,
}

/// A finding, and the truths that it matches.
#[derive(Debug, Clone, Serialize)]
pub struct MatchedFinding {
    pub finding: Finding,
    /// The truths, by their number from 0, best match first; empty if the finding is false.
    pub truths: Vec<usize>,
}

/// A true finding of the first reader's answer, and whether the checks let it through.
#[derive(Debug, Clone, Serialize)]
pub struct TrueProposal {
    pub truth: usize,
    pub proposal: Proposal,
    /// Whether it is passed on to the second reader, or to the person as advice.
    pub is_let_through: bool,
    pub check: String,
}

/// How far a false finding got.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum FalseOutcome {
    StoppedByChecks,
    /// The first reader was unsure, and the second was not asked.
    Unsure,
    /// It is advice, and blocks nothing.
    Advice,
    StoppedBySecond,
    /// No answer of the second reader is recorded for it.
    NotRecorded,
    Holds,
}

/// A false finding by a sloppy or lying reader.
#[derive(Debug, Clone, Serialize)]
pub struct FalseFinding {
    pub kind: &'static str,
    /// The finding as the checks left it.
    pub finding: Finding,
    #[serde(rename = "fate")]
    pub outcome: FalseOutcome,
}

#[derive(Debug, Clone, Serialize)]
pub struct CaseResult {
    pub name: String,
    pub part: Part,
    pub kind: Kind,
    /// What there is to find.
    pub truths: Vec<Truth>,
    pub findings: Vec<MatchedFinding>,
    pub advised: Advised,
    /// True findings of the first reader's answer.
    pub proposed: Vec<TrueProposal>,
    /// False findings of a sloppy or lying reader.
    #[serde(rename = "told")]
    pub false_findings: Vec<FalseFinding>,
    pub no_reply: bool,
    /// Findings without a recorded answer of the second reader.
    pub not_recorded: Vec<String>,
    pub second_calls: usize,
    /// Why the hook would not have asked anybody, if so.
    pub passed_over: Option<&'static str>,
    /// What the hook would have decided.
    pub decision: Action,
    pub cause: Cause,
    pub reader_faults: Vec<String>,
    /// How long it took, not counting the layout.
    pub millis: u128,
}

impl CaseResult {
    /// Returns whether there is nothing to find in it.
    pub fn is_clean(&self) -> bool {
        self.truths.is_empty()
    }

    /// Returns the firmest finding that matches a truth, preferring one of its own category.
    pub fn found(&self, truth: usize) -> Option<&Finding> {
        let of_truth = self.findings.iter().filter(|matched| matched.truths.contains(&truth));
        let rank = |finding: &Finding| {
            let firmness = Status::ALL.iter().position(|status| *status == finding.status);
            (firmness, finding.category != self.truths[truth].category)
        };
        of_truth.map(|matched| &matched.finding).min_by_key(|finding| rank(finding))
    }
}

/// Runs every case that the reader has an answer for; the client is asked about one at a time.
pub fn run_all(
    cases: &[Case],
    asking: Asking<'_>,
    env: &Env,
    done: &(dyn Fn() + Sync),
) -> Result<Vec<CaseResult>, EvalError> {
    let threads = if asking.reader == ReaderChoice::Claude { 1 } else { parallel::cores() };
    let wanted: Vec<Case> =
        cases.iter().filter(|case| case.is_clean() || !asking.reader.is_false()).cloned().collect();
    parallel::map(&wanted, threads, done, |case| run(case, asking, env))
}

/// A case that is laid out and ready to be judged.
pub fn prepared(case: &Case, laid_out: &LaidOut, prompts: Prompts) -> Result<Prepared, EvalError> {
    // The cases record what is right under the built-in settings.
    let config = Config::default();
    let own_env = laid_out.env();
    let request = Request {
        transcript: &laid_out.transcript,
        workspace: laid_out.sandbox.workspace(),
        env: &own_env,
        config: &config,
        prompts,
        judged: None,
    };
    prepare(request, |_| None).map_err(|why| case.error(&why))
}

pub fn run(case: &Case, asking: Asking<'_>, env: &Env) -> Result<CaseResult, EvalError> {
    let laid_out = lay_out(case)?;
    let started = Instant::now();
    let prompts = if asking.reader == ReaderChoice::Claude { own_prompts(env) } else { Prompts::default() };
    let prepared = prepared(case, &laid_out, prompts)?;
    let mut result = match asking.reader {
        // The hook would not have asked anybody.
        _ if prepared.passed_over.is_some() => by_disk_alone(case, &laid_out, prepared),
        ReaderChoice::None => by_disk_alone(case, &laid_out, prepared),
        ReaderChoice::Claude => {
            let audited = ask_client(case, prepared, asking.second, env)?;
            result_of(case, &laid_out, &audited)
        }
        ReaderChoice::Recorded | ReaderChoice::Sloppy | ReaderChoice::Lying => {
            ask_recorded(case, &laid_out, prepared, asking)?
        }
    };
    result.millis = started.elapsed().as_millis();
    Ok(result)
}

fn by_disk_alone(case: &Case, laid_out: &LaidOut, prepared: Prepared) -> CaseResult {
    let passed_over = prepared.passed_over;
    CaseResult { passed_over, ..result_of(case, laid_out, &prepared.ask_nobody()) }
}

fn own_prompts(env: &Env) -> Prompts {
    let own = Config::load(env, &std::env::current_dir().unwrap_or_default(), Allowed::new).0.auditor.prompts;
    own.and_then(|folder| Prompts::with_overrides(&folder).ok()).unwrap_or_default()
}

fn ask_client(
    case: &Case,
    prepared: Prepared,
    second: SecondChoice,
    env: &Env,
) -> Result<Audited, EvalError> {
    let config = Config::load(env, &std::env::current_dir().unwrap_or_default(), Allowed::new).0.auditor;
    let state = StateFolder::find(env).map_err(|error| case.error(&error.to_string()))?;
    let mut client = SealedClient {
        env,
        program: config.client.as_deref(),
        model: &config.model,
        flag_cache: &state,
        is_wanted: None,
    };
    let deadline = Instant::now() + config.timeout * 2;
    let second = match second {
        SecondChoice::Recorded => Second::Same,
        SecondChoice::Off => Second::Off,
    };
    let (timeout, budget) = (config.timeout, Budget::default());
    let readers = Readers { first: &mut client, second, timeout, deadline, budget };
    prepared.ask(readers, &config.model).map_err(|why| case.error(&why))
}

/// Nothing waits this long: recorded answers are available at once.
const RECORDED_TIME: Duration = Duration::from_secs(3_600);

fn ask_recorded(
    case: &Case,
    laid_out: &LaidOut,
    prepared: Prepared,
    asking: Asking<'_>,
) -> Result<CaseResult, EvalError> {
    let number = asking.replies.and_then(|replies| replies.key.number(case)).unwrap_or_default();
    let shown = prepared.brief.shown_between(&replies::fence(number)).map_err(|why| case.error(&why))?;
    let words = replies::second(case, asking.replies, &prepared, &shown, laid_out)?;
    let (reply, false_findings) = first_answer(case, laid_out, &prepared, &shown, asking)?;
    if let Some(by) = asking.record.filter(|_| asking.reader == ReaderChoice::Recorded) {
        replies::record(case, by, &reply, &words, laid_out)?;
    }
    let answer = reply.words.clone().unwrap_or_default();
    let proposed = true_proposals(case, &answer, &prepared, &shown);
    let json = serde_json::to_string(&answer).unwrap_or_default();
    let (mut first, mut second) = (RecordedReply(&json), RecordedSecond::new(&words.words, laid_out));
    let readers = Readers {
        first: &mut first,
        second: match asking.second {
            SecondChoice::Recorded => Second::Other(&mut second),
            SecondChoice::Off => Second::Off,
        },
        timeout: RECORDED_TIME,
        deadline: Instant::now() + RECORDED_TIME,
        budget: Budget::default(),
    };
    let audited = prepared.ask(readers, "recorded").map_err(|why| case.error(&why))?;
    let false_findings = false_findings
        .into_iter()
        .map(|(kind, checked)| false_finding(kind, &checked, &audited, laid_out))
        .collect();
    let faults = reply.fault.into_iter().chain(words.fault);
    Ok(CaseResult {
        proposed,
        false_findings,
        no_reply: reply.words.is_none() && asking.reader != ReaderChoice::Lying,
        not_recorded: second.not_recorded,
        second_calls: second.calls,
        reader_faults: faults.collect(),
        ..result_of(case, laid_out, &audited)
    })
}

/// A kind of false finding, and one of that kind after the checks.
type Falsehood = (&'static str, Checked);

/// Returns the first reader's answer and, for a sloppy or lying one, each of its false findings by
/// itself.
fn first_answer(
    case: &Case,
    laid_out: &LaidOut,
    prepared: &Prepared,
    shown: &SharedPrompt,
    asking: Asking<'_>,
) -> Result<(FirstReply, Vec<Falsehood>), EvalError> {
    let answer = match asking.reader {
        ReaderChoice::Sloppy => replies::sloppy(case, laid_out)?,
        ReaderChoice::Lying => {
            let lies = lying::lies(prepared, shown);
            let checked = lies.iter().map(|lie| (lie.kind, check_alone(&lie.proposal, prepared, shown)));
            let words = Some(lying::lying_answer(&lies));
            return Ok((Reply { words, ..Reply::default() }, checked.collect()));
        }
        ReaderChoice::None | ReaderChoice::Recorded | ReaderChoice::Claude => {
            return Ok((replies::first(case, asking.replies, laid_out)?, Vec::new()));
        }
    };
    let proposals = answer.iter().flat_map(|answer| &answer.findings);
    let checked = proposals.map(|one| ("sloppy", check_alone(one, prepared, shown))).collect();
    Ok((Reply { words: answer, ..Reply::default() }, checked))
}

/// Returns the true findings of the first reader's answer, each checked by itself.
fn true_proposals(
    case: &Case,
    answer: &Answer,
    prepared: &Prepared,
    shown: &SharedPrompt,
) -> Vec<TrueProposal> {
    let plan = prepared.brief.evidence.plan.as_ref();
    let each = answer.findings.iter().filter_map(|proposal| {
        let Checked { finding, outcome } = check_alone(proposal, prepared, shown);
        let truth = *truths_of(&finding, &case.findings, plan).first()?;
        let is_let_through = outcome != CheckOutcome::Stopped;
        Some(TrueProposal { truth, proposal: proposal.clone(), is_let_through, check: finding.check })
    });
    each.collect()
}

fn false_finding(
    kind: &'static str,
    checked: &Checked,
    audited: &Audited,
    laid_out: &LaidOut,
) -> FalseFinding {
    let key = FindingKey::for_finding(&checked.finding, laid_out);
    let judged = audited.findings.iter().find(|finding| FindingKey::for_finding(finding, laid_out) == key);
    let outcome = match (checked.outcome, judged) {
        (CheckOutcome::Stopped, _) => FalseOutcome::StoppedByChecks,
        (CheckOutcome::Advice, _) => FalseOutcome::Advice,
        (_, Some(finding)) if finding.status == Status::Confirmed => FalseOutcome::Holds,
        (_, Some(finding)) if finding.second.is_some() => FalseOutcome::StoppedBySecond,
        (CheckOutcome::Unsure, _) => FalseOutcome::Unsure,
        (CheckOutcome::Through, Some(_)) => FalseOutcome::NotRecorded,
        // It repeats a fact, which is reported instead.
        (CheckOutcome::Through, None) => FalseOutcome::Holds,
    };
    FalseFinding { kind, finding: placeless(&checked.finding, laid_out), outcome }
}

fn result_of(case: &Case, laid_out: &LaidOut, audited: &Audited) -> CaseResult {
    let plan = audited.brief.evidence.plan.as_ref();
    let matched = audited.findings.iter().map(|finding| MatchedFinding {
        finding: placeless(finding, laid_out),
        truths: truths_of(finding, &case.findings, plan),
    });
    let kinds: Vec<_> = case.advisories.iter().map(|advisory| advisory.kind).collect();
    let first = &audited.first;
    let is_fault = !["answered", "not-asked"].contains(&first.outcome.as_str());
    let fault =
        is_fault.then(|| format!("{}: {}", first.outcome, first.detail.as_deref().unwrap_or_default()));
    CaseResult {
        name: case.name.clone(),
        part: case.part,
        kind: case.kind,
        truths: case.findings.clone(),
        findings: matched.collect(),
        advised: match_advisories(&audited.advisories, &kinds),
        proposed: Vec::new(),
        false_findings: Vec::new(),
        no_reply: false,
        not_recorded: Vec::new(),
        second_calls: usize::from(audited.findings.iter().any(|finding| finding.second.is_some())),
        passed_over: None,
        decision: audited.decision,
        cause: audited.cause,
        reader_faults: fault.into_iter().collect(),
        millis: 0,
    }
}

/// Returns a finding without the paths of the temporary folder.
fn placeless(finding: &Finding, laid_out: &LaidOut) -> Finding {
    let text = |text: &String| laid_out.sandbox.unplaced(text);
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
