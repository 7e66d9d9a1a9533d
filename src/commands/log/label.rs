//! `punchlist log label`: what a person says of a decision. Appends one note to the log; changes nothing that is there.

use jiff::Timestamp;

use super::{Desk, Refusal, out};
use crate::cli::log::{JudgementChoice, LabelArgs};
use crate::log::filter::Filter;
use crate::log::note::{Judgement, LabelNote, Note, SCHEMA};
use crate::log::pages::{Lines, Pages};
use crate::log::seen::Seen;
use crate::names::new_id;
use crate::text::counted;

/// How many that may be meant are named.
const MOST_NAMED: usize = 8;

/// Runs it.
pub(super) fn run(args: &LabelArgs, desk: &Desk<'_>) -> Result<(), Refusal> {
    let (start, finding) = parsed(&args.of)?;
    let pages = Pages::of(&desk.log);
    let look =
        pages.look(&Filter::default(), None, Lines::Unwanted).map_err(|error| desk.unreadable(&error))?;
    let meant = the_one(&look.seen, start)?;
    let glance = &meant.glance;
    if let Some(number) = finding
        && !(1..=glance.findings.len()).contains(&number)
    {
        return Err(match glance.findings.len() {
            0 => format!("{} has no findings; label it without \".{number}\"", glance.id),
            count => {
                format!("{} has {}; there is no {number}", glance.id, counted(count, "finding", "findings"))
            }
        });
    }
    let now = Timestamp::now();
    let label = match args.judgement {
        JudgementChoice::Right => Judgement::Right,
        JudgementChoice::Wrong => Judgement::Wrong,
    };
    let note = Note::Label(LabelNote {
        schema: SCHEMA,
        id: new_id(),
        time: format!("{now:.3}"),
        of: glance.id.to_string(),
        finding,
        label,
        note: args.note.clone(),
    });
    let written = desk.log.append_notes(std::slice::from_ref(&note), now);
    written
        .map_err(|error| format!("the log in {} can't be written: {error}", desk.log.folder().display()))?;
    if args.json {
        let json = serde_json::to_string(&note).map_err(|error| error.to_string())?;
        return out::print(format!("{json}\n").as_bytes());
    }
    let what = match (finding, glance.findings.len()) {
        (Some(number), _) => format!("finding {number} of {}", glance.id),
        (None, 0) => glance.id.to_string(),
        (None, count) => format!("{} and its {}", glance.id, counted(count, "finding", "findings")),
    };
    out::print(
        format!(
            "Noted: {what} {} {}.\n",
            if finding.is_none() && !glance.findings.is_empty() { "were" } else { "was" },
            label.name()
        )
        .as_bytes(),
    )
}

/// An id or its start, and which finding.
fn parsed(of: &str) -> Result<(&str, Option<usize>), Refusal> {
    let (start, finding) = match of.split_once('.') {
        None => (of, None),
        Some((start, number)) => {
            let number = number.parse().map_err(|_| {
                format!("\"{number}\" is no finding's number; write ID or ID.N, like k3f92m7q1x.2")
            })?;
            (start, Some(number))
        }
    };
    if start.is_empty() {
        Err("write the decision's id, or the start of it".to_owned())
    } else {
        Ok((start, finding))
    }
}

/// The decision whose id that is, or starts so.
fn the_one<'s, 'a>(all: &'s [Seen<'a>], start: &str) -> Result<&'s Seen<'a>, Refusal> {
    if let Some(exact) = all.iter().rev().find(|seen| seen.glance.id == start) {
        return Ok(exact);
    }
    let meant: Vec<_> = all.iter().filter(|seen| seen.glance.id.starts_with(start)).collect();
    match meant[..] {
        [] => Err(format!(
            "no decision in the log has an id that starts with \"{start}\"; `punchlist log` lists them"
        )),
        [one] => Ok(one),
        _ => {
            let named: Vec<_> =
                meant.iter().rev().take(MOST_NAMED).map(|seen| seen.glance.id.as_ref()).collect();
            let more = match meant.len().saturating_sub(MOST_NAMED) {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            Err(format!(
                "{} decisions have an id that starts with \"{start}\": {}{more}; write more of it",
                meant.len(),
                named.join(", ")
            ))
        }
    }
}
