//! Registered by `punchlist install`, and by that alone: a stop really runs it, and a subagent's
//! too where that was wanted. Registered twice, a stop is audited once.

use super::held_once::{HeldOnce, held_and_let_go};
use super::subagent::errand;
use super::{ALPHA, BETA, UPHELD, beta_is_missing};
use crate::decision_log::Record;
use crate::models::Sender;
use crate::rig::client::Client;
use crate::rig::message::write;
use crate::rig::request::ApiRequest;
use crate::script::{Script, Turn};
use crate::trip::{Scenario, Trip, ensure};
use crate::workspace::Workspace;

/// In the project's settings for one person, beside settings that are there.
pub(crate) struct Installed;

impl Scenario for Installed {
    fn name(&self) -> &'static str {
        "installed"
    }

    fn prepare(&self, client: &Client, workspace: &Workspace) -> Result<Script, String> {
        workspace.register_nothing()?;
        let settings = workspace.project().join(".claude/settings.local.json");
        workspace.write(&settings, "{\n\t\"env\": { \"A\": \"1\" }\n}\n")?;
        workspace.punchlist(&["install"])?;
        HeldOnce.prepare(client, workspace)
    }

    fn check(&self, trip: &Trip) -> Result<(), String> {
        held_and_let_go(trip)?;
        trip.workspace.punchlist(&["uninstall"])?;
        let settings = trip.workspace.project().join(".claude/settings.local.json");
        let left = std::fs::read_to_string(settings).unwrap_or_default();
        ensure(left == "{\n\t\"env\": { \"A\": \"1\" }\n}\n", || format!("uninstall left {left}"))
    }
}

/// In the person's own settings and in the project's: the client runs both at the same time.
pub(crate) struct Twice;

impl Scenario for Twice {
    fn name(&self) -> &'static str {
        "registered_twice"
    }

    fn prepare(&self, client: &Client, workspace: &Workspace) -> Result<Script, String> {
        let said = workspace.punchlist(&["install"])?;
        ensure(said.contains("! It is registered in "), || format!("not a word of the other: {said}"))?;
        HeldOnce.prepare(client, workspace)
    }

    fn check(&self, trip: &Trip) -> Result<(), String> {
        trip.read_twice()?;
        let mut decisions: Vec<_> = trip.records.iter().map(Record::decision).collect();
        decisions.sort();
        let wanted = ["allow loop-guard", "allow loop-guard", "allow unchanged", "block findings"];
        ensure(decisions == wanted, || format!("decided {decisions:?} in place of {wanted:?}"))
    }
}

/// With `--subagents`: a helper that says more than it did is held, by itself, and the session goes
/// on when it has mended it.
pub(crate) struct Subagents;

const ERRAND: &str =
    "Write the morning greeting to alpha.txt and the evening greeting to beta.txt, and report.";
const TOO_MUCH: &str = "Done: I created `alpha.txt` and `beta.txt`.";
const MENDED: &str = "Now `alpha.txt` and `beta.txt` are both there.";
const LAST_WORDS: &str = "The helper has written both greetings.";

impl Scenario for Subagents {
    fn name(&self) -> &'static str {
        "installed_subagents"
    }

    fn pointless_on(&self, client: &Client) -> Option<&'static str> {
        (!client.is_since("2.1.42"))
            .then_some("this client does not tell a hook where a subagent's transcript is")
    }

    fn prepare(&self, _: &Client, workspace: &Workspace) -> Result<Script, String> {
        workspace.register_nothing()?;
        workspace.punchlist(&["install", "--subagents"])?;
        let file = |name: &str| workspace.project().join(name).display().to_string();
        let mut finding = beta_is_missing();
        finding["claim"] = "I created `alpha.txt` and `beta.txt`".into();
        finding["claimed_in"] = "message".into();
        Ok(Script::new("Have a helper write two greetings.")
            .reads(|request: &ApiRequest| -> Result<Turn, String> { errand(request, ERRAND, false) })
            .says(LAST_WORDS)
            .subagent(ERRAND, vec![write(file("alpha.txt"), ALPHA)], TOO_MUCH)
            .held_subagent(vec![write(file("beta.txt"), BETA)], MENDED)
            .proposed(&[finding])
            .judged(&[UPHELD])
            .proposed(&[]))
    }

    fn check(&self, trip: &Trip) -> Result<(), String> {
        trip.ended_with(LAST_WORDS)?;
        let told = trip.requests_of(Sender::Subagent);
        let texts = told.last().map(ApiRequest::user_texts).unwrap_or_default().join("\n");
        ensure(texts.contains("[A] claimed done, and not so: beta.txt"), || {
            format!("the helper was not told: {texts}")
        })?;
        // The helper is held and let go; the session itself has nothing to answer for.
        trip.decided(&["block findings", "allow loop-guard", "allow clean"])
    }
}
