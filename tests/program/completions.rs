//! What packagers and shells take from the program: completions, manual pages, help.

use std::process::Command;

use crate::test_project::TestProject;

#[test]
fn there_are_completions_for_every_shell() {
    for (shell, sign) in [
        ("bash", "complete -F _punchlist"),
        ("zsh", "#compdef punchlist"),
        ("fish", "complete -c punchlist"),
        ("powershell", "Register-ArgumentCompleter"),
        ("elvish", "edit:completion:arg-completer[punchlist]"),
    ] {
        let run = TestProject::new().run_args(&["completions", shell]);
        run.same(&(run.status.code(), run.stderr.as_str()), &(Some(0), ""));
        run.check(run.stdout.contains(sign), sign);
        run.check(
            run.stdout.contains("doctor") && run.stdout.contains("hook-timeout"),
            "commands and flags are in it",
        );
    }
    let run = TestProject::new().run_args(&["completions", "tcsh"]);
    run.same(&run.status.code(), &Some(64));
}

#[test]
fn bash_completes_a_command() {
    let project = TestProject::new();
    let script = project.run_args(&["completions", "bash"]).stdout;
    std::fs::write(project.path("complete.bash"), script).expect("written");
    let line = "source \"$0\"; COMP_WORDS=(punchlist do); COMP_CWORD=1; _punchlist punchlist do punchlist; echo \"${COMPREPLY[@]}\"";
    let output =
        Command::new("bash").args(["-c", line]).arg(project.path("complete.bash")).output().expect("bash");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "doctor\n", "{output:?}");
}

#[test]
fn the_manual_is_printed_or_written_for_each_command() {
    let project = TestProject::new();
    let run = project.run_args(&["man"]);
    run.same(&(run.status.code(), run.stderr.as_str()), &(Some(0), ""));
    run.check(
        run.stdout.contains(".TH punchlist 1") && run.stdout.contains("punchlist doctor"),
        "it is a page",
    );
    let run = project.run_args(&["man", "pages/man1"]);
    run.same(&run.status.code(), &Some(0));
    let count = std::fs::read_dir(project.in_work("pages/man1")).expect("the folder").count();
    run.same(&run.stdout.as_str(), &format!("{count} pages in pages/man1\n").as_str());
    run.check(project.in_work("pages/man1/punchlist-log-show.1").is_file(), "each command has one");
}

#[test]
fn a_slip_is_answered_with_what_was_probably_meant() {
    let run = TestProject::new().run_args(&["docter"]);
    run.same(&run.status.code(), &Some(64));
    run.check(run.stderr.contains("tip: a similar subcommand exists: 'doctor'"), "it is said");
}

#[test]
fn help_ends_with_examples() {
    let run = TestProject::new().run_args(&["--help"]);
    let examples = punchlist::cli::command().get_after_help().expect("examples").to_string();
    run.check(run.stdout.trim_end().ends_with(&examples), "so does the program's own");
    insta::assert_snapshot!(TestProject::new().run_args(&["doctor", "--help"]).stdout);
}
