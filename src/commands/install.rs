//! `punchlist install` and `punchlist uninstall`: take the client's settings, show the change and make it, beside all that
//! is there. Must not write anything in a dry run, nor where something is in doubt: then it says what to do by hand.

use std::fmt::Write as _;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use anstyle::{AnsiColor, Style};
use serde_json::Value;
use similar::{ChangeTag, TextDiff};

use super::say::finish;
use crate::cli::{InstallArgs, UninstallArgs};
use crate::client::settings::files::{Place, Scope};
use crate::client::settings::registered_hooks::ON_PATH;
use crate::client::settings::registration;
use crate::client::settings::registration::{HOOK_TIMEOUT, Made, Wanted, quoted, register, unregister};
use crate::config::{Config, Mode};
use crate::env::Env;
use crate::state::StateFolder;
use crate::text::from_home;

/// How much longer than its checks and the auditor the hook may take: to read, to check, to answer.
const ROOM: Duration = Duration::from_secs(15);

/// Runs `install`.
pub fn install(args: &InstallArgs, config: &Config, env: &Env) -> u8 {
    let scope = args.scope.scope();
    let wanted = Wanted {
        program: match scope {
            Scope::Project => ON_PATH.to_owned(),
            Scope::Local | Scope::User => quoted(&this_program(env).to_string_lossy()),
        },
        enough: seconds(config.longest_stop() + ROOM),
        timeout: seconds(config.longest_stop() + ROOM).max(HOOK_TIMEOUT),
        background: args.background || config.audit.mode == Mode::Background,
        subagents: args.subagents,
    };
    finish(Setting::find(scope, env).and_then(|setting| setting.install(&wanted, args.dry_run, config)))
}

/// Runs `uninstall`.
pub fn uninstall(args: &UninstallArgs, env: &Env) -> u8 {
    finish(Setting::find(args.scope.scope(), env).and_then(|setting| setting.uninstall(args.dry_run)))
}

fn seconds(time: Duration) -> u64 {
    time.as_secs() + u64::from(time.subsec_nanos() > 0)
}

/// One settings file, and where it stands.
struct Setting<'a> {
    scope: Scope,
    project: PathBuf,
    place: Place,
    state: StateFolder,
    env: &'a Env,
}

impl<'a> Setting<'a> {
    fn find(scope: Scope, env: &'a Env) -> Result<Self, String> {
        let project = std::env::current_dir().map_err(|error| format!("the current folder: {error}"))?;
        let path = scope.file(env, &project).ok_or("nobody knows your home folder: set HOME")?;
        let place = Place::open(&path).map_err(|fault| format!("{fault}; nothing was changed"))?;
        Ok(Self { scope, project, place, state: StateFolder::find(env), env })
    }

    /// What stands there; a file of nothing counts as one without settings.
    fn text(&self) -> &str {
        self.place.text.as_deref().filter(|text| !text.trim().is_empty()).unwrap_or("{}\n")
    }

    fn install(&self, wanted: &Wanted, dry_run: bool, config: &Config) -> Result<String, String> {
        let edited = register(self.text(), wanted).map_err(|fault| self.by_hand(&fault, wanted))?;
        let path = self.named(&self.place.path);
        let mut said = String::new();
        let is_new = Some(&edited.text) != self.place.text.as_ref();
        if !is_new {
            let _ = writeln!(said, "Registered already: {path} ({})", self.scope.words());
        } else if dry_run {
            let _ = writeln!(said, "Would register the hook in {path} ({}):\n", self.scope.words());
            self.show(&mut said, &edited.text);
        } else {
            let had_folder = self.place.folder().is_dir();
            let kept = self.replace(&edited.text)?;
            let mut made = edited.made;
            made.extend(self.place.text.is_none().then_some(Made::File));
            made.extend((!had_folder).then_some(Made::Folder));
            if let Err(error) = self.state.keep_receipt(&self.place.path, &made) {
                // Then uninstall takes out every container that is empty by then.
                tracing::debug!(%error, "what was made is not remembered");
            }
            let _ = writeln!(said, "Registered the hook in {path} ({}):\n", self.scope.words());
            self.show(&mut said, &edited.text);
            if let Some(kept) = kept {
                self.tell_kept(&mut said, &kept);
            }
        }
        for own in &edited.own {
            let _ = writeln!(said, "Left as it is, since it is a command line of your own: {own}");
        }
        let notes = self.notes(wanted, config);
        if !notes.is_empty() {
            said.push('\n');
        }
        for note in notes {
            let _ = writeln!(said, "! {note}");
        }
        if is_new && !dry_run {
            let flag =
                if self.scope == Scope::Local { String::new() } else { format!(" {}", self.scope.flag()) };
            let whose = match self.scope {
                Scope::User => "Every session".to_owned(),
                Scope::Local | Scope::Project => {
                    format!("Every session that is started in {}", self.named(&self.project))
                }
            };
            let _ = write!(
                said,
                "\n{whose} now ends at the gate;\none that is open already may have to be started again.\n\
                 `punchlist log` shows what was decided, `punchlist off` lets everything through, and\n\
                 `punchlist uninstall{flag}` takes it out again.\n"
            );
        }
        Ok(said)
    }

    fn uninstall(&self, dry_run: bool) -> Result<String, String> {
        let path = self.named(&self.place.path);
        let before = self.text();
        let made = self.state.receipt(&self.place.path).map(|made| made.into_iter().collect::<Vec<_>>());
        let after = unregister(before, made.as_deref())
            .map_err(|fault| format!("{path} {fault}; nothing was changed"))?;
        let mut said = String::new();
        if self.place.text.is_none() || after == before {
            let _ = writeln!(said, "Not registered in {path}: nothing to take out.");
        } else {
            let made = made.unwrap_or_default();
            let goes = made.contains(&Made::File) && after.trim() == "{}";
            let verb = if dry_run { "Would take" } else { "Took" };
            let _ = writeln!(said, "{verb} the hook out of {path} ({}):\n", self.scope.words());
            self.show(&mut said, if goes { "" } else { &after });
            if dry_run {
                // Nothing more.
            } else if goes {
                // Made by an upgrade, it says no more than the file that goes.
                let kept = self.place.kept();
                if kept.is_some_and(|kept| unregister(&kept, None).is_ok_and(|rest| rest.trim() == "{}")) {
                    self.place.drop_kept();
                }
                self.place.remove(made.contains(&Made::Folder)).map_err(|error| self.failed(&error))?;
                said.push_str("\nThe file had been made for it and is gone.\n");
            } else {
                let was = self.place.kept();
                let kept = self.replace(&after)?;
                if was.as_ref() == Some(&after) {
                    // It is what it was before install, and so there is nothing to keep.
                    self.place.drop_kept();
                    said.push_str("\nThe file is what it was before.\n");
                } else if let Some(kept) = kept {
                    self.tell_kept(&mut said, &kept);
                }
            }
            if !dry_run {
                self.state.drop_receipt(&self.place.path);
            }
        }
        for (scope, file) in self.elsewhere() {
            let _ = writeln!(
                said,
                "! It is registered in {} as well: punchlist uninstall {}",
                self.named(&file),
                scope.flag()
            );
        }
        if let Some((plugin, file)) = self.plugin() {
            let _ = writeln!(
                said,
                "! {} switches the plugin {plugin} on: claude plugin disable {plugin}",
                self.named(&file)
            );
        }
        Ok(said)
    }

    /// A path as people write it.
    fn named(&self, path: &Path) -> String {
        from_home(path, self.env.home().as_deref())
    }

    fn replace(&self, text: &str) -> Result<Option<PathBuf>, String> {
        self.place.replace(text).map_err(|error| self.failed(&error))
    }

    fn tell_kept(&self, said: &mut String, kept: &Path) {
        let is_seen = self.scope != Scope::User && is_seen_by_git(&self.project, kept);
        let seen = if is_seen { " (git does not ignore it: delete it when you are content)" } else { "" };
        let _ = writeln!(said, "\nThe file as it was: {}{seen}", self.named(kept));
    }

    fn failed(&self, error: &io::Error) -> String {
        format!("{}: {error}; the file is as it was", self.place.path.display())
    }

    fn by_hand(&self, fault: &registration::Fault, wanted: &Wanted) -> String {
        let by_hand = register("{}", wanted).map(|edited| edited.text).unwrap_or_default();
        let by_hand: Value = serde_json::from_str(&by_hand).unwrap_or_default();
        let path = self.place.path.display();
        format!("{path} {fault}; nothing was changed. Mend it, or add this by hand: {by_hand}")
    }

    /// What differs, as a diff.
    fn show(&self, said: &mut String, after: &str) {
        let before = self.place.text.as_deref().unwrap_or_default();
        let (red, green, dim) =
            (AnsiColor::Red.on_default(), AnsiColor::Green.on_default(), Style::new().dimmed());
        let diff = TextDiff::from_lines(before, after);
        for (at, group) in diff.grouped_ops(3).iter().enumerate() {
            if at > 0 {
                let _ = writeln!(said, "  {dim}…{dim:#}");
            }
            for change in group.iter().flat_map(|op| diff.iter_changes(op)) {
                let line = change.value().trim_end_matches(['\r', '\n']);
                let _ = match change.tag() {
                    ChangeTag::Equal => writeln!(said, "    {line}"),
                    ChangeTag::Insert => writeln!(said, "  {green}+ {line}{green:#}"),
                    ChangeTag::Delete => writeln!(said, "  {red}- {line}{red:#}"),
                };
            }
        }
    }

    /// What the person should know.
    fn notes(&self, wanted: &Wanted, config: &Config) -> Vec<String> {
        let mut notes = Vec::new();
        for (scope, file) in self.elsewhere() {
            notes.push(format!(
                "It is registered in {} as well. A stop is audited once all the same; one of the two is enough \
                 (punchlist uninstall {}).",
                self.named(&file),
                scope.flag()
            ));
        }
        if let Some((plugin, file)) = self.plugin() {
            notes.push(format!(
                "{} switches the plugin {plugin} on, which registers it as well. A stop is audited once all the same; \
                 one of the two is enough (claude plugin disable {plugin}).",
                self.named(&file)
            ));
        }
        if wanted.background && config.audit.mode != Mode::Background {
            notes.push(
                "Set mode = \"background\" under [audit] in the config, too: both belong together.".into(),
            );
        }
        let settings: Vec<Value> =
            Scope::ALL.iter().filter_map(|scope| self.settings_of(*scope)).map(|(_, s)| s).collect();
        if settings.iter().any(|settings| settings["disableAllHooks"] == true) {
            notes.push("Your settings say \"disableAllHooks\": true, and so no hook runs at all.".into());
        }
        if self.scope == Scope::Project && which::which("punchlist").is_err() {
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
        if self.scope == Scope::Local && is_seen_by_git(&self.project, &self.place.path) {
            notes.push(format!(
                "git does not ignore {}: it is meant for you alone, so add it to .gitignore or .git/info/exclude.",
                self.place.path.strip_prefix(&self.project).unwrap_or(&self.place.path).display()
            ));
        }
        notes
    }

    fn settings_of(&self, scope: Scope) -> Option<(PathBuf, Value)> {
        let file = scope.file(self.env, &self.project)?;
        let text = std::fs::read_to_string(&file).ok()?;
        Some((file, serde_json::from_str(text.trim_start_matches('\u{feff}')).ok()?))
    }

    /// The other files that register it.
    fn elsewhere(&self) -> Vec<(Scope, PathBuf)> {
        let others = Scope::ALL.into_iter().filter(|scope| *scope != self.scope);
        let others = others.filter_map(|scope| Some((scope, self.settings_of(scope)?)));
        // In a home folder a project's file may be the person's own.
        let others = others.filter(|(_, (file, _))| *file != self.place.path);
        let others = others.filter(|(_, (_, settings))| registration::is_registered(settings));
        others.map(|(scope, (file, _))| (scope, file)).collect()
    }

    /// The plugin that registers it, and the file that switches it on.
    fn plugin(&self) -> Option<(String, PathBuf)> {
        Scope::ALL.into_iter().find_map(|scope| {
            let (file, settings) = self.settings_of(scope)?;
            Some((registration::plugin(&settings)?.to_owned(), file))
        })
    }
}

/// The program that runs, by the name under which it is found: what a link leads to may be another after an upgrade.
fn this_program(env: &Env) -> PathBuf {
    let own = std::env::current_exe().unwrap_or_else(|_| "punchlist".into());
    let real = |path: &Path| std::fs::canonicalize(path).ok();
    let found = which::which_in("punchlist", env.get("PATH"), "/").ok();
    found.filter(|found| real(found).is_some() && real(found) == real(&own)).unwrap_or(own)
}

/// Whether git would offer a file to be committed.
fn is_seen_by_git(project: &Path, file: &Path) -> bool {
    let mut git = Command::new("git");
    git.arg("-C").arg(project).args(["check-ignore", "--quiet"]).arg(file);
    let ended = git.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
    // 128: no repository.
    ended.is_ok_and(|status| status.code() == Some(1))
}
