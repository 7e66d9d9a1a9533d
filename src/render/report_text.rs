//! The report of one audit for a terminal. Pure.

use std::fmt::Write as _;

use anstyle::Style;

use crate::finding::Status;
use crate::past_sessions::find::short_id;
use crate::plan::Mark;
use crate::render::paragraphs::{CLEAN, CONFIRMED, LABEL, Paragraphs, TITLE, UNVERIFIED};
use crate::render::report::{FindingReport, Report};
use crate::render::wording::{
    by_whom, check_words, cost_words, decision_words, quoted, reader_words, second_said,
};
use crate::text::counted;

/// Sets the whole report.
pub fn text(report: &Report, width: usize) -> String {
    let mut page = Paragraphs::new(width);
    page.title(report);
    for caution in &report.cautions {
        page.wrapped(&format!("Caution: {caution}"), UNVERIFIED, "");
    }
    page.findings("Confirmed", CONFIRMED, Status::Confirmed, report);
    page.findings("Not verified", UNVERIFIED, Status::CannotVerify, report);
    page.findings("Refuted", LABEL, Status::Refuted, report);
    page.advisories(report);
    for words in reader_words(report).into_iter().chain(cost_words(report)) {
        page.gap();
        page.wrapped(&words, LABEL, "");
    }
    page.summary(report);
    page.text
}

impl Paragraphs {
    fn title(&mut self, report: &Report) {
        let session = &report.session;
        let when = session.ended.as_deref().or(session.started.as_deref()).map(minute).unwrap_or_default();
        let when = if when.is_empty() { String::new() } else { format!(", {when}") };
        let plan = match &report.plan {
            None => "no plan in play".to_owned(),
            Some(plan) => {
                let ticked = report.steps.iter().filter(|step| step.mark == Mark::Ticked).count();
                let name = plan.path.as_deref().unwrap_or("approved in the session");
                format!("plan {name} ({}, {ticked} ticked)", counted(plan.steps, "step", "steps"))
            }
        };
        self.wrapped(&format!("Session {}{when}, {plan}", short_id(&session.id)), TITLE, "  ");
    }

    fn findings(&mut self, title: &str, style: Style, status: Status, report: &Report) {
        let findings: Vec<_> = report.with(status).collect();
        if findings.is_empty() {
            return;
        }
        let _ = writeln!(self.text, "\n{style}{title} ({}){style:#}", findings.len());
        for finding in findings {
            let name = finding.category.name();
            let _ = writeln!(
                self.text,
                "\n  {style}{name}{style:#}{}{TITLE}{}{TITLE:#}",
                " ".repeat(3usize.saturating_sub(name.len()).max(1)),
                finding.category.title()
            );
            self.labelled("words", &quoted(&finding.claim));
            self.labelled("step", &step_words(finding, report));
            self.labelled("path", finding.path.as_deref().unwrap_or_default());
            self.labelled("found", &finding.detail);
            self.labelled("proof", &quoted(&finding.proof));
            self.labelled("settle", &finding.settle);
            self.labelled("found by", by_whom(finding.source));
            self.labelled("checks", check_words(&finding.note, finding.second.as_ref()));
            self.labelled("second", &second_said(finding, report));
        }
    }

    fn advisories(&mut self, report: &Report) {
        if report.advisories.is_empty() {
            return;
        }
        let _ = writeln!(self.text, "\n{TITLE}Worth knowing ({}){TITLE:#}\n", report.advisories.len());
        for advisory in &report.advisories {
            self.wrapped(&format!("  {}: {}", advisory.kind.name(), advisory.text), Style::new(), "     ");
            self.labelled("", &advisory.evidence);
        }
    }

    fn summary(&mut self, report: &Report) {
        let confirmed = report.count(Status::Confirmed);
        let counts = format!(
            "{confirmed} confirmed, {} not verified, {} refuted, {}. {}",
            report.count(Status::CannotVerify),
            report.count(Status::Refuted),
            counted(report.advisories.len(), "thing worth knowing", "things worth knowing"),
            decision_words(report)
        );
        self.gap();
        self.wrapped(&counts, if confirmed == 0 { CLEAN } else { CONFIRMED }, "");
    }
}

/// The step that it is about, and its line; nothing where it is about none.
fn step_words(finding: &FindingReport, report: &Report) -> String {
    let step = report.steps.iter().find(|step| Some(step.number) == finding.step);
    let path = report.plan.as_ref().and_then(|plan| plan.path.as_deref());
    match (step, path) {
        (Some(step), Some(path)) => format!("{} ({path}:{})", step.number, step.line),
        (Some(step), None) => step.number.to_string(),
        (None, _) => String::new(),
    }
}

/// A time of the client, to the minute.
pub(super) fn minute(time: &str) -> String {
    time.get(..16).unwrap_or(time).replace('T', " ")
}
