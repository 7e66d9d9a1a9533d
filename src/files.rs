//! Reading and writing files: reads that end, writes that are whole, and folders that only their owner
//! can open. Must not know what is in a file.

use std::fs::{self, File, Metadata};
use std::io::{self, Write};
use std::path::Path;
#[cfg(unix)]
use std::time::Duration;
use std::time::SystemTime;

/// Opens a file for reading. Anything but a regular file is an error, before it is opened: opening a pipe waits
/// for its writer, and a device, to which a checkout may hold a link, never ends.
pub fn open_regular(path: &Path) -> io::Result<File> {
    if !fs::metadata(path)?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"));
    }
    File::open(path)
}

/// Part of a file that is open.
pub fn read_at(file: &File, from: u64, bytes: u64) -> io::Result<Vec<u8>> {
    let mut part = vec![0; usize::try_from(bytes).map_err(io::Error::other)?];
    read_exact_at(file, &mut part, from)?;
    Ok(part)
}

/// The end of a regular file, at most so many bytes of it.
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

/// Returns the bytes of a file, or of all files in a folder.
pub fn size_of(path: &Path) -> u64 {
    let entries = walkdir::WalkDir::new(path).into_iter().filter_map(Result::ok);
    entries.filter_map(|entry| entry.metadata().ok()).filter(Metadata::is_file).map(|meta| meta.len()).sum()
}

/// A file's own number, which no other file has; 0 where the system does not tell.
pub fn inode_of(meta: &Metadata) -> u64 {
    #[cfg(unix)]
    return std::os::unix::fs::MetadataExt::ino(meta);
    #[cfg(not(unix))]
    {
        let _ = meta;
        0
    }
}

/// When a file was last changed in any way. Programs can set the time of its content, and not this one.
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

/// Writes a file whole or not at all, as every process sees it. Without `synced` the disk is not waited for: what a
/// power cut leaves half written counts as never written wherever it is read.
pub fn write_whole(path: &Path, bytes: &[u8], synced: bool) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let mut file = in_private_folder(folder, || tempfile::NamedTempFile::new_in(folder))?;
    file.write_all(bytes)?;
    if synced {
        file.as_file().sync_all()?;
    }
    file.persist(path).map_err(|error| error.error)?;
    Ok(())
}

/// Opens something in a folder that is made where it is missing, which it nearly never is.
pub fn in_private_folder<T>(folder: &Path, open: impl Fn() -> io::Result<T>) -> io::Result<T> {
    match open() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            make_private_folder(folder)?;
            open()
        }
        opened => opened,
    }
}

/// Makes a folder that only its owner can look into: what is kept there quotes people's code.
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
        write_whole(&path, b"x", false).expect("written");
        assert_eq!(io::read_to_string(open_regular(&path).expect("a file")).expect("text"), "x");
        assert_eq!(open_regular(folder.path()).expect_err("a folder").to_string(), "not a regular file");
    }

    #[cfg(unix)]
    #[test]
    fn a_folder_that_is_missing_is_made_and_is_the_owners_alone() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().expect("a folder");
        let inner = folder.path().join("state/inner");
        for text in ["first", "second"] {
            write_whole(&inner.join("a"), text.as_bytes(), true).expect("written");
            assert_eq!(fs::read_to_string(inner.join("a")).expect("there"), text);
        }
        for made in [&inner, &folder.path().join("state")] {
            assert_eq!(fs::metadata(made).expect("made").permissions().mode() & 0o777, 0o700);
        }
        assert_eq!(fs::read_dir(&inner).expect("there").count(), 1, "nothing else is left");
    }
}
