//! The settings with their sources, as text and as JSON. Pure.

use serde_json::{Value, json};

use crate::config::sources::{Source, Sources};
use crate::config::{Asked, ConfigError};
use crate::render::paragraphs::{Paragraphs, TITLE};
use crate::text::harmless;

fn label(source: Source) -> &'static str {
    match source {
        Source::Default => "default",
        Source::Own => "yours",
        Source::Project => "project",
        Source::Variable => "env",
    }
}

/// Renders all settings.
pub fn text(sources: &Sources, width: usize) -> String {
    let mut page = Paragraphs::new(width);
    let mut table = "";
    for sourced in &sources.settings {
        let setting = &sourced.setting;
        if setting.table != table {
            if !table.is_empty() {
                page.gap();
            }
            table = &setting.table;
            page.wrapped(&setting.head(), TITLE, "");
        }
        if setting.is_of_many {
            let all = sourced.value.as_ref().and_then(toml::Value::as_array).map_or(&[][..], Vec::as_slice);
            for one in all {
                page.labelled_at(2, label(sourced.source), &one.to_string());
            }
            if all.is_empty() {
                page.labelled_at(2, label(sourced.source), "none");
            }
            continue;
        }
        let by = sourced.place.as_ref().filter(|_| sourced.source == Source::Variable);
        let by = by.map(|name| format!("  ({name})")).unwrap_or_default();
        let value = sourced.value.as_ref().map_or("is not set".to_owned(), |value| format!("= {value}"));
        page.labelled_at(2, label(sourced.source), &format!("{} {value}{by}", setting.key));
    }
    page.gap();
    page.wrapped("Files", TITLE, "");
    let file = |path: &std::path::Path, is_there: bool, flag: &str| {
        let missing = format!(" (not there; `punchlist config init {flag}` makes it)");
        format!("{}{}", path.display(), if is_there { "" } else { &missing })
    };
    if let Some((own, is_there)) = &sources.own {
        page.labelled_at(2, label(Source::Own), &file(own, *is_there, "--user"));
    }
    page.labelled_at(2, label(Source::Project), &file(&sources.project.0, sources.project.1, "--project"));
    if !sources.asked.is_empty() {
        page.gap();
        page.wrapped("The project's file asks for", TITLE, "");
    }
    for asked in &sources.asked {
        let label = if asked.is_allowed { "allowed" } else { "aside" };
        page.labelled_at(2, label, &harmless(&asked.text()));
    }
    page.gap();
    page.wrapped(
        "A project may make the gate stricter and name its plan; `punchlist allow` shows and allows what else it \
         asks for. Where both files may set a key, the project's wins over yours; variables win over both.",
        anstyle::Style::new(),
        "",
    );
    page.text
}

/// Returns the same as JSON.
pub fn json(sources: &Sources) -> Value {
    let settings = sources.settings.iter().map(|sourced| {
        json!({
            "key": sourced.setting.path(),
            "value": sourced.value,
            "source": sourced.source,
            "place": sourced.place,
            "default": sourced.setting.default,
            "from_project": sourced.setting.from_project,
        })
    });
    let file = |(path, is_there): &(std::path::PathBuf, bool)| json!({"path": path, "is_there": is_there});
    let asked = |asked: &Asked| json!({"setting": asked.text(), "is_allowed": asked.is_allowed});
    json!({
        "schema": 1,
        "settings": settings.collect::<Vec<_>>(),
        "own_file": sources.own.as_ref().map(file),
        "project_file": file(&sources.project),
        "faults": sources.faults.iter().map(ToString::to_string).collect::<Vec<_>>(),
        "asked": sources.asked.iter().map(asked).collect::<Vec<_>>(),
    })
}

/// Formats a fault like a compiler, so that editors and terminals can jump to its position.
pub fn fault_line(fault: &ConfigError) -> String {
    match fault {
        ConfigError::Bad { file, line, column, key, .. } => {
            format!("{file}:{line}:{column}: {key}: {}\n", fault.why().replace('\n', " "))
        }
        ConfigError::Unreadable { .. } | ConfigError::LeftAside { .. } => format!("{fault}\n"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::sources::sources;
    use crate::env::{self, Env};

    #[test]
    fn every_value_is_told_with_its_source() {
        let folder = tempfile::tempdir().expect("a folder");
        let (home, work) = (folder.path().join("home"), folder.path().join("w"));
        let own = home.join(".config/punchlist");
        std::fs::create_dir_all(&own).expect("made");
        std::fs::write(own.join("config.toml"), "[auditor]\nmodel = \"sonnet\"\nclient = \"/opt/claude\"\n")
            .expect("written");
        let env = Env::from_pairs([("HOME", home.as_os_str()), (env::DRY_RUN, "1".as_ref())]);
        let sources = sources(&env, &work, crate::config::Allowed::new);
        let tidy = |text: &str| {
            let text = text.replace(&folder.path().display().to_string(), "[folder]");
            anstream::adapter::strip_str(&text).to_string()
        };
        insta::assert_snapshot!(tidy(&text(&sources, 100)));
        assert_eq!(json(&sources)["settings"][1]["source"], "variable");
        assert_eq!(json(&sources)["own_file"]["is_there"], true);
    }

    #[test]
    fn a_fault_is_written_as_compilers_write_it() {
        let fault = &crate::config::parse::parse("[audit]\nplanles = 1\n", "x.toml").errors[0];
        assert_eq!(fault_line(fault), "x.toml:2:1: audit.planles: unknown key (did you mean `planless`?)\n");
    }
}
