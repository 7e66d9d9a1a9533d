//! Two readers that were told what to say, and what their words come to.

use std::time::{Duration, Instant};

use punchlist::audit::AuditInput;
use punchlist::audit::reading::*;
use punchlist::config::AuditConfig;
use punchlist::config::Config;
use punchlist::config::UnrunChecks;
use punchlist::evidence::FileCache;
use punchlist::finding::Advisory;
use punchlist::finding::AdvisoryKind;
use punchlist::finding::Category;
use punchlist::finding::Finding;
use punchlist::finding::Kind;
use punchlist::finding::Source;
use punchlist::finding::Status;
use punchlist::plan::Plan;
use punchlist::readers::ReaderOutcome;
use punchlist::readers::Readers;
use punchlist::readers::{Budget, Prompts, Proposal, Second};
use punchlist::testing::{self, Folder, ScriptedReader, command, judging, plan, proposal, proposing, said};

const PLAN: &str = "- [x] Create `src/a.rs`\n- [x] Run `cargo test` until it passes\n- [x] Write the docs\n";
const LATER: Duration = Duration::from_secs(60);

/// One audit: an empty workspace and a session that says that everything is done.
struct Audit {
    folder: Folder,
    brief: AuditInput,
    config: AuditConfig,
    time: Duration,
    disputed: Option<String>,
}

impl Audit {
    /// An audit in which the disk proves nothing.
    fn new() -> Self {
        let mut audit = Self::with_facts();
        audit.brief.facts.clear();
        audit
    }

    /// An audit in which the disk proves that `src/a.rs` is missing.
    fn with_facts() -> Self {
        let (folder, config) = (Folder::new(&[]), Config::default().audit);
        let mut session = said("Everything is done, and all tests pass.");
        session.commands.push(command("ls", 2));
        let plan: Option<Plan> = Some(plan(PLAN));
        let (prompts, mut memory) = (Prompts::default(), FileCache::default());
        let brief = AuditInput::new(session, plan, &folder.workspace(), prompts, &config, None, &mut memory);
        assert_eq!(brief.facts.len(), 1, "{:?}", brief.facts);
        Self { folder, brief, config, time: LATER, disputed: None }
    }

    fn read<'a>(&self, first: &'a mut ScriptedReader, second: Second<'a>) -> Reading {
        let shown = self.brief.shown_between("FENCE").expect("shown");
        let prompt = shown.first(self.brief.prompts()).expect("a prompt");
        let (deadline, budget) = (Instant::now() + self.time, Budget::default());
        let mut readers = Readers { first, second, timeout: LATER, deadline, budget };
        let is_disputed = |finding: &Finding| Some(finding.grounds()) == self.disputed;
        let workspace = self.folder.workspace();
        let setting = Setting { workspace: &workspace, config: &self.config, is_disputed: &is_disputed };
        read(&self.brief, &shown, &prompt, &mut readers, setting).expect("built-in texts")
    }

    /// What both readers, of which the second is the first once more, come to, and how often they
    /// were asked.
    fn asked(&self, answers: impl IntoIterator<Item = ReaderOutcome>) -> (Reading, usize) {
        let mut reader = ScriptedReader::new(answers);
        let reading = self.read(&mut reader, Second::Same);
        (reading, reader.asked.len())
    }
}

fn undone_docs() -> Proposal {
    proposal(Kind::Missing, "Write the docs", "")
}

fn statuses(reading: &Reading) -> Vec<Status> {
    reading.findings.iter().map(|finding| finding.status).collect()
}

#[test]
fn at_a_clean_stop_only_the_first_is_asked() {
    let (reading, calls) = Audit::new().asked([proposing(&[], &[])]);
    assert_eq!((calls, reading.findings.len(), reading.second.is_none()), (1, 0, true));
    assert!(reading.second_prompt.is_none());
}

#[test]
fn the_second_is_asked_where_something_would_hold() {
    let (reading, calls) = Audit::new().asked([proposing(&[undone_docs()], &[]), judging(&[(1, true)])]);
    assert_eq!((calls, statuses(&reading)), (2, vec![Status::Confirmed]));
    assert!(is_upheld(&reading.findings[0]));
    let (reading, calls) = Audit::new().asked([proposing(&[undone_docs()], &[]), judging(&[(1, false)])]);
    assert_eq!((calls, statuses(&reading)), (2, vec![Status::Refuted]));
    assert!(!is_upheld(&reading.findings[0]));
}

#[test]
fn both_are_shown_the_same_and_the_task_comes_last() {
    let mut reader = ScriptedReader::new([proposing(&[undone_docs()], &[]), judging(&[(1, true)])]);
    let audit = Audit::new();
    audit.read(&mut reader, Second::Same);
    let [first, second] = reader.asked.as_slice() else { panic!("{:?}", reader.asked) };
    let evidence = audit.brief.shown_between("FENCE").expect("shown").evidence;
    assert!(first.starts_with(&evidence) && second.starts_with(&evidence));
    let task = &second[evidence.len()..];
    assert!(task.contains("<<FENCE findings>>\n{\"category\":\"A\",\"claim\":\"Write the docs\""), "{task}");
}

#[test]
fn what_would_not_hold_is_no_reason_to_ask_the_second() {
    let unsure = Proposal { sure: false, ..undone_docs() };
    let invented = proposal(Kind::Missing, "Write the changelog", "");
    for (proposal, status) in [(unsure, Status::CannotVerify), (invented, Status::CannotVerify)] {
        let (reading, calls) = Audit::new().asked([proposing(&[proposal], &[])]);
        assert_eq!((calls, statuses(&reading)), (1, vec![status]));
    }
    let mut audit = Audit::new();
    audit.config.block_on = vec![Category::Ask];
    assert_eq!(audit.asked([proposing(&[undone_docs()], &[])]).1, 1, "its category does not hold");
    let mut audit = Audit::new();
    audit.folder.write("docs.md", "text");
    let there = proposal(Kind::Missing, "Write the docs", "docs.md");
    let (reading, calls) = audit.asked([proposing(&[there], &[])]);
    assert_eq!((calls, statuses(&reading)), (1, vec![Status::Refuted]));
    audit.disputed = Some(audit.asked([proposing(&[undone_docs()], &[])]).0.findings[0].grounds());
    let (reading, calls) = audit.asked([proposing(&[undone_docs()], &[])]);
    assert_eq!((calls, statuses(&reading)), (1, vec![Status::Confirmed]), "it was disputed before");
}

#[test]
fn what_the_first_doubts_goes_along_when_the_second_is_asked_anyway() {
    let unsure = Proposal { sure: false, ..proposal(Kind::Other, "Run `cargo test` until it passes", "") };
    let invented = proposal(Kind::Missing, "Write the changelog", "");
    let first = proposing(&[unsure, invented, undone_docs()], &[]);
    let (reading, calls) = Audit::new().asked([first, judging(&[(1, true), (2, true)])]);
    let expected = vec![Status::CannotVerify, Status::CannotVerify, Status::Confirmed];
    assert_eq!((calls, statuses(&reading)), (2, expected));
    let upheld: Vec<bool> = reading.findings.iter().map(is_upheld).collect();
    assert_eq!(upheld, [true, false, true], "what the checks object to is not asked about");
}

#[test]
fn too_little_time_is_no_second_opinion() {
    let audit = Audit { time: Readers::LEAST_TIME / 2, ..Audit::new() };
    let (reading, calls) = audit.asked([proposing(&[undone_docs()], &[]), judging(&[(1, true)])]);
    assert_eq!((calls, statuses(&reading)), (1, vec![Status::CannotVerify]));
    assert_eq!(
        reading.findings[0].check,
        "the second reader gave no answer (unavailable: too little of the hook's time was left)"
    );
    let audit = Audit { time: Readers::LEAST_TIME / 2, ..Audit::with_facts() };
    assert_eq!(statuses(&audit.asked([proposing(&[], &[])]).0), [Status::Confirmed], "a fact stands");
}

#[test]
fn with_the_second_switched_off_the_checks_have_the_last_word() {
    let mut first = ScriptedReader::new([proposing(&[undone_docs()], &[])]);
    let reading = Audit::new().read(&mut first, Second::Off);
    assert_eq!((first.asked.len(), statuses(&reading)), (1, vec![Status::Confirmed]));
    assert!(reading.second.is_none());
}

#[test]
fn another_model_may_be_the_second() {
    let mut first = ScriptedReader::new([proposing(&[undone_docs()], &[])]);
    let mut second = ScriptedReader::new([judging(&[(1, false)])]);
    let reading = Audit::new().read(&mut first, Second::Other(&mut second));
    assert_eq!((first.asked.len(), second.asked.len()), (1, 1));
    assert_eq!(statuses(&reading), [Status::Refuted]);
}

#[test]
fn a_fact_is_judged_by_the_first_reader() {
    let audit = Audit::with_facts();
    let (agreed, calls) = audit.asked([proposing(&[], &[(1, true)]), judging(&[(1, true)])]);
    assert_eq!((calls, statuses(&agreed)), (2, vec![Status::Confirmed]));
    assert_eq!(agreed.findings[0].source, Source::Both);
    let (silent, calls) = audit.asked([proposing(&[], &[]), judging(&[(1, true)])]);
    assert_eq!((calls, statuses(&silent)), (2, vec![Status::Confirmed]));
    assert_eq!(silent.findings[0].source, Source::Facts);
    let (disputed, calls) = audit.asked([proposing(&[], &[(1, false)])]);
    assert_eq!((calls, statuses(&disputed)), (1, vec![Status::Refuted]));
    assert_eq!(disputed.findings[0].check, "the first reader disputes it: the disk says so");
    let (other, _) = audit.asked([proposing(&[], &[(2, false)]), judging(&[])]);
    assert_eq!(statuses(&other), [Status::Confirmed], "the word on another number");
}

#[test]
fn a_fact_that_the_second_dismisses_does_not_hold() {
    let (reading, _) = Audit::with_facts().asked([proposing(&[], &[(1, true)]), judging(&[(1, false)])]);
    assert_eq!(statuses(&reading), [Status::Refuted]);
}

#[test]
fn what_a_fact_says_already_is_said_once() {
    let again = proposal(Kind::Missing, "Create `src/a.rs`", "./src/a.rs");
    let (reading, _) =
        Audit::with_facts().asked([proposing(std::slice::from_ref(&again), &[]), judging(&[(1, true)])]);
    assert_eq!((statuses(&reading), reading.findings[0].source), (vec![Status::Confirmed], Source::Both));
    // One that the reader disputes and brings itself is two: both words are kept.
    let (reading, _) = Audit::with_facts().asked([proposing(&[again], &[(1, false)]), judging(&[(1, true)])]);
    assert_eq!(statuses(&reading), [Status::Refuted, Status::Confirmed]);
}

#[test]
fn without_an_answer_the_facts_are_all_there_is_and_nobody_is_asked_again() {
    for outcome in [
        ReaderOutcome::TimedOut(LATER),
        ReaderOutcome::Unreadable("no JSON".into()),
        ReaderOutcome::Superseded,
    ] {
        let (reading, calls) = Audit::with_facts().asked([outcome.clone(), judging(&[(1, false)])]);
        assert_eq!((calls, statuses(&reading)), (1, vec![Status::Confirmed]), "{outcome:?}");
        assert_eq!((reading.first.outcome, reading.findings[0].source), (outcome, Source::Facts));
    }
    let audit = Audit::with_facts();
    let reading = Reading::without_readers(&audit.brief, &audit.config, ReaderOutcome::NotAsked);
    assert_eq!(reading.findings, audit.brief.facts);
}

#[test]
fn a_check_that_never_ran_is_advice_unless_it_is_set_to_block() {
    let unrun = Proposal {
        claimed_in: punchlist::finding::ClaimedIn::Message,
        ..proposal(Kind::NotRun, "all tests pass", "")
    };
    let mut audit = Audit::new();
    let (reading, calls) = audit.asked([proposing(std::slice::from_ref(&unrun), &[])]);
    assert_eq!((calls, reading.findings.len()), (1, 0));
    let advisory =
        Advisory { kind: AdvisoryKind::NotRun, text: "why".into(), evidence: "all tests pass".into() };
    assert_eq!(reading.advisories, [advisory]);
    audit.config.unrun_checks = UnrunChecks::Block;
    let (reading, calls) = audit.asked([proposing(std::slice::from_ref(&unrun), &[]), judging(&[(1, true)])]);
    assert_eq!((calls, statuses(&reading)), (2, vec![Status::Confirmed]));
    assert_eq!(reading.advisories, []);
    // One that is not sure, or not real, is no advice either.
    audit.config.unrun_checks = UnrunChecks::Advise;
    let (reading, _) = audit.asked([proposing(&[Proposal { sure: false, ..unrun }], &[])]);
    assert_eq!((reading.advisories.len(), statuses(&reading)), (0, vec![Status::CannotVerify]));
}

#[test]
fn an_answer_that_does_not_fit_is_none() {
    let (reading, calls) = Audit::new().asked([ReaderOutcome::Answered("{\"findings\":[]}".into())]);
    assert_eq!((calls, reading.findings.len()), (1, 0));
}

#[test]
fn a_path_is_looked_at_as_the_workspace_has_it() {
    let audit = Audit::new();
    audit.folder.write("src/b.rs", "x");
    let workspace = audit.folder.workspace();
    let look = look_at(&workspace, " ./src/../src/b.rs ").expect("a look");
    assert_eq!((look.name.as_str(), look.state), ("src/b.rs", testing::shown("", "x").state));
    assert_eq!(look_at(&workspace, " "), None);
    assert_eq!(look_at(&workspace, "/etc/hosts").expect("a look").name, "/etc/hosts");
}
