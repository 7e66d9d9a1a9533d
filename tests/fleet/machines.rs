//! Machines of one fleet: each with a home, a state folder and a checkout of its own.

use std::ops::Deref;
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

use crate::postgres::{self, Cluster};
use crate::test_machine::{ProgramOutput, TestMachine};

/// A database, and what stands around it.
pub(crate) struct Fleet {
    pub(crate) cluster: &'static Cluster,
    pub(crate) name: String,
}

impl Fleet {
    /// A fleet whose database has its tables; `None`, said aloud, without `PostgreSQL`.
    pub(crate) fn new() -> Option<Self> {
        let cluster = postgres::shared()?;
        Some(Self { cluster, name: cluster.database() })
    }

    pub(crate) fn url(&self) -> String {
        self.cluster.url(&self.name)
    }

    /// The same by another port, such as a proxy's.
    pub(crate) fn url_at(&self, port: u16) -> String {
        self.url().replace(&format!(":{}/", self.cluster.port), &format!(":{port}/"))
    }

    /// The same by the Unix socket, where nobody is asked for a password: that takes a build for
    /// tests much longer than one that is optimised.
    pub(crate) fn socket_url(&self) -> String {
        let folder =
            self.cluster.data().parent().expect("a folder").display().to_string().replace('/', "%2F");
        format!("postgres://postgres@{folder}:{}/{}", self.cluster.port, self.name)
    }

    #[track_caller]
    pub(crate) fn sql(&self, sql: &str) -> String {
        self.cluster.sql(&self.name, sql).trim_end().to_owned()
    }

    pub(crate) fn machine(&self, name: &str) -> Machine {
        Machine::new(name, &self.url())
    }
}

pub(crate) struct Machine(TestMachine);

impl Deref for Machine {
    type Target = TestMachine;

    fn deref(&self) -> &TestMachine {
        &self.0
    }
}

impl Machine {
    pub(crate) fn new(name: &str, url: &str) -> Self {
        let machine = TestMachine::new("code/shop", &["home", "code/shop/.git"]);
        machine
            .write("code/shop/.git/config", "[remote \"origin\"]\n\turl = git@example.org:acme/shop.git\n");
        let machine = Self(machine);
        machine.configure(name, url, "");
        machine
    }

    pub(crate) fn configure(&self, name: &str, url: &str, more: &str) {
        let config = format!("[fleet]\nmachine = \"{name}\"\ndatabase = \"{url}\"\n{more}");
        self.write("home/.config/punchlist/config.toml", &config);
    }

    #[track_caller]
    pub(crate) fn json(&self, args: &[&str]) -> Value {
        let printed = self.print(args);
        serde_json::from_str(&printed).unwrap_or_else(|why| panic!("{why}: {printed}"))
    }

    /// A hook, ready to run.
    pub(crate) fn hook(&self, session: &str) -> (Command, String) {
        let input = json!({
            "session_id": session,
            "hook_event_name": "Stop",
            "cwd": self.path("code/shop"),
            "stop_hook_active": false,
        });
        let mut command = self.command(&["hook"]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        (command, input.to_string())
    }

    /// Runs a stop of a session that did nothing; it is decided and logged all the same. Returns
    /// when what it had time to ship is shipped.
    #[track_caller]
    pub(crate) fn stop(&self, session: &str) -> ProgramOutput {
        let output = self.answered_stop(session);
        self.settle();
        output
    }

    /// Waits until no process ships for a stop any more.
    pub(crate) fn settle(&self) {
        let ships = format!("\0ship\0{}\0", self.path("state").display());
        let is_it = |entry: std::fs::DirEntry| {
            let line = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
            String::from_utf8_lossy(&line).ends_with(&ships)
        };
        while std::fs::read_dir("/proc").expect("processes").flatten().any(is_it) {
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Runs a stop, and does not wait for what goes on after its answer.
    #[track_caller]
    pub(crate) fn answered_stop(&self, session: &str) -> ProgramOutput {
        use std::io::Write;
        let (mut command, input) = self.hook(session);
        let mut child = command.spawn().expect("it starts");
        child.stdin.take().expect("stdin").write_all(input.as_bytes()).expect("read");
        self.tidy(&child.wait_with_output().expect("it ends"))
    }
}
