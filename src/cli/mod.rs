//! The command line: takes arguments, gives what is asked for. Must not exit by itself: clap's own
//! error exit is 2, which to a Stop hook means "block".

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

/// The examples at the end of each command's help. A test here parses each line that starts with the
/// program's name, and one of the program's tests runs it.
const EXAMPLES: &str = include_str!("examples.txt");

/// Parses what stands behind `punchlist hook`, by itself: it is run at every turn of every session, and the
/// other commands' help takes longer to set up than all that it does.
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

/// A Stop hook for Claude Code: compares the plan, the session and the disk before an agent may say done.
#[derive(Debug, Parser)]
#[command(name = "punchlist", version, arg_required_else_help = true)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Shows the gate at work, with no account and no network: a session that drifts, the hold, the release
    Demo,
    /// Registers the hook in the client's settings, beside all that is there, and shows the change
    Install(InstallArgs),
    /// Looks whether everything is in place, and tries the gate: a tick or a cross and a next step for each
    Doctor(DoctorArgs),
    /// The decision log: what was decided, why, and what became of it; without a command, lists it
    Log(Box<LogArgs>),
    /// Audits a saved session: the newest one of this project, or the one that is named
    Audit(AuditArgs),
    /// Lets every stop of this project or of one session through, until it is switched on again
    Off(SwitchArgs),
    /// Switches the gate on again
    On(SwitchArgs),
    /// Shows what this project's config asks to run at a stop or to weaken, and allows it
    Allow(AllowArgs),
    /// A list of features and a session that is kept at work until all pass; without a command, shows how it stands
    Loop(LoopArgs),
    /// The registry's tasks: what is to be done, by whom, and what came of it; without a command, lists them
    Tasks(Box<TasksArgs>),
    /// The registry's workers: sessions and shells that do tasks
    #[command(subcommand_required = true, arg_required_else_help = true)]
    Worker {
        #[command(subcommand)]
        command: WorkerCommand,
    },
    /// Gates, sessions, workers, tasks and the newest decisions, on one screen
    Status {
        /// With the newest decisions of every machine of the fleet
        #[arg(long)]
        fleet: bool,
        /// Prints it for programs; docs/registry.md has the fields
        #[arg(long)]
        json: bool,
    },
    /// The database that several machines share: tables, health, decisions that wait to be shipped
    #[command(subcommand_required = true, arg_required_else_help = true)]
    Fleet {
        #[command(subcommand)]
        command: FleetCommand,
    },
    /// The settings: every value with its source, a commented file, a schema, a check; without a command, shows them
    Config(ConfigArgs),
    /// Takes out of the client's settings what install put in, and nothing else
    Uninstall(UninstallArgs),
    /// The Stop hook itself: run by Claude Code, with the hook's JSON on stdin
    Hook(HookArgs),
    /// Audits recorded sessions of which the truth is known, and prints how much was found and how much was wrong
    Eval(Box<EvalArgs>),
    /// Prints what completes commands in your shell
    Completions {
        /// Which shell
        shell: clap_complete::Shell,
    },
    /// Prints the manual page, or writes one for each command into a folder
    Man {
        /// The folder; it is made where it is missing
        #[arg(value_name = "DIR")]
        folder: Option<PathBuf>,
    },
}

#[derive(Debug, PartialEq, Eq, Args)]
pub struct HookArgs {
    /// The timeout with which the hook is registered, in seconds; the readers always end before it
    #[arg(long, value_name = "SECONDS", default_value_t = HOOK_TIMEOUT)]
    pub hook_timeout: u64,
    /// The hook is registered with "asyncRewake": the turn has ended, and only confirmed findings wake the session
    #[arg(long)]
    pub background: bool,
}

#[derive(Debug, Args)]
pub struct AuditArgs {
    /// A transcript's path, or a session's id or the start of one
    #[arg(value_name = "TRANSCRIPT|SESSION-ID")]
    pub session: Option<String>,
    /// Takes this plan, whatever the session did
    #[arg(long, value_name = "FILE")]
    pub plan: Option<PathBuf>,
    /// The workspace; else the session's own folder if it is still there, else the current one
    #[arg(long, value_name = "DIR")]
    pub cwd: Option<PathBuf>,
    /// Whom to ask [default: claude]
    #[arg(long, value_enum)]
    pub auditor: Option<AuditorChoice>,
    /// Prints what would be sent, and asks nobody; with --verdict, what the second reader would be sent
    #[arg(long, conflicts_with = "format")]
    pub show_prompt: bool,
    /// Takes a saved reply (a file, or - for stdin) in place of asking
    #[arg(long, value_name = "FILE", conflicts_with = "auditor")]
    pub verdict: Option<PathBuf>,
    /// With --verdict: a saved answer in place of the second reader's
    #[arg(long, value_name = "FILE", requires = "verdict")]
    pub second_verdict: Option<PathBuf>,
    /// How to print it
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
    /// Every saved session of the project, with nobody asked
    #[arg(long, conflicts_with_all = ["session", "plan", "show_prompt", "verdict"])]
    pub all: bool,
    /// Every saved session of every project, with nobody asked
    #[arg(long, conflicts_with_all = ["session", "plan", "show_prompt", "verdict", "all", "cwd"])]
    pub all_projects: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum AuditorChoice {
    /// The client, with the model of the config
    Claude,
    /// Nobody: disk and session alone
    None,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For a terminal
    Text,
    /// For programs; docs/audit-json.md has the fields
    Json,
    /// For a comment on a pull request
    Markdown,
    /// For code scanning
    Sarif,
}

#[derive(Debug, Args)]
pub struct DoctorArgs {
    /// Asks the model one tiny question as well, through the sealed client
    #[arg(long)]
    pub audit: bool,
    /// Prints it for programs
    #[arg(long)]
    pub json: bool,
}

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
    pub fn scope(&self) -> Scope {
        match (self.user, self.project) {
            (true, _) => Scope::User,
            (_, true) => Scope::Project,
            _ => Scope::Local,
        }
    }
}

#[derive(Debug, Args)]
pub struct InstallArgs {
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

#[derive(Debug, Args)]
pub struct UninstallArgs {
    #[command(flatten)]
    pub scope: ScopeArgs,
    /// Shows what would be changed, and changes nothing
    #[arg(long)]
    pub dry_run: bool,
}

#[derive(Debug, Args)]
pub struct AllowArgs {
    /// Does not ask
    #[arg(long, conflicts_with = "revoke")]
    pub yes: bool,
    /// Takes back what was allowed
    #[arg(long)]
    pub revoke: bool,
}

#[derive(Debug, Args)]
pub struct SwitchArgs {
    /// One session, by its id or the start of it
    #[arg(long, value_name = "ID", conflicts_with = "project")]
    pub session: Option<String>,
    /// This project (default)
    #[arg(long)]
    pub project: bool,
}

#[derive(Debug, Args)]
pub struct JsonArgs {
    /// Prints it for programs
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
    /// Writes a commented file to begin with; one that is there already is left as it is
    Init(InitArgs),
    /// Prints the JSON schema of a config file: editors complete and check by it
    Schema,
    /// Says what is wrong with the config files, with line and column
    Check {
        /// This file; else your own and this project's. One that is called punchlist.toml is held to what a project may set
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
                // What stands behind two spaces is said of the example.
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
