//! A second reader that answers from what was recorded: takes the findings out of its prompt, as the
//! real one would, and gives the stored word on each. Must not make one up: what nothing is stored
//! of is left out of the answer, and counted.

use std::time::Duration;

use serde::Deserialize;

use super::layout::LaidOut;
use super::stored::{FindingKey, StoredVerdict};
use crate::finding::{Category, Finding, Kind};
use crate::readers::{Answer, Prompt, Reader, ReaderOutcome, ReaderRun, Verdict};

/// The reader.
#[derive(Debug)]
pub struct RecordedSecond<'a> {
    verdicts: &'a [StoredVerdict],
    laid_out: &'a LaidOut,
    /// How often it was asked.
    pub calls: usize,
    /// The findings that it was asked about and has no word on.
    pub not_recorded: Vec<String>,
}

/// A finding as it stands in the prompt; what else is said of it does not matter here.
#[derive(Debug, Deserialize)]
struct Listed {
    number: usize,
    category: Category,
    kind: Kind,
    claim: String,
    path: String,
}

impl<'a> RecordedSecond<'a> {
    /// One that says this.
    pub fn new(verdicts: &'a [StoredVerdict], laid_out: &'a LaidOut) -> Self {
        Self { verdicts, laid_out, calls: 0, not_recorded: Vec::new() }
    }

    fn verdict_on(&mut self, listed: &Listed) -> Option<Verdict> {
        let (claim, path) = (self.laid_out.unplaced(&listed.claim), self.laid_out.unplaced(&listed.path));
        let key = FindingKey::new(listed.category, listed.kind, &claim, &path);
        let Some(said) = self.verdicts.iter().find(|verdict| verdict.key() == key) else {
            let about =
                [path, claim].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ");
            self.not_recorded.push(format!("[{}] {}: {about}", listed.category.name(), listed.kind.name()));
            return None;
        };
        Some(Verdict { number: listed.number, uphold: said.uphold, why: said.why.clone() })
    }
}

impl Reader for RecordedSecond<'_> {
    fn ask(&mut self, prompt: &Prompt, _deadline: Duration) -> ReaderRun {
        self.calls += 1;
        let listed = match listed_in(&prompt.text) {
            Ok(listed) => listed,
            Err(why) => return ReaderRun::not_asked(ReaderOutcome::Unreadable(why)),
        };
        let verdicts = listed.iter().filter_map(|one| self.verdict_on(one)).collect();
        super::checked::answered(&Answer { verdicts, ..Answer::default() })
    }

    fn backend(&self) -> &'static str {
        "recorded"
    }

    fn model(&self) -> &'static str {
        "recorded"
    }
}

/// The findings of a prompt: one JSON object a line, between the last marks of that name. What
/// stands before them is data, and may hold marks of its own.
fn listed_in(text: &str) -> Result<Vec<Listed>, String> {
    let lines: Vec<&str> = text.lines().collect();
    let fence_of = |line: &&str| line.strip_prefix("<<")?.strip_suffix(" end findings>>").map(str::to_owned);
    let end = lines.iter().rposition(|line| fence_of(line).is_some());
    let end = end.ok_or("the prompt lists no findings")?;
    let begin = format!("<<{} findings>>", fence_of(&lines[end]).unwrap_or_default());
    let start =
        lines[..end].iter().rposition(|line| **line == *begin).ok_or("the prompt's list has no begin")?;
    let parsed = lines[start + 1..end].iter().map(|line| serde_json::from_str(line));
    parsed.collect::<Result<_, _>>().map_err(|error| format!("the prompt's list of findings: {error}"))
}

/// The words of a numbered answer as they are stored: one for each finding of the list that it speaks of.
pub fn stored(answer: &Answer, asked: &[Finding], laid_out: &LaidOut) -> Vec<StoredVerdict> {
    let spoken = asked.iter().enumerate().filter_map(|(at, finding)| {
        let said = answer.verdicts.iter().find(|verdict| verdict.number == at + 1)?;
        Some(StoredVerdict {
            category: finding.category,
            kind: finding.kind,
            claim: laid_out.unplaced(&finding.claim),
            path: laid_out.unplaced(finding.path.as_deref().unwrap_or_default()),
            why_given: laid_out.unplaced(&finding.why),
            uphold: said.uphold,
            why: said.why.clone(),
        })
    });
    spoken.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_list_is_read_whatever_stands_before_it() {
        let data = "<<F findings>>\nnot JSON\n<<F end findings>>\n";
        let line =
            r#"{"number":1,"category":"A","kind":"missing","claim":"c","claimed_in":"plan","path":"p"}"#;
        let text = format!("{data}Your task\n<<G findings>>\n{line}\n<<G end findings>>\nFor each, answer.");
        let listed = listed_in(&text).expect("a list");
        assert_eq!((listed.len(), listed[0].number, listed[0].path.as_str()), (1, 1, "p"));
        assert!(listed_in("no list").is_err());
        assert!(listed_in(data).is_err());
    }
}
