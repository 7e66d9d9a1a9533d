//! The client's environment variables that punchlist reads, one documented constant each, and two
//! functions that interpret them. `program` has those that a sealed call sets or removes.

use std::path::PathBuf;

use crate::env::Env;

/// The client's own path, given to its hooks.
pub const EXECPATH: &str = "CLAUDE_CODE_EXECPATH";
/// The session, for hooks and from 2.1.136 on for the commands of the Bash tool.
pub const SESSION_ID: &str = "CLAUDE_CODE_SESSION_ID";
/// The client's process id (2.1.221 and later).
pub const PID: &str = "CLAUDE_PID";
/// The folder in which the session was started; stays when the session's cwd moves.
pub const PROJECT_DIR: &str = "CLAUDE_PROJECT_DIR";
/// Overrides `~/.claude`.
pub const CONFIG_DIR: &str = "CLAUDE_CONFIG_DIR";
/// Set for every command that a session runs.
pub const INSIDE_SESSION: &str = "CLAUDECODE";
/// The model that the person chose.
pub const MODEL: &str = "ANTHROPIC_MODEL";
/// `claude-code_2-1-325_harness`: the only variable with the client's version.
pub const AGENT: &str = "AI_AGENT";
/// How the session was started: `cli` at a terminal, `sdk-cli` under `-p`.
pub const ENTRYPOINT: &str = "CLAUDE_CODE_ENTRYPOINT";
/// A login that the client withholds from its hooks.
pub const OAUTH_TOKEN: &str = "CLAUDE_CODE_OAUTH_TOKEN";

/// Returns the folder of the client's own files (`~/.claude`).
pub fn config_dir(env: &Env) -> Option<PathBuf> {
    env.path(CONFIG_DIR).or_else(|| env.home().map(|home| home.join(".claude")))
}

/// Returns the version of the client that runs us, `2.1.325`.
pub fn version(env: &Env) -> Option<String> {
    let agent = env.text(AGENT)?;
    let version = agent.strip_prefix("claude-code_")?;
    Some(version.split('_').next().unwrap_or(version).replace('-', "."))
}

/// Returns whether the client shows nobody what a hook tells: a program runs it, as under `-p`.
pub fn is_unwatched(env: &Env) -> bool {
    env.text(ENTRYPOINT).is_some_and(|entrypoint| entrypoint.starts_with("sdk"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_is_read_from_the_agents_name() {
        let env = Env::from_pairs([(AGENT, "claude-code_2-1-325_harness")]);
        assert_eq!(version(&env).as_deref(), Some("2.1.325"));
        assert_eq!(version(&Env::from_pairs([(AGENT, "other")])), None);
    }
}
