//! `punchlist status`: gates, sessions, workers, tasks and the newest decisions on one screen.
//! Pure.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use anstyle::{AnsiColor, Style};

use crate::gates::configured::Configured;
use crate::log::Annotated;
use crate::registry::{Status, Worker};
use crate::render::listing::{Setting, listing};
use crate::render::paragraphs::{LABEL, TITLE};
use crate::render::registry::{style, workers};
use crate::render::table::{Cell, Column, Table};
use crate::text::{harmless, time_span};

const PLAIN: Style = Style::new();
const ASIDE: Style = Style::new().dimmed();
const WARN: Style = AnsiColor::Yellow.on_default().bold();

/// How many letters of a session's id are shown.
const ID: usize = 8;

/// A session that stopped recently.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionLine {
    pub id: String,
    /// The machine of the fleet, where sessions of all machines are shown.
    pub machine: Option<String>,
    /// When it stopped last, in milliseconds since 1970.
    pub at_ms: i64,
    /// How often it was blocked.
    pub blocks: u32,
    /// How often by each gate.
    pub held_by: BTreeMap<String, u32>,
}

/// What the screen shows.
#[derive(Debug)]
pub struct Screen<'a> {
    /// The gates that are set.
    pub gates: &'a [Configured],
    /// Why none of them blocks, if so.
    pub off: Option<String>,
    /// How often a session may be blocked.
    pub max_blocks: u32,
    /// The sessions, newest first.
    pub sessions: &'a [SessionLine],
    pub workers: &'a [Worker],
    pub tasks: &'a [(Status, i64)],
    /// What is wrong with the registry.
    pub registry_fault: Option<String>,
    /// The newest decisions, oldest first.
    pub decisions: &'a [Annotated],
    /// How the decisions are laid out.
    pub setting: &'a Setting,
    /// The current time, in milliseconds since 1970.
    pub now_ms: i64,
}

/// Renders the screen.
pub fn text(screen: &Screen<'_>) -> String {
    let width = screen.setting.width;
    let mut text = String::new();
    head(&mut text, "Gates");
    if let Some(off) = &screen.off {
        let _ = writeln!(text, "  {WARN}{}{WARN:#}", harmless(off));
    }
    if screen.gates.is_empty() {
        none(&mut text, "none is set");
    } else {
        let rows: Vec<Vec<Cell>> =
            screen.gates.iter().map(|gate| vec![gate.name.into(), Cell::from(&gate.words)]).collect();
        let columns = [Column::fixed("gate"), Column::fixed("settings")];
        text.push_str(&Table::new(&columns, rows, 2, true).dropping(width, 24));
    }
    head(&mut text, "Sessions");
    if screen.sessions.is_empty() {
        none(&mut text, "none has stopped in the last day");
    } else {
        text.push_str(&sessions(screen));
    }
    head(&mut text, "Workers");
    if screen.workers.is_empty() {
        none(&mut text, "none is registered");
    } else {
        // Their tasks are counted on the line below.
        text.push_str(&workers(screen.workers, |_| 0, screen.now_ms, width, 2));
    }
    head(&mut text, "Tasks");
    match (&screen.registry_fault, screen.tasks.is_empty()) {
        (Some(fault), _) => {
            let _ = writeln!(text, "  {WARN}{}{WARN:#}", harmless(fault));
        }
        (None, true) => none(&mut text, "none"),
        (None, false) => text.push_str(&tasks(screen.tasks, width)),
    }
    head(&mut text, "Decisions");
    if screen.decisions.is_empty() {
        none(&mut text, "none yet");
    } else {
        text.push_str(&listing(screen.decisions, screen.setting));
    }
    text
}

fn head(text: &mut String, title: &str) {
    let gap = if text.is_empty() { "" } else { "\n" };
    let _ = writeln!(text, "{gap}{TITLE}{title}{TITLE:#}");
}

fn none(text: &mut String, words: &str) {
    let _ = writeln!(text, "  {LABEL}{words}{LABEL:#}");
}

fn sessions(screen: &Screen<'_>) -> String {
    let is_fleets = screen.sessions.iter().any(|session| session.machine.is_some());
    let mut columns = vec![
        Column::fixed("session"),
        Column::fixed("held").right(),
        Column::droppable("last stop", 1).right(),
        Column::fixed("by"),
    ];
    if is_fleets {
        columns.insert(1, Column::fixed("machine"));
    }
    let rows: Vec<Vec<Cell>> = screen
        .sessions
        .iter()
        .map(|session| {
            let by: Vec<String> =
                session.held_by.iter().map(|(gate, count)| format!("{gate} {count}")).collect();
            let mut cells = vec![
                session.id.chars().take(ID).collect::<String>().into(),
                held(session, screen.max_blocks),
                Cell::styled(
                    format!("{} ago", time_span(screen.now_ms.saturating_sub(session.at_ms))),
                    ASIDE,
                ),
                if by.is_empty() { "-".into() } else { by.join(", ").into() },
            ];
            if is_fleets {
                cells.insert(1, session.machine.as_deref().unwrap_or("-").into());
            }
            cells
        })
        .collect();
    Table::new(&columns, rows, 2, true).dropping(screen.setting.width, 24)
}

/// How often a session was blocked. How often it may be is known of this machine's only.
fn held(session: &SessionLine, max_blocks: u32) -> Cell {
    let blocks = session.blocks;
    if session.machine.is_some() {
        return blocks.to_string().into();
    }
    let style = if blocks >= max_blocks { WARN } else { PLAIN };
    Cell::styled(format!("{blocks} of {max_blocks}"), style)
}

/// Renders `3 open · 1 in_progress`, on as many lines as needed.
fn tasks(counts: &[(Status, i64)], width: Option<usize>) -> String {
    let mut text = String::from("  ");
    let mut line = 2;
    for (at, (status, count)) in counts.iter().enumerate() {
        let words = format!("{count} {status}");
        let gap = if at == 0 { "" } else { " · " };
        if width.is_some_and(|most| line + gap.chars().count() + words.len() > most) {
            text.push_str("\n  ");
            line = 2;
        } else {
            text.push_str(gap);
            line += gap.chars().count();
        }
        let style = style(*status);
        let _ = write!(text, "{style}{words}{style:#}");
        line += words.len();
    }
    text.push('\n');
    text
}

#[cfg(test)]
mod tests {
    use jiff::tz::TimeZone;

    use super::*;
    use crate::config::Config;
    use crate::gates::configured::configured;
    use crate::registry::Activity;
    use crate::testing::annotated;

    const NOW: i64 = 1_790_900_000_000;
    const MINUTE: i64 = 60_000;

    const LOG: &str = r#"{"schema":1,"id":"k3f92m7q1x","time":"2026-10-01T21:04:05.000Z","project":"/home/me/shop","decision":"block","cause":"pending-tasks","phases_ms":{"total":4.2}}
{"schema":1,"id":"m7q1xk3f92","time":"2026-10-01T21:06:05.000Z","project":"/home/me/shop","decision":"allow","cause":"loop-guard","phases_ms":{"total":1.2}}"#;

    fn set(width: Option<usize>, is_empty: bool) -> String {
        let mut config = Config::default();
        config.tasks.source = crate::config::TaskSource::Registry;
        config.worker.keep_alive = true;
        let gates = configured(&config);
        let decisions = annotated(LOG);
        let held_by = BTreeMap::from([("pending-tasks".to_owned(), 2), ("audit".to_owned(), 1)]);
        let session = |id: &str, minutes: i64, blocks, held_by| SessionLine {
            id: id.into(),
            machine: None,
            at_ms: NOW - minutes * MINUTE,
            blocks,
            held_by,
        };
        let sessions = [session("3f2a91c0-aaaa", 2, 3, held_by), session("b1", 300, 0, BTreeMap::default())];
        let worker = |name: &str, minutes: i64| Worker {
            name: name.into(),
            kind: "worker".into(),
            queue: "default".into(),
            session: Some("3f2a91c0-aaaa".into()),
            project: Some("/home/me/shop".into()),
            machine: None,
            registered_ms: 0,
            heartbeat_ms: NOW - minutes * MINUTE,
            activity_ms: NOW - 4 * minutes * MINUTE,
            activity: Activity::Completed,
        };
        let workers = [worker("w1", 1), worker("w2", 40)];
        let tasks: Vec<_> =
            Status::ALL.into_iter().zip([3, 1, 0, 1, 12, 2]).filter(|(_, count)| *count > 0).collect();
        let setting = Setting { zone: TimeZone::UTC, width, head: true, indent: 2 };
        let screen = Screen {
            gates: if is_empty { &[] } else { &gates },
            off: is_empty.then(|| "off: PUNCHLIST_OFF is set".to_owned()),
            max_blocks: 3,
            sessions: if is_empty { &[] } else { &sessions },
            workers: if is_empty { &[] } else { &workers },
            tasks: if is_empty { &[] } else { &tasks },
            registry_fault: None,
            decisions: if is_empty { &[] } else { &decisions },
            setting: &setting,
            now_ms: NOW,
        };
        anstream::adapter::strip_str(&text(&screen)).to_string()
    }

    #[test]
    fn everything_is_on_one_screen() {
        insta::assert_snapshot!(set(Some(80), false));
        assert!(set(Some(80), false).lines().count() <= 24);
    }

    #[test]
    fn a_narrow_terminal_shows_the_same_in_less() {
        for width in [40, 50, 60, 72, 100] {
            let text = set(Some(width), false);
            let widest = text.lines().map(unicode_width::UnicodeWidthStr::width).max();
            assert!(widest <= Some(width), "{width}:\n{text}");
        }
        insta::assert_snapshot!(set(Some(44), false));
    }

    #[test]
    fn where_there_is_nothing_it_says_so() {
        insta::assert_snapshot!(set(Some(80), true));
    }
}
