//! What the log comes to: takes decisions and all that is known of them, gives figures. Pure: values in, values out. A
//! suggestion is only ever one; nothing is learned from what people dispute.

use std::collections::{BTreeMap, HashMap, HashSet};

use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde::Serialize;

use super::filter::Verdict;
use super::note::{FindingOutcome, Judgement};
use super::seen::Seen;
use crate::decision::could_not_check;
use crate::finding::{Category, Kind, Source, Status};
use crate::log::summary::ReaderSummary;

/// The number of this format. Fields may be added under it; none is renamed or given another meaning.
pub const SCHEMA: u32 = 1;
/// How often a project has to dispute the same before it is told.
pub const OFTEN: usize = 3;

/// All figures. `docs/log-json.md` documents each field, and a test holds the two together.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[expect(missing_docs, reason = "each is documented in docs/log-json.md")]
pub struct Stats {
    pub schema: u32,
    pub from: Option<String>,
    pub to: Option<String>,
    pub decisions: usize,
    pub sessions: usize,
    pub projects: usize,
    pub blocks: usize,
    pub would_block: usize,
    pub allows: usize,
    pub could_not_check: usize,
    pub audited: usize,
    pub block_rate: Option<f64>,
    pub causes: Vec<Count>,
    pub outcomes: Outcomes,
    pub precision: Precision,
    pub auditor: ReaderStats,
    pub second_reader: SecondStats,
    pub latency: Latency,
    pub days: Vec<Spent>,
    pub by_project: Vec<Spent>,
    pub repeats: Vec<Repeat>,
}

/// How often something was there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[expect(missing_docs, reason = "each is documented in docs/log-json.md")]
pub struct Count {
    pub name: String,
    pub count: usize,
}

/// What became of the confirmed findings of blocks, and what people say.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[expect(missing_docs, reason = "each is documented in docs/log-json.md")]
pub struct Outcomes {
    pub findings: usize,
    pub fixed: usize,
    pub disputed: usize,
    pub ignored: usize,
    pub open: usize,
    pub said_right: usize,
    pub said_wrong: usize,
    pub missed: usize,
}

/// How often confirmed findings were right.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[expect(missing_docs, reason = "each is documented in docs/log-json.md")]
pub struct Precision {
    pub overall: Share,
    pub by_category: Vec<Named>,
    pub by_source: Vec<Named>,
    pub by_model: Vec<Named>,
}

/// A share with a name.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[expect(missing_docs, reason = "each is documented in docs/log-json.md")]
pub struct Named {
    pub name: String,
    #[serde(flatten)]
    pub share: Share,
}

/// So many of so many, and between what the true share lies with 95 % confidence.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
#[expect(missing_docs, reason = "each is documented in docs/log-json.md")]
pub struct Share {
    pub right: usize,
    pub wrong: usize,
    pub precision: Option<f64>,
    pub low: Option<f64>,
    pub high: Option<f64>,
}

/// How a reader answered.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[expect(missing_docs, reason = "each is documented in docs/log-json.md")]
pub struct ReaderStats {
    pub asked: usize,
    pub answered: usize,
    pub failures: Vec<Count>,
}

/// The second reader, and what it said of findings.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[expect(missing_docs, reason = "each is documented in docs/log-json.md")]
pub struct SecondStats {
    #[serde(flatten)]
    pub reader: ReaderStats,
    pub upheld: usize,
    pub dismissed: usize,
}

/// How long things took.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[expect(missing_docs, reason = "each is documented in docs/log-json.md")]
pub struct Latency {
    pub ours_aside: Option<Percentiles>,
    pub ours_audited: Option<Percentiles>,
    pub auditor: Option<Percentiles>,
}

/// In milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[expect(missing_docs, reason = "each is documented in docs/log-json.md")]
pub struct Percentiles {
    pub count: usize,
    pub p50_ms: f64,
    pub p90_ms: f64,
    pub p99_ms: f64,
}

/// What was spent.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[expect(missing_docs, reason = "each is documented in docs/log-json.md")]
pub struct Spent {
    pub name: String,
    pub audits: usize,
    pub tokens_in: u64,
    pub tokens_out: u64,
    pub cost_usd: f64,
}

/// What one project disputes again and again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[expect(missing_docs, reason = "each is documented in docs/log-json.md")]
pub struct Repeat {
    pub project: String,
    pub category: Category,
    pub kind: Option<Kind>,
    pub place: Option<String>,
    pub count: usize,
    pub right: usize,
    pub right_in_category: usize,
    pub newest: String,
    pub file: String,
    pub line: String,
}

/// Works them out. Days are those of the zone.
pub fn stats(all: &[Seen<'_>], zone: &TimeZone) -> Stats {
    let (mut sessions, mut projects) = (HashSet::new(), HashSet::new());
    let mut causes: HashMap<&str, usize> = HashMap::new();
    let mut verdicts: BTreeMap<Verdict, usize> = BTreeMap::new();
    let (mut audited, mut unchecked) = (0, 0);
    for seen in all {
        let glance = &seen.glance;
        sessions.extend(glance.session.as_deref());
        projects.extend(glance.project.as_deref());
        *causes.entry(if glance.cause.is_empty() { "unknown" } else { &glance.cause }).or_default() += 1;
        *verdicts.entry(glance.verdict).or_default() += 1;
        audited += usize::from(was_audited(seen));
        unchecked += usize::from(glance.verdict == Verdict::Allow && could_not_check(&glance.cause));
    }
    let count = |verdict: Verdict| verdicts.get(&verdict).copied().unwrap_or(0);
    let blocks = count(Verdict::Block);
    let time = |seen: Option<&Seen<'_>>| seen.map(|seen| seen.glance.time.to_string());
    Stats {
        schema: SCHEMA,
        from: time(all.first()),
        to: time(all.last()),
        decisions: all.len(),
        sessions: sessions.len(),
        projects: projects.len(),
        blocks,
        would_block: count(Verdict::WouldBlock),
        allows: count(Verdict::Allow),
        could_not_check: unchecked,
        audited,
        block_rate: share(blocks, audited),
        causes: most_first(causes),
        outcomes: outcomes(all),
        precision: precision(all),
        auditor: reader(all.iter().filter_map(|seen| seen.glance.auditor.as_ref())),
        second_reader: second_reader(all),
        latency: latency(all),
        days: days(all, zone),
        by_project: by_project(all),
        repeats: repeats(all),
    }
}

/// Whether plan, session and disk were looked at.
fn was_audited(seen: &Seen<'_>) -> bool {
    seen.glance.auditor.is_some()
        || matches!(seen.glance.cause.as_ref(), "clean" | "findings" | "only-unverified" | "moved-on")
}

fn share(part: usize, whole: usize) -> Option<f64> {
    #[expect(clippy::cast_precision_loss, reason = "so many decisions nobody has")]
    (whole > 0).then(|| part as f64 / whole as f64)
}

fn most_first(counts: HashMap<&str, usize>) -> Vec<Count> {
    let mut counts: Vec<_> =
        counts.into_iter().map(|(name, count)| Count { name: name.to_owned(), count }).collect();
    counts.sort_by(|one, other| other.count.cmp(&one.count).then_with(|| one.name.cmp(&other.name)));
    counts
}

fn outcomes(all: &[Seen<'_>]) -> Outcomes {
    let mut outcomes = Outcomes::default();
    for seen in all {
        let is_block = seen.glance.verdict == Verdict::Block;
        let mut has_confirmed = false;
        for (at, finding) in seen.glance.findings.iter().enumerate() {
            if finding.status != Some(Status::Confirmed) {
                continue;
            }
            has_confirmed = true;
            let fate = seen.fate(at);
            match fate.label {
                Some(Judgement::Right) => outcomes.said_right += 1,
                Some(Judgement::Wrong) => outcomes.said_wrong += 1,
                None => {}
            }
            if is_block {
                outcomes.findings += 1;
                match fate.became {
                    Some(FindingOutcome::Fixed) => outcomes.fixed += 1,
                    Some(FindingOutcome::Disputed) => outcomes.disputed += 1,
                    Some(FindingOutcome::Ignored) => outcomes.ignored += 1,
                    None => outcomes.open += 1,
                }
            }
        }
        // Wrong to let it go: something was there, and nobody saw it.
        outcomes.missed += usize::from(!has_confirmed && seen.label == Some(Judgement::Wrong));
    }
    outcomes
}

impl Share {
    fn add(&mut self, right: bool) {
        if right {
            self.right += 1;
        } else {
            self.wrong += 1;
        }
    }

    /// With the interval of Wilson, which holds for few and for shares near 0 and 1, too.
    #[expect(clippy::cast_precision_loss, reason = "so many findings nobody has")]
    fn worked_out(self) -> Self {
        let count = self.right + self.wrong;
        let Some(share) = share(self.right, count) else { return self };
        let (n, z) = (count as f64, 1.959_964);
        let middle = (share + z * z / (2.0 * n)) / (1.0 + z * z / n);
        let half = z * (share * (1.0 - share) / n + z * z / (4.0 * n * n)).sqrt() / (1.0 + z * z / n);
        Self {
            precision: Some(share),
            low: Some((middle - half).max(0.0)),
            high: Some((middle + half).min(1.0)),
            ..self
        }
    }
}

fn precision(all: &[Seen<'_>]) -> Precision {
    let mut overall = Share::default();
    let mut categories: BTreeMap<Category, Share> = BTreeMap::new();
    let mut sources: HashMap<Source, Share> = HashMap::new();
    let mut models: BTreeMap<&str, Share> = BTreeMap::new();
    for seen in all {
        for (at, finding) in seen.glance.findings.iter().enumerate() {
            let is_confirmed = finding.status == Some(Status::Confirmed);
            let Some(right) = seen.fate(at).was_right().filter(|_| is_confirmed) else { continue };
            overall.add(right);
            if let Some(category) = finding.category {
                categories.entry(category).or_default().add(right);
            }
            let Some(source) = finding.source else { continue };
            sources.entry(source).or_default().add(right);
            // What the facts alone found says nothing of a model.
            let model = seen.glance.auditor.as_ref().filter(|_| source != Source::Facts);
            if let Some(auditor) = model {
                models.entry(&auditor.model).or_default().add(right);
            }
        }
    }
    let named = |name: &str, share: Share| Named { name: name.to_owned(), share: share.worked_out() };
    let of_source = |source: Source| Some(named(source.name(), *sources.get(&source)?));
    Precision {
        overall: overall.worked_out(),
        by_category: categories.into_iter().map(|(category, share)| named(category.name(), share)).collect(),
        by_source: Source::ALL.into_iter().filter_map(of_source).collect(),
        by_model: models.into_iter().map(|(model, share)| named(model, share)).collect(),
    }
}

fn reader<'a>(runs: impl Iterator<Item = &'a ReaderSummary<'a>>) -> ReaderStats {
    let mut failures: HashMap<&str, usize> = HashMap::new();
    let (mut asked, mut answered) = (0, 0);
    for run in runs.filter(|run| run.was_asked()) {
        match run.outcome.as_ref() {
            "answered" => answered += 1,
            failure => {
                *failures.entry(if failure.is_empty() { "unknown" } else { failure }).or_default() += 1;
            }
        }
        asked += 1;
    }
    ReaderStats { asked, answered, failures: most_first(failures) }
}

fn second_reader(all: &[Seen<'_>]) -> SecondStats {
    let findings = all.iter().flat_map(|seen| &seen.glance.findings);
    let (mut upheld, mut dismissed) = (0, 0);
    for was_upheld in findings.filter_map(|finding| finding.upheld) {
        *if was_upheld { &mut upheld } else { &mut dismissed } += 1;
    }
    let runs = all.iter().filter_map(|seen| seen.glance.second_reader.as_ref());
    SecondStats { reader: reader(runs), upheld, dismissed }
}

fn latency(all: &[Seen<'_>]) -> Latency {
    let (mut aside, mut audits, mut readers) = (Vec::new(), Vec::new(), Vec::new());
    for seen in all {
        let glance = &seen.glance;
        let asked: Vec<f64> =
            glance.readers().filter(|reader| reader.was_asked()).map(|reader| reader.duration_ms).collect();
        if !asked.is_empty() {
            readers.push(asked.iter().sum());
        }
        let Some(total) = glance.total_ms else { continue };
        let theirs = glance.readers_ms().unwrap_or(0.0);
        if was_audited(seen) { &mut audits } else { &mut aside }.push((total - theirs).max(0.0));
    }
    Latency {
        ours_aside: percentiles(aside),
        ours_audited: percentiles(audits),
        auditor: percentiles(readers),
    }
}

/// By rank: each is a time that something really took.
fn percentiles(mut times: Vec<f64>) -> Option<Percentiles> {
    let count = times.len();
    times.sort_unstable_by(f64::total_cmp);
    let rank = |percent: usize| times.get((count * percent).div_ceil(100).saturating_sub(1)).copied();
    Some(Percentiles { count, p50_ms: rank(50)?, p90_ms: rank(90)?, p99_ms: rank(99)? })
}

fn add_spent(spent: &mut Spent, seen: &Seen<'_>) {
    spent.audits += usize::from(seen.glance.auditor.is_some());
    for reader in seen.glance.readers() {
        spent.tokens_in += reader.tokens_in;
        spent.tokens_out += reader.tokens_out;
        spent.cost_usd += reader.cost_usd.unwrap_or(0.0);
    }
}

fn days(all: &[Seen<'_>], zone: &TimeZone) -> Vec<Spent> {
    let mut days: Vec<Spent> = Vec::new();
    for seen in all.iter().filter(|seen| seen.glance.auditor.is_some()) {
        let Ok(time) = Timestamp::from_millisecond(seen.glance.ms) else { continue };
        let name = zone.to_datetime(time).date().to_string();
        if days.last().is_none_or(|day| day.name != name) {
            days.push(Spent { name, ..Spent::default() });
        }
        if let Some(day) = days.last_mut() {
            add_spent(day, seen);
        }
    }
    days
}

/// Those that cost most first.
fn by_project(all: &[Seen<'_>]) -> Vec<Spent> {
    let mut projects: HashMap<&str, Spent> = HashMap::new();
    for seen in all.iter().filter(|seen| seen.glance.auditor.is_some()) {
        let name = seen.glance.project.as_deref().unwrap_or("unknown");
        add_spent(projects.entry(name).or_default(), seen);
    }
    let mut projects: Vec<_> =
        projects.into_iter().map(|(name, spent)| Spent { name: name.to_owned(), ..spent }).collect();
    projects.sort_by(|one, other| {
        other.cost_usd.total_cmp(&one.cost_usd).then_with(|| one.name.cmp(&other.name))
    });
    projects
}

/// Findings of one kind that one project says are wrong, again and again and more often than not; most often first.
fn repeats(all: &[Seen<'_>]) -> Vec<Repeat> {
    let mut groups: BTreeMap<(&str, Category, &str, Option<&str>), Group<'_>> = BTreeMap::new();
    let mut right_in_category: HashMap<(&str, Category), usize> = HashMap::new();
    for seen in all {
        let Some(project) = seen.glance.project.as_deref() else { continue };
        for (at, finding) in seen.glance.findings.iter().enumerate() {
            let is_confirmed = finding.status == Some(Status::Confirmed);
            let known = seen.fate(at).was_right().filter(|_| is_confirmed);
            let (Some(right), Some(category)) = (known, finding.category) else { continue };
            let path = finding.path.as_deref();
            let folder = path.map(|path| path.rsplit_once('/').map_or("", |(folder, _)| folder));
            let key = (project, category, finding.kind.map_or("", Kind::name), folder);
            let group = groups.entry(key).or_default();
            if right {
                group.right += 1;
                *right_in_category.entry((project, category)).or_default() += 1;
                continue;
            }
            group.count += 1;
            group.newest = &seen.glance.id;
            group.kind = finding.kind;
            group.paths.extend(path);
        }
    }
    let often = groups.into_iter().filter(|(_, group)| group.count >= OFTEN && group.count > group.right);
    let mut repeats: Vec<_> = often
        .map(|((project, category, _, folder), group)| {
            let mut paths = group.paths.iter();
            let place = match (paths.next(), paths.next()) {
                (Some(only), None) => Some((*only).to_owned()),
                _ => folder.map(|folder| format!("{folder}/")),
            };
            Repeat {
                project: project.to_owned(),
                category,
                kind: group.kind,
                place,
                count: group.count,
                right: group.right,
                right_in_category: right_in_category.get(&(project, category)).copied().unwrap_or(0),
                newest: group.newest.to_owned(),
                file: format!("{}/.claude/punchlist.toml", project.trim_end_matches('/')),
                line: config_line(category, &group),
            }
        })
        .collect();
    repeats.sort_by_key(|repeat| std::cmp::Reverse(repeat.count));
    repeats
}

#[derive(Debug, Default)]
struct Group<'a> {
    count: usize,
    right: usize,
    newest: &'a str,
    kind: Option<Kind>,
    paths: HashSet<&'a str>,
}

/// The line under `[audit]` that would have let these stops go: the narrowest there is.
fn config_line(category: Category, group: &Group<'_>) -> String {
    if category == Category::A && group.kind == Some(Kind::NotRun) {
        return "unrun_checks = \"advise\"".to_owned();
    }
    let others = Category::ALL.into_iter().filter(|other| *other != category);
    let others: Vec<_> = others.map(|other| format!("\"{}\"", other.name())).collect();
    format!("block_on = [{}]", others.join(", "))
}

#[cfg(test)]
mod tests;
