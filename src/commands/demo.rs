//! `punchlist demo`: plays a recorded session that drifts through the real hook path, in a
//! temporary folder, with recorded replies of both readers. Must not need an account, a network or
//! a client, or touch anything of the person's.

use std::fmt::Write as _;
use std::io;

use jiff::tz::TimeZone;

use super::Result;
use super::output::print_raw;
use crate::client::hook_input::HookInput;
use crate::client::hook_reply::Reply;
use crate::finding::{Finding, Status};
use crate::log::filter::Filter;
use crate::log::{DecisionLog, Note};
use crate::render::listing::{Setting, listing};
use crate::sandbox::{DRIFT_PLAN, DRIFT_REPLIES, Sandbox};

/// What the blocked agent does and says next, and the reader's answer to it.
const FIXED_FILE: (&str, &str) =
    ("tests/slug.rs", include_str!("../../fixtures/trips/clean/workspace/tests/slug.rs"));
const SECOND_MESSAGE: &str = "I wrote `tests/slug.rs`. `cargo test` still fails: there is no `src/lib.rs` yet, and I was wrong to call it passing.";
const FOLLOWUP_REPLY: &str = r#"{"findings":[{"number":1,"state":"fixed","why":"The agent says openly now that `cargo test` fails."}]}"#;

pub(super) fn run() -> Result {
    let text = play().map_err(|error| format!("the demo needs a temporary folder: {error}"))?;
    print_raw(text.as_bytes())
}

/// Plays both stops; returns everything as text.
fn play() -> io::Result<String> {
    let (sandbox, stdin) = Sandbox::with_drift()?;
    let mut text = String::new();
    say(&mut text, "A recorded session of Claude Code wrote this plan, worked, and ticked every box:");
    quote(&mut text, DRIFT_PLAN);
    let message = HookInput::parse(stdin.as_bytes()).ok().and_then(|input| input.last_assistant_message);
    say(&mut text, "Then it stops, and says:");
    quote(&mut text, &message.unwrap_or_default());

    let first = sandbox.stop(&stdin, &DRIFT_REPLIES);
    let log = DecisionLog::in_folder(sandbox.state().root());
    let mut findings = Vec::new();
    let _ = log.read(|record| findings.extend(record.findings));
    let (judged, dropped): (Vec<&Finding>, Vec<&Finding>) =
        findings.iter().partition(|finding| finding.second.is_some());
    say(
        &mut text,
        "Punchlist reads the plan, the session and the disk, and asks a model where they drift apart (its replies are \
         recorded here; in real life it is a sealed `claude -p --model haiku`). Each answer is checked against the disk first:",
    );
    quote(&mut text, &dropped.into_iter().map(after_checks).collect::<String>());
    say(
        &mut text,
        "What is left, and what the disk proved by itself, goes to a second reader, who is asked to refute it:",
    );
    quote(&mut text, &judged.into_iter().map(after_second_reader).collect::<String>());
    match &first {
        Reply::Block(reason) => {
            say(&mut text, "The stop is blocked (exit 2), and this is the agent's next prompt:");
            quote(&mut text, reason);
        }
        Reply::Silent | Reply::Tell(_) | Reply::Context { .. } => {
            say(&mut text, "The stop went through. It should not have.");
        }
    }

    sandbox.write_files(&[FIXED_FILE])?;
    let mut next: serde_json::Value = serde_json::from_str(&stdin)?;
    next["stop_hook_active"] = true.into();
    next["last_assistant_message"] = SECOND_MESSAGE.into();
    say(&mut text, "The agent continues, and stops again with this message:");
    quote(&mut text, SECOND_MESSAGE);
    match sandbox.stop(&next.to_string(), &[FOLLOWUP_REPLY]) {
        Reply::Tell(line) => {
            say(
                &mut text,
                "This time it goes through: one push-back for each stretch of work, never a loop. The person sees:",
            );
            quote(&mut text, &line);
            let log =
                "The log has both decisions (`punchlist log` shows yours), and the outcome of the list:";
            say(&mut text, log);
        }
        Reply::Block(_) | Reply::Silent | Reply::Context { .. } => {
            say(&mut text, "This time it did not go through, or nobody was told. That is a bug.");
        }
    }
    let decisions = log.query(&Filter::default(), None)?.decisions;
    let setting = Setting { zone: TimeZone::system(), width: Some(WIDTH - 4), head: false, indent: 0 };
    for line in anstream::adapter::strip_str(&listing(&decisions, &setting)).to_string().lines() {
        let _ = writeln!(text, "    {line}");
    }
    for line in decisions.iter().flat_map(|annotated| &annotated.notes) {
        if let Note::Outcome(note) = &line.note {
            let why = note.why.as_deref().unwrap_or_default();
            quote(&mut text, &format!("finding {}, {}: {why}\n", note.finding, note.outcome.name()));
        }
    }
    say(&mut text, "To use it: `punchlist install` registers it for this project.");
    Ok(text)
}

const WIDTH: usize = 80;

/// Adds a paragraph, with an empty line before it, and one after it if a quote follows.
fn say(text: &mut String, words: &str) {
    if !text.is_empty() {
        text.push('\n');
    }
    wrap(text, words, 0);
    if words.ends_with(':') {
        text.push('\n');
    }
}

fn quote(text: &mut String, words: &str) {
    for line in words.trim_end().lines() {
        wrap(text, line, 4);
    }
}

/// Wraps one line, indented past a leading `[A]`, `-` or `1.`.
fn wrap(text: &mut String, line: &str, indent: usize) {
    let words = line.trim_start();
    let mark = words.split(' ').next().unwrap_or_default();
    let is_mark = mark.starts_with(['[', '-']) || mark.trim_end_matches('.').parse::<u32>().is_ok();
    let first = " ".repeat(indent + line.len() - words.len());
    let rest = format!("{first}{}", " ".repeat(if is_mark { mark.len() + 1 } else { 0 }));
    let options = textwrap::Options::new(WIDTH)
        .initial_indent(&first)
        .subsequent_indent(&rest)
        .word_splitter(textwrap::WordSplitter::NoHyphenation)
        .word_separator(textwrap::WordSeparator::AsciiSpace)
        .wrap_algorithm(textwrap::WrapAlgorithm::FirstFit)
        .break_words(false);
    let words = words.split_whitespace().collect::<Vec<_>>().join(" ");
    let _ = writeln!(text, "{}", textwrap::fill(&words, options));
}

/// Shows a finding that the checks did not pass on to the second reader.
fn after_checks(finding: &Finding) -> String {
    let status = match finding.status {
        Status::Confirmed => "confirmed",
        Status::CannotVerify => "not verified",
        Status::Refuted => "refuted",
        Status::Ignored => "ignored",
    };
    format!("[{}] {}\n    {status}: {}\n", finding.category.name(), finding.why, finding.check)
}

/// Shows a finding with the second reader's verdict.
fn after_second_reader(finding: &Finding) -> String {
    let (verdict, why) = match &finding.second {
        Some(second) if second.upheld => ("upheld", second.why.as_str()),
        Some(second) => ("dismissed", second.why.as_str()),
        None => ("not asked about", ""),
    };
    format!("[{}] {}\n    {verdict}: {why}\n", finding.category.name(), finding.why)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_demo_shows_every_outcome_of_a_finding() {
        let text = play().expect("a temporary folder");
        for shown in [
            "    [A] README.md was never written.\n        refuted: README.md is there, 89 bytes\n",
            "        dismissed: Nobody promised to strip punctuation:",
            "    [A] It is ticked, and tests/slug.rs does not exist.\n        upheld: ",
            "\nThe stop is blocked (exit 2), and this is the agent's next prompt:\n",
            "\nThis time it goes through:",
            "    punchlist: 2 findings, fixed\n",
            "    finding 1, fixed: tests/slug.rs is there now\n",
            "    finding 2, fixed: The agent says openly now that `cargo test` fails.\n",
        ] {
            assert!(text.contains(shown), "{shown}\n---\n{text}");
        }
        let widest = text.lines().map(|line| line.chars().count()).max();
        assert!(widest <= Some(WIDTH), "{widest:?}: {text}");
    }
}
