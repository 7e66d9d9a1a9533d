//! A ticked item names a command that failed when it was run last.

use super::{Ticked, fact};
use crate::evidence::Evidence;
use crate::finding::{Finding, Kind};
use crate::session::{Command, CommandEnd};
use crate::shell;
use crate::shell::hides_exit_code;
use crate::text::normalise::normalised;

/// Returns the commands that failed.
pub(super) fn findings(evidence: &Evidence, ticked: &[Ticked]) -> Vec<Finding> {
    let mut findings: Vec<Finding> = Vec::new();
    for item in ticked {
        for named in item.text.split('`').skip(1).step_by(2).filter(|named| named.trim().contains(' ')) {
            let Some(last) = last_run(&evidence.session.commands, named) else { continue };
            let CommandEnd::Failed(code) = last.end else { continue };
            let code = code.map(|code| format!(" with exit code {code}")).unwrap_or_default();
            let why = format!("It is ticked, and `{}` failed{code} when it was run last.", named.trim());
            let settle = "Make the command succeed, or take the tick back.";
            let proof = last.output.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default();
            findings.push(fact(item, Kind::Failed, None, proof.trim(), why, settle));
        }
    }
    findings
}

/// The newest run of a command, if every later check of its kind is that run: the same tests may have passed under another
/// name since.
fn last_run<'a>(commands: &'a [Command], named: &str) -> Option<&'a Command> {
    let wanted = normalised(named);
    let runs = |command: &&Command| {
        shell::simple_commands(&command.line).iter().any(|words| normalised(&words.join(" ")) == wanted)
    };
    let last = commands.iter().rfind(runs).filter(|last| !hides_exit_code(&last.line))?;
    let check = shell::check(&last.line);
    let passed_since = commands.iter().any(|command| {
        command.at >= last.at
            && command.end != last.end
            && command.end == CommandEnd::Succeeded
            && check.is_some()
            && shell::check(&command.line) == check
    });
    (!passed_since).then_some(last)
}
