//! The child process under supervision: every ending, and that nothing is left behind.
//!
//! Runs real processes: the scripted client, and small shell scripts where the shell says it
//! shorter. Times are asserted only where the difference is of seconds, since machines are busy:
//! what must be quick is compared with a sleep that is much longer.
#![cfg(unix)]

#[path = "../support/processes.rs"]
mod processes;

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use processes::{assert_group_is_gone, assert_is_gone, eventually, is_alive, kill_group_of};
use punchlist::child::{Ended, Ending, Job, run, run_async, run_while};
use rustix::process::{Pid, Signal, kill_process};

/// Far more than any of these runs needs, far less than what would keep it if it waited.
const PROMPT: Duration = Duration::from_secs(10);

/// How long a process lives that nobody should wait for: well over [`PROMPT`].
const LONG: u64 = 60;

/// A folder of its own for one test, with the script of its fake client.
struct Sandbox {
    dir: tempfile::TempDir,
}

impl Sandbox {
    fn new() -> Self {
        Sandbox { dir: tempfile::tempdir().expect("a folder") }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// A job for the fake client. `DIR` in the script becomes this stage's folder.
    fn fake(&self, script: &str) -> Job {
        let path = self.path("script");
        let dir = self.dir.path().to_str().expect("a plain path");
        fs::write(&path, script.replace("DIR", dir)).expect("the script");
        Job {
            env_set: vec![("FAKE_CLAUDE_SCRIPT".into(), path.into())],
            ..self.job(env!("CARGO_BIN_EXE_fake-claude"), &[])
        }
    }

    fn shell(&self, script: &str) -> Job {
        self.job("/bin/sh", &["-c", script])
    }

    fn job(&self, program: &str, args: &[&str]) -> Job {
        Job {
            program: program.into(),
            args: args.iter().map(OsString::from).collect(),
            cwd: self.dir.path().into(),
            env_set: Vec::new(),
            env_unset: Vec::new(),
            stdin: Vec::new(),
            deadline: Duration::from_secs(LONG),
            stdout_cap: 1 << 20,
            stderr_cap: 1 << 20,
        }
    }

    /// What `record DIR/record` wrote.
    fn record(&self) -> serde_json::Value {
        let text = fs::read_to_string(self.path("record")).expect("a record");
        serde_json::from_str(&text).expect("one line of JSON")
    }

    /// The group of the fake client, which has to have recorded itself.
    fn group(&self) -> Pid {
        let record = self.record();
        assert_eq!(record["pid"], record["pgid"], "the child leads its group");
        pid(&record["pid"].to_string())
    }

    fn pid_in(&self, name: &str) -> Pid {
        pid(&fs::read_to_string(self.path(name)).expect("a pid file"))
    }
}

/// A failed test may have left its processes: they are ended here, whatever the supervisor did.
/// Nothing in here may panic, since a second panic aborts and takes the other tests' clean-up
/// along.
impl Drop for Sandbox {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            return;
        }
        let read = |name| fs::read_to_string(self.path(name)).unwrap_or_default();
        let record: serde_json::Value = serde_json::from_str(&read("record")).unwrap_or_default();
        for text in [record["pid"].to_string(), read("pid")] {
            if let Some(group) = text.trim().parse().ok().and_then(Pid::from_raw) {
                kill_group_of(group);
            }
        }
    }
}

fn pid(text: &str) -> Pid {
    text.trim().parse().ok().and_then(Pid::from_raw).unwrap_or_else(|| panic!("not a pid: {text}"))
}

/// Asserts the ending with a pattern; shows the whole result if it is another.
macro_rules! assert_how {
    ($ended:expr, $pattern:pat) => {{
        let ended: &Ended = &$ended;
        assert!(matches!(ended.how, $pattern), "not {}: {}", stringify!($pattern), show(ended));
    }};
}

fn show(ended: &Ended) -> String {
    format!(
        "{:?} after {:?}\nstdout ({} bytes): {}\nstderr ({} bytes): {}",
        ended.how,
        ended.duration,
        ended.stdout.len(),
        String::from_utf8_lossy(&ended.stdout[..ended.stdout.len().min(2000)]),
        ended.stderr.len(),
        String::from_utf8_lossy(&ended.stderr[..ended.stderr.len().min(2000)]),
    )
}

fn assert_prompt(started: Instant) {
    let took = started.elapsed();
    assert!(took < PROMPT, "it took {took:?}");
}

// ---- it ends by itself

#[test]
fn a_child_gets_all_it_is_given_and_gives_all_it_wrote() {
    let stage = Sandbox::new();
    let mut job = stage.fake("record DIR/record\nstdout one\\ntwo\nstderr three\n");
    job.args = vec!["-p".into(), "--model".into(), "haiku".into()];
    job.stdin = b"the prompt".to_vec();
    job.env_set.push(("PUNCHLIST_TEST_SET".into(), "yes".into()));
    let ended = run(job);
    assert_how!(ended, Ending::Exited(0));
    assert_eq!(ended.stdout, b"one\ntwo");
    assert_eq!(ended.stderr, b"three");
    let record = stage.record();
    assert_eq!(record["argv"], serde_json::json!(["-p", "--model", "haiku"]));
    assert_eq!(record["stdin"], "the prompt");
    assert_eq!(record["env"]["PUNCHLIST_TEST_SET"], "yes");
    assert_eq!(
        fs::canonicalize(record["cwd"].as_str().expect("a path")).expect("the cwd"),
        fs::canonicalize(stage.dir.path()).expect("the stage"),
    );
    assert_group_is_gone(stage.group());
}

/// The fastest of many, since any one of them may meet a busy machine. It has to be below the wait
/// for held pipes (100 ms) and below any sleep that one might poll with.
#[test]
fn a_fast_child_returns_at_once() {
    let stage = Sandbox::new();
    let runs = (0..20).map(|_| run(stage.shell("echo done")));
    let fastest =
        runs.inspect(|ended| assert_how!(ended, Ending::Exited(0))).map(|ended| ended.duration).min();
    assert!(fastest < Some(Duration::from_millis(80)), "{fastest:?}");
}

#[test]
fn variables_are_unset_and_set_in_that_order() {
    let stage = Sandbox::new();
    // Cargo's own variables are the only ones here that are sure to be set.
    let mut job = stage.shell("echo \"${CARGO_MANIFEST_DIR-unset} $BOTH\"");
    job.env_unset = vec!["CARGO_MANIFEST_DIR".into(), "BOTH".into()];
    job.env_set = vec![("BOTH".into(), "set".into())];
    let ended = run(job);
    assert_eq!(String::from_utf8_lossy(&ended.stdout), "unset set\n", "{}", show(&ended));
}

#[test]
fn a_slow_child_is_waited_for() {
    let stage = Sandbox::new();
    let ended = run(stage.fake("stdout before\nsleep 700\nstdout  after\nexit 3\n"));
    assert_how!(ended, Ending::Exited(3));
    assert_eq!(ended.stdout, b"before after");
    assert!(ended.duration >= Duration::from_millis(700), "{:?}", ended.duration);
}

#[test]
fn exit_codes_and_signals_come_through() {
    let stage = Sandbox::new();
    for code in [0, 1, 2, 97, 255] {
        let ended = run(stage.fake(&format!("exit {code}\n")));
        assert!(matches!(ended.how, Ending::Exited(got) if got == code), "{code}: {}", show(&ended));
    }
    assert_how!(run(stage.fake("stdout half\ncrash-signal\n")), Ending::Signaled(9));
    assert_how!(run(stage.shell("kill -TERM $$")), Ending::Signaled(15));
}

#[test]
fn a_program_or_folder_that_is_not_there_is_not_started() {
    let stage = Sandbox::new();
    assert_how!(run(stage.job("/no/such/program", &[])), Ending::NotStarted(_));
    let mut job = stage.shell("exit 0");
    job.cwd = stage.path("no-such-folder");
    assert_how!(run(job), Ending::NotStarted(_));
}

#[test]
fn closing_its_output_is_not_an_end() {
    let stage = Sandbox::new();
    let ended = run(stage.shell("echo said; exec >&- 2>&-; sleep 0.5; exit 4"));
    assert_how!(ended, Ending::Exited(4));
    assert_eq!(ended.stdout, b"said\n");
}

#[test]
fn two_runs_side_by_side_keep_their_endings_apart() {
    let (one, two) = (Sandbox::new(), Sandbox::new());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let (one, two) = runtime.block_on(async {
        tokio::join!(
            run_async(one.fake("sleep 300\nstdout one\nexit 1\n")),
            run_async(two.fake("stdout two\nexit 2\n")),
        )
    });
    assert_how!(one, Ending::Exited(1));
    assert_how!(two, Ending::Exited(2));
    assert_eq!((one.stdout, two.stdout), (b"one".to_vec(), b"two".to_vec()));
}

// ---- stdin

#[test]
fn a_child_that_never_reads_its_stdin_is_no_deadlock() {
    let stage = Sandbox::new();
    let mut job = stage.fake("leave-stdin\nflood 300000\nsleep 300\nexit 5\n");
    job.stdin = vec![b'p'; 5 << 20];
    let started = Instant::now();
    let ended = run(job);
    assert_how!(ended, Ending::Exited(5));
    assert_eq!(ended.stdout.len(), 300_000);
    assert_prompt(started);
}

#[test]
fn a_child_that_closes_its_stdin_is_no_error() {
    let stage = Sandbox::new();
    let mut job = stage.fake("close-stdin\nsleep 300\nstdout fine\n");
    job.stdin = vec![b'p'; 5 << 20];
    let ended = run(job);
    assert_how!(ended, Ending::Exited(0));
    assert_eq!(ended.stdout, b"fine");
}

#[test]
fn a_big_stdin_goes_through_while_as_much_comes_back() {
    let stage = Sandbox::new();
    let mut job = stage.job("/bin/cat", &[]);
    job.stdin = (0..5_u32 << 18).flat_map(u32::to_ne_bytes).collect();
    job.stdout_cap = job.stdin.len();
    let sent = job.stdin.clone();
    let ended = run(job);
    assert_how!(ended, Ending::Exited(0));
    assert!(ended.stdout == sent, "{} bytes came back of {}", ended.stdout.len(), sent.len());
}

// ---- too much output

#[test]
fn a_flood_on_stdout_is_cut_off_and_killed() {
    let stage = Sandbox::new();
    let mut job = stage.fake("record DIR/record\nflood 4000000000\nhang\n");
    job.stdout_cap = 100_000;
    let started = Instant::now();
    let ended = run(job);
    assert_how!(ended, Ending::Flooded);
    assert_eq!(ended.stdout.len(), 100_000);
    assert_prompt(started);
    assert_group_is_gone(stage.group());
    #[cfg(target_os = "linux")]
    {
        let peak = processes::own_peak_memory();
        assert!(peak < 400 << 20, "{peak} bytes at the peak");
    }
}

#[test]
fn a_flood_of_a_child_that_is_gone_already_is_still_a_flood() {
    let stage = Sandbox::new();
    let mut job = stage.fake("flood 5000\n");
    job.stdout_cap = 4999;
    assert_how!(run(job), Ending::Flooded);
    let mut job = stage.fake("flood 5000\n");
    job.stdout_cap = 5000;
    assert_how!(run(job), Ending::Exited(0));
}

#[test]
fn a_flood_on_stderr_is_drained_and_cut() {
    let stage = Sandbox::new();
    let mut job = stage.shell("head -c 3000000 /dev/zero >&2; echo done");
    job.stderr_cap = 1000;
    let ended = run(job);
    assert_how!(ended, Ending::Exited(0));
    assert_eq!(ended.stdout, b"done\n");
    assert_eq!(ended.stderr.len(), 1000);
}

// ---- the deadline

#[test]
fn a_hanging_child_is_killed_at_the_deadline() {
    let stage = Sandbox::new();
    let mut job = stage.fake("record DIR/record\nstdout half\nhang\n");
    job.deadline = Duration::from_secs(1);
    let started = Instant::now();
    let ended = run(job);
    assert_how!(ended, Ending::TimedOut);
    assert_eq!(ended.stdout, b"half");
    assert!(ended.duration >= Duration::from_secs(1), "{:?}", ended.duration);
    assert_prompt(started);
    assert_group_is_gone(stage.group());
}

#[test]
fn a_child_that_ignores_sigterm_is_killed_too() {
    let stage = Sandbox::new();
    let mut job = stage.fake("ignore-sigterm\nrecord DIR/record\nhang\n");
    job.deadline = Duration::from_secs(1);
    let started = Instant::now();
    let ended = run(job);
    assert_how!(ended, Ending::TimedOut);
    assert_prompt(started);
    assert_group_is_gone(stage.group());
}

#[test]
fn a_child_that_nobody_wants_any_more_is_killed_with_all_it_started() {
    let stage = Sandbox::new();
    let job = stage.fake(&format!("grandchild-holds-pipes {LONG}\nrecord DIR/record\nhang\n"));
    let started = Instant::now();
    let ended = run_while(job, &|| !stage.path("record").exists());
    assert_how!(ended, Ending::Unwanted);
    assert_prompt(started);
    assert_group_is_gone(stage.group());
}

#[test]
fn a_child_that_is_wanted_to_its_end_is_told_by_its_own_ending() {
    let stage = Sandbox::new();
    let asked = std::cell::Cell::new(0);
    let wanted = || {
        asked.set(asked.get() + 1);
        true
    };
    let ended = run_while(stage.fake("sleep 500\nstdout all\nexit 3\n"), &wanted);
    assert_how!(ended, Ending::Exited(3));
    assert_eq!(ended.stdout, b"all");
    assert!(asked.get() > 1, "it was asked for all the while");
}

#[test]
fn a_child_gets_a_moment_to_end_by_itself() {
    let stage = Sandbox::new();
    let mut job = stage.shell("trap 'echo bye; exit 0' TERM; echo ready; while :; do sleep 0.05; done");
    job.deadline = Duration::from_secs(1);
    let ended = run(job);
    assert_how!(ended, Ending::TimedOut);
    assert_eq!(String::from_utf8_lossy(&ended.stdout), "ready\nbye\n");
}

#[test]
fn a_child_that_never_stops_writing_meets_its_deadline() {
    let stage = Sandbox::new();
    let mut job = stage.shell("echo $$ > pid; exec cat /dev/zero >&2");
    job.deadline = Duration::from_secs(1);
    job.stderr_cap = 1000;
    let started = Instant::now();
    let ended = run(job);
    assert_how!(ended, Ending::TimedOut);
    assert_prompt(started);
    assert_group_is_gone(stage.pid_in("pid"));
}

#[test]
fn a_child_that_was_stopped_is_killed_all_the_same() {
    let stage = Sandbox::new();
    let mut job = stage.shell("echo $$ > pid; kill -STOP $$; exit 0");
    job.deadline = Duration::from_secs(1);
    assert_how!(run(job), Ending::TimedOut);
    assert_group_is_gone(stage.pid_in("pid"));
}

// ---- grandchildren

#[test]
fn a_grandchild_that_holds_the_pipes_is_killed_with_the_child() {
    let stage = Sandbox::new();
    let script = format!("record DIR/record\ngrandchild-holds-pipes {LONG} DIR/pid\nstdout mine\n");
    let started = Instant::now();
    let ended = run(stage.fake(&script));
    assert_how!(ended, Ending::Exited(0));
    assert_eq!(ended.stdout, b"mine");
    assert_prompt(started);
    assert_is_gone(stage.pid_in("pid"));
    assert_group_is_gone(stage.group());
}

#[test]
fn a_grandchild_is_killed_at_the_deadline_with_the_child() {
    let stage = Sandbox::new();
    let script = format!("record DIR/record\ngrandchild-holds-pipes {LONG} DIR/pid\nhang\n");
    let mut job = stage.fake(&script);
    job.deadline = Duration::from_secs(1);
    let started = Instant::now();
    assert_how!(run(job), Ending::TimedOut);
    assert_prompt(started);
    assert_is_gone(stage.pid_in("pid"));
    assert_group_is_gone(stage.group());
}

/// It left the group, so it lives; but nobody waits for it.
#[test]
fn a_grandchild_in_a_session_of_its_own_keeps_nobody_waiting() {
    let stage = Sandbox::new();
    let script = format!("record DIR/record\ngrandchild-setsid {LONG} DIR/pid\nstdout mine\n");
    let started = Instant::now();
    let ended = run(stage.fake(&script));
    let grandchild = stage.pid_in("pid");
    let lived = is_alive(grandchild);
    // First of all: nobody else will.
    let _ = kill_process(grandchild, Signal::KILL);
    assert_how!(ended, Ending::Exited(0));
    assert_eq!(ended.stdout, b"mine");
    assert_prompt(started);
    assert!(lived, "the test needs a grandchild that still holds the pipes");
    assert_group_is_gone(stage.group());
    assert_is_gone(grandchild);
}

// ---- the ways out that are not a return

#[test]
fn a_dropped_future_kills_the_group() {
    let stage = Sandbox::new();
    let job = stage.fake(&format!("record DIR/record\ngrandchild-holds-pipes {LONG} DIR/pid\nhang\n"));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        tokio::select! {
            ended = run_async(job) => panic!("{}", show(&ended)),
            () = until_there(stage.path("pid")) => {}
        }
    });
    assert_is_gone(stage.pid_in("pid"));
    assert_group_is_gone(stage.group());
}

#[test]
fn a_panic_kills_the_group() {
    let stage = Sandbox::new();
    let job = stage.fake(&format!("record DIR/record\ngrandchild-holds-pipes {LONG} DIR/pid\nhang\n"));
    let pid_file = stage.path("pid");
    let panicked = std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        runtime.block_on(async {
            tokio::select! {
                _ = run_async(job) => {}
                () = until_there(pid_file) => panic!("on purpose"),
            }
        });
    });
    assert!(panicked.join().is_err(), "no panic");
    assert_is_gone(stage.pid_in("pid"));
    assert_group_is_gone(stage.group());
}

/// Waits for a file with something in it.
async fn until_there(path: PathBuf) {
    while fs::read(&path).unwrap_or_default().is_empty() {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

// ---- signals to ourselves

/// Where the supervisor's stage is, in the environment of [`supervisor`].
const SUPERVISE: &str = "PUNCHLIST_TEST_SUPERVISE";

/// Not a test: the process that the signal tests send their signal to. It is this binary again,
/// with only this function, since a signal to the tests' own process would hit every run in it.
#[test]
#[ignore = "started by the signal tests"]
fn supervisor() {
    let Some(dir) = std::env::var_os(SUPERVISE) else { return };
    let dir = Path::new(&dir);
    let stage = Sandbox::new();
    let mut job = stage.job(env!("CARGO_BIN_EXE_fake-claude"), &[]);
    job.env_set = vec![("FAKE_CLAUDE_SCRIPT".into(), dir.join("script").into())];
    let ended = run(job);
    fs::write(dir.join("how"), format!("{:?}", ended.how)).expect("the result");
}

/// A running [`supervisor`], which ends with this value. (Its child is the stage's to clean up.)
struct Supervisor<'a> {
    process: Child,
    stage: &'a Sandbox,
}

impl<'a> Supervisor<'a> {
    fn start(stage: &'a Sandbox, script: &str) -> Self {
        // Only for the script that it writes.
        let _ = stage.fake(script);
        let process = Command::new(std::env::current_exe().expect("this binary"))
            .args(["--ignored", "--exact", "child::supervisor"])
            .env(SUPERVISE, stage.dir.path())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .spawn()
            .expect("a supervisor");
        let supervisor = Supervisor { process, stage };
        assert!(eventually(|| supervisor.is_ready()), "the child has not started");
        supervisor
    }

    /// The child's last instruction before its hang writes `pid`.
    fn is_ready(&self) -> bool {
        fs::read(self.stage.path("pid")).is_ok_and(|pid| !pid.is_empty())
    }

    fn pid(&self) -> Pid {
        pid(&self.process.id().to_string())
    }
}

impl Drop for Supervisor<'_> {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn assert_interrupted_by(signal: Signal, name: &str, before: &str) {
    let stage = Sandbox::new();
    let script = format!("{before}record DIR/record\ngrandchild-holds-pipes {LONG} DIR/pid\nhang\n");
    let mut supervisor = Supervisor::start(&stage, &script);
    let started = Instant::now();
    kill_process(supervisor.pid(), signal).expect("a signal");
    let status = supervisor.process.wait().expect("its end");
    assert_prompt(started);
    assert!(status.success(), "the supervisor ended by itself: {status}");
    let how = fs::read_to_string(stage.path("how")).expect("the result");
    assert_eq!(how, format!("Interrupted({name:?})"));
    assert_is_gone(stage.pid_in("pid"));
    assert_group_is_gone(stage.group());
}

#[test]
fn sigterm_to_us_ends_the_group_first() {
    assert_interrupted_by(Signal::TERM, "SIGTERM", "");
}

#[test]
fn sigint_to_us_ends_the_group_first() {
    assert_interrupted_by(Signal::INT, "SIGINT", "");
}

#[test]
fn sighup_to_us_ends_the_group_first() {
    assert_interrupted_by(Signal::HUP, "SIGHUP", "");
}

#[test]
fn sigterm_to_us_ends_a_group_that_ignores_it() {
    assert_interrupted_by(Signal::TERM, "SIGTERM", "ignore-sigterm\n");
}
