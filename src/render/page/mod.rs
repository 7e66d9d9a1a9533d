//! The report page: one HTML page about many decisions that needs nothing else. Pure. Nothing that
//! came from a workspace may run: data stands in blocks that no browser executes, the page's policy
//! names its only script and its only style by their hashes, and the script never turns a text into
//! markup.

mod detail;
mod embed;
mod rows;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde::Serialize;

use crate::finding::Category;
use crate::log::stats::Repeat;
use crate::log::{Annotated, Record, Snapshot};
use crate::render::page::embed::{json_block, source_hash};
use crate::render::page::rows::Rows;

/// The page without its parts. Each `{{part}}` occurs once, and what replaces it is not searched
/// again.
const FRAME: &str = include_str!("report.html");
const STYLE: &str = include_str!("report.css");

/// The script, in the order in which its parts need each other.
const SCRIPT: [&str; 10] = [
    include_str!("script/words.js"),
    include_str!("script/data.js"),
    include_str!("script/figures.js"),
    include_str!("script/charts.js"),
    include_str!("script/filters.js"),
    include_str!("script/detail.js"),
    include_str!("script/table.js"),
    include_str!("script/keys.js"),
    include_str!("script/theme.js"),
    include_str!("script/start.js"),
];

/// How many bytes the heavy parts of a page may take. The newest decisions come first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Room {
    /// For the findings, files and readers of decisions.
    pub details: usize,
    /// For what audits looked at: asks, steps, files.
    pub snapshots: usize,
}

impl Default for Room {
    fn default() -> Self {
        Self { details: 48 << 20, snapshots: 24 << 20 }
    }
}

/// What the page says of itself, and how large it may get.
#[derive(Debug, Clone)]
pub struct About<'a> {
    /// When it was made.
    pub made: Timestamp,
    /// The time zone of its days and hours.
    pub zone: &'a TimeZone,
    /// Which decisions it is about, in words, if not about all.
    pub only: Option<String>,
    /// How many lines of the log could not be read.
    pub torn: usize,
    /// What projects dispute again and again, as `punchlist log stats` has it.
    pub repeats: &'a [Repeat],
    /// How large it may get.
    pub room: Room,
}

/// A page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// Its text.
    pub text: String,
    /// How many decisions it has.
    pub decisions: usize,
    /// How many of them have no findings and files on it, for want of room.
    pub details_left_out: usize,
    /// How many snapshots of audits are not on it, for want of room.
    pub snapshots_left_out: usize,
}

/// What the script parses first; all else is parsed when somebody looks at it.
#[derive(Serialize)]
struct Head<'a> {
    made: String,
    zone: String,
    version: &'static str,
    only: Option<&'a str>,
    torn: usize,
    details_left_out: usize,
    snapshots_left_out: usize,
    /// What the categories are called, and what they mean.
    categories: [(&'static str, &'static str); Category::ALL.len()],
    repeats: &'a [Repeat],
    rows: Rows<'a>,
}

/// Makes the page. Decisions come oldest first; `snapshot_of` is called with their ids, the newest
/// first.
pub fn page(
    decisions: &[Annotated<Record>],
    about: &About<'_>,
    mut snapshot_of: impl FnMut(&str) -> Option<Snapshot>,
) -> Page {
    let mut details: Vec<String> = decisions.iter().map(detail::detail).collect();
    let mut snapshots = String::new();
    let (mut details_left_out, mut snapshots_left_out) = (0, 0);
    let (mut details_room, mut snapshots_room) = (Some(about.room.details), Some(about.room.snapshots));
    for (row, annotated) in decisions.iter().enumerate().rev() {
        details_room = details_room.and_then(|room| room.checked_sub(details[row].len()));
        if details_room.is_none() {
            details[row].clear();
            details_left_out += 1;
        }
        let Some(snapshot) = snapshot_of(&annotated.decision.id) else { continue };
        let snapshot = json_block(&format!("snapshot-{row}"), &snapshot);
        snapshots_room = snapshots_room.and_then(|room| room.checked_sub(snapshot.len()));
        match snapshots_room {
            Some(_) => snapshots += &snapshot,
            None => snapshots_left_out += 1,
        }
    }
    let made = about.made.to_zoned(about.zone.clone());
    let head = Head {
        made: made.strftime("%Y-%m-%d %H:%M").to_string(),
        zone: about.zone.iana_name().map_or_else(|| made.strftime("%:z").to_string(), str::to_owned),
        version: env!("CARGO_PKG_VERSION"),
        only: about.only.as_deref(),
        torn: about.torn,
        details_left_out,
        snapshots_left_out,
        categories: Category::ALL.map(|category| (category.name(), category.title())),
        repeats: about.repeats,
        rows: Rows::new(decisions, about.zone),
    };
    let blocks = json_block("head", &head) + &json_block("details", &details) + &snapshots;
    Page { text: put_together(&blocks), decisions: decisions.len(), details_left_out, snapshots_left_out }
}

fn put_together(blocks: &str) -> String {
    let script = format!("(() => {{\n\"use strict\";\n{}}})();\n", SCRIPT.concat());
    let policy = format!(
        "default-src 'none'; script-src {}; style-src {}; img-src data:; base-uri 'none'; form-action 'none'; \
         connect-src 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
        source_hash(&script),
        source_hash(STYLE),
    );
    let mut text = String::with_capacity(FRAME.len() + script.len() + STYLE.len() + blocks.len());
    let mut rest = FRAME;
    while let Some((before, after)) = rest.split_once("{{") {
        let (name, after) = after.split_once("}}").unwrap_or((after, ""));
        text += before;
        text += match name {
            "policy" => &policy,
            "style" => STYLE,
            "blocks" => blocks,
            "script" => &script,
            _ => "",
        };
        rest = after;
    }
    text + rest
}

#[cfg(test)]
mod tests;
