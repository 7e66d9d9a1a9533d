//! Takes one command, says whether it deletes folders that are neither build output, nor scratch, nor the
//! session's own. Pure. What can't be told from the line (`$DIR`) is not held against anybody.

use super::Deed;
use super::line::{self, Simple};
use crate::evidence::Evidence;
use crate::facts::ordinary::SCRATCH;
use crate::finding::AdvisoryKind;
use crate::session::Original;
use crate::words::base_name;

/// Folders and files that are made again by a command: nobody misses them.
const MADE_AGAIN: &[&str] = &[
    ".DS_Store", ".angular", ".astro", ".build", ".bundle", ".cache", ".coverage", ".dart_tool",
    ".docusaurus", ".eggs", ".eslintcache", ".expo", ".gradle", ".hypothesis", ".ipynb_checkpoints",
    ".mypy_cache", ".next", ".nox", ".nuxt", ".nyc_output", ".output", ".parcel-cache", ".pnpm-store",
    ".pytest_cache", ".ruff_cache", ".serverless", ".svelte-kit", ".terraform", ".tox", ".tsbuildinfo",
    ".turbo", ".venv", ".vercel", ".vite", ".wrangler", "DerivedData", "Pods", "__pycache__", "_build",
    "_site", "artifacts", "bin", "bower_components", "build", "cache", "caches", "coverage", "debug", "deps",
    "dist", "env", "htmlcov", "logs", "node_modules", "obj", "out", "output", "outputs", "playwright-report",
    "release", "results", "scratch", "site-packages", "storybook-static", "target", "temp", "test-results",
    "tmp", "vendor", "venv", "virtualenv",
];

/// Endings of what is made again, or not meant to stay.
const LEFTOVERS: &[&str] = &[
    ".bak", ".class", ".egg-info", ".log", ".o", ".orig", ".pid", ".pyc", ".pyo", ".swp", ".tmp", ".tgz",
    ".tsbuildinfo", "-cache", "_cache", ".whl", "~",
];

/// Programs that make folders, by the words that tell.
const MAKERS: &[&str] = &[
    "add", "clone", "cp", "create", "export", "extract", "generate", "init", "install", "mkdir", "mktemp",
    "mv", "new", "rsync", "scaffold", "tar", "unzip", "venv",
];

/// Whether a path is in a folder for what is not meant to stay.
pub(super) fn is_scratch(path: &str) -> bool {
    let with_end = format!("{}/", path.trim_end_matches('/'));
    SCRATCH.iter().any(|folder| with_end.starts_with(folder) || with_end.starts_with(&folder[1..]))
        || with_end.contains("/scratchpad/")
        || ["$TMP", "${TMP", "$tmp", "${tmp", "%TEMP%", "$env:TEMP", "$(mktemp"]
            .iter()
            .any(|v| path.starts_with(v))
}

/// What the command deletes that it should not, if it does.
pub(super) fn deed(command: &Simple, folder: &str, at: usize, evidence: &Evidence) -> Option<Deed> {
    let targets = match base_name(command.program()) {
        "rm" if is_recursive(command) => operands(command),
        "xargs" | "parallel" => return None,
        "rimraf" | "del-cli" => operands(command),
        "npx" if command.words.get(1).is_some_and(|w| w == "rimraf") => operands(command).split_off(1),
        "Remove-Item" | "ri" if command.arguments().any(|w| w.eq_ignore_ascii_case("-recurse")) => {
            operands(command)
        }
        "find" => found(command)?,
        _ => return None,
    };
    let lost = targets
        .into_iter()
        .find(|target| !is_nothing_lost(target, folder) && !is_own(target, at, evidence))?;
    Some(Deed::of(AdvisoryKind::RecursiveDelete, command, lost))
}

fn is_recursive(command: &Simple) -> bool {
    command.has_short('r') || command.has_short('R') || command.has("--recursive")
}

fn operands(command: &Simple) -> Vec<String> {
    let is_redirection = |word: &&str| !word.contains('>');
    command
        .arguments()
        .filter(|word| !word.starts_with('-'))
        .filter(is_redirection)
        .map(String::from)
        .collect()
}

/// What `find … -delete` and `find … -exec rm -r` delete: the names that they look for, else where they look.
fn found(command: &Simple) -> Option<Vec<String>> {
    let removes = command.has("-delete")
        || (command.arguments().any(|w| w == "-exec" || w == "-execdir")
            && command.has("rm")
            && is_recursive(command));
    if !removes {
        return None;
    }
    let words: Vec<&str> = command.arguments().collect();
    let names: Vec<String> = words
        .windows(2)
        .filter(|pair| matches!(pair[0], "-name" | "-iname" | "-path"))
        .map(|pair| pair[1].trim_matches('*').to_owned())
        .collect();
    let starts: Vec<&str> = words.iter().copied().take_while(|word| !word.starts_with('-')).collect();
    if starts.iter().any(|start| is_scratch(start) || is_made_again(start)) {
        return None;
    }
    // An old or an empty thing is looked for to be tidied away.
    if command.has("-empty") {
        return None;
    }
    Some(if names.is_empty() { starts.into_iter().map(String::from).collect() } else { names })
}

fn is_made_again(path: &str) -> bool {
    path.split('/').any(|part| {
        let part = part.trim_matches(['*', '"', '\'']);
        MADE_AGAIN.contains(&part)
            || LEFTOVERS.iter().any(|end| part.ends_with(end))
            || is_named_scratch(part)
    })
}

/// `test-tmp`, `tmp_build`, `demo-output`: folders that say what they are.
fn is_named_scratch(part: &str) -> bool {
    part.split(['-', '_', '.']).any(|word| {
        matches!(
            word.to_lowercase().as_str(),
            "tmp"
                | "temp"
                | "cache"
                | "scratch"
                | "backup"
                | "bak"
                | "old"
                | "demo"
                | "sandbox"
                | "playground"
        )
    })
}

/// Whether nothing is lost with it, or nothing can be told of it.
fn is_nothing_lost(target: &str, folder: &str) -> bool {
    let is_relative = !target.starts_with(['/', '~', '$']);
    target.is_empty()
        || is_scratch(target)
        || (is_relative && (is_scratch(folder) || is_made_again(folder)))
        || is_made_again(target)
        || (target.contains('$') && !target.starts_with("$HOME") && !target.starts_with("${HOME"))
}

/// Whether the session made it itself: a file written there that was not there before, or a command that makes
/// things and names it.
fn is_own(target: &str, at: usize, evidence: &Evidence) -> bool {
    let target = target.trim_start_matches("./").trim_end_matches(['/', '*']);
    if target.is_empty() || target == "." {
        return false;
    }
    let name = base_name(target);
    let session = &evidence.session;
    let wrote_into = session.done_touches().filter(|touch| touch.original == Original::Absent).any(|touch| {
        let padded = format!("/{}/", touch.path.trim_start_matches('/'));
        padded.contains(&format!("/{}/", target.trim_start_matches('/')))
    });
    let made = || {
        session.commands.iter().filter(|c| c.at < at && c.may_have_effects() && c.line.contains(name)).any(
            |c| {
                line::read(&c.line).iter().any(|simple| {
                    let makes = simple.words.iter().take(4).any(|word| {
                        let word = base_name(word);
                        MAKERS.contains(&word) || word.starts_with("create-")
                    });
                    makes && simple.words.iter().any(|word| word.split('/').any(|part| part == name))
                })
            },
        )
    };
    wrote_into || made()
}
