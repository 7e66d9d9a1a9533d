//! Arguments of the commands that get the gate in and switch it.

use clap::Args;

use crate::client::settings::Scope;

/// Whose settings; this project's for you alone where nothing is said.
#[derive(Debug, Args)]
pub struct ScopeArgs {
    /// Every project of yours: ~/.claude/settings.json
    #[arg(long, group = "scope")]
    pub user: bool,
    /// This project, for everybody who works on it: .claude/settings.json
    #[arg(long, group = "scope")]
    pub project: bool,
    /// This project, only for you: .claude/settings.local.json (default)
    #[arg(long, group = "scope")]
    pub local: bool,
}

impl ScopeArgs {
    /// The one that is meant.
    pub fn scope(&self) -> Scope {
        match (self.user, self.project) {
            (true, _) => Scope::User,
            (_, true) => Scope::Project,
            _ => Scope::Local,
        }
    }
}

/// Arguments of `install`.
#[derive(Debug, Args)]
pub struct InstallArgs {
    /// Whose settings.
    #[command(flatten)]
    pub scope: ScopeArgs,
    /// Audits what each subagent claims, too
    #[arg(long)]
    pub subagents: bool,
    /// Does not let the turn wait for the audit; also where the config says mode = "background"
    #[arg(long)]
    pub background: bool,
    /// Shows what would be changed, and changes nothing
    #[arg(long)]
    pub dry_run: bool,
}

/// Arguments of `uninstall`.
#[derive(Debug, Args)]
pub struct UninstallArgs {
    /// Whose settings.
    #[command(flatten)]
    pub scope: ScopeArgs,
    /// Shows what would be changed, and changes nothing
    #[arg(long)]
    pub dry_run: bool,
}

/// Arguments of `allow`.
#[derive(Debug, Args)]
pub struct AllowArgs {
    /// Does not ask
    #[arg(long, conflicts_with = "revoke")]
    pub yes: bool,
    /// Takes back what was allowed
    #[arg(long)]
    pub revoke: bool,
}

/// Arguments of `off` and `on`.
#[derive(Debug, Args)]
pub struct SwitchArgs {
    /// One session, by its id or the start of it
    #[arg(long, value_name = "ID", conflicts_with = "project")]
    pub session: Option<String>,
    /// This project (default)
    #[arg(long)]
    pub project: bool,
}
