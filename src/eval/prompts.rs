//! Writes the readers' prompts of cases to files that tell nothing of the case, for somebody else to
//! answer. Must not let a case's name or a path of this machine into them.

use std::fs;
use std::path::{Path, PathBuf};

use super::case::Case;
use super::layout::{LaidOut, lay_out};
use super::replies::{self, Key, Replies, fence};
use super::run::{self, RunError};
use crate::readers::Prompt;
use crate::readers::prompt::SCHEMA;
use crate::readers::second::list_findings;

/// What to write, and where.
#[derive(Debug, Clone)]
pub struct Wanted<'a> {
    /// The folder.
    pub out: &'a Path,
    /// Which number stands for which case.
    pub key: &'a Key,
    /// The second reader's prompts, and not the first's.
    pub second: bool,
    /// Answers to the first reader's prompts that are not stored yet.
    pub replies: Option<&'a Replies>,
}

/// Writes the key and the schema of an answer; `key_file` must not be among the prompts.
pub fn begin(wanted: &Wanted<'_>, key_file: &Path) -> Result<(), String> {
    let fault = |path: &Path, error: std::io::Error| format!("{}: {error}", path.display());
    fs::create_dir_all(wanted.out).map_err(|error| fault(wanted.out, error))?;
    let parent = key_file.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let real = |path: &Path| fs::canonicalize(path).map_err(|error| fault(path, error));
    if real(parent)?.starts_with(real(wanted.out)?) {
        return Err(format!(
            "the key {} must not stand among the prompts: it names the cases",
            key_file.display()
        ));
    }
    wanted.key.write(key_file)?;
    let schema = wanted.out.join("answer.schema.json");
    fs::write(&schema, SCHEMA).map_err(|error| fault(&schema, error))
}

/// Writes the prompt of a case; gives the file, or `None` where there is nothing to ask.
pub fn write(case: &Case, wanted: &Wanted<'_>) -> Result<Option<PathBuf>, RunError> {
    let laid_out = lay_out(case).map_err(|why| RunError::Layout { name: case.name.clone(), why })?;
    let prepared = run::prepared(case, &laid_out, crate::readers::Prompts::default())?;
    let Some(number) = wanted.key.number(case).filter(|_| prepared.passed_over.is_none()) else {
        return Ok(None);
    };
    let in_prompt = |why| RunError::Prompt { name: case.name.clone(), why };
    let shown = prepared.brief.shown_between(&fence(number)).map_err(in_prompt)?;
    let (prompt, reader) = if wanted.second {
        let asked = replies::asked_of_second(case, wanted.replies, &prepared, &shown, &laid_out)?;
        if asked.is_empty() {
            return Ok(None);
        }
        let list = list_findings(&asked.iter().collect::<Vec<_>>());
        (shown.second(prepared.brief.prompts(), &list).map_err(in_prompt)?, "second")
    } else {
        (shown.first(prepared.brief.prompts()).map_err(in_prompt)?, "first")
    };
    let text = neutral_text(case, &prompt, &laid_out)?;
    let path = wanted.out.join(format!("{number}.{reader}.md"));
    match fs::write(&path, text) {
        Ok(()) => Ok(Some(path)),
        Err(error) => Err(RunError::Unwritable { path, why: error }),
    }
}

/// The whole prompt, if nothing in it tells which case it is.
fn neutral_text(case: &Case, prompt: &Prompt, laid_out: &LaidOut) -> Result<String, RunError> {
    let text = laid_out.neutral(&prompt.whole()) + "\n";
    let is_telling = text.contains(&case.name) || laid_out.is_named_in(&text);
    if is_telling { Err(RunError::Telling { name: case.name.clone() }) } else { Ok(text) }
}
