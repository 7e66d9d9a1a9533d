//! `punchlist hook`: the whole path of a stop, on one page. Parse, context, skip, gates, decide, record, answer.
//! Must not end in any other way than exit 0, or exit 2 with a block; must not print anything on stdout but the
//! reply.

use std::cell::{OnceCell, RefCell};
use std::io::{IsTerminal, Read, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use jiff::Timestamp;

use crate::client::env_vars;
use crate::client::hook_input::{Event, HookInput};
use crate::client::hook_reply::Reply;
use crate::config::{Config, Mode, SecondReader};
use crate::decision::{Action, Cause, Outcome, decide};
use crate::env::{self, Env};
use crate::exit::complain;
use crate::gates::{self, CheckedGate, ReaderPair, StopContext};
use crate::hook::merge::{Merged, merge};
use crate::hook::self_disable::SelfDisabled;
use crate::hook::session_start::{self, Start};
use crate::hook::skip::{Skip, skip};
use crate::hook::{record, stop_lock};
use crate::ids::new_id;
use crate::log::{DecisionLog, Record};
use crate::readers::budget::{Budget, Budgeted, Limit};
use crate::readers::{Reader, SealedClient};
use crate::state::{NewestStop, SessionState, StateChange, StateFolder, StopLock, SwitchedOff};
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
    /// The session waits.
    pub fn holding(timeout: Duration) -> Self {
        Self { timeout, mode: Mode::Hold }
    }
}

/// Runs the hook in this process: its stdin, its stdout, its stderr. Returns the exit code.
pub fn run(registered: Registered, env: &Env, phases: &Phases) -> u8 {
    let started = Timestamp::now();
    let state = StateFolder::find(env);
    // The default hook would print a backtrace hint; one line is enough, and the log has the rest.
    std::panic::set_hook(Box::new(|_| ()));
    let answered = catch_unwind(AssertUnwindSafe(|| {
        let stdin = phases.time(timing::INPUT, read_stdin);
        answer_timed(phases, &stdin, env, &state, registered, started, None)
    }));
    let reply = answered.unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
        let why = text.or_else(|| panic.downcast_ref::<String>().cloned());
        let why = why.unwrap_or_else(|| "no words".into());
        complain(&format!("a fault of punchlist itself, the stop goes through: {why}"));
        let detail = Some(format!("panic: {why}"));
        let record = Record { detail, ..Record::new(Cause::Error, started) };
        let log = DecisionLog::in_folder(state.root());
        let _ = catch_unwind(AssertUnwindSafe(|| record::write_log(&log, &record)));
        Reply::Silent
    });
    let code = reply.send(std::io::stdout().lock(), std::io::stderr().lock());
    if env.switch(env::TRACE) {
        let _ = std::io::stderr().lock().write_all(phases.table().as_bytes());
    }
    code
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
    stdin: &[u8],
    env: &Env,
    state: &StateFolder,
    registered: Registered,
    started: Timestamp,
    reader: Option<&mut dyn Reader>,
) -> Reply {
    answer_timed(&Phases::default(), stdin, env, state, registered, started, reader)
}

fn answer_timed(
    phases: &Phases,
    stdin: &[u8],
    env: &Env,
    state: &StateFolder,
    registered: Registered,
    started: Timestamp,
    reader: Option<&mut dyn Reader>,
) -> Reply {
    let deadline = Instant::now() + registered.timeout;
    let started_ms = started.as_millisecond();
    let log = DecisionLog::in_folder(state.root());

    // Parse.
    let input = match phases.time(timing::INPUT, || HookInput::parse(stdin)) {
        Ok(input) => input,
        Err(error) => {
            complain(&error.to_string());
            let record = Record { detail: Some(error.to_string()), ..Record::new(Cause::BadInput, started) };
            record::write_log(&log, &record);
            return Reply::Silent;
        }
    };
    if let Event::Other(_) = input.event {
        return Reply::Silent;
    }
    let project = project_of(&input, env);
    let session = session_name(&input);
    let (mut config, faults) = phases.time(timing::CONFIG, || Config::load(env, &project));
    let default_used = |fault: &dyn ToString| Fault::new(fault, " (the default is used)");
    let mut faults: Vec<Fault> = faults.iter().map(|fault| default_used(fault)).collect();
    if input.event == Event::SessionStart {
        faults.iter().for_each(Fault::complain);
        let (input, config, session, project) = (&input, &config, session.as_str(), project.as_path());
        let start = Start { input, env, config, state, session, project, started_ms, deadline };
        return session_start::begin(&start);
    }
    faults.extend(config.audit.mode.fault(registered.mode).map(|fault| Fault::new(&fault, "")));
    if input.event == Event::SubagentStop {
        let most = config.subagents.max_prompt_bytes;
        config.audit.max_prompt_bytes = config.audit.max_prompt_bytes.min(most);
    }

    // Context.
    let newest =
        (registered.mode == Mode::Background).then(|| NewestStop::new(state, &session, &input, started_ms));
    let id = new_id();
    let mut stop = StopContext {
        id: &id,
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
        saved: phases.time(timing::STATE, || state.session(&session)),
        view: OnceCell::new(),
    };
    let budget = RefCell::new(budget(&config, state, &stop.saved));
    let is_newest = || newest.as_ref().is_none_or(NewestStop::is_newest);
    let is_wanted = newest.as_ref().map(|_| &is_newest as &dyn Fn() -> bool);
    let program = config.auditor.client.as_deref();
    let sealed = |model| SealedClient { env, program, model, flag_cache: state, is_wanted };
    let mut first_client = sealed(&config.auditor.model);
    let mut second_client = match &config.auditor.second_reader {
        SecondReader::Model(model) if reader.is_none() => Some(sealed(model)),
        _ => None,
    };
    let first: &mut dyn Reader = match reader {
        Some(reader) => reader,
        None => &mut first_client,
    };
    let mut first = Budgeted { reader: first, budget: &budget };
    let mut second = second_client.as_mut().map(|reader| Budgeted { reader, budget: &budget });
    let mut readers =
        ReaderPair { first: &mut first, second: second.as_mut().map(|reader| reader as &mut dyn Reader) };

    // Skip, or run the gates.
    let Checked { mut merged, gates, lock, off } = check(&mut stop, &mut readers);
    let switch = SelfDisabled::look(&stop, &merged.outcome, off.as_ref());
    let switch_advisory = switch.advice.map(|(outcome, advisory)| {
        merged.outcome = outcome;
        advisory
    });

    // Decide. The lock is held until the decision is in the state: a second hook of this stop finds the one or the other.
    let mut change = StateChange { told: switch.told, ..StateChange::default() };
    for gate in &gates {
        change.extend(&gate.result.change);
    }
    let counting = record::save_state(&stop, &merged, &gates, change);
    drop(lock);
    let decision = decide(merged.outcome, config.gates.dry_run, &counting);

    // Record.
    let view_faults = stop.view.get().map(|view| view.registration_faults.as_slice()).unwrap_or_default();
    faults.extend(view_faults.iter().map(|fault| Fault::new(fault, "")));
    let gate_faults = gates.iter().flat_map(|gate| &gate.result.config_faults);
    faults.extend(gate_faults.map(|fault| Fault::new(fault, " (the built-in text is used)")));
    // A session that is woken is given all of stderr (2.1.325), and what to change in a config is not for the agent.
    if !stop.is_background() || decision.action == Action::Allow {
        faults.iter().for_each(Fault::complain);
    }
    let faults: Vec<String> = faults.into_iter().map(|fault| fault.text).collect();
    let record = record::record(&stop, &decision, &gates, switch_advisory, &faults, started);
    phases.time(timing::LOG, || {
        record::write_log(&log, &record);
        record::finish(&stop, &decision, &gates, &log, &mut readers, || budget.borrow().clone());
    });

    // Answer.
    decision.reply
}

/// What checking a stop came to.
struct Checked {
    merged: Merged,
    gates: Vec<CheckedGate>,
    lock: Option<StopLock>,
    /// The switch that lets the stop through.
    off: Option<SwitchedOff>,
}

/// Skips a stop, or has the gates check it.
fn check(stop: &mut StopContext<'_>, readers: &mut ReaderPair<'_>) -> Checked {
    let StopContext { input, env, config, .. } = *stop;
    let without_gates =
        |outcome, off| Checked { merged: Merged::without_gates(outcome), gates: Vec::new(), lock: None, off };
    let mut gates = gates::for_stop(stop);
    let keeps_working = gates.iter().any(|gate| gate.keeps_working());
    // A switch in the config comes first, and is the one that is told of.
    let off = if config.gates.enabled { stop.state.switched_off(stop.project, stop.session) } else { None };
    let guard = match skip(input, env, config, keeps_working, off.as_ref(), &stop.saved) {
        Some(Skip::All(outcome)) => {
            if let Some(newest) = stop.newest {
                newest.supersede_older();
            }
            return without_gates(outcome, off);
        }
        Some(Skip::Guarded(outcome)) => Some(outcome),
        None => None,
    };
    if let Some(outcome) = unset(stop, gates.is_empty()) {
        return without_gates(outcome, None);
    }
    if guard.is_some() {
        gates.retain(|gate| gate.keeps_working());
    }
    let lock = match stop.phases.time(timing::STATE, || stop_lock::take(stop)) {
        Ok((lock, saved)) => {
            stop.saved = saved;
            lock
        }
        Err(outcome) => return without_gates(outcome, None),
    };
    let gates = gates::check_all(&gates, stop, readers);
    let mut outcomes: Vec<(&Outcome, bool)> =
        gates.iter().map(|gate| (&gate.result.outcome, gate.keeps_working)).collect();
    // Where no gate has anything to say, the log says why the others were not asked.
    outcomes.extend(guard.as_ref().map(|outcome| (outcome, false)));
    let merged = merge(&outcomes);
    Checked { merged, gates, lock: Some(lock), off: None }
}

/// Why no gate is set for a stop.
fn unset(stop: &StopContext<'_>, is_empty: bool) -> Option<Outcome> {
    let agent_type = stop.input.agent_type.as_deref().unwrap_or_default();
    let is_subagent = stop.input.event == Event::SubagentStop;
    let (cause, why) = if is_subagent && !stop.config.subagents.includes(agent_type) {
        let why = format!("agents of type \"{agent_type}\" are not looked at ([subagents])");
        (Cause::NothingToAudit, why)
    } else if !is_empty {
        return None;
    } else if stop.config.audit.enabled {
        (Cause::Off, "[subagents] audit = false, and no check is set for subagents".to_owned())
    } else {
        (Cause::Off, "switched off by [audit] enabled = false, and no other gate is set".to_owned())
    };
    Some(Outcome::Pass { cause, detail: Some(why) })
}

/// Something wrong with the settings, and what was done about it.
struct Fault {
    text: String,
    note: &'static str,
}

impl Fault {
    fn new(text: &dyn ToString, note: &'static str) -> Self {
        Self { text: text.to_string(), note }
    }

    fn complain(&self) {
        complain(&format!("{}{}", self.text, self.note));
    }
}

/// What this stop may still ask of a model.
fn budget(config: &Config, state: &StateFolder, saved: &SessionState) -> Budget {
    let most = config.auditor.max_calls_per_session;
    let left = most.saturating_sub(saved.reader_calls);
    let today = || jiff::Zoned::now().date();
    let money = config.auditor.max_cost_per_day;
    let money = money.map(|most| Limit { left: most - state.spent_on(today()), most });
    Budget { calls: Limit { left, most }, money, ..Budget::default() }
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
