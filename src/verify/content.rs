//! A text that was promised for a file and is called missing from it. Pure. The look has searched the whole
//! file on disk, so that what the auditor saw of it does not matter; where the whole could not be searched,
//! nothing is confirmed.

use super::case::Case;
use super::forms::{is_hidden, needle_of};
use super::names::{line_names, same_path};
use super::{Judged, Look, elsewhere, files, over, reason, work};
use crate::claims;
use crate::evidence::FileState;
use crate::facts::promises::promises;
use crate::plan::{Plan, Step};
use crate::session::shell;
use crate::words::{base_name, has_words, normalised, padded};

pub(super) fn judge(case: &Case<'_>) -> Judged {
    let Some(look) = case.look else { return Judged::cannot_verify("it names no file to look into") };
    match &look.state {
        FileState::Missing { elsewhere: Some(_) } if look.holds_needle.is_some() => {}
        FileState::Missing { .. } | FileState::Outside | FileState::Unreadable(_) => {
            return files::judge(case);
        }
        FileState::File { .. } | FileState::Folder => {}
    }
    let needle = needle_of(&case.proposal.needle);
    if needle.is_empty() {
        return Judged::cannot_verify("it names no text to look for");
    }
    match look.holds_needle {
        Some(true) => Judged::refuted(format!("the file holds `{}`", work::short(needle))),
        None if is_hidden(needle) => {
            Judged::cannot_verify("a part of that text is hidden: it can't be looked for")
        }
        None => Judged::cannot_verify("file was cut, or can't be read as text"),
        Some(false) => not_held(case, look, needle),
    }
}

fn not_held(case: &Case<'_>, look: &Look, needle: &str) -> Judged {
    if elsewhere::worked_there(case) {
        return Judged::cannot_verify(reason::REMOTE);
    }
    let sources = sources(case, needle);
    if !sources.iter().any(|text| is_promised_text(needle, text)) {
        return Judged::cannot_verify("nobody promised that exact text");
    }
    if !is_meant_for(case, &look.name, &sources) {
        return Judged::cannot_verify("nobody said that it would stand in that file");
    }
    if look.other_form.is_some() {
        return Judged::cannot_verify(reason::ANOTHER_FORM);
    }
    if let Some(there) = work::changed_in_a_copy(case.evidence, &look.name) {
        return Judged::cannot_verify(format!("the session worked on it at {there}"));
    }
    if was_renamed(case, needle) {
        return Judged::cannot_verify("the session wrote it, and took it out or renamed it later");
    }
    Judged::confirmed(format!("the file does not hold `{}`", work::short(needle)))
}

/// The texts that may promise a needle: the quoted step with what it stands under, and the sentences of the
/// final message that claim something. What other steps name is promised elsewhere.
fn sources(case: &Case<'_>, needle: &str) -> Vec<String> {
    let mut sources = Vec::new();
    if let Some(step) = case.step {
        let mut text = step.text.clone();
        // What the item says in further lines is known by the names in it.
        for symbol in step
            .symbols
            .iter()
            .filter(|symbol| !text.contains(*symbol) && needle.contains(*symbol))
            .collect::<Vec<_>>()
        {
            text.push_str(&format!(" `{symbol}` `{needle}`"));
        }
        sources.push(text);
    }
    let message = case.message();
    let is_over = over::says_plan_is_over(case.evidence, None);
    let claimed = claims::sentences(message).into_iter();
    let listed = claims::all_sentences(message).filter(|sentence| is_over && !over::is_to_come(sentence));
    sources.extend(claimed.chain(listed).map(str::to_owned));
    sources
}

/// Whether this very text is promised: it stands there, is a name or is set off by quotes, and what is said of
/// it is that it will be there. "Add installation notes" does not promise the word.
fn is_promised_text(needle: &str, text: &str) -> bool {
    let is_prose = needle.chars().all(|c| c.is_lowercase() || c.is_whitespace() || ",.".contains(c));
    let quoted = [('`', '`'), ('"', '"'), ('\'', '\''), ('“', '”'), ('‘', '’')];
    let is_set_off = quoted.iter().any(|(open, close)| text.contains(&format!("{open}{needle}{close}")));
    let stands_whole = line_names(text, needle) || is_set_off;
    // Asked as of a file: what is removed, read or replaced is no more promised than one.
    let as_file = text.replacen(needle, "needle.rs", 1);
    let is_promised = || promises(&as_file, "needle.rs");
    // "With" speaks of a tool, unless what follows is called a part of the work.
    let is_part =
        || is_called_a_part(needle, text) && promises(&as_file.replace(" with ", " and "), "needle.rs");
    stands_whole && (!is_prose || is_set_off) && (is_promised() || is_part() || is_new_name(needle, text))
}

/// What a text in a file can be called.
const PARTS: &[&str] = &[
    "class", "column", "command", "component", "constant", "endpoint", "enum", "field", "flag", "function",
    "heading", "helper", "hook", "interface", "key", "method", "option", "property", "route", "section",
    "struct", "subcommand", "trait", "type", "variable",
];

/// Whether the word before or behind a needle calls it a part of something: "a function `parse`".
fn is_called_a_part(needle: &str, text: &str) -> bool {
    let Some(at) = text.find(needle) else { return false };
    let (before, after) = (normalised(&text[..at]), normalised(&text[at + needle.len()..]));
    let beside = [before.rsplit(' ').next(), after.split(' ').next()];
    beside.into_iter().flatten().any(|word| PARTS.contains(&word))
}

/// Whether the text is what something else is turned into: "rename `a` to `b`".
fn is_new_name(needle: &str, text: &str) -> bool {
    let Some(at) = text.find(needle) else { return false };
    let before = normalised(&text[..at]);
    let last = before.rsplit(' ').next().unwrap_or_default();
    let turns = ["rename", "renamed", "replace", "replaced", "change", "changed", "convert", "switch"];
    let denies = ["not", "don", "never", "no", "instead"];
    let before = padded(&before);
    let has = |word: &&str| has_words(&before, word);
    matches!(last, "to" | "with" | "by" | "into" | "as") && turns.iter().any(has) && !denies.iter().any(has)
}

/// Whether the text was to stand in that file: the step names the file, or what it is under does, or no other;
/// or a sentence of the final message does.
fn is_meant_for(case: &Case<'_>, name: &str, sources: &[String]) -> bool {
    let file = base_name(name);
    let names_it = |step: &Step| {
        line_names(&step.text, file)
            || step.section.as_deref().is_some_and(|section| line_names(section, file))
            || step.paths.iter().any(|path| same_path(base_name(path), file))
    };
    let above = case.plan().zip(case.step).map(|(plan, step)| steps_above(plan, step)).unwrap_or_default();
    case.step.is_some_and(names_it)
        || above.into_iter().any(names_it)
        || sources.iter().skip(usize::from(case.step.is_some())).any(|sentence| line_names(sentence, file))
}

/// The items that a step is nested in.
fn steps_above<'a>(plan: &'a Plan, step: &Step) -> Vec<&'a Step> {
    let mut depth = step.depth;
    let mut above = Vec::new();
    for other in plan.steps.iter().rev().skip_while(|other| other.number >= step.number) {
        if other.depth < depth {
            depth = other.depth;
            above.push(other);
        }
    }
    above
}

/// Whether the session had it and changed its name: by an edit that takes it out, or by a program that rewrites
/// files.
fn was_renamed(case: &Case<'_>, needle: &str) -> bool {
    let mut changes = case.session().done_touches().filter_map(|touch| touch.change.as_ref());
    let by_edit = changes.any(|change| change.old.contains(needle) && !change.new.contains(needle));
    let by_program = || {
        work::effects(case.session()).filter(|command| command.line.contains(needle)).any(|command| {
            let rewrites = |program: &str| {
                matches!(program, "sed" | "perl" | "python" | "python3" | "node" | "ruby" | "sd")
            };
            shell::simple_commands(&command.line)
                .iter()
                .any(|words| words.first().is_some_and(|program| rewrites(base_name(program))))
        })
    };
    by_edit || by_program()
}
