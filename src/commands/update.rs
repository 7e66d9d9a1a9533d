//! `punchlist update`: shows how this program was installed and how to update it; with `--check`,
//! asks that same source whether there is a newer version. Must not change anything, or ask anybody
//! else.

pub(super) mod installed_by;

use std::time::Duration;

use self::installed_by::{InstalledBy, Question};
use super::Result;
use super::output::print;
use crate::child::{self, Ended, Ending, Job};
use crate::cli::UpdateArgs;
use crate::env::Env;
use crate::exit;
use crate::text::{first_part, harmless};

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// How long the source may take to answer.
const TIMEOUT: Duration = Duration::from_secs(20);

pub(super) fn run(args: &UpdateArgs, env: &Env) -> Result {
    let way = InstalledBy::find();
    let here = format!("punchlist {VERSION}, installed {}", way.description());
    let next = way.update_line().map_or_else(String::new, |line| format!("\n`{line}` updates it."));
    if !args.check {
        return print(&format!("{here}.{next}\n"));
    }
    let Some(question) = way.question() else {
        return print(&format!("{here}: there is nobody to ask for a newer one.{next}\n"));
    };
    let newest = ask(&question, env).map_err(|why| format!("{here}. `{}`: {why}", question.line()))?;
    let words = if is_newer(&newest, VERSION) {
        format!("{here}. There is {newest}.{next}\n")
    } else {
        format!("{here}. There is none newer ({newest}).\n")
    };
    print(&words)?;
    Ok(exit::OK)
}

/// Returns the newest version, or why it is unknown.
fn ask(question: &Question, env: &Env) -> std::result::Result<String, String> {
    let program = env.program(&question.program).ok_or("there is no such program on your PATH")?;
    // In its own folder, so that no project's settings for the program apply.
    let folder = tempfile::tempdir().map_err(|error| format!("a temporary folder: {error}"))?;
    let ended = child::run(Job {
        program,
        args: question.args.iter().map(Into::into).collect(),
        cwd: folder.path().to_path_buf(),
        // With retries npm would take a minute to say that there is no network, and with its cache
        // it would not say so at all.
        env_set: [("npm_config_fetch_retries", "0"), ("npm_config_prefer_online", "true")]
            .map(|(name, value)| (name.into(), value.into()))
            .into(),
        env_unset: Vec::new(),
        stdin: question.stdin.as_bytes().to_vec(),
        deadline: TIMEOUT,
        stdout_cap: 4 << 20,
        stderr_cap: 64 << 10,
    });
    newest(question, &ended)
}

fn newest(question: &Question, ended: &Ended) -> std::result::Result<String, String> {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    match &ended.how {
        Ending::Exited(0) => {
            let version = (question.version)(&text(&ended.stdout));
            version
                .map(|version| harmless(&version))
                .ok_or_else(|| "its answer has no version in it".to_owned())
        }
        Ending::Exited(code) => {
            let said = text(&ended.stderr);
            // The first line has the reason; the last often names a log file.
            let said =
                said.lines().find(|line| line.to_lowercase().contains("error")).unwrap_or("no reason given");
            let said = first_part(harmless(said).trim(), 200);
            Err(format!("it could not say (exit {code}: {said})"))
        }
        Ending::TimedOut => {
            Err(format!("no answer within {} s, perhaps because there is no network", TIMEOUT.as_secs()))
        }
        Ending::NotStarted(error) => Err(error.to_string()),
        _ => Err("it did not finish".to_owned()),
    }
}

/// Returns whether a version is newer, number by number; anything after a dash is ignored.
fn is_newer(version: &str, than: &str) -> bool {
    let numbers = |version: &str| -> Vec<u64> {
        let plain = version.split(['-', '+']).next().unwrap_or_default();
        plain.split('.').map(|part| part.parse().unwrap_or(0)).collect()
    };
    numbers(version) > numbers(than)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_compared_as_numbers() {
        for (version, than, newer) in [
            ("0.1.1", "0.1.0", true),
            ("0.10.0", "0.9.9", true),
            ("1.0.0", "1.0.0", false),
            ("0.9.0", "0.10.0", false),
            ("0.1.0-rc.1", "0.1.0", false),
            ("nonsense", "0.1.0", false),
        ] {
            assert_eq!(is_newer(version, than), newer, "{version} {than}");
        }
    }

    #[test]
    fn an_answer_that_never_comes_and_one_that_is_an_error_are_told_apart() {
        let question = InstalledBy::Npm.question().expect("a question");
        let ended = |how, stdout: &str, stderr: &str| Ended {
            how,
            stdout: stdout.into(),
            stderr: stderr.into(),
            duration: Duration::ZERO,
        };
        let said = |ended: Ended| newest(&question, &ended);
        assert_eq!(said(ended(Ending::Exited(0), "0.2.0\n", "")), Ok("0.2.0".into()));
        assert_eq!(said(ended(Ending::Exited(0), "\n", "")), Err("its answer has no version in it".into()));
        assert_eq!(
            said(ended(Ending::Exited(1), "", "npm warn x\nnpm error code EAI_AGAIN\nnpm error a log\n")),
            Err("it could not say (exit 1: npm error code EAI_AGAIN)".into())
        );
        assert_eq!(
            said(ended(Ending::TimedOut, "", "")),
            Err("no answer within 20 s, perhaps because there is no network".into())
        );
    }
}
