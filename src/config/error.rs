//! What is wrong in a config file, or does not count in it, and how a person is told. Plain data.

use std::fmt::Write as _;

use crate::text::from_home;

/// Something wrong in a config file, or something that a project may not decide.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    #[error("{file}: {why}")]
    Unreadable { file: String, why: String },
    /// A key or a value is wrong. Lines and columns count from 1.
    #[error("{file}, line {line}: {key}: {why}")]
    Bad { file: String, line: usize, column: usize, key: String, why: String },
    /// A setting of a project's file that does not count.
    #[error("{file}: {setting} {}", because(own.as_deref()))]
    LeftAside {
        file: String,
        /// As a file writes it; without its value where that may be anything.
        setting: String,
        /// The person's own file where it counts only from there; `None` where the person may allow it.
        own: Option<String>,
    },
}

fn because(own: Option<&str>) -> String {
    match own {
        Some(own) => format!("counts only from your own file, {own}"),
        None => {
            "is left aside: a project may only make the gate stricter, unless you allow it: `punchlist allow`"
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

    /// Whether the file has to be changed. What a person may allow is right as it stands.
    pub fn is_fault(&self) -> bool {
        !matches!(self, Self::LeftAside { own: None, .. })
    }
}

/// So many errors are told in one line.
const TOLD: usize = 3;

/// Tells of the errors of one file in one line; empty where there are none.
pub fn summary(errors: &[&ConfigError], home: Option<&std::path::Path>) -> String {
    let Some(first) = errors.first() else { return String::new() };
    let mut line = from_home(std::path::Path::new(first.file()), home);
    let faults: Vec<String> = errors
        .iter()
        .filter_map(|error| match error {
            ConfigError::Unreadable { why, .. } => Some(why.clone()),
            ConfigError::Bad { line, key, why, .. } => Some(format!("line {line}: {key}: {why}")),
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
    part(faults, "; ", "", " (the default is used; `punchlist config check` tells all of it)");
    part(
        aside(false),
        ", ",
        "left aside, since a project may only make the gate stricter: ",
        " (`punchlist allow` shows and allows it)",
    );
    part(aside(true), ", ", "counts only from your own file: ", "");
    line
}
