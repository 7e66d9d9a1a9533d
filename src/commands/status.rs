//! `punchlist status`: shows gates, sessions, workers, tasks and the newest decisions. Changes
//! nothing but expired leases in the registry.

use jiff::tz::TimeZone;
use serde_json::{Map, Value, json};

use super::Result;
use super::output::{print, print_json, terminal_width};
use crate::config::Config;
use crate::database::Database;
use crate::env::{self, Env};
use crate::feature_loop::snapshot::now_ms;
use crate::fleet::shared_log::SharedSession;
use crate::fleet::{connect, shared_log};
use crate::gates::configured::{Configured, configured};
use crate::log::filter::Filter;
use crate::log::{Annotated, DecisionLog};
use crate::registry::{Registry, Status, Worker, json as registry_json};
use crate::render::listing::Setting;
use crate::render::status::{Screen, SessionLine, text};
use crate::state::{SessionState, StateFolder};

/// How many sessions are shown, and how many decisions.
const SHOWN: usize = 5;

/// Sessions without a stop for longer are not shown.
const RECENT_MS: i64 = 24 * 3600 * 1000;

pub(super) fn run(of_fleet: bool, as_json: bool, env: &Env) -> Result {
    let project = std::env::current_dir().unwrap_or_default();
    // The doctor reports faults in the config; this shows the rest of it.
    let state = StateFolder::find(env)?;
    let (config, _) = state.load_config(env, &project);
    let now = now_ms();
    let (workers, tasks, registry_fault) = match registry(&state, &config) {
        Ok((workers, tasks)) => (workers, tasks, None),
        Err(fault) => (Vec::new(), Vec::new(), Some(fault.to_string())),
    };
    let (sessions, found) = if of_fleet {
        let mut database = connect(&config.fleet)?;
        let found = shared_log::query(&mut database, &Filter::default(), Some(SHOWN))?;
        (fleets_sessions(&mut database, now)?, found)
    } else {
        let log = DecisionLog::in_folder(state.root());
        (own_sessions(&state, now), log.query(&Filter::default(), Some(SHOWN)).unwrap_or_default())
    };
    let gates = configured(&config);
    let off = off(&config, env, &state.switches().covering(&project));
    let setting = Setting { zone: TimeZone::system(), width: terminal_width(), head: true, indent: 2 };
    let screen = Screen {
        gates: &gates,
        off,
        max_blocks: config.gates.max_blocks,
        sessions: &sessions,
        workers: &workers,
        tasks: &tasks,
        registry_fault,
        decisions: &found.decisions,
        setting: &setting,
        now_ms: now,
    };
    if as_json {
        return print_json(&as_value(&screen, &config));
    }
    print(&text(&screen))
}

fn own_sessions(state: &StateFolder, now_ms: i64) -> Vec<SessionLine> {
    let line = |(id, at_ms, state): (String, i64, SessionState)| {
        let SessionState { blocks, blocked_by, .. } = state;
        SessionLine { id, machine: None, at_ms, blocks, held_by: blocked_by }
    };
    state.recent_sessions(SHOWN, now_ms - RECENT_MS).into_iter().map(line).collect()
}

/// The sessions of every machine that shipped its decisions.
fn fleets_sessions(database: &mut Database, now_ms: i64) -> Result<Vec<SessionLine>> {
    let line = |session: SharedSession| {
        let SharedSession { machine, id, at_ms, blocks, held_by } = session;
        SessionLine { id, machine: Some(machine), at_ms, blocks, held_by }
    };
    let sessions = shared_log::recent_sessions(database, now_ms - RECENT_MS, SHOWN)?;
    Ok(sessions.into_iter().map(line).collect())
}

/// Workers, and the number of tasks per status.
type Registered = (Vec<Worker>, Vec<(Status, i64)>);

fn registry(state: &StateFolder, config: &Config) -> Result<Registered> {
    let Some(mut registry) = Registry::open_if_there(state.root(), config.fleet.database.as_deref())? else {
        return Ok((Vec::new(), Vec::new()));
    };
    registry.expire()?;
    Ok((registry.workers()?, registry.counts(None)?))
}

/// Returns why no stop is blocked, if that is so.
fn off(config: &Config, env: &Env, switched: &[std::path::PathBuf]) -> Option<String> {
    if env.switch(env::OFF) {
        return Some("off: PUNCHLIST_OFF is set here".to_owned());
    }
    if !config.gates.enabled {
        return Some("off: [gates] enabled = false".to_owned());
    }
    if let Some(folder) = switched.first() {
        return Some(format!("off for {}: `punchlist on` switches them on again", folder.display()));
    }
    config.gates.dry_run.then(|| "dry run: the gates check, and nothing is blocked".to_owned())
}

fn as_value(screen: &Screen<'_>, config: &Config) -> Value {
    let gate = |gate: &Configured| json!({ "gate": gate.name, "goes_by": gate.words });
    let session = |line: &SessionLine| {
        json!({
            "session": line.id,
            "machine": line.machine,
            "time": registry_json::time(line.at_ms),
            "blocks": line.blocks,
            "held_by": line.held_by,
        })
    };
    let decision = |annotated: &Annotated| {
        let record = &annotated.decision;
        json!({
            "id": record.id,
            "time": record.time,
            "session": record.session,
            "project": record.project,
            "machine": record.machine,
            "decision": annotated.kind().name(),
            "cause": annotated.cause,
        })
    };
    let tasks: Map<String, Value> =
        screen.tasks.iter().map(|(status, count)| (status.name().to_owned(), json!(count))).collect();
    json!({
        "schema": registry_json::SCHEMA,
        "gates": screen.gates.iter().map(gate).collect::<Vec<_>>(),
        "off": screen.off,
        "dry_run": config.gates.dry_run,
        "max_blocks": screen.max_blocks,
        "sessions": screen.sessions.iter().map(session).collect::<Vec<_>>(),
        "workers": screen.workers.iter().map(|worker| registry_json::worker(worker, screen.now_ms)).collect::<Vec<_>>(),
        "tasks": tasks,
        "registry_fault": screen.registry_fault,
        "decisions": screen.decisions.iter().map(decision).collect::<Vec<_>>(),
    })
}
