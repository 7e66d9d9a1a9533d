//! `punchlist hook`: stdin in, decision out. Here the world is touched in order: read, check, count, decide,
//! log, answer. Must not end in any other way than exit 0, or exit 2 with a block; must not print anything on
//! stdout but the reply.

use std::cell::RefCell;
use std::io::{IsTerminal, Read, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use jiff::Timestamp;

use crate::cli::HookArgs;
use crate::client::env_vars;
use crate::commands::complain;
use crate::config::{Config, Mode, SecondReader};
use crate::decision::{Cause, Counting, Decision, Held, decide};
use crate::env::{self, Env};
use crate::followup::PendingBlock;
use crate::gates;
use crate::gates::block_followup;
use crate::gates::{MergedResult, ReaderPair, StopContext, StopReport, any_keeps_working, self_disable};
use crate::hook::session_start;
use crate::hook::session_start::Start;
use crate::hook::skip::{Skip, aside};
use crate::hook::{Event, HookInput, Reply};
use crate::ids::new_id;
use crate::log::{DecisionLog, Record, Snapshot, artifacts, prune};
use crate::readers::budget::{Budget, Budgeted, Limit};
use crate::readers::{Reader, SealedClient};
use crate::state::{NewestStop, SessionState, StateFolder};
use crate::timing;
use crate::timing::Phases;

/// The most that is read of stdin; the real thing is a few kilobytes and one final message.
const STDIN_CAP: u64 = 16 << 20;

/// A day, in seconds: no hook runs longer, and a clock can't count to every number that fits a flag.
const LONGEST_TIMEOUT: u64 = 24 * 3600;

/// How the hook is registered. The client gives no sign of it, neither on stdin nor in the environment (2.1.325), so
/// the command line says it.
#[derive(Debug, Clone, Copy)]
pub struct Registered {
    /// How long the client lets it run.
    pub timeout: Duration,
    /// Whether the session waits for it.
    pub mode: Mode,
}

impl Registered {
    /// As always: the session waits.
    pub fn holding(timeout: Duration) -> Self {
        Self { timeout, mode: Mode::Hold }
    }
}

/// Runs the hook in this process: its stdin, its stdout, its stderr.
pub fn run(args: &HookArgs, env: &Env, mut phases: Phases) -> u8 {
    let started = Timestamp::now();
    let state = StateFolder::find(env);
    // The default hook would print a backtrace hint; one line is enough, and the log has the rest.
    std::panic::set_hook(Box::new(|_| ()));
    let answered = catch_unwind(AssertUnwindSafe(|| {
        let stdin = phases.time(timing::INPUT, read_stdin);
        let registered = Registered {
            timeout: Duration::from_secs(args.hook_timeout.min(LONGEST_TIMEOUT)),
            mode: if args.background { Mode::Background } else { Mode::Hold },
        };
        answer_in(&mut phases, &stdin, env, &state, registered, started, None)
    }));
    let reply = answered.unwrap_or_else(|panic| {
        let why = panic_words(panic.as_ref());
        complain(&format!("a fault of punchlist itself, the stop goes through: {why}"));
        let _ = catch_unwind(AssertUnwindSafe(|| log_panic(&state, &why, started)));
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

/// Decides one stop and writes it down; gives what to answer. `auditor` stands in for the client where one is
/// given.
pub fn answer(
    stdin: &[u8],
    env: &Env,
    state: &StateFolder,
    registered: Registered,
    started: Timestamp,
    auditor: Option<&mut dyn Reader>,
) -> Reply {
    answer_in(&mut Phases::default(), stdin, env, state, registered, started, auditor)
}

/// The same, with our own time counted on.
fn answer_in(
    phases: &mut Phases,
    stdin: &[u8],
    env: &Env,
    state: &StateFolder,
    registered: Registered,
    started: Timestamp,
    auditor: Option<&mut dyn Reader>,
) -> Reply {
    let begun = Instant::now();
    let log = DecisionLog::in_folder(state.root());
    let input = match phases.time(timing::INPUT, || HookInput::parse(stdin)) {
        Ok(input) => input,
        Err(error) => {
            complain(&error.to_string());
            let record = Record { detail: Some(error.to_string()), ..Record::new(Cause::BadInput, started) };
            write_down(&log, &record);
            return Reply::Silent;
        }
    };
    if let Event::Other(_) = input.event {
        return Reply::Silent;
    }
    let (project, (mut config, faults)) = phases.time(timing::CONFIG, || {
        let project = project_of(&input, env);
        let loaded = Config::load(env, &project);
        (project, loaded)
    });
    if input.event == Event::SessionStart {
        for fault in &faults {
            complain(&format!("{fault} (the default is used)"));
        }
        let deadline = begun + registered.timeout;
        return begin_session(&input, env, &config, state, &project, (started, deadline));
    }
    let mut faults: Vec<String> = faults.iter().map(ToString::to_string).collect();
    let mut complaints: Vec<String> =
        faults.iter().map(|fault| format!("{fault} (the default is used)")).collect();
    if let Some(fault) = config.audit.mode.fault(registered.mode) {
        complaints.push(fault.clone());
        faults.push(fault);
    }
    if input.event == Event::SubagentStop {
        let most = config.subagents.max_prompt_bytes;
        config.audit.max_prompt_bytes = config.audit.max_prompt_bytes.min(most);
    }
    let session = session_name(&input);
    let started_ms = started.as_millisecond();
    let claim =
        (registered.mode == Mode::Background).then(|| NewestStop::new(state, &session, &input, started_ms));
    let id = new_id();
    let stop = StopContext {
        id: &id,
        input: &input,
        env,
        config: &config,
        state,
        session: &session,
        project: &project,
        started_ms,
        deadline: begun + registered.timeout,
        claim: claim.as_ref(),
    };

    let is_newest = || claim.as_ref().is_none_or(NewestStop::is_newest);
    let is_wanted = claim.as_ref().map(|_| &is_newest as &dyn Fn() -> bool);
    let program = config.auditor.client.as_deref();
    let sealed = |model| SealedClient { env, program, model, flag_cache: state, is_wanted };
    let (mut first_client, mut second_client) = (sealed(&config.auditor.model), None);
    if let SecondReader::Model(model) = &config.auditor.second_reader {
        second_client = Some(sealed(model));
    }
    let budget = RefCell::new(budget_of(&stop));
    let (first, second): (&mut dyn Reader, Option<&mut dyn Reader>) = match auditor {
        Some(stand_in) => (stand_in, None),
        None => (&mut first_client, second_client.as_mut().map(|client| client as &mut dyn Reader)),
    };
    let mut first = Budgeted { reader: first, budget: &budget };
    let mut second = second.map(|reader| Budgeted { reader, budget: &budget });
    let mut readers =
        ReaderPair { first: &mut first, second: second.as_mut().map(|reader| reader as &mut dyn Reader) };
    let mut story = StopReport::default();
    std::mem::swap(&mut story.phases, phases);
    let joined = judge(&stop, &mut story, &mut readers);
    std::mem::swap(&mut story.phases, phases);
    let counting = remember(&stop, &joined, &story, phases);
    let decision = decide(joined.outcome, config.gates.dry_run, &counting);

    complaints.extend(story.registration_faults.iter().cloned());
    complaints.extend(story.config_faults.iter().map(|fault| format!("{fault} (the built-in text is used)")));
    // A session that is woken is given all of stderr (2.1.325), and what to change in a config is not for the agent.
    if claim.is_none() || decision.held == Held::Allow {
        for line in &complaints {
            complain(line);
        }
    }
    faults.append(&mut story.registration_faults);
    faults.append(&mut story.config_faults);
    let mut chores = std::mem::take(&mut story.chores);
    let mut record = record_of(&stop, &decision, story, &faults, started);
    record.record.phases_ms = phases.in_millis();
    phases.time(timing::LOG, || {
        write_down(&log, &record.record);
        let is_block = decision.held == Held::Block;
        look_back(&stop, &record.record, record.pending.take().filter(|_| is_block), &log, &mut readers);
        count_spending(&stop, &budget.borrow());
        record.keep_artifacts(&stop);
        chores.finish();
    });
    decision.reply
}

/// What a session that starts is given. It is no decision, and the log has none.
fn begin_session(
    input: &HookInput,
    env: &Env,
    config: &Config,
    state: &StateFolder,
    project: &Path,
    (started, deadline): (Timestamp, Instant),
) -> Reply {
    let session = &session_name(input);
    let started_ms = started.as_millisecond();
    let start = Start { input, env, config, state, session, project, started_ms, deadline };
    session_start::begin(&start, || session_start::task::current(&start), |why| complain(&why))
}

/// Steps aside, or has the gates look at the stop.
fn judge(stop: &StopContext<'_>, story: &mut StopReport, readers: &mut ReaderPair<'_>) -> MergedResult {
    let StopContext { input, env, config, state, claim, .. } = *stop;
    let mut off = None;
    let switch = || {
        off = state.switched_off(stop.project, stop.session);
        off.clone()
    };
    let keeps_working = any_keeps_working(stop, story);
    let remembered = || story.phase(timing::STATE, |_| state.session(stop.session));
    let aside = aside(input, env, config, keeps_working, switch, remembered);
    let guard = match aside {
        Some(Skip::All(outcome)) => {
            if let Some(claim) = claim {
                claim.pass_by();
            }
            let outcome = self_disable::with_whose_it_was(outcome, off.as_ref(), stop, story);
            return MergedResult { outcome, uses_budget: false };
        }
        Some(Skip::Guarded(guard)) => Some(guard),
        None => None,
    };
    let joined = gates::look(stop, story, guard, readers);
    let outcome = self_disable::with_whose_it_was(joined.outcome, None, stop, story);
    MergedResult { outcome, ..joined }
}

/// Writes down what became of the block before this stop, and remembers this one if it is a block. Whatever goes wrong
/// in it, the decision stands and nobody hears of it.
fn look_back(
    stop: &StopContext<'_>,
    record: &Record,
    block: Option<PendingBlock>,
    log: &DecisionLog,
    readers: &mut ReaderPair<'_>,
) {
    let looked = catch_unwind(AssertUnwindSafe(|| {
        if block_followup::is_told_by(record.cause) {
            block_followup::tell(stop, &record.id, log, readers);
        }
        if let Some(block) = block {
            let decided_ms = Timestamp::now().as_millisecond();
            let pending = PendingBlock { id: record.id.clone(), decided_ms, ..block };
            if let Err(error) = stop.state.keep_pending(stop.session, stop.agent(), &pending) {
                tracing::debug!(%error, "what becomes of this block will not be known");
            }
        }
    }));
    if let Err(panic) = looked {
        tracing::debug!(why = panic_words(panic.as_ref()), "what became of a block can't be told");
    }
}

/// What this stop may still ask of a model.
fn budget_of(stop: &StopContext<'_>) -> Budget {
    let config = &stop.config.auditor;
    let most = config.max_calls_per_session;
    let left = most.saturating_sub(stop.state.session(stop.session).reader_calls);
    let money = config.max_cost_per_day.map(|most| Limit { left: most - stop.state.spent_on(today()), most });
    Budget { calls: Limit { left, most }, money, ..Budget::default() }
}

fn today() -> jiff::civil::Date {
    jiff::Zoned::now().date()
}

/// Counts what the readers cost. What can't be written is not counted; the decision stands.
fn count_spending(stop: &StopContext<'_>, budget: &Budget) {
    if budget.made == 0 {
        return;
    }
    let made = budget.made;
    let counted = stop.state.update_session(stop.session, |session| session.reader_calls += made);
    let spent = if budget.cost > 0.0 { stop.state.spend(today(), budget.cost) } else { Ok(()) };
    if let Err(error) = counted.and(spent) {
        tracing::debug!(%error, "what the readers cost can't be counted");
    }
}

/// Remembers what was audited, and counts a block before it is given.
fn remember(
    stop: &StopContext<'_>,
    joined: &MergedResult,
    story: &StopReport,
    phases: &mut Phases,
) -> Counting {
    let is_superseded = || stop.claim.is_some_and(|claim| !claim.is_newest());
    let counts = joined.outcome.wants_block() && !stop.config.gates.dry_run;
    if is_superseded() {
        return Counting::Superseded;
    }
    let learned = story.audited.is_some() || !story.told.is_empty() || !story.checks_passed.is_empty();
    if !learned && !counts {
        return Counting::NotNeeded;
    }
    let (mut spent, mut superseded) = (false, false);
    let change = |session: &mut SessionState| {
        // For the last time: no newer stop can come before this is written.
        superseded = is_superseded();
        if superseded {
            return;
        }
        if let Some(audited) = &story.audited {
            session.audits.insert(stop.agent().to_owned(), audited.clone());
        }
        session.told.extend(story.told.iter().cloned());
        session.checks.extend(story.checks_passed.clone());
        // A subagent's stop may have used the budget up while this one was being audited.
        spent = joined.uses_budget && session.blocks >= stop.config.gates.max_blocks;
        if counts && !spent {
            session.blocks += u32::from(joined.uses_budget);
            session.kept_working = !joined.uses_budget;
            session.held_ms.insert(stop.agent().to_owned(), Timestamp::now().as_millisecond());
            for gate in &story.held_by {
                *session.held_by.entry((*gate).to_owned()).or_default() += 1;
            }
        }
    };
    let written = phases.time(timing::REMEMBER, || stop.state.update_session(stop.session, change));
    match (counts, written) {
        _ if superseded => Counting::Superseded,
        (false, _) => Counting::NotNeeded,
        (true, Ok(())) if spent => Counting::Spent,
        (true, Ok(())) => Counting::Counted,
        (true, Err(error)) => Counting::Failed(format!("{}: {error}", stop.state.root().display())),
    }
}

/// The project's folder: the one in which the session was started, wherever it stands now.
fn project_of(input: &HookInput, env: &Env) -> PathBuf {
    let started_in = env.path(env_vars::PROJECT_DIR).filter(|folder| folder.is_dir());
    started_in.or_else(|| input.cwd.clone()).or_else(|| std::env::current_dir().ok()).unwrap_or_default()
}

/// The name under which a session is remembered.
fn session_name(input: &HookInput) -> String {
    let by_file = || input.transcript_path.as_ref().map(|path| path.to_string_lossy().into_owned());
    input.session_id.clone().or_else(by_file).unwrap_or_else(|| "unnamed".into())
}

struct ToWrite {
    record: Record,
    /// What the first reader answered.
    reply: Option<String>,
    /// What the second reader was asked and answered.
    second: Option<(String, String)>,
    /// What was looked at, where nobody was asked.
    scene: Option<Snapshot>,
    /// What is to be remembered if it is a block.
    pending: Option<PendingBlock>,
}

impl ToWrite {
    /// Keeps what was looked at and what the readers said, and takes out what is too old or too much.
    fn keep_artifacts(&self, stop: &StopContext<'_>) {
        let root = stop.state.root();
        if let Some(scene) = &self.scene {
            artifacts::write_snapshot(root, stop.id, scene);
        }
        if let Some(reply) = &self.reply {
            artifacts::write_reply(root, stop.id, reply);
        }
        if let Some((task, reply)) = &self.second {
            artifacts::write_second(root, stop.id, task, reply);
        }
        if self.scene.is_some() || self.reply.is_some() {
            prune::tidy(root, stop.config.log.keep, stop.config.log.max_size);
        }
    }
}

fn record_of(
    stop: &StopContext<'_>,
    decision: &Decision,
    story: StopReport,
    faults: &[String],
    started: Timestamp,
) -> ToWrite {
    let record = Record {
        session: stop.input.session_id.clone(),
        agent: stop.input.agent_id.clone(),
        project: Some(stop.project.display().to_string()),
        event: stop.input.event.name().to_owned(),
        decision: decision.held,
        detail: decision.detail.clone(),
        dry_run: stop.config.gates.dry_run,
        would_block: decision.would_block,
        gates: story.gates,
        plan: story.plan,
        findings: story.findings,
        advisories: story.advisories,
        files: story.files,
        auditor: story.auditor,
        second_reader: story.second_reader,
        masked: story.masked,
        prompt_bytes: story.prompt_bytes,
        transcript: story.transcript,
        config_error: (!faults.is_empty()).then(|| faults.join("; ")),
        client_version: env_vars::version(stop.env).or(story.client_version),
        ..Record::named(stop.id, decision.cause, started)
    };
    ToWrite {
        record,
        reply: story.reply,
        second: story.second_prompt.zip(story.second_reply),
        scene: story.scene,
        pending: story.pending,
    }
}

fn write_down(log: &DecisionLog, record: &Record) {
    if let Err(error) = log.append(record, Timestamp::now()) {
        complain(&format!("the decision log can't be written: {}: {error}", log.folder().display()));
    }
}

fn log_panic(state: &StateFolder, why: &str, started: Timestamp) {
    let record = Record { detail: Some(format!("panic: {why}")), ..Record::new(Cause::Error, started) };
    write_down(&DecisionLog::in_folder(state.root()), &record);
}

fn panic_words(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "no words".into())
}
