//! The figures of the log for a terminal, with small bar charts. Pure.

use std::collections::HashMap;
use std::fmt::Write as _;

use anstyle::{AnsiColor, Style};

use crate::log::stats::{
    Count, GateStats, Latency, Named, Outcomes, Percentiles, Precision, ReaderStats, Repeat, Share, Spent,
    Stats,
};
use crate::paths::base_name;
use crate::render::paragraphs::{LABEL, Paragraphs, TITLE, UNVERIFIED};
use crate::render::table::{Cell, Column, Table, clean};
use crate::render::wording::{dollars, milliseconds, number, number_of, percent, short};

const BAR: Style = AnsiColor::Cyan.on_default();
const PLAIN: Style = Style::new();

/// The greatest and the smallest width of a bar.
const WIDEST_BAR: usize = 40;
const LEAST_BAR: usize = 4;
/// From this many days on, months are shown.
const MANY_DAYS: usize = 31;
/// How many projects, and how many kinds of disputed findings, are shown.
const MOST_PROJECTS: usize = 12;
const MOST_REPEATS: usize = 5;

/// How figures are laid out.
#[derive(Debug, Clone, Copy)]
pub struct Setting {
    /// The available width.
    pub width: usize,
    /// Whether bars use block characters rather than `#`.
    pub blocks: bool,
}

/// Renders all figures.
pub fn charts(stats: &Stats, setting: Setting) -> String {
    let mut charts = Charts { page: Paragraphs::new(setting.width), setting };
    charts.summary(stats);
    charts.counts("Why", &stats.causes, stats.decisions);
    charts.gates(&stats.gates);
    charts.counts("Checks", &stats.checks, stats.checks.iter().map(|count| count.count).sum());
    charts.counts("Worth knowing", &stats.advisories, stats.advisories.iter().map(|count| count.count).sum());
    charts.outcomes(&stats.outcomes);
    charts.precision(&stats.precision);
    charts.readers(stats);
    charts.latency(&stats.latency);
    charts.spent(stats);
    charts.repeats(&stats.repeats);
    charts.page.text
}

struct Charts {
    page: Paragraphs,
    setting: Setting,
}

/// One line of a chart.
struct Row {
    name: String,
    cells: Vec<String>,
    /// The share of the longest bar.
    share: f64,
}

impl Charts {
    fn title(&mut self, words: &str) {
        self.page.gap();
        self.page.wrapped(words, TITLE, "");
    }

    fn indented(&mut self, words: &str, style: Style, indent: &str) {
        self.page.wrapped(&format!("{indent}{words}"), style, indent);
    }

    /// Adds names, figures and bars in columns. Leaves out the bars if there is no room.
    fn chart(&mut self, rows: &[Row]) {
        let Some(first) = rows.first() else { return };
        let columns =
            [&[Column::fixed("")][..], &vec![Column::fixed("").right(); first.cells.len()]].concat();
        let cells = |row: &Row| std::iter::once(&row.name).chain(&row.cells).map(Cell::from).collect();
        let table = Table::new(&columns, rows.iter().map(cells).collect(), 2, false);
        let figures: usize = (1..columns.len()).map(|at| table.natural_width(at) + 2).sum();
        let room = self.setting.width.saturating_sub(figures + 2);
        let names = table.natural_width(0).min(room.max(8));
        let bars = room.saturating_sub(names + 2).min(WIDEST_BAR);
        let widths: Vec<_> = (0..columns.len())
            .map(|at| (at, if at == 0 { names } else { table.natural_width(at) }))
            .collect();
        for (row, line) in rows.iter().zip(table.draw(&widths).lines()) {
            self.page.text += line;
            if bars >= LEAST_BAR && row.share > 0.0 {
                let _ = write!(self.page.text, "  {BAR}{}{BAR:#}", self.bar(row.share, bars));
            }
            self.page.gap();
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
        self.indented(&head, PLAIN, "");
        let some = |count: usize, what: &str| {
            if count == 0 { String::new() } else { format!(" {} {what}.", number(count)) }
        };
        let dry = some(stats.would_block, "more would have been, but for a dry run or a count that failed");
        let unchecked = some(stats.could_not_check, "could not be checked");
        let audit = stats.block_rate.map_or_else(String::new, |rate| {
            format!(" The audit held {} of the {} that it judged.", percent(rate), number(stats.audited))
        });
        let stops = format!(
            "{} held: {} of all.{audit}{dry}{unchecked}",
            number_of(stats.blocks, "stop was", "stops were"),
            percent(ratio(stats.blocks, stats.decisions)),
        );
        self.indented(&stops, PLAIN, "");
    }

    /// Adds how often each gate checked a stop, and how often it blocked.
    fn gates(&mut self, gates: &[GateStats]) {
        if gates.is_empty() {
            return;
        }
        self.title("Gates");
        let most = gates.iter().map(|gate| gate.looked).max().unwrap_or(1);
        let row = |gate: &GateStats| Row {
            name: clean(&gate.name),
            cells: vec![format!("{} looked", number(gate.looked)), format!("{} held", number(gate.held))],
            share: ratio(gate.looked, most),
        };
        self.chart(&gates.iter().map(row).collect::<Vec<_>>());
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
                "Outcomes of {} that blocked a stop",
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
                count => format!(" {} that went through should not have.", number_of(count, "stop", "stops")),
            };
            let (right, wrong) = (number(outcomes.said_right), number(outcomes.said_wrong));
            self.indented(
                &format!("People call {right} of all findings right and {wrong} wrong.{missed}"),
                PLAIN,
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
            self.indented("There are so few that the interval says more than the share.", PLAIN, "  ");
        }
    }

    fn readers(&mut self, stats: &Stats) {
        self.reader("first", &stats.auditor);
        let second = &stats.second_reader;
        self.reader("second", &second.reader);
        if second.upheld + second.dismissed > 0 {
            let findings = number_of(second.upheld + second.dismissed, "finding", "findings");
            self.indented(
                &format!("Of {findings} it upheld {} and dismissed {}.", second.upheld, second.dismissed),
                PLAIN,
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
        let title = format!("The {which} reader was asked {times}; {share} of it without a valid answer");
        self.counts(&title, &reader.failures, reader.asked);
    }

    fn latency(&mut self, latency: &Latency) {
        let times = [
            ("ours, skipped stops", latency.ours_aside),
            ("ours, auditing", latency.ours_audited),
            ("the readers", latency.auditor),
        ];
        let row = |(name, times): (&str, Option<Percentiles>)| {
            let Percentiles { p50_ms, p90_ms, p99_ms, .. } = times?;
            let cells = [p50_ms, p90_ms, p99_ms].map(milliseconds).to_vec();
            Some(Row { name: name.to_owned(), cells, share: 0.0 })
        };
        let rows: Vec<Row> = times.into_iter().filter_map(row).collect();
        if !rows.is_empty() {
            self.title("How long it took: median, 90 %, 99 %");
            self.chart(&rows);
        }
    }

    fn spent(&mut self, stats: &Stats) {
        if stats.days.is_empty() {
            return;
        }
        let all = sum("", &stats.days);
        self.title(&format!(
            "{} for {} and all other questions: {} tokens read, {} written",
            dollars(all.cost_usd),
            number_of(all.audits, "audit", "audits"),
            short(all.tokens_in),
            short(all.tokens_out),
        ));
        let is_long = stats.days.len() > MANY_DAYS;
        let times = if is_long { by_month(&stats.days) } else { stats.days.clone() };
        self.chart(&spent_rows(&times));
        self.page.gap();
        let mut projects: Vec<Spent> = stats.by_project.iter().take(MOST_PROJECTS).cloned().collect();
        let paths: Vec<&str> = stats.by_project.iter().map(|spent| spent.name.as_str()).collect();
        for (spent, name) in projects.iter_mut().zip(project_names(&paths)) {
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
        self.title("Disputed repeatedly");
        for repeat in repeats.iter().take(MOST_REPEATS) {
            self.repeat(repeat);
        }
        if repeats.len() > MOST_REPEATS {
            let more = number_of(repeats.len() - MOST_REPEATS, "other kind", "other kinds");
            self.indented(&format!("{more} in --json."), PLAIN, "  ");
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
        self.indented(&head, UNVERIFIED, "  ");
        let is_table = repeat.line.starts_with("[[");
        let place = if is_table { "at the end of" } else { "under [audit] in" };
        let file = clean(&repeat.file);
        self.indented(&format!("If you agree, {place} {file}, and `punchlist allow`:"), PLAIN, "    ");
        for line in repeat.line.lines() {
            let _ = writeln!(self.page.text, "        {TITLE}{}{TITLE:#}", clean(line));
        }
        let effect = if is_table {
            format!(
                "No finding of category {category} on these paths then blocks a stop; all stay in the log."
            )
        } else if repeat.line.starts_with("block_on") {
            let right = match repeat.right_in_category {
                0 => "none of them has been right so far".to_owned(),
                count => number_of(count, "of them has been right so far", "of them have been right so far"),
            };
            format!(
                "No finding of category {category} then blocks a stop there ({right}); all stay in the log."
            )
        } else {
            "Such a claim is then only reported, and blocks no stop.".to_owned()
        };
        self.indented(&effect, LABEL, "    ");
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
            if most < 1.0 { dollars(spent.cost_usd) } else { format!("${:.2}", spent.cost_usd) },
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

#[expect(clippy::cast_precision_loss, reason = "no log has so many decisions")]
fn ratio(part: usize, whole: usize) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

/// Returns a name for each path, in order: the name of its folder; if several have the same one,
/// with the part of the path in which they differ; if that is not enough, the whole path.
pub fn project_names(paths: &[&str]) -> Vec<String> {
    let mut alike: HashMap<&str, Vec<&str>> = HashMap::new();
    for path in paths {
        alike.entry(base_name(path)).or_default().push(path);
    }
    paths.iter().map(|path| project_name(path, &alike[base_name(path)])).collect()
}

fn project_name(path: &str, alike: &[&str]) -> String {
    let own = base_name(path);
    if alike.len() == 1 {
        return own.to_owned();
    }
    let mine = parts(path);
    let others: Vec<_> = alike.iter().filter(|other| **other != path).map(|other| parts(other)).collect();
    let differs = (1..mine.len()).find(|at| others.iter().all(|other| other.get(*at) != mine.get(*at)));
    differs.map_or_else(|| path.to_owned(), |at| format!("{own} ({})", mine[at]))
}

/// Returns the components of a path, the last one first.
fn parts(path: &str) -> Vec<&str> {
    path.rsplit('/').filter(|part| !part.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_several_share_says_where_they_differ() {
        let paths = ["/home/ana/work/shop", "/home/bo/work/shop", "/home/ana/work/infra", ""];
        assert_eq!(project_names(&paths), ["shop (ana)", "shop (bo)", "infra", ""]);
        assert_eq!(
            project_names(&["/a/b/shop", "/a/c/shop", "/d/b/shop"]),
            ["/a/b/shop", "shop (c)", "shop (d)"]
        );
        assert_eq!(project_names(&["/shop", "/a/shop"]), ["/shop", "shop (a)"]);
    }
}
