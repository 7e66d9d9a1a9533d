//! The real client, one version of it. Takes a scratch folder, the scripted API's address and a
//! prompt; gives what it printed and how it ended. It runs in a process group of its own under one
//! deadline, and must talk to nobody but the scripted API.

use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

#[cfg(unix)]
use process_wrap::tokio::ProcessGroup;
use process_wrap::tokio::{ChildWrapper, CommandWrap, KillOnDrop};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::process::{ChildStdin, ChildStdout};

use super::scratch::Scratch;
use super::terminal::{Size, Terminal};

/// The versions that are tried, one for each wire format that punchlist meets. `.ci/clients` has
/// the same list.
pub(crate) const VERSIONS: [&str; 6] = ["1.0.98", "2.0.32", "2.1.42", "2.1.136", "2.1.221", "2.1.325"];

/// A session takes a few seconds; a loaded machine may take ten times as long.
const DEADLINE: Duration = Duration::from_secs(120);

/// Made up; nobody checks it.
const KEY: &str = "sk-ant-scripted";

/// How the client is started.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Launch {
    /// With the prompt on stdin and every permission given.
    #[default]
    Bypass,
    /// In plan mode, with somebody at the other end of stdin who says yes to whatever is asked.
    Plan,
}

/// An earlier session that a run goes on with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Earlier {
    pub(crate) session: String,
    /// Whether the run leaves it as it is, and goes on in a copy.
    pub(crate) fork: bool,
}

/// One installed client.
#[derive(Debug, Clone)]
pub(crate) struct Client {
    pub(crate) version: &'static str,
    /// The folder with the program, which is named `claude`.
    bin: PathBuf,
}

/// Where `.ci/clients` puts them.
pub(crate) fn folder() -> PathBuf {
    let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    // `all` asks for every version, wherever they are.
    variable("PUNCHLIST_TEST_CLIENTS").filter(|folder| folder.as_os_str() != "all").unwrap_or_else(|| {
        let cache =
            variable("XDG_CACHE_HOME").unwrap_or_else(|| variable("HOME").unwrap_or_default().join(".cache"));
        cache.join("punchlist/clients")
    })
}

impl Client {
    /// The client of that version, where it is installed. Elsewhere than on Unix it is never looked
    /// for: the trials speak of shells, links and groups.
    pub(crate) fn find(version: &'static str) -> Option<Self> {
        let bin = folder().join(version).join("node_modules/.bin");
        (cfg!(unix) && bin.join("claude").is_file()).then_some(Self { version, bin })
    }

    /// Whether a program is this client and no other. Both names are resolved: a hook may know the
    /// client by its own file or by a link to it.
    pub(crate) fn is_at(&self, program: &Path) -> bool {
        let own = folder().join(self.version).canonicalize();
        matches!((program.canonicalize(), own), (Ok(program), Ok(own)) if program.starts_with(&own))
    }

    /// Whether it is this version or a newer one.
    pub(crate) fn is_since(&self, version: &str) -> bool {
        let place = |wanted: &str| VERSIONS.iter().position(|known| *known == wanted);
        place(self.version) >= place(version)
    }

    /// The program itself.
    pub(crate) fn program(&self) -> PathBuf {
        self.bin.join("claude")
    }

    /// The whole environment of a program that starts this client.
    pub(crate) fn variables(&self, scratch: &Scratch, api: &str) -> Vec<(OsString, OsString)> {
        let own = client_env(api).map(|(name, value)| (name.into(), value.into()));
        scratch.env(Some(&self.bin)).into_iter().chain(own).collect()
    }

    /// Leaves the client nothing to ask a person at its start.
    pub(crate) fn settle(scratch: &Scratch) -> Result<(), String> {
        let project = scratch.project();
        let known = json!({ "hasTrustDialogAccepted": true, "hasCompletedProjectOnboarding": true, "allowedTools": [] });
        // It asks whether a key may be used by the key's end.
        let end_of_key = &KEY[KEY.len().saturating_sub(20)..];
        let settled = json!({
            "hasCompletedOnboarding": true,
            "theme": "dark",
            "bypassPermissionsModeAccepted": true,
            "customApiKeyResponses": { "approved": [end_of_key], "rejected": [] },
            "projects": { project.display().to_string(): known },
        });
        scratch.write(scratch.home().join(".claude.json"), &settled.to_string())
    }

    /// Opens a terminal with a session in it that nobody has said anything to yet.
    pub(crate) fn at_a_terminal(&self, scratch: &Scratch, api: &str, size: Size) -> Result<Terminal, String> {
        Self::settle(scratch)?;
        let args = ["--permission-mode", "bypassPermissions"];
        let variables = self.variables(scratch, api);
        Terminal::open(scratch.root(), &scratch.project(), size, (&self.program(), &args), variables)
    }

    /// Runs one session from a prompt to its end: a new one, or an earlier one that goes on.
    pub(crate) async fn run(
        &self,
        scratch: &Scratch,
        api: &str,
        (launch, earlier): (Launch, Option<&Earlier>),
        prompt: &str,
    ) -> Result<Run, String> {
        let args = args(launch, earlier);
        let mut command = CommandWrap::with_new(self.bin.join("claude"), |command| {
            command
                .args(&args)
                .current_dir(scratch.project())
                .env_clear()
                // Its own folder first: a hook of an older client finds the client by its name
                // alone.
                .envs(scratch.env(Some(&self.bin)))
                .envs(client_env(api))
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .stderr(Stdio::piped());
        });
        #[cfg(unix)]
        command.wrap(ProcessGroup::leader());
        command.wrap(KillOnDrop);
        let mut child = command.spawn().map_err(|error| format!("{}: {error}", self.bin.display()))?;
        let stdin = child.stdin().take().ok_or("no stdin")?;
        let stdout = child.stdout().take().ok_or("no stdout")?;
        let mut stderr = child.stderr().take().ok_or("no stderr")?;
        let stderr = tokio::spawn(async move {
            let mut said = Vec::new();
            stderr.read_to_end(&mut said).await.map(|_| String::from_utf8_lossy(&said).into_owned())
        });

        let mut lines = Vec::new();
        let talk = async {
            converse(stdin, stdout, launch, prompt, &mut lines).await?;
            child.wait().await
        };
        let ended = tokio::time::timeout(DEADLINE, talk).await;
        let ending = match ended {
            Ok(Ok(status)) => Ending::Exited(status),
            Ok(Err(error)) => Ending::Broke(error),
            Err(_) => Ending::TimedOut,
        };
        if !matches!(ending, Ending::Exited(_)) {
            end_group(child).await;
        }
        let stderr = match tokio::time::timeout(Duration::from_secs(5), stderr).await {
            Ok(Ok(Ok(said))) => said,
            other => format!("(stderr could not be read: {other:?})"),
        };
        let program = self.bin.join("claude");
        Ok(Run { command: format!("{} {}", program.display(), args.join(" ")), ending, lines, stderr })
    }
}

fn args(launch: Launch, earlier: Option<&Earlier>) -> Vec<String> {
    let mut args = match launch {
        Launch::Bypass => vec!["-p", "--permission-mode", "bypassPermissions"],
        Launch::Plan => vec![
            "-p",
            "--permission-mode",
            "plan",
            "--permission-prompt-tool",
            "stdio",
            "--input-format",
            "stream-json",
        ],
    };
    args.extend(["--output-format", "stream-json", "--verbose"]);
    if let Some(earlier) = earlier {
        args.extend(["--resume", &earlier.session]);
        args.extend(earlier.fork.then_some("--fork-session"));
    }
    args.into_iter().map(str::to_owned).collect()
}

/// Keeps the client to the scripted API.
fn client_env(api: &str) -> [(&'static str, &str); 6] {
    [
        ("ANTHROPIC_BASE_URL", api),
        ("ANTHROPIC_API_KEY", KEY),
        ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
        ("DISABLE_AUTOUPDATER", "1"),
        ("DISABLE_TELEMETRY", "1"),
        // Without it the client refuses `bypassPermissions` to root, which is who CI runs as.
        ("IS_SANDBOX", "1"),
    ]
}

/// Gives the prompt, collects what is printed, and says yes to what is asked.
async fn converse(
    mut stdin: ChildStdin,
    stdout: ChildStdout,
    launch: Launch,
    prompt: &str,
    lines: &mut Vec<String>,
) -> std::io::Result<()> {
    let opening = match launch {
        Launch::Bypass => prompt.to_owned(),
        Launch::Plan => {
            let message = json!({ "role": "user", "content": [{ "type": "text", "text": prompt }] });
            format!("{}\n", json!({ "type": "user", "session_id": "", "message": message }))
        }
    };
    give(&mut stdin, &opening).await?;
    // Closed at once where the prompt is all; else when the result is there, which ends the client.
    let mut stdin = (launch == Launch::Plan).then_some(stdin);
    let mut printed = BufReader::new(stdout).lines();
    while let Some(line) = printed.next_line().await? {
        let event: Value = serde_json::from_str(&line).unwrap_or_default();
        lines.push(line);
        if event["type"] == "result" {
            stdin = None;
        }
        if let (Some(stdin), "control_request") = (&mut stdin, event["type"].as_str().unwrap_or_default()) {
            give(stdin, &format!("{}\n", approval(&event))).await?;
        }
    }
    Ok(())
}

/// Writes to the client. One that has ended already says why on its own pipes, so that is no error
/// here.
async fn give(stdin: &mut ChildStdin, text: &str) -> std::io::Result<()> {
    let given = async {
        stdin.write_all(text.as_bytes()).await?;
        stdin.flush().await
    };
    match given.await {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => Err(error),
        _ => Ok(()),
    }
}

/// A person's yes. It leaves plan mode by name: 1.0.98 and 2.0.32 stay in it otherwise.
fn approval(asked: &Value) -> Value {
    json!({ "type": "control_response", "response": {
        "subtype": "success",
        "request_id": asked["request_id"],
        "response": {
            "behavior": "allow",
            "updatedInput": asked["request"]["input"],
            "updatedPermissions": [{ "type": "setMode", "mode": "acceptEdits", "destination": "session" }],
        },
    }})
}

/// Ends a client that did not end by itself, and whoever is in its group.
async fn end_group(mut child: Box<dyn ChildWrapper>) {
    if child.start_kill().is_ok() {
        // A process that even SIGKILL does not end must not take the trial with it.
        drop(tokio::time::timeout(Duration::from_secs(5), child.wait()).await);
    }
}

/// How a client's run ended.
#[derive(Debug)]
pub(crate) enum Ending {
    Exited(ExitStatus),
    TimedOut,
    /// Its pipes, or the wait for it, failed.
    Broke(std::io::Error),
}

impl fmt::Display for Ending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exited(status) => write!(f, "{status}"),
            Self::TimedOut => write!(f, "not over after {DEADLINE:?}, ended by the test"),
            Self::Broke(error) => write!(f, "lost: {error}"),
        }
    }
}

/// What came of a run.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) command: String,
    pub(crate) ending: Ending,
    /// Stdout: one event a line.
    pub(crate) lines: Vec<String>,
    pub(crate) stderr: String,
}

impl Run {
    pub(crate) fn succeeded(&self) -> bool {
        matches!(&self.ending, Ending::Exited(status) if status.success())
    }

    /// The events that were printed.
    pub(crate) fn events(&self) -> impl Iterator<Item = Value> {
        self.lines.iter().map(|line| serde_json::from_str(line).unwrap_or(Value::String(line.clone())))
    }

    /// The session that it was, by the client's own word. One that goes on may have got a new name.
    pub(crate) fn session(&self) -> Option<String> {
        let named = |event: Value| event["session_id"].as_str().map(str::to_owned);
        self.events().filter(|event| event["type"] == "result").filter_map(named).last()
    }

    /// The session's last words, as the client reports them.
    pub(crate) fn result(&self) -> Option<String> {
        self.events()
            .filter(|event| event["type"] == "result")
            .filter_map(|event| event["result"].as_str().map(str::to_owned))
            .last()
    }
}
