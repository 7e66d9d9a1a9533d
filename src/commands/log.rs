//! `punchlist log`: prints what was decided. Must not change anything.

use std::io::{self, Write};
use std::path::Path;

use super::complain;
use crate::cli::LogCommand;
use crate::decision::Held;
use crate::env::Env;
use crate::exit;
use crate::finding::Status;
use crate::log::{DecisionLog, Record};
use crate::state::StateFolder;

/// Runs it on this process's stdout.
pub fn run(command: &LogCommand, env: &Env) -> u8 {
    let state = StateFolder::find(env);
    let log = DecisionLog::in_folder(state.root());
    let mut out = io::BufWriter::new(io::stdout().lock());
    let LogCommand::List { json } = command;
    match list(&log, *json, &mut out).and_then(|torn| out.flush().map(|()| torn)) {
        Ok(0) => exit::OK,
        Ok(torn) => {
            let lines = if torn == 1 { "1 line".to_owned() } else { format!("{torn} lines") };
            complain(&format!("passed over in {}: {lines} that can't be read", log.folder().display()));
            exit::OK
        }
        // Whoever reads us has read enough.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => exit::OK,
        Err(error) => {
            complain(&format!("the log in {} can't be read: {error}", log.folder().display()));
            exit::FAILED
        }
    }
}

fn list(log: &DecisionLog, json: bool, out: &mut impl Write) -> io::Result<usize> {
    let mut written = Ok(());
    let torn = log.read(|record, line| {
        if written.is_ok() {
            written = if json { writeln!(out, "{line}") } else { writeln!(out, "{}", one_line(&record)) };
        }
    })?;
    written.map(|()| torn)
}

/// A decision at a glance.
pub(super) fn one_line(record: &Record) -> String {
    let when = record.time.get(..19).unwrap_or(&record.time).replace('T', " ");
    let project = record.project.as_deref().map(Path::new).and_then(Path::file_name);
    let project = project.map_or_else(|| "-".into(), |name| name.to_string_lossy());
    let decision = match (record.decision, record.would_block) {
        (Held::Block, _) => "block",
        (Held::Allow, true) => "would block",
        (Held::Allow, false) => "allow",
    };
    let count = |status: Status| record.findings.iter().filter(|finding| finding.status == status).count();
    let findings =
        format!("{} confirmed, {} unverified", count(Status::Confirmed), count(Status::CannotVerify));
    let findings = if record.findings.is_empty() { String::new() } else { findings };
    let time = record.phases_ms.get("total").map_or_else(String::new, |ms| format!("{ms:.0} ms"));
    format!(
        "{}  {when}  {project:<20}  {decision:<11}  {:<20}  {time:>9}  {findings}",
        record.id,
        record.cause.name()
    )
    .trim_end()
    .to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log::record::tests::record;

    #[test]
    fn a_decision_at_a_glance() {
        let mut shown = record("k3f92m7q1x");
        shown.project = Some("/home/me/shop".into());
        shown.phases_ms.insert("total".into(), 1234.5);
        assert_eq!(
            one_line(&shown),
            "k3f92m7q1x  2026-10-01 00:00:00  shop                  allow        clean                   1234 ms"
        );
    }
}
