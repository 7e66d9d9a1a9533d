//! The n-th system call of each kind fails, for every n: `strace` is attached while the hook waits
//! for its input, and makes the call fail in the hook itself; programs that it starts are left
//! alone. After each run the invariants of a stop are looked at.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::is_whole;
use crate::state_folder::{Snapshot, blocks, leftovers, records, restore, snapshot};
use crate::test_project::{PUNCHLIST, SESSION, TestProject};

/// Far more than any of these runs takes on a busy machine, far less than a hang.
const LIMIT: Duration = Duration::from_secs(60);

/// The errors that each call is made to fail with.
const ERRORS: &[(&str, &[&str])] = &[
    ("openat", &["EIO", "EACCES", "EMFILE", "ENOSPC"]),
    ("read", &["EIO", "EINTR"]),
    ("pread64", &["EIO"]),
    ("write", &["EIO", "ENOSPC", "EINTR"]),
    ("fsync", &["EIO"]),
    ("close", &["EIO", "EINTR"]),
    ("rename", &["EIO", "EACCES", "ENOSPC"]),
    ("renameat2", &["EIO"]),
    ("unlink", &["EIO"]),
    ("mkdir", &["EACCES", "ENOSPC"]),
    ("statx", &["EIO", "EACCES"]),
    ("newfstatat", &["EIO"]),
    ("fstat", &["EIO"]),
    ("flock", &["EIO", "EINTR", "ENOLCK"]),
    ("ftruncate", &["EIO"]),
    ("lseek", &["EIO"]),
    ("getdents64", &["EIO"]),
    ("fcntl", &["EIO"]),
    ("ioctl", &["EIO"]),
    ("chmod", &["EACCES"]),
    ("readlink", &["EACCES"]),
    ("clone3", &["EAGAIN"]),
    ("vfork", &["EAGAIN"]),
    ("pipe2", &["EMFILE"]),
    ("socketpair", &["EMFILE"]),
    ("epoll_create1", &["EMFILE"]),
    ("eventfd2", &["EMFILE"]),
    ("getrandom", &["EIO"]),
];

/// In a run that has no time for every n, so many of each kind.
const QUICK: usize = 1;
/// And only these kinds.
const QUICK_CALLS: [&str; 8] = ["openat", "read", "write", "fsync", "close", "rename", "flock", "statx"];

/// A stop that is played again and again.
struct Scene {
    name: &'static str,
    project: TestProject,
    before: Snapshot,
    blocks_before: u64,
    records_before: usize,
}

impl Scene {
    fn new(name: &'static str, project: TestProject) -> Self {
        project.run_args(&["--version"]);
        let before = snapshot(&project);
        let (blocks_before, records_before) =
            (blocks(&project, SESSION), records(&project).expect("a log").len());
        Self { name, project, before, blocks_before, records_before }
    }

    /// A stop that nobody looks at.
    fn fast_path() -> Self {
        let mut project = TestProject::with_drift();
        project.input["stop_hook_active"] = json!(true);
        Self::new("fast path", project)
    }

    fn clean_audit() -> Self {
        let project = TestProject::without_drift();
        // A pipe that could not be closed keeps the reader waiting.
        project.own_config("[auditor]\ntimeout = \"5s\"\n");
        Self::new("clean audit", project)
    }

    /// What the disk proves needs no reader, so none is there.
    fn block() -> Self {
        let mut project = TestProject::with_drift();
        project.var("PUNCHLIST_CLAUDE", "/nonexistent/claude");
        Self::new("block", project)
    }

    fn after_a_block() -> Self {
        let mut project = TestProject::with_drift();
        project.var("PUNCHLIST_CLAUDE", "/nonexistent/claude");
        project.run().holds();
        project.transcript.asked("Go on.");
        project.works_on();
        project.says("Done: alpha.txt and notes/beta.txt are there.");
        Self::new("stop after a block", project)
    }
}

/// What a run came to.
struct Ended {
    code: Option<i32>,
    stdout: String,
    stderr: String,
    trace: String,
}

/// Plays the scene with `strace` attached; `None` where it can't be attached.
fn play(scene: &Scene, flags: &[&str]) -> Option<Ended> {
    restore(&scene.project, &scene.before);
    let mut command = Command::new(PUNCHLIST);
    command.arg("hook").env_clear().envs(scene.project.variables()).current_dir(scene.project.path("work"));
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut hook = command.spawn().expect("started");
    wait_until_it_reads(&hook);
    let trace = scene.project.path("trace");
    let mut tracer = Command::new("strace");
    tracer.args(["-f", "-b", "execve", "-p", &hook.id().to_string(), "-o"]).arg(&trace).args(flags);
    let Ok(mut tracer) = tracer.stdin(Stdio::null()).stderr(Stdio::piped()).spawn() else {
        let _ = hook.kill().and_then(|()| hook.wait());
        return None;
    };
    let mut said = BufReader::new(tracer.stderr.take().expect("stderr"));
    let mut line = String::new();
    while !line.contains("attached") {
        line.clear();
        if said.read_line(&mut line).unwrap_or(0) == 0 {
            let _ = hook.kill();
            let _ = (hook.wait(), tracer.wait());
            return None;
        }
    }
    let mut stdin = hook.stdin.take().expect("stdin");
    let _ = stdin.write_all(scene.project.input.to_string().as_bytes());
    drop(stdin);
    let (stdout, stderr) = (drained(hook.stdout.take()), drained(hook.stderr.take()));
    let started = Instant::now();
    let code = loop {
        match hook.try_wait().expect("a status") {
            Some(status) => break status.code(),
            None if started.elapsed() > LIMIT => {
                let _ = hook.kill();
                let _ = hook.wait();
                break None;
            }
            None => std::thread::sleep(Duration::from_millis(2)),
        }
    };
    std::thread::spawn(move || std::io::copy(&mut said, &mut std::io::sink()));
    let _ = tracer.wait();
    let text = |receiver: std::sync::mpsc::Receiver<String>| {
        receiver.recv_timeout(Duration::from_secs(10)).unwrap_or_default()
    };
    let trace =
        fs::read(&trace).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default();
    Some(Ended { code, stdout: text(stdout), stderr: text(stderr), trace })
}

fn drained(pipe: Option<impl Read + Send + 'static>) -> std::sync::mpsc::Receiver<String> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = pipe.map(|mut pipe| pipe.read_to_end(&mut bytes));
        let _ = sender.send(String::from_utf8_lossy(&bytes).into_owned());
    });
    receiver
}

/// The thread that does the work is there, and asleep in its first read.
fn wait_until_it_reads(hook: &Child) {
    let started = Instant::now();
    let is_reading = |task: &fs::DirEntry| {
        let call = fs::read_to_string(task.path().join("syscall")).unwrap_or_default();
        // `read(0, …)`: the number of the call is 0 on x86-64 and 63 on aarch64.
        call.starts_with("0 0x0 ") || call.starts_with("63 0x0 ")
    };
    while started.elapsed() < Duration::from_secs(20) {
        let tasks =
            fs::read_dir(format!("/proc/{}/task", hook.id())).into_iter().flatten().filter_map(Result::ok);
        if tasks.into_iter().any(|task| is_reading(&task)) {
            return;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// How often the thread that does most makes each call, from a trace.
fn counts(trace: &str) -> BTreeMap<String, usize> {
    let mut by_thread: HashMap<&str, BTreeMap<String, usize>> = HashMap::new();
    for line in trace.lines() {
        let Some((thread, call)) = line.split_once(' ') else { continue };
        let Some((name, _)) = call.trim_start().split_once('(') else { continue };
        if name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
            *by_thread.entry(thread).or_default().entry(name.to_owned()).or_default() += 1;
        }
    }
    by_thread.into_values().max_by_key(|calls| calls.values().sum::<usize>()).unwrap_or_default()
}

/// What is wrong with a run, if anything is.
fn fault_of(scene: &Scene, ended: &Ended, call: &str) -> Option<String> {
    let Some(code) = ended.code else { return Some("it hung, or a signal ended it".into()) };
    if code != 0 && code != 2 {
        return Some(format!("exit code {code}"));
    }
    let is_object = serde_json::from_str::<Value>(&ended.stdout).is_ok_and(|value| value.is_object());
    if !ended.stdout.is_empty() && !is_object {
        return Some("stdout is neither empty nor one object".into());
    }
    let records = match records(&scene.project) {
        Ok(records) => records,
        Err(torn) => return Some(format!("a torn line: {torn}")),
    };
    let new = &records[scene.records_before.min(records.len())..];
    if new.len() > 1 {
        return Some(format!("{} records of one stop", new.len()));
    }
    let blocks = blocks(&scene.project, SESSION);
    if blocks < scene.blocks_before {
        return Some(format!("the counter fell from {} to {blocks}", scene.blocks_before));
    }
    if code == 2 && blocks != scene.blocks_before + 1 {
        return Some("a block that was not counted".into());
    }
    match new.first() {
        Some(record) if (record["decision"] == "block") != (code == 2) => {
            return Some(format!("the log says {}, the exit code is {code}", record["decision"]));
        }
        // The line on stderr may be what failed.
        None if call != "write"
            && !ended.stderr.contains("decision log")
            && !ended.stdout.contains("state folder") =>
        {
            return Some("no record, and nobody is told".into());
        }
        _ => {}
    }
    let left = leftovers(&scene.project);
    if call != "unlink" && !left.is_empty() {
        return Some(format!("left: {left:?}"));
    }
    None
}

/// Plays a scene with every call failing once; gives how many runs that were.
fn every_call_fails(scene: &Scene) -> usize {
    let Some(plain) = play(scene, &[]) else {
        assert_ne!(std::env::var("PUNCHLIST_STRACE").as_deref(), Ok("required"), "strace can't be used");
        eprintln!("skipped: strace is not there, or can't be attached to a process here");
        return 0;
    };
    assert_eq!(fault_of(scene, &plain, ""), None, "{}: with no fault at all", scene.name);
    let counts = counts(&plain.trace);
    let (mut runs, mut faults) = (0, Vec::new());
    for (call, errors) in ERRORS {
        let Some(count) = counts.get(*call) else { continue };
        if !is_whole() && !QUICK_CALLS.contains(call) {
            continue;
        }
        // In a short run the last ones: they count, log and answer.
        let numbers: Vec<usize> =
            if is_whole() { (1..=*count).collect() } else { (1..=*count).rev().take(QUICK).collect() };
        let errors = if is_whole() { errors } else { &errors[..1] };
        for (number, error) in
            numbers.iter().flat_map(|number| errors.iter().map(move |error| (number, error)))
        {
            let flags = [format!("trace={call}"), format!("inject={call}:error={error}:when={number}")];
            let ended = play(scene, &["-e", &flags[0], "-e", &flags[1]]).expect("attached as before");
            runs += 1;
            if let Some(fault) = fault_of(scene, &ended, call) {
                let failed = ended.trace.lines().find(|line| line.contains("INJECTED")).unwrap_or_default();
                faults.push(format!(
                    "{} {number} {error}: {fault}\n  {failed}\n  stdout: {}\n  stderr: {}",
                    call, ended.stdout, ended.stderr
                ));
            }
        }
    }
    let calls: usize = counts.values().sum();
    eprintln!("{}: {runs} runs, {calls} system calls in one, {} short", scene.name, faults.len());
    assert!(faults.is_empty(), "{}:\n{}", scene.name, faults.join("\n"));
    runs
}

#[test]
fn a_call_that_fails_on_the_fast_path() {
    every_call_fails(&Scene::fast_path());
}

#[test]
fn a_call_that_fails_at_a_clean_audit() {
    every_call_fails(&Scene::clean_audit());
}

#[test]
fn a_call_that_fails_at_a_block() {
    every_call_fails(&Scene::block());
}

#[test]
fn a_call_that_fails_at_the_stop_after_a_block() {
    every_call_fails(&Scene::after_a_block());
}
