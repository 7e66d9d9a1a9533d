//! Notices for the person, collected over one stop and sent with its reply. Each is a line by
//! itself; a named one is shown once per session. Must not change the decision: a block is given as
//! it is, and its notices wait for a later stop.

use std::collections::BTreeSet;

use crate::client::hook_reply::Reply;
use crate::config::GatesConfig;
use crate::decision::Cause;
use crate::state::{BLOCK_BUDGET, Line, SessionState};
use crate::text::counted;

/// The notice about an unknown client: its name, and its text.
const UNKNOWN_CLIENT: &str = "unknown-client";
const NOT_CLAUDE_CODE: &str = "unknown client: its input or its transcript is not Claude Code's, so its stops are \
                               not audited";

/// The notice about a stop that was skipped for what still runs.
const BACKGROUND_WORK: &str = "background-work";

/// How every line begins on screen.
pub const PREFIX: &str = "punchlist: ";

#[derive(Debug, Default)]
pub struct Notices {
    lines: Vec<Line>,
}

/// What happened to the notices.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Sent {
    /// What the reply shows.
    pub shown: Vec<Line>,
    /// What is to be shown later.
    pub waiting: Vec<Line>,
}

impl Sent {
    pub fn is_empty(&self) -> bool {
        self.shown.is_empty() && self.waiting.is_empty()
    }
}

/// Returns lines as the person sees them.
pub fn shown<'l>(lines: impl IntoIterator<Item = &'l Line>) -> String {
    let lines: Vec<String> = lines.into_iter().map(|(_, line)| format!("{PREFIX}{line}")).collect();
    lines.join("\n")
}

impl Notices {
    /// Adds a notice about a single event.
    pub fn add(&mut self, line: impl Into<String>) {
        self.lines.push((None, line.into()));
    }

    /// Adds a notice that is shown once per session; `told` has the names of those shown before.
    pub fn add_once(&mut self, name: &str, told: &BTreeSet<String>, line: impl Into<String>) {
        let is_added = self.lines.iter().any(|(known, _)| known.as_deref() == Some(name));
        if !told.contains(name) && !is_added {
            self.lines.push((Some(name.to_owned()), line.into()));
        }
    }

    /// Adds what waits to be shown in this session.
    pub fn add_pending(&mut self, session: &SessionState) {
        let names = &session.pending_names;
        self.lines
            .extend(session.pending_notices.iter().map(|line| (names.get(line).cloned(), line.clone())));
    }

    /// Adds that the client is not known.
    pub fn add_unknown_client(&mut self, told: &BTreeSet<String>) {
        self.add_once(UNKNOWN_CLIENT, told, NOT_CLAUDE_CODE);
    }

    /// Adds what to say about a stop that went through for this cause, whatever the gates say.
    /// `runs_on` says what may run in the background without end.
    pub fn add_cause<'t>(
        &mut self,
        cause: Cause,
        runs_on: Option<&str>,
        gates: &GatesConfig,
        told: impl FnOnce() -> &'t BTreeSet<String>,
    ) {
        if cause == Cause::BackgroundWork
            && let Some(what) = runs_on
        {
            let line = format!("not checked: {what}. The first stop after that is");
            return self.add_once(BACKGROUND_WORK, told(), line);
        }
        let most = gates.max_blocks;
        // Somebody who allows no blocks at all need not be told that there are none.
        if cause == Cause::Budget && most > 0 {
            let times = counted(usize::try_from(most).unwrap_or(usize::MAX), "time", "times");
            let line = format!(
                "not checked: this session was blocked {times}, which is the limit \
                 ([gates] max_blocks); its next stops are not checked either"
            );
            self.add_once(BLOCK_BUDGET, told(), line);
        }
    }

    /// Returns what the reply and these lines leave to be told where the client shows nothing of
    /// either.
    pub fn not_shown(&self, reply: &Reply) -> Sent {
        let told = if let Reply::Tell(told) = reply { told.as_str() } else { "" };
        let told = told.lines().map(|line| (None, line.strip_prefix(PREFIX).unwrap_or(line).to_owned()));
        Sent { waiting: told.chain(self.lines.iter().cloned()).collect(), ..Sent::default() }
    }

    /// Returns the reply with these lines, and what became of them. A block has no room for any:
    /// the cause of a named one remains, so that one is added again.
    pub fn send_with(self, reply: Reply) -> (Reply, Sent) {
        let mut told = match reply {
            reply if self.lines.is_empty() => return (reply, Sent::default()),
            Reply::Block(_) | Reply::Context { .. } => {
                let waiting = self.lines.into_iter().filter(|(name, _)| name.is_none()).collect();
                return (reply, Sent { waiting, ..Sent::default() });
            }
            Reply::Silent => String::new(),
            Reply::Tell(told) => told + "\n",
        };
        told.push_str(&shown(&self.lines));
        (Reply::Tell(told), Sent { shown: self.lines, ..Sent::default() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(name: &str, line: &str) -> Line {
        (Some(name.to_owned()), line.to_owned())
    }

    fn unnamed(line: &str) -> Line {
        (None, line.to_owned())
    }

    fn two() -> Notices {
        let mut notices = Notices::default();
        notices.add("one");
        notices.add_once("n", &BTreeSet::new(), "two");
        notices.add_once("n", &BTreeSet::new(), "again");
        notices
    }

    #[test]
    fn lines_go_with_whatever_is_told_and_never_with_a_block() {
        let both = "punchlist: one\npunchlist: two";
        let sent = Sent { shown: vec![unnamed("one"), named("n", "two")], ..Sent::default() };
        assert_eq!(two().send_with(Reply::Silent), (Reply::Tell(both.into()), sent));
        let after = Reply::Tell(format!("punchlist: first\n{both}"));
        assert_eq!(two().send_with(Reply::Tell("punchlist: first".into())).0, after);
        let sent = Sent { waiting: vec![unnamed("one")], ..Sent::default() };
        assert_eq!(two().send_with(Reply::Block("b".into())), (Reply::Block("b".into()), sent));
        assert_eq!(Notices::default().send_with(Reply::Silent), (Reply::Silent, Sent::default()));
    }

    #[test]
    fn what_a_client_does_not_show_waits_with_its_name() {
        let sent = two().not_shown(&Reply::Tell("punchlist: not checked\npunchlist: fixed".into()));
        let wanted = [unnamed("not checked"), unnamed("fixed"), unnamed("one"), named("n", "two")];
        assert_eq!(sent, Sent { waiting: wanted.to_vec(), ..Sent::default() });
        assert_eq!(two().not_shown(&Reply::Block("b".into())).waiting.len(), 2);
        let mut session = SessionState::default();
        session.add_pending(sent.waiting);
        let mut notices = Notices::default();
        notices.add_pending(&session);
        notices.add_once("n", &BTreeSet::new(), "two");
        assert_eq!(notices.lines, wanted, "a cause that remains is told once");
    }

    #[test]
    fn a_spent_budget_is_told_once_and_a_budget_of_none_never() {
        let lines = |cause, max_blocks, told: &[&str]| {
            let told: BTreeSet<String> = told.iter().map(|name| (*name).to_owned()).collect();
            let mut notices = Notices::default();
            notices.add_cause(
                cause,
                Some("still running: x"),
                &GatesConfig { max_blocks, ..GatesConfig::default() },
                || &told,
            );
            notices.lines.len()
        };
        assert_eq!(lines(Cause::Budget, 3, &[]), 1);
        assert_eq!(lines(Cause::Budget, 3, &[BLOCK_BUDGET]), 0);
        assert_eq!(lines(Cause::Budget, 0, &[]), 0);
        assert_eq!(lines(Cause::LoopGuard, 3, &[]), 0);
        assert_eq!(lines(Cause::BackgroundWork, 3, &[]), 1);
        assert_eq!(lines(Cause::BackgroundWork, 3, &[BACKGROUND_WORK]), 0);
    }
}
