//! Prints a command's result on stdout: colours only on a terminal, and long texts through a pager
//! there. A closed pipe is no error.

use std::io::{self, IsTerminal, Write};
use std::process::{Command, Stdio};

use super::Result;
use crate::child;
use crate::env::Env;
use crate::exit;
use crate::text::{harmless, harmless_but_styled};

/// Longer lines are hard to read.
const MAX_WIDTH: usize = 100;

/// Returns the width for running text, within limits; without a terminal, the widest.
pub(super) fn width() -> usize {
    let terminal = terminal_size::terminal_size_of(io::stdout()).map(|(width, _)| usize::from(width.0));
    terminal.unwrap_or(MAX_WIDTH).clamp(40, MAX_WIDTH)
}

/// Returns the terminal's width; `None` without one, in which case nothing is cut.
pub(super) fn terminal_width() -> Option<usize> {
    let width = terminal_size::terminal_size_of(io::stdout()).map(|(width, _)| usize::from(width.0));
    width.filter(|_| io::stdout().is_terminal()).map(|width| width.max(20))
}

/// Writes, and returns whether anybody is still reading.
fn write(mut out: impl Write, text: &[u8]) -> Result<bool> {
    match out.write_all(text).and_then(|()| out.flush()) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(false),
        Err(error) => Err(format!("stdout: {error}").into()),
    }
}

/// Prints a coloured text, and returns whether anybody is still reading. Names and texts of others
/// in it must not steer the terminal.
pub(super) fn print_on(text: &str) -> Result<bool> {
    write(anstream::stdout().lock(), harmless_but_styled(text).as_bytes())
}

/// Prints a coloured text.
pub(super) fn print(text: &str) -> Result {
    print_on(text).map(|_| exit::OK)
}

/// Asks the person at the terminal.
pub(super) fn agrees(question: &str) -> io::Result<bool> {
    let mut stdout = io::stdout().lock();
    write!(stdout, "{}", harmless(question))?;
    stdout.flush()?;
    let mut answer = String::new();
    io::stdin().read_line(&mut answer)?;
    Ok(matches!(answer.trim().to_lowercase().as_str(), "y" | "yes"))
}

/// Prints a text without our colours, and without terminal control sequences: there is often a
/// terminal behind a pipe as well.
pub(super) fn print_raw(text: &[u8]) -> Result {
    write(io::stdout().lock(), unsteered(&String::from_utf8_lossy(text)).as_bytes()).map(|_| exit::OK)
}

/// Returns a text with terminal control sequences replaced by a mark. The two-character line ends
/// of CSV stay.
fn unsteered(text: &str) -> String {
    text.split("\r\n").map(harmless).collect::<Vec<_>>().join("\r\n")
}

/// Prints a value as indented JSON.
pub(super) fn print_json(value: &impl serde::Serialize) -> Result {
    print_raw((serde_json::to_string_pretty(value)? + "\n").as_bytes())
}

/// Prints a coloured text; on a terminal, through a pager that exits if everything fits on the
/// screen.
pub(super) fn page(text: &str, env: &Env) -> Result {
    page_with("less -FRX", text, env)
}

/// Like `page`, for a text whose end people want to see first.
pub(super) fn page_from_end(text: &str, env: &Env) -> Result {
    // With `+G`, `less` would fill the screen and stay, even if the text fits.
    let rows = terminal_size::terminal_size_of(io::stdout()).map_or(0, |(_, height)| usize::from(height.0));
    let fits = text.lines().count() < rows;
    page_with(if fits { "less -FRX" } else { "less -FRX +G" }, text, env)
}

fn page_with(pager: &str, text: &str, env: &Env) -> Result {
    if io::stdout().is_terminal() && run_pager(pager, text, env).is_some() {
        return Ok(exit::OK);
    }
    print(text)
}

/// Runs a pager on a text; `None` if none can be started.
fn run_pager(pager: &str, text: &str, env: &Env) -> Option<()> {
    let own = env.text("PAGER");
    let mut command = shell(own.as_deref().unwrap_or(pager), env)?;
    // For a person's `PAGER` that is `less` without options.
    if env.get("LESS").is_none() {
        command.env("LESS", "FRX");
    }
    let mut child = command.stdin(Stdio::piped()).spawn().ok()?;
    if let Some(mut pipe) = child.stdin.take() {
        let is_plain = anstream::AutoStream::choice(&io::stdout()) == anstream::ColorChoice::Never;
        let text = &harmless_but_styled(text);
        let text = if is_plain { anstream::adapter::strip_str(text).to_string() } else { text.to_owned() };
        // The person may quit it before everything is read.
        let _ = pipe.write_all(text.as_bytes()).and_then(|()| pipe.flush());
    }
    let ended = child.wait().ok()?;
    // The shell's codes for a program that it can't find or start.
    (!matches!(ended.code(), Some(126 | 127))).then_some(())
}

/// Returns a command for the person's command line; programs are not looked up in the current
/// folder.
fn shell(line: &str, env: &Env) -> Option<Command> {
    let mut command = if cfg!(unix) {
        let (program, args) = child::shell(line);
        let mut command = Command::new(program);
        command.args(args);
        command
    } else {
        let mut words = line.split_whitespace();
        let mut command = Command::new(env.program(words.next().unwrap_or("more"))?);
        command.args(words);
        command
    };
    command.env("PATH", env.absolute_path().unwrap_or_default());
    Some(command)
}
