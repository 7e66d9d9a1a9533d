//! Filters of decisions: they combine, and one with several values accepts any of them. Pure.

use clap::ValueEnum;
use jiff::Timestamp;
use serde_json::Value;
use strum::{IntoStaticStr, VariantArray};

use crate::decision::Cause;
use crate::finding::{AdvisoryKind, Category, Status};
use crate::log::Annotated;
use crate::log::annotated::FindingNotes;
use crate::log::note::{FindingOutcome, Label};
use crate::paths::base_name;

/// What was decided, in a person's terms.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, ValueEnum, IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
pub enum DecisionKind {
    Block,
    // It went through, but would have been blocked without a dry run or a counter that could not be
    // written.
    WouldBlock,
    Allow,
}

impl DecisionKind {
    /// Returns the name that a person writes.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// The outcome of a finding, or a person's label of it, by the names of the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, VariantArray, IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
pub enum OutcomeFilter {
    Fixed,
    Disputed,
    Ignored,
    Right,
    Wrong,
}

impl OutcomeFilter {
    /// Returns its name in the log.
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// Returns whether it is a person's label.
    pub fn is_label(self) -> bool {
        matches!(self, Self::Right | Self::Wrong)
    }

    pub fn matches(self, notes: &FindingNotes) -> bool {
        notes.outcome().map(FindingOutcome::name) == Some(self.name())
            || notes.label().map(Label::name) == Some(self.name())
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProjectFilter {
    /// By the name of its folder.
    Named(String),
    /// By its path, or a folder above it.
    At(String),
}

/// Which decisions match; every one of them by default.
#[derive(Debug, Default)]
pub struct Filter {
    pub project: Option<ProjectFilter>,
    /// The machine of the fleet.
    pub machine: Option<String>,
    /// The prefix of the session's id.
    pub session: Option<String>,
    /// From this time on.
    pub since: Option<Timestamp>,
    /// Before this time.
    pub until: Option<Timestamp>,
    pub decisions: Vec<DecisionKind>,
    /// With a finding of one of these categories that was not refuted.
    pub categories: Vec<Category>,
    pub causes: Vec<Cause>,
    pub outcomes: Vec<OutcomeFilter>,
    /// With an advisory of one of these kinds.
    pub advisories: Vec<AdvisoryKind>,
    /// Text in any string of the decision or its notes; ignores case.
    pub text: Option<String>,
}

impl Filter {
    /// Returns whether a decision matches.
    pub fn matches(&self, annotated: &Annotated) -> bool {
        let record = &annotated.decision;
        let has_category = |wanted: &Category| {
            let findings = record.findings.iter();
            findings
                .filter(|f| !matches!(f.status, Status::Refuted | Status::Ignored))
                .any(|f| f.category == *wanted)
        };
        let has_outcome = |wanted: &OutcomeFilter| {
            annotated.label.as_ref().is_some_and(|note| note.label.name() == wanted.name())
                || annotated.findings.iter().any(|notes| wanted.matches(notes))
        };
        let session = record.session.as_deref();
        self.since.is_none_or(|since| annotated.at >= since)
            && self.until.is_none_or(|until| annotated.at < until)
            && any_of(&self.decisions, |kind| *kind == annotated.kind())
            && any_of(&self.causes, |cause| cause.name() == annotated.cause)
            && any_of(&self.categories, has_category)
            && any_of(&self.outcomes, has_outcome)
            && any_of(&self.advisories, |kind| record.advisories.iter().any(|one| one.kind == *kind))
            && self.machine.as_ref().is_none_or(|name| record.machine.as_ref() == Some(name))
            && self.session.as_ref().is_none_or(|start| session.is_some_and(|id| id.starts_with(start)))
            && self
                .project
                .as_ref()
                .is_none_or(|wanted| record.project.as_deref().is_some_and(|project| wanted.matches(project)))
            && self.text.as_ref().is_none_or(|words| {
                let words = words.to_lowercase();
                let mut notes = annotated.notes.iter();
                has_text(&annotated.line, &words) || notes.any(|note| has_text(&note.line, &words))
            })
    }
}

fn any_of<T>(wanted: &[T], matches: impl Fn(&T) -> bool) -> bool {
    wanted.is_empty() || wanted.iter().any(matches)
}

impl ProjectFilter {
    fn matches(&self, project: &str) -> bool {
        match self {
            Self::Named(name) => base_name(project) == name || project == name,
            Self::At(path) => {
                let rest = project.strip_prefix(path.trim_end_matches('/'));
                rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
            }
        }
    }
}

/// Returns whether a line of the log contains a text, given in lower case, in one of its strings;
/// field names do not count.
fn has_text(line: &str, words: &str) -> bool {
    fn in_value(value: &Value, words: &str) -> bool {
        match value {
            Value::String(text) => text.to_lowercase().contains(words),
            Value::Array(items) => items.iter().any(|item| in_value(item, words)),
            Value::Object(fields) => fields.values().any(|field| in_value(field, words)),
            Value::Null | Value::Bool(_) | Value::Number(_) => false,
        }
    }
    serde_json::from_str(line).is_ok_and(|value| in_value(&value, words))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::annotated;

    const LINE: &str = r#"{"schema":1,"id":"b","time":"2026-10-01T00:00:00.000Z","machine":"m1","session":"abc-1","project":"/w/shop","decision":"block","cause":"findings","detail":"Say \"Hi\" to ÉMILE","findings":[{"category":"A","status":"confirmed"},{"category":"C","status":"refuted"}],"advisories":[{"kind":"force-push","text":"t","evidence":"e"}]}"#;

    fn is(filter: &Filter) -> bool {
        filter.matches(&annotated(LINE)[0])
    }

    #[test]
    fn filters_combine_and_several_values_are_any_of_them() {
        let at = |ms: i64| Timestamp::from_millisecond(1_790_812_800_000 + ms).ok();
        let all = Filter::default;
        for (expected, filter) in [
            (true, all()),
            (true, Filter { since: at(0), until: at(1), ..all() }),
            (false, Filter { since: at(1), ..all() }),
            (false, Filter { until: at(0), ..all() }),
            (true, Filter { decisions: vec![DecisionKind::Allow, DecisionKind::Block], ..all() }),
            (false, Filter { decisions: vec![DecisionKind::Allow], ..all() }),
            (true, Filter { causes: vec![Cause::Findings], ..all() }),
            (false, Filter { causes: vec![Cause::Clean], decisions: vec![DecisionKind::Block], ..all() }),
            (true, Filter { categories: vec![Category::A, Category::B], ..all() }),
            (false, Filter { categories: vec![Category::C], ..all() }),
            (true, Filter { machine: Some("m1".into()), ..all() }),
            (false, Filter { machine: Some("m".into()), ..all() }),
            (true, Filter { session: Some("abc".into()), ..all() }),
            (false, Filter { session: Some("bc".into()), ..all() }),
            (false, Filter { outcomes: vec![OutcomeFilter::Fixed], ..all() }),
            (true, Filter { advisories: vec![AdvisoryKind::ForcePush, AdvisoryKind::HardReset], ..all() }),
            (false, Filter { advisories: vec![AdvisoryKind::HardReset], ..all() }),
        ] {
            assert_eq!(is(&filter), expected, "{filter:?}");
        }
    }

    #[test]
    fn a_project_is_known_by_its_name_or_its_path() {
        let is = |project| is(&Filter { project: Some(project), ..Filter::default() });
        assert!(is(ProjectFilter::Named("shop".into())) && !is(ProjectFilter::Named("sho".into())));
        assert!(is(ProjectFilter::At("/w/shop".into())) && is(ProjectFilter::At("/w/".into())));
        assert!(!is(ProjectFilter::At("/w/sho".into())) && !is(ProjectFilter::At("/w/shop/a".into())));
    }

    #[test]
    fn words_are_found_in_what_is_said_and_not_in_the_names_of_fields() {
        let has = |words: &str| is(&Filter { text: Some(words.into()), ..Filter::default() });
        assert!(has("say \"hi\"") && has("émile") && has("SHOP") && has("confirmed"));
        assert!(!has("decision") && !has("nothing"));
    }
}
