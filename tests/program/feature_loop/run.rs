//! `loop run`: sessions one after another, until it is complete or something ends it.

use serde_json::json;

use crate::feature_loop::machine::{DONE, Machine};

const TWO: &[(&str, bool)] = &[("F1", true), ("F2", true), ("F3", false)];
const ALL: &[(&str, bool)] = &[("F1", true), ("F2", true), ("F3", true)];

/// Lines without how long something took.
fn lines(text: &str) -> Vec<String> {
    let without = |word: &&str| !word.ends_with('s') || word[..word.len() - 1].parse::<u32>().is_err();
    text.lines().map(|line| line.split(' ').filter(without).collect::<Vec<_>>().join(" ")).collect()
}

#[test]
fn fresh_sessions_work_the_list_off() {
    let machine = Machine::begun();
    machine.script(&[
        &format!("on-call 1 {}", Machine::writes(TWO)),
        &format!("on-call 2 {}", Machine::writes(ALL)),
        DONE,
    ]);
    let ran = machine.run(&["loop", "run", "--", "--permission-mode", "acceptEdits"]);
    assert_eq!(
        (ran.code, lines(&ran.stdout), ran.stderr.as_str()),
        (
            Some(0),
            vec![
                "iteration 1 of 10  F2 What F2 is  2 of 3 pass   $0.25".to_owned(),
                "iteration 2 of 10  F3 What F3 is  3 of 3 pass   $0.25".into(),
                "COMPLETE: all 3 features pass, after 2 iterations (2 sessions, $0.50, 0s)".into(),
            ],
            ""
        )
    );
    let calls = machine.calls();
    let sessions: Vec<_> =
        calls.iter().map(|call| call["argv"][4].as_str().expect("an id").to_owned()).collect();
    assert_ne!(sessions[0], sessions[1], "each is fresh");
    assert_eq!(
        calls[0]["argv"],
        json!([
            "-p", "--output-format", "json", "--session-id", sessions[0], "--permission-mode", "acceptEdits"
        ])
    );
    assert!(
        calls.iter().all(|call| call["cwd"] == json!(machine.path("project")) && call["pid"] == call["pgid"])
    );
    let prompt = calls[1]["stdin"].as_str().expect("a prompt");
    assert!(
        prompt.contains("2 of 3 features pass. This is iteration 2 of 10.")
            && prompt.contains("Your feature: F3\nWhat F3 is\n"),
        "{prompt}"
    );
    assert!(
        prompt.contains("iteration: 1\nmax: 10\nstatus: IN_PROGRESS\n"),
        "the state is handed over: {prompt}"
    );
    assert!(machine.read("project/progress.txt").contains("status: COMPLETE\npassing: 3 of 3\n"));
    let again = machine.run(&["loop", "run"]);
    assert_eq!((again.code, machine.calls().len()), (Some(0), 2), "{}", again.stdout);
}

#[test]
fn the_limit_of_iterations_ends_it_and_may_be_raised() {
    let machine = Machine::begun();
    // Every session leaves something, and no feature passes.
    machine.script(&[
        "on-call 1 write src/a 1",
        "on-call 2 write src/a 22",
        "on-call 3 write src/a 333",
        DONE,
    ]);
    let ran = machine.run(&["loop", "run", "--max-iterations", "2"]);
    assert_eq!((ran.code, machine.calls().len()), (Some(1), 2), "{}", ran.stdout);
    assert!(
        ran.stdout.contains("REACHED_LIMIT: the limit of 2 iterations is reached; 2 features are still open"),
        "{}",
        ran.stdout
    );
    assert!(machine.read("project/progress.txt").contains("\nleft: F2, F3\n"));
    let ran = machine.run(&["loop", "run"]);
    assert_eq!((ran.code, machine.calls().len()), (Some(1), 2), "still");
    let ran = machine.run(&["loop", "run", "--max-iterations", "3"]);
    assert_eq!((ran.code, machine.calls().len()), (Some(1), 3), "{}", ran.stdout);
}

#[test]
fn sessions_of_which_nothing_comes_end_it() {
    let machine = Machine::begun();
    machine.script(&[DONE]);
    let ran = machine.run(&["loop", "run"]);
    assert_eq!((ran.code, machine.calls().len()), (Some(1), 3), "{}", ran.stdout);
    assert!(ran.stdout.contains("STALLED: nothing moved for 3 iterations"), "{}", ran.stdout);
    // Whoever runs it again gives it new tries.
    let ran = machine.run(&["loop", "run"]);
    assert_eq!((ran.code, machine.calls().len()), (Some(1), 6), "{}", ran.stdout);
}

#[test]
fn the_same_failure_again_and_again_ends_it() {
    let machine = Machine::begun();
    machine.script(&["api-error API Error: 529 overloaded"]);
    let ran = machine.run(&["loop", "run", "--retry-after", "10ms", "--max-errors", "2"]);
    assert_eq!((ran.code, machine.calls().len()), (Some(1), 2), "{}", ran.stdout);
    let told = lines(&ran.stdout);
    assert_eq!(told[0], "iteration 1 of 10  F2 What F2 is  failed: API Error: 529 overloaded   $0.00");
    assert!(
        told[2].starts_with(
            "FAILED: 2 sessions in a row failed in the same way: API Error: 529 overloaded (2 sessions"
        ),
        "{told:?}"
    );
    assert!(machine.read("project/progress.txt").contains("status: FAILED\n"));
}

#[test]
fn a_failure_that_goes_away_is_forgotten() {
    let machine = Machine::nearly_done();
    let all = format!("on-call 3 {}", Machine::writes(ALL));
    machine.script(&["on-call 1 api-error Overloaded", "on-call 2 crash-signal", &all, DONE]);
    let ran = machine.run(&["loop", "run", "--retry-after", "10ms"]);
    assert_eq!((ran.code, machine.calls().len()), (Some(0), 3), "{}", ran.stdout);
    assert!(ran.stdout.contains("failed: it was ended by signal 9"), "{}", ran.stdout);
}

/// What no reader had judged was COMPLETE, with a line that said so.
#[test]
fn several_that_are_set_at_once_stay_open_until_a_person_takes_them() {
    let machine = Machine::begun();
    machine.script(&[&format!("on-call 1 {}", Machine::writes(ALL)), DONE]);
    let ran = machine.run(&["loop", "run"]);
    assert_eq!((ran.code, machine.calls().len()), (Some(1), 1), "{}", ran.stdout);
    let why = "FAILED: F2, F3 were set to pass at once, and nobody could judge that: `loop run` asks no reader, only \
               the hook does. A `verify` in the list would show it; `punchlist loop pass`, typed by you, takes your word";
    assert!(ran.stdout.contains(why), "{}", ran.stdout);
    let again = machine.run(&["loop", "run"]);
    assert_eq!((again.code, machine.calls().len()), (Some(1), 1), "{}", again.stdout);
    machine.typed("punchlist loop pass F2 F3", &[]);
    let ran = machine.run(&["loop", "run"]);
    assert_eq!((ran.code, machine.calls().len()), (Some(0), 1), "{}", ran.stdout);
    // One command of the person's for the whole list speaks for all of it.
    let machine = Machine::begun();
    machine.write("home/.config/punchlist/config.toml", "[loop]\nverify = \"true\"\n");
    machine.script(&[&format!("on-call 1 {}", Machine::writes(ALL)), DONE]);
    let ran = machine.run(&["loop", "run"]);
    assert_eq!((ran.code, machine.calls().len()), (Some(0), 1), "{}", ran.stdout);
}

#[test]
fn money_that_is_spent_ends_it_over_all_runs() {
    let machine = Machine::begun();
    machine.script(&[
        "on-call 1 write src/a 1",
        "on-call 2 write src/a 22",
        "on-call 3 write src/a 333",
        DONE,
    ]);
    let ran = machine.run(&["loop", "run", "--max-cost", "0.50"]);
    assert_eq!((ran.code, machine.calls().len()), (Some(1), 2), "{}", ran.stdout);
    assert!(
        ran.stdout.contains("OVER_BUDGET: $0.50 of $0.50 are spent (2 sessions, $0.50"),
        "{}",
        ran.stdout
    );
    let ran = machine.run(&["loop", "run", "--max-cost", "0.50"]);
    assert_eq!((ran.code, machine.calls().len()), (Some(1), 2), "{}", ran.stdout);
    let ran = machine.run(&["loop", "run", "--max-cost", "0.60"]);
    assert_eq!((ran.code, machine.calls().len()), (Some(1), 3), "{}", ran.stdout);
    assert_eq!(machine.status()["spent"]["usd"], 0.75);
}

#[test]
fn a_client_that_does_not_tell_its_cost_is_no_match_for_a_budget() {
    let machine = Machine::begun();
    machine.script(&["write src/a 1", "stdout words"]);
    let ran = machine.run(&["loop", "run", "--max-cost", "5"]);
    assert!(
        ran.stdout.contains("OVER_BUDGET: the client did not tell what the session cost"),
        "{}",
        ran.stdout
    );
    assert_eq!(machine.calls().len(), 1);
}

#[test]
fn time_that_is_up_ends_the_session_too() {
    let machine = Machine::begun();
    machine.script(&["hang"]);
    let ran = machine.run(&["loop", "run", "--max-time", "1s"]);
    assert_eq!((ran.code, machine.calls().len()), (Some(1), 1), "{}", ran.stdout);
    assert!(
        ran.stdout.contains("its time was up") && ran.stdout.contains("OVER_BUDGET: the time of 1s is up"),
        "{}",
        ran.stdout
    );
    let group = machine.calls()[0]["pgid"]
        .as_i64()
        .and_then(|id| rustix::process::Pid::from_raw(i32::try_from(id).ok()?));
    crate::processes::assert_group_is_gone(group.expect("a group"));
}

#[test]
fn work_that_comes_again_is_looked_for_every_so_often() {
    let machine = Machine::nearly_done();
    // All pass after the first session; a feature is set back by the time of the third look.
    let all = format!("on-call 1 {}", Machine::writes(ALL));
    let again = format!("on-call 2 {}", Machine::writes(ALL));
    machine.script(&[&all, &again, DONE]);
    let child = machine.start(&["loop", "run", "--every", "300ms", "--max-time", "4s"]);
    assert!(crate::processes::eventually(|| machine
        .read("project/progress.txt")
        .contains("status: COMPLETE")));
    machine.list(TWO);
    assert!(crate::processes::eventually(|| machine.calls().len() == 2));
    let ran = machine.tidy(&child.wait_with_output().expect("it ends"));
    assert_eq!((ran.code, machine.calls().len()), (Some(1), 2), "{}", ran.stdout);
    assert!(ran.stdout.contains("OVER_BUDGET: the time of 4s is up"), "{}", ran.stdout);
}

#[test]
fn tools_that_were_denied_are_told_with_what_to_do() {
    let machine = Machine::begun();
    machine.script(&[&DONE.replace("[]", "[{},{}]")]);
    let ran = machine.run(&["loop", "run", "--max-iterations", "1"]);
    assert!(ran.stdout.contains("  The client denied it 2 tool calls: say what it may do, such as `punchlist loop run -- --permission-mode acceptEdits`.\n"), "{}", ran.stdout);
}

#[test]
fn features_that_a_session_takes_out_are_not_complete() {
    let machine = Machine::begun();
    machine.script(&[&Machine::writes(&[("F1", true)]), DONE]);
    let ran = machine.run(&["loop", "run"]);
    assert!(ran.stdout.contains("STALLED") && !ran.stdout.contains("COMPLETE"), "{}", ran.stdout);
    let prompt = machine.calls()[1]["stdin"].as_str().expect("a prompt").to_owned();
    assert!(prompt.contains("so still open: F2, F3. Put them back"), "{prompt}");
}

#[test]
fn a_list_that_is_gone_or_empty_is_said() {
    let machine = Machine::new();
    assert_eq!(
        machine.fails(&["loop", "run"]),
        "punchlist: feature_list.json can't be read: it is not there; `punchlist loop init` begins a loop\n"
    );
    machine.list(&[]);
    assert_eq!(
        machine.fails(&["loop", "run"]),
        "punchlist: feature_list.json has no features yet; put some in, or let a session do it\n"
    );
    machine.list(TWO);
    machine.script(&["write feature_list.json [", DONE]);
    let ran = machine.run(&["loop", "run"]);
    assert!(ran.stdout.contains("FAILED: feature_list.json can't be read: it is not JSON"), "{}", ran.stdout);
}

#[test]
fn a_dry_run_prints_the_command_and_the_prompt_and_changes_nothing() {
    let machine = Machine::begun();
    machine.script(&["exit 1"]);
    let before = machine.read("project/progress.txt");
    let told = machine.print(&["loop", "run", "--dry-run", "--", "--model", "opus"]);
    assert!(told.starts_with("cd DIR/project\n") && told.contains(" -p --output-format json --session-id SESSION-ID --model opus < PROMPT\n\nPROMPT:\nYou work on a list of features"), "{told}");
    assert_eq!((machine.calls().len(), machine.read("project/progress.txt")), (0, before));
    assert_eq!(machine.status()["iteration"], 0);
}

#[test]
fn a_prompt_of_ones_own_is_used() {
    let machine = Machine::begun();
    machine.write("prompts/loop.md", "Now do {{ feature.name }} ({{ iteration }}/{{ max }}).");
    let config = format!("[auditor]\nprompts = \"{}\"\n", machine.path("prompts").display());
    machine.write("home/.config/punchlist/config.toml", &config);
    machine.script(&[&Machine::writes(ALL), DONE]);
    machine.run(&["loop", "run"]);
    assert_eq!(machine.calls()[0]["stdin"], "Now do F2 (1/10).");
}

#[test]
fn no_client_is_said() {
    let machine = Machine::begun();
    let ran = machine.run_with(&["loop", "run"], &[("PUNCHLIST_CLAUDE", "/nowhere/claude")]);
    assert_eq!(ran.code, Some(1));
    assert!(
        ran.stderr.starts_with("punchlist: no `claude` program was found (looked at /nowhere/claude)"),
        "{}",
        ran.stderr
    );
}
