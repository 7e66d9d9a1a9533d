//! A terminal with the client in it, and somebody who types: a tmux server of its own. Takes a
//! command line, gives what stands on the screen. It must not wait for a fixed time where it can
//! wait for what it wants to see.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// What takes longer than this on a loaded machine does not come any more.
const PATIENCE: Duration = Duration::from_secs(60);

/// How long a key waits for the one before it to be drawn.
const KEY: Duration = Duration::from_millis(300);

/// How long a client may need to end when its terminal is gone.
const LAST_WORDS: Duration = Duration::from_secs(5);

/// Columns and rows.
pub(crate) type Size = (u16, u16);

/// Enough for whoever reads texts from it.
pub(crate) const ROOMY: Size = (150, 50);

/// A terminal. Gone with whatever runs in it when it is dropped.
#[derive(Debug)]
pub(crate) struct Terminal {
    socket: PathBuf,
}

impl Terminal {
    /// Whether there is a tmux to be had.
    pub(crate) fn is_to_be_had() -> bool {
        let asked = Command::new("tmux").arg("-V").stdout(Stdio::null()).stderr(Stdio::null()).status();
        asked.is_ok_and(|status| status.success())
    }

    /// Opens one in `folder`, with this program and no other variables than these. Its socket is
    /// kept in `below`.
    pub(crate) fn open(
        below: &Path,
        folder: &Path,
        (columns, rows): Size,
        (program, args): (&Path, &[&str]),
        variables: impl IntoIterator<Item = (OsString, OsString)>,
    ) -> Result<Self, String> {
        let terminal = Self { socket: below.join("tmux") };
        let mut command = terminal.tmux(&["-f", "/dev/null", "new-session", "-d"]);
        command.args(["-x", &columns.to_string(), "-y", &rows.to_string(), "-c"]);
        command.arg(folder).args(["--", "env", "-i", "TERM=xterm-256color", "COLORTERM=truecolor"]);
        for (name, value) in variables {
            command.arg([name, value].join(&OsString::from("=")));
        }
        output(command.arg(program).args(args))?;
        Ok(terminal)
    }

    fn tmux(&self, args: &[&str]) -> Command {
        let mut command = Command::new("tmux");
        command.arg("-S").arg(&self.socket).args(args);
        command
    }

    /// Everything on the screen and what was scrolled off it.
    pub(crate) fn screen(&self) -> String {
        output(&mut self.tmux(&["capture-pane", "-p", "-S", "-500"])).unwrap_or_else(|problem| problem)
    }

    /// The same, with what sets colours and styles in between.
    pub(crate) fn colours(&self) -> Result<String, String> {
        output(&mut self.tmux(&["capture-pane", "-e", "-p", "-S", "-500"]))
    }

    /// Types a line and sends it off.
    pub(crate) fn types(&self, line: &str) -> Result<(), String> {
        output(&mut self.tmux(&["send-keys", "-l", line]))?;
        self.shows(line)?;
        sleep(KEY);
        output(&mut self.tmux(&["send-keys", "Enter"])).map(drop)
    }

    /// Waits for a text on the screen. A long line may be wrapped there.
    pub(crate) fn shows(&self, text: &str) -> Result<(), String> {
        let squeezed = |text: &str| text.split_whitespace().collect::<String>();
        let wanted = squeezed(text);
        self.wait_for(&format!("the screen to show {text:?}"), |screen| squeezed(screen).contains(&wanted))
    }

    /// Waits until something is so, which may be seen on the screen or elsewhere.
    pub(crate) fn wait_for(&self, what: &str, is_so: impl Fn(&str) -> bool) -> Result<(), String> {
        let started = Instant::now();
        loop {
            let screen = self.screen();
            if is_so(&screen) {
                return Ok(());
            }
            if started.elapsed() > PATIENCE {
                return Err(format!("waited {PATIENCE:?} for {what}; on the screen:\n{}", screen.trim_end()));
            }
            sleep(Duration::from_millis(100));
        }
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let client = output(&mut self.tmux(&["display-message", "-p", "#{pane_pid}"])).unwrap_or_default();
        let _ = output(&mut self.tmux(&["kill-server"]));
        // It tidies up at its end, in folders that are about to be removed.
        let (process, asked) = (Path::new("/proc").join(client.trim()), Instant::now());
        while !client.is_empty() && process.exists() && asked.elapsed() < LAST_WORDS {
            sleep(Duration::from_millis(20));
        }
    }
}

fn output(command: &mut Command) -> Result<String, String> {
    let output = command.stdin(Stdio::null()).output().map_err(|error| format!("tmux: {error}"))?;
    if output.status.success() {
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    } else {
        Err(format!("tmux: {}: {}", output.status, String::from_utf8_lossy(&output.stderr).trim_end()))
    }
}
