//! The second reader: asked only before a block, with the same evidence and its task last; what it
//! dismisses, or can't answer for, holds nobody.

use serde_json::{Value, json};

use crate::test_project::{BETA, GREETING, Run, TestProject, finds};

/// A session that only a reader can fault, whose first reader faults it, and a second one that does
/// this.
fn with_second(script: &str) -> TestProject {
    let project = TestProject::with_a_wrong_greeting();
    project.client(&format!("{}\n{}", finds(&[GREETING]), second(script)));
    project
}

/// The lines of a script, each for the second reader alone.
fn second(script: &str) -> String {
    script.lines().map(|line| format!("second {line}\n")).collect()
}

/// Asserts that nobody was held, and that the person is told that the finding could not be
/// verified, and why.
#[track_caller]
fn is_not_verified(project: &TestProject, run: &Run, why: &str) {
    run.tells(&format!(
        "allowed, with findings that could not be verified: [A] \"Say 'good evening' in `notes/beta.txt`\" ({why})"
    ));
    run.logs("allow", "only-unverified");
    let finding = &run.record()["findings"][0];
    run.same(&(&finding["status"], &finding["check"]), &(&json!("cannot-verify"), &json!(why)));
    run.same(&(project.blocks(), &finding["second"]), &(0, &Value::Null));
    project.assert_nobody_is_left();
}

fn asked(questions: &[&str]) -> Vec<String> {
    questions.iter().map(|question| (*question).to_owned()).collect()
}

// ---- when it is asked, and what

#[test]
fn a_finding_that_it_upholds_holds_and_the_record_has_both() {
    let project = with_second("verdicts uphold It says good morning.");
    let run = project.run();
    run.holds();
    run.same(&project.questions(), &asked(&["first", "second"]));
    let record = run.record();
    run.same(&record["findings"][0]["second"], &json!({ "upheld": true, "why": "It says good morning." }));
    run.same(&record["second_reader"]["outcome"], &json!("answered"));
    run.same(&record["second_reader"]["usage"]["cost_usd"], &json!(0.0012));
}

#[test]
fn it_is_not_asked_at_a_clean_stop() {
    let project = TestProject::without_drift();
    let run = project.run();
    run.logs("allow", "clean");
    run.same(&(&project.questions(), &run.record()["second_reader"]), &(&asked(&["first"]), &Value::Null));
}

#[test]
fn it_is_not_asked_about_a_doubt_alone_and_the_doubt_holds_nobody() {
    let project = TestProject::with_a_wrong_greeting();
    project.client(&finds(&[&GREETING.replace("\"sure\":true", "\"sure\":false")]));
    let run = project.run();
    is_not_verified(&project, &run, "the first reader is not sure of it");
    run.same(&project.questions(), &asked(&["first"]));
}

#[test]
fn both_are_shown_the_same_and_the_task_comes_last() {
    let project = with_second("verdicts uphold It is so.");
    project.run().holds();
    let calls = project.calls();
    let value = |call: &Value, flag: &str| {
        let argv: Vec<String> = serde_json::from_value(call["argv"].clone()).expect("arguments");
        argv.iter().skip_while(|arg| *arg != flag).nth(1).expect("a value").clone()
    };
    for flag in ["--system-prompt", "--json-schema", "--model"] {
        assert_eq!(value(&calls[0], flag), value(&calls[1], flag), "{flag}");
    }
    let [first, second] = ["first", "second"].map(|question| project.prompt(question));
    let end = "\nThat was all the data.\n";
    let (evidence, task) = first.rsplit_once(end).expect("a first task");
    let (same_evidence, other_task) = second.rsplit_once(end).expect("a second task");
    assert_eq!(evidence, same_evidence);
    assert!(evidence.contains("good morning") && evidence.contains("All steps are done."), "{evidence}");
    assert!(
        task.starts_with("Your task: report where") && other_task.starts_with("Your task: a first reader")
    );
    assert!(other_task.contains("\"why\":\"notes/beta.txt says something else\""), "{other_task}");
}

#[test]
fn it_can_be_switched_off() {
    let project = TestProject::with_a_wrong_greeting();
    project.own_config("[auditor]\nsecond_reader = \"off\"\n");
    project.client(&finds(&[GREETING]));
    let run = project.run();
    run.holds();
    run.same(&project.questions(), &asked(&["first"]));
    run.same(&run.record()["findings"][0]["second"], &Value::Null);
}

#[test]
fn it_can_be_another_model() {
    let project = with_second("verdicts uphold It is so.");
    project.own_config("[auditor]\nsecond_reader = \"opus\"\n");
    let run = project.run();
    run.holds();
    let models = project.calls().iter().map(|call| call["argv"][2].clone()).collect::<Vec<_>>();
    run.same(&models, &vec![json!("haiku"), json!("opus")]);
    let record = run.record();
    run.same(
        &(&record["auditor"]["model"], &record["second_reader"]["model"]),
        &(&json!("haiku"), &json!("opus")),
    );
}

// ---- what it dismisses

#[test]
fn what_it_dismisses_is_let_go_and_both_replies_are_kept() {
    let project = with_second("verdicts dismiss The greeting is in another file.");
    let run = project.run();
    run.is_silent();
    run.logs("allow", "clean");
    let record = run.record();
    let finding = &record["findings"][0];
    run.same(
        &(&finding["status"], &finding["second"]),
        &(&json!("refuted"), &json!({ "upheld": false, "why": "The greeting is in another file." })),
    );
    run.same(&finding["check"], &json!("the second reader dismisses it: The greeting is in another file."));
    let id = record["id"].as_str().expect("an id");
    let kept = |name: &str| {
        std::fs::read_to_string(project.path(&format!("state/audits/{id}.{name}"))).unwrap_or_default()
    };
    run.check(kept("reply.txt").contains("notes/beta.txt says something else"), "what the first said");
    run.check(kept("second.md").starts_with("Your task: a first reader"), "what the second was asked");
    run.check(kept("second-reply.txt").contains("The greeting is in another file."), "and what it said");
    // It was judged: the next stop of the same work asks nobody.
    project.run().logs("allow", "unchanged");
}

#[test]
fn each_finding_has_a_verdict_of_its_own() {
    let project = TestProject::with_a_wrong_greeting();
    let other = GREETING.replace("Say 'good evening' in `notes/beta.txt`", "Create `alpha.txt`");
    let verdicts = r#"{"findings":[],"candidates":[],"verdicts":[{"number":1,"uphold":false,"why":"No."},{"number":2,"uphold":true,"why":"Yes."}]}"#;
    project.client(&format!("{}\nsecond answer {verdicts}", finds(&[GREETING, &other])));
    let run = project.run();
    let reason = run.holds();
    run.check(reason.contains("Create `alpha.txt`") && !reason.contains("good evening"), "one of two holds");
}

#[test]
fn a_fact_that_it_dismisses_is_let_go() {
    let project = TestProject::with_drift();
    project.client(&format!("{}\nsecond verdicts dismiss It is on the other branch.", finds(&[])));
    let run = project.run();
    run.is_silent();
    run.logs("allow", "clean");
    run.same(&run.record()["findings"][0]["source"], &json!("facts"));
}

#[test]
fn a_fact_that_the_first_disputes_is_let_go_and_the_second_is_not_asked() {
    let project = TestProject::with_drift();
    project.client(
        r#"first answer {"findings":[],"candidates":[{"number":1,"agree":false,"why":"It was renamed."}],"verdicts":[]}"#,
    );
    let run = project.run();
    run.is_silent();
    run.logs("allow", "clean");
    run.same(&run.record()["findings"][0]["check"], &json!("the first reader disputes it: It was renamed."));
    run.same(&project.questions(), &asked(&["first"]));
}

// ---- what it can't answer

#[test]
fn one_that_hangs_holds_nobody() {
    let project = with_second("hang");
    project.own_config("[auditor]\ntimeout = \"1s\"\n");
    let run = project.run();
    run.logs("allow", "only-unverified");
    run.same(&run.record()["second_reader"]["outcome"], &json!("timed-out"));
    let why = run.record()["findings"][0]["check"].as_str().unwrap_or_default().to_owned();
    run.check(why.starts_with("the second reader gave no answer (timed-out: after 1."), &why);
    is_not_verified(&project, &run, &why);
}

#[test]
fn an_answer_that_does_not_fit_holds_nobody() {
    let project = with_second(r#"misfit {"verdicts":[{"number":1,"uphold":true,"why":"It is so."}]}"#);
    let run = project.run();
    let why = "the second reader gave no answer (unreadable: missing field `findings` at line 1 column 59)";
    is_not_verified(&project, &run, why);
}

#[test]
fn one_that_fails_holds_nobody() {
    let project = with_second("exit 3");
    let run = project.run();
    is_not_verified(
        &project,
        &run,
        "the second reader gave no answer (unavailable: the client failed (exit code 3))",
    );
}

#[test]
fn a_finding_that_it_does_not_speak_of_holds_nobody() {
    let project = with_second(r#"answer {"findings":[],"candidates":[],"verdicts":[]}"#);
    let run = project.run();
    is_not_verified(&project, &run, "the second reader did not speak of it");
}

/// Five seconds of the hook's time are kept for the answer, and it takes four to be worth asking.
#[test]
fn it_is_not_asked_where_too_little_time_is_left() {
    let project = with_second("verdicts uphold It is so.");
    let run = project.run_args(&["hook", "--hook-timeout", "9"]);
    let why = "the second reader gave no answer (unavailable: too little of the hook's time was left)";
    is_not_verified(&project, &run, why);
    run.same(&project.questions(), &asked(&["first"]));
}

#[test]
fn what_the_disk_proves_holds_without_it() {
    let project = TestProject::with_drift();
    project.client(&format!("{}\nsecond exit 3", finds(&[BETA])));
    let run = project.run();
    run.holds();
    run.same(&run.record()["findings"][0]["source"], &json!("both"));
    run.same(&run.record()["second_reader"]["outcome"], &json!("unavailable"));
}
