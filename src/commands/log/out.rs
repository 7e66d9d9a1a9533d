//! Where text goes: to a terminal through a pager, and straight on anywhere else. Whoever has read enough is no error.

use std::io::{self, IsTerminal, Write};
use std::process::{Command, Stdio};

use super::Refusal;
use crate::env::Env;
use crate::log::seen::Seen;
use crate::render::json;
use crate::text::harmless;

/// What pages where the person names nothing: it goes away where all fits on the screen.
const PAGER: &str = "less -FRX";
/// The same, beginning at the end.
const PAGER_FROM_END: &str = "less -FRX +G";

/// How wide the terminal is, where there is one.
pub(super) fn width() -> Option<usize> {
    let width = terminal_size::terminal_size_of(io::stdout()).map(|(width, _)| usize::from(width.0));
    width.filter(|_| io::stdout().is_terminal())
}

/// Whether colours are wanted: on a terminal, unless the person's variables say otherwise.
pub(super) fn colours() -> bool {
    anstream::AutoStream::choice(&io::stdout()) != anstream::ColorChoice::Never
}

/// Prints what may hold anybody's words: as it is for other programs, harmless on a terminal.
pub(super) fn print(text: &[u8]) -> Result<(), Refusal> {
    if io::stdout().is_terminal() {
        return print_set(harmless(&String::from_utf8_lossy(text)).as_bytes());
    }
    print_set(text)
}

/// Prints what was set for a terminal, all at once: line by line would take longer than to make the lines.
fn print_set(text: &[u8]) -> Result<(), Refusal> {
    let mut out = io::stdout().lock();
    told(out.write_all(text).and_then(|()| out.flush()))
}

/// Prints records for other programs.
pub(super) fn print_records(all: &[Seen<'_>]) -> Result<(), Refusal> {
    if io::stdout().is_terminal() {
        let mut text = Vec::new();
        for seen in all {
            json::write_line(&mut text, seen);
        }
        return print(&text);
    }
    let mut out = io::stdout().lock();
    told(json::write_lines(&mut out, all).and_then(|()| out.flush()))
}

/// Prints, and says whether anybody still reads.
pub(super) fn print_on(text: &[u8]) -> Result<bool, Refusal> {
    let mut out = io::stdout().lock();
    match out.write_all(text).and_then(|()| out.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(false),
        written => told(written).map(|()| true),
    }
}

/// Prints; on a terminal, page by page, the last one first.
pub(super) fn page(text: &str, env: &Env) -> Result<(), Refusal> {
    page_with(PAGER, text, env)
}

/// The same without the colours where nobody wants them.
pub(super) fn page_plainly(text: &str, env: &Env) -> Result<(), Refusal> {
    if colours() {
        return page(text, env);
    }
    page(&anstream::adapter::strip_str(text).to_string(), env)
}

/// The same for a text whose end is what people want to see first.
pub(super) fn page_from_end(text: &str, env: &Env) -> Result<(), Refusal> {
    // What fits has no end to begin at: `less` would fill the screen and stay.
    let rows = terminal_size::terminal_size_of(io::stdout()).map_or(0, |(_, height)| usize::from(height.0));
    let fits = text.lines().count() < rows;
    page_with(if fits { PAGER } else { PAGER_FROM_END }, text, env)
}

fn page_with(pager: &str, text: &str, env: &Env) -> Result<(), Refusal> {
    if !io::stdout().is_terminal() || paged(pager, text, env).is_none() {
        return print_set(text.as_bytes());
    }
    Ok(())
}

/// Gives the text to a pager; `None` where none can be started.
fn paged(pager: &str, text: &str, env: &Env) -> Option<()> {
    let own = env.text("PAGER");
    let mut command = shell(own.as_deref().unwrap_or(pager));
    // What `less` is to do where the person has not said anything else.
    if env.get("LESS").is_none() {
        command.env("LESS", "FRX");
    }
    let mut child = command.stdin(Stdio::piped()).spawn().ok()?;
    if let Some(mut pipe) = child.stdin.take() {
        // It may be left before all is read.
        let _ = pipe.write_all(text.as_bytes()).and_then(|()| pipe.flush());
    }
    let ended = child.wait().ok()?;
    // What a shell says of a program that it can't find or start.
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

fn told(written: io::Result<()>) -> Result<(), Refusal> {
    match written {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(format!("stdout: {error}")),
        _ => Ok(()),
    }
}
