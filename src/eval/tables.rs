//! The report of `eval`: tables and lists of results, for a person. Pure.

use std::fmt::Write as _;

use super::case::Part;
use super::run::{CaseResult, FalseOutcome, MatchedFinding, ReaderChoice};
use super::score::{self, Count, FalseOutcomes, Score};
use crate::finding::{AdvisoryKind, Finding, Status};
use crate::text::counted;

/// Returns the full report: a table for each part and for all, then what was missed and what is
/// wrong.
pub fn report(results: &[CaseResult], reader: ReaderChoice, verbose: bool) -> String {
    let mut text = String::new();
    let of = |part: Part| results.iter().filter(|result| result.part == part).collect::<Vec<_>>();
    let present = [Part::Tuning, Part::HeldOut].map(|part| (part.name(), of(part)));
    let present: Vec<_> = present.into_iter().filter(|(_, results)| !results.is_empty()).collect();
    for (name, results) in &present {
        table(&mut text, name, reader, &Score::from_results(results.iter().copied()));
    }
    if present.len() > 1 {
        table(&mut text, "all", reader, &Score::from_results(results));
    }
    lists(&mut text, results, verbose);
    text
}

fn table(text: &mut String, name: &str, reader: ReaderChoice, score: &Score) {
    let cases = counted(score.cases, "case", "cases");
    let _ = writeln!(
        text,
        "{name}: {cases}, {} of them clean (reader: {})\n",
        score.clean_held.of,
        reader.name()
    );
    let mut line = |title: &str, said: String| {
        let _ = writeln!(text, "  {title:<34}{said}");
    };
    line("clean cases held", part(score.clean_held));
    if !reader.is_false() {
        line("drifting cases held", part(score.drifting_held));
    }
    if score.let_through.of > 0 {
        line("true findings past the checks", part(score.let_through));
    }
    if reader != ReaderChoice::None {
        let calls = score.second_calls;
        line(
            "calls of the second reader",
            format!("{calls}, {} of them at clean stops", score.second_calls_at_clean),
        );
    }
    let (found, missed, wrong) = score.advisories;
    line("advisories", format!("{found} found, {missed} missed, {wrong} wrong"));
    for (title, count) in [
        ("no reply", score.no_reply),
        ("not recorded", score.not_recorded),
        ("answers that can't be read", score.reader_faults),
        ("stops that are not audited", score.passed_over),
    ] {
        if count > 0 {
            line(title, count.to_string());
        }
    }
    text.push('\n');
    if reader.is_false() { false_findings(text, score) } else { categories(text, score) }
}

fn categories(text: &mut String, score: &Score) {
    let _ = writeln!(
        text,
        "  {:<8}{:>6}{:>7}{:>24}{:>12}{:>8}{:>17}",
        "", "true", "found", "under another category", "only shown", "missed", "false confirmed"
    );
    let mut row = |name: &str, count: Count| {
        let _ = writeln!(
            text,
            "  {name:<8}{:>6}{:>7}{:>24}{:>12}{:>8}{:>17}",
            count.truths,
            count.found,
            count.found_elsewhere,
            count.shown,
            count.missed(),
            count.false_confirmed
        );
    };
    for (category, count) in &score.categories {
        row(category, *count);
    }
    row("all", score.all());
    let _ = writeln!(text, "\n  A that the disk proves by itself: {}\n", part(score.provable));
}

fn false_findings(text: &mut String, score: &Score) {
    let _ = writeln!(
        text,
        "  {:<46}{:>6}{:>19}{:>8}{:>8}{:>19}{:>14}{:>12}",
        "false findings",
        "told",
        "stopped by checks",
        "unsure",
        "advice",
        "by second reader",
        "not recorded",
        "would hold"
    );
    let mut row = |kind: &str, outcomes: FalseOutcomes| {
        let _ = writeln!(
            text,
            "  {kind:<46}{:>6}{:>19}{:>8}{:>8}{:>19}{:>14}{:>12}",
            outcomes.total(),
            outcomes.stopped_by_checks,
            outcomes.unsure,
            outcomes.advice,
            outcomes.stopped_by_second,
            outcomes.not_recorded,
            outcomes.hold
        );
    };
    for (kind, outcomes) in &score.false_findings {
        row(kind, *outcomes);
    }
    row("all", score.all_false_findings);
    text.push('\n');
}

fn part(part: score::Part) -> String {
    let share = part.share().map(|share| format!(" ({:.0} %)", share * 100.0)).unwrap_or_default();
    format!("{} of {}{share}", part.part, part.of)
}

fn lists(text: &mut String, results: &[CaseResult], verbose: bool) {
    let mut list = |title: &str, lines: Vec<String>| {
        if !lines.is_empty() {
            let _ = writeln!(text, "{title} ({})\n\n{}\n", lines.len(), lines.join("\n"));
        }
    };
    list("Missed", results.iter().flat_map(missed).collect());
    list(
        "Only shown, not confirmed",
        results.iter().flat_map(|result| only_shown(result, verbose)).collect(),
    );
    list("False, and confirmed", results.iter().flat_map(|result| wrong(result, verbose)).collect());
    list(
        "False findings that would hold",
        results.iter().flat_map(|result| holding(result, verbose)).collect(),
    );
    list("True, and stopped by the checks", results.iter().flat_map(stopped).collect());
    list("Advisories", results.iter().flat_map(advisories).collect());
    let no_reply = results.iter().filter(|result| result.no_reply);
    list("No reply of the first reader", no_reply.map(|result| format!("  {}", result.name)).collect());
    let named = |result: &CaseResult, said: &[String]| {
        said.iter().map(|said| format!("  {}: {said}", result.name)).collect::<Vec<_>>()
    };
    list("Not recorded", results.iter().flat_map(|result| named(result, &result.not_recorded)).collect());
    list("Answers that can't be read", results.iter().flat_map(|r| named(r, &r.reader_faults)).collect());
}

/// Returns the truths that no shown finding matches.
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

/// Returns the truths that are shown, but would not block a stop.
fn only_shown(result: &CaseResult, verbose: bool) -> Vec<String> {
    let shown = (0..result.truths.len()).filter_map(|truth| result.found(truth));
    let shown = shown.filter(|finding| finding.status == Status::CannotVerify);
    shown.map(|finding| line(result, finding, verbose)).collect()
}

/// Returns the confirmed findings that are not true.
fn wrong(result: &CaseResult, verbose: bool) -> Vec<String> {
    let is_wrong =
        |matched: &&MatchedFinding| matched.truths.is_empty() && matched.finding.status == Status::Confirmed;
    let wrong = result.findings.iter().filter(is_wrong);
    wrong.map(|matched| line(result, &matched.finding, verbose)).collect()
}

/// Returns the false findings of a sloppy or lying reader that would block.
fn holding(result: &CaseResult, verbose: bool) -> Vec<String> {
    let holding = result.false_findings.iter().filter(|one| one.outcome == FalseOutcome::Holds);
    holding.map(|one| format!("{} ({})", line(result, &one.finding, verbose), one.kind)).collect()
}

fn line(result: &CaseResult, finding: &Finding, verbose: bool) -> String {
    let about = [finding.path.clone(), Some(finding.claim.clone()).filter(|claim| !claim.is_empty())];
    let about: Vec<_> = about.into_iter().flatten().collect();
    let mut line = format!(
        "  {}: [{}] {} by {}: {}: {} ({})",
        result.name,
        finding.category.name(),
        finding.status.name(),
        finding.source.name(),
        about.join(", "),
        finding.why,
        finding.check
    );
    if verbose {
        let whole = serde_json::to_string_pretty(finding).unwrap_or_default();
        let indented: Vec<_> = whole.lines().map(|line| format!("      {line}")).collect();
        let _ = write!(line, "\n{}", indented.join("\n"));
    }
    line
}

fn stopped(result: &CaseResult) -> Vec<String> {
    let stopped = result.proposed.iter().filter(|proposed| !proposed.is_let_through);
    stopped
        .map(|proposed| {
            let why = &result.truths[proposed.truth].why;
            format!("  {}: {}: {why} ({})", result.name, proposed.proposal.claim, proposed.check)
        })
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
