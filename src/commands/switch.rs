//! `punchlist off` and `punchlist on`: the person's switch for a project or a session, stored in
//! the state folder. Says what else lets stops through.

use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};

use super::Result;
use super::output::print;
use crate::cli::SwitchArgs;
use crate::client::env_vars;
use crate::env::{self, Env};
use crate::state::{Shell, StateFolder, Thrown};

/// A shorter prefix of an id may match by accident.
const MIN_ID_CHARS: usize = 4;

/// Runs `off` or `on`.
pub(super) fn run(args: &SwitchArgs, turn_on: bool, env: &Env) -> Result {
    let state = StateFolder::find(env)?;
    let now = crate::clock::now().as_millisecond();
    let at_terminal = io::stdin().is_terminal() && io::stdout().is_terminal();
    let shell = if at_terminal { Shell::current() } else { None };
    let thrown = Thrown { at_ms: now, in_session: env.get(env_vars::INSIDE_SESSION).is_some(), shell };
    let project = project_here(env);
    if let Some(session) = &args.session {
        if session.chars().count() < MIN_ID_CHARS {
            return Err(format!(
                "\"{session}\" may be many sessions: give at least {MIN_ID_CHARS} characters of its id"
            )
            .into());
        }
        let was_off = state.throw(now, |all| {
            if !turn_on {
                return all.sessions.insert(session.clone(), thrown).is_some();
            }
            let before = all.sessions.len();
            all.sessions
                .retain(|known, _| !known.starts_with(session.as_str()) && !session.starts_with(known));
            all.sessions.len() < before
        });
        let what = format!("session {session}");
        return print(&summary(turn_on, was_off?, &what, " --session ID"));
    }
    let was_off = state.throw(now, |all| {
        let known = all.covering(&project);
        if !turn_on {
            let was_off = known.contains(&project);
            all.projects.insert(project.clone(), thrown);
            return if was_off { vec![project.clone()] } else { Vec::new() };
        }
        all.projects.retain(|folder, _| !known.contains(folder));
        known
    });
    let was_off = was_off?;
    let what = was_off.first().unwrap_or(&project).display().to_string();
    let mut text = summary(turn_on, !was_off.is_empty(), &what, "");
    if turn_on {
        text.push_str(&other_switches(env, &project, &state));
    }
    print(&text)
}

fn summary(turn_on: bool, was_off: bool, what: &str, flag: &str) -> String {
    match (turn_on, was_off) {
        (false, false) => format!(
            "Off: {what}\nEvery stop goes through, and the log says so, until `punchlist on{flag}`.\n"
        ),
        (false, true) => format!("Already off: {what}\n"),
        (true, true) => format!("On: {what}\n"),
        (true, false) => format!("Already on: {what}\n"),
    }
}

/// Returns what else lets stops through.
fn other_switches(env: &Env, project: &Path, state: &StateFolder) -> String {
    let mut text = String::new();
    let (config, _) = state.load_config(env, project);
    if env.switch(env::OFF) {
        text.push_str("But PUNCHLIST_OFF is set here, and lets every stop through.\n");
    } else if !config.gates.enabled {
        text.push_str("But the config says [gates] enabled = false, which lets every stop through.\n");
    }
    for session in state.switches().sessions.keys() {
        text.push_str(&format!("But session {session} is still off: `punchlist on --session {session}`.\n"));
    }
    text
}

/// Returns the current project: the session's if the client runs us, else the nearest parent folder
/// with `.git` or the client's settings, else this folder. The home folder has the client's
/// settings, too, but that does not make it a project.
pub(super) fn project_here(env: &Env) -> PathBuf {
    let here = std::env::current_dir().unwrap_or_default();
    let here = env.path(env_vars::PROJECT_DIR).filter(|folder| folder.is_dir()).unwrap_or(here);
    let real = |path: PathBuf| std::fs::canonicalize(&path).unwrap_or(path);
    let (here, home) = (real(here), env.home().map(real));
    let is_project = |folder: &&Path| {
        let is_home = home.as_deref() == Some(folder);
        folder.join(".git").exists() || (!is_home && folder.join(".claude").exists())
    };
    here.ancestors().find(is_project).unwrap_or(&here).to_path_buf()
}
