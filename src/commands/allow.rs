//! `punchlist allow`: shows the commands that this project's config file wants to run at a stop and the settings with
//! which it would weaken the gate or cost more, and allows them after a question. Must not run anything.

use std::fmt::Write as _;
use std::io::{self, IsTerminal, Write as _};

use super::output::print;
use super::switch::project_here;
use super::{Result, complain};
use crate::cli::AllowArgs;
use crate::config::sources::{Sources, sources};
use crate::config::{Asked, project_file};
use crate::env::Env;
use crate::state::StateFolder;
use crate::text::harmless;

pub(super) fn run(args: &AllowArgs, env: &Env) -> Result {
    let state = StateFolder::find(env)?;
    let project = project_here(env);
    if args.revoke {
        let changed = state.allow(&project, &[])?;
        let text = if changed { "Taken back" } else { "Nothing was allowed" };
        return print(&format!("{text}: {}\n", project.display()));
    }
    let Sources { asked, faults, .. } = sources(env, &project, || state.allowed(&project));
    for fault in faults.iter().filter(|fault| fault.is_fault()) {
        complain(&fault.to_string());
    }
    let file = project_file(&project);
    if asked.is_empty() {
        return print(&format!("{} asks for nothing that you would have to allow.\n", file.display()));
    }
    let text = listed(&asked, &file.display().to_string());
    if asked.iter().all(|one| one.is_allowed) {
        return print(&format!("{text}Allowed already. `punchlist allow --revoke` takes it back.\n"));
    }
    let at_terminal = io::stdin().is_terminal() && io::stdout().is_terminal();
    let is_agreed = args.yes || (at_terminal && agrees(&text)?);
    if !is_agreed && at_terminal {
        return Err("not allowed; nothing of it will run or count".into());
    }
    if !is_agreed {
        print(&text)?;
        return Err("Nobody is there to ask: `punchlist allow --yes` where you have read it".into());
    }
    state.allow(&project, &asked)?;
    let shown = if at_terminal && !args.yes { "" } else { &text };
    print(&format!("{shown}Allowed, as it stands here: what changes has to be allowed anew.\n"))
}

/// Lists all that would be allowed, word for word, with a mark on what is new.
fn listed(asked: &[Asked], file: &str) -> String {
    let (checks, settings): (Vec<&Asked>, Vec<&Asked>) = asked.iter().partition(|one| one.key == "check");
    let is_partly_new = asked.iter().any(|one| one.is_allowed);
    let new = |one: &Asked| if is_partly_new && !one.is_allowed { "  (new)" } else { "" };
    let mut text = String::new();
    if !checks.is_empty() {
        let _ = writeln!(text, "{file} asks to run, when an agent stops:");
    }
    for check in checks {
        let field = |key: &str| check.value.get(key).and_then(toml::Value::as_str).unwrap_or_default();
        let _ = write!(text, "  {}: {}", harmless(field("name")), harmless(field("run")));
        let others =
            check.value.as_table().into_iter().flatten().filter(|(key, _)| *key != "name" && *key != "run");
        let others: Vec<String> = others.map(|(key, value)| format!("{key} = {value}")).collect();
        if !others.is_empty() {
            let _ = write!(text, "  ({})", harmless(&others.join(", ")));
        }
        let _ = writeln!(text, "{}", new(check));
    }
    if !settings.is_empty() {
        let _ = writeln!(text, "{file} asks for what may weaken the gate or cost more:");
    }
    for setting in settings {
        let _ = writeln!(text, "  {}{}", harmless(&setting.text()), new(setting));
    }
    text
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
