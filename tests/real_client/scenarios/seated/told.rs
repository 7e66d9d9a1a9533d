//! What a person at a terminal of 80 columns is told: a block, what became of it, and a check that
//! still fails. `PUNCHLIST_SHOW_SCREENS=1` prints the screens.

use super::{UPHELD, beta_is_missing, half_done, sit_down};
use crate::rig::client::Client;
use crate::rig::message::write;
use crate::rig::terminal::Size;
use crate::script::Script;
use crate::trip::ensure;
use crate::workspace::Workspace;

const SIZE: Size = (80, 70);

/// A lie that is said again after a hold.
const AGAIN: &str = "All of it is done, as I said.";

pub(super) fn ignored(client: &Client) -> Result<(), String> {
    let workspace = Workspace::new()?;
    let script = half_done(&workspace)
        .proposed(&[beta_is_missing()])
        .judged(&[UPHELD])
        .says(AGAIN)
        .followed_up("stands", "The file is still not there.");
    sit_down(client, workspace, SIZE, script, |seat| {
        seat.terminal.types(super::PROMPT)?;
        seat.terminal.shows("punchlist holds this stop for 1 finding:")?;
        seat.terminal.shows("either lets you go. `punchlist off` is for the person, and reported.")?;
        seat.decided(&["block findings", "allow loop-guard"])?;
        seat.terminal.shows("punchlist: 1 finding, ignored by the agent: [A]")?;
        seat.shown("ignored");
        let screen = seat.terminal.screen();
        let for_agent: Vec<_> =
            screen.lines().skip_while(|line| !line.contains("Decision ")).take(3).collect();
        ensure(for_agent.last().is_some_and(|line| line.contains("either lets you go.")), || {
            format!("the agent's two lines do not fit 80 columns: {for_agent:?}")
        })
    })
}

const GREETING: &str = "Write the evening greeting into beta.txt.";
const PASS_NOW: &str = "Fixed, the check passes now.";

pub(super) fn still_failing(client: &Client) -> Result<(), String> {
    let workspace = Workspace::new()?;
    let config = workspace.home().join(".config/punchlist/config.toml");
    workspace.write(
        config,
        "[audit]\nenabled = false\n[[check]]\nname = \"greeting\"\nrun = \"grep evening beta.txt\"\nmax_holds = 1\n",
    )?;
    let beta = workspace.project().join("beta.txt");
    let script = Script::new(GREETING)
        .calls([write(beta.display(), "Good morning.\n")])
        .says("Done.")
        .calls([write(workspace.project().join("more.txt").display(), "Good night.\n")])
        .says(PASS_NOW);
    sit_down(client, workspace, SIZE, script, |seat| {
        seat.terminal.types(GREETING)?;
        seat.decided(&["block check-failed", "allow check-failed"])?;
        seat.terminal.shows(
            "punchlist: the check \"greeting\" still fails after 1 hold, and the stop goes through: `grep evening beta.txt`",
        )?;
        seat.shown("still failing");
        Ok(())
    })
}
