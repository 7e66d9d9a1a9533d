//! The figures for a terminal: takes them and a width, gives text with small bar charts, coloured or plain. Pure.

use std::fmt::Write as _;

use anstyle::{AnsiColor, Style};
use unicode_width::UnicodeWidthStr;

use crate::log::projects;
use crate::log::stats::{
    Count, Latency, Named, Outcomes, Percentiles, Precision, ReaderStats, Repeat, Share, Spent, Stats,
};
use crate::render::listing::{Dollars, Milliseconds, cut, push_clean};
use crate::text::{counted, grouped};

const TITLE: Style = Style::new().bold();
const BAR: Style = AnsiColor::Cyan.on_default();
const LOUD: Style = AnsiColor::Yellow.on_default().bold();
const QUIET: Style = Style::new().dimmed();

/// The widest that a bar may be.
const WIDEST_BAR: usize = 40;
/// The narrowest that is worth its room.
const LEAST_BAR: usize = 4;
/// From this many days on, months are shown.
const MANY_DAYS: usize = 31;
/// How many projects are shown.
const MOST_PROJECTS: usize = 12;
/// How many kinds of disputed findings are shown.
const MOST_REPEATS: usize = 5;

/// How figures are set.
#[derive(Debug, Clone, Copy)]
pub struct Setting {
    /// How wide they may be.
    pub width: usize,
    /// Whether they may have colours and block characters.
    pub colours: bool,
    /// Whether bars are made of blocks; of `#` otherwise.
    pub blocks: bool,
}

/// All of them.
pub fn figures(stats: &Stats, setting: Setting) -> String {
    let mut page = Page { text: String::new(), setting };
    page.summary(stats);
    page.counts("Why", &stats.causes, stats.decisions);
    page.outcomes(&stats.outcomes);
    page.precision(&stats.precision);
    page.readers(stats);
    page.latency(&stats.latency);
    page.spent(stats);
    page.repeats(&stats.repeats);
    page.text
}

struct Page {
    text: String,
    setting: Setting,
}

/// One line of a chart.
struct Row {
    name: String,
    cells: Vec<String>,
    /// Of the longest bar.
    share: f64,
}

impl Page {
    fn styled(&self, style: Style, words: &str) -> String {
        if self.setting.colours { format!("{style}{words}{style:#}") } else { words.to_owned() }
    }

    fn title(&mut self, words: &str) {
        let wrapped = textwrap::wrap(words, self.setting.width.max(20));
        let wrapped: Vec<_> = wrapped.iter().map(|line| self.styled(TITLE, line)).collect();
        let _ = writeln!(self.text, "\n{}", wrapped.join("\n"));
    }

    fn wrapped(&mut self, words: &str, indent: &str) {
        let options = textwrap::Options::new(self.setting.width.max(20)).break_words(false);
        // A path that is cut at a hyphen can't be copied.
        let options = options.word_splitter(textwrap::WordSplitter::NoHyphenation);
        let options = options.initial_indent(indent).subsequent_indent(indent);
        for line in textwrap::wrap(words, options) {
            let _ = writeln!(self.text, "{}", line.trim_end());
        }
    }

    fn wrapped_in(&mut self, style: Style, words: &str, indent: &str) {
        let from = self.text.len();
        self.wrapped(words, indent);
        let lines = self.text.split_off(from);
        for line in lines.lines() {
            let line = self.styled(style, line);
            let _ = writeln!(self.text, "{line}");
        }
    }

    /// Names, figures and bars under each other. Where there is no room for bars there are none.
    fn chart(&mut self, rows: &[Row]) {
        let columns = rows.iter().map(|row| row.cells.len()).max().unwrap_or(0);
        let widest = |column: usize| {
            rows.iter().filter_map(|row| row.cells.get(column)).map(|cell| cell.width()).max()
        };
        let widths: Vec<usize> = (0..columns).map(|column| widest(column).unwrap_or(0)).collect();
        let figures: usize = widths.iter().map(|width| width + 2).sum();
        let longest = rows.iter().map(|row| row.name.width()).max().unwrap_or(0);
        let room = self.setting.width.saturating_sub(figures + 2);
        let names = longest.min(room.max(8));
        let bars = room.saturating_sub(names + 2).min(WIDEST_BAR);
        for row in rows {
            let name = if row.name.width() > names { cut(&row.name, names) } else { row.name.clone() };
            let gap = names.saturating_sub(name.width());
            let mut line = format!("  {name}{}", " ".repeat(gap));
            for (cell, width) in row.cells.iter().zip(&widths) {
                let _ = write!(line, "  {}{cell}", " ".repeat(width.saturating_sub(cell.width())));
            }
            if bars >= LEAST_BAR && row.share > 0.0 {
                let bar = self.bar(row.share, bars);
                let _ = write!(line, "  {}", self.styled(BAR, &bar));
            }
            let _ = writeln!(self.text, "{}", line.trim_end());
        }
    }

    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "a bar is short"
    )]
    fn bar(&self, share: f64, most: usize) -> String {
        const PARTS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
        let eighths = (share.clamp(0.0, 1.0) * most as f64 * 8.0).round().max(1.0) as usize;
        if self.setting.blocks {
            "█".repeat(eighths / 8) + PARTS[eighths % 8]
        } else {
            "#".repeat(eighths.div_ceil(8))
        }
    }

    fn summary(&mut self, stats: &Stats) {
        let day =
            |time: &Option<String>| time.as_deref().and_then(|time| time.get(..10)).unwrap_or("?").to_owned();
        let head = format!(
            "{} from {} to {}: {}, {}",
            number_of(stats.decisions, "decision", "decisions"),
            day(&stats.from),
            day(&stats.to),
            number_of(stats.sessions, "session", "sessions"),
            number_of(stats.projects, "project", "projects"),
        );
        self.wrapped(&head, "");
        let dry = match stats.would_block {
            0 => String::new(),
            count => {
                format!(" {} more would have been, but for a dry run or a count that failed.", number(count))
            }
        };
        let unchecked = match stats.could_not_check {
            0 => String::new(),
            count => format!(" {} could not be checked.", number(count)),
        };
        let stops = format!(
            "{} held: {} of all, {} of the {} that were audited.{dry}{unchecked}",
            number_of(stats.blocks, "stop was", "stops were"),
            percent(ratio(stats.blocks, stats.decisions)),
            percent(ratio(stats.blocks, stats.audited)),
            number(stats.audited),
        );
        self.wrapped(&stops, "");
    }

    fn counts(&mut self, title: &str, counts: &[Count], all: usize) {
        if counts.is_empty() {
            return;
        }
        self.title(title);
        let most = counts.iter().map(|count| count.count).max().unwrap_or(1);
        let row = |count: &Count| Row {
            name: clean(&count.name),
            cells: vec![number(count.count), percent(ratio(count.count, all))],
            share: ratio(count.count, most),
        };
        self.chart(&counts.iter().map(row).collect::<Vec<_>>());
    }

    fn outcomes(&mut self, outcomes: &Outcomes) {
        if outcomes.findings > 0 {
            let title = format!(
                "What became of {} that held a stop",
                number_of(outcomes.findings, "finding", "findings")
            );
            let counts = [
                ("fixed", outcomes.fixed),
                ("disputed", outcomes.disputed),
                ("ignored", outcomes.ignored),
                ("not known yet", outcomes.open),
            ];
            let counts = counts.map(|(name, count)| Count { name: name.to_owned(), count });
            self.counts(&title, &counts, outcomes.findings);
        }
        if outcomes.said_right + outcomes.said_wrong + outcomes.missed > 0 {
            let missed = match outcomes.missed {
                0 => String::new(),
                1 => " 1 stop that went through should not have.".to_owned(),
                count => format!(" {} stops that went through should not have.", number(count)),
            };
            let (right, wrong) = (number(outcomes.said_right), number(outcomes.said_wrong));
            self.wrapped(
                &format!("People call {right} of all findings right and {wrong} wrong.{missed}"),
                "  ",
            );
        }
    }

    fn precision(&mut self, precision: &Precision) {
        if precision.overall.precision.is_none() {
            return;
        }
        self.title("How often a confirmed finding was right (and the 95 % interval)");
        let all = Named { name: "all".to_owned(), share: precision.overall };
        let named = |prefix: &str, named: &[Named]| {
            let row = |named: &Named| share_row(format!("{prefix}{}", clean(&named.name)), named.share);
            named.iter().map(row).collect::<Vec<_>>()
        };
        let mut rows = named("", &[all]);
        rows.extend(named("category ", &precision.by_category));
        rows.extend(named("by ", &precision.by_source));
        rows.extend(named("model ", &precision.by_model));
        self.chart(&rows);
        let known = precision.overall.right + precision.overall.wrong;
        if known < 30 {
            self.wrapped("So few are known that the interval says more than the share.", "  ");
        }
    }

    fn readers(&mut self, stats: &Stats) {
        self.reader("first", &stats.auditor);
        let second = &stats.second_reader;
        self.reader("second", &second.reader);
        if second.upheld + second.dismissed > 0 {
            let findings = number_of(second.upheld + second.dismissed, "finding", "findings");
            self.wrapped(
                &format!("Of {findings} it upheld {} and dismissed {}.", second.upheld, second.dismissed),
                "  ",
            );
        }
    }

    fn reader(&mut self, which: &str, reader: &ReaderStats) {
        if reader.asked == 0 {
            return;
        }
        let failed = reader.asked - reader.answered;
        let times = number_of(reader.asked, "time", "times");
        if reader.failures.is_empty() {
            self.title(&format!("The {which} reader was asked {times} and answered"));
        }
        let share = percent(ratio(failed, reader.asked));
        let title = format!("The {which} reader was asked {times}; {share} of it with no answer that counts");
        self.counts(&title, &reader.failures, reader.asked);
    }

    fn latency(&mut self, latency: &Latency) {
        let rows = [
            ("ours, stepping aside", latency.ours_aside),
            ("ours, auditing", latency.ours_audited),
            ("the readers", latency.auditor),
        ];
        let shown: Vec<(&str, Percentiles)> =
            rows.into_iter().filter_map(|(name, times)| Some((name, times?))).collect();
        if shown.is_empty() {
            return;
        }
        self.title("How long it took: half of the stops at the most, 90 %, 99 %");
        let row = |(name, times): &(&str, Percentiles)| Row {
            name: (*name).to_owned(),
            cells: [times.p50_ms, times.p90_ms, times.p99_ms].map(|ms| Milliseconds(ms).to_string()).to_vec(),
            share: 0.0,
        };
        self.chart(&shown.iter().map(row).collect::<Vec<_>>());
    }

    fn spent(&mut self, stats: &Stats) {
        if stats.days.is_empty() {
            return;
        }
        let all = sum("", &stats.days);
        self.title(&format!(
            "{} for {}: {} tokens read, {} written",
            Dollars(all.cost_usd),
            number_of(all.audits, "audit", "audits"),
            short(all.tokens_in),
            short(all.tokens_out),
        ));
        let months;
        let times = if stats.days.len() > MANY_DAYS {
            months = by_month(&stats.days);
            &months
        } else {
            &stats.days
        };
        self.chart(&spent_rows(times));
        self.text.push('\n');
        let mut projects: Vec<Spent> = stats.by_project.iter().take(MOST_PROJECTS).cloned().collect();
        let paths: Vec<&str> = stats.by_project.iter().map(|spent| spent.name.as_str()).collect();
        for (spent, name) in projects.iter_mut().zip(projects::names(&paths)) {
            spent.name = name;
        }
        let mut rows = spent_rows(&projects);
        if stats.by_project.len() > MOST_PROJECTS {
            let rest = &stats.by_project[MOST_PROJECTS..];
            let rest = sum(&number_of(rest.len(), "other project", "other projects"), rest);
            rows.extend(spent_rows(&[rest]).into_iter().map(|row| Row { share: 0.0, ..row }));
        }
        self.chart(&rows);
    }

    fn repeats(&mut self, repeats: &[Repeat]) {
        if repeats.is_empty() {
            return;
        }
        self.title("Disputed again and again");
        for repeat in repeats.iter().take(MOST_REPEATS) {
            self.repeat(repeat);
        }
        if repeats.len() > MOST_REPEATS {
            let more = number_of(repeats.len() - MOST_REPEATS, "other kind", "other kinds");
            self.wrapped(&format!("{more} in --json."), "  ");
        }
    }

    fn repeat(&mut self, repeat: &Repeat) {
        let kind = repeat.kind.map_or("", |kind| kind.name());
        let place = repeat.place.as_deref().map(|place| format!(" in {}", clean(place))).unwrap_or_default();
        let project = clean(&repeat.project);
        let category = repeat.category.name();
        let head = format!(
            "{} × category {category}, {kind}{place}, in {project}, {} right; newest {}",
            number(repeat.count),
            if repeat.right == 0 { "never".to_owned() } else { format!("{} ×", number(repeat.right)) },
            clean(&repeat.newest),
        );
        self.wrapped_in(LOUD, &head, "  ");
        self.wrapped(&format!("If you agree, under [audit] in {}:", clean(&repeat.file)), "    ");
        let line = self.styled(TITLE, &repeat.line);
        let _ = writeln!(self.text, "        {line}");
        let effect = if repeat.line.starts_with("block_on") {
            let right = match repeat.right_in_category {
                0 => "none of them has been right so far".to_owned(),
                1 => "1 of them has been right so far".to_owned(),
                count => format!("{} of them have been right so far", number(count)),
            };
            format!(
                "No finding of category {category} holds a stop there then ({right}); all stay in the log."
            )
        } else {
            "Such a claim is only told then, and holds no stop.".to_owned()
        };
        self.wrapped_in(QUIET, &effect, "    ");
    }
}

fn share_row(name: String, share: Share) -> Row {
    let interval = match (share.low, share.high) {
        (Some(low), Some(high)) => format!("{:.0}–{:.0} %", low * 100.0, high * 100.0),
        _ => String::new(),
    };
    let known = number(share.right + share.wrong);
    Row {
        name,
        cells: vec![percent(share.precision.unwrap_or(0.0)), interval, format!("of {known}")],
        share: share.precision.unwrap_or(0.0),
    }
}

fn spent_rows(all: &[Spent]) -> Vec<Row> {
    let most = all.iter().map(|spent| spent.cost_usd).fold(0.0, f64::max);
    let row = |spent: &Spent| Row {
        name: clean(&spent.name),
        cells: vec![
            if most < 1.0 { Dollars(spent.cost_usd).to_string() } else { format!("${:.2}", spent.cost_usd) },
            format!("{} in", short(spent.tokens_in)),
            format!("{} out", short(spent.tokens_out)),
            format!("{} ×", number(spent.audits)),
        ],
        share: if most > 0.0 { spent.cost_usd / most } else { 0.0 },
    };
    all.iter().map(row).collect()
}

fn sum(name: &str, all: &[Spent]) -> Spent {
    let mut sum = Spent { name: name.to_owned(), ..Spent::default() };
    for spent in all {
        sum.audits += spent.audits;
        sum.tokens_in += spent.tokens_in;
        sum.tokens_out += spent.tokens_out;
        sum.cost_usd += spent.cost_usd;
    }
    sum
}

fn by_month(days: &[Spent]) -> Vec<Spent> {
    let month = |day: &Spent| day.name.get(..7).unwrap_or_default().to_owned();
    days.chunk_by(|one, other| month(one) == month(other)).map(|days| sum(&month(&days[0]), days)).collect()
}

fn clean(word: &str) -> String {
    let mut text = String::new();
    push_clean(&mut text, word);
    text
}

#[expect(clippy::cast_precision_loss, reason = "so many decisions nobody has")]
fn ratio(part: usize, whole: usize) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

fn percent(share: f64) -> String {
    let percent = share * 100.0;
    if percent > 0.0 && percent < 9.95 { format!("{percent:.1} %") } else { format!("{percent:.0} %") }
}

fn number_of(count: usize, one: &str, many: &str) -> String {
    let counted = counted(count, one, many);
    counted.replacen(&count.to_string(), &number(count), 1)
}

fn number(count: usize) -> String {
    grouped(count as u64)
}

/// A large number in few letters.
#[expect(clippy::cast_precision_loss, reason = "only its first digits are shown")]
fn short(count: u64) -> String {
    match count {
        0..1_000 => count.to_string(),
        1_000..1_000_000 => format!("{:.1} k", count as f64 / 1e3),
        1_000_000..1_000_000_000 => format!("{:.1} M", count as f64 / 1e6),
        _ => format!("{:.1} G", count as f64 / 1e9),
    }
}
