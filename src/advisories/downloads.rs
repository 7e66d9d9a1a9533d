//! Takes a command and the one that follows it in its pipe, says whether a download is run in a shell unseen. Pure.

use super::Action;
use super::line::Simple;
use crate::finding::AdvisoryKind;
use crate::text::normalise::base_name;

const SHELLS: &[&str] = &["bash", "dash", "fish", "iex", "invoke-expression", "ksh", "sh", "zsh"];
const INTERPRETERS: &[&str] = &["node", "perl", "php", "python", "python3", "ruby"];
const LOADERS: &[&str] = &["curl", "invoke-restmethod", "invoke-webrequest", "irm", "iwr", "wget"];

pub(super) fn deed(command: &Simple, next: Option<&Simple>) -> Option<Action> {
    let program = base_name(command.program()).to_lowercase();
    let is_loader = LOADERS.contains(&program.as_str());
    if let Some(next) = next.filter(|_| is_loader && command.is_piped_on && !is_near(&command.words))
        && runs_its_input(next)
    {
        let mut whole = command.clone();
        whole.words.push("|".into());
        whole.words.extend(next.words.iter().cloned());
        return Some(Action::of(AdvisoryKind::PipedDownload, &whole));
    }
    let is_runner = SHELLS.contains(&program.as_str()) || matches!(program.as_str(), "eval" | "source" | ".");
    let runs_download = is_runner
        && !is_near(&command.words)
        && command.arguments().any(|word| {
            let opens = word.contains("$(") || word.contains("<(") || program.starts_with('i');
            let words = word.to_lowercase();
            let mut inner = words.split(|c: char| c.is_whitespace() || "()$<\"'".contains(c));
            opens && (inner.any(|part| LOADERS.contains(&part)) || words.contains("downloadstring"))
        });
    runs_download.then(|| Action::of(AdvisoryKind::PipedDownload, command))
}

/// A shell with no script of its own, or an interpreter with nothing else to run.
fn runs_its_input(command: &Simple) -> bool {
    let program = base_name(command.program()).to_lowercase();
    if SHELLS.contains(&program.as_str()) {
        return !command.has("-c") && !command.has("-n");
    }
    INTERPRETERS.contains(&program.as_str()) && command.arguments().all(|word| word == "-")
}

fn is_near(words: &[String]) -> bool {
    words.iter().any(|word| word.contains("localhost") || word.contains("127.0.0.1"))
}
