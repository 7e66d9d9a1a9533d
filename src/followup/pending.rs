//! A block whose outcome is not known yet, as saved until the session's next stop. Plain data,
//! masked and bounded.

use serde::{Deserialize, Serialize};

use crate::evidence::Evidence;
use crate::finding::Finding;
use crate::plan::Mark;
use crate::text::first_part;

const MESSAGE_CAP: usize = 16 << 10;
/// How many findings are followed up: nobody works through a longer list.
const MOST: usize = 40;

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct PendingBlock {
    pub id: String,
    /// When it was decided, in milliseconds since 1970.
    pub decided_ms: i64,
    pub message: Option<String>,
    /// How many rows the session had: later rows were written after the block.
    pub rows: usize,
    pub findings: Vec<PendingFinding>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PendingFinding {
    /// The number of the finding in its decision, from 1.
    pub number: usize,
    pub finding: Finding,
    /// The mark of the step that it quotes, if it quotes one.
    #[serde(default)]
    pub mark: Option<Mark>,
}

impl PendingBlock {
    /// Returns the findings that block a stop, according to `holds`. The id and the time are set
    /// when the block is given.
    pub fn new(findings: &[Finding], holds: impl Fn(&Finding) -> bool, evidence: &Evidence) -> Self {
        let plan = evidence.plan.as_ref();
        let mark_of = |number: usize| {
            let mut steps = plan.iter().flat_map(|plan| &plan.steps);
            steps.find(|step| step.number == number).map(|step| step.mark)
        };
        let held = findings.iter().enumerate().filter(|(_, finding)| holds(finding)).take(MOST);
        let held = held.map(|(at, finding)| PendingFinding {
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

    /// Returns what a final message says beyond the one that was blocked: saying the same again, with
    /// something added, is no answer.
    pub fn answer_in(&self, message: &str) -> String {
        if self.was_said(message) {
            return String::new();
        }
        // A shorter line may be a name, which an answer has to mention.
        let said = self.message.iter().flat_map(|message| message.lines()).map(str::trim);
        let said = said.filter(|line| line.split_whitespace().nth(2).is_some());
        said.fold(message.to_owned(), |rest, line| rest.replace(line, ""))
    }

    /// Returns whether this is the final message of the stop that was blocked.
    pub fn was_said(&self, message: &str) -> bool {
        self.message.as_deref() == Some(first_part(message, MESSAGE_CAP).as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::{Category, Kind, Status};
    use crate::testing::{self, finding, plan, said};

    #[test]
    fn what_held_is_numbered_as_in_the_log_with_the_mark_of_its_step() {
        let found = || finding(Category::A, Kind::Missing, "Create `a.rs`", Some("a.rs"));
        let findings =
            [Finding { status: Status::Refuted, ..found() }, Finding { step: Some(1), ..found() }, found()];
        let mut session = said("Done.");
        session.rows = 12;
        let evidence = Evidence { plan: Some(plan("- [x] Create `a.rs`\n")), ..testing::evidence(session) };
        let pending = PendingBlock::new(&findings, |finding| finding.status == Status::Confirmed, &evidence);
        let numbers: Vec<_> = pending.findings.iter().map(|held| (held.number, held.mark)).collect();
        assert_eq!(numbers, [(2, Some(Mark::Ticked)), (3, None)]);
        assert_eq!((pending.message.as_deref(), pending.rows), (Some("Done."), 12));
    }

    #[test]
    fn what_was_said_before_is_no_part_of_an_answer() {
        let said = "Done:\n- b.txt\n- a.txt is written.\n";
        let block = PendingBlock { message: Some(said.to_owned()), ..PendingBlock::default() };
        assert_eq!(block.answer_in(said), "");
        assert_eq!(block.answer_in("- a.txt is written. As I said.").trim(), "As I said.");
        for other in ["- b.txt: not needed.", "a.txt is not needed."] {
            assert_eq!(block.answer_in(other), other);
        }
    }

    #[test]
    fn a_long_message_and_a_long_list_are_cut() {
        let findings = vec![finding(Category::A, Kind::Missing, "Create `a.rs`", Some("a.rs")); MOST + 9];
        let evidence = testing::evidence(said(&"x".repeat(1 << 20)));
        let kept = PendingBlock::new(&findings, |_| true, &evidence);
        assert!(kept.message.is_some_and(|message| message.len() < MESSAGE_CAP + 40));
        assert_eq!(kept.findings.len(), MOST);
    }

    #[test]
    fn a_block_of_the_older_format_is_read() {
        let older = r#"{"id":"k3f9","decided_ms":5,"message":"Done.","plan":"PLAN.md","findings":[{"number":1,"listed":1,
            "needle":"","mark":"ticked","finding":{"category":"A","status":"confirmed","source":"auditor",
            "problem":"missing-file","quote":"Create `a.rs`","path":"a.rs","why":"w","settle":"s","verifier":"v",
            "step":1,"evidence":["x"]}}]}"#;
        let read: PendingBlock = serde_json::from_str(older).expect("a block");
        assert_eq!((read.id.as_str(), read.rows, read.findings[0].mark), ("k3f9", 0, Some(Mark::Ticked)));
        assert_eq!(read.findings[0].finding.claim, "Create `a.rs`");
    }
}
