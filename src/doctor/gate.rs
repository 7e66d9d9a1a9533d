//! The live test of the gate: plays three sessions through the real hook path in a temporary
//! folder, with recorded replies of both readers, and runs this program as a hook once. Must not
//! touch anything of the person's, ask a model, or use the person's config: it tests whether the
//! gate works, not how it is configured.

use std::fs;
use std::io;
use std::path::Path;

use super::Check;
use crate::child::{self, Ending, Job};
use crate::client::env_vars;
use crate::client::hook_reply::Reply;
use crate::env;
use crate::sandbox::{DRIFT_REPLIES, HOOK_TIMEOUT, Sandbox};

const TRANSCRIPT: &str = include_str!("../../fixtures/trips/clean/transcript.jsonl");
const NO_FINDINGS: &str = include_str!("../../fixtures/trips/clean/first-reply.json");
const WORKSPACE: &[(&str, &str)] = &[
    ("PLAN.md", include_str!("../../fixtures/trips/clean/workspace/PLAN.md")),
    ("README.md", include_str!("../../fixtures/trips/clean/workspace/README.md")),
    ("src/slug.rs", include_str!("../../fixtures/trips/clean/workspace/src/slug.rs")),
    ("tests/slug.rs", include_str!("../../fixtures/trips/clean/workspace/tests/slug.rs")),
];
/// A session in which somebody asked something, and no work was done.
const CHAT: &str = r#"{"type":"user","cwd":"[workspace]","message":{"role":"user","content":"what does slugify do?"},"origin":{"kind":"human"}}
{"type":"assistant","cwd":"[workspace]","message":{"id":"m1","role":"assistant","content":[{"type":"text","text":"It turns a title into a part of an address."}]}}
"#;
/// The person's variables that would change what the process does.
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

const NAME: &str = "gate";
const NEXT: &str = "that is a fault of punchlist: please report it, with `punchlist doctor --json`";

pub fn checks() -> Vec<Check> {
    play().unwrap_or_else(|error| vec![untried(&error)])
}

fn untried(error: &io::Error) -> Check {
    let next = "the test needs a temporary folder: TMPDIR names one";
    Check::fault(NAME, format!("could not be tried: {error}"), next)
}

fn play() -> io::Result<Vec<Check>> {
    let (drifting, drifting_stdin) = Sandbox::with_drift()?;
    let process = as_process(&drifting, &drifting_stdin);

    let (clean, clean_stdin) = Sandbox::with_drift()?;
    clean.write_files(WORKSPACE)?;
    fs::write(clean.path("transcript.jsonl"), clean.placed_in_json(TRANSCRIPT))?;

    let (idle, idle_stdin) = Sandbox::with_drift()?;
    fs::write(idle.path("transcript.jsonl"), idle.placed_in_json(CHAT))?;
    let mut idle_stdin: serde_json::Value = serde_json::from_str(&idle_stdin)?;
    idle_stdin["last_assistant_message"] = "It turns a title into a part of an address.".into();
    Ok(vec![
        quiet(
            &clean.stop(&clean_stdin, &[NO_FINDINGS]),
            "a session that did what it says goes through, quietly",
            "a session that did what it says did not go through quietly",
        ),
        blocked(&drifting.stop(&drifting_stdin, &DRIFT_REPLIES)),
        quiet(
            &idle.stop(&idle_stdin.to_string(), &DRIFT_REPLIES),
            "a session in which nothing was done is left alone",
            "a session in which nothing was done was not left alone",
        ),
        process_check(process),
    ])
}

/// Checks the reply to a session that has to go through.
fn quiet(reply: &Reply, fine: &str, fault: &str) -> Check {
    match reply {
        Reply::Silent => Check::fine(NAME, fine),
        Reply::Tell(words) | Reply::Block(words) | Reply::Context { text: words, .. } => {
            Check::fault(NAME, format!("{fault}: {words}"), NEXT)
        }
    }
}

/// Checks the reply to a session that claims more than it did.
fn blocked(reply: &Reply) -> Check {
    match reply {
        Reply::Block(_) => Check::fine(NAME, "a session that says more than it did is blocked"),
        Reply::Silent | Reply::Tell(_) | Reply::Context { .. } => {
            Check::fault(NAME, "a session that says more than it did went through", NEXT)
        }
    }
}

/// A process's exit code, whether its stdout is a block and nothing else, and its milliseconds.
type ProcessReply = (i32, bool, u128);

fn process_check(reply: Result<ProcessReply, String>) -> Check {
    match reply {
        Ok((2, true, ms)) => {
            Check::fine(NAME, format!("run as a hook, this program blocks as the client expects ({ms} ms)"))
        }
        Ok((code, is_block, _)) => {
            let block = if is_block { "a block" } else { "no block" };
            let found = format!(
                "run as a hook, this program ended with exit code {code} and {block}, in place of 2 and a block"
            );
            Check::fault(NAME, found, NEXT)
        }
        Err(why) => Check::fault(NAME, format!("this program could not be run as a hook: {why}"), NEXT),
    }
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
        deadline: HOOK_TIMEOUT,
        stdout_cap: 1 << 20,
        stderr_cap: 64 << 10,
    });
    let reply: Option<serde_json::Value> = serde_json::from_slice(&ended.stdout).ok();
    let is_block = reply.is_some_and(|reply| reply["decision"] == "block" && reply["reason"].is_string());
    match ended.how {
        Ending::Exited(code) => Ok((code, is_block, ended.duration.as_millis())),
        Ending::NotStarted(error) => Err(error.to_string()),
        how => Err(format!("{how:?}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::Mark;

    #[test]
    fn each_session_has_its_own_check() {
        let (tell, block) = (Reply::Tell("x".into()), Reply::Block("x".into()));
        for (check, mark) in [
            (quiet(&Reply::Silent, "fine", "fault"), Mark::Fine),
            (quiet(&tell, "fine", "fault"), Mark::Fault),
            (quiet(&block, "fine", "fault"), Mark::Fault),
            (blocked(&block), Mark::Fine),
            (blocked(&Reply::Silent), Mark::Fault),
            (process_check(Ok((2, true, 5))), Mark::Fine),
            (process_check(Ok((0, true, 5))), Mark::Fault),
            (process_check(Err("no".into())), Mark::Fault),
        ] {
            assert_eq!(check.mark, mark, "{check:?}");
        }
        assert_eq!(untried(&io::Error::other("no space")).found, "could not be tried: no space");
    }

    /// Without the process: in a test, this program is the test itself.
    #[test]
    fn the_gate_does_what_it_should_with_each_session() {
        let marks: Vec<_> = play().expect("a temporary folder").iter().map(|check| check.mark).collect();
        assert_eq!((marks.len(), &marks[..3]), (4, &[Mark::Fine; 3][..]));
    }
}
