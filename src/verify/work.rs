//! What the session did: takes a file, a step or an ask, says how it was worked on, if it was. Pure. Read
//! generously: whoever says that nothing was done has to show it.

use std::cell::LazyCell;

use super::names::{self, line_names};
use super::tables::ROOM_FOR_ALL;
use super::topics::{alike, meaning, share};
use crate::evidence::{Evidence, FileEvidence};
use crate::facts::ordinary::COVERED;
use crate::facts::steps::written_as;
use crate::facts::whose::Names;
use crate::plan::{Plan, Step, StepKind};
use crate::session::{Command, CommandEnd, Outcome, Session, shell};
use crate::words::{base_name, has_any_words, normalised, padded};

/// The file of that name, however its letters are written.
pub(super) fn file<'a>(evidence: &'a Evidence, name: &str) -> Option<&'a FileEvidence> {
    let alike = || evidence.files.iter().find(|file| names::same_path(&file.name, name));
    evidence.file(name).or_else(alike)
}

/// Whether the session changed the file of that name.
pub(super) fn changed(evidence: &Evidence, name: &str) -> bool {
    file(evidence, name).is_some_and(FileEvidence::was_changed)
}

/// Another place where the session changed a file of the same name: a worktree, a copy of the repository.
pub(super) fn changed_in_a_copy<'a>(evidence: &'a Evidence, name: &str) -> Option<&'a str> {
    let tail = format!("/{}", name.trim_start_matches("./"));
    let changed = evidence.files.iter().filter(|file| file.was_changed()).map(|file| file.name.as_str());
    changed.filter(|other| *other != name).find(|other| other.ends_with(&tail))
}

/// How the session worked on a file, if it did.
pub(super) fn on_file(evidence: &Evidence, name: &str) -> Option<String> {
    if changed(evidence, name) {
        return Some("the session did touch it".into());
    }
    if let Some(there) = changed_in_a_copy(evidence, name) {
        return Some(format!("the session did touch it, at {there}"));
    }
    let by_command = effects(&evidence.session).any(|command| line_names(&command.line, base_name(name)));
    if by_command {
        return Some("a command of the session worked on it".into());
    }
    let forgotten = &evidence.session.forgotten;
    (forgotten.commands || forgotten.files).then(not_whole)
}

fn not_whole() -> String {
    "the session is too long to be kept whole: what was done early can't be told".into()
}

/// How the session worked on a file after a point in it, if it did.
pub(super) fn on_file_after(evidence: &Evidence, name: &str, at: usize) -> Option<String> {
    let session = &evidence.session;
    if session.forgotten.until > at {
        return Some(not_whole());
    }
    let mut touches = session.done_touches().filter(|touch| touch.at > at);
    if touches.any(|touch| written_as(&touch.path, name) || names::same_path(&touch.path, name)) {
        return Some("the session did touch it".into());
    }
    let mut commands = effects(session).filter(|command| command.at > at);
    commands
        .any(|command| line_names(&command.line, base_name(name)))
        .then(|| "a command of the session worked on it".into())
}

/// Commands that may have changed something.
pub(super) fn effects(session: &Session) -> impl Iterator<Item = &Command> {
    session.commands.iter().filter(|command| command.may_have_effects())
}

/// How the session worked on a step, if it did: on its files, on parts of it, on what it names, by the command
/// that it names, by a subagent or in a commit that speaks of it.
pub(super) fn on_step(evidence: &Evidence, plan: &Plan, step: &Step) -> Option<String> {
    let session = &evidence.session;
    let files = evidence.files.iter().filter(|file| file.steps.contains(&step.number));
    // A file that was changed for another step only is no trace of this one.
    let names = LazyCell::new(|| Names::of(plan));
    let is_its_own = |file: &FileEvidence| file.steps.len() < 2 || names.may_be_for(step, file);
    let files = files.filter(|file| !file.was_changed() || is_its_own(file));
    if let Some(how) = files.map(|file| file.name.as_str()).find_map(|name| on_file(evidence, name)) {
        return Some(how);
    }
    if let Some(file) = step.symbols.iter().find_map(|symbol| definer(evidence, symbol)) {
        return Some(format!("the session wrote what the step names, in {file}"));
    }
    if let Some(command) = session.commands.iter().find(|command| runs_what_is_named(command, &step.text)) {
        return Some(format!("the session ran `{}`", short(&command.line)));
    }
    if let Some(part) = parts(plan, step).find(|part| on_step(evidence, plan, part).is_some()) {
        return Some(format!("the session worked on a part of it, step {}", part.number));
    }
    let about_it = |text: &str| alike(text, &step.text);
    if let Some(file) = changed_for(evidence, plan, step) {
        return Some(format!("the session changed {file}, which is called like it"));
    }
    let handed = session.delegations.iter().filter(|handed| !matches!(handed.outcome, Outcome::Failed(_)));
    if handed.into_iter().any(|handed| about_it(&handed.description)) {
        return Some("a subagent was sent to do it".into());
    }
    let mut messages = effects(session).flat_map(|command| commit_messages(&command.line));
    messages.any(|message| about_it(&message)).then(|| "a commit of the session speaks of it".into())
}

/// The steps below a step: items nested in it, or under it as a heading.
fn parts<'a>(plan: &'a Plan, step: &'a Step) -> impl Iterator<Item = &'a Step> {
    let after = plan.steps.iter().skip_while(move |other| other.number <= step.number);
    after.take_while(move |other| match step.kind {
        StepKind::Heading => other.kind != StepKind::Heading,
        _ => other.depth > step.depth,
    })
}

/// A file of the session that defines a thing of that name.
pub(super) fn definer<'a>(evidence: &'a Evidence, symbol: &str) -> Option<&'a str> {
    let mut changed = evidence.files.iter().filter(|file| file.was_changed());
    changed.find(|file| names::defines(&file.text, symbol)).map(|file| file.name.as_str())
}

/// Whether a command is what a text names in backticks ("run `cargo test`"), or a check that it speaks of.
fn runs_what_is_named(command: &Command, text: &str) -> bool {
    if matches!(command.end, CommandEnd::Unanswered) {
        return false;
    }
    let squeezed = |text: &str| padded(&text.split_whitespace().collect::<Vec<_>>().join(" "));
    let line = squeezed(&command.line);
    let mut spans = text.split('`').skip(1).step_by(2).filter(|span| span.contains(' '));
    let is_named = spans.any(|span| line.contains(&squeezed(span)));
    let words = padded(&normalised(text));
    let says = |names: &[&str]| has_any_words(&words, names);
    let is_spoken_of = says(&["run", "rerun", "execute", "verify", "pass", "check"])
        && match shell::check(&command.line) {
            Some(shell::Check::Tests) => says(&["test", "tests", "suite"]),
            Some(shell::Check::Lint) => says(&["lint", "linter", "clippy", "eslint"]),
            Some(shell::Check::Build) => says(&["build", "compile"]),
            Some(shell::Check::Types) => says(&["types", "typecheck", "mypy", "tsc"]),
            Some(shell::Check::Format) => says(&["format", "formatting", "fmt"]),
            None => false,
        };
    is_named || is_spoken_of
}

/// A changed file whose name says what a text speaks of: `user_profile.rs` for "the user profile page". A
/// folder's name counts with it, unless all the source stands in it.
pub(super) fn changed_about<'a>(evidence: &'a Evidence, text: &str) -> Option<&'a str> {
    let mut changed = evidence.files.iter().filter(|file| file.was_changed());
    changed.find(|file| is_called_like(&file.name, text)).map(|file| file.name.as_str())
}

/// A changed file that is called like a step. What another step names, or is called like as well, was changed for that.
fn changed_for<'a>(evidence: &'a Evidence, plan: &Plan, step: &Step) -> Option<&'a str> {
    let is_of_another = |file: &FileEvidence| {
        let mut others = plan.promised().filter(|other| other.number != step.number);
        let is_named = !file.steps.is_empty() && !file.steps.contains(&step.number);
        is_named || others.any(|other| is_called_like(&file.name, &other.text))
    };
    let mut changed = evidence.files.iter().filter(|file| file.was_changed() && !is_of_another(file));
    changed.find(|file| is_called_like(&file.name, &step.text)).map(|file| file.name.as_str())
}

/// Whether all words of a file's name stand in a text.
pub(super) fn is_called_like(name: &str, text: &str) -> bool {
    let called = meaning(names::stem(name));
    let is_telling =
        called.iter().any(|word| word.chars().count() > 2 && !ROOM_FOR_ALL.contains(&word.as_str()));
    is_telling && share(&called, &meaning(text)) >= 1.0
}

/// What a line says in its commits.
fn commit_messages(line: &str) -> Vec<String> {
    let commits = shell::simple_commands(line);
    let commits = commits.into_iter().filter(|words| words.iter().any(|word| word == "commit"));
    commits
        .filter_map(|words| {
            let at = words.iter().position(|word| word == "-m" || word == "-am" || word == "--message")?;
            words.get(at + 1).cloned()
        })
        .collect()
}

/// Whether what a text means stands, for the most part, in what a command says or does.
pub(super) fn is_about(command: &Command, text: &str) -> bool {
    let wanted = meaning(text);
    wanted.len() > 1 && share(&wanted, &meaning(&command.line)) >= COVERED
}

/// The start of a line, for a reason.
pub(super) fn short(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(80).collect()
}
