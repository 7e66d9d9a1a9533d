//! The files of the state folder, which nobody but the person may be able to change: opened without
//! following a link, without blocking, and only if file and folder are the person's own. Every
//! error names its file. Must not know what is in a file.

use std::fs::{self, File, Metadata, OpenOptions, TryLockError};
use std::io::{self, ErrorKind};
use std::path::Path;
use std::time::{Duration, Instant};

use crate::files::{self, check_regular, in_private_folder, write_whole};

pub use crate::files::Durability;

/// How long to wait for a lock. A legitimate holder keeps it for milliseconds.
const PATIENCE: Duration = Duration::from_secs(3);
const SHORTEST_PAUSE: Duration = Duration::from_millis(1);
const LONGEST_PAUSE: Duration = Duration::from_millis(16);

/// The most that is read of a file of unknown size: a session's state is a hundredth of it.
const MOST_BYTES: u64 = 64 << 20;

/// How a file is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    Read,
    /// Reading, and writing at its end; created if it is missing.
    Append,
    /// Reading and writing; created if it is missing.
    Write,
}

/// Opens a file. Its folder is created if the file would be.
pub fn open(path: &Path, access: Access) -> io::Result<File> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let open = || {
        check_own_folder(folder, ITS_FOLDER)?;
        let file = options(access).open(path)?;
        check_own_file(&file.metadata()?)?;
        Ok(file)
    };
    let opened = if access == Access::Read { open() } else { in_private_folder(folder, open) };
    opened.map_err(|error| named(path, &error))
}

fn options(access: Access) -> OpenOptions {
    let mut options = OpenOptions::new();
    match access {
        Access::Read => options.read(true),
        Access::Append => options.read(true).append(true).create(true),
        Access::Write => options.read(true).write(true).create(true).truncate(false),
    };
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;

        let flags = files::NEVER_WAITS | rustix::fs::OFlags::NOFOLLOW;
        options.mode(0o600).custom_flags(flags.bits().cast_signed());
    }
    options
}

/// Returns the content of a file; `None` if there is none. A file that can't be read is an error.
pub fn read(path: &Path) -> io::Result<Option<Vec<u8>>> {
    read_up_to(path, MOST_BYTES)
}

/// Like `read`, for files of up to `most` bytes; a longer one is an error.
pub fn read_up_to(path: &Path, most: u64) -> io::Result<Option<Vec<u8>>> {
    let file = match open(path, Access::Read) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        opened => opened?,
    };
    let read = files::read_up_to(file, most)
        .and_then(|bytes| bytes.ok_or_else(|| io::Error::new(ErrorKind::FileTooLarge, "too long")));
    read.map_err(|error| named(path, &error)).map(Some)
}

/// Writes a file atomically. Whatever was in its place, link or not, is replaced.
pub fn write(path: &Path, bytes: &[u8], durability: Durability) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let checked = in_private_folder(folder, || check_own_folder(folder, ITS_FOLDER));
    let written = checked.and_then(|()| write_whole(path, bytes, durability));
    written.map_err(|error| named(path, &error))
}

/// Locks a file, which is created if it is missing, until it is dropped. The kernel releases the
/// lock with the process, however that ends.
pub fn lock(path: &Path) -> io::Result<File> {
    let file = open(path, Access::Write)?;
    wait_for_lock(&file).map_err(|error| named(path, &error))?;
    Ok(file)
}

/// Locks an open file; fails if another process keeps it locked.
pub fn wait_for_lock(file: &File) -> io::Result<()> {
    let (started, mut pause) = (Instant::now(), SHORTEST_PAUSE);
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(()),
            Err(TryLockError::Error(error)) if error.kind() != ErrorKind::Interrupted => return Err(error),
            Err(_) if started.elapsed() >= PATIENCE => {
                let seconds = PATIENCE.as_secs();
                let why = format!("another process has kept it locked for {seconds} s");
                return Err(io::Error::new(ErrorKind::TimedOut, why));
            }
            Err(_) => std::thread::sleep(pause),
        }
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
}

/// Makes sure that nobody else can change a folder: it has to be a folder rather than a link, and
/// the person's own; its permissions are closed to everybody else if necessary. A missing one will
/// be created that way. Returns whether others could write to it.
pub fn claim_folder(path: &Path) -> io::Result<bool> {
    let claimed = match check_own_folder(path, "it") {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
        checked => checked.and_then(|()| close_to_others(path)),
    };
    claimed.map_err(|error| named(path, &error))
}

/// The same for a folder in a place where everybody may create one: creates it first, then checks
/// it.
pub fn claim_folder_among_others(path: &Path) -> io::Result<bool> {
    let made = in_private_folder(path, || check_own_folder(path, "it"));
    made.and_then(|()| close_to_others(path)).map_err(|error| named(path, &error))
}

/// How an error describes the folder of the file that it names.
const ITS_FOLDER: &str = "its folder";

fn check_own_folder(path: &Path, name: &str) -> io::Result<()> {
    let meta = fs::symlink_metadata(path)?;
    if meta.is_symlink() {
        return refused(&format!("{name} is a link, which is not followed"));
    }
    if !meta.is_dir() {
        return Err(io::Error::new(ErrorKind::NotADirectory, format!("{name} is no folder")));
    }
    check_owner(&meta, name)
}

fn check_own_file(meta: &Metadata) -> io::Result<()> {
    check_regular(meta)?;
    check_owner(meta, "it")
}

fn refused<T>(why: &str) -> io::Result<T> {
    Err(io::Error::new(ErrorKind::PermissionDenied, why))
}

#[cfg(unix)]
fn check_owner(meta: &Metadata, name: &str) -> io::Result<()> {
    let owner = std::os::unix::fs::MetadataExt::uid(meta);
    if owner == rustix::process::geteuid().as_raw() {
        return Ok(());
    }
    refused(&format!("{name} belongs to another user (uid {owner})"))
}

#[cfg(not(unix))]
#[expect(clippy::unnecessary_wraps, reason = "the same call as on Unix")]
fn check_owner(_: &Metadata, _: &str) -> io::Result<()> {
    Ok(())
}

#[cfg(unix)]
fn close_to_others(path: &Path) -> io::Result<bool> {
    use std::os::unix::fs::PermissionsExt;
    /// Permissions of others, and whether everybody may put files there that only they can remove.
    const OTHERS: u32 = 0o077;
    const OTHERS_WRITE: u32 = 0o022;
    const SHARED: u32 = 0o1000;
    let mode = || fs::symlink_metadata(path).map(|meta| meta.permissions().mode());
    let before = mode()?;
    if before & OTHERS == 0 {
        return Ok(false);
    }
    if before & SHARED != 0 {
        return refused("it is a folder for everybody");
    }
    fs::set_permissions(path, fs::Permissions::from_mode(0o700))?;
    if mode()? & OTHERS != 0 {
        return refused("other users can open it, and that can't be changed");
    }
    Ok(before & OTHERS_WRITE != 0)
}

#[cfg(not(unix))]
#[expect(clippy::unnecessary_wraps, reason = "the same call as on Unix")]
fn close_to_others(_: &Path) -> io::Result<bool> {
    Ok(false)
}

fn named(path: &Path, error: &io::Error) -> io::Error {
    #[cfg(unix)]
    if error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error()) {
        let why = format!("{}: it is a link, which is not followed", path.display());
        return io::Error::new(ErrorKind::PermissionDenied, why);
    }
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    fn scratch() -> (tempfile::TempDir, std::path::PathBuf) {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("state");
        fs::create_dir(&path).expect("made");
        (folder, path)
    }

    fn pipe(path: &Path) {
        let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
        rustix::fs::mkfifoat(rustix::fs::CWD, path, mode).expect("a pipe");
    }

    /// Opens a file in every way, and returns the results.
    fn every_way(path: &Path) -> Vec<String> {
        let said = |result: io::Result<()>| result.expect_err("refused").to_string();
        vec![
            said(read(path).map(drop)),
            said(open(path, Access::Append).map(drop)),
            said(lock(path).map(drop)),
        ]
    }

    #[test]
    fn one_wrote_to_ones_own_files_through_links() {
        let (folder, state) = scratch();
        let own = folder.path().join("own.txt");
        fs::write(&own, "mine").expect("written");
        symlink(&own, state.join("a")).expect("a link");
        let why = format!("{}: it is a link, which is not followed", state.join("a").display());
        assert_eq!(every_way(&state.join("a")), [why.as_str(); 3]);
        write(&state.join("a"), b"ours", Durability::Lazy).expect("the link is replaced");
        symlink(folder.path(), state.join("below")).expect("a link");
        for said in every_way(&state.join("below/own.txt")) {
            assert!(said.ends_with("its folder is a link, which is not followed"), "{said}");
        }
        write(&state.join("below/own.txt"), b"x", Durability::Lazy).expect_err("refused");
        assert_eq!(fs::read_to_string(&own).expect("there"), "mine");
        assert_eq!(fs::read_to_string(state.join("a")).expect("there"), "ours");
    }

    #[test]
    fn a_pipe_was_waited_for() {
        let (_folder, state) = scratch();
        pipe(&state.join("a"));
        let started = Instant::now();
        for said in every_way(&state.join("a")) {
            assert!(said.ends_with("not a regular file"), "{said}");
        }
        assert!(started.elapsed() < PATIENCE);
    }

    #[test]
    fn a_lock_that_is_held_was_waited_for_without_end() {
        let (_folder, state) = scratch();
        let held = lock(&state.join("a")).expect("free");
        let said = lock(&state.join("a")).expect_err("held").to_string();
        assert!(said.ends_with("another process has kept it locked for 3 s"), "{said}");
        drop(held);
        lock(&state.join("a")).expect("free");
    }

    #[test]
    fn what_is_missing_is_not_what_can_not_be_read() {
        let (_folder, state) = scratch();
        assert_eq!(read(&state.join("a")).expect("read"), None);
        assert_eq!(read(&state.join("none/a")).expect("read"), None);
        write(&state.join("new/a"), b"x", Durability::Synced).expect("written");
        assert_eq!(read(&state.join("new/a")).expect("read").as_deref(), Some(&b"x"[..]));
        assert!(read(&state.join("new")).is_err() && read(&state.join("new/a/b")).is_err());
    }

    #[test]
    fn a_folder_that_others_can_open_is_closed_to_them() {
        let (folder, state) = scratch();
        let mode = |path: &Path| fs::metadata(path).expect("there").permissions().mode() & 0o7777;
        for (before, could_write) in
            [(0o755, false), (0o777, true), (0o770, true), (0o702, true), (0o700, false)]
        {
            fs::set_permissions(&state, fs::Permissions::from_mode(before)).expect("set");
            assert_eq!(claim_folder(&state).expect("ours"), could_write, "{before:o}");
            assert_eq!(mode(&state), 0o700);
        }
        fs::set_permissions(&state, fs::Permissions::from_mode(0o1777)).expect("set");
        let said = claim_folder(&state).expect_err("everybody's").to_string();
        assert_eq!(said, format!("{}: it is a folder for everybody", state.display()));
        assert_eq!(mode(&state), 0o1777);
        claim_folder(&folder.path().join("none")).expect("it will be made");
        assert!(!folder.path().join("none").exists());
        claim_folder_among_others(&folder.path().join("none")).expect("made");
        assert_eq!(mode(&folder.path().join("none")), 0o700);
        symlink(&state, folder.path().join("link")).expect("a link");
        assert!(claim_folder(&folder.path().join("link")).is_err());
        fs::write(folder.path().join("file"), "").expect("written");
        assert!(claim_folder(&folder.path().join("file")).is_err());
    }

    /// Only root can give a folder away.
    #[test]
    fn a_folder_or_a_file_of_another_user_was_believed() {
        if !rustix::process::geteuid().is_root() {
            eprintln!("skipped: only root can give a file to somebody else");
            return;
        }
        let (_folder, state) = scratch();
        write(&state.join("a"), b"{}", Durability::Lazy).expect("written");
        std::os::unix::fs::chown(state.join("a"), Some(65534), None).expect("given away");
        for said in every_way(&state.join("a")) {
            assert!(said.ends_with("it belongs to another user (uid 65534)"), "{said}");
        }
        std::os::unix::fs::chown(&state, Some(65534), None).expect("given away");
        for said in every_way(&state.join("b")) {
            assert!(said.ends_with("its folder belongs to another user (uid 65534)"), "{said}");
        }
        write(&state.join("b"), b"{}", Durability::Lazy).expect_err("refused");
        claim_folder(&state).expect_err("refused");
        claim_folder_among_others(&state).expect_err("refused");
    }
}
