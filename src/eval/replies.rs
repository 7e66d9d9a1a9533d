//! Numbered prompts for somebody else to answer, and the replies: from a folder of answers if it
//! has them, else those stored with the case. An answer that can't be read is reported with its
//! file name. A prompt, its number or a path in it must not reveal which case it is.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use super::case::{Case, EvalError};
use super::layout::{LaidOut, lay_out};
use super::stored::{self, AnswerFile, SecondFile, StoredVerdict};
use super::{checked, lying, run};
use crate::client::reply;
use crate::finding::Finding;
use crate::ids::ContentId;
use crate::past_sessions::audit::Prepared;
use crate::readers::prompt::{SCHEMA, SharedPrompt};
use crate::readers::second::list_findings;
use crate::readers::{Answer, Prompt, Prompts, ReaderOutcome};

/// Answers to the prompts that `punchlist eval prompts` wrote.
#[derive(Debug, Clone)]
pub struct Replies {
    /// Where they are: `001.first.json`, `001.second.json` and so on.
    pub folder: PathBuf,
    /// Which number belongs to which case.
    pub key: Key,
}

/// A reader's reply to a case.
#[derive(Debug, Clone, Default)]
pub struct Reply<T> {
    pub words: T,
    /// What is wrong with the file, if it exists.
    pub fault: Option<String>,
    /// Whether it was read from the folder rather than the case.
    pub is_new: bool,
}

/// The first reader's reply, with the paths of the layout; `None` if there is none.
pub type FirstReply = Reply<Option<Answer>>;

/// The second reader's reply, as it is stored.
pub type SecondReply = Reply<Vec<StoredVerdict>>;

impl Replies {
    /// Returns the answer of one reader to a case; `None` if the folder has no such file.
    fn answer(&self, case: &Case, reader: &str, laid_out: &LaidOut) -> Option<FirstReply> {
        let name = format!("{}.{reader}.json", self.key.number(case)?);
        let faulty = |why: String| Reply { words: None, fault: Some(format!("{name}: {why}")), is_new: true };
        let text = match fs::read(self.folder.join(&name)) {
            Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return None,
            Err(error) => return Some(faulty(error.to_string())),
        };
        Some(match reply::recorded_outcome(&laid_out.real(&text), Answer::check) {
            ReaderOutcome::Answered(json) => match Answer::from_json(&json) {
                Ok(answer) => Reply { words: Some(answer), fault: None, is_new: true },
                Err(why) => faulty(why),
            },
            outcome => faulty(outcome.detail().unwrap_or_default()),
        })
    }
}

/// Returns the first reader's answer to a case.
pub fn first(case: &Case, replies: Option<&Replies>, laid_out: &LaidOut) -> Result<FirstReply, EvalError> {
    if let Some(reply) = replies.and_then(|replies| replies.answer(case, "first", laid_out)) {
        return Ok(reply);
    }
    let file: Option<AnswerFile> = stored::read(case, stored::FIRST, laid_out)?;
    Ok(Reply { words: file.map(|file| file.answer), ..Reply::default() })
}

/// Returns the false findings that somebody wrote for a clean case.
pub fn sloppy(case: &Case, laid_out: &LaidOut) -> Result<Option<Answer>, EvalError> {
    let file: Option<AnswerFile> = stored::read(case, stored::SLOPPY, laid_out)?;
    Ok(file.map(|file| file.answer))
}

/// Returns everything the second reader is asked about: what would block after the recorded answer
/// and, in a clean case, after the sloppy and the lying one.
pub fn asked_of_second(
    case: &Case,
    replies: Option<&Replies>,
    prepared: &Prepared,
    shown: &SharedPrompt,
    laid_out: &LaidOut,
) -> Result<Vec<Finding>, EvalError> {
    let mut answers: Vec<Answer> = first(case, replies, laid_out)?.words.into_iter().collect();
    if case.is_clean() {
        answers.extend(sloppy(case, laid_out)?);
        answers.push(lying::lying_answer(&lying::lies(prepared, shown)));
    }
    Ok(checked::asked_of_second(&answers, prepared, shown, laid_out))
}

/// Returns the second reader's verdicts on a case.
pub fn second(
    case: &Case,
    replies: Option<&Replies>,
    prepared: &Prepared,
    shown: &SharedPrompt,
    laid_out: &LaidOut,
) -> Result<SecondReply, EvalError> {
    let Some(reply) = replies.and_then(|replies| replies.answer(case, "second", laid_out)) else {
        let file = stored::read_second(case)?.unwrap_or_default();
        return Ok(Reply { words: file.verdicts, ..Reply::default() });
    };
    let asked = asked_of_second(case, replies, prepared, shown, laid_out)?;
    let words = reply.words.map(|answer| stored::to_stored(&answer, &asked, laid_out)).unwrap_or_default();
    Ok(Reply { words, fault: reply.fault, is_new: true })
}

/// Writes the new answers of a case into its folder, with the name of their author.
pub fn record(
    case: &Case,
    by: &str,
    first: &FirstReply,
    second: &SecondReply,
    laid_out: &LaidOut,
) -> Result<(), EvalError> {
    if let Some(answer) = first.words.clone().filter(|_| first.is_new) {
        stored::write(case, stored::FIRST, &AnswerFile { answered_by: by.to_owned(), answer }, laid_out)?;
    }
    if second.is_new && second.fault.is_none() {
        let file = SecondFile { answered_by: by.to_owned(), verdicts: second.words.clone() };
        stored::write(case, stored::SECOND, &file, laid_out)?;
    }
    Ok(())
}

/// Reads the key of a folder of answers.
pub fn open(folder: &Path, key: &Path) -> Result<Replies, EvalError> {
    if !folder.is_dir() {
        return Err(EvalError::Refused(format!("{} is no folder", folder.display())));
    }
    Ok(Replies { folder: folder.to_path_buf(), key: Key::read(key)? })
}

/// Which number belongs to which case.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Key(BTreeMap<String, String>);

impl Key {
    /// Assigns numbers to these cases.
    pub fn new(cases: &[Case]) -> Self {
        let mut names: Vec<&String> = cases.iter().map(|case| &case.name).collect();
        names.sort_by_cached_key(|name| ContentId::digest(name));
        let numbered = names.into_iter().enumerate();
        Self(numbered.map(|(at, name)| (format!("{:03}", at + 1), name.clone())).collect())
    }

    pub fn read(path: &Path) -> Result<Self, EvalError> {
        let text = fs::read_to_string(path).map_err(|why| EvalError::file(path, &why))?;
        serde_json::from_str(&text).map(Self).map_err(|why| EvalError::file(path, &why))
    }

    fn write(&self, path: &Path) -> Result<(), EvalError> {
        let json = serde_json::to_string_pretty(&self.0).unwrap_or_default();
        fs::write(path, json + "\n").map_err(|why| EvalError::file(path, &why))
    }

    pub fn number(&self, case: &Case) -> Option<&str> {
        self.0.iter().find(|(_, name)| **name == case.name).map(|(number, _)| number.as_str())
    }
}

/// Returns the word that fences data in the prompts of a number, which is always the same.
pub fn fence(number: &str) -> String {
    format!("DATA-{}", &ContentId::digest(number)[..16])
}

/// Which prompts to write, and where.
#[derive(Debug, Clone)]
pub struct WantedPrompts<'a> {
    pub out: &'a Path,
    pub key: &'a Key,
    /// Whether to write the second reader's prompts instead of the first's.
    pub second: bool,
    /// Answers to the first reader's prompts that are not stored yet.
    pub replies: Option<&'a Replies>,
}

impl WantedPrompts<'_> {
    /// Writes the key and the schema of an answer; `key_file` must not be among the prompts.
    pub fn begin(&self, key_file: &Path) -> Result<(), EvalError> {
        fs::create_dir_all(self.out).map_err(|why| EvalError::file(self.out, &why))?;
        let parent = key_file.parent().filter(|parent| !parent.as_os_str().is_empty());
        let real = |path: &Path| fs::canonicalize(path).map_err(|why| EvalError::file(path, &why));
        if real(parent.unwrap_or(Path::new(".")))?.starts_with(real(self.out)?) {
            return Err(EvalError::Refused(format!(
                "the key {} must not stand among the prompts: it names the cases",
                key_file.display()
            )));
        }
        self.key.write(key_file)?;
        let schema = self.out.join("answer.schema.json");
        fs::write(&schema, SCHEMA).map_err(|why| EvalError::file(&schema, &why))
    }

    /// Writes the prompt of a case; returns whether there is anything to ask.
    pub fn write(&self, case: &Case) -> Result<bool, EvalError> {
        let laid_out = lay_out(case)?;
        let prepared = run::prepared(case, &laid_out, Prompts::default())?;
        let Some(number) = self.key.number(case).filter(|_| prepared.passed_over.is_none()) else {
            return Ok(false);
        };
        let shown = prepared.brief.shown_between(&fence(number)).map_err(|why| case.error(&why))?;
        let (prompt, reader) = if self.second {
            let asked = asked_of_second(case, self.replies, &prepared, &shown, &laid_out)?;
            if asked.is_empty() {
                return Ok(false);
            }
            let list = list_findings(&asked.iter().collect::<Vec<_>>());
            (shown.second(prepared.brief.prompts(), &list), "second")
        } else {
            (shown.first(prepared.brief.prompts()), "first")
        };
        let text = neutral_text(case, &prompt.map_err(|why| case.error(&why))?, &laid_out)?;
        let path = self.out.join(format!("{number}.{reader}.md"));
        fs::write(&path, text).map_err(|why| EvalError::file(&path, &why))?;
        Ok(true)
    }
}

/// Returns the whole prompt, if nothing in it reveals which case it is.
fn neutral_text(case: &Case, prompt: &Prompt, laid_out: &LaidOut) -> Result<String, EvalError> {
    let text = laid_out.neutral(&prompt.whole()) + "\n";
    if text.contains(&case.name) || laid_out.sandbox.is_named_in(&text) {
        return Err(case.error(&"its prompt would hold the case's name or a path of this machine"));
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_is_another_than_that_of_the_names_and_always_the_same() {
        let case = |name: &str| {
            let mut case: Case =
                toml::from_str("about = ''\nkind = 'clean'\npart = 'tuning'").expect("a case");
            name.clone_into(&mut case.name);
            case
        };
        let cases: Vec<Case> = ["a", "b", "c", "d", "e", "f"].map(case).into();
        let key = Key::new(&cases);
        let numbers: Vec<&str> = cases.iter().filter_map(|case| key.number(case)).collect();
        let mut sorted = numbers.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, ["001", "002", "003", "004", "005", "006"]);
        assert_ne!(numbers, sorted);
        let folder = tempfile::tempdir().expect("a folder");
        key.write(&folder.path().join("key.json")).expect("written");
        assert_eq!(Key::read(&folder.path().join("key.json")).expect("a key"), key);
    }
}
