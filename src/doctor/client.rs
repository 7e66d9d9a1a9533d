//! The client: its version, its flags, its login, and how its model answers.

use std::path::Path;
use std::time::Duration;

use serde_json::Value;

use super::Check;
use crate::child::{Ended, Ending};
use crate::client::call::{ReaderOutcome, ReaderRun};
use crate::client::env_vars;
use crate::client::program::{Flags, find, run_plain};
use crate::config::Config;
use crate::env::Env;
use crate::readers::prompt::SCHEMA;
use crate::readers::{Answer, Prompt, Reader, SealedClient};
use crate::state::StateFolder;

const DEADLINE: Duration = Duration::from_secs(20);

/// What the client printed about itself.
struct ClientAnswers {
    path: String,
    /// Its `--version`, or why there is none.
    version: Result<String, String>,
    help: String,
    /// Its `auth status`, if it has that command.
    auth: Option<String>,
    /// Whether the shell has a login that the client withholds from its hooks.
    has_setup_token: bool,
}

/// The flags that a complete seal needs, and what is lost without each.
const SEALING_FLAGS: [(&str, &str); 5] = [
    ("--tools", "tools are taken away by name"),
    ("--setting-sources", "your settings can't be kept out of the readers"),
    ("--json-schema", "its reply is read from text, strictly"),
    ("--no-session-persistence", "its session file is removed afterwards"),
    ("--disable-slash-commands", "skills stay on"),
];

pub fn checks(env: &Env, config: &Config) -> Vec<Check> {
    judge(&answers(env, config))
}

/// Asks the client about itself; the error says why there is no client.
fn answers(env: &Env, config: &Config) -> Result<ClientAnswers, String> {
    let path = find(env, config.auditor.client.as_deref()).map_err(|why| why.to_string())?;
    let version = ask(&path, &["--version"]).map(|said| said.trim().to_owned());
    let help = ask(&path, &["--help"]).unwrap_or_default();
    // Not logged in is exit code 1, with the answer on stdout.
    let auth = || run(&path, &["auth", "status", "--json"]).stdout;
    let auth = has_auth_command(&help).then(|| String::from_utf8_lossy(&auth()).into_owned());
    Ok(ClientAnswers {
        path: path.display().to_string(),
        version,
        help,
        auth,
        has_setup_token: env.get(env_vars::OAUTH_TOKEN).is_some(),
    })
}

fn run(client: &Path, args: &[&str]) -> Ended {
    run_plain(client, args, &[env_vars::OAUTH_TOKEN], DEADLINE)
}

fn ask(client: &Path, args: &[&str]) -> Result<String, String> {
    let ended = run(client, args);
    match ended.how {
        Ending::Exited(0) => Ok(String::from_utf8_lossy(&ended.stdout).into_owned()),
        Ending::Exited(code) => Err(format!("exit code {code}")),
        Ending::TimedOut => Err(format!("nothing in {} s", DEADLINE.as_secs())),
        Ending::NotStarted(error) => Err(error.to_string()),
        how => Err(format!("{how:?}")),
    }
}

/// Returns whether a help text lists the command `auth`. A client without it would take the word
/// for a prompt and ask its model.
fn has_auth_command(help: &str) -> bool {
    help.lines().any(|line| line.split_whitespace().next() == Some("auth") && line.starts_with("  "))
}

fn judge(client: &Result<ClientAnswers, String>) -> Vec<Check> {
    let ClientAnswers { path, version, help, auth, has_setup_token } = match client {
        Ok(client) => client,
        Err(why) => {
            let next = "install Claude Code, or name the program in your own config (`[auditor] client`)";
            return vec![Check::fault("client", why.clone(), next)];
        }
    };
    let version = match version {
        Ok(version) => version.split(" (").next().unwrap_or(version).trim(),
        Err(why) => {
            let next = "run it yourself with --version: the readers are this program";
            return vec![Check::fault("client", format!("{path} does not answer: {why}"), next)];
        }
    };
    let flags = Flags::from_help(help);
    let missing: Vec<_> = SEALING_FLAGS.iter().filter(|(flag, _)| !flags.has(flag)).collect();
    let found = format!("claude {version}, {path}");
    let client = if missing.is_empty() {
        Check::fine("client", format!("{found}, can be sealed completely"))
    } else {
        let missing: Vec<_> = missing.iter().map(|(flag, instead)| format!("no {flag}: {instead}")).collect();
        let next = "a newer client can be sealed completely: `claude update`";
        Check::note("client", format!("{found}; {}", missing.join("; ")), next)
    };
    vec![client, login(auth.as_deref(), *has_setup_token)]
}

fn login(auth: Option<&str>, has_setup_token: bool) -> Check {
    let answer: Option<Value> = auth.and_then(|auth| serde_json::from_str(auth).ok());
    let Some(answer) = answer.filter(|answer| answer["loggedIn"].is_boolean()) else {
        let next = "`punchlist doctor --audit` tries it";
        return Check::note("login", "this client does not tell whether it is logged in", next);
    };
    let text = |key: &str| answer[key].as_str().unwrap_or("unknown");
    if answer["loggedIn"] == true {
        let source = answer["apiKeySource"].as_str().map(|from| format!(" from {from}")).unwrap_or_default();
        return Check::fine("login", format!("{}{source}, {}", text("authMethod"), text("apiProvider")));
    }
    let next = if has_setup_token {
        "hooks do not get CLAUDE_CODE_OAUTH_TOKEN: log in with `claude`, or set ANTHROPIC_API_KEY"
    } else {
        "log in with `claude`, or set ANTHROPIC_API_KEY; until then only what the disk proves blocks"
    };
    Check::fault("login", "the client is not logged in where hooks run", next)
}

/// Asks one tiny question, sealed and with the usual deadline.
pub fn ask_model(env: &Env, config: &Config, state: &StateFolder) -> ReaderRun {
    let schema: serde_json::Value = serde_json::from_str(SCHEMA).unwrap_or_default();
    let prompt = Prompt {
        system: "You are asked one small question, to see whether asking works.".into(),
        text: "There is nothing to audit. Answer with an empty list of findings.".into(),
        schema: schema.to_string(),
        check: Answer::check,
    };
    let mut client = SealedClient {
        env,
        program: config.auditor.client.as_deref(),
        model: &config.auditor.model,
        flag_cache: state,
        is_wanted: None,
    };
    client.ask(&prompt, config.auditor.timeout)
}

/// Checks the answer to one tiny question; `None` if the model was not asked.
pub fn model_check(run: Option<&ReaderRun>, model: &str) -> Check {
    const NAME: &str = "reader";
    let Some(run) = run else {
        let next = "`punchlist doctor --audit` asks it one tiny question";
        return Check::note(NAME, format!("{model} was not asked"), next);
    };
    let took = format!("{:.1} s", run.duration.as_secs_f64());
    let cost = run.usage.cost_usd.map_or_else(|| "cost unknown".to_owned(), |cost| format!("${cost:.4}"));
    let (found, next) = match &run.outcome {
        ReaderOutcome::Answered(_) => {
            let (read, written) = (run.usage.total_input(), run.usage.output);
            let found = format!("{model} answered in {took}, {cost}, {read} tokens in, {written} out");
            return Check::fine(NAME, found);
        }
        ReaderOutcome::TimedOut(_) => (
            format!("{model} gave no answer in {took}"),
            "raise `[auditor] timeout`, or look at your network",
        ),
        ReaderOutcome::Unreadable(why) => (
            format!("{model} answered in {took} with an invalid answer: {why}"),
            "try another `[auditor] model`",
        ),
        ReaderOutcome::Unavailable(why) => {
            (why.to_string(), "until it can be asked, only what the disk proves blocks")
        }
        ReaderOutcome::NotAsked | ReaderOutcome::Superseded | ReaderOutcome::Interrupted(_) => {
            (format!("{model} gave no answer: interrupted"), "try it again")
        }
    };
    Check::fault(NAME, found, next)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::client::call::{Unavailable, Usage};
    use crate::doctor::Mark;

    const HELP: &str = "  --tools\n  --setting-sources\n  --json-schema\n  --no-session-persistence\n  \
                        --disable-slash-commands\nCommands:\n  auth      Manage authentication\n";

    fn checked(help: &str, auth: Option<&str>, has_setup_token: bool) -> Vec<Check> {
        judge(&Ok(ClientAnswers {
            path: "/bin/claude".into(),
            version: Ok("2.1.325 (Claude Code)\n".into()),
            help: help.into(),
            auth: auth.map(Into::into),
            has_setup_token,
        }))
    }

    #[test]
    fn a_current_client_is_shown_with_its_version_and_login() {
        let auth = r#"{"loggedIn":true,"authMethod":"api_key","apiProvider":"firstParty","apiKeySource":"ANTHROPIC_API_KEY"}"#;
        assert_eq!(
            checked(HELP, Some(auth), false),
            [
                Check::fine("client", "claude 2.1.325, /bin/claude, can be sealed completely"),
                Check::fine("login", "api_key from ANTHROPIC_API_KEY, firstParty"),
            ]
        );
    }

    #[test]
    fn a_client_that_is_not_logged_in_says_what_to_do() {
        let auth = r#"{"loggedIn":false,"authMethod":"none","apiProvider":"firstParty"}"#;
        let login = |has_token| checked(HELP, Some(auth), has_token)[1].clone();
        assert_eq!(login(false).mark, Mark::Fault);
        assert!(login(false).next.is_some_and(|next| next.starts_with("log in with `claude`")));
        assert!(
            login(true).next.is_some_and(|next| next.starts_with("hooks do not get CLAUDE_CODE_OAUTH_TOKEN"))
        );
    }

    #[test]
    fn an_old_client_is_a_note_with_what_is_done_instead() {
        let all = checked("  --settings\n", None, false);
        assert_eq!((all[0].mark, all[1].mark), (Mark::Note, Mark::Note));
        assert!(all[0].found.contains("no --json-schema: its reply is read from text, strictly"), "{all:?}");
        assert!(all[1].found.contains("does not tell"), "{all:?}");
    }

    #[test]
    fn auth_is_a_command_and_not_a_word_of_a_description() {
        assert!(has_auth_command(HELP));
        assert!(!has_auth_command("auth\n  --x  auth is good\n      Authentication"));
    }

    #[test]
    fn a_missing_client_is_a_fault() {
        let checks = judge(&Err("no `claude` program was found".into()));
        assert_eq!((checks.len(), checks[0].mark), (1, Mark::Fault));
    }

    #[test]
    fn an_answer_has_its_time_and_cost_and_a_failure_its_next_step() {
        let run = ReaderRun {
            duration: Duration::from_millis(2_340),
            usage: Usage { input: 300, output: 12, cost_usd: Some(0.000_42), ..Usage::default() },
            ..ReaderRun::not_asked(ReaderOutcome::Answered(String::new()))
        };
        assert_eq!(
            model_check(Some(&run), "haiku"),
            Check::fine("reader", "haiku answered in 2.3 s, $0.0004, 300 tokens in, 12 out")
        );
        let failed =
            ReaderRun { outcome: ReaderOutcome::Unavailable(Unavailable::RateLimited("429".into())), ..run };
        let failed = model_check(Some(&failed), "haiku");
        assert_eq!(
            (failed.mark, failed.found.as_str()),
            (Mark::Fault, "the model's service is limiting requests (429)")
        );
        assert_eq!(model_check(None, "haiku").mark, Mark::Note);
    }
}
