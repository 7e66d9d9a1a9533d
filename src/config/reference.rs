//! What may be set, told from the types: takes [`ConfigFile`]'s schema and the built-in settings, gives the schema for editors, the
//! commented file of `config init` and `docs/config.md`. Must not say anything of a key that does not stand on its type.

use std::fmt::Write as _;

use schemars::generate::SchemaSettings;
use serde_json::{Map, Value};

use super::DEFAULTS;
use super::file::ConfigFile;
use crate::env;

/// The mark in the schema of what a project may not set.
const OWN_FILE_ONLY: &str = "x-own-file-only";

/// One key, with all there is to say of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Setting {
    /// Which table it is in.
    pub table: String,
    /// Its own name.
    pub key: String,
    /// What it does.
    pub about: String,
    /// What it may be, in words.
    pub kind: String,
    /// Which words it may be, each with what it means; none where any will do.
    pub words: Vec<(String, String)>,
    /// What it is where nobody sets it.
    pub default: Option<toml::Value>,
    /// What it may be, where nothing is built in.
    pub example: Option<toml::Value>,
    /// Whether it counts only from the person's own file.
    pub own_file_only: bool,
    /// Whether its table may stand there many times: `[[table]]`.
    pub is_of_many: bool,
}

impl Setting {
    /// The head of its table.
    pub fn head(&self) -> String {
        if self.is_of_many { format!("[[{}]]", self.table) } else { format!("[{}]", self.table) }
    }

    /// Its whole name.
    pub fn path(&self) -> String {
        let dot = if self.key.is_empty() { "" } else { "." };
        format!("{}{dot}{}", self.table, self.key)
    }

    /// Its built-in value, as a file writes it.
    pub fn default_text(&self) -> String {
        self.default.as_ref().map_or_else(|| "not set".to_owned(), ToString::to_string)
    }
}

/// The JSON schema of a config file, with the built-in values.
pub fn schema() -> Value {
    // Draft 7 is what editors of TOML know.
    let settings = SchemaSettings::draft07().with(|settings| settings.inline_subschemas = true);
    let mut schema = settings.into_generator().into_root_schema_for::<ConfigFile>().to_value();
    for setting in settings_of(&schema) {
        let of_many = if setting.is_of_many { "/items" } else { "" };
        let at = format!("/properties/{}{of_many}/properties/{}", setting.table, setting.key);
        let default = setting.default.and_then(|value| serde_json::to_value(value).ok());
        if let Some(Value::Object(of)) = schema.pointer_mut(&at) {
            // What the types themselves say is "nothing": that a key may be missing.
            of.remove("default");
            of.extend(default.map(|value| ("default".to_owned(), value)));
        }
    }
    if let Some(Value::Object(tables)) = schema.pointer_mut("/properties") {
        for of in tables.values_mut().filter_map(Value::as_object_mut) {
            of.remove("default");
        }
    }
    schema
}

/// Every key, in the order of the built-in settings; what has no built-in value comes last in its table.
pub fn settings() -> Vec<Setting> {
    settings_of(&schema())
}

fn settings_of(schema: &Value) -> Vec<Setting> {
    let defaults: toml::Table = DEFAULTS.parse().unwrap_or_default();
    let mut settings = Vec::new();
    for (table, inner) in properties(schema) {
        let is_of_many = inner["items"].is_object();
        let inner = if is_of_many { &inner["items"] } else { inner };
        for (key, of) in properties(inner) {
            let default = defaults.get(table).and_then(|table| table.get(key)).cloned();
            let text = |of: &Value, key: &str| of[key].as_str().unwrap_or_default().replace('\n', " ");
            let alternatives = if of["items"].is_object() { &of["items"]["oneOf"] } else { &of["oneOf"] };
            let alternatives = alternatives.as_array().into_iter().flatten();
            settings.push(Setting {
                table: table.clone(),
                key: key.clone(),
                about: text(of, "description"),
                kind: kind(of),
                words: alternatives.map(|word| (text(word, "const"), text(word, "description"))).collect(),
                default,
                example: of["examples"].get(0).and_then(|one| toml::Value::try_from(one).ok()),
                own_file_only: of[OWN_FILE_ONLY] == true,
                is_of_many,
            });
        }
    }
    let place = |setting: &Setting| {
        let table = DEFAULTS.find(&format!("[{}]", setting.table)).unwrap_or(usize::MAX);
        let key = DEFAULTS.get(table..).and_then(|rest| rest.find(&format!("\n{} =", setting.key)));
        (table, setting.default.is_none(), key)
    };
    settings.sort_by_key(place);
    settings
}

fn properties(schema: &Value) -> impl Iterator<Item = (&String, &Value)> {
    schema["properties"].as_object().into_iter().flat_map(Map::iter)
}

fn kind(of: &Value) -> String {
    let least = of["minimum"].as_u64().filter(|least| *least > 0);
    match of["type"].as_str() {
        Some("boolean") => "true or false".into(),
        Some("integer") => {
            least.map_or_else(|| "a number".into(), |least| format!("a number, at least {least}"))
        }
        Some("array") if of["items"]["oneOf"].is_array() => "a list of".into(),
        Some("array") => "a list of texts".into(),
        Some("number") => "a number".into(),
        Some("string") => "a text".into(),
        Some("object") => "a table for each name".into(),
        _ => "one of".into(),
    }
}

/// What a table is for.
fn about_table(schema: &Value, table: &str) -> String {
    schema["properties"][table]["description"].as_str().unwrap_or_default().replace('\n', " ")
}

/// The variables that a person may set, each with what it does.
pub const VARIABLES: [(&str, &str); 7] = [
    (env::OFF, "a switch: lets every stop through, as `[gates] enabled = false`"),
    (env::DRY_RUN, "a switch: does everything and never blocks, as `[gates] dry_run = true`"),
    (env::CLAUDE, "the client to ask, before `[auditor] client`"),
    (env::HOME, "the state folder, with the log and the registry"),
    (env::WORKER, "which worker of the registry this session, or this shell, is"),
    (env::TRACE, "a switch: says on stderr what it is doing and what took how long"),
    ("XDG_CONFIG_HOME", "moves `~/.config`, and your own file with it"),
];

/// A file with everything in it and nothing set.
pub fn commented_file(schema_file: &str, is_projects: bool) -> String {
    let schema = schema();
    let mut text = format!("#:schema {schema_file}\n");
    text.push_str(if is_projects {
        "# Settings of punchlist for everybody who works on this project. They win over a person's own\n\
         # (`punchlist config show` tells what counts and why). What is commented out is built in.\n"
    } else {
        "# Your own settings of punchlist; a project's file (.claude/punchlist.toml) wins over them\n\
         # (`punchlist config show` tells what counts and why). What is commented out is built in.\n"
    });
    let mut table = String::new();
    for setting in settings().iter().filter(|setting| !(is_projects && setting.own_file_only)) {
        if setting.table != table {
            setting.table.clone_into(&mut table);
            // What may be there many times can't be there with nothing in it.
            let comment = if setting.is_of_many { "# " } else { "" };
            let _ = writeln!(text, "\n# {}\n{comment}{}", about_table(&schema, &table), setting.head());
        }
        text.push('\n');
        for line in textwrap::wrap(&setting.about, 96) {
            let _ = writeln!(text, "# {line}");
        }
        for (word, about) in &setting.words {
            let _ = writeln!(text, "#   \"{word}\": {about}");
        }
        let value = setting.default.as_ref().or(setting.example.as_ref());
        let value = value.map_or_else(|| "\"\"".to_owned(), ToString::to_string);
        let _ = writeln!(text, "# {} = {value}", setting.key);
    }
    text
}

/// `docs/config.md`.
pub fn markdown() -> String {
    let schema = schema();
    let mut text = String::from(
        "# Config\n\n\
         <!-- Made of the types in src/config/file.rs by `PUNCHLIST_BLESS=1 cargo test --lib config::reference`. -->\n\n\
         Two files, both optional: `.claude/punchlist.toml` in the project, and `~/.config/punchlist/config.toml` for yourself. The project's\n\
         wins over yours, and variables win over both. A file with a fault counts as absent: one line on stderr, `config_error` in the log.\n\n\
         \x20   punchlist config show          # every value, and where it comes from\n\
         \x20   punchlist config init --user   # a commented file to begin with; --project for this project's\n\
         \x20   punchlist config check         # what is wrong with them, with line and column\n\
         \x20   punchlist config schema        # the JSON schema: editors complete and check by it\n",
    );
    let mut table = String::new();
    for setting in settings() {
        if setting.table != table {
            setting.table.clone_into(&mut table);
            let _ = writeln!(text, "\n## `{}`\n\n{}", setting.head(), about_table(&schema, &table));
        }
        let _ = writeln!(text, "\n### `{}`\n\n{}\n", setting.key, setting.about);
        if setting.words.is_empty() {
            let _ = writeln!(text, "- What: {}", setting.kind);
        } else {
            let _ = writeln!(text, "- What: {}", setting.kind);
            for (word, about) in &setting.words {
                let _ = writeln!(text, "  - `\"{word}\"`: {about}");
            }
        }
        if let Some(example) = &setting.example {
            let _ = writeln!(text, "- Such as: `{example}`");
        }
        if !setting.is_of_many {
            let default = setting.default.as_ref().map_or("not set".to_owned(), |value| format!("`{value}`"));
            let _ = writeln!(text, "- Built in: {default}");
        }
        if setting.own_file_only {
            text.push_str(
                "- Counts only from your own file: a project may not choose what runs or is read\n",
            );
        }
    }
    text.push_str("\n## Variables\n\nA switch is on when it is set to anything but `0`, `false`, `no`, `off` or nothing.\n\n| | |\n| --- | --- |\n");
    for (name, about) in VARIABLES {
        let _ = writeln!(text, "| `{name}` | {about} |");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;

    #[test]
    fn the_reference_is_current() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/config.md");
        if std::env::var_os("PUNCHLIST_BLESS").is_some() {
            std::fs::write(path, markdown()).expect("written");
        }
        assert_eq!(
            std::fs::read_to_string(path).unwrap_or_default(),
            markdown(),
            "docs/config.md: PUNCHLIST_BLESS=1 cargo test --lib config::reference"
        );
    }

    #[test]
    fn every_key_says_what_it_does_and_what_it_is() {
        let settings = settings();
        for setting in &settings {
            assert!(!setting.about.is_empty() && !setting.kind.is_empty(), "{setting:?}");
            assert!(
                setting.words.iter().all(|(word, about)| !word.is_empty() && !about.is_empty()),
                "{setting:?}"
            );
            let has_none = setting.own_file_only || setting.is_of_many || setting.key == "max_cost_per_day";
            assert_eq!(setting.default.is_none(), has_none, "{setting:?}");
        }
        let order: Vec<_> = settings.iter().map(Setting::path).collect();
        assert_eq!(order[0].as_str(), "gates.enabled");
    }

    #[test]
    fn what_a_project_may_not_set_is_what_is_taken_out_of_its_file() {
        let marked: Vec<_> = settings().into_iter().filter(|setting| setting.own_file_only).collect();
        let text: String = marked.iter().map(|setting| format!("{} = \"/x\"\n", setting.path())).collect();
        let mut file = ConfigFile::parse(&text, "x").expect("a config file");
        assert_eq!(file.take_out_own_keys(), marked.iter().map(Setting::path).collect::<Vec<_>>());
    }

    #[test]
    fn a_new_file_sets_nothing_and_names_everything() {
        for is_projects in [false, true] {
            let text = commented_file("x.schema.json", is_projects);
            let mut config = Config::default();
            config.apply(ConfigFile::parse(&text, "x").expect("a config file"));
            assert_eq!(config, Config::default());
            for setting in settings() {
                let is_there = text.contains(&format!("\n# {} = ", setting.key));
                assert_eq!(is_there, !(is_projects && setting.own_file_only), "{}", setting.path());
            }
            // Each line that sets something can be taken as it is.
            let set: String = text
                .lines()
                .map(|line| line.trim_start_matches("# "))
                .filter(|line| line.starts_with('[') || line.contains(" = "))
                .map(|line| format!("{line}\n"))
                .collect();
            ConfigFile::parse(&set, "x").expect("every line is right");
        }
        insta::assert_snapshot!(commented_file("punchlist.schema.json", true));
    }

    #[test]
    fn the_schema_has_the_built_in_values_and_allows_no_other_key() {
        let schema = schema();
        assert_eq!(schema["properties"]["gates"]["properties"]["max_blocks"]["default"], 3);
        assert_eq!(schema["properties"]["audit"]["properties"]["max_prompt_bytes"]["minimum"], 10_000);
        assert_eq!(schema["properties"]["auditor"]["properties"]["client"].get("default"), None);
        assert_eq!(schema["additionalProperties"], false);
        for (table, of) in properties(&schema) {
            let of = if of["items"].is_object() { &of["items"] } else { of };
            assert_eq!(of["additionalProperties"], false, "{table}");
        }
        assert!(schema["$schema"].as_str().is_some_and(|which| which.contains("draft-07")));
    }
}
