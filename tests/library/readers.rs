//! One proposal against one piece of evidence: what the second reader is asked about, and what each
//! check says of the rest.

use proptest::prelude::*;

use punchlist::evidence::Entered;
use punchlist::evidence::Evidence;
use punchlist::evidence::FileChange;
use punchlist::evidence::FileEvidence;
use punchlist::evidence::FileState;
use punchlist::evidence::LeftOut;
use punchlist::evidence::sections::claims_text;
use punchlist::finding::Category;
use punchlist::finding::ClaimedIn;
use punchlist::finding::Finding;
use punchlist::finding::Kind;
use punchlist::finding::Source;
use punchlist::finding::Status;
use punchlist::readers::Proposal;
use punchlist::readers::proposal_checks::*;
use punchlist::session::Command;
use punchlist::testing::{self, ask, command, failed, file, plan, plan_from, proposal, said, shown, todo};
use punchlist::text::normalise::bare;

const PLAN: &str = "# Plan\n\n- [x] Create `src/a.rs`\n- [x] Run `cargo test` until it passes\n";
const HOLDS: &str = "its quotes are in the evidence, and nothing there contradicts it";

/// A session with a plan, an ask, a task and a final message.
fn evidence() -> Evidence {
    let mut session = said("All steps are done, **all** tests\n  pass.");
    session.asks.push(ask("Follow the plan, and add a LICENSE.", 1));
    session.todos.push(todo("Write the docs", "completed"));
    Evidence { plan: Some(plan(PLAN)), ..testing::evidence(session) }
}

const MISSING: FileState = FileState::Missing { elsewhere: None };

fn at(name: &str, state: FileState) -> PathOnDisk {
    PathOnDisk { name: name.to_owned(), state }
}

/// Checks a proposal; the readers were shown the plan and `words`.
fn found(proposal: &Proposal, look: Option<&PathOnDisk>, evidence: &Evidence, words: &str) -> Finding {
    let shown = bare(&format!("{PLAN}\n{words}"));
    check(proposal, look, evidence, &shown)
}

fn becomes(proposal: &Proposal, look: Option<&PathOnDisk>, evidence: &Evidence) -> (Status, String) {
    let found = found(proposal, look, evidence, "");
    (found.status, found.check)
}

fn unsupported(why: &str) -> (Status, String) {
    (Status::CannotVerify, why.to_owned())
}

fn contradicted(why: &str) -> (Status, String) {
    (Status::Refuted, why.to_owned())
}

fn confirmed() -> (Status, String) {
    (Status::Confirmed, HOLDS.to_owned())
}

fn missing_a() -> Proposal {
    proposal(Kind::Missing, "Create `src/a.rs`", "src/a.rs")
}

#[test]
fn a_quoted_proposal_that_nothing_contradicts_is_confirmed() {
    let found = found(&missing_a(), Some(&at("src/a.rs", MISSING)), &evidence(), "");
    let expected = Finding {
        source: Source::Reader,
        check: HOLDS.into(),
        step: Some(1),
        ..testing::finding(Category::A, Kind::Missing, "Create `src/a.rs`", Some("src/a.rs"))
    };
    assert_eq!(found, expected);
}

#[test]
fn a_claim_that_no_section_has_is_unsupported() {
    for (place, name) in [
        (ClaimedIn::Plan, "the plan"),
        (ClaimedIn::Message, "the final message"),
        (ClaimedIn::Tasks, "the task list"),
        (ClaimedIn::Asks, "the person's asks"),
        (ClaimedIn::Nowhere, "the plan, the final message, the task list or the asks"),
    ] {
        let invented =
            Proposal { claimed_in: place, ..proposal(Kind::Missing, "Create `src/b.rs`", "src/b.rs") };
        let why = format!("its quote is not in {name}");
        assert_eq!(becomes(&invented, Some(&at("src/b.rs", MISSING)), &evidence()), unsupported(&why));
    }
    let silent = proposal(Kind::Missing, " `…` ", "src/b.rs");
    assert_eq!(becomes(&silent, None, &evidence()), unsupported("it quotes no claim"));
}

#[test]
fn the_section_of_a_claim_is_corrected() {
    for (claim, place) in [
        ("Create `src/a.rs`", ClaimedIn::Plan),
        ("All steps are done", ClaimedIn::Message),
        ("Write the docs", ClaimedIn::Tasks),
        ("add a LICENSE", ClaimedIn::Asks),
    ] {
        for said in ClaimedIn::ALL {
            let proposal = Proposal { claimed_in: said, ..proposal(Kind::Other, claim, "") };
            let found = found(&proposal, None, &evidence(), "");
            assert_eq!((found.status, found.claimed_in), (Status::Confirmed, place), "{claim} in {said:?}");
        }
    }
}

#[test]
fn a_step_that_was_removed_from_the_plan_can_be_quoted() {
    let before = format!("{PLAN}- [ ] Write the changelog\n");
    let evidence = Evidence { plan: Some(plan_from(&before, PLAN)), ..evidence() };
    let dropped = Proposal { category: Category::C, ..proposal(Kind::LeftOut, "Write the changelog", "") };
    assert_eq!(becomes(&dropped, None, &evidence), confirmed());
}

#[test]
fn marks_white_space_and_omissions_do_not_matter() {
    for claim in [
        "- [x] Create src/a.rs",
        "CREATE   **src/a.rs**",
        "Run `cargo test` … passes",
        "Run `cargo test` ... passes",
        "Run [\u{2026}] until it passes",
        "until it",
    ] {
        assert_eq!(becomes(&proposal(Kind::Other, claim, ""), None, &evidence()), confirmed(), "{claim}");
    }
    let message = Proposal { claimed_in: ClaimedIn::Message, ..proposal(Kind::Other, "all tests pass.", "") };
    assert_eq!(becomes(&message, None, &evidence()), confirmed());
    let half = proposal(Kind::Other, "Create … and ship it", "");
    assert_eq!(becomes(&half, None, &evidence()).0, Status::CannotVerify, "one part of it is invented");
}

#[test]
fn a_proof_is_in_the_evidence_or_empty() {
    let why = "its proof is not in the evidence";
    let proven = |proof: &str| {
        let proposal = Proposal { proof: proof.into(), ..proposal(Kind::Other, "Create `src/a.rs`", "") };
        let found = found(&proposal, None, &evidence(), "$ cargo test\n  => FAILED, exit code 101\n");
        (found.status, found.check)
    };
    assert_eq!(proven("$ cargo test => FAILED"), confirmed());
    assert_eq!(proven("cargo test … exit code 101"), confirmed());
    assert_eq!(proven(""), confirmed());
    assert_eq!(proven("cargo test => ok"), unsupported(why));
    assert_eq!(proven("cargo test … exit code 0"), unsupported(why));
}

#[test]
fn without_a_plan_nothing_drifts_from_it() {
    let planless = Evidence { plan: None, ..evidence() };
    for category in Category::ALL {
        let proposal = Proposal {
            category,
            claimed_in: ClaimedIn::Message,
            ..proposal(Kind::Other, "All steps are done", "")
        };
        let is_of_a_plan = matches!(category, Category::B | Category::C | Category::D);
        let why = "there is no plan to drift from";
        let expected = if is_of_a_plan { unsupported(why) } else { confirmed() };
        assert_eq!(becomes(&proposal, None, &planless), expected, "{category:?}");
        assert_eq!(becomes(&proposal, None, &evidence()), confirmed(), "{category:?}");
    }
}

#[test]
fn unplanned_work_needs_no_claim_and_an_invented_one_is_dropped() {
    let unplanned = Proposal {
        category: Category::B,
        claimed_in: ClaimedIn::Nowhere,
        ..proposal(Kind::NotInPlan, "", "src/extra.rs")
    };
    let look = at("src/extra.rs", FileState::File { bytes: 9 });
    assert_eq!(becomes(&unplanned, Some(&look), &evidence()), confirmed());
    let invented = Proposal { claim: "I added extra.rs".into(), ..unplanned };
    let found = found(&invented, Some(&look), &evidence(), "");
    let expected = (Status::Confirmed, ClaimedIn::Nowhere, "");
    assert_eq!((found.status, found.claimed_in, found.claim.as_str()), expected);
}

#[test]
fn a_path_outside_the_workspace_is_unsupported() {
    for (name, state, why) in [
        ("/etc/hosts", FileState::Outside, "/etc/hosts is outside the workspace"),
        ("/tmp/probe.py", FileState::Outside, "/tmp/probe.py is in a folder for temporary files"),
        ("src/a.rs", FileState::Unreadable("denied".into()), "src/a.rs can't be read: denied"),
    ] {
        let proposal = Proposal { path: name.into(), ..missing_a() };
        assert_eq!(becomes(&proposal, Some(&at(name, state)), &evidence()), unsupported(why));
    }
    // A workspace that is itself below /tmp: what counts is how it calls the file.
    let absolute = Proposal { path: "/tmp/shop/src/a.rs".into(), ..missing_a() };
    assert_eq!(becomes(&absolute, Some(&at("src/a.rs", MISSING)), &evidence()), confirmed());
}

#[test]
fn missing_is_refuted_by_a_file_that_exists() {
    let missing = |state| becomes(&missing_a(), Some(&at("src/a.rs", state)), &evidence());
    assert_eq!(missing(FileState::File { bytes: 12 }), contradicted("src/a.rs is there, 12 bytes"));
    assert_eq!(missing(FileState::Folder), contradicted("src/a.rs is there"));
    assert_eq!(missing(FileState::File { bytes: 0 }), confirmed(), "an empty file is none");
    assert_eq!(missing(FileState::Missing { elsewhere: Some("b/src/a.rs".into()) }), confirmed());
    let other = Proposal { kind: Kind::Other, ..missing_a() };
    let there = at("src/a.rs", FileState::File { bytes: 12 });
    assert_eq!(becomes(&other, Some(&there), &evidence()), confirmed(), "it is not called missing");
}

#[test]
fn unplanned_work_is_refuted_by_an_unchanged_file() {
    let proposal = Proposal { category: Category::B, ..proposal(Kind::NotInPlan, "", "src/x.rs") };
    let look = at("src/x.rs", FileState::File { bytes: 4 });
    let mut evidence = evidence();
    for change in [FileChange::Created, FileChange::Modified, FileChange::Deleted, FileChange::Unknown] {
        evidence.files = vec![FileEvidence { change, ..shown("src/x.rs", "text") }];
        assert_eq!(becomes(&proposal, Some(&look), &evidence), confirmed(), "{change:?}");
    }
    evidence.files = vec![FileEvidence { change: FileChange::Unchanged, ..shown("src/x.rs", "text") }];
    let why = "src/x.rs was not changed in this session";
    assert_eq!(becomes(&proposal, Some(&look), &evidence), contradicted(why));
}

#[test]
fn content_that_was_not_shown_proves_nothing() {
    let stub = proposal(Kind::WrongContent, "Create `src/a.rs`", "src/a.rs");
    let look = at("src/a.rs", FileState::File { bytes: 9 });
    let mut evidence = evidence();
    let mut entered = |entered, proof: &str| {
        let state = FileState::File { bytes: 9 };
        evidence.files = vec![FileEvidence { entered, ..file("src/a.rs", state) }];
        let stub = Proposal { proof: proof.into(), ..stub.clone() };
        let found = found(&stub, Some(&look), &evidence, "todo!()");
        (found.status, found.check)
    };
    let part = "src/a.rs was shown in part, and what is not shown proves nothing";
    let none = "src/a.rs was not shown, and what is not shown proves nothing";
    assert_eq!(entered(Entered::Cut(300), ""), unsupported(part));
    for why in [LeftOut::NoRoom, LeftOut::Secret, LeftOut::Binary, LeftOut::Generated, LeftOut::JudgedBefore]
    {
        assert_eq!(entered(Entered::LeftOut(why), ""), unsupported(none), "{why:?}");
    }
    assert_eq!(entered(Entered::Cut(300), "todo!()"), confirmed(), "it quotes what is wrong");
    assert_eq!(entered(Entered::LeftOut(LeftOut::NoRoom), "todo!()"), confirmed());
    // What it lacks can be seen.
    assert_eq!(entered(Entered::Whole, ""), confirmed());
    assert_eq!(entered(Entered::Diff, ""), confirmed());
    assert_eq!(entered(Entered::LeftOut(LeftOut::Unchanged), ""), confirmed());
    assert_eq!(entered(Entered::LeftOut(LeftOut::Folder), ""), confirmed());
}

/// Checks the claim that tests failed, after these commands.
fn after(commands: Vec<Command>, proof: &str) -> (Status, String) {
    let mut evidence = evidence();
    let words: String =
        commands.iter().map(|run| format!("$ {}\n{}\n=> FAILED\n", run.line, run.output)).collect();
    evidence.session.commands = commands;
    let claim = "Run `cargo test` until it passes";
    let proposal = Proposal { proof: proof.into(), ..proposal(Kind::Failed, claim, "") };
    let found = found(&proposal, None, &evidence, &words);
    (found.status, found.check)
}

#[test]
fn a_command_that_failed_and_passed_later_is_refuted() {
    let passed = contradicted("`cargo test` succeeded when it was run last");
    for proof in ["1 test failed", "$ cargo test", "cargo test 1 test failed => FAILED"] {
        let red = || failed("cargo test", 3, "1 test failed");
        assert_eq!(after(vec![red()], proof), confirmed(), "{proof}");
        assert_eq!(after(vec![red(), command("cargo test", 7)], proof), passed, "{proof}");
        assert_eq!(after(vec![red(), command("cargo  test", 7)], proof), passed, "{proof}");
        // A short command that is part of the proof by chance is not meant.
        assert_eq!(after(vec![red(), command("cargo test", 7), command("t", 8)], proof), passed, "{proof}");
        let again = vec![command("cargo test", 1), red(), command("cargo build", 9)];
        assert_eq!(after(again, proof), confirmed(), "{proof}: it did not pass since");
        let worse = vec![red(), command("cargo test", 7), failed("cargo test", 9, "1 test failed")];
        assert_eq!(after(worse, proof), confirmed(), "{proof}: it failed again");
    }
}

#[test]
fn a_command_that_passed_is_not_called_failed_for_its_line_alone() {
    let passed = contradicted("`npm run deploy` succeeded when it was run last");
    assert_eq!(after(vec![command("npm run deploy", 3)], "$ npm run deploy"), passed);
    let says_otherwise = Command { output: "deploy: upload refused".into(), ..command("npm run deploy", 3) };
    assert_eq!(after(vec![says_otherwise], "deploy: upload refused"), confirmed());
    // Another command of which it is a part.
    assert_eq!(after(vec![command("npm run deploy -- --dry-run", 3)], "npm run deploy"), confirmed());
}

#[test]
fn a_run_whose_exit_code_a_pipe_hides_has_not_passed() {
    let line = "cargo test 2>&1 | tail -3";
    let red = || Command { output: "1 test failed".into(), ..command(line, 3) };
    assert_eq!(after(vec![red(), command(line, 7)], "1 test failed"), confirmed());
    let other = vec![failed("cargo test", 3, "1 test failed"), command("cargo test || true", 7)];
    assert_eq!(after(other, "1 test failed"), confirmed());
}

#[test]
fn a_command_that_is_called_not_run_and_was_run_is_refuted() {
    let not_run = |line: &str, claim: &str| {
        let mut evidence = evidence();
        evidence.session.commands.push(command(line, 4));
        becomes(&proposal(Kind::NotRun, claim, ""), None, &evidence)
    };
    let claim = "Run `cargo test` until it passes";
    for line in ["cargo test", "cargo test --all", "cd /w && cargo test"] {
        assert_eq!(not_run(line, claim), contradicted(&format!("`{line}` was run, and succeeded")));
    }
    for line in ["cargo build", "echo 'cargo test'", "cargo test | tail", "git commit -m 'run cargo test'"] {
        assert_eq!(not_run(line, claim), confirmed(), "{line}");
    }
    assert_eq!(not_run("cargo test", "until it passes"), confirmed(), "it names no command");
    let mut evidence = evidence();
    evidence.session.commands.push(failed("cargo test", 4, ""));
    assert_eq!(becomes(&proposal(Kind::NotRun, claim, ""), None, &evidence), confirmed(), "it failed");
}

#[test]
fn a_proposal_that_the_reader_is_not_sure_of_never_blocks() {
    let unsure = Proposal { sure: false, ..missing_a() };
    assert_eq!(becomes(&unsure, Some(&at("src/a.rs", MISSING)), &evidence()), unsupported(UNSURE));
    // A harder objection comes first.
    let there = at("src/a.rs", FileState::File { bytes: 1 });
    let why = "src/a.rs is there, 1 bytes";
    assert_eq!(becomes(&unsure, Some(&there), &evidence()), contradicted(why));
}

#[test]
fn a_claim_belongs_to_the_step_that_it_quotes() {
    let plan = plan("- [x] Go\n- [x] Go to `b.rs` and mend it\n- [ ] Write the docs\n");
    assert_eq!(step_of("- [x] Go to b.rs and mend it", Some(&plan)), Some(2));
    assert_eq!(step_of("mend it", Some(&plan)), Some(2));
    assert_eq!(step_of("Write the docs, all of them", Some(&plan)), Some(3));
    assert_eq!(step_of("Go", Some(&plan)), Some(1));
    assert_eq!(step_of("deploy", Some(&plan)), None);
    assert_eq!((step_of(" … ", Some(&plan)), step_of("Go", None)), (None, None));
}

/// Words of the evidence, and others.
fn words() -> impl Strategy<Value = String> {
    let known =
        ["Create `src/a.rs`", "Run `cargo test`", "all tests pass", "Write the docs", "…", "add a LICENSE"];
    let known = proptest::sample::select(known.to_vec()).prop_map(str::to_owned);
    let parts = prop::collection::vec(prop_oneof![known, "[ -~é…`*]{0,12}", "\\PC{0,12}"], 0..4);
    parts.prop_map(|parts| parts.join(" "))
}

fn any_state() -> impl Strategy<Value = FileState> {
    prop_oneof![
        (0..3_u64).prop_map(|bytes| FileState::File { bytes }),
        Just(FileState::Folder),
        Just(MISSING),
        Just(FileState::Outside),
        Just(FileState::Unreadable("denied".into())),
    ]
}

proptest! {
    #[test]
    fn no_proposal_makes_it_panic_and_nothing_invented_is_confirmed(
        category in proptest::sample::select(Category::ALL.to_vec()),
        kind in proptest::sample::select(Kind::ALL.to_vec()),
        claimed_in in proptest::sample::select(ClaimedIn::ALL.to_vec()),
        (claim, proof) in (words(), words()),
        path in "[a-z/.~ ]{0,12}",
        sure in any::<bool>(),
        look in prop::option::of(("[a-z/.]{0,8}", any_state())),
    ) {
        let look = look.map(|(name, state)| PathOnDisk { name, state });
        let texts = (String::new(), String::new());
        let proposal = Proposal {
            category, sure, kind, claim: claim.clone(), claimed_in, proof: proof.clone(), path, why: texts.0, settle: texts.1,
        };
        let mut evidence = evidence();
        evidence.session.commands.push(failed("cargo test", 3, &proof));
        evidence.session.commands.push(command(&claim, 4));
        let found = found(&proposal, look.as_ref(), &evidence, "");
        if found.status != Status::Confirmed {
            return Ok(());
        }
        prop_assert!(sure);
        let is_in = |text: &str, quote: &str| pieces(quote).all(|piece| bare(text).contains(&piece));
        prop_assert!(is_in(PLAN, &proof), "{proof:?} is no proof");
        let sections = ClaimedIn::ALL.map(|place| claims_text(&evidence, place));
        let is_said = sections.iter().any(|text| is_in(text, &found.claim));
        prop_assert!(is_said && (category == Category::B || !bare(&found.claim).is_empty()), "{:?}", found.claim);
    }
}
