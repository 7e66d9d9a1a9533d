//! Answers to a case: from a folder of answers to numbered prompts where it has them, else those that
//! are stored with the case. An answer that can't be read is reported with its file's name. Must not
//! let the number of a prompt tell which case it is.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use super::case::{Case, CaseError};
use super::layout::LaidOut;
use super::stored::{self, FirstFile, SloppyFile, StoredVerdict};
use super::{checked, lying, second};
use crate::client::reply;
use crate::finding::Finding;
use crate::ids::ContentId;
use crate::past_sessions::audit::Prepared;
use crate::readers::prompt::SharedPrompt;
use crate::readers::{Answer, ReaderOutcome};

/// Answers to the prompts that `punchlist eval prompts` wrote.
#[derive(Debug, Clone)]
pub struct Replies {
    /// Where they are: `001.first.json`, `001.second.json` and so on.
    pub folder: PathBuf,
    /// Which number stands for which case.
    pub key: Key,
}

/// An answer, or why there is none.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Reply {
    /// The answer, with the paths of the layout.
    pub answer: Option<Answer>,
    /// What is wrong with the one that is there.
    pub fault: Option<String>,
    /// Whether it was read from the folder, and not from the case.
    pub is_new: bool,
}

impl Replies {
    /// The answer of one reader to a case; `None` where the folder has no such file.
    fn answer(&self, case: &Case, reader: &str, laid_out: &LaidOut) -> Option<Reply> {
        let name = format!("{}.{reader}.json", self.key.number(case)?);
        let text = match fs::read(self.folder.join(&name)) {
            Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return None,
            Err(error) => return Some(Reply::faulty(&name, &error.to_string())),
        };
        Some(match reply::recorded_outcome(&laid_out.real(&text), Answer::check) {
            ReaderOutcome::Answered(json) => match Answer::from_json(&json) {
                Ok(answer) => Reply { answer: Some(answer), fault: None, is_new: true },
                Err(why) => Reply::faulty(&name, &why),
            },
            outcome => Reply::faulty(&name, &outcome.detail().unwrap_or_default()),
        })
    }
}

impl Reply {
    fn faulty(name: &str, why: &str) -> Self {
        Self { answer: None, fault: Some(format!("{name}: {why}")), is_new: true }
    }
}

/// The first reader's answer to a case.
pub fn first(case: &Case, replies: Option<&Replies>, laid_out: &LaidOut) -> Result<Reply, CaseError> {
    if let Some(reply) = replies.and_then(|replies| replies.answer(case, "first", laid_out)) {
        return Ok(reply);
    }
    let file: Option<FirstFile> = stored::read(case, stored::FIRST, laid_out)?;
    Ok(Reply { answer: file.map(|file| file.answer), ..Reply::default() })
}

/// The false findings that somebody wrote for a clean case.
pub fn sloppy(case: &Case, laid_out: &LaidOut) -> Result<Option<Answer>, CaseError> {
    let file: Option<SloppyFile> = stored::read(case, stored::SLOPPY, laid_out)?;
    Ok(file.map(|file| file.answer))
}

/// What the second reader is asked about in all: what would hold after the recorded answer and, in a
/// clean case, after the sloppy and the lying one.
pub fn asked_of_second(
    case: &Case,
    replies: Option<&Replies>,
    prepared: &Prepared,
    shown: &SharedPrompt,
    laid_out: &LaidOut,
) -> Result<Vec<Finding>, CaseError> {
    let mut answers: Vec<Answer> = first(case, replies, laid_out)?.answer.into_iter().collect();
    if case.is_clean() {
        answers.extend(sloppy(case, laid_out)?);
        answers.push(lying::lying_answer(&lying::lies(prepared, shown)));
    }
    Ok(checked::asked_of_second(&answers, prepared, shown, laid_out))
}

/// The second reader's words on a case, as they are stored, and what is wrong with an answer of the folder.
#[derive(Debug, Clone, Default)]
pub struct SecondWords {
    /// Its words.
    pub verdicts: Vec<StoredVerdict>,
    /// What is wrong with them.
    pub fault: Option<String>,
    /// Whether they were read from the folder, and not from the case.
    pub is_new: bool,
}

/// The second reader's words on a case.
pub fn second(
    case: &Case,
    replies: Option<&Replies>,
    prepared: &Prepared,
    shown: &SharedPrompt,
    laid_out: &LaidOut,
) -> Result<SecondWords, CaseError> {
    let Some(reply) = replies.and_then(|replies| replies.answer(case, "second", laid_out)) else {
        let file = stored::read_second(case)?.unwrap_or_default();
        return Ok(SecondWords { verdicts: file.verdicts, ..SecondWords::default() });
    };
    let asked = asked_of_second(case, replies, prepared, shown, laid_out)?;
    let verdicts = reply.answer.map(|answer| second::stored(&answer, &asked, laid_out)).unwrap_or_default();
    Ok(SecondWords { verdicts, fault: reply.fault, is_new: true })
}

/// Writes the new answers of a case into its folder, with the name of who gave them.
pub fn record(
    case: &Case,
    by: &str,
    first: &Reply,
    second: &SecondWords,
    laid_out: &LaidOut,
) -> Result<(), CaseError> {
    if let Some(answer) = first.answer.clone().filter(|_| first.is_new) {
        stored::write(case, stored::FIRST, &FirstFile { answered_by: by.to_owned(), answer }, laid_out)?;
    }
    if second.is_new && second.fault.is_none() {
        let file = stored::SecondFile { answered_by: by.to_owned(), verdicts: second.verdicts.clone() };
        stored::write(case, stored::SECOND, &file, laid_out)?;
    }
    Ok(())
}

/// Reads the key of a folder of answers.
pub fn open(folder: &Path, key: &Path) -> Result<Replies, String> {
    if !folder.is_dir() {
        return Err(format!("{} is no folder", folder.display()));
    }
    Ok(Replies { folder: folder.to_path_buf(), key: Key::read(key)? })
}

/// Which number stands for which case.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Key(BTreeMap<String, String>);

impl Key {
    /// Numbers for these cases.
    pub fn new(cases: &[Case]) -> Self {
        let mut names: Vec<&String> = cases.iter().map(|case| &case.name).collect();
        names.sort_by_cached_key(|name| ContentId::of(name));
        let numbered = names.into_iter().enumerate();
        Self(numbered.map(|(at, name)| (format!("{:03}", at + 1), name.clone())).collect())
    }

    /// Reads a key.
    pub fn read(path: &Path) -> Result<Self, String> {
        let fault = |why: &dyn std::fmt::Display| format!("{}: {why}", path.display());
        let text = fs::read_to_string(path).map_err(|why| fault(&why))?;
        serde_json::from_str(&text).map(Self).map_err(|why| fault(&why))
    }

    /// Writes it.
    pub fn write(&self, path: &Path) -> Result<(), String> {
        let json = serde_json::to_string_pretty(&self.0).map_err(|error| error.to_string())?;
        fs::write(path, json + "\n").map_err(|error| format!("{}: {error}", path.display()))
    }

    /// The number of a case.
    pub fn number(&self, case: &Case) -> Option<&str> {
        self.0.iter().find(|(_, name)| **name == case.name).map(|(number, _)| number.as_str())
    }
}

/// The word that fences data in the prompts of a number: the same whenever they are written.
pub fn fence(number: &str) -> String {
    format!("DATA-{}", &ContentId::of(number)[..16])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_is_another_than_that_of_the_names_and_always_the_same() {
        let case = |name: &str| Case { name: name.into(), ..Case::unknown() };
        let cases: Vec<Case> = ["a", "b", "c", "d", "e", "f"].map(case).into();
        let key = Key::new(&cases);
        let numbers: Vec<&str> = cases.iter().filter_map(|case| key.number(case)).collect();
        let mut sorted = numbers.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, ["001", "002", "003", "004", "005", "006"]);
        assert_ne!(numbers, sorted);
        let folder = tempfile::tempdir().expect("a folder");
        key.write(&folder.path().join("key.json")).expect("written");
        assert_eq!(Key::read(&folder.path().join("key.json")), Ok(key));
    }
}
