//! The report page: takes decisions with all that is known of them, what their audits looked at, and a time zone; gives
//! the text of one HTML page that needs nothing else. Pure, and must not let anything that came from a workspace run:
//! data stands in blocks that no browser executes, the page's own policy names its only script and its only style by
//! their hashes, and the script never turns a text into markup.

mod embed;
mod rows;
mod story;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde::Serialize;

use crate::finding::Category;
use crate::log::parallel::in_parts;
use crate::log::stats::Repeat;
use crate::log::{Snapshot, Told};
use crate::render::page::embed::{json_block, source_hash};
use crate::render::page::rows::Rows;

/// The page without its parts; each `{{part}}` stands once, and what is put in is not looked at again.
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

/// How much of the heavy parts a page may hold, in bytes. The newest have the room first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Room {
    /// For what was found and how, of all decisions.
    pub stories: usize,
    /// For what audits looked at: asks, steps, files.
    pub scenes: usize,
}

impl Default for Room {
    fn default() -> Self {
        Self { stories: 48 << 20, scenes: 24 << 20 }
    }
}

/// What the page says of itself.
#[derive(Debug, Clone)]
pub struct About<'a> {
    /// When it was made.
    pub made: Timestamp,
    /// In whose days and hours times are told.
    pub zone: &'a TimeZone,
    /// Which decisions it is about, in words, if not about all.
    pub only: Option<String>,
    /// How many lines of the log could not be read.
    pub torn: usize,
    /// What projects dispute again and again, as `punchlist log stats` tells it.
    pub repeats: &'a [Repeat],
    /// How large it may get.
    pub room: Room,
}

/// A page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// Its text.
    pub text: String,
    /// How many decisions it tells of.
    pub decisions: usize,
    /// How many of them are told without their findings and files, for want of room.
    pub stories_left_out: usize,
    /// How many audits' scenes there are, but not on it, for want of room.
    pub scenes_left_out: usize,
}

/// What the script is given first. All else is taken apart only when somebody looks.
#[derive(Serialize)]
struct Head<'a> {
    made: String,
    zone: String,
    version: &'static str,
    only: Option<&'a str>,
    torn: usize,
    stories_left_out: usize,
    scenes_left_out: usize,
    /// What the categories are called, and what they mean.
    categories: [(&'static str, &'static str); Category::ALL.len()],
    repeats: &'a [Repeat],
    rows: Rows<'a>,
}

/// Makes the page. Decisions come oldest first; `scene_of` gives what a decision's audit looked at, and is asked for the
/// newest first.
pub fn page(told: &[Told], about: &About<'_>, mut scene_of: impl FnMut(&str) -> Option<Snapshot>) -> Page {
    let written = in_parts(told, |part| part.iter().map(story::story).collect::<Vec<_>>());
    let mut stories: Vec<String> = written.into_iter().flatten().collect();
    let mut scenes = String::new();
    let (mut stories_left_out, mut scenes_left_out) = (0, 0);
    let (mut stories_room, mut scenes_room) = (Some(about.room.stories), Some(about.room.scenes));
    for (row, told) in told.iter().enumerate().rev() {
        stories_room = stories_room.and_then(|room| room.checked_sub(stories[row].len()));
        if stories_room.is_none() {
            stories[row].clear();
            stories_left_out += 1;
        }
        let Some(scene) = scene_of(&told.record.id) else { continue };
        let scene = json_block(&format!("scene-{row}"), &scene);
        scenes_room = scenes_room.and_then(|room| room.checked_sub(scene.len()));
        match scenes_room {
            Some(_) => scenes += &scene,
            None => scenes_left_out += 1,
        }
    }
    let made = about.made.to_zoned(about.zone.clone());
    let head = Head {
        made: made.strftime("%Y-%m-%d %H:%M").to_string(),
        zone: about.zone.iana_name().map_or_else(|| made.strftime("%:z").to_string(), str::to_owned),
        version: env!("CARGO_PKG_VERSION"),
        only: about.only.as_deref(),
        torn: about.torn,
        stories_left_out,
        scenes_left_out,
        categories: Category::ALL.map(|category| (category.name(), category.title())),
        repeats: about.repeats,
        rows: Rows::of(told, about.zone),
    };
    let blocks = json_block("head", &head) + &json_block("stories", &stories) + &scenes;
    Page { text: put_together(&blocks), decisions: told.len(), stories_left_out, scenes_left_out }
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
