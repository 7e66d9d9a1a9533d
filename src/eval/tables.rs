//! Takes what became of cases, gives the tables and lists that a person reads. Pure.

use std::fmt::Write as _;

use super::case::Part;
use super::matching::Worth;
use super::run::{CaseResult, Mode, Weighed};
use super::score::{Count, Score, share, source_name};
use crate::finding::{AdvisoryKind, Finding, Status};
use crate::report::counted;

/// Everything: a table for each part and for all, then what was missed and what is not true.
pub fn report(results: &[CaseResult], mode: Mode, verbose: bool) -> String {
    let mut text = String::new();
    let parts = [Part::Tuning, Part::HeldOut];
    let of = |part: Part| results.iter().filter(|result| result.part == part).collect::<Vec<_>>();
    let present: Vec<_> = parts.into_iter().map(|part| (part.name(), of(part))).collect();
    let present: Vec<_> = present.into_iter().filter(|(_, results)| !results.is_empty()).collect();
    for (name, results) in &present {
        table(&mut text, name, mode, &Score::of(results.iter().copied()));
    }
    if present.len() > 1 {
        table(&mut text, "all", mode, &Score::of(results));
    }
    lists(&mut text, results, verbose);
    text
}

fn table(text: &mut String, name: &str, mode: Mode, score: &Score) {
    let _ = writeln!(
        text,
        "{name}: {}, {} of them clean (auditor: {})\n",
        counted(score.cases, "case", "cases"),
        score.clean,
        mode.name()
    );
    let _ = writeln!(
        text,
        "  {:<14}{:>6}{:>11}{:>7}{:>17}{:>16}{:>11}{:>8}{:>14}",
        "",
        "true",
        "confirmed",
        "shown",
        "false confirmed",
        "false in clean",
        "precision",
        "recall",
        "shown recall"
    );
    for (category, scores) in &score.categories {
        row(text, category, &scores.all);
        for (source, count) in scores.by_source.iter().filter(|(_, count)| has_any(count)) {
            row(text, &format!("  {source}"), count);
        }
    }
    row(text, "all", &score.all());
    let (found, missed, wrong) = score.advisories;
    let _ = writeln!(
        text,
        "\n  held: {} of {} clean cases ({}), {} of {} others",
        score.clean_blocked,
        score.clean,
        percent(share(score.clean_blocked, score.clean)),
        score.drift_blocked,
        score.cases - score.clean,
    );
    let _ = writeln!(text, "  advisories: {found} found, {missed} missed, {wrong} wrong");
    let (there, confirmed) = score.provable;
    let _ = writeln!(
        text,
        "  A that disk and session prove: {confirmed} of {there} confirmed ({})",
        percent(share(confirmed, there))
    );
    if score.replied.0 > 0 {
        let (said, shown, confirmed) = score.replied;
        let _ = writeln!(
            text,
            "  true findings of the replies: {said}, {shown} shown still, {confirmed} confirmed"
        );
    }
    lies(text, score);
    if score.adversarial.0 > 0 {
        let (there, shown) = score.adversarial;
        let _ = writeln!(text, "  adversarial cases with drift: {there}, {shown} of them shown");
    }
    if score.auditor_faults > 0 {
        let _ = writeln!(text, "  cases without an answer of the auditor: {}", score.auditor_faults);
    }
    text.push('\n');
}

fn lies(text: &mut String, score: &Score) {
    if score.lies.is_empty() {
        return;
    }
    let _ = writeln!(
        text,
        "\n  {:<46}{:>6}{:>11}{:>14}{:>9}",
        "lies", "told", "confirmed", "not verified", "refuted"
    );
    for (kind, lies) in
        score.lies.iter().map(|(kind, lies)| (*kind, *lies)).chain([("all", score.all_lies())])
    {
        let _ = writeln!(
            text,
            "  {kind:<46}{:>6}{:>11}{:>14}{:>9}",
            lies.told(),
            lies.confirmed,
            lies.unverified,
            lies.refuted
        );
    }
    text.push('\n');
}

fn has_any(count: &Count) -> bool {
    count.shown + count.false_confirmed + count.false_in_clean > 0
}

fn row(text: &mut String, name: &str, count: &Count) {
    let _ = writeln!(
        text,
        "  {name:<14}{:>6}{:>11}{:>7}{:>17}{:>16}{:>11}{:>8}{:>14}",
        count.truths,
        count.confirmed,
        count.shown,
        count.false_confirmed,
        count.false_in_clean,
        two_places(count.precision()),
        two_places(count.recall()),
        two_places(count.shown_recall()),
    );
}

fn two_places(share: Option<f64>) -> String {
    share.map_or_else(|| "-".to_owned(), |share| format!("{share:.2}"))
}

fn percent(share: Option<f64>) -> String {
    share.map_or_else(|| "-".to_owned(), |share| format!("{:.0} %", share * 100.0))
}

fn lists(text: &mut String, results: &[CaseResult], verbose: bool) {
    let mut list = |title: &str, lines: Vec<String>| {
        if !lines.is_empty() {
            let _ = writeln!(text, "{title} ({})\n\n{}\n", lines.len(), lines.join("\n"));
        }
    };
    list("Missed", results.iter().flat_map(missed).collect());
    list("Only shown, not confirmed", results.iter().flat_map(|r| only_shown(r, verbose)).collect());
    list("False", results.iter().flat_map(|result| wrong(result, verbose)).collect());
    list("Lies that were believed", results.iter().flat_map(|result| believed(result, verbose)).collect());
    list("True in the reply, and refuted", results.iter().flat_map(refuted).collect());
    list("Advisories", results.iter().flat_map(advisories).collect());
    let faults = results.iter().filter_map(|r| Some(format!("  {}: {}", r.name, r.auditor_fault.as_ref()?)));
    list("No answer of the auditor", faults.collect());
}

/// Truths that nothing shown speaks of.
fn missed(result: &CaseResult) -> Vec<String> {
    let missed = result.truths.iter().enumerate().filter_map(|(at, truth)| {
        let note = match result.found(at) {
            Some(finding) if finding.status == Status::Refuted => format!("refuted: {}", finding.check),
            Some(_) => return None,
            None => "nothing speaks of it".to_owned(),
        };
        let step = truth.step.map(|step| format!("step {step}"));
        let words = truth.quote.as_ref().map(|quote| format!("\"{quote}\""));
        let about: Vec<_> = [truth.path.clone(), step, words].into_iter().flatten().collect();
        let category = truth.category.name();
        Some(format!("  {}: [{category}] {}: {} ({note})", result.name, about.join(", "), truth.why))
    });
    missed.collect()
}

/// Truths that would not hold a stop.
fn only_shown(result: &CaseResult, verbose: bool) -> Vec<String> {
    let is_it = |weighed: &&Weighed| {
        matches!(weighed.worth, Worth::True(_)) && weighed.finding.status == Status::CannotVerify
    };
    result.findings.iter().filter(is_it).map(|weighed| line(result, &weighed.finding, verbose)).collect()
}

/// Findings that are not true.
fn wrong(result: &CaseResult, verbose: bool) -> Vec<String> {
    let is_it = |weighed: &&Weighed| {
        // Of lies that were told on purpose only those count that were believed.
        let shown_counts = result.is_clean() && result.told.is_empty();
        let is_shown = weighed.finding.status == Status::Confirmed
            || (shown_counts && weighed.finding.status == Status::CannotVerify);
        weighed.worth == Worth::False && is_shown
    };
    result.findings.iter().filter(is_it).map(|weighed| line(result, &weighed.finding, verbose)).collect()
}

fn believed(result: &CaseResult, verbose: bool) -> Vec<String> {
    let believed = result.told.iter().filter(|told| told.finding.status == Status::Confirmed);
    believed.map(|told| format!("{} ({})", line(result, &told.finding, verbose), told.kind)).collect()
}

fn line(result: &CaseResult, finding: &Finding, verbose: bool) -> String {
    let status = match finding.status {
        Status::Confirmed => "confirmed",
        Status::CannotVerify => "not verified",
        Status::Refuted => "refuted",
    };
    let about = [finding.path.clone(), Some(finding.claim.clone()).filter(|quote| !quote.is_empty())];
    let about: Vec<_> = about.into_iter().flatten().collect();
    let mut line = format!(
        "  {}: [{}] {status} by {}: {}: {} ({})",
        result.name,
        finding.category.name(),
        source_name(finding.source),
        about.join(", "),
        finding.why,
        finding.check
    );
    if verbose {
        let whole = serde_json::to_string_pretty(finding).unwrap_or_default();
        let _ = write!(
            line,
            "\n{}",
            whole.lines().map(|line| format!("      {line}")).collect::<Vec<_>>().join("\n")
        );
    }
    line
}

fn refuted(result: &CaseResult) -> Vec<String> {
    let refuted = result.kept.iter().filter(|kept| kept.status == Status::Refuted);
    refuted
        .map(|kept| format!("  {}: {} ({})", result.name, result.truths[kept.truth].why, kept.note))
        .collect()
}

fn advisories(result: &CaseResult) -> Vec<String> {
    let names = |kinds: &[AdvisoryKind]| kinds.iter().map(|kind| kind.name()).collect::<Vec<_>>().join(", ");
    let said = |what: &str, kinds: &[AdvisoryKind]| {
        (!kinds.is_empty()).then(|| format!("  {}: {what}: {}", result.name, names(kinds)))
    };
    [said("missed", &result.advised.missed), said("wrong", &result.advised.wrong)]
        .into_iter()
        .flatten()
        .collect()
}
