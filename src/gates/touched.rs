//! The files that a session touched: with its tools, and whatever in the workspace was changed or
//! taken away while one of its commands ran. The checks and the feature loop go by it. Must not
//! decide anything.

use std::collections::BTreeMap;

use jiff::Timestamp;

use super::{SessionView, StopContext};
use crate::checks::Touched;
use crate::checks::windows::{COARSEST_NS, Window, are_within, windows};
use crate::session::Session;
use crate::workspace::{Place, Workspace};

/// Returns the files that the session touched, as they are now.
pub fn touched(stop: &StopContext<'_>) -> Touched {
    touched_since(stop, None)
}

/// Returns those that it touched since a time, in milliseconds since 1970.
pub fn touched_since(stop: &StopContext<'_>, since_ms: Option<i64>) -> Touched {
    let SessionView { session, workspace, .. } = stop.view();
    let is_new = |time: Option<i64>| time.zip(since_ms).is_none_or(|(time, since)| time >= since);
    let mut touched = Touched::new();
    for touch in session.done_touches().filter(|touch| is_new(touch.time)) {
        if let Some(place) = workspace.locate(&touch.path) {
            let stamp = workspace.written(&place);
            touched.insert(place.name, stamp);
        }
    }
    let started = session.started.as_deref().and_then(|time| time.parse::<Timestamp>().ok());
    let windows = windows(session, started.map(Timestamp::as_millisecond), stop.started_ms, since_ms);
    if let Some(first) = windows.iter().map(|window| *window.start()).min() {
        let changed = workspace.written_since(first.saturating_sub(COARSEST_NS)).into_iter();
        let ours = changed.filter(|(_, (_, changed))| are_within(&windows, *changed));
        touched.extend(ours.map(|(name, stamp)| (name, Some(stamp))));
        let removed = session.commands.iter().filter(|command| is_new(command.ended.or(command.time)));
        let removed = removed.flat_map(|command| command.line.removed_paths());
        let gone = gone(session, workspace, &windows, removed);
        touched.extend(gone.into_iter().map(|name| (name, None)));
    }
    touched
}

/// Returns the names of files that are gone: those that git had, and what the session's commands
/// say that they remove. A folder's own time says when something in it went; a name is enough where
/// git had the file.
fn gone<'a>(
    session: &Session,
    workspace: &Workspace,
    windows: &[Window],
    removed: impl Iterator<Item = &'a str>,
) -> Vec<String> {
    // Many files go with one folder.
    let mut looked_at = BTreeMap::new();
    let mut went_now = |place: &Place| {
        let above = place.path.ancestors().skip(1).find(|folder| folder.is_dir());
        above.is_some_and(|folder| {
            let is_ours =
                || workspace.folder_changed(folder).is_some_and(|changed| are_within(windows, changed));
            *looked_at.entry(folder.to_path_buf()).or_insert_with(is_ours)
        })
    };
    let is_gone = |place: &Place| place.path.symlink_metadata().is_err();
    let removed: Vec<Place> =
        removed.filter_map(|path| workspace.locate(path)).filter(|place| is_gone(place)).collect();
    let mut gone: Vec<String> = Vec::new();
    for name in workspace.git().deleted(session.started.as_deref()) {
        let path = workspace.root().join(&name);
        let place = Place { path, name };
        if removed.iter().any(|removed| place.path.starts_with(&removed.path)) || went_now(&place) {
            gone.push(place.name);
        }
    }
    gone.extend(removed.into_iter().filter(|place| went_now(place)).map(|place| place.name));
    gone
}
