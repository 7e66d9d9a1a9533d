//! Sentences that several forms share. Pure.

use crate::decision::Action;
use crate::finding::{SecondOpinion, Source, Status};
use crate::readers::Usage;
use crate::render::report::{FindingReport, ReaderReport, Report};
use crate::text::{counted, grouped};

/// Who found it.
pub(super) fn by_whom(source: Source) -> &'static str {
    match source {
        Source::Facts => "disk and session",
        Source::Reader => "the first reader",
        Source::Both => "disk and session, and the first reader",
    }
}

/// What the hook would have decided.
pub(super) fn decision_words(report: &Report) -> String {
    let cause = report.cause.name();
    match report.decision {
        Action::Block => format!("The hook would have held this stop ({cause})."),
        Action::Allow => format!("The hook would have let this stop go ({cause})."),
    }
}

/// What the checks between the readers said of a finding. What the second reader dismissed had
/// passed them.
pub(super) fn check_words<'a>(check: &'a str, second: Option<&SecondOpinion>) -> &'a str {
    match second {
        Some(second) if !second.upheld => "they have no objection of their own",
        _ => check,
    }
}

/// What the second reader said of a finding. `reader` is its run, where it was asked about any.
pub(super) fn second_words(
    second: Option<&SecondOpinion>,
    status: Status,
    check: &str,
    reader: Option<&str>,
) -> String {
    match second {
        Some(second) => {
            let word = if second.upheld { "upheld" } else { "dismissed" };
            if second.why.is_empty() { word.to_owned() } else { format!("{word}: {}", second.why) }
        }
        None if reader.is_some()
            && (status == Status::Confirmed || check.starts_with("the second reader")) =>
        {
            "gave no answer".to_owned()
        }
        None => "was not asked".to_owned(),
    }
}

/// Why a reader gave no answer, where one did not.
pub(super) fn reader_words(report: &Report) -> Option<String> {
    let failure = |reader: &ReaderReport| {
        let detail = reader.detail.as_deref().map(|detail| format!(": {detail}")).unwrap_or_default();
        format!("{}{detail}", reader.outcome)
    };
    let second = report.second_reader.as_ref().filter(|second| second.outcome != "answered");
    match (report.auditor.outcome.as_str(), second) {
        ("answered", None) => None,
        ("answered", Some(second)) => Some(format!(
            "The second reader gave no answer ({}); what needs its word is not verified.",
            failure(second)
        )),
        ("not-asked", _) => {
            Some("No reader was asked: what needs judgement is only a candidate here.".to_owned())
        }
        _ => Some(format!(
            "The first reader gave no answer ({}); only disk and session were looked at.",
            failure(&report.auditor)
        )),
    }
}

/// Models, time, tokens and money, where a reader was asked.
pub(super) fn cost_words(report: &Report) -> Option<String> {
    let asked = |reader: &&ReaderReport| reader.backend == "claude" && reader.outcome != "not-asked";
    let readers: Vec<_> =
        [Some(&report.auditor), report.second_reader.as_ref()].into_iter().flatten().filter(asked).collect();
    let sum = |of: fn(&Usage) -> u64| readers.iter().map(|reader| of(&reader.usage)).sum::<u64>();
    let read = sum(Usage::total_input);
    let written = sum(|usage| usage.output);
    let seconds = readers.iter().map(|reader| reader.duration_ms).sum::<f64>() / 1000.0;
    let cost = readers.iter().filter_map(|reader| reader.usage.cost_usd).reduce(|one, other| one + other);
    let cost = cost.map(|cost| format!(", ${cost:.4}")).unwrap_or_default();
    let models: Vec<_> = readers.iter().map(|reader| reader.model.as_str()).collect();
    let calls = counted(readers.len(), "call", "calls");
    (!readers.is_empty()).then(|| {
        format!(
            "{calls} of a model ({}): {seconds:.1} s, {} tokens in, {} out{cost}.",
            models.join(", "),
            grouped(read),
            grouped(written)
        )
    })
}

/// What the second reader said of a finding of a report.
pub(super) fn second_said(finding: &FindingReport, report: &Report) -> String {
    let reader = report.second_reader.as_ref().map(|reader| reader.outcome.as_str());
    second_words(finding.second.as_ref(), finding.status, &finding.note, reader)
}

/// A quote, or nothing where there is none.
pub(super) fn quoted(text: &str) -> String {
    if text.is_empty() { String::new() } else { format!("\"{text}\"") }
}
