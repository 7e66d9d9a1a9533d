//! `punchlist audit`: audits a saved session, or all of them, and prints what that came to. Must not write to the
//! decision log, and must not change what is remembered of a session.

mod many;
mod one;

use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use crate::cli::{AuditArgs, AuditorChoice, Format};
use crate::config::Config;
use crate::env::Env;
use crate::exit;
use crate::finding::Status;
use crate::readers::Prompts;
use crate::render::Report;
use crate::render::markdown::markdown;
use crate::render::report_text::text;
use crate::render::sarif::sarif;
use crate::session::Session;

use super::{complain, progress};

/// The widest that text is set; where nobody knows how wide the terminal is, it is set so.
const WIDEST: usize = 100;

/// Why nothing could be audited, in words.
type Refusal = String;

/// Runs it on this process's stdin, stdout and stderr.
pub fn run(args: &AuditArgs, env: &Env) -> u8 {
    if (args.all || args.all_projects) && !matches!(args.format, Format::Text | Format::Json) {
        complain("many sessions are printed as text or json; choose one of these with --format");
        return exit::USAGE;
    }
    if (args.all || args.all_projects) && args.auditor == Some(AuditorChoice::Claude) {
        complain("many sessions are audited with nobody asked; leave --auditor out, or name a session");
        return exit::USAGE;
    }
    let done = if args.all || args.all_projects { many::run(args, env) } else { one::run(args, env) };
    done.unwrap_or_else(|why| {
        complain(&why);
        exit::COULD_NOT
    })
}

/// The folder whose project is meant where no session is named.
fn project(args: &AuditArgs) -> Result<PathBuf, Refusal> {
    if let Some(folder) = &args.cwd {
        if !folder.is_dir() {
            return Err(format!("--cwd {}: there is no such folder", folder.display()));
        }
        return Ok(folder.clone());
    }
    std::env::current_dir().map_err(|error| format!("the current folder is not known: {error}"))
}

/// The settings for a workspace. What is wrong with them is told, and the rest is used, as the hook does it.
fn config_for(workspace: &Path, env: &Env) -> Config {
    let (config, faults) = Config::load(env, workspace);
    for fault in &faults {
        complain(&format!("{fault} (the default is used)"));
    }
    config
}

fn prompts_of(config: &Config) -> Prompts {
    let Some(folder) = &config.auditor.prompts else { return Prompts::default() };
    Prompts::with_overrides(folder).unwrap_or_else(|error| {
        complain(&format!("{error} (the built-in text is used)"));
        Prompts::default()
    })
}

/// Whether anything was said in a session. The client leaves files without a word: titles, settings, a prompt that
/// was never sent.
fn has_conversation(session: &Session) -> bool {
    !session.asks.is_empty() || session.final_message.is_some() || session.last_call > 0
}

/// The exit code for what was found.
fn code_of<'a>(reports: impl IntoIterator<Item = &'a Report>) -> u8 {
    let (mut confirmed, mut failed) = (false, false);
    for report in reports {
        confirmed |= report.count(Status::Confirmed) > 0;
        failed |= report.reader_failed();
    }
    match (confirmed, failed) {
        (true, _) => exit::FAILED,
        (false, true) => exit::COULD_NOT,
        (false, false) => exit::OK,
    }
}

/// One report in the form that is wanted.
fn shown(report: &Report, format: Format) -> Result<String, Refusal> {
    match format {
        Format::Text => Ok(text(report, width())),
        Format::Markdown => Ok(markdown(report)),
        Format::Json => json(report),
        Format::Sarif => json(&sarif(report)),
    }
}

fn json(value: &impl serde::Serialize) -> Result<String, Refusal> {
    serde_json::to_string_pretty(value).map(|text| text + "\n").map_err(|error| error.to_string())
}

fn width() -> usize {
    let terminal = terminal_size::terminal_size_of(io::stdout()).map(|(width, _)| usize::from(width.0));
    terminal.unwrap_or(WIDEST).clamp(40, WIDEST)
}

/// Prints; colours are taken out where nobody can see them. Whoever has read enough of it is no error.
fn print(text: &str) -> Result<(), Refusal> {
    let mut out = anstream::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(format!("stdout: {error}")),
        _ => Ok(()),
    }
}

/// A file's text, or stdin's for `-`.
fn text_of(path: &Path) -> Result<String, Refusal> {
    let mut text = String::new();
    let read = if path == Path::new("-") {
        io::stdin().lock().read_to_string(&mut text).map(drop)
    } else {
        std::fs::read_to_string(path).map(|read| text = read)
    };
    read.map(|()| text).map_err(|error| format!("{}: {error}", path.display()))
}
