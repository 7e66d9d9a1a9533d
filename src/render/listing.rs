//! Decisions at a glance, one line each: takes them, a time zone and a width, gives text, with colours or without. Pure. Where not all fits, columns that say the least are left out; no line wraps.

use std::borrow::Cow;
use std::fmt::Write as _;

use anstyle::{AnsiColor, Style};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use crate::decision::could_not_check;
use crate::finding::{Category, Status};
use crate::log::filter::{OutcomeWord, Verdict};
use crate::log::parallel::in_parts;
use crate::log::seen::Seen;
use crate::paths::base_name;
use crate::text::is_harmless;

const HEAD: Style = Style::new().bold();
const BLOCK: Style = AnsiColor::Red.on_default().bold();
const WOULD_BLOCK: Style = AnsiColor::Yellow.on_default().bold();
const CLEAN: Style = AnsiColor::Green.on_default();
const FAULT: Style = AnsiColor::Yellow.on_default();
const ASIDE: Style = Style::new().dimmed();
const PLAIN: Style = Style::new();

/// What a column shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Column {
    Id,
    /// So much of it as `show` needs.
    ShortId,
    When,
    ShortWhen,
    Project,
    Decision,
    ShortDecision,
    Cause,
    Findings,
    /// What was found where that is the cause, else the cause.
    Matter,
    /// The same, and what became of it.
    StopReport,
    Outcomes,
    ShortOutcomes,
    Time,
    Cost,
}

use Column::{
    Cause, Cost, Decision, Findings, Id, Matter, Outcomes, Project, ShortDecision, ShortId, ShortOutcomes,
    ShortWhen, StopReport, Time, When,
};

const COLUMNS: [Column; 15] = [
    Id, ShortId, When, ShortWhen, Project, Decision, ShortDecision, Cause, Findings, Matter, StopReport,
    Outcomes, ShortOutcomes, Time, Cost,
];

/// How many letters of an id tell it from all others of a log, as far as anybody will see.
const ID_LETTERS: usize = 6;

/// What a line may hold: which columns, each no wider than that.
type Choice = &'static [(Column, usize)];

/// As wide as it wants to be.
const FREE: usize = usize::MAX;

/// What is tried, one after the other, until a line fits: one that is rarely wide must not cost all others a column.
const CHOICES: [Choice; 9] = [
    &[
        (Id, FREE),
        (When, FREE),
        (Project, 24),
        (Decision, FREE),
        (Cause, FREE),
        (Findings, 14),
        (Outcomes, 24),
        (Time, FREE),
        (Cost, FREE),
    ],
    &[
        (Id, FREE),
        (ShortWhen, FREE),
        (Project, 16),
        (Decision, FREE),
        (Cause, FREE),
        (Findings, 12),
        (Outcomes, 18),
        (Time, FREE),
        (Cost, FREE),
    ],
    &[
        (Id, FREE),
        (ShortWhen, FREE),
        (Project, 20),
        (ShortDecision, FREE),
        (StopReport, 28),
        (Time, FREE),
        (Cost, FREE),
    ],
    &[
        (ShortId, FREE),
        (ShortWhen, FREE),
        (Project, 13),
        (ShortDecision, FREE),
        (StopReport, 20),
        (Time, FREE),
        (Cost, FREE),
    ],
    &[
        (ShortId, FREE),
        (ShortWhen, FREE),
        (Project, 12),
        (ShortDecision, FREE),
        (StopReport, 19),
        (Time, FREE),
    ],
    &[(ShortId, FREE), (ShortWhen, FREE), (Project, 10), (ShortDecision, FREE), (StopReport, 16)],
    &[(ShortId, FREE), (ShortWhen, FREE), (ShortDecision, FREE), (Matter, 16)],
    &[(ShortId, FREE), (ShortWhen, FREE), (ShortDecision, FREE)],
    &[(ShortWhen, FREE), (ShortDecision, FREE)],
];

impl Column {
    fn title(self) -> &'static str {
        match self {
            Id | ShortId => "id",
            When | ShortWhen => "when",
            Project => "project",
            Decision => "decision",
            // A title must not be wider than what it is about.
            ShortDecision => "gate",
            Cause | Matter | StopReport => "cause",
            Findings => "findings",
            Outcomes | ShortOutcomes => "outcome",
            Time => "time",
            Cost => "cost",
        }
    }

    fn is_right(self) -> bool {
        matches!(self, Time | Cost)
    }
}

/// How a list is set.
#[derive(Debug, Clone)]
pub struct Setting {
    /// Where the person is.
    pub zone: TimeZone,
    /// How wide it may be; nothing is left out or cut where nobody says.
    pub width: Option<usize>,
    /// Whether the columns are named first.
    pub head: bool,
    /// Whether it may have colours.
    pub colours: bool,
}

/// The list.
pub fn listing(all: &[Seen<'_>], setting: &Setting) -> String {
    // Where all fits, what stands in for something longer is not even made.
    let made =
        COLUMNS.map(|column| setting.width.is_some() || CHOICES[0].iter().any(|(shown, _)| *shown == column));
    let parts = in_parts(all, |part| (part.len(), cells(part, &setting.zone, made)));
    let mut widths = [0; COLUMNS.len()];
    for (_, cells) in &parts {
        for (width, most) in widths.iter_mut().zip(&cells.widest) {
            *width = (*width).max(*most);
        }
    }
    // A column in which nobody says anything needs no title.
    for (width, column) in widths.iter_mut().zip(COLUMNS).filter(|(width, _)| setting.head && **width > 0) {
        *width = (*width).max(column.title().width());
    }
    let layout = Layout { colours: setting.colours, ..Layout::that_fits(widths, setting.width) };
    let mut from = 0;
    let parts: Vec<_> = parts
        .into_iter()
        .map(|(count, cells)| {
            from += count;
            (&all[from - count..from], cells)
        })
        .collect();
    let mut text = if setting.head { layout.head() } else { String::new() };
    let set = std::thread::scope(|scope| {
        let layout = &layout;
        let threads: Vec<_> =
            parts.iter().map(|(part, cells)| scope.spawn(move || layout.rows(part, cells))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap_or_default()).collect::<Vec<_>>()
    });
    for part in &set {
        text.push_str(part);
    }
    text
}

/// The cells of many rows in one text: to keep them one by one would take longer than to make them.
#[derive(Debug, Default)]
struct Cells {
    text: String,
    ends: Vec<[u32; COLUMNS.len()]>,
    widest: [usize; COLUMNS.len()],
}

fn cells(all: &[Seen<'_>], zone: &TimeZone, made: [bool; COLUMNS.len()]) -> Cells {
    let mut cells = Cells { text: String::with_capacity(all.len() * 100), ..Cells::default() };
    for seen in all {
        let mut ends = [0; COLUMNS.len()];
        for (at, column) in COLUMNS.into_iter().enumerate() {
            let from = cells.text.len();
            if made[at] {
                write_cell(&mut cells.text, column, seen, zone);
                cells.widest[at] = cells.widest[at].max(width(&cells.text[from..]));
            }
            ends[at] = u32::try_from(cells.text.len()).unwrap_or(u32::MAX);
        }
        cells.ends.push(ends);
    }
    cells
}

fn write_cell(text: &mut String, column: Column, seen: &Seen<'_>, zone: &TimeZone) {
    let glance = &seen.glance;
    match column {
        Id => push_clean(text, &glance.id),
        ShortId => {
            let end = glance.id.char_indices().nth(ID_LETTERS).map_or(glance.id.len(), |(at, _)| at);
            push_clean(text, &glance.id[..end]);
        }
        When => write_when(text, glance.ms, zone, true),
        // The same but for its year.
        ShortWhen => write_when(text, glance.ms, zone, false),
        Project => push_clean(text, glance.project.as_deref().map_or("-", base_name)),
        ShortDecision if glance.verdict == Verdict::WouldBlock => text.push_str("would"),
        Decision | ShortDecision => text.push_str(glance.verdict.name()),
        Matter if matches!(glance.cause.as_ref(), "findings" | "only-unverified") => {
            write_findings(text, seen);
        }
        StopReport => {
            write_cell(text, Matter, seen, zone);
            let from = text.len();
            text.push_str(" → ");
            let words = text.len();
            write_outcomes(text, seen, 3);
            if text.len() == words {
                text.truncate(from);
            }
        }
        Cause | Matter => push_clean(text, if glance.cause.is_empty() { "-" } else { &glance.cause }),
        Findings => write_findings(text, seen),
        Outcomes => write_outcomes(text, seen, usize::MAX),
        ShortOutcomes => write_outcomes(text, seen, 3),
        Time => {
            if let Some(ms) = glance.total_ms {
                let _ = write!(text, "{}", Milliseconds(ms));
            }
        }
        Cost => {
            if let Some(cost) = glance.cost_usd() {
                let _ = write!(text, "{}", Dollars(cost));
            }
        }
    }
}

/// A time of day where the person is.
fn write_when(text: &mut String, ms: i64, zone: &TimeZone, year: bool) {
    let Ok(time) = Timestamp::from_millisecond(ms) else { return };
    let local = zone.to_datetime(time);
    if year {
        let _ = write!(text, "{:04}-", local.year());
    }
    for (number, sign) in
        [(local.month(), '-'), (local.day(), ' '), (local.hour(), ':'), (local.minute(), '\0')]
    {
        let number = number.unsigned_abs();
        text.push(char::from(b'0' + number / 10 % 10));
        text.push(char::from(b'0' + number % 10));
        if sign != '\0' {
            text.push(sign);
        }
    }
}

/// `2A 1ask 3?`: the confirmed ones by category, then those that could not be verified.
fn write_findings(text: &mut String, seen: &Seen<'_>) {
    let findings = &seen.glance.findings;
    if findings.is_empty() {
        return;
    }
    let confirmed = || findings.iter().filter(|finding| finding.status == Some(Status::Confirmed));
    let counts = Category::ALL.map(|category| {
        (confirmed().filter(|finding| finding.category == Some(category)).count(), category.name())
    });
    let unverified = findings.iter().filter(|finding| finding.status == Some(Status::CannotVerify)).count();
    write_counts(text, counts.into_iter().chain([(unverified, "?")]), "", usize::MAX);
}

/// `2 fixed 1 disputed`: what became of the findings, then what a person says.
fn write_outcomes(text: &mut String, seen: &Seen<'_>, letters: usize) {
    let from = text.len();
    let counts = OutcomeWord::ALL.map(|word| {
        let count = seen.fates.iter().filter(|fate| match word {
            OutcomeWord::FindingOutcome(became) => fate.became == Some(became),
            OutcomeWord::Said(said) => seen.label.is_none() && fate.label == Some(said),
        });
        (count.count(), word.name())
    });
    write_counts(text, counts.into_iter(), " ", letters);
    // What is said of all of it needs no number.
    if let Some(label) = seen.label {
        let gap = if text.len() == from { "" } else { " " };
        let _ = write!(text, "{gap}{}", label.name());
    }
}

fn write_counts<'a>(
    text: &mut String,
    counts: impl Iterator<Item = (usize, &'a str)>,
    between: &str,
    letters: usize,
) {
    let mut is_first = true;
    for (count, name) in counts.filter(|(count, _)| *count > 0) {
        if !is_first {
            text.push(' ');
        }
        is_first = false;
        let _ = write!(text, "{count}{between}{}", &name[..name.len().min(letters)]);
    }
}

/// How long something took.
pub(crate) struct Milliseconds(pub(crate) f64);

impl std::fmt::Display for Milliseconds {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.0 {
            ms if ms < 9.95 => write!(f, "{ms:.1} ms"),
            ms if ms < 999.5 => write!(f, "{ms:.0} ms"),
            ms if ms < 99_950.0 => write!(f, "{:.1} s", ms / 1e3),
            ms => write!(f, "{:.0} s", ms / 1e3),
        }
    }
}

/// What something cost.
pub(crate) struct Dollars(pub(crate) f64);

impl std::fmt::Display for Dollars {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.0 == 0.0 {
            return write!(f, "$0");
        }
        if self.0 < 1.0 { write!(f, "${:.4}", self.0) } else { write!(f, "${:.2}", self.0) }
    }
}

/// Text from elsewhere may hold what a terminal would act on, or a line end.
pub(crate) fn push_clean(text: &mut String, word: &str) {
    if word.bytes().all(|byte| (b' '..0x7f).contains(&byte)) {
        text.push_str(word);
    } else {
        text.extend(
            word.chars().map(|letter| if is_harmless(letter) { letter } else { char::REPLACEMENT_CHARACTER }),
        );
    }
}

fn width(text: &str) -> usize {
    if text.is_ascii() { text.len() } else { text.width() }
}

/// Which columns are shown, and how wide.
#[derive(Debug)]
struct Layout {
    columns: Vec<(Column, usize)>,
    colours: bool,
}

impl Layout {
    fn that_fits(widths: [usize; COLUMNS.len()], most: Option<usize>) -> Self {
        let natural = |column: Column| widths[column as usize];
        let layout = |choice: Choice| {
            let width = |(column, cap): &(Column, usize)| {
                (*column, if most.is_some() { natural(*column).min(*cap) } else { natural(*column) })
            };
            // A column in which nobody says anything is none.
            let columns = choice.iter().map(width).filter(|(_, width)| *width > 0).collect();
            Self { columns, colours: false }
        };
        let mut fitting =
            CHOICES.into_iter().map(layout).filter(|layout| most.is_none_or(|most| layout.width() <= most));
        fitting.next().unwrap_or_else(|| layout(CHOICES[CHOICES.len() - 1]))
    }

    fn width(&self) -> usize {
        self.columns.iter().map(|(_, width)| width + 2).sum::<usize>().saturating_sub(2)
    }

    fn head(&self) -> String {
        let mut line = String::new();
        for (at, (column, width)) in self.columns.iter().enumerate() {
            self.push(&mut line, at, column.title(), *width, PLAIN);
        }
        let style = if self.colours { HEAD } else { PLAIN };
        format!("{style}{}{style:#}\n", line.trim_end())
    }

    fn rows(&self, all: &[Seen<'_>], cells: &Cells) -> String {
        let mut text = String::with_capacity(all.len() * 120);
        let mut from = 0;
        for (seen, ends) in all.iter().zip(&cells.ends) {
            // Nobody looks for a style that is not shown.
            let (verdict, cause) =
                if self.colours { (verdict_style(seen), cause_style(seen)) } else { (PLAIN, PLAIN) };
            for (at, (column, width)) in self.columns.iter().enumerate() {
                let place = *column as usize;
                let start = if place == 0 { from } else { ends[place - 1] as usize };
                let style = match column {
                    Id | ShortId => ASIDE,
                    Decision | ShortDecision => verdict,
                    Cause | Matter | StopReport => cause,
                    _ => PLAIN,
                };
                self.push(&mut text, at, &cells.text[start..ends[place] as usize], *width, style);
            }
            from = ends[COLUMNS.len() - 1] as usize;
            text.truncate(text.trim_end_matches(' ').len());
            text.push('\n');
        }
        text
    }

    fn push(&self, line: &mut String, at: usize, cell: &str, most: usize, style: Style) {
        let is_plain = !self.colours || style == PLAIN || cell.is_empty();
        let wide = width(cell);
        let (cut, wide) = if wide > most {
            let cut = cut(cell, most);
            let wide = width(&cut);
            (Cow::Owned(cut), wide)
        } else {
            (Cow::Borrowed(cell), wide)
        };
        let gap = most.saturating_sub(wide);
        let (before, after) = if self.columns[at].0.is_right() { (gap, 0) } else { (0, gap) };
        push_spaces(line, before);
        if is_plain {
            line.push_str(&cut);
        } else {
            let _ = write!(line, "{style}{cut}{style:#}");
        }
        let is_last = at + 1 == self.columns.len();
        push_spaces(line, if is_last { 0 } else { after + 2 });
    }
}

fn push_spaces(line: &mut String, mut count: usize) {
    const SPACES: &str = "                                ";
    while count > 0 {
        let some = count.min(SPACES.len());
        line.push_str(&SPACES[..some]);
        count -= some;
    }
}

/// As much of a cell as fits, with a mark where something is missing.
pub(crate) fn cut(cell: &str, most: usize) -> String {
    let mut room = most.saturating_sub(1);
    let mut kept = String::new();
    for letter in cell.chars() {
        let wide = letter.width().unwrap_or(0);
        if wide > room {
            break;
        }
        room -= wide;
        kept.push(letter);
    }
    kept.push('…');
    kept
}

fn verdict_style(seen: &Seen<'_>) -> Style {
    match seen.glance.verdict {
        Verdict::Block => BLOCK,
        Verdict::WouldBlock => WOULD_BLOCK,
        Verdict::Allow if seen.glance.auditor.is_some() || seen.glance.cause == "clean" => CLEAN,
        Verdict::Allow => ASIDE,
    }
}

fn cause_style(seen: &Seen<'_>) -> Style {
    match seen.glance.cause.as_ref() {
        cause if could_not_check(cause) => FAULT,
        _ => PLAIN,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log::seen::join;
    use crate::log::summary::Line;

    const LINES: &str = r#"
{"id":"k3f92m7q1x","time":"2026-10-01T21:04:05.000Z","project":"/home/me/shop","decision":"allow","cause":"nothing-to-audit","phases_ms":{"total":1.84}}
{"id":"p0w4n8c2ze","time":"2026-10-01T21:30:00.000Z","project":"/home/me/shop","decision":"block","cause":"findings","findings":[{"category":"A","status":"confirmed"},{"category":"A","status":"confirmed"},{"category":"ask","status":"confirmed"},{"category":"B","status":"cannot-verify"},{"category":"C","status":"refuted"}],"auditor":{"usage":{"cost_usd":0.01234}},"phases_ms":{"total":12345.6}}
{"id":"z9y8x7w6v5","time":"2026-10-02T08:00:00.000Z","project":"/home/me/日本語\u001b[31m","decision":"allow","would_block":true,"cause":"findings","findings":[{"category":"C","status":"confirmed"}],"auditor":{"usage":{"cost_usd":1.5}},"phases_ms":{"total":123456}}
{"id":"m1n2b3v4c5","time":"2026-10-02T09:00:00.000Z","project":"/home/me/a-project-with-a-name-that-never-seems-to-end","decision":"allow","cause":"auditor-unavailable","auditor":{"usage":{"cost_usd":null}},"phases_ms":{"total":845.2}}
{"id":"older00000","time":"2026-10-02T09:30:00Z"}
{"kind":"outcome","schema":2,"id":"n","time":"2026-10-01T00:00:00Z","of":"p0w4n8c2ze","finding":1,"outcome":"fixed"}
{"kind":"outcome","schema":2,"id":"n","time":"2026-10-01T00:00:00Z","of":"p0w4n8c2ze","finding":2,"outcome":"disputed"}
{"kind":"label","schema":2,"id":"n","time":"2026-10-01T00:00:00Z","of":"p0w4n8c2ze","finding":2,"label":"wrong"}
{"kind":"label","schema":2,"id":"n","time":"2026-10-01T00:00:00Z","of":"m1n2b3v4c5","label":"right"}"#;

    fn set(width: Option<usize>, zone: &str, colours: bool) -> String {
        let (mut glances, mut notes) = (Vec::new(), Vec::new());
        for line in LINES.lines() {
            match Line::of(line.as_bytes()) {
                Some(Line::Decision(glance)) => glances.push(*glance),
                Some(Line::Note(note)) => notes.push(*note),
                None => {}
                other => panic!("{other:?}: {line}"),
            }
        }
        let zone = TimeZone::posix(zone).expect("a zone");
        listing(&join(glances, notes), &Setting { zone, width, head: width.is_some(), colours })
    }

    fn plain(width: Option<usize>) -> String {
        let coloured = set(width, "UTC0", true);
        let plain = set(width, "UTC0", false);
        assert_eq!(anstream::adapter::strip_str(&coloured).to_string(), plain);
        plain
    }

    #[test]
    fn a_list_on_a_wide_terminal() {
        insta::assert_snapshot!(plain(Some(140)));
    }

    #[test]
    fn a_list_on_an_ordinary_terminal() {
        insta::assert_snapshot!(plain(Some(80)));
    }

    #[test]
    fn on_an_ordinary_terminal_time_and_cost_are_told_whatever_became_of_it() {
        let text = plain(Some(80));
        assert!(text.contains("2A 1ask 1? → 1 fix …"), "{text}");
        assert!(text.contains("12.3 s  $0.0123"), "{text}");
    }

    #[test]
    fn a_list_on_a_narrow_terminal() {
        insta::assert_snapshot!(plain(Some(50)));
    }

    #[test]
    fn a_list_that_is_piped_has_all_of_it_and_no_head() {
        insta::assert_snapshot!(plain(None));
    }

    #[test]
    fn decisions_have_their_colours() {
        insta::assert_snapshot!(set(Some(140), "UTC0", true).replace('\u{1b}', "␛"));
    }

    #[test]
    fn times_are_those_of_the_persons_clock() {
        let text = set(Some(200), "IST-5:30", false);
        assert!(text.contains("k3f92m7q1x  2026-10-02 02:34"), "{text}");
    }

    #[test]
    fn no_line_is_wider_than_the_terminal() {
        for width in 24..200 {
            for line in plain(Some(width)).lines() {
                assert!(line.width() <= width, "{width}: {line}");
            }
        }
    }
}
