//! Takes one command, says whether it deletes folders that are neither build output, nor scratch, nor the
//! session's own. Pure. What can't be told from the line (`$DIR`) is not held against anybody.

use super::Deed;
use super::line::{self, Simple};
use crate::evidence::Evidence;
use crate::facts::ordinary::SCRATCH;
use crate::finding::AdvisoryKind;
use crate::session::{Command, Original};
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
    ".tsbuildinfo", "-cache", "_cache", ".whl",
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

/// Whether the command may delete a folder.
pub(super) fn may_delete(command: &Simple) -> bool {
    matches!(base_name(command.program()), "rm" | "rimraf" | "del-cli" | "npx" | "Remove-Item" | "ri")
        || base_name(command.program()) == "find" && found(command).is_some()
}

/// What the command deletes that it should not, if it does.
pub(super) fn deed(command: &Simple, folder: &str, at: usize, evidence: &Evidence) -> Option<Deed> {
    let targets = match base_name(command.program()) {
        "rm" if is_recursive(command) => operands(command),
        "rimraf" | "del-cli" => operands(command),
        "npx" if command.words.get(1).is_some_and(|w| w == "rimraf") => operands(command).split_off(1),
        "Remove-Item" | "ri" if command.arguments().any(|w| w.eq_ignore_ascii_case("-recurse")) => {
            operands(command)
        }
        "find" => found(command)?,
        _ => return None,
    };
    let lost = targets.into_iter().find(|target| {
        !is_nothing_lost(target, folder)
            && !is_own(target, at, evidence)
            && !is_below_own(target, at, evidence)
    })?;
    Some(Deed::of(AdvisoryKind::RecursiveDelete, command, lost))
}

/// Whether it is a `git clean` that says what it removed, and all of that is the session's own or made again.
pub(super) fn cleaned_only_its_own(simple: &Simple, command: &Command, evidence: &Evidence) -> bool {
    let mut removed = command.output.lines().filter_map(|line| line.strip_prefix("Removing ")).peekable();
    simple.has("clean")
        && removed.peek().is_some()
        && removed.all(|path| is_made_again(path) || is_own(path, command.at, evidence))
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
            "tmp" | "temp" | "cache" | "scratch" | "demo" | "sandbox" | "playground"
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

/// Whether the session made it itself: a file written there that was not there before, or an earlier command that
/// may have made it, since it names it and does more than look.
pub(super) fn is_own(target: &str, at: usize, evidence: &Evidence) -> bool {
    let target = target.trim_start_matches("./").trim_end_matches(['/', '*']);
    // Of a pattern its plain start counts.
    let name = base_name(target).split(['*', '?', '[', '{', '$']).next().unwrap_or_default();
    if name.len() < 3 {
        return false;
    }
    let session = &evidence.session;
    let folder = format!("/{}/", target.trim_start_matches('/'));
    let wrote = session.done_touches().filter(|touch| touch.original == Original::Absent).any(|touch| {
        format!("/{}/", touch.path.trim_start_matches('/')).contains(&folder)
            || base_name(&touch.path).starts_with(name)
    });
    let mut commands =
        session.commands.iter().filter(|command| command.at <= at && command.line.contains(name));
    wrote
        || commands.any(|command| {
            // In the line that deletes it, it was made where something is sent into it.
            let into = |gap: &str| {
                command.line.split(gap).skip(1).any(|rest| {
                    rest.trim_start_matches(['>', ' ', '"', '\''])
                        .split_whitespace()
                        .next()
                        .is_some_and(|word| word.contains(name))
                })
            };
            into(">") || (command.at < at && makes(&command.line, name))
        })
}

/// Whether an earlier command made a folder above it.
fn is_below_own(target: &str, at: usize, evidence: &Evidence) -> bool {
    let earlier = evidence.session.commands.iter().filter(|command| command.at < at);
    let made = earlier.flat_map(|command| line::read(&command.line)).filter(|simple| {
        matches!(base_name(simple.program()), "mkdir" | "mktemp")
            || simple.words.iter().take(3).any(|word| matches!(word.as_str(), "clone" | "worktree"))
    });
    let below = format!("/{}", target.trim_start_matches("./"));
    made.flat_map(|simple| simple.words.into_iter().skip(1)).any(|folder| {
        let folder = folder.trim_start_matches("./").trim_end_matches('/').trim_start_matches('/');
        folder.len() > 2 && !folder.starts_with('-') && below.contains(&format!("/{folder}/"))
    })
}

fn makes(written: &str, name: &str) -> bool {
    line::read(written).iter().any(|simple| {
        let names_it =
            simple.words.iter().any(|word| word.split(['/', '=', ':']).any(|part| part.starts_with(name)));
        let program = base_name(simple.program());
        let looks = matches!(
            program,
            "cat"
                | "cd"
                | "du"
                | "echo"
                | "find"
                | "grep"
                | "head"
                | "ls"
                | "rg"
                | "rm"
                | "stat"
                | "tail"
                | "tree"
                | "wc"
        );
        let is_git_look = program == "git"
            && !simple.words.iter().any(|word| matches!(word.as_str(), "clone" | "worktree" | "init"));
        names_it && !looks && !is_git_look
    })
}
