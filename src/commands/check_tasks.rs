//! `punchlist tasks check`: shows what the pending-tasks gate would decide now. Blocks nobody, and
//! counts nothing.

use std::time::{Duration, Instant};

use serde_json::json;

use super::registry::{now_ms, session};
use super::say::{say, say_json};
use crate::cli::tasks::CheckTasksArgs;
use crate::config::{Config, TaskSource};
use crate::decision::OutcomeKind;
use crate::env::Env;
use crate::exit;
use crate::gates::pending_tasks::{self, own_command};
use crate::registry::{Patience, Registry, json as registry_json};
use crate::state::StateFolder;
use crate::tasks::{Lookup, LookupOutcome, ResolvedQuery, TaskQuery, find_pending, resolve_query};

/// Longer than any `timeout` in the config.
const NO_DEADLINE: Duration = Duration::from_secs(3600);

/// Runs `punchlist tasks check`.
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
        Some(name) => Registry::open_if_there(state.root(), Patience::Command).map(|registry| {
            ResolvedQuery { query: TaskQuery { agent: Some(name.clone()), session }, worker: None, registry }
        }),
        None => resolve_query(&config.tasks, env, state.root(), session.as_deref(), now_ms()),
    };
    let (looked, worker) = match found {
        Ok(ResolvedQuery { query, worker, mut registry }) => {
            let deadline = Instant::now() + NO_DEADLINE;
            let lookup = Lookup { config: &config.tasks, env, project: &project, query: &query, deadline };
            (find_pending(&lookup, registry.as_mut()), worker)
        }
        Err(fault) => (LookupOutcome::Failed(fault.to_string()), None),
    };
    let outcome = pending_tasks::decide(&looked, 0, &config.tasks, || {
        pending_tasks::ways_on(&config.tasks, worker.as_ref(), &own_command(env))
    });
    let (code, head) = match outcome.kind {
        OutcomeKind::Block => (exit::FAILED, "A stop would be held, with these words:\n\n"),
        OutcomeKind::CouldNotCheck => (exit::COULD_NOT, "A stop would go through, and you would be told: "),
        OutcomeKind::Pass | OutcomeKind::Advise => (exit::OK, "A stop would go through: "),
    };
    if args.json {
        let tasks = match &looked {
            LookupOutcome::Found(tasks) => tasks.as_slice(),
            LookupOutcome::NoWorker | LookupOutcome::NoFile | LookupOutcome::Failed(_) => &[],
        };
        let tasks: Vec<_> = tasks
            .iter()
            .map(|task| json!({ "id": task.id, "title": task.title, "status": task.status.name() }))
            .collect();
        let value = json!({
            "schema": registry_json::SCHEMA,
            "outcome": <&str>::from(outcome.kind),
            "cause": outcome.cause.name(),
            "words": outcome.words,
            "tasks": tasks,
        });
        return say_json(&value, code);
    }
    say(&format!("{head}{}\n", crate::text::harmless(&outcome.words)), code)
}
