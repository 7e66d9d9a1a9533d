//! The client's settings files: where they are, and how to replace one as a whole, with its
//! permissions, through links, and with a backup beside it. Must not write to a file that it could
//! not read. [`registered_hooks`] recognises our hook in them, [`registration`] adds and removes
//! it, [`json_edit`] changes JSON in place, [`variables`] reads
//! what a file hands to hooks.

pub mod json_edit;
pub mod registered_hooks;
pub mod registration;
pub mod variables;

use std::fs::{self, Permissions};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::client::env_vars;
use crate::client::folders::MOST_SETTINGS;
use crate::env::Env;
use crate::files::{open_regular, read_bounded};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// This project, for one person.
    Local,
    /// This project, for everybody who works on it.
    Project,
    /// All projects of one person.
    User,
}

impl Scope {
    /// All scopes, the strongest first.
    pub const ALL: [Self; 3] = [Self::Local, Self::Project, Self::User];

    /// Returns the file; `None` if the home folder is unknown.
    pub fn file(self, env: &Env, project: &Path) -> Option<PathBuf> {
        match self {
            Self::Local => Some(project.join(".claude").join("settings.local.json")),
            Self::Project => Some(project.join(".claude").join("settings.json")),
            Self::User => env_vars::config_dir(env).map(|folder| folder.join("settings.json")),
        }
    }

    /// Says who is affected.
    pub fn description(self) -> &'static str {
        match self {
            Self::Local => "this project, only for you",
            Self::Project => "this project, for everybody who works on it",
            Self::User => "every project of yours",
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::Local => "local",
            Self::Project => "project",
            Self::User => "user",
        }
    }
}

/// Returns the file that whoever manages this machine may have.
pub fn managed_file() -> PathBuf {
    let folder = if cfg!(target_os = "macos") {
        "/Library/Application Support/ClaudeCode"
    } else if cfg!(windows) {
        r"C:\Program Files\ClaudeCode"
    } else {
        "/etc/claude-code"
    };
    Path::new(folder).join("managed-settings.json")
}

#[derive(Debug)]
pub struct SettingsFile {
    /// Its path, before following links.
    pub path: PathBuf,
    /// Its text without the byte order mark; `None` if there is no file.
    pub text: Option<String>,
    /// Its path, after following links.
    real: PathBuf,
    byte_order_mark: &'static str,
    permissions: Option<Permissions>,
}

/// Why a file can't be changed.
#[derive(Debug, Error)]
pub enum FileFault {
    #[error("{0}: {1}")]
    Unreadable(PathBuf, io::Error),
    #[error("{0} is a link that leads nowhere")]
    Dangling(PathBuf),
    /// It is a folder, a pipe or the like.
    #[error("{0} is not a file")]
    NotAFile(PathBuf),
    #[error("{0} is not UTF-8 text")]
    NotText(PathBuf),
    #[error("{0} is read-only")]
    ReadOnly(PathBuf),
}

/// Returns the path of the backup of a settings file, beside it.
pub fn backup_of(file: &Path) -> PathBuf {
    let mut name = file.file_name().unwrap_or_default().to_owned();
    name.push(".punchlist-backup");
    file.with_file_name(name)
}

const BYTE_ORDER_MARK: &str = "\u{feff}";

impl SettingsFile {
    pub fn open(path: &Path) -> Result<Self, FileFault> {
        let own = || path.to_path_buf();
        let unreadable = |error| FileFault::Unreadable(own(), error);
        let real = match fs::canonicalize(path) {
            Ok(real) => real,
            Err(error) if error.kind() == ErrorKind::NotFound && path.is_symlink() => {
                return Err(FileFault::Dangling(own()));
            }
            Err(error) if error.kind() == ErrorKind::NotFound => {
                let (path, real) = (own(), own());
                return Ok(Self { path, real, text: None, byte_order_mark: "", permissions: None });
            }
            Err(error) => return Err(unreadable(error)),
        };
        let meta = fs::metadata(&real).map_err(unreadable)?;
        if !meta.is_file() {
            return Err(FileFault::NotAFile(own()));
        }
        if meta.permissions().readonly() {
            return Err(FileFault::ReadOnly(own()));
        }
        let text = open_regular(&real).and_then(|file| read_bounded(file, MOST_SETTINGS));
        let text = text.map_err(|error| match error.kind() {
            ErrorKind::InvalidData => FileFault::NotText(own()),
            _ => unreadable(error),
        })?;
        let (byte_order_mark, text) = match text.strip_prefix(BYTE_ORDER_MARK) {
            Some(rest) => (BYTE_ORDER_MARK, rest.to_owned()),
            None => ("", text),
        };
        let permissions = Some(meta.permissions());
        Ok(Self { path: own(), real, text: Some(text), byte_order_mark, permissions })
    }

    /// Returns the path of the backup, beside the file.
    pub fn backup(&self) -> PathBuf {
        backup_of(&self.real)
    }

    /// Replaces the file atomically; returns the backup, if there was a file.
    pub fn replace(&self, text: &str) -> io::Result<Option<PathBuf>> {
        // The client writes its settings, too, and changes since `open` would be lost.
        let now = fs::read(&self.real).ok();
        if now != self.text.as_ref().map(|text| format!("{}{text}", self.byte_order_mark).into_bytes()) {
            return Err(io::Error::other("it was changed meanwhile, so try again"));
        }
        fs::create_dir_all(self.folder())?;
        let backup = self.text.as_ref().map(|old| (self.backup(), old));
        if let Some((backup, old)) = &backup {
            self.write(backup, old)?;
        }
        self.write(&self.real, text)?;
        Ok(backup.map(|(backup, _)| backup))
    }

    /// Removes the file and, on request, its folder if that is empty.
    pub fn remove(&self, with_folder: bool) -> io::Result<()> {
        fs::remove_file(&self.real)?;
        if with_folder {
            // Fails if it is not empty.
            let _ = fs::remove_dir(self.folder());
        }
        Ok(())
    }

    pub fn folder(&self) -> &Path {
        self.real.parent().unwrap_or(Path::new("."))
    }

    /// Returns the backup's text without the byte order mark.
    pub fn read_backup(&self) -> Option<String> {
        let text = fs::read_to_string(self.backup()).ok()?;
        Some(text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(&text).to_owned())
    }

    pub fn remove_backup(&self) {
        let _ = fs::remove_file(self.backup());
    }

    fn write(&self, path: &Path, text: &str) -> io::Result<()> {
        let mut builder = tempfile::Builder::new();
        #[cfg(unix)]
        {
            // Temporary files are private; a settings file gets the permissions of the umask.
            use std::os::unix::fs::PermissionsExt;
            builder.permissions(Permissions::from_mode(0o666));
        }
        let mut file = builder.prefix(".punchlist-").tempfile_in(self.folder())?;
        file.write_all(self.byte_order_mark.as_bytes())?;
        file.write_all(text.as_bytes())?;
        if let Some(permissions) = &self.permissions {
            file.as_file().set_permissions(permissions.clone())?;
        }
        // After a power failure either the old or the new settings have to be there.
        file.as_file().sync_all()?;
        file.persist(path).map_err(|error| error.error)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_by_somebody_else_is_not_lost() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("settings.json");
        let file = SettingsFile::open(&path).expect("no file");
        fs::write(&path, "{\"a\": 1}").expect("written");
        let error = file.replace("{}").expect_err("changed");
        assert_eq!(error.to_string(), "it was changed meanwhile, so try again");
        assert_eq!(fs::read_to_string(&path).expect("there"), "{\"a\": 1}");
        let file = SettingsFile::open(&path).expect("a file");
        assert_eq!(file.replace("{}").expect("replaced"), Some(file.backup()));
        assert_eq!(
            (file.read_backup().as_deref(), fs::read_to_string(&path).expect("there").as_str()),
            (Some("{\"a\": 1}"), "{}")
        );
        file.remove_backup();
        assert_eq!(fs::read_dir(folder.path()).expect("there").count(), 1);
    }
}
