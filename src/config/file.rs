//! One config file: takes TOML, gives what it sets. Must not accept a key or a value that it does not know,
//! and must say which one and what is allowed.

use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Deserializer, de};

use super::globs::plan_glob;
use super::{ConfigError, Mode, Planless, UnrunChecks};
use crate::files::open_regular;
use crate::finding::Category;

/// A config file: every key may be missing.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ConfigFile {
    /// `[audit]`
    pub audit: AuditTable,
    /// `[auditor]`
    pub auditor: AuditorTable,
    /// `[log]`
    pub log: LogTable,
}

/// `[audit]`
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[expect(missing_docs, reason = "each is documented where it is used, in `AuditConfig`")]
pub struct AuditTable {
    pub enabled: Option<bool>,
    pub dry_run: Option<bool>,
    pub block_on: Option<Vec<Category>>,
    pub max_blocks: Option<u32>,
    #[serde(deserialize_with = "globs")]
    pub plan: Option<Vec<String>>,
    #[serde(deserialize_with = "prompt_bytes")]
    pub max_prompt_bytes: Option<usize>,
    pub unrun_checks: Option<UnrunChecks>,
    pub planless: Option<Planless>,
    pub mode: Option<Mode>,
}

/// `[auditor]`
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[expect(missing_docs, reason = "each is documented where it is used, in `AuditorConfig`")]
pub struct AuditorTable {
    pub client: Option<PathBuf>,
    pub model: Option<String>,
    #[serde(deserialize_with = "duration")]
    pub timeout: Option<Duration>,
    pub prompts: Option<PathBuf>,
}

/// `[log]`
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[expect(missing_docs, reason = "each is documented where it is used, in `LogConfig`")]
pub struct LogTable {
    #[serde(deserialize_with = "duration")]
    pub keep: Option<Duration>,
    #[serde(deserialize_with = "size")]
    pub max_size: Option<u64>,
}

/// Below this a prompt could not even hold the question.
const LEAST_PROMPT_BYTES: usize = 10_000;

/// A length of time, as a person writes it.
pub fn parse_duration(text: &str) -> Result<Duration, String> {
    let span: Option<jiff::Span> = text.parse().ok();
    let duration = span.and_then(|span| span.to_duration(jiff::SpanRelativeTo::days_are_24_hours()).ok());
    let duration = duration.and_then(|duration| Duration::try_from(duration).ok());
    duration.filter(|duration| !duration.is_zero()).ok_or_else(|| {
        format!("\"{text}\" is not a length of time; write it like \"45s\", \"2m\" or \"90d\"")
    })
}

/// A size, as a person writes it.
pub fn parse_size(text: &str) -> Result<u64, String> {
    let size = text.parse::<bytesize::ByteSize>().map(|size| size.as_u64());
    size.map_err(|_| format!("\"{text}\" is not a size; write it like \"200MB\" or \"1GB\""))
}

fn duration<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Duration>, D::Error> {
    let text = String::deserialize(deserializer)?;
    parse_duration(&text).map(Some).map_err(de::Error::custom)
}

fn size<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
    let text = String::deserialize(deserializer)?;
    parse_size(&text).map(Some).map_err(de::Error::custom)
}

fn prompt_bytes<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<usize>, D::Error> {
    let bytes = usize::deserialize(deserializer)?;
    if bytes < LEAST_PROMPT_BYTES {
        return Err(de::Error::custom(format!("{bytes} is too little; at least {LEAST_PROMPT_BYTES}")));
    }
    Ok(Some(bytes))
}

fn globs<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Vec<String>>, D::Error> {
    let globs = Vec::<String>::deserialize(deserializer)?;
    for glob in &globs {
        plan_glob(glob)
            .map_err(|error| de::Error::custom(format!("\"{glob}\" is not a glob: {}", error.kind())))?;
    }
    Ok(Some(globs))
}

impl ConfigFile {
    /// Reads a file; `None` when there is none.
    pub fn read(path: &Path) -> Result<Option<Self>, ConfigError> {
        let file = path.display().to_string();
        match open_regular(path).and_then(io::read_to_string) {
            Ok(text) => Self::parse(&text, &file).map(Some),
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Ok(None),
            Err(error) => Err(ConfigError::Unreadable { file, why: error.to_string() }),
        }
    }

    /// Reads a text.
    pub fn parse(text: &str, file: &str) -> Result<Self, ConfigError> {
        let bad = |error: &toml::de::Error, key: String| {
            let start = error.span().map_or(0, |span| span.start.min(text.len()));
            let line = text[..start].matches('\n').count() + 1;
            ConfigError::Bad { file: file.to_owned(), line, key, why: error.message().trim().to_owned() }
        };
        let document = toml::Deserializer::parse(text).map_err(|error| bad(&error, "not TOML".into()))?;
        serde_path_to_error::deserialize(document).map_err(|error| {
            let key = error.path().to_string();
            bad(error.inner(), if key == "." { "top level".into() } else { key })
        })
    }

    /// Takes out what only the person's own file may set; gives the keys that were there.
    pub fn take_out_own_keys(&mut self) -> Vec<&'static str> {
        let mut taken = Vec::new();
        if self.auditor.client.take().is_some() {
            taken.push("auditor.client");
        }
        if self.auditor.prompts.take().is_some() {
            taken.push("auditor.prompts");
        }
        taken
    }
}
