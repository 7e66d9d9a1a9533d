//! A block whose outcome nobody knows yet: what has to be remembered until the session's next stop. Plain data, all of it
//! masked and bounded; what can't be read counts as never written.

use serde::{Deserialize, Serialize};

use crate::evidence::Evidence;
use crate::finding::Finding;
use crate::plan::Mark;
use crate::text::first_part;

/// How much of the final message is kept.
const MESSAGE_CAP: usize = 16 << 10;
/// So many findings are followed; a list of more is nobody's next step.
const MOST: usize = 40;

/// A block that was given.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct PendingBlock {
    /// Its id in the log.
    pub id: String,
    /// When it was decided, in milliseconds since 1970.
    pub decided_ms: i64,
    /// What the agent had said last.
    pub message: Option<String>,
    /// How far the session had come: what stands behind this was done after the block.
    pub rows: usize,
    /// What held it.
    pub findings: Vec<Held>,
}

/// One finding that held.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Held {
    /// Which of the decision's findings it is, counted from 1.
    pub number: usize,
    /// The finding.
    pub finding: Finding,
    /// How the step that it quotes was marked; nothing where it quotes none.
    #[serde(default)]
    pub mark: Option<Mark>,
}

impl PendingBlock {
    /// What to remember of the findings that hold a stop, of which `holds` tells. The id and the time are known when the
    /// block is given.
    pub fn new(findings: &[Finding], holds: impl Fn(&Finding) -> bool, evidence: &Evidence) -> Self {
        let plan = evidence.plan.as_ref();
        let mark_of = |number: usize| {
            let mut steps = plan.iter().flat_map(|plan| &plan.steps);
            steps.find(|step| step.number == number).map(|step| step.mark)
        };
        let held = findings.iter().enumerate().filter(|(_, finding)| holds(finding)).take(MOST);
        let held = held.map(|(at, finding)| Held {
            number: at + 1,
            mark: finding.step.and_then(mark_of),
            finding: finding.clone(),
        });
        Self {
            findings: held.collect(),
            message: evidence
                .session
                .final_message
                .as_deref()
                .map(|message| first_part(message, MESSAGE_CAP)),
            rows: evidence.session.rows,
            ..Self::default()
        }
    }

    /// Whether these are the words that the agent had said when it was held.
    pub fn was_said(&self, message: &str) -> bool {
        self.message.as_deref() == Some(first_part(message, MESSAGE_CAP).as_str())
    }
}
