//! The arguments of `tasks` and `worker`. Must not read the registry.

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
    /// Shows one task, and its history
    Show(ShowTaskArgs),
    /// Takes the next task, or the one you name; no two workers ever get the same one
    Claim(ClaimArgs),
    /// Marks your task as started
    Start(OwnTaskArgs),
    /// Marks a task of yours as completed
    Complete(OwnTaskArgs),
    /// Marks a task of yours as failed, and says why
    Fail(FailArgs),
    /// Gives a task of yours back: it becomes open again
    Release(OwnTaskArgs),
    /// Gives an open task to a worker
    Assign(AssignArgs),
    /// Reopens a failed or dead task, with all its retries
    Retry(ShowTaskArgs),
    /// Shows what the pending-tasks gate would say to a stop of this session now
    Check(CheckTasksArgs),
}

#[derive(Debug, Args)]
pub struct AddArgs {
    /// The task, on one line
    pub title: String,
    /// Its description; - reads it from stdin
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub body: Option<String>,
    /// Its queue [default: default]
    #[arg(long, value_name = "NAME")]
    pub queue: Option<String>,
    /// Tasks with a higher priority come first
    #[arg(long, value_name = "NUMBER", default_value_t = 0, allow_negative_numbers = true)]
    pub priority: i64,
    /// Assigns it to this worker at once
    #[arg(long, value_name = "WORKER")]
    pub assign: Option<String>,
    /// It belongs to no project: workers of any project may take it
    #[arg(long)]
    pub anywhere: bool,
    /// It can only be taken when these are completed: t3, or t3,t5
    #[arg(long, value_name = "ID", value_delimiter = ',')]
    pub after: Vec<TaskId>,
    /// How often it is retried when it fails or its worker goes silent, before it is dead
    #[arg(long, value_name = "NUMBER")]
    pub retries: Option<u32>,
    /// Prints JSON; docs/registry.md describes the fields
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag")]
pub struct ListTasksArgs {
    /// Includes those that are over
    #[arg(long)]
    pub all: bool,
    /// Only those with this status
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
    /// Tasks of every project
    #[arg(long)]
    pub all_projects: bool,
    /// Prints JSON; docs/registry.md describes the fields
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct ShowTaskArgs {
    /// The task: t7, or 7
    pub id: TaskId,
    /// Prints JSON; docs/registry.md describes the fields
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct WhoArgs {
    /// Your worker name [default: `PUNCHLIST_WORKER`, else the worker that this session registered]
    #[arg(long, value_name = "NAME")]
    pub worker: Option<String>,
}

#[derive(Debug, Args)]
pub struct ClaimArgs {
    /// The task [default: the next one assigned to you, else the next open one]
    pub id: Option<TaskId>,
    /// Only of this queue [default: the one you registered for]
    #[arg(long, value_name = "NAME")]
    pub queue: Option<String>,
    /// Of any project
    #[arg(long)]
    pub all_projects: bool,
    /// If there is none, waits this long for one, such as 60s
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    pub wait: Option<Duration>,
    #[command(flatten)]
    pub who: WhoArgs,
    /// Prints JSON; docs/registry.md describes the fields
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct OwnTaskArgs {
    /// The task: t7, or 7
    pub id: TaskId,
    /// The result, or the reason
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub note: Option<String>,
    #[command(flatten)]
    pub who: WhoArgs,
    /// Prints JSON; docs/registry.md describes the fields
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct FailArgs {
    /// The task: t7, or 7
    pub id: TaskId,
    /// The reason
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub note: String,
    #[command(flatten)]
    pub who: WhoArgs,
    /// Prints JSON; docs/registry.md describes the fields
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct AssignArgs {
    /// The task: t7, or 7
    pub id: TaskId,
    /// The worker; it need not be registered yet
    pub worker: String,
    /// Prints JSON; docs/registry.md describes the fields
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
    /// Prints JSON; docs/registry.md describes the fields
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Subcommand)]
pub enum WorkerCommand {
    /// Registers this session, or this shell, as a worker
    Register(RegisterArgs),
    /// Reports that a worker is still alive
    Heartbeat(AWorkerArgs),
    /// Waits for the next task, and takes it as soon as there is one
    Wait(WaitArgs),
    /// Lists the workers; those heard from in the last two minutes are alive
    List {
        /// Prints JSON; docs/registry.md describes the fields
        #[arg(long)]
        json: bool,
    },
    /// Ends a worker: its tasks become open again, and no stop is blocked for them
    Leave(AWorkerArgs),
}

#[derive(Debug, Args)]
pub struct RegisterArgs {
    /// Its name [default: `PUNCHLIST_WORKER`, else the next free one: w1, w2 …]
    pub name: Option<String>,
    /// Its kind, which the config can refer to [default: worker]
    #[arg(long, value_name = "NAME")]
    pub kind: Option<String>,
    /// The queue it takes tasks from [default: default]
    #[arg(long, value_name = "NAME")]
    pub queue: Option<String>,
    /// Its session [default: the one that runs this]
    #[arg(long, value_name = "ID")]
    pub session: Option<String>,
    /// Takes the name even from a session that was heard from a moment ago
    #[arg(long)]
    pub take_over: bool,
    /// Prints JSON; docs/registry.md describes the fields
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct WaitArgs {
    /// The worker [default: `PUNCHLIST_WORKER`, else the one that this session registered]
    #[arg(value_name = "NAME")]
    pub name: Option<String>,
    /// How long to wait at most
    #[arg(long, value_name = "TIME", value_parser = parse_duration, default_value = "60s")]
    pub timeout: Duration,
    /// Includes tasks of any project
    #[arg(long)]
    pub all_projects: bool,
    /// Prints the task as JSON; docs/registry.md describes the fields
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct AWorkerArgs {
    /// The worker [default: `PUNCHLIST_WORKER`, else the one that this session registered]
    #[arg(value_name = "NAME")]
    pub name: Option<String>,
    /// Prints JSON; docs/registry.md describes the fields
    #[arg(long)]
    pub json: bool,
}
