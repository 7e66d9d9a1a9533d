//! Descriptions of the settings: the schema for editors, the commented file of `config init` and
//! `docs/config.md`, all generated from [`Config`]'s doc comments and defaults. Must not say
//! anything about a key that is not on its type.

use std::fmt::Write as _;
use std::sync::LazyLock;

use schemars::generate::SchemaSettings;
use serde_json::{Map, Value};

use super::Config;
use super::project::FromProject;
use crate::env;

/// One key.
#[derive(Debug, Clone, PartialEq)]
pub struct Setting {
    pub table: String,
    /// What its table is for.
    pub about_table: String,
    pub key: String,
    pub about: String,
    /// The type of its value, as text.
    pub kind: String,
    /// The allowed words, each with its meaning; empty if any text is allowed.
    pub words: Vec<(String, String)>,
    /// The built-in value.
    pub default: Option<toml::Value>,
    /// An example, if there is no built-in value.
    pub example: Option<toml::Value>,
    /// When the value of a project's file counts.
    pub from_project: FromProject,
    /// Whether a project's value must stay inside the project.
    pub stays_inside: bool,
    /// The words that count only in the person's own file.
    pub person_values: Vec<String>,
    /// Whether its table is a list: `[[table]]`.
    pub is_of_many: bool,
}

impl Setting {
    /// Returns the head of its table.
    pub fn head(&self) -> String {
        if self.is_of_many { format!("[[{}]]", self.table) } else { format!("[{}]", self.table) }
    }

    /// Returns a sentence on whether a project's value counts.
    fn project_rule(&self) -> String {
        let mut words = self.from_project.describe();
        if self.is_of_many {
            words.push_str(", and runs after `punchlist allow`");
        }
        if self.stays_inside {
            words.push_str("; nothing outside of the project");
        }
        if !self.person_values.is_empty() {
            let values: Vec<_> = self.person_values.iter().map(|value| format!("`\"{value}\"`")).collect();
            let _ = write!(words, "; {} only from yours", values.join(" and "));
        }
        words
    }

    /// Returns its whole name.
    pub fn path(&self) -> String {
        let dot = if self.key.is_empty() { "" } else { "." };
        format!("{}{dot}{}", self.table, self.key)
    }
}

/// Returns the JSON schema of a config file, with the built-in values.
pub fn schema() -> Value {
    // TOML editors support draft 7.
    let settings = SchemaSettings::draft07().with(|settings| settings.inline_subschemas = true);
    let mut schema = settings.into_generator().into_root_schema_for::<Config>().to_value();
    for setting in settings_of(&schema) {
        let items = if setting.is_of_many { "/items" } else { "" };
        let at = format!("/properties/{}{items}/properties/{}", setting.table, setting.key);
        if let Some(Value::Object(key)) = schema.pointer_mut(&at) {
            key.remove("default");
            let default = setting.default.and_then(|value| serde_json::to_value(value).ok());
            key.extend(default.map(|value| ("default".to_owned(), value)));
        }
    }
    if let Some(Value::Object(tables)) = schema.pointer_mut("/properties") {
        for table in tables.values_mut().filter_map(Value::as_object_mut) {
            table.remove("default");
        }
    }
    schema
}

/// Returns every key in the order of the types; those without a built-in value come last in their
/// table.
pub fn settings() -> Vec<Setting> {
    static ALL: LazyLock<Vec<Setting>> = LazyLock::new(|| settings_of(&schema()));
    ALL.clone()
}

fn settings_of(schema: &Value) -> Vec<Setting> {
    // In the order of the types.
    let defaults = toml::Table::try_from(Config::default()).unwrap_or_default();
    let mut settings = Vec::new();
    for (table, inner) in properties(schema) {
        let is_of_many = inner["items"].is_object();
        let inner = if is_of_many { &inner["items"] } else { inner };
        for (key, of) in properties(inner) {
            let text = |of: &Value, key: &str| of[key].as_str().unwrap_or_default().replace('\n', " ");
            let words = if of["items"].is_object() { &of["items"]["oneOf"] } else { &of["oneOf"] };
            let words = words.as_array().into_iter().flatten();
            settings.push(Setting {
                table: table.clone(),
                about_table: text(&schema["properties"][table], "description"),
                key: key.clone(),
                about: text(of, "description"),
                kind: kind(of),
                words: words.map(|word| (text(word, "const"), text(word, "description"))).collect(),
                default: defaults.get(table).and_then(|table| table.get(key)).cloned(),
                example: of["examples"].get(0).and_then(|one| toml::Value::try_from(one).ok()),
                // A key without a rule is the person's alone.
                from_project: serde_json::from_value(of["x-project"].clone()).unwrap_or(FromProject::Never),
                stays_inside: of["x-inside"] == true,
                person_values: serde_json::from_value(of["x-person-values"].clone()).unwrap_or_default(),
                is_of_many,
            });
        }
    }
    let position =
        |table: &toml::Table, key: &str| table.keys().position(|other| other == key).unwrap_or(usize::MAX);
    settings.sort_by_key(|setting| {
        let keys = defaults.get(&setting.table).and_then(toml::Value::as_table);
        (position(&defaults, &setting.table), keys.map(|keys| position(keys, &setting.key)))
    });
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
        Some("array") if of["items"]["type"] == "object" => "a list of tables".into(),
        Some("array") => "a list of texts".into(),
        Some("number") => "a number".into(),
        Some("string") => "a text".into(),
        Some("object") => "a table for each name".into(),
        _ => "one of".into(),
    }
}

/// The variables that a person may set, each with its effect.
pub const VARIABLES: [(&str, &str); 9] = [
    (env::OFF, "a switch: lets every stop through, as `[gates] enabled = false`"),
    (env::DRY_RUN, "a switch: runs everything but never blocks, as `[gates] dry_run = true`"),
    (env::CLAUDE, "the client to ask, before `[auditor] client`"),
    (env::HOME, "the state folder, with the log and the registry"),
    (env::WORKER, "which worker of the registry this session, or this shell, is"),
    (env::DATABASE_URL, "the fleet's database, before `[fleet] database`"),
    (env::OTLP, "the collector to export to, before `[telemetry] otlp`"),
    (env::TRACE, "a switch: prints on stderr what it is doing and how long it took"),
    ("XDG_CONFIG_HOME", "replaces `~/.config`, and so moves your own file"),
];

/// The column of the comments in [`defaults`].
const COMMENT_COLUMN: usize = 45;

/// Returns a file with the built-in values and a short comment on each, as docs/config.md shows it.
pub fn defaults() -> String {
    let mut text = String::new();
    let mut line = |left: &str, about: &str| {
        let about = about.split_inclusive(". ").next().unwrap_or_default().trim_end().trim_end_matches('.');
        // There is no room for a comment after a long value.
        let comment = if left.len() < COMMENT_COLUMN { about } else { "" };
        let _ = writeln!(text, "{}", format!("{left:<COMMENT_COLUMN$}# {comment}").trim_end_matches("# "));
    };
    let mut table = String::new();
    for setting in settings() {
        let Some(default) = &setting.default else { continue };
        if setting.table != table {
            if !table.is_empty() {
                line("", "");
            }
            setting.table.clone_into(&mut table);
            line(&setting.head(), &setting.about_table);
        }
        line(&format!("{} = {default}", setting.key), &setting.about);
    }
    text.lines().map(|line| format!("{}\n", line.trim_end())).collect()
}

/// Returns a file with every setting commented out, for `config init`.
pub fn commented_file(schema_file: &str, is_projects: bool) -> String {
    let mut text = format!("#:schema {schema_file}\n");
    text.push_str(if is_projects {
        "# Settings of punchlist for everybody who works on this project. What would weaken the gate or cost\n\
         # more counts for those who ran `punchlist allow` (`punchlist config show` shows what counts and why).\n\
         # Commented lines have the defaults; to set a key, remove the `#` from its line and its [table].\n"
    } else {
        "# Your own settings of punchlist; a project's file (.claude/punchlist.toml) may make the gate stricter\n\
         # (`punchlist config show` shows what counts and why).\n\
         # Commented lines have the defaults; to set a key, remove the `#` from its line and its [table].\n"
    });
    let mut table = String::new();
    let is_left_out = |setting: &&Setting| is_projects && setting.from_project == FromProject::Never;
    for setting in settings().iter().filter(|setting| !is_left_out(setting)) {
        if setting.table != table {
            setting.table.clone_into(&mut table);
            // Commented out, too: a table that is pasted below would otherwise be defined twice.
            let _ = writeln!(text, "\n# {}\n# {}", setting.about_table, setting.head());
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

/// Returns `docs/config.md`.
pub fn markdown() -> String {
    let mut text = String::from(
        "# Config\n\n\
         <!-- Generated from the types in src/config by `PUNCHLIST_BLESS=1 cargo test --lib config::reference`. -->\n\n\
         Two files, both optional: `.claude/punchlist.toml` in the project, and `~/.config/punchlist/config.toml` for yourself. Variables\n\
         override both.\n\n\
         **What a project may decide.** It may make the gate stricter, and name its plan and its checks. What would make the gate weaker or\n\
         cost more counts once you have allowed that exact content: `punchlist allow` shows all of it, checks and settings, and asks. What\n\
         changes later has to be allowed again. Model, readers, budgets and the log are yours alone. Each key below says which it is.\n\
         Ignored settings are reported at the stop (one line, once for each content), by `doctor`, `config show` and `config check`.\n\n\
         **An error costs only its key.** The rest of the file counts, the wrong key has its default, and you are told at the stop, once\n\
         for each content; stderr and `config_error` in the log have it every time. No command but `config` fails because of a config. A file over\n\
         256 KiB, one that is not a regular file, and a project's that is a link to somewhere else are not read.\n\n\
         \x20   punchlist config show          # every value, and where it comes from\n\
         \x20   punchlist config init --user   # a commented file to start from; --project for this project's\n\
         \x20   punchlist config check         # errors in them, with line and column\n\
         \x20   punchlist config schema        # the JSON schema, for completion and validation in editors\n\n\
         ## Defaults\n\n\
         The values of keys that are not set, with a short comment; each key is described below.\n\n```toml\n",
    );
    let _ = writeln!(text, "{}```", defaults());
    let mut table = String::new();
    for setting in settings() {
        if setting.table != table {
            setting.table.clone_into(&mut table);
            let _ = writeln!(text, "\n## `{}`\n\n{}", setting.head(), setting.about_table);
        }
        let _ = writeln!(text, "\n### `{}`\n\n{}\n\n- Type: {}", setting.key, setting.about, setting.kind);
        for (word, about) in &setting.words {
            let _ = writeln!(text, "  - `\"{word}\"`: {about}");
        }
        if let Some(example) = &setting.example {
            let _ = writeln!(text, "- Example: `{example}`");
        }
        if !setting.is_of_many {
            let default = setting.default.as_ref().map_or("not set".to_owned(), |value| format!("`{value}`"));
            let _ = writeln!(text, "- Default: {default}");
        }
        let _ = writeln!(text, "- From a project's file: {}", setting.project_rule());
    }
    text.push_str("\n## Variables\n\nA switch is on when it is set to anything but `0`, `false`, `no`, `off` or nothing.\n\n\
         The client hands hooks what the `env` of its settings says, and a project brings settings along. From its `.claude/settings.json` or\n\
         `settings.local.json`, `PUNCHLIST_OFF` and `PUNCHLIST_DRY_RUN` count after `punchlist allow`; what moves your config or the state folder,\n\
         or names a client or a server, does not count at all, and you are told. Set it in your shell or your own settings.\n\n\
         | | |\n| --- | --- |\n");
    for (name, about) in VARIABLES {
        let _ = writeln!(text, "| `{name}` | {about} |");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares a file with its generated text; with `PUNCHLIST_BLESS` set, writes it first.
    #[track_caller]
    fn assert_generated(file: &str, generate: impl Fn(&str) -> String) {
        let path = format!("{}/{file}", env!("CARGO_MANIFEST_DIR"));
        let read = || std::fs::read_to_string(&path).unwrap_or_default();
        if std::env::var_os("PUNCHLIST_BLESS").is_some() {
            std::fs::write(&path, generate(&read())).expect("written");
        }
        let text = read();
        assert_eq!(text, generate(&text), "{file}: PUNCHLIST_BLESS=1 cargo test --lib config::reference");
    }

    #[test]
    fn the_reference_is_current() {
        assert_generated("docs/config.md", |_| markdown());
    }

    #[test]
    fn the_built_in_values_that_are_shown_are_those_that_count() {
        assert!(markdown().contains(&format!("```toml\n{}```\n", defaults())));
        assert_eq!(Config::parse(&defaults(), "x"), Ok(Config::default()));
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
            let optional = [
                "client", "prompts", "command", "token_variable", "url", "max_cost_per_day", "ignore",
                "database", "machine", "otlp", "verify",
            ];
            let has_none = setting.is_of_many || optional.contains(&&*setting.key);
            assert_eq!(setting.default.is_none(), has_none, "{setting:?}");
        }
        let order: Vec<_> = settings.iter().map(Setting::path).collect();
        assert_eq!((order[0].as_str(), order[3].as_str()), ("gates.enabled", "loop.features"));
    }

    #[test]
    fn a_new_file_sets_nothing_and_names_everything() {
        for is_projects in [false, true] {
            let text = commented_file("x.schema.json", is_projects);
            assert_eq!(Config::parse(&text, "x"), Ok(Config::default()));
            for setting in settings() {
                let (_, of_table) = text.split_once(&format!("\n# {}\n", setting.head())).unwrap_or_default();
                let of_table = of_table.split("\n# [").next().unwrap_or_default();
                let is_there = of_table.contains(&format!("\n# {} = ", setting.key));
                let is_left_out = is_projects && setting.from_project == FromProject::Never;
                assert_eq!(is_there, !is_left_out, "{}", setting.path());
            }
            // Each line that sets something can be used as it is.
            let set: String = text
                .lines()
                .map(|line| line.trim_start_matches("# "))
                .filter(|line| line.starts_with('[') || line.contains(" = "))
                .map(|line| format!("{line}\n"))
                .collect();
            Config::parse(&set, "x").expect("every line is right");
        }
        insta::assert_snapshot!(commented_file("punchlist.schema.json", true));
    }

    #[test]
    fn the_schema_has_the_built_in_values_and_allows_no_other_key() {
        let schema = schema();
        assert_eq!(schema["properties"]["gates"]["properties"]["max_blocks"]["default"], 3);
        assert_eq!(schema["properties"]["audit"]["properties"]["max_prompt_bytes"]["minimum"], 10_000);
        let client = &schema["properties"]["auditor"]["properties"]["client"];
        assert_eq!((client.get("default"), &client["x-project"]), (None, &"never".into()));
        assert_eq!(schema["additionalProperties"], false);
        for (table, of) in properties(&schema) {
            let of = if of["items"].is_object() { &of["items"] } else { of };
            assert_eq!(of["additionalProperties"], false, "{table}");
            for (key, of) in properties(of) {
                let class = serde_json::from_value::<FromProject>(of["x-project"].clone());
                assert!(class.is_ok(), "{table}.{key}: say with `x-project` when a project's value counts");
            }
        }
        assert!(schema["$schema"].as_str().is_some_and(|which| which.contains("draft-07")));
    }
}
