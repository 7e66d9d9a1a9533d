//! What the commands of a session did to files, at a glance: takes the session, gives what was removed and what
//! happened elsewhere. Pure. Worked out once: every claim and every file asks for it.

use super::glances::glance;
use super::steps::{names_same, removed_by};
use crate::session::Session;
use crate::words::base_name;

/// What commands did.
#[derive(Debug)]
pub struct Doings<'a> {
    /// Paths that were removed or moved away, as written.
    removed: Vec<String>,
    /// Lines that worked on another machine or in a container.
    remote: Vec<&'a str>,
    /// Another checkout of the repository was made.
    has_copy: bool,
}

impl<'a> Doings<'a> {
    /// Reads every command once.
    pub fn of(session: &'a Session) -> Self {
        let lines = || session.commands.iter().map(|command| command.line.as_str());
        let (mut removed, mut remote) = (Vec::new(), Vec::new());
        for command in &session.commands {
            let glance = glance(&command.line);
            remote.extend(glance.is_elsewhere.then_some(command.line.as_str()));
            removed.extend(removed_by(command, glance));
        }
        Self { removed, remote, has_copy: lines().any(|line| line.contains("git worktree add")) }
    }

    /// Whether that path, or a folder above it, was removed or moved away.
    pub fn removed(&self, name: &str) -> bool {
        self.removed.iter().any(|removed| names_same(removed, name))
    }

    /// Whether the file was worked on on another machine, or may have been in another checkout.
    pub fn worked_elsewhere_on(&self, name: &str) -> bool {
        self.has_copy || self.remote.iter().any(|line| line.contains(base_name(name)))
    }
}
