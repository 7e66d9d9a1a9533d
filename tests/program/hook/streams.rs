//! The standard streams of the program: one that is closed, and a pipe that nobody reads.

use std::fs::read_link;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use rustix::process::Signal;

use crate::processes::eventually;
use crate::test_project::{PUNCHLIST, TestProject};

#[test]
fn no_file_takes_the_place_of_a_closed_stream() {
    let project = TestProject::with_a_wrong_greeting();
    project.client("hang");
    project.file("in.json", &project.input.to_string());
    let mut command = Command::new("sh");
    command.args(["-c", &format!("exec '{PUNCHLIST}' hook <in.json >&- 2>&-")]);
    let running = project.start_command(command, b"");
    assert!(eventually(|| !project.calls().is_empty()), "the auditor is at work");
    let leads_to = |number: u8| read_link(format!("/proc/{}/fd/{number}", running.id())).ok();
    let streams = [1, 2].map(leads_to);
    running.signal(Signal::TERM);
    project.finish(running);
    assert_eq!(streams, [1, 2].map(|_| Some(PathBuf::from("/dev/null"))));
}

#[test]
fn a_pipe_that_nobody_reads_is_an_error_and_not_the_end() {
    let project = TestProject::new();
    let mut command = Command::new(PUNCHLIST);
    command.args(["completions", "bash"]).env("PUNCHLIST_HOME", project.path("state"));
    let (reader, writer) = std::io::pipe().expect("a pipe");
    drop(reader);
    let status = command.stdout(writer).stderr(Stdio::null()).status().expect("it runs");
    assert!(status.code().is_some(), "{status}: it was ended by a signal");
}
