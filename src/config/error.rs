//! Errors in a config file, and settings in it that do not count, with their messages. Plain data.

use std::fmt::Write as _;

use crate::text::from_home;

/// An error in a config file, or a setting that a project may not decide.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    #[error("{file}: {why}")]
    Unreadable { file: String, why: String },
    /// A key or a value is wrong. Lines and columns count from 1.
    #[error("{file}, line {line}: {key}: {}", with_instead(why, *instead))]
    Bad {
        file: String,
        line: usize,
        column: usize,
        key: String,
        why: String,
        /// What counts in its place; `None` where that is the default.
        instead: Option<&'static str>,
    },
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

fn with_instead(why: &str, instead: Option<&str>) -> String {
    instead.map_or_else(|| why.to_owned(), |instead| format!("{why}; {instead}"))
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
            Self::Bad { why, instead, .. } => with_instead(why, *instead),
            Self::LeftAside { own, .. } => because(own.as_deref()),
        }
    }

    /// What was done about it, behind its own words; empty where they say it.
    pub fn note(&self) -> &'static str {
        match self {
            Self::LeftAside { own: None, .. } | Self::Bad { instead: Some(_), .. } => "",
            Self::Unreadable { .. } | Self::Bad { .. } | Self::LeftAside { .. } => " (the default is used)",
        }
    }

    /// Whether the file has to be changed. What a person may allow is right as it stands.
    pub fn is_fault(&self) -> bool {
        !matches!(self, Self::LeftAside { own: None, .. })
    }
}

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
    let says_all = |error: &&ConfigError| !error.is_fault() || error.note().is_empty();
    let after = if errors.iter().all(says_all) {
        " (`punchlist config check` shows all errors)"
    } else if errors.iter().any(|error| error.is_fault() && error.note().is_empty()) {
        " (elsewhere the default is used; `punchlist config check` shows all errors)"
    } else {
        " (the default is used; `punchlist config check` shows all errors)"
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
