//! Large and unusual words: a final message and an input of megabytes, paths with spaces and
//! letters of every kind. They are held or let go like any other.

use serde_json::json;

use crate::test_project::TestProject;

#[test]
fn a_giant_final_message_is_cut_and_the_stop_still_held() {
    let mut project = TestProject::with_drift();
    let words = format!(
        "{}All done: I created alpha.txt and notes/beta.txt.",
        "The work went on and on. ".repeat(12_000)
    );
    project.says(&words);
    let run = project.run();
    run.holds();
    run.check(project.prompt("first").len() < 80_000, "the prompt stays within its bounds");
    run.check(
        project.prompt("first").contains("All done: I created alpha.txt and notes/beta.txt."),
        "its end is shown",
    );
}

#[test]
fn an_input_of_two_megabytes_is_read() {
    let mut project = TestProject::with_drift();
    project.input["last_assistant_message"] = json!(format!("{} All done.", "ab cd. ".repeat(300_000)));
    let run = project.run();
    run.holds();
    run.check(project.prompt("first").len() < 80_000, "the prompt stays within its bounds");
}

#[test]
fn an_input_of_two_megabytes_in_one_word_is_read() {
    let mut project = TestProject::with_drift();
    project.input["unknown"] = json!("x".repeat(2_000_000));
    project.run().holds();
}

#[test]
fn a_line_of_megabytes_in_the_transcript_is_no_hindrance() {
    let mut project = TestProject::with_drift();
    project.transcript.ran("cat big.log", &"0123456789 abcdef\n".repeat(50_000));
    project.says("All done: I created alpha.txt and notes/beta.txt.");
    project.run().holds();
}

/// A session that ticked a step for each of these files, and wrote those that are said to be there.
fn scene_with_steps(steps: &[(&str, &str, bool)]) -> TestProject {
    let mut project = TestProject::in_workspace("mein Ordner/Übung ✓");
    project.transcript.asked("Make a plan and follow it.");
    let plan: Vec<_> = steps.iter().map(|(step, _, _)| format!("- [x] {step}")).collect();
    project.wrote("PLAN.md", &plan.join("\n"));
    for (_, file, is_there) in steps {
        if *is_there {
            project.wrote(file, "x\n");
        }
    }
    project.says("All done.");
    project
}

#[test]
fn a_file_with_letters_of_every_kind_in_a_folder_with_spaces_is_found_missing() {
    let project = scene_with_steps(&[
        ("Write `docs/größe.md`", "docs/größe.md", true),
        ("Write `docs/日本語メモ.md`", "docs/日本語メモ.md", false),
    ]);
    let run = project.run();
    let reason = run.holds();
    run.check(reason.contains("not so: docs/日本語メモ.md\n"), "the missing one is named");
    run.same(&run.record()["findings"].as_array().map(Vec::len), &Some(1));
}

/// `docs/my notes.md` was taken for two files, `docs/my` and `notes.md`, and the stop held for
/// both.
#[test]
fn a_file_with_a_space_in_its_name_is_not_taken_for_two_that_are_missing() {
    let project = scene_with_steps(&[
        ("Write `docs/größe 1.md`", "docs/größe 1.md", true),
        ("Write docs/my notes.md", "docs/my notes.md", true),
        ("Write `docs/日本語 メモ.md`", "docs/日本語 メモ.md", true),
    ]);
    let run = project.run();
    run.is_silent();
    run.logs("allow", "clean");
}

#[test]
fn a_session_id_that_climbs_stays_in_the_state_folder() {
    let mut project = TestProject::with_drift();
    project.input["session_id"] = json!("../../../escaped");
    project.run().holds();
    assert!(!project.path("escaped.json").exists() && !project.path("../escaped.json").exists());
    let entries =
        std::fs::read_dir(project.path("state/sessions")).expect("the folder").filter_map(Result::ok);
    let mut kinds: Vec<_> = entries.filter_map(|entry| Some(entry.path().extension()?.to_owned())).collect();
    // What was seen and read for the audit is kept where that is worth it.
    kinds.retain(|kind| kind != "files" && kind != "words");
    kinds.sort();
    assert_eq!(kinds, ["cursor", "held", "json", "lock", "stop"]);
}
