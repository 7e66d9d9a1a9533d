//! Reads a config file: a regular file of bounded size and, if a project brings it, one inside the
//! project. Must not block, or follow a link out of a checkout.

use std::fs::File;
use std::io::{self, ErrorKind};
use std::path::Path;

use crate::files::{open_real, open_regular, read_bounded, real_within};

/// The largest config file that is read. All keys with all their comments take a tenth of it.
const MOST_BYTES: u64 = 256 << 10;

/// Returns the text of a config file; `None` if there is none. `within` is the folder that it has
/// to be in.
pub fn read(path: &Path, within: Option<&Path>) -> io::Result<Option<String>> {
    let opened = within.map_or_else(|| open_regular(path), |folder| open_within(path, folder));
    match opened.and_then(|file| read_bounded(file, MOST_BYTES)) {
        Ok(text) => Ok(Some(text)),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Opens a file in a folder. A link may lead to another file inside; one created in the meantime is
/// not followed.
fn open_within(path: &Path, folder: &Path) -> io::Result<File> {
    let real = real_within(path, folder)?.ok_or_else(|| {
        let why = "a link to a file outside of the project: it is not read";
        io::Error::new(ErrorKind::InvalidInput, why)
    })?;
    open_real(&real)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;

    #[test]
    fn a_link_to_a_file_outside_is_not_read() {
        let folder = crate::testing::Folder::around(&[("secret", "token = 1"), ("w/inside.toml", "x = 1")]);
        let (root, project) = (folder.path().to_path_buf(), folder.path().join("w"));
        symlink(root.join("secret"), project.join("out.toml")).expect("linked");
        symlink("inside.toml", project.join("in.toml")).expect("linked");
        fs::create_dir(root.join("elsewhere"))
            .and_then(|()| fs::write(root.join("elsewhere/c.toml"), "y = 1"))
            .expect("made");
        symlink(root.join("elsewhere"), project.join("folder")).expect("linked");
        for (name, within) in [("out.toml", "outside"), ("folder/c.toml", "outside"), ("in.toml", "x = 1")] {
            let read = read(&project.join(name), Some(&project));
            let said = read.map_or_else(|error| error.to_string(), Option::unwrap_or_default);
            assert!(said.contains(within), "{name}: {said}");
        }
        assert!(read(&project.join("out.toml"), None).expect("one's own may be a link").is_some());
        assert!(read(&project.join("none"), Some(&project)).expect("no error").is_none());
    }

    #[test]
    fn a_large_file_is_not_read() {
        let folder = crate::testing::Folder::around(&[
            ("most", &"#".repeat(256 << 10)),
            ("more", &"#".repeat((256 << 10) + 1)),
        ]);
        assert!(read(&folder.path().join("most"), None).is_ok());
        let error = read(&folder.path().join("more"), None).expect_err("too large");
        assert_eq!(error.to_string(), "larger than 256 KiB: it is not read");
    }
}
