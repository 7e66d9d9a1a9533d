//! Sentences that several formats share, and short forms of times, money, shares and large numbers.
//! Pure.

use crate::decision::Action;
use crate::finding::{Finding, Source, Status};
use crate::readers::Usage;
use crate::render::report::{ReaderReport, Report};
use crate::text::{counted, grouped};

/// Returns who found it.
pub(super) fn by_whom(source: Source) -> &'static str {
    match source {
        Source::Facts => "disk and session",
        Source::Reader => "the first reader",
        Source::Both => "disk and session, and the first reader",
    }
}

/// Returns what the hook would have decided.
pub(super) fn describe_decision(report: &Report) -> String {
    let cause = report.cause.name();
    match report.decision {
        Action::Block => format!("The hook would have blocked this stop ({cause})."),
        Action::Allow => format!("The hook would have let this stop through ({cause})."),
    }
}

/// Returns what the checks between the readers said about a finding. What the second reader
/// dismissed had passed them.
pub(super) fn check_label(finding: &Finding) -> &str {
    match &finding.second {
        Some(second) if !second.upheld => "they have no objection of their own",
        _ => &finding.check,
    }
}

/// Returns what the second reader said about a finding; `was_asked` tells whether it was asked
/// about any.
pub(super) fn describe_second(finding: &Finding, was_asked: bool) -> String {
    match &finding.second {
        Some(second) => {
            let word = if second.upheld { "upheld" } else { "dismissed" };
            if second.why.is_empty() { word.to_owned() } else { format!("{word}: {}", second.why) }
        }
        None if was_asked
            && (finding.status == Status::Confirmed || finding.check.starts_with("the second reader")) =>
        {
            "gave no answer".to_owned()
        }
        None => "was not asked".to_owned(),
    }
}

/// Returns why a reader gave no answer, if so.
pub(super) fn describe_reader_failure(report: &Report) -> Option<String> {
    let failure = |reader: &ReaderReport| {
        let detail = reader.detail.as_deref().map(|detail| format!(": {detail}")).unwrap_or_default();
        format!("{}{detail}", reader.outcome)
    };
    let second = report.second_reader.as_ref().filter(|second| second.outcome != "answered");
    match (report.auditor.outcome.as_str(), second) {
        ("answered", None) => None,
        ("answered", Some(second)) => Some(format!(
            "The second reader gave no answer ({}); what needs its verdict is not verified.",
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

/// Returns models, time, tokens and money, if a reader was asked.
pub(super) fn describe_cost(report: &Report) -> Option<String> {
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

/// Returns a quote; empty if there is none.
pub(super) fn quoted(text: &str) -> String {
    if text.is_empty() { String::new() } else { format!("\"{text}\"") }
}

/// Formats a duration: `1.8 ms`, `12.3 s`.
pub(crate) fn milliseconds(ms: f64) -> String {
    match ms {
        ms if ms < 9.95 => format!("{ms:.1} ms"),
        ms if ms < 999.5 => format!("{ms:.0} ms"),
        ms if ms < 99_950.0 => format!("{:.1} s", ms / 1e3),
        ms => format!("{:.0} s", ms / 1e3),
    }
}

/// Formats a cost: `$0.0123`, `$1.50`.
pub(crate) fn dollars(usd: f64) -> String {
    match usd {
        0.0 => "$0".to_owned(),
        usd if usd < 1.0 => format!("${usd:.4}"),
        usd => format!("${usd:.2}"),
    }
}

/// Formats a share: `0.5 %`, `12 %`.
pub(crate) fn percent(share: f64) -> String {
    let percent = share * 100.0;
    if percent > 0.0 && percent < 9.95 { format!("{percent:.1} %") } else { format!("{percent:.0} %") }
}

/// Formats a number with thousands separators: `20,000`.
pub(crate) fn number(count: usize) -> String {
    grouped(count as u64)
}

/// Formats a number and its noun: `1 stop`, `20,000 stops`.
pub(crate) fn number_of(count: usize, one: &str, many: &str) -> String {
    counted(count, one, many).replacen(&count.to_string(), &number(count), 1)
}

/// Formats a large number briefly: `1.2 k`, `3.4 M`.
#[expect(clippy::cast_precision_loss, reason = "only its first digits are shown")]
pub(crate) fn short(count: u64) -> String {
    match count {
        0..1_000 => count.to_string(),
        1_000..1_000_000 => format!("{:.1} k", count as f64 / 1e3),
        1_000_000..1_000_000_000 => format!("{:.1} M", count as f64 / 1e6),
        _ => format!("{:.1} G", count as f64 / 1e9),
    }
}
