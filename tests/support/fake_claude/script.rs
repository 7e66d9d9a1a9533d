//! The script of the fake client: its instructions, and their parser.
//!
//! Takes the text of a script and what the call looks like, gives the instructions that apply to
//! this call. A line that it does not know is an error for the whole script, before any of it has
//! run: a test must not pass because a typo did nothing.
//!
//! One instruction a line. Blank lines and lines that begin with `#` are skipped. TEXT knows the
//! escapes `\n`, `\t` and `\\`.
//!
//! | instruction | what it does |
//! | --- | --- |
//! | `sleep MS` | waits |
//! | `hang` | waits for 600 s |
//! | `ignore-sigterm` | SIGTERM has no effect from here on |
//! | `grandchild-holds-pipes SECONDS [PIDFILE]` | starts a process in the same group that holds stdout and stderr |
//! | `grandchild-setsid SECONDS [PIDFILE]` | the same, in a session (and so a group) of its own |
//! | `flood BYTES` | writes that many bytes to stdout |
//! | `stdout TEXT`, `stderr TEXT` | writes, with no newline of its own |
//! | `stdout-file PATH` | writes a file's content to stdout |
//! | `write PATH TEXT` | writes a file, as an agent would |
//! | `record PATH` | appends the call as one line of JSON |
//! | `exit CODE` | ends here (the end of the script is `exit 0`) |
//! | `crash-signal` | dies by SIGKILL |
//! | `answer JSON` | prints the client's success envelope with this `structured_output`, which has to fit the question |
//! | `misfit JSON` | the same, whatever it is |
//! | `text-answer TEXT` | the same, with no `structured_output` and TEXT as the `result` |
//! | `verdicts uphold\|dismiss WHY` | answers the second reader's question: the same for each of its findings |
//! | `states fixed\|wrong\|stands WHY` | answers the question at the stop after a block: the same for each finding |
//! | `api-error TEXT` | prints the envelope of a failed call, and exits 1 |
//!
//! Arguments are looked at before stdin, as the client does. These three come before all others,
//! wherever they stand in the script:
//!
//! | instruction | what it does |
//! | --- | --- |
//! | `version TEXT` | with `--version` among the arguments: prints TEXT and exits 0 |
//! | `help FLAGS…` | with `--help`: prints a help text that lists these flags, and exits 0 |
//! | `refuse-flag --x` | with `--x`: complains like the client about an unknown option, and exits 1 |
//!
//! Stdin is then read to its end, unless the first of the other instructions is one of these:
//!
//! | instruction | what it does |
//! | --- | --- |
//! | `close-stdin` | closes it unread |
//! | `leave-stdin` | leaves it open and unread |
//!
//! A line can have guards before its instruction:
//!
//! | guard | the rest of the line applies |
//! | --- | --- |
//! | `if-flag --x` | with `--x` among the arguments |
//! | `unless-flag --x` | without it |
//! | `on-call N` | on the Nth call with this script, counted from 1 |
//! | `first`, `second`, `settle`, `checklist` | where that is the question; see `question` |
//!
//! A question of those four that the script does not answer is an error too, unless it ends with
//! `exit`.

use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use crate::question::Question;

/// One instruction, parsed.
#[derive(Debug)]
pub(crate) enum Instruction {
    Sleep(Duration),
    IgnoreSigterm,
    Grandchild { lives: Duration, setsid: bool, pid_file: Option<PathBuf> },
    Flood(usize),
    Stdout(String),
    Stderr(String),
    StdoutFile(PathBuf),
    Write(PathBuf, String),
    Record(PathBuf),
    Exit(i32),
    CrashSignal,
    Answer(serde_json::Value),
    Misfit(serde_json::Value),
    TextAnswer(String),
    Verdicts { uphold: bool, why: String },
    States { state: String, why: String },
    ApiError(String),
    Version(String),
    Help(Vec<String>),
    RefuseFlag(String),
    CloseStdin,
    LeaveStdin,
}

/// What the guards look at.
pub(crate) struct Call<'a> {
    pub(crate) argv: &'a [String],
    /// Which call with this script it is. A function, so that only a script that asks is counted.
    pub(crate) number: &'a dyn Fn() -> Result<usize, String>,
    /// What is asked. A function, since stdin has to be read for it.
    pub(crate) question: &'a dyn Fn() -> Result<Option<Question>, String>,
}

/// The instructions of `script` that apply to `call`.
pub(crate) fn parse(script: &str, call: &Call<'_>) -> Result<Vec<Instruction>, String> {
    let mut instructions = Vec::new();
    for (index, line) in script.lines().enumerate() {
        if line.trim().is_empty() || line.starts_with('#') {
            continue;
        }
        let (applies, instruction) =
            parse_line(line, call).map_err(|why| format!("line {}: {why}: {line}", index + 1))?;
        if applies {
            instructions.push(instruction);
        }
    }
    Ok(instructions)
}

fn parse_line(line: &str, call: &Call<'_>) -> Result<(bool, Instruction), String> {
    let (name, rest) = line.split_once(' ').unwrap_or((line, ""));
    let guard = match name {
        "if-flag" | "unless-flag" => {
            let (flag, rest) = split_guard(rest)?;
            Some((has_flag(call.argv, flag) == (name == "if-flag"), rest))
        }
        "on-call" => {
            let (wanted, rest) = split_guard(rest)?;
            Some(((call.number)()? == number::<usize>(wanted)?, rest))
        }
        _ => match Question::by_name(name) {
            Some(wanted) if rest.is_empty() => {
                return Err(format!("a guard with nothing to guard ({})", wanted.name()));
            }
            Some(wanted) => Some(((call.question)()? == Some(wanted), rest)),
            None => None,
        },
    };
    match guard {
        // What is guarded is parsed in any case: it may be a typo.
        Some((applies, rest)) => {
            let (rest_applies, instruction) = parse_line(rest, call)?;
            Ok((applies && rest_applies, instruction))
        }
        None => Ok((true, parse_instruction(name, rest)?)),
    }
}

fn parse_instruction(name: &str, rest: &str) -> Result<Instruction, String> {
    let instruction = match name {
        "sleep" => Instruction::Sleep(Duration::from_millis(number(rest)?)),
        "hang" => nothing(rest, Instruction::Sleep(Duration::from_secs(600)))?,
        "ignore-sigterm" => nothing(rest, Instruction::IgnoreSigterm)?,
        "grandchild-holds-pipes" => grandchild(rest, false)?,
        "grandchild-setsid" => grandchild(rest, true)?,
        "flood" => Instruction::Flood(number(rest)?),
        "stdout" => Instruction::Stdout(text(rest)?),
        "stderr" => Instruction::Stderr(text(rest)?),
        "stdout-file" => Instruction::StdoutFile(word(rest)?.into()),
        "write" => {
            let (path, content) = rest.split_once(' ').ok_or("a path and a text are wanted")?;
            Instruction::Write(path.into(), text(content)?)
        }
        "record" => Instruction::Record(word(rest)?.into()),
        "exit" => Instruction::Exit(number(rest)?),
        "crash-signal" => nothing(rest, Instruction::CrashSignal)?,
        "answer" => Instruction::Answer(json(rest)?),
        "misfit" => Instruction::Misfit(json(rest)?),
        "text-answer" => Instruction::TextAnswer(text(rest)?),
        "verdicts" => {
            let (said, why) = one_of(rest, &["uphold", "dismiss"])?;
            Instruction::Verdicts { uphold: said == "uphold", why }
        }
        "states" => {
            let (state, why) = one_of(rest, &["fixed", "wrong", "stands"])?;
            Instruction::States { state, why }
        }
        "api-error" => Instruction::ApiError(text(rest)?),
        "version" => Instruction::Version(text(rest)?),
        "help" => Instruction::Help(rest.split_whitespace().map(str::to_owned).collect()),
        "refuse-flag" => Instruction::RefuseFlag(word(rest)?.to_owned()),
        "close-stdin" => nothing(rest, Instruction::CloseStdin)?,
        "leave-stdin" => nothing(rest, Instruction::LeaveStdin)?,
        _ => return Err("unknown instruction".to_owned()),
    };
    Ok(instruction)
}

/// Whether `flag` is among the arguments, as `--x` or as `--x=value`.
pub(crate) fn has_flag(argv: &[String], flag: &str) -> bool {
    argv.iter().any(|arg| arg.strip_prefix(flag).is_some_and(|rest| rest.is_empty() || rest.starts_with('=')))
}

fn split_guard(rest: &str) -> Result<(&str, &str), String> {
    rest.split_once(' ').ok_or_else(|| "a guard with nothing to guard".to_owned())
}

fn grandchild(rest: &str, setsid: bool) -> Result<Instruction, String> {
    let (seconds, pid_file) = match rest.split_once(' ') {
        Some((seconds, path)) => (seconds, Some(path.into())),
        None => (rest, None),
    };
    Ok(Instruction::Grandchild { lives: Duration::from_secs(number(seconds)?), setsid, pid_file })
}

fn json(rest: &str) -> Result<serde_json::Value, String> {
    serde_json::from_str(rest).map_err(|why| why.to_string())
}

/// One of these words, and the text after it.
fn one_of(rest: &str, words: &[&str]) -> Result<(String, String), String> {
    let (said, why) = rest.split_once(' ').ok_or("a word and a reason are wanted")?;
    let is_known = words.contains(&said);
    if is_known { Ok((said.to_owned(), text(why)?)) } else { Err(format!("not one of {words:?}")) }
}

fn number<T: FromStr>(rest: &str) -> Result<T, String> {
    rest.trim().parse().map_err(|_| "not a number".to_owned())
}

fn word(rest: &str) -> Result<&str, String> {
    if rest.is_empty() { Err("an argument is missing".to_owned()) } else { Ok(rest) }
}

fn nothing(rest: &str, instruction: Instruction) -> Result<Instruction, String> {
    if rest.is_empty() { Ok(instruction) } else { Err("takes no argument".to_owned()) }
}

fn text(rest: &str) -> Result<String, String> {
    let mut out = String::new();
    let mut chars = rest.chars();
    while let Some(c) = chars.next() {
        out.push(match (c, c == '\\') {
            (plain, false) => plain,
            (_, true) => match chars.next() {
                Some('n') => '\n',
                Some('t') => '\t',
                Some('\\') => '\\',
                other => return Err(format!("unknown escape: {other:?}")),
            },
        });
    }
    Ok(out)
}
