//! Tasks that a command prints as JSON: the person's own command line, run by a shell in the
//! project's folder. Must not let it outlive the stop.

use std::time::Duration;

use super::{Lookup, LookupOutcome, find_in_json};
use crate::child::{Ending, Job, run, shell};
use crate::env;
use crate::redact::mask;
use crate::text::first_part;

const STDOUT_CAP: usize = 8 << 20;
const STDERR_CAP: usize = 4 << 10;
/// How much of the command and its error is shown.
const MAX_SHOWN: usize = 200;

pub(super) fn find_pending(lookup: &Lookup<'_>) -> LookupOutcome {
    let Some(line) = lookup.config.command.as_deref() else {
        return LookupOutcome::Failed(
            "[tasks] source is \"command\", but there is no `command` in your own config".into(),
        );
    };
    let mentions = |name: &str| line.contains(name);
    let names_agent = mentions(env::WORKER);
    let is_for_asker = names_agent || mentions(env::SESSION);
    if names_agent && lookup.query.agent.is_none() {
        return LookupOutcome::NoWorker;
    }
    let time = lookup.time();
    let (program, args) = shell(line);
    let ended = run(Job {
        program,
        args,
        cwd: lookup.project.to_path_buf(),
        env_set: [(env::WORKER, &lookup.query.agent), (env::SESSION, &lookup.query.session)]
            .into_iter()
            .filter_map(|(name, value)| Some((name.into(), value.as_ref()?.into())))
            // If the command starts a client of its own, our hook must stay out of it.
            .chain([(env::INSIDE_AUDITOR.into(), "1".into())])
            .collect(),
        env_unset: vec![env::WORKER.into(), env::SESSION.into()],
        stdin: Vec::new(),
        deadline: time,
        stdout_cap: STDOUT_CAP,
        stderr_cap: STDERR_CAP,
    });
    let failed =
        |why: String| LookupOutcome::Failed(format!("`{}` {why}", first_part(&mask(line).text, MAX_SHOWN)));
    match ended.how {
        Ending::Exited(0) => find_in_json(lookup, &ended.stdout, is_for_asker)
            .unwrap_or_else(|why| failed(format!("printed something else than tasks: {why}"))),
        Ending::Exited(code) => failed(format!("ended with exit code {code}{}", last_line(&ended.stderr))),
        Ending::Signaled(signal) => failed(format!("was ended by signal {signal}")),
        Ending::TimedOut => failed(format!("took longer than {}", seconds(time))),
        Ending::Interrupted(signal) => failed(format!("was not waited for: {signal}")),
        Ending::Flooded => failed("printed more than 8 MB".into()),
        Ending::Unwanted => failed("was cancelled".into()),
        Ending::NotStarted(error) => failed(format!("could not be started: {error}")),
    }
}

fn last_line(stderr: &[u8]) -> String {
    let text = String::from_utf8_lossy(stderr);
    let last = text.lines().map(str::trim).rfind(|line| !line.is_empty()).unwrap_or_default();
    if last.is_empty() { String::new() } else { format!(": {}", first_part(&mask(last).text, MAX_SHOWN)) }
}

pub(super) fn seconds(time: Duration) -> String {
    format!("{:.1} s", time.as_secs_f64())
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use crate::config::{TaskSource, TasksConfig};

    fn lookup(command: Option<&str>, agent: Option<&str>) -> LookupOutcome {
        let config = TasksConfig {
            source: TaskSource::Command,
            command: command.map(Into::into),
            timeout: Duration::from_millis(1_500),
            ..TasksConfig::default()
        };
        LookupOutcome::for_agent(&config, &std::env::temp_dir(), agent)
    }

    #[test]
    fn what_it_prints_is_read_and_it_knows_who_asks() {
        let line = r#"echo "[{\"id\":\"$PUNCHLIST_WORKER-$PUNCHLIST_SESSION\",\"status\":\"assigned\"}]""#;
        assert_eq!(lookup(Some(line), Some("w2")).found()[0].id, "w2-s1");
        assert_eq!(
            lookup(Some(line), None),
            LookupOutcome::NoWorker,
            "nobody is asked for a session that is no worker"
        );
    }

    #[test]
    fn whatever_goes_wrong_is_told() {
        let error_of = |command: &str| lookup(Some(command), Some("w2")).error();
        assert_eq!(error_of("echo oops >&2; exit 3"), "`echo oops >&2; exit 3` ended with exit code 3: oops");
        assert!(error_of("echo no").starts_with("`echo no` printed something else than tasks: not JSON: "));
        assert!(error_of("sleep 30").starts_with("`sleep 30` took longer than 1."));
        assert_eq!(error_of("kill -9 $$"), "`kill -9 $$` was ended by signal 9");
        assert_eq!(error_of("yes"), "`yes` printed more than 8 MB");
        assert_eq!(
            lookup(None, Some("w2")).error(),
            "[tasks] source is \"command\", but there is no `command` in your own config"
        );
    }
}
