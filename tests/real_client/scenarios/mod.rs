//! What is tried, one file a scenario, and the plan that they share. Each lays out a workspace,
//! says what the models say, and checks what came of it.

mod background;
mod behind;
mod checked;
mod clean;
mod dismissed;
mod disputed;
#[cfg(unix)]
pub(crate) mod fleet;
mod gone;
mod held_once;
mod installed;
mod listed;
pub(crate) mod looped;
mod mended;
mod packaged;
mod plan_mode;
mod plugin;
mod sealed;
pub(crate) mod seated;
pub(crate) mod started;
mod subagent;
mod workers;

use serde_json::{Value, json};

use crate::rig::message::write;
use crate::script::Script;
use crate::trip::Scenario;
use crate::workspace::Workspace;

/// Every scenario.
pub(crate) const ALL: &[&dyn Scenario] = &[
    &held_once::HeldOnce,
    &held_once::Cloned,
    &mended::Mended,
    &disputed::Disputed,
    &dismissed::Dismissed,
    &clean::Clean,
    &sealed::Sealed,
    &subagent::Subagent,
    &background::Background,
    &plan_mode::PlanMode,
    &behind::Behind,
    &gone::Gone,
    &installed::Installed,
    &installed::Twice,
    &installed::Subagents,
    &packaged::Packaged,
    &packaged::PackagedWheel,
    &plugin::Plugin,
    &plugin::PluginAlone,
    &plugin::PluginOff,
    &plugin::PluginOn,
    &checked::Checked,
    &checked::CheckedSubagent,
    &listed::Listed,
    &looped::Looped,
    &looped::LoopedBeside,
    &looped::LoopedVerified,
    &looped::LoopedJudged,
    &workers::PendingTasks,
    &workers::KeepAlive,
];

/// What the person asks for, where nothing else is said.
const PROMPT: &str = "Write a plan for two greetings into PLAN.md and carry it out.";
/// What the agent says at the end, whether it is so or not.
const ALL_DONE: &str = "Done: alpha.txt and beta.txt are both written, and the plan is ticked.";
/// What it says when it was held and has looked.
const SECOND_WORDS: &str = "You are right: beta.txt is not there, I only wrote alpha.txt.";

/// The step that gets forgotten.
const BETA_STEP: &str = "Create `beta.txt` with one line of greeting";

const ALPHA: &str = "Good morning.\n";
const BETA: &str = "Good evening.\n";

/// A plan of two steps, ticked or not.
fn plan(ticked: bool) -> String {
    let mark = if ticked { 'x' } else { ' ' };
    format!(
        "# Two greetings\n\n- [{mark}] Create `alpha.txt` with one line of greeting\n- [{mark}] {BETA_STEP}\n"
    )
}

/// An agent that writes the plan, does its first step, ticks both, and says that all is done.
fn half_done(workspace: &Workspace) -> Script {
    let project = workspace.project();
    let plan_file = project.join("PLAN.md");
    Script::new(PROMPT)
        .calls([write(plan_file.display(), &plan(false))])
        .calls([write(project.join("alpha.txt").display(), ALPHA), write(plan_file.display(), &plan(true))])
        .says(ALL_DONE)
}

/// The same, a first reader that notices and a second that agrees.
fn beta_is_forgotten(workspace: &Workspace) -> Script {
    half_done(workspace).proposed(&[beta_is_missing()]).judged(&[UPHELD])
}

/// What the second reader says of what is so.
const UPHELD: (bool, &str) = (true, "No other file holds the greeting.");

/// What a first reader says that has noticed. The program alone does not say so: a bare name may be
/// made elsewhere.
fn beta_is_missing() -> Value {
    json!({
        "category": "A",
        "sure": true,
        "kind": "missing",
        "claim": BETA_STEP,
        "claimed_in": "plan",
        "proof": "",
        "path": "beta.txt",
        "why": "The step is said to be done, and there is no such file.",
        "settle": "Create beta.txt, or untick the step.",
    })
}
