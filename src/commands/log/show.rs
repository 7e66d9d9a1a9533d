//! `punchlist log show`: one decision in full. Changes nothing.

use std::io::{self, IsTerminal};

use serde_json::{Value, json};

use super::{Context, Result, output, replay};
use crate::cli::log::ShowArgs;
use crate::log::{Annotated, Record, Snapshot, artifacts};
use crate::render::{decision, json as json_lines};
use crate::text::harmless;

pub(super) fn run(args: &ShowArgs, context: &Context<'_>) -> Result {
    let (annotated, finding) = context.find_one(&args.which, args.fleet)?;
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
            None => output::print_json(&whole(&annotated, snapshot.as_ref())),
        };
    }
    let setting = decision::Setting { width, zone: context.now.time_zone().clone(), finding };
    output::page(&decision::text(&annotated, snapshot.as_ref(), &setting), context.env)
}

/// Returns the record as it is stored, with its notes and the evidence of its audit.
fn whole(annotated: &Annotated, snapshot: Option<&Snapshot>) -> Value {
    let mut value: Value = serde_json::from_str(&json_lines::line(annotated)).unwrap_or_default();
    value["scene"] = json!(snapshot);
    value
}

/// Prints what was sent to the readers, or what they replied.
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

/// Returns why there is no prompt or reply.
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
