//! The command line: parses arguments into what is asked for. Must not exit by itself: clap's own
//! error exit is 2, which means "block" to a Stop hook.

pub mod eval;
pub mod fleet;
pub mod log;
pub mod loops;
pub mod tasks;

use std::path::PathBuf;

use clap::{Args, CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum};

use crate::client::settings::Scope;
use crate::client::settings::registration::HOOK_TIMEOUT;
use eval::EvalArgs;
use fleet::FleetCommand;
use log::LogArgs;
use loops::LoopArgs;
use tasks::{TasksArgs, WorkerCommand};

/// The examples at the end of each command's help. A test here parses each line that starts with
/// the program's name, and one of the program's tests runs it.
const EXAMPLES: &str = include_str!("examples.txt");

/// Parses the arguments of `punchlist hook` alone: it runs at every turn of every session, and
/// building the other commands' help takes longer than all its work.
pub fn parse_hook(args: &[std::ffi::OsString]) -> Result<HookArgs, clap::Error> {
    let command = HookArgs::augment_args(clap::Command::new("punchlist hook").no_binary_name(true));
    HookArgs::from_arg_matches(&command.try_get_matches_from(args)?)
}

/// Returns the command line, with examples at the end of each command's help.
pub fn command() -> clap::Command {
    with_examples(Cli::command(), "punchlist")
}

fn with_examples(command: clap::Command, path: &str) -> clap::Command {
    let mut sections = EXAMPLES.split("## ").filter_map(|section| section.split_once('\n'));
    let examples = sections.find(|(name, _)| *name == path).map_or("", |(_, text)| text.trim_end());
    command.after_help(format!("Examples:\n{examples}")).mut_subcommands(|inner| {
        let path = format!("{path} {}", inner.get_name());
        with_examples(inner, &path)
    })
}

/// A Stop hook for Claude Code: compares the plan, the session and the disk before an agent may say
/// done.
#[derive(Debug, Parser)]
#[command(name = "punchlist", version, arg_required_else_help = true)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Shows the gate at work, with no account and no network: a session that drifts, the block,
    /// the release
    Demo,
    /// Registers the hook in the client's settings, keeps everything else there, and shows the
    /// change
    Install(InstallArgs),
    /// Checks whether everything is in place, and tries the gate: a tick or a cross and a next step
    /// for each
    Doctor(DoctorArgs),
    /// The decision log: what was decided, why, and how it turned out; without a subcommand, lists
    /// it
    Log(Box<LogArgs>),
    /// Audits a saved session: the newest one of this project, or the one you name
    Audit(AuditArgs),
    /// Lets every stop of this project or of one session through, until switched on again
    Off(SwitchArgs),
    /// Switches the gate on again
    On(SwitchArgs),
    /// Shows what this project's config asks to run at a stop or to relax, and allows it
    Allow(AllowArgs),
    /// A list of features, and a session that is kept working until all pass; without a subcommand,
    /// shows its state
    Loop(LoopArgs),
    /// The registry's tasks: what is to be done, by whom, and with what result; without a
    /// subcommand, lists them
    Tasks(Box<TasksArgs>),
    /// The registry's workers: sessions and shells that do tasks
    #[command(subcommand_required = true, arg_required_else_help = true)]
    Worker {
        #[command(subcommand)]
        command: WorkerCommand,
    },
    /// Gates, sessions, workers, tasks and the newest decisions, on one screen
    Status {
        /// Includes the newest decisions of every machine of the fleet
        #[arg(long)]
        fleet: bool,
        /// Prints JSON; docs/registry.md describes the fields
        #[arg(long)]
        json: bool,
    },
    /// One line for the client's status line: the last decision, open findings, the remaining
    /// budget
    Statusline,
    /// The database that several machines share: tables, health, decisions waiting to be shipped
    #[command(subcommand_required = true, arg_required_else_help = true)]
    Fleet {
        #[command(subcommand)]
        command: FleetCommand,
    },
    /// The settings: every value with its source, a commented file, a schema, a check; without a
    /// subcommand, shows them
    Config(ConfigArgs),
    /// Removes from the client's settings what install added, and nothing else
    Uninstall(UninstallArgs),
    /// Shows how this program was installed and how to update it
    Update(UpdateArgs),
    /// The Stop hook itself: run by Claude Code, with the hook's JSON on stdin
    Hook(HookArgs),
    /// Audits recorded sessions whose truth is known, and prints how much was found and how much
    /// was wrong
    Eval(Box<EvalArgs>),
    /// Prints the completion script for your shell
    Completions {
        /// Which shell
        shell: clap_complete::Shell,
    },
    /// Prints the manual page, or writes one for each command into a folder
    Man {
        /// The folder; created if it is missing
        #[arg(value_name = "DIR")]
        folder: Option<PathBuf>,
    },
}

#[derive(Debug, PartialEq, Eq, Args)]
pub struct HookArgs {
    /// The timeout that the hook is registered with, in seconds; the readers always end before it
    #[arg(long, value_name = "SECONDS", default_value_t = HOOK_TIMEOUT)]
    pub hook_timeout: u64,
    /// The hook is registered with "asyncRewake": the turn has ended, and only confirmed findings
    /// wake the session
    #[arg(long)]
    pub background: bool,
}

#[derive(Debug, Args)]
pub struct AuditArgs {
    /// A transcript's path, or a session's id or the start of one
    #[arg(value_name = "TRANSCRIPT|SESSION-ID")]
    pub session: Option<String>,
    /// Uses this plan, whatever the session did
    #[arg(long, value_name = "FILE")]
    pub plan: Option<PathBuf>,
    /// The workspace [default: the session's folder if it still exists, else the current one]
    #[arg(long, value_name = "DIR")]
    pub cwd: Option<PathBuf>,
    /// The reader to ask [default: claude]
    #[arg(long, value_enum)]
    pub auditor: Option<AuditorChoice>,
    /// Prints the prompt and asks nobody; with --verdict, the second reader's prompt
    #[arg(long, conflicts_with = "format")]
    pub show_prompt: bool,
    /// Uses a saved reply (a file, or - for stdin) instead of asking
    #[arg(long, value_name = "FILE", conflicts_with = "auditor")]
    pub verdict: Option<PathBuf>,
    /// With --verdict: uses a saved answer instead of asking the second reader
    #[arg(long, value_name = "FILE", requires = "verdict")]
    pub second_verdict: Option<PathBuf>,
    /// The output format
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
    /// Every saved session of the project, without asking a reader
    #[arg(long, conflicts_with_all = ["session", "plan", "show_prompt", "verdict"])]
    pub all: bool,
    /// Every saved session of every project, without asking a reader
    #[arg(long, conflicts_with_all = ["session", "plan", "show_prompt", "verdict", "all", "cwd"])]
    pub all_projects: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum AuditorChoice {
    /// The client, with the config's model
    Claude,
    /// No reader: disk and session alone
    None,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For a terminal
    Text,
    /// For programs; docs/audit-json.md describes the fields
    Json,
    /// For a comment on a pull request
    Markdown,
    /// For code scanning
    Sarif,
}

#[derive(Debug, Args)]
pub struct DoctorArgs {
    /// Also asks the model one tiny question, through the sealed client
    #[arg(long)]
    pub audit: bool,
    /// Prints JSON
    #[arg(long)]
    pub json: bool,
}

/// Whose settings; by default this project's for you alone.
#[derive(Debug, Args)]
pub struct ScopeArgs {
    /// All your projects: ~/.claude/settings.json
    #[arg(long, group = "scope")]
    pub user: bool,
    /// This project, for everybody who works on it: .claude/settings.json
    #[arg(long, group = "scope")]
    pub project: bool,
    /// This project, for you alone: .claude/settings.local.json (default)
    #[arg(long, group = "scope")]
    pub local: bool,
}

impl ScopeArgs {
    pub fn scope(&self) -> Scope {
        match (self.user, self.project) {
            (true, _) => Scope::User,
            (_, true) => Scope::Project,
            _ => Scope::Local,
        }
    }
}

#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "one for each flag")]
pub struct InstallArgs {
    #[command(flatten)]
    pub scope: ScopeArgs,
    /// Also audits what each subagent claims
    #[arg(long)]
    pub subagents: bool,
    /// Audits in the background: the turn does not wait, and findings wake the session
    #[arg(long, conflicts_with = "hold")]
    pub background: bool,
    /// Makes the turn wait for the audit again, after an install with --background
    #[arg(long)]
    pub hold: bool,
    /// Also sets the client's status line, unless one is set already
    #[arg(long)]
    pub statusline: bool,
    /// Shows the changes without making them
    #[arg(long)]
    pub dry_run: bool,
}

#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "one for each flag")]
pub struct UninstallArgs {
    #[command(flatten)]
    pub scope: ScopeArgs,
    /// Removes it from every settings file that can be found, and the plugin; says what remains
    #[arg(long, conflicts_with = "scope")]
    pub everywhere: bool,
    /// Also removes the log, the rest of the state and your config, after showing them
    #[arg(long, requires = "everywhere")]
    pub purge: bool,
    /// Does not ask for confirmation
    #[arg(long, requires = "purge")]
    pub yes: bool,
    /// Shows the changes without making them
    #[arg(long)]
    pub dry_run: bool,
}

#[derive(Debug, Args)]
pub struct UpdateArgs {
    /// Asks where it was installed from, and nobody else, whether there is a newer version
    #[arg(long)]
    pub check: bool,
}

#[derive(Debug, Args)]
pub struct AllowArgs {
    /// Does not ask for confirmation
    #[arg(long, conflicts_with = "revoke")]
    pub yes: bool,
    /// Withdraws what was allowed
    #[arg(long)]
    pub revoke: bool,
}

#[derive(Debug, Args)]
pub struct SwitchArgs {
    /// One session, by its id or a prefix of it
    #[arg(long, value_name = "ID", conflicts_with = "project")]
    pub session: Option<String>,
    /// This project (default)
    #[arg(long)]
    pub project: bool,
}

#[derive(Debug, Args)]
pub struct JsonArgs {
    /// Prints JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct ConfigArgs {
    #[command(subcommand)]
    pub command: Option<ConfigCommand>,
    #[command(flatten)]
    pub show: JsonArgs,
}

#[derive(Debug, Subcommand)]
pub enum ConfigCommand {
    /// Every value, and where it comes from
    Show(JsonArgs),
    /// Writes a commented file to start from; an existing one is left as it is
    Init(InitArgs),
    /// Prints the JSON schema of a config file, for completion and validation in editors
    Schema,
    /// Reports errors in the config files, with line and column
    Check {
        /// This file [default: your own and this project's]. A file named punchlist.toml is limited
        /// to what a project may set
        #[arg(value_name = "FILE")]
        file: Option<PathBuf>,
    },
}

#[derive(Debug, Args)]
pub struct InitArgs {
    /// This project's file, .claude/punchlist.toml: for everybody who works on it
    #[arg(long, conflicts_with = "user")]
    pub project: bool,
    /// Your own file, ~/.config/punchlist/config.toml (default)
    #[arg(long)]
    pub user: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_registration_is_understood() {
        for (line, hook_timeout, background) in [
            ("punchlist hook", 120, false),
            ("punchlist hook --hook-timeout 60", 60, false),
            ("punchlist hook --hook-timeout=007", 7, false),
            ("punchlist hook --hook-timeout 18446744073709551615", u64::MAX, false),
            ("punchlist hook --background", 120, true),
            ("punchlist hook --hook-timeout 60 --background", 60, true),
        ] {
            let Command::Hook(args) = Cli::parse_from(line.split(' ')).command else { panic!("{line}") };
            assert_eq!(args, HookArgs { hook_timeout, background }, "{line}");
        }
    }

    fn each(command: &clap::Command, path: &str, look: &mut impl FnMut(&str, &clap::Command)) {
        look(path, command);
        for inner in command.get_subcommands().filter(|inner| inner.get_name() != "help") {
            each(inner, &format!("{path} {}", inner.get_name()), look);
        }
    }

    #[test]
    fn every_command_has_examples_that_the_parser_understands_and_a_terminal_has_room_for() {
        let mut count = 0;
        each(&command(), "punchlist", &mut |path, command| {
            let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            assert!(help.starts_with("Examples:\n  punchlist"), "{path} has no examples");
            for line in help.lines() {
                assert!(line.chars().count() < 80, "{path}: {line}");
                let Some(line) = line.strip_prefix("  punchlist ") else { continue };
                // Text after two spaces is a remark on the example.
                let line = line.split("  ").next().unwrap_or(line);
                let words = line.split('"').enumerate().flat_map(|(at, part)| {
                    if at % 2 == 1 { vec![part] } else { part.split_whitespace().collect() }
                });
                let parsed = Cli::try_parse_from(std::iter::once("punchlist").chain(words));
                assert!(parsed.is_ok(), "{path}: {line}: {}", parsed.expect_err("a fault"));
                count += 1;
            }
            let about = command.get_about().map(ToString::to_string).unwrap_or_default();
            assert!(!about.is_empty(), "{path} says what it does");
        });
        assert!(count > 50, "{count}");
    }
}
