//! What the readers get to see: the evidence, and nothing of what lies around. No tool, no
//! instructions of the project or the person, no memory, no file that the evidence happens to
//! mention with an `@`; and the hook does not fire inside them. Both see the same: system prompt,
//! answer's schema and evidence.

use super::{ALL_DONE, ALPHA, PROMPT, beta_is_missing, plan};
use crate::models::{Sender, VERDICT_TOOL};
use crate::rig::client::Client;
use crate::rig::message::write;
use crate::rig::request::ApiRequest;
use crate::script::Script;
use crate::trip::{Scenario, Trip, ensure};
use crate::workspace::Workspace;

pub(crate) struct Sealed;

const PROJECT_RULES: &str = "marker-of-the-projects-rules";
const PERSONS_RULES: &str = "marker-of-the-persons-rules";
const FOLDERS_RULES: &str = "marker-of-the-rules-above-the-readers-folder";
const MEMORY: &str = "marker-of-the-memory";
const SECRET: &str = "marker-of-the-file-behind-the-at-sign";
/// Stands in the evidence itself: without it, nothing was proven.
const EVIDENCE: &str = "marker-of-the-evidence";

impl Scenario for Sealed {
    fn name(&self) -> &'static str {
        "sealed"
    }

    fn prepare(&self, _: &Client, workspace: &Workspace) -> Result<Script, String> {
        let (home, project) = (workspace.home(), workspace.project());
        workspace.write(project.join("CLAUDE.md"), PROJECT_RULES)?;
        workspace.write(home.join(".claude/CLAUDE.md"), PERSONS_RULES)?;
        // The client reads the rules of every folder above the one it stands in.
        workspace.write(workspace.temporary().join("CLAUDE.md"), FOLDERS_RULES)?;
        workspace.write(workspace.memory_of(&project), MEMORY)?;
        workspace.register_hook(&project)?;
        let secret = workspace.root().join("secret-marker-file.txt");
        workspace.write(&secret, SECRET)?;
        workspace.write(home.join("secret-marker-file.txt"), SECRET)?;
        workspace.write(project.join("secret-marker-file.txt"), SECRET)?;
        let secret = secret.display();
        // Every way in which a client's own pattern takes an at sign for a file to read.
        let mentions = format!(
            "{EVIDENCE} @{secret} and @\"{secret}\" and @~/secret-marker-file.txt and\n\
             @secret-marker-file.txt\n@{secret}#L1-2\n\t@{secret}\n@../../secret-marker-file.txt\n"
        );
        let plan_file = project.join("PLAN.md");
        Ok(Script::new(PROMPT)
            .calls([write(plan_file.display(), &plan(false))])
            .calls([
                write(project.join("alpha.txt").display(), &format!("{ALPHA}{mentions}")),
                write(plan_file.display(), &plan(true)),
            ])
            .says(ALL_DONE)
            .proposed(&[beta_is_missing()])
            .judged(&[(false, "It was called off.")]))
    }

    fn check(&self, trip: &Trip) -> Result<(), String> {
        // A hook that fires inside a reader would ask for more answers.
        let (first, second) = trip.read_twice()?;
        for reader in [&first, &second] {
            let tools = reader.tool_names();
            ensure(tools.iter().all(|tool| *tool == VERDICT_TOOL), || {
                format!("a reader has tools: {tools:?}")
            })?;
            ensure(reader.mentions(EVIDENCE), || "a reader was not shown alpha.txt".into())?;
        }
        same_evidence(&first, &second)?;
        let mut markers = vec![PROJECT_RULES, MEMORY, SECRET];
        // 1.0.98 reads these two whatever it is told, and has no variable against it.
        if trip.client.is_since("2.0.32") {
            markers.extend([PERSONS_RULES, FOLDERS_RULES]);
        }
        for marker in markers {
            for sender in [Sender::FirstReader, Sender::SecondReader, Sender::ReaderDone] {
                let leaked = trip.requests_of(sender).iter().any(|request| request.mentions(marker));
                ensure(!leaked, || format!("a reader was shown the {marker}"))?;
            }
        }
        left_nothing(trip)?;
        trip.ended_with(ALL_DONE)?;
        trip.decided(&["allow clean"])
    }
}

/// Both readers are told the same up to the end of the evidence; only the task differs.
fn same_evidence(first: &ApiRequest, second: &ApiRequest) -> Result<(), String> {
    let [one, other] = [first, second].map(|request| {
        let texts = request.user_texts();
        texts.into_iter().find(|text| text.contains(FIRST_LINE)).unwrap_or_default().to_owned()
    });
    let end = one.find(LAST_LINE).ok_or("the evidence has no end")?;
    let common = one.bytes().zip(other.bytes()).take_while(|(one, other)| one == other).count();
    ensure(common >= end + LAST_LINE.len(), || {
        format!("the readers' texts part at byte {common}, before the end of the evidence at {end}")
    })?;
    ensure(one[end..].contains("`sure`") && other[end..].contains("`uphold`"), || {
        format!("the tasks do not come last: {} and {}", &one[end..], &other[end..])
    })?;
    let [one, other] = [first, second].map(|request| {
        // The client counts its requests there (2.1.136).
        let system = request.system();
        let own: Vec<_> =
            system.lines().filter(|line| !line.starts_with(COUNTER)).map(str::to_owned).collect();
        (own, request.tools().to_string())
    });
    ensure(one == other, || format!("system prompt or tools differ: {one:?} and {other:?}"))
}

/// A line of the client's own in the system prompt, which differs from request to request.
const COUNTER: &str = "x-anthropic-billing-header: ";

/// How the evidence begins, and how it ends.
const FIRST_LINE: &str = "The word that fences data is ";
const LAST_LINE: &str = "That was all the data.";

/// Neither a folder of ours nor a session of a reader's among the person's.
fn left_nothing(trip: &Trip) -> Result<(), String> {
    let workspace = &trip.workspace;
    let mut ours = workspace.names_in(workspace.temporary());
    // Settings that are given as text are left there by the client.
    ours.retain(|name| name.starts_with("punchlist") || name.starts_with("claude-settings"));
    ensure(ours.is_empty(), || format!("left in the temporary folder: {ours:?}"))?;
    let sessions = workspace.names_in(workspace.home().join(".claude/projects"));
    ensure(sessions.len() == 1, || format!("a reader left a session: {sessions:?}"))
}
