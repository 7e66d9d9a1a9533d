//! Readers' answers to a case, as stored in its folder (`first.json`, `sloppy.json`,
//! `second.json`), and a second reader that answers from them. Must not accept a file that does not
//! fit, since a misread answer measures nothing, or make up an answer.

use std::fs;
use std::path::Path;
use std::time::Duration;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::case::{Case, EvalError};
use super::layout::LaidOut;
use crate::finding::{Category, Finding, Kind};
use crate::readers::{Answer, Prompt, Reader, ReaderOutcome, ReaderRun, Verdict};
use crate::text::normalise::normalised;

/// The first reader's answer.
pub const FIRST: &str = "first.json";
/// Two false findings, for a clean case.
pub const SLOPPY: &str = "sloppy.json";
/// The second reader's verdicts on findings.
pub const SECOND: &str = "second.json";

/// `first.json` and `sloppy.json`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AnswerFile {
    #[serde(alias = "written_by")]
    pub answered_by: String,
    pub answer: Answer,
}

/// `second.json`
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SecondFile {
    pub answered_by: String,
    pub verdicts: Vec<StoredVerdict>,
}

/// The second reader's verdict on a finding, which is identified by its category, kind, claim and
/// path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StoredVerdict {
    pub category: Category,
    pub kind: Kind,
    pub claim: String,
    /// Empty for none.
    pub path: String,
    /// The reason given against the session.
    pub why_given: String,
    pub uphold: bool,
    pub why: String,
}

/// Identifies a finding, wherever its case is laid out.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FindingKey {
    category: Category,
    kind: Kind,
    claim: String,
    path: String,
}

impl FindingKey {
    /// Returns the key for these values, which must not have a path of the temporary layout in
    /// them.
    pub fn new(category: Category, kind: Kind, claim: &str, path: &str) -> Self {
        Self { category, kind, claim: normalised(claim), path: path.trim().to_owned() }
    }

    /// Returns the key of a finding in its layout.
    pub fn for_finding(finding: &Finding, laid_out: &LaidOut) -> Self {
        let path = finding.path.as_deref().unwrap_or_default();
        let (claim, path) = (laid_out.sandbox.unplaced(&finding.claim), laid_out.sandbox.unplaced(path));
        Self::new(finding.category, finding.kind, &claim, &path)
    }
}

impl StoredVerdict {
    /// Returns the key of the finding that this verdict is about.
    pub fn key(&self) -> FindingKey {
        FindingKey::new(self.category, self.kind, &self.claim, &self.path)
    }
}

/// Reads a file of a case with the paths of its layout filled in; `None` if there is none.
pub fn read<T: DeserializeOwned>(
    case: &Case,
    name: &str,
    laid_out: &LaidOut,
) -> Result<Option<T>, EvalError> {
    parse(&case.folder.join(name), |text| laid_out.sandbox.placed_in_json(text))
}

/// Reads the second reader's verdicts as stored: their paths are compared without those of a
/// layout.
pub fn read_second(case: &Case) -> Result<Option<SecondFile>, EvalError> {
    parse(&case.folder.join(SECOND), str::to_owned)
}

fn parse<T: DeserializeOwned>(path: &Path, placed: impl Fn(&str) -> String) -> Result<Option<T>, EvalError> {
    let text = match fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(why) => return Err(EvalError::file(path, &why)),
    };
    serde_json::from_str(&placed(&text)).map(Some).map_err(|why| EvalError::file(path, &why))
}

/// Writes a file of a case, without the paths of its layout.
pub fn write<T: Serialize>(case: &Case, name: &str, file: &T, laid_out: &LaidOut) -> Result<(), EvalError> {
    let path = case.folder.join(name);
    let json = serde_json::to_string_pretty(file).map_err(|why| EvalError::file(&path, &why))?;
    fs::write(&path, laid_out.sandbox.unplaced(&json) + "\n").map_err(|why| EvalError::file(&path, &why))
}

/// A second reader that gives the stored verdict on each finding of its prompt. Findings without
/// one are left out of the answer, and counted.
#[derive(Debug)]
pub struct RecordedSecond<'a> {
    verdicts: &'a [StoredVerdict],
    laid_out: &'a LaidOut,
    /// How often it was asked.
    pub calls: usize,
    /// The findings that it was asked about and has no verdict on.
    pub not_recorded: Vec<String>,
}

/// A finding as the prompt lists it; its other fields don't matter here.
#[derive(Debug, Deserialize)]
struct Listed {
    number: usize,
    category: Category,
    kind: Kind,
    claim: String,
    path: String,
}

impl<'a> RecordedSecond<'a> {
    pub fn new(verdicts: &'a [StoredVerdict], laid_out: &'a LaidOut) -> Self {
        Self { verdicts, laid_out, calls: 0, not_recorded: Vec::new() }
    }

    fn verdict_on(&mut self, listed: &Listed) -> Option<Verdict> {
        let (claim, path) =
            (self.laid_out.sandbox.unplaced(&listed.claim), self.laid_out.sandbox.unplaced(&listed.path));
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

/// Returns the findings of a prompt: one JSON object per line, between the last marks of that name.
/// Everything before them is data, and may contain such marks.
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

/// Returns the verdicts of a numbered answer in the stored form: one for each listed finding that
/// it covers.
pub fn to_stored(answer: &Answer, asked: &[Finding], laid_out: &LaidOut) -> Vec<StoredVerdict> {
    let spoken = asked.iter().enumerate().filter_map(|(at, finding)| {
        let said = answer.verdicts.iter().find(|verdict| verdict.number == at + 1)?;
        Some(StoredVerdict {
            category: finding.category,
            kind: finding.kind,
            claim: laid_out.sandbox.unplaced(&finding.claim),
            path: laid_out.sandbox.unplaced(finding.path.as_deref().unwrap_or_default()),
            why_given: laid_out.sandbox.unplaced(&finding.why),
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
    fn a_finding_is_known_again_by_what_it_says_and_not_by_how_it_is_written() {
        let key = |claim: &str, path: &str| FindingKey::new(Category::A, Kind::Missing, claim, path);
        assert_eq!(key("- [x] Write **the** docs", "docs/a.md"), key("[x] write the docs.", "docs/a.md "));
        assert_ne!(key("Write the docs", "docs/a.md"), key("Write the docs", "docs/b.md"));
        let other = FindingKey::new(Category::A, Kind::Other, "Write the docs", "docs/a.md");
        assert_ne!(key("Write the docs", "docs/a.md"), other);
    }

    #[test]
    fn a_file_that_is_not_as_it_should_be_is_named() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join(SECOND);
        assert!(parse::<SecondFile>(&path, str::to_owned).expect("nothing there").is_none());
        fs::write(&path, r#"{"answered_by":"x","verdicts":[],"more":1}"#).expect("written");
        let fault = parse::<SecondFile>(&path, str::to_owned).expect_err("a fault").to_string();
        assert!(fault.contains("second.json: unknown field `more`"), "{fault}");
    }

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
