//! `punchlist worker`: registers and lists workers. The registry decides, `render` formats.

use serde_json::{Value, json};

use super::complain;
use super::registry::{now_ms, open, project, session, worker_name};
use super::say::{say, say_json, terminal_width};
use crate::cli::WorkerCommand;
use crate::cli::tasks::{AWorkerArgs, ListWorkersArgs, RegisterArgs};
use crate::config::Config;
use crate::env::{self, Env};
use crate::exit;
use crate::registry::{
    NewWorker, Registry, RegistryError, Status, TaskFilter, Worker, json as registry_json,
};
use crate::render;
use crate::text::time_span;

/// Runs `punchlist worker`.
pub fn run(command: &WorkerCommand, config: &Config, env: &Env) -> u8 {
    let result = open(env).and_then(|mut registry| match command {
        WorkerCommand::Register(args) => register(args, config, env, &mut registry),
        WorkerCommand::Heartbeat(args) => heartbeat(args, env, &mut registry),
        WorkerCommand::List(args) => list(args, config, &mut registry),
        WorkerCommand::Leave(args) => leave(args, env, &mut registry),
    });
    result.unwrap_or_else(|error| {
        complain(&error.to_string());
        exit::FAILED
    })
}

fn to_json(worker: &Worker, now: i64) -> Value {
    json!({ "schema": registry_json::SCHEMA, "worker": registry_json::worker(worker, now) })
}

fn register(
    args: &RegisterArgs,
    config: &Config,
    env: &Env,
    registry: &mut Registry,
) -> Result<u8, RegistryError> {
    let now = now_ms();
    let new = NewWorker {
        name: args.name.clone().or_else(|| env.text(env::WORKER)),
        kind: args.kind.clone(),
        queue: args.queue.clone(),
        session: args.session.clone().or_else(|| session(env)),
        project: Some(project(env)),
        take_over: args.take_over,
    };
    let worker = registry.register(&new, now)?;
    if args.json {
        return Ok(say_json(&to_json(&worker, now), exit::OK));
    }
    let mut text =
        format!("You are worker {}, of kind {}, in the queue {}.\n", worker.name, worker.kind, worker.queue);
    text.push_str("`punchlist tasks claim` gives you the next task, `punchlist worker leave` ends it.\n");
    match (&worker.session, config.worker.keep_alive) {
        (Some(_), true) => text.push_str(&format!(
            "This session is kept at work for {} without a task.\n",
            time_span(config.worker.idle_ms(&worker.kind))
        )),
        (None, true) => text.push_str(
            "No session is bound to it: start the session with PUNCHLIST_WORKER set to this name, and it is kept at work.\n",
        ),
        (_, false) => {}
    }
    Ok(say(&text, exit::OK))
}

fn heartbeat(args: &AWorkerArgs, env: &Env, registry: &mut Registry) -> Result<u8, RegistryError> {
    let now = now_ms();
    let name = worker_name(args.name.as_deref(), env, registry)?;
    let worker = registry.heartbeat(&name, now)?;
    if args.json {
        return Ok(say_json(&to_json(&worker, now), exit::OK));
    }
    Ok(say(&format!("{name} is alive.\n"), exit::OK))
}

fn list(args: &ListWorkersArgs, config: &Config, registry: &mut Registry) -> Result<u8, RegistryError> {
    let now = now_ms();
    registry.expire(now, config.worker.lease_ms())?;
    let workers = registry.workers()?;
    if args.json {
        let workers: Vec<_> = workers.iter().map(|worker| registry_json::worker(worker, now)).collect();
        return Ok(say_json(&json!({ "schema": registry_json::SCHEMA, "workers": workers }), exit::OK));
    }
    if workers.is_empty() {
        return Ok(say("No worker. `punchlist worker register` makes this session one.\n", exit::OK));
    }
    let in_hand = registry.tasks(&TaskFilter {
        statuses: vec![Status::Assigned, Status::Accepted, Status::InProgress],
        ..TaskFilter::default()
    })?;
    let count = |name: &str| in_hand.iter().filter(|task| task.assignee.as_deref() == Some(name)).count();
    Ok(say(&render::registry::workers(&workers, count, now, terminal_width(), 0), exit::OK))
}

fn leave(args: &AWorkerArgs, env: &Env, registry: &mut Registry) -> Result<u8, RegistryError> {
    let name = worker_name(args.name.as_deref(), env, registry)?;
    let returned = registry.leave(&name, now_ms())?;
    let ids: Vec<String> = returned.iter().map(ToString::to_string).collect();
    if args.json {
        let value = json!({ "schema": registry_json::SCHEMA, "worker": null, "left": name, "returned": ids });
        return Ok(say_json(&value, exit::OK));
    }
    let back = if ids.is_empty() { String::new() } else { format!(" Open again: {}.", ids.join(", ")) };
    Ok(say(&format!("{name} has left.{back}\n"), exit::OK))
}
