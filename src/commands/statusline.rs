//! `punchlist statusline`: one short line for the client's status line, from the JSON that the
//! client gives on stdin. Must not fail, wait or show text from a workspace: the client runs it at
//! every turn.

use std::io::{IsTerminal, Read};
use std::panic::catch_unwind;
use std::path::PathBuf;

use serde_json::Value;

use super::Result;
use super::output::print_raw;
use crate::decision::{Action, Cause};
use crate::env::Env;
use crate::finding::Status;
use crate::log::note::FindingOutcome;
use crate::log::{Annotated, DecisionLog};
use crate::state::StateFolder;
use crate::text::counted;

/// The most that is read of stdin; real input is about two kilobytes.
const STDIN_CAP: u64 = 1 << 20;

pub(super) fn run(env: &Env) -> Result {
    // Failures are for the log and the doctor to report.
    std::panic::set_hook(Box::new(|_| ()));
    let line = catch_unwind(|| {
        let mut stdin = Vec::new();
        if !std::io::stdin().is_terminal() {
            let _ = std::io::stdin().lock().take(STDIN_CAP).read_to_end(&mut stdin);
        }
        status_line(&serde_json::from_slice(&stdin).unwrap_or_default(), env)
    });
    print_raw(format!("punchlist: {}\n", line.unwrap_or_default()).as_bytes())
}

fn status_line(input: &Value, env: &Env) -> String {
    let Some(session) = input["session_id"].as_str() else { return "no session".to_owned() };
    let folder = input["workspace"]["project_dir"].as_str().or(input["cwd"].as_str());
    let project = folder.map_or_else(|| std::env::current_dir().unwrap_or_default(), PathBuf::from);
    let Ok(state) = StateFolder::find(env) else {
        return "no state folder, see `punchlist doctor`".to_owned();
    };
    let (config, _) = state.load_config(env, &project);
    if !config.gates.enabled || state.switched_off(&project, session).is_some() {
        return "off".to_owned();
    }
    let decisions = DecisionLog::in_folder(state.root()).recent_of(session);
    let blocks = state.session(session).unwrap_or_default().blocks;
    line(&decisions, blocks, config.gates.max_blocks)
}

/// `decisions` are the session's newest, oldest first.
fn line(decisions: &[Annotated], blocks: u32, max_blocks: u32) -> String {
    let Some(last) = decisions.last() else { return "no stop yet".to_owned() };
    let block = decisions.iter().rev().find(|one| one.decision.decision == Action::Block);
    let open = block.map_or(0, open_findings);
    let is_fixed = last.decision.cause == Cause::LoopGuard && block.is_some_and(is_fixed);
    let mut parts = vec![if is_fixed { "fixed".to_owned() } else { last_decision(last) }];
    if open > 0 {
        parts.push(format!("{} open", counted(open, "finding", "findings")));
    }
    parts.push(format!("{} of {max_blocks} blocks left", max_blocks.saturating_sub(blocks)));
    parts.join(" · ")
}

fn last_decision(last: &Annotated) -> String {
    let cause = last.decision.cause;
    match last.decision.decision {
        Action::Block => format!("held ({})", cause.name()),
        Action::Allow if last.decision.would_block => "would have held (dry run)".to_owned(),
        Action::Allow if last.is_unchecked() => format!("not checked ({})", cause.name()),
        Action::Allow if cause == Cause::Clean => "clean".to_owned(),
        Action::Allow => format!("let go ({})", cause.name()),
    }
}

/// Whether every finding of a block was fixed.
fn is_fixed(block: &Annotated) -> bool {
    let mut outcomes = block
        .with_findings()
        .filter(|(finding, _)| finding.status == Status::Confirmed)
        .map(|(_, notes)| notes.outcome.as_ref().map(|note| note.outcome))
        .peekable();
    outcomes.peek().is_some() && outcomes.all(|outcome| outcome == Some(FindingOutcome::Fixed))
}

/// Confirmed findings that were neither fixed nor disputed.
fn open_findings(block: &Annotated) -> usize {
    let is_settled = |outcome| matches!(outcome, FindingOutcome::Fixed | FindingOutcome::Disputed);
    let open = block.with_findings().filter(|(finding, notes)| {
        finding.status == Status::Confirmed
            && !notes.outcome.as_ref().is_some_and(|note| is_settled(note.outcome))
    });
    open.count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::{Category, Kind};
    use crate::log::query::parse;
    use crate::log::{Note, OutcomeNote, Record};
    use crate::testing::{finding, record};

    fn decided(lines: &[String]) -> Vec<Annotated> {
        parse(&(lines.join("\n") + "\n")).decisions
    }

    fn json(value: &impl serde::Serialize) -> String {
        serde_json::to_string(value).expect("json")
    }

    fn block() -> Record {
        let findings = vec![
            finding(Category::A, Kind::Other, "x", None),
            finding(Category::Ask, Kind::Other, "y", None),
        ];
        Record { decision: Action::Block, cause: Cause::Findings, findings, ..record("held") }
    }

    #[test]
    fn the_last_decision_what_is_open_and_what_is_left_are_one_line() {
        assert_eq!(line(&[], 0, 3), "no stop yet");
        let clean = Record { cause: Cause::Clean, ..record("one") };
        assert_eq!(line(&decided(&[json(&clean)]), 0, 3), "clean · 3 of 3 blocks left");
        let held = block();
        assert_eq!(
            line(&decided(&[json(&held)]), 1, 3),
            "held (findings) · 2 findings open · 2 of 3 blocks left"
        );
        let unchecked = Record { cause: Cause::AuditorTimeout, ..record("one") };
        assert_eq!(
            line(&decided(&[json(&unchecked)]), 4, 3),
            "not checked (auditor-timeout) · 0 of 3 blocks left"
        );
    }

    #[test]
    fn what_was_fixed_or_disputed_is_not_open_and_what_was_ignored_is() {
        let held = block();
        let note = |number, outcome| {
            json(&Note::Outcome(OutcomeNote::new(&held, number, outcome, jiff::Timestamp::UNIX_EPOCH)))
        };
        let after = Record { cause: Cause::LoopGuard, ..record("later") };
        let lines =
            |second| decided(&[json(&held), json(&after), note(1, FindingOutcome::Fixed), note(2, second)]);
        assert_eq!(
            line(&lines(FindingOutcome::Ignored), 1, 3),
            "let go (loop-guard) · 1 finding open · 2 of 3 blocks left"
        );
        assert_eq!(line(&lines(FindingOutcome::Disputed), 1, 3), "let go (loop-guard) · 2 of 3 blocks left");
        assert_eq!(line(&lines(FindingOutcome::Fixed), 1, 3), "fixed · 2 of 3 blocks left");
    }
}
