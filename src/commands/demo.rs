//! `punchlist demo`: plays a recorded session that drifts through the real hook path, in a temporary folder,
//! with recorded replies of both readers. Must not need an account, a network or a client, and must not
//! touch anything of the person's.

use std::fmt::Write as _;
use std::fs;
use std::io::{self, Write as _};
use std::time::Duration;

use jiff::Timestamp;

use super::complain;
use crate::env::Env;
use crate::exit;
use crate::finding::{Finding, Status};
use crate::hook::stop::{Registered, answer};
use crate::hook::{HookInput, Reply};
use crate::log::{DecisionLog, Note, OutcomeNote};
use crate::readers::RecordedReplies;
use crate::sandbox::Sandbox;
use crate::state::StateFolder;

const HOOK_INPUT: &str = include_str!("../../fixtures/trips/drift/hook.json");
const TRANSCRIPT: &str = include_str!("../../fixtures/trips/drift/transcript.jsonl");
/// What both readers said, the first one first.
pub(super) const REPLIES: [&str; 2] = [
    include_str!("../../fixtures/trips/drift/first-reply.json"),
    include_str!("../../fixtures/trips/drift/second-reply.json"),
];
const WORKSPACE: &[(&str, &str)] = &[
    ("PLAN.md", include_str!("../../fixtures/trips/drift/workspace/PLAN.md")),
    ("README.md", include_str!("../../fixtures/trips/drift/workspace/README.md")),
    ("src/slug.rs", include_str!("../../fixtures/trips/drift/workspace/src/slug.rs")),
];

/// What the held agent does and says, and what a reader makes of it.
const MENDED: (&str, &str) =
    ("tests/slug.rs", include_str!("../../fixtures/trips/clean/workspace/tests/slug.rs"));
const SAYS_THEN: &str = "I wrote `tests/slug.rs`. `cargo test` still fails: there is no `src/lib.rs` yet, and I was wrong to call it passing.";
const SETTLED: &str = r#"{"findings":[{"number":1,"state":"fixed","why":"The agent says openly now that `cargo test` fails."}]}"#;

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
    let stage = Sandbox::new("slugs")?;
    let stdin = set_the_stage(&stage)?;
    let memory = StateFolder::at(stage.path("state"));
    let env = Env::from_pairs([("HOME", stage.home())]);
    let stop = |stdin: &str, replies: &[&str]| {
        let mut readers = RecordedReplies::new(replies);
        let registered = Registered::holding(Duration::from_secs(120));
        answer(stdin.as_bytes(), &env, &memory, registered, Timestamp::now(), Some(&mut readers))
    };

    let mut text = String::new();
    say(&mut text, "A recorded session of Claude Code wrote this plan, worked, and ticked every box:");
    quote(&mut text, WORKSPACE[0].1);
    let message = HookInput::parse(stdin.as_bytes()).ok().and_then(|input| input.last_assistant_message);
    say(&mut text, "Then it stops, and says:");
    quote(&mut text, &message.unwrap_or_default());

    let held = stop(&stdin, &REPLIES);
    let log = DecisionLog::in_folder(memory.root());
    let mut findings = Vec::new();
    let _ = log.read(|record| findings.extend(record.findings));
    let (judged, dropped): (Vec<&Finding>, Vec<&Finding>) =
        findings.iter().partition(|finding| finding.second.is_some());
    say(
        &mut text,
        "Punchlist reads the plan, the session and the disk, and asks a model where they drift apart (its replies are \
         recorded here; in real life it is a sealed `claude -p --model haiku`). Each answer is held against the disk first:",
    );
    quote(&mut text, &dropped.into_iter().map(by_the_checks).collect::<String>());
    say(
        &mut text,
        "What is left, and what the disk proved by itself, goes to a second reader, who is asked to refute it:",
    );
    quote(&mut text, &judged.into_iter().map(by_the_second).collect::<String>());
    match &held {
        Reply::Block(reason) => {
            say(&mut text, "The stop is held (exit 2), and this is the agent's next prompt:");
            quote(&mut text, reason);
        }
        Reply::Silent | Reply::Tell(_) | Reply::Context(_) => {
            say(&mut text, "The stop went through. It should not have.");
        }
    }

    let (name, content) = MENDED;
    let path = stage.workspace().join(name);
    fs::create_dir_all(path.parent().unwrap_or(stage.workspace()))?;
    fs::write(path, content)?;
    let mut next: serde_json::Value = serde_json::from_str(&stdin)?;
    next["stop_hook_active"] = true.into();
    next["last_assistant_message"] = SAYS_THEN.into();
    say(&mut text, "The agent goes on, and stops again with these words:");
    quote(&mut text, SAYS_THEN);
    match stop(&next.to_string(), &[SETTLED]) {
        Reply::Silent => say(
            &mut text,
            "This time it goes through: one push-back for each stretch of work, never a loop. The log has both \
             decisions (`punchlist log` shows yours), and what became of the list:",
        ),
        Reply::Block(_) | Reply::Tell(_) | Reply::Context(_) => {
            say(&mut text, "This time it was not let go. It should have been.");
        }
    }
    let _ = log.read(|record| {
        let _ = writeln!(text, "    {}", super::log::one_line(&record));
    });
    quote(&mut text, &outcomes(&log).iter().map(became).collect::<String>());
    say(&mut text, "Yours: `punchlist install` registers it for the project that you are in.");
    Ok(text)
}

/// What became of the findings.
fn outcomes(log: &DecisionLog) -> Vec<OutcomeNote> {
    let texts = log.files().into_iter().filter_map(|path| fs::read_to_string(path).ok());
    let notes = texts
        .flat_map(|text| text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect::<Vec<_>>());
    notes.filter_map(|note| if let Note::Outcome(note) = note { Some(note) } else { None }).collect()
}

/// Lays out the recorded workspace and transcript; gives the hook's input.
pub(super) fn set_the_stage(stage: &Sandbox) -> io::Result<String> {
    for (name, text) in WORKSPACE {
        let path = stage.workspace().join(name);
        fs::create_dir_all(path.parent().unwrap_or(stage.workspace()))?;
        fs::write(path, text)?;
    }
    fs::write(stage.path("transcript.jsonl"), stage.placed_in_json(TRANSCRIPT))?;
    Ok(stage.placed_in_json(HOOK_INPUT))
}

/// How wide the play is set.
const WIDTH: usize = 80;

/// A paragraph of our own.
fn say(text: &mut String, words: &str) {
    if !text.is_empty() {
        text.push('\n');
    }
    set(text, words, 0);
    if words.ends_with(':') {
        text.push('\n');
    }
}

/// Sets words in an indented block.
fn quote(text: &mut String, words: &str) {
    for line in words.trim_end().lines() {
        set(text, line, 4);
    }
}

/// Sets a line; a long one is broken between words, and goes on under its own words, right of a `[A]` or
/// `1.` before them.
fn set(text: &mut String, line: &str, more: usize) {
    let words = line.trim_start();
    let mark = words.split(' ').next().unwrap_or_default();
    let is_mark = mark.starts_with(['[', '-']) || mark.trim_end_matches('.').parse::<u32>().is_ok();
    let first = " ".repeat(more + line.len() - words.len());
    let rest = format!("{first}{}", " ".repeat(if is_mark { mark.len() + 1 } else { 0 }));
    let mut set = String::new();
    for word in words.split_whitespace() {
        if set.is_empty() {
            set.push_str(&first);
        } else if set.chars().count() + 1 + word.chars().count() > WIDTH {
            let _ = writeln!(text, "{set}");
            set.clone_from(&rest);
        } else {
            set.push(' ');
        }
        set.push_str(word);
    }
    let _ = writeln!(text, "{set}");
}

/// What the checks made of a finding that the second reader was not asked about.
fn by_the_checks(finding: &Finding) -> String {
    let status = match finding.status {
        Status::Confirmed => "confirmed",
        Status::CannotVerify => "not verified",
        Status::Refuted => "refuted",
    };
    format!("[{}] {}\n    {status}: {}\n", finding.category.name(), finding.why, finding.check)
}

/// What the second reader made of one.
fn by_the_second(finding: &Finding) -> String {
    let (verdict, why) = match &finding.second {
        Some(second) if second.upheld => ("upheld", second.why.as_str()),
        Some(second) => ("dismissed", second.why.as_str()),
        None => ("not asked about", ""),
    };
    format!("[{}] {}\n    {verdict}: {why}\n", finding.category.name(), finding.why)
}

fn became(note: &OutcomeNote) -> String {
    format!(
        "finding {}, {}: {}\n",
        note.finding,
        note.outcome.name(),
        note.why.as_deref().unwrap_or_default()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_play_shows_each_way_of_a_finding_and_ends_as_told() {
        let text = play().expect("a temporary folder");
        for shown in [
            "    [A] README.md was never written.\n        refuted: README.md is there, 89 bytes\n",
            "        dismissed: Nobody promised to strip punctuation:",
            "    [A] It is ticked, and tests/slug.rs does not exist.\n        upheld: ",
            "\nThe stop is held (exit 2), and this is the agent's next prompt:\n",
            "\nThis time it goes through:",
            "    finding 1, fixed: tests/slug.rs is there now\n",
            "    finding 2, fixed: The agent says openly now that `cargo test` fails.\n",
        ] {
            assert!(text.contains(shown), "{shown}\n---\n{text}");
        }
        let widest = text.lines().map(|line| line.chars().count()).max();
        assert!(widest <= Some(WIDTH), "{widest:?}: {text}");
    }
}
