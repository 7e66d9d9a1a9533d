//! Claims a second by 32 workers in 8 processes, beside plain `SKIP LOCKED` through pgbench on the
//! same server.

use std::io::{Read, Write};
use std::process::{Child, Command, ExitCode, Stdio};
use std::time::{Duration, SystemTime};

use punchlist::registry::{ClaimRequest, NewWorker, Registry};

use crate::machines::Fleet;
use crate::postgres::Cluster;
use crate::{Figure, median};

const PROCESSES: usize = 8;
const THREADS: usize = 4;

/// How many tasks are claimed in each of how many rounds.
const WHOLE: (usize, usize) = (30_000, 3);
const QUICK: (usize, usize) = (1_000, 1);

/// The argument that makes this program one of the processes: the URL and the process's number
/// follow.
const PROCESS: &str = "--claim-all";

const PLAIN: &str =
    "UPDATE plain SET status = 'accepted', assignee = 'w' || :client_id, attempts = attempts + 1
    WHERE id = (SELECT id FROM plain WHERE status = 'open' ORDER BY priority DESC, id LIMIT 1
    FOR UPDATE SKIP LOCKED)";

/// Claims until nothing is left, if this is one of the processes. It begins when it is told, and
/// says when it got its last task, in microseconds since 1970.
pub(crate) fn run_process() -> Option<ExitCode> {
    let mut args = std::env::args().skip_while(|arg| arg != PROCESS).skip(1);
    let (url, process) = (args.next()?, args.next()?);
    let folder = tempfile::tempdir().expect("a folder");
    let workers: Vec<(Registry, String)> = (0..THREADS)
        .map(|thread| {
            let name = format!("c{process}-{thread}");
            let mut registry = Registry::open(folder.path(), Some(&url)).expect("a registry");
            registry
                .register(&NewWorker { name: Some(name.clone()), ..NewWorker::default() })
                .expect("registered");
            (registry, name)
        })
        .collect();
    println!("ready");
    std::io::stdin().read_exact(&mut [0]).expect("the start");
    let last = std::thread::scope(|scope| {
        let claiming =
            workers.into_iter().map(|(registry, name)| scope.spawn(move || claim_all(registry, &name)));
        let claiming: Vec<_> = claiming.collect();
        claiming.into_iter().map(|thread| thread.join().expect("it ends")).max()
    });
    println!("{}", last.unwrap_or_default());
    Some(ExitCode::SUCCESS)
}

/// Claims until nothing is left; returns when it got its last task.
fn claim_all(mut registry: Registry, name: &str) -> u128 {
    let mut last = 0;
    while registry.claim(name, ClaimRequest::default(), 1_800_000).expect("a claim").is_some() {
        last = micros_now();
    }
    last
}

fn micros_now() -> u128 {
    SystemTime::UNIX_EPOCH.elapsed().expect("after 1970").as_micros()
}

fn start(url: &str, process: usize) -> Child {
    let mut command = Command::new(std::env::current_exe().expect("this program"));
    command.args([PROCESS, url, &process.to_string()]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().expect("it starts");
    child.stdout.as_mut().expect("stdout").read_exact(&mut [0; 6]).expect("it is ready");
    child
}

fn add_tasks(fleet: &Fleet, tasks: usize) {
    fleet.sql(&format!(
        "INSERT INTO punchlist.tasks (title, queue, status, created_ms, updated_ms)
         SELECT 'task ' || n, 'default', 'open', 0, 0 FROM generate_series(1, {tasks}) AS n"
    ));
    fleet.sql("VACUUM ANALYZE punchlist.tasks");
}

/// Claims a second, by ours, up to the last that got a task.
fn ours(cluster: &'static Cluster, tasks: usize) -> f64 {
    let fleet = Fleet { cluster, name: cluster.database() };
    add_tasks(&fleet, tasks);
    let mut children: Vec<Child> = (0..PROCESSES).map(|process| start(&fleet.url(), process)).collect();
    let begun = micros_now();
    for child in &mut children {
        child.stdin.as_mut().expect("stdin").write_all(b"1").expect("started");
    }
    let mut last = begun;
    for child in children {
        let output = child.wait_with_output().expect("it ends");
        assert!(output.status.success());
        last = last.max(String::from_utf8_lossy(&output.stdout).trim().parse().expect("a time"));
    }
    let took = Duration::from_micros(u64::try_from(last - begun).expect("a while"));
    assert_eq!(fleet.sql("SELECT count(*) FROM punchlist.events WHERE what = 'claimed'"), tasks.to_string());
    per_second(tasks, took)
}

/// The same by pgbench, in one of its modes, with a table that has nothing but the queue.
fn plain(cluster: &'static Cluster, tasks: usize, mode: &str) -> f64 {
    let name = cluster.empty_database();
    cluster.sql(
        &name,
        &format!(
            "CREATE TABLE plain (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, title text NOT NULL, priority bigint NOT NULL
             DEFAULT 0, status text NOT NULL, assignee text, attempts bigint NOT NULL DEFAULT 0);
             CREATE INDEX ON plain (priority DESC, id) WHERE status = 'open';
             INSERT INTO plain (title, status) SELECT 'task ' || n, 'open' FROM generate_series(1, {tasks}) AS n"
        ),
    );
    cluster.sql(&name, "VACUUM ANALYZE plain");
    let file = tempfile::Builder::new().suffix(".sql").tempfile().expect("a file");
    std::fs::write(file.path(), format!("{};\n", PLAIN.replace('\n', " "))).expect("written");
    let open = <std::fs::Permissions as std::os::unix::fs::PermissionsExt>::from_mode(0o644);
    std::fs::set_permissions(file.path(), open).expect("readable");
    let workers = PROCESSES * THREADS;
    let mut pgbench = cluster.program("pgbench");
    pgbench.args(["-n", "-M", mode, "-j", &PROCESSES.to_string(), "-c", &workers.to_string()]);
    pgbench.args(["-t", &(tasks / workers).to_string(), "-f"]).arg(file.path()).arg(cluster.url(&name));
    let output = pgbench.current_dir("/").output().expect("pgbench");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    let rate = text.lines().find_map(|line| line.strip_prefix("tps = ")?.split(' ').next()?.parse().ok());
    rate.unwrap_or_else(|| panic!("{text}"))
}

#[expect(clippy::cast_precision_loss, reason = "a count of tasks")]
fn per_second(tasks: usize, took: Duration) -> f64 {
    tasks as f64 / took.as_secs_f64()
}

/// Rounds of all, one after the other, so that a busy moment meets each of them.
pub(crate) fn figures(cluster: &'static Cluster, is_quick: bool) -> Vec<Figure> {
    let (tasks, rounds) = if is_quick { QUICK } else { WHOLE };
    let (mut own, mut parsed, mut prepared) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..rounds {
        own.push(ours(cluster, tasks));
        parsed.push(plain(cluster, tasks, "simple"));
        prepared.push(plain(cluster, tasks, "prepared"));
    }
    let (own, parsed, prepared) = (median(own), median(parsed), median(prepared));
    vec![
        Figure::new("32 workers in 8 processes: claims", own, "a second"),
        Figure::new("32 clients of pgbench: SKIP LOCKED on a bare table", parsed, "a second"),
        Figure::new("  the same, prepared once", prepared, "a second"),
        // Ours is prepared with the third claim of a connection; the bare statement is parsed each time.
        Figure::new("ours beside SKIP LOCKED on a bare table", own / parsed, "").at_least(0.7),
        Figure::new("  beside the same, prepared once", own / prepared, ""),
    ]
}
