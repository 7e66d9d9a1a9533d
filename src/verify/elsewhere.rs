//! Work that this disk can't witness: takes the session's commands, says whether it plausibly did the thing on
//! another machine, in a container or at a service. Pure. Read generously: what may be there is not missing.

use super::case::Case;
use super::names::{line_names, stem};
use super::topics::meaning;
use crate::session::{CommandEnd, shell};
use crate::words::base_name;

/// More programs whose effects are elsewhere.
const MORE_REMOTE: &[&str] = &[
    "adb", "cf", "doctl", "eksctl", "gh", "glab", "gsutil", "lxc", "mosh", "multipass", "nomad", "oc",
    "pulumi", "rclone", "s3cmd", "skaffold", "supabase", "vagrant", "wsl",
];

/// Words for places that are not here.
const PLACES: &[&str] = &[
    "box", "bucket", "cluster", "container", "deploy", "deployed", "deployment", "host", "issue", "pod",
    "prod", "production", "release", "remote", "server", "staging", "upload", "uploaded", "vm",
];

/// Programs that work elsewhere only with one of these on their line: a download changes nothing there.
const SENDERS: &[(&str, &[&str])] = &[
    ("curl", &["-X", "-d", "--data", "-T", "-F", "--upload-file", "--request"]),
    ("psql", &["-h", "--host"]),
    ("mysql", &["-h", "--host"]),
];

/// Whether a line works elsewhere.
pub(super) fn works_elsewhere(line: &str) -> bool {
    let is_remote = |words: &Vec<String>| {
        let is_program = |word: &&String| !word.contains('=') && word.as_str() != "sudo";
        let Some(program) = words.iter().find(is_program).map(|word| base_name(word)) else { return false };
        let sends = |(name, signs): &(&str, &[&str])| {
            *name == program && words.iter().any(|word| signs.iter().any(|sign| word.starts_with(sign)))
        };
        MORE_REMOTE.contains(&program) || SENDERS.iter().any(sends)
    };
    shell::works_elsewhere(line) || shell::simple_commands(line).iter().any(is_remote)
}

/// Whether the session worked elsewhere on what a finding is about: on a file of that name or of its stem, on
/// a path or a host that the words name, or, where the words speak of a place that is not here, at all.
pub(super) fn worked_there(case: &Case<'_>) -> bool {
    let mut lines = case
        .session()
        .commands
        .iter()
        .filter(|command| command.end != CommandEnd::Unanswered && works_elsewhere(&command.line))
        .map(|command| command.line.as_str());
    let file = case.file_name();
    let called = stem(file);
    let text = case.step.map_or(case.proposal.quote.as_str(), |step| step.text.as_str());
    let words = meaning(text);
    let speaks_of_a_place = meaning(&PLACES.join(" ")).intersection(&words).next().is_some();
    let is_telling = |word: &&str| word.len() > 3 && word.contains(['/', '.', '@', ':']);
    let names: Vec<&str> = text
        .split(|c: char| c.is_whitespace() || "`'\",;()".contains(c))
        .map(|word| word.trim_end_matches(['.', ':']))
        .filter(is_telling)
        .collect();
    lines.any(|line| {
        line_names(line, file)
            || (called.len() > 3 && line_names(line, called))
            || names.iter().any(|name| line.contains(name))
            || speaks_of_a_place
            || meaning(line).intersection(&words).count() > 1
    })
}
