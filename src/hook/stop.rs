//! `punchlist hook`: the whole path of a stop, on one page. Parse, context, skip, gates, decide,
//! record, answer. Must always end with exit 0, or exit 2 with a block; must not print anything but
//! the reply on stdout.

use std::any::Any;
use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::io::{self, IsTerminal, Read, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use jiff::Timestamp;

use crate::child;
use crate::client::env_vars;
use crate::client::hook_input::{BackgroundTask, Event, HookInput};
use crate::client::hook_reply::Reply;
use crate::config::{AuditorConfig, SecondReader, without_projects};
use crate::decision::{Action, Cause, Decision, Merged, Outcome, OutcomeKind, decide, merge};
use crate::env::{self, Env};
use crate::exit::complain;
use crate::finding::{Advisory, AdvisoryKind};
use crate::fleet;
use crate::gates::{self, CheckedGate, Gate, StopContext};
use crate::hook::config_faults::ConfigFaults;
use crate::hook::interrupt;
use crate::hook::notices::Notices;
use crate::hook::prompt_submit;
use crate::hook::record;
use crate::hook::session_start;
use crate::hook::skip::{Skip, lock, skip, unset};
use crate::hook::surroundings::Surroundings;
use crate::ids::new_id;
use crate::log::{DecisionLog, Record};
use crate::readers::{Budget, Limit, Reader, Readers, SealedClient, Second};
use crate::redact::mask;
use crate::state::{NewestStop, StateFolder, StopLock, SwitchedOff, allowed};
use crate::timing::{self, Phases};

/// The most that is read of stdin; real input is a few kilobytes and one final message.
const STDIN_CAP: u64 = 16 << 20;

/// How the hook is registered. The client reports it neither on stdin nor in the environment
/// (2.1.325), so the command line has it.
#[derive(Debug, Clone, Copy)]
pub struct Registered {
    /// How long the client lets it run.
    pub timeout: Duration,
    /// Whether the session does not wait for it.
    pub is_background: bool,
}

impl Registered {
    pub fn holding(timeout: Duration) -> Self {
        Self { timeout, is_background: false }
    }
}

/// Runs the hook in this process: its stdin, its stdout, its stderr. Returns the exit code.
pub fn run(registered: Registered, env: &Env, phases: &Phases) -> u8 {
    let started = crate::clock::now();
    // The default hook would print a backtrace hint; one line is enough, and the log has the rest.
    std::panic::set_hook(Box::new(|_| ()));
    let answered = catch_unwind(AssertUnwindSafe(|| {
        let env = &without_projects(env, &project_folder(None, env), |env| {
            allowed(env, &project_folder(None, env))
        });
        let env = &env.without_path_in(&project_folder(None, env), env.home().as_deref());
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
    // Before the answer: the client ignores a block while one of our processes could still write to
    // it.
    child::finish();
    let code = reply.send(std::io::stdout().lock(), std::io::stderr().lock());
    if env.switch(env::TRACE) {
        let _ = std::io::stderr().lock().write_all(phases.table().as_bytes());
    }
    code
}

/// Returns a panic's message. The standard library panics at some errors of the system, such as one
/// at the end of a folder's list.
fn fault(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied();
    let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("no words");
    let is_of_system = ["os error", "Os {", "unexpected error"].iter().any(|words| text.contains(words));
    format!("{}: {text}", if is_of_system { "an error of the system" } else { "a fault of punchlist itself" })
}

/// Returns the reply if somebody else may be able to change our state: nothing is looked at.
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
        Event::PromptSubmit | Event::Other(_) => Reply::Silent,
    }
}

fn read_stdin() -> Vec<u8> {
    let mut bytes = Vec::new();
    // Somebody who tries it in a terminal should not have to wait for input.
    if !std::io::stdin().is_terminal() {
        let read = std::io::stdin().lock().take(STDIN_CAP).read_to_end(&mut bytes);
        tracing::debug!(bytes = bytes.len(), ok = read.is_ok(), "stdin");
    }
    bytes
}

/// Decides one stop, records it, and returns the reply. `reader` is asked instead of the client.
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
    if state.was_writable_by_others {
        let line =
            format!("other users could write to {} until now; look at what is in it", state.root().display());
        let told = state.update_session(&session, |session| session.add_pending([(None, line)]));
        tracing::debug!(ok = told.is_ok(), "the state folder was open");
    }
    if input.event == Event::PromptSubmit {
        return prompt_submit::answer(state, &session, env);
    }
    let (mut config, faults) = phases.time(timing::CONFIG, || state.load_config(env, &project));
    let mut faults = ConfigFaults::new(faults);
    if input.event == Event::SubagentStop {
        let most = config.subagents.max_prompt_bytes;
        config.audit.max_prompt_bytes = config.audit.max_prompt_bytes.min(most);
    }

    // Context.
    let newest = registered.is_background.then(|| NewestStop::new(state, &session, &input, started_ms));
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
        guard: None,
        newest: newest.as_ref(),
        phases,
        state_before: OnceCell::new(),
        worker: OnceCell::new(),
        view: OnceCell::new(),
    };
    if input.event == Event::SessionStart {
        faults.complain();
        return session_start::begin(&stop);
    }
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

    // Decide. The lock is kept until the decision is in the state: a second hook of this stop finds
    // one or the other.
    let counting = record::save_state(&stop, &checked);
    drop(checked.lock.take());
    let decision = decide(checked.merged.outcome.clone(), config.gates.dry_run, &counting);

    // Record.
    let registration = stop.view.get().map(|view| view.registration_faults.clone()).unwrap_or_default();
    faults.add_registration(registration);
    faults.add_prompts(checked.gates.iter().flat_map(|gate| gate.result.config_faults.clone()));
    // A session that is woken gets all of stderr (2.1.325), and what to change in a config is not
    // for the agent.
    if !stop.is_background() || decision.action == Action::Allow {
        faults.complain();
    }
    let mut notices = notices(&stop, &decision, &checked.gates);
    // The decision is counted: whatever goes wrong from here on, it stands, and no second record is
    // written.
    let recorded = catch_unwind(AssertUnwindSafe(|| {
        let log = DecisionLog::in_folder(state.root());
        let record = record::record(&stop, &decision, &checked, &faults.texts(), started);
        let line = phases.time(timing::LOG, || {
            record::write_log(&log, &record);
            record::finish(&stop, &decision, &checked.gates, &log, &mut readers)
        });
        if fleet::has_destination(&config) {
            phases.time(timing::FLEET, || fleet::start_shipping(state.root(), &config, &project, env));
        }
        line
    }));
    match recorded {
        Ok(Some(line)) => notices.add(line),
        Ok(None) => {}
        Err(panic) => complain(&fault(&*panic)),
    }

    // Answer.
    faults.add_to(&mut notices, &stop, &decision.reply);
    record::tell(&stop, notices, decision.reply)
}

/// Returns what the person is told, but for what the log and the config have to add.
fn notices(stop: &StopContext<'_>, decision: &Decision, gates: &[CheckedGate]) -> Notices {
    let mut notices = Notices::default();
    if !stop.is_background() {
        notices.add_pending(stop.saved());
    }
    let runs_on =
        decision.detail.as_deref().filter(|_| stop.input.running_tasks().any(BackgroundTask::may_run_on));
    notices.add_cause(decision.cause, runs_on, &stop.config.gates, || &stop.saved().shown_notices);
    // Whatever gate has read the transcript; nobody is told of a hook that is switched off.
    let is_foreign =
        || stop.input.is_foreign || stop.view.get().is_some_and(|view| view.session.is_foreign());
    if ![Cause::InsideAuditor, Cause::Off].contains(&decision.cause) && is_foreign() {
        notices.add_unknown_client(&stop.saved().shown_notices);
    }
    if decision.action == Action::Block {
        gates.iter().flat_map(|gate| &gate.result.if_held).for_each(|line| notices.add(line));
    }
    notices
}

pub struct Checked {
    pub merged: Merged,
    pub gates: Vec<CheckedGate>,
    pub lock: Option<StopLock>,
    /// What to tell the person about a change of the switch or the settings during the session.
    pub changed: Option<Advisory>,
    /// The session's surroundings, if they are known or recorded from now on.
    pub surroundings: Option<BTreeMap<String, String>>,
}

/// Skips a stop, or has the gates check it.
fn check(stop: &mut StopContext<'_>, readers: &mut Readers<'_>) -> Checked {
    let StopContext { input, env, config, .. } = *stop;
    let mut gates = gates::for_stop(stop);
    let looks_on = |gate: &dyn Gate, stop: &StopContext<'_>| gate.keeps_working() || gate.looks_again(stop);
    let keeps_looking = gates.iter().any(|gate| looks_on(&**gate, stop));
    // The switch in the config has priority, and is the one that is reported.
    let off = if config.gates.enabled { stop.state.switched_off(stop.project, stop.session) } else { None };
    let guard = match skip(input, env, config, keeps_looking, off.as_ref(), || stop.saved()) {
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
        // The other hook reports what there is to report.
        Err(outcome) => return Checked::unlooked(Merged { outcome, uses_budget: false }),
    };
    readers.budget = budget(stop);
    stop.guard = guard.as_ref().map(|outcome| outcome.cause);
    if stop.guard.is_some() {
        gates.retain(|gate| looks_on(&**gate, stop));
    }
    let gates = gates::check_all(&gates, stop, readers);
    let outcomes = gates.iter().map(|gate| (&gate.result.outcome, gate.keeps_working));
    // If no gate has anything to say, the log says why the others were not asked.
    let outcomes: Vec<_> = outcomes.chain(guard.as_ref().map(|outcome| (outcome, false))).collect();
    Checked::new(stop, merge(&outcomes), gates, Some(lock), None)
}

/// How the log describes a change of the switch or the settings.
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
        if let Some(words) = around.message() {
            let evidence = mask(&words).text;
            checked.changed =
                Some(Advisory { kind: AdvisoryKind::SwitchedOff, text: CHANGED.into(), evidence });
            // A block has no room for text to the person: it waits for the next stop.
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

/// Lets a stop through that can't be checked, and logs why.
fn let_through(state: &StateFolder, cause: Cause, why: &str, started: Timestamp) -> Reply {
    complain(why);
    let record = Record { detail: Some(why.to_owned()), ..Record::new(cause, started) };
    record::write_log(&DecisionLog::in_folder(state.root()), &record);
    Reply::Silent
}

/// Returns what this stop may still spend on a model.
fn budget(stop: &StopContext<'_>) -> Budget {
    let AuditorConfig { max_calls_per_session: most, max_cost_per_day: money, .. } = stop.config.auditor;
    let left = most.saturating_sub(stop.saved().reader_calls);
    let today = || crate::clock::local().date();
    let money = money.map(|most| Limit { left: most - stop.state.spent_on(today()), most });
    Budget { calls: Some(Limit { left, most }), money, ..Budget::default() }
}

/// Returns the project's folder: where the session was started, whatever its current folder.
fn project_of(input: &HookInput, env: &Env) -> PathBuf {
    project_folder(input.cwd.as_deref(), env)
}

fn project_folder(cwd: Option<&Path>, env: &Env) -> PathBuf {
    let started_in = env.path(env_vars::PROJECT_DIR).filter(|folder| folder.is_dir());
    started_in
        .or_else(|| cwd.map(Path::to_path_buf))
        .or_else(|| std::env::current_dir().ok())
        .unwrap_or_default()
}

/// Returns the name of a session in the state folder.
fn session_name(input: &HookInput) -> String {
    let by_file = || input.transcript_path.as_ref().map(|path| path.to_string_lossy().into_owned());
    input.session_id.clone().or_else(by_file).unwrap_or_else(|| "unnamed".into())
}
