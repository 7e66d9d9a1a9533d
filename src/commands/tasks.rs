//! `punchlist tasks`: adds, shows, claims and finishes tasks. The registry decides, `render`
//! formats.

use std::io::{self, IsTerminal, Read};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use serde::Serialize;
use serde_json::{Value, json};

use super::Result;
use super::output::{print, print_json, terminal_width, width};
use crate::cli::tasks::{
    AddArgs, CheckTasksArgs, ClaimArgs, ListTasksArgs, ShowTaskArgs, TasksArgs, TasksCommand,
};
use crate::client::env_vars;
use crate::config::{Config, TaskSource};
use crate::decision::OutcomeKind;
use crate::env::{self, Env};
use crate::exit;
use crate::gates::pending_tasks::{self, own_command};
use crate::registry::project::{project_of, shared_name};
use crate::registry::{
    Awaited, ClaimRequest, DEFAULT_QUEUE, NewTask, Registry, RegistryError, Status, Task, TaskFilter,
    json as registry_json,
};
use crate::render;
use crate::state::StateFolder;
use crate::tasks::{Lookup, LookupOutcome, ResolvedQuery, TaskQuery, find_pending, resolve_query};
use crate::text::{harmless, time_span};

const MAX_BODY: u64 = 1 << 20;

pub(super) fn run(args: &TasksArgs, config: &Config, env: &Env) -> Result {
    let command = match &args.command {
        Some(TasksCommand::Check(args)) => return check(args, config, env),
        // It may wait for the server as well.
        Some(TasksCommand::Claim(args)) => return claim(args, config, env),
        command => command,
    };
    let registry = &mut open(config, env)?;
    match command {
        None => list(&args.list, config, env, registry),
        Some(TasksCommand::List(args)) => list(args, config, env, registry),
        Some(TasksCommand::Add(args)) => add(args, config, env, registry),
        Some(TasksCommand::Show(args)) => show(args, registry),
        Some(TasksCommand::Assign(args)) => {
            let task = registry.assign(args.id, &args.worker)?;
            print_task(&task, &format!("Given to {}", args.worker), args.json)
        }
        Some(TasksCommand::Start(args)) => {
            let me = worker_name(args.who.worker.as_deref(), env, registry)?;
            print_task(&registry.set(&me, args.id, Status::InProgress, None)?, "You are at it", args.json)
        }
        Some(TasksCommand::Complete(args)) => {
            let me = worker_name(args.who.worker.as_deref(), env, registry)?;
            print_task(
                &registry.set(&me, args.id, Status::Completed, args.note.as_deref())?,
                "Completed",
                args.json,
            )
        }
        Some(TasksCommand::Fail(args)) => {
            let me = worker_name(args.who.worker.as_deref(), env, registry)?;
            let task = registry.set(&me, args.id, Status::Failed, Some(&args.note))?;
            let what = match task.status {
                Status::Open => "Given up, and open for another try",
                Status::Dead => "Given up for good, after its last try",
                _ => "Given up",
            };
            print_task(&task, what, args.json)
        }
        Some(TasksCommand::Release(args)) => {
            let me = worker_name(args.who.worker.as_deref(), env, registry)?;
            print_task(
                &registry.set(&me, args.id, Status::Open, args.note.as_deref())?,
                "Open again",
                args.json,
            )
        }
        Some(TasksCommand::Retry(args)) => print_task(&registry.retry(args.id)?, "Open again", args.json),
        Some(TasksCommand::Check(_) | TasksCommand::Claim(_)) => Ok(exit::OK),
    }
}

pub(super) fn open(config: &Config, env: &Env) -> Result<Registry> {
    Ok(Registry::open(StateFolder::find(env)?.root(), config.fleet.database.as_deref())?)
}

/// Opens the registry, and waits up to this time for its server to come back.
fn open_within(time: Duration, config: &Config, env: &Env) -> Result<Registry> {
    /// The pause between attempts; each takes seconds itself if nothing answers.
    const PAUSE: Duration = Duration::from_secs(1);
    let (begun, state) = (Instant::now(), StateFolder::find(env)?);
    loop {
        match Registry::open(state.root(), config.fleet.database.as_deref()) {
            Err(error) if error.is_temporary() && begun.elapsed() + PAUSE < time => std::thread::sleep(PAUSE),
            opened => return Ok(opened?),
        }
    }
}

/// Returns the current project; all worktrees of a repository are one project. In a fleet it has
/// the same name on every machine.
pub(super) fn project(config: &Config, env: &Env) -> PathBuf {
    let started_in = env.path(env_vars::PROJECT_DIR).filter(|folder| folder.is_dir());
    let project = project_of(&started_in.or_else(|| std::env::current_dir().ok()).unwrap_or_default());
    if config.fleet.database.is_some() { shared_name(&project).into() } else { project }
}

/// Returns the worker's name: as given, else from the environment, else the session's worker.
pub(super) fn worker_name(named: Option<&str>, env: &Env, registry: &mut Registry) -> Result<String> {
    if let Some(name) = named.map(str::to_owned).or_else(|| env.text(env::WORKER)) {
        return Ok(name);
    }
    let session = env.text(env_vars::SESSION_ID).ok_or(RegistryError::Nobody)?;
    Ok(registry.worker_of_session(&session)?.ok_or(RegistryError::Nobody)?.name)
}

/// Prints a value as JSON, under its name.
pub(super) fn print_value(name: &str, value: impl Serialize) -> Result {
    print_json(&json!({ "schema": registry_json::SCHEMA, name: value }))
}

fn print_task(task: &Task, what: &str, json: bool) -> Result {
    if json {
        return print_value("task", registry_json::task(task));
    }
    let late =
        task.late_ms().map(|ms| format!(" (its lease ended {} ago, and nobody had taken it)", time_span(ms)));
    print(&format!("{what}: {} {}{}\n", task.id, harmless(&task.title), late.unwrap_or_default()))
}

fn add(args: &AddArgs, config: &Config, env: &Env, registry: &mut Registry) -> Result {
    let title = args.title.split_whitespace().collect::<Vec<_>>().join(" ");
    if title.is_empty() {
        return Err("a task needs a title: `punchlist tasks add \"Mend the gate\"`".into());
    }
    let body = match args.body.as_deref() {
        Some("-") => read_stdin().map_err(|error| format!("stdin: {error}"))?,
        body => body.unwrap_or_default().to_owned(),
    };
    let new = NewTask {
        title,
        body,
        queue: args.queue.clone().unwrap_or_else(|| DEFAULT_QUEUE.to_owned()),
        project: (!args.anywhere).then(|| project(config, env)),
        priority: args.priority,
        assignee: args.assign.clone(),
        after: args.after.clone(),
        retries: args.retries.map(i64::from),
    };
    print_task(&registry.add(&new)?, "Added", args.json)
}

fn read_stdin() -> io::Result<String> {
    let mut body = String::new();
    if !io::stdin().is_terminal() {
        io::stdin().lock().take(MAX_BODY).read_to_string(&mut body)?;
    }
    Ok(body.trim_end().to_owned())
}

fn list(args: &ListTasksArgs, config: &Config, env: &Env, registry: &mut Registry) -> Result {
    registry.expire()?;
    let assignee = if args.mine { Some(worker_name(None, env, registry)?) } else { args.worker.clone() };
    let wanted = TaskFilter {
        statuses: match (&args.status[..], args.all) {
            ([], false) => Status::ALL.into_iter().filter(|status| !status.is_over()).collect(),
            (statuses, _) => statuses.to_vec(),
        },
        queue: args.queue.clone(),
        project: (!args.all_projects && assignee.is_none()).then(|| project(config, env)),
        assignee,
    };
    let tasks = registry.tasks(&wanted)?;
    if args.json {
        return print_value("tasks", tasks.iter().map(registry_json::task).collect::<Vec<_>>());
    }
    if tasks.is_empty() {
        return print(if registry.counts(None)?.is_empty() {
            "No task. `punchlist tasks add TITLE` adds one.\n"
        } else {
            "No task. `--all` shows those that are over, `--all-projects` those of every project.\n"
        });
    }
    print(&render::registry::tasks(&tasks, args.all_projects, registry.now_ms(), terminal_width()))
}

fn show(args: &ShowTaskArgs, registry: &mut Registry) -> Result {
    registry.expire()?;
    let (task, events) = (registry.task(args.id)?, registry.history(args.id)?);
    let after = registry.prerequisites(args.id)?;
    if args.json {
        let mut value = registry_json::task(&task);
        value["after"] = after.iter().map(ToString::to_string).collect();
        value["history"] = events.iter().map(registry_json::event).collect();
        return print_value("task", value);
    }
    print(&render::registry::task(&task, &after, &events, registry.now_ms(), width()))
}

/// Returns the queue that a worker claims from.
fn claims_from(
    args: &ClaimArgs,
    worker: &str,
    registry: &mut Registry,
) -> std::result::Result<String, RegistryError> {
    args.queue.clone().map_or_else(|| registry.worker(worker).map(|worker| worker.queue), Ok)
}

/// Claims a task, and waits for one as long as is asked for; as long for a server that is away.
pub(super) fn claim(args: &ClaimArgs, config: &Config, env: &Env) -> Result {
    let begun = Instant::now();
    let registry = &mut open_within(args.wait.unwrap_or_default(), config, env)?;
    let me = worker_name(args.who.worker.as_deref(), env, registry)?;
    let here = project(config, env);
    let choice = ClaimRequest {
        id: args.id,
        queue: args.queue.as_deref(),
        project: (!args.all_projects).then_some(here.as_path()),
    };
    let (mut queue, mut was_lost) = (None, false);
    let task = loop {
        // A claim whose answer was lost with the connection was made all the same.
        let claimed = if was_lost {
            registry.claimed_since(&me, begun)
        } else {
            registry.claim(&me, choice, config.worker.lease_ms())
        };
        was_lost = false;
        let left = args.wait.unwrap_or_default().saturating_sub(begun.elapsed());
        let waited = match (claimed, &queue) {
            (Ok(None), _) if left.is_zero() => break None,
            // What comes from here on is told; what came before is looked for once more.
            (Ok(None), None) => registry.listen().and_then(|()| {
                queue = Some(claims_from(args, &me, registry)?);
                Ok(())
            }),
            (Ok(None), Some(queue)) => registry.wait(Awaited { worker: &me, queue }, left),
            (Ok(task), _) => break task,
            (Err(error), _) => Err(error),
        };
        match waited {
            Ok(()) => {}
            // The server is away or was restarted; keep waiting.
            Err(error) if error.is_temporary() && !left.is_zero() => {
                *registry = open_within(left, config, env)?;
                (queue, was_lost) = (None, true);
            }
            Err(error) => return Err(error.into()),
        }
    };
    if args.json {
        return print_value("task", task.as_ref().map(registry_json::task));
    }
    let Some(task) = task else {
        let queue = queue.map_or_else(|| claims_from(args, &me, registry), Ok)?;
        let place = if args.all_projects { "any project" } else { "this project" };
        return print(&format!("No open task in the queue {queue} of {place}.\n"));
    };
    let mut text = format!("{}  {}\n", task.id, harmless(&task.title));
    if !task.body.is_empty() {
        text.push_str(&format!("\n{}\n", harmless(&task.body).trim_end()));
    }
    let by = args.who.worker.as_ref().map(|name| format!(" --worker {name}")).unwrap_or_default();
    text.push_str(&format!(
        "\nIt is yours. When it is done: `punchlist tasks complete {0}{by}`. If it can't be done: `punchlist tasks fail {0}{by} --note WHY`, \
         or `punchlist tasks release {0}{by}` for somebody else.\n",
        task.id
    ));
    print(&text)
}

/// Shows what the pending-tasks gate would decide now. Blocks nothing, and counts nothing.
fn check(args: &CheckTasksArgs, config: &Config, env: &Env) -> Result {
    /// Longer than any `timeout` in the config.
    const NO_DEADLINE: Duration = Duration::from_secs(3600);
    if config.tasks.source == TaskSource::Off && !args.json {
        return print(
            "[tasks] source is \"off\": no stop is held for its tasks. docs/gates/pending-tasks.md has what to set.\n",
        );
    }
    let (state, fleet) = (StateFolder::find(env)?, config.fleet.database.as_deref());
    let session = args.session.clone().or_else(|| env.text(env_vars::SESSION_ID));
    let found = match &args.who.worker {
        Some(name) => Registry::open_if_there(state.root(), fleet).map(|registry| ResolvedQuery {
            query: TaskQuery { agent: Some(name.clone()), session },
            worker: None,
            registry,
        }),
        None => resolve_query(&config.tasks, env, state.root(), fleet, session.as_deref()),
    };
    let (looked, worker) = match found {
        Ok(ResolvedQuery { query, worker, mut registry }) => {
            let (project, deadline) =
                (std::env::current_dir().unwrap_or_default(), Instant::now() + NO_DEADLINE);
            let lookup = Lookup { config: &config.tasks, env, project: &project, query: &query, deadline };
            (find_pending(&lookup, registry.as_mut()), worker)
        }
        Err(fault) => (LookupOutcome::Failed(fault.to_string()), None),
    };
    let outcome = pending_tasks::decide(&looked, 0, &config.tasks, || {
        pending_tasks::ways_on(&config.tasks, worker.as_ref(), &own_command(env))
    });
    let (head, code) = match outcome.kind {
        OutcomeKind::Block => ("A stop would be blocked, with this message:\n\n", exit::FAILED),
        OutcomeKind::CouldNotCheck => ("A stop would go through, and you would be told: ", exit::COULD_NOT),
        OutcomeKind::Pass | OutcomeKind::Advise => ("A stop would go through: ", exit::OK),
    };
    if args.json {
        let tasks = if let LookupOutcome::Found(tasks) = &looked { tasks.as_slice() } else { &[] };
        let tasks: Vec<Value> = tasks
            .iter()
            .map(|task| json!({ "id": task.id, "title": task.title, "status": task.status.name() }))
            .collect();
        print_json(&json!({
            "schema": registry_json::SCHEMA,
            "outcome": <&str>::from(outcome.kind),
            "cause": outcome.cause.name(),
            "words": outcome.words,
            "tasks": tasks,
        }))?;
    } else {
        print(&format!("{head}{}\n", harmless(&outcome.words)))?;
    }
    Ok(code)
}
