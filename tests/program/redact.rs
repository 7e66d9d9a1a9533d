//! What must never leave the machine, nor stay in our own files: secrets wherever they stand in a
//! session, files that hold them, and what is outside the workspace.

use serde_json::json;

use crate::test_project::{Run, TestProject};

/// Looks like a token of GitHub's, and is none. In two parts, so that no scanner takes this file
/// for a leak.
fn token() -> String {
    format!("gh{}_{}", 'p', "x7Kq2mWv9RtZ4bNc8LdY1sGf6HjP3aEu5TiQ")
}

/// Asserts that a text is neither in a prompt nor in anything that is kept.
#[track_caller]
fn is_nowhere(project: &TestProject, run: &Run, secret: &str) {
    for call in project.calls() {
        run.check(!call.to_string().contains(secret), "it is not in what the client gets");
    }
    run.check(!project.calls().is_empty(), "the client was asked");
    for (path, text) in project.texts_below("state") {
        run.check(!text.contains(secret), &format!("it is not in {path}"));
    }
    let said = [&run.stdout, &run.stderr];
    run.check(!said.iter().any(|text| text.contains(secret)), "it is not in the answer");
}

#[test]
fn a_secret_in_a_file_and_in_a_command_is_masked() {
    let mut project = TestProject::without_drift();
    project.transcript.ran(&format!("curl -H 'Authorization: Bearer {}' https://x", token()), "ok");
    project.wrote("alpha.txt", &format!("token = \"{}\"\n", token()));
    project.says("All done: I created alpha.txt and notes/beta.txt.");
    let run = project.run();
    run.logs("allow", "clean");
    is_nowhere(&project, &run, &token());
    run.check(run.record()["masked"].as_u64().is_some_and(|masked| masked >= 2), "two are counted");
}

#[test]
fn a_secret_in_words_plan_and_output_is_masked() {
    let mut project = TestProject::new();
    project.transcript.asked(&format!("Use the token {} for the plan.", token()));
    project.wrote("PLAN.md", &format!("- [x] Put {} into `notes/beta.txt`\n", token()));
    project.transcript.ran_in_vain("make deploy", &format!("denied for {}", token()));
    project.says(&format!("Done: notes/beta.txt has {}.", token()));
    let run = project.run();
    // The reason quotes the step, so it is looked at as well.
    run.holds();
    is_nowhere(&project, &run, &token());
    run.check(run.record()["masked"].as_u64().is_some_and(|masked| masked >= 4), "four are counted");
}

/// The client's words for an edit that failed hold the text that was to be replaced.
#[test]
fn a_secret_in_the_words_of_a_failed_edit_is_masked() {
    let mut project = TestProject::without_drift();
    let path = project.in_work("alpha.txt");
    let why = format!("<tool_use_error>String to replace not found in file.\nString: key = {}", token());
    project.transcript.failed_to_edit(path.to_str().expect("text"), &why);
    project.says("All done: I created alpha.txt and notes/beta.txt.");
    let run = project.run();
    run.check(project.prompt("first").contains("String to replace not found"), "the failure is shown");
    is_nowhere(&project, &run, &token());
}

#[test]
fn a_secret_that_the_auditor_repeats_is_not_kept() {
    let project = TestProject::with_a_wrong_greeting();
    project.client(&format!("stderr debug: {}\nstdout it is {}\nexit 1", token(), token()));
    let run = project.run();
    run.logs("allow", "auditor-unavailable");
    for (path, text) in project.texts_below("state") {
        run.check(!text.contains(&token()), &format!("it is not in {path}"));
    }
    run.check(!run.stdout.contains(&token()), "it is not in the answer");
}

#[test]
fn what_an_env_file_holds_never_enters_however_plain_it_looks() {
    let mut project = TestProject::without_drift();
    project.wrote(".env", "COLOUR=vermilion heron\n");
    std::os::unix::fs::symlink(".env", project.in_work("notes.txt")).expect("a link");
    let notes = project.in_work("notes.txt");
    project.transcript.wrote(notes.to_str().expect("text"), "");
    project.says("All done: I created alpha.txt and notes/beta.txt.");
    let run = project.run();
    is_nowhere(&project, &run, "vermilion heron");
    let files = run.record()["files"].as_array().expect("files").clone();
    let env = files.iter().find(|file| file["path"] == ".env").expect("the file is known");
    run.same(&env["entered"], &json!({ "left-out": "secret" }));
}

#[test]
fn what_an_env_file_holds_entered_by_a_copy_and_by_what_commands_print() {
    let mut project = TestProject::without_drift();
    project.file(".env", "COLOUR=vermilion heron\n");
    project.wrote("notes/copy.md", "COLOUR=vermilion heron\n");
    project.transcript.ran("cp .env notes/copy.md", "");
    project.transcript.ran("cat .e*", "COLOUR=vermilion heron\n");
    project.transcript.ran("cat .env", "something else entirely\n");
    project.transcript.ran("grep -r OLOU .", "./.env:COLOUR=vermilion heron\n");
    project.says("All done: I created alpha.txt and notes/beta.txt; the colour is vermilion heron.");
    let run = project.run();
    is_nowhere(&project, &run, "vermilion heron");
    is_nowhere(&project, &run, "something else entirely");
}

#[test]
fn a_link_that_leads_out_of_the_workspace_is_not_followed() {
    let mut project = TestProject::without_drift();
    std::fs::write(project.path("outside.txt"), "vermilion heron\n").expect("a file");
    std::fs::create_dir(project.path("elsewhere")).expect("a folder");
    std::fs::write(project.path("elsewhere/more.txt"), "vermilion heron\n").expect("a file");
    for (target, link) in [("outside.txt", "link.txt"), ("elsewhere", "folder")] {
        std::os::unix::fs::symlink(project.path(target), project.in_work(link)).expect("a link");
    }
    for written in ["link.txt", "folder/more.txt", "../outside.txt"] {
        let path = project.in_work(written);
        project.transcript.wrote(path.to_str().expect("text"), "");
    }
    project.says("All done: I created alpha.txt and notes/beta.txt.");
    let run = project.run();
    is_nowhere(&project, &run, "vermilion heron");
    let files = run.record()["files"].as_array().expect("files").clone();
    let outside = files.iter().filter(|file| file["entered"] == json!({ "left-out": "outside" })).count();
    run.same(&outside, &3);
}

#[test]
fn a_plan_that_is_a_link_out_of_the_workspace_is_no_plan() {
    let mut project = TestProject::new();
    std::fs::write(project.path("outside.md"), "- [x] Create `vermilion.txt`\n").expect("a file");
    std::os::unix::fs::symlink(project.path("outside.md"), project.in_work("PLAN.md")).expect("a link");
    let plan = project.in_work("PLAN.md");
    project.transcript.asked("Go on.");
    project.transcript.wrote(plan.to_str().expect("text"), "");
    project.says("All done.");
    project.project_config("[audit]\nplanless = \"always\"\n");
    let run = project.run();
    run.logs("allow", "clean");
    run.same(&run.record()["plan"], &serde_json::Value::Null);
    is_nowhere(&project, &run, "vermilion");
}

#[test]
fn what_is_kept_is_the_owners_alone() {
    use std::os::unix::fs::PermissionsExt;
    let project = TestProject::with_drift();
    project.run().holds();
    for folder in ["state/audits", "state/decisions", "state/sessions"] {
        let mode = std::fs::metadata(project.path(folder)).expect("the folder").permissions().mode();
        assert_eq!(mode & 0o077, 0, "{folder}: {mode:o}");
    }
}
