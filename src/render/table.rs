//! Many sessions at a glance: takes their reports, gives a table, oldest first. Pure.

use std::fmt::Write as _;

use anstyle::{AnsiColor, Style};

use crate::finding::Status;
use crate::past_sessions::find::short_id;
use crate::paths::base_name;
use crate::plan::Mark;
use crate::render::text::minute;
use crate::render::{Report, counted};

const HEAD: Style = Style::new().bold();
const CONFIRMED: Style = AnsiColor::Red.on_default();

const COLUMNS: [&str; 8] =
    ["session", "when", "plan", "steps", "confirmed", "not verified", "worth knowing", "cause"];

/// The widest that a plan's name may be.
const PLAN: usize = 28;

/// The table and a line under it. With `projects`, the project is named too.
pub fn table(reports: &[Report], projects: bool) -> String {
    let rows: Vec<[String; 8]> = reports.iter().map(row).collect();
    let mut widths = COLUMNS.map(|column| column.chars().count());
    for row in &rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.chars().count());
        }
    }
    let line = |cells: &[String; 8], project: &str| {
        let cells = cells.iter().zip(widths).map(|(cell, width)| format!("{cell:<width$}"));
        let line = cells.collect::<Vec<_>>().join("  ");
        format!("{line}  {project}").trim_end().to_owned()
    };
    let mut text = String::new();
    let head = line(&COLUMNS.map(ToOwned::to_owned), if projects { "project" } else { "" });
    let _ = writeln!(text, "{HEAD}{head}{HEAD:#}");
    for (report, row) in reports.iter().zip(&rows) {
        let style = if report.count(Status::Confirmed) > 0 { CONFIRMED } else { Style::new() };
        let project = if projects { report.session.cwd.as_str() } else { "" };
        let _ = writeln!(text, "{style}{}{style:#}", line(row, project));
    }
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

fn row(report: &Report) -> [String; 8] {
    let when = report.session.ended.as_deref().map(minute).unwrap_or_default();
    let plan = report.plan.as_ref().map_or("-", |plan| plan.path.as_deref().map_or("(approved)", base_name));
    let plan = if plan.chars().count() > PLAN {
        format!("{}…", plan.chars().take(PLAN - 1).collect::<String>())
    } else {
        plan.to_owned()
    };
    let ticked = report.steps.iter().filter(|step| step.mark == Mark::Ticked).count();
    let steps =
        if report.steps.is_empty() { "-".to_owned() } else { format!("{ticked}/{}", report.steps.len()) };
    [
        short_id(&report.session.id),
        when,
        plan,
        steps,
        report.count(Status::Confirmed).to_string(),
        report.count(Status::CannotVerify).to_string(),
        report.advisories.len().to_string(),
        format!("{}{}", report.cause.name(), if report.cautions.is_empty() { "" } else { "*" }),
    ]
}
