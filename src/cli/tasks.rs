//! The arguments of `tasks` and `worker`. Must not look at the registry.

use std::time::Duration;

use clap::{Args, Subcommand};

use crate::config::parse_duration;
use crate::registry::{Status, TaskId};

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct TasksArgs {
    #[command(subcommand)]
    pub command: Option<TasksCommand>,
    #[command(flatten)]
    pub list: ListTasksArgs,
}

#[derive(Debug, Subcommand)]
pub enum TasksCommand {
    /// Adds a task
    Add(AddArgs),
    /// Lists this project's tasks that are not over, oldest first
    List(ListTasksArgs),
    /// Shows one task, and what happened to it
    Show(ShowTaskArgs),
    /// Takes the next task, or the one that is named; no two workers ever get the same
    Claim(ClaimArgs),
    /// Says that you are at your task now
    Start(OwnTaskArgs),
    /// Finishes a task of yours
    Complete(OwnTaskArgs),
    /// Gives a task of yours up, and says why
    Fail(FailArgs),
    /// Gives a task of yours back: it is open again
    Release(OwnTaskArgs),
    /// Gives an open task to a worker
    Assign(AssignArgs),
    /// Opens a task again that is failed or dead, with all its tries
    Retry(ShowTaskArgs),
    /// What the pending-tasks gate would say to a stop of this session now
    Check(CheckTasksArgs),
}

#[derive(Debug, Args)]
pub struct AddArgs {
    /// The task, in a line
    pub title: String,
    /// All there is to say of it; - takes it from stdin
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub body: Option<String>,
    /// Which queue [default: default]
    #[arg(long, value_name = "NAME")]
    pub queue: Option<String>,
    /// Higher comes first
    #[arg(long, value_name = "NUMBER", default_value_t = 0, allow_negative_numbers = true)]
    pub priority: i64,
    /// Gives it to this worker at once
    #[arg(long, value_name = "WORKER")]
    pub assign: Option<String>,
    /// It belongs to no project: workers of every one may take it
    #[arg(long)]
    pub anywhere: bool,
    /// It can be taken once these are completed: t3, or t3,t5
    #[arg(long, value_name = "ID", value_delimiter = ',')]
    pub after: Vec<TaskId>,
    /// How often it is tried again when it fails or its worker goes silent; then it is dead
    #[arg(long, value_name = "NUMBER")]
    pub retries: Option<u32>,
    /// Prints it for programs; docs/registry.md has the fields
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag")]
pub struct ListTasksArgs {
    /// Those that are over, too
    #[arg(long)]
    pub all: bool,
    /// Only those that stand so
    #[arg(long, value_enum, value_delimiter = ',', value_name = "STATUS")]
    pub status: Vec<Status>,
    /// Only those of this queue
    #[arg(long, value_name = "NAME")]
    pub queue: Option<String>,
    /// Only those of this worker
    #[arg(long, value_name = "NAME")]
    pub worker: Option<String>,
    /// Only your own
    #[arg(long, conflicts_with = "worker")]
    pub mine: bool,
    /// Those of every project
    #[arg(long)]
    pub all_projects: bool,
    /// Prints them for programs; docs/registry.md has the fields
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct ShowTaskArgs {
    /// Which: t7, or 7
    pub id: TaskId,
    /// Prints it for programs; docs/registry.md has the fields
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct WhoArgs {
    /// Who you are; else `PUNCHLIST_WORKER`, else the worker that this session registered
    #[arg(long, value_name = "NAME")]
    pub worker: Option<String>,
}

#[derive(Debug, Args)]
pub struct ClaimArgs {
    /// This one; else the next that was given to you, else the next open one
    pub id: Option<TaskId>,
    /// Of this queue [default: the one you registered for]
    #[arg(long, value_name = "NAME")]
    pub queue: Option<String>,
    /// Of any project
    #[arg(long)]
    pub all_projects: bool,
    /// Where there is none, waits so long for one, such as 60s
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    pub wait: Option<Duration>,
    #[command(flatten)]
    pub who: WhoArgs,
    /// Prints it for programs; docs/registry.md has the fields
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct OwnTaskArgs {
    /// Which: t7, or 7
    pub id: TaskId,
    /// What came of it, or why
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub note: Option<String>,
    #[command(flatten)]
    pub who: WhoArgs,
    /// Prints it for programs; docs/registry.md has the fields
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct FailArgs {
    /// Which: t7, or 7
    pub id: TaskId,
    /// Why
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub note: String,
    #[command(flatten)]
    pub who: WhoArgs,
    /// Prints it for programs; docs/registry.md has the fields
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct AssignArgs {
    /// Which: t7, or 7
    pub id: TaskId,
    /// To whom; it need not be registered yet
    pub worker: String,
    /// Prints it for programs; docs/registry.md has the fields
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct CheckTasksArgs {
    /// For this session [default: the one that runs this]
    #[arg(long, value_name = "ID")]
    pub session: Option<String>,
    #[command(flatten)]
    pub who: WhoArgs,
    /// Prints it for programs; docs/registry.md has the fields
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Subcommand)]
pub enum WorkerCommand {
    /// Registers this session, or this shell, as a worker
    Register(RegisterArgs),
    /// Says that a worker is still there
    Heartbeat(AWorkerArgs),
    /// Waits for the next task, and takes it the moment it is there
    Wait(WaitArgs),
    /// Lists the workers; those that were heard of in the last two minutes are alive
    List {
        /// Prints them for programs; docs/registry.md has the fields
        #[arg(long)]
        json: bool,
    },
    /// Ends it: what it has in hand is open again, and nobody is kept at work for it
    Leave(AWorkerArgs),
}

#[derive(Debug, Args)]
pub struct RegisterArgs {
    /// Its name [default: `PUNCHLIST_WORKER`, else the next free one: w1, w2 …]
    pub name: Option<String>,
    /// What sort of worker; settings may go by it [default: worker]
    #[arg(long, value_name = "NAME")]
    pub kind: Option<String>,
    /// Where it looks for tasks [default: default]
    #[arg(long, value_name = "NAME")]
    pub queue: Option<String>,
    /// The session that it is [default: the one that runs this]
    #[arg(long, value_name = "ID")]
    pub session: Option<String>,
    /// Takes the name even from a session that was heard of a moment ago
    #[arg(long)]
    pub take_over: bool,
    /// Prints it for programs; docs/registry.md has the fields
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct WaitArgs {
    /// Which; else `PUNCHLIST_WORKER`, else the worker that this session registered
    #[arg(value_name = "NAME")]
    pub name: Option<String>,
    /// The longest that it waits
    #[arg(long, value_name = "TIME", value_parser = parse_duration, default_value = "60s")]
    pub timeout: Duration,
    /// For tasks of any project
    #[arg(long)]
    pub all_projects: bool,
    /// Prints the task for programs; docs/registry.md has the fields
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct AWorkerArgs {
    /// Which; else `PUNCHLIST_WORKER`, else the worker that this session registered
    #[arg(value_name = "NAME")]
    pub name: Option<String>,
    /// Prints it for programs; docs/registry.md has the fields
    #[arg(long)]
    pub json: bool,
}
