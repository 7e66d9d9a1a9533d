//! Figures over many decisions: how often, how right, how fast, how dear. Pure. What people dispute
//! leads to a suggestion and changes nothing by itself.
#![expect(missing_docs, reason = "docs/log-json.md documents each field")]

use std::collections::{BTreeMap, HashMap, HashSet};

use jiff::tz::TimeZone;
use serde::Serialize;

use crate::decision::could_not_check;
use crate::finding::{Category, Kind, Source, Status};
use crate::log::Annotated;
use crate::log::annotated::FindingNotes;
use crate::log::filter::DecisionKind;
use crate::log::note::{FindingOutcome, Label};
use crate::log::record::ReaderRecord;
use crate::log::summary::{FindingSummary, Summary};

/// The number of this format. Fields may be added under it; none is renamed or given another
/// meaning.
pub const SCHEMA: u32 = 1;
/// How often a project has to dispute the same before it is suggested.
pub const OFTEN: usize = 3;

/// All figures. `docs/log-json.md` documents each field, and a test holds the two together.
#[derive(Debug, Clone, PartialEq, Serialize)]
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

/// How often something occurred.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Count {
    pub name: String,
    pub count: usize,
}

/// The outcomes of the confirmed findings of blocks, and what people say.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
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
pub struct Precision {
    pub overall: Share,
    pub by_category: Vec<Named>,
    pub by_source: Vec<Named>,
    pub by_model: Vec<Named>,
}

/// A share with a name.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Named {
    pub name: String,
    #[serde(flatten)]
    pub share: Share,
}

/// A share, and the interval in which the true one lies with 95 % confidence.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Share {
    pub right: usize,
    pub wrong: usize,
    pub precision: Option<f64>,
    pub low: Option<f64>,
    pub high: Option<f64>,
}

/// How a reader answered.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct ReaderStats {
    pub asked: usize,
    pub answered: usize,
    pub failures: Vec<Count>,
}

/// The second reader, and what it said of findings.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct SecondStats {
    #[serde(flatten)]
    pub reader: ReaderStats,
    pub upheld: usize,
    pub dismissed: usize,
}

/// How long things took.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Latency {
    pub ours_aside: Option<Percentiles>,
    pub ours_audited: Option<Percentiles>,
    pub auditor: Option<Percentiles>,
}

/// In milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Percentiles {
    pub count: usize,
    pub p50_ms: f64,
    pub p90_ms: f64,
    pub p99_ms: f64,
}

/// What was spent.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Spent {
    pub name: String,
    pub audits: usize,
    pub tokens_in: u64,
    pub tokens_out: u64,
    pub cost_usd: f64,
}

/// What one project disputes again and again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
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

/// A decision as it is counted here.
type Decision = Annotated<Summary>;

/// Counts decisions, oldest first. Days are those of the zone.
pub fn stats(all: &[Decision], zone: &TimeZone) -> Stats {
    let summaries = || all.iter().map(|annotated| &annotated.decision);
    let count = |kind: DecisionKind| summaries().filter(|summary| summary.decision() == kind).count();
    let cause =
        |summary: &'_ Summary| if summary.cause.is_empty() { "unknown" } else { &summary.cause }.to_owned();
    let is_unchecked =
        |summary: &&Summary| summary.decision() == DecisionKind::Allow && could_not_check(&summary.cause);
    let distinct =
        |of: fn(&Summary) -> Option<&str>| summaries().filter_map(of).collect::<HashSet<_>>().len();
    let blocks = count(DecisionKind::Block);
    let audited = summaries().filter(|summary| was_audited(summary)).count();
    Stats {
        schema: SCHEMA,
        from: summaries().next().map(|summary| summary.time.clone()),
        to: summaries().next_back().map(|summary| summary.time.clone()),
        decisions: all.len(),
        sessions: distinct(|summary| summary.session.as_deref()),
        projects: distinct(|summary| summary.project.as_deref()),
        blocks,
        would_block: count(DecisionKind::WouldBlock),
        allows: count(DecisionKind::Allow),
        could_not_check: summaries().filter(is_unchecked).count(),
        audited,
        block_rate: ratio(blocks, audited),
        causes: most_first(summaries().map(cause)),
        outcomes: outcomes(all),
        precision: precision(all),
        auditor: reader(summaries().filter_map(|summary| summary.auditor.as_ref())),
        second_reader: second_reader(all),
        latency: latency(all),
        days: days(all, zone),
        by_project: by_project(all),
        repeats: repeats(all),
    }
}

/// Whether plan, session and disk were looked at.
fn was_audited(summary: &Summary) -> bool {
    summary.auditor.is_some()
        || matches!(summary.cause.as_str(), "clean" | "findings" | "only-unverified" | "moved-on")
}

fn ratio(part: usize, whole: usize) -> Option<f64> {
    #[expect(clippy::cast_precision_loss, reason = "no log has so many decisions")]
    (whole > 0).then(|| part as f64 / whole as f64)
}

fn most_first(names: impl Iterator<Item = String>) -> Vec<Count> {
    let mut counts: HashMap<String, usize> = HashMap::new();
    names.for_each(|name| *counts.entry(name).or_default() += 1);
    let mut counts: Vec<_> = counts.into_iter().map(|(name, count)| Count { name, count }).collect();
    counts.sort_by(|one, other| other.count.cmp(&one.count).then_with(|| one.name.cmp(&other.name)));
    counts
}

/// The confirmed findings of a decision, with the notes on each.
fn confirmed(annotated: &Decision) -> impl Iterator<Item = (&FindingSummary, &FindingNotes)> {
    let findings = annotated.decision.findings.iter().zip(&annotated.findings);
    findings.filter(|(finding, _)| finding.status == Some(Status::Confirmed))
}

fn outcomes(all: &[Decision]) -> Outcomes {
    let mut outcomes = Outcomes::default();
    for annotated in all {
        let is_block = annotated.decision.decision() == DecisionKind::Block;
        for (_, notes) in confirmed(annotated) {
            match notes.label() {
                Some(Label::Right) => outcomes.said_right += 1,
                Some(Label::Wrong) => outcomes.said_wrong += 1,
                None => {}
            }
            if is_block {
                outcomes.findings += 1;
                *match notes.outcome() {
                    Some(FindingOutcome::Fixed) => &mut outcomes.fixed,
                    Some(FindingOutcome::Disputed) => &mut outcomes.disputed,
                    Some(FindingOutcome::Ignored) => &mut outcomes.ignored,
                    None => &mut outcomes.open,
                } += 1;
            }
        }
        // Wrong to let it go: something was there that nothing found.
        let is_wrong = annotated.label.as_ref().is_some_and(|note| note.label == Label::Wrong);
        outcomes.missed += usize::from(is_wrong && confirmed(annotated).next().is_none());
    }
    outcomes
}

impl Share {
    fn add(&mut self, right: bool) {
        *if right { &mut self.right } else { &mut self.wrong } += 1;
    }

    /// Adds the share and Wilson's interval, which also holds for few findings and for shares near
    /// 0 and 1.
    #[expect(clippy::cast_precision_loss, reason = "no log has so many findings")]
    fn with_interval(self) -> Self {
        let count = self.right + self.wrong;
        let Some(share) = ratio(self.right, count) else { return self };
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

fn precision(all: &[Decision]) -> Precision {
    let mut overall = Share::default();
    let mut categories: BTreeMap<Category, Share> = BTreeMap::new();
    let mut sources: HashMap<Source, Share> = HashMap::new();
    let mut models: BTreeMap<&str, Share> = BTreeMap::new();
    for annotated in all {
        for (finding, notes) in confirmed(annotated) {
            let Some(right) = notes.was_right() else { continue };
            overall.add(right);
            if let Some(category) = finding.category {
                categories.entry(category).or_default().add(right);
            }
            let Some(source) = finding.source else { continue };
            sources.entry(source).or_default().add(right);
            // What the facts alone found says nothing of a model.
            if let Some(auditor) = annotated.decision.auditor.as_ref().filter(|_| source != Source::Facts) {
                models.entry(&auditor.model).or_default().add(right);
            }
        }
    }
    let named = |name: &str, share: Share| Named { name: name.to_owned(), share: share.with_interval() };
    let of_source = |source: Source| Some(named(source.name(), *sources.get(&source)?));
    Precision {
        overall: overall.with_interval(),
        by_category: categories.into_iter().map(|(category, share)| named(category.name(), share)).collect(),
        by_source: Source::ALL.into_iter().filter_map(of_source).collect(),
        by_model: models.into_iter().map(|(model, share)| named(model, share)).collect(),
    }
}

fn reader<'a>(runs: impl Iterator<Item = &'a ReaderRecord>) -> ReaderStats {
    let (answered, failed): (Vec<_>, Vec<_>) =
        runs.filter(|run| run.was_asked()).partition(|run| run.outcome == "answered");
    let failure =
        |run: &&ReaderRecord| if run.outcome.is_empty() { "unknown".to_owned() } else { run.outcome.clone() };
    ReaderStats {
        asked: answered.len() + failed.len(),
        answered: answered.len(),
        failures: most_first(failed.iter().map(failure)),
    }
}

fn second_reader(all: &[Decision]) -> SecondStats {
    let findings = all.iter().flat_map(|annotated| &annotated.decision.findings);
    let (upheld, dismissed): (Vec<bool>, Vec<bool>) =
        findings.filter_map(|finding| Some(finding.second?.upheld)).partition(|upheld| *upheld);
    let runs = all.iter().filter_map(|annotated| annotated.decision.second_reader.as_ref());
    SecondStats { reader: reader(runs), upheld: upheld.len(), dismissed: dismissed.len() }
}

fn latency(all: &[Decision]) -> Latency {
    let (mut aside, mut audits, mut readers) = (Vec::new(), Vec::new(), Vec::new());
    for Annotated { decision, .. } in all {
        let asked = decision.readers().filter(|reader| reader.was_asked()).map(|reader| reader.duration_ms);
        readers.extend(asked.reduce(|one, other| one + other));
        let Some(total) = decision.phases_ms.total else { continue };
        let ours = (total - decision.readers_ms().unwrap_or(0.0)).max(0.0);
        if was_audited(decision) { &mut audits } else { &mut aside }.push(ours);
    }
    Latency {
        ours_aside: percentiles(aside),
        ours_audited: percentiles(audits),
        auditor: percentiles(readers),
    }
}

/// By rank, so that each is a time that something really took.
fn percentiles(mut times: Vec<f64>) -> Option<Percentiles> {
    let count = times.len();
    times.sort_unstable_by(f64::total_cmp);
    let rank = |percent: usize| times.get((count * percent).div_ceil(100).saturating_sub(1)).copied();
    Some(Percentiles { count, p50_ms: rank(50)?, p90_ms: rank(90)?, p99_ms: rank(99)? })
}

impl Spent {
    fn add(&mut self, decision: &Summary) {
        self.audits += 1;
        for reader in decision.readers() {
            self.tokens_in += reader.usage.total_input();
            self.tokens_out += reader.usage.output;
            self.cost_usd += reader.usage.cost_usd.unwrap_or(0.0);
        }
    }
}

fn audits(all: &[Decision]) -> impl Iterator<Item = &Summary> {
    all.iter().map(|annotated| &annotated.decision).filter(|summary| summary.auditor.is_some())
}

fn days(all: &[Decision], zone: &TimeZone) -> Vec<Spent> {
    let mut days: BTreeMap<String, Spent> = BTreeMap::new();
    for summary in audits(all) {
        days.entry(zone.to_datetime(summary.at).date().to_string()).or_default().add(summary);
    }
    days.into_iter().map(|(name, spent)| Spent { name, ..spent }).collect()
}

/// Those that cost most first.
fn by_project(all: &[Decision]) -> Vec<Spent> {
    let mut projects: BTreeMap<&str, Spent> = BTreeMap::new();
    for summary in audits(all) {
        projects.entry(summary.project.as_deref().unwrap_or("unknown")).or_default().add(summary);
    }
    let mut projects: Vec<_> =
        projects.into_iter().map(|(name, spent)| Spent { name: name.to_owned(), ..spent }).collect();
    projects.sort_by(|one, other| other.cost_usd.total_cmp(&one.cost_usd));
    projects
}

/// Kinds of findings that one project calls wrong often and more often than not; most often first.
fn repeats(all: &[Decision]) -> Vec<Repeat> {
    let mut groups: BTreeMap<(&str, Category, &str, Option<&str>), Group<'_>> = BTreeMap::new();
    let mut right_in_category: HashMap<(&str, Category), usize> = HashMap::new();
    for annotated in all {
        let Some(project) = annotated.decision.project.as_deref() else { continue };
        for (finding, notes) in confirmed(annotated) {
            let (Some(right), Some(category)) = (notes.was_right(), finding.category) else { continue };
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
            group.newest = &annotated.decision.id;
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
