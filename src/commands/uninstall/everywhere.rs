//! `punchlist uninstall --everywhere`: every settings file that registers the hook, as far as the
//! projects can be known, the plugin, and what remains. Must not remove anything that it has not
//! shown, nor a file that git tracks.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::Value;

use super::super::Result;
use super::super::install::{Target, read_json};
use super::super::output::{agrees, print};
use super::super::update::installed_by::InstalledBy;
use crate::child::Ending;
use crate::cli::UninstallArgs;
use crate::client::settings::registered_hooks::is_our_plugin;
use crate::client::settings::{Scope, backup_of, registration};
use crate::client::{env_vars, folders, program};
use crate::config::{own_file, project_file};
use crate::env::Env;
use crate::exit::{self, complain};
use crate::files::size_of;
use crate::log::DecisionLog;
use crate::state::StateFolder;
use crate::text::{from_home, harmless, in_bytes};
use crate::workspace::sealed_git::SealedGit;

/// How long the client may take to remove a plugin.
const CLIENT_TIME: Duration = Duration::from_secs(30);

pub(super) fn run(args: &UninstallArgs, here: PathBuf, env: &Env) -> Result {
    let state = StateFolder::find(env)?;
    let projects = known_projects(&state, here, env);
    let (mut text, mut code) = (String::new(), exit::OK);
    for (scope, file, project) in settings_files(&projects, env) {
        // A file that can't be read as JSON is told of below, unless nothing in it is ours.
        let is_ours = read_json(&file).map_or_else(|| names_us(&file), |it| registration::is_registered(&it));
        if !is_ours {
            continue;
        }
        match Target::open(scope, project, env).and_then(|target| target.uninstall(args.dry_run)) {
            Ok(said) => text.push_str(&said),
            Err(why) => {
                complain(&why.to_string());
                code = exit::FAILED;
            }
        }
    }
    if text.is_empty() {
        let _ =
            writeln!(text, "Not registered in any settings file of yours or of {} projects.", projects.len());
    }
    for plugin in plugins(&projects, env) {
        text.push_str(&plugin.uninstall(args.dry_run, env));
    }
    print(&text)?;
    let remains = Remains::find(&state, &projects, env);
    if !args.purge || args.dry_run || remains.removable.is_empty() {
        let hint = if remains.removable.is_empty() || args.purge { "" } else { HINT };
        print(&format!("{}{hint}", remains.lines(env)))?;
        return Ok(code);
    }
    let shown = remains.lines(env);
    let at_terminal = io::stdin().is_terminal() && io::stdout().is_terminal();
    if args.yes {
        print(&shown)?;
    } else if !at_terminal {
        print(&shown)?;
        return Err(
            "nobody is there to ask: `punchlist uninstall --everywhere --purge --yes` removes them".into()
        );
    } else if !agrees(&format!("{shown}Remove them for good? [y/N] "))? {
        return Err("nothing of it was removed".into());
    }
    for path in &remains.removable {
        if let Err(error) = remove(path) {
            complain(&format!("{}: {error}", path.display()));
            code = exit::FAILED;
        }
    }
    if code == exit::OK {
        print("Removed.\n")?;
    }
    Ok(code)
}

const HINT: &str = "`punchlist uninstall --everywhere --purge` removes them.\n";

/// Returns this folder and every project that the client, the log or a receipt of `install` names
/// and that is still there.
fn known_projects(state: &StateFolder, here: PathBuf, env: &Env) -> BTreeSet<PathBuf> {
    let mut projects = BTreeSet::from([here]);
    let own = env_vars::config_dir(env).map(|folder| folder.join(".claude.json"));
    let in_home = env.home().map(|home| home.join(".claude.json"));
    for list in own.into_iter().chain(in_home).filter_map(|file| read_json(&file)) {
        projects.extend(list["projects"].as_object().into_iter().flatten().map(|(path, _)| path.into()));
    }
    // What of the log can't be read names no project.
    let _ = DecisionLog::in_folder(state.root())
        .read(|record| projects.extend(record.project.map(PathBuf::from)));
    let of_settings = |file: PathBuf| Some(file.parent()?.parent()?.to_path_buf());
    projects.extend(state.installs().into_iter().filter_map(of_settings));
    projects.retain(|project| project.is_absolute() && project.is_dir());
    projects
}

/// Returns the settings files that exist, each once, with the project that each is opened for.
fn settings_files(projects: &BTreeSet<PathBuf>, env: &Env) -> Vec<(Scope, PathBuf, PathBuf)> {
    let mut files: Vec<(Scope, PathBuf, PathBuf)> = Vec::new();
    // In the home folder, the project's file and the person's are the same: the person's comes first.
    for scope in [Scope::User, Scope::Local, Scope::Project] {
        for project in projects {
            let Some(file) = scope.file(env, project).filter(|file| file.is_file()) else { continue };
            if !files.iter().any(|(_, known, _)| *known == file) {
                files.push((scope, file, project.clone()));
            }
        }
    }
    files
}

fn names_us(file: &Path) -> bool {
    fs::read_to_string(file).is_ok_and(|text| text.contains("punchlist"))
}

/// Our plugin, as one scope has it.
struct Plugin {
    name: String,
    scope: Scope,
    project: PathBuf,
}

/// Returns our plugin for each scope that switches it on or off, or that the client has it for.
fn plugins(projects: &BTreeSet<PathBuf>, env: &Env) -> Vec<Plugin> {
    let mut found: Vec<Plugin> = Vec::new();
    for (scope, file, project) in settings_files(projects, env) {
        let settings = read_json(&file).unwrap_or_default();
        let names = settings["enabledPlugins"].as_object().into_iter().flatten().map(|(name, _)| name);
        found.extend(names.filter(|name| is_our_plugin(name)).map(|name| Plugin {
            name: name.clone(),
            scope,
            project: project.clone(),
        }));
    }
    let list = env_vars::config_dir(env).and_then(|folder| read_json(&folders::installed_plugins(&folder)));
    let installed: Value = list.unwrap_or_default();
    for (name, _) in installed["plugins"].as_object().into_iter().flatten() {
        let is_known = found.iter().any(|plugin| plugin.name == *name);
        let Some(project) = projects.first().filter(|_| is_our_plugin(name) && !is_known) else { continue };
        found.push(Plugin { name: name.clone(), scope: Scope::User, project: project.clone() });
    }
    found
}

impl Plugin {
    /// Has the client remove it; where that does not work, says what to run.
    fn uninstall(&self, dry_run: bool, env: &Env) -> String {
        let name = harmless(&self.name);
        let mut args = vec!["plugin", "uninstall", &self.name];
        // The default of every version, and 2.0.32 knows no other.
        if self.scope != Scope::User {
            args.extend(["--scope", self.scope.name()]);
        }
        let line = format!("claude {}", harmless(&args.join(" ")));
        if dry_run {
            return format!("Would have the client remove the plugin {name}: {line}\n");
        }
        let by_hand = |why: &str| {
            let place = from_home(&self.project, env.home().as_deref());
            format!("! The plugin {name} is still there ({why}): run `{line}` in {place}\n")
        };
        let Ok(client) = program::find(env, None) else { return by_hand("no client was found") };
        let ended = crate::child::run(program::job(&client, &args, &self.project, CLIENT_TIME));
        match ended.how {
            Ending::Exited(0) => format!("The client removed the plugin {name}.\n"),
            Ending::Exited(_) => {
                let said = [ended.stdout, ended.stderr].concat();
                let said = String::from_utf8_lossy(&said);
                by_hand(&harmless(
                    said.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("no word"),
                ))
            }
            _ => by_hand("the client did not answer"),
        }
    }
}

/// What is left of punchlist when nothing is registered any more.
struct Remains {
    /// What `--purge` removes.
    removable: Vec<PathBuf>,
    /// Projects' config files that git tracks.
    shared: Vec<PathBuf>,
    /// The command that removes the program.
    program: Option<String>,
}

impl Remains {
    fn find(state: &StateFolder, projects: &BTreeSet<PathBuf>, env: &Env) -> Self {
        let mut removable = Vec::new();
        removable.extend(Some(state.root().to_path_buf()).filter(|root| is_ours_alone(root, env)));
        let own = own_file(env).into_iter();
        removable.extend(
            own.flat_map(|file| [file.with_extension("schema.json"), file]).filter(|it| it.is_file()),
        );
        let (mut shared, mut own) = (Vec::new(), Vec::new());
        for project in projects {
            let file = project_file(project);
            let files = [file.with_extension("schema.json"), file].into_iter().filter(|it| it.is_file());
            let (tracked, untracked): (Vec<_>, Vec<_>) = files.partition(|file| is_tracked(project, file));
            shared.extend(tracked);
            own.extend(untracked);
            let settings = Scope::ALL.into_iter().filter_map(|scope| scope.file(env, project));
            own.extend(settings.map(|file| backup_of(&file)).filter(|backup| backup.is_file()));
        }
        removable.extend(own);
        let mut seen = BTreeSet::new();
        removable.retain(|path| seen.insert(path.clone()));
        Self { removable, shared, program: InstalledBy::find().remove_line() }
    }

    fn lines(&self, env: &Env) -> String {
        let mut text = String::new();
        let named = |path: &Path| harmless(&from_home(path, env.home().as_deref()));
        if self.removable.is_empty() && self.shared.is_empty() && self.program.is_none() {
            return "No state and no config remain.\n".to_owned();
        }
        text.push_str("What remains:\n");
        for path in &self.removable {
            let what = if path.is_dir() { "the log and the rest of the state, " } else { "" };
            let _ = writeln!(text, "  {} ({what}{})", named(path), in_bytes(size_of(path)));
        }
        for path in &self.shared {
            let _ = writeln!(text, "  {} (git tracks it, and so it stays)", named(path));
        }
        if let Some(line) = &self.program {
            let _ = writeln!(text, "  the program itself: `{}` removes it", harmless(line));
        }
        text
    }
}

/// Whether a state folder can be removed whole: `PUNCHLIST_HOME` may name any folder.
fn is_ours_alone(root: &Path, env: &Env) -> bool {
    let real = |path: &Path| fs::canonicalize(path).ok();
    let Some(root) = real(root).filter(|root| root.is_dir()) else { return false };
    let around = [env.home(), std::env::current_dir().ok(), env_vars::config_dir(env)];
    let holds_others =
        around.into_iter().flatten().filter_map(|path| real(&path)).any(|path| path.starts_with(&root));
    !holds_others && !root.join(".git").exists()
}

fn is_tracked(project: &Path, file: &Path) -> bool {
    let git = SealedGit::new(project.to_path_buf());
    let path = file.to_str();
    let ended = path.and_then(|path| git.run(&["ls-files", "--error-unmatch", "--", path], String::new()));
    ended.is_some_and(|(code, _)| code == 0)
}

/// Removes a file or a folder, and the folder of a file where that is ours and empty then.
fn remove(path: &Path) -> io::Result<()> {
    if path.is_dir() {
        return fs::remove_dir_all(path);
    }
    fs::remove_file(path)?;
    if let Some(folder) = path.parent().filter(|folder| folder.ends_with("punchlist")) {
        // Fails where it is not empty.
        let _ = fs::remove_dir(folder);
    }
    Ok(())
}
