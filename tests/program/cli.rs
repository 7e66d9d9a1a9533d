//! A registration with a slip in it must not hold anybody: exit code 2 means "block", and nothing
//! but a block ends with it.

use crate::test_project::TestProject;

#[test]
fn a_flag_that_the_hook_does_not_know_holds_nobody() {
    for args in [
        &["hook", "--no-such-flag"][..],
        &["hook", "--hook-timeout", "soon"],
        &["hook", "--hook-timeout"],
        &["hook", "extra"],
    ] {
        let run = TestProject::with_drift().run_args(args);
        run.same(&(run.status.code(), run.stdout.as_str()), &(Some(0), ""));
        run.check(run.stderr.contains("error: "), "it is said");
        run.same(&run.log.len(), &0);
    }
}

#[test]
fn a_command_that_does_not_exist_is_a_usage_error_and_not_a_block() {
    for args in
        [&["hok"][..], &["--hook"], &["-x", "hook"], &[], &["log", "lst"], &["log", "--since", "soon"]]
    {
        let run = TestProject::with_drift().run_args(args);
        run.same(&(run.status.code(), run.stdout.as_str()), &(Some(64), ""));
        run.check(!run.stderr.is_empty(), "it is said");
    }
}

#[test]
fn help_and_version_are_no_errors() {
    for args in [&["hook", "--help"][..], &["--help"], &["--version"], &["log", "list", "--help"]] {
        let run = TestProject::with_drift().run_args(args);
        run.same(&(run.status.code(), run.stderr.as_str()), &(Some(0), ""));
        run.check(!run.stdout.is_empty(), "it is shown");
    }
}

#[test]
fn a_timeout_of_nothing_or_of_ages_holds_as_any_other() {
    for seconds in ["0", "1", "18446744073709551615"] {
        let run = TestProject::with_drift().run_args(&["hook", "--hook-timeout", seconds]);
        run.holds();
    }
}
