//! `punchlist audit --all`: every saved session at a glance, and what is not trusted of the old
//! ones.

use std::fs;
use std::process::Command;

use serde_json::{Value, json};

use crate::test_project::TestProject;

#[test]
fn all_sessions_are_a_table_oldest_first_and_the_disk_is_trusted_for_the_newest() {
    let project = TestProject::with_drift();
    project.save("11111111-old", 1);
    project.save("22222222-new", 2);
    fs::write(project.project_folder().join("agent-a1.jsonl"), "{\"type\":\"user\"}\n").expect("written");
    fs::write(project.project_folder().join("mute.jsonl"), "{\"type\":\"mode\"}\n").expect("written");
    let run = project.audit(&["--all"]);
    run.answers(
        1,
        "\
session   when              plan     steps  confirmed  not verified  worth knowing  cause
11111111  2026-01-01 00:01  PLAN.md  2/2    0          1             0              only-unverified*
22222222  2026-01-01 00:02  PLAN.md  2/2    1          0             0              findings

* The disk has moved on since: what rests on it is not verified.

2 sessions, 1 with confirmed findings. No reader was asked: what needs judgement is only a candidate here.
",
        "",
    );
    let said = project.audit(&["--all", "--auditor", "none"]);
    assert_eq!(
        (said.status.code(), &said.stdout),
        (run.status.code(), &run.stdout),
        "that nobody is asked may be said"
    );
    project.audit(&["--all", "--auditor", "claude"]).answers(
        64,
        "",
        "punchlist: many sessions are audited with nobody asked; leave --auditor out, or name a session\n",
    );
    assert_eq!(project.calls().len(), 0, "nobody is asked");
}

fn reports(project: &TestProject, args: &[&str]) -> Vec<Value> {
    let run = project.audit(&[args, &["--format", "json"]].concat());
    serde_json::from_str(&run.stdout).expect("a list")
}

const MOVED_ON: &str = "the disk has moved on since this session ended";

#[test]
fn a_list_is_printed_for_programs_and_says_why_the_disk_is_not_trusted() {
    let project = TestProject::with_drift();
    project.save("11111111-old", 1);
    project.save("22222222-new", 2);
    let reports = reports(&project, &["--all"]);
    let statuses: Vec<_> = reports.iter().map(|report| &report["findings"][0]["status"]).collect();
    assert_eq!(statuses, [&json!("cannot-verify"), &json!("confirmed")]);
    let note = format!("{MOVED_ON} (a later session of this project exists)");
    assert_eq!(reports[0]["findings"][0]["note"], note);
    assert_eq!((&reports[0]["decision"], &reports[1]["decision"]), (&json!("allow"), &json!("block")));
}

#[test]
fn newer_commits_make_a_doubt() {
    let project = TestProject::with_drift();
    project.save("11111111-old", 1);
    let git = |args: &[&str]| {
        let run = Command::new("git")
            .args(["-c", "user.name=x", "-c", "user.email=x@example.com", "-c", "commit.gpgsign=false"])
            .args(args)
            .current_dir(project.in_work(""))
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .output()
            .expect("git");
        assert!(run.status.success(), "{run:?}");
    };
    git(&["init", "--quiet"]);
    git(&["add", "."]);
    git(&["commit", "--quiet", "--message", "later"]);
    let reports = reports(&project, &["--all"]);
    assert_eq!(reports[0]["findings"][0]["note"], format!("{MOVED_ON} (the repository has newer commits)"));
}

#[test]
fn a_folder_that_is_gone_makes_a_doubt() {
    let project = TestProject::with_drift();
    let transcript = project.save("11111111-old", 1);
    let work = project.in_work("").display().to_string();
    let rows = fs::read_to_string(&transcript).expect("text");
    fs::write(&transcript, rows.replace(work.trim_end_matches('/'), "/nowhere/shop")).expect("written");
    let reports = reports(&project, &["--all-projects"]);
    let confirmed = |finding: &&Value| finding["status"] == "confirmed";
    assert_eq!(reports[0]["findings"].as_array().expect("a list").iter().filter(confirmed).count(), 0);
    assert_eq!(reports[0]["cautions"], json!([format!("{MOVED_ON} (its folder is gone)")]));
}

#[test]
fn what_the_session_alone_shows_stays() {
    let mut project = TestProject::new();
    project.transcript.asked("Make a plan and follow it, please.");
    project.wrote("alpha.txt", "alpha\n");
    project.transcript.ran_in_vain("cargo test", "1 test failed");
    project.wrote("PLAN.md", "- [x] `cargo test` passes\n");
    project.says("All tests pass.");
    project.save("11111111-old", 1);
    project.save("22222222-new", 2);
    let reports = reports(&project, &["--all"]);
    for report in &reports {
        assert_eq!(report["findings"][0]["kind"], "failed", "{report}");
        assert_eq!(report["findings"][0]["status"], "confirmed", "{report}");
    }
}

#[test]
fn all_projects_are_named() {
    let project = TestProject::with_drift();
    project.save("11111111-old", 1);
    let run = project.audit(&["--all-projects"]);
    run.check(
        run.stdout.lines().nth(1).is_some_and(|row| row.ends_with("findings  DIR/work")),
        "by its folder",
    );
}

#[test]
fn none_at_all_says_where_it_looked() {
    let project = TestProject::with_drift();
    let run = project.audit(&["--all-projects"]);
    run.same(&run.status.code(), &Some(2));
    run.check(run.stderr.contains("there is no transcript in DIR/home/.claude/projects; "), "where");
}
