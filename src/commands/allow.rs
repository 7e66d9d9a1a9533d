//! `punchlist allow`: shows the commands that this project's config file wants to run at a stop,
//! and allows them after a question. Must not run anything.

use std::fmt::Write as _;
use std::io::{self, IsTerminal, Write as _};

use super::Result;
use super::output::print;
use super::switch::project_here;
use crate::cli::AllowArgs;
use crate::config::{CheckConfig, Config, project_file};
use crate::env::Env;
use crate::state::StateFolder;
use crate::text::harmless;

pub(super) fn run(args: &AllowArgs, env: &Env) -> Result {
    let state = StateFolder::find(env)?;
    let project = project_here(env);
    if args.revoke {
        let changed = state.allow(&project, None)?;
        let text = if changed { "Taken back" } else { "Nothing was allowed" };
        return print(&format!("{text}: {}\n", project.display()));
    }
    let (config, faults) = Config::load(env, &project);
    if let Some(fault) = faults.first() {
        return Err(fault.to_string().into());
    }
    let wanted: Vec<&CheckConfig> = config.checks.iter().filter(|check| check.is_projects).collect();
    let file = project_file(&project);
    if wanted.is_empty() {
        return print(&format!("{} asks for nothing to be run.\n", file.display()));
    }
    let mut text = format!("{} asks to run, when an agent stops:\n", file.display());
    for check in &wanted {
        let _ = writeln!(text, "  {}: {}", harmless(&check.name), harmless(&check.run));
    }
    if state.is_allowed(&project, &config.checks) {
        return print(&format!("{text}Allowed already. `punchlist allow --revoke` takes it back.\n"));
    }
    let at_terminal = io::stdin().is_terminal() && io::stdout().is_terminal();
    let is_agreed = args.yes || (at_terminal && agrees(&text)?);
    if !is_agreed {
        return Err(if at_terminal {
            "not allowed; nothing of it will run".into()
        } else {
            format!("{text}Nobody is there to ask: `punchlist allow --yes` where you have read it").into()
        });
    }
    state.allow(&project, Some(&config.checks))?;
    let shown = if at_terminal && !args.yes { "" } else { &text };
    print(&format!("{shown}Allowed, as it stands here: a command that changes has to be allowed anew.\n"))
}

/// Asks the person at the terminal.
fn agrees(text: &str) -> io::Result<bool> {
    let mut stdout = io::stdout().lock();
    write!(stdout, "{text}Allow that? [y/N] ")?;
    stdout.flush()?;
    let mut answer = String::new();
    io::stdin().read_line(&mut answer)?;
    Ok(matches!(answer.trim().to_lowercase().as_str(), "y" | "yes"))
}
