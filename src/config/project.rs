//! What a project's file may not set: whoever wrote the project is not the person whose machine this
//! is, so it must not choose which program runs, which file outside is read or where a token goes.

use std::path::{Component, Path};

use toml::{Table, Value};

use super::ConfigError;
use super::value::leads_outside;

/// A table, a key in it, what errors say after its name, and which values are refused.
type Rule = (&'static str, &'static str, &'static str, Refuses);

enum Refuses {
    AnyValue,
    Values(fn(&Value) -> bool),
}
use Refuses::{AnyValue, Values};

const RULES: [Rule; 9] = [
    // The person may have a command or a URL ready for other projects.
    (
        "tasks",
        "source",
        " of \"command\" or \"http\"",
        Values(|source| matches!(source.as_str(), Some("command" | "http"))),
    ),
    ("tasks", "file", "", Values(|file| file.as_str().is_some_and(leaves_folder))),
    ("tasks", "command", "", AnyValue),
    ("tasks", "token_variable", "", AnyValue),
    ("tasks", "url", "", AnyValue),
    ("auditor", "client", "", AnyValue),
    ("auditor", "prompts", "", AnyValue),
    (
        "memory",
        "files",
        " with a path outside of the project",
        Values(|files| {
            files.as_array().is_some_and(|globs| globs.iter().filter_map(Value::as_str).any(leads_outside))
        }),
    ),
    (
        "memory",
        "mandates_file",
        " outside of the project",
        Values(|file| file.as_str().is_some_and(leads_outside)),
    ),
];

/// A tasks file is opened as it is written: `~` is an ordinary name in it.
fn leaves_folder(file: &str) -> bool {
    let file = Path::new(file);
    file.is_absolute() || file.components().any(|part| part == Component::ParentDir)
}

/// Whether a key counts only from the person's own file, whatever its value is.
pub(super) fn is_own_file_only(table: &str, key: &str) -> bool {
    RULES.iter().any(|rule| matches!(rule, (of, name, _, AnyValue) if *of == table && *name == key))
}

/// Removes from a project's file what it may not set; returns an error for each.
pub fn remove_refused(file: &mut Table, path: &Path, own: Option<&Path>) -> Vec<ConfigError> {
    let mut errors = Vec::new();
    for (table, key, which, refuses) in &RULES {
        let Some(Value::Table(keys)) = file.get_mut(*table) else { continue };
        let is_refused = keys.get(*key).is_some_and(|value| match refuses {
            AnyValue => true,
            Values(refuses) => refuses(value),
        });
        if is_refused {
            keys.remove(*key);
            errors.push(ConfigError::NotTheProjects {
                file: path.display().to_string(),
                key: format!("{table}.{key}{which}"),
                own: own.map(|own| own.display().to_string()).unwrap_or_default(),
            });
        }
    }
    errors
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_project_chooses_no_program_no_token_and_no_file_outside() {
        for (line, refused) in [
            ("tasks.source = 'command'", Some("tasks.source of \"command\" or \"http\"")),
            ("tasks.source = 'http'", Some("tasks.source of \"command\" or \"http\"")),
            ("tasks.source = 'registry'", None),
            ("tasks.source = 'file'", None),
            ("tasks.source = 'off'", None),
            ("tasks.file = 'tasks.json'", None),
            ("tasks.file = 'docs/tasks-{agent}.json'", None),
            ("tasks.file = '../tasks.json'", Some("tasks.file")),
            ("tasks.file = '/etc/passwd'", Some("tasks.file")),
            ("tasks.file = 'a/../../b'", Some("tasks.file")),
            ("tasks.command = 'x'", Some("tasks.command")),
            ("tasks.token_variable = 'x'", Some("tasks.token_variable")),
            ("tasks.url = 'x'", Some("tasks.url")),
            ("auditor.client = 'x'", Some("auditor.client")),
            ("auditor.prompts = 'x'", Some("auditor.prompts")),
            ("auditor.model = 'x'", None),
            ("memory.files = ['a.md']", None),
            ("memory.files = ['a.md', '~/a.md']", Some("memory.files with a path outside of the project")),
            ("memory.mandates_file = '/a'", Some("memory.mandates_file outside of the project")),
        ] {
            let mut file: Table = line.parse().expect("TOML");
            let errors = remove_refused(&mut file, Path::new("x"), None);
            let keys: Vec<_> = errors
                .iter()
                .map(|error| match error {
                    ConfigError::NotTheProjects { key, .. } => key.as_str(),
                    other => panic!("{other}"),
                })
                .collect();
            assert_eq!(keys, refused.into_iter().collect::<Vec<_>>(), "{line}");
            let is_empty = file.values().all(|table| table.as_table().is_some_and(Table::is_empty));
            assert_eq!(is_empty, refused.is_some(), "{line}");
        }
    }
}
