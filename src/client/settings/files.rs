//! Settings files on the disk: takes a path, gives what stands there, and replaces it whole, with its permissions,
//! where a link leads, and with what it was before kept beside it. Must not write where it could not read.

use std::fs::{self, Permissions};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::client::env_vars;
use crate::env::Env;

/// Whose settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// One project's, for one person.
    Local,
    /// One project's, for everybody who works on it.
    Project,
    /// A person's, for every project.
    User,
}

impl Scope {
    /// All, the nearest first.
    pub const ALL: [Self; 3] = [Self::Local, Self::Project, Self::User];

    /// Its file. `None` where nobody knows the person's home.
    pub fn file(self, env: &Env, project: &Path) -> Option<PathBuf> {
        match self {
            Self::Local => Some(project.join(".claude").join("settings.local.json")),
            Self::Project => Some(project.join(".claude").join("settings.json")),
            Self::User => env_vars::config_dir(env).map(|own| own.join("settings.json")),
        }
    }

    /// In words.
    pub fn words(self) -> &'static str {
        match self {
            Self::Local => "this project, only for you",
            Self::Project => "this project, for everybody who works on it",
            Self::User => "every project of yours",
        }
    }

    /// In one word.
    pub fn word(self) -> &'static str {
        match self {
            Self::Local => "local",
            Self::Project => "project",
            Self::User => "user",
        }
    }

    /// As a flag.
    pub fn flag(self) -> &'static str {
        match self {
            Self::Local => "--local",
            Self::Project => "--project",
            Self::User => "--user",
        }
    }
}

/// A settings file.
#[derive(Debug)]
pub struct Place {
    /// As it is named.
    pub path: PathBuf,
    /// What stands in it, without its byte order mark; `None` where there is no file.
    pub text: Option<String>,
    /// Where it really is.
    real: PathBuf,
    mark: &'static str,
    permissions: Option<Permissions>,
}

/// Why a file can't be changed.
#[derive(Debug, Error)]
pub enum Fault {
    /// It can't be read.
    #[error("{0}: {1}")]
    Unreadable(PathBuf, io::Error),
    /// It is a link that leads nowhere.
    #[error("{0} is a link that leads nowhere")]
    Dangling(PathBuf),
    /// It is a folder, a pipe, or the like.
    #[error("{0} is not a file")]
    NotAFile(PathBuf),
    /// It is not text.
    #[error("{0} is not UTF-8 text")]
    NotText(PathBuf),
    /// Somebody does not want it written.
    #[error("{0} is read-only")]
    ReadOnly(PathBuf),
}

const BYTE_ORDER_MARK: &str = "\u{feff}";

impl Place {
    /// Reads a file that is to be changed.
    pub fn open(path: &Path) -> Result<Self, Fault> {
        let own = || path.to_path_buf();
        let unreadable = |error| Fault::Unreadable(own(), error);
        let real = match fs::canonicalize(path) {
            Ok(real) => real,
            Err(error) if error.kind() == ErrorKind::NotFound && path.is_symlink() => {
                return Err(Fault::Dangling(own()));
            }
            Err(error) if error.kind() == ErrorKind::NotFound => {
                return Ok(Self { path: own(), real: own(), text: None, mark: "", permissions: None });
            }
            Err(error) => return Err(unreadable(error)),
        };
        let meta = fs::metadata(&real).map_err(unreadable)?;
        if !meta.is_file() {
            return Err(Fault::NotAFile(own()));
        }
        if meta.permissions().readonly() {
            return Err(Fault::ReadOnly(own()));
        }
        let text = String::from_utf8(fs::read(&real).map_err(unreadable)?);
        let text = text.map_err(|_| Fault::NotText(own()))?;
        let (mark, text) = match text.strip_prefix(BYTE_ORDER_MARK) {
            Some(rest) => (BYTE_ORDER_MARK, rest.to_owned()),
            None => ("", text),
        };
        Ok(Self { path: own(), real, text: Some(text), mark, permissions: Some(meta.permissions()) })
    }

    /// The file beside it that keeps what it was.
    pub fn backup(&self) -> PathBuf {
        let mut name = self.real.file_name().unwrap_or_default().to_owned();
        name.push(".punchlist-backup");
        self.real.with_file_name(name)
    }

    /// Replaces it, whole or not at all; gives where what it was is kept, if it was anything.
    pub fn replace(&self, text: &str) -> io::Result<Option<PathBuf>> {
        // The client writes its settings, too, and what it wrote meanwhile would be lost.
        let now = fs::read(&self.real).ok();
        if now != self.text.as_ref().map(|text| format!("{}{text}", self.mark).into_bytes()) {
            return Err(io::Error::other("it was changed meanwhile, so try again"));
        }
        fs::create_dir_all(self.folder())?;
        let kept = self.text.as_ref().map(|old| (self.backup(), old));
        if let Some((backup, old)) = &kept {
            self.write(backup, old)?;
        }
        self.write(&self.real, text)?;
        Ok(kept.map(|(backup, _)| backup))
    }

    /// Takes it away, and its folder if that is empty then and may go.
    pub fn remove(&self, with_folder: bool) -> io::Result<()> {
        fs::remove_file(&self.real)?;
        if with_folder {
            // Not empty: then it stays.
            let _ = fs::remove_dir(self.folder());
        }
        Ok(())
    }

    /// The folder that it is in.
    pub fn folder(&self) -> &Path {
        self.real.parent().unwrap_or(Path::new("."))
    }

    /// What the kept one says, without its byte order mark.
    pub fn kept(&self) -> Option<String> {
        let kept = fs::read_to_string(self.backup()).ok()?;
        Some(kept.strip_prefix(BYTE_ORDER_MARK).unwrap_or(&kept).to_owned())
    }

    /// Takes the kept one away.
    pub fn drop_kept(&self) {
        let _ = fs::remove_file(self.backup());
    }

    fn write(&self, path: &Path, text: &str) -> io::Result<()> {
        let mut builder = tempfile::Builder::new();
        #[cfg(unix)]
        {
            // What the person's umask leaves of it, as with any file.
            use std::os::unix::fs::PermissionsExt;
            builder.permissions(Permissions::from_mode(0o666));
        }
        let mut file = builder.prefix(".punchlist-").tempfile_in(self.folder())?;
        file.write_all(self.mark.as_bytes())?;
        file.write_all(text.as_bytes())?;
        if let Some(permissions) = &self.permissions {
            file.as_file().set_permissions(permissions.clone())?;
        }
        // These are a person's settings: after a power cut there has to be one of the two.
        file.as_file().sync_all()?;
        file.persist(path).map_err(|error| error.error)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_meanwhile_is_not_lost() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("settings.json");
        let place = Place::open(&path).expect("no file");
        fs::write(&path, "{\"a\": 1}").expect("written");
        let error = place.replace("{}").expect_err("changed");
        assert_eq!(error.to_string(), "it was changed meanwhile, so try again");
        assert_eq!(fs::read_to_string(&path).expect("there"), "{\"a\": 1}");
        let place = Place::open(&path).expect("a file");
        assert_eq!(place.replace("{}").expect("replaced"), Some(place.backup()));
        assert_eq!(
            (place.kept().as_deref(), fs::read_to_string(&path).expect("there").as_str()),
            (Some("{\"a\": 1}"), "{}")
        );
        place.drop_kept();
        assert_eq!(fs::read_dir(folder.path()).expect("there").count(), 1);
    }
}
