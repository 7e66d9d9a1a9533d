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
use super::super::update::installed_by::{InstalledBy, SCRIPT_NOTE};
use crate::child::Ending;
use crate::cli::UninstallArgs;
use crate::client::settings::registered_hooks::is_our_plugin;
use crate::client::settings::{Scope, backup_of, managed_file, registration};
use crate::client::{env_vars, folders, program};
use crate::config::{own_file, project_file};
use crate::env::Env;
use crate::exit::{self, complain};
use crate::files::size_of;
use crate::log::DecisionLog;
use crate::state::StateFolder;
use crate::text::{counted, from_home, harmless, in_bytes};
use crate::workspace::sealed_git::{self, SealedGit};

/// How long the client may take to remove a plugin.
const CLIENT_TIME: Duration = Duration::from_secs(30);

pub(super) fn run(args: &UninstallArgs, here: PathBuf, env: &Env) -> Result {
    let state = StateFolder::find(env)?;
    let projects = known_projects(&state, here, env);
    let (mut text, mut code) = (String::new(), exit::OK);
    // What is not there any more after the real run.
    let mut gone: BTreeSet<PathBuf> = BTreeSet::new();
    for (scope, file, project) in settings_files(&projects, env) {
        // A file that can't be read as JSON is told of below, unless nothing in it is ours.
        let is_ours = read_json(&file).map_or_else(|| names_us(&file), |it| registration::is_registered(&it));
        if !is_ours {
            continue;
        }
        let taken_out = Target::open(scope, project, env).and_then(|target| {
            let backup = target.needless_backup().filter(|_| args.dry_run);
            Ok((target.uninstall(args.dry_run)?, backup))
        });
        match taken_out {
            Ok((said, backup)) => {
                text.push_str(&said);
                gone.extend(backup);
            }
            Err(why) => {
                complain(&why.to_string());
                code = exit::FAILED;
            }
        }
    }
    if text.is_empty() {
        let count = counted(projects.len(), "project", "projects");
        let _ = writeln!(text, "Not registered in any settings file of yours or of {count}.");
    }
    text.push_str(&managed_line(&managed_file()));
    for plugin in plugins(&projects, env) {
        text.push_str(&plugin.uninstall(args.dry_run, env));
    }
    print(&text)?;
    if args.purge && code != exit::OK {
        return Err("nothing else was removed: the hook is still registered (above)".into());
    }
    let mut remains = Remains::find(&state, &projects, env);
    remains.removable.retain(|path| !gone.contains(&fs::canonicalize(path).unwrap_or_default()));
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
            "nobody is there to ask: `punchlist uninstall --everywhere --purge --yes` removes these files"
                .into(),
        );
    } else if !agrees(&format!("{shown}Remove these files for good? [y/N] "))? {
        return Err("nothing of it was removed".into());
    }
    for path in &remains.removable {
        if let Err(error) = remove(path) {
            complain(&format!("{}: {error}", path.display()));
            code = exit::FAILED;
        }
    }
    if code == exit::OK {
        print("Removed these files.\n")?;
    }
    Ok(code)
}

/// Says that the machine's own settings register it: they are not the person's to change.
fn managed_line(file: &Path) -> String {
    if !read_json(file).is_some_and(|settings| registration::is_registered(&settings)) {
        return String::new();
    }
    format!("! {} registers it and stays: ask whoever manages this machine.\n", file.display())
}

const HINT: &str = "`punchlist uninstall --everywhere --purge` removes these files.\n";

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
    // In the home folder, the project's file and the person's are the same: the person's comes
    // first.
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
    /// Projects' files that git tracks, or may track.
    shared: Vec<PathBuf>,
    /// The client's files that know the marketplace of the plugin.
    marketplaces: Vec<PathBuf>,
    /// The command that removes the program.
    program: Option<String>,
}

impl Remains {
    fn find(state: &StateFolder, projects: &BTreeSet<PathBuf>, env: &Env) -> Self {
        let mut removable = Vec::new();
        removable.extend(Some(state.root().to_path_buf()).filter(|root| !state_entries(root).is_empty()));
        let own = own_file(env).into_iter();
        removable.extend(
            own.flat_map(|file| [file.with_extension("schema.json"), file]).filter(|it| it.is_file()),
        );
        let program = InstalledBy::find();
        removable.extend(plugin_notes(env));
        // What removes the program names it.
        removable.extend(installer_note(env).filter(|_| !matches!(program, InstalledBy::Script(_))));
        let (mut shared, mut own) = (Vec::new(), Vec::new());
        for project in projects {
            let file = project_file(project);
            let files = [file.with_extension("schema.json"), file].into_iter().filter(|it| it.is_file());
            let settings = Scope::ALL.into_iter().filter_map(|scope| scope.file(env, project));
            let backups = settings.map(|file| backup_of(&file)).filter(|backup| backup.is_file());
            let (tracked, untracked): (Vec<_>, Vec<_>) =
                files.chain(backups).partition(|file| may_be_tracked(file));
            shared.extend(tracked);
            own.extend(untracked);
        }
        removable.extend(own);
        // The person's settings are those of every project.
        let mut seen = BTreeSet::new();
        removable.retain(|path| seen.insert(path.clone()));
        shared.retain(|path| seen.insert(path.clone()));
        let marketplaces = settings_files(projects, env).into_iter().map(|(_, file, _)| file);
        let mut marketplaces: Vec<PathBuf> = marketplaces.filter(|file| knows_marketplace(file)).collect();
        // 2.0.32 names them in its own list alone.
        if marketplaces.is_empty() {
            let list = env_vars::config_dir(env).map(|folder| folders::known_marketplaces(&folder));
            let knows = |list: &PathBuf| read_json(list).is_some_and(|list| list.get("punchlist").is_some());
            marketplaces.extend(list.filter(knows));
        }
        Self { removable, shared, marketplaces, program: program.remove_line() }
    }

    fn lines(&self, env: &Env) -> String {
        let mut text = String::new();
        let named = |path: &Path| harmless(&from_home(path, env.home().as_deref()));
        let is_nothing = self.removable.is_empty() && self.shared.is_empty() && self.marketplaces.is_empty();
        if is_nothing && self.program.is_none() {
            return "No state and no config remain.\n".to_owned();
        }
        if !self.removable.is_empty() {
            text.push_str("What remains:\n");
        }
        for path in &self.removable {
            let (what, size) = if path.is_dir() {
                let entries = state_entries(path);
                ("the log and the rest of the state, ", entries.iter().map(|entry| size_of(entry)).sum())
            } else {
                ("", size_of(path))
            };
            let _ = writeln!(text, "  {} ({what}{})", named(path), in_bytes(size));
        }
        if !self.shared.is_empty() || !self.marketplaces.is_empty() || self.program.is_some() {
            text.push_str("What --purge leaves alone:\n");
        }
        for path in &self.shared {
            let _ = writeln!(text, "  {} (git tracks it, and so it stays)", named(path));
        }
        for path in &self.marketplaces {
            let _ = writeln!(
                text,
                "  the plugin's marketplace in {}: `claude plugin marketplace remove punchlist` removes it",
                named(path)
            );
        }
        if let Some(line) = &self.program {
            let _ = writeln!(text, "  the program itself: `{}` removes it", harmless(line));
        }
        text
    }
}

/// What punchlist puts into its state folder. `PUNCHLIST_HOME` may name any folder: what else is in
/// it stays.
const STATE_FOLDERS: &[&str] =
    &["audits", "decisions", "fleet-workers", "installs", "loops", "running", "sessions"];
const STATE_FILES: &[&str] =
    &["allowed.", "clients.", "config-told.", "off.", "registry.sqlite", "spending.", "tidied"];

/// Returns what in a state folder is punchlist's.
fn state_entries(root: &Path) -> Vec<PathBuf> {
    let is_ours = |entry: &fs::DirEntry| {
        let (name, kind) = (entry.file_name(), entry.file_type());
        let Some((name, kind)) = name.to_str().zip(kind.ok()) else { return false };
        if kind.is_dir() {
            return STATE_FOLDERS.contains(&name);
        }
        STATE_FILES.iter().any(|start| name.starts_with(start)) || name.contains("-cursor.")
    };
    let entries = fs::read_dir(root).into_iter().flatten().flatten();
    entries.filter(is_ours).map(|entry| entry.path()).collect()
}

/// Whether settings name the marketplace that has our plugin, as `claude plugin marketplace add`
/// writes them.
fn knows_marketplace(settings: &Path) -> bool {
    let settings = read_json(settings).unwrap_or_default();
    settings["extraKnownMarketplaces"].get("punchlist").is_some()
}

/// What the plugin's hook notes where the client gives it no folder of its own.
fn plugin_notes(env: &Env) -> Vec<PathBuf> {
    let cache = env.path("XDG_CACHE_HOME").or_else(|| Some(env.home()?.join(".cache")));
    let files = ["npm-asked", "npm-program", "punchlist-is-missing"];
    let notes = cache.into_iter().flat_map(|cache| files.map(|name| cache.join("punchlist").join(name)));
    notes.filter(|note| note.is_file()).collect()
}

/// What the installer script notes beside its usual place.
fn installer_note(env: &Env) -> Option<PathBuf> {
    env.home().map(|home| home.join(".local").join(SCRIPT_NOTE)).filter(|note| note.is_file())
}

/// Whether git may track a file: where it can't be asked, it may. It is asked in the file's own
/// folder, which need not be of the project's repository.
fn may_be_tracked(file: &Path) -> bool {
    let (Some(folder), Some(name)) = (file.parent(), file.file_name().and_then(|name| name.to_str())) else {
        return true;
    };
    if sealed_git::top(folder).is_none() {
        return false;
    }
    let git = SealedGit::new(folder.to_path_buf());
    let ended = git.run(&["ls-files", "--error-unmatch", "--", &format!("./{name}")], String::new());
    // 1 is git's word for a file that it does not track.
    ended.is_none_or(|(code, _)| code != 1)
}

/// Removes a file, or what is ours of a state folder; then the folder around it, where that is ours
/// and empty.
fn remove(path: &Path) -> io::Result<()> {
    if path.is_dir() {
        for entry in state_entries(path) {
            if entry.is_dir() { fs::remove_dir_all(entry)? } else { fs::remove_file(entry)? }
        }
        // Fails where somebody else has put something there.
        let _ = fs::remove_dir(path);
        return Ok(());
    }
    fs::remove_file(path)?;
    if let Some(folder) = path.parent().filter(|folder| folder.ends_with("punchlist")) {
        let _ = fs::remove_dir(folder);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_registration_of_the_machines_is_named_and_stays() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("managed-settings.json");
        assert_eq!(managed_line(&file), "");
        fs::write(&file, r#"{"hooks":{"Stop":[{"hooks":[{"command":"say done"}]}]}}"#).expect("written");
        assert_eq!(managed_line(&file), "");
        fs::write(&file, r#"{"hooks":{"Stop":[{"hooks":[{"command":"punchlist hook"}]}]}}"#)
            .expect("written");
        let line =
            format!("! {} registers it and stays: ask whoever manages this machine.\n", file.display());
        assert_eq!(managed_line(&file), line);
    }
}
