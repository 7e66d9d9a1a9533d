//! The checklist gate from the outside: what the agent is told, beside the audit and without it.

use serde_json::json;

use crate::test_project::{BETA, OTHERS, TestProject, finds};

/// A session that did the first of its plan's steps, ticked that one, and says this.
fn says(words: &str) -> TestProject {
    let mut project = TestProject::new();
    project.transcript.asked("Make a plan in PLAN.md, and carry it out.");
    project.wrote("PLAN.md", "# Plan\n\n- [x] Create `alpha.txt`\n- [ ] Tell the team about the greeting\n");
    project.wrote("alpha.txt", "alpha\n");
    project.says(words);
    project
}

/// A reader that says that these items are claimed as done, and so is the work as a whole.
fn claimed(project: &TestProject, numbers: &str) {
    project.client(&format!(
        "checklist answer {{\"claimed\":[{numbers}],\"finished\":true}}\n{}\nsecond verdicts uphold It is so.",
        finds(&[])
    ));
}

const ALONE: &str = "[audit]\nenabled = false\n";

#[test]
fn a_session_that_is_said_to_be_finished_is_held_for_its_open_boxes_and_then_let_go() {
    let mut project = says("All steps of the plan are done.");
    project.own_config(&format!("{ALONE}[checklist]\nplan = true\n"));
    claimed(&project, "1");
    let run = project.run();
    let reason = run.holds();
    run.check(
        reason.contains("1. PLAN.md, line 4: - [ ] Tell the team about the greeting\n"),
        "it is told which and where",
    );
    run.check(reason.contains("`punchlist off`"), "the person's switch is named");
    run.logs("block", "open-items");
    let gates = json!([{ "gate": "checklist", "outcome": "hold", "cause": "open-items" }]);
    let told = &run.record()["gates"][0];
    run.same(&json!([{ "gate": told["gate"], "outcome": told["outcome"], "cause": told["cause"] }]), &gates);
    run.same(&project.blocks(), &1);
    project.input["stop_hook_active"] = json!(true);
    let run = project.run();
    run.is_silent();
    run.logs("allow", "loop-guard");
}

#[test]
fn an_unfinished_plan_holds_nobody() {
    let project = says("I created alpha.txt. Telling the team is next.");
    project.own_config(&format!("{ALONE}[checklist]\nplan = true\ntodos = true\n"));
    let run = project.run();
    run.is_silent();
    run.logs("allow", "nothing-open");
    run.same(&project.questions(), &vec!["checklist".to_owned()]);
    run.check(
        project.prompt("checklist").contains("1. Tell the team about the greeting\n"),
        "it was asked about",
    );
}

#[test]
fn a_reader_that_can_not_be_had_holds_nobody_and_the_person_is_told() {
    let project = says("All steps of the plan are done.");
    project.own_config(&format!("{ALONE}[checklist]\nplan = true\n"));
    project.client("exit 3");
    let run = project.run();
    run.tells("open items were not judged: the client failed (exit code 3)");
    run.logs("allow", "checklist-unreadable");
}

#[test]
fn without_the_table_there_is_no_such_gate() {
    let run = says("All steps of the plan are done.").run();
    run.same(&run.record().get("gates").map(|gates| gates[0]["gate"] == "checklist"), &None);
}

#[test]
fn a_step_that_the_audit_holds_for_is_told_once() {
    let mut project = TestProject::new();
    project.transcript.asked("Make a plan in PLAN.md, and carry it out.");
    let plan = "# Plan\n\n- [x] Create `alpha.txt`\n- [ ] Create `notes/beta.txt`\n- [ ] Tell the team about the greeting\n";
    project.wrote("PLAN.md", plan);
    project.wrote("alpha.txt", "alpha\n");
    project.says("All steps of the plan are done.");
    project.project_config("[checklist]\nplan = true\n");
    project.client(&format!(
        "{}\nchecklist answer {{\"claimed\":[1,2],\"finished\":true}}\n{}",
        finds(&[BETA]),
        OTHERS.lines().filter(|line| !line.starts_with("checklist")).collect::<Vec<_>>().join("\n"),
    ));
    let run = project.run();
    let reason = run.holds();
    run.check(reason.contains("1. PLAN.md, line 5: - [ ] Tell the team"), "the open box is told");
    run.same(&reason.matches("Create `notes/beta.txt`").count(), &1);
    run.same(&reason.matches("`punchlist off`").count(), &1);
    run.check(
        !reason.contains("- [ ] Create `notes/beta.txt`"),
        "what is not on disk is the audit's to tell",
    );
    let gates = run.record()["gates"].as_array().map(Vec::len);
    run.same(&gates, &Some(2));
    run.same(&project.blocks(), &1);
}

#[test]
fn named_files_and_the_sessions_own_tasks_count() {
    let mut project = says("The plan is done, and everything is finished.");
    project.file("docs/lists/release.md", "- [x] Tag it\n- [ ] Announce it on the site\n");
    project.file("docs/lists/.env", "- [ ] secret\n");
    project.transcript.noted(&[("Sweep the workshop floor", "in_progress"), ("Read", "completed")]);
    project.says("The plan is done, and everything is finished.");
    project.own_config(&format!("{ALONE}[checklist]\nfiles = [\"docs/lists/*\"]\ntodos = true\n"));
    claimed(&project, "1,2");
    let run = project.run();
    let reason = run.holds();
    run.check(
        reason.contains("1. docs/lists/release.md, line 2: - [ ] Announce it on the site\n"),
        "the file",
    );
    run.check(reason.contains("2. your task list (in_progress): Sweep the workshop floor\n"), "the task");
    run.check(!reason.contains("secret") && !reason.contains("Tell the team"), "and nothing else");
}

#[test]
fn the_section_that_is_wanted_is_asked_for_in_its_words() {
    let mut project = says("All done.");
    project.own_config(&format!("{ALONE}[checklist]\nrequire_section = \"## Plan Completion Check\"\n"));
    claimed(&project, "");
    let run = project.run();
    let reason = run.holds();
    run.check(reason.contains("lacks the section `## Plan Completion Check`"), "it is named");
    run.logs("block", "section-missing");
    project.says("All done.\n\n## Plan Completion Check\n\n- alpha.txt is written.\n- The team is told.\n");
    project.run().is_silent();
}

#[test]
fn a_list_that_can_not_be_read_is_told_and_holds_nobody() {
    let project = says("All done.");
    project.file("LIST.md", "- [ ] x\n");
    let path = project.in_work("LIST.md");
    std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o000)).expect("set");
    if std::fs::read(&path).is_ok() {
        eprintln!("SKIPPED: whoever runs this may read every file");
        return;
    }
    project.own_config(&format!("{ALONE}[checklist]\nfiles = [\"LIST.md\"]\n"));
    let run = project.run();
    run.tells("the checklist LIST.md can't be read (Permission denied (os error 13))");
    run.logs("allow", "checklist-unreadable");
}

#[test]
fn a_subagents_words_are_not_the_sessions() {
    let mut project = says("All steps of the plan are done.");
    project.own_config(&format!("{ALONE}[checklist]\nplan = true\n"));
    project.input["hook_event_name"] = json!("SubagentStop");
    project.input["agent_id"] = json!("a1");
    project.run().is_silent();
}
