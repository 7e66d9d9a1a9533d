//! What readers said of a case, as it stands in its folder: `first.json`, `sloppy.json`,
//! `second.json`. Takes files, gives values and the other way round. Must not accept a file that
//! does not fit: an answer that is misread measures nothing.

use std::fs;
use std::path::Path;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::case::{Case, CaseError};
use super::layout::LaidOut;
use crate::finding::{Category, Finding, Kind};
use crate::readers::Answer;
use crate::text::normalise::normalised;

/// The first reader's answer.
pub const FIRST: &str = "first.json";
/// Two false findings, for a clean case.
pub const SLOPPY: &str = "sloppy.json";
/// The second reader's word on findings.
pub const SECOND: &str = "second.json";

/// `first.json`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FirstFile {
    /// Who answered.
    pub answered_by: String,
    pub answer: Answer,
}

/// `sloppy.json`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SloppyFile {
    /// Who made it up.
    pub written_by: String,
    pub answer: Answer,
}

/// `second.json`
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SecondFile {
    /// Who answered.
    pub answered_by: String,
    /// What, of each finding.
    pub verdicts: Vec<StoredVerdict>,
}

/// The second reader's word on a finding, which is known again by its category, kind, claim and path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StoredVerdict {
    /// The finding's category.
    pub category: Category,
    pub kind: Kind,
    /// The words it rests on.
    pub claim: String,
    /// The file it speaks of; empty for none.
    pub path: String,
    /// What was said against the session.
    pub why_given: String,
    /// Whether it survives.
    pub uphold: bool,
    pub why: String,
}

/// By what a finding is known again, wherever its case is laid out.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FindingKey {
    category: Category,
    kind: Kind,
    claim: String,
    path: String,
}

impl FindingKey {
    /// The key of these, none of which has a path of the temporary layout in it.
    pub fn new(category: Category, kind: Kind, claim: &str, path: &str) -> Self {
        Self { category, kind, claim: normalised(claim), path: path.trim().to_owned() }
    }

    /// The key of a finding, in the layout in which it was found.
    pub fn of(finding: &Finding, laid_out: &LaidOut) -> Self {
        let path = finding.path.as_deref().unwrap_or_default();
        let (claim, path) = (laid_out.unplaced(&finding.claim), laid_out.unplaced(path));
        Self::new(finding.category, finding.kind, &claim, &path)
    }
}

impl StoredVerdict {
    /// The key of the finding that it speaks of.
    pub fn key(&self) -> FindingKey {
        FindingKey::new(self.category, self.kind, &self.claim, &self.path)
    }
}

/// Reads a file of a case with the paths of its layout filled in; `None` where there is none.
pub fn read<T: DeserializeOwned>(
    case: &Case,
    name: &str,
    laid_out: &LaidOut,
) -> Result<Option<T>, CaseError> {
    parse(&case.folder.join(name), |text| laid_out.placed(text))
}

/// Reads the second reader's words as they stand: their paths are compared without those of a layout.
pub fn read_second(case: &Case) -> Result<Option<SecondFile>, CaseError> {
    parse(&case.folder.join(SECOND), str::to_owned)
}

fn parse<T: DeserializeOwned>(path: &Path, placed: impl Fn(&str) -> String) -> Result<Option<T>, CaseError> {
    let text = match fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(why) => return Err(CaseError::Unreadable { path: path.to_path_buf(), why }),
    };
    let bad = |error: serde_json::Error| CaseError::Bad { path: path.to_path_buf(), why: error.to_string() };
    serde_json::from_str(&placed(&text)).map(Some).map_err(bad)
}

/// Writes a file of a case, with the paths of its layout taken out.
pub fn write<T: Serialize>(case: &Case, name: &str, file: &T, laid_out: &LaidOut) -> Result<(), CaseError> {
    let path = case.folder.join(name);
    let json = serde_json::to_string_pretty(file)
        .map_err(|error| CaseError::Bad { path: path.clone(), why: error.to_string() })?;
    fs::write(&path, laid_out.unplaced(&json) + "\n").map_err(|why| CaseError::Unreadable { path, why })
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
}
