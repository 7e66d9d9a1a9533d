//! Figures over many decisions: how many, how often right, how fast, how expensive. Pure. Frequent
//! disputes lead to a suggestion and change nothing by themselves.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap, HashSet};

use jiff::tz::TimeZone;
use serde::Serialize;

use crate::finding::{Category, Finding, Kind, Source, Status};
use crate::log::annotated::{AUDIT, FindingNotes};
use crate::log::filter::DecisionKind;
use crate::log::note::{FindingOutcome, Label};
use crate::log::record::ReaderRecord;
use crate::log::{Annotated, Record};

/// The number of this format. Fields may be added under it; none is renamed or given another
/// meaning.
pub const SCHEMA: u32 = 1;
/// How often a project has to dispute the same thing before a suggestion is made.
pub const OFTEN: usize = 3;

/// All figures. `docs/log-json.md` documents each field, and a test compares the two.
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
    pub gates: Vec<GateStats>,
    pub checks: Vec<Count>,
    pub advisories: Vec<Count>,
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

/// The results of one gate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct GateStats {
    pub name: String,
    pub looked: usize,
    pub held: usize,
    pub could_not_check: usize,
}

/// The outcomes of the confirmed findings of blocks, and people's labels.
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

/// A share, and its 95 % confidence interval.
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

/// The second reader, and its verdicts on findings.
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

#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Spent {
    pub name: String,
    pub audits: usize,
    pub tokens_in: u64,
    pub tokens_out: u64,
    pub cost_usd: f64,
}

/// What one project disputes repeatedly.
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
    /// One line or several.
    pub line: String,
}

/// Counts decisions, oldest first. Days are those of the zone.
pub fn stats(all: &[Annotated], zone: &TimeZone) -> Stats {
    let records = || all.iter().map(|annotated| &annotated.decision);
    let count = |kind: DecisionKind| all.iter().filter(|annotated| annotated.kind() == kind).count();
    let distinct = |of: fn(&Record) -> Option<&str>| records().filter_map(of).collect::<HashSet<_>>().len();
    let blocks = count(DecisionKind::Block);
    let audited = all.iter().filter(|annotated| annotated.was_audited()).count();
    let gates = gates(all);
    let held_by_audit = gates.iter().find(|gate| gate.name == AUDIT).map_or(0, |gate| gate.held);
    let mut by_project =
        spent(all, |annotated| annotated.decision.project.clone().unwrap_or_else(|| "unknown".to_owned()));
    by_project.sort_by(|one, other| other.cost_usd.total_cmp(&one.cost_usd));
    Stats {
        schema: SCHEMA,
        from: records().next().map(|record| record.time.clone()),
        to: records().next_back().map(|record| record.time.clone()),
        decisions: all.len(),
        sessions: distinct(|record| record.session.as_deref()),
        projects: distinct(|record| record.project.as_deref()),
        blocks,
        would_block: count(DecisionKind::WouldBlock),
        allows: count(DecisionKind::Allow),
        could_not_check: all.iter().filter(|annotated| annotated.is_unchecked()).count(),
        audited,
        block_rate: ratio(held_by_audit, audited),
        causes: most_first(all.iter().map(|annotated| annotated.cause.as_str())),
        gates,
        checks: most_first(records().flat_map(checks_of)),
        advisories: most_first(records().flat_map(|record| &record.advisories).map(|one| one.kind.name())),
        outcomes: outcomes(all),
        precision: precision(all),
        auditor: reader(records().filter_map(|record| record.auditor.as_ref())),
        second_reader: second_reader(all),
        latency: latency(all),
        days: spent(all, |annotated| zone.to_datetime(annotated.at).date().to_string()),
        by_project,
        repeats: repeats(all),
    }
}

/// Returns the results of each gate, the audit first. A skipped stop counts for no gate.
fn gates(all: &[Annotated]) -> Vec<GateStats> {
    let mut gates: Vec<GateStats> = Vec::new();
    for (name, held, unchecked) in all.iter().flat_map(Annotated::gates) {
        let at = gates.iter().position(|gate| gate.name == name).unwrap_or_else(|| {
            gates.push(GateStats { name: name.to_owned(), looked: 0, held: 0, could_not_check: 0 });
            gates.len() - 1
        });
        gates[at].looked += 1;
        gates[at].held += usize::from(held);
        gates[at].could_not_check += usize::from(unchecked);
    }
    gates.sort_by_key(|gate| (gate.name != AUDIT, Reverse(gate.looked), gate.name.clone()));
    gates
}

/// Returns how the checks of a stop ended; those that were not due did not run.
fn checks_of(record: &Record) -> impl Iterator<Item = &str> {
    let checks = record.gates.iter().flat_map(|gate| &gate.checks);
    checks.map(|check| check.outcome.as_str()).filter(|outcome| *outcome != "not-due")
}

fn ratio(part: usize, whole: usize) -> Option<f64> {
    #[expect(clippy::cast_precision_loss, reason = "no log has so many decisions")]
    (whole > 0).then(|| part as f64 / whole as f64)
}

/// Counts names, the most frequent first; an empty one is `unknown`.
fn most_first<'a>(names: impl Iterator<Item = &'a str>) -> Vec<Count> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    names.for_each(|name| *counts.entry(if name.is_empty() { "unknown" } else { name }).or_default() += 1);
    let mut counts: Vec<_> =
        counts.into_iter().map(|(name, count)| Count { name: name.to_owned(), count }).collect();
    counts.sort_by_key(|count| Reverse(count.count));
    counts
}

fn confirmed(annotated: &Annotated) -> impl Iterator<Item = (&Finding, &FindingNotes)> {
    annotated.with_findings().filter(|(finding, _)| finding.status == Status::Confirmed)
}

fn outcomes(all: &[Annotated]) -> Outcomes {
    let mut outcomes = Outcomes::default();
    for annotated in all {
        let is_block = annotated.kind() == DecisionKind::Block;
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
        // It should not have gone through: something was wrong that nothing found.
        let is_wrong = annotated.label.as_ref().is_some_and(|note| note.label == Label::Wrong);
        outcomes.missed += usize::from(is_wrong && confirmed(annotated).next().is_none());
    }
    outcomes
}

impl Share {
    fn add(&mut self, right: bool) {
        *if right { &mut self.right } else { &mut self.wrong } += 1;
    }

    /// Adds the share and its Wilson interval, which is also valid for few findings and for shares
    /// near 0 and 1.
    #[expect(clippy::cast_precision_loss, reason = "no log has so many findings")]
    #[must_use]
    pub fn with_interval(self) -> Self {
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

fn precision(all: &[Annotated]) -> Precision {
    let mut overall = Share::default();
    let mut categories: BTreeMap<Category, Share> = BTreeMap::new();
    let mut sources: HashMap<Source, Share> = HashMap::new();
    let mut models: BTreeMap<&str, Share> = BTreeMap::new();
    for annotated in all {
        for (finding, notes) in confirmed(annotated) {
            let Some(right) = notes.was_right() else { continue };
            overall.add(right);
            categories.entry(finding.category).or_default().add(right);
            sources.entry(finding.source).or_default().add(right);
            // What only the facts found says nothing about a model.
            if finding.source != Source::Facts
                && let Some(auditor) = &annotated.decision.auditor
            {
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
    ReaderStats {
        asked: answered.len() + failed.len(),
        answered: answered.len(),
        failures: most_first(failed.iter().map(|run| run.outcome.as_str())),
    }
}

fn second_reader(all: &[Annotated]) -> SecondStats {
    let findings = all.iter().flat_map(|annotated| &annotated.decision.findings);
    let (upheld, dismissed): (Vec<_>, Vec<_>) =
        findings.filter_map(|finding| finding.second.as_ref()).partition(|second| second.upheld);
    let runs = all.iter().filter_map(|annotated| annotated.decision.second_reader.as_ref());
    SecondStats { reader: reader(runs), upheld: upheld.len(), dismissed: dismissed.len() }
}

fn latency(all: &[Annotated]) -> Latency {
    let (mut aside, mut audits, mut readers) = (Vec::new(), Vec::new(), Vec::new());
    for annotated in all {
        let asked = annotated.readers().filter(|reader| reader.was_asked()).map(|reader| reader.duration_ms);
        readers.extend(asked.reduce(|one, other| one + other));
        if annotated.was_audited() { &mut audits } else { &mut aside }.extend(annotated.own_ms());
    }
    Latency {
        ours_aside: percentiles(aside),
        ours_audited: percentiles(audits),
        auditor: percentiles(readers),
    }
}

/// By rank, so that each is a time that was really measured.
pub fn percentiles(mut times: Vec<f64>) -> Option<Percentiles> {
    let count = times.len();
    times.sort_unstable_by(f64::total_cmp);
    let rank = |percent: usize| times.get((count * percent).div_ceil(100).saturating_sub(1)).copied();
    Some(Percentiles { count, p50_ms: rank(50)?, p90_ms: rank(90)?, p99_ms: rank(99)? })
}

impl Spent {
    fn add(&mut self, annotated: &Annotated) {
        let (tokens_in, tokens_out) = annotated.tokens();
        self.audits += usize::from(annotated.decision.auditor.is_some());
        self.tokens_in += tokens_in;
        self.tokens_out += tokens_out;
        self.cost_usd += annotated.cost_usd().unwrap_or_default();
    }
}

/// Returns what was spent, grouped by a name.
fn spent(all: &[Annotated], name: impl Fn(&Annotated) -> String) -> Vec<Spent> {
    let mut spent: BTreeMap<String, Spent> = BTreeMap::new();
    for annotated in all.iter().filter(|annotated| annotated.calls().next().is_some()) {
        spent.entry(name(annotated)).or_default().add(annotated);
    }
    spent.into_iter().map(|(name, spent)| Spent { name, ..spent }).collect()
}

/// Returns the kinds of findings that one project calls wrong often and more often than right; most
/// frequent first.
fn repeats(all: &[Annotated]) -> Vec<Repeat> {
    let mut groups: BTreeMap<(&str, Category, &str, Option<&str>), Group<'_>> = BTreeMap::new();
    let mut right_in_category: HashMap<(&str, Category), usize> = HashMap::new();
    for annotated in all {
        let Some(project) = annotated.decision.project.as_deref() else { continue };
        for (finding, notes) in confirmed(annotated) {
            let (Some(right), category) = (notes.was_right(), finding.category) else { continue };
            let path = finding.path.as_deref();
            let folder = path.map(|path| path.rsplit_once('/').map_or("", |(folder, _)| folder));
            let key = (project, category, finding.kind.name(), folder);
            let group = groups.entry(key).or_default();
            if right {
                group.right += 1;
                *right_in_category.entry((project, category)).or_default() += 1;
                continue;
            }
            group.count += 1;
            group.newest = &annotated.decision.id;
            group.kind = Some(finding.kind);
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
                line: config_line(category, folder, &group),
            }
        })
        .collect();
    repeats.sort_by_key(|repeat| Reverse(repeat.count));
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

/// How many files are named one by one.
const MOST_NAMED: usize = 5;

/// Returns the narrowest setting that would have let these stops go through: a table for paths that
/// they share, or else a line under `[audit]`.
fn config_line(category: Category, folder: Option<&str>, group: &Group<'_>) -> String {
    if category == Category::A && group.kind == Some(Kind::NotRun) {
        return "unrun_checks = \"advise\"".to_owned();
    }
    let mut paths: Vec<String> = group.paths.iter().map(|path| globset::escape(path)).collect();
    paths.sort_unstable();
    match folder.filter(|folder| !folder.is_empty() && paths.len() > 1) {
        Some(folder) => paths = vec![format!("{}/**", globset::escape(folder))],
        None if paths.len() > MOST_NAMED => paths.clear(),
        None => {}
    }
    if !paths.is_empty() {
        let paths = toml::Value::from(paths);
        let why = toml::Value::from(format!("disputed {} times", group.count));
        let category = category.name();
        return format!("[[audit.ignore]]\npaths = {paths}\ncategories = [\"{category}\"]\nwhy = {why}");
    }
    let others = Category::ALL.into_iter().filter(|other| *other != category);
    let others: Vec<_> = others.map(|other| format!("\"{}\"", other.name())).collect();
    format!("block_on = [{}]", others.join(", "))
}
