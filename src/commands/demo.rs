//! `punchlist demo`: plays a recorded session that drifts through the real hook path, in a temporary folder,
//! with a recorded reply of the auditor. Must not need an account, a network or a client, and must not touch
//! anything of the person's.

use std::fmt::Write as _;
use std::fs;
use std::io::{self, Write as _};
use std::time::Duration;

use jiff::Timestamp;

use super::complain;
use super::hook::{Registered, answer};
use crate::env::Env;
use crate::exit;
use crate::finding::{Finding, Status};
use crate::hook::{HookInput, Reply};
use crate::log::DecisionLog;
use crate::readers::RecordedReply;
use crate::stage::Stage;
use crate::state::StateFolder;

const HOOK_INPUT: &str = include_str!("../../fixtures/trips/drift/hook.json");
const TRANSCRIPT: &str = include_str!("../../fixtures/trips/drift/transcript.jsonl");
pub(super) const AUDITOR_REPLY: &str = include_str!("../../fixtures/trips/drift/reply.json");
const WORKSPACE: &[(&str, &str)] = &[
    ("PLAN.md", include_str!("../../fixtures/trips/drift/workspace/PLAN.md")),
    ("README.md", include_str!("../../fixtures/trips/drift/workspace/README.md")),
    ("src/slug.rs", include_str!("../../fixtures/trips/drift/workspace/src/slug.rs")),
];

/// Runs it.
pub fn run() -> u8 {
    match play() {
        Ok(text) => {
            let _ = io::stdout().lock().write_all(text.as_bytes());
            exit::OK
        }
        Err(error) => {
            complain(&format!("the demo needs a temporary folder: {error}"));
            exit::FAILED
        }
    }
}

/// The whole play, as text.
pub fn play() -> io::Result<String> {
    let stage = Stage::new("slugs")?;
    let stdin = set_the_stage(&stage)?;
    let memory = StateFolder::at(stage.path("state"));
    let env = Env::from_pairs([("HOME", stage.home())]);
    let stop = |stdin: &str| {
        let mut auditor = RecordedReply(AUDITOR_REPLY);
        answer(
            stdin.as_bytes(),
            &env,
            &memory,
            Registered::holding(Duration::from_secs(120)),
            Timestamp::now(),
            Some(&mut auditor),
        )
    };

    let mut text = String::from(
        "A session of Claude Code, recorded. It wrote this plan, worked, and ticked every box:\n\n",
    );
    quote(&mut text, WORKSPACE[0].1);
    let message = HookInput::parse(stdin.as_bytes()).ok().and_then(|input| input.last_assistant_message);
    text.push_str("\nThen it tries to stop, and says:\n\n");
    quote(&mut text, &message.unwrap_or_default());

    text.push_str("\nPunchlist reads the transcript, the plan and the disk, and asks an auditor (a recorded reply\nhere, a sealed `claude -p --model haiku` in real life). ");
    let held = stop(&stdin);
    text.push_str("It checks each thing that the auditor says:\n\n");
    let _ = DecisionLog::in_folder(memory.root()).read(|record, _| {
        for finding in &record.findings {
            quote(&mut text, &checked(finding));
        }
    });
    match &held {
        Reply::Block(reason) => {
            text.push_str("\nThe stop is held (exit 2), and this is the agent's next prompt:\n\n");
            quote(&mut text, reason);
        }
        Reply::Silent | Reply::Tell(_) | Reply::Context(_) => {
            text.push_str("\nThe stop went through. It should not have.\n");
        }
    }

    let again = stop(&stdin.replace("\"stop_hook_active\": false", "\"stop_hook_active\": true"));
    let end = match again {
        Reply::Silent => "goes\nthrough: one push-back for each stretch of work, never a loop.",
        Reply::Block(_) | Reply::Tell(_) | Reply::Context(_) => "was not let go. It should have been.",
    };
    let _ = writeln!(text, "\nThe agent fixes it or disputes it, and stops again. This time it {end}\n");
    text.push_str("Both decisions are in the log (`punchlist log` shows yours):\n\n");
    let _ = DecisionLog::in_folder(memory.root()).read(|record, _| {
        let _ = writeln!(text, "    {}", super::log::one_line(&record));
    });
    text.push_str("\nYours: `punchlist install` registers it for the project that you are in.\n");
    Ok(text)
}

/// Lays out the recorded workspace and transcript; gives the hook's input.
pub(super) fn set_the_stage(stage: &Stage) -> io::Result<String> {
    for (name, text) in WORKSPACE {
        let path = stage.workspace().join(name);
        fs::create_dir_all(path.parent().unwrap_or(stage.workspace()))?;
        fs::write(path, text)?;
    }
    fs::write(stage.path("transcript.jsonl"), stage.placed_in_json(TRANSCRIPT))?;
    Ok(stage.placed_in_json(HOOK_INPUT))
}

/// How wide the play is set.
const WIDTH: usize = 96;

/// Sets words in an indented block; long lines are broken between words, and go on under their own indent.
fn quote(text: &mut String, words: &str) {
    for line in words.trim_end().lines() {
        let indent = " ".repeat(4 + line.len() - line.trim_start().len());
        let mut set = String::new();
        for word in line.split_whitespace() {
            if !set.is_empty() && set.chars().count() + 1 + word.chars().count() > WIDTH {
                let _ = writeln!(text, "{set}");
                set.clear();
            }
            set.push_str(if set.is_empty() { &indent } else { " " });
            set.push_str(word);
        }
        let _ = writeln!(text, "{set}");
    }
}

fn checked(finding: &Finding) -> String {
    let mark = match finding.status {
        Status::Confirmed => "confirmed:",
        Status::CannotVerify => "not verified:",
        Status::Refuted => "refuted:",
    };
    format!("{mark} [{}] {} ({})", finding.category.name(), finding.why, finding.check)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_play_ends_as_told() {
        let text = play().expect("a temporary folder");
        assert!(text.contains("The stop is held (exit 2)"), "{text}");
        assert!(text.contains("This time it goes\nthrough"), "{text}");
        assert!(text.contains("confirmed: [A] It is ticked, and tests/slug.rs does not exist."), "{text}");
        let refuted = "refuted: [A] README.md has no usage section. (the second reader dismisses it:";
        assert!(text.contains(refuted), "{text}");
        assert!(text.contains("not verified: [B] A system file was changed."), "{text}");
    }
}
