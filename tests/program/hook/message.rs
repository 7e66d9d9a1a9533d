//! Large and unusual words: a final message and an input of megabytes, paths with spaces and letters of
//! every kind. They are held or let go like any other.

use serde_json::json;

use crate::test_project::TestProject;

#[test]
fn a_giant_final_message_is_cut_and_the_stop_still_held() {
    let mut test = TestProject::with_drift();
    let words = format!(
        "{}All done: I created alpha.txt and notes/beta.txt.",
        "The work went on and on. ".repeat(12_000)
    );
    test.says(&words);
    let run = test.run();
    run.holds();
    run.check(test.prompt("first").len() < 80_000, "the prompt stays within its bounds");
    run.check(
        test.prompt("first").contains("All done: I created alpha.txt and notes/beta.txt."),
        "its end is shown",
    );
}

#[test]
fn an_input_of_two_megabytes_is_read() {
    let mut test = TestProject::with_drift();
    test.input["last_assistant_message"] = json!(format!("{} All done.", "ab cd. ".repeat(300_000)));
    let run = test.run();
    run.holds();
    run.check(test.prompt("first").len() < 80_000, "the prompt stays within its bounds");
}

#[test]
fn an_input_of_two_megabytes_in_one_word_is_read() {
    let mut test = TestProject::with_drift();
    test.input["unknown"] = json!("x".repeat(2_000_000));
    test.run().holds();
}

#[test]
fn a_line_of_megabytes_in_the_transcript_is_no_hindrance() {
    let mut test = TestProject::with_drift();
    test.transcript.ran("cat big.log", &"0123456789 abcdef\n".repeat(50_000));
    test.says("All done: I created alpha.txt and notes/beta.txt.");
    test.run().holds();
}

/// A session that ticked a step for each of these files, and wrote those that are said to be there.
fn scene_with_steps(steps: &[(&str, &str, bool)]) -> TestProject {
    let mut test = TestProject::in_workspace("mein Ordner/Übung ✓");
    test.transcript.asked("Make a plan and follow it.");
    let plan: Vec<_> = steps.iter().map(|(step, _, _)| format!("- [x] {step}")).collect();
    test.wrote("PLAN.md", &plan.join("\n"));
    for (_, file, is_there) in steps {
        if *is_there {
            test.wrote(file, "x\n");
        }
    }
    test.says("All done.");
    test
}

#[test]
fn a_file_with_letters_of_every_kind_in_a_folder_with_spaces_is_found_missing() {
    let test = scene_with_steps(&[
        ("Write `docs/größe.md`", "docs/größe.md", true),
        ("Write `docs/日本語メモ.md`", "docs/日本語メモ.md", false),
    ]);
    let run = test.run();
    let reason = run.holds();
    run.check(reason.contains("path: docs/日本語メモ.md"), "the missing one is named");
    run.same(&run.record()["findings"].as_array().map(Vec::len), &Some(1));
}

/// `docs/my notes.md` was taken for two files, `docs/my` and `notes.md`, and the stop held for both.
#[test]
fn a_file_with_a_space_in_its_name_is_not_taken_for_two_that_are_missing() {
    let test = scene_with_steps(&[
        ("Write `docs/größe 1.md`", "docs/größe 1.md", true),
        ("Write docs/my notes.md", "docs/my notes.md", true),
        ("Write `docs/日本語 メモ.md`", "docs/日本語 メモ.md", true),
    ]);
    let run = test.run();
    run.is_silent();
    run.logs("allow", "clean");
}

#[test]
fn a_session_id_that_climbs_stays_in_the_state_folder() {
    let mut test = TestProject::with_drift();
    test.input["session_id"] = json!("../../../escaped");
    test.run().holds();
    assert!(!test.path("escaped.json").exists() && !test.path("../escaped.json").exists());
    let entries = std::fs::read_dir(test.path("state/sessions")).expect("the folder").filter_map(Result::ok);
    let mut kinds: Vec<_> = entries.filter_map(|entry| Some(entry.path().extension()?.to_owned())).collect();
    // What was seen and read for the audit is kept where that is worth it.
    kinds.retain(|kind| kind != "files" && kind != "words");
    kinds.sort();
    assert_eq!(kinds, ["cursor", "held", "json", "lock", "stop"]);
}
