//! `punchlist worker`: registers and lists workers. The registry decides, `render` formats.

use serde_json::json;

use super::Result;
use super::output::{print, print_json, terminal_width};
use super::tasks::{claim, open, print_value, project, worker_name};
use crate::cli::tasks::{AWorkerArgs, ClaimArgs, RegisterArgs, WaitArgs, WhoArgs, WorkerCommand};
use crate::client::env_vars;
use crate::config::Config;
use crate::env::{self, Env};
use crate::exit;
use crate::fleet::machine_name;
use crate::registry::{NewWorker, Registry, Status, TaskFilter, json as registry_json};
use crate::render;
use crate::text::time_span;

pub(super) fn run(command: &WorkerCommand, config: &Config, env: &Env) -> Result {
    // Before anything is opened: a server that is away may come back within the wait.
    if let WorkerCommand::Wait(args) = command {
        return wait(args, config, env);
    }
    let registry = &mut open(config, env)?;
    match command {
        WorkerCommand::Register(args) => register(args, config, env, registry),
        WorkerCommand::Heartbeat(args) => heartbeat(args, env, registry),
        WorkerCommand::Wait(_) => Ok(exit::OK),
        WorkerCommand::List { json } => list(*json, registry),
        WorkerCommand::Leave(args) => leave(args, env, registry),
    }
}

fn register(args: &RegisterArgs, config: &Config, env: &Env, registry: &mut Registry) -> Result {
    let new = NewWorker {
        name: args.name.clone().or_else(|| env.text(env::WORKER)),
        kind: args.kind.clone(),
        queue: args.queue.clone(),
        session: args.session.clone().or_else(|| env.text(env_vars::SESSION_ID)),
        project: Some(project(config, env)),
        machine: config.fleet.database.as_ref().map(|_| machine_name(&config.fleet)),
        take_over: args.take_over,
    };
    let worker = registry.register(&new)?;
    if args.json {
        return print_value("worker", registry_json::worker(&worker, registry.now_ms()));
    }
    let mut text =
        format!("You are worker {}, of kind {}, in the queue {}.\n", worker.name, worker.kind, worker.queue);
    text.push_str("`punchlist tasks claim` gives you the next task, `punchlist worker leave` ends it.\n");
    match (&worker.session, config.worker.keep_alive) {
        (Some(_), true) => text.push_str(&format!(
            "This session is kept working for {} without a task.\n",
            time_span(config.worker.idle_ms(&worker.kind))
        )),
        (None, true) => text.push_str(
            "No session is bound to it: start the session with PUNCHLIST_WORKER set to this name, and it is kept working.\n",
        ),
        (_, false) => {}
    }
    print(&text)
}

fn heartbeat(args: &AWorkerArgs, env: &Env, registry: &mut Registry) -> Result {
    let name = worker_name(args.name.as_deref(), env, registry)?;
    let worker = registry.heartbeat(&name)?;
    if args.json {
        return print_value("worker", registry_json::worker(&worker, registry.now_ms()));
    }
    print(&format!("{name} is alive.\n"))
}

/// Gives the worker its next task as soon as there is one.
fn wait(args: &WaitArgs, config: &Config, env: &Env) -> Result {
    let claiming = ClaimArgs {
        id: None,
        queue: None,
        all_projects: args.all_projects,
        wait: Some(args.timeout),
        who: WhoArgs { worker: args.name.clone() },
        json: args.json,
    };
    claim(&claiming, config, env)
}

fn list(as_json: bool, registry: &mut Registry) -> Result {
    registry.expire()?;
    let workers = registry.workers()?;
    let now = registry.now_ms();
    if as_json {
        let workers: Vec<_> = workers.iter().map(|worker| registry_json::worker(worker, now)).collect();
        return print_value("workers", workers);
    }
    if workers.is_empty() {
        return print("No worker. `punchlist worker register` makes this session one.\n");
    }
    let in_hand = registry.tasks(&TaskFilter {
        statuses: vec![Status::Assigned, Status::Accepted, Status::InProgress],
        ..TaskFilter::default()
    })?;
    let count = |name: &str| in_hand.iter().filter(|task| task.assignee.as_deref() == Some(name)).count();
    print(&render::registry::workers(&workers, count, now, terminal_width(), 0))
}

fn leave(args: &AWorkerArgs, env: &Env, registry: &mut Registry) -> Result {
    let name = worker_name(args.name.as_deref(), env, registry)?;
    let returned = registry.leave(&name)?;
    let ids: Vec<String> = returned.iter().map(ToString::to_string).collect();
    if args.json {
        let value = json!({ "schema": registry_json::SCHEMA, "worker": null, "left": name, "returned": ids });
        return print_json(&value);
    }
    let back = if ids.is_empty() { String::new() } else { format!(" Open again: {}.", ids.join(", ")) };
    print(&format!("{name} has left.{back}\n"))
}
