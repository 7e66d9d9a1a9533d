//! The live test of the gate: takes what the hook answered to each session that was played, gives a check for each. Pure.

use super::Check;
use crate::client::hook_reply::Reply;

/// What the hook answered.
#[derive(Debug, Clone)]
pub struct GateLook {
    /// To a session that did what it says.
    pub clean: Reply,
    /// To one that says more than it did.
    pub drifting: Reply,
    /// To one that is none of our business: nothing was done in it.
    pub out_of_scope: Reply,
    /// What a process of this program answered to the drifting one; or why there was none.
    pub process: Result<ProcessLook, String>,
}

/// What a process of this program answered.
#[derive(Debug, Clone)]
pub struct ProcessLook {
    /// Its exit code, where it has one.
    pub code: Option<i32>,
    /// Whether stdout has a block, and nothing else.
    pub is_block: bool,
    /// How long it took.
    pub ms: u128,
}

/// The checks.
pub fn checks(look: &Result<GateLook, String>) -> Vec<Check> {
    const NAME: &str = "gate";
    const NEXT: &str = "that is a fault of punchlist: please report it, with `punchlist doctor --json`";
    let look = match look {
        Ok(look) => look,
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
    let held = match &look.drifting {
        Reply::Block(_) => Check::fine(NAME, "a session that says more than it did is held"),
        Reply::Silent | Reply::Tell(_) | Reply::Context(_) => {
            Check::fault(NAME, "a session that says more than it did went through", NEXT)
        }
    };
    let process = match &look.process {
        Ok(ProcessLook { code: Some(2), is_block: true, ms }) => {
            Check::fine(NAME, format!("run as a hook, this program blocks as the client wants it ({ms} ms)"))
        }
        Ok(ProcessLook { code, is_block, .. }) => {
            let code = code.map_or("no exit code".to_owned(), |code| format!("exit code {code}"));
            let block = if *is_block { "a block" } else { "no block" };
            Check::fault(
                NAME,
                format!(
                    "run as a hook, this program ended with {code} and {block}, in place of 2 and a block"
                ),
                NEXT,
            )
        }
        Err(why) => Check::fault(NAME, format!("this program could not be run as a hook: {why}"), NEXT),
    };
    vec![
        quiet(
            &look.clean,
            "a session that did what it says goes through, quietly",
            "a session that did what it says did not go through quietly",
        ),
        held,
        quiet(
            &look.out_of_scope,
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

    fn marks(look: GateLook) -> Vec<Mark> {
        checks(&Ok(look)).iter().map(|check| check.mark).collect()
    }

    #[test]
    fn each_session_is_judged_by_itself() {
        let fine = GateLook {
            clean: Reply::Silent,
            drifting: Reply::Block("x".into()),
            out_of_scope: Reply::Silent,
            process: Ok(ProcessLook { code: Some(2), is_block: true, ms: 5 }),
        };
        assert_eq!(marks(fine.clone()), [Mark::Fine; 4]);
        let wrong = GateLook {
            clean: Reply::Tell("x".into()),
            drifting: Reply::Silent,
            out_of_scope: Reply::Block("x".into()),
            process: Ok(ProcessLook { code: Some(0), is_block: true, ms: 5 }),
        };
        assert_eq!(marks(wrong), [Mark::Fault; 4]);
        let unrun = GateLook { process: Err("no".into()), ..fine };
        assert_eq!(marks(unrun)[3], Mark::Fault);
        assert_eq!(checks(&Err("no space".into()))[0].found, "could not be tried: no space");
    }
}
