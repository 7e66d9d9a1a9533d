//! A program that is entered by the C runtime: takes what it does, gives its exit code, and has the process before and after
//! as Rust's own start would have it. Must not take more than a system call for each.

use std::fs::File;
use std::io::Write;
use std::os::fd::IntoRawFd;
use std::panic::catch_unwind;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::stdio::{stderr, stdin, stdout};

/// As Rust has it for a program that has panicked.
const PANICKED: u8 = 101;

/// Runs a program.
pub fn enter(run: fn() -> u8) -> u8 {
    hold_standard_places();
    // To write where nobody reads is an error, which whoever writes is told. It is not the end.
    let _ = signal_hook::flag::register(signal_hook::consts::SIGPIPE, Arc::new(AtomicBool::new(false)));
    let code = catch_unwind(run).unwrap_or(PANICKED);
    let _ = std::io::stdout().flush();
    code
}

/// Puts something in the place of a standard stream that is closed. Else the next file that is opened would have its number, and
/// what is meant for the stream would be written into that file.
fn hold_standard_places() {
    let streams = [stdin(), stdout(), stderr()];
    let mut streams = streams.each_ref().map(|stream| PollFd::new(stream, PollFlags::empty()));
    let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
    if poll(&mut streams, Some(&at_once)).is_err() {
        return;
    }
    for _ in streams.iter().filter(|stream| stream.revents().contains(PollFlags::NVAL)) {
        // The lowest number that is free is taken, and stays so.
        if let Ok(nothing) = File::options().read(true).write(true).open("/dev/null") {
            let _ = nothing.into_raw_fd();
        }
    }
}
