//! `punchlist completions`: takes a shell's name, prints what completes our commands there.

use clap::CommandFactory;
use clap_complete::Shell;

use super::say::say;
use crate::cli::Cli;
use crate::exit;

pub fn run(shell: Shell) -> u8 {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "punchlist", &mut script);
    say(&String::from_utf8_lossy(&script), exit::OK)
}
