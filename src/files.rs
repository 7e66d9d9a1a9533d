//! Reading and writing files: bounded reads, paths that links can't redirect, atomic writes, and
//! folders that only their owner can open. Must not know what is in a file.

use std::fs::{self, File, Metadata};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
#[cfg(unix)]
use std::time::Duration;
use std::time::SystemTime;

/// Reads an open file to its end; `None` if it has more than `most` bytes.
pub fn read_up_to(file: File, most: u64) -> io::Result<Option<Vec<u8>>> {
    let mut bytes = Vec::new();
    let length = file.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
    Ok((length as u64 <= most).then_some(bytes))
}

/// Reads the text of an open file; fails if it has more than `most` bytes.
pub fn read_bounded(file: File, most: u64) -> io::Result<String> {
    let bytes = read_up_to(file, most)?.ok_or_else(|| {
        let why = format!("larger than {} KiB: it is not read", most >> 10);
        io::Error::new(io::ErrorKind::FileTooLarge, why)
    })?;
    String::from_utf8(bytes).map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "not UTF-8"))
}

/// Opens a file for reading, following links. Anything but a regular file is an error: a pipe waits
/// for its writer, and a device, which a link in a checkout may lead to, never ends. The check is
/// repeated after opening, since the path may lead elsewhere by then; opening and reading never
/// block.
pub fn open_regular(path: &Path) -> io::Result<File> {
    // Before opening, too: opening alone can activate a device.
    check_regular(&fs::metadata(path)?)?;
    let mut options = File::options();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, NEVER_WAITS.bits().cast_signed());
    let file = options.read(true).open(path)?;
    check_regular(&file.metadata()?)?;
    Ok(file)
}

/// Reads the text of a regular file, following links; fails if it has more than `most` bytes.
pub fn bounded_text(path: &Path, most: u64) -> io::Result<String> {
    read_bounded(open_regular(path)?, most)
}

/// Opens a regular file by its real path, which has no link in it. If there is one by now, somebody
/// has put it there since; it is not followed, and that is an error.
pub fn open_real(path: &Path) -> io::Result<File> {
    #[cfg(unix)]
    let file = File::from(unlinked::open(path, NEVER_WAITS)?);
    #[cfg(not(unix))]
    let file = open_regular(path)?;
    #[cfg(not(unix))]
    if fs::canonicalize(path)? != path {
        return Err(link_in_its_way());
    }
    check_regular(&file.metadata()?)?;
    Ok(file)
}

/// Returns the real path of a file; `None` if it is not in the folder.
pub fn real_within(path: &Path, folder: &Path) -> io::Result<Option<PathBuf>> {
    let real = fs::canonicalize(path)?;
    Ok(real.starts_with(fs::canonicalize(folder)?).then_some(real))
}

/// Returns the metadata of a real path, without following a link.
pub fn look_at_real(path: &Path) -> io::Result<Metadata> {
    #[cfg(unix)]
    return File::from(unlinked::open(path, unlinked::LOOKS)?).metadata();
    #[cfg(not(unix))]
    return fs::symlink_metadata(path);
}

/// Neither opening nor reading blocks: a pipe may have no writer yet, and a terminal must not
/// become ours.
#[cfg(unix)]
pub(crate) const NEVER_WAITS: rustix::fs::OFlags =
    rustix::fs::OFlags::NONBLOCK.union(rustix::fs::OFlags::NOCTTY);

pub(crate) fn check_regular(meta: &Metadata) -> io::Result<()> {
    let is_regular = meta.is_file();
    is_regular.then_some(()).ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"))
}

fn link_in_its_way() -> io::Error {
    io::Error::other("a link stands in its path")
}

#[cfg(unix)]
mod unlinked {
    use std::io;
    use std::os::fd::OwnedFd;
    use std::path::{Component, Path};

    use rustix::fs::{CWD, Mode, OFlags, openat};
    use rustix::io::Errno;

    /// Looks at a file without opening it, if the system can do that.
    #[cfg(any(target_os = "linux", target_os = "android"))]
    pub(super) const LOOKS: OFlags = OFlags::PATH;
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    pub(super) const LOOKS: OFlags = OFlags::NONBLOCK;

    /// Opens a path without links, starting from the root.
    pub(super) fn open(path: &Path, flags: OFlags) -> io::Result<OwnedFd> {
        let flags = flags | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        #[cfg(any(target_os = "linux", target_os = "android"))]
        match rustix::fs::openat2(CWD, path, flags, Mode::empty(), rustix::fs::ResolveFlags::NO_SYMLINKS) {
            // Older kernels and some sandboxes do not have this call.
            Err(Errno::NOSYS | Errno::PERM) => {}
            opened => return opened.map_err(described),
        }
        step_by_step(path, flags).map_err(described)
    }

    /// The same for systems that can't do it in one call.
    pub(super) fn step_by_step(path: &Path, flags: OFlags) -> Result<OwnedFd, Errno> {
        let folder = LOOKS | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mut at = openat(CWD, "/", folder, Mode::empty())?;
        let mut parts = path.components().filter(|part| *part != Component::RootDir).peekable();
        while let Some(part) = parts.next() {
            let flags = if parts.peek().is_some() { folder } else { flags };
            at = match part {
                Component::Normal(name) => openat(&at, name, flags, Mode::empty())?,
                _ => return Err(Errno::INVAL),
            };
        }
        Ok(at)
    }

    fn described(error: Errno) -> io::Error {
        if error == Errno::LOOP { super::link_in_its_way() } else { error.into() }
    }
}

/// Reads part of an open file.
pub fn read_at(file: &File, from: u64, bytes: u64) -> io::Result<Vec<u8>> {
    let mut part = vec![0; usize::try_from(bytes).map_err(io::Error::other)?];
    read_exact_at(file, &mut part, from)?;
    Ok(part)
}

/// Reads the end of a regular file, at most this many bytes of it.
pub fn end_of(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let file = open_regular(path)?;
    let length = file.metadata()?.len();
    read_at(&file, length.saturating_sub(most), length.min(most))
}

#[cfg(unix)]
pub(crate) fn read_exact_at(file: &File, part: &mut [u8], from: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, part, from)
}

#[cfg(not(unix))]
pub(crate) fn read_exact_at(mut file: &File, part: &mut [u8], from: u64) -> io::Result<()> {
    use std::io::{Read, Seek, SeekFrom};
    file.seek(SeekFrom::Start(from))?;
    file.read_exact(part)
}

/// Returns the size in bytes of a file, or of all files in a folder.
pub fn size_of(path: &Path) -> u64 {
    let entries = walkdir::WalkDir::new(path).into_iter().filter_map(Result::ok);
    entries.filter_map(|entry| entry.metadata().ok()).filter(Metadata::is_file).map(|meta| meta.len()).sum()
}

/// Returns a file's unique number; 0 if the system does not provide one.
pub fn inode_of(meta: &Metadata) -> u64 {
    #[cfg(unix)]
    return std::os::unix::fs::MetadataExt::ino(meta);
    #[cfg(not(unix))]
    {
        let _ = meta;
        0
    }
}

/// Returns when a file or its metadata was last changed. Programs can set the time of its content,
/// but not this one.
pub fn changed_at(meta: &Metadata) -> Option<SystemTime> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        let seconds = Duration::from_secs(u64::try_from(meta.ctime()).ok()?);
        let nanos = Duration::from_nanos(u64::try_from(meta.ctime_nsec()).ok()?);
        SystemTime::UNIX_EPOCH.checked_add(seconds + nanos)
    }
    #[cfg(not(unix))]
    meta.modified().ok()
}

/// Whether a write waits until the data is on disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durability {
    /// Does not wait. Files that a power failure leaves half written are recognised when they are
    /// read.
    Lazy,
    Synced,
}

/// Writes a file atomically, as every process sees it.
pub fn write_whole(path: &Path, bytes: &[u8], durability: Durability) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let mut file = in_private_folder(folder, || tempfile::NamedTempFile::new_in(folder))?;
    file.write_all(bytes)?;
    if durability == Durability::Synced {
        file.as_file().sync_all()?;
    }
    file.persist(path).map_err(|error| error.error)?;
    // The new name is on disk when its folder is. Some file systems can't do that with a folder.
    #[cfg(unix)]
    if durability == Durability::Synced {
        let _ = File::open(folder).and_then(|folder| folder.sync_all());
    }
    Ok(())
}

/// Opens something in a folder, which is created if it is missing, as it rarely is.
pub fn in_private_folder<T>(folder: &Path, open: impl Fn() -> io::Result<T>) -> io::Result<T> {
    match open() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            make_private_folder(folder)?;
            open()
        }
        opened => opened,
    }
}

/// Creates a folder that only its owner can read: its files quote people's code.
fn make_private_folder(path: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_regular_file_is_opened() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a");
        assert_eq!(open_regular(&path).expect_err("none").kind(), io::ErrorKind::NotFound);
        write_whole(&path, b"x", Durability::Lazy).expect("written");
        assert_eq!(io::read_to_string(open_regular(&path).expect("a file")).expect("text"), "x");
        assert_eq!(open_regular(folder.path()).expect_err("a folder").to_string(), "not a regular file");
    }

    #[cfg(unix)]
    #[test]
    fn a_link_anywhere_in_a_real_path_is_not_followed() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = fs::canonicalize(folder.path()).expect("real");
        fs::create_dir(root.join("inner")).expect("made");
        write_whole(&root.join("inner/a"), b"x", Durability::Lazy).expect("written");
        std::os::unix::fs::symlink("inner", root.join("folder")).expect("a link");
        std::os::unix::fs::symlink("inner/a", root.join("file")).expect("a link");
        let stepped = |name: &str| {
            let flags = NEVER_WAITS | rustix::fs::OFlags::NOFOLLOW;
            unlinked::step_by_step(&root.join(name), flags).map(File::from)
        };
        for name in ["folder/a", "file"] {
            let why = open_real(&root.join(name)).expect_err(name);
            assert_eq!(why.to_string(), "a link stands in its path", "{name}");
            assert!(
                look_at_real(&root.join(name)).is_ok_and(|meta| meta.is_symlink()) == (name == "file"),
                "{name}"
            );
            assert!(stepped(name).is_err(), "{name}");
        }
        assert_eq!(io::read_to_string(open_real(&root.join("inner/a")).expect("a file")).expect("text"), "x");
        assert_eq!(io::read_to_string(stepped("inner/a").expect("a file")).expect("text"), "x");
        assert_eq!(look_at_real(&root.join("inner/a")).expect("there").len(), 1);
        assert!(look_at_real(&root).expect("there").is_dir());
        for name in ["none", "none/a", "inner/a/b"] {
            let kinds = [io::ErrorKind::NotFound, io::ErrorKind::NotADirectory];
            assert!(kinds.contains(&open_real(&root.join(name)).expect_err(name).kind()), "{name}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_pipe_is_no_file_and_is_not_waited_for() {
        let folder = tempfile::tempdir().expect("a folder");
        let pipe = fs::canonicalize(folder.path()).expect("real").join("pipe");
        rustix::fs::mknodat(
            rustix::fs::CWD,
            &pipe,
            rustix::fs::FileType::Fifo,
            rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR,
            0,
        )
        .expect("a pipe");
        for opened in [open_regular(&pipe), open_real(&pipe)] {
            assert_eq!(opened.expect_err("a pipe").to_string(), "not a regular file");
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_folder_that_is_missing_is_made_and_is_the_owners_alone() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().expect("a folder");
        let inner = folder.path().join("state/inner");
        for text in ["first", "second"] {
            write_whole(&inner.join("a"), text.as_bytes(), Durability::Synced).expect("written");
            assert_eq!(fs::read_to_string(inner.join("a")).expect("there"), text);
        }
        for made in [&inner, &folder.path().join("state")] {
            assert_eq!(fs::metadata(made).expect("made").permissions().mode() & 0o777, 0o700);
        }
        assert_eq!(fs::read_dir(&inner).expect("there").count(), 1, "nothing else is left");
    }
}
