//! One stop, from the outside: builds a scratch folder with a home, a state folder, a workspace, a
//! transcript and a scripted client, runs the real binary in a cleared environment, and gives what
//! it answered and wrote down. A run that is not as expected prints all there is to know about it.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::io::{Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::processes::{assert_group_is_gone, kill_group_of};
use crate::transcript::Transcript;

/// The program under test.
pub(crate) const PUNCHLIST: &str = env!("CARGO_BIN_EXE_punchlist");
/// The scripted client.
pub(crate) const FAKE: &str = env!("CARGO_BIN_EXE_fake-claude");

/// Far more than any of these runs needs on a busy machine, far less than what a hang would take.
pub(crate) const LIMIT: Duration = Duration::from_secs(40);

/// How long a process lives that nobody should wait for: well over [`LIMIT`].
pub(crate) const LONG: u64 = 90;

/// What a client of today lists in its help, as far as an audit uses it.
pub(crate) const HELP: &str = "help --tools --system-prompt --setting-sources --settings --strict-mcp-config \
    --disable-slash-commands --no-session-persistence --effort --json-schema --disallowedTools\n";

/// The same, without a schema: 2.0.32.
pub(crate) const OLD_HELP: &str = "help --tools --system-prompt --setting-sources --settings\n";

/// The session's id in every test.
pub(crate) const SESSION: &str = "session-1";

/// The first reader's finding on a `notes/beta.txt` that is not there.
pub(crate) const BETA: &str = r#"{"category":"A","sure":true,"kind":"missing","claim":"Create `notes/beta.txt`","claimed_in":"plan","proof":"","path":"notes/beta.txt","why":"nothing wrote notes/beta.txt","settle":"create notes/beta.txt"}"#;

/// The first reader's finding with which the session of [`TestProject::with_a_wrong_greeting`] is
/// held.
pub(crate) const GREETING: &str = r#"{"category":"A","sure":true,"kind":"wrong-content","claim":"Say 'good evening' in `notes/beta.txt`","claimed_in":"plan","proof":"good morning","path":"notes/beta.txt","why":"notes/beta.txt says something else","settle":"say it in notes/beta.txt"}"#;

/// The first reader's answer with these findings, as a line of the client's script: `first answer
/// …`.
pub(crate) fn finds(findings: &[&str]) -> String {
    format!("first answer {}", answer(findings))
}

/// The first reader's answer with these findings.
pub(crate) fn answer(findings: &[&str]) -> String {
    format!(r#"{{"findings":[{}],"candidates":[],"verdicts":[]}}"#, findings.join(","))
}

/// The script's lines for the questions that a test does not care about: the second reader upholds,
/// what held still stands, and no open item is claimed.
pub(crate) const OTHERS: &str = "second verdicts uphold It is so.\nsettle states stands It is still so.\n\
    checklist answer {\"claimed\":[],\"finished\":false}";

/// A scratch folder and everything that one run needs.
pub(crate) struct TestProject {
    #[expect(dead_code, reason = "held, not read: the folder is gone with it")]
    folder: tempfile::TempDir,
    root: PathBuf,
    vars: BTreeMap<String, OsString>,
    /// What goes on stdin, as an object.
    pub(crate) input: Value,
    /// What the session did.
    pub(crate) transcript: Transcript,
    workspace: PathBuf,
}

// ---- building

impl TestProject {
    /// A workspace with nothing in it, a session in which nothing happened, and a client that finds
    /// nothing.
    pub(crate) fn new() -> Self {
        Self::in_workspace("work")
    }

    /// The same, with the workspace under another name.
    pub(crate) fn in_workspace(name: &str) -> Self {
        let folder = tempfile::Builder::new().prefix("punchlist-test-").tempdir().expect("a folder");
        let root = fs::canonicalize(folder.path()).expect("the folder");
        let workspace = root.join(name);
        for below in ["home", "tmp"] {
            fs::create_dir(root.join(below)).expect("a folder");
        }
        fs::create_dir_all(&workspace).expect("the workspace");
        let mut project = Self {
            vars: BTreeMap::new(),
            input: json!({
                "session_id": SESSION,
                "transcript_path": root.join("transcript.jsonl"),
                "cwd": workspace,
                "permission_mode": "default",
                "hook_event_name": "Stop",
                "stop_hook_active": false,
            }),
            transcript: Transcript::in_folder(&text(&workspace)),
            folder,
            root,
            workspace,
        };
        for (name, path) in [("HOME", "home"), ("TMPDIR", "tmp"), ("PUNCHLIST_HOME", "state")] {
            project.var(name, project.path(path));
        }
        project.var("PATH", "/usr/bin:/bin");
        project.var("PUNCHLIST_CLAUDE", FAKE);
        project.var("FAKE_CLAUDE_SCRIPT", project.path("script"));
        project.readers(&[]);
        project
    }

    /// A session that made the plan and ticked both of its steps, and wrote only the first of the
    /// two files. What it claims in the end is proven wrong by the disk alone.
    pub(crate) fn with_drift() -> Self {
        let mut project = Self::new();
        project.transcript.asked("Make a plan in PLAN.md, then create alpha.txt and notes/beta.txt.");
        project.wrote("PLAN.md", "# Plan\n\n- [x] Create `alpha.txt`\n- [x] Create `notes/beta.txt`\n");
        project.wrote("alpha.txt", "alpha\n");
        project.says("All done: I created alpha.txt and notes/beta.txt.");
        project
    }

    /// The same session, and both files are there.
    pub(crate) fn without_drift() -> Self {
        let project = Self::with_drift();
        project.file("notes/beta.txt", "beta\n");
        project
    }

    /// A session that wrote both of its plan's files, and into one of them something else than
    /// promised. No fact proves that wrong, so what becomes of it is the auditor's word alone.
    pub(crate) fn with_a_wrong_greeting() -> Self {
        let mut project = Self::new();
        project.transcript.asked("Make a plan in PLAN.md and follow it.");
        project.wrote(
            "PLAN.md",
            "# Plan\n\n- [x] Create `alpha.txt`\n- [x] Say 'good evening' in `notes/beta.txt`\n",
        );
        project.wrote("alpha.txt", "alpha\n");
        project.wrote("notes/beta.txt", "good morning\n");
        project.says("All steps are done.");
        project
    }

    /// A file in the workspace that the session has nothing to do with.
    pub(crate) fn file(&self, name: &str, content: &str) {
        let path = self.in_work(name);
        fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
        fs::write(path, content).expect("a file");
    }

    /// A shell command of the session, and what it does while it runs.
    pub(crate) fn ran_now(&mut self, line: &str, work: impl FnOnce(&Self)) {
        let mut transcript = std::mem::take(&mut self.transcript);
        transcript.ran_now(line, || work(self));
        self.transcript = transcript;
    }

    /// Runs git in the workspace.
    pub(crate) fn git(&self, args: &[&str]) {
        let own = ["-c", "user.name=Ann", "-c", "user.email=ann@example.com"];
        let ended = Command::new("git").args(own).args(args).current_dir(&self.workspace).output();
        assert!(ended.expect("git").status.success(), "git {args:?}");
    }

    /// A file that the session wrote.
    pub(crate) fn wrote(&mut self, name: &str, content: &str) {
        self.file(name, content);
        self.transcript.wrote(&text(&self.in_work(name)), content);
    }

    /// Some more work of the session, of no consequence: a stop at which nothing was done is not
    /// audited.
    pub(crate) fn works_on(&mut self) {
        let path = self.in_work("alpha.txt");
        let content = fs::read_to_string(path).unwrap_or_default();
        self.wrote("alpha.txt", &format!("{content}more\n"));
    }

    /// The final message: the transcript's last row, and a field of the hook's input.
    pub(crate) fn says(&mut self, words: &str) {
        self.transcript.said(words);
        self.input["last_assistant_message"] = json!(words);
    }

    /// What the scripted client does when it is asked. `DIR` becomes the test's folder. It lists
    /// the flags of today's client and writes each call down, unless the script says something of
    /// its own about that.
    pub(crate) fn client(&self, script: &str) {
        let help = if script.contains("help ") { "" } else { HELP };
        let record = if script.contains("-stdin") { "" } else { "record DIR/calls\n" };
        let script = format!("{help}{record}{script}\n").replace("DIR", &text(&self.root));
        fs::write(self.path("script"), script).expect("the script");
    }

    /// A client that answers everything: the first reader finds this, the second upholds it, and
    /// the rest is as in [`OTHERS`].
    pub(crate) fn readers(&self, findings: &[&str]) {
        self.client(&format!("{}\n{OTHERS}", finds(findings)));
    }

    /// A client that is a shell script of its own; gives its path. `FAKE` in it is the scripted
    /// one.
    pub(crate) fn shell_client(&self, script: &str) -> PathBuf {
        use std::os::unix::fs::PermissionsExt;
        let path = self.path("client.sh");
        let script = script.replace("FAKE", FAKE).replace("DIR", &text(&self.root));
        fs::write(&path, format!("#!/bin/sh\n{script}\n")).expect("the client");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("executable");
        path
    }

    /// The person's own config.
    pub(crate) fn own_config(&self, toml: &str) {
        let folder = self.path("home/.config/punchlist");
        fs::create_dir_all(&folder).expect("a folder");
        fs::write(folder.join("config.toml"), toml.replace("DIR", &text(&self.root))).expect("the config");
    }

    /// The project's config.
    pub(crate) fn project_config(&self, toml: &str) {
        self.file(".claude/punchlist.toml", &toml.replace("DIR", &text(&self.root)));
    }

    /// Sets a variable.
    pub(crate) fn var(&mut self, name: &str, value: impl Into<OsString>) {
        self.vars.insert(name.to_owned(), value.into());
    }

    /// Takes a variable away.
    pub(crate) fn unset(&mut self, name: &str) {
        self.vars.remove(name);
    }

    /// The environment of what is run.
    pub(crate) fn variables(&self) -> &BTreeMap<String, OsString> {
        &self.vars
    }

    /// A path in the test.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    /// A path in the workspace.
    pub(crate) fn in_work(&self, name: &str) -> PathBuf {
        self.workspace.join(name)
    }
}

// ---- running

/// A run that is under way.
pub(crate) struct Running {
    child: Child,
    stdout: Receiver<Vec<u8>>,
    stderr: Receiver<Vec<u8>>,
    started: Instant,
    command: String,
}

/// What a run came to.
pub(crate) struct Run {
    /// What it printed, with the test's folder as `DIR` and the scripted client as `FAKE`.
    pub(crate) stdout: String,
    /// The same, for people.
    pub(crate) stderr: String,
    /// How it ended.
    pub(crate) status: ExitStatus,
    /// From the start to the end of the process.
    pub(crate) wall: Duration,
    /// The decision log after it, all of it.
    pub(crate) log: Vec<Value>,
    command: String,
    folder: String,
}

impl TestProject {
    /// Runs the hook to its end, with this test's input.
    #[track_caller]
    pub(crate) fn run(&self) -> Run {
        self.run_with_stdin(self.input.to_string().as_bytes())
    }

    /// Runs the hook to its end, with any bytes on stdin.
    #[track_caller]
    pub(crate) fn run_with_stdin(&self, stdin: &[u8]) -> Run {
        let running = self.start_with(&["hook"], stdin);
        self.finish(running)
    }

    /// Runs the program with any arguments.
    #[track_caller]
    pub(crate) fn run_args(&self, args: &[&str]) -> Run {
        let running = self.start_with(args, self.input.to_string().as_bytes());
        self.finish(running)
    }

    /// Starts the hook.
    pub(crate) fn start(&self) -> Running {
        self.start_with(&["hook"], self.input.to_string().as_bytes())
    }

    /// Starts the program with any arguments.
    pub(crate) fn start_with(&self, args: &[&str], stdin: &[u8]) -> Running {
        let mut command = Command::new(PUNCHLIST);
        command.args(args);
        self.start_command(command, stdin)
    }

    /// Starts any command in this test's environment.
    pub(crate) fn start_command(&self, mut command: Command, stdin: &[u8]) -> Running {
        let transcript = self.path("transcript.jsonl");
        // A test that put something else in its place means it.
        if fs::symlink_metadata(&transcript).is_ok_and(|meta| meta.is_file())
            || fs::symlink_metadata(&transcript).is_err()
        {
            let rows = self.transcript.text();
            if !rows.is_empty() {
                fs::write(&transcript, rows).expect("the transcript");
            }
        }
        command.env_clear().envs(self.variables()).current_dir(&self.workspace);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let shown = format!("{command:?}");
        let started = Instant::now();
        let mut child = command.spawn().expect("started");
        let mut pipe = child.stdin.take().expect("stdin");
        let bytes = stdin.to_vec();
        // It need not read any of it.
        std::thread::spawn(move || drop(pipe.write_all(&bytes)));
        let stdout = drained(child.stdout.take().expect("stdout"));
        let stderr = drained(child.stderr.take().expect("stderr"));
        Running { child, stdout, stderr, started, command: shown }
    }

    /// Starts the hook as it is registered for the background.
    pub(crate) fn start_behind(&self) -> Running {
        self.start_with(&["hook", "--background"], self.input.to_string().as_bytes())
    }

    /// Waits for a run's end, and for nobody to hold its pipes any more: while somebody does, the
    /// client refuses a block.
    #[track_caller]
    pub(crate) fn finish(&self, mut running: Running) -> Run {
        let status = loop {
            if let Some(status) = running.child.try_wait().expect("a status") {
                break Some(status);
            }
            if running.started.elapsed() > LIMIT {
                let _ = running.child.kill();
                let _ = running.child.wait();
                break None;
            }
            sleep(Duration::from_millis(5));
        };
        let wall = running.started.elapsed();
        let read = |pipe: &Receiver<Vec<u8>>| pipe.recv_timeout(Duration::from_secs(10));
        let (stdout, stderr) = (read(&running.stdout), read(&running.stderr));
        let is_held = status.is_some() && (stdout.is_err() || stderr.is_err());
        let tidy = |bytes: &[u8]| self.tidy(&String::from_utf8_lossy(bytes));
        let run = Run {
            stdout: tidy(&stdout.unwrap_or_default()),
            stderr: tidy(&stderr.unwrap_or_default()),
            status: status.unwrap_or_default(),
            wall,
            log: self.log(),
            command: running.command,
            folder: text(&self.root),
        };
        run.check(status.is_some(), "it ends");
        let broken = fs::read_to_string(self.path("script.broken")).unwrap_or_default();
        run.check(broken.is_empty(), &format!("the scripted client knows what to say: {broken}"));
        run.check(!is_held, "nobody holds its stdout or stderr after its end");
        run
    }

    /// The decision log, as `punchlist log list --json` tells it.
    pub(crate) fn log(&self) -> Vec<Value> {
        let output = Command::new(PUNCHLIST)
            .args(["log", "list", "--json"])
            .env_clear()
            .envs(&self.vars)
            // The commands that people run stop at a faulty config, and some scenes have one.
            .env("XDG_CONFIG_HOME", self.path("none"))
            .current_dir(&self.root)
            .output()
            .expect("the log");
        let lines = String::from_utf8(output.stdout).expect("text");
        lines.lines().map(|line| serde_json::from_str(line).expect("a record")).collect()
    }

    /// What the log says of decisions that were made before, oldest first.
    pub(crate) fn notes(&self) -> Vec<Value> {
        let mut files = self.texts_below("state/decisions");
        files.sort();
        let lines = files.iter().flat_map(|(_, text)| text.lines());
        let values = lines.filter_map(|line| serde_json::from_str::<Value>(line).ok());
        values.filter(|value| value.get("kind").is_some()).collect()
    }

    /// What became of the findings that held, by their numbers.
    pub(crate) fn outcomes(&self) -> Vec<(u64, String)> {
        let outcome = |note: &Value| Some((note["finding"].as_u64()?, note["outcome"].as_str()?.to_owned()));
        self.notes().iter().filter_map(outcome).collect()
    }

    /// A text with what differs from machine to machine taken out.
    pub(crate) fn tidy(&self, text: &str) -> String {
        text.replace(&self.root.display().to_string(), "DIR").replace(FAKE, "FAKE")
    }
}

/// Reads a pipe to its end, aside.
fn drained(mut pipe: impl Read + Send + 'static) -> Receiver<Vec<u8>> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = pipe.read_to_end(&mut bytes);
        let _ = sender.send(bytes);
    });
    receiver
}

impl Running {
    /// Its number.
    #[cfg(target_os = "linux")]
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Sends a signal to the program itself, and to nobody else.
    pub(crate) fn signal(&self, signal: Signal) {
        let pid = Pid::from_child(&self.child);
        kill_process(pid, signal).expect("signalled");
    }

    /// Whether it has ended.
    pub(crate) fn has_ended(&mut self) -> bool {
        self.child.try_wait().expect("a status").is_some()
    }
}

// ---- looking

impl TestProject {
    /// Every call of the client that was written down, `--help` left out.
    pub(crate) fn calls(&self) -> Vec<Value> {
        let lines = fs::read_to_string(self.path("calls")).unwrap_or_default();
        lines.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
    }

    /// What was asked, call by call: `first`, `second`, `settle` or `checklist`.
    pub(crate) fn questions(&self) -> Vec<String> {
        self.calls().iter().map(|call| call["question"].as_str().unwrap_or("?").to_owned()).collect()
    }

    /// The newest prompt with this question.
    #[track_caller]
    pub(crate) fn prompt(&self, question: &str) -> String {
        let calls = self.calls();
        let call = calls.iter().rfind(|call| call["question"] == question);
        call.and_then(|call| call["stdin"].as_str()).expect("such a prompt").to_owned()
    }

    /// What is remembered of the session: how often it was held.
    pub(crate) fn blocks(&self) -> u64 {
        self.remembered()["blocks"].as_u64().unwrap_or(0)
    }

    /// What is remembered of the session: for how many of its agents there was an audit.
    pub(crate) fn audits_remembered(&self) -> usize {
        self.remembered()["audits"].as_object().map_or(0, serde_json::Map::len)
    }

    fn remembered(&self) -> Value {
        let path = self.path("state/sessions").join(format!("{SESSION}.json"));
        fs::read(path).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default()
    }

    /// Asserts that nobody of any client's group is left.
    #[track_caller]
    pub(crate) fn assert_nobody_is_left(&self) {
        for call in self.calls() {
            assert_eq!(call["pid"], call["pgid"], "the client leads its group");
            assert_group_is_gone(pid(&call["pgid"].to_string()));
        }
    }

    /// The process whose id is in a file.
    pub(crate) fn pid_in(&self, name: &str) -> Pid {
        pid(&fs::read_to_string(self.path(name)).expect("a pid file"))
    }

    /// Every file below a folder of the test, as text.
    pub(crate) fn texts_below(&self, name: &str) -> Vec<(String, String)> {
        let mut texts = Vec::new();
        let mut folders = vec![self.path(name)];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(&folder).into_iter().flatten().filter_map(Result::ok) {
                let path = entry.path();
                if path.is_dir() {
                    folders.push(path);
                } else {
                    let bytes = fs::read(&path).expect("a file");
                    texts.push((self.tidy(&text(&path)), String::from_utf8_lossy(&bytes).into_owned()));
                }
            }
        }
        texts
    }
}

impl Run {
    /// The newest record.
    #[track_caller]
    pub(crate) fn record(&self) -> &Value {
        self.check(!self.log.is_empty(), "there is a record");
        self.log.last().expect("a record")
    }

    /// Asserts something; shows the whole run if it does not hold.
    #[track_caller]
    pub(crate) fn check(&self, holds: bool, what: &str) {
        assert!(holds, "not so: {what}\n{self}");
    }

    /// Asserts that two things are the same; shows the whole run if they are not.
    #[track_caller]
    pub(crate) fn same<T: PartialEq + std::fmt::Debug + ?Sized>(&self, left: &T, right: &T) {
        assert!(left == right, "not the same:\n  {left:?}\n  {right:?}\n{self}");
    }

    /// Asserts all three channels of the answer.
    #[track_caller]
    pub(crate) fn answers(&self, code: i32, stdout: &str, stderr: &str) {
        let got = (self.status.code(), self.stdout.as_str(), self.stderr.as_str());
        assert!(got == (Some(code), stdout, stderr), "expected:\n  {code}\n  {stdout}\n  {stderr}\n{self}");
    }

    /// Asserts that the stop went through with no word to anybody.
    #[track_caller]
    pub(crate) fn is_silent(&self) {
        self.answers(0, "", "");
    }

    /// Asserts that the stop went through, and that the person was told this and the agent nothing.
    #[track_caller]
    pub(crate) fn tells(&self, message: &str) {
        self.answers(0, &json!({ "systemMessage": format!("punchlist: {message}") }).to_string(), "");
    }

    /// Asserts that the stop was held, by all three channels; gives the reason.
    #[track_caller]
    pub(crate) fn holds(&self) -> String {
        let reply: Value = serde_json::from_str(&self.stdout).unwrap_or_default();
        let reason = reply["reason"].as_str().unwrap_or_default().to_owned();
        let expected = json!({ "decision": "block", "reason": reason }).to_string();
        self.answers(2, &expected, &format!("{reason}\n"));
        self.check(!reason.is_empty(), "there is a reason");
        self.same(&self.record()["decision"], &json!("block"));
        reason
    }

    /// Asserts what the newest record says of the decision.
    #[track_caller]
    pub(crate) fn logs(&self, decision: &str, cause: &str) {
        let record = self.record();
        self.same(&(&record["decision"], &record["cause"]), &(&json!(decision), &json!(cause)));
    }

    /// Asserts what the newest record says of the auditor.
    #[track_caller]
    pub(crate) fn logs_auditor(&self, outcome: &str, detail: Option<&str>) {
        let auditor = &self.record()["auditor"];
        self.same(&(&auditor["outcome"], &auditor["detail"]), &(&json!(outcome), &json!(detail)));
    }
}

impl std::fmt::Display for Run {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let ended = match (self.status.code(), self.status.signal()) {
            (Some(code), _) => format!("exit code {code}"),
            (None, signal) => format!("signal {signal:?}"),
        };
        writeln!(f, "command: {}\nfolder: {}\nended: {ended} in {:?}", self.command, self.folder, self.wall)?;
        writeln!(f, "stdout: {}\nstderr: {}", self.stdout, self.stderr)?;
        self.log.iter().try_for_each(|record| writeln!(f, "log: {record}"))
    }
}

/// A failed test may have left its processes: they are ended here, whatever the hook did. Nothing
/// in here may panic, since a second panic aborts and takes the other tests' clean-up along.
impl Drop for TestProject {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            return;
        }
        let in_file = fs::read_to_string(self.path("pid")).unwrap_or_default();
        let pids = self.calls().into_iter().map(|call| call["pgid"].to_string()).chain([in_file]);
        for group in pids.filter_map(|text| text.trim().parse().ok().and_then(Pid::from_raw)) {
            kill_group_of(group);
        }
    }
}

/// A process id that a file tells.
pub(crate) fn pid(text: &str) -> Pid {
    text.trim().parse().ok().and_then(Pid::from_raw).unwrap_or_else(|| panic!("not a pid: {text}"))
}

/// A path as text.
pub(crate) fn text(path: &Path) -> String {
    path.to_str().expect("text").to_owned()
}
