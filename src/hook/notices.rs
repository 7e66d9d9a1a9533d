//! Lines for the person, collected over one stop and sent with its reply. Each stands alone; one that has a name is told
//! once a session. Must not change what is decided: a block is given as it is, and its lines are left for a later stop.

use std::collections::BTreeSet;

use crate::client::hook_reply::Reply;
use crate::config::GatesConfig;
use crate::decision::Cause;
use crate::state::BLOCK_BUDGET;
use crate::text::counted;

/// The name under which the state has that the person was told of a client that is not known, and what they are told.
const UNKNOWN_CLIENT: &str = "unknown-client";
const NOT_CLAUDE_CODE: &str = "this client is not known: its input or its transcript is not Claude Code's, and nothing it says \
                               is audited. Take the hook out of what it reads, or leave it: it holds nobody";

#[derive(Debug, Default)]
pub struct Notices {
    lines: Vec<String>,
    names: BTreeSet<String>,
}

impl Notices {
    /// Adds a line about something that happens once.
    pub fn add(&mut self, line: impl Into<String>) {
        self.lines.push(line.into());
    }

    /// Adds a line that is told once a session; `told` has the names of those that were told before.
    pub fn add_once(&mut self, name: &str, told: &BTreeSet<String>, line: impl Into<String>) {
        if !told.contains(name) && self.names.insert(name.to_owned()) {
            self.add(line);
        }
    }

    /// Adds what is to be said of a stop that went through for this cause, whatever the gates say.
    pub fn add_cause<'t>(
        &mut self,
        cause: Cause,
        gates: &GatesConfig,
        told: impl FnOnce() -> &'t BTreeSet<String>,
    ) {
        if cause == Cause::UnknownClient {
            return self.add_once(UNKNOWN_CLIENT, told(), NOT_CLAUDE_CODE);
        }
        let most = gates.max_blocks;
        // Whoever sets no blocks at all need not be told that there are none.
        if cause == Cause::Budget && most > 0 {
            let times = counted(usize::try_from(most).unwrap_or(usize::MAX), "time", "times");
            let line = format!(
                "let go unchecked: this session was held {times} already, as often as it may be \
                 ([gates] max_blocks); its next stops are not checked either"
            );
            self.add_once(BLOCK_BUDGET, told(), line);
        }
    }

    /// Returns the reply with these lines, and the names of what is told by it.
    pub fn send_with(self, reply: Reply) -> (Reply, BTreeSet<String>) {
        let mut lines = match reply {
            reply if self.lines.is_empty() => return (reply, BTreeSet::new()),
            Reply::Block(_) | Reply::Context(_) => return (reply, BTreeSet::new()),
            Reply::Silent => Vec::new(),
            Reply::Tell(told) => vec![told],
        };
        lines.extend(self.lines.iter().map(|line| format!("punchlist: {line}")));
        (Reply::Tell(lines.join("\n")), self.names)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(notices: Notices, reply: Reply) -> (Reply, Vec<String>) {
        let (reply, names) = notices.send_with(reply);
        (reply, names.into_iter().collect())
    }

    #[test]
    fn lines_go_with_whatever_is_told_and_never_with_a_block() {
        let two = || {
            let mut notices = Notices::default();
            notices.add("one");
            notices.add_once("n", &BTreeSet::new(), "two");
            notices.add_once("n", &BTreeSet::new(), "again");
            notices
        };
        let both = "punchlist: one\npunchlist: two";
        assert_eq!(told(two(), Reply::Silent), (Reply::Tell(both.into()), vec!["n".to_owned()]));
        let after = Reply::Tell(format!("punchlist: first\n{both}"));
        assert_eq!(told(two(), Reply::Tell("punchlist: first".into())).0, after);
        assert_eq!(told(two(), Reply::Block("b".into())), (Reply::Block("b".into()), Vec::new()));
        assert_eq!(told(Notices::default(), Reply::Silent), (Reply::Silent, Vec::new()));
    }

    #[test]
    fn a_spent_budget_is_told_once_and_a_budget_of_none_never() {
        let lines = |cause, max_blocks, told: &[&str]| {
            let told: BTreeSet<String> = told.iter().map(|name| (*name).to_owned()).collect();
            let mut notices = Notices::default();
            notices.add_cause(cause, &GatesConfig { max_blocks, ..GatesConfig::default() }, || &told);
            notices.lines.len()
        };
        assert_eq!(lines(Cause::Budget, 3, &[]), 1);
        assert_eq!(lines(Cause::Budget, 3, &[BLOCK_BUDGET]), 0);
        assert_eq!(lines(Cause::Budget, 0, &[]), 0);
        assert_eq!(lines(Cause::LoopGuard, 3, &[]), 0);
        assert_eq!(lines(Cause::UnknownClient, 3, &[]), 1);
        assert_eq!(lines(Cause::UnknownClient, 3, &[UNKNOWN_CLIENT]), 0);
    }
}
