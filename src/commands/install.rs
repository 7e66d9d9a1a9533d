//! `punchlist install` and `punchlist uninstall`: add the hook to the client's settings or remove
//! it, and show the change. Must not write in a dry run, nor to a file that it can't parse: then it
//! says what to do by hand.

use std::fmt::Write as _;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anstyle::{AnsiColor, Style};
use serde_json::Value;
use similar::{ChangeTag, TextDiff};

use super::Result;
use super::output::print;
use crate::cli::{InstallArgs, UninstallArgs};
use crate::client::settings::registered_hooks::ON_PATH;
use crate::client::settings::registration;
use crate::client::settings::registration::{Created, HOOK_TIMEOUT, Wanted, quoted, register, unregister};
use crate::client::settings::{Scope, SettingsFile};
use crate::config::{Config, Mode};
use crate::env::Env;
use crate::state::StateFolder;
use crate::text::from_home;
use crate::workspace::sealed_git::SealedGit;

/// What the hook needs beside its checks and the readers: to read, to check, to reply.
const MARGIN: Duration = Duration::from_secs(15);

pub(super) fn install(args: &InstallArgs, config: &Config, env: &Env) -> Result {
    let scope = args.scope.scope();
    let wanted = Wanted {
        program: match scope {
            Scope::Project => ON_PATH.to_owned(),
            Scope::Local | Scope::User => quoted(&this_program(env).to_string_lossy()),
        },
        min_timeout: seconds(config.longest_stop() + MARGIN),
        timeout: seconds(config.longest_stop() + MARGIN).max(HOOK_TIMEOUT),
        background: args.background || config.audit.mode == Mode::Background,
        subagents: args.subagents,
    };
    print(&Target::open(scope, env)?.install(&wanted, args.dry_run, config)?)
}

pub(super) fn uninstall(args: &UninstallArgs, env: &Env) -> Result {
    print(&Target::open(args.scope.scope(), env)?.uninstall(args.dry_run)?)
}

fn seconds(time: Duration) -> u64 {
    time.as_secs() + u64::from(time.subsec_nanos() > 0)
}

/// The settings file to change.
struct Target<'a> {
    scope: Scope,
    project: PathBuf,
    file: SettingsFile,
    /// Every settings file that can be read.
    settings: Vec<(Scope, PathBuf, Value)>,
    state: StateFolder,
    env: &'a Env,
}

impl<'a> Target<'a> {
    fn open(scope: Scope, env: &'a Env) -> Result<Self> {
        let project = std::env::current_dir().map_err(|error| format!("the current folder: {error}"))?;
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

    /// Returns the file's text; an empty one is one without settings.
    fn text(&self) -> &str {
        self.file.text.as_deref().filter(|text| !text.trim().is_empty()).unwrap_or("{}\n")
    }

    fn install(&self, wanted: &Wanted, dry_run: bool, config: &Config) -> Result<String> {
        let edited = register(self.text(), wanted).map_err(|fault| self.by_hand(&fault, wanted))?;
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
            if let Err(error) = self.state.keep_receipt(&self.file.path, &created) {
                // Then `uninstall` removes every empty container.
                tracing::debug!(%error, "no receipt of what was created");
            }
            let _ = writeln!(text, "Registered the hook in {path} ({}):\n", self.scope.description());
            self.show_diff(&mut text, &edited.text);
            self.show_backup(&mut text, backup.as_deref());
        }
        for own in &edited.custom {
            let _ = writeln!(text, "Left as it is, since it is a command line of your own: {own}");
        }
        let notes = self.notes(wanted, config);
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
                "\n{whose} now ends at the gate;\none that is open already may have to be started again.\n\
                 `punchlist log` shows what was decided, `punchlist off` lets everything through, and\n\
                 `punchlist uninstall{flag}` takes it out again.\n"
            );
        }
        Ok(text)
    }

    fn uninstall(&self, dry_run: bool) -> Result<String> {
        let path = self.named(&self.file.path);
        let before = self.text();
        let created =
            self.state.receipt(&self.file.path).map(|created| created.into_iter().collect::<Vec<_>>());
        let after = unregister(before, created.as_deref())
            .map_err(|fault| format!("{path} {fault}; nothing was changed"))?;
        let mut text = String::new();
        if self.file.text.is_none() || after == before {
            let _ = writeln!(text, "Not registered in {path}: nothing to take out.");
        } else {
            let created = created.unwrap_or_default();
            let goes = created.contains(&Created::File) && after.trim() == "{}";
            let verb = if dry_run { "Would take" } else { "Took" };
            let _ = writeln!(text, "{verb} the hook out of {path} ({}):\n", self.scope.description());
            self.show_diff(&mut text, if goes { "" } else { &after });
            if !dry_run {
                let with_folder = created.contains(&Created::Folder);
                text.push_str(&if goes { self.remove(with_folder) } else { self.restore(&after) }?);
                self.state.drop_receipt(&self.file.path);
            }
        }
        for (scope, file) in self.elsewhere() {
            let name = scope.name();
            let _ = writeln!(text, "! It is registered in {file} as well: punchlist uninstall --{name}");
        }
        if let Some((plugin, file)) = self.plugin() {
            let _ =
                writeln!(text, "! {file} switches the plugin {plugin} on: claude plugin disable {plugin}");
        }
        Ok(text)
    }

    /// Removes a file that `install` created.
    fn remove(&self, with_folder: bool) -> Result<String> {
        // An upgrade of the registration made a backup; it has nothing that the person wrote.
        let is_ours = |text: String| unregister(&text, None).is_ok_and(|rest| rest.trim() == "{}");
        if self.file.read_backup().is_some_and(is_ours) {
            self.file.remove_backup();
        }
        self.file.remove(with_folder).map_err(|error| self.failed(&error))?;
        Ok("\nThe file had been made for it and is gone.\n".to_owned())
    }

    /// Writes the text without the hook. A backup that is the same text is of no use any more.
    fn restore(&self, after: &str) -> Result<String> {
        let before_install = self.file.read_backup();
        let backup = self.replace(after)?;
        if before_install.as_deref() == Some(after) {
            self.file.remove_backup();
            return Ok("\nThe file is what it was before.\n".to_owned());
        }
        let mut text = String::new();
        self.show_backup(&mut text, backup.as_deref());
        Ok(text)
    }

    fn named(&self, path: &Path) -> String {
        from_home(path, self.env.home().as_deref())
    }

    fn replace(&self, text: &str) -> Result<Option<PathBuf>> {
        Ok(self.file.replace(text).map_err(|error| self.failed(&error))?)
    }

    fn show_backup(&self, text: &mut String, backup: Option<&Path>) {
        let Some(backup) = backup else { return };
        let is_visible = self.scope != Scope::User && is_visible_to_git(&self.project, backup);
        let note = if is_visible { " (git does not ignore it: delete it when you are content)" } else { "" };
        let _ = writeln!(text, "\nThe file as it was: {}{note}", self.named(backup));
    }

    fn failed(&self, error: &io::Error) -> String {
        format!("{}: {error}; the file is as it was", self.file.path.display())
    }

    fn by_hand(&self, fault: &registration::Fault, wanted: &Wanted) -> String {
        let by_hand = register("{}", wanted).map(|edited| edited.text).unwrap_or_default();
        let by_hand: Value = serde_json::from_str(&by_hand).unwrap_or_default();
        let path = self.file.path.display();
        format!("{path} {fault}; nothing was changed. Mend it, or add this by hand: {by_hand}")
    }

    fn show_diff(&self, text: &mut String, after: &str) {
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

    /// Returns what else the person should know.
    fn notes(&self, wanted: &Wanted, config: &Config) -> Vec<String> {
        let mut notes = Vec::new();
        for (scope, file) in self.elsewhere() {
            notes.push(format!(
                "It is registered in {file} as well. A stop is audited once all the same; one of the two is enough \
                 (punchlist uninstall --{}).",
                scope.name()
            ));
        }
        if let Some((plugin, file)) = self.plugin() {
            notes.push(format!(
                "{file} switches the plugin {plugin} on, which registers it as well. A stop is audited once all the same; \
                 one of the two is enough (claude plugin disable {plugin})."
            ));
        }
        if wanted.background && config.audit.mode != Mode::Background {
            notes.push(
                "Set mode = \"background\" under [audit] in the config, too: both belong together.".into(),
            );
        }
        if self.settings.iter().any(|(.., settings)| settings["disableAllHooks"] == true) {
            notes.push("Your settings say \"disableAllHooks\": true, and so no hook runs at all.".into());
        }
        if self.scope == Scope::Project && self.env.program("punchlist").is_none() {
            notes.push(
                "In a file that others share the hook is found by its name, and your PATH has no punchlist."
                    .into(),
            );
        }
        let program = this_program(self.env);
        let is_build = program.components().any(|part| part.as_os_str() == "target");
        if self.scope != Scope::Project && is_build {
            notes.push(format!(
                "{} is in a build folder and may go away: `cargo install --path .`, then install again.",
                self.named(&program)
            ));
        }
        if self.scope == Scope::Local && is_visible_to_git(&self.project, &self.file.path) {
            notes.push(format!(
                "git does not ignore {}: it is meant for you alone, so add it to .gitignore or .git/info/exclude.",
                self.file.path.strip_prefix(&self.project).unwrap_or(&self.file.path).display()
            ));
        }
        notes
    }

    /// Returns the other files that register the hook. In the home folder, the project's file and the
    /// person's are the same.
    fn elsewhere(&self) -> impl Iterator<Item = (Scope, String)> {
        let others = self
            .settings
            .iter()
            .filter(|(_, file, settings)| *file != self.file.path && registration::is_registered(settings));
        others.map(|(scope, file, _)| (*scope, self.named(file)))
    }

    /// Returns the enabled plugin that registers the hook, and the file that enables it.
    fn plugin(&self) -> Option<(&str, String)> {
        self.settings
            .iter()
            .find_map(|(_, file, settings)| Some((registration::plugin(settings)?, self.named(file))))
    }
}

fn read_json(file: &Path) -> Option<Value> {
    let text = std::fs::read_to_string(file).ok()?;
    serde_json::from_str(text.trim_start_matches('\u{feff}')).ok()
}

/// Returns this program's path, as PATH finds it where it does: the target of a link may change
/// with an upgrade.
fn this_program(env: &Env) -> PathBuf {
    let own = std::env::current_exe().unwrap_or_else(|_| "punchlist".into());
    let real = |path: &Path| std::fs::canonicalize(path).ok();
    let found = env.program("punchlist");
    found.filter(|found| real(found).is_some() && real(found) == real(&own)).unwrap_or(own)
}

/// Whether git would list a file as untracked.
fn is_visible_to_git(project: &Path, file: &Path) -> bool {
    let git = SealedGit::new(project.to_path_buf());
    let path = file.to_str();
    let ended = path.and_then(|path| git.run(&["check-ignore", "--quiet", "--", path], String::new()));
    // 0 is ignored, 1 is not, 128 is no repository.
    ended.is_some_and(|(code, _)| code == 1)
}
