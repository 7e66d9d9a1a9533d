//! The client's settings files and our hook in them. [`registered_hooks`] recognises it,
//! [`registration`] adds and removes it, [`json_edit`] changes JSON in place, [`files`] reads and
//! replaces the files.

pub mod files;
pub mod json_edit;
pub mod registered_hooks;
pub mod registration;
