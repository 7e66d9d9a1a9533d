//! `punchlist audit` of one saved session: which one, against what, in which form, and what it says
//! when it can't.

use std::fs;

use serde_json::{Value, json};

use crate::test_project::{GREETING, TestProject, answer, text};

const ID: &str = "3f2a91c0-1111-4222-8333-444444444444";

const DRIFT: &str = "\
Session 3f2a91c0, 2026-01-01 00:05, plan PLAN.md (2 steps, 2 ticked)

Confirmed (1)

  A  claimed done, and not so
     words    \"Create `notes/beta.txt`\"
     step     2 (PLAN.md:4)
     path     notes/beta.txt
";

fn saved_drift() -> TestProject {
    let project = TestProject::with_drift();
    project.save(ID, 5);
    project
}

#[test]
fn the_newest_session_of_the_project_is_audited() {
    let project = saved_drift();
    let run = project.audit(&[]);
    run.same(&(run.status.code(), run.stderr.as_str()), &(Some(1), ""));
    run.check(run.stdout.starts_with(DRIFT), "the finding is told");
    run.check(
        run.stdout.ends_with("The hook would have blocked this\nstop (findings).\n")
            || run.stdout.ends_with("The hook would have blocked this stop (findings).\n"),
        "and what the hook would have done",
    );
    run.check(!run.stdout.contains('\u{1b}'), "no colours in a pipe");
    run.same(&project.questions(), &["first", "second"].map(str::to_owned).to_vec());
}

#[test]
fn a_session_is_audited_by_its_path_by_its_id_and_by_the_start_of_it() {
    let project = saved_drift();
    let path = text(&project.save(ID, 5));
    for named in [path.as_str(), ID, "3f2a"] {
        let run = project.audit(&[named, "--auditor", "none"]);
        run.same(&run.status.code(), &Some(1));
        run.check(run.stdout.starts_with(DRIFT), named);
    }
    run_nobody_was_asked(&project);
}

fn run_nobody_was_asked(project: &TestProject) {
    assert_eq!(project.calls().len(), 0, "nobody is asked");
}

#[test]
fn the_clients_folder_can_be_elsewhere() {
    let mut project = saved_drift();
    fs::rename(project.path("home/.claude"), project.path("moved")).expect("moved");
    project.var("CLAUDE_CONFIG_DIR", project.path("moved"));
    project
        .audit(&["--auditor", "none"])
        .same(&project.audit(&["--auditor", "none"]).status.code(), &Some(1));
}

#[test]
fn a_clean_session_ends_with_zero() {
    let project = TestProject::without_drift();
    project.save(ID, 5);
    let run = project.audit(&["--auditor", "none"]);
    run.answers(
        0,
        "Session 3f2a91c0, 2026-01-01 00:05, plan PLAN.md (2 steps, 2 ticked)\n\
         \n\
         No reader was asked: what needs judgement is only a candidate here.\n\
         \n\
         0 confirmed, 0 not verified, 0 refuted, 0 things worth knowing. The hook would have let this stop\n\
         through (clean).\n",
        "",
    );
}

#[test]
fn an_auditor_that_can_not_be_had_is_two_unless_the_disk_proves_something() {
    for (project, code) in [(TestProject::without_drift(), 2), (TestProject::with_drift(), 1)] {
        project.client("api-error Not logged in");
        project.save(ID, 5);
        let run = project.audit(&[]);
        run.same(&run.status.code(), &Some(code));
        run.check(run.stdout.contains("The first reader gave no answer (unavailable: "), "it is said");
    }
}

#[test]
fn the_prompt_is_shown_and_nothing_is_sent() {
    let project = saved_drift();
    let run = project.audit(&["--show-prompt"]);
    run.same(&(run.status.code(), run.stderr.as_str()), &(Some(0), ""));
    run.check(
        run.stdout.starts_with("You audit the end of a coding agent's session. "),
        "the system prompt comes first",
    );
    run.check(run.stdout.contains("\nThe word that fences data is "), "then the text");
    run_nobody_was_asked(&project);
}

#[test]
fn a_prompt_that_is_shown_steers_no_terminal() {
    let mut project = TestProject::with_drift();
    project.wrote("notes/gamma.txt", "a\u{1b}[2Jb\u{202e}c\u{9b}31md\u{7}e\n");
    project.says("All done: I wrote alpha.txt\u{1b}]0;owned\u{7} and notes/beta.txt.");
    project.save(ID, 5);
    let run = project.audit(&["--show-prompt"]);
    run.check(run.stdout.contains("b\u{fffd}c"), "what is in the file, with a mark for what was taken out");
    for steers in ['\u{1b}', '\u{202e}', '\u{9b}', '\u{7}'] {
        run.check(!run.stdout.contains(steers), &format!("{steers:?}"));
    }
}

#[test]
fn with_a_saved_answer_the_second_readers_prompt_is_shown() {
    let project = TestProject::with_a_wrong_greeting();
    project.save(ID, 5);
    let run = project.audit_with_stdin(&["--show-prompt", "--verdict", "-"], &answer(&[GREETING]));
    run.same(&(run.status.code(), run.stderr.as_str()), &(Some(0), ""));
    run.check(run.stdout.contains("\nYour task: a first reader"), "its task");
    run.check(
        run.stdout.contains("\"why\":\"notes/beta.txt says something else\""),
        "and what it is asked about",
    );
    run_nobody_was_asked(&project);
}

#[test]
fn a_saved_verdict_is_judged_in_place_of_asking() {
    let project = TestProject::with_a_wrong_greeting();
    project.save(ID, 5);
    let found = answer(&[GREETING]);
    let upheld =
        r#"{"findings":[],"candidates":[],"verdicts":[{"number":1,"uphold":true,"why":"It is so."}]}"#;
    fs::write(project.path("second.json"), upheld).expect("written");
    let second = text(&project.path("second.json"));
    let result = json!({"is_error": false, "subtype": "success", "structured_output": serde_json::from_str::<Value>(&found).expect("json")});
    for reply in [found.clone(), result.to_string(), format!("Here it is:\n```json\n{found}\n```\n")] {
        let args = ["--verdict", "-", "--second-verdict", &second, "--format", "json"];
        let run = project.audit_with_stdin(&args, &reply);
        run.same(&run.status.code(), &Some(1));
        let report: Value = serde_json::from_str(&run.stdout).expect("json");
        run.same(&report["auditor"]["backend"], &json!("recorded"));
        run.same(&report["findings"][0]["path"], &json!("notes/beta.txt"));
    }
    fs::write(project.path("reply.json"), found).expect("written");
    let file = text(&project.path("reply.json"));
    let run = project.audit(&["--verdict", &file, "--second-verdict", &second]);
    run.same(&run.status.code(), &Some(1));
    // With nobody to uphold it, it is not confirmed.
    let run = project.audit(&["--verdict", &file]);
    run.same(&run.status.code(), &Some(0));
    run.check(run.stdout.contains("0 confirmed, 1 not verified"), "it is not held against anybody");
    let run = project.audit_with_stdin(&["--verdict", "-"], "All good!");
    run.same(&run.status.code(), &Some(2));
    run.check(run.stdout.contains("(unreadable: its text holds no JSON object)"), "it is said why");
    let run = project.audit(&["--verdict", "/nowhere/reply.json"]);
    run.answers(2, "", "punchlist: --verdict /nowhere/reply.json: No such file or directory (os error 2)\n");
    run_nobody_was_asked(&project);
}

#[test]
fn another_plan_can_be_put_up() {
    let project = TestProject::without_drift();
    project.save(ID, 5);
    project.file("notes/other.md", "- [x] Create `notes/gamma.txt`\n");
    let run = project.audit(&["--auditor", "none", "--plan", "notes/other.md", "--format", "json"]);
    run.same(&run.status.code(), &Some(1));
    let report: Value = serde_json::from_str(&run.stdout).expect("json");
    let plan = json!({"source": "given-file", "path": "notes/other.md", "steps": 1});
    run.same(&report["plan"], &plan);
    run.same(&report["findings"][0]["path"], &json!("notes/gamma.txt"));
    let run = project.audit(&["--plan", "none.md"]);
    run.answers(2, "", "punchlist: --plan none.md: No such file or directory (os error 2)\n");
}

#[test]
fn a_workspace_that_stands_elsewhere_by_now_is_followed() {
    let project = saved_drift();
    let copy = project.path("copy");
    fs::create_dir_all(copy.join("notes")).expect("a folder");
    for name in ["PLAN.md", "alpha.txt"] {
        fs::copy(project.in_work(name), copy.join(name)).expect("copied");
    }
    fs::write(copy.join("notes/beta.txt"), "beta\n").expect("written");
    let path = text(&project.save(ID, 5));
    let run = project.audit(&[&path, "--auditor", "none", "--cwd", &text(&copy)]);
    run.same(&run.status.code(), &Some(0));
    run.check(run.stdout.contains("plan PLAN.md (2 steps, 2 ticked)"), "its plan is the copy's");
    let run = project.audit(&["--cwd", "/nowhere"]);
    run.answers(2, "", "punchlist: --cwd /nowhere: there is no such folder\n");
}

#[test]
fn later_sessions_are_a_caution() {
    let project = saved_drift();
    project.save("77777777-later", 9);
    let run = project.audit(&[ID, "--auditor", "none"]);
    run.same(&run.status.code(), &Some(1));
    run.check(
        run.stdout.contains(
            "\nCaution: a later session of this project exists, and may have changed what is on disk\n",
        ),
        "it is said",
    );
}

#[test]
fn the_json_is_whole() {
    let project = saved_drift();
    let run = project.audit(&["--auditor", "none", "--format", "json"]);
    let mut report: Value = serde_json::from_str(&run.stdout).expect("json");
    run.same(
        &report["session"]["transcript"].as_str().expect("a path").ends_with(&format!("{ID}.jsonl")),
        &true,
    );
    report["session"]["transcript"] = json!("T");
    let expected = json!({
        "id": ID,
        "transcript": "T",
        "cwd": "DIR/work",
        "client_version": "2.1.325",
        "started": "2026-01-01T00:05:00.000Z",
        "ended": "2026-01-01T00:05:00.000Z",
    });
    run.same(&report["session"], &expected);
    run.same(&report["schema"], &json!(1));
    run.same(&report["plan"], &json!({"source": "touched-file", "path": "PLAN.md", "steps": 2}));
    let step = json!({"number": 2, "line": 4, "text": "Create `notes/beta.txt`", "mark": "ticked",
        "paths": ["notes/beta.txt"], "ticked_now": true});
    run.same(&report["steps"][1], &step);
    let finding = &report["findings"][0];
    for (key, value) in [
        ("category", "A"),
        ("status", "confirmed"),
        ("source", "facts"),
        ("path", "notes/beta.txt"),
        ("kind", "missing"),
    ] {
        run.same(&finding[key], &json!(value));
    }
    run.same(&finding["step"], &json!(2));
    run.same(&(&report["decision"], &report["cause"]), &(&json!("block"), &json!("findings")));
    run.same(&report["auditor"]["outcome"], &json!("not-asked"));
}

#[test]
fn markdown_and_sarif_are_printed_too() {
    let project = saved_drift();
    let run = project.audit(&["--auditor", "none", "--format", "markdown"]);
    run.same(&run.status.code(), &Some(1));
    run.check(
        run.stdout.starts_with(
            "### Punchlist: 1 finding is confirmed\n\nSession `3f2a91c0`, plan `PLAN.md` (2 steps).",
        ),
        "a title",
    );
    let run = project.audit(&["--auditor", "none", "--format", "sarif"]);
    let log: Value = serde_json::from_str(&run.stdout).expect("json");
    let result = &log["runs"][0]["results"][0];
    run.same(&(&result["ruleId"], &result["level"]), &(&json!("A"), &json!("error")));
    let place = &result["locations"][0]["physicalLocation"];
    run.same(&place["artifactLocation"], &json!({"uri": "PLAN.md", "uriBaseId": "%SRCROOT%"}));
    run.same(&place["region"], &json!({"startLine": 4}));
}

#[test]
fn what_is_no_session_is_told_and_what_to_do_next() {
    let project = saved_drift();
    fs::write(project.path("notes.txt"), "just\nwords\n").expect("written");
    fs::write(project.path("empty.jsonl"), "").expect("written");
    fs::write(project.path("mute.jsonl"), "{\"type\":\"summary\",\"summary\":\"x\"}\n{\"type\":\"mode\"}\n")
        .expect("written");
    let at = |name: &str| text(&project.path(name));
    for (named, said) in [
        (
            "deadbeef".to_owned(),
            format!("no session \"deadbeef\" in DIR/home/.claude/projects; the newest of this project: {ID}"),
        ),
        ("3f2a91cf".to_owned(), format!("no session \"3f2a91cf\" in DIR/home/.claude/projects; like it: {ID}")),
        (
            at("none.jsonl"),
            "there is no file DIR/none.jsonl; name a transcript (a .jsonl file of the client's) or a session's id"
                .to_owned(),
        ),
        (
            at("home"),
            "DIR/home is a folder, not a transcript; name a .jsonl file in it, or go there and name none".to_owned(),
        ),
        (
            at("notes.txt"),
            "DIR/notes.txt is not a transcript: none of its lines (2) is JSON; a transcript has one object a line"
                .to_owned(),
        ),
        (at("empty.jsonl"), "DIR/empty.jsonl is not a transcript: it is empty".to_owned()),
        (
            at("mute.jsonl"),
            "DIR/mute.jsonl is not a transcript: it is JSON, but nobody says or does anything in it".to_owned(),
        ),
    ] {
        project.audit(&[&named]).answers(2, "", &format!("punchlist: {said}\n"));
    }
    run_nobody_was_asked(&project);
}

#[test]
fn a_project_without_sessions_says_where_it_looked() {
    let project = TestProject::with_drift();
    let folder = project.tidy(&text(&project.project_folder()));
    project.audit(&[]).answers(
        2,
        "",
        &format!(
            "punchlist: no session of this project was found: there is no transcript in {folder}; run it in the \
             folder in which the session was started, name a transcript, or see all with `punchlist audit \
             --all-projects`\n"
        ),
    );
}

#[test]
fn subagents_and_sessions_without_a_word_are_not_the_newest_session() {
    let project = saved_drift();
    let folder = project.project_folder();
    fs::write(folder.join("agent-a1.jsonl"), "{\"type\":\"user\",\"isSidechain\":true}\n").expect("written");
    fs::write(folder.join("mute.jsonl"), "{\"type\":\"summary\",\"summary\":\"x\"}\n").expect("written");
    let run = project.audit(&["--auditor", "none"]);
    run.check(run.stdout.starts_with("Session 3f2a91c0, "), "the one in which something was said");
}

#[test]
fn arguments_that_make_no_sense_are_usage_errors() {
    let project = saved_drift();
    for args in [
        &["--format", "xml"][..],
        &["--auditor", "me"],
        &["--verdict", "-", "--auditor", "none"],
        &["--all", "3f2a"],
        &["--all", "--auditor", "claude"],
        &["--all", "--format", "sarif"],
        &["--all", "--all-projects"],
        &["one", "two"],
    ] {
        let run = project.audit(args);
        run.same(&(run.status.code(), run.stdout.as_str()), &(Some(64), ""));
        run.check(!run.stderr.is_empty(), "it is said");
    }
}
