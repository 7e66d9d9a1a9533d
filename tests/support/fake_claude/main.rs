//! Stands for `claude -p` in the tests: does what the script in the file `$FAKE_CLAUDE_SCRIPT`
//! says.
//!
//! `script` lists the instructions, `question` tells what is asked. Whatever is wrong with the
//! script, or with the fake itself, ends it with exit code 97, a message on stderr and the same
//! message in `$FAKE_CLAUDE_SCRIPT.broken`. No real client has that code, so a test cannot take a
//! broken script for a broken client; and where a failed client is nothing that anybody hears of,
//! the file tells.

mod question;
mod script;

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::{self, Read, Write};
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::thread::sleep;
use std::time::Duration;

use serde_json::{Value, json};

use self::question::Question;
use self::script::{Call, Instruction, has_flag};

/// Names the script's file.
const SCRIPT: &str = "FAKE_CLAUDE_SCRIPT";

/// Set for a process that we start as a grandchild: how many milliseconds it lives.
const GRANDCHILD_MS: &str = "FAKE_CLAUDE_GRANDCHILD_MS";

/// Set beside [`GRANDCHILD_MS`] for one that leaves our session.
const GRANDCHILD_SETSID: &str = "FAKE_CLAUDE_GRANDCHILD_SETSID";

/// The variables that `record` writes down, by how their names begin.
const RECORDED: [&str; 6] = ["CLAUDE", "ANTHROPIC", "PUNCHLIST", "DISABLE_", "MAX_", "AI_AGENT"];

/// The exit code of a script that went wrong.
const BROKEN: i32 = 97;

fn main() -> ExitCode {
    let code = match std::env::var(GRANDCHILD_MS) {
        Ok(lives) => be_grandchild(&lives),
        Err(_) => play(),
    };
    let code = code.unwrap_or_else(|why| {
        eprintln!("fake-claude: {why}");
        if let Ok(script) = std::env::var(SCRIPT) {
            let _ = append(Path::new(&format!("{script}.broken")), format!("{why}\n").as_bytes());
        }
        BROKEN
    });
    // Exit codes are a byte on Unix anyway.
    ExitCode::from(u8::try_from(code).unwrap_or(255))
}

/// Plays the script; gives the exit code.
fn play() -> Result<i32, String> {
    let path = std::env::var(SCRIPT).map_err(|why| format!("{SCRIPT}: {why}"))?;
    let text = fs::read_to_string(&path).map_err(|why| format!("{path}: {why}"))?;
    let argv: Vec<String> = std::env::args().skip(1).collect();
    let count = OnceCell::new();
    let number = || count.get_or_init(|| count_call(&path)).clone();
    let stdin = OnceCell::new();
    let prompt = || stdin.get_or_init(read_prompt).clone();
    let is_question = !has_flag(&argv, "--help") && !has_flag(&argv, "--version");
    let question = || if is_question { Ok(Question::of(&prompt()?)) } else { Ok(None) };
    let instructions = script::parse(&text, &Call { argv: &argv, number: &number, question: &question })?;

    for instruction in &instructions {
        if let Some(code) = before_stdin(instruction, &argv)? {
            return Ok(code);
        }
    }
    let first = instructions.iter().find(|instruction| !is_before_stdin(instruction));
    let prompt = match first {
        Some(Instruction::CloseStdin | Instruction::LeaveStdin) => None,
        _ => Some(prompt()?),
    };
    let asked = prompt.as_deref().and_then(Question::of);
    let said = instructions.iter().any(says_something);
    for instruction in instructions {
        if let Some(code) = follow(instruction, &argv, prompt.as_deref())? {
            return Ok(code);
        }
    }
    match asked {
        Some(question) if !said => {
            Err(format!("the script has no answer for the question {}", question.name()))
        }
        _ => Ok(0),
    }
}

/// Whether an instruction prints anything.
fn says_something(instruction: &Instruction) -> bool {
    matches!(
        instruction,
        Instruction::Answer(_)
            | Instruction::Misfit(_)
            | Instruction::TextAnswer(_)
            | Instruction::Verdicts { .. }
            | Instruction::States { .. }
            | Instruction::Stdout(_)
            | Instruction::StdoutFile(_)
            | Instruction::Flood(_)
    )
}

/// Does what comes before stdin is read; gives the exit code if that is all.
fn before_stdin(instruction: &Instruction, argv: &[String]) -> Result<Option<i32>, String> {
    match instruction {
        Instruction::Version(version) if has_flag(argv, "--version") => {
            write_stdout(format!("{version}\n").as_bytes())?;
            Ok(Some(0))
        }
        Instruction::Help(flags) if has_flag(argv, "--help") => {
            write_stdout(help(flags).as_bytes())?;
            Ok(Some(0))
        }
        Instruction::RefuseFlag(flag) if has_flag(argv, flag) => {
            eprintln!("error: unknown option '{flag}'");
            Ok(Some(1))
        }
        _ => Ok(None),
    }
}

fn is_before_stdin(instruction: &Instruction) -> bool {
    matches!(instruction, Instruction::Version(_) | Instruction::Help(_) | Instruction::RefuseFlag(_))
}

/// Follows one instruction; gives the exit code if it is the last.
fn follow(instruction: Instruction, argv: &[String], prompt: Option<&str>) -> Result<Option<i32>, String> {
    match instruction {
        Instruction::Version(_)
        | Instruction::Help(_)
        | Instruction::RefuseFlag(_)
        | Instruction::LeaveStdin => {}
        Instruction::CloseStdin => close_stdin()?,
        Instruction::Sleep(time) => sleep(time),
        Instruction::IgnoreSigterm => ignore_sigterm()?,
        Instruction::Grandchild { lives, setsid, pid_file } => {
            start_grandchild(lives, setsid, pid_file.as_deref())?;
        }
        Instruction::Flood(bytes) => flood(bytes)?,
        Instruction::Stdout(text) => write_stdout(text.as_bytes())?,
        Instruction::Stderr(text) => eprint!("{text}"),
        Instruction::StdoutFile(path) => {
            write_stdout(&fs::read(&path).map_err(|why| format!("{}: {why}", path.display()))?)?;
        }
        Instruction::Write(path, text) => {
            fs::write(&path, text).map_err(|why| format!("{}: {why}", path.display()))?;
        }
        Instruction::Record(path) => record(&path, argv, prompt)?,
        Instruction::Exit(code) => return Ok(Some(code)),
        Instruction::CrashSignal => crash()?,
        Instruction::Answer(answer) => {
            let question = prompt.and_then(Question::of);
            if let Some(why) = question.and_then(|question| question.misfit(&answer)) {
                return Err(format!("the answer does not fit the question: {why}"));
            }
            print_envelope(false, "", Some(answer))?;
        }
        Instruction::Misfit(answer) => print_envelope(false, "", Some(answer))?,
        Instruction::TextAnswer(text) => print_envelope(false, &text, None)?,
        Instruction::Verdicts { uphold, why } => {
            let prompt = prompt_for(prompt, Question::Second)?;
            print_envelope(false, "", Some(question::verdicts(prompt, uphold, &why)?))?;
        }
        Instruction::States { state, why } => {
            let prompt = prompt_for(prompt, Question::Settle)?;
            print_envelope(false, "", Some(question::states(prompt, &state, &why)?))?;
        }
        Instruction::ApiError(text) => {
            print_envelope(true, &text, None)?;
            return Ok(Some(1));
        }
    }
    Ok(None)
}

/// The prompt, if it asks this.
fn prompt_for(prompt: Option<&str>, wanted: Question) -> Result<&str, String> {
    let asked = prompt.filter(|prompt| Question::of(prompt) == Some(wanted));
    asked.ok_or_else(|| format!("the question is not {}", wanted.name()))
}

fn write_stdout(bytes: &[u8]) -> Result<(), String> {
    let mut out = io::stdout().lock();
    out.write_all(bytes).and_then(|()| out.flush()).map_err(|why| format!("stdout: {why}"))
}

fn flood(mut bytes: usize) -> Result<(), String> {
    let chunk = vec![b'x'; 64 * 1024];
    while bytes > 0 {
        let count = bytes.min(chunk.len());
        write_stdout(&chunk[..count])?;
        bytes -= count;
    }
    Ok(())
}

fn read_prompt() -> Result<String, String> {
    let mut bytes = Vec::new();
    io::stdin().read_to_end(&mut bytes).map_err(|why| format!("stdin: {why}"))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Prints what `claude -p --output-format json` prints at its end, with made-up figures.
fn print_envelope(is_error: bool, result: &str, structured: Option<Value>) -> Result<(), String> {
    let mut envelope = json!({
        "type": "result",
        // Also where the call failed: a quirk of the client.
        "subtype": "success",
        "is_error": is_error,
        "duration_ms": 12,
        "num_turns": 1,
        "result": result,
        "total_cost_usd": 0.0012,
        "usage": {
            "input_tokens": 100,
            "output_tokens": 20,
            "cache_read_input_tokens": 0,
            "cache_creation_input_tokens": 0,
        },
        "modelUsage": {},
    });
    if let Some(structured) = structured {
        envelope["structured_output"] = structured;
    }
    write_stdout(format!("{envelope}\n").as_bytes())
}

/// A help text in the form of commander, the client's argument parser.
fn help(flags: &[String]) -> String {
    let options = flags.iter().map(|flag| format!("  {flag} <value>  What {flag} is for\n"));
    format!("Usage: claude [options] [command] [prompt]\n\nOptions:\n{}", options.collect::<String>())
}

fn record(path: &Path, argv: &[String], prompt: Option<&str>) -> Result<(), String> {
    let env: BTreeMap<String, String> = std::env::vars_os()
        .map(|(name, value)| (name.to_string_lossy().into_owned(), value.to_string_lossy().into_owned()))
        .filter(|(name, _)| RECORDED.iter().any(|prefix| name.starts_with(prefix)))
        .collect();
    let cwd = std::env::current_dir().map_err(|why| format!("cwd: {why}"))?;
    let line = json!({
        "argv": argv,
        "cwd": cwd,
        "env": env,
        "stdin": prompt,
        "question": prompt.and_then(Question::of).map(Question::name),
        "pid": std::process::id(),
        // Null where there is no such thing.
        "pgid": process_group(),
    });
    append(path, format!("{line}\n").as_bytes()).map(drop)
}

/// Counts this call in a file beside the script; gives its number.
fn count_call(script: &str) -> Result<usize, String> {
    let length = append(Path::new(&format!("{script}.calls")), b".")?;
    usize::try_from(length).map_err(|why| why.to_string())
}

/// Appends in one write, so that calls side by side do not mix; gives the file's length after it.
fn append(path: &Path, bytes: &[u8]) -> Result<u64, String> {
    let appended = || {
        let mut file = OpenOptions::new().create(true).append(true).open(path)?;
        file.write_all(bytes)?;
        io::Seek::stream_position(&mut file)
    };
    appended().map_err(|why| format!("{}: {why}", path.display()))
}

/// Starts ourselves again, as a process that only lives on and holds our stdout and stderr.
fn start_grandchild(lives: Duration, setsid: bool, pid_file: Option<&Path>) -> Result<(), String> {
    let program = std::env::current_exe().map_err(|why| format!("grandchild: {why}"))?;
    let mut command = Command::new(program);
    command.env(GRANDCHILD_MS, lives.as_millis().to_string()).stdin(Stdio::null());
    if setsid {
        command.env(GRANDCHILD_SETSID, "1");
    }
    let grandchild = command.spawn().map_err(|why| format!("grandchild: {why}"))?;
    if setsid {
        wait_for_session(grandchild.id())?;
    }
    if let Some(path) = pid_file {
        fs::write(path, grandchild.id().to_string()).map_err(|why| format!("{}: {why}", path.display()))?;
    }
    Ok(())
}

fn be_grandchild(lives: &str) -> Result<i32, String> {
    if std::env::var_os(GRANDCHILD_SETSID).is_some() {
        leave_session()?;
    }
    sleep(Duration::from_millis(lives.parse().map_err(|why| format!("{GRANDCHILD_MS}: {why}"))?));
    Ok(0)
}

#[cfg(unix)]
use self::on_unix::{close_stdin, crash, ignore_sigterm, leave_session, process_group, wait_for_session};

/// What needs more than `std`, and has no `unsafe` of our own.
#[cfg(unix)]
mod on_unix {
    use std::fs::File;
    use std::thread::sleep;
    use std::time::Duration;

    use rustix::process::{Pid, Signal};
    use tokio::signal::unix::{SignalKind, signal};

    pub(super) fn process_group() -> i32 {
        rustix::process::getpgrp().as_raw_nonzero().get()
    }

    /// Puts `/dev/null` in the place of stdin, which closes the pipe that was there.
    pub(super) fn close_stdin() -> Result<(), String> {
        let null = File::open("/dev/null").map_err(|why| format!("/dev/null: {why}"))?;
        rustix::stdio::dup2_stdin(null).map_err(|why| format!("close-stdin: {why}"))
    }

    /// Tokio's handler does nothing when nobody listens, and stays for good.
    pub(super) fn ignore_sigterm() -> Result<(), String> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|why| format!("ignore-sigterm: {why}"))?;
        let _inside = runtime.enter();
        signal(SignalKind::terminate()).map(drop).map_err(|why| format!("ignore-sigterm: {why}"))
    }

    pub(super) fn crash() -> Result<(), String> {
        rustix::process::kill_process(rustix::process::getpid(), Signal::KILL)
            .map_err(|why| format!("crash-signal: {why}"))
    }

    pub(super) fn leave_session() -> Result<(), String> {
        rustix::process::setsid().map(drop).map_err(|why| format!("setsid: {why}"))
    }

    /// Until it has left our session, the grandchild would be killed with our group.
    pub(super) fn wait_for_session(pid: u32) -> Result<(), String> {
        let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
        for _ in 0..2000 {
            match rustix::process::getpgid(pid) {
                Ok(group) if Some(group) == pid => return Ok(()),
                Ok(_) => sleep(Duration::from_millis(5)),
                Err(why) => return Err(format!("the grandchild is gone: {why}")),
            }
        }
        Err("the grandchild has not left the session".to_owned())
    }
}

#[cfg(not(unix))]
use self::elsewhere::{close_stdin, crash, ignore_sigterm, leave_session, process_group, wait_for_session};

/// The same names where there are no signals, groups or sessions: a script that asks for them is
/// broken there.
#[cfg(not(unix))]
mod elsewhere {
    const NO: &str = "this instruction needs Unix";

    pub(super) fn process_group() -> Option<i32> {
        None
    }

    pub(super) fn close_stdin() -> Result<(), String> {
        Err(NO.to_owned())
    }

    pub(super) fn ignore_sigterm() -> Result<(), String> {
        Err(NO.to_owned())
    }

    pub(super) fn crash() -> Result<(), String> {
        Err(NO.to_owned())
    }

    pub(super) fn leave_session() -> Result<(), String> {
        Err(NO.to_owned())
    }

    pub(super) fn wait_for_session(_pid: u32) -> Result<(), String> {
        Err(NO.to_owned())
    }
}
