//! `loop run`: works through the list with one fresh session of the client after another. All
//! counts are saved before a session starts, so a run after a crash continues where it was, and a
//! lock keeps two runs out of one folder.

use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

use super::super::progress::Progress;
use super::super::switch::project_here;
use super::client_session::{ClientSession, is_alive, start_time};
use super::display::{BAD, GOOD, LABEL, SessionLine, dollars, duration};
use super::outcome::{Failures, SessionOutcome, over_budget};
use super::output::print;
use super::{LoopContext, Result};
use crate::child;
use crate::cli::loops::LoopRunArgs;
use crate::client::program;
use crate::config::asked_by_feature;
use crate::exit;
use crate::feature_loop::prompts::{self, SESSION_PROMPT};
use crate::feature_loop::snapshot::{LoopSnapshot, now_ms};
use crate::feature_loop::state::{ListChanges, SessionProcess};
use crate::feature_loop::verify::Verifier;
use crate::feature_loop::{LoopState, Status, Step};
use crate::ids::new_session;
use crate::text::{counted, harmless};

/// How often a wait checks whether to end.
const POLL: Duration = Duration::from_millis(100);
const GONE: &str = "what was remembered of the loop is gone";
/// How long the commands that verify features may take between two sessions.
const VERIFY_TIME: Duration = Duration::from_mins(20);
/// The pause after a session in the terminal, in which the person can end the loop.
const INTERACTIVE_PAUSE: Duration = Duration::from_secs(4);

struct Runner<'a> {
    context: &'a LoopContext<'a>,
    args: &'a LoopRunArgs,
    folder: PathBuf,
    client: PathBuf,
    failures: Failures,
    /// The time up to here is already counted as spent.
    counted_until: Instant,
}

/// How and why the run ended.
type RunEnd = (Status, String);

pub(super) fn run(context: &LoopContext<'_>, args: &LoopRunArgs) -> Result {
    let folder = context.folder();
    let client = program::find(context.env, context.config.auditor.client.as_deref())?;
    if args.dry_run {
        return dry_run(context, args, &folder, &client);
    }
    let _lock = context.state.run_loop(&folder)?;
    let mut runner = Runner {
        context,
        args,
        folder,
        client,
        failures: Failures::default(),
        counted_until: Instant::now(),
    };
    child::watch_interrupts();
    runner.begin()?;
    let (status, why) = runner.run_sessions()?;
    let spent = runner.state()?.spent;
    let sessions = counted(usize::try_from(spent.sessions).unwrap_or(usize::MAX), "session", "sessions");
    let cost = if args.interactive { String::new() } else { format!(", {}", dollars(spent.usd)) };
    let (style, code) = if status == Status::Complete { (GOOD, exit::OK) } else { (BAD, exit::FAILED) };
    let text = format!(
        "{style}{status}{style:#}: {} {LABEL}({sessions}{cost}, {}){LABEL:#}\n",
        harmless(&why),
        duration(Duration::from_millis(spent.ms))
    );
    print(&text)?;
    Ok(code)
}

/// Shows the command and prompt of the next session.
fn dry_run(context: &LoopContext<'_>, args: &LoopRunArgs, folder: &Path, client: &Path) -> Result {
    let mut state = context.state.loop_of(folder).unwrap_or_else(|| context.new_loop(folder));
    state.max = args.max_iterations.unwrap_or(state.max);
    state.is_handed_out = false;
    let snapshot = LoopSnapshot::read(&state)?;
    let prompt = match snapshot.next_step(&mut state, None, &context.config.feature_loop) {
        Step::Work { at, changes } => hand_out(context, &snapshot, &mut state, at, &changes),
        Step::End { status, why } => {
            return print(&format!("No session would be started. {status}: {}\n", harmless(&why)));
        }
        Step::Unverified { why } => {
            return print(&format!("No session would be started: {}\n", harmless(&why)));
        }
        Step::NoFeatures => return Err(no_features(&state).into()),
    };
    let own = &args.client;
    let session =
        ClientSession { client, folder, session: "SESSION-ID", prompt: &prompt, args: own, time: None };
    let shown = session.arguments(args.interactive);
    let mut shown: Vec<_> = shown.iter().map(|arg| arg.to_string_lossy()).collect();
    if args.interactive {
        shown.pop();
    }
    let how = if args.interactive { "PROMPT" } else { "< PROMPT" };
    let text = format!(
        "cd {}\n{} {} {how}\n\nPROMPT:\n{prompt}\n",
        folder.display(),
        client.display(),
        shown.join(" ")
    );
    print(&harmless(&text))
}

/// Hands a feature out, and returns the prompt of a fresh session.
fn hand_out(
    context: &LoopContext<'_>,
    snapshot: &LoopSnapshot,
    state: &mut LoopState,
    at: Option<usize>,
    changes: &ListChanges,
) -> String {
    let folder = context.config.auditor.prompts.as_deref();
    let (template, error) = prompts::load_template(folder, "loop.md", SESSION_PROMPT);
    if let Some(error) = error {
        super::complain(&format!("{error} (the built-in text is used)"));
    }
    snapshot.hand_out(state, at, changes, &template, SESSION_PROMPT)
}

fn no_features(state: &LoopState) -> String {
    format!("{} has no features yet; put some in, or let a session do it", state.features)
}

impl Runner<'_> {
    fn state(&self) -> Result<LoopState> {
        Ok(self.context.state.loop_of(&self.folder).ok_or(GONE)?)
    }

    fn change<T>(&self, change: impl FnOnce(&mut LoopState) -> T) -> Result<T> {
        let change = |saved: &mut Option<LoopState>| Ok(change(saved.as_mut().ok_or(GONE)?));
        Ok(self.context.state.change_loop(&self.folder, change)?)
    }

    /// Starts the loop, or continues where the last run ended or was cut off.
    fn begin(&self) -> Result<()> {
        let fresh = self.context.new_loop(&self.folder);
        let saved = self.context.state.loop_of(&self.folder);
        let snapshot = LoopSnapshot::read(saved.as_ref().unwrap_or(&fresh))
            .map_err(|why| format!("{why}; `punchlist loop init` begins a loop"))?;
        let left_over = self.context.state.change_loop(&self.folder, |saved| {
            let bound = saved.as_ref().filter(|saved| saved.ended.is_none() && saved.spent.child.is_none());
            if let Some(session) = bound.and_then(|saved| saved.session.as_ref()) {
                return Err(format!(
                    "the loop is bound to session {session}; `punchlist loop stop` lets that one go"
                ));
            }
            let state = saved.get_or_insert_with(|| {
                let iteration = snapshot.progress.iteration.unwrap_or_default();
                let mut state = LoopState { iteration, ..fresh };
                state.begin(&snapshot.features, snapshot.fingerprint.clone(), now_ms());
                state
            });
            state.max = self.args.max_iterations.unwrap_or(state.max);
            // The round before this run must not count as stalled.
            state.is_handed_out = false;
            if state.ended.take().is_some_and(|ended| ended.status == Status::Stalled.as_str()) {
                state.stalled_rounds = 0;
            }
            state.token = None;
            state.fingerprint = state.fingerprint.take().or_else(|| snapshot.fingerprint.clone());
            Ok(state.spent.child.clone())
        })?;
        // Replaces a status such as BLOCKED, which this person has seen, and runs the loop again.
        snapshot.write_progress(&self.state()?, Status::InProgress)?;
        left_over.map_or(Ok(()), |process| self.wait_for_left_over(&process))
    }

    /// Waits for the session of a run that was cut off: two at once would get in each other's way.
    fn wait_for_left_over(&self, process: &SessionProcess) -> Result<()> {
        let what = if is_alive(process) {
            format!("its session goes on (process {}), and is waited for", process.pid)
        } else {
            "going on".into()
        };
        print(&format!("The last run was cut off in session {}; {what}.\n", process.session))?;
        while is_alive(process) && child::interrupted().is_none() {
            sleep(POLL);
        }
        if child::interrupted().is_some() {
            return Err("asked to end".into());
        }
        self.change(|state| (state.spent.child, state.session) = (None, None))
    }

    /// Runs one session after another until the loop ends.
    fn run_sessions(&mut self) -> Result<RunEnd> {
        loop {
            let started = Instant::now();
            if let Some(end) = self.run_round()? {
                return Ok(end);
            }
            let pause = match self.args.every {
                Some(every) => every.saturating_sub(started.elapsed()),
                None if self.args.interactive => INTERACTIVE_PAUSE,
                None => self.failures.pause(self.args.retry_after),
            };
            if let Some(end) = self.wait(pause)? {
                return Ok(end);
            }
        }
    }

    fn run_round(&mut self) -> Result<Option<RunEnd>> {
        if child::interrupted().is_some() {
            return self.end_interrupted();
        }
        let state = self.state()?;
        let verified = LoopSnapshot::read(&state)
            .and_then(|mut snapshot| self.verify(&state, &mut snapshot).map(|()| snapshot));
        let snapshot = match verified {
            Ok(snapshot) => snapshot,
            Err(_) if child::interrupted().is_some() => return self.end_interrupted(),
            Err(why) => return self.end(Status::Failed, why),
        };
        let config = &self.context.config.feature_loop;
        let session = new_session();
        let mut prompt = None;
        let step = self.change(|state| {
            let step = snapshot.next_step(state, None, config);
            if let Step::Work { at, changes } = &step {
                let time = Duration::from_millis(state.spent.ms) + self.counted_until.elapsed();
                if let Some(why) = over_budget(self.args, state.spent.usd, time) {
                    return Step::End { status: Status::OverBudget, why };
                }
                prompt = Some((hand_out(self.context, &snapshot, state, *at, changes), *at));
                state.session = Some(session.clone());
                state.spent.sessions += 1;
            }
            step
        })?;
        let repeats = self.args.every.is_some();
        match (step, prompt) {
            (Step::End { status: Status::Complete, .. }, _) if repeats => {
                snapshot.write_progress(&self.state()?, Status::Complete)?;
                Ok(None)
            }
            (Step::Unverified { why }, _) if repeats => {
                super::complain(&why);
                Ok(None)
            }
            (Step::Unverified { why }, _) => self.end(Status::Failed, why),
            (Step::End { status, why }, _) => self.end(status, why),
            (Step::NoFeatures, _) if repeats => Ok(None),
            (Step::Work { .. }, Some((prompt, at))) => {
                snapshot.write_progress(&self.state()?, Status::InProgress)?;
                self.run_session(&snapshot, &session, &prompt, at)
            }
            (Step::NoFeatures | Step::Work { .. }, _) => Err(no_features(&self.state()?).into()),
        }
    }

    /// Looks into what a session has set to pass where no hook did.
    fn verify(&self, state: &LoopState, snapshot: &mut LoopSnapshot) -> std::result::Result<(), String> {
        let config = &self.context.config.feature_loop;
        let project = project_here(self.context.env);
        let allowed = self.context.state.allowed(&project);
        let is_allowed = |run: &str| asked_by_feature(run, &allowed).is_allowed;
        let mut verifier = Verifier {
            list: config.verify.as_deref(),
            is_allowed: &is_allowed,
            deadline: Instant::now() + VERIFY_TIME,
            hint: ", which is all that was left for it",
            // Between two sessions there is no stop, and no transcript to go by.
            has_session_worked: &|| None,
            judge: &mut |_| Err("`loop run` asks no reader, only the hook does".into()),
        };
        for line in verifier.settle(state, snapshot)? {
            super::complain(&line);
        }
        for one in &snapshot.taken_back {
            super::complain(&format!("set back to open: {}: {}", one.name, one.why));
        }
        Ok(())
    }

    /// Runs one session, and counts what it cost.
    fn run_session(
        &mut self,
        snapshot: &LoopSnapshot,
        session: &str,
        prompt: &str,
        at: Option<usize>,
    ) -> Result<Option<RunEnd>> {
        let state = self.state()?;
        let spent_time = Duration::from_millis(state.spent.ms) + self.counted_until.elapsed();
        let client_session = ClientSession {
            client: &self.client,
            folder: &self.folder,
            session,
            prompt,
            args: &self.args.client,
            time: self.args.max_time.map(|max| max.saturating_sub(spent_time)),
        };
        let on_start = |pid| {
            let process = SessionProcess { session: session.to_owned(), pid, started: start_time(pid) };
            // If this fails, only a run after a crash misses it.
            let _ = self.change(|state| state.spent.child = Some(process));
        };
        let line = SessionLine::new(&state, snapshot, at);
        let (outcome, usd) = if self.args.interactive {
            let is_let_go = || self.state().is_ok_and(|state| state.end_status() == Some(Status::HandedOver));
            (client_session.run_in_terminal(on_start, &is_let_go), None)
        } else {
            let progress = Progress::start();
            client_session.run_in_print_mode(on_start, &|| line.draw(&progress, &state))
        };
        let ms = self.uncounted_ms();
        let has_failed = matches!(outcome, SessionOutcome::Failed(_));
        let after = self.change(|state| {
            state.spent.usd += usd.unwrap_or_default();
            state.spent.ms = state.spent.ms.saturating_add(ms);
            (state.spent.child, state.session) = (None, None);
            // A session that failed had no chance to change anything, and is no stalled round.
            state.is_handed_out &= !has_failed;
            state.clone()
        })?;
        line.print(&outcome, usd, &after);
        match outcome {
            SessionOutcome::Interrupted => return self.end_interrupted(),
            SessionOutcome::OutOfTime => {
                let why = over_budget(self.args, 0.0, Duration::MAX);
                return self.end(Status::OverBudget, why.unwrap_or_default());
            }
            SessionOutcome::Failed(words) => {
                if let Some(why) = self.failures.add(&words, self.args.max_errors) {
                    return self.end(Status::Failed, why);
                }
            }
            SessionOutcome::Finished { .. } if self.args.max_cost.is_some() && usd.is_none() => {
                let why =
                    "the client did not tell what the session cost, and --max-cost can't be kept".into();
                return self.end(Status::OverBudget, why);
            }
            SessionOutcome::Finished { .. } => self.failures.reset(),
        }
        self.check_gate(after)
    }

    /// Ends the run if the gate ended the loop during the session.
    fn check_gate(&self, state: LoopState) -> Result<Option<RunEnd>> {
        let Some(ended) = state.ended else { return Ok(None) };
        let continues = match Status::parse(&ended.status) {
            Some(Status::HandedOver) => true,
            // With --every, the list is checked again later.
            Some(Status::Complete) => self.args.every.is_some(),
            _ => false,
        };
        if continues {
            return self.change(|state| state.ended = None).map(|()| None);
        }
        let status = Status::parse(&ended.status).unwrap_or(Status::Failed);
        Ok(Some((status, ended.why)))
    }

    /// Ends the loop, and updates the progress file.
    fn end(&self, status: Status, why: String) -> Result<Option<RunEnd>> {
        let state = self.change(|state| {
            state.end(&status, &why, now_ms());
            state.clone()
        })?;
        if let Ok(snapshot) = LoopSnapshot::read(&state) {
            snapshot.write_progress(&state, status.clone())?;
        }
        Ok(Some((status, why)))
    }

    fn end_interrupted(&self) -> Result<Option<RunEnd>> {
        self.end(Status::Interrupted, "asked to end; `punchlist loop run` goes on".into())
    }

    /// The time since the last call, in milliseconds.
    fn uncounted_ms(&mut self) -> u64 {
        let ms = u64::try_from(self.counted_until.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.counted_until = Instant::now();
        ms
    }

    /// Waits, and counts the time as spent.
    fn wait(&mut self, pause: Duration) -> Result<Option<RunEnd>> {
        let started = Instant::now();
        let progress = (pause > Duration::from_secs(2)).then(Progress::start);
        while started.elapsed() < pause {
            if child::interrupted().is_some() {
                drop(progress);
                return self.end_interrupted();
            }
            if let Some(progress) = &progress {
                let left = duration(pause.saturating_sub(started.elapsed()) + Duration::from_millis(999));
                progress.set_message(&format!("next session in {left}; Ctrl-C ends the loop"));
            }
            sleep(POLL.min(pause));
        }
        let waited = self.uncounted_ms();
        let spent_ms = self.change(|state| {
            state.spent.ms = state.spent.ms.saturating_add(waited);
            state.spent.ms
        })?;
        // Money is not spent by waiting.
        match over_budget(self.args, 0.0, Duration::from_millis(spent_ms)) {
            Some(why) => self.end(Status::OverBudget, why),
            None => Ok(None),
        }
    }
}
