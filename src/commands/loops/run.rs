//! `loop run`: works the list off, one session of the client after another, each with a fresh context and told where things
//! stand. Takes budgets, gives an exit code. Everything that counts is on disk before a session begins, so that whoever runs
//! it again after a crash goes on, and no two runs of one folder are at work at once.

use std::cell::Cell;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

use super::super::progress::{Progress, spinner};
use super::super::say::{say, width};
use super::Desk;
use super::outside::{Budget, Ended, Failures};
use super::session::{Start, born, is_alive};
use super::show::{BAD, GOOD, LABEL, OPEN, dollars, length};
use crate::child;
use crate::cli::loops::LoopRunArgs;
use crate::client::program;
use crate::exit;
use crate::feature_loop::prompts;
use crate::feature_loop::prompts::SESSION;
use crate::feature_loop::round::{Seen, now_ms, see};
use crate::feature_loop::state::{Changes, Child};
use crate::feature_loop::{Loop, Status, Step, disk, features};
use crate::ids::new_session;
use crate::text::{counted, first_part, harmless};

/// How often somebody who waits looks whether to go on.
const LOOK: Duration = Duration::from_millis(100);
/// After a session in the terminal the person has so long to say that they meant the loop.
const PAUSE: Duration = Duration::from_secs(4);

/// A run.
struct Runner<'a> {
    desk: &'a Desk<'a>,
    args: &'a LoopRunArgs,
    folder: PathBuf,
    client: PathBuf,
    budget: Budget,
    asked_to_end: Arc<AtomicBool>,
    failures: Failures,
    /// Since when the time was not added up.
    since: Instant,
}

/// How a run ended.
struct Over {
    status: Status,
    why: String,
}

/// Runs it.
pub(super) fn run(desk: &Desk<'_>, args: &LoopRunArgs) -> Result<u8, String> {
    let folder = desk.folder();
    let client =
        program::find(desk.env, desk.config.auditor.client.as_deref()).map_err(|why| why.to_string())?;
    if args.dry_run {
        return dry_run(desk, args, &folder, &client);
    }
    let _place = desk.state.run_loop(&folder)?;
    let mut runner = Runner {
        desk,
        args,
        folder,
        client,
        budget: Budget { usd: args.max_cost, time: args.max_time },
        asked_to_end: child::watch_interrupts(),
        failures: Failures::default(),
        since: Instant::now(),
    };
    runner.begin()?;
    let over = runner.rounds()?;
    let memory = runner.memory()?;
    let spent = &memory.spent;
    let sessions = counted(usize::try_from(spent.sessions).unwrap_or(usize::MAX), "session", "sessions");
    let cost = if args.interactive { String::new() } else { format!(", {}", dollars(spent.usd)) };
    let style = if over.status == Status::Complete { GOOD } else { BAD };
    let text = format!(
        "{style}{}{style:#}: {} {LABEL}({sessions}{cost}, {}){LABEL:#}\n",
        over.status,
        harmless(&over.why),
        length(Duration::from_millis(spent.ms))
    );
    Ok(say(&text, if over.status == Status::Complete { exit::OK } else { exit::FAILED }))
}

/// What a session would be told, and how it would be started.
fn dry_run(desk: &Desk<'_>, args: &LoopRunArgs, folder: &Path, client: &Path) -> Result<u8, String> {
    let mut memory = desk.state.loop_of(folder).unwrap_or_else(|| desk.new_loop(folder));
    memory.max = args.max_iterations.unwrap_or(memory.max);
    memory.is_out = false;
    let seen = see(&memory)?;
    let prompt = match seen.next(&mut memory, None, (&desk.config.feature_loop).into()) {
        Step::Work { at, changes } => prompt(desk, &seen, &mut memory, at, &changes),
        Step::End { status, why } => {
            return Ok(say(
                &format!("No session would be started. {status}: {}\n", harmless(&why)),
                exit::OK,
            ));
        }
        Step::Nothing => return Err(no_features(&memory)),
    };
    let session = "SESSION-ID";
    let start = Start { client, folder, session, prompt: &prompt, args: &args.client, time: None };
    let shown: Vec<_> =
        start.arguments(args.interactive).iter().map(|arg| arg.to_string_lossy().into_owned()).collect();
    let shown = if args.interactive {
        shown[..shown.len() - 1].join(" ") + " PROMPT"
    } else {
        shown.join(" ") + " < PROMPT"
    };
    let text = format!("cd {}\n{} {shown}\n\nPROMPT:\n{prompt}\n", folder.display(), client.display());
    Ok(say(&harmless(&text), exit::OK))
}

fn prompt(desk: &Desk<'_>, seen: &Seen, memory: &mut Loop, at: Option<usize>, changes: &Changes) -> String {
    let (template, fault) = prompts::template(desk.config.auditor.prompts.as_deref(), "loop.md", SESSION);
    if let Some(fault) = fault {
        super::complain(&format!("{fault} (the built-in text is used)"));
    }
    seen.hand_out(memory, at, changes, &template, SESSION)
}

fn no_features(memory: &Loop) -> String {
    format!("{} has no features yet; put some in, or let a session do it", memory.features)
}

impl Runner<'_> {
    fn memory(&self) -> Result<Loop, String> {
        self.desk.state.loop_of(&self.folder).ok_or_else(|| "what was remembered of the loop is gone".into())
    }

    fn change<T>(&self, change: impl FnOnce(&mut Loop) -> T) -> Result<T, String> {
        self.desk.state.change_loop(&self.folder, |kept| {
            let memory = kept.as_mut().ok_or("what was remembered of the loop is gone")?;
            Ok(change(memory))
        })
    }

    fn is_asked_to_end(&self) -> bool {
        self.asked_to_end.load(Ordering::Relaxed)
    }

    /// Begins, or goes on where the last run ended or was cut off.
    fn begin(&self) -> Result<(), String> {
        let fresh = self.desk.new_loop(&self.folder);
        let seen = see(&self.desk.state.loop_of(&self.folder).unwrap_or_else(|| fresh.clone()))
            .map_err(|why| format!("{why}; `punchlist loop init` begins a loop"))?;
        let left = self.desk.state.change_loop(&self.folder, |kept| {
            let other = kept.as_ref().filter(|kept| kept.ended.is_none() && kept.spent.child.is_none());
            if let Some(session) = other.and_then(|kept| kept.session.as_ref()) {
                return Err(format!(
                    "the loop is bound to session {session}; `punchlist loop stop` lets that one go"
                ));
            }
            let memory = kept.get_or_insert_with(|| {
                let mut memory = Loop { iteration: seen.progress.iteration.unwrap_or_default(), ..fresh };
                memory.begin(&seen.features, seen.trace.clone(), now_ms());
                memory.is_out = false;
                memory
            });
            memory.max = self.args.max_iterations.unwrap_or(memory.max);
            // Nobody was at work on what was handed out before, or it is looked at now as any other work.
            memory.is_out = false;
            // A person who runs it again wants to know whether it moves now.
            if memory.ended.take().is_some_and(|ended| ended.status == Status::Stalled.word()) {
                memory.still = 0;
            }
            (memory.token, memory.trace) = (None, memory.trace.take().or_else(|| seen.trace.clone()));
            Ok(memory.spent.child.clone())
        })?;
        // What stood there of a limit or of somebody who was blocked is over: this person runs it again.
        seen.write(&self.memory()?, Status::InProgress)?;
        if let Some(child) = left {
            self.outlive(&child)?;
        }
        Ok(())
    }

    /// The last run was cut off, and its session may be at work still: two at once would get into each other's way.
    fn outlive(&self, child: &Child) -> Result<(), String> {
        let session = &child.session;
        let is_there = is_alive(child);
        let what = if is_there {
            format!("its session goes on (process {}), and is waited for", child.pid)
        } else {
            "going on".into()
        };
        say(&format!("The last run was cut off in session {session}; {what}.\n"), exit::OK);
        while is_alive(child) && !self.is_asked_to_end() {
            sleep(LOOK);
        }
        if self.is_asked_to_end() {
            return Err("asked to end".into());
        }
        self.change(|memory| (memory.spent.child, memory.session) = (None, None))
    }

    /// One session after another, until it is over.
    fn rounds(&mut self) -> Result<Over, String> {
        loop {
            let begun = Instant::now();
            if let Some(over) = self.round()? {
                return Ok(over);
            }
            let pause = match self.args.every {
                Some(every) => every.saturating_sub(begun.elapsed()),
                None if self.args.interactive => PAUSE,
                None => self.failures.pause(self.args.retry_after),
            };
            if let Some(over) = self.wait(pause)? {
                return Ok(over);
            }
        }
    }

    /// Ends, and writes down how.
    fn over(&self, seen: Option<&Seen>, status: Status, why: String) -> Result<Over, String> {
        let memory = self.change(|memory| {
            memory.end(&status, &why, now_ms());
            memory.clone()
        })?;
        if let Some(seen) = seen {
            seen.write(&memory, status.clone())?;
        }
        Ok(Over { status, why })
    }

    fn round(&mut self) -> Result<Option<Over>, String> {
        if self.is_asked_to_end() {
            return self.interrupted().map(Some);
        }
        let seen = match see(&self.memory()?) {
            Ok(seen) => seen,
            Err(why) => return self.over(None, Status::Failed, why).map(Some),
        };
        let limits = (&self.desk.config.feature_loop).into();
        let session = new_session();
        let mut told = None;
        let step = self.change(|memory| {
            let step = seen.next(memory, None, limits);
            let time = Duration::from_millis(memory.spent.ms) + self.since.elapsed();
            if let (Step::Work { .. }, Some(why)) = (&step, self.budget.spent(memory.spent.usd, time)) {
                return Step::End { status: Status::OverBudget, why };
            }
            if let Step::Work { at, changes } = &step {
                told = Some((prompt(self.desk, &seen, memory, *at, changes), *at));
                memory.session = Some(session.clone());
                memory.spent.sessions += 1;
            }
            step
        })?;
        match (step, told) {
            (Step::End { status: Status::Complete, .. }, _) if self.args.every.is_some() => {
                let memory = self.memory()?;
                seen.write(&memory, Status::Complete)?;
                Ok(None)
            }
            (Step::End { status, why }, _) => self.over(Some(&seen), status, why).map(Some),
            (Step::Nothing, _) if self.args.every.is_some() => Ok(None),
            (Step::Work { .. }, Some((prompt, at))) => {
                seen.write(&self.memory()?, Status::InProgress)?;
                self.session(&seen, &session, &prompt, at)
            }
            (Step::Nothing | Step::Work { .. }, _) => Err(no_features(&self.memory()?)),
        }
    }

    /// Runs one session, and counts what it cost.
    fn session(
        &mut self,
        seen: &Seen,
        session: &str,
        prompt: &str,
        at: Option<usize>,
    ) -> Result<Option<Over>, String> {
        let memory = self.memory()?;
        let spent_time = Duration::from_millis(memory.spent.ms) + self.since.elapsed();
        let time = self.budget.time.map(|most| most.saturating_sub(spent_time));
        let start = Start {
            client: &self.client,
            folder: &self.folder,
            session,
            prompt,
            args: &self.args.client,
            time,
        };
        let name = at.and_then(|at| seen.features.get(at)).map_or("what was removed".into(), |feature| {
            let id = feature.id.as_ref().map(|id| format!("{id} ")).unwrap_or_default();
            first_line(&format!("{id}{}", feature.description))
        });
        let head = format!("iteration {} of {}", memory.iteration, memory.max);
        let started = |pid| {
            let child = Child { session: session.to_owned(), pid, born: born(pid) };
            // Only a run after a crash would miss it.
            let _ = self.change(|memory| memory.spent.child = Some(child));
        };
        let begun = Instant::now();
        let (ended, usd) = if self.args.interactive {
            let is_over = || self.memory().is_ok_and(|memory| memory.ended_as() == Some(Status::HandedOver));
            (start.in_terminal(started, &self.asked_to_end, &is_over), None)
        } else {
            let live = Live {
                progress: spinner(),
                begun,
                drawn: Cell::new(None),
                head: &head,
                name: &name,
                list: self.folder.join(&memory.features),
            };
            start.in_print(started, &|| live.draw())
        };
        let took = self.since.elapsed();
        self.since = Instant::now();
        let ms = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
        let failed = matches!(ended, Ended::Failed(_));
        let after = self.change(|memory| {
            memory.spent.usd += usd.unwrap_or_default();
            memory.spent.ms = memory.spent.ms.saturating_add(ms);
            (memory.spent.child, memory.session) = (None, None);
            // What failed was no work of which anything could come.
            memory.is_out &= !failed;
            memory.clone()
        })?;
        let before = seen.features.iter().filter(|feature| feature.passes).count();
        tell(&head, &name, &ended, usd, begun.elapsed(), &after, before);
        match ended {
            Ended::Interrupted => return self.interrupted().map(Some),
            Ended::OutOfTime => {
                let why = self.budget.spent(0.0, Duration::MAX).unwrap_or_else(|| "the time is up".into());
                return self.finish(Status::OverBudget, why).map(Some);
            }
            Ended::Failed(words) => {
                if let Some(why) = self.failures.add(&words, self.args.max_errors) {
                    return self.finish(Status::Failed, why).map(Some);
                }
            }
            Ended::Well(_) if self.budget.usd.is_some() && usd.is_none() => {
                let why =
                    "the client did not tell what the session cost, and --max-cost can't be kept".into();
                return self.finish(Status::OverBudget, why).map(Some);
            }
            Ended::Well(_) => self.failures.forget(),
        }
        self.let_go(after)
    }

    /// What the gate made of the session, if it let it go.
    fn let_go(&self, memory: Loop) -> Result<Option<Over>, String> {
        let Some(ended) = memory.ended else { return Ok(None) };
        match Status::read(&ended.status) {
            Some(Status::HandedOver) => self.change(|memory| memory.ended = None).map(|()| None),
            // It is looked at again, and may be worked on again.
            Some(Status::Complete) if self.args.every.is_some() => {
                self.change(|memory| memory.ended = None).map(|()| None)
            }
            status => Ok(Some(Over { status: status.unwrap_or(Status::Failed), why: ended.why })),
        }
    }

    fn finish(&self, status: Status, why: String) -> Result<Over, String> {
        let seen = see(&self.memory()?).ok();
        self.over(seen.as_ref(), status, why)
    }

    fn interrupted(&self) -> Result<Over, String> {
        self.finish(Status::Interrupted, "asked to end; `punchlist loop run` goes on".into())
    }

    /// Waits, and counts the time.
    fn wait(&mut self, pause: Duration) -> Result<Option<Over>, String> {
        let begun = Instant::now();
        let progress = (pause > Duration::from_secs(2)).then(spinner);
        while begun.elapsed() < pause {
            if self.is_asked_to_end() {
                drop(progress);
                return self.interrupted().map(Some);
            }
            if let Some(progress) = &progress {
                let left = length(pause.saturating_sub(begun.elapsed()) + Duration::from_millis(999));
                progress.set_message(format!("next session in {left}; Ctrl-C ends the loop"));
            }
            sleep(LOOK.min(pause));
        }
        let took = u64::try_from(self.since.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.since = Instant::now();
        let (usd, ms) = self.change(|memory| {
            memory.spent.ms = memory.spent.ms.saturating_add(took);
            (memory.spent.usd, memory.spent.ms)
        })?;
        let is_time_up =
            self.budget.time.is_some() && self.budget.spent(0.0, Duration::from_millis(ms)).is_some();
        match self.budget.spent(usd, Duration::from_millis(ms)).filter(|_| is_time_up) {
            Some(why) => self.finish(Status::OverBudget, why).map(Some),
            None => Ok(None),
        }
    }
}

/// One line for each session.
fn tell(
    head: &str,
    name: &str,
    ended: &Ended,
    usd: Option<f64>,
    took: Duration,
    memory: &Loop,
    before: usize,
) {
    let all = memory.known.len();
    let list = disk::features(&memory.folder, &memory.features).ok();
    let now = list.map_or(before, |list| list.iter().filter(|feature| feature.passes).count());
    let (style, how) = match ended {
        Ended::Well(_) if now > before => (GOOD, format!("{now} of {all} pass")),
        Ended::Well(_) if now == before => (OPEN, format!("{now} of {all} pass, as before")),
        Ended::Well(_) => (OPEN, format!("{now} of {all} pass, {before} did before")),
        Ended::Failed(words) => (BAD, format!("failed: {words}")),
        Ended::OutOfTime => (OPEN, "its time was up".into()),
        Ended::Interrupted => (OPEN, "asked to end".into()),
    };
    let cost = usd.map(|usd| format!("  {}", dollars(usd))).unwrap_or_default();
    let mut text = format!(
        "{LABEL}{head}{LABEL:#}  {}  {style}{}{style:#}  {LABEL}{}{cost}{LABEL:#}\n",
        harmless(name),
        harmless(&how),
        length(took)
    );
    if let Ended::Well(report) = ended
        && report.denied > 0
    {
        text.push_str(&format!(
            "  The client denied it {}: say what it may do, such as `punchlist loop run -- --permission-mode acceptEdits`.\n",
            counted(report.denied, "tool call", "tool calls")
        ));
    }
    say(&text, exit::OK);
}

/// What is drawn while a session is at work.
struct Live<'a> {
    progress: Progress,
    begun: Instant,
    head: &'a str,
    name: &'a str,
    list: PathBuf,
    /// When it was drawn last.
    drawn: Cell<Option<Instant>>,
}

impl Live<'_> {
    /// It is asked ten times a second, and draws once.
    fn draw(&self) {
        const AGAIN: Duration = Duration::from_millis(900);
        if self.drawn.get().is_some_and(|drawn| drawn.elapsed() < AGAIN) {
            return;
        }
        self.drawn.set(Some(Instant::now()));
        // Half written or gone is no matter here: it is looked at again.
        let list = std::fs::read_to_string(&self.list).ok().and_then(|text| features::read(&text).ok());
        let passing = list.map_or_else(String::new, |list| {
            format!("  {} of {} pass", list.iter().filter(|feature| feature.passes).count(), list.len())
        });
        let end = format!("{passing}  {}", length(self.begun.elapsed()));
        let room = width().saturating_sub(self.head.len() + end.len() + 6).max(10);
        let name: String = harmless(self.name).chars().take(room).collect();
        self.progress.set_message(format!("{}  {name}{end}", self.head));
    }
}

/// A line's worth of a name.
fn first_line(text: &str) -> String {
    const LETTERS: usize = 60;
    let line = first_part(text, LETTERS * 4);
    if line.chars().count() <= LETTERS {
        return line;
    }
    format!("{}…", line.chars().take(LETTERS - 1).collect::<String>().trim_end())
}
