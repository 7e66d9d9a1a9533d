//! A program that is entered by the C runtime: takes what it does, gives its exit code, and has the process before and after
//! as Rust's own start would have it, but for a word on a stack that overflows. Must not take more than three system calls.

use std::io::Write;
use std::os::fd::IntoRawFd;
use std::panic::catch_unwind;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Mode, OFlags, open};
use rustix::io::fcntl_getfd;
use rustix::stdio::{stderr, stdin, stdout};

/// As Rust has it for a program that has panicked.
const PANICKED: u8 = 101;

/// Runs a program.
pub fn enter(run: fn() -> u8) -> u8 {
    hold_standard_places();
    // To write where nobody reads is an error, which whoever writes is told. It is not the end.
    let _ = signal_hook::flag::register(signal_hook::consts::SIGPIPE, Arc::new(AtomicBool::new(false)));
    let code = catch_unwind(run).unwrap_or(PANICKED);
    // No thread holds it by now: those that write have been waited for.
    let _ = std::io::stdout().flush();
    code
}

/// Puts something in the place of a standard stream that is closed. Else the next file that is opened would have its number, and
/// what is meant for the stream would be written into that file.
fn hold_standard_places() {
    let streams = [stdin(), stdout(), stderr()];
    let mut polled = streams.each_ref().map(|stream| PollFd::new(stream, PollFlags::empty()));
    let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
    let closed = match poll(&mut polled, Some(&at_once)) {
        Ok(_) => polled.iter().filter(|stream| stream.revents().contains(PollFlags::NVAL)).count(),
        Err(_) => streams.iter().filter(|stream| fcntl_getfd(stream).is_err()).count(),
    };
    for _ in 0..closed {
        // The lowest number that is free is taken, and stays so, for programs that are started from here as well.
        if let Ok(nothing) = open("/dev/null", OFlags::RDWR, Mode::empty()) {
            let _ = nothing.into_raw_fd();
        }
    }
}
