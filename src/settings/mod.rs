//! The client's settings files, as `install` and `uninstall` change them. `text` edits JSON where it stands and leaves
//! every other byte alone, `registration` knows what is ours in it, `place` finds, reads and replaces the files.

pub mod place;
pub mod registration;
pub mod text;
