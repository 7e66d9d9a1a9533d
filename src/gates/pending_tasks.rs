//! The pending-tasks gate: blocks a worker's session while tasks that were assigned to it or that
//! it took are not over. A session that is not a worker passes.

use super::{CheckedGate, Gate, GateResult, StopContext};
use crate::client::settings::registered_hooks::quoted;
use crate::config::{TaskSource, TasksConfig};
use crate::decision::{Cause, Outcome};
use crate::env::Env;
use crate::readers::Readers;
use crate::registry::Worker;
use crate::tasks::{Lookup, LookupOutcome, PendingTask, find_pending, query_of};
use crate::text::{counted, first_part, harmless};

pub const NAME: &str = "pending-tasks";

/// How many tasks are named; the rest are counted.
const NAMED: usize = 20;

const TITLE: usize = 200;

const PROGRAM: &str = "punchlist";

#[derive(Debug, Clone, Copy)]
pub struct PendingTasks;

impl Gate for PendingTasks {
    fn name(&self) -> &'static str {
        NAME
    }

    fn check(&self, stop: &StopContext<'_>, _: &[CheckedGate], _: &mut Readers<'_>) -> GateResult {
        let held = stop.blocks_by(NAME);
        let config = &stop.config.tasks;
        // A gate that can't block any more need not send a request.
        if held >= config.max_holds {
            return enough(held, config.max_holds).into();
        }
        let (looked, worker) = match (stop.worker(), config.source) {
            (Ok(Some(found)), TaskSource::Registry) => {
                (LookupOutcome::of(&found.in_hand), Some(&found.worker))
            }
            (Ok(found), _) => {
                let worker = found.map(|found| &found.worker);
                let query = query_of(config, stop.env, stop.input.session_id.as_deref(), worker);
                let lookup = Lookup {
                    config,
                    env: stop.env,
                    project: stop.project,
                    query: &query,
                    deadline: stop.deadline,
                };
                (find_pending(&lookup, None), worker)
            }
            (Err(fault), _) => (LookupOutcome::Failed(fault.to_string()), None),
        };
        decide(&looked, held, config, || ways_on(config, worker, &own_command(stop.env))).into()
    }
}

fn enough(held: u32, most: u32) -> Outcome {
    let detail = format!("the session was blocked for its tasks {}; the limit is {most}", times(held));
    Outcome::pass(Cause::PendingTasks, detail)
}

fn times(count: u32) -> String {
    counted(usize::try_from(count).unwrap_or(usize::MAX), "time", "times")
}

/// Decides what the tasks mean. `ways_on` returns what the agent can do, and is called only for a
/// block.
pub fn decide(
    looked: &LookupOutcome,
    held: u32,
    config: &TasksConfig,
    ways_on: impl FnOnce() -> String,
) -> Outcome {
    let tasks = match looked {
        LookupOutcome::NoWorker => return Outcome::pass(Cause::NoWorker, "this session is not a worker"),
        LookupOutcome::NoFile => return Outcome::pass(Cause::NoTasks, "there is no task file"),
        LookupOutcome::Failed(why) => {
            let message = format!("the tasks could not be read, so they did not block this stop: {why}");
            return Outcome::could_not_check(Cause::TasksUnknown, message);
        }
        LookupOutcome::Found(tasks) if tasks.is_empty() => {
            return Outcome::pass(Cause::NoTasks, "no task is left");
        }
        LookupOutcome::Found(tasks) => tasks,
    };
    if held >= config.max_holds {
        return enough(held, config.max_holds);
    }
    let list = list(tasks);
    if config.dry_run {
        let detail = format!("[tasks] dry_run: it would be blocked, for {list}");
        return Outcome::pass(Cause::PendingTasks, detail);
    }
    Outcome::block(Cause::PendingTasks, format!("{list}\n\n{}", ways_on()))
}

fn list(tasks: &[PendingTask]) -> String {
    let mut text = match tasks.len() {
        1 => "One of your tasks is not finished:".to_owned(),
        count => format!("{count} of your tasks are not finished:"),
    };
    for task in tasks.iter().take(NAMED) {
        let (id, title) = (first_part(&task.id, TITLE), first_part(&task.title, TITLE));
        let line = format!("- {id} ({}): {title}", task.status);
        text.push('\n');
        text.push_str(harmless(&line).replace('\n', " ").trim_end_matches([':', ' ']));
    }
    if tasks.len() > NAMED {
        text.push_str(&format!("\n- and {} more", tasks.len() - NAMED));
    }
    text
}

/// Returns what the agent can do: commands if the tasks are in the registry, else a sentence.
pub(crate) fn ways_on(config: &TasksConfig, worker: Option<&Worker>, program: &str) -> String {
    let by = worker.map(|worker| format!(" --worker {}", worker.name)).unwrap_or_default();
    match config.source {
        TaskSource::Registry => format!(
            "Finish them, and report each: `{program} tasks complete ID{by}`. Give up what you can't do \
             (`{program} tasks fail ID{by} --note WHY`), or give it back (`{program} tasks release ID{by}`). \
             `{program} tasks show ID` shows a task in full."
        ),
        TaskSource::File => format!(
            "Finish them, and set the status of each in {} as you go. If something can't be done, say so, and why.",
            config.file.display()
        ),
        TaskSource::Off | TaskSource::Command | TaskSource::Http => {
            "Finish them, and set the status of each where the tasks are kept. If something can't be done, say so, and why."
                .to_owned()
        }
    }
}

/// Returns the command with which an agent runs punchlist: its name if that is on the path, else
/// the path of this program.
pub fn own_command(env: &Env) -> String {
    if env.program(PROGRAM).is_some() {
        return PROGRAM.to_owned();
    }
    let own = std::env::current_exe();
    own.map_or_else(|_| PROGRAM.to_owned(), |program| quoted(&program.display().to_string()))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::registry::Status;

    fn pending(id: &str, title: &str, status: Status) -> PendingTask {
        PendingTask { id: id.into(), title: title.into(), status }
    }

    fn decided(looked: &LookupOutcome, held: u32) -> Outcome {
        decide(looked, held, &TasksConfig::default(), || "Go on.".into())
    }

    #[test]
    fn tasks_that_are_not_over_hold_with_their_names() {
        let two = LookupOutcome::Found(vec![
            pending("t7", "Mend the gate", Status::InProgress),
            pending("t9", "Paint\n\u{1b}it", Status::Assigned),
        ]);
        let reason = "2 of your tasks are not finished:\n- t7 (in_progress): Mend the gate\n- t9 (assigned): Paint \u{fffd}it\n\nGo on.";
        assert_eq!(decided(&two, 0), Outcome::block(Cause::PendingTasks, reason));
        let one = LookupOutcome::Found(vec![pending("t7", "", Status::Accepted)]);
        let reason = "One of your tasks is not finished:\n- t7 (accepted)\n\nGo on.";
        assert_eq!(decided(&one, 2), Outcome::block(Cause::PendingTasks, reason));
    }

    #[test]
    fn many_are_named_in_part() {
        let many: Vec<_> = (1..=25).map(|id| pending(&format!("t{id}"), "x", Status::Assigned)).collect();
        let held = decided(&LookupOutcome::Found(many), 0);
        let listed = "\n- t20 (assigned): x\n- and 5 more\n\n";
        assert!(held.wants_block() && held.words.contains(listed), "{held:?}");
    }

    #[test]
    fn it_lets_go_after_so_many_holds_and_in_a_dry_run() {
        let one = LookupOutcome::Found(vec![pending("t7", "x", Status::Assigned)]);
        let detail = "the session was blocked for its tasks 3 times; the limit is 3";
        assert_eq!(decided(&one, 3), Outcome::pass(Cause::PendingTasks, detail));
        let dry = TasksConfig { dry_run: true, ..TasksConfig::default() };
        let detail = "[tasks] dry_run: it would be blocked, for One of your tasks is not finished:\n- t7 (assigned): x";
        assert_eq!(decide(&one, 0, &dry, String::new), Outcome::pass(Cause::PendingTasks, detail));
    }

    #[test]
    fn what_could_not_be_looked_at_is_told_and_holds_nobody() {
        let message =
            "the tasks could not be read, so they did not block this stop: x: no answer within 5.0 s";
        let failed = LookupOutcome::Failed("x: no answer within 5.0 s".into());
        assert_eq!(decided(&failed, 0), Outcome::could_not_check(Cause::TasksUnknown, message));
        for (looked, cause) in [
            (LookupOutcome::NoWorker, Cause::NoWorker),
            (LookupOutcome::NoFile, Cause::NoTasks),
            (LookupOutcome::Found(Vec::new()), Cause::NoTasks),
        ] {
            let passed = decided(&looked, 0);
            assert!(passed.is_pass() && passed.cause == cause, "{passed:?}");
        }
    }

    #[test]
    fn the_agent_is_told_the_very_commands() {
        let of = |source| TasksConfig { source, ..TasksConfig::default() };
        assert_eq!(
            ways_on(&of(TaskSource::Registry), None, "punchlist"),
            "Finish them, and report each: `punchlist tasks complete ID`. Give up what you can't do (`punchlist \
             tasks fail ID --note WHY`), or give it back (`punchlist tasks release ID`). `punchlist tasks show ID` shows a task in full."
        );
        assert!(ways_on(&of(TaskSource::File), None, "punchlist").contains("in .claude/tasks.json as"));
    }

    #[test]
    fn where_it_is_not_found_by_its_name_it_is_named_by_its_path() {
        assert_eq!(quoted("/usr/bin/punchlist"), "/usr/bin/punchlist");
        assert_eq!(quoted("/a b/it's"), r"'/a b/it'\''s'");
        let folder = tempfile::tempdir().expect("a folder");
        let env = Env::from_pairs([("PATH", folder.path())]);
        assert!(own_command(&env).contains('/'));
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink("/bin/sh", folder.path().join(PROGRAM)).expect("a link");
            assert_eq!(own_command(&env), PROGRAM);
        }
    }

    proptest! {
        /// It blocks if and only if there is a task, it has not blocked too often, and it is no dry
        /// run.
        #[test]
        fn a_hold_has_its_three_conditions(count in 0usize..5, held in 0u32..6, most in 0u32..6, dry_run: bool) {
            let tasks = (0..count).map(|id| pending(&format!("t{id}"), "x", Status::Assigned)).collect();
            let config = TasksConfig { max_holds: most, dry_run, ..TasksConfig::default() };
            let outcome = decide(&LookupOutcome::Found(tasks), held, &config, String::new);
            prop_assert_eq!(outcome.wants_block(), count > 0 && held < most && !dry_run);
        }
    }
}
