//! Audits behind the session, as the client runs the hook when it is registered with `asyncRewake`: the newest stop
//! wins, and what no longer fits is not told.

use std::cell::RefCell;
use std::fs;

use serde_json::{Value, json};

use crate::processes::eventually;
use crate::scene::{FAKE, OTHERS, Run, Running, SESSION, Snapshot, finds};

/// A session with drift that is audited in the background, by a client that waits for a sign.
fn behind() -> Snapshot {
    gated(Snapshot::with_drift())
}

fn gated(mut scene: Snapshot) -> Snapshot {
    scene.own_config("[audit]\nmode = \"background\"\n");
    scene.input["prompt_id"] = json!("prompt-1");
    let client = scene.shell_client(
        "[ \"$1\" = --help ] && exec FAKE \"$@\"\n: >> DIR/asked\necho $$ >> DIR/pids\n\
         while [ ! -e DIR/go ]; do sleep 0.02; done\nexec FAKE \"$@\"",
    );
    scene.var("PUNCHLIST_CLAUDE", client);
    scene
}

/// Starts the hook and waits until its auditor is at work.
fn at_work(scene: &Snapshot) -> Running {
    let asked = scene.path("asked");
    let _ = fs::remove_file(&asked);
    let running = scene.start_behind();
    assert!(eventually(|| asked.exists()), "the auditor is at work");
    running
}

/// Lets the auditors answer.
fn go(scene: &Snapshot) {
    fs::write(scene.path("go"), "").expect("the sign");
}

fn finish(scene: &Snapshot, running: Running) -> Run {
    go(scene);
    scene.finish(running)
}

/// Writes the transcript as it is now.
fn write_transcript(scene: &Snapshot) {
    fs::write(scene.path("transcript.jsonl"), scene.transcript.text()).expect("the transcript");
}

/// Asserts that nothing was said, held or counted, since something moved on.
#[track_caller]
fn says_nothing(scene: &Snapshot, run: &Run, cause: &str, detail: &str) {
    run.is_silent();
    run.logs("allow", cause);
    run.same(&scene.tidy(run.record()["detail"].as_str().unwrap_or_default()), &detail.to_owned());
    run.same(&scene.blocks(), &0);
    run.same(&scene.audits_remembered(), &0);
}

fn causes(scene: &Snapshot) -> Vec<String> {
    let mut causes: Vec<_> =
        scene.log().iter().map(|record| record["cause"].as_str().unwrap_or_default().to_owned()).collect();
    causes.sort_unstable();
    causes
}

// ---- nothing moved

#[test]
fn what_still_fits_wakes_the_session_once() {
    let mut scene = behind();
    let running = at_work(&scene);
    let reason = finish(&scene, running).holds();
    assert!(reason.contains("notes/beta.txt"), "{reason}");
    assert_eq!(scene.blocks(), 1);
    // The woken session's stop has another prompt, and goes on because of us.
    scene.input["prompt_id"] = json!("prompt-2");
    scene.input["stop_hook_active"] = json!(true);
    let running = scene.start_behind();
    let run = scene.finish(running);
    run.is_silent();
    run.logs("allow", "loop-guard");
    run.same(&scene.outcomes(), &vec![(1, "ignored".to_owned())]);
    scene.assert_nobody_is_left();
}

#[test]
fn a_clean_audit_is_remembered() {
    let scene = gated(Snapshot::without_drift());
    let running = at_work(&scene);
    let run = finish(&scene, running);
    run.is_silent();
    run.logs("allow", "clean");
    run.same(&scene.audits_remembered(), &1);
}

/// The client writes its transcript every 100 ms, and 2.1.221 was seen to write the prompt last.
#[test]
fn rows_of_the_audited_turn_that_come_late_are_no_move() {
    let mut scene = behind();
    let running = at_work(&scene);
    scene.transcript.asked("Make a plan in PLAN.md, then create alpha.txt and notes/beta.txt.");
    scene.transcript.ran("ls", "alpha.txt");
    scene.transcript.said("All done: I created alpha.txt and notes/beta.txt.");
    write_transcript(&scene);
    finish(&scene, running).holds();
}

/// Another hook's note, and the words of a turn that nobody's prompt opened.
#[test]
fn rows_that_are_neither_a_prompt_nor_a_call_are_no_move() {
    let mut scene = behind();
    let running = at_work(&scene);
    scene.transcript.happens_now();
    scene.transcript.asked("<task-notification>\n<summary>Something ended</summary>\n</task-notification>");
    scene.transcript.said("Noted.");
    write_transcript(&scene);
    finish(&scene, running).holds();
}

// ---- the session moved on

#[test]
fn a_person_who_typed_on_is_not_disturbed() {
    let mut scene = behind();
    let running = at_work(&scene);
    scene.transcript.happens_now();
    scene.transcript.asked("Now write the docs, please.");
    write_transcript(&scene);
    let run = finish(&scene, running);
    says_nothing(&scene, &run, "moved-on", "the person has typed on since this stop");
}

#[test]
fn a_session_that_works_on_is_not_disturbed() {
    let mut scene = behind();
    let running = at_work(&scene);
    scene.transcript.happens_now();
    scene.transcript.ran("cargo test", "ok");
    write_transcript(&scene);
    let run = finish(&scene, running);
    says_nothing(&scene, &run, "moved-on", "the session has used tools since this stop");
}

/// The client's note on its own process, as 2.1.221 and later keep it.
fn note(scene: &mut Snapshot, note: &Value) {
    scene.var("CLAUDE_PID", "4711");
    let folder = scene.path("home/.claude/sessions");
    fs::create_dir_all(&folder).expect("a folder");
    fs::write(folder.join("4711.json"), note.to_string()).expect("a note");
}

/// After `/clear` 2.1.325 wakes the new session with what the old one's hook says.
#[test]
fn a_session_that_was_cleared_away_is_not_spoken_of_in_the_next() {
    let mut scene = behind();
    let mut open = json!({ "sessionId": SESSION, "entrypoint": "cli", "status": "idle" });
    note(&mut scene, &open);
    let running = at_work(&scene);
    open["sessionId"] = json!("another");
    note(&mut scene, &open);
    let run = finish(&scene, running);
    says_nothing(&scene, &run, "moved-on", "the client has gone on to another session");
}

/// The prompt that opened the turn may not be in the transcript yet.
#[test]
fn a_turn_that_is_under_way_is_not_disturbed() {
    let mut scene = behind();
    let mut open =
        json!({ "sessionId": SESSION, "entrypoint": "cli", "status": "busy", "statusUpdatedAt": 1 });
    note(&mut scene, &open);
    let running = at_work(&scene);
    open["statusUpdatedAt"] = json!(jiff::Timestamp::now().as_millisecond());
    note(&mut scene, &open);
    let run = finish(&scene, running);
    says_nothing(&scene, &run, "moved-on", "the session is at work again");
}

#[test]
fn a_client_that_is_still_in_the_audited_turn_or_waits_for_us_is_woken() {
    for (entrypoint, busy_since) in [("cli", 1), ("sdk-cli", i64::MAX)] {
        let mut scene = behind();
        let open = json!({ "sessionId": SESSION, "entrypoint": entrypoint, "status": "busy",
            "statusUpdatedAt": busy_since });
        note(&mut scene, &open);
        let running = at_work(&scene);
        finish(&scene, running).holds();
    }
}

// ---- the disk moved on

#[test]
fn a_finding_whose_file_has_come_meanwhile_is_not_told() {
    let scene = gated(Snapshot::with_a_wrong_greeting());
    scene.readers(&[crate::scene::GREETING]);
    let running = at_work(&scene);
    scene.file("notes/beta.txt", "good morning, once more\n");
    let run = finish(&scene, running);
    says_nothing(&scene, &run, "moved-on", "changed since it was looked at: notes/beta.txt");
    run.same(&run.record()["findings"][0]["status"], &json!("cannot-verify"));
    run.same(
        &run.record()["findings"][0]["check"],
        &json!("notes/beta.txt has changed since it was looked at"),
    );
}

#[test]
fn a_plan_that_was_rewritten_meanwhile_holds_nobody() {
    let scene = behind();
    let running = at_work(&scene);
    scene.file("PLAN.md", "# Plan\n\n- [x] Create `alpha.txt`\n- [x] Create `notes/beta.txt`\n- [ ] Rest\n");
    let run = finish(&scene, running);
    says_nothing(&scene, &run, "moved-on", "changed since it was looked at: DIR/work/PLAN.md");
}

#[test]
fn what_speaks_of_another_file_is_still_told() {
    let mut scene = Snapshot::new();
    scene.transcript.asked("Make a plan in PLAN.md, then create all three files.");
    scene.wrote(
        "PLAN.md",
        "# Plan\n\n- [x] Create `alpha.txt`\n- [x] Create `notes/beta.txt`\n- [x] Create `notes/gamma.txt`\n",
    );
    scene.wrote("alpha.txt", "alpha\n");
    scene.says("All done: I created alpha.txt, notes/beta.txt and notes/gamma.txt.");
    let scene = gated(scene);
    let running = at_work(&scene);
    scene.file("notes/gamma.txt", "gamma\n");
    let reason = finish(&scene, running).holds();
    assert!(reason.contains("notes/beta.txt") && !reason.contains("notes/gamma.txt"), "{reason}");
}

// ---- the newest stop wins

#[test]
fn a_newer_stop_takes_over_and_the_older_audit_ends_with_its_auditor() {
    let mut scene = behind();
    let first = at_work(&scene);
    scene.input["prompt_id"] = json!("prompt-2");
    let second = at_work(&scene);
    // The first was not answered: it ends all the same.
    let run = scene.finish(first);
    says_nothing(&scene, &run, "superseded", "a newer stop of the session has taken over");
    run.logs_auditor("superseded", None);
    let pids = fs::read_to_string(scene.path("pids")).expect("the auditors");
    crate::processes::assert_is_gone(crate::scene::pid(pids.lines().next().expect("the first")));
    finish(&scene, second).holds();
    assert_eq!((scene.blocks(), scene.calls().len()), (1, 2));
    assert_eq!(causes(&scene), ["findings", "superseded"]);
    scene.assert_nobody_is_left();
}

/// It has nothing to audit itself, and the session has gone on all the same.
#[test]
fn a_newer_stop_that_steps_aside_ends_the_older_audit_too() {
    let mut scene = behind();
    let first = at_work(&scene);
    scene.input["prompt_id"] = json!("prompt-2");
    scene.input["permission_mode"] = json!("plan");
    let second = scene.start_behind();
    scene.finish(second).logs("allow", "plan-mode");
    let run = scene.finish(first);
    run.is_silent();
    run.same(&(scene.blocks(), scene.calls().len()), &(0, 0));
    assert_eq!(causes(&scene), ["plan-mode", "superseded"]);
}

#[test]
fn two_hooks_of_one_stop_still_ask_once_and_wake_once() {
    let scene = behind();
    let running = RefCell::new(vec![scene.start_behind(), scene.start_behind()]);
    let one_has_ended = eventually(|| running.borrow_mut().iter_mut().any(Running::has_ended));
    go(&scene);
    assert!(one_has_ended, "one of them lets go while the other is at work");
    let runs: Vec<_> = running.into_inner().into_iter().map(|running| scene.finish(running)).collect();
    let mut codes: Vec<_> = runs.iter().map(|run| run.status.code()).collect();
    codes.sort_unstable();
    runs[1].same(&codes, &vec![Some(0), Some(2)]);
    runs[1].same(&(scene.blocks(), scene.calls().len()), &(1, 2));
    assert_eq!(causes(&scene), ["findings", "unchanged"]);
}

/// Eight stops of one session, each hooked twice, all at once: one of them speaks, once.
#[test]
fn many_stops_at_once_come_to_one_word() {
    let mut scene = behind();
    scene.var("PUNCHLIST_CLAUDE", FAKE);
    scene.client(&format!("sleep 300\n{}\n{OTHERS}", finds(&[crate::scene::BETA])));
    let mut running = Vec::new();
    for stop in 0..8 {
        scene.input["prompt_id"] = json!(format!("prompt-{stop}"));
        running.push(scene.start_behind());
        running.push(scene.start_behind());
    }
    let runs: Vec<_> = running.into_iter().map(|running| scene.finish(running)).collect();
    let last = runs.last().expect("a run");
    let held: Vec<_> = runs.iter().filter(|run| run.status.code() == Some(2)).collect();
    for run in &runs {
        run.check(matches!(run.status.code(), Some(0 | 2)), "it ends well");
        run.check(run.status.code() == Some(2) || run.stdout.is_empty(), "it says nothing");
    }
    // The newest one speaks, and any before it that had ended by then; each block is counted.
    last.check(!held.is_empty(), "somebody speaks");
    last.same(&scene.blocks(), &(held.len() as u64));
    for cause in causes(&scene) {
        last.check(["findings", "superseded", "unchanged", "budget"].contains(&cause.as_str()), &cause);
    }
    scene.assert_nobody_is_left();
}

// ---- how it is registered

#[test]
fn a_mode_that_the_registration_contradicts_is_said_and_the_registration_wins() {
    let scene = Snapshot::without_drift();
    let fault = "the hook is registered with --background, but [audit] mode is \"hold\": the audit runs in the \
        background; set mode = \"background\", or register `punchlist hook` without --background and without \
        \"asyncRewake\"";
    let run = scene.run_args(&["hook", "--background"]);
    run.answers(0, "", &format!("punchlist: {fault}\n"));
    run.same(&run.record()["config_error"], &json!(fault));
    run.check(scene.path(&format!("state/sessions/{SESSION}.newest")).exists(), "it ran in the background");

    let scene = Snapshot::without_drift();
    scene.project_config("[audit]\nmode = \"background\"\n");
    let fault = "[audit] mode is \"background\", but the hook is registered without --background: the stop is held; \
        register `punchlist hook --background` with \"asyncRewake\": true, or set mode = \"hold\"";
    let run = scene.run();
    run.answers(0, "", &format!("punchlist: {fault}\n"));
    run.same(&run.record()["config_error"], &json!(fault));
    run.check(!scene.path(&format!("state/sessions/{SESSION}.newest")).exists(), "it held");
}

/// The client gives the agent all of stderr then.
#[test]
fn an_agent_that_is_woken_is_not_told_what_to_change_in_the_config() {
    let scene = Snapshot::with_drift();
    let run = scene.run_args(&["hook", "--background"]);
    run.holds();
    run.check(run.record()["config_error"].is_string(), "the log has it");
}

/// The client would not wait, and the hook would go by the rules of one that is waited for.
#[test]
fn a_registration_in_the_settings_that_is_neither_mode_is_said() {
    let scene = Snapshot::without_drift();
    let hook = json!({ "type": "command", "command": "punchlist hook", "asyncRewake": true });
    scene.file(".claude/settings.json", &json!({ "hooks": { "Stop": [{ "hooks": [hook] }] } }).to_string());
    let fault = "DIR/work/.claude/settings.json: the hook is registered with \"asyncRewake\" without --background: \
        register `punchlist hook --background`, or take \"asyncRewake\" out";
    let run = scene.run();
    run.answers(0, "", &format!("punchlist: {fault}\n"));
    run.same(&scene.tidy(run.record()["config_error"].as_str().unwrap_or_default()), &fault.to_owned());
}

/// Nobody sees a `systemMessage` of a hook that was not waited for, so nobody was told.
#[test]
fn advice_that_nobody_hears_is_not_taken_for_told() {
    let mut scene = Snapshot::without_drift();
    scene.own_config("[audit]\nmode = \"background\"\n");
    scene.transcript.ran("git push --force origin main", "done");
    let run = scene.run_args(&["hook", "--background"]);
    run.same(&run.status.code(), &Some(0));
    let advice = run.record()["detail"].as_str().unwrap_or_default().to_owned();
    run.check(advice.contains("git push --force"), "the log has it");
    scene.own_config("");
    scene.works_on();
    scene.says("All done, again: I created alpha.txt and notes/beta.txt, and checked both.");
    let run = scene.run();
    run.check(run.stdout.contains("git push --force"), "who waits is told");
}
