//! One config file: takes TOML, gives what it sets. Must not accept a key or a value that it does not know,
//! and must say which one and what is allowed.

use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, de};

use toml::de::{DeTable, DeValue};

use super::gates::check::CheckTable;
use super::gates::checklist::ChecklistTable;
use super::gates::feature_loop::LoopTable;
use super::gates::memory::MemoryTable;
use super::gates::subagents::SubagentsTable;
use super::gates::{GatesTable, TasksTable, WorkerTable};
use super::{ConfigError, Mode, Planless, UnrunChecks};
use crate::files::open_regular;
use crate::finding::Category;
use crate::globs::{FileGlob, anywhere_glob};

/// Settings of punchlist: `.claude/punchlist.toml` in a project, `~/.config/punchlist/config.toml` for yourself.
///
/// What stands here on the tables and keys is what people read: the schema, `docs/config.md` and the file of `config init` are
/// made of it. Every key may be missing.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(title = "punchlist", description = "Settings of punchlist. Every key may be missing.")]
pub struct ConfigFile {
    /// What all gates share: the switch, the dry run, the budget.
    pub gates: GatesTable,
    /// Commands that have to pass before a session may end, such as tests and linters.
    pub check: Vec<CheckTable>,
    /// The feature loop: where its files are, and when it ends. It runs where `punchlist loop` began one.
    #[serde(rename = "loop")]
    pub feature_loop: LoopTable,
    /// The pending-tasks gate: where the tasks are that hold a session which has not finished them.
    pub tasks: TasksTable,
    /// Workers: for how long a session that registered as one is kept at work, and its tasks stay its own.
    pub worker: WorkerTable,
    /// The audit gate: when a stop is looked at, and what may hold it.
    pub audit: AuditTable,
    /// Subagents, where the hook is registered for their stops, too (`punchlist install --subagents`).
    pub subagents: SubagentsTable,
    /// The second model: who is asked, and for how long.
    pub auditor: AuditorTable,
    /// The checklist gate: open boxes and tasks of a session that says that it is finished. See docs/gates/checklist.md.
    pub checklist: ChecklistTable,
    /// What a session is given at its start. See docs/gates/session-start.md.
    pub memory: MemoryTable,
    /// The decision log: how much of it is kept.
    pub log: LogTable,
}

/// `[audit]`
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct AuditTable {
    /// Whether stops are audited; false leaves that to the other gates.
    #[schemars(with = "bool")]
    pub enabled: Option<bool>,
    /// Which categories may hold a stop. What is found in the others is told, and the stop goes through.
    #[schemars(with = "Vec<Category>")]
    pub block_on: Option<Vec<Category>>,
    /// Which files are plans, as globs from the project's folder on.
    #[serde(deserialize_with = "globs")]
    #[schemars(with = "Vec<String>")]
    pub plan: Option<Vec<String>>,
    /// How many bytes are sent to a reader at the most; large files go in as what changed.
    #[serde(deserialize_with = "prompt_bytes")]
    #[schemars(with = "usize", range(min = LEAST_PROMPT_BYTES))]
    pub max_prompt_bytes: Option<usize>,
    /// What becomes of tests, builds and linters that are said to pass and were not run.
    #[schemars(with = "UnrunChecks")]
    pub unrun_checks: Option<UnrunChecks>,
    /// Whether a session without a plan is audited.
    #[schemars(with = "Planless")]
    pub planless: Option<Planless>,
    /// Whether the session waits for the audit. It has to agree with how the hook is registered.
    #[schemars(with = "Mode")]
    pub mode: Option<Mode>,
}

/// `[auditor]`
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct AuditorTable {
    /// Which program is asked, if not the client that runs the session; `PUNCHLIST_CLAUDE` wins over it.
    #[schemars(with = "String", extend("x-own-file-only" = true))]
    pub client: Option<PathBuf>,
    /// Which model, as the client names it.
    #[schemars(with = "String")]
    pub model: Option<String>,
    /// How long it may take, such as "45s" or "2m"; after that the stop goes through.
    #[serde(deserialize_with = "duration")]
    #[schemars(with = "String")]
    pub timeout: Option<Duration>,
    /// A folder with `system.md`, `evidence.md`, `first.md`, `second.md`, `reason.md`, `answer.schema.json`, `loop.md` and
    /// `loop-hold.md`, each in place of the built-in text.
    #[schemars(with = "String", extend("x-own-file-only" = true))]
    pub prompts: Option<PathBuf>,
    /// Who tries to refute what would hold a stop: "same" is the model above, asked anew; "off" is nobody; any other word is
    /// the name of a model.
    #[schemars(with = "String")]
    pub second_reader: Option<String>,
    /// How many calls of a model one session may cost; after that what the disk proves is all that holds.
    #[schemars(with = "u32")]
    pub max_calls_per_session: Option<u32>,
    /// How much all sessions together may cost in a day, in dollars, as far as the client tells; not set: no limit.
    #[schemars(with = "f64", extend("examples" = [5.0]))]
    pub max_cost_per_day: Option<f64>,
}

/// `[log]`
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct LogTable {
    /// For how long decisions and their prompts are kept, such as "90d".
    #[serde(deserialize_with = "duration")]
    #[schemars(with = "String")]
    pub keep: Option<Duration>,
    /// How much room they may take, such as "200MB".
    #[serde(deserialize_with = "size")]
    #[schemars(with = "String")]
    pub max_size: Option<u64>,
}

/// Below this a prompt could not even hold the question.
pub(super) const LEAST_PROMPT_BYTES: usize = 10_000;

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

pub(super) fn duration<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Duration>, D::Error> {
    duration_of(deserializer).map(Some)
}

/// A length of time, as a person writes it.
pub(super) fn duration_of<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
    let text = String::deserialize(deserializer)?;
    parse_duration(&text).map_err(de::Error::custom)
}

fn size<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
    let text = String::deserialize(deserializer)?;
    parse_size(&text).map(Some).map_err(de::Error::custom)
}

pub(super) fn prompt_bytes<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<usize>, D::Error> {
    let bytes = usize::deserialize(deserializer)?;
    if bytes < LEAST_PROMPT_BYTES {
        return Err(de::Error::custom(format!("{bytes} is too little; at least {LEAST_PROMPT_BYTES}")));
    }
    Ok(Some(bytes))
}

fn globs<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Vec<String>>, D::Error> {
    globs_of(deserializer).map(Some)
}

/// Globs, each of which can be read.
pub(super) fn globs_of<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    let globs = Vec::<String>::deserialize(deserializer)?;
    for glob in &globs {
        anywhere_glob(glob)
            .map_err(|error| de::Error::custom(format!("\"{glob}\" is not a glob: {}", error.kind())))?;
    }
    Ok(globs)
}

/// Globs that count from a folder on, each of which can be read.
pub(super) fn file_globs<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    let globs = Vec::<String>::deserialize(deserializer)?;
    for glob in &globs {
        let fault =
            |why: &dyn std::fmt::Display| de::Error::custom(format!("\"{glob}\" is not a glob: {why}"));
        FileGlob::parse(glob).map_err(|error| fault(error.kind()))?;
        if glob.trim().is_empty() || glob.split('/').any(|part| part == "..") {
            return Err(fault(&"it names no file, or goes up with `..`"));
        }
    }
    Ok(globs)
}

/// A fault with its place in the text, and with the key that was probably meant.
fn fault(error: &toml::de::Error, text: &str, file: &str, key: String) -> ConfigError {
    let start = error.span().map_or(0, |span| text.floor_char_boundary(span.start));
    let line = text[..start].matches('\n').count() + 1;
    let column = text[..start].rsplit('\n').next().map_or(0, |before| before.chars().count()) + 1;
    let mut why = error.message().trim().to_owned();
    if let Some(moved) = ["dry_run", "max_blocks"].iter().find(|moved| key == format!("audit.{moved}")) {
        why.push_str(&format!("; `{moved}` stands in [gates], for all gates together"));
    } else if let Some(meant) = meant(&why) {
        why.push_str(&format!("; did you mean `{meant}`?"));
    }
    ConfigError::Bad { file: file.to_owned(), line, column, key, why }
}

/// How alike two words have to be for the one to be taken for a slip of the other.
const ALIKE: f32 = 0.6;

/// The word that was probably meant, where a message names one that is unknown and those that are known.
fn meant(message: &str) -> Option<&str> {
    let mut words = message.split('`').skip(1).step_by(2);
    let is_unknown = ["unknown field", "unknown variant"].iter().any(|start| message.starts_with(start));
    let unknown = words.next().filter(|_| is_unknown)?.to_lowercase();
    let alike = |known: &str| similar::TextDiff::from_chars(unknown.as_str(), known).ratio();
    let likely =
        words.map(|known| (alike(&known.to_lowercase()), known)).filter(|(alike, _)| *alike >= ALIKE);
    likely.max_by(|one, other| one.0.total_cmp(&other.0)).map(|(_, known)| known)
}

/// Takes out the key at a path, or the table; says whether it was there.
fn take_out(document: &mut DeTable<'_>, path: &str) -> bool {
    let mut keys = path.split(['.', '[']);
    let (Some(table), key) = (keys.next(), keys.next()) else { return false };
    match (document.get_mut(table).map(toml::Spanned::get_mut), key) {
        (Some(DeValue::Table(inner)), Some(key)) => inner.remove(key).is_some(),
        (Some(_), _) => document.remove(table).is_some(),
        (None, _) => false,
    }
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
        let document = DeTable::parse(text).map_err(|error| fault(&error, text, file, "not TOML".into()))?;
        Self::of_document(document, text, file)
    }

    /// The same with every fault in it, in their order.
    pub fn faults(text: &str, file: &str) -> Vec<ConfigError> {
        let mut faults = Vec::new();
        let mut document = match DeTable::parse(text) {
            Ok(document) => document,
            Err(error) => return vec![fault(&error, text, file, "not TOML".into())],
        };
        // One fault ends the reading, so what it is about is taken out and the rest is read again.
        while let Err(fault) = Self::of_document(document.clone(), text, file) {
            let is_gone = match &fault {
                ConfigError::Bad { key, .. } => take_out(document.get_mut(), key),
                ConfigError::Unreadable { .. } | ConfigError::NotTheProjects { .. } => false,
            };
            faults.push(fault);
            if !is_gone {
                break;
            }
        }
        faults.sort_by_key(|fault| match fault {
            ConfigError::Bad { line, column, .. } => (*line, *column),
            ConfigError::Unreadable { .. } | ConfigError::NotTheProjects { .. } => (0, 0),
        });
        faults
    }

    fn of_document(
        document: toml::Spanned<DeTable<'_>>,
        text: &str,
        file: &str,
    ) -> Result<Self, ConfigError> {
        serde_path_to_error::deserialize(toml::Deserializer::from(document)).map_err(|error| {
            let key = error.path().to_string();
            fault(error.inner(), text, file, if key == "." { "top level".into() } else { key })
        })
    }

    /// Takes out of a project's file what is not the project's to set, and gives a fault for each; marks what a person has to
    /// allow.
    pub fn not_the_projects(&mut self, file: &Path, own: Option<&Path>) -> Vec<ConfigError> {
        self.check.iter_mut().for_each(|check| check.is_projects = true);
        let text = |path: &Path| path.display().to_string();
        let own = own.map(text).unwrap_or_default();
        let taken = self.take_out_own_keys().into_iter();
        taken.map(|key| ConfigError::NotTheProjects { file: text(file), key, own: own.clone() }).collect()
    }

    /// Takes out what only the person's own file may set; gives the keys that were there.
    pub fn take_out_own_keys(&mut self) -> Vec<&'static str> {
        let mut taken = self.tasks.take_out_own_keys();
        if self.auditor.client.take().is_some() {
            taken.push("auditor.client");
        }
        if self.auditor.prompts.take().is_some() {
            taken.push("auditor.prompts");
        }
        taken.extend(self.memory.take_out_what_leads_outside());
        taken
    }
}
