//! What the person asked for on the way: takes the evidence, gives candidates of asks that nothing was done for, and
//! for each later ask a line on what happened after it. Pure. Questions, answers, approvals and what was taken back
//! ask for nothing. None of the candidates is proven: the auditor has to agree.

use std::cell::LazyCell;
use std::collections::HashMap;

use crate::claims;
use crate::evidence::Evidence;
use crate::facts::alike::{Bag, ByItself, each_stem};
use crate::facts::promises::promises;
use crate::facts::requests::requests;
use crate::facts::steps::written_as;
use crate::facts::wished::{Standing, standing};
use crate::finding::{Category, Finding, Problem, Source, Status};
use crate::plan::mentions;
use crate::session::{Ask, Command, Session, Touch, shell};
use crate::text::counted;
use crate::wishes::wish_again;
use crate::words::{base_name, has_any_words, normalised, padded};

/// So many candidates are worth a look.
const MOST: usize = 3;
/// So many asks are told of, the newest.
const TOLD: usize = 20;
/// So many names are listed.
const NAMES: usize = 4;
/// Up to this share of a request's words may turn up by chance in work that was for something else.
const BY_CHANCE: f32 = 0.34;
/// A request of fewer words that count says too little to be missed, unless it names something.
const LEAST: usize = 3;
/// So much of each text that the session wrote counts.
const TEXT: usize = 8_000;

/// Questions with which a message ends out of courtesy: they ask nothing about the request.
const COURTESY: &[&str] = &[
    "anything else", "else you", "how does", "let me know", "sound good", "what else", "what next",
    "what s next",
];

/// Words with which a person takes everything back.
const TAKEN_BACK: &[&str] = &[
    "cancel that", "forget it", "forget that", "leave it", "never mind", "nevermind", "no need",
    "scratch that", "undo that",
];

/// Words with which the agent answers that there was nothing to do, or that it can't.
const ANSWERED: &[&str] =
    &["already", "can t", "cannot", "not possible", "unable", "no change", "no changes", "instead"];

/// Asks that nothing was done for, as far as the session shows.
pub fn candidates(evidence: &Evidence) -> Vec<Finding> {
    let session = &evidence.session;
    // The session has not come to its end yet.
    let Some(message) = session.final_message.as_deref() else { return Vec::new() };
    let asks: Vec<_> = wanting(session).collect();
    let Some(from) = asks.iter().map(|(_, ask)| ask.at).min() else { return Vec::new() };
    let trace = LazyCell::new(|| Trace::of(evidence, message, from));
    let done = Done::since(session, from);
    asks.into_iter()
        .filter_map(|(at, ask)| {
            let after = After { done: &done, from: ask.at, until: usize::MAX };
            let mut requests = requests(&ask.text).into_iter();
            let (quote, why) = requests.find_map(|request| {
                undone(request, ask, &after, evidence, &trace)
                    .filter(|_| !was_answered(message, request))
                    .map(|why| (request, why))
            })?;
            // Last, since it compares the ask with every later one.
            if is_taken_back(ask, &session.asks[at + 1..]) {
                return None;
            }
            Some(Finding {
                category: Category::Ask,
                status: Status::CannotVerify,
                source: Source::Facts,
                problem: Problem::NoTrace,
                quote: quote.to_owned(),
                path: mentions::mentions(quote).paths.into_iter().next(),
                why,
                settle: "do it, or tell the person why not".to_owned(),
                verifier: "a candidate: nobody has judged it yet".to_owned(),
                step: None,
                evidence: vec![after.told()],
            })
        })
        .take(MOST)
        .collect()
}

/// Whether the files' contents may tell what became of an ask.
pub fn look_into_files(session: &Session) -> bool {
    session.final_message.is_some() && wanting(session).next().is_some()
}

/// The later asks that may want work.
fn wanting(session: &Session) -> impl Iterator<Item = (usize, &Ask)> {
    // What was done for an older one may be forgotten.
    later(session)
        .filter(|(_, ask)| ask.at >= session.forgotten.until)
        .filter(|(_, ask)| !requests(&ask.text).is_empty() && may_want_work(ask))
}

/// Whether an ask may want work: it says more than a few words and is no question, or it wants something of a thing
/// that it names.
fn may_want_work(ask: &Ask) -> bool {
    ask.may_want_work() || requests(&ask.text).into_iter().any(is_plain)
}

/// Whether a request says by name what is to be done, however short it is and however it is put.
fn is_plain(request: &str) -> bool {
    wish_again(request).is_some() || !mentions::mentions_again(request).paths.is_empty()
}

/// Why a request seems undone, if it does.
fn undone(
    request: &str,
    ask: &Ask,
    after: &After<'_, '_>,
    evidence: &Evidence,
    trace: &Trace,
) -> Option<String> {
    let named = mentions::mentions_again(request).paths;
    let standing =
        wish_again(request).and_then(|wish| standing(&wish, named.first().map(String::as_str), evidence));
    match standing {
        Some(Standing::Undone(how)) => return Some(format!("the person asked for it, and {how}")),
        Some(Standing::Done(_)) => return None,
        None => {}
    }
    if after.is_nothing() {
        return Some("the person asked for it, and nothing was done after it".to_owned());
    }
    let wanted: Vec<&String> = named.iter().filter(|path| promises(request, path)).collect();
    if !wanted.is_empty() && !wanted.iter().any(|path| after.worked_on(path, evidence)) {
        return Some(format!("the person asked for it, and nothing touched {} after it", wanted[0]));
    }
    is_nowhere(request, ask.at, trace)
        .then(|| "the person asked for it, and nothing that was done after it speaks of it".to_owned())
}

/// For each ask after the first one its words and what happened until the next one.
pub fn aftermath(session: &Session) -> Vec<(String, String)> {
    let all: Vec<_> = later(session).collect();
    let newest = &all[all.len().saturating_sub(TOLD)..];
    let done = Done::since(session, newest.iter().map(|(_, ask)| ask.at).min().unwrap_or_default());
    newest
        .iter()
        .map(|(at, ask)| {
            let until = session.asks.get(at + 1).map_or(usize::MAX, |next| next.at);
            (ask.text.clone(), After { done: &done, from: ask.at, until }.told())
        })
        .collect()
}

fn later(session: &Session) -> impl Iterator<Item = (usize, &Ask)> {
    session.asks.iter().enumerate().skip(1)
}

fn is_taken_back(ask: &Ask, later: &[Ask]) -> bool {
    let wanted = Bag::of(&ask.text);
    let next_takes_all_back = later.first().is_some_and(|next| {
        let words = padded(&normalised(&next.text));
        has_any_words(&words, TAKEN_BACK)
    });
    next_takes_all_back
        || later.iter().any(|next| {
            claims::calls_off(&next.text, |sentence| {
                let said = Bag::of(sentence);
                said.shares_a_name(&wanted) || (!said.is_empty() && said.within(&wanted) >= 0.5)
            })
            // Said again in other words: the newer one counts.
            || wanted.within(&Bag::of(&next.text)) >= 0.6
        })
}

/// Whether the final message asks back, or says of it why nothing was done.
fn was_answered(message: &str, request: &str) -> bool {
    let wanted = Bag::of(request);
    let last = claims::all_sentences(message).last().unwrap_or_default();
    let last_words = padded(&normalised(last));
    let asks_back = last.ends_with('?') && !has_any_words(&last_words, COURTESY);
    asks_back
        || claims::all_sentences(message).any(|sentence| {
            let words = padded(&normalised(sentence));
            let speaks_of_it =
                wanted.shared(&Bag::of(sentence)) > 0 || wanted.shares_a_name(&Bag::of(sentence));
            speaks_of_it && has_any_words(&words, ANSWERED)
        })
}

/// Whether nothing of a request turns up in what was done after it.
fn is_nowhere(request: &str, asked_at: usize, trace: &Trace) -> bool {
    let wanted = Bag::of(request);
    let named = mentions::mentions_again(request);
    let names_something = !named.paths.is_empty() || !named.symbols.is_empty();
    // A name counts wherever it is written, also as a word of a path or of code.
    let mut written =
        named.paths.iter().map(|path| base_name(path)).chain(named.symbols.iter().map(String::as_str));
    let is_seen = |name: &str| {
        let bag = Bag::of_words(name);
        !bag.is_empty() && trace.share_after(&bag, asked_at) >= 0.99
    };
    let is_enough = if names_something { !wanted.is_empty() } else { wanted.len() >= LEAST };
    is_enough && !written.any(is_seen) && trace.share_after(&wanted, asked_at) <= BY_CHANCE
}

/// Where in the session each word was written, run or said last: whether that was after an ask is one look.
struct Trace(HashMap<u64, usize, ByItself>);

impl Trace {
    /// Nobody asks about what was done up to `from`.
    fn of(evidence: &Evidence, message: &str, from: usize) -> Self {
        let session = &evidence.session;
        let mut last: HashMap<u64, usize, ByItself> = HashMap::default();
        let cut = |text: &str| text.floor_char_boundary(TEXT);
        let mut note = |at: usize, stem: u64| {
            let known = last.entry(stem).or_insert(at);
            *known = at.max(*known);
        };
        // A long session touches few files, each of them many times.
        let mut newest_of: HashMap<&str, &Touch> = HashMap::new();
        for touch in session.done_touches().filter(|touch| touch.at > from) {
            let known = newest_of.entry(&touch.path).or_insert(touch);
            *known = if touch.at >= known.at { touch } else { known };
        }
        for file in evidence.files.iter().filter(|file| file.was_changed()) {
            let touches = newest_of.iter().filter(|(path, _)| path.ends_with(&file.name));
            let newest = touches.map(|(_, touch)| *touch).max_by_key(|touch| (touch.at, &touch.path));
            let Some(newest) = newest else { continue };
            // What is as it was written is read below.
            let written = newest.change.as_ref().map_or("", |change| &change.new);
            let text = &file.text[..cut(&file.text)];
            let text = &text[common_lines(&written[..cut(written)], text)..];
            Bag::of_words_again(text).stems().iter().for_each(|stem| note(newest.at, *stem));
        }
        // Also what was only looked at: a look may have been the answer.
        for command in session.commands.iter().filter(|command| command.at > from) {
            let words = Bag::of_words_again(&command.line[..cut(&command.line)]);
            words.stems().iter().for_each(|stem| note(command.at, *stem));
        }
        let mut add = |at: usize, text: &str| {
            if at > from {
                each_stem(&text[..cut(text)], |stem| note(at, stem));
            }
        };
        for touch in session.done_touches() {
            add(touch.at, &touch.path);
            if let Some(change) = &touch.change {
                add(touch.at, &change.new);
                add(touch.at, &change.old);
            }
        }
        session.delegations.iter().for_each(|delegation| add(delegation.at, &delegation.description));
        session.other_calls.iter().for_each(|call| add(call.at, &call.tool));
        session
            .todos
            .iter()
            .filter(|todo| todo.status == "completed")
            .for_each(|todo| add(usize::MAX, &todo.text));
        add(usize::MAX, message);
        Self(last)
    }

    /// Which part of these words turned up after that.
    fn share_after(&self, wanted: &Bag, at: usize) -> f32 {
        let seen = |stem: &u64| self.0.get(stem).is_some_and(|last| *last > at);
        wanted.share_of(|stem| seen(&stem))
    }
}

/// How long the whole lines are with which two texts both begin.
fn common_lines(one: &str, other: &str) -> usize {
    let same = one.bytes().zip(other.bytes()).take_while(|(one, other)| one == other).count();
    other.as_bytes()[..same].iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1)
}

/// What was done from some point of the session on, which is little of a long one.
struct Done<'a> {
    session: &'a Session,
    touches: Vec<&'a Touch>,
    commands: Vec<&'a Command>,
}

impl<'a> Done<'a> {
    fn since(session: &'a Session, from: usize) -> Self {
        Self {
            session,
            touches: session.done_touches().filter(|touch| touch.at > from).collect(),
            commands: session.commands.iter().filter(|command| command.at > from).collect(),
        }
    }
}

/// What of it was done in a stretch.
struct After<'s, 'a> {
    done: &'s Done<'a>,
    from: usize,
    until: usize,
}

impl<'a> After<'_, 'a> {
    fn has(&self, at: usize) -> bool {
        at > self.from && at <= self.until
    }

    fn files(&self) -> Vec<&'a str> {
        let mut names: Vec<&str> = Vec::new();
        for touch in self.touches() {
            let name = base_name(&touch.path);
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names
    }

    fn touches(&self) -> impl Iterator<Item = &'a Touch> {
        self.done.touches.iter().copied().filter(|touch| self.has(touch.at))
    }

    fn commands(&self) -> impl Iterator<Item = &'a str> {
        let all = self.done.commands.iter().copied().filter(|command| self.has(command.at));
        all.filter(|command| command.may_have_effects()).map(|command| command.line.as_str())
    }

    /// Whether a file was changed, or a command ran that names it or may have changed anything.
    fn worked_on(&self, path: &str, evidence: &Evidence) -> bool {
        if evidence.files.iter().any(|file| written_as(path, &file.name) && file.signs.is_unchanged()) {
            return false;
        }
        self.touches().any(|touch| written_as(path, &touch.path))
            || self.commands().any(|line| line.contains(base_name(path)) || shell::may_change_anything(line))
            || !self.others().is_empty()
    }

    fn helpers(&self) -> usize {
        self.done.session.delegations.iter().filter(|delegation| self.has(delegation.at)).count()
    }

    /// Tools of other servers: what they do can't be seen here.
    fn others(&self) -> Vec<&'a str> {
        self.done
            .session
            .other_calls
            .iter()
            .filter(|call| self.has(call.at))
            .map(|call| call.tool.as_str())
            .collect()
    }

    fn is_nothing(&self) -> bool {
        self.touches().next().is_none()
            && self.commands().next().is_none()
            && self.helpers() == 0
            && self.others().is_empty()
            && !self.done.session.plans.iter().any(|plan| self.has(plan.at))
    }

    /// In one line.
    fn told(&self) -> String {
        let files = self.files();
        let mut parts = Vec::new();
        if !files.is_empty() {
            let more = if files.len() > NAMES { ", …" } else { "" };
            let names = files[..files.len().min(NAMES)].join(", ");
            parts.push(format!("{} changed: {names}{more}", counted(files.len(), "file", "files")));
        }
        let commands = self.commands().count();
        if commands > 0 {
            parts.push(counted(commands, "command", "commands"));
        }
        let (helpers, others) = (self.helpers(), self.others());
        if helpers > 0 {
            parts.push(counted(helpers, "subagent", "subagents"));
        }
        if !others.is_empty() {
            parts.push(format!("other tools: {}", others[..others.len().min(NAMES)].join(", ")));
        }
        if parts.is_empty() { "nothing".to_owned() } else { parts.join("; ") }
    }
}

#[cfg(test)]
mod tests;
