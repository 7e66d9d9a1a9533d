//! `punchlist log show`: one decision whole. Changes nothing.

use std::io::{self, IsTerminal};

use serde_json::{Value, json};

use super::{Context, Result, output, replay};
use crate::cli::log::ShowArgs;
use crate::log::summary::Summary;
use crate::log::{Annotated, Note, Record, Snapshot, artifacts};
use crate::render::decision;
use crate::text::harmless;

pub(super) fn run(args: &ShowArgs, context: &Context<'_>) -> Result {
    let (summary, finding) = context.find_one(&args.which)?;
    let unreadable =
        |error: serde_json::Error| format!("decision {} can't be read: {error}", summary.decision.id);
    let annotated = summary.clone().into_record().map_err(unreadable)?;
    let record = &annotated.decision;
    if args.prompt || args.reply {
        return print_artifact(args, record, context);
    }
    let width = output::width();
    if args.replay {
        let mut diff = replay::replay(record, context)?;
        if let Some(at) = finding {
            diff.findings.retain(|one| one.number == Some(at + 1));
        }
        if args.json {
            return output::print_json(&diff);
        }
        return output::page(&crate::render::replay::text(&diff, width), context.env);
    }
    let snapshot = artifacts::snapshot(&context.state, &record.id);
    if args.json {
        return match finding {
            Some(at) => output::print_json(&json!({
                "of": record.id,
                "number": at + 1,
                "finding": record.findings[at],
                "outcome": annotated.findings[at].outcome,
                "label": annotated.findings[at].label,
            })),
            None => output::print_json(&whole(&summary, snapshot.as_ref()).map_err(unreadable)?),
        };
    }
    let setting = decision::Setting { width, zone: context.now.time_zone().clone(), finding };
    output::page(&decision::text(&annotated, snapshot.as_ref(), &setting), context.env)
}

/// The record as it stands, with the notes on it and what its audit looked at.
fn whole(annotated: &Annotated<Summary>, snapshot: Option<&Snapshot>) -> serde_json::Result<Value> {
    let mut value: Value = serde_json::from_str(&annotated.decision.line)?;
    let notes = |is_wanted: fn(&Note) -> bool| {
        let notes = annotated.notes.iter().map(|line| &line.note).filter(|note| is_wanted(note));
        json!(notes.collect::<Vec<_>>())
    };
    value["outcomes"] = notes(|note| matches!(note, Note::Outcome(_)));
    value["labels"] = notes(|note| matches!(note, Note::Label(_)));
    value["scene"] = json!(snapshot);
    Ok(value)
}

/// Prints what was sent to the readers, or what came back.
fn print_artifact(args: &ShowArgs, record: &Record, context: &Context<'_>) -> Result {
    let state = &context.state;
    let (what, text) = if args.prompt {
        ("prompt", artifacts::prompt(state, &record.id))
    } else {
        ("reply", artifacts::reply(state, &record.id))
    };
    let mut text = text.map_err(|error| gone(what, record, &error))?;
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
        return output::page(&harmless(&text), context.env);
    }
    output::print_raw(text.as_bytes())
}

/// Why there is no prompt or reply.
fn gone(what: &str, record: &Record, error: &io::Error) -> String {
    let id = &record.id;
    match (&record.auditor, error.kind()) {
        (None, _) => format!("decision {id} has no {what}: no reader was asked ({})", record.cause.name()),
        (Some(_), io::ErrorKind::NotFound) => format!(
            "the {what} of decision {id} is gone: it was kept for as long as [log] keep and max_size allow"
        ),
        (Some(_), _) => format!("the {what} of decision {id} can't be read: {error}"),
    }
}
