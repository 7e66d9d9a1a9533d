//! One config file: parses TOML into a [`Config`]. Must not accept an unknown key or value, and must
//! name the one that is wrong, its place and what is allowed.

use std::io::{self, ErrorKind};
use std::path::Path;

use toml::de::{DeTable, DeValue};

use super::Config;
use crate::files::open_regular;

/// Something wrong in a config file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    #[error("{file}: {why}")]
    Unreadable { file: String, why: String },
    /// A key or a value is wrong. Lines and columns count from 1.
    #[error("{file}, line {line}: {key}: {why}")]
    Bad { file: String, line: usize, column: usize, key: String, why: String },
    /// A key, or a value of it, that a project may not set; `own` is the file that may.
    #[error(
        "{file}: {key} counts only from your own file, {own}: a project may not choose what runs or is read"
    )]
    NotTheProjects { file: String, key: String, own: String },
}

impl Config {
    /// Parses the text of a config file. `file` is its name in errors.
    pub fn parse(text: &str, file: &str) -> Result<Self, ConfigError> {
        let document = DeTable::parse(text).map_err(|error| located(&error, text, file, "not TOML"))?;
        from_document(document, text, file)
    }
}

/// Reads a file and checks it; `None` when there is none.
pub(super) fn read(path: &Path) -> Result<Option<toml::Table>, ConfigError> {
    let file = path.display().to_string();
    match open_regular(path).and_then(io::read_to_string) {
        Ok(text) => {
            Config::parse(&text, &file)?;
            text.parse().map(Some).map_err(|error| located(&error, &text, &file, "not TOML"))
        }
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Ok(None),
        Err(error) => Err(ConfigError::Unreadable { file, why: error.to_string() }),
    }
}

/// Returns every error of a config file, in the order of the text.
pub fn errors(text: &str, file: &str) -> Vec<ConfigError> {
    let mut document = match DeTable::parse(text) {
        Ok(document) => document,
        Err(error) => return vec![located(&error, text, file, "not TOML")],
    };
    let mut errors = Vec::new();
    // Parsing ends at the first error, so the key that it is about is removed and the rest parsed
    // again.
    while let Err(error) = from_document(document.clone(), text, file) {
        let is_removed = matches!(&error, ConfigError::Bad { key, .. } if remove(document.get_mut(), key));
        errors.push(error);
        if !is_removed {
            break;
        }
    }
    errors.sort_by_key(|error| match error {
        ConfigError::Bad { line, column, .. } => (*line, *column),
        ConfigError::Unreadable { .. } | ConfigError::NotTheProjects { .. } => (0, 0),
    });
    errors
}

fn from_document(
    document: toml::Spanned<DeTable<'_>>,
    text: &str,
    file: &str,
) -> Result<Config, ConfigError> {
    serde_path_to_error::deserialize(toml::Deserializer::from(document)).map_err(|error| {
        let key = error.path().to_string();
        located(error.inner(), text, file, if key == "." { "top level" } else { &key })
    })
}

/// Removes the key at a path, or its whole table; returns whether it was there.
fn remove(document: &mut DeTable<'_>, path: &str) -> bool {
    let mut keys = path.split(['.', '[']);
    let (Some(table), key) = (keys.next(), keys.next()) else { return false };
    match (document.get_mut(table).map(toml::Spanned::get_mut), key) {
        (Some(DeValue::Table(inner)), Some(key)) => inner.remove(key).is_some(),
        (Some(_), _) => document.remove(table).is_some(),
        (None, _) => false,
    }
}

/// Adds to a parser's error where it is in the text, and the key that was probably meant.
fn located(error: &toml::de::Error, text: &str, file: &str, key: &str) -> ConfigError {
    let start = error.span().map_or(0, |span| text.floor_char_boundary(span.start));
    let line = text[..start].matches('\n').count() + 1;
    let column = text[..start].rsplit('\n').next().map_or(0, |before| before.chars().count()) + 1;
    let mut why = error.message().trim().to_owned();
    if let Some(moved) = ["dry_run", "max_blocks"].iter().find(|moved| key == format!("audit.{moved}")) {
        why.push_str(&format!("; `{moved}` stands in [gates], for all gates together"));
    } else if let Some(word) = similar_word(&why) {
        why.push_str(&format!("; did you mean `{word}`?"));
    }
    ConfigError::Bad { file: file.to_owned(), line, column, key: key.to_owned(), why }
}

/// From this ratio of shared letters on, a word counts as a misspelling of another.
const SIMILAR: f32 = 0.6;

/// Returns the allowed word that is most like the unknown one; serde's message names all of them.
fn similar_word(message: &str) -> Option<&str> {
    let mut words = message.split('`').skip(1).step_by(2);
    let is_unknown = ["unknown field", "unknown variant"].iter().any(|start| message.starts_with(start));
    let unknown = words.next().filter(|_| is_unknown)?.to_lowercase();
    let ratio = |word: &str| similar::TextDiff::from_chars(unknown.as_str(), word).ratio();
    let rated = words.map(|word| (ratio(&word.to_lowercase()), word));
    let likely = rated.filter(|(ratio, _)| *ratio >= SIMILAR);
    likely.max_by(|one, other| one.0.total_cmp(&other.0)).map(|(_, word)| word)
}
