//! Audits behind the session, as the client runs the hook when it is registered with `asyncRewake`:
//! the newest stop wins, and what no longer fits is not told.

use std::cell::RefCell;
use std::fs;

use serde_json::{Value, json};

use crate::processes::eventually;
use crate::test_project::{FAKE, OTHERS, Run, Running, SESSION, TestProject, finds};

/// A session with drift that is audited in the background, by a client that waits for a sign.
fn behind() -> TestProject {
    gated(TestProject::with_drift())
}

fn gated(mut project: TestProject) -> TestProject {
    project.input["prompt_id"] = json!("prompt-1");
    let client = project.shell_client(
        "[ \"$1\" = --help ] && exec FAKE \"$@\"\n: >> DIR/asked\necho $$ >> DIR/pids\n\
         while [ ! -e DIR/go ]; do sleep 0.02; done\nexec FAKE \"$@\"",
    );
    project.var("PUNCHLIST_CLAUDE", client);
    project
}

/// Starts the hook and waits until its auditor is at work.
fn at_work(project: &TestProject) -> Running {
    let asked = project.path("asked");
    let _ = fs::remove_file(&asked);
    let running = project.start_behind();
    assert!(eventually(|| asked.exists()), "the auditor is at work");
    running
}

/// Lets the auditors answer.
fn go(project: &TestProject) {
    fs::write(project.path("go"), "").expect("the sign");
}

fn finish(project: &TestProject, running: Running) -> Run {
    go(project);
    project.finish(running)
}

/// Writes the transcript as it is now.
fn write_transcript(project: &TestProject) {
    fs::write(project.path("transcript.jsonl"), project.transcript.text()).expect("the transcript");
}

/// Asserts that nothing was said, held or counted, since something moved on.
#[track_caller]
fn says_nothing(project: &TestProject, run: &Run, cause: &str, detail: &str) {
    run.is_silent();
    run.logs("allow", cause);
    run.same(&project.tidy(run.record()["detail"].as_str().unwrap_or_default()), &detail.to_owned());
    run.same(&project.blocks(), &0);
    run.same(&project.audits_remembered(), &0);
}

fn causes(project: &TestProject) -> Vec<String> {
    let mut causes: Vec<_> =
        project.log().iter().map(|record| record["cause"].as_str().unwrap_or_default().to_owned()).collect();
    causes.sort_unstable();
    causes
}

// ---- nothing moved

#[test]
fn what_still_fits_wakes_the_session_once() {
    let mut project = behind();
    let running = at_work(&project);
    let reason = finish(&project, running).holds();
    assert!(reason.contains("notes/beta.txt"), "{reason}");
    assert_eq!(project.blocks(), 1);
    // The woken session's stop has another prompt, and goes on because of us.
    project.input["prompt_id"] = json!("prompt-2");
    project.input["stop_hook_active"] = json!(true);
    let running = project.start_behind();
    let run = project.finish(running);
    // A client that does not wait shows nobody what it is told here; the older ones wait.
    run.check(run.stdout.contains("punchlist: 1 finding, ignored by the agent: [A]"), "it is told");
    run.logs("allow", "loop-guard");
    run.same(&project.outcomes(), &vec![(1, "ignored".to_owned())]);
    project.assert_nobody_is_left();
}

/// The client's words for a prompt that was sent, or a session that goes on.
fn event(project: &mut TestProject, fields: &Value) {
    let stop = project.input.clone();
    project.input = fields.clone();
    for field in ["session_id", "cwd", "transcript_path"] {
        project.input[field] = stop[field].clone();
    }
}

fn prompts(project: &mut TestProject) {
    event(project, &json!({ "hook_event_name": "UserPromptSubmit", "prompt": "Go on." }));
}

/// The client throws away what a hook prints that it does not wait for, and the next stop that
/// waited was silent.
#[test]
fn what_became_of_a_finding_is_told_where_the_client_shows_it() {
    for by in ["prompt", "start", "stop"] {
        let mut project = behind();
        let running = at_work(&project);
        finish(&project, running).holds();
        project.input["prompt_id"] = json!("prompt-2");
        project.input["stop_hook_active"] = json!(true);
        let running = project.start_behind();
        project.finish(running);
        match by {
            "prompt" => {
                prompts(&mut project);
                // Nobody reads what is told in print mode, so that nothing counts as told there.
                project.var("CLAUDE_CODE_ENTRYPOINT", "sdk-cli");
                project.run().is_silent();
                project.var("CLAUDE_CODE_ENTRYPOINT", "cli");
            }
            "start" => {
                event(&mut project, &json!({ "hook_event_name": "SessionStart", "source": "compact" }));
            }
            _ => {}
        }
        let logged = project.log().len();
        let run = project.run();
        if by == "prompt" {
            run.same(&project.log().len(), &logged);
        }
        run.check(run.stdout.contains("punchlist: 1 finding, ignored by the agent: [A]"), "it is told");
        let again = project.run();
        again.check(!again.stdout.contains("ignored by the agent"), "once");
    }
}

/// What is shown once was not shown at all: a spent budget, and what is wrong in a config.
#[test]
fn what_is_shown_once_waits_for_a_prompt_and_then_counts_as_shown() {
    let mut project = gated(TestProject::without_drift());
    project.own_config("[gates]\nmax_blocks = 1\nmax_block = 2\n");
    let running = at_work(&project);
    finish(&project, running);
    prompts(&mut project);
    let run = project.run();
    run.check(run.stdout.contains("max_block"), "the config is told of");
    project.run().is_silent();

    let mut project = behind();
    project.own_config("[gates]\nmax_blocks = 1\n");
    let running = at_work(&project);
    finish(&project, running).holds();
    let stop = project.input.clone();
    for number in [2, 3] {
        project.input = stop.clone();
        project.input["prompt_id"] = json!(format!("prompt-{number}"));
        let running = project.start_behind();
        project.finish(running).logs("allow", "budget");
        prompts(&mut project);
        let run = project.run();
        let is_told = run.stdout.contains("punchlist: not checked: this session was blocked 1 time");
        run.check(is_told == (number == 2), "once");
    }
}

#[test]
fn what_is_wrong_in_a_config_does_not_count_as_told_where_nobody_reads_it() {
    let mut project = TestProject::without_drift();
    project.own_config("[gates]\nmax_block = 2\n");
    project.var("CLAUDE_CODE_ENTRYPOINT", "sdk-cli");
    project.run();
    project.var("CLAUDE_CODE_ENTRYPOINT", "cli");
    for is_told in [true, false] {
        let run = project.run();
        run.same(&run.stdout.contains("max_block"), &is_told);
    }
}

#[test]
fn a_clean_audit_is_remembered() {
    let project = gated(TestProject::without_drift());
    let running = at_work(&project);
    let run = finish(&project, running);
    run.is_silent();
    run.logs("allow", "clean");
    run.same(&project.audits_remembered(), &1);
}

/// The client writes its transcript every 100 ms, and 2.1.221 was seen to write the prompt last.
#[test]
fn rows_of_the_audited_turn_that_come_late_are_no_move() {
    let mut project = behind();
    let running = at_work(&project);
    project.transcript.asked("Make a plan in PLAN.md, then create alpha.txt and notes/beta.txt.");
    project.transcript.ran("ls", "alpha.txt");
    project.transcript.said("All done: I created alpha.txt and notes/beta.txt.");
    write_transcript(&project);
    finish(&project, running).holds();
}

/// Another hook's note, and the words of a turn that nobody's prompt opened.
#[test]
fn rows_that_are_neither_a_prompt_nor_a_call_are_no_move() {
    let mut project = behind();
    let running = at_work(&project);
    project.transcript.happens_now();
    project.transcript.asked("<task-notification>\n<summary>Something ended</summary>\n</task-notification>");
    project.transcript.said("Noted.");
    write_transcript(&project);
    finish(&project, running).holds();
}

// ---- the session moved on

#[test]
fn a_person_who_typed_on_is_not_disturbed() {
    let mut project = behind();
    let running = at_work(&project);
    project.transcript.happens_now();
    project.transcript.asked("Now write the docs, please.");
    write_transcript(&project);
    let run = finish(&project, running);
    says_nothing(&project, &run, "moved-on", "the person has typed on since this stop");
}

#[test]
fn a_session_that_works_on_is_not_disturbed() {
    let mut project = behind();
    let running = at_work(&project);
    project.transcript.happens_now();
    project.transcript.ran("cargo test", "ok");
    write_transcript(&project);
    let run = finish(&project, running);
    says_nothing(&project, &run, "moved-on", "the session has used tools since this stop");
}

/// The client's note on its own process, as 2.1.221 and later keep it.
fn note(project: &mut TestProject, note: &Value) {
    project.var("CLAUDE_PID", "4711");
    let folder = project.path("home/.claude/sessions");
    fs::create_dir_all(&folder).expect("a folder");
    fs::write(folder.join("4711.json"), note.to_string()).expect("a note");
}

/// After `/clear` 2.1.325 wakes the new session with what the old one's hook says.
#[test]
fn a_session_that_was_cleared_away_is_not_spoken_of_in_the_next() {
    let mut project = behind();
    let mut open = json!({ "sessionId": SESSION, "entrypoint": "cli", "status": "idle" });
    note(&mut project, &open);
    let running = at_work(&project);
    open["sessionId"] = json!("another");
    note(&mut project, &open);
    let run = finish(&project, running);
    says_nothing(&project, &run, "moved-on", "the client has gone on to another session");
}

/// The prompt that opened the turn may not be in the transcript yet.
#[test]
fn a_turn_that_is_under_way_is_not_disturbed() {
    let mut project = behind();
    let mut open =
        json!({ "sessionId": SESSION, "entrypoint": "cli", "status": "busy", "statusUpdatedAt": 1 });
    note(&mut project, &open);
    let running = at_work(&project);
    open["statusUpdatedAt"] = json!(jiff::Timestamp::now().as_millisecond());
    note(&mut project, &open);
    let run = finish(&project, running);
    says_nothing(&project, &run, "moved-on", "the session is at work again");
}

#[test]
fn a_client_that_is_still_in_the_audited_turn_or_waits_for_us_is_woken() {
    for (entrypoint, busy_since) in [("cli", 1), ("sdk-cli", i64::MAX)] {
        let mut project = behind();
        let open = json!({ "sessionId": SESSION, "entrypoint": entrypoint, "status": "busy",
            "statusUpdatedAt": busy_since });
        note(&mut project, &open);
        let running = at_work(&project);
        finish(&project, running).holds();
    }
}

// ---- the disk moved on

#[test]
fn a_finding_whose_file_has_come_meanwhile_is_not_told() {
    let project = gated(TestProject::with_a_wrong_greeting());
    project.readers(&[crate::test_project::GREETING]);
    let running = at_work(&project);
    project.file("notes/beta.txt", "good morning, once more\n");
    let run = finish(&project, running);
    says_nothing(&project, &run, "moved-on", "changed since it was looked at: notes/beta.txt");
    run.same(&run.record()["findings"][0]["status"], &json!("cannot-verify"));
    run.same(
        &run.record()["findings"][0]["check"],
        &json!("notes/beta.txt has changed since it was looked at"),
    );
}

#[test]
fn a_plan_that_was_rewritten_meanwhile_holds_nobody() {
    let project = behind();
    let running = at_work(&project);
    project
        .file("PLAN.md", "# Plan\n\n- [x] Create `alpha.txt`\n- [x] Create `notes/beta.txt`\n- [ ] Rest\n");
    let run = finish(&project, running);
    says_nothing(&project, &run, "moved-on", "changed since it was looked at: DIR/work/PLAN.md");
}

#[test]
fn what_speaks_of_another_file_is_still_told() {
    let mut project = TestProject::new();
    project.transcript.asked("Make a plan in PLAN.md, then create all three files.");
    project.wrote(
        "PLAN.md",
        "# Plan\n\n- [x] Create `alpha.txt`\n- [x] Create `notes/beta.txt`\n- [x] Create `notes/gamma.txt`\n",
    );
    project.wrote("alpha.txt", "alpha\n");
    project.says("All done: I created alpha.txt, notes/beta.txt and notes/gamma.txt.");
    let project = gated(project);
    let running = at_work(&project);
    project.file("notes/gamma.txt", "gamma\n");
    let reason = finish(&project, running).holds();
    assert!(reason.contains("notes/beta.txt") && !reason.contains("notes/gamma.txt"), "{reason}");
}

// ---- the newest stop wins

#[test]
fn a_newer_stop_takes_over_and_the_older_audit_ends_with_its_auditor() {
    let mut project = behind();
    let first = at_work(&project);
    project.input["prompt_id"] = json!("prompt-2");
    let second = at_work(&project);
    // The first was not answered: it ends all the same.
    let run = project.finish(first);
    says_nothing(&project, &run, "superseded", "a newer stop of the session has taken over");
    run.logs_auditor("superseded", None);
    let pids = fs::read_to_string(project.path("pids")).expect("the auditors");
    crate::processes::assert_is_gone(crate::test_project::pid(pids.lines().next().expect("the first")));
    finish(&project, second).holds();
    assert_eq!((project.blocks(), project.calls().len()), (1, 2));
    assert_eq!(causes(&project), ["findings", "superseded"]);
    project.assert_nobody_is_left();
}

/// It has nothing to audit itself, and the session has gone on all the same.
#[test]
fn a_newer_stop_that_steps_aside_ends_the_older_audit_too() {
    let mut project = behind();
    let first = at_work(&project);
    project.input["prompt_id"] = json!("prompt-2");
    project.input["permission_mode"] = json!("plan");
    let second = project.start_behind();
    project.finish(second).logs("allow", "plan-mode");
    let run = project.finish(first);
    run.is_silent();
    run.same(&(project.blocks(), project.calls().len()), &(0, 0));
    assert_eq!(causes(&project), ["plan-mode", "superseded"]);
}

#[test]
fn two_hooks_of_one_stop_still_ask_once_and_wake_once() {
    let project = behind();
    let running = RefCell::new(vec![project.start_behind(), project.start_behind()]);
    let one_has_ended = eventually(|| running.borrow_mut().iter_mut().any(Running::has_ended));
    go(&project);
    assert!(one_has_ended, "one of them lets go while the other is at work");
    let runs: Vec<_> = running.into_inner().into_iter().map(|running| project.finish(running)).collect();
    let mut codes: Vec<_> = runs.iter().map(|run| run.status.code()).collect();
    codes.sort_unstable();
    runs[1].same(&codes, &vec![Some(0), Some(2)]);
    runs[1].same(&(project.blocks(), project.calls().len()), &(1, 2));
    assert_eq!(causes(&project), ["findings", "unchanged"]);
}

/// Eight stops of one session, each hooked twice, all at once: one of them speaks, once.
#[test]
fn many_stops_at_once_come_to_one_word() {
    let mut project = behind();
    project.var("PUNCHLIST_CLAUDE", FAKE);
    project.client(&format!("sleep 300\n{}\n{OTHERS}", finds(&[crate::test_project::BETA])));
    let mut running = Vec::new();
    for stop in 0..8 {
        project.input["prompt_id"] = json!(format!("prompt-{stop}"));
        running.push(project.start_behind());
        running.push(project.start_behind());
    }
    let runs: Vec<_> = running.into_iter().map(|running| project.finish(running)).collect();
    let last = runs.last().expect("a run");
    let held: Vec<_> = runs.iter().filter(|run| run.status.code() == Some(2)).collect();
    for run in &runs {
        run.check(matches!(run.status.code(), Some(0 | 2)), "it ends well");
        run.check(run.status.code() == Some(2) || run.stdout.is_empty(), "it says nothing");
    }
    // The newest one speaks, and any before it that had ended by then; each block is counted.
    last.check(!held.is_empty(), "somebody speaks");
    last.same(&project.blocks(), &(held.len() as u64));
    for cause in causes(&project) {
        last.check(["findings", "superseded", "unchanged", "budget"].contains(&cause.as_str()), &cause);
    }
    project.assert_nobody_is_left();
}

// ---- how it is registered

#[test]
fn the_registration_alone_says_that_nobody_waits() {
    let project = TestProject::without_drift();
    let run = project.run_args(&["hook", "--background"]);
    run.answers(0, "", "");
    run.check(run.record()["config_error"].is_null(), "nothing is to be set beside it");
    run.check(project.path(&format!("state/sessions/{SESSION}.newest")).exists(), "it ran in the background");
}

/// The client gives the agent all of stderr then.
#[test]
fn an_agent_that_is_woken_is_not_told_what_to_change_in_the_config() {
    let project = TestProject::with_drift();
    project.own_config("[audit]\nplanles = \"off\"\n");
    let run = project.run_args(&["hook", "--background"]);
    run.holds();
    run.check(run.record()["config_error"].is_string(), "the log has it");
}

/// The client would not wait, and the hook would go by the rules of one that is waited for.
#[test]
fn a_registration_in_the_settings_that_is_neither_mode_is_said() {
    let project = TestProject::without_drift();
    let hook = json!({ "type": "command", "command": "punchlist hook", "asyncRewake": true });
    project.file(".claude/settings.json", &json!({ "hooks": { "Stop": [{ "hooks": [hook] }] } }).to_string());
    let fault = "DIR/work/.claude/settings.json: the hook is registered with \"asyncRewake\" without --background: \
        register `punchlist hook --background`, or take \"asyncRewake\" out";
    let run = project.run();
    run.answers(0, "", &format!("punchlist: {fault}\n"));
    run.same(&project.tidy(run.record()["config_error"].as_str().unwrap_or_default()), &fault.to_owned());
}

/// Nobody sees a `systemMessage` of a hook that was not waited for, so nobody was told.
#[test]
fn advice_that_nobody_hears_is_not_taken_for_told() {
    let mut project = TestProject::without_drift();
    project.transcript.ran("git push --force origin main", "done");
    let run = project.run_args(&["hook", "--background"]);
    run.same(&run.status.code(), &Some(0));
    let advice = run.record()["detail"].as_str().unwrap_or_default().to_owned();
    run.check(advice.contains("git push --force"), "the log has it");
    project.works_on();
    project.says("All done, again: I created alpha.txt and notes/beta.txt, and checked both.");
    let run = project.run();
    run.check(run.stdout.contains("git push --force"), "who waits is told");
}
