//! `punchlist log show`: one decision with all there is to know of it. Must not change anything.

use std::io::{self, IsTerminal};

use serde_json::{Value, json};

use super::{Desk, Refusal, choice, out, replay};
use crate::cli::log::ShowArgs;
use crate::log::annotated;
use crate::log::annotated::Told;
use crate::log::artifacts;
use crate::log::reader::{Lines, Pages};
use crate::log::seen::Seen;
use crate::log::{Note, Record};
use crate::render::decision;
use crate::render::decision::Setting;
use crate::text::harmless;

/// The widest that text is set; where nobody knows how wide the terminal is, it is set so.
const WIDEST: usize = 100;

/// Runs it.
pub(super) fn run(args: &ShowArgs, desk: &Desk<'_>) -> Result<(), Refusal> {
    let pages = Pages::of(&desk.log);
    let (seen, finding) = desk.the_one(&pages, &args.which, Lines::Wanted)?;
    let told = told_of(&seen)?;
    if args.prompt || args.reply {
        return print_kept(args, &told.record, desk);
    }
    let width = out::width().unwrap_or(WIDEST).clamp(40, WIDEST);
    if args.replay {
        let replayed = replay::replay(&told.record, desk)?;
        let replayed = replay::only(replayed, finding);
        if args.json {
            return print_json(&replayed);
        }
        return out::page_plainly(&crate::render::replay::text(&replayed, width), desk.env);
    }
    let scene = artifacts::scene(desk.log.state(), &told.record.id);
    if args.json {
        return match finding {
            Some(at) => print_json(&json!({
                "of": told.record.id,
                "number": at + 1,
                "finding": told.record.findings[at],
                "outcome": told.fates[at].outcome,
                "label": told.fates[at].label,
            })),
            None => print_json(&whole(&seen, scene.as_ref().map(|scene| json!(scene)))?),
        };
    }
    let setting = Setting { width, zone: choice::now().time_zone().clone(), finding };
    out::page_plainly(&decision::text(&told, scene.as_ref(), &setting), desk.env)
}

/// A decision with what was said of it, whole.
fn told_of(seen: &Seen<'_>) -> Result<Told, Refusal> {
    let record: Record = serde_json::from_slice(seen.glance.line)
        .map_err(|error| format!("decision {} can't be read: {error}", seen.glance.id))?;
    let notes: Vec<Note> = seen.notes.iter().map(|noted| noted.note.clone()).collect();
    annotated::join(vec![record], notes).pop().ok_or_else(|| "no decision".to_owned())
}

/// The record as it stands, with what was said of it and what its audit looked at.
fn whole(seen: &Seen<'_>, scene: Option<Value>) -> Result<Value, Refusal> {
    let mut value: Value = serde_json::from_slice(seen.glance.line)
        .map_err(|error| format!("decision {} can't be read: {error}", seen.glance.id))?;
    let notes = |takes: fn(&Note) -> bool| {
        let taken = seen.notes.iter().map(|noted| &noted.note).filter(|note| takes(note));
        json!(taken.collect::<Vec<_>>())
    };
    value["outcomes"] = notes(|note| matches!(note, Note::Outcome(_)));
    value["labels"] = notes(|note| matches!(note, Note::Label(_)));
    value["scene"] = scene.unwrap_or(Value::Null);
    Ok(value)
}

fn print_json(value: &impl serde::Serialize) -> Result<(), Refusal> {
    let text = serde_json::to_string_pretty(value).map_err(|error| error.to_string())?;
    out::print(format!("{text}\n").as_bytes())
}

/// What was sent, or what came back, as it is, of both readers; what would steer a terminal is shown as a mark on one.
fn print_kept(args: &ShowArgs, record: &Record, desk: &Desk<'_>) -> Result<(), Refusal> {
    let state = desk.log.state();
    let (what, kept) = if args.prompt {
        ("prompt", artifacts::prompt(state, &record.id))
    } else {
        ("reply", artifacts::reply(state, &record.id))
    };
    let mut text = kept.map_err(|error| gone(what, record, &error))?;
    if let Ok((task, reply)) = artifacts::second(state, &record.id) {
        let (title, second) = if args.prompt {
            ("What the second reader was asked, after the same evidence", task)
        } else {
            ("What the second reader answered", reply)
        };
        text = format!("{}\n\n===== {title} =====\n\n{second}", text.trim_end());
    }
    if !text.ends_with('\n') {
        text.push('\n');
    }
    if io::stdout().is_terminal() {
        return out::page_plainly(&harmless(&text), desk.env);
    }
    out::print(text.as_bytes())
}

/// Why there is no prompt or reply.
fn gone(what: &str, record: &Record, error: &io::Error) -> Refusal {
    let id = &record.id;
    match (&record.auditor, error.kind()) {
        (None, _) => format!("decision {id} has no {what}: no reader was asked ({})", record.cause.name()),
        (Some(_), io::ErrorKind::NotFound) => format!(
            "the {what} of decision {id} is gone: it was kept for as long as [log] keep and max_size allow"
        ),
        (Some(_), _) => format!("the {what} of decision {id} can't be read: {error}"),
    }
}
