//! `punchlist audit`: audits a saved session, or all of them, and prints the result. Must not write
//! to the decision log or change a session's state.

mod many;
mod one;

use std::path::PathBuf;

use super::{Result, complain};
use crate::cli::{AuditArgs, AuditorChoice, Format};
use crate::env::Env;
use crate::exit;
use crate::finding::Status;
use crate::render::Report;
use crate::session::Session;

pub(super) fn run(args: &AuditArgs, env: &Env) -> Result {
    if !args.all && !args.all_projects {
        return one::run(args, env);
    }
    if !matches!(args.format, Format::Text | Format::Json) {
        complain("many sessions are printed as text or json; choose one of these with --format");
        return Ok(exit::USAGE);
    }
    if args.auditor == Some(AuditorChoice::Claude) {
        complain("many sessions are audited with nobody asked; leave --auditor out, or name a session");
        return Ok(exit::USAGE);
    }
    many::run(args, env)
}

/// Returns the folder of the project to use if no session is named.
fn project(args: &AuditArgs) -> Result<PathBuf> {
    if let Some(folder) = &args.cwd {
        if !folder.is_dir() {
            return Err(format!("--cwd {}: there is no such folder", folder.display()).into());
        }
        return Ok(folder.clone());
    }
    Ok(std::env::current_dir().map_err(|error| format!("the current folder is not known: {error}"))?)
}

/// Returns whether anything was said in a session. The client leaves files without a message:
/// titles, settings, a prompt that was never sent.
fn has_conversation(session: &Session) -> bool {
    !session.asks.is_empty() || session.final_message.is_some() || session.last_call > 0
}

fn code_of(reports: &[Report]) -> u8 {
    if reports.iter().any(|report| report.count(Status::Confirmed) > 0) {
        return exit::FAILED;
    }
    if reports.iter().any(Report::reader_failed) { exit::COULD_NOT } else { exit::OK }
}
