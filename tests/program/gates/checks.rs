//! The checks that a person set: when they run, what holds, and what can't be told.

use std::fs;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use serde_json::json;

use crate::test_project::{Run, TestProject};

/// A session that wrote one file, with these checks in the person's own config.
fn scene_with(checks: &str) -> TestProject {
    let mut project = TestProject::new();
    project.transcript.asked("Create alpha.txt, please.");
    project.wrote("alpha.txt", "alpha\n");
    project.says("I created alpha.txt.");
    project.own_config(checks);
    project
}

/// A check that counts its runs, and passes unless there is a file `broken`.
const COUNTING: &str = "[[check]]\nname = \"test\"\nrun = \"echo run >> ../runs; test ! -e broken || { echo error: broken; exit 3; }\"\n";

fn runs(project: &TestProject) -> usize {
    std::fs::read_to_string(project.path("runs")).unwrap_or_default().lines().count()
}

/// Asserts that the stop was held; gives the reason. Before it stderr has what the checks printed.
#[track_caller]
fn held(run: &Run) -> String {
    let reply: serde_json::Value = serde_json::from_str(&run.stdout).unwrap_or_default();
    let reason = reply["reason"].as_str().unwrap_or_default().to_owned();
    run.check(reply["decision"] == "block" && run.status.code() == Some(2), "it is held");
    run.check(run.stderr.ends_with(&format!("{reason}\n")), "the reason ends what is on stderr");
    reason
}

/// What each gate made of the stop.
fn gates(run: &Run) -> Vec<(String, String)> {
    let text = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
    let all = run.record()["gates"].as_array().cloned().unwrap_or_default();
    all.iter().map(|gate| (text(&gate["gate"]), text(&gate["outcome"]))).collect()
}

#[test]
fn a_check_that_fails_holds_with_its_command_exit_code_and_output() {
    let project = scene_with(COUNTING);
    project.file("broken", "");
    let run = project.run();
    let reason = held(&run);
    run.check(
        reason.contains("1. test: `echo run >> ../runs;")
            && reason.contains("ended with exit code 3:\n   | error: broken\n"),
        "command, exit code and output are told",
    );
    run.check(run.stderr.starts_with("test | ended with exit code 3 ("), "stderr has the name in front");
    run.check(run.stderr.contains("\ntest | error: broken\n"), "each line of it");
    run.logs("block", "check-failed");
    run.same(&gates(&run), &vec![("checks".into(), "hold".into()), ("audit".into(), "pass".into())]);
    run.same(&project.blocks(), &1);
}

#[test]
fn it_runs_again_only_when_what_it_cares_about_was_touched_since_it_passed() {
    let mut project = scene_with(&COUNTING.replace("name =", "when = [\"*.txt\"]\nname ="));
    let run = project.run();
    run.logs("allow", "clean");
    run.same(&gates(&run), &vec![("checks".into(), "pass".into()), ("audit".into(), "pass".into())]);
    assert_eq!(runs(&project), 1);
    project.run();
    assert_eq!(runs(&project), 1, "nothing was touched since");
    project.wrote("notes.md", "none of its business\n");
    project.run();
    assert_eq!(runs(&project), 1, "it does not care about that");
    project.wrote("notes/beta.txt", "beta\n");
    project.run();
    assert_eq!(runs(&project), 2);
}

#[test]
fn what_failed_runs_again_and_what_it_writes_itself_is_not_touched_by_the_session() {
    let mut project = scene_with(&COUNTING.replace("echo run", "date +%N > coverage; echo run"));
    project.transcript.ran("sed -i s/a/b/ alpha.txt", "");
    project.file("broken", "");
    held(&project.run());
    std::fs::remove_file(project.in_work("broken")).expect("removed");
    let run = project.run();
    run.check(run.stdout.contains("the check \\\"test\\\" passes now"), "it is told");
    run.logs("allow", "clean");
    assert_eq!(runs(&project), 2, "it had failed");
    project.run();
    assert_eq!(runs(&project), 2, "it passed with its own files as they are");
}

#[test]
fn what_a_command_changed_is_touched_too() {
    let mut project = TestProject::new();
    project.transcript.asked("Fix the typo.");
    project.ran_now("sed -i s/a/b/ gamma.txt", |project| project.file("gamma.txt", "b\n"));
    project.says("Fixed.");
    project.own_config(COUNTING);
    project.run();
    assert_eq!(runs(&project), 1);
}

/// What a command does.
type Work<'a> = &'a dyn Fn(&TestProject);

/// `cargo test` was not due when `rm tests/b.rs` or `mv` had broken it.
#[test]
fn what_a_command_took_away_moved_or_gave_another_time_is_touched_too() {
    let old = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000);
    let set_old = |path: PathBuf| {
        let file = fs::File::options().write(true).open(path).expect("there");
        file.set_modified(old).expect("set");
    };
    let moves = |project: &TestProject| {
        fs::rename(project.in_work("tests/b.rs"), project.in_work("src/b.rs")).expect("moved");
    };
    let trials: [(&str, bool, &str, Work<'_>); 5] = [
        ("rm tests/b.rs", true, "tests/**", &|project| {
            fs::remove_file(project.in_work("tests/b.rs")).expect("removed");
        }),
        ("rm -r tests", false, "tests", &|project| {
            fs::remove_dir_all(project.in_work("tests")).expect("removed");
        }),
        ("./clean", true, "tests/**", &|project| {
            fs::remove_dir_all(project.in_work("tests")).expect("removed");
        }),
        ("mv tests/b.rs src", false, "src/b.rs", &moves),
        ("touch -d 1970-01-12 src/a.rs", false, "src/a.rs", &|project| set_old(project.in_work("src/a.rs"))),
    ];
    for (line, has_git, when, work) in trials {
        let mut project = TestProject::new();
        project.transcript.asked("Clean up.");
        for name in ["src/a.rs", "tests/b.rs", "tests/c.rs"] {
            project.file(name, "fn f() {}\n");
            set_old(project.in_work(name));
        }
        if has_git {
            project.git(&["init", "-q"]);
            project.git(&["add", "-A"]);
            project.git(&["commit", "-q", "-m", "x"]);
        }
        std::thread::sleep(Duration::from_millis(50));
        project.own_config(&COUNTING.replace("name =", &format!("when = [\"{when}\"]\nname =")));
        project.ran_now("make", |_| ());
        project.says("Nothing yet.");
        project.run();
        assert_eq!(runs(&project), 0, "{line}");
        project.ran_now(line, work);
        project.says("Cleaned up.");
        project.run();
        assert_eq!(runs(&project), 1, "{line}");
        project.run();
        assert_eq!(runs(&project), 1, "{line}: it passed");
    }
}

#[test]
fn what_somebody_else_changed_meanwhile_makes_no_check_due() {
    let mut project = TestProject::new();
    project.transcript.asked("Fix the typo.");
    // Long ago, and nothing in the folder is that old.
    project.transcript.ran("sed -i s/a/b/ gamma.txt", "");
    project.file("gamma.txt", "of another session\n");
    project.says("Fixed.");
    project.own_config(COUNTING);
    project.run();
    assert_eq!(runs(&project), 0);
}

/// The next stop of a session that was held.
fn goes_on(project: &mut TestProject, words: &str) {
    project.says(words);
    project.input["stop_hook_active"] = json!(true);
}

/// What became of the check at the newest stop.
fn outcome(run: &Run) -> serde_json::Value {
    run.record()["gates"][0]["checks"][0].clone()
}

#[test]
fn a_check_holds_again_until_it_is_green_and_then_it_is_told() {
    let mut project = scene_with(COUNTING);
    project.file("broken", "");
    let run = project.run();
    held(&run);
    run.same(&outcome(&run), &json!({"name": "test", "outcome": "failed"}));
    project.works_on();
    goes_on(&mut project, "Fixed, the tests pass now.");
    let run = project.run();
    held(&run);
    run.same(&outcome(&run), &json!({"name": "test", "outcome": "still-failing"}));
    run.logs("block", "check-failed");
    std::fs::remove_file(project.in_work("broken")).expect("removed");
    project.works_on();
    goes_on(&mut project, "Now they do.");
    let run = project.run();
    run.check(run.stdout.contains("punchlist: the check \\\"test\\\" passes now"), "it is told");
    run.same(&outcome(&run), &json!({"name": "test", "outcome": "fixed"}));
    run.logs("allow", "clean");
    assert_eq!((runs(&project), project.blocks()), (3, 2));
    project.run().logs("allow", "loop-guard");
    assert_eq!(runs(&project), 3, "it passed");
}

#[test]
fn a_check_that_still_fails_when_it_may_hold_no_more_is_told() {
    let mut project = scene_with(&format!("{COUNTING}max_holds = 2\n"));
    project.file("broken", "");
    held(&project.run());
    for words in ["Fixed, the tests pass now.", "Fixed, the tests really pass now."] {
        project.works_on();
        goes_on(&mut project, words);
        if words.contains("really") {
            break;
        }
        held(&project.run());
    }
    let run = project.run();
    run.logs("allow", "check-failed");
    run.check(
        run.stdout.contains(
            "the check \\\"test\\\" still fails after 2 holds, and the stop goes through: `echo run",
        ),
        "it is told",
    );
    run.same(&outcome(&run), &json!({"name": "test", "outcome": "still-failing"}));
    // It was let go with it: a question costs nothing, work is looked at again.
    project.input["stop_hook_active"] = json!(false);
    let before = runs(&project);
    project.transcript.asked("What is this?");
    project.says("A project.");
    project.run();
    assert_eq!(runs(&project), before);
    project.works_on();
    project.says("More.");
    held(&project.run());
}

#[test]
fn an_agent_that_changed_nothing_is_let_go_and_the_person_is_told_that_it_still_fails() {
    let mut project = scene_with(COUNTING);
    project.file("broken", "");
    let run = project.run();
    held(&run);
    let id = run.record()["id"].as_str().expect("an id").to_owned();
    goes_on(&mut project, "The check is wrong: it needs a network.");
    let run = project.run();
    run.tells(&format!(
        "the check \"test\" still fails: the agent changed nothing after it was held for it (punchlist log show {id})"
    ));
    run.logs("allow", "check-failed");
    assert_eq!(runs(&project), 1, "it would only fail again");
    project.run().logs("allow", "loop-guard");
}

#[test]
fn a_check_that_fails_when_the_budget_is_spent_holds_nobody_and_is_told() {
    let mut project = scene_with(&format!("[gates]\nmax_blocks = 1\n{COUNTING}"));
    project.file("broken", "");
    held(&project.run());
    project.works_on();
    project.says("Fixed, the tests pass now.");
    let run = project.run();
    run.logs("allow", "check-failed");
    run.check(run.stdout.contains("the check \\\"test\\\" still fails after 1 hold"), "it is told");
    assert_eq!((runs(&project), project.blocks()), (2, 1));
}

/// The loop guard came before the budget, and the stop was said to be unchecked.
#[test]
fn a_check_that_failed_at_the_stop_after_the_last_block_was_not_told() {
    let mut project = scene_with(&format!("[gates]\nmax_blocks = 1\n{COUNTING}"));
    project.file("broken", "");
    held(&project.run());
    project.works_on();
    goes_on(&mut project, "Fixed, the tests pass now.");
    let run = project.run();
    run.logs("allow", "check-failed");
    run.check(run.stdout.contains("the check \\\"test\\\" still fails after 1 hold"), "it is told");
    assert_eq!((runs(&project), project.blocks()), (2, 1));
}

/// What it failed on was not the session's any more, so that it was not due, and nobody was told
/// anything.
#[test]
fn a_check_that_held_runs_again_when_what_it_failed_on_is_gone() {
    let mut project = scene_with(&COUNTING.replace("[[check]]", "[[check]]\nwhen = [\"made/**\"]"));
    project.ran_now("mkdir made && touch made/x broken", |project| {
        project.file("made/x", "");
        project.file("broken", "");
    });
    project.says("Made.");
    held(&project.run());
    std::fs::remove_dir_all(project.in_work("made")).expect("removed");
    std::fs::remove_file(project.in_work("broken")).expect("removed");
    goes_on(&mut project, "Taken out again.");
    let run = project.run();
    run.check(run.stdout.contains("the check \\\"test\\\" passes now"), "it is told");
    assert_eq!(runs(&project), 2);
}

/// A block has no room for what became of the block before: it is told at the next stop that has.
#[test]
fn what_became_of_a_finding_is_told_after_a_check_that_holds_again() {
    let mut project = TestProject::with_drift();
    project.own_config(COUNTING);
    project.file("broken", "");
    held(&project.run());
    project.works_on();
    goes_on(&mut project, "All of it is done, as I said.");
    held(&project.run());
    std::fs::remove_file(project.in_work("broken")).expect("removed");
    project.works_on();
    goes_on(&mut project, "The check passes now.");
    let run = project.run();
    run.check(run.stdout.contains("punchlist: 1 finding, ignored by the agent: [A]"), "what was left");
    run.check(run.stdout.contains("punchlist: the check \\\"test\\\" passes now"), "and what is new");
    let again = project.run();
    again.check(!again.stdout.contains("ignored by the agent"), "once");
}

#[test]
fn a_session_that_touched_nothing_runs_nothing() {
    let mut project = TestProject::new();
    project.transcript.asked("What is this?");
    project.says("A project.");
    project.own_config(COUNTING);
    project.run().is_silent();
    assert_eq!(runs(&project), 0);
}

#[test]
fn checks_run_side_by_side_and_all_that_fail_are_told_in_order() {
    let wait = |mine: &str, other: &str| {
        // Each of them ends only when the other one has begun.
        format!(
            "touch ../{mine}; i=0; while [ ! -e ../{other} ] && [ $i -lt 200 ]; do sleep 0.05; i=$((i+1)); done; echo {mine} fails; exit 1"
        )
    };
    let checks = format!(
        "[[check]]\nname = \"one\"\nrun = \"{}\"\n[[check]]\nname = \"two\"\nrun = \"{}\"\n",
        wait("one", "two"),
        wait("two", "one")
    );
    let project = scene_with(&checks);
    let reason = held(&project.run());
    let (one, two) = (reason.find("1. one: "), reason.find("2. two: "));
    assert!(one.is_some() && one < two, "{reason}");
    assert!(reason.contains("   | one fails\n") && reason.contains("   | two fails\n"), "{reason}");
}

#[test]
fn a_missing_program_and_a_timeout_are_told_and_hold_nobody() {
    let project = scene_with("[[check]]\nname = \"lint\"\nrun = \"no-such-linter --all\"\n");
    let run = project.run();
    run.logs("allow", "check-not-made");
    run.check(
        run.stdout.contains("the check \\\"lint\\\" was not made: there is no such program ("),
        "it is told",
    );
    let project = scene_with("[[check]]\nname = \"slow\"\nrun = \"sleep 60\"\ntimeout = \"1s\"\n");
    let run = project.run();
    run.logs("allow", "check-not-made");
    run.check(run.stdout.contains("it did not end within 1 s; `timeout` in its [[check]]"), "it is told");
    project.assert_nobody_is_left();
}

#[test]
fn what_a_project_asks_for_runs_only_when_a_person_has_allowed_it() {
    let project = scene_with("");
    project.project_config(COUNTING);
    let run = project.run();
    run.tells("the project's checks do not run before you have looked at them: `punchlist allow`");
    project.run().is_silent();
    assert_eq!(runs(&project), 0);

    let asked = project.run_args(&["allow"]);
    asked.check(
        asked.stderr.contains("There is nobody to ask: read this, then run `punchlist allow --yes`"),
        "an agent is not asked",
    );
    let allowed = project.run_args(&["allow", "--yes"]);
    allowed.check(allowed.stdout.contains("  test: echo run >> ../runs;"), "it says what");
    project.run().logs("allow", "unchanged");
    assert_eq!(runs(&project), 1);

    project.project_config(&COUNTING.replace("echo run", "echo other"));
    project.file("alpha.txt", "changed\n");
    project.run();
    assert_eq!(runs(&project), 1, "other words have to be allowed anew");
    project.run_args(&["allow", "--revoke"]).check(true, "it can be taken back");
}

#[test]
fn a_check_and_a_finding_are_one_block() {
    let project = TestProject::with_drift();
    project.own_config("[[check]]\nname = \"test\"\nrun = \"echo error: no; exit 1\"\n");
    let run = project.run();
    let reason = held(&run);
    let (check, finding) =
        (reason.find("holds this stop for 1 check that fails"), reason.find("holds this stop for 1 finding"));
    run.check(check.is_some() && check < finding, "the check first, then the audit");
    run.same(&reason.matches("Fix what is listed").count(), &1);
    run.logs("block", "check-failed");
    run.same(&project.blocks(), &1);
    run.check(
        run.record()["findings"].as_array().is_some_and(|all| !all.is_empty()),
        "the findings are in the log",
    );
}

#[test]
fn figures_count_audits_and_checks_apart() {
    let mut project = scene_with(COUNTING);
    project.file("broken", "");
    held(&project.run());
    std::fs::remove_file(project.in_work("broken")).expect("removed");
    project.works_on();
    goes_on(&mut project, "Fixed.");
    project.run();
    let stats = project.run_args(&["log", "stats", "--json"]);
    let stats: serde_json::Value = serde_json::from_str(&stats.stdout).expect("figures");
    assert_eq!(
        stats["gates"],
        json!([
            { "name": "audit", "looked": 1, "held": 0, "could_not_check": 0 },
            { "name": "checks", "looked": 2, "held": 1, "could_not_check": 0 },
        ])
    );
    assert_eq!(
        (&stats["blocks"], &stats["audited"], &stats["block_rate"]),
        (&json!(1), &json!(1), &json!(0.0))
    );
    assert_eq!(stats["checks"], json!([{ "name": "failed", "count": 1 }, { "name": "fixed", "count": 1 }]));
}

#[test]
fn subagents_have_checks_of_their_own() {
    let checks = format!("{COUNTING}on = \"subagent\"\n");
    let mut project = scene_with(&checks);
    project.run();
    assert_eq!(runs(&project), 0, "it is not for the main agent");
    project.input["hook_event_name"] = json!("SubagentStop");
    project.input["agent_id"] = json!("a1");
    project.input["agent_type"] = json!("code-writer");
    project.input["agent_transcript_path"] = project.input["transcript_path"].clone();
    project.file("broken", "");
    held(&project.run());
    assert_eq!(runs(&project), 1);
    project.own_config(&format!("{checks}[subagents]\ntypes = [\"Explore\"]\n"));
    let run = project.run();
    run.logs("allow", "nothing-to-audit");
    run.same(&run.record()["detail"], &json!("agents of type \"code-writer\" are not checked ([subagents])"));
}

#[test]
fn two_sessions_in_one_folder_remember_for_themselves() {
    let mut project = scene_with(COUNTING);
    project.run();
    assert_eq!(runs(&project), 1);
    project.input["session_id"] = json!("another-session");
    project.run();
    assert_eq!(runs(&project), 2, "what passed for one session says nothing to another");
    project.file("broken", "");
    project.file("alpha.txt", "changed\n");
    held(&project.run());
    project.input["session_id"] = json!("session-1");
    held(&project.run());
    assert_eq!(project.blocks(), 1, "each has a budget of its own");
}

#[test]
fn in_the_dry_run_nobody_is_held() {
    let mut project = scene_with(COUNTING);
    project.var("PUNCHLIST_DRY_RUN", "1");
    project.file("broken", "");
    let run = project.run();
    run.logs("allow", "check-failed");
    run.same(&run.record()["would_block"], &json!(true));
}
