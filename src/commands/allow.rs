//! `punchlist allow`: shows the commands that this project's config file and its feature lists want
//! to run at a stop, and allows them after a question. Must not run anything.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io::{self, IsTerminal, Write as _};
use std::path::Path;

use super::Result;
use super::output::print;
use super::switch::project_here;
use crate::cli::AllowArgs;
use crate::config::Config;
use crate::env::Env;
use crate::feature_loop::disk;
use crate::state::StateFolder;
use crate::text::harmless;

pub(super) fn run(args: &AllowArgs, env: &Env) -> Result {
    let state = StateFolder::find(env)?;
    let project = project_here(env);
    if args.revoke {
        let changed = state.allow(&project, std::iter::empty())?;
        let text = if changed { "Taken back" } else { "Nothing was allowed" };
        return print(&format!("{text}: {}\n", project.display()));
    }
    let (config, faults) = Config::load(env, &project);
    if let Some(fault) = faults.first() {
        return Err(fault.to_string().into());
    }
    let wanted = wanted(&config, &state, &project);
    if wanted.is_empty() {
        return print(&format!("{} asks for nothing to be run.\n", project.display()));
    }
    let mut text = format!("{} asks to run, when an agent stops:\n", project.display());
    for (name, run) in &wanted {
        let _ = writeln!(text, "  {}: {}", harmless(name), harmless(run));
    }
    if wanted.iter().all(|(_, run)| state.is_allowed(&project, run)) {
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
    state.allow(&project, wanted.iter().map(|(_, run)| run.as_str()))?;
    let shown = if at_terminal && !args.yes { "" } else { &text };
    print(&format!("{shown}Allowed, as it stands here: a command that changes has to be allowed anew.\n"))
}

/// What a project asks to run: the name of each, and its command line.
fn wanted(config: &Config, state: &StateFolder, project: &Path) -> Vec<(String, String)> {
    let checks = config.checks.iter().filter(|check| check.is_projects);
    let mut wanted: Vec<_> = checks.map(|check| (check.name.clone(), check.run.clone())).collect();
    let of_loop = &config.feature_loop;
    let verify = of_loop.verify.iter().filter(|_| of_loop.is_verify_projects);
    wanted.extend(verify.map(|run| ("the whole feature list".to_owned(), run.clone())));
    let loops = state.all_loops().into_iter().filter(|one| one.folder.starts_with(project));
    let mut lists: BTreeSet<_> = loops.map(|one| (one.folder, one.features)).collect();
    lists.insert((project.to_path_buf(), of_loop.features.clone()));
    for (folder, list) in lists.iter().filter(|(folder, list)| folder.join(list).is_file()) {
        let features = disk::read_features(folder, list).unwrap_or_default();
        let verified = features.into_iter().filter_map(|feature| {
            let name = format!("feature {}", feature.display_name());
            Some((name, feature.verify?))
        });
        wanted.extend(verified);
    }
    wanted
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
