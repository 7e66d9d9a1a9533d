//! The client's settings files, as `install` and `uninstall` change them. `text` edits JSON where it stands and leaves
//! every other byte alone, `ours` knows what is ours in it, `registration` puts it there and takes it out, `place` finds, reads and
//! replaces the files.

pub mod files;
pub mod json_edit;
pub mod registered_hooks;
pub mod registration;
