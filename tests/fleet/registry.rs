//! What the registry promises of tasks and workers, with a clock of the test's own: one suite, run
//! on the file of one machine and on `PostgreSQL`.

use std::collections::BTreeMap;
use std::ops::{Deref, DerefMut};
use std::path::Path;

use proptest::prelude::*;
use proptest::test_runner::{Config, TestCaseError, TestRunner};

use punchlist::registry::*;

use crate::postgres::{self, Cluster};

const MINUTE: i64 = 60_000;
const LEASE: i64 = 30 * MINUTE;
const NOW: i64 = 1_800_000_000_000;

macro_rules! on_both {
    ($($name:ident),+ $(,)?) => {
        mod on_sqlite {
            $(#[test]
            fn $name() {
                super::$name(&mut super::Rig::sqlite());
            })+
        }

        mod on_postgres {
            $(#[test]
            fn $name() {
                if let Some(mut rig) = super::Rig::postgres() {
                    super::$name(&mut rig);
                }
            })+
        }
    };
}

on_both! {
    a_task_goes_from_open_to_completed,
    what_was_given_to_a_worker_comes_first_then_what_matters_most_then_what_is_oldest,
    a_fault_says_what_happened_and_what_to_do,
    the_task_of_a_worker_that_went_silent_is_open_again_with_a_note,
    a_worker_that_claims_after_a_long_silence_keeps_what_it_has_in_hand,
    a_clock_that_is_set_back_takes_nothing_away_and_keeps_nobody_for_ever,
    projects_and_queues_are_kept_apart,
    a_name_is_one_workers_and_a_session_is_one_worker,
    a_stop_finds_the_worker_that_its_session_is_and_nobody_elses,
    who_leaves_gives_back_what_it_has_in_hand,
    an_open_task_can_be_given_away_and_given_back,
    nothing_is_lost_and_nothing_is_mixed_up,
    a_task_waits_for_those_that_it_comes_after,
    a_task_is_tried_as_often_as_it_may_and_then_dead,
    completing_twice_or_after_the_lease_is_told,
    a_late_completion_counted_only_where_nobody_had_looked,
    a_lease_is_as_long_as_the_one_who_claimed_said,
    words_that_are_sql_are_words,
}

/// A registry whose clock is set with each call.
struct Rig {
    registry: Registry,
    cluster: Option<(&'static Cluster, String)>,
    _folder: tempfile::TempDir,
}

impl Rig {
    fn sqlite() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let registry = Registry::open(folder.path(), None).expect("a registry");
        Self { registry, cluster: None, _folder: folder }
    }

    fn postgres() -> Option<Self> {
        let cluster = postgres::shared()?;
        let (folder, name) = (tempfile::tempdir().expect("a folder"), cluster.database());
        let registry = Registry::open(folder.path(), Some(&cluster.url(&name))).expect("a registry");
        Some(Self { registry, cluster: Some((cluster, name)), _folder: folder })
    }

    /// Forgets everything.
    fn empty(&mut self) {
        match &self.cluster {
            None => *self = Self::sqlite(),
            Some((cluster, name)) => {
                let tables = "punchlist.tasks, punchlist.workers, punchlist.events, punchlist.prerequisites";
                cluster.sql(name, &format!("TRUNCATE {tables} RESTART IDENTITY"));
            }
        }
    }

    fn at(&mut self, now_ms: i64) -> &mut Registry {
        self.registry.set_clock(now_ms);
        &mut self.registry
    }
}

impl Deref for Rig {
    type Target = Registry;

    fn deref(&self) -> &Registry {
        &self.registry
    }
}

impl DerefMut for Rig {
    fn deref_mut(&mut self) -> &mut Registry {
        &mut self.registry
    }
}

fn new(title: &str) -> NewTask {
    NewTask { title: title.into(), queue: DEFAULT_QUEUE.into(), ..NewTask::default() }
}

fn worker(registry: &mut Rig, name: &str, session: Option<&str>) -> Worker {
    let new = NewWorker { name: Some(name.into()), session: session.map(Into::into), ..NewWorker::default() };
    registry.at(NOW).register(&new).expect("registered")
}

fn next(registry: &mut Rig, worker: &str, now_ms: i64) -> Option<String> {
    let claimed = registry.at(now_ms).claim(worker, ClaimRequest::default(), LEASE).expect("claimed");
    claimed.map(|task| task.title)
}

fn a_task_goes_from_open_to_completed(registry: &mut Rig) {
    let task = registry.at(NOW).add(&new("mend the gate")).expect("added");
    assert_eq!((task.id.to_string().as_str(), task.status, task.attempts), ("t1", Status::Open, 0));
    worker(registry, "ann", None);
    let claimed =
        registry.at(NOW + 1).claim("ann", ClaimRequest::default(), LEASE).expect("fine").expect("a task");
    assert_eq!((claimed.status, claimed.assignee.as_deref()), (Status::Accepted, Some("ann")));
    assert_eq!((claimed.claimed_ms, claimed.attempts), (Some(NOW + 1), 1));
    assert_eq!(
        registry.at(NOW + 2).set("ann", task.id, Status::InProgress, None).expect("started").status,
        Status::InProgress
    );
    let done =
        registry.at(NOW + 3).set("ann", task.id, Status::Completed, Some("mended")).expect("completed");
    assert_eq!((done.status, done.note.as_deref()), (Status::Completed, Some("mended")));
    assert_eq!(next(registry, "ann", NOW + 4), None, "nothing is left");
    let what: Vec<_> =
        registry.history(task.id).expect("lines").into_iter().map(|event| event.what).collect();
    assert_eq!(what, ["added", "claimed", "started", "completed"]);
    let ann = registry.worker("ann").expect("ann");
    assert_eq!((ann.activity, ann.activity_ms, ann.heartbeat_ms), (Activity::Completed, NOW + 3, NOW + 4));
}

fn what_was_given_to_a_worker_comes_first_then_what_matters_most_then_what_is_oldest(registry: &mut Rig) {
    for (title, priority) in [("first", 0), ("second", 0), ("urgent", 5)] {
        registry.at(NOW).add(&NewTask { priority, ..new(title) }).expect("added");
    }
    let mine = NewTask { assignee: Some("ann".into()), priority: -1, ..new("for ann") };
    assert_eq!(registry.at(NOW).add(&mine).expect("added").status, Status::Assigned);
    worker(registry, "ann", None);
    worker(registry, "bob", None);
    assert_eq!(next(registry, "bob", NOW).as_deref(), Some("urgent"));
    for title in ["for ann", "first", "second"] {
        assert_eq!(next(registry, "ann", NOW).as_deref(), Some(title));
    }
    assert_eq!(next(registry, "bob", NOW), None);
}

fn a_fault_says_what_happened_and_what_to_do(registry: &mut Rig) {
    worker(registry, "ann", Some("s1"));
    worker(registry, "bob", Some("s2"));
    let id = registry.at(NOW).add(&new("x")).expect("added").id;
    let one = ClaimRequest { id: Some(id), ..ClaimRequest::default() };
    let told = |result: Result<Task, RegistryError>| result.expect_err("a fault").to_string();
    assert_eq!(
        told(registry.at(NOW).set("ann", TaskId(7), Status::Completed, None)),
        "no task t7; `punchlist tasks list --all` shows them"
    );
    assert_eq!(
        told(registry.at(NOW).set("ann", id, Status::Completed, None)),
        "t1 is open, and nobody's; take it first: `punchlist tasks claim t1`"
    );
    assert_eq!(
        told(registry.at(NOW).set("eve", id, Status::Completed, None)),
        "no worker eve; `punchlist worker list` shows them, `punchlist worker register eve` makes it one"
    );
    registry.at(NOW).claim("ann", one, LEASE).expect("ann's");
    for refused in [
        told(registry.at(NOW).set("bob", id, Status::Completed, None)),
        told(registry.at(NOW).claim("bob", one, LEASE).map(Option::unwrap)),
    ] {
        assert_eq!(refused, "t1 is ann's (accepted), not bob's; `punchlist tasks claim` takes another one");
    }
    registry.at(NOW).claim("ann", one, LEASE).expect("ann's still, with no second attempt");
    assert_eq!(registry.task(id).expect("there").attempts, 1);
    registry.at(NOW).set("ann", id, Status::Failed, Some("no key")).expect("given up");
    assert_eq!(
        told(registry.at(NOW).set("ann", id, Status::Completed, None)),
        "t1 is failed already, by ann; `punchlist tasks show t1` has its story"
    );
    assert_eq!(
        "seven".parse::<TaskId>().expect_err("no id").to_string(),
        "\"seven\" names no task; they are named like t7, and `punchlist tasks list` shows them"
    );
    for id in ["7", "t7", "T7"] {
        assert_eq!(id.parse(), Ok(TaskId(7)));
    }
    for id in ["", "t", "t-7", "+7", "t7x", "t99999999999999999999"] {
        assert!(id.parse::<TaskId>().is_err(), "{id}");
    }
}

fn the_task_of_a_worker_that_went_silent_is_open_again_with_a_note(registry: &mut Rig) {
    let id = registry.at(NOW).add(&new("x")).expect("added").id;
    registry
        .at(NOW)
        .add(&NewTask { assignee: Some("ann".into()), ..new("given, not taken") })
        .expect("added");
    worker(registry, "ann", None);
    worker(registry, "bob", None);
    let one = ClaimRequest { id: Some(id), ..ClaimRequest::default() };
    registry.at(NOW).claim("ann", one, LEASE).expect("ann's");
    registry.at(NOW + 20 * MINUTE).heartbeat("ann").expect("heard of");
    registry.at(NOW + 49 * MINUTE).expire().expect("swept");
    assert_eq!(registry.task(id).expect("there").status, Status::Accepted, "the lease runs on");
    registry.at(NOW + 51 * MINUTE).expire().expect("swept");
    let task = registry.task(id).expect("there");
    assert_eq!((task.status, task.assignee, task.attempts), (Status::Open, None, 1));
    assert_eq!(task.note.as_deref(), Some("ann was silent for 31 min"));
    let late = registry
        .at(NOW + 52 * MINUTE)
        .set("ann", id, Status::InProgress, None)
        .expect_err("too late")
        .to_string();
    assert_eq!(
        late,
        "t1 is open, and nobody's; take it first: `punchlist tasks claim t1` (it came back: ann was silent for 31 min)"
    );
    // What nobody had taken stays with whom it was given to.
    assert_eq!(registry.task(TaskId(2)).expect("there").assignee.as_deref(), Some("ann"));
    assert_eq!(next(registry, "bob", NOW + 52 * MINUTE).as_deref(), Some("x"));
    assert_eq!(registry.task(id).expect("there").attempts, 2);
}

fn a_worker_that_claims_after_a_long_silence_keeps_what_it_has_in_hand(registry: &mut Rig) {
    for title in ["one", "two"] {
        registry.at(NOW).add(&new(title)).expect("added");
    }
    worker(registry, "ann", None);
    assert_eq!(next(registry, "ann", NOW).as_deref(), Some("one"));
    assert_eq!(next(registry, "ann", NOW + 2 * LEASE).as_deref(), Some("two"));
    assert_eq!(registry.task(TaskId(1)).expect("there").assignee.as_deref(), Some("ann"));
}

fn a_clock_that_is_set_back_takes_nothing_away_and_keeps_nobody_for_ever(registry: &mut Rig) {
    let id = registry.at(NOW).add(&new("x")).expect("added").id;
    worker(registry, "ann", Some("s"));
    assert_eq!(next(registry, "ann", NOW).as_deref(), Some("x"));
    let year = 365 * 24 * 60 * MINUTE;
    let then = NOW - year;
    let ann = registry.worker("ann").expect("ann");
    assert_eq!((ann.idle_ms(then), ann.silent_ms(then)), (0, 0));
    registry.at(then).expire().expect("swept");
    assert_eq!(registry.task(id).expect("there").status, Status::Accepted, "not because of a clock");
    // From here on its lease and its idle time run by the clock that is.
    let ann = registry.worker("ann").expect("ann");
    assert_eq!((ann.heartbeat_ms, ann.activity_ms), (then, then));
    registry.at(then + 31 * MINUTE).expire().expect("swept");
    assert_eq!(registry.task(id).expect("there").status, Status::Open, "and not for ever either");
    // What is added under the earlier clock is the later one all the same.
    registry.at(then).add(&new("y")).expect("added");
    let titles: Vec<_> =
        registry.tasks(&TaskFilter::default()).expect("all").into_iter().map(|task| task.title).collect();
    assert_eq!(titles, ["x", "y"]);
    assert_eq!(next(registry, "ann", then).as_deref(), Some("x"));
    let seen = registry.at(then - year).record_stop("s", None).expect("fine").expect("ann");
    assert_eq!((seen.activity_ms, seen.idle_ms(then - year)), (then - year, 0));
}

fn projects_and_queues_are_kept_apart(registry: &mut Rig) {
    let of = |title: &str, queue: &str, project: Option<&str>| NewTask {
        title: title.into(),
        queue: queue.into(),
        project: project.map(Into::into),
        ..NewTask::default()
    };
    for task in [of("a", "default", Some("/shop")), of("b", "build", Some("/shop")), of("c", "default", None)]
    {
        registry.at(NOW).add(&task).expect("added");
    }
    worker(registry, "ann", None);
    let mut claim = |queue: Option<&str>, project: &str| {
        let choice = ClaimRequest { id: None, queue, project: Some(Path::new(project)) };
        registry.at(NOW).claim("ann", choice, LEASE).expect("fine").map(|task| task.title)
    };
    assert_eq!(claim(None, "/blog").as_deref(), Some("c"), "it belongs to no project");
    assert_eq!(claim(None, "/blog"), None);
    assert_eq!(claim(Some("build"), "/blog"), None);
    assert_eq!(claim(Some("build"), "/shop").as_deref(), Some("b"));
    let of_shop =
        TaskFilter { project: Some("/shop".into()), queue: Some("default".into()), ..TaskFilter::default() };
    assert_eq!(registry.tasks(&of_shop).expect("fine").len(), 2);
    let open = TaskFilter { statuses: vec![Status::Open], ..TaskFilter::default() };
    assert_eq!(registry.tasks(&open).expect("fine").len(), 1);
    assert_eq!(registry.counts(None).expect("fine"), [(Status::Open, 1), (Status::Accepted, 2)]);
    assert_eq!(registry.counts(Some(Path::new("/blog"))).expect("fine"), [(Status::Accepted, 1)]);
}

fn a_name_is_one_workers_and_a_session_is_one_worker(registry: &mut Rig) {
    let register = |registry: &mut Rig, name: Option<&str>, session: Option<&str>, now_ms| {
        let new = NewWorker {
            name: name.map(Into::into),
            session: session.map(Into::into),
            ..NewWorker::default()
        };
        registry.at(now_ms).register(&new).map(|worker| worker.name).map_err(|fault| fault.to_string())
    };
    assert_eq!(register(registry, None, Some("s1"), NOW).as_deref(), Ok("w1"));
    assert_eq!(register(registry, None, Some("s2"), NOW).as_deref(), Ok("w2"));
    assert_eq!(register(registry, None, Some("s1"), NOW).as_deref(), Ok("w1"), "the same again");
    assert_eq!(
        register(registry, Some("x"), Some("s1"), NOW),
        Err("this session is worker w1 already; `punchlist worker leave` ends that, and `punchlist worker register` \
             without a name keeps it"
            .into())
    );
    assert_eq!(
        register(registry, Some("w1"), Some("s3"), NOW + 5_000),
        Err("w1 is another session's, heard of 5 s ago; choose another name, or take it over with --take-over once \
             that session is gone"
            .into())
    );
    // Once nothing is heard of it, its name is free, and what it had in hand goes with it.
    assert_eq!(register(registry, Some("w1"), Some("s3"), NOW + 3 * MINUTE).as_deref(), Ok("w1"));
    assert_eq!(registry.worker_of_session("s1").expect("fine"), None);
    assert_eq!(register(registry, Some("w2"), None, NOW).as_deref(), Ok("w2"), "from a shell");
    assert_eq!(registry.worker("w2").expect("w2").session.as_deref(), Some("s2"), "it stays its session's");
    for bad in ["", "a b", "-x", "a/b", "\u{1b}[2J", &"x".repeat(65)] {
        assert!(register(registry, Some(bad), None, NOW).is_err(), "{bad:?}");
    }
    registry.at(NOW).add(&NewTask { assignee: Some("w3".into()), ..new("x") }).expect("added");
    assert_eq!(register(registry, None, None, NOW).as_deref(), Ok("w4"), "w3 has a task already");
}

fn a_stop_finds_the_worker_that_its_session_is_and_nobody_elses(registry: &mut Rig) {
    worker(registry, "ann", Some("s1"));
    worker(registry, "old", None);
    let mut seen = |session: &str, name: Option<&str>| {
        registry.at(NOW + MINUTE).record_stop(session, name).expect("fine").map(|worker| worker.name)
    };
    assert_eq!(seen("s1", None).as_deref(), Some("ann"));
    assert_eq!(seen("s2", None), None, "a session that has registered nobody");
    assert_eq!(seen("s2", Some("ann")), None, "another session's worker");
    assert_eq!(seen("s2", Some("old")).as_deref(), Some("old"), "nobody's yet, and from now on this one's");
    assert_eq!(seen("s3", Some("old")), None);
    assert_eq!(registry.worker("old").expect("old").session.as_deref(), Some("s2"));
    assert_eq!(registry.worker("ann").expect("ann").heartbeat_ms, NOW + MINUTE);
}

fn who_leaves_gives_back_what_it_has_in_hand(registry: &mut Rig) {
    for title in ["one", "two", "three"] {
        registry.at(NOW).add(&new(title)).expect("added");
    }
    worker(registry, "ann", None);
    for _ in 0..2 {
        next(registry, "ann", NOW);
    }
    registry.at(NOW).set("ann", TaskId(1), Status::Completed, None).expect("done");
    assert_eq!(registry.at(NOW).leave("ann").expect("left"), [TaskId(2)]);
    assert_eq!(registry.task(TaskId(2)).expect("there").note.as_deref(), Some("ann left"));
    assert_eq!(registry.task(TaskId(1)).expect("there").assignee.as_deref(), Some("ann"));
    assert!(registry.workers().expect("fine").is_empty());
}

fn an_open_task_can_be_given_away_and_given_back(registry: &mut Rig) {
    let id = registry.at(NOW).add(&new("x")).expect("added").id;
    worker(registry, "ann", None);
    assert_eq!(registry.at(NOW).assign(id, "ann").expect("given").status, Status::Assigned);
    registry
        .at(NOW)
        .set("ann", id, Status::Completed, None)
        .expect("one that was given may be completed at once");
    let id = registry.at(NOW).add(&new("y")).expect("added").id;
    next(registry, "ann", NOW);
    assert_eq!(
        registry.at(NOW).assign(id, "bob").expect_err("taken").to_string(),
        "t2 is ann's (accepted), not bob's; `punchlist tasks claim` takes another one"
    );
    let back = registry.at(NOW).set("ann", id, Status::Open, Some("not mine")).expect("back");
    assert_eq!((back.status, back.assignee, back.note.as_deref()), (Status::Open, None, Some("not mine")));
}

#[derive(Debug, Clone)]
enum Action {
    Add { given: Option<usize> },
    Claim { who: usize },
    Finish { who: usize, task: i64, how: usize },
    Heartbeat { who: usize },
    Leave { who: usize },
    Sweep,
    Clock { by: i64 },
}

fn deed() -> impl Strategy<Value = Action> {
    let (who, hours) = (0_usize..3, -3_i64..3);
    prop_oneof![
        proptest::option::of(0_usize..3).prop_map(|given| Action::Add { given }),
        who.clone().prop_map(|who| Action::Claim { who }),
        who.clone().prop_map(|who| Action::Claim { who }),
        (who.clone(), 1_i64..8, 0_usize..4).prop_map(|(who, task, how)| Action::Finish { who, task, how }),
        who.clone().prop_map(|who| Action::Heartbeat { who }),
        who.prop_map(|who| Action::Leave { who }),
        Just(Action::Sweep),
        hours.prop_map(|hours| Action::Clock { by: hours * 13 * MINUTE }),
    ]
}

/// Whatever happens, and whatever the clock does: no task is lost or two workers' at once, what is
/// over stays so, and no worker is idle for less than nothing.
fn check_deeds(registry: &mut Rig, deeds: Vec<Action>) -> Result<(), TestCaseError> {
    let names = ["ann", "bob", "eve"];
    let mut now = NOW;
    let mut added = 0;
    let mut over: BTreeMap<TaskId, Task> = BTreeMap::new();
    for deed in deeds {
        let before: BTreeMap<_, _> = registry
            .tasks(&TaskFilter::default())
            .expect("all")
            .into_iter()
            .map(|task| (task.id, task))
            .collect();
        match deed {
            Action::Add { given } => {
                let assignee = given.map(|given| names[given].to_owned());
                registry.at(now).add(&NewTask { assignee, ..new("x") }).expect("added");
                added += 1;
            }
            Action::Claim { who } => {
                let new = NewWorker { name: Some(names[who].into()), ..NewWorker::default() };
                if registry.worker(names[who]).is_err() {
                    registry.at(now).register(&new).expect("registered");
                }
                let claimed =
                    registry.at(now).claim(names[who], ClaimRequest::default(), LEASE).expect("fine");
                if let Some(task) = claimed {
                    prop_assert_eq!(task.assignee.as_deref(), Some(names[who]));
                    let was = &before[&task.id];
                    let is_free = was.status == Status::Open
                        || was.assignee.as_deref() == Some(names[who])
                        || task.attempts == was.attempts + 1;
                    prop_assert!(is_free && !was.status.is_over(), "{:?} {:?}", was, task);
                }
            }
            Action::Finish { who, task, how } => {
                let (id, me) = (TaskId(task), names[who]);
                let done = match how {
                    0 => registry.at(now).set(me, id, Status::Completed, None),
                    1 => registry.at(now).set(me, id, Status::Failed, Some("no")),
                    2 => registry.at(now).set(me, id, Status::Open, None),
                    _ => registry.at(now).set(me, id, Status::InProgress, None),
                };
                let was_mine = before
                    .get(&id)
                    .is_some_and(|task| !task.status.is_over() && task.assignee.as_deref() == Some(me));
                let is_there = registry.worker(me).is_ok();
                prop_assert_eq!(done.is_ok(), was_mine && is_there, "{:?}", done);
            }
            Action::Heartbeat { who } => drop(registry.at(now).heartbeat(names[who])),
            Action::Leave { who } => drop(registry.at(now).leave(names[who])),
            Action::Sweep => registry.at(now).expire().expect("swept"),
            Action::Clock { by } => now += by,
        }
        let tasks = registry.tasks(&TaskFilter::default()).expect("all");
        prop_assert_eq!(tasks.len(), added);
        prop_assert!(tasks.is_sorted_by_key(|task| task.id));
        for task in tasks {
            prop_assert_eq!(task.status == Status::Open, task.assignee.is_none());
            if let Some(was) = over.get(&task.id) {
                prop_assert_eq!(&task, was);
            }
            if task.status.is_over() {
                over.insert(task.id, task);
            }
        }
        for worker in registry.workers().expect("all") {
            prop_assert!(worker.idle_ms(now) >= 0 && worker.silent_ms(now) >= 0);
        }
    }
    Ok(())
}

fn nothing_is_lost_and_nothing_is_mixed_up(registry: &mut Rig) {
    let cases = if registry.cluster.is_some() { 12 } else { 48 };
    let mut runner = TestRunner::new(Config { cases, failure_persistence: None, ..Config::default() });
    let registry = std::cell::RefCell::new(registry);
    let run = runner.run(&proptest::collection::vec(deed(), 1..60), |deeds| {
        let registry = &mut **registry.borrow_mut();
        registry.empty();
        check_deeds(registry, deeds)
    });
    run.unwrap_or_else(|error| panic!("{error}"));
}

fn a_task_waits_for_those_that_it_comes_after(registry: &mut Rig) {
    let first = registry.at(NOW).add(&new("first")).expect("added").id;
    let second = registry
        .at(NOW)
        .add(&NewTask { priority: 9, after: vec![first, first], ..new("second") })
        .expect("added");
    let third = NewTask { assignee: Some("ann".into()), after: vec![first, second.id], ..new("third") };
    let third = registry.at(NOW).add(&third).expect("added");
    assert_eq!((second.waits, third.waits), (1, 2));
    worker(registry, "ann", None);
    let one = ClaimRequest { id: Some(third.id), ..ClaimRequest::default() };
    assert_eq!(
        registry.at(NOW).claim("ann", one, LEASE).expect_err("too early").to_string(),
        "t3 waits for t1, t2; `punchlist tasks claim` takes another one"
    );
    for title in ["first", "second", "third"] {
        let claimed =
            registry.at(NOW).claim("ann", ClaimRequest::default(), LEASE).expect("fine").expect("a task");
        assert_eq!(claimed.title, title);
        assert_eq!(next(registry, "ann", NOW), None, "the rest waits for it");
        registry.at(NOW).set("ann", claimed.id, Status::Completed, None).expect("completed");
    }
    let late = registry.at(NOW).add(&NewTask { after: vec![first], ..new("late") }).expect("added");
    assert_eq!(late.waits, 0, "what is completed is not waited for");
    assert_eq!(registry.prerequisites(third.id).expect("fine"), [first, second.id]);
    let missing =
        registry.at(NOW).add(&NewTask { after: vec![TaskId(99)], ..new("x") }).expect_err("no such task");
    assert_eq!(missing.to_string(), "no task t99; `punchlist tasks list --all` shows them");
}

fn a_task_is_tried_as_often_as_it_may_and_then_dead(registry: &mut Rig) {
    let id = registry.at(NOW).add(&NewTask { retries: Some(2), ..new("x") }).expect("added").id;
    worker(registry, "ann", None);
    worker(registry, "bob", None);
    assert!(next(registry, "ann", NOW).is_some());
    let again = registry.at(NOW).set("ann", id, Status::Failed, Some("no key")).expect("given up");
    assert_eq!((again.status, again.note.as_deref()), (Status::Open, Some("failed: no key")));
    // A worker that goes silent costs a try, too.
    assert!(next(registry, "bob", NOW).is_some());
    registry.at(NOW + 31 * MINUTE).expire().expect("swept");
    assert_eq!(registry.task(id).expect("there").status, Status::Open);
    assert!(next(registry, "ann", NOW + 31 * MINUTE).is_some());
    registry.at(NOW + 62 * MINUTE).expire().expect("swept");
    let dead = registry.task(id).expect("there");
    assert_eq!((dead.status, dead.attempts), (Status::Dead, 3));
    assert_eq!(dead.note.as_deref(), Some("ann was silent for 31 min"));
    assert_eq!(next(registry, "bob", NOW + 62 * MINUTE), None);
    assert_eq!(
        registry.at(NOW + 62 * MINUTE).set("ann", id, Status::Completed, None).expect_err("over").to_string(),
        "t1 is dead already, by ann; `punchlist tasks show t1` has its story"
    );
    let again = registry.at(NOW + 63 * MINUTE).retry(id).expect("opened");
    assert_eq!((again.status, again.attempts), (Status::Open, 0));
    for _ in 0..3 {
        assert!(next(registry, "bob", NOW + 63 * MINUTE).is_some());
        registry.at(NOW + 63 * MINUTE).set("bob", id, Status::Failed, Some("no")).expect("given up");
    }
    assert_eq!(registry.task(id).expect("there").status, Status::Dead);
    let what: Vec<_> = registry.history(id).expect("lines").into_iter().map(|event| event.what).collect();
    assert_eq!(
        what.join(" "),
        "added claimed failed returned claimed returned claimed died retried \
         claimed failed returned claimed failed returned claimed failed died"
    );
    let open = registry.at(NOW).add(&new("y")).expect("added").id;
    assert_eq!(
        registry.at(NOW).retry(open).expect_err("open").to_string(),
        "t2 is open: only what is failed or dead can be tried again"
    );
}

fn completing_twice_or_after_the_lease_is_told(registry: &mut Rig) {
    for title in ["one", "two"] {
        registry.at(NOW).add(&new(title)).expect("added");
    }
    worker(registry, "ann", None);
    worker(registry, "bob", None);
    assert!(next(registry, "ann", NOW).is_some());
    let done = registry.at(NOW + MINUTE).set("ann", TaskId(1), Status::Completed, None).expect("completed");
    assert_eq!(done.late_ms(), None);
    assert_eq!(
        registry
            .at(NOW + MINUTE)
            .set("ann", TaskId(1), Status::Completed, None)
            .expect_err("twice")
            .to_string(),
        "t1 is completed already, by ann; `punchlist tasks show t1` has its story"
    );
    // Nobody took it meanwhile: the work counts, and that it is late is known.
    assert!(next(registry, "ann", NOW).is_some());
    let late =
        registry.at(NOW + 35 * MINUTE).set("ann", TaskId(2), Status::Completed, None).expect("completed");
    assert_eq!(late.late_ms(), Some(5 * MINUTE));
    // Somebody did.
    registry.at(NOW).add(&new("three")).expect("added");
    assert!(next(registry, "ann", NOW).is_some());
    assert!(next(registry, "bob", NOW + 31 * MINUTE).is_some());
    assert_eq!(
        registry
            .at(NOW + 31 * MINUTE)
            .set("ann", TaskId(3), Status::Completed, None)
            .expect_err("bob's")
            .to_string(),
        "t3 is bob's (accepted), not ann's; `punchlist tasks claim` takes another one"
    );
}

fn a_late_completion_counted_only_where_nobody_had_looked(registry: &mut Rig) {
    for name in ["ann", "bob"] {
        worker(registry, name, None);
    }
    let id = registry.at(NOW).add(&new("one")).expect("added").id;
    assert!(next(registry, "ann", NOW).is_some());
    registry.at(NOW + 31 * MINUTE).expire().expect("swept");
    assert_eq!(registry.task(id).expect("there").status, Status::Open);
    registry.at(NOW + 32 * MINUTE).set("bob", id, Status::Completed, None).expect_err("never bob's");
    let late =
        registry.at(NOW + 35 * MINUTE).set("ann", id, Status::Completed, Some("oiled")).expect("completed");
    assert_eq!((late.status, late.late_ms(), late.attempts), (Status::Completed, Some(5 * MINUTE), 1));
    assert_eq!((late.assignee.as_deref(), late.note.as_deref()), (Some("ann"), Some("oiled")));
    assert!(next(registry, "bob", NOW + 35 * MINUTE).is_none(), "it is not done again");
    // Whoever left gave its task back by itself, and whoever opened it again wants it done anew.
    let left = registry.at(NOW).add(&new("left")).expect("added").id;
    assert!(next(registry, "ann", NOW + 36 * MINUTE).is_some());
    registry.at(NOW + 37 * MINUTE).leave("ann").expect("left");
    worker(registry, "ann", None);
    registry.at(NOW + 38 * MINUTE).set("ann", left, Status::Completed, None).expect_err("given back");
    assert!(next(registry, "bob", NOW + 38 * MINUTE).is_some());
    registry.at(NOW + 39 * MINUTE).set("bob", left, Status::Failed, None).expect("failed");
    registry.at(NOW + 40 * MINUTE).retry(left).expect("open");
    registry.at(NOW + 90 * MINUTE).set("bob", left, Status::Completed, None).expect_err("to be done anew");
}

fn a_lease_is_as_long_as_the_one_who_claimed_said(registry: &mut Rig) {
    let id = registry.at(NOW).add(&new("x")).expect("added").id;
    worker(registry, "ann", None);
    worker(registry, "bob", None);
    registry.at(NOW).claim("ann", ClaimRequest::default(), 4 * LEASE).expect("fine").expect("a task");
    let hasty = registry.at(NOW + 2 * LEASE).claim("bob", ClaimRequest::default(), 1).expect("fine");
    assert_eq!(hasty, None, "whoever has a short lease takes nothing from others");
    registry.at(NOW + 3 * LEASE).heartbeat("ann").expect("heard of");
    registry.at(NOW + 6 * LEASE).expire().expect("swept");
    assert_eq!(registry.task(id).expect("there").assignee.as_deref(), Some("ann"));
    assert!(next(registry, "bob", NOW + 7 * LEASE).is_some());
}

fn words_that_are_sql_are_words(registry: &mut Rig) {
    let evil = "'); DROP TABLE tasks; -- $1 ?1 \\ \" \u{1f600} %s";
    let new = NewTask { body: evil.into(), queue: evil.into(), project: Some(evil.into()), ..new(evil) };
    let id = registry.at(NOW).add(&new).expect("added").id;
    worker(registry, "ann", None);
    let choice = ClaimRequest { id: None, queue: Some(evil), project: Some(Path::new(evil)) };
    let task = registry.at(NOW).claim("ann", choice, LEASE).expect("fine").expect("a task");
    assert_eq!((task.title.as_str(), task.body.as_str(), task.queue.as_str()), (evil, evil, evil));
    let filter = TaskFilter { queue: Some(evil.into()), project: Some(evil.into()), ..TaskFilter::default() };
    assert_eq!(registry.tasks(&filter).expect("fine").len(), 1);
    let done = registry.at(NOW).set("ann", id, Status::Completed, Some(evil)).expect("completed");
    assert_eq!(done.note.as_deref(), Some(evil));
}
