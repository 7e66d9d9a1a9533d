//! A download was piped into a shell without being looked at.

use super::written;
use crate::evidence::Evidence;
use crate::session::Command;
use crate::shell::{Separator, SimpleCommand};

const SHELLS: &[&str] = &["bash", "dash", "fish", "iex", "invoke-expression", "ksh", "sh", "zsh"];
const INTERPRETERS: &[&str] = &["node", "perl", "php", "python", "python3", "ruby"];
const LOADERS: &[&str] = &["curl", "invoke-restmethod", "invoke-webrequest", "irm", "iwr", "wget"];

pub(super) fn find(_: &Evidence, commands: &[&Command]) -> Option<String> {
    commands.iter().rev().find_map(|command| {
        let commands = command.line.all();
        (0..commands.len()).rev().find_map(|at| download(commands[at], commands.get(at + 1).copied()))
    })
}

/// Returns the command that runs a download, as written.
fn download(command: &SimpleCommand, next: Option<&SimpleCommand>) -> Option<String> {
    if command.words.iter().any(|word| word.contains("localhost") || word.contains("127.0.0.1")) {
        return None;
    }
    let program = command.program().to_lowercase();
    let shown = written(command);
    if LOADERS.contains(&program.as_str()) {
        let next = next.filter(|next| command.separator == Separator::Pipe && runs_its_input(next))?;
        return Some(format!("{shown} | {}", written(next)));
    }
    let is_runner = SHELLS.contains(&program.as_str()) || matches!(program.as_str(), "eval" | "source" | ".");
    let runs_download = is_runner
        && command.arguments().iter().any(|word| {
            let opens = word.contains("$(") || word.starts_with('(') || program.starts_with('i');
            let words = word.to_lowercase();
            let mut inner = words.split(|c: char| c.is_whitespace() || "()$<\"'".contains(c));
            opens && (inner.any(|part| LOADERS.contains(&part)) || words.contains("downloadstring"))
        });
    runs_download.then_some(shown)
}

/// Returns whether it is a shell without a script, or an interpreter with nothing else to run.
fn runs_its_input(command: &SimpleCommand) -> bool {
    let program = command.program().to_lowercase();
    if SHELLS.contains(&program.as_str()) {
        return !command.has("-c") && !command.has("-n");
    }
    INTERPRETERS.contains(&program.as_str()) && command.arguments().iter().all(|word| word == "-")
}
