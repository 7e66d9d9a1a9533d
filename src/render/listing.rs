//! Decisions in a list, one line each. If not everything fits, columns are shortened, joined or
//! left out. Pure.

use anstyle::{AnsiColor, Style};
use jiff::tz::TimeZone;
use strum::VariantArray;

use crate::decision::could_not_check;
use crate::finding::{Category, Status};
use crate::log::Annotated;
use crate::log::filter::{DecisionKind, OutcomeFilter};
use crate::paths::base_name;
use crate::render::table::{Cell, Column, Shown, Table};
use crate::render::wording::{dollars, milliseconds};
use crate::timing;

const BLOCK: Style = AnsiColor::Red.on_default().bold();
const WOULD_BLOCK: Style = AnsiColor::Yellow.on_default().bold();
const CLEAN: Style = AnsiColor::Green.on_default();
const FAULT: Style = AnsiColor::Yellow.on_default();
const ASIDE: Style = Style::new().dimmed();
const PLAIN: Style = Style::new();

/// What a column shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Field {
    Id,
    ShortId,
    When,
    ShortWhen,
    Project,
    Session,
    ShortSession,
    Decision,
    ShortDecision,
    Cause,
    Findings,
    /// The findings if they are the cause, else the cause.
    Reason,
    /// The same, and the outcomes of the findings.
    Detail,
    Outcomes,
    Time,
    Cost,
}

use Field::{
    Cause, Cost, Decision, Detail, Findings, Id, Outcomes, Project, Reason, Session, ShortDecision, ShortId,
    ShortSession, ShortWhen, Time, When,
};

const FIELDS: [(Field, Column); 16] = [
    (Id, Column::fixed("id")),
    (ShortId, Column::fixed("id")),
    (When, Column::fixed("when")),
    (ShortWhen, Column::fixed("when")),
    (Project, Column::fixed("project")),
    (Session, Column::fixed("session")),
    (ShortSession, Column::fixed("sess")),
    (Decision, Column::fixed("decision")),
    // A title must not be wider than its column.
    (ShortDecision, Column::fixed("stop")),
    (Cause, Column::fixed("cause")),
    (Findings, Column::fixed("findings")),
    (Reason, Column::fixed("cause")),
    (Detail, Column::fixed("cause")),
    (Outcomes, Column::fixed("outcome")),
    (Time, Column::fixed("time").right()),
    (Cost, Column::fixed("cost").right()),
];

/// How many letters of an id are enough to tell it from the others of a log.
const ID_LETTERS: usize = 6;

/// The fields of a line, and the maximum width of some of them.
type Layout = (&'static [Field], &'static [(Field, usize)]);

/// The layouts, in the order in which they are tried: one cell that is rarely wide must not cost
/// all others a column.
const LAYOUTS: [Layout; 9] = [
    (
        &[Id, When, Project, Session, Decision, Cause, Findings, Outcomes, Time, Cost],
        &[(Project, 24), (Findings, 14), (Outcomes, 24)],
    ),
    (
        &[Id, ShortWhen, Project, Session, Decision, Cause, Findings, Outcomes, Time, Cost],
        &[(Project, 16), (Findings, 12), (Outcomes, 18)],
    ),
    (
        &[Id, ShortWhen, Project, ShortSession, ShortDecision, Detail, Time, Cost],
        &[(Project, 20), (Detail, 28)],
    ),
    (
        &[ShortId, ShortWhen, Project, ShortSession, ShortDecision, Detail, Time, Cost],
        &[(Project, 13), (Detail, 20)],
    ),
    (
        &[ShortId, ShortWhen, Project, ShortSession, ShortDecision, Detail, Time],
        &[(Project, 12), (Detail, 19)],
    ),
    (&[ShortId, ShortWhen, Project, ShortSession, ShortDecision, Detail], &[(Project, 10), (Detail, 16)]),
    (&[ShortId, ShortWhen, ShortDecision, Reason], &[(Reason, 16)]),
    (&[ShortId, ShortWhen, ShortDecision], &[]),
    (&[ShortWhen, ShortDecision], &[]),
];

/// How a list is laid out.
#[derive(Debug, Clone)]
pub struct Setting {
    /// The person's time zone.
    pub zone: TimeZone,
    /// The available width; without it, nothing is left out or cut.
    pub width: Option<usize>,
    /// Whether the columns have titles.
    pub head: bool,
    pub indent: usize,
}

/// Renders a list.
pub fn listing(all: &[Annotated], setting: &Setting) -> String {
    let layouts = if setting.width.is_some() { &LAYOUTS[..] } else { &LAYOUTS[..1] };
    let cells = |annotated: &Annotated| {
        FIELDS.iter().map(|(field, _)| cell(*field, annotated, &setting.zone)).collect()
    };
    let columns = FIELDS.map(|(_, column)| column);
    let table = Table::new(&columns, all.iter().map(cells).collect(), setting.indent, setting.head);
    let layouts: Vec<Vec<Shown>> = layouts
        .iter()
        .map(|(fields, caps)| {
            let cap = |field: Field| {
                caps.iter().find(|(capped, _)| *capped == field).map_or(usize::MAX, |(_, cap)| *cap)
            };
            fields.iter().map(|field| (*field as usize, cap(*field))).collect()
        })
        .collect();
    table.first_fit(&layouts, setting.width)
}

fn cell(field: Field, annotated: &Annotated, zone: &TimeZone) -> Cell {
    let when = |format: &str| zone.to_datetime(annotated.at).strftime(format).to_string();
    let id = &annotated.decision.id;
    match field {
        Id => Cell::styled(id, ASIDE),
        ShortId => Cell::styled(id.chars().take(ID_LETTERS).collect::<String>(), ASIDE),
        When => when("%Y-%m-%d %H:%M").into(),
        ShortWhen => when("%m-%d %H:%M").into(),
        Project => {
            let project = annotated.decision.project.as_deref().map_or("-", base_name);
            match &annotated.decision.machine {
                Some(machine) => format!("{project}@{machine}").into(),
                None => project.into(),
            }
        }
        Session => session(annotated, 8).into(),
        ShortSession => session(annotated, 4).into(),
        ShortDecision if annotated.kind() == DecisionKind::WouldBlock => Cell::styled("would", WOULD_BLOCK),
        Decision | ShortDecision => Cell::styled(annotated.kind().name(), decision_style(annotated)),
        Cause => Cell::styled(cause(annotated), cause_style(annotated)),
        Reason => Cell::styled(reason(annotated), cause_style(annotated)),
        Detail => {
            let outcomes = outcomes(annotated, 3);
            let arrow = if outcomes.is_empty() { "" } else { " → " };
            Cell::styled(format!("{}{arrow}{outcomes}", reason(annotated)), cause_style(annotated))
        }
        Findings => findings(annotated).into(),
        Outcomes => outcomes(annotated, usize::MAX).into(),
        Time => annotated.phase(timing::TOTAL).map(milliseconds).unwrap_or_default().into(),
        Cost => annotated.cost_usd().map(dollars).unwrap_or_default().into(),
    }
}

/// Returns the first letters of a session's id, after an arrow if one of its subagents stopped.
fn session(annotated: &Annotated, letters: usize) -> String {
    let record = &annotated.decision;
    let id: String = record.session.as_deref().unwrap_or("-").chars().take(letters).collect();
    if record.agent.is_some() { format!("↳{id}") } else { id }
}

fn cause(annotated: &Annotated) -> &str {
    if annotated.cause.is_empty() { "-" } else { &annotated.cause }
}

fn reason(annotated: &Annotated) -> String {
    match annotated.cause.as_str() {
        "findings" | "only-unverified" => findings(annotated),
        _ => format!("{} {}", cause(annotated), advisories(annotated)).trim().to_owned(),
    }
}

/// Returns, for example, `2A 1ask 3? 1!`: the confirmed findings by category, then those that could
/// not be verified, then the advisories.
fn findings(annotated: &Annotated) -> String {
    let confirmed = Category::ALL
        .map(|category| (annotated.count(Status::Confirmed, Some(category)), category.name().to_owned()));
    let unverified = (annotated.count(Status::CannotVerify, None), "?".to_owned());
    format!("{} {}", counts(confirmed.into_iter().chain([unverified])), advisories(annotated))
        .trim()
        .to_owned()
}

fn advisories(annotated: &Annotated) -> String {
    counts([(annotated.decision.advisories.len(), "!".to_owned())].into_iter())
}

/// Returns, for example, `2 fixed 1 disputed`: the outcomes of the findings, then a person's
/// labels, in words of this many letters.
fn outcomes(annotated: &Annotated, letters: usize) -> String {
    let count = |outcome: OutcomeFilter| match outcome {
        // A label on the whole decision is added without a number.
        label if label.is_label() && annotated.label.is_some() => 0,
        _ => annotated.findings.iter().filter(|notes| outcome.matches(notes)).count(),
    };
    let name = |outcome: OutcomeFilter| format!(" {}", &outcome.name()[..outcome.name().len().min(letters)]);
    let counts = counts(OutcomeFilter::VARIANTS.iter().map(|&outcome| (count(outcome), name(outcome))));
    let label = annotated.label.as_ref().map_or("", |note| note.label.name());
    format!("{counts} {label}").trim().to_owned()
}

fn counts(counts: impl Iterator<Item = (usize, String)>) -> String {
    let counts: Vec<_> =
        counts.filter(|(count, _)| *count > 0).map(|(count, name)| format!("{count}{name}")).collect();
    counts.join(" ")
}

fn decision_style(annotated: &Annotated) -> Style {
    match annotated.kind() {
        DecisionKind::Block => BLOCK,
        DecisionKind::WouldBlock => WOULD_BLOCK,
        DecisionKind::Allow if annotated.decision.auditor.is_some() || annotated.cause == "clean" => CLEAN,
        DecisionKind::Allow => ASIDE,
    }
}

fn cause_style(annotated: &Annotated) -> Style {
    if could_not_check(&annotated.cause) { FAULT } else { PLAIN }
}

#[cfg(test)]
mod tests {
    use unicode_width::UnicodeWidthStr;

    use super::*;
    use crate::testing::annotated;

    const LINES: &str = r#"
{"id":"k3f92m7q1x","time":"2026-10-01T21:04:05.000Z","session":"3f6c1a2b-9","project":"/home/me/shop","decision":"allow","cause":"nothing-to-audit","phases_ms":{"total":1.84}}
{"id":"p0w4n8c2ze","time":"2026-10-01T21:30:00.000Z","session":"3f6c1a2b-9","agent":"a1","advisories":[{"kind":"force-push","text":"t","evidence":"e"}],"project":"/home/me/shop","decision":"block","cause":"findings","findings":[{"category":"A","status":"confirmed"},{"category":"A","status":"confirmed"},{"category":"ask","status":"confirmed"},{"category":"B","status":"cannot-verify"},{"category":"C","status":"refuted"}],"auditor":{"usage":{"cost_usd":0.01234}},"phases_ms":{"total":12345.6}}
{"id":"z9y8x7w6v5","time":"2026-10-02T08:00:00.000Z","project":"/home/me/日本語\u001b[31m","decision":"allow","would_block":true,"cause":"findings","findings":[{"category":"C","status":"confirmed"}],"auditor":{"usage":{"cost_usd":1.5}},"phases_ms":{"total":123456}}
{"id":"m1n2b3v4c5","time":"2026-10-02T09:00:00.000Z","project":"/home/me/a-project-with-a-name-that-never-seems-to-end","decision":"allow","cause":"auditor-unavailable","auditor":{"usage":{"cost_usd":null}},"phases_ms":{"total":845.2}}
{"id":"older00000","time":"2026-10-02T09:30:00Z"}
{"kind":"outcome","schema":2,"id":"n","time":"2026-10-01T00:00:00Z","of":"p0w4n8c2ze","finding":1,"outcome":"fixed"}
{"kind":"outcome","schema":2,"id":"n","time":"2026-10-01T00:00:00Z","of":"p0w4n8c2ze","finding":2,"outcome":"disputed"}
{"kind":"label","schema":2,"id":"n","time":"2026-10-01T00:00:00Z","of":"p0w4n8c2ze","finding":2,"label":"wrong"}
{"kind":"label","schema":2,"id":"n","time":"2026-10-01T00:00:00Z","of":"m1n2b3v4c5","label":"right"}"#;

    fn set(width: Option<usize>, zone: &str) -> String {
        let zone = TimeZone::posix(zone).expect("a zone");
        listing(&annotated(LINES), &Setting { zone, width, head: width.is_some(), indent: 0 })
    }

    fn plain(width: Option<usize>) -> String {
        anstream::adapter::strip_str(&set(width, "UTC0")).to_string()
    }

    #[test]
    fn a_list_fits_its_terminal() {
        insta::assert_snapshot!("a_list_on_a_wide_terminal", plain(Some(140)));
        insta::assert_snapshot!("a_list_on_an_ordinary_terminal", plain(Some(80)));
        insta::assert_snapshot!("a_list_on_a_narrow_terminal", plain(Some(50)));
        insta::assert_snapshot!("a_list_that_is_piped_has_all_of_it_and_no_head", plain(None));
        let coloured = set(Some(140), "UTC0").replace('\u{1b}', "␛");
        insta::assert_snapshot!("decisions_have_their_colours", coloured);
    }

    #[test]
    fn times_are_those_of_the_persons_clock() {
        let text = set(Some(200), "IST-5:30");
        assert!(text.contains("  2026-10-02 02:34"), "{text}");
    }

    #[test]
    fn no_line_is_wider_than_the_terminal() {
        for width in 24..200 {
            for line in plain(Some(width)).lines() {
                assert!(line.width() <= width, "{width}: {line}");
            }
        }
    }
}
