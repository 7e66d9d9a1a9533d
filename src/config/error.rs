//! Errors in a config file, and settings in it that do not count, with their messages. Plain data.

use std::fmt::Write as _;

use crate::text::from_home;

/// An error in a config file, or a setting that a project may not decide.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    #[error("{file}: {why}")]
    Unreadable { file: String, why: String },
    /// A key or a value is wrong. Lines and columns count from 1.
    #[error("{file}, line {line}: {key}: {}", with_instead(why, instead))]
    Bad { file: String, line: usize, column: usize, key: String, why: String, instead: Instead },
    /// A setting of a project's file that does not count.
    #[error("{file}: {setting} {}", because(own.as_deref()))]
    LeftAside {
        file: String,
        /// As a file writes it; without its value if that can be anything.
        setting: String,
        /// The person's own file if it counts only there; `None` if the person may allow it.
        own: Option<String>,
    },
}

/// What counts in the place of what is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Instead {
    Default,
    /// Nothing: there is no such setting.
    Nothing,
    /// What these words say.
    Said(String),
}

fn with_instead(why: &str, instead: &Instead) -> String {
    match instead {
        Instead::Said(words) => format!("{why}; {words}"),
        Instead::Default | Instead::Nothing => why.to_owned(),
    }
}

fn because(own: Option<&str>) -> String {
    match own {
        Some(own) => format!("counts only from your own file, {own}"),
        None => {
            "is ignored: a project may only make the gate stricter, unless you allow it: `punchlist allow`"
                .into()
        }
    }
}

impl ConfigError {
    pub fn file(&self) -> &str {
        match self {
            Self::Unreadable { file, .. } | Self::Bad { file, .. } | Self::LeftAside { file, .. } => file,
        }
    }

    /// Why it does not count, and what does in its place, without where it stands.
    pub fn why(&self) -> String {
        match self {
            Self::Unreadable { why, .. } => why.clone(),
            Self::Bad { why, instead, .. } => with_instead(why, instead),
            Self::LeftAside { own, .. } => because(own.as_deref()),
        }
    }

    /// What was done about it, behind its own words; empty where they say it.
    pub fn note(&self) -> &'static str {
        match self {
            Self::Bad { instead: Instead::Nothing, .. } => " (it is ignored)",
            Self::LeftAside { own: None, .. } | Self::Bad { instead: Instead::Said(_), .. } => "",
            Self::Unreadable { .. } | Self::Bad { .. } | Self::LeftAside { .. } => DEFAULT_USED,
        }
    }

    /// Whether the file has to be changed. What a person may allow is right as it stands.
    pub fn is_fault(&self) -> bool {
        !matches!(self, Self::LeftAside { own: None, .. })
    }
}

const DEFAULT_USED: &str = " (the default is used)";

/// How many errors are listed on one line.
const TOLD: usize = 3;

/// Returns the errors of one file on one line; empty if there are none.
pub fn summary(errors: &[&ConfigError], home: Option<&std::path::Path>) -> String {
    let Some(first) = errors.first() else { return String::new() };
    let mut line = from_home(std::path::Path::new(first.file()), home);
    let faults: Vec<String> = errors
        .iter()
        .filter_map(|error| match error {
            ConfigError::Unreadable { why, .. } => Some(why.clone()),
            ConfigError::Bad { line, key, .. } => Some(format!("line {line}: {key}: {}", error.why())),
            ConfigError::LeftAside { .. } => None,
        })
        .collect();
    let aside = |is_own: bool| -> Vec<String> {
        let settings = errors.iter().filter_map(|error| match error {
            ConfigError::LeftAside { setting, own, .. } if own.is_some() == is_own => Some(setting.clone()),
            _ => None,
        });
        settings.collect()
    };
    let mut part = |all: Vec<String>, between: &str, before: &str, after: &str| {
        if all.is_empty() {
            return;
        }
        let more = all.len().saturating_sub(TOLD);
        let shown = all.into_iter().take(TOLD).collect::<Vec<_>>().join(between);
        let more = if more > 0 { format!("{between}and {more} more") } else { String::new() };
        let _ = write!(line, "{}{before}{shown}{more}{after}", if line.contains(": ") { "; " } else { ": " });
    };
    let takes_default = |error: &&&ConfigError| error.is_fault() && error.note() == DEFAULT_USED;
    let count = errors.iter().filter(|error| error.is_fault()).count();
    let after = match errors.iter().filter(takes_default).count() {
        0 => " (`punchlist config check` shows all errors)",
        defaults if defaults == count => " (the default is used; `punchlist config check` shows all errors)",
        _ => " (where a value is wrong, the default is used; `punchlist config check` shows all errors)",
    };
    part(faults, "; ", "", after);
    part(
        aside(false),
        ", ",
        "ignored, since a project may only make the gate stricter: ",
        " (`punchlist allow` shows and allows it)",
    );
    part(aside(true), ", ", "counts only from your own file: ", "");
    line
}
