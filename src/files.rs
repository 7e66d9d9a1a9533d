//! Files as everything here needs them: takes paths, gives reads that end, writes that are whole, and folders
//! that are their owner's alone. Must not know what stands in a file.

use std::fs::{self, File, Metadata};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;

/// Opens a file for reading. Anything but a regular file is an error, before it is opened: opening a pipe waits
/// for its writer, and a device, to which a checkout may hold a link, never ends.
pub fn open_regular(path: &Path) -> io::Result<File> {
    if !fs::metadata(path)?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"));
    }
    File::open(path)
}

/// Part of a file that is open.
pub fn read_at(mut file: &File, from: u64, bytes: u64) -> io::Result<Vec<u8>> {
    let mut part = vec![0; usize::try_from(bytes).map_err(io::Error::other)?];
    file.seek(SeekFrom::Start(from))?;
    file.read_exact(&mut part)?;
    Ok(part)
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

/// Writes a file whole or not at all.
pub fn write_whole(path: &Path, bytes: &[u8]) -> io::Result<()> {
    write_with(path, bytes, File::sync_data)
}

/// Writes what can be made again: whole, or after a crash of the system perhaps broken, which its reader must see.
pub fn write_cache(path: &Path, bytes: &[u8]) -> io::Result<()> {
    write_with(path, bytes, |_| Ok(()))
}

fn write_with(path: &Path, bytes: &[u8], settle: impl FnOnce(&File) -> io::Result<()>) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    make_private_folder(folder)?;
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(bytes)?;
    settle(file.as_file())?;
    file.persist(path).map_err(|error| error.error)?;
    Ok(())
}

/// Makes a folder that only its owner can look into: what is kept there quotes people's code.
pub fn make_private_folder(path: &Path) -> io::Result<()> {
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
        write_whole(&path, b"x").expect("written");
        assert_eq!(io::read_to_string(open_regular(&path).expect("a file")).expect("text"), "x");
        assert_eq!(open_regular(folder.path()).expect_err("a folder").to_string(), "not a regular file");
    }
}
