//! The report of one audit for a terminal, and those of many as a table. Pure.

use std::fmt::Write as _;

use anstyle::{AnsiColor, Style};

use crate::finding::{Finding, Status};
use crate::past_sessions::find::short_id;
use crate::paths::base_name;
use crate::plan::Mark;
use crate::render::paragraphs::{CLEAN, CONFIRMED, LABEL, Paragraphs, TITLE, UNVERIFIED};
use crate::render::report::Report;
use crate::render::table::{Cell, Column, Table, cut};
use crate::render::wording::{describe_cost, describe_decision, describe_reader_failure};
use crate::text::counted;

/// Renders the whole report.
pub fn text(report: &Report, width: usize) -> String {
    let mut page = Paragraphs::new(width);
    page.title(report);
    for caution in &report.cautions {
        page.wrapped(&format!("Caution: {caution}"), UNVERIFIED, "");
    }
    page.findings("Confirmed", CONFIRMED, Status::Confirmed, report);
    page.findings("Not verified", UNVERIFIED, Status::CannotVerify, report);
    page.findings("Refuted", LABEL, Status::Refuted, report);
    page.findings("Ignored by the config", LABEL, Status::Ignored, report);
    page.advisories(report);
    for words in describe_reader_failure(report).into_iter().chain(describe_cost(report)) {
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
            self.judged(finding, "", &step_label(finding, report), report.second_reader.is_some());
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
            describe_decision(report)
        );
        self.gap();
        self.wrapped(&counts, if confirmed == 0 { CLEAN } else { CONFIRMED }, "");
    }
}

/// Returns the step that it is about, and its line; empty if it is about none.
fn step_label(finding: &Finding, report: &Report) -> String {
    let step = report.steps.iter().find(|step| Some(step.number) == finding.step);
    let path = report.plan.as_ref().and_then(|plan| plan.path.as_deref());
    match (step, path) {
        (Some(step), Some(path)) => format!("{} ({path}:{})", step.number, step.line),
        (Some(step), None) => step.number.to_string(),
        (None, _) => String::new(),
    }
}

/// Returns a time of the client, to the minute.
fn minute(time: &str) -> String {
    time.get(..16).unwrap_or(time).replace('T', " ")
}

const COLUMNS: [&str; 9] =
    ["session", "when", "plan", "steps", "confirmed", "not verified", "worth knowing", "cause", "project"];

/// The greatest width of a plan's name.
const PLAN: usize = 28;

/// Renders the reports of many sessions, oldest first, and a line under them. With `projects`, the
/// project is named, too.
pub fn sessions(reports: &[Report], projects: bool) -> String {
    let rows = reports.iter().map(|report| row(report, projects)).collect();
    let mut text = Table::new(&COLUMNS.map(Column::fixed), rows, 0, true).dropping(None, 0);
    let with_findings = reports.iter().filter(|report| report.count(Status::Confirmed) > 0).count();
    if reports.iter().any(|report| !report.cautions.is_empty()) {
        text.push_str("\n* The disk has moved on since: what rests on it is not verified.\n");
    }
    let _ = writeln!(
        text,
        "\n{}, {with_findings} with confirmed findings. No reader was asked: what needs judgement is only a candidate here.",
        counted(reports.len(), "session", "sessions")
    );
    text
}

fn row(report: &Report, projects: bool) -> Vec<Cell> {
    let plan = report.plan.as_ref().map_or("-", |plan| plan.path.as_deref().map_or("(approved)", base_name));
    let ticked = report.steps.iter().filter(|step| step.mark == Mark::Ticked).count();
    let steps =
        if report.steps.is_empty() { "-".to_owned() } else { format!("{ticked}/{}", report.steps.len()) };
    let style = if report.count(Status::Confirmed) > 0 { AnsiColor::Red.on_default() } else { Style::new() };
    let cells = [
        short_id(&report.session.id),
        report.session.ended.as_deref().map(minute).unwrap_or_default(),
        cut(plan, PLAN),
        steps,
        report.count(Status::Confirmed).to_string(),
        report.count(Status::CannotVerify).to_string(),
        report.advisories.len().to_string(),
        format!("{}{}", report.cause.name(), if report.cautions.is_empty() { "" } else { "*" }),
        if projects { report.session.cwd.clone() } else { String::new() },
    ];
    cells.iter().map(|cell| Cell::styled(cell, style)).collect()
}
