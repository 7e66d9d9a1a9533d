//! One line of the log, as lists and sums need it: its files, gates and transcript are not read. An
//! older line may lack fields, a line of a newer format is told apart, and a line that is neither
//! is torn.

use jiff::Timestamp;
use serde::de::value::StrDeserializer;
use serde::de::{Deserialize, Deserializer, IntoDeserializer};
use serde_json::error::Error as JsonError;

use crate::finding::{Category, Kind, Source, Status};
use crate::log::filter::DecisionKind;
use crate::log::note::NoteLine;
use crate::log::record::ReaderRecord;
use crate::log::{note, record};

/// What a line is.
#[derive(Debug, Clone, PartialEq)]
pub enum Line {
    /// A decision.
    Decision(Box<Summary>),
    /// A note on an earlier decision.
    Note(Box<NoteLine>),
    /// Something that a newer punchlist wrote.
    Newer,
    /// Nothing that can be read.
    Torn,
}

/// What lists and sums need of a decision.
#[derive(Debug, Clone, Default, PartialEq, serde::Deserialize)]
#[serde(default)]
pub struct Summary {
    schema: u32,
    kind: Option<String>,
    decision: String,
    would_block: bool,
    /// The line itself.
    #[serde(skip)]
    pub line: String,
    /// Its id.
    pub id: String,
    /// When, as written.
    pub time: String,
    /// When.
    #[serde(skip)]
    pub at: Timestamp,
    /// The session.
    pub session: Option<String>,
    /// The project's folder.
    pub project: Option<String>,
    /// Why, in the words of the punchlist that wrote it; empty where it does not say.
    pub cause: String,
    /// Every finding.
    pub findings: Vec<FindingSummary>,
    /// The first reader.
    pub auditor: Option<ReaderRecord>,
    /// The second reader, where it was asked.
    pub second_reader: Option<ReaderRecord>,
    /// How long it took, in milliseconds.
    pub phases_ms: PhasesSummary,
}

/// What lists and sums need of a finding. What a newer punchlist calls by a new name is `None`.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Deserialize)]
#[serde(default)]
#[expect(missing_docs, reason = "as in `Finding`")]
pub struct FindingSummary {
    #[serde(deserialize_with = "lenient")]
    pub category: Option<Category>,
    #[serde(deserialize_with = "lenient")]
    pub status: Option<Status>,
    #[serde(deserialize_with = "lenient")]
    pub source: Option<Source>,
    #[serde(deserialize_with = "lenient", alias = "problem")]
    pub kind: Option<Kind>,
    pub path: Option<String>,
    pub second: Option<SecondSummary>,
}

/// What the second reader says of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Deserialize)]
pub struct SecondSummary {
    /// Whether it upholds it.
    pub upheld: bool,
}

/// What lists and sums need of the phases, in milliseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, serde::Deserialize)]
#[serde(default, rename_all = "kebab-case")]
#[expect(missing_docs, reason = "as in `timing`")]
pub struct PhasesSummary {
    pub total: Option<f64>,
    pub auditor: Option<f64>,
    pub second_reader: Option<f64>,
}

/// Reads one of the names that we know; `None` for any other.
fn lenient<'de, D: Deserializer<'de>, T: Deserialize<'de>>(deserializer: D) -> Result<Option<T>, D::Error> {
    let name = String::deserialize(deserializer)?;
    let name: StrDeserializer<'_, JsonError> = name.as_str().into_deserializer();
    Ok(T::deserialize(name).ok())
}

impl Line {
    /// Parses a line. `None` where nothing stands on it: a crash may leave NULs there.
    pub fn parse(line: &str) -> Option<Self> {
        let line = line.trim_matches(|c: char| c.is_whitespace() || c == '\0');
        (!line.is_empty()).then(|| Self::parse_json(line).unwrap_or(Self::Torn))
    }

    fn parse_json(line: &str) -> serde_json::Result<Self> {
        let mut summary: Summary = serde_json::from_str(line)?;
        let newest = if summary.kind.is_some() { note::SCHEMA } else { record::SCHEMA };
        let is_known_kind = summary.kind.as_ref().is_none_or(|kind| kind == "outcome" || kind == "label");
        if summary.schema > newest || !is_known_kind {
            return Ok(Self::Newer);
        }
        if summary.kind.is_some() {
            let note = NoteLine { note: serde_json::from_str(line)?, line: line.to_owned() };
            return Ok(Self::Note(Box::new(note)));
        }
        match summary.time.parse() {
            Ok(at) if !summary.id.is_empty() => summary.at = at,
            _ => return Ok(Self::Torn),
        }
        line.clone_into(&mut summary.line);
        Ok(Self::Decision(Box::new(summary)))
    }
}

impl Summary {
    /// What was decided.
    pub fn decision(&self) -> DecisionKind {
        match (self.decision.as_str(), self.would_block) {
            ("block", _) => DecisionKind::Block,
            (_, true) => DecisionKind::WouldBlock,
            (_, false) => DecisionKind::Allow,
        }
    }

    /// The readers that took part.
    pub fn readers(&self) -> impl Iterator<Item = &ReaderRecord> {
        self.auditor.iter().chain(&self.second_reader)
    }

    /// What both readers cost, in dollars, as far as the client says.
    pub fn cost_usd(&self) -> Option<f64> {
        record::total_cost(self.readers())
    }

    /// How long both readers took, in milliseconds, as the phases have it or else as each says
    /// itself.
    pub fn readers_ms(&self) -> Option<f64> {
        let own = |reader: &Option<ReaderRecord>| {
            reader.as_ref().filter(|reader| reader.was_asked()).map(|reader| reader.duration_ms)
        };
        let first = self.phases_ms.auditor.or_else(|| own(&self.auditor));
        let second = self.phases_ms.second_reader.or_else(|| own(&self.second_reader));
        [first, second].into_iter().flatten().reduce(|one, other| one + other)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::record;

    fn decision(json: &str) -> Summary {
        match Line::parse(json) {
            Some(Line::Decision(summary)) => *summary,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_summary_says_what_the_record_says() {
        let mut whole = record("k3f92m7q1x");
        whole.project = Some("/home/me/sh\"op".into());
        whole.would_block = true;
        for (phase, ms) in [("total", 12.5), ("auditor", 10.0), ("second-reader", 1.5)] {
            whole.phases_ms.insert(phase.into(), ms);
        }
        let finding = r#"{"category":"ask","status":"cannot-verify","source":"both","kind":"left-out",
            "claim":"}]","path":"a/b.rs","why":"w","settle":"s","check":"c","second":{"upheld":false,"why":"}"}}"#;
        whole.findings.push(serde_json::from_str(finding).expect("a finding"));
        let auditor = r#"{"backend":"claude","client":null,"model":"haiku","outcome":"answered","duration_ms":9.5,
            "usage":{"input_tokens":1,"output_tokens":2,"cache_read_tokens":30,"cache_write_tokens":400,
            "cost_usd":0.25},"flags":["--x"]}"#;
        whole.auditor = serde_json::from_str(auditor).expect("a reader");
        whole.second_reader = serde_json::from_str(&auditor.replace("haiku", "sonnet")).expect("a reader");
        let summary = decision(&serde_json::to_string(&whole).expect("json"));
        assert_eq!((&summary.id, &summary.project), (&whole.id, &whole.project));
        assert_eq!((summary.decision(), summary.cause.as_str()), (DecisionKind::WouldBlock, "clean"));
        assert_eq!((summary.readers_ms(), summary.cost_usd()), (Some(11.5), Some(0.5)), "both readers'");
        assert_eq!(
            summary.findings,
            [FindingSummary {
                category: Some(Category::Ask),
                status: Some(Status::CannotVerify),
                source: Some(Source::Both),
                kind: Some(Kind::LeftOut),
                path: Some("a/b.rs".into()),
                second: Some(SecondSummary { upheld: false }),
            }]
        );
        assert_eq!((summary.auditor, summary.second_reader), (whole.auditor, whole.second_reader));
    }

    #[test]
    fn an_older_line_lacks_fields_and_a_newer_one_is_told_apart() {
        let old = decision(r#"{"schema":0,"id":"a","time":"2026-10-01T00:00:00Z","decision":"block"}"#);
        assert_eq!((old.decision(), old.cause.as_str(), old.findings.len()), (DecisionKind::Block, "", 0));
        let old = decision(
            r#"{"id":"a","time":"2026-10-01T00:00:00Z","findings":[{"source":"auditor","problem":"missing-file","category":"Z"}]}"#,
        );
        let finding = &old.findings[0];
        assert_eq!((finding.source, finding.kind), (Some(Source::Reader), Some(Kind::Missing)));
        assert_eq!((finding.category, finding.second), (None, None));
        for newer in [
            r#"{"schema":2,"id":"a","time":"2026-10-01T00:00:00Z"}"#,
            r#"{"kind":"outcome","schema":3,"id":"a"}"#,
            r#"{"kind":"mood","schema":2,"id":"a"}"#,
        ] {
            assert_eq!(Line::parse(newer), Some(Line::Newer), "{newer}");
        }
    }

    #[test]
    fn what_is_no_line_is_torn_and_an_empty_one_is_none() {
        for torn in [
            "{\"schema\":1,\"id\":\"to",
            "\u{fffd}",
            "7",
            "{}",
            r#"{"id":"a"}"#,
            r#"{"id":"a","time":"soon"}"#,
            r#"{"time":"2026-10-01T00:00:00Z"}"#,
            r#"{"id":"a","time":"2026-10-01T00:00:00Z"}{"id":"b"}"#,
            r#"{"kind":"label","schema":2}"#,
        ] {
            assert_eq!(Line::parse(torn), Some(Line::Torn), "{torn}");
        }
        assert_eq!(Line::parse(" \0\0\n"), None);
        let padded = decision("\0\0{\"id\":\"a\",\"time\":\"2026-10-01T00:00:00Z\"}\0\n");
        assert!(padded.line.starts_with('{') && padded.line.ends_with('}'));
    }
}
