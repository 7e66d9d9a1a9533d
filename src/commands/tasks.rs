//! `punchlist tasks`: adds, shows, claims and finishes tasks. The registry decides, `render` formats.

use std::io::{self, IsTerminal, Read};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::registry::{now_ms, open, project, worker_name};
use super::say::{say, say_json, terminal_width, width};
use super::{check_tasks, complain};
use crate::cli::tasks::{AddArgs, AssignArgs, ClaimArgs, ListTasksArgs, ShowTaskArgs};
use crate::cli::{TasksArgs, TasksCommand};
use crate::config::Config;
use crate::env::Env;
use crate::exit;
use crate::registry::{
    ClaimRequest, DEFAULT_QUEUE, NewTask, Registry, RegistryError, Status, Task, TaskFilter,
    json as registry_json,
};
use crate::render;

/// How often `claim --wait` looks for a task.
const POLL: Duration = Duration::from_millis(500);

const MAX_BODY: u64 = 1 << 20;

/// Runs `punchlist tasks`.
pub fn run(args: &TasksArgs, config: &Config, env: &Env) -> u8 {
    if let Some(TasksCommand::Check(args)) = &args.command {
        return check_tasks::run(args, config, env);
    }
    let result = open(env).and_then(|mut registry| {
        let registry = &mut registry;
        match &args.command {
            None => list(&args.list, config, env, registry),
            Some(TasksCommand::List(args)) => list(args, config, env, registry),
            Some(TasksCommand::Add(args)) => add(args, env, registry),
            Some(TasksCommand::Show(args)) => show(args, config, registry),
            Some(TasksCommand::Claim(args)) => claim(args, config, env, registry),
            Some(TasksCommand::Assign(args)) => assign(args, registry),
            Some(TasksCommand::Start(args)) => {
                let me = worker_name(args.who.worker.as_deref(), env, registry)?;
                Ok(print_task(
                    &registry.set(&me, args.id, Status::InProgress, None, now_ms())?,
                    "You are at it",
                    args.json,
                ))
            }
            Some(TasksCommand::Complete(args)) => {
                let me = worker_name(args.who.worker.as_deref(), env, registry)?;
                let task = registry.set(&me, args.id, Status::Completed, args.note.as_deref(), now_ms())?;
                Ok(print_task(&task, "Completed", args.json))
            }
            Some(TasksCommand::Fail(args)) => {
                let me = worker_name(args.who.worker.as_deref(), env, registry)?;
                Ok(print_task(
                    &registry.set(&me, args.id, Status::Failed, Some(&args.note), now_ms())?,
                    "Given up",
                    args.json,
                ))
            }
            Some(TasksCommand::Release(args)) => {
                let me = worker_name(args.who.worker.as_deref(), env, registry)?;
                let task = registry.set(&me, args.id, Status::Open, args.note.as_deref(), now_ms())?;
                Ok(print_task(&task, "Open again", args.json))
            }
            Some(TasksCommand::Check(_)) => Ok(exit::OK),
        }
    });
    result.unwrap_or_else(|error| {
        complain(&error.to_string());
        exit::FAILED
    })
}

/// Prints a task after a change.
fn print_task(task: &Task, what: &str, json: bool) -> u8 {
    if json {
        return say_json(
            &json!({ "schema": registry_json::SCHEMA, "task": registry_json::task(task) }),
            exit::OK,
        );
    }
    say(&format!("{what}: {} {}\n", task.id, crate::text::harmless(&task.title)), exit::OK)
}

fn add(args: &AddArgs, env: &Env, registry: &mut Registry) -> Result<u8, RegistryError> {
    let title = args.title.split_whitespace().collect::<Vec<_>>().join(" ");
    if title.is_empty() {
        complain("a task needs a title: `punchlist tasks add \"Mend the gate\"`");
        return Ok(exit::FAILED);
    }
    let body = match args.body.as_deref() {
        Some("-") => match read_stdin() {
            Ok(body) => body,
            Err(error) => {
                complain(&format!("stdin: {error}"));
                return Ok(exit::FAILED);
            }
        },
        body => body.unwrap_or_default().to_owned(),
    };
    let new = NewTask {
        title,
        body,
        queue: args.queue.clone().unwrap_or_else(|| DEFAULT_QUEUE.to_owned()),
        project: (!args.anywhere).then(|| project(env)),
        priority: args.priority,
        assignee: args.assign.clone(),
    };
    Ok(print_task(&registry.add(&new, now_ms())?, "Added", args.json))
}

fn read_stdin() -> io::Result<String> {
    let mut body = String::new();
    if !io::stdin().is_terminal() {
        io::stdin().lock().take(MAX_BODY).read_to_string(&mut body)?;
    }
    Ok(body.trim_end().to_owned())
}

fn list(
    args: &ListTasksArgs,
    config: &Config,
    env: &Env,
    registry: &mut Registry,
) -> Result<u8, RegistryError> {
    let now = now_ms();
    registry.expire(now, config.worker.lease_ms())?;
    let unfinished = || Status::ALL.into_iter().filter(|status| !status.is_over()).collect();
    let assignee = if args.mine { Some(worker_name(None, env, registry)?) } else { args.worker.clone() };
    let wanted = TaskFilter {
        statuses: match (&args.status[..], args.all) {
            ([], false) => unfinished(),
            (statuses, _) => statuses.to_vec(),
        },
        queue: args.queue.clone(),
        project: (!args.all_projects && assignee.is_none()).then(|| project(env)),
        assignee,
    };
    let tasks = registry.tasks(&wanted)?;
    if args.json {
        let tasks: Vec<Value> = tasks.iter().map(registry_json::task).collect();
        return Ok(say_json(&json!({ "schema": registry_json::SCHEMA, "tasks": tasks }), exit::OK));
    }
    if tasks.is_empty() {
        let counts = registry.counts(None)?;
        let more = if counts.is_empty() {
            "`punchlist tasks add TITLE` adds one."
        } else {
            "`--all` shows those that are over, `--all-projects` those of every project."
        };
        return Ok(say(&format!("No task. {more}\n"), exit::OK));
    }
    Ok(say(&render::registry::tasks(&tasks, args.all_projects, now, terminal_width()), exit::OK))
}

fn show(args: &ShowTaskArgs, config: &Config, registry: &mut Registry) -> Result<u8, RegistryError> {
    let now = now_ms();
    registry.expire(now, config.worker.lease_ms())?;
    let (task, events) = (registry.task(args.id)?, registry.history(args.id)?);
    if args.json {
        let mut value = registry_json::task(&task);
        value["history"] = events.iter().map(registry_json::event).collect();
        return Ok(say_json(&json!({ "schema": registry_json::SCHEMA, "task": value }), exit::OK));
    }
    Ok(say(&render::registry::task(&task, &events, now, width()), exit::OK))
}

fn claim(args: &ClaimArgs, config: &Config, env: &Env, registry: &mut Registry) -> Result<u8, RegistryError> {
    let me = worker_name(args.who.worker.as_deref(), env, registry)?;
    let here = project(env);
    let choice = ClaimRequest {
        id: args.id,
        queue: args.queue.as_deref(),
        project: (!args.all_projects).then_some(here.as_path()),
    };
    let begun = Instant::now();
    let task = loop {
        let task = registry.claim(&me, choice, now_ms(), config.worker.lease_ms())?;
        let left = args.wait.unwrap_or_default().saturating_sub(begun.elapsed());
        if task.is_some() || left.is_zero() {
            break task;
        }
        std::thread::sleep(POLL.min(left));
    };
    if args.json {
        let task = task.as_ref().map(registry_json::task);
        return Ok(say_json(&json!({ "schema": registry_json::SCHEMA, "task": task }), exit::OK));
    }
    let Some(task) = task else {
        let queue = args.queue.clone().map_or_else(|| registry.worker(&me).map(|worker| worker.queue), Ok)?;
        let place = if args.all_projects { "any project" } else { "this project" };
        return Ok(say(&format!("No open task in the queue {queue} of {place}.\n"), exit::OK));
    };
    let mut text = format!("{}  {}\n", task.id, crate::text::harmless(&task.title));
    if !task.body.is_empty() {
        text.push_str(&format!("\n{}\n", crate::text::harmless(&task.body).trim_end()));
    }
    let by = args.who.worker.as_ref().map(|name| format!(" --worker {name}")).unwrap_or_default();
    text.push_str(&format!(
        "\nIt is yours. When it is done: `punchlist tasks complete {0}{by}`. If it can't be done: `punchlist tasks fail {0}{by} --note WHY`, \
         or `punchlist tasks release {0}{by}` for somebody else.\n",
        task.id
    ));
    Ok(say(&text, exit::OK))
}

fn assign(args: &AssignArgs, registry: &mut Registry) -> Result<u8, RegistryError> {
    let task = registry.assign(args.id, &args.worker, now_ms())?;
    Ok(print_task(&task, &format!("Given to {}", args.worker), args.json))
}
