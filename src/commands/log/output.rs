//! Printing: on a terminal through a pager, elsewhere directly. A reader that closes the pipe early
//! is no error.

use std::borrow::Cow;
use std::io::{self, IsTerminal, Write};
use std::process::{Command, Stdio};

use super::Result;
use crate::env::Env;
use crate::text::harmless;

/// The pager, unless the person names another; it exits where all fits on the screen.
const PAGER: &str = "less -FRX";
/// The same, starting at the end.
const PAGER_FROM_END: &str = "less -FRX +G";

/// The width of the terminal, where there is one.
pub(super) fn width() -> Option<usize> {
    let width = terminal_size::terminal_size_of(io::stdout()).map(|(width, _)| usize::from(width.0));
    width.filter(|_| io::stdout().is_terminal())
}

/// Prints a text as it is; on a terminal, without what would steer it.
pub(super) fn print(text: &[u8]) -> Result {
    if io::stdout().is_terminal() {
        return print_raw(harmless(&String::from_utf8_lossy(text)).as_bytes());
    }
    print_raw(text)
}

/// Prints a value as indented JSON.
pub(super) fn print_json(value: &impl serde::Serialize) -> Result {
    let text = serde_json::to_string_pretty(value).map_err(|error| error.to_string())?;
    print(format!("{text}\n").as_bytes())
}

fn print_raw(text: &[u8]) -> Result {
    print_on(text).map(drop)
}

/// Prints, and returns whether anybody still reads.
pub(super) fn print_on(text: &[u8]) -> Result<bool> {
    let mut out = io::stdout().lock();
    match out.write_all(text).and_then(|()| out.flush()) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(false),
        Err(error) => Err(format!("stdout: {error}")),
    }
}

/// Prints a coloured text; on a terminal, through a pager.
pub(super) fn page(text: &str, env: &Env) -> Result {
    page_with(PAGER, text, env)
}

/// The same for a text whose end is what people want to see first.
pub(super) fn page_from_end(text: &str, env: &Env) -> Result {
    // With `+G`, `less` would fill the screen and stay, though the text fits.
    let rows = terminal_size::terminal_size_of(io::stdout()).map_or(0, |(_, height)| usize::from(height.0));
    let fits = text.lines().count() < rows;
    page_with(if fits { PAGER } else { PAGER_FROM_END }, text, env)
}

fn page_with(pager: &str, text: &str, env: &Env) -> Result {
    let text = colour(text);
    if !io::stdout().is_terminal() || run_pager(pager, &text, env).is_none() {
        return print_raw(text.as_bytes());
    }
    Ok(())
}

/// Strips colours, unless they are wanted: on a terminal, if the person's variables do not say
/// otherwise.
pub(super) fn colour(text: &str) -> Cow<'_, str> {
    if anstream::AutoStream::choice(&io::stdout()) == anstream::ColorChoice::Never {
        return Cow::Owned(anstream::adapter::strip_str(text).to_string());
    }
    Cow::Borrowed(text)
}

/// Runs a pager on a text; `None` where none can be started.
fn run_pager(pager: &str, text: &str, env: &Env) -> Option<()> {
    let own = env.text("PAGER");
    let mut command = shell(own.as_deref().unwrap_or(pager));
    // For a `PAGER` of the person that is `less` without options.
    if env.get("LESS").is_none() {
        command.env("LESS", "FRX");
    }
    let mut child = command.stdin(Stdio::piped()).spawn().ok()?;
    if let Some(mut pipe) = child.stdin.take() {
        // The person may quit it before all is read.
        let _ = pipe.write_all(text.as_bytes()).and_then(|()| pipe.flush());
    }
    let ended = child.wait().ok()?;
    // The shell's codes for a program that it can't find or start.
    (!matches!(ended.code(), Some(126 | 127))).then_some(())
}

#[cfg(unix)]
fn shell(line: &str) -> Command {
    let mut command = Command::new("sh");
    command.arg("-c").arg(line);
    command
}

#[cfg(not(unix))]
fn shell(line: &str) -> Command {
    let mut words = line.split_whitespace();
    let mut command = Command::new(words.next().unwrap_or("more"));
    command.args(words);
    command
}
