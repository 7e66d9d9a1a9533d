//! The report page: one self-contained HTML page about many decisions. Pure. Nothing from a
//! workspace may run: data is in blocks that no browser executes, the page's policy names its only
//! script and its only style by their hashes, and the script never turns a text into markup.

mod detail;
mod rows;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde::Serialize;
use sha2::{Digest, Sha256};

use crate::finding::Category;
use crate::log::stats::Repeat;
use crate::log::{Annotated, Snapshot};
use crate::render::page::rows::Rows;

/// The page without its parts, each a `{{part}}` that occurs once.
const FRAME: &str = include_str!("report.html");
const STYLE: &str = include_str!("report.css");

/// The script, in order of dependency.
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

/// How many bytes the large parts of a page may take. The newest decisions have priority.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Room {
    /// For the findings, files and readers of decisions.
    pub details: usize,
    /// For the audits' evidence: asks, steps, files.
    pub snapshots: usize,
}

impl Default for Room {
    fn default() -> Self {
        Self { details: 48 << 20, snapshots: 24 << 20 }
    }
}

/// The page's description of itself, and its maximum size.
#[derive(Debug, Clone)]
pub struct About<'a> {
    /// When it was created.
    pub made: Timestamp,
    /// The time zone of its days and hours.
    pub zone: &'a TimeZone,
    /// Which decisions it is about, if not all.
    pub only: Option<String>,
    /// How many lines of the log could not be read.
    pub torn: usize,
    /// Repeated disputes of projects, as in `punchlist log stats`.
    pub repeats: &'a [Repeat],
    /// Its maximum size.
    pub room: Room,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    pub text: String,
    pub decisions: usize,
    /// How many of them are without findings and files, for lack of room.
    pub details_left_out: usize,
    /// How many snapshots of audits were left out, for lack of room.
    pub snapshots_left_out: usize,
}

/// What the script parses first; everything else is parsed when somebody looks at it.
#[derive(Serialize)]
struct Head<'a> {
    made: String,
    zone: String,
    version: &'static str,
    only: Option<&'a str>,
    torn: usize,
    details_left_out: usize,
    snapshots_left_out: usize,
    /// The names of the categories, and their meanings.
    categories: [(&'static str, &'static str); Category::ALL.len()],
    repeats: &'a [Repeat],
    rows: Rows<'a>,
}

/// Renders the page. Decisions are passed oldest first; `snapshot_of` is called with their ids, the
/// newest first.
pub fn page(
    decisions: &[Annotated],
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
    // The data is inserted last, so that placeholders in it are not replaced.
    let page = FRAME.replace("{{policy}}", &policy).replace("{{style}}", STYLE);
    page.replace("{{script}}", &script).replace("{{blocks}}", blocks)
}

/// Returns a block of data, which no browser executes and which no value can end. `id` is ours.
/// Characters special to HTML are escaped: in JSON they occur in strings only.
fn json_block(id: &str, value: &impl Serialize) -> String {
    let mut json = serde_json::to_string(value).unwrap_or_else(|_| "null".into());
    for letter in ['<', '>', '&', '\u{2028}', '\u{2029}'] {
        json = json.replace(letter, &format!("\\u{:04x}", u32::from(letter)));
    }
    format!("<script type=\"application/json\" id=\"{id}\">{json}</script>\n")
}

/// Returns a source as the page's policy names it.
fn source_hash(source: &str) -> String {
    format!("'sha256-{}'", BASE64_STANDARD.encode(Sha256::digest(source)))
}

#[cfg(test)]
mod tests;
