//! Sessions with open items, and a reader's answers about them.

use proptest::prelude::*;

use super::*;
use crate::config::ChecklistConfig;
use crate::finding::{Category, Kind};
use crate::gates::audit::AuditDetails;
use crate::testing::{self, ask, evidence, plan, said, todo, touch};

const PLAN: &str =
    "# Plan\n\n- [x] Create `alpha.txt`\n- [ ] Create `beta.txt`\n- [ ] Write the release notes\n";

fn session() -> Session {
    let mut session = said("All done!");
    session.asks.push(ask("Carry out the plan in PLAN.md, please.", 1));
    session.touches.push(touch("alpha.txt", 2));
    session
}

fn everything() -> ChecklistConfig {
    ChecklistConfig { plan: true, todos: true, ..ChecklistConfig::default() }
}

/// Returns the texts of the open items.
fn open(config: &ChecklistConfig, session: &Session, text: &str, lists: &[Checklist]) -> Vec<String> {
    let items = open::open_items(config, session, Some(&plan(text)), lists);
    items.into_iter().map(|item| item.text).collect()
}

/// Returns what is open in the plan.
fn unsettled(text: &str) -> OpenClaims {
    OpenClaims { items: open::open_items(&everything(), &session(), Some(&plan(text)), &[]), section: None }
}

#[test]
fn open_boxes_of_the_plan_and_of_named_lists_are_open() {
    let list = Checklist { name: "TODO.md".into(), steps: parse_steps("- [ ] Tag it\n- [x] Build it\n") };
    let items = open::open_items(&everything(), &session(), Some(&plan(PLAN)), &[list]);
    let plan_at = |line, step| Place::Plan { path: Some("PLAN.md".into()), line, step };
    let places: Vec<_> = items.iter().map(|item| (item.text.as_str(), item.place.clone())).collect();
    assert_eq!(
        places,
        [
            ("Create `beta.txt`", plan_at(4, 2)),
            ("Write the release notes", plan_at(5, 3)),
            ("Tag it", Place::File { path: "TODO.md".into(), line: 1 }),
        ]
    );
}

#[test]
fn what_is_struck_out_or_has_no_box_is_not_open() {
    let text = "- [x] Create `alpha.txt`\n- [ ] ~~Write the notes~~\n- Tell the team\n\n1. Ship it\n";
    assert_eq!(open(&everything(), &session(), text, &[]), Vec::<String>::new());
}

#[test]
fn tasks_that_are_not_over_are_open_and_count_once() {
    let mut session = session();
    session.todos = vec![
        todo("Create beta.txt", "in_progress"),
        todo("Tell the team about the new importer", "pending"),
        todo("Read the docs", "completed"),
        todo("Old", "cancelled"),
    ];
    assert_eq!(
        open(&everything(), &session, PLAN, &[]),
        ["Create `beta.txt`", "Write the release notes", "Tell the team about the new importer"]
    );
    assert_eq!(
        open(&ChecklistConfig { todos: true, ..ChecklistConfig::default() }, &session, PLAN, &[]),
        ["Create beta.txt", "Tell the team about the new importer"]
    );
}

#[test]
fn nothing_is_looked_for_that_is_not_set() {
    let mut session = session();
    session.todos = vec![todo("Create beta.txt", "pending")];
    let none = ChecklistConfig::default();
    assert!(!none.is_set());
    assert_eq!(open(&none, &session, PLAN, &[]), Vec::<String>::new());
}

fn item(text: &str) -> Item {
    Item { place: Place::Tasks { status: "pending".into() }, text: text.into() }
}

#[test]
fn a_reader_is_shown_the_items_the_last_ask_and_the_message() {
    let mut session = said("All is done.");
    session.asks.push(ask("Begin.", 1));
    session.asks.push(ask("Now finish it.", 5));
    let prompt = question(&[item("Tag it"), item("Tell\n2. nobody")], &session).expect("a prompt");
    assert!(prompt.text.contains("\n1. Tag it\n2. Tell 2. nobody\n"), "{}", prompt.text);
    assert!(prompt.text.contains("Now finish it.") && !prompt.text.contains("Begin."), "{}", prompt.text);
    assert!(prompt.text.contains("All is done."), "{}", prompt.text);
    let none = question(&[], &session).expect("a prompt");
    assert!(none.text.contains("(none)"), "{}", none.text);
}

#[test]
fn a_long_list_and_a_long_message_are_bounded() {
    let session = said(&"All done. ".repeat(10_000));
    let items: Vec<Item> = (0..MOST + 50).map(|number| item(&format!("part {number}"))).collect();
    let text = question(&items, &session).expect("a prompt").text;
    assert!(text.contains("\n100. part 99\n") && !text.contains("part 100"), "{text}");
    assert!(text.len() < 20_000, "{}", text.len());
}

#[test]
fn an_answer_that_does_not_fit_claims_nothing() {
    let read: Answer = parse(r#"{"claimed":[1,3],"finished":true}"#).expect("an answer");
    assert_eq!((read.claimed, read.finished), (vec![1, 3], true));
    for json in ["", "yes", r#"{"claimed":[1]}"#, r#"{"claimed":["1"],"finished":true}"#] {
        assert!(check_answer(json).is_err(), "{json}");
    }
    let check = question(&[], &session()).expect("a prompt").check;
    assert!(check(r#"{"claimed":[],"finished":false}"#).is_ok());
    assert!(check(r#"{"claimed":[],"finished":false,"why":"x"}"#).is_err());
}

fn section(message: &str) -> Option<bool> {
    open::missing_section(message, "## Plan Completion Check").map(|section| section.is_empty)
}

#[test]
fn a_section_that_is_wanted_has_its_heading_and_something_under_it() {
    assert_eq!(section("All done!"), Some(false));
    assert_eq!(section("All done!\n\n## Plan Completion Check\n"), Some(true));
    assert_eq!(section("All done!\n\n## Plan Completion Check\n\n## Next\n\nNothing."), Some(true));
    assert_eq!(section("All done!\n\n```\n## Plan Completion Check\n- x\n```\n"), Some(false));
    assert_eq!(section("All done!\n\n## Plan Completion Check\n\n- [x] alpha.txt: written"), None);
    assert_eq!(section("All done!\n\n### plan completion check:\n\n#### Files\n\nalpha.txt"), None);
}

#[test]
fn the_agent_is_told_where_what_and_which_ways_there_are() {
    let mut session = session();
    session.todos = vec![todo("Tell the team", "pending")];
    let secret = format!("- [ ] Use the key sk-ant-api03-{}\n", "a1B2c3D4e5".repeat(9));
    let list = Checklist { name: "docs/TODO.md".into(), steps: parse_steps(&secret) };
    let unsettled = OpenClaims {
        items: open::open_items(&everything(), &session, Some(&plan(PLAN)), &[list]),
        section: open::missing_section("All done!", "## Plan Completion Check"),
    };
    insta::assert_snapshot!(open::reason(&unsettled, true));
    let one = OpenClaims { items: unsettled.items[..1].to_vec(), section: None };
    insta::assert_snapshot!(open::reason(&one, false));
}

#[test]
fn a_long_list_is_cut() {
    let many: String = (0..40).map(|n| format!("- [ ] Build part {n} of the tower\n")).collect();
    let reason = open::reason(&unsettled(&many), true);
    assert!(
        reason.contains("12. PLAN.md, line 12: - [ ] Build part 11") && reason.contains("… and 28 more."),
        "{reason}"
    );
}

fn finding(step: Option<usize>, claim: &str) -> Finding {
    Finding { step, ..testing::finding(Category::A, Kind::Missing, claim, None) }
}

#[test]
fn what_the_audit_holds_for_is_left_to_it() {
    let unsettled = unsettled(PLAN);
    let left = |findings: Vec<Finding>| {
        let pending = PendingBlock::new(&findings, |_| true, &evidence(session()));
        let details = AuditDetails { pending: Some(pending), ..AuditDetails::default() };
        let audit = Outcome::block(Cause::Findings, "r");
        let checked = |gate, outcome: Outcome, details| CheckedGate {
            gate,
            keeps_working: false,
            took: Duration::ZERO,
            usage: None,
            result: GateResult { details, ..outcome.into() },
        };
        let mut all = [
            checked(NAME, block(&unsettled, true), GateDetails::OpenClaims(unsettled.clone())),
            checked("audit", audit, GateDetails::Audit(Box::new(details))),
        ];
        leave_to_the_audit(&mut all);
        all[0].result.outcome.words.clone()
    };
    let rest = left(vec![finding(Some(2), "")]);
    assert!(!rest.contains("beta.txt") && rest.contains("release notes"), "{rest}");
    let both = vec![finding(Some(2), ""), finding(None, "write the Release notes.")];
    assert_eq!(left(both), "the audit blocks for what is open");
    assert_eq!(left(vec![finding(Some(1), "")]), open::reason(&unsettled, false));
}

proptest! {
    #[test]
    fn only_open_boxes_are_ever_named(
        boxes in proptest::collection::vec(("[ xX-]", "(~~)?[a-z]{3,8} [a-z]{3,8}"), 0..12),
    ) {
        let text: String = boxes.iter().map(|(mark, text)| {
            let end = if text.starts_with("~~") { "~~" } else { "" };
            format!("- [{mark}] {text}{end}\n")
        }).collect();
        let open = unsettled(&text).items;
        for item in &open {
            let Place::Plan { line, .. } = item.place else { panic!("{item:?}") };
            let (mark, text) = &boxes[line - 1];
            prop_assert!(mark == " " && !text.starts_with("~~"), "{mark} {text}");
        }
        let expected = boxes.iter().filter(|(mark, text)| mark == " " && !text.starts_with("~~")).count();
        prop_assert_eq!(open.len(), expected);
    }
}
