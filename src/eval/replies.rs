//! Where the answers to a case come from: a folder of answers to numbered prompts where one is given
//! and has it, else what is stored in the case. An answer that does not fit is told with its file's
//! name, and is none.

use std::path::{Path, PathBuf};

use super::case::{Case, CaseError};
use super::layout::LaidOut;
use super::numbers::Key;
use super::stored::{self, FirstFile, SloppyFile, StoredVerdict};
use super::{second, told};
use crate::client::reply;
use crate::finding::Finding;
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
pub struct Found {
    /// The answer, with the paths of the layout.
    pub answer: Option<Answer>,
    /// What is wrong with the one that is there.
    pub fault: Option<String>,
    /// Whether it was read from the folder, and not from the case.
    pub is_new: bool,
}

impl Replies {
    /// The answer of one reader to a case; `None` where the folder has no such file.
    fn answer(&self, case: &Case, reader: &str, laid_out: &LaidOut) -> Option<Found> {
        let name = format!("{}.{reader}.json", self.key.number(case)?);
        let text = match std::fs::read(self.folder.join(&name)) {
            Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return None,
            Err(error) => return Some(Found::faulty(&name, &error.to_string())),
        };
        Some(match reply::recorded_outcome(&laid_out.real(&text), Answer::check) {
            ReaderOutcome::Answered(json) => match Answer::from_json(&json) {
                Ok(answer) => Found { answer: Some(answer), fault: None, is_new: true },
                Err(why) => Found::faulty(&name, &why),
            },
            outcome => Found::faulty(&name, &outcome.detail().unwrap_or_default()),
        })
    }
}

impl Found {
    fn faulty(name: &str, why: &str) -> Self {
        Self { answer: None, fault: Some(format!("{name}: {why}")), is_new: true }
    }
}

/// The first reader's answer to a case.
pub fn first(case: &Case, replies: Option<&Replies>, laid_out: &LaidOut) -> Result<Found, CaseError> {
    if let Some(found) = replies.and_then(|replies| replies.answer(case, "first", laid_out)) {
        return Ok(found);
    }
    let file: Option<FirstFile> = stored::read(case, stored::FIRST, laid_out)?;
    Ok(Found { answer: file.map(|file| file.answer), ..Found::default() })
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
        answers.push(told::lying_answer(&told::lies(prepared, shown)));
    }
    Ok(told::asked_of_second(&answers, prepared, shown, laid_out))
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
    let Some(found) = replies.and_then(|replies| replies.answer(case, "second", laid_out)) else {
        let file = stored::read_second(case)?.unwrap_or_default();
        return Ok(SecondWords { verdicts: file.verdicts, ..SecondWords::default() });
    };
    let asked = asked_of_second(case, replies, prepared, shown, laid_out)?;
    let verdicts = found.answer.map(|answer| second::stored(&answer, &asked, laid_out)).unwrap_or_default();
    Ok(SecondWords { verdicts, fault: found.fault, is_new: true })
}

/// Writes the new answers of a case into its folder, with the name of who gave them.
pub fn record(
    case: &Case,
    by: &str,
    first: &Found,
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
