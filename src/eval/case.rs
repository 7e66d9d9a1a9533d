//! One case: reads its folder, with what its author wrote down as the truth. Must not accept an
//! unknown key: a misspelt truth would be missed by every audit.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};

use crate::finding::{AdvisoryKind, Category};
use crate::parallel::Interrupted;

/// What kind of session it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Something was promised or claimed, and is not so.
    Drift,
    /// Nothing is wrong, whatever it looks like.
    Clean,
    /// It tries to talk the audit into something.
    Adversarial,
}

/// Which part of the cases it belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Part {
    /// Looked at while the rules are written
    Tuning,
    /// Never looked at: shows how good the rules are
    HeldOut,
}

impl Part {
    /// Returns the name that is written in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Tuning => "tuning",
            Self::HeldOut => "held-out",
        }
    }
}

/// What it takes to prove a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Proof {
    /// Disk and session alone.
    Facts,
    Judgement,
}

/// A true finding: what the audit should find.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Truth {
    pub category: Category,
    pub path: Option<String>,
    /// The number of the plan's step.
    pub step: Option<usize>,
    /// The text that it is based on.
    pub quote: Option<String>,
    pub why: String,
    pub proof: Proof,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrueAdvisory {
    pub kind: AdvisoryKind,
}

/// A case: its `case.toml`, and its location.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Case {
    /// Its folder's name.
    #[serde(skip)]
    pub name: String,
    #[serde(skip)]
    pub folder: PathBuf,
    pub about: String,
    pub kind: Kind,
    pub part: Part,
    /// Free-form tags.
    #[serde(default)]
    pub tags: Vec<String>,
    /// The client that recorded it, if not the newest.
    pub client: Option<String>,
    /// Whether the workspace is a repository.
    #[serde(default = "yes")]
    pub git: bool,
    #[serde(default, rename = "finding")]
    pub findings: Vec<Truth>,
    /// What the person should be told.
    #[serde(default, rename = "advisory")]
    pub advisories: Vec<TrueAdvisory>,
    // How the session was played; only the recorder reads it.
    #[serde(rename = "tools")]
    _tools: Option<IgnoredAny>,
    #[serde(rename = "turn")]
    _turns: Option<IgnoredAny>,
}

fn yes() -> bool {
    true
}

/// Why cases can't be read, run or written.
#[derive(Debug, thiserror::Error)]
pub enum EvalError {
    #[error("{path}: {why}", path = path.display())]
    File { path: PathBuf, why: String },
    #[error("{folder} holds no case: no folder in it has a case.toml{wanted}", folder = folder.display())]
    NoCase { folder: PathBuf, wanted: String },
    #[error("{name} can't be laid out: {why}")]
    Layout { name: String, why: io::Error },
    #[error("{name}: {why}")]
    Case { name: String, why: String },
    #[error(transparent)]
    Interrupted(#[from] Interrupted),
    #[error("{0}")]
    Refused(String),
}

impl EvalError {
    pub(crate) fn file(path: &Path, why: &impl ToString) -> Self {
        Self::File { path: path.to_path_buf(), why: why.to_string() }
    }
}

impl Case {
    pub fn read(folder: &Path) -> Result<Self, EvalError> {
        let path = folder.join("case.toml");
        let text = fs::read_to_string(&path).map_err(|why| EvalError::file(&path, &why))?;
        let case: Self = toml::from_str(&text).map_err(|why| EvalError::file(&path, &why))?;
        if case.kind == Kind::Clean && !case.findings.is_empty() {
            return Err(EvalError::file(&path, &"a clean case has findings"));
        }
        if case.kind == Kind::Drift && case.findings.is_empty() {
            return Err(EvalError::file(&path, &"a drift case has no finding"));
        }
        let name = folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        Ok(Self { name, folder: folder.to_path_buf(), ..case })
    }

    /// Returns the error of this case.
    pub(super) fn error(&self, why: &impl ToString) -> EvalError {
        EvalError::Case { name: self.name.clone(), why: why.to_string() }
    }

    /// Returns every case below a folder, by name; all of them, or those of one part or of one
    /// name.
    pub fn read_all(folder: &Path, part: Option<Part>, name: Option<&str>) -> Result<Vec<Self>, EvalError> {
        let unreadable = |why| EvalError::file(folder, &why);
        let mut folders = Vec::new();
        for entry in fs::read_dir(folder).map_err(unreadable)? {
            folders.push(entry.map_err(unreadable)?.path());
        }
        folders.sort();
        folders.retain(|folder| folder.join("case.toml").is_file());
        folders.retain(|folder| name.is_none_or(|name| folder.file_name().is_some_and(|own| own == name)));
        let mut cases = folders.iter().map(|folder| Self::read(folder)).collect::<Result<Vec<_>, _>>()?;
        cases.retain(|case| part.is_none_or(|part| case.part == part));
        if cases.is_empty() {
            let part = part.map(|part| format!(" of part {}", part.name()));
            let name = name.map(|name| format!(" and the name {name}"));
            let wanted = format!("{}{}", part.unwrap_or_default(), name.unwrap_or_default());
            return Err(EvalError::NoCase { folder: folder.to_path_buf(), wanted });
        }
        Ok(cases)
    }

    /// Returns whether there is nothing to find in it.
    pub fn is_clean(&self) -> bool {
        self.findings.is_empty()
    }

    /// Returns the path of its recorded transcript.
    pub fn transcript(&self) -> PathBuf {
        self.folder.join("transcript.jsonl")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(toml: &str) -> Result<Case, String> {
        let folder = tempfile::tempdir().expect("a folder");
        let case = folder.path().join("some-case");
        fs::create_dir(&case).expect("made");
        fs::write(case.join("case.toml"), toml).expect("written");
        Case::read(&case).map_err(|error| error.to_string())
    }

    const CLEAN: &str = "about = 'x'\nkind = 'clean'\npart = 'held-out'\n";
    const TRUE: &str = "[[finding]]\ncategory = 'ask'\nquote = 'q'\nwhy = 'w'\nproof = 'judgement'\n";

    #[test]
    fn a_case_is_read_with_its_script_left_alone() {
        let drift = CLEAN.replace("clean", "drift");
        let case = read(&format!("{drift}[[turn]]\nprompt = 'p'\nanything = 1\n{TRUE}")).expect("a case");
        assert_eq!((case.name.as_str(), case.part, case.git), ("some-case", Part::HeldOut, true));
        assert_eq!(case.findings[0].category, Category::Ask);
        assert!(!case.is_clean() && read(CLEAN).expect("a case").is_clean());
    }

    #[test]
    fn a_truth_that_makes_no_sense_is_told() {
        for (toml, said) in [
            (format!("{CLEAN}knd = 1\n"), "unknown field `knd`"),
            (format!("{CLEAN}{TRUE}"), "a clean case has findings"),
            (CLEAN.replace("clean", "drift"), "a drift case has no finding"),
            (format!("{CLEAN}[[advisory]]\nkind = 'x'\n"), "unknown variant `x`"),
            ("kind = 'clean'".to_owned(), "missing field `about`"),
        ] {
            let fault = read(&toml).expect_err(&toml);
            assert!(fault.contains(said), "{fault}");
        }
    }
}
