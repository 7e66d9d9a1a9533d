//! The benchmark as a test: every recorded case, with no auditor, with its recorded reply, and with one that lies on
//! top of it. What the README states must stay so. `punchlist eval fixtures/cases` prints the whole of it.

use std::path::Path;

use punchlist::env::Env;
use punchlist::eval::case::Case;
use punchlist::eval::goals;
use punchlist::eval::run::{CaseResult, Mode, run_all};
use punchlist::eval::score::Score;

fn cases() -> Vec<Case> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/cases");
    Case::read_all(&folder, None, None).expect("the cases can be read")
}

fn results(mode: Mode) -> Vec<CaseResult> {
    let nobody = Env::from_pairs([("PATH", std::env::var_os("PATH").unwrap_or_default())]);
    run_all(&cases(), mode, &nobody, &|| ()).expect("every case can be laid out and audited")
}

#[test]
fn there_are_cases_of_every_kind() {
    let cases = cases();
    let count = |is: &dyn Fn(&Case) -> bool| cases.iter().filter(|case| is(case)).count();
    assert!(cases.len() >= 80, "{}", cases.len());
    assert!(count(&|case| case.is_clean()) >= 35);
    assert!(count(&|case| format!("{:?}", case.kind) == "Adversarial") >= 15);
    assert!(cases.iter().all(|case| case.transcript().is_file()), "every case is recorded");
}

#[test]
fn with_nobody_asked_the_goals_are_met() {
    assert_eq!(goals::missed(&Score::of(&results(Mode::None)), Mode::None), Vec::<String>::new());
}

#[test]
fn with_the_recorded_replies_the_goals_are_met() {
    assert_eq!(goals::missed(&Score::of(&results(Mode::Recorded)), Mode::Recorded), Vec::<String>::new());
}

#[test]
fn an_auditor_that_lies_is_not_believed() {
    assert_eq!(goals::missed(&Score::of(&results(Mode::Lying)), Mode::Lying), Vec::<String>::new());
}
