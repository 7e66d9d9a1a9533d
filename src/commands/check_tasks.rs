//! `punchlist tasks check`: what the pending-tasks gate would say now. Holds nobody and counts nothing.

use std::time::{Duration, Instant};

use serde_json::json;

use super::registry::{now_ms, session};
use super::say::{say, say_json};
use crate::cli::tasks::CheckTasksArgs;
use crate::config::{Config, TaskSource};
use crate::decision::Outcome;
use crate::env::Env;
use crate::exit;
use crate::gates::own_command::own_command;
use crate::gates::pending_tasks;
use crate::registry::{Patience, Registry, wire};
use crate::state::StateFolder;
use crate::tasks::{Asked, Looked, Lookup, TaskQuery, asker, look};

/// Longer than any source may take by its own setting.
const LONGEST: Duration = Duration::from_secs(3600);

/// Runs it.
pub(super) fn run(args: &CheckTasksArgs, config: &Config, env: &Env) -> u8 {
    let state = StateFolder::find(env);
    let session = args.session.clone().or_else(|| session(env));
    let project = std::env::current_dir().unwrap_or_default();
    if config.tasks.source == TaskSource::Off {
        let text = "[tasks] source is \"off\": no stop is held for its tasks. docs/gates/pending-tasks.md has what to set.\n";
        if !args.json {
            return say(text, exit::OK);
        }
    }
    let found = match &args.who.worker {
        Some(name) => Registry::open_if_there(state.root(), Patience::Command).map(|registry| Asked {
            asker: TaskQuery { agent: Some(name.clone()), session },
            worker: None,
            registry,
        }),
        None => asker(&config.tasks, env, state.root(), session.as_deref(), now_ms()),
    };
    let (looked, worker) = match found {
        Ok(Asked { asker, worker, mut registry }) => {
            let deadline = Instant::now() + LONGEST;
            let lookup = Lookup { config: &config.tasks, env, project: &project, asker: &asker, deadline };
            (look(&lookup, registry.as_mut()), worker)
        }
        Err(fault) => (Looked::Failed(fault.to_string()), None),
    };
    let outcome = pending_tasks::decide(&looked, 0, &config.tasks, || {
        pending_tasks::ways_on(&config.tasks, worker.as_ref(), &own_command(env))
    });
    let code = match outcome {
        Outcome::Block { .. } => exit::FAILED,
        Outcome::CouldNotCheck { .. } => exit::COULD_NOT,
        Outcome::Pass { .. } | Outcome::Advise { .. } => exit::OK,
    };
    let words = outcome.words().unwrap_or_default();
    if args.json {
        let tasks = match &looked {
            Looked::Found(tasks) => tasks.as_slice(),
            Looked::NoWorker | Looked::NoFile | Looked::Failed(_) => &[],
        };
        let tasks: Vec<_> = tasks
            .iter()
            .map(|task| json!({ "id": task.id, "title": task.title, "status": task.status.name() }))
            .collect();
        let value = json!({
            "schema": wire::SCHEMA,
            "outcome": outcome.name(),
            "cause": outcome.cause().name(),
            "words": words,
            "tasks": tasks,
        });
        return say_json(&value, code);
    }
    let head = match &outcome {
        Outcome::Block { .. } => "A stop would be held, with these words:\n\n",
        Outcome::CouldNotCheck { .. } => "A stop would go through, and you would be told: ",
        Outcome::Pass { .. } | Outcome::Advise { .. } => "A stop would go through: ",
    };
    say(&format!("{head}{}\n", crate::text::harmless(words)), code)
}
