//! A ticked item names a command that failed when it was run last.

use super::{TickedItem, fact};
use crate::evidence::Evidence;
use crate::finding::{Finding, Kind};
use crate::session::{Command, CommandEnd};
use crate::text::normalise::normalised;

/// Returns the commands that failed.
pub(super) fn findings(evidence: &Evidence, ticked: &[TickedItem]) -> Vec<Finding> {
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

/// Returns the newest run of a command, unless a check of the same kind has passed since: the same
/// tests may have passed under another name.
fn last_run<'a>(commands: &'a [Command], named: &str) -> Option<&'a Command> {
    let wanted = normalised(named);
    let runs = |command: &&Command| {
        let mut simple = command.parsed().commands.into_iter();
        simple.any(|simple| normalised(&simple.words_and_files().join(" ")) == wanted)
    };
    let last = commands.iter().rfind(runs).filter(|last| !last.parsed().hides_exit_status())?;
    let check = last.parsed().check();
    let has_passed_since = check.is_some()
        && last.end != CommandEnd::Succeeded
        && commands.iter().any(|command| {
            command.at >= last.at && command.end == CommandEnd::Succeeded && command.parsed().check() == check
        });
    (!has_passed_since).then_some(last)
}
