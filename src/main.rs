//! The exit code boundary, nothing else.

use std::process::ExitCode;

fn main() -> ExitCode {
    punchlist::commands::run(std::env::args_os()).into()
}
