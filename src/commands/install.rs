//! `punchlist install`: adds the hook to the client's settings, and shows the change. Must not
//! write in a dry run, or to a file that it can't parse: then it says what to do by hand.
//! [`Target`] is the settings file that `uninstall` changes, too.

use std::fmt::Write as _;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anstyle::{AnsiColor, Style};
use serde_json::Value;
use similar::{ChangeTag, TextDiff};

use super::Result;
use super::output::print;
use crate::cli::InstallArgs;
use crate::client::settings::registered_hooks::{ON_PATH, by_path, is_our_status_line};
use crate::client::settings::registration;
use crate::client::settings::registration::{Created, HOOK_TIMEOUT, STATUS_LINE, Wanted, register};
use crate::client::settings::{Scope, SettingsFile};
use crate::config::Config;
use crate::env::Env;
use crate::state::StateFolder;
use crate::text::{from_home, harmless};
use crate::workspace::sealed_git::SealedGit;

/// The time the hook needs besides its checks and the readers: to read, check and reply.
const MARGIN: Duration = Duration::from_secs(15);

pub(super) fn install(args: &InstallArgs, config: &Config, env: &Env) -> Result {
    let scope = args.scope.scope();
    let wanted = Wanted {
        program: match scope {
            Scope::Project => ON_PATH.to_owned(),
            Scope::Local | Scope::User => by_path(&this_program(env).to_string_lossy()),
        },
        min_timeout: seconds(config.longest_stop() + MARGIN),
        timeout: seconds(config.longest_stop() + MARGIN).max(HOOK_TIMEOUT),
        background: if args.background { Some(true) } else { args.hold.then_some(false) },
        subagents: args.subagents,
        status_line: args.statusline,
    };
    let project = std::env::current_dir().map_err(|error| format!("the current folder: {error}"))?;
    print(&Target::open(scope, project, env)?.install(wanted, args.dry_run)?)
}

fn seconds(time: Duration) -> u64 {
    time.as_secs() + u64::from(time.subsec_nanos() > 0)
}

/// The settings file to change.
pub(super) struct Target<'a> {
    pub(super) scope: Scope,
    project: PathBuf,
    pub(super) file: SettingsFile,
    /// Every settings file of the project and of the person that can be read.
    settings: Vec<(Scope, PathBuf, Value)>,
    pub(super) state: StateFolder,
    env: &'a Env,
}

impl<'a> Target<'a> {
    pub(super) fn open(scope: Scope, project: PathBuf, env: &'a Env) -> Result<Self> {
        let path = scope.file(env, &project).ok_or("the home folder is unknown: set HOME")?;
        let file = SettingsFile::open(&path).map_err(|fault| format!("{fault}; nothing was changed"))?;
        let settings = Scope::ALL.into_iter().filter_map(|scope| {
            let file = scope.file(env, &project)?;
            let settings = read_json(&file)?;
            Some((scope, file, settings))
        });
        let settings = settings.collect();
        Ok(Self { scope, project, file, settings, state: StateFolder::find(env)?, env })
    }

    /// Returns the file's text; an empty file has no settings.
    pub(super) fn text(&self) -> &str {
        self.file.text.as_deref().filter(|text| !text.trim().is_empty()).unwrap_or("{}\n")
    }

    fn install(&self, mut wanted: Wanted, dry_run: bool) -> Result<String> {
        let (other_line, background) = (self.other_status_line(&wanted), wanted.background);
        wanted.status_line &= other_line.is_none();
        let edited = register(self.text(), &wanted).map_err(|fault| self.by_hand(&fault, &wanted))?;
        let path = self.named(&self.file.path);
        let mut text = String::new();
        let is_new = Some(&edited.text) != self.file.text.as_ref();
        if !is_new {
            let _ = writeln!(text, "Registered already: {path} ({})", self.scope.description());
        } else if dry_run {
            let _ = writeln!(text, "Would register the hook in {path} ({}):\n", self.scope.description());
            self.show_diff(&mut text, &edited.text);
        } else {
            let had_folder = self.file.folder().is_dir();
            let backup = self.replace(&edited.text)?;
            let mut created = edited.created;
            created.extend(self.file.text.is_none().then_some(Created::File));
            created.extend((!had_folder).then_some(Created::Folder));
            if let Err(error) = self.state.save_receipt(&self.file.path, &created) {
                // Without it, `uninstall` removes every empty container.
                tracing::debug!(%error, "no receipt of what was created");
            }
            let _ = writeln!(text, "Registered the hook in {path} ({}):\n", self.scope.description());
            self.show_diff(&mut text, &edited.text);
            self.show_backup(&mut text, backup.as_deref());
        }
        for own in &edited.custom {
            let _ = writeln!(text, "Left as it is, since it is a command line of your own: {own}");
        }
        let mut notes = self.notes();
        notes.extend((background == Some(true)).then(|| OLDER_CLIENTS.to_owned()));
        notes.extend(other_line);
        if !notes.is_empty() {
            text.push('\n');
        }
        for note in notes {
            let _ = writeln!(text, "! {note}");
        }
        if is_new && !dry_run {
            let flag =
                if self.scope == Scope::Local { String::new() } else { format!(" --{}", self.scope.name()) };
            let whose = match self.scope {
                Scope::User => "Every session".to_owned(),
                Scope::Local | Scope::Project => {
                    format!("Every session that is started in {}", self.named(&self.project))
                }
            };
            let _ = write!(
                text,
                "\n{whose} is now checked when it stops;\none that is already open may have to be restarted.\n\
                 `punchlist log` shows what was decided, `punchlist off` lets everything through, and\n\
                 `punchlist uninstall{flag}` removes it again.\n"
            );
        }
        Ok(text)
    }

    pub(super) fn named(&self, path: &Path) -> String {
        from_home(path, self.env.home().as_deref())
    }

    pub(super) fn replace(&self, text: &str) -> Result<Option<PathBuf>> {
        Ok(self.file.replace(text).map_err(|error| self.failed(&error))?)
    }

    pub(super) fn show_backup(&self, text: &mut String, backup: Option<&Path>) {
        let Some(backup) = backup else { return };
        let is_visible = self.scope != Scope::User && is_visible_to_git(&self.project, backup);
        let note =
            if is_visible { " (git does not ignore it: delete it when you are satisfied)" } else { "" };
        let _ = writeln!(text, "\nThe file as it was: {}{note}", self.named(backup));
    }

    pub(super) fn failed(&self, error: &io::Error) -> String {
        format!("{}: {error}; the file is as it was", self.file.path.display())
    }

    fn by_hand(&self, fault: &registration::Fault, wanted: &Wanted) -> String {
        let by_hand = register("{}", wanted).map(|edited| edited.text).unwrap_or_default();
        let by_hand: Value = serde_json::from_str(&by_hand).unwrap_or_default();
        let path = self.file.path.display();
        format!("{path} {fault}; nothing was changed. Fix it, or add this by hand: {by_hand}")
    }

    pub(super) fn show_diff(&self, text: &mut String, after: &str) {
        let before = self.file.text.as_deref().unwrap_or_default();
        let (red, green, dim) =
            (AnsiColor::Red.on_default(), AnsiColor::Green.on_default(), Style::new().dimmed());
        let diff = TextDiff::from_lines(before, after);
        for (at, group) in diff.grouped_ops(3).iter().enumerate() {
            if at > 0 {
                let _ = writeln!(text, "  {dim}…{dim:#}");
            }
            for change in group.iter().flat_map(|op| diff.iter_changes(op)) {
                let line = change.value().trim_end_matches(['\r', '\n']);
                let _ = match change.tag() {
                    ChangeTag::Equal => writeln!(text, "    {line}"),
                    ChangeTag::Insert => writeln!(text, "  {green}+ {line}{green:#}"),
                    ChangeTag::Delete => writeln!(text, "  {red}- {line}{red:#}"),
                };
            }
        }
    }

    /// Returns other things the person should know.
    fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        for (scope, file) in self.elsewhere() {
            notes.push(format!(
                "It is registered in {file} as well. Each stop is still audited only once, so one of the two is enough \
                 (punchlist uninstall --{}).",
                scope.name()
            ));
        }
        if let Some((plugin, file)) = self.plugin() {
            notes.push(format!(
                "{file} switches the plugin {plugin} on, which registers it as well. Each stop is still audited only once, so \
                 one of the two is enough (claude plugin disable {plugin})."
            ));
        }
        if self.settings.iter().any(|(.., settings)| settings["disableAllHooks"] == true) {
            notes.push("Your settings say \"disableAllHooks\": true, so no hook runs at all.".into());
        }
        if self.scope == Scope::Project && self.env.program("punchlist").is_none() {
            notes.push(
                "A shared settings file finds the hook by its name, but your PATH has no punchlist.".into(),
            );
        }
        let program = this_program(self.env);
        if self.scope != Scope::Project
            && let Some((place, next)) = passing_place(&program)
        {
            let program = self.named(&program);
            notes.push(format!("{program} is in {place} and may go away: {next}"));
        }
        if self.scope == Scope::Local && is_visible_to_git(&self.project, &self.file.path) {
            notes.push(format!(
                "git does not ignore {}: it is meant for you alone, so add it to .gitignore or .git/info/exclude.",
                self.file.path.strip_prefix(&self.project).unwrap_or(&self.file.path).display()
            ));
        }
        notes
    }

    /// Returns a note on a status line that stays because it is already set, if one was asked for.
    fn other_status_line(&self, wanted: &Wanted) -> Option<String> {
        let mut lines = self.settings.iter().filter(|_| wanted.status_line);
        // Ours in this very file is updated; anywhere else it already applies here.
        let (file, line) = lines.find_map(|(_, file, settings)| {
            let line = settings.get(STATUS_LINE)?;
            (!is_our_status_line(line) || *file != self.file.path).then_some((file, line))
        })?;
        let file = self.named(file);
        Some(if is_our_status_line(line) {
            format!("The status line is already set in {file}.")
        } else {
            let command = harmless(line["command"].as_str().unwrap_or("no command"));
            format!(
                "{file} has a status line of your own, which stays: `{command}`. To have both, let it run \
                 `punchlist statusline` with the same stdin, and print the output."
            )
        })
    }

    /// Returns the other files that register the hook. In the home folder, the project's file is
    /// the person's.
    pub(super) fn elsewhere(&self) -> impl Iterator<Item = (Scope, String)> {
        let others = self
            .settings
            .iter()
            .filter(|(_, file, settings)| *file != self.file.path && registration::is_registered(settings));
        others.map(|(scope, file, _)| (*scope, self.named(file)))
    }

    /// Returns the enabled plugin that registers the hook, and the file that enables it.
    pub(super) fn plugin(&self) -> Option<(&str, String)> {
        self.settings
            .iter()
            .find_map(|(_, file, settings)| Some((registration::plugin(settings)?, self.named(file))))
    }
}

/// What `--background` does not do everywhere.
const OLDER_CLIENTS: &str = "Claude Code before 2.1.136 waits for the audit all the same.";

/// What helps where each version has a folder of its own.
const OF_ONE_VERSION: &str = "then the punchlist on your PATH is run in its place, and with none no stop is checked. Install again after an upgrade.";

/// Returns why a program in this place will not last, and what helps.
fn passing_place(program: &Path) -> Option<(&'static str, &'static str)> {
    let is_in = |name: &str| program.components().any(|part| part.as_os_str() == name);
    let is_in_uv_cache = is_in("archive-v0") || is_in("uv") && is_in("environments-v2");
    // nvm's and fnm's.
    let is_of_one_node = program
        .components()
        .zip(program.components().skip(1))
        .any(|(one, next)| one.as_os_str() == "versions" && next.as_os_str() == "node")
        || is_in("node-versions");
    match () {
        () if is_in("_npx") => Some(("npx's cache", "`npm install -g punchlist`, then install again.")),
        () if is_in_uv_cache => Some(("uv's cache", "`uv tool install punchlist`, then install again.")),
        () if is_in("target") => Some(("a build folder", "`cargo install --path .`, then install again.")),
        () if is_in(".pnpm") => Some(("pnpm's folder for one version", OF_ONE_VERSION)),
        () if is_of_one_node => Some(("the folder of one version of Node", OF_ONE_VERSION)),
        () => None,
    }
}

pub(super) fn read_json(file: &Path) -> Option<Value> {
    let text = std::fs::read_to_string(file).ok()?;
    serde_json::from_str(text.trim_start_matches('\u{feff}')).ok()
}

/// Returns this program's path, as on PATH if it is there: the target of a link may change with an
/// upgrade.
fn this_program(env: &Env) -> PathBuf {
    let own = std::env::current_exe().unwrap_or_else(|_| "punchlist".into());
    let real = |path: &Path| std::fs::canonicalize(path).ok();
    let found = env.program("punchlist");
    found.filter(|found| real(found).is_some() && real(found) == real(&own)).unwrap_or(own)
}

/// Returns whether git would list a file as untracked.
fn is_visible_to_git(project: &Path, file: &Path) -> bool {
    let git = SealedGit::new(project.to_path_buf());
    let path = file.to_str();
    let ended = path.and_then(|path| git.run(&["check-ignore", "--quiet", "--", path], String::new()));
    // 0: ignored; 1: not ignored; 128: not a repository.
    ended.is_some_and(|(code, _)| code == 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_that_has_one_version_in_it_is_known() {
        let of_node = Some("the folder of one version of Node");
        for (path, place) in [
            (
                "/h/.local/share/pnpm/global/5/.pnpm/@punchlist+linux-x64@1.0.0/bin/punchlist",
                Some("pnpm's folder for one version"),
            ),
            ("/h/.nvm/versions/node/v22.1.0/lib/node_modules/punchlist/bin/punchlist", of_node),
            ("/h/.local/share/fnm/node-versions/v22.1.0/installation/lib/punchlist", of_node),
            ("/h/.npm/_npx/1f/node_modules/punchlist", Some("npx's cache")),
            ("/usr/lib/node_modules/punchlist/bin/punchlist", None),
            ("/h/versions/of/node/punchlist", None),
        ] {
            assert_eq!(passing_place(Path::new(path)).map(|(place, _)| place), place, "{path}");
        }
    }
}
