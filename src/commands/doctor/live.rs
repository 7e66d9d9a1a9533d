//! The live test of the gate: plays three sessions through the real hook path in a temporary
//! folder, with recorded replies of both readers, and runs this program as a hook once. Must not
//! touch anything of the person's, ask a model, or use the person's config: it tests whether the
//! gate works, not how it is set.

use std::fs;
use std::io;
use std::path::Path;
use std::time::Duration;

use jiff::Timestamp;

use super::super::demo::{REPLIES, lay_out, write_files};
use crate::child::{self, Ending, Job};
use crate::client::env_vars;
use crate::client::hook_reply::Reply;
use crate::doctor::gate::{GateReplies, ProcessReply};
use crate::env::{self, Env};
use crate::hook::stop::{Registered, answer};
use crate::readers::RecordedReplies;
use crate::sandbox::Sandbox;
use crate::state::StateFolder;
use crate::timing::Phases;

const TRANSCRIPT: &str = include_str!("../../../fixtures/trips/clean/transcript.jsonl");
const NO_FINDINGS: &str = include_str!("../../../fixtures/trips/clean/first-reply.json");
const WORKSPACE: &[(&str, &str)] = &[
    ("PLAN.md", include_str!("../../../fixtures/trips/clean/workspace/PLAN.md")),
    ("README.md", include_str!("../../../fixtures/trips/clean/workspace/README.md")),
    ("src/slug.rs", include_str!("../../../fixtures/trips/clean/workspace/src/slug.rs")),
    ("tests/slug.rs", include_str!("../../../fixtures/trips/clean/workspace/tests/slug.rs")),
];
/// A session in which somebody asked something, and nothing was done.
const CHAT: &str = r#"{"type":"user","cwd":"[workspace]","message":{"role":"user","content":"what does slugify do?"},"origin":{"kind":"human"}}
{"type":"assistant","cwd":"[workspace]","message":{"id":"m1","role":"assistant","content":[{"type":"text","text":"It turns a title into a part of an address."}]}}
"#;
const TIMEOUT: Duration = Duration::from_secs(120);
/// Variables of the person's that would change what the process does.
const UNSET: [&str; 9] = [
    env::OFF,
    env::DRY_RUN,
    env::TRACE,
    env::INSIDE_AUDITOR,
    env_vars::PROJECT_DIR,
    env_vars::CONFIG_DIR,
    env_vars::PID,
    "XDG_CONFIG_HOME",
    "XDG_STATE_HOME",
];

/// Plays all sessions; returns the replies.
pub(super) fn play() -> io::Result<GateReplies> {
    let drifting = Sandbox::new("slugs")?;
    let stdin = lay_out(&drifting)?;
    let process = as_process(&drifting, &stdin);

    let clean = Sandbox::new("slugs")?;
    let clean_stdin = lay_out(&clean)?;
    write_files(&clean, WORKSPACE)?;
    fs::write(clean.path("transcript.jsonl"), clean.placed_in_json(TRANSCRIPT))?;

    let chat = Sandbox::new("slugs")?;
    let chat_stdin = lay_out(&chat)?;
    fs::write(chat.path("transcript.jsonl"), chat.placed_in_json(CHAT))?;
    let mut chat_stdin: serde_json::Value = serde_json::from_str(&chat_stdin)?;
    chat_stdin["last_assistant_message"] = "It turns a title into a part of an address.".into();

    Ok(GateReplies {
        clean: stop(&clean, &clean_stdin, &[NO_FINDINGS]),
        drifting: stop(&drifting, &stdin, &REPLIES),
        idle: stop(&chat, &chat_stdin.to_string(), &REPLIES),
        process,
    })
}

fn stop(sandbox: &Sandbox, stdin: &str, replies: &[&str]) -> Reply {
    let state = StateFolder::at(sandbox.path("state"));
    let env = Env::from_pairs([("HOME", sandbox.home())]);
    let mut readers = RecordedReplies::new(replies);
    answer(
        &Phases::default(),
        stdin.as_bytes(),
        &env,
        &state,
        Registered::holding(TIMEOUT),
        Timestamp::now(),
        Some(&mut readers),
    )
}

/// Runs this program as the client does. It finds no client to ask, and blocks on what the disk
/// alone proves.
fn as_process(sandbox: &Sandbox, stdin: &str) -> Result<ProcessReply, String> {
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let set = |name: &str, path: &Path| (name.into(), path.into());
    let ended = child::run(Job {
        program,
        args: vec!["hook".into()],
        cwd: sandbox.workspace().to_path_buf(),
        env_set: vec![
            set("HOME", &sandbox.home()),
            set(env::HOME, &sandbox.path("state-of-process")),
            set(env::CLAUDE, &sandbox.path("no-client")),
        ],
        env_unset: UNSET.iter().map(Into::into).collect(),
        stdin: stdin.as_bytes().to_vec(),
        deadline: TIMEOUT,
        stdout_cap: 1 << 20,
        stderr_cap: 64 << 10,
    });
    let reply: Option<serde_json::Value> = serde_json::from_slice(&ended.stdout).ok();
    let is_block = reply.is_some_and(|reply| reply["decision"] == "block" && reply["reason"].is_string());
    match ended.how {
        Ending::Exited(code) => Ok(ProcessReply { code, is_block, ms: ended.duration.as_millis() }),
        Ending::NotStarted(error) => Err(error.to_string()),
        how => Err(format!("{how:?}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Not the process: here this program is the test.
    #[test]
    fn the_gate_does_what_it_should_with_each_session() {
        let replies = play().expect("a temporary folder");
        assert_eq!((replies.clean, replies.idle), (Reply::Silent, Reply::Silent));
        assert!(matches!(replies.drifting, Reply::Block(_)));
    }
}
