//! The live test of the gate: what the hook replied to each session that was played through it.
//! Pure.

use super::Check;
use crate::client::hook_reply::Reply;

/// The hook's reply to each of three sessions.
#[derive(Debug, Clone)]
pub struct GateReplies {
    /// One that did what it says.
    pub clean: Reply,
    /// One that says more than it did.
    pub drifting: Reply,
    /// One in which nothing was done.
    pub idle: Reply,
    /// The drifting one again, played to a process of this program; or why there was no such
    /// process.
    pub process: Result<ProcessReply, String>,
}

/// How a process of this program answered.
#[derive(Debug, Clone)]
pub struct ProcessReply {
    /// Its exit code.
    pub code: i32,
    /// Whether stdout is a block, and nothing else.
    pub is_block: bool,
    /// How long it took.
    pub ms: u128,
}

/// Checks the replies, or reports why there are none.
pub fn checks(replies: &Result<GateReplies, String>) -> Vec<Check> {
    const NAME: &str = "gate";
    const NEXT: &str = "that is a fault of punchlist: please report it, with `punchlist doctor --json`";
    let replies = match replies {
        Ok(replies) => replies,
        Err(why) => {
            let next = "the test needs a temporary folder: TMPDIR names one";
            return vec![Check::fault(NAME, format!("could not be tried: {why}"), next)];
        }
    };
    let quiet = |reply: &Reply, fine: &str, fault: &str| match reply {
        Reply::Silent => Check::fine(NAME, fine),
        Reply::Tell(words) | Reply::Block(words) | Reply::Context(words) => {
            Check::fault(NAME, format!("{fault}: {words}"), NEXT)
        }
    };
    let blocked = match &replies.drifting {
        Reply::Block(_) => Check::fine(NAME, "a session that says more than it did is held"),
        Reply::Silent | Reply::Tell(_) | Reply::Context(_) => {
            Check::fault(NAME, "a session that says more than it did went through", NEXT)
        }
    };
    let process = match &replies.process {
        Ok(ProcessReply { code: 2, is_block: true, ms }) => {
            Check::fine(NAME, format!("run as a hook, this program blocks as the client wants it ({ms} ms)"))
        }
        Ok(ProcessReply { code, is_block, .. }) => {
            let block = if *is_block { "a block" } else { "no block" };
            let found = format!(
                "run as a hook, this program ended with exit code {code} and {block}, in place of 2 and a block"
            );
            Check::fault(NAME, found, NEXT)
        }
        Err(why) => Check::fault(NAME, format!("this program could not be run as a hook: {why}"), NEXT),
    };
    vec![
        quiet(
            &replies.clean,
            "a session that did what it says goes through, quietly",
            "a session that did what it says did not go through quietly",
        ),
        blocked,
        quiet(
            &replies.idle,
            "a session in which nothing was done is left alone",
            "a session in which nothing was done was not left alone",
        ),
        process,
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::Mark;

    fn marks(replies: GateReplies) -> Vec<Mark> {
        checks(&Ok(replies)).iter().map(|check| check.mark).collect()
    }

    #[test]
    fn each_session_has_its_own_check() {
        let fine = GateReplies {
            clean: Reply::Silent,
            drifting: Reply::Block("x".into()),
            idle: Reply::Silent,
            process: Ok(ProcessReply { code: 2, is_block: true, ms: 5 }),
        };
        assert_eq!(marks(fine.clone()), [Mark::Fine; 4]);
        let wrong = GateReplies {
            clean: Reply::Tell("x".into()),
            drifting: Reply::Silent,
            idle: Reply::Block("x".into()),
            process: Ok(ProcessReply { code: 0, is_block: true, ms: 5 }),
        };
        assert_eq!(marks(wrong), [Mark::Fault; 4]);
        let unrun = GateReplies { process: Err("no".into()), ..fine };
        assert_eq!(marks(unrun)[3], Mark::Fault);
        assert_eq!(checks(&Err("no space".into()))[0].found, "could not be tried: no space");
    }
}
