//! The state folder: takes whether it can be written and how large it is, gives a check. Pure.

use super::Check;
use crate::text::in_bytes;

/// What was seen of it.
#[derive(Debug, Clone)]
pub struct MemoryLook {
    /// Where it is.
    pub path: String,
    /// Whether it can be written; or why not.
    pub writable: Result<(), String>,
    /// How large all of it is.
    pub bytes: u64,
}

/// The check.
pub fn check(look: &MemoryLook) -> Check {
    match &look.writable {
        Ok(()) => Check::fine("state", format!("{}, {}", look.path, in_bytes(look.bytes))),
        Err(why) => Check::fault(
            "state",
            format!("{} can't be written: {why}", look.path),
            "make it yours: a gate that can't count its blocks does not block (PUNCHLIST_HOME names another)",
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::Mark;

    #[test]
    fn a_folder_that_can_not_be_written_is_a_fault() {
        let look = |writable| check(&MemoryLook { path: "/s".into(), writable, bytes: 1_500_000 });
        assert_eq!(look(Ok(())), Check::fine("state", "/s, 1.5 MB"));
        let fault = look(Err("Read-only file system".into()));
        assert_eq!(
            (fault.mark, fault.found.as_str()),
            (Mark::Fault, "/s can't be written: Read-only file system")
        );
    }
}
