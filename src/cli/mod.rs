//! The command line: takes arguments, gives what is asked for. Must not exit by itself: clap's own error exit
//! is 2, which to a Stop hook means "block".

pub mod config;
pub mod eval;
pub mod help;
pub mod log;
pub mod loops;
pub mod setup;
pub mod tasks;

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::client::settings::registration::HOOK_TIMEOUT;

pub use config::{ConfigArgs, ConfigCommand};
pub use eval::{EvalArgs, EvalCommand};
pub use log::{LogArgs, LogCommand};
pub use loops::{LoopArgs, LoopCommand};
pub use setup::{AllowArgs, InstallArgs, SwitchArgs, UninstallArgs};
pub use tasks::{TasksArgs, TasksCommand, WorkerCommand};

/// A Stop hook for Claude Code: compares the plan, the session and the disk before an agent may say done.
#[derive(Debug, Parser)]
#[command(name = "punchlist", version, arg_required_else_help = true, after_help = help::PROGRAM)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// What punchlist can do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Shows the gate at work, with no account and no network: a session that drifts, the hold, the release
    #[command(after_help = help::DEMO)]
    Demo,
    /// Registers the hook in the client's settings, beside all that is there, and shows the change
    #[command(after_help = help::INSTALL)]
    Install(InstallArgs),
    /// Looks whether everything is in place, and tries the gate: a tick or a cross and a next step for each
    #[command(after_help = help::DOCTOR)]
    Doctor(DoctorArgs),
    /// The decision log: what was decided, why, and what became of it; without a command, lists it
    #[command(after_help = help::LOG)]
    Log(Box<LogArgs>),
    /// Audits a saved session: the newest one of this project, or the one that is named
    #[command(after_help = help::AUDIT)]
    Audit(AuditArgs),
    /// Lets every stop of this project or of one session through, until it is switched on again
    #[command(after_help = help::OFF)]
    Off(SwitchArgs),
    /// Switches the gate on again
    #[command(after_help = help::ON)]
    On(SwitchArgs),
    /// Shows what this project's config asks to run at a stop, and allows it
    #[command(after_help = help::ALLOW)]
    Allow(AllowArgs),
    /// A list of features and a session that is kept at work until all pass; without a command, shows how it stands
    #[command(after_help = help::LOOP)]
    Loop(LoopArgs),
    /// The registry's tasks: what is to be done, by whom, and what came of it; without a command, lists them
    #[command(after_help = help::TASKS)]
    Tasks(Box<TasksArgs>),
    /// The registry's workers: sessions and shells that do tasks
    #[command(after_help = help::WORKER, subcommand_required = true, arg_required_else_help = true)]
    Worker {
        /// What to do.
        #[command(subcommand)]
        command: WorkerCommand,
    },
    /// Gates, sessions, workers, tasks and the newest decisions, on one screen
    #[command(after_help = help::STATUS)]
    Status {
        /// Prints it for programs; docs/registry.md has the fields
        #[arg(long)]
        json: bool,
    },
    /// The settings: every value with its source, a commented file, a schema, a check; without a command, shows them
    #[command(after_help = help::CONFIG)]
    Config(ConfigArgs),
    /// Takes out of the client's settings what install put in, and nothing else
    #[command(after_help = help::UNINSTALL)]
    Uninstall(UninstallArgs),
    /// The Stop hook itself: run by Claude Code, with the hook's JSON on stdin
    #[command(after_help = help::HOOK)]
    Hook(HookArgs),
    /// Audits recorded sessions of which the truth is known, and prints how much was found and how much was wrong
    #[command(after_help = help::EVAL)]
    Eval(Box<EvalArgs>),
    /// Prints what completes commands in your shell
    #[command(after_help = help::COMPLETIONS)]
    Completions {
        /// Which shell
        shell: clap_complete::Shell,
    },
    /// Prints the manual page, or writes one for each command into a folder
    #[command(after_help = help::MAN)]
    Man {
        /// The folder; it is made where it is missing
        #[arg(value_name = "DIR")]
        folder: Option<PathBuf>,
    },
}

/// Arguments of `hook`.
#[derive(Debug, PartialEq, Eq, Args)]
pub struct HookArgs {
    /// The timeout with which the hook is registered, in seconds; the readers always end before it
    #[arg(long, value_name = "SECONDS", default_value_t = HOOK_TIMEOUT)]
    pub hook_timeout: u64,
    /// The hook is registered with "asyncRewake": the turn has ended, and only confirmed findings wake the session
    #[arg(long)]
    pub background: bool,
}

impl HookArgs {
    /// The arguments of `hook` as it is registered, the program's own name first: a stop has no time for the whole
    /// parser. `None` is for everything else, right or wrong, and for the parser to say.
    pub fn as_registered(args: &[OsString]) -> Option<Self> {
        let words: Vec<&str> = args.iter().skip(1).map(|arg| arg.to_str()).collect::<Option<_>>()?;
        let (seconds, background) = match words[..] {
            ["hook"] => return Some(Self { hook_timeout: HOOK_TIMEOUT, background: false }),
            ["hook", "--background"] => return Some(Self { hook_timeout: HOOK_TIMEOUT, background: true }),
            ["hook", "--hook-timeout", seconds] => (seconds, false),
            ["hook", "--hook-timeout", seconds, "--background"] => (seconds, true),
            ["hook", flag] => (flag.strip_prefix("--hook-timeout=")?, false),
            _ => return None,
        };
        let is_plain = seconds.bytes().all(|byte| byte.is_ascii_digit());
        seconds.parse().ok().filter(|_| is_plain).map(|hook_timeout| Self { hook_timeout, background })
    }
}

/// Arguments of `audit`.
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

/// Whom `audit` asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum AuditorChoice {
    /// The client, with the model of the config
    Claude,
    /// Nobody: disk and session alone
    None,
}

/// How a report is printed.
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

/// Arguments of `doctor`.
#[derive(Debug, Args)]
pub struct DoctorArgs {
    /// Asks the model one tiny question as well, through the sealed client
    #[arg(long)]
    pub audit: bool,
    /// Prints it for programs
    #[arg(long)]
    pub json: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn both(line: &str) -> (Option<HookArgs>, Option<HookArgs>) {
        let args: Vec<OsString> = line.split(' ').map(Into::into).collect();
        let parsed = match Cli::try_parse_from(&args) {
            Ok(Cli { command: Command::Hook(args) }) => Some(args),
            _ => None,
        };
        (HookArgs::as_registered(&args), parsed)
    }

    #[test]
    fn a_registration_is_read_as_the_parser_reads_it() {
        for (line, seconds) in [
            ("punchlist hook", 120),
            ("punchlist hook --hook-timeout 60", 60),
            ("punchlist hook --hook-timeout=007", 7),
            ("punchlist hook --hook-timeout 18446744073709551615", u64::MAX),
        ] {
            let (short, parsed) = both(line);
            assert_eq!(
                (&short, &short),
                (&parsed, &Some(HookArgs { hook_timeout: seconds, background: false })),
                "{line}"
            );
        }
        for line in ["punchlist hook --background", "punchlist hook --hook-timeout 60 --background"] {
            let (short, parsed) = both(line);
            assert!(short == parsed && short.is_some_and(|args| args.background), "{line}");
        }
    }

    #[test]
    fn everything_else_is_left_to_the_parser() {
        for line in [
            "punchlist",
            "punchlist hook --hook-timeout",
            "punchlist hook --hook-timeout soon",
            "punchlist hook --hook-timeout=",
            "punchlist hook --hook-timeout 18446744073709551616",
            "punchlist hook --hook-timeout +5",
            "punchlist hook --help",
            "punchlist hook extra",
            "punchlist hook --background --background",
            "punchlist hook extra --background",
            "punchlist hook --hook-timeout 1 --hook-timeout 2",
            "punchlist log list",
        ] {
            assert_eq!(both(line).0, None, "{line}");
        }
    }
}
