//! The reports of many sessions as a table, oldest first. Pure.

use std::fmt::Write as _;

use anstyle::{AnsiColor, Style};

use crate::finding::Status;
use crate::past_sessions::find::short_id;
use crate::paths::base_name;
use crate::plan::Mark;
use crate::render::Report;
use crate::render::report_text::minute;
use crate::render::table::{Cell, Column, Table, cut};
use crate::text::counted;

const CONFIRMED: Style = AnsiColor::Red.on_default();

const COLUMNS: [Column; 9] = [
    Column::fixed("session"),
    Column::fixed("when"),
    Column::fixed("plan"),
    Column::fixed("steps"),
    Column::fixed("confirmed"),
    Column::fixed("not verified"),
    Column::fixed("worth knowing"),
    Column::fixed("cause"),
    Column::fixed("project"),
];

/// The widest that a plan's name may be.
const PLAN: usize = 28;

/// Sets the table and a line under it. With `projects`, the project is named, too.
pub fn sessions(reports: &[Report], projects: bool) -> String {
    let rows = reports.iter().map(|report| row(report, projects)).collect();
    let mut text = Table::new(&COLUMNS, rows, 0, true).dropping(None, 0);
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
    let style = if report.count(Status::Confirmed) > 0 { CONFIRMED } else { Style::new() };
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
