//! Texts that would grow into far more than they are: what is answered, logged and stored of a stop
//! is bounded, and so is the time that it takes. And whose git is run.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;
use std::time::{Duration, Instant};

use crate::test_project::{Run, TestProject};

/// A stop whose hook may use so many megabytes of address space; with how long it took.
fn run_within(project: &TestProject, megabytes: usize) -> (Run, Duration) {
    let mut command = Command::new("/bin/sh");
    let hook = format!("ulimit -v {}; exec {} hook", megabytes << 10, crate::test_project::PUNCHLIST);
    command.args(["-c", &hook]);
    let input = project.input.to_string();
    let begun = Instant::now();
    let run = project.finish(project.start_command(command, input.as_bytes()));
    (run, begun.elapsed())
}

/// How many bytes a stop left in the state folder.
fn stored(project: &TestProject) -> usize {
    project.texts_below("state").iter().map(|(_, text)| text.len()).sum()
}

/// The step or the message with so many names and commands.
fn names(count: usize) -> String {
    (0..count).map(|number| format!("`src/f{number}.rs` `make f{number}` ")).collect()
}

#[test]
fn a_thousand_names_make_a_short_reason() {
    let mut project = TestProject::with_drift();
    let claim = names(400);
    for number in 0..30 {
        project.transcript.ran_in_vain(&format!("make f{number}"), "no");
    }
    project.wrote("PLAN.md", &format!("# Plan\n\n- [x] Create `notes/beta.txt`\n- [x] Run {claim}\n"));
    project.says(&format!("Done:\n\n- [x] Run {claim}\n"));
    // The reader quotes all of it, too.
    let finding = serde_json::json!({
        "category": "A", "sure": true, "kind": "other", "claim": claim, "claimed_in": "plan", "proof": claim,
        "path": "", "why": "x ".repeat(8_000), "settle": "y ".repeat(8_000),
    });
    let finding = finding.to_string();
    project.readers(&vec![finding.as_str(); 20]);
    let run = project.run();
    let reason = run.holds();
    run.check(reason.len() < 30_000, &format!("a reason of {} bytes", reason.len()));
    let logged = run.record().to_string();
    run.check(logged.len() < 250_000, &format!("a record of {} bytes", logged.len()));
}

#[test]
fn ten_thousand_names_take_neither_the_memory_nor_the_disk() {
    for place in ["plan", "message", "task"] {
        let mut project = TestProject::with_drift();
        let claim = names(5_000);
        match place {
            "plan" => {
                project
                    .wrote("PLAN.md", &format!("# Plan\n\n- [x] Create `notes/beta.txt`\n- [x] {claim}\n"));
            }
            "message" => project.says(&format!("- [x] {claim}\n")),
            _ => {
                let tasks: Vec<String> = (0..40).map(|number| format!("{number} {claim}")).collect();
                let tasks: Vec<_> = tasks.iter().map(|task| (task.as_str(), "completed")).collect();
                project.transcript.noted(&tasks);
            }
        }
        let (run, took) = run_within(&project, 700);
        run.logs("block", "findings");
        run.check(took < Duration::from_secs(35), &format!("{place}: {took:?}"));
        let bytes = stored(&project);
        run.check(bytes < 6_000_000, &format!("{place}: {bytes} bytes are stored"));
    }
}

/// How long a stop takes with a million characters in plan, ask, task and message.
fn with_a_million(sign: &str) -> (Run, Duration) {
    let text = sign.repeat((1 << 20) / sign.len());
    let mut project = TestProject::with_drift();
    project.file("PLAN.md", &format!("# Plan\n\n- [x] Create `notes/beta.txt`\n- [x] {text}\n"));
    project.transcript.asked(&text);
    project.transcript.noted(&[(&text, "completed")]);
    project.says(&text);
    run_within(&project, 700)
}

#[test]
fn a_million_odd_characters_take_no_longer_than_plain_words() {
    let (_, plain) = with_a_million("some plain words ");
    for sign in ["`", "[", "|", "*", "e\u{301}", "> ", "✅", "a/"] {
        let (run, took) = with_a_million(sign);
        // What is not linear takes a hundred times as long.
        run.check(
            took < plain * 8 + Duration::from_secs(6),
            &format!("{sign:?}: {took:?}, and plain words {plain:?}"),
        );
        run.check(run.record()["cause"] != "error", "it was audited");
    }
}

#[test]
fn a_git_of_the_repository_is_not_run_by_an_empty_or_relative_entry_of_path() {
    git_is_not_the_repositorys(&["", ":", ".:", ".", "./:", "bin:"]);
}

#[test]
fn a_git_of_the_repository_was_run_by_an_absolute_entry_of_path() {
    git_is_not_the_repositorys(&["WORK/bin:", "WORK:", "WORK/../link/bin:"]);
}

/// A session works in a folder of a clone, and the clone's own programs are in PATH: by npm, by
/// direnv, or by the `env` of its settings.
#[test]
fn a_program_of_the_repository_around_the_workspace_was_run() {
    for name in ["git", "claude"] {
        for entry in ["WORK/../bin", "DIR/link", "/proc/self/cwd/../bin"] {
            let mut project = TestProject::in_workspace("clone/below");
            project.wrote("PLAN.md", "# Plan\n\n- [x] Create `notes/beta.txt`\n");
            project.says("Done.");
            project.git(&["init", "-q", ".."]);
            let program = format!("../bin/{name}");
            project.file(&program, &format!("#!/bin/sh\necho ran >> '{}'\n", project.path("mark").display()));
            fs::set_permissions(project.in_work(&program), fs::Permissions::from_mode(0o755)).expect("set");
            std::os::unix::fs::symlink(project.in_work("../bin"), project.path("link")).expect("a link");
            let entry = entry.replace("WORK", &project.in_work("").display().to_string());
            let entry = entry.replace("DIR", &project.path("").display().to_string());
            project.var("PATH", format!("{entry}:/usr/bin:/bin"));
            project.unset("PUNCHLIST_CLAUDE");
            let run = project.run();
            run.logs("block", "findings");
            run.check(!project.path("mark").exists(), &format!("{name} by {entry:?}"));
        }
    }
}

/// Asserts that git is asked, and that it is none of the workspace's, whatever PATH begins with.
#[track_caller]
fn git_is_not_the_repositorys(paths: &[&str]) {
    for path in paths {
        let mut project = TestProject::with_drift();
        std::os::unix::fs::symlink(project.in_work(""), project.path("link")).expect("a link");
        let path = path.replace("WORK", project.in_work("").display().to_string().trim_end_matches('/'));
        for name in ["git", "bin/git"] {
            project.file(name, &format!("#!/bin/sh\necho ran >> '{}'\n", project.path("mark").display()));
            fs::set_permissions(project.in_work(name), fs::Permissions::from_mode(0o755)).expect("set");
        }
        let init = Command::new("git").args(["init", "-q"]).current_dir(project.in_work("")).status();
        assert!(init.is_ok_and(|status| status.success()));
        project.var("PATH", format!("{path}/usr/bin:/bin"));
        let mut command = Command::new(crate::test_project::PUNCHLIST);
        command.arg("hook");
        let run = project.finish(project.start_command(command, project.input.to_string().as_bytes()));
        run.logs("block", "findings");
        run.check(!project.path("mark").exists(), &format!("{path:?}"));
        run.check(project.prompt("first").contains("branch: "), "git was asked all the same");
    }
}

#[test]
fn a_repository_that_a_variable_names_is_not_asked() {
    let mut project = TestProject::with_drift();
    let other = project.path("other");
    fs::create_dir(&other).expect("a folder");
    for folder in [other.clone(), project.in_work("")] {
        let branch = if folder == other { "theirs" } else { "ours" };
        let init = Command::new("git").args(["init", "-q", "-b", branch]).current_dir(folder).status();
        assert!(init.is_ok_and(|status| status.success()));
    }
    project.var("GIT_DIR", other.join(".git"));
    let run = project.run();
    run.logs("block", "findings");
    let prompt = project.prompt("first");
    run.check(prompt.contains("branch: ours") && !prompt.contains("theirs"), &prompt);
}

/// A link that leads nowhere, in the place of a file that is missing, was neither there nor missing.
#[test]
fn a_dangling_link_stood_for_a_missing_file() {
    for target in ["/nonexistent/beta.txt", "nowhere"] {
        let project = TestProject::with_drift();
        std::os::unix::fs::symlink(target, project.in_work("beta.txt")).expect("a link");
        project.run().holds();
    }
}
