//! The benchmark as a test: every recorded case, with no auditor, with its recorded reply, and with one that lies on
//! top of it. What the README states must stay so. `punchlist eval fixtures/cases` prints the whole of it.

use std::path::Path;

use punchlist::config::Config;
use punchlist::env::Env;
use punchlist::eval::case::Case;
use punchlist::eval::layout::lay_out;
use punchlist::eval::run::{CaseResult, Mode, run_all};
use punchlist::eval::score::Score;
use punchlist::readers::Prompts;
use punchlist::readings::Readings;
use punchlist::saved::audit::{Project, Request, prepare};
use punchlist::session::load::load_saved;

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

/// What is wrong with a score, by what must never be: a clean session that is held.
fn held(score: &Score) -> usize {
    score.clean_blocked
}

#[test]
fn with_nobody_asked_no_clean_session_is_held_and_most_false_claims_are() {
    let score = Score::of(&results(Mode::None));
    let (provable, confirmed) = score.provable;
    assert_eq!(held(&score), 0);
    assert!(confirmed * 100 >= provable * 85, "{confirmed} of {provable}");
    assert!(score.all().false_in_clean * 3 <= score.clean, "{}", score.all().false_in_clean);
}

#[test]
fn with_the_recorded_replies_no_clean_session_is_held_and_most_of_what_is_true_stays() {
    let score = Score::of(&results(Mode::Recorded));
    let (said, kept, _) = score.replied;
    assert_eq!(held(&score), 0);
    assert!(kept * 100 >= said * 85, "{kept} of {said}");
}

#[test]
fn an_auditor_that_lies_holds_no_clean_session() {
    let score = Score::of(&results(Mode::Lying));
    assert_eq!(held(&score), 0);
    assert!(score.all_lies().confirmed * 1000 <= score.all_lies().told(), "{:?}", score.all_lies());
}

/// What `audit --all` leaves out must not matter: files of which nobody is told are not shown to anybody, a project's
/// files are looked at once, and what was read out of one session's texts serves the next.
#[test]
fn many_sessions_at_a_glance_come_to_what_each_comes_to_by_itself() {
    let _readings = Readings::begin_anew();
    for case in cases() {
        let laid_out = lay_out(&case).expect("laid out");
        let (env, config) = (laid_out.env(), Config::default());
        let request = Request {
            transcript: &laid_out.transcript,
            workspace: laid_out.workspace(),
            env: &env,
            config: &config,
            prompts: Prompts::default(),
        };
        let alone = prepare(request, |_| None).expect("prepared").ask_nobody();
        let project = Project::at(laid_out.workspace(), &env);
        for told in [true, false, false] {
            let loaded = load_saved(&laid_out.transcript);
            let among = project.judge(&laid_out.transcript, loaded, told).expect("judged");
            assert_eq!(among.findings(), alone.findings(), "{}", case.name);
            assert_eq!(among.story.advisories, alone.story.advisories, "{}", case.name);
            assert_eq!((among.decision, among.cause), (alone.decision, alone.cause), "{}", case.name);
            assert_eq!(among.detail, alone.detail, "{}", case.name);
            if told {
                assert_eq!(among.brief.evidence.files, alone.brief.evidence.files, "{}", case.name);
            }
        }
    }
}
