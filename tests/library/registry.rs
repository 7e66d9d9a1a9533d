//! What the registry promises, with a clock of the test's own.

use std::collections::BTreeMap;
use std::path::Path;

use proptest::prelude::*;

use punchlist::registry::*;
use rusqlite::Connection;

const MINUTE: i64 = 60_000;
const LEASE: i64 = 30 * MINUTE;
const NOW: i64 = 1_800_000_000_000;

fn registry() -> (tempfile::TempDir, Registry) {
    let folder = tempfile::tempdir().expect("a folder");
    let registry = Registry::open(folder.path()).expect("a registry");
    (folder, registry)
}

fn new(title: &str) -> NewTask {
    NewTask { title: title.into(), queue: DEFAULT_QUEUE.into(), ..NewTask::default() }
}

fn worker(registry: &mut Registry, name: &str, session: Option<&str>) -> Worker {
    let new = NewWorker { name: Some(name.into()), session: session.map(Into::into), ..NewWorker::default() };
    registry.register(&new, NOW).expect("registered")
}

fn next(registry: &mut Registry, worker: &str, now_ms: i64) -> Option<String> {
    let claimed = registry.claim(worker, ClaimRequest::default(), now_ms, LEASE).expect("claimed");
    claimed.map(|task| task.title)
}

#[test]
fn a_task_goes_from_open_to_completed() {
    let (_folder, mut registry) = registry();
    let task = registry.add(&new("mend the gate"), NOW).expect("added");
    assert_eq!((task.id.to_string().as_str(), task.status, task.attempts), ("t1", Status::Open, 0));
    worker(&mut registry, "ann", None);
    let claimed =
        registry.claim("ann", ClaimRequest::default(), NOW + 1, LEASE).expect("fine").expect("a task");
    assert_eq!((claimed.status, claimed.assignee.as_deref()), (Status::Accepted, Some("ann")));
    assert_eq!((claimed.claimed_ms, claimed.attempts), (Some(NOW + 1), 1));
    assert_eq!(
        registry.set("ann", task.id, Status::InProgress, None, NOW + 2).expect("started").status,
        Status::InProgress
    );
    let done = registry.set("ann", task.id, Status::Completed, Some("mended"), NOW + 3).expect("completed");
    assert_eq!((done.status, done.note.as_deref()), (Status::Completed, Some("mended")));
    assert_eq!(next(&mut registry, "ann", NOW + 4), None, "nothing is left");
    let what: Vec<_> =
        registry.history(task.id).expect("lines").into_iter().map(|event| event.what).collect();
    assert_eq!(what, ["added", "claimed", "started", "completed"]);
    let ann = registry.worker("ann").expect("ann");
    assert_eq!((ann.activity, ann.activity_ms, ann.heartbeat_ms), (Activity::Completed, NOW + 3, NOW + 4));
}

#[test]
fn what_was_given_to_a_worker_comes_first_then_what_matters_most_then_what_is_oldest() {
    let (_folder, mut registry) = registry();
    for (title, priority) in [("first", 0), ("second", 0), ("urgent", 5)] {
        registry.add(&NewTask { priority, ..new(title) }, NOW).expect("added");
    }
    let mine = NewTask { assignee: Some("ann".into()), priority: -1, ..new("for ann") };
    assert_eq!(registry.add(&mine, NOW).expect("added").status, Status::Assigned);
    worker(&mut registry, "ann", None);
    worker(&mut registry, "bob", None);
    assert_eq!(next(&mut registry, "bob", NOW).as_deref(), Some("urgent"));
    for title in ["for ann", "first", "second"] {
        assert_eq!(next(&mut registry, "ann", NOW).as_deref(), Some(title));
    }
    assert_eq!(next(&mut registry, "bob", NOW), None);
}

#[test]
fn a_fault_says_what_happened_and_what_to_do() {
    let (_folder, mut registry) = registry();
    worker(&mut registry, "ann", Some("s1"));
    worker(&mut registry, "bob", Some("s2"));
    let id = registry.add(&new("x"), NOW).expect("added").id;
    let one = ClaimRequest { id: Some(id), ..ClaimRequest::default() };
    let told = |result: Result<Task, RegistryError>| result.expect_err("a fault").to_string();
    assert_eq!(
        told(registry.set("ann", TaskId(7), Status::Completed, None, NOW)),
        "no task t7; `punchlist tasks list --all` shows them"
    );
    assert_eq!(
        told(registry.set("ann", id, Status::Completed, None, NOW)),
        "t1 is open, and nobody's; take it first: `punchlist tasks claim t1`"
    );
    assert_eq!(
        told(registry.set("eve", id, Status::Completed, None, NOW)),
        "no worker eve; `punchlist worker list` shows them, `punchlist worker register eve` makes it one"
    );
    registry.claim("ann", one, NOW, LEASE).expect("ann's");
    for refused in [
        told(registry.set("bob", id, Status::Completed, None, NOW)),
        told(registry.claim("bob", one, NOW, LEASE).map(Option::unwrap)),
    ] {
        assert_eq!(refused, "t1 is ann's (accepted), not bob's; `punchlist tasks claim` takes another one");
    }
    registry.claim("ann", one, NOW, LEASE).expect("ann's still, with no second attempt");
    assert_eq!(registry.task(id).expect("there").attempts, 1);
    registry.set("ann", id, Status::Failed, Some("no key"), NOW).expect("given up");
    assert_eq!(
        told(registry.set("ann", id, Status::Completed, None, NOW)),
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

#[test]
fn the_task_of_a_worker_that_went_silent_is_open_again_with_a_note() {
    let (_folder, mut registry) = registry();
    let id = registry.add(&new("x"), NOW).expect("added").id;
    registry.add(&NewTask { assignee: Some("ann".into()), ..new("given, not taken") }, NOW).expect("added");
    worker(&mut registry, "ann", None);
    worker(&mut registry, "bob", None);
    let one = ClaimRequest { id: Some(id), ..ClaimRequest::default() };
    registry.claim("ann", one, NOW, LEASE).expect("ann's");
    registry.heartbeat("ann", NOW + 20 * MINUTE).expect("heard of");
    registry.expire(NOW + 49 * MINUTE, LEASE).expect("swept");
    assert_eq!(registry.task(id).expect("there").status, Status::Accepted, "the lease runs on");
    registry.expire(NOW + 51 * MINUTE, LEASE).expect("swept");
    let task = registry.task(id).expect("there");
    assert_eq!((task.status, task.assignee, task.attempts), (Status::Open, None, 1));
    assert_eq!(task.note.as_deref(), Some("ann was silent for 31 min"));
    let late = registry
        .set("ann", id, Status::Completed, None, NOW + 52 * MINUTE)
        .expect_err("too late")
        .to_string();
    assert_eq!(
        late,
        "t1 is open, and nobody's; take it first: `punchlist tasks claim t1` (it came back: ann was silent for 31 min)"
    );
    // What nobody had taken stays with whom it was given to.
    assert_eq!(registry.task(TaskId(2)).expect("there").assignee.as_deref(), Some("ann"));
    assert_eq!(next(&mut registry, "bob", NOW + 52 * MINUTE).as_deref(), Some("x"));
    assert_eq!(registry.task(id).expect("there").attempts, 2);
}

#[test]
fn a_worker_that_claims_after_a_long_silence_keeps_what_it_has_in_hand() {
    let (_folder, mut registry) = registry();
    for title in ["one", "two"] {
        registry.add(&new(title), NOW).expect("added");
    }
    worker(&mut registry, "ann", None);
    assert_eq!(next(&mut registry, "ann", NOW).as_deref(), Some("one"));
    assert_eq!(next(&mut registry, "ann", NOW + 2 * LEASE).as_deref(), Some("two"));
    assert_eq!(registry.task(TaskId(1)).expect("there").assignee.as_deref(), Some("ann"));
}

#[test]
fn a_clock_that_is_set_back_takes_nothing_away_and_keeps_nobody_for_ever() {
    let (_folder, mut registry) = registry();
    let id = registry.add(&new("x"), NOW).expect("added").id;
    worker(&mut registry, "ann", Some("s"));
    assert_eq!(next(&mut registry, "ann", NOW).as_deref(), Some("x"));
    let year = 365 * 24 * 60 * MINUTE;
    let then = NOW - year;
    let ann = registry.worker("ann").expect("ann");
    assert_eq!((ann.idle_ms(then), ann.silent_ms(then)), (0, 0));
    registry.expire(then, LEASE).expect("swept");
    assert_eq!(registry.task(id).expect("there").status, Status::Accepted, "not because of a clock");
    // From here on its lease and its idle time run by the clock that is.
    let ann = registry.worker("ann").expect("ann");
    assert_eq!((ann.heartbeat_ms, ann.activity_ms), (then, then));
    registry.expire(then + 31 * MINUTE, LEASE).expect("swept");
    assert_eq!(registry.task(id).expect("there").status, Status::Open, "and not for ever either");
    // What is added under the earlier clock is the later one all the same.
    registry.add(&new("y"), then).expect("added");
    let titles: Vec<_> =
        registry.tasks(&TaskFilter::default()).expect("all").into_iter().map(|task| task.title).collect();
    assert_eq!(titles, ["x", "y"]);
    assert_eq!(next(&mut registry, "ann", then).as_deref(), Some("x"));
    let seen = registry.record_stop("s", None, then - year).expect("fine").expect("ann");
    assert_eq!((seen.activity_ms, seen.idle_ms(then - year)), (then - year, 0));
}

#[test]
fn projects_and_queues_are_kept_apart() {
    let (_folder, mut registry) = registry();
    let of = |title: &str, queue: &str, project: Option<&str>| NewTask {
        title: title.into(),
        queue: queue.into(),
        project: project.map(Into::into),
        ..NewTask::default()
    };
    for task in [of("a", "default", Some("/shop")), of("b", "build", Some("/shop")), of("c", "default", None)]
    {
        registry.add(&task, NOW).expect("added");
    }
    worker(&mut registry, "ann", None);
    let mut claim = |queue: Option<&str>, project: &str| {
        let choice = ClaimRequest { id: None, queue, project: Some(Path::new(project)) };
        registry.claim("ann", choice, NOW, LEASE).expect("fine").map(|task| task.title)
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

#[test]
fn a_name_is_one_workers_and_a_session_is_one_worker() {
    let (_folder, mut registry) = registry();
    let register = |registry: &mut Registry, name: Option<&str>, session: Option<&str>, now_ms| {
        let new = NewWorker {
            name: name.map(Into::into),
            session: session.map(Into::into),
            ..NewWorker::default()
        };
        registry.register(&new, now_ms).map(|worker| worker.name).map_err(|fault| fault.to_string())
    };
    assert_eq!(register(&mut registry, None, Some("s1"), NOW).as_deref(), Ok("w1"));
    assert_eq!(register(&mut registry, None, Some("s2"), NOW).as_deref(), Ok("w2"));
    assert_eq!(register(&mut registry, None, Some("s1"), NOW).as_deref(), Ok("w1"), "the same again");
    assert_eq!(
        register(&mut registry, Some("x"), Some("s1"), NOW),
        Err("this session is worker w1 already; `punchlist worker leave` ends that, and `punchlist worker register` \
             without a name keeps it"
            .into())
    );
    assert_eq!(
        register(&mut registry, Some("w1"), Some("s3"), NOW + 5_000),
        Err("w1 is another session's, heard of 5 s ago; choose another name, or take it over with --take-over once \
             that session is gone"
            .into())
    );
    // Once nothing is heard of it, its name is free, and what it had in hand goes with it.
    assert_eq!(register(&mut registry, Some("w1"), Some("s3"), NOW + 3 * MINUTE).as_deref(), Ok("w1"));
    assert_eq!(registry.worker_of_session("s1").expect("fine"), None);
    assert_eq!(register(&mut registry, Some("w2"), None, NOW).as_deref(), Ok("w2"), "from a shell");
    assert_eq!(registry.worker("w2").expect("w2").session.as_deref(), Some("s2"), "it stays its session's");
    for bad in ["", "a b", "-x", "a/b", "\u{1b}[2J", &"x".repeat(65)] {
        assert!(register(&mut registry, Some(bad), None, NOW).is_err(), "{bad:?}");
    }
    registry.add(&NewTask { assignee: Some("w3".into()), ..new("x") }, NOW).expect("added");
    assert_eq!(register(&mut registry, None, None, NOW).as_deref(), Ok("w4"), "w3 has a task already");
}

#[test]
fn a_stop_finds_the_worker_that_its_session_is_and_nobody_elses() {
    let (_folder, mut registry) = registry();
    worker(&mut registry, "ann", Some("s1"));
    worker(&mut registry, "old", None);
    let mut seen = |session: &str, name: Option<&str>| {
        registry.record_stop(session, name, NOW + MINUTE).expect("fine").map(|worker| worker.name)
    };
    assert_eq!(seen("s1", None).as_deref(), Some("ann"));
    assert_eq!(seen("s2", None), None, "a session that has registered nobody");
    assert_eq!(seen("s2", Some("ann")), None, "another session's worker");
    assert_eq!(seen("s2", Some("old")).as_deref(), Some("old"), "nobody's yet, and from now on this one's");
    assert_eq!(seen("s3", Some("old")), None);
    assert_eq!(registry.worker("old").expect("old").session.as_deref(), Some("s2"));
    assert_eq!(registry.worker("ann").expect("ann").heartbeat_ms, NOW + MINUTE);
}

#[test]
fn who_leaves_gives_back_what_it_has_in_hand() {
    let (_folder, mut registry) = registry();
    for title in ["one", "two", "three"] {
        registry.add(&new(title), NOW).expect("added");
    }
    worker(&mut registry, "ann", None);
    for _ in 0..2 {
        next(&mut registry, "ann", NOW);
    }
    registry.set("ann", TaskId(1), Status::Completed, None, NOW).expect("done");
    assert_eq!(registry.leave("ann", NOW).expect("left"), [TaskId(2)]);
    assert_eq!(registry.task(TaskId(2)).expect("there").note.as_deref(), Some("ann left"));
    assert_eq!(registry.task(TaskId(1)).expect("there").assignee.as_deref(), Some("ann"));
    assert!(registry.workers().expect("fine").is_empty());
}

#[test]
fn an_open_task_can_be_given_away_and_given_back() {
    let (_folder, mut registry) = registry();
    let id = registry.add(&new("x"), NOW).expect("added").id;
    worker(&mut registry, "ann", None);
    assert_eq!(registry.assign(id, "ann", NOW).expect("given").status, Status::Assigned);
    registry
        .set("ann", id, Status::Completed, None, NOW)
        .expect("one that was given may be completed at once");
    let id = registry.add(&new("y"), NOW).expect("added").id;
    next(&mut registry, "ann", NOW);
    assert_eq!(
        registry.assign(id, "bob", NOW).expect_err("taken").to_string(),
        "t2 is ann's (accepted), not bob's; `punchlist tasks claim` takes another one"
    );
    let back = registry.set("ann", id, Status::Open, Some("not mine"), NOW).expect("back");
    assert_eq!((back.status, back.assignee, back.note.as_deref()), (Status::Open, None, Some("not mine")));
}

fn told_of(bytes: &[u8]) -> String {
    let folder = tempfile::tempdir().expect("a folder");
    let path = Registry::file(folder.path());
    std::fs::write(&path, bytes).expect("written");
    let fault = Registry::open(folder.path()).expect_err("a fault");
    assert!(fault.is_file_error());
    assert!(std::fs::read(&path).expect("there") == bytes, "left as it is");
    fault.to_string().replace(&folder.path().display().to_string(), "DIR")
}

#[test]
fn a_file_that_is_no_registry_is_left_as_it_is() {
    assert_eq!(
        told_of(&b"# my notes, and no database at all\n".repeat(100)),
        "DIR/registry.sqlite is damaged, or no registry (file is not a database). It is left as it is: move it aside, \
         and a new one is begun with the next task"
    );
    let folder = tempfile::tempdir().expect("a folder");
    let other = Connection::open(folder.path().join("other")).expect("a database");
    other.execute_batch("CREATE TABLE x (y)").expect("a table");
    drop(other);
    let bytes = std::fs::read(folder.path().join("other")).expect("there");
    assert!(told_of(&bytes).contains("no registry (it has tables of somebody else)"));
}

#[test]
fn a_file_that_is_damaged_in_the_middle_says_so() {
    let (folder, mut registry) = registry();
    for number in 0..200 {
        registry.add(&new(&format!("{number} {}", "x".repeat(200))), NOW).expect("added");
    }
    drop(registry);
    let path = Registry::file(folder.path());
    let mut bytes = std::fs::read(&path).expect("there");
    let (from, to) = (4096 * 2, bytes.len());
    bytes[from..to].fill(0xaa);
    std::fs::write(&path, &bytes).expect("damaged");
    let fault = Registry::open(folder.path())
        .and_then(|mut registry| registry.tasks(&TaskFilter::default()))
        .expect_err("a fault");
    assert!(matches!(fault, RegistryError::Damaged { .. }), "{fault}");
}

#[test]
fn a_newer_file_is_left_alone() {
    let (folder, registry) = registry();
    drop(registry);
    let file = Connection::open(Registry::file(folder.path())).expect("the file");
    file.pragma_update(None, "user_version", 9).expect("set");
    drop(file);
    let fault = Registry::open(folder.path()).expect_err("a fault").to_string();
    assert!(
        fault.ends_with("was written by a newer punchlist (format 9, this one knows 1): update punchlist"),
        "{fault}"
    );
}

#[cfg(unix)]
#[test]
fn folder_and_file_are_the_owners_alone() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().expect("a folder");
    let state = folder.path().join("state");
    let mut registry = Registry::open(&state).expect("a registry");
    registry.add(&new("x"), NOW).expect("added");
    for (path, mode) in [(state.clone(), 0o700), (Registry::file(&state), 0o600)] {
        assert_eq!(std::fs::metadata(path).expect("there").permissions().mode() & 0o777, mode);
    }
}

#[test]
fn where_there_is_none_none_is_made_by_looking() {
    let folder = tempfile::tempdir().expect("a folder");
    assert!(Registry::open_if_there(folder.path(), Patience::Stop).expect("fine").is_none());
    assert_eq!(std::fs::read_dir(folder.path()).expect("there").count(), 0);
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

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    /// Whatever happens, and whatever the clock does: no task is lost or two workers' at once, what is over stays so, and no
    /// worker is idle for less than nothing.
    #[test]
    fn nothing_is_lost_and_nothing_is_mixed_up(deeds in proptest::collection::vec(deed(), 1..60)) {
        let names = ["ann", "bob", "eve"];
        let (_folder, mut registry) = registry();
        let mut now = NOW;
        let mut added = 0;
        let mut over: BTreeMap<TaskId, Task> = BTreeMap::new();
        for deed in deeds {
            let before: BTreeMap<_, _> =
                registry.tasks(&TaskFilter::default()).expect("all").into_iter().map(|task| (task.id, task)).collect();
            match deed {
                Action::Add { given } => {
                    let assignee = given.map(|given| names[given].to_owned());
                    registry.add(&NewTask { assignee, ..new("x") }, now).expect("added");
                    added += 1;
                }
                Action::Claim { who } => {
                    let new = NewWorker { name: Some(names[who].into()), ..NewWorker::default() };
                    if registry.worker(names[who]).is_err() {
                        registry.register(&new, now).expect("registered");
                    }
                    let claimed = registry.claim(names[who], ClaimRequest::default(), now, LEASE).expect("fine");
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
                        0 => registry.set(me, id, Status::Completed, None, now),
                        1 => registry.set(me, id, Status::Failed, Some("no"), now),
                        2 => registry.set(me, id, Status::Open, None, now),
                        _ => registry.set(me, id, Status::InProgress, None, now),
                    };
                    let was_mine = before.get(&id).is_some_and(|task| {
                        !task.status.is_over() && task.assignee.as_deref() == Some(me)
                    });
                    let is_there = registry.worker(me).is_ok();
                    prop_assert_eq!(done.is_ok(), was_mine && is_there, "{:?}", done);
                }
                Action::Heartbeat { who } => drop(registry.heartbeat(names[who], now)),
                Action::Leave { who } => drop(registry.leave(names[who], now)),
                Action::Sweep => registry.expire(now, LEASE).expect("swept"),
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
    }
}

#[test]
fn what_a_stop_has_written_is_there_for_the_next_whoever_that_is() {
    let (folder, mut registry) = registry();
    worker(&mut registry, "ann", Some("s"));
    drop(registry);
    for stop in 1..=3 {
        let mut registry =
            Registry::open_if_there(folder.path(), Patience::Stop).expect("fine").expect("there");
        let seen = registry.record_stop("s", None, NOW + stop * MINUTE).expect("fine").expect("ann");
        assert_eq!(seen.heartbeat_ms, NOW + stop * MINUTE);
    }
    let mut registry = Registry::open(folder.path()).expect("fine");
    assert_eq!(registry.worker("ann").expect("ann").heartbeat_ms, NOW + 3 * MINUTE);
}
