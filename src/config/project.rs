//! What a project's file may not set: whoever wrote the project is not the person whose machine this
//! is, so it must not choose which program runs, which file outside is read or where a token goes.

use std::path::{Component, Path};

use toml::{Table, Value};

use super::ConfigError;
use super::value::leads_outside;

/// A key, how errors name it, and which values of it are refused.
struct Rule {
    table: &'static str,
    key: &'static str,
    name: &'static str,
    refuses: Refuses,
}

enum Refuses {
    AnyValue,
    Values(fn(&Value) -> bool),
}

const RULES: [Rule; 9] = [
    // The person may have a command or a URL ready for other projects.
    Rule {
        table: "tasks",
        key: "source",
        name: "tasks.source of \"command\" or \"http\"",
        refuses: Refuses::Values(|source| matches!(source.as_str(), Some("command" | "http"))),
    },
    Rule {
        table: "tasks",
        key: "file",
        name: "tasks.file",
        refuses: Refuses::Values(|file| file.as_str().is_some_and(leaves_folder)),
    },
    Rule { table: "tasks", key: "command", name: "tasks.command", refuses: Refuses::AnyValue },
    Rule { table: "tasks", key: "token_variable", name: "tasks.token_variable", refuses: Refuses::AnyValue },
    Rule { table: "tasks", key: "url", name: "tasks.url", refuses: Refuses::AnyValue },
    Rule { table: "auditor", key: "client", name: "auditor.client", refuses: Refuses::AnyValue },
    Rule { table: "auditor", key: "prompts", name: "auditor.prompts", refuses: Refuses::AnyValue },
    Rule {
        table: "memory",
        key: "files",
        name: "memory.files with a path outside of the project",
        refuses: Refuses::Values(|files| {
            files.as_array().is_some_and(|globs| globs.iter().filter_map(Value::as_str).any(leads_outside))
        }),
    },
    Rule {
        table: "memory",
        key: "mandates_file",
        name: "memory.mandates_file outside of the project",
        refuses: Refuses::Values(|file| file.as_str().is_some_and(leads_outside)),
    },
];

/// A tasks file is opened as it is written: `~` is an ordinary name in it.
fn leaves_folder(file: &str) -> bool {
    let file = Path::new(file);
    file.is_absolute() || file.components().any(|part| part == Component::ParentDir)
}

/// Whether a key counts only from the person's own file, whatever its value is.
pub(super) fn is_own_file_only(table: &str, key: &str) -> bool {
    let is_it = |rule: &&Rule| rule.table == table && rule.key == key;
    RULES.iter().find(is_it).is_some_and(|rule| matches!(rule.refuses, Refuses::AnyValue))
}

/// Removes from a project's file what it may not set; returns an error for each.
pub fn remove_refused(file: &mut Table, path: &Path, own: Option<&Path>) -> Vec<ConfigError> {
    let mut errors = Vec::new();
    for rule in &RULES {
        let Some(Value::Table(table)) = file.get_mut(rule.table) else { continue };
        let is_refused = table.get(rule.key).is_some_and(|value| match rule.refuses {
            Refuses::AnyValue => true,
            Refuses::Values(refuses) => refuses(value),
        });
        if is_refused {
            table.remove(rule.key);
            errors.push(ConfigError::NotTheProjects {
                file: path.display().to_string(),
                key: rule.name,
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
                    ConfigError::NotTheProjects { key, .. } => *key,
                    other => panic!("{other}"),
                })
                .collect();
            assert_eq!(keys, refused.into_iter().collect::<Vec<_>>(), "{line}");
            let is_empty = file.values().all(|table| table.as_table().is_some_and(Table::is_empty));
            assert_eq!(is_empty, refused.is_some(), "{line}");
        }
    }
}
