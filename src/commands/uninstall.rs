//! `punchlist uninstall`: takes the hook out of the client's settings, and shows the change. Must
//! not touch what `install` did not write. [`everywhere`] finds all that is registered and all that
//! remains.

mod everywhere;

use std::fmt::Write as _;
use std::path::PathBuf;

use super::Result;
use super::install::Target;
use super::output::print;
use crate::cli::UninstallArgs;
use crate::client::settings::registration::{Created, unregister};
use crate::env::Env;

pub(super) fn run(args: &UninstallArgs, env: &Env) -> Result {
    let here = std::env::current_dir().map_err(|error| format!("the current folder: {error}"))?;
    if args.everywhere {
        return everywhere::run(args, here, env);
    }
    let target = Target::open(args.scope.scope(), here, env)?;
    let text = target.uninstall(args.dry_run)?;
    print(&(text + &target.elsewhere_lines()))
}

/// Whether a settings file has nothing that the person wrote.
fn is_ours_alone(text: &str) -> bool {
    unregister(text, None).is_ok_and(|rest| rest.trim() == "{}")
}

impl Target<'_> {
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
        Ok(text)
    }

    /// Returns the backup, where taking the hook out makes it one of nothing.
    fn needless_backup(&self) -> Option<PathBuf> {
        let created = self.state.receipt(&self.file.path).map(|it| it.into_iter().collect::<Vec<_>>());
        let after = unregister(self.text(), created.as_deref()).ok().filter(|after| after != self.text())?;
        let backup = self.file.read_backup()?;
        let is_needless = if created.unwrap_or_default().contains(&Created::File) && after.trim() == "{}" {
            is_ours_alone(&backup)
        } else {
            backup == after
        };
        is_needless.then(|| self.file.backup())
    }

    /// Says where else it is registered.
    fn elsewhere_lines(&self) -> String {
        let mut text = String::new();
        for (scope, file) in self.elsewhere() {
            let name = scope.name();
            let _ = writeln!(text, "! It is registered in {file} as well: punchlist uninstall --{name}");
        }
        if let Some((plugin, file)) = self.plugin() {
            let _ =
                writeln!(text, "! {file} switches the plugin {plugin} on: claude plugin disable {plugin}");
        }
        text
    }

    /// Removes a file that `install` created.
    fn remove(&self, with_folder: bool) -> Result<String> {
        // An upgrade of the registration made a backup; it has nothing that the person wrote.
        if self.file.read_backup().is_some_and(|text| is_ours_alone(&text)) {
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
}
