//! `loop status`: shows the loop of this folder, as text or JSON. Changes nothing.

use std::fmt::Write as _;
use std::time::Duration;

use jiff::Timestamp;
use serde_json::{Value, json};

use super::display::{BAD, GOOD, LABEL, OPEN, ago, bar, dollars, duration, passing};
use super::output::{print, print_json, width};
use super::{LoopContext, Result};
use crate::feature_loop::snapshot::now_ms;
use crate::feature_loop::state::ListChanges;
use crate::feature_loop::{Feature, LoopState, Status, disk};
use crate::text::{counted, harmless};

pub(super) fn run(context: &LoopContext<'_>, as_json: bool) -> Result {
    let folder = context.folder();
    let Some(state) = context.state.loop_of(&folder) else {
        if as_json {
            return print_json(&json!({ "status": null, "folder": folder }));
        }
        let list = &context.config.feature_loop.features;
        let begin = if folder.join(list).is_file() { format!("{list} is there; ") } else { String::new() };
        let text =
            format!("No feature loop in {}. {begin}`punchlist loop init` begins one.\n", folder.display());
        return print(&harmless(&text));
    };
    let list = disk::read_features(&state.folder, &state.features);
    let running = context.state.is_loop_run(&folder);
    if as_json {
        return print_json(&as_json_value(&state, &list, running));
    }
    print(&as_text(&state, &list, running, now_ms(), width()))
}

/// The features, or why they can't be read.
type FeatureList = std::result::Result<Vec<Feature>, String>;

fn status_of(state: &LoopState) -> Status {
    state.end_status().unwrap_or(Status::InProgress)
}

fn time(ms: i64) -> Option<String> {
    Timestamp::from_millisecond(ms).ok().map(|time| time.to_string())
}

fn as_json_value(state: &LoopState, list: &FeatureList, running: bool) -> Value {
    let features = list.as_deref().unwrap_or_default();
    let changes = if list.is_ok() { state.changes(features) } else { ListChanges::default() };
    let unproven = state.unproven(features);
    let open: Vec<_> = features
        .iter()
        .filter(|feature| !feature.passes)
        .map(
            |feature| json!({ "id": feature.id, "description": feature.description, "steps": feature.steps }),
        )
        .collect();
    json!({
        "status": status_of(state).as_str(),
        "folder": state.folder,
        "features": state.features,
        "progress": state.progress,
        "iteration": state.iteration,
        "max": state.max,
        "passing": passing(features) - unproven.len(),
        "unproven": unproven.iter().map(|feature| feature.display_name()).collect::<Vec<_>>(),
        "total": features.len() + changes.gone.len(),
        "open": open,
        "gone": changes.gone,
        "rewritten": changes.rewritten,
        "problem": list.as_ref().err(),
        "session": state.session,
        "begun": time(state.begun_ms),
        "moved": time(state.moved_ms),
        "still": state.stalled_rounds,
        "running": running,
        "ended": state.ended.as_ref().map(|ended| json!({
            "status": ended.status, "why": ended.why, "at": time(ended.at_ms), "session": ended.session,
        })),
        "spent": {
            "sessions": state.spent.sessions, "usd": state.spent.usd, "seconds": state.spent.ms / 1000,
        },
    })
}

fn as_text(state: &LoopState, list: &FeatureList, running: bool, now: i64, width: usize) -> String {
    let status = status_of(state);
    let style = match status {
        Status::Complete => GOOD,
        Status::InProgress | Status::HandedOver | Status::Paused => OPEN,
        _ => BAD,
    };
    let mut text = format!(
        "{style}{status}{style:#}  feature loop in {}\n\n",
        harmless(&state.folder.display().to_string())
    );
    let mut line = |label: &str, words: &str| {
        let words = harmless(words);
        let room = width.saturating_sub(13).max(20);
        let lines: Vec<_> = textwrap::wrap(&words, room).into_iter().collect();
        for (at, part) in lines.iter().enumerate() {
            let label = if at == 0 { label } else { "" };
            let _ = writeln!(text, "  {LABEL}{label:<10}{LABEL:#} {part}");
        }
    };
    match list {
        Err(why) => line("features", why),
        Ok(features) => {
            let changes = state.changes(features);
            let unproven: Vec<_> = state.unproven(features).iter().map(|one| one.display_name()).collect();
            let passing = passing(features) - unproven.len();
            let total = features.len() + changes.gone.len();
            line("features", &format!("{}  {passing} of {total} pass", bar(passing, total)));
            if let Some(next) = features.iter().find(|feature| !feature.passes) {
                let name = next.id.as_ref().map(|id| format!("{id}  ")).unwrap_or_default();
                line("next", &format!("{name}{}", next.description));
            }
            if !unproven.is_empty() {
                let names = unproven.join(", ");
                line("unproven", &format!("{names} (set to pass, which counts once a stop has shown it)"));
            }
            if !changes.gone.is_empty() {
                line("gone", &format!("{} (removed from the list, and still open)", changes.gone.join(", ")));
            }
            if !changes.rewritten.is_empty() {
                line("rewritten", &changes.rewritten.join(", "));
            }
        }
    }
    line("iteration", &format!("{} of {}", state.iteration, state.max));
    let still = match state.stalled_rounds {
        0 => String::new(),
        1 => ", nothing in the last iteration".into(),
        still => format!(", nothing in the last {still} iterations"),
    };
    line("moved", &format!("{}{still}", ago(state.moved_ms, now)));
    match (&state.session, &state.token) {
        (Some(session), _) if running => {
            line("session", &format!("{session}, started by `punchlist loop run`"));
        }
        (Some(session), _) => line("session", session),
        (None, Some(_)) => line("session", "the one that began it, from its next stop on"),
        (None, None) if running => line("session", "none at the moment; `punchlist loop run` is at work"),
        (None, None) => line("session", "none is bound"),
    }
    let spent = &state.spent;
    if spent.sessions > 0 {
        let sessions = counted(usize::try_from(spent.sessions).unwrap_or(usize::MAX), "session", "sessions");
        // In a terminal of the person's own the client does not tell what it cost.
        let cost = if spent.usd > 0.0 { format!(", {}", dollars(spent.usd)) } else { String::new() };
        line("run", &format!("{sessions}{cost}, {}", duration(Duration::from_millis(spent.ms))));
    }
    if let Some(ended) = &state.ended {
        line("ended", &format!("{}: {}", ago(ended.at_ms, now), ended.why));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::feature_loop::state::Spent;
    use crate::testing::features;

    fn plain(text: &str) -> String {
        anstream::adapter::strip_str(text).to_string()
    }

    #[test]
    fn how_it_stands_is_told_in_one_screen() {
        let list = features(
            r#"[{"id":"F1","description":"Log in","passes":true},{"id":"F2","description":"A cart that keeps what was put into it over a night"},{"id":"F9"}]"#,
        );
        let mut state = LoopState {
            folder: "/shop".into(),
            features: "feature_list.json".into(),
            progress: "progress.txt".into(),
            max: 50,
            session: Some("11111111-2222-4333-8444-555555555555".into()),
            ..LoopState::default()
        };
        state.begin(&list, None, 1_000);
        (state.iteration, state.stalled_rounds) = (7, 2);
        insta::assert_snapshot!(
            "at_work",
            plain(&as_text(&state, &Ok(list[..2].to_vec()), true, 66_000, 60))
        );
        state.spent = Spent { sessions: 3, usd: 1.416, ms: 750_000, child: None };
        state.end(&Status::Stalled, "nothing moved for 3 iterations; 2 features are still open", 60_000);
        let broken = Err("feature_list.json can't be read: it is not there".to_owned());
        insta::assert_snapshot!("ended", plain(&as_text(&state, &broken, false, 66_000, 100)));
        let value = as_json_value(&state, &Ok(list[..2].to_vec()), false);
        assert_eq!(
            (&value["status"], &value["passing"], &value["total"]),
            (&json!("STALLED"), &json!(1), &json!(3))
        );
        assert_eq!((&value["gone"], &value["open"][0]["id"]), (&json!(["F9"]), &json!("F2")));
    }

    #[test]
    fn a_mark_that_no_stop_has_looked_into_was_counted() {
        let before = features(r#"[{"id":"F1","passes":true},{"id":"F2","description":"A cart"}]"#);
        let mut state = LoopState::default();
        state.begin(&before, None, 1_000);
        let now = features(r#"[{"id":"F1","passes":true},{"id":"F2","description":"A cart","passes":true}]"#);
        let text = plain(&as_text(&state, &Ok(now.clone()), false, 66_000, 100));
        assert!(text.contains("1 of 2 pass"), "{text}");
        assert!(
            text.contains("unproven   F2 (set to pass, which counts once a stop has shown it)"),
            "{text}"
        );
        let value = as_json_value(&state, &Ok(now), false);
        assert_eq!((&value["passing"], &value["unproven"]), (&json!(1), &json!(["F2"])));
    }
}
