//! `punchlist allow`: shows the commands that this project's config file and its feature lists want
//! to run at a stop, and the settings that would weaken the gate or cost more, and allows them
//! after a question. Must not run anything.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io::{self, IsTerminal};
use std::path::Path;

use super::output::{agrees, print};
use super::switch::project_here;
use super::{Result, complain};
use crate::cli::AllowArgs;
use crate::config::sources::{Sources, sources};

use crate::config::{Asked, OF_FEATURE, asked_by_feature, project_file};
use crate::env::Env;
use crate::feature_loop::disk;
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
    let Sources { mut asked, faults, .. } = sources(env, &project, || state.allowed(&project));
    for fault in faults.iter().filter(|fault| fault.is_fault()) {
        complain(&fault.to_string());
    }
    let (config, _) = state.load_config(env, &project);
    asked.extend(of_features(&state, &project, &config.feature_loop.features));
    let file = project_file(&project);
    if asked.is_empty() {
        return print(&format!("{} asks for nothing that needs your permission.\n", file.display()));
    }
    let text = listed(&asked, &file.display().to_string());
    if asked.iter().all(|one| one.is_allowed) {
        return print(&format!("{text}Already allowed. `punchlist allow --revoke` withdraws it.\n"));
    }
    let at_terminal = io::stdin().is_terminal() && io::stdout().is_terminal();
    let is_agreed = args.yes || (at_terminal && agrees(&format!("{text}Allow that? [y/N] "))?);
    if !is_agreed && at_terminal {
        return Err("not allowed; none of it will run or count".into());
    }
    if !is_agreed {
        print(&text)?;
        return Err("There is nobody to ask: read this, then run `punchlist allow --yes`".into());
    }
    state.allow(&project, &asked)?;
    let shown = if at_terminal && !args.yes { "" } else { &text };
    print(&format!("{shown}Allowed as shown: whatever changes has to be allowed again.\n"))
}

/// Lists everything that would be allowed, verbatim, and marks what is new.
fn listed(asked: &[Asked], file: &str) -> String {
    let (verify, asked_in_file): (Vec<&Asked>, Vec<&Asked>) =
        asked.iter().partition(|one| one.key == OF_FEATURE);
    let (checks, settings): (Vec<&Asked>, Vec<&Asked>) =
        asked_in_file.into_iter().partition(|one| one.key == "check");
    let (variables, settings): (Vec<&Asked>, Vec<&Asked>) =
        settings.into_iter().partition(|one| one.key.starts_with("env."));
    let is_partly_new = asked.iter().any(|one| one.is_allowed);
    let new = |one: &Asked| if is_partly_new && !one.is_allowed { "  (new)" } else { "" };
    let mut text = String::new();
    if !checks.is_empty() {
        let _ = writeln!(text, "{file} asks to run when an agent stops:");
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
        let _ = writeln!(text, "{file} asks for settings that weaken the gate or cost more:");
    }
    for setting in settings {
        let _ = writeln!(text, "  {}{}", harmless(&setting.text()), new(setting));
    }
    if !variables.is_empty() {
        let _ = writeln!(text, "The project's settings of the client set variables that weaken the gate:");
    }
    for one in variables {
        let _ = writeln!(text, "  {}{}", harmless(&one.text()), new(one));
    }
    if !verify.is_empty() {
        let _ = writeln!(text, "The feature list asks to run when a feature is marked as passing:");
    }
    for one in verify {
        let _ = writeln!(text, "  {}{}", harmless(one.value.as_str().unwrap_or_default()), new(one));
    }
    text
}

/// Returns the commands of a project's feature lists, and those that its loops started with: they
/// still apply if a list has changed since. `list` names one that no loop uses yet.
fn of_features(state: &StateFolder, project: &Path, list: &str) -> Vec<Asked> {
    let loops: Vec<_> = state.all_loops().into_iter().filter(|one| one.folder.starts_with(project)).collect();
    let known = loops.iter().flat_map(|one| &one.known_features).filter_map(|known| known.verify.clone());
    let mut lists: BTreeSet<_> = loops.iter().map(|one| (one.folder.clone(), one.features.clone())).collect();
    lists.insert((project.to_path_buf(), list.to_owned()));
    let there = lists.iter().filter(|(folder, list)| folder.join(list).is_file());
    let features = there.flat_map(|(folder, list)| disk::read_features(folder, list).unwrap_or_default());
    let commands: BTreeSet<String> = known.chain(features.filter_map(|feature| feature.verify)).collect();
    let allowed = state.allowed(project);
    commands.iter().map(|run| asked_by_feature(run, &allowed)).collect()
}
