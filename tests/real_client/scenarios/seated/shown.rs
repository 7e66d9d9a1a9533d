//! What else a person sees of punchlist at a terminal of 80 columns: a spent budget, a wrong
//! config, an advisory, marks of a loop that were set back, a check that held twice, the status
//! line and the spinner, and nothing of what they ignore. `PUNCHLIST_SHOW_SCREENS=1` prints the
//! screens.

use serde_json::json;

use super::{BETA, FIXED, Seat, UPHELD, beta_is_missing, half_done, sit_down};
use crate::rig::client::Client;
use crate::rig::message::{ToolCall, write};
use crate::rig::terminal::Size;
use crate::script::Script;
use crate::trip::ensure;
use crate::workspace::{PUNCHLIST, Workspace};

const SIZE: Size = (80, 70);
const GREETING: &str = "Write the evening greeting into beta.txt.";
const DONE: &str = "Done: the greeting is there.";
const MORE: &str = "Write another one into more.txt.";
const MORE_DONE: &str = "The other one is there, too.";

fn bash(command: &str) -> ToolCall {
    ToolCall { name: "Bash".into(), input: json!({ "command": command, "description": "Work" }) }
}

fn writes(workspace: &Workspace, name: &str, text: &str) -> ToolCall {
    write(workspace.project().join(name).display(), text)
}

fn configured(config: &str) -> Result<Workspace, String> {
    let workspace = Workspace::new()?;
    workspace.write(workspace.home().join(".config/punchlist/config.toml"), config)?;
    Ok(workspace)
}

/// One prompt, these decisions, and these lines on the screen.
fn tells(
    client: &Client,
    (workspace, script): (Workspace, Script),
    (prompt, decisions): (&str, &[&str]),
    lines: &[&str],
) -> Result<(), String> {
    sit_down(client, workspace, SIZE, script, |seat| {
        seat.terminal.types(prompt)?;
        seat.decided(decisions)?;
        lines.iter().try_for_each(|line| seat.terminal.shows(line))?;
        seat.shown(prompt);
        Ok(())
    })
}

pub(super) fn spent_budget(client: &Client) -> Result<(), String> {
    let workspace = configured("[gates]\nmax_blocks = 1\n")?;
    let script = half_done(&workspace)
        .proposed(&[beta_is_missing()])
        .judged(&[UPHELD])
        .calls([writes(&workspace, "beta.txt", BETA)])
        .says(FIXED)
        .calls([writes(&workspace, "more.txt", BETA)])
        .says(MORE_DONE);
    sit_down(client, workspace, SIZE, script, |seat| {
        seat.terminal.types(super::PROMPT)?;
        seat.decided(&["block findings", "allow loop-guard"])?;
        seat.terminal.shows("punchlist: 1 finding, fixed")?;
        seat.terminal.types(MORE)?;
        seat.decided(&["block findings", "allow loop-guard", "allow budget"])?;
        seat.terminal.shows("punchlist: not checked: this session was blocked 1 time")?;
        seat.shown("spent budget");
        Ok(())
    })
}

pub(super) fn wrong_config(client: &Client) -> Result<(), String> {
    let config = "[gates]\nmax_blocks = 1\nmax_blocks = 2\n[audit]\nenabled = false\n[[check]]\nname = \"a\"\nrun = \"true\"\n";
    let workspace = configured(config)?;
    let script = Script::new(GREETING).calls([writes(&workspace, "beta.txt", BETA)]).says(DONE);
    tells(
        client,
        (workspace, script),
        (GREETING, &["allow clean"]),
        &[
            "punchlist: ~/.config/punchlist/config.toml: line 3: gates.max_blocks: duplicate key: already set on line 2; the first one counts",
        ],
    )
}

pub(super) fn advisory(client: &Client) -> Result<(), String> {
    let workspace = Workspace::new()?;
    let script = Script::new(GREETING)
        .calls([bash("git reset --hard")])
        .calls([writes(&workspace, "beta.txt", BETA)])
        .says(DONE)
        .proposed(&[]);
    tells(
        client,
        (workspace, script),
        (GREETING, &["allow clean"]),
        &[
            "punchlist: worth knowing: - The session ran a command that throws uncommitted work away: git reset --hard",
        ],
    )
}

pub(super) fn ignored_by_config(client: &Client) -> Result<(), String> {
    let workspace = configured("[[audit.ignore]]\npaths = [\"beta.txt\"]\nwhy = \"made by a build\"\n")?;
    let script = half_done(&workspace).proposed(&[beta_is_missing()]);
    sit_down(client, workspace, SIZE, script, |seat| {
        seat.terminal.types(super::PROMPT)?;
        seat.decided(&["allow only-ignored"])?;
        seat.terminal.shows(super::ALL_DONE)?;
        let screen = seat.terminal.screen();
        ensure(!screen.contains("punchlist:") && !screen.contains("punchlist holds"), || {
            "a word of what is ignored".into()
        })?;
        let told = seat.workspace.punchlist(&["log", "show", "last"])?;
        ensure(told.contains("made by a build"), || format!("the log does not say why: {told}"))
    })
}

pub(super) fn marks_set_back(client: &Client) -> Result<(), String> {
    let workspace = configured("[audit]\nenabled = false\n")?;
    let list = json!([{ "id": "F1", "description": "A greeting", "passes": false }]).to_string();
    workspace.write(workspace.project().join("feature_list.json"), &list)?;
    let sed = || bash("sed -i s/false/true/ feature_list.json");
    let script = Script::new(GREETING)
        .calls([bash(&format!("'{PUNCHLIST}' loop init --max 5"))])
        .calls([sed()])
        .says("All of it passes.")
        .calls([writes(&workspace, "beta.txt", BETA)])
        .calls([sed()])
        .says(DONE);
    tells(
        client,
        (workspace, script),
        (GREETING, &["block feature-open", "allow loop-over"]),
        &[
            "Set to pass in feature_list.json, and set back to open:",
            "no file changed and nothing was committed since it was handed out.",
            "punchlist: feature loop COMPLETE: the only feature passes, after 1 iteration",
        ],
    )
}

pub(super) fn held_twice(client: &Client) -> Result<(), String> {
    let check = "[audit]\nenabled = false\n[[check]]\nname = \"greeting\"\nrun = \"grep evening beta.txt\"\n";
    let workspace = configured(check)?;
    let wrong = |text| writes(&workspace, "beta.txt", text);
    let script = Script::new(GREETING)
        .calls([wrong("Good morning.\n")])
        .says("Done.")
        .calls([bash("echo 'Good night.' > beta.txt")])
        .says("Fixed.")
        .calls([bash("echo 'Good evening.' > beta.txt")])
        .says(FIXED);
    tells(
        client,
        (workspace, script),
        (GREETING, &["block check-failed", "block check-failed", "allow clean"]),
        &["punchlist: the check \"greeting\" passes now"],
    )
}

/// The person breaks a file between two turns, that the session never touched: its check is not
/// due, and nobody hears of it.
pub(super) fn nothing_of_anothers_edit(client: &Client) -> Result<(), String> {
    let check = "[audit]\nenabled = false\n[[check]]\nname = \"words\"\nrun = \"! grep broken *.txt\"\nwhen = [\"*.txt\"]\n";
    let workspace = configured(check)?;
    let script = Script::new(GREETING)
        .calls([writes(&workspace, "beta.txt", BETA)])
        .says(DONE)
        .calls([bash("echo 'Read beta.txt.' > notes.md")])
        .says(MORE_DONE)
        .calls([bash("echo 'Good night.' > more.txt")])
        .says("Done as well.")
        .calls([bash("rm broken.txt")])
        .says(FIXED);
    sit_down(client, workspace, SIZE, script, |seat| {
        seat.terminal.types(GREETING)?;
        seat.decided(&["allow clean"])?;
        seat.workspace.write(seat.workspace.project().join("broken.txt"), "broken\n")?;
        seat.terminal.types("Write a note on it.")?;
        seat.decided(&["allow clean", "allow clean"])?;
        ensure(!seat.terminal.screen().contains("punchlist:"), || "a word of another's edit".into())?;
        // It would have failed: what the session itself touches makes it due.
        seat.terminal.types(MORE)?;
        seat.decided(&["allow clean", "allow clean", "block check-failed", "allow clean"])
    })
}

/// As `install` sets both; a check gives the spinner time to be seen.
pub(super) fn status_line_and_spinner(client: &Client) -> Result<(), String> {
    let check = "[audit]\nenabled = false\n[[check]]\nname = \"slow\"\nrun = \"sleep 5\"\n";
    let workspace = configured(check)?;
    workspace.register_nothing()?;
    workspace.punchlist(&["install", "--user", "--statusline"])?;
    let script = Script::new(GREETING).calls([writes(&workspace, "beta.txt", BETA)]).says(DONE);
    sit_down(client, workspace, SIZE, script, |seat| {
        seat.terminal.shows("punchlist: no stop yet")?;
        seat.terminal.types(GREETING)?;
        seat.terminal.shows("punchlist checks this stop")?;
        seat.shown("spinner");
        seat.decided(&["allow clean"])?;
        seat.terminal.shows("punchlist: clean · 3 of 3 blocks left")?;
        seat.shown("status line");
        Ok(())
    })
}

impl Seat {
    pub(super) fn shown(&self, name: &str) {
        if std::env::var_os("PUNCHLIST_SHOW_SCREENS").is_some() {
            eprintln!("--- {name}\n{}", self.terminal.screen().trim_end());
        }
    }
}
