//! Which decisions are meant: takes one and what was said of it later, says whether it is. Pure. Filters combine; one with
//! several values takes any of them.

use aho_corasick::AhoCorasick;
use serde_json::Value;

use super::note::{FindingOutcome, Judgement};
use super::seen::Seen;
use crate::decision::Cause;
use crate::finding::{Category, Status};
use crate::log::summary::{FindingSummary, Summary};
use crate::paths::base_name;

/// What was decided, as a person calls it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Verdict {
    /// The stop was held.
    Block,
    /// It went through, and would not have but for a dry run or a block that could not be counted.
    WouldBlock,
    /// It went through.
    #[default]
    Allow,
}

impl Verdict {
    /// All of them, in order.
    pub const ALL: [Self; 3] = [Self::Block, Self::WouldBlock, Self::Allow];

    /// As a person writes it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Block => "block",
            Self::WouldBlock => "would-block",
            Self::Allow => "allow",
        }
    }
}

/// What became of a finding, or what a person says of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OutcomeWord {
    /// What became of it.
    FindingOutcome(FindingOutcome),
    /// What a person says.
    Said(Judgement),
}

impl OutcomeWord {
    /// All of them, in order.
    pub const ALL: [Self; 5] = [
        Self::FindingOutcome(FindingOutcome::Fixed),
        Self::FindingOutcome(FindingOutcome::Disputed),
        Self::FindingOutcome(FindingOutcome::Ignored),
        Self::Said(Judgement::Right),
        Self::Said(Judgement::Wrong),
    ];

    /// As the log writes it.
    pub fn name(self) -> &'static str {
        match self {
            Self::FindingOutcome(became) => became.name(),
            Self::Said(judgement) => judgement.name(),
        }
    }
}

/// Which project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WhichProject {
    /// By its folder's name.
    Named(String),
    /// By its path, or a folder above it.
    At(String),
}

/// Which decisions are meant; every one of them by default.
#[derive(Debug, Default)]
pub struct Filter {
    /// Of which project.
    pub project: Option<WhichProject>,
    /// How the session's id starts.
    pub session: Option<String>,
    /// From then on, in milliseconds since 1970.
    pub since: Option<i64>,
    /// Before then.
    pub until: Option<i64>,
    /// Decided how.
    pub verdicts: Vec<Verdict>,
    /// With a finding of which category.
    pub categories: Vec<Category>,
    /// For which cause.
    pub causes: Vec<Cause>,
    /// With which outcome.
    pub outcomes: Vec<OutcomeWord>,
    /// In which words.
    pub text: Option<Words>,
}

impl Filter {
    /// Whether a decision may be meant, with no look at what was said of it later.
    pub fn may_take(&self, glance: &Summary<'_>) -> bool {
        let any = |wanted: bool, is_empty: bool| is_empty || wanted;
        let shown = |finding: &FindingSummary<'_>| finding.status != Some(Status::Refuted);
        let categories =
            || glance.findings.iter().filter(|finding| shown(finding)).filter_map(|f| f.category);
        self.since.is_none_or(|since| glance.ms >= since)
            && self.until.is_none_or(|until| glance.ms < until)
            && any(self.verdicts.contains(&glance.verdict), self.verdicts.is_empty())
            && any(self.causes.iter().any(|cause| cause.name() == glance.cause), self.causes.is_empty())
            && any(categories().any(|one| self.categories.contains(&one)), self.categories.is_empty())
            && self.session.as_deref().is_none_or(|start| {
                glance.session.as_deref().is_some_and(|session| session.starts_with(start))
            })
            && self
                .project
                .as_ref()
                .is_none_or(|wanted| glance.project.as_deref().is_some_and(|p| wanted.is(p)))
    }

    /// Whether it is meant, with all that is known of it.
    pub fn takes(&self, seen: &Seen<'_>) -> bool {
        let has = |wanted: &OutcomeWord| match wanted {
            OutcomeWord::FindingOutcome(became) => seen.fates.iter().any(|fate| fate.became == Some(*became)),
            OutcomeWord::Said(said) => {
                seen.label == Some(*said) || seen.fates.iter().any(|fate| fate.label == Some(*said))
            }
        };
        self.may_take(&seen.glance)
            && (self.outcomes.is_empty() || self.outcomes.iter().any(has))
            && self.text.as_ref().is_none_or(|words| {
                words.stand_in(seen.glance.line) || seen.notes.iter().any(|noted| words.stand_in(noted.line))
            })
    }
}

impl WhichProject {
    fn is(&self, project: &str) -> bool {
        match self {
            Self::Named(name) => base_name(project) == name || project == name,
            Self::At(path) => {
                let rest = project.strip_prefix(path.trim_end_matches('/'));
                rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
            }
        }
    }
}

/// Words to look for in what a line says, in whatever case; never in the names of its fields.
#[derive(Debug)]
pub struct Words {
    lower: String,
    /// Finds lines that are worth a closer look.
    quick: Option<AhoCorasick>,
}

impl Words {
    /// Gets ready to look for them.
    pub fn new(words: &str) -> Self {
        // Beyond ASCII there are letters whose case the search does not know: there every line gets the closer look.
        let as_written = serde_json::to_string(words).unwrap_or_default();
        let inner = as_written.get(1..as_written.len().saturating_sub(1)).unwrap_or_default();
        let quick =
            words.is_ascii().then(|| AhoCorasick::builder().ascii_case_insensitive(true).build([inner]));
        Self { lower: words.to_lowercase(), quick: quick.and_then(Result::ok) }
    }

    /// Whether they stand in a line of the log.
    pub fn stand_in(&self, line: &[u8]) -> bool {
        if self.quick.as_ref().is_some_and(|quick| !quick.is_match(line)) {
            return false;
        }
        serde_json::from_slice::<Value>(line).is_ok_and(|value| self.stand_in_value(&value))
    }

    fn stand_in_value(&self, value: &Value) -> bool {
        match value {
            Value::String(text) => text.to_lowercase().contains(&self.lower),
            Value::Array(items) => items.iter().any(|item| self.stand_in_value(item)),
            Value::Object(fields) => fields.values().any(|field| self.stand_in_value(field)),
            Value::Null | Value::Bool(_) | Value::Number(_) => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log::summary::Line;

    const LINE: &str = r#"{"schema":1,"id":"b","time":"2026-10-01T00:00:00.000Z","session":"abc-1","project":"/w/shop",
        "decision":"block","cause":"findings","detail":"Say \"Hi\" to ÉMILE",
        "findings":[{"category":"A","status":"confirmed"},{"category":"C","status":"refuted"}]}"#;

    fn takes(filter: &Filter) -> bool {
        let line = LINE.replace('\n', "");
        let Some(Line::Decision(glance)) = Line::of(line.as_bytes()) else { panic!("no decision") };
        filter.takes(&Seen::new(*glance, Vec::new()))
    }

    #[test]
    fn filters_combine_and_several_values_are_any_of_them() {
        assert!(takes(&Filter::default()));
        let is = |filter: Filter| takes(&filter);
        let day = 1_790_812_800_000;
        assert!(is(Filter { since: Some(day), until: Some(day + 1), ..Filter::default() }));
        assert!(!is(Filter { since: Some(day + 1), ..Filter::default() }));
        assert!(!is(Filter { until: Some(day), ..Filter::default() }));
        assert!(is(Filter { verdicts: vec![Verdict::Allow, Verdict::Block], ..Filter::default() }));
        assert!(!is(Filter { verdicts: vec![Verdict::Allow], ..Filter::default() }));
        assert!(is(Filter { causes: vec![Cause::Findings], ..Filter::default() }));
        assert!(!is(Filter {
            causes: vec![Cause::Clean],
            verdicts: vec![Verdict::Block],
            ..Filter::default()
        }));
        assert!(is(Filter { categories: vec![Category::A, Category::B], ..Filter::default() }));
        assert!(!is(Filter { categories: vec![Category::C], ..Filter::default() }), "it was refuted");
        assert!(is(Filter { session: Some("abc".into()), ..Filter::default() }));
        assert!(!is(Filter { session: Some("bc".into()), ..Filter::default() }));
        assert!(!is(Filter { outcomes: vec![OutcomeWord::ALL[0]], ..Filter::default() }));
    }

    #[test]
    fn a_project_is_known_by_its_name_or_its_path() {
        let is = |project| takes(&Filter { project: Some(project), ..Filter::default() });
        assert!(is(WhichProject::Named("shop".into())) && !is(WhichProject::Named("sho".into())));
        assert!(is(WhichProject::At("/w/shop".into())) && is(WhichProject::At("/w/".into())));
        assert!(!is(WhichProject::At("/w/sho".into())) && !is(WhichProject::At("/w/shop/a".into())));
    }

    #[test]
    fn words_are_found_in_what_is_said_and_not_in_the_names_of_fields() {
        let has = |words: &str| takes(&Filter { text: Some(Words::new(words)), ..Filter::default() });
        assert!(has("say \"hi\"") && has("émile") && has("SHOP") && has("confirmed"));
        assert!(!has("decision") && !has("nothing"));
    }
}
