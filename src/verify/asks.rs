//! ask: the person asked for it on the way, and it was never done. Did they say it, does it want work, did they
//! not take it back, and did really nothing happen for it? Pure.

use super::case::Case;
use super::names::line_names;
use super::quotes::stands_in;
use super::topics::alike;
use super::{Judged, elsewhere, reason, work};
use crate::facts::claims;
use crate::facts::ordinary::TALK;
use crate::facts::promises::promises;
use crate::plan::mentions::mentions;
use crate::session::{Ask, shell};
use crate::words::{base_name, normalised};

pub(super) fn judge(case: &Case<'_>) -> Judged {
    let (session, quote) = (case.session(), case.proposal.quote.as_str());
    let Some(ask) = session.asks.iter().rev().find(|ask| stands_in(quote, &ask.text)) else {
        return Judged::cannot_verify("quote not found in what the person asked");
    };
    if is_question(quote, ask) {
        return Judged::cannot_verify("it is a question: an answer is no work that could be seen");
    }
    if normalised(quote).split(' ').next().is_some_and(|word| TALK.contains(&word)) {
        return Judged::cannot_verify("words can answer it");
    }
    if was_taken_back(case, ask) {
        return Judged::refuted("the person took it back");
    }
    if let Some(how) = case.look.and_then(|look| work::on_file(case.evidence, &look.name)) {
        return Judged::refuted(how);
    }
    if let Some(how) = worked_on(case, ask) {
        return Judged::refuted(how);
    }
    if elsewhere::worked_there(case) {
        return Judged::cannot_verify(reason::REMOTE);
    }
    let speaks_of_it = |sentence: &str| alike(sentence, quote) || line_names(sentence, case.file_name());
    if claims::admits(case.message(), speaks_of_it) {
        return Judged::cannot_verify(reason::ADMITTED);
    }
    if claims::sentences(case.message())
        .into_iter()
        .any(|sentence| case.look.is_none() && speaks_of_it(sentence))
    {
        return Judged::cannot_verify("the final message says that it was done; nothing here shows it");
    }
    judge_by_what_came_after(case, ask)
}

fn judge_by_what_came_after(case: &Case<'_>, ask: &Ask) -> Judged {
    let session = case.session();
    let worked_after = session.done_touches().any(|touch| touch.at > ask.at)
        || work::effects(session).any(|command| command.at > ask.at);
    let may_be_changed = work::effects(session)
        .any(|command| command.at > ask.at && shell::may_change_anything(&command.line));
    match (worked_after, case.look) {
        // A look may be all that was asked for, and what other servers' tools do can't be seen here.
        (false, _) if session.last_call > ask.at => {
            Judged::cannot_verify("tools were used after it; nothing shows whether for this")
        }
        (false, _) => Judged::confirmed("the person asked for it, and nothing was done after it"),
        (true, Some(look)) if is_asked_for(&look.name, &ask.text) && may_be_changed => {
            Judged::cannot_verify("a command of the session may have changed it")
        }
        (true, Some(look)) if is_asked_for(&look.name, &ask.text) => {
            Judged::confirmed("the person asked for it by name, and nothing in the session touched that file")
        }
        (true, _) => Judged::cannot_verify("work was done after it; nothing shows whether it was this"),
    }
}

/// Whether the quoted words end in a question mark, in the quote or where they stand.
fn is_question(quote: &str, ask: &Ask) -> bool {
    let mut sentences = claims::all_sentences(&ask.text);
    quote.trim_end().trim_end_matches(['"', '”', '`']).ends_with('?')
        || sentences.any(|sentence| sentence.ends_with('?') && stands_in(quote, sentence))
}

/// Words with which a person takes back what they said last.
const BACK: &[&str] = &[
    "actually don t", "actually no", "don t", "forget it", "forget that", "ignore that", "never mind",
    "nevermind", "no need", "not needed", "on second thought", "scratch that", "skip it", "skip that",
];

/// Whether a later ask takes this one back: by name, or as the next thing that was said.
fn was_taken_back(case: &Case<'_>, ask: &Ask) -> bool {
    let quote = case.proposal.quote.as_str();
    let mut later = case.session().asks.iter().filter(|other| other.at > ask.at);
    let file = case.file_name();
    let by_name = |other: &Ask| {
        claims::calls_off(&other.text, |sentence| alike(sentence, quote) || line_names(sentence, file))
    };
    let next = later.clone().next().map(|other| normalised(&other.text)).unwrap_or_default();
    BACK.iter().any(|words| next == *words || next.starts_with(&format!("{words} "))) || later.any(by_name)
}

/// How the session worked on an ask after it was made: on a file or a thing that it names, on a file that is
/// called like it, or by a command that speaks of it.
fn worked_on(case: &Case<'_>, ask: &Ask) -> Option<String> {
    let quote = case.proposal.quote.as_str();
    // A file that the finding names and nothing touched is what it is about.
    if case.look.is_some_and(|look| is_asked_for(&look.name, &ask.text)) {
        return None;
    }
    let named = mentions(quote);
    if let Some(how) = named.paths.iter().find_map(|path| work::on_file(case.evidence, path)) {
        return Some(how);
    }
    if let Some(file) = named.symbols.iter().find_map(|symbol| work::definer(case.evidence, symbol)) {
        return Some(format!("the session wrote what it names, in {file}"));
    }
    let is_later = |name: &str| {
        case.session().done_touches().any(|touch| touch.at > ask.at && touch.path.ends_with(name))
    };
    if let Some(file) = work::changed_about(case.evidence, quote).filter(|file| is_later(file)) {
        return Some(format!("the session changed {file}, which is called like it"));
    }
    let mut commands = work::effects(case.session()).filter(|command| command.at > ask.at);
    commands
        .find(|command| work::is_about(command, quote))
        .map(|command| format!("the session ran `{}`", work::short(&command.line)))
}

fn is_asked_for(name: &str, ask: &str) -> bool {
    let file = base_name(name);
    // As it is written there, folders and all, since what stands before it tells what is asked.
    let written =
        ask.split(|c: char| c.is_whitespace() || "`'\",;()".contains(c)).find(|word| word.contains(file));
    written.is_some_and(|written| promises(ask, written.trim_end_matches(['.', ':', '!'])))
}
