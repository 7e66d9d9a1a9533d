//! The client that is asked: takes what it said of itself, gives checks. Pure.

use serde_json::Value;

use super::Check;
use crate::client::program::Flags;

/// What was seen of the client.
#[derive(Debug, Clone)]
pub enum ClientLook {
    /// There is none.
    Missing(String),
    /// It is there.
    Found {
        /// Where.
        path: String,
        /// What it answers to `--version`; or why it does not.
        version: Result<String, String>,
        /// What it answers to `--help`.
        help: String,
        /// What it answers to `auth status`, where it knows that.
        auth: Option<String>,
        /// Whether the shell has a login that the client keeps from its hooks.
        has_setup_token: bool,
    },
}

/// What a seal without a gap needs, and what is done where it is missing.
const WANTED: [(&str, &str); 5] = [
    ("--tools", "tools are taken away by name"),
    ("--setting-sources", "your settings can't be kept out of the readers"),
    ("--json-schema", "its reply is read from text, strictly"),
    ("--no-session-persistence", "its session file is removed afterwards"),
    ("--disable-slash-commands", "skills stay on"),
];

/// Whether a help text offers `auth`. A client without it takes the word for a prompt, and asks its model.
pub fn knows_auth(help: &str) -> bool {
    help.lines().any(|line| line.split_whitespace().next() == Some("auth") && line.starts_with("  "))
}

/// The checks.
pub fn checks(look: &ClientLook) -> Vec<Check> {
    let (path, version, help, auth, has_setup_token) = match look {
        ClientLook::Missing(why) => {
            return vec![Check::fault(
                "client",
                why.clone(),
                "install Claude Code, or name the program in your own config (`[auditor] client`)",
            )];
        }
        ClientLook::Found { path, version, help, auth, has_setup_token } => {
            (path, version, help, auth, *has_setup_token)
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
    let missing: Vec<_> = WANTED.iter().filter(|(flag, _)| !flags.has(flag)).collect();
    let found = format!("claude {version}, {path}");
    let client = if missing.is_empty() {
        Check::fine("client", format!("{found}, can be sealed whole"))
    } else {
        let missing: Vec<_> = missing.iter().map(|(flag, instead)| format!("no {flag}: {instead}")).collect();
        let next = "a newer client is sealed whole: `claude update`".to_owned();
        Check::note("client", format!("{found}; {}", missing.join("; ")), Some(next))
    };
    vec![client, login(auth.as_deref(), has_setup_token)]
}

fn login(auth: Option<&str>, has_setup_token: bool) -> Check {
    let answer: Option<Value> = auth.and_then(|auth| serde_json::from_str(auth).ok());
    let Some(answer) = answer.filter(|answer| answer["loggedIn"].is_boolean()) else {
        let next = "`punchlist doctor --audit` tries it".to_owned();
        return Check::note("login", "this client does not tell whether it is logged in", Some(next));
    };
    let text = |key: &str| answer[key].as_str().unwrap_or("unknown");
    if answer["loggedIn"] == true {
        let source = answer["apiKeySource"].as_str().map(|from| format!(" from {from}")).unwrap_or_default();
        return Check::fine("login", format!("{}{source}, {}", text("authMethod"), text("apiProvider")));
    }
    let next = if has_setup_token {
        "hooks do not get CLAUDE_CODE_OAUTH_TOKEN: log in with `claude`, or set ANTHROPIC_API_KEY"
    } else {
        "log in with `claude`, or set ANTHROPIC_API_KEY; until then only what the disk proves is held"
    };
    Check::fault("login", "the client is not logged in where hooks run", next)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::Mark;

    const HELP: &str = "  --tools\n  --setting-sources\n  --json-schema\n  --no-session-persistence\n  \
                        --disable-slash-commands\nCommands:\n  auth      Manage authentication\n";

    fn look(help: &str, auth: Option<&str>, has_setup_token: bool) -> Vec<Check> {
        checks(&ClientLook::Found {
            path: "/bin/claude".into(),
            version: Ok("2.1.325 (Claude Code)\n".into()),
            help: help.into(),
            auth: auth.map(Into::into),
            has_setup_token,
        })
    }

    #[test]
    fn a_client_of_today_is_told_with_its_version_and_login() {
        let auth = r#"{"loggedIn":true,"authMethod":"api_key","apiProvider":"firstParty","apiKeySource":"ANTHROPIC_API_KEY"}"#;
        assert_eq!(
            look(HELP, Some(auth), false),
            [
                Check::fine("client", "claude 2.1.325, /bin/claude, can be sealed whole"),
                Check::fine("login", "api_key from ANTHROPIC_API_KEY, firstParty"),
            ]
        );
    }

    #[test]
    fn a_client_that_is_not_logged_in_says_what_to_do() {
        let auth = r#"{"loggedIn":false,"authMethod":"none","apiProvider":"firstParty"}"#;
        let said = |has_token| look(HELP, Some(auth), has_token)[1].clone();
        assert_eq!(said(false).mark, Mark::Fault);
        assert!(said(false).next.is_some_and(|next| next.starts_with("log in with `claude`")));
        assert!(
            said(true).next.is_some_and(|next| next.starts_with("hooks do not get CLAUDE_CODE_OAUTH_TOKEN"))
        );
    }

    #[test]
    fn an_old_client_is_a_note_with_what_is_done_instead() {
        let all = look("  --settings\n", None, false);
        assert_eq!((all[0].mark, all[1].mark), (Mark::Note, Mark::Note));
        assert!(all[0].found.contains("no --json-schema: its reply is read from text, strictly"), "{all:?}");
        assert!(all[1].found.contains("does not tell"), "{all:?}");
    }

    #[test]
    fn only_a_command_is_auth_and_not_a_word_of_a_description() {
        assert!(knows_auth(HELP));
        assert!(!knows_auth("auth\n  --x  auth is good\n      Authentication"));
    }

    #[test]
    fn none_is_a_fault() {
        let checks = checks(&ClientLook::Missing("no `claude` program was found".into()));
        assert_eq!((checks.len(), checks[0].mark), (1, Mark::Fault));
    }
}
