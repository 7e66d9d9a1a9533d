//! `punchlist hook`: the whole path of a stop, on one page. Parse, context, skip, gates, decide, record, answer.
//! Must not end in any other way than exit 0, or exit 2 with a block; must not print anything on stdout but the
//! reply.

use std::any::Any;
use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::io::{self, IsTerminal, Read, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use jiff::Timestamp;

use crate::child;
use crate::client::env_vars;
use crate::client::hook_input::{Event, HookInput};
use crate::client::hook_reply::Reply;
use crate::config::{AuditorConfig, Mode, SecondReader};
use crate::decision::{Action, Cause, Merged, Outcome, OutcomeKind, decide, merge};
use crate::env::{self, Env};
use crate::exit::complain;
use crate::finding::{Advisory, AdvisoryKind};
use crate::fleet::spool::Spool;
use crate::gates::{self, CheckedGate, StopContext};
use crate::hook::config_faults::ConfigFaults;
use crate::hook::interrupt;
use crate::hook::record;
use crate::hook::session_start;
use crate::hook::skip::{Skip, lock, skip, unset};
use crate::hook::surroundings::Surroundings;
use crate::ids::new_id;
use crate::log::{DecisionLog, Record};
use crate::readers::{Budget, Limit, Reader, Readers, SealedClient, Second};
use crate::redact::mask;
use crate::state::{NewestStop, StateFolder, StopLock, SwitchedOff};
use crate::timing::{self, Phases};

/// The most that is read of stdin; the real thing is a few kilobytes and one final message.
const STDIN_CAP: u64 = 16 << 20;

/// How the hook is registered. The client says it neither on stdin nor in the environment (2.1.325), so the command
/// line has it.
#[derive(Debug, Clone, Copy)]
pub struct Registered {
    /// How long the client lets it run.
    pub timeout: Duration,
    /// Whether the session waits for it.
    pub mode: Mode,
}

impl Registered {
    pub fn holding(timeout: Duration) -> Self {
        Self { timeout, mode: Mode::Hold }
    }
}

/// Runs the hook in this process: its stdin, its stdout, its stderr. Returns the exit code.
pub fn run(registered: Registered, env: &Env, phases: &Phases) -> u8 {
    let started = crate::clock::now();
    // The default hook would print a backtrace hint; one line is enough, and the log has the rest.
    std::panic::set_hook(Box::new(|_| ()));
    let answered = catch_unwind(AssertUnwindSafe(|| {
        let state = StateFolder::find(env);
        if let Ok(state) = &state {
            interrupt::supervise(state, started);
        }
        let stdin = phases.time(timing::INPUT, read_stdin);
        match state {
            Ok(state) => answer(phases, &stdin, env, &state, registered, started, None),
            Err(error) => without_state(&stdin, env, &error),
        }
    }));
    let reply = answered.unwrap_or_else(|panic| {
        let why = fault(&*panic);
        complain(&format!("{why}; the stop goes through"));
        let record = Record { detail: Some(why), ..Record::new(Cause::Error, started) };
        let _ = catch_unwind(AssertUnwindSafe(|| {
            if let Ok(state) = StateFolder::find(env) {
                record::write_log(&DecisionLog::in_folder(state.root()), &record);
            }
        }));
        Reply::Silent
    });
    // Before the answer: the client ignores a block while a process of ours could still write to it.
    child::finish();
    let code = reply.send(std::io::stdout().lock(), std::io::stderr().lock());
    if env.switch(env::TRACE) {
        let _ = std::io::stderr().lock().write_all(phases.table().as_bytes());
    }
    code
}

/// Says what a panic was. The standard library panics at some errors of the system, such as one at the end of a
/// folder's list.
fn fault(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied();
    let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("no words");
    let is_of_system = ["os error", "Os {", "unexpected error"].iter().any(|words| text.contains(words));
    format!("{}: {text}", if is_of_system { "an error of the system" } else { "a fault of punchlist itself" })
}

/// The reply where somebody else may have a hand in what is counted and allowed: nothing is looked at.
fn without_state(stdin: &[u8], env: &Env, error: &io::Error) -> Reply {
    let event = HookInput::parse(stdin).map_or(Event::Stop, |input| input.event);
    if env.get(env::INSIDE_AUDITOR).is_some() || env.switch(env::OFF) {
        return Reply::Silent;
    }
    match event {
        Event::Stop | Event::SubagentStop => {
            Reply::Tell(format!("punchlist: {error}, so this stop was not checked"))
        }
        Event::SessionStart => {
            complain(&error.to_string());
            Reply::Silent
        }
        Event::Other(_) => Reply::Silent,
    }
}

fn read_stdin() -> Vec<u8> {
    let mut bytes = Vec::new();
    // Somebody who tries it in a terminal should not have to wait for what nobody will type.
    if !std::io::stdin().is_terminal() {
        let read = std::io::stdin().lock().take(STDIN_CAP).read_to_end(&mut bytes);
        tracing::debug!(bytes = bytes.len(), ok = read.is_ok(), "stdin");
    }
    bytes
}

/// Decides one stop, writes it down, and returns the reply. `reader` is asked in place of the client.
pub fn answer(
    phases: &Phases,
    stdin: &[u8],
    env: &Env,
    state: &StateFolder,
    registered: Registered,
    started: Timestamp,
    reader: Option<&mut dyn Reader>,
) -> Reply {
    let (deadline, started_ms) = (Instant::now() + registered.timeout, started.as_millisecond());

    // Parse.
    let input = match phases.time(timing::INPUT, || HookInput::parse(stdin)) {
        Ok(input) => input,
        Err(error) => return let_through(state, Cause::BadInput, &error.to_string(), started),
    };
    if let Event::Other(_) = input.event {
        return Reply::Silent;
    }
    let (project, session) = (project_of(&input, env), session_name(&input));
    let (mut config, faults) = phases.time(timing::CONFIG, || state.load_config(env, &project));
    let mut faults = ConfigFaults::new(faults);
    if input.event == Event::SubagentStop {
        let most = config.subagents.max_prompt_bytes;
        config.audit.max_prompt_bytes = config.audit.max_prompt_bytes.min(most);
    }

    // Context.
    let newest =
        (registered.mode == Mode::Background).then(|| NewestStop::new(state, &session, &input, started_ms));
    let mut stop = StopContext {
        id: &new_id(),
        input: &input,
        env,
        config: &config,
        state,
        session: &session,
        project: &project,
        started_ms,
        deadline,
        newest: newest.as_ref(),
        phases,
        state_before: OnceCell::new(),
        view: OnceCell::new(),
    };
    if input.event == Event::SessionStart {
        faults.complain();
        return session_start::begin(&stop);
    }
    faults.add_registration(config.audit.mode.fault(registered.mode));
    let is_newest = || newest.as_ref().is_none_or(NewestStop::is_newest);
    let is_wanted = newest.as_ref().map(|_| &is_newest as &dyn Fn() -> bool);
    let AuditorConfig { client, model, second_reader, timeout, .. } = &config.auditor;
    let sealed =
        |model| SealedClient { env, program: client.as_deref(), model, flag_cache: state, is_wanted };
    let (mut first, mut other) = (sealed(model), sealed(second_reader.name()));
    let second = match second_reader {
        SecondReader::Off => Second::Off,
        SecondReader::Model(_) if reader.is_none() => Second::Other(&mut other),
        SecondReader::Model(_) | SecondReader::Same => Second::Same,
    };
    let first: &mut dyn Reader = match reader {
        Some(reader) => reader,
        None => &mut first,
    };
    let mut readers = Readers {
        first,
        second,
        timeout: *timeout,
        deadline: stop.work_deadline(),
        budget: Budget::default(),
    };

    // Skip, or run the gates.
    let mut checked = check(&mut stop, &mut readers);
    interrupt::commit(&mut checked);

    // Decide. The lock is held until the decision is in the state: a second hook of this stop finds
    // the one or the other.
    let counting = record::save_state(&stop, &checked);
    drop(checked.lock.take());
    let decision = decide(checked.merged.outcome.clone(), config.gates.dry_run, &counting);

    // Record.
    let registration = stop.view.get().map(|view| view.registration_faults.clone()).unwrap_or_default();
    faults.add_registration(registration);
    faults.add_prompts(checked.gates.iter().flat_map(|gate| gate.result.config_faults.clone()));
    // A session that is woken is given all of stderr (2.1.325), and what to change in a config is not
    // for the agent.
    if !stop.is_background() || decision.action == Action::Allow {
        faults.complain();
    }
    // The decision is counted: whatever goes wrong from here on, it stands, and there is no second record of it.
    let recorded = catch_unwind(AssertUnwindSafe(|| {
        let log = DecisionLog::in_folder(state.root());
        let record = record::record(&stop, &decision, &checked, &faults.texts(), started);
        phases.time(timing::LOG, || {
            record::write_log(&log, &record);
            record::finish(&stop, &decision, &checked.gates, &log, &mut readers);
        });
        if config.fleet.database.is_some() {
            phases.time(timing::FLEET, || Spool::in_folder(state.root()).ship_at_stop(&config.fleet));
        }
    }));
    if let Err(panic) = recorded {
        complain(&fault(&*panic));
    }

    // Answer.
    faults.tell(&stop, decision.reply)
}

pub struct Checked {
    pub merged: Merged,
    pub gates: Vec<CheckedGate>,
    pub lock: Option<StopLock>,
    /// What the person should know of a change of the switch or the settings during the session.
    pub changed: Option<Advisory>,
    /// What is around the session, where that is known or told from now on.
    pub surroundings: Option<BTreeMap<String, String>>,
}

/// Skips a stop, or has the gates check it.
fn check(stop: &mut StopContext<'_>, readers: &mut Readers<'_>) -> Checked {
    let StopContext { input, env, config, .. } = *stop;
    let mut gates = gates::for_stop(stop);
    let keeps_working = gates.iter().any(|gate| gate.keeps_working());
    // A switch in the config comes first, and is the one that is told of.
    let off = if config.gates.enabled { stop.state.switched_off(stop.project, stop.session) } else { None };
    let guard = match skip(input, env, config, keeps_working, off.as_ref(), || stop.saved()) {
        Some(Skip::All(outcome)) => {
            if let Some(newest) = stop.newest {
                newest.supersede_older();
            }
            return Checked::skipped(stop, outcome, off.as_ref());
        }
        Some(Skip::Guarded(outcome)) => Some(outcome),
        None => None,
    };
    let locked = match unset(stop, gates.is_empty()) {
        Some(outcome) => Err(outcome),
        None => stop.phases.time(timing::STATE, || lock(stop)),
    };
    let lock = match locked {
        Ok((lock, saved)) => {
            stop.state_before = OnceCell::from(saved);
            lock
        }
        // Another hook tells what there is to tell.
        Err(outcome) => return Checked::unlooked(Merged { outcome, uses_budget: false }),
    };
    readers.budget = budget(stop);
    if guard.is_some() {
        gates.retain(|gate| gate.keeps_working());
    }
    let gates = gates::check_all(&gates, stop, readers);
    let outcomes = gates.iter().map(|gate| (&gate.result.outcome, gate.keeps_working));
    // Where no gate has anything to say, the log says why the others were not asked.
    let outcomes: Vec<_> = outcomes.chain(guard.as_ref().map(|outcome| (outcome, false))).collect();
    Checked::new(stop, merge(&outcomes), gates, Some(lock), None)
}

/// How the log names a change of the switch or the settings.
const CHANGED: &str = "The switch or a setting of punchlist was changed during the session.";

impl Checked {
    /// `off` is the switch in our own state that lets the stop through.
    fn new(
        stop: &StopContext<'_>,
        merged: Merged,
        gates: Vec<CheckedGate>,
        lock: Option<StopLock>,
        off: Option<&SwitchedOff>,
    ) -> Self {
        let mut checked = Self { gates, lock, ..Self::unlooked(merged) };
        let outcome = &mut checked.merged.outcome;
        if outcome.cause == Cause::InsideAuditor {
            return checked;
        }
        let around = Surroundings::look(stop, off);
        if let Some(words) = around.words() {
            let evidence = mask(&words).text;
            checked.changed =
                Some(Advisory { kind: AdvisoryKind::SwitchedOff, text: CHANGED.into(), evidence });
            // A block has no room for words to the person: they are told at the next stop.
            if outcome.wants_block() {
                return checked;
            }
            let is_off = outcome.cause == Cause::Off || !stop.config.audit.enabled;
            let before = if outcome.is_pass() && !is_off { "" } else { outcome.words.as_str() };
            let words = if before.is_empty() { words } else { format!("{before}; {words}") };
            let kind = if outcome.is_pass() { OutcomeKind::Advise } else { outcome.kind };
            *outcome = Outcome { kind, cause: outcome.cause, words };
        }
        checked.surroundings = Some(around.digests).filter(|digests| *digests != stop.saved().surroundings);
        checked
    }

    fn unlooked(merged: Merged) -> Self {
        Self { merged, gates: Vec::new(), lock: None, changed: None, surroundings: None }
    }

    fn skipped(stop: &StopContext<'_>, outcome: Outcome, off: Option<&SwitchedOff>) -> Self {
        Self::new(stop, Merged { outcome, uses_budget: false }, Vec::new(), None, off)
    }
}

/// Lets a stop through that can't be looked at, and logs why.
fn let_through(state: &StateFolder, cause: Cause, why: &str, started: Timestamp) -> Reply {
    complain(why);
    let record = Record { detail: Some(why.to_owned()), ..Record::new(cause, started) };
    record::write_log(&DecisionLog::in_folder(state.root()), &record);
    Reply::Silent
}

/// What this stop may still ask of a model.
fn budget(stop: &StopContext<'_>) -> Budget {
    let AuditorConfig { max_calls_per_session: most, max_cost_per_day: money, .. } = stop.config.auditor;
    let left = most.saturating_sub(stop.saved().reader_calls);
    let today = || crate::clock::local().date();
    let money = money.map(|most| Limit { left: most - stop.state.spent_on(today()), most });
    Budget { calls: Some(Limit { left, most }), money, ..Budget::default() }
}

/// The project's folder: the one in which the session was started, wherever it stands now.
fn project_of(input: &HookInput, env: &Env) -> PathBuf {
    let started_in = env.path(env_vars::PROJECT_DIR).filter(|folder| folder.is_dir());
    started_in.or_else(|| input.cwd.clone()).or_else(|| std::env::current_dir().ok()).unwrap_or_default()
}

/// The name of a session in the state folder.
fn session_name(input: &HookInput) -> String {
    let by_file = || input.transcript_path.as_ref().map(|path| path.to_string_lossy().into_owned());
    input.session_id.clone().or_else(by_file).unwrap_or_else(|| "unnamed".into())
}
