//! What a stop comes to when the system fails it: every single system call that fails (`calls`),
//! and many sessions at once and for long on one state folder (`load`). A few of each in every run
//! of the tests; all of them with `PUNCHLIST_FAULTS=all cargo test --test faults -- --nocapture
//! --test-threads 1`.
#![cfg(target_os = "linux")]

#[path = "../support/processes.rs"]
#[expect(dead_code, reason = "shared with the tests of the program, which need more of it")]
mod processes;
#[path = "../program/test_project.rs"]
#[expect(dead_code, reason = "shared with the tests of the program, which need more of it")]
mod test_project;
#[path = "../program/transcript.rs"]
#[expect(dead_code, reason = "shared with the tests of the program, which need more of it")]
mod transcript;

mod calls;
mod load;
mod state_folder;

/// Whether everything is wanted, and not only what every run of the tests has time for.
fn is_whole() -> bool {
    std::env::var_os("PUNCHLIST_FAULTS").is_some_and(|value| value == "all")
}
