//! Sessions that say that they are finished, and lists that say otherwise.

use proptest::prelude::*;

use super::*;
use crate::config::ChecklistConfig;
use crate::finding::{Category, Kind, Source, Status};
use crate::followup::PendingBlock;
use crate::plan::steps::parse_steps;
use crate::plan::{Plan, PlanSource};
use crate::session::{Ask, EditTool, Original, Outcome as Ended, Session, Todo, Touch};

const PLAN: &str =
    "# Plan\n\n- [x] Create `alpha.txt`\n- [ ] Create `beta.txt`\n- [ ] Write the release notes\n";

fn plan(text: &str) -> Plan {
    Plan {
        source: PlanSource::TouchedFile,
        path: Some("PLAN.md".into()),
        text: text.into(),
        steps: parse_steps(text),
        dropped: Vec::new(),
        ticked_before: Vec::new(),
    }
}

fn session(message: &str) -> Session {
    let touch = Touch {
        path: "/w/alpha.txt".into(),
        tool: EditTool::Write,
        at: 2,
        outcome: Ended::Done,
        original: Original::Absent,
        agent: None,
        change: None,
        change_at: None,
    };
    let ask = Ask { text: "Carry out the plan in PLAN.md, please.".into(), at: 1 };
    Session {
        asks: vec![ask].into(),
        touches: vec![touch].into(),
        final_message: Some(message.into()),
        ..Session::default()
    }
}

fn everything() -> ChecklistConfig {
    ChecklistConfig { plan: true, todos: true, ..ChecklistConfig::default() }
}

/// The words of what is open.
fn open(message: &str, text: &str) -> Vec<String> {
    let plan = plan(text);
    let unsettled = open::unsettled(&everything(), &session(message), Some(&plan), &[]);
    unsettled.items.into_iter().map(|item| item.text).collect()
}

#[test]
fn what_is_claimed_and_open_holds() {
    for message in
        ["All done!", "Every step of the plan is done.", "Done.", "The plan is complete; alpha.txt is there."]
    {
        assert_eq!(open(message, PLAN), ["Create `beta.txt`", "Write the release notes"], "{message}");
    }
    assert_eq!(open("I created beta.txt.", PLAN), ["Create `beta.txt`"], "one item by its words");
    assert_eq!(open("Step 3 is done.", PLAN), ["Write the release notes"], "one by its number");
}

#[test]
fn an_unfinished_plan_is_normal() {
    for message in [
        "I created alpha.txt; beta.txt is next.",
        "alpha.txt is written.",
        "Step 1 is done.",
        "Shall I go on?",
        "All done with step 1. Shall I go on with beta.txt?",
        "I have not done anything yet.",
        "",
    ] {
        assert_eq!(open(message, PLAN), Vec::<String>::new(), "{message}");
    }
}

#[test]
fn what_is_dropped_optional_called_off_or_said_to_be_left_is_not_claimed() {
    let dropped = "- [x] Create `alpha.txt`\n- [ ] Create `beta.txt` (dropped: not wanted)\n- [ ] ~~Write the notes~~\n\
                   - [ ] Optional: a logo\n\n## Later\n\n- [ ] Translate it\n";
    assert_eq!(open("All done!", dropped), Vec::<String>::new());
    assert_eq!(
        open("All steps are done. I skipped the release notes: nobody reads them.", PLAN),
        ["Create `beta.txt`"]
    );
    let mut off = session("All done!");
    off.asks.push(Ask { text: "Never mind the release notes, skip them.".into(), at: 3 });
    let plan = plan(PLAN);
    let items = open::unsettled(&everything(), &off, Some(&plan), &[]).items;
    assert_eq!(items.len(), 1, "{items:?}");
}

#[test]
fn done_is_said_of_what_was_asked_for() {
    let mut part = session("Done.");
    part.asks = vec![Ask { text: "Please do step 1 of PLAN.md, nothing else.".into(), at: 1 }].into();
    let plan = plan(PLAN);
    assert!(open::unsettled(&everything(), &part, Some(&plan), &[]).is_empty());
    part.asks.push(Ask { text: "Rename the greeting in the header of the page to Hello.".into(), at: 5 });
    assert!(open::unsettled(&everything(), &part, Some(&plan), &[]).is_empty(), "a detour");
}

fn todo(text: &str, status: &str) -> Todo {
    Todo { id: None, text: text.into(), status: status.into() }
}

#[test]
fn tasks_count_when_it_is_finished_and_once() {
    let mut session = session("All done!");
    session.todos = vec![
        todo("Create beta.txt", "in_progress"),
        todo("Tell the team about the new importer", "pending"),
        todo("Read the docs", "completed"),
        todo("Old", "cancelled"),
    ];
    let plan = plan(PLAN);
    let unsettled = open::unsettled(&everything(), &session, Some(&plan), &[]);
    let words: Vec<_> = unsettled.items.iter().map(|item| item.text.as_str()).collect();
    assert_eq!(
        words,
        ["Create `beta.txt`", "Write the release notes", "Tell the team about the new importer"]
    );
    session.final_message = Some("I created alpha.txt; the rest is next.".into());
    assert!(open::unsettled(&everything(), &session, Some(&plan), &[]).is_empty());
}

#[test]
fn nothing_is_looked_for_that_is_not_set() {
    let mut session = session("All done!");
    session.todos = vec![todo("Create beta.txt", "pending")];
    let none = ChecklistConfig::default();
    assert!(!none.is_set());
    assert!(open::unsettled(&none, &session, Some(&plan(PLAN)), &[]).is_empty());
}

fn section(message: &str) -> Option<bool> {
    let config =
        ChecklistConfig { require_section: "## Plan Completion Check".into(), ..ChecklistConfig::default() };
    open::unsettled(&config, &session(message), None, &[]).section.map(|section| section.is_empty)
}

#[test]
fn a_section_that_is_wanted_has_its_heading_and_something_under_it() {
    assert_eq!(section("All done!"), Some(false));
    assert_eq!(section("All done!\n\n## Plan Completion Check\n"), Some(true));
    assert_eq!(section("All done!\n\n## Plan Completion Check\n\n## Next\n\nNothing."), Some(true));
    assert_eq!(section("All done!\n\n```\n## Plan Completion Check\n- x\n```\n"), Some(false));
    assert_eq!(section("All done!\n\n## Plan Completion Check\n\n- [x] alpha.txt: written"), None);
    assert_eq!(section("All done!\n\n### plan completion check:\n\n#### Files\n\nalpha.txt"), None);
    assert_eq!(section("I looked at alpha.txt."), None, "nothing is finished");
}

#[test]
fn the_agent_is_told_where_what_and_which_ways_there_are() {
    let mut session = session("All done!");
    session.todos = vec![todo("Tell the team", "pending")];
    let config = ChecklistConfig { require_section: "## Plan Completion Check".into(), ..everything() };
    let secret = format!("- [ ] Use the key sk-ant-api03-{}\n", "a1B2c3D4e5".repeat(9));
    let list = Checklist { name: "docs/TODO.md".into(), steps: parse_words(&secret) };
    let unsettled = open::unsettled(&config, &session, Some(&plan(PLAN)), &[list]);
    insta::assert_snapshot!(words::reason(&unsettled, true));
    let one = Unsettled { items: unsettled.items[..1].to_vec(), section: None };
    insta::assert_snapshot!(words::reason(&one, false));
}

#[test]
fn a_long_list_is_cut() {
    let many: String = (0..40).map(|n| format!("- [ ] Build part {n} of the tower\n")).collect();
    let plan = plan(&many);
    let reason =
        words::reason(&open::unsettled(&everything(), &session("All done!"), Some(&plan), &[]), true);
    assert!(
        reason.contains("12. PLAN.md, line 12: - [ ] Build part 11") && reason.contains("… and 28 more."),
        "{reason}"
    );
}

fn finding(step: Option<usize>, claim: &str) -> Finding {
    Finding {
        category: Category::A,
        status: Status::Confirmed,
        source: Source::Facts,
        kind: Kind::Missing,
        claim: quote.into(),
        path: None,
        why: String::new(),
        settle: String::new(),
        check: String::new(),
        step,
        evidence: Vec::new(),
    }
}

#[test]
fn what_the_audit_holds_for_is_left_to_it() {
    let unsettled = open::unsettled(&everything(), &session("All done!"), Some(&plan(PLAN)), &[]);
    let left = |findings: Vec<Finding>| {
        let pending = PendingBlock::new(&findings, |_| true, None, None, None);
        let story = Story { unsettled: Some(unsettled.clone()), pending: Some(pending), ..Story::default() };
        let told = |gate, outcome| Told { gate, keeps_working: false, outcome };
        let held = Outcome::Hold { cause: Cause::Findings, reason: "r".into() };
        let mut all = [told(NAME, hold(&unsettled, true)), told("audit", held)];
        leave_to_the_audit(&mut all, &story);
        all[0].outcome.words().unwrap_or_default().to_owned()
    };
    let rest = left(vec![finding(Some(2), "")]);
    assert!(!rest.contains("beta.txt") && rest.contains("release notes"), "{rest}");
    let both = vec![finding(Some(2), ""), finding(None, "write the Release notes.")];
    assert_eq!(left(both), "the audit holds for what is open");
    assert_eq!(left(vec![finding(Some(1), "")]), words::reason(&unsettled, false));
}

proptest! {
    #[test]
    fn only_open_boxes_are_ever_named(
        boxes in proptest::collection::vec(("[ xX-]", "[a-z]{3,8} [a-z]{3,8}( \\(dropped: no\\))?"), 0..12),
        message in "(All done!|Done\\.|Step [1-9] is done\\.|I went on\\.|Shall I\\?)( [a-z ]{0,30})?",
    ) {
        let text: String = boxes.iter().map(|(mark, text)| format!("- [{mark}] {text}\n")).collect();
        for item in open::unsettled(&everything(), &session(&message), Some(&plan(&text)), &[]).items {
            let Place::Plan { line, .. } = item.place else { panic!("{item:?}") };
            let (mark, text) = &boxes[line - 1];
            prop_assert!(mark == " " && !text.contains("dropped"), "{mark} {text}");
        }
    }
}
