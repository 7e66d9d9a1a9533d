//! Tasks and workers for a terminal. Pure.

use std::fmt::Write as _;
use std::path::Path;

use anstyle::{AnsiColor, Style};

use crate::paths::base_name;
use crate::registry::{DEFAULT_QUEUE, Event, Status, Task, TaskId, Worker};
use crate::render::paragraphs::{LABEL, Paragraphs, TITLE};
use crate::render::table::{Cell, Column, Table};
use crate::text::{counted, time_span};

const PLAIN: Style = Style::new();
const ASIDE: Style = Style::new().dimmed();
const AT_WORK: Style = AnsiColor::Cyan.on_default();
const GIVEN: Style = AnsiColor::Yellow.on_default();
const DONE: Style = AnsiColor::Green.on_default();
const FAILED: Style = AnsiColor::Red.on_default();

/// Returns the colour of a status.
pub fn style(status: Status) -> Style {
    match status {
        Status::Open => PLAIN,
        Status::Assigned => GIVEN,
        Status::Accepted | Status::InProgress => AT_WORK,
        Status::Completed => DONE,
        Status::Failed | Status::Dead => FAILED,
    }
}

/// Returns how long ago something was.
fn since(then_ms: i64, now_ms: i64) -> String {
    time_span(now_ms.saturating_sub(then_ms))
}

/// Renders tasks, one per line. Names their queues if some are not in the default one.
pub fn tasks(all: &[Task], projects: bool, now_ms: i64, width: Option<usize>) -> String {
    let columns = [
        Column::fixed("id"),
        Column::fixed("status"),
        Column::droppable("worker", 1),
        Column::droppable("since", 3).right(),
        Column::droppable("priority", 5).right(),
        Column::droppable("queue", 4),
        Column::droppable("project", 2),
        Column::fixed("title"),
    ];
    let has_queues = all.iter().any(|task| task.queue != DEFAULT_QUEUE);
    let rows: Vec<Vec<Cell>> = all
        .iter()
        .map(|task| {
            let project = task.project.as_deref().map_or("any", |path| base_name_of(path));
            vec![
                task.id.to_string().into(),
                if task.waits > 0 && !task.status.is_over() {
                    Cell::styled("waits", ASIDE)
                } else {
                    Cell::styled(task.status.name(), style(task.status))
                },
                task.assignee.as_deref().unwrap_or_default().into(),
                Cell::styled(since(task.updated_ms, now_ms), ASIDE),
                if task.priority == 0 { Cell::default() } else { task.priority.to_string().into() },
                if has_queues { Cell::from(&task.queue) } else { Cell::default() },
                if projects { project.into() } else { Cell::default() },
                Cell::from(&task.title),
            ]
        })
        .collect();
    Table::new(&columns, rows, 0, true).dropping(width, 24)
}

fn base_name_of(path: &Path) -> &str {
    path.to_str().map_or("?", base_name)
}

pub fn task(task: &Task, after: &[TaskId], events: &[Event], now_ms: i64, width: usize) -> String {
    let mut page = Paragraphs::new(width);
    let status = style(task.status);
    page.wrapped(&format!("{}  {}", task.id, task.title), TITLE, "    ");
    let whose = task.assignee.as_deref().map(|worker| format!(", {worker}")).unwrap_or_default();
    let _ = writeln!(
        page.text,
        "{status}{}{status:#}{LABEL}{whose}, for {}{LABEL:#}",
        task.status,
        since(task.updated_ms, now_ms)
    );
    if let Some(note) = &task.note {
        page.wrapped(note, PLAIN, "");
    }
    if !task.body.is_empty() {
        page.gap();
        page.lines(&task.body, "");
    }
    page.gap();
    page.labelled_at(0, "queue", &task.queue);
    let project = task.project.as_ref().map_or("any".to_owned(), |project| project.display().to_string());
    page.labelled_at(0, "project", &project);
    page.labelled_at(0, "priority", &task.priority.to_string());
    let attempts = usize::try_from(task.attempts).unwrap_or_default();
    let most = task.retries.map(|retries| format!(", of at most {}", retries + 1)).unwrap_or_default();
    page.labelled_at(0, "taken", &format!("{}{most}", counted(attempts, "time", "times")));
    if !after.is_empty() {
        let ids: Vec<_> = after.iter().map(ToString::to_string).collect();
        let left = if task.waits > 0 { format!(", {} not completed", task.waits) } else { String::new() };
        page.labelled_at(0, "after", &format!("{}{left}", ids.join(", ")));
    }
    if !events.is_empty() {
        page.gap();
    }
    for event in events {
        let who = event.worker.as_deref().map(|worker| format!(" {worker}")).unwrap_or_default();
        let note = event.note.as_deref().map(|note| format!(": {note}")).unwrap_or_default();
        let ago = format!("{} ago", since(event.at_ms, now_ms));
        page.wrapped(&format!("{ago:>14}  {}{who}{note}", event.what), PLAIN, "                ");
    }
    page.text
}

/// Renders workers, one per line.
pub fn workers(
    all: &[Worker],
    in_hand: impl Fn(&str) -> usize,
    now_ms: i64,
    width: Option<usize>,
    indent: usize,
) -> String {
    let columns = [
        Column::fixed("worker"),
        Column::fixed("is"),
        Column::droppable("heard of", 2).right(),
        Column::droppable("kind", 4),
        Column::droppable("queue", 5),
        Column::droppable("tasks", 1).right(),
        Column::droppable("project", 6),
        Column::fixed("last"),
    ];
    let rows: Vec<Vec<Cell>> = all
        .iter()
        .map(|worker| {
            let (is, style) = if worker.is_alive(now_ms) { ("alive", DONE) } else { ("silent", ASIDE) };
            let count = in_hand(&worker.name);
            vec![
                Cell::from(&worker.name),
                Cell::styled(is, style),
                Cell::styled(format!("{} ago", time_span(worker.silent_ms(now_ms))), ASIDE),
                Cell::from(&worker.kind),
                Cell::from(&worker.queue),
                if count == 0 { Cell::default() } else { count.to_string().into() },
                worker.project.as_deref().map_or("-", base_name_of).into(),
                format!("{} {} ago", worker.activity.words(), time_span(worker.idle_ms(now_ms))).into(),
            ]
        })
        .collect();
    Table::new(&columns, rows, indent, true).dropping(width, 32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::Activity;

    const NOW: i64 = 1_800_000_000_000;
    const MINUTE: i64 = 60_000;

    fn a_task(id: i64, status: Status, title: &str) -> Task {
        let has_worker = status != Status::Open;
        Task {
            id: TaskId(id),
            title: title.into(),
            body: "It squeaks.\n\nSee `src/gate.rs`.".into(),
            queue: DEFAULT_QUEUE.into(),
            project: Some("/home/me/shop".into()),
            priority: if id == 2 { 5 } else { 0 },
            status,
            assignee: has_worker.then(|| "w2".to_owned()),
            created_ms: NOW - 90 * MINUTE,
            claimed_ms: has_worker.then_some(NOW - 50 * MINUTE),
            updated_ms: NOW - id * 7 * MINUTE,
            note: (status == Status::Failed).then(|| "no oil in the house".to_owned()),
            attempts: i64::from(has_worker),
            lease_ms: None,
            lease_until_ms: None,
            waits: 0,
            retries: None,
        }
    }

    fn plain(text: &str) -> String {
        anstream::adapter::strip_str(text).to_string()
    }

    #[test]
    fn tasks_are_a_table() {
        let all: Vec<_> = Status::ALL
            .into_iter()
            .zip(1..)
            .map(|(status, id)| a_task(id, status, "Mend the gate, which squeaks whenever the wind is up"))
            .collect();
        insta::assert_snapshot!(plain(&tasks(&all, true, NOW, None)));
        insta::assert_snapshot!(plain(&tasks(&all, false, NOW, Some(60))));
        insta::assert_snapshot!(plain(&tasks(&all, false, NOW, Some(40))));
    }

    #[test]
    fn a_task_is_told_with_its_story() {
        let event = |what: &str, minutes: i64, worker: Option<&str>, note: Option<&str>| Event {
            at_ms: NOW - minutes * MINUTE,
            worker: worker.map(Into::into),
            what: what.into(),
            note: note.map(Into::into),
        };
        let events = [
            event("added", 90, None, None),
            event("claimed", 50, Some("w1"), None),
            event("returned", 19, Some("w1"), Some("w1 was silent for 31 min")),
            event("claimed", 12, Some("w2"), None),
            event("failed", 6, Some("w2"), Some("no oil in the house")),
        ];
        insta::assert_snapshot!(plain(&task(
            &a_task(6, Status::Failed, "Mend the gate"),
            &[],
            &events,
            NOW,
            60
        )));
    }

    #[test]
    fn workers_are_a_table() {
        let worker = |name: &str, silent: i64, idle: i64, activity| Worker {
            name: name.into(),
            kind: "builder".into(),
            queue: DEFAULT_QUEUE.into(),
            session: None,
            project: Some("/home/me/shop".into()),
            machine: None,
            registered_ms: NOW - 90 * MINUTE,
            heartbeat_ms: NOW - silent * MINUTE,
            activity_ms: NOW - idle * MINUTE,
            activity,
        };
        let all = [
            worker("w1", 0, 4, Activity::Claimed),
            worker("ann", 125, 130, Activity::Registered),
            worker("w2", -9, -9, Activity::Completed),
        ];
        let in_hand = |name: &str| usize::from(name == "w1");
        insta::assert_snapshot!(plain(&workers(&all, in_hand, NOW, None, 0)));
        insta::assert_snapshot!(plain(&workers(&all, in_hand, NOW, Some(50), 2)));
    }
}
