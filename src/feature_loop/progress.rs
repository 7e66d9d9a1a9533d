//! `progress.txt`: takes its text, gives what it says of the loop, and the same text with that brought up to date. Pure.
//! Everything else in the file is notes of whoever works, and must stay as it is, to the byte.

use std::fmt;

/// How a loop stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Status {
    /// It goes on.
    InProgress,
    /// Every feature passes.
    Complete,
    /// It has had as many iterations as it may have.
    ReachedLimit,
    /// Nothing moved any more.
    Stalled,
    /// The context was full; a fresh session goes on.
    HandedOver,
    /// Whoever works says that a person has to do something first.
    Blocked,
    /// A person has halted it.
    Paused,
    /// A budget of money or time is used up.
    OverBudget,
    /// Its sessions fail.
    Failed,
    /// It was asked to end.
    Interrupted,
    /// A word of somebody else's.
    Other(String),
}

impl Status {
    const ALL: [Self; 10] = [
        Self::InProgress,
        Self::Complete,
        Self::ReachedLimit,
        Self::Stalled,
        Self::HandedOver,
        Self::Blocked,
        Self::Paused,
        Self::OverBudget,
        Self::Failed,
        Self::Interrupted,
    ];

    /// As the file has it.
    pub fn word(&self) -> &str {
        match self {
            Self::InProgress => "IN_PROGRESS",
            Self::Complete => "COMPLETE",
            Self::ReachedLimit => "REACHED_LIMIT",
            Self::Stalled => "STALLED",
            Self::HandedOver => "HANDED_OVER",
            Self::Blocked => "BLOCKED",
            Self::Paused => "PAUSED",
            Self::OverBudget => "OVER_BUDGET",
            Self::Failed => "FAILED",
            Self::Interrupted => "INTERRUPTED",
            Self::Other(word) => word,
        }
    }

    /// Reads a word: ours however it is written, else one that is written as a status. Sentences are none.
    pub fn read(text: &str) -> Option<Self> {
        let word = text.trim().trim_matches(['*', '`', '"', '.', ' ']);
        let plain = word.to_uppercase().replace([' ', '-'], "_");
        let plain = match plain.as_str() {
            "DONE" | "COMPLETED" | "FINISHED" => "COMPLETE",
            "STOPPED" => "PAUSED",
            other => other,
        };
        let known = Self::ALL.into_iter().find(|status| status.word() == plain);
        let is_shouted =
            word.len() > 2 && word.chars().all(|letter| letter.is_ascii_uppercase() || letter == '_');
        known.or_else(|| is_shouted.then(|| Self::Other(word.to_owned())))
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// What the file says of the loop.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Progress {
    /// How often the work was handed out.
    pub iteration: Option<u32>,
    /// How often it may be.
    pub max: Option<u32>,
    /// How it stands.
    pub status: Option<Status>,
}

/// What is to be said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoopProgress {
    /// How often the work was handed out.
    pub iteration: u32,
    /// How often it may be.
    pub max: u32,
    /// How it stands.
    pub status: Status,
    /// How many features pass, and of how many.
    pub passing: (usize, usize),
    /// What is left, by name.
    pub left: Vec<String>,
    /// When, in the usual form.
    pub updated: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Key {
    Iteration,
    Max,
    Status,
    Passing,
    Left,
    Updated,
}

impl Key {
    const ALL: [Self; 6] =
        [Self::Iteration, Self::Max, Self::Status, Self::Passing, Self::Left, Self::Updated];

    fn name(self) -> &'static str {
        match self {
            Self::Iteration => "iteration",
            Self::Max => "max",
            Self::Status => "status",
            Self::Passing => "passing",
            Self::Left => "left",
            Self::Updated => "updated",
        }
    }

    fn read(word: &str) -> Option<Self> {
        let plain: String = word
            .trim()
            .to_lowercase()
            .chars()
            .map(|letter| if letter.is_alphanumeric() { letter } else { '_' })
            .collect();
        match plain.trim_matches('_') {
            "iteration" | "current_iteration" => Some(Self::Iteration),
            "max" | "max_iterations" | "max_iteration" | "maximum" => Some(Self::Max),
            "status" => Some(Self::Status),
            "passing" => Some(Self::Passing),
            "left" => Some(Self::Left),
            "updated" => Some(Self::Updated),
            _ => None,
        }
    }

    /// Whether a value can be one of this key's. What can't is somebody's note.
    fn takes(self, value: &str) -> bool {
        match self {
            Self::Iteration | Self::Max => number(value).is_some(),
            Self::Status => Status::read(value).is_some(),
            Self::Passing | Self::Left | Self::Updated => true,
        }
    }

    /// Whether it is known wherever it stands; the others are ours only beside these.
    fn stands_alone(self) -> bool {
        matches!(self, Self::Iteration | Self::Max | Self::Status)
    }
}

/// The number that a value begins with, and what is behind it.
fn number(value: &str) -> Option<(u32, &str)> {
    let value = value.trim_matches(['*', '`', '"', ' ', '\t']);
    let digits = value.chars().take_while(char::is_ascii_digit).count();
    let rest = value[digits..].trim_start();
    let ends = rest.is_empty() || rest.starts_with(['/', '(', '*', '`']) || rest.starts_with("of ");
    value[..digits].parse().ok().filter(|_| ends).map(|number| (number, rest))
}

/// A line of the form `key: value` or `key = value`, with what people put around: where its value begins and ends.
fn keyed(line: &str) -> Option<(Key, std::ops::Range<usize>)> {
    let at = line.find([':', '='])?;
    let key = Key::read(line[..at].trim_start_matches(['#', '*', '-', '>', '`', ' ', '\t']))?;
    // `**Status:** X` ends its mark behind the sign.
    let rest = &line[at + 1..];
    let skipped = rest.len() - rest.trim_start_matches(['*', ' ', '\t']).len();
    let value = rest[skipped..].trim_end();
    key.takes(value).then_some((key, at + 1 + skipped..at + 1 + skipped + value.len()))
}

/// The lines of a text, each with its end.
fn lines(text: &str) -> Vec<&str> {
    text.split_inclusive('\n').collect()
}

/// Where each key stands: the first line of it. Keys that are no keys alone count only in the lines around one that is.
fn places(lines: &[&str]) -> Vec<(Key, usize, std::ops::Range<usize>)> {
    let found: Vec<_> = lines
        .iter()
        .enumerate()
        .filter_map(|(at, line)| {
            keyed(line.trim_end_matches(['\n', '\r'])).map(|(key, value)| (key, at, value))
        })
        .collect();
    let Some(first) = found.iter().find(|(key, ..)| key.stands_alone()).map(|(_, at, _)| *at) else {
        return Vec::new();
    };
    let is_blank = |at: &usize| lines[*at].trim().is_empty();
    let from = (0..first).rev().find(is_blank).map_or(0, |at| at + 1);
    let to = (first..lines.len()).find(is_blank).unwrap_or(lines.len());
    let mut places: Vec<(Key, usize, std::ops::Range<usize>)> = Vec::new();
    for (key, at, value) in found {
        let counts = key.stands_alone() || (from..to).contains(&at);
        if counts && !places.iter().any(|(known, ..)| *known == key) {
            places.push((key, at, value));
        }
    }
    places
}

/// Reads it.
pub fn read(text: &str) -> Progress {
    let lines = lines(text);
    let mut progress = Progress::default();
    for (key, at, value) in places(&lines) {
        let value = &lines[at][value];
        match key {
            Key::Iteration => {
                if let Some((iteration, rest)) = number(value) {
                    progress.iteration = Some(iteration);
                    let max = rest.strip_prefix('/').or_else(|| rest.strip_prefix("of "));
                    progress.max = progress.max.or_else(|| max.and_then(number).map(|(max, _)| max));
                }
            }
            Key::Max => progress.max = number(value).map(|(max, _)| max),
            Key::Status => progress.status = Status::read(value),
            Key::Passing | Key::Left | Key::Updated => {}
        }
    }
    progress
}

/// What stands behind the status in the notes of whoever says that it can't go on: the line below it, or the rest of it.
pub fn note_on_status(text: &str) -> Option<String> {
    let lines = lines(text);
    let (_, at, _) = places(&lines).into_iter().find(|(key, ..)| *key == Key::Status)?;
    let below = lines.get(at + 1..)?.iter().map(|line| line.trim());
    let note = below.take_while(|line| !line.is_empty()).find(|line| keyed(line).is_none())?;
    Some(note.trim_start_matches(['#', '-', '*', '>', ' ']).to_owned()).filter(|note| !note.is_empty())
}

/// The text, brought up to date. Lines that are there keep their place and their form; those that are missing come behind
/// the last that is there, or at the top.
pub fn write(text: &str, standing: &LoopProgress) -> String {
    let mut lines: Vec<String> = lines(text).into_iter().map(String::from).collect();
    let ending = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let found = places(&lines.iter().map(String::as_str).collect::<Vec<_>>());
    let (passing, all) = standing.passing;
    let value = |key: Key| match key {
        Key::Iteration => Some(standing.iteration.to_string()),
        Key::Max => Some(standing.max.to_string()),
        Key::Status => Some(standing.status.word().to_owned()),
        Key::Passing => Some(format!("{passing} of {all}")),
        Key::Left if standing.left.is_empty() => None,
        Key::Left => Some(standing.left.join(", ")),
        Key::Updated => Some(standing.updated.clone()),
    };
    for (key, at, range) in &found {
        let new = value(*key).unwrap_or_else(|| "nothing".into());
        let old = lines[*at][range.clone()].to_owned();
        // `3/50` says two things, and stays in that form.
        let new = match (*key, number(&old)) {
            (Key::Iteration, Some((_, rest))) if rest.starts_with('/') => format!("{new}/{}", standing.max),
            (Key::Iteration, Some((_, rest))) if rest.starts_with("of ") => {
                format!("{new} of {}", standing.max)
            }
            _ => new,
        };
        lines[*at].replace_range(range.clone(), &new);
    }
    let says_max = found.iter().any(|(key, at, _)| {
        *key == Key::Iteration && (lines[*at].contains('/') || lines[*at].contains(" of "))
    });
    let is_there = |key: Key| found.iter().any(|(known, ..)| *known == key) || key == Key::Max && says_max;
    let missing: Vec<String> = Key::ALL
        .into_iter()
        .filter(|key| !is_there(*key))
        .filter_map(|key| Some(format!("{}: {}{ending}", key.name(), value(key)?)))
        .collect();
    if missing.is_empty() {
        return lines.concat();
    }
    // Behind the line of ours that stands last in the first group of them.
    let first = found.iter().filter(|(key, ..)| key.stands_alone()).map(|(_, at, _)| *at).min();
    if let Some(first) = first {
        let is_ours = |at: usize| found.iter().any(|(_, known, _)| *known == at);
        let last = (first..lines.len()).take_while(|at| is_ours(*at)).last().unwrap_or(first);
        if !lines[last].ends_with('\n') {
            lines[last].push_str(ending);
        }
        lines.splice(last + 1..=last, missing);
    } else {
        let gap = if text.trim().is_empty() { String::new() } else { ending.to_owned() };
        lines.splice(0..0, missing.into_iter().chain([gap]));
    }
    lines.concat()
}

#[cfg(test)]
mod tests;
