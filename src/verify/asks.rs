//! ask: the person asked for it on the way, and it was never done. Did they say it, does it want work, did they
//! not take it back, and did really nothing happen for it? Pure.

use super::case::Case;
use super::names::line_names;
use super::quotes::stands_in;
use super::topics::alike;
use super::{Judged, elsewhere, reason, work};
use crate::claims;
use crate::facts::ordinary::TALK;
use crate::facts::promises::promises;
use crate::facts::requests;
use crate::facts::steps::written_as;
use crate::facts::wished::{Standing, standing};
use crate::plan::mentions::mentions;
use crate::session::{Ask, shell};
use crate::wishes::wish;
use crate::words::{base_name, normalised};

pub(super) fn judge(case: &Case<'_>) -> Judged {
    let (session, quote) = (case.session(), case.proposal.quote.as_str());
    let Some(ask) = session.asks.iter().rev().find(|ask| stands_in(quote, &ask.text)) else {
        return Judged::cannot_verify("quote not found in what the person asked");
    };
    if is_question(quote, ask) {
        return Judged::cannot_verify("it is a question: an answer is no work that could be seen");
    }
    if is_talk(quote) {
        return Judged::cannot_verify("words can answer it");
    }
    if was_taken_back(case, ask) {
        return Judged::refuted("the person took it back");
    }
    match wished(case) {
        Some(Standing::Done(how)) => return Judged::refuted(how),
        // What else was done to that file does not settle it.
        Some(Standing::Undone(how)) => return undone(case, &how),
        None => {}
    }
    if let Some(how) = case.look.and_then(|look| work::on_file_after(case.evidence, &look.name, ask.at)) {
        return Judged::refuted(how);
    }
    if let Some(how) = worked_on(case, ask) {
        return Judged::refuted(how);
    }
    if elsewhere::worked_there(case) {
        return Judged::cannot_verify(reason::REMOTE);
    }
    if claims::admits(case.message(), |sentence| speaks_of_it(sentence, case)) {
        return Judged::cannot_verify(reason::ADMITTED);
    }
    if claims::sentences(case.message())
        .into_iter()
        .any(|sentence| case.look.is_none() && speaks_of_it(sentence, case))
    {
        return Judged::cannot_verify("the final message says that it was done; nothing here shows it");
    }
    judge_by_what_came_after(case, ask)
}

fn speaks_of_it(sentence: &str, case: &Case<'_>) -> bool {
    alike(sentence, &case.proposal.quote) || line_names(sentence, case.file_name())
}

fn is_talk(quote: &str) -> bool {
    let opens_as_talk = normalised(quote).split(' ').next().is_some_and(|word| TALK.contains(&word));
    opens_as_talk && !requests::writes_down(quote)
}

/// How what the quoted words want of a named thing stands, where they want that.
fn wished(case: &Case<'_>) -> Option<Standing> {
    let mut clauses = requests::clauses(&case.proposal.quote).into_iter();
    let path = case.look.map(|look| look.name.as_str());
    clauses.find_map(|clause| standing(&wish(clause)?, path, case.evidence))
}

fn undone(case: &Case<'_>, how: &str) -> Judged {
    if claims::admits(case.message(), |sentence| speaks_of_it(sentence, case)) {
        return Judged::cannot_verify(reason::ADMITTED);
    }
    Judged::confirmed(format!("the person asked for it, and {how}"))
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
        (false, _) if !requests::asks_for_anything(&case.proposal.quote) => {
            Judged::cannot_verify("nothing in it plainly asks for work")
        }
        (false, _) => Judged::confirmed("the person asked for it, and nothing was done after it"),
        (true, Some(look))
            if is_asked_for(&look.name, &ask.text) && may_be_changed && !is_unchanged(case) =>
        {
            Judged::cannot_verify("a command of the session may have changed it")
        }
        (true, Some(look)) if is_asked_for(&look.name, &ask.text) => {
            Judged::confirmed("the person asked for it by name, and nothing in the session touched that file")
        }
        (true, _) => Judged::cannot_verify("work was done after it; nothing shows whether it was this"),
    }
}

/// Whether git, or the file's own time, tells that nothing has changed it in the session's time.
fn is_unchanged(case: &Case<'_>) -> bool {
    let file = case.look.and_then(|look| work::file(case.evidence, &look.name));
    file.is_some_and(|file| file.signs.is_unchanged())
}

/// Whether the quoted words are a question, in the quote or where they stand. A request may have the form of one.
fn is_question(quote: &str, ask: &Ask) -> bool {
    let mut sentences = claims::all_sentences(&ask.text);
    requests::is_real_question(quote)
        || sentences.any(|sentence| requests::is_real_question(sentence) && stands_in(quote, sentence))
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
    if let Some(how) = named.paths.iter().find_map(|path| work::on_file_after(case.evidence, path, ask.at)) {
        return Some(how);
    }
    let is_later = |name: &str| {
        case.session().done_touches().any(|touch| touch.at > ask.at && written_as(&touch.path, name))
    };
    let mut definers = named.symbols.iter().filter_map(|symbol| work::definer(case.evidence, symbol));
    if let Some(file) = definers.find(|file| is_later(file)) {
        return Some(format!("the session wrote what it names, in {file}"));
    }
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
