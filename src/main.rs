//! The exit code boundary, nothing else.
//!
//! On Linux with glibc the C runtime enters here and not in Rust's own start, which makes two dozen system calls first
//! (for a word on a stack that overflows it reads the map of the whole process): a tenth of what the shortest stop takes. What
//! of it matters to us is done by `punchlist::start`.

#![cfg_attr(all(target_os = "linux", target_env = "gnu"), no_main)]

fn run() -> u8 {
    punchlist::commands::run(std::env::args_os())
}

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
fn main() -> std::process::ExitCode {
    run().into()
}

#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[expect(unsafe_code, reason = "the C runtime calls its program by this name, and nothing else here has it")]
#[unsafe(no_mangle)]
extern "C" fn main(_count: std::ffi::c_int, _arguments: *const *const std::ffi::c_char) -> std::ffi::c_int {
    punchlist::start::enter(run).into()
}
