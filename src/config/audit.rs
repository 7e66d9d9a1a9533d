//! `[audit]`, `[subagents]`, `[auditor]` and `[log]`. Plain data: must not call a reader.

use std::path::PathBuf;
use std::time::Duration;

use globset::{GlobBuilder, GlobMatcher, GlobSet};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::value;
use crate::finding::{Category, Finding, Status};
use crate::globs::anywhere;

/// `[audit]`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct AuditConfig {
    /// False turns the audit off and leaves the other gates on.
    #[schemars(extend("x-project" = "if-allowed"))]
    pub enabled: bool,
    /// Categories that may block a stop. Findings of the others are shown, and the stop goes
    /// through.
    #[schemars(extend("x-project" = "if-superset"))]
    pub block_on: Vec<Category>,
    /// Globs of plan files, relative to the project's folder.
    #[serde(deserialize_with = "value::globs")]
    #[schemars(extend("x-project" = "added"))]
    pub plan: Vec<String>,
    /// Those of `plan` that the project alone has named.
    #[serde(skip)]
    pub projects_plan: Vec<String>,
    /// The most bytes sent to a reader. Large files are reduced to what changed.
    #[serde(deserialize_with = "value::at_least::<{ value::MIN_PROMPT_BYTES }, _, _>")]
    #[schemars(range(min = value::MIN_PROMPT_BYTES))]
    #[schemars(extend("x-project" = "never"))]
    pub max_prompt_bytes: usize,
    /// What to do about checks that are said to pass and were not run.
    #[schemars(extend("x-project" = { "if": "block" }))]
    pub unrun_checks: UnrunChecks,
    /// Whether a session without a plan is audited.
    #[schemars(extend("x-project" = "if-allowed"))]
    pub planless: Planless,
    /// Findings that never block a stop, each in a table `[[audit.ignore]]`: `paths` (globs),
    /// `categories` (all by default) and `why`. They stay in the log, with `why`. A project's are
    /// added to yours.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend(
        "x-project" = "if-allowed",
        "examples" = [[{ "paths": ["src/generated/**"], "categories": ["B"], "why": "made by the build" }]]
    ))]
    pub ignore: Vec<IgnoreConfig>,
}

impl Default for AuditConfig {
    fn default() -> Self {
        Self {
            enabled: true,
            block_on: Category::ALL.to_vec(),
            plan: ["PLAN.md", "plan.md", "*-plan.md", "docs/plans/**", ".claude/plans/**"]
                .map(String::from)
                .to_vec(),
            projects_plan: Vec::new(),
            max_prompt_bytes: 64_000,
            unrun_checks: UnrunChecks::Advise,
            planless: Planless::Audit,
            ignore: Vec::new(),
        }
    }
}

impl AuditConfig {
    /// Returns whether a finding may block a stop.
    pub fn blocks_for(&self, finding: &Finding) -> bool {
        finding.status == Status::Confirmed && self.block_on.contains(&finding.category)
    }

    /// Marks the findings that match `ignore`. Refuted ones stay refuted.
    pub fn ignore_in(&self, findings: &mut [Finding]) {
        let rules: Vec<_> =
            self.ignore.iter().filter_map(|one| Some((anywhere(&one.paths).ok()?, one))).collect();
        for finding in findings.iter_mut().filter(|finding| finding.status != Status::Refuted) {
            let Some(path) = &finding.path else { continue };
            let applies = |(paths, one): &&(GlobSet, &IgnoreConfig)| {
                let is_named = one.categories.is_empty() || one.categories.contains(&finding.category);
                is_named && paths.is_match(path)
            };
            if let Some((_, one)) = rules.iter().find(applies) {
                finding.status = Status::Ignored;
                finding.check = format!("ignored by the config: {}", one.why);
            }
        }
    }
}

/// `[[audit.ignore]]`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct IgnoreConfig {
    /// Globs of files, relative to the project's folder.
    #[serde(deserialize_with = "value::some_globs")]
    pub paths: Vec<String>,
    /// The categories of findings; all by default.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub categories: Vec<Category>,
    /// Why they are ignored, for the log.
    #[serde(deserialize_with = "value::reason")]
    pub why: String,
}

/// What to make of a claim that tests, builds or linters pass, if they were not run since the last
/// edit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum UnrunChecks {
    /// An advisory: they may have been run elsewhere.
    #[default]
    Advise,
    /// A finding.
    Block,
}

/// Whether a session without a plan is audited.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Planless {
    /// If it has done any work.
    #[default]
    Audit,
    /// Never.
    Off,
}

/// `[subagents]`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SubagentsConfig {
    /// Globs of agent types whose stops are checked, such as "code-*".
    #[serde(deserialize_with = "value::agent_types")]
    #[schemars(extend("x-project" = "if-allowed"))]
    pub types: Vec<String>,
    /// Agent types to skip nevertheless.
    #[serde(deserialize_with = "value::agent_types")]
    #[schemars(extend("x-project" = "if-allowed"))]
    pub skip: Vec<String>,
    /// Whether a subagent's claims are audited. If false, only the checks that are set for
    /// subagents run.
    #[schemars(extend("x-project" = "if-allowed"))]
    pub audit: bool,
    /// The most bytes sent to a reader.
    #[serde(deserialize_with = "value::at_least::<{ value::MIN_PROMPT_BYTES }, _, _>")]
    #[schemars(range(min = value::MIN_PROMPT_BYTES))]
    #[schemars(extend("x-project" = "never"))]
    pub max_prompt_bytes: usize,
}

impl Default for SubagentsConfig {
    fn default() -> Self {
        Self { types: vec!["*".into()], skip: Vec::new(), audit: true, max_prompt_bytes: 30_000 }
    }
}

impl SubagentsConfig {
    /// Returns whether stops of this agent type are checked. Older clients give no type, so it is
    /// empty.
    pub fn includes(&self, agent_type: &str) -> bool {
        let matches =
            |glob: &String| glob == "*" || agent_type_glob(glob).is_ok_and(|glob| glob.is_match(agent_type));
        self.types.iter().any(matches) && !self.skip.iter().any(matches)
    }
}

/// Compiles a glob of agent types. They are not paths, and people write them in either case.
pub(super) fn agent_type_glob(text: &str) -> Result<GlobMatcher, globset::Error> {
    GlobBuilder::new(text).case_insensitive(true).build().map(|glob| glob.compile_matcher())
}

/// `[auditor]`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct AuditorConfig {
    /// The first reader's model, as the client names it.
    #[schemars(extend("x-project" = "never"))]
    pub model: String,
    /// How long a reader may take, such as "45s" or "2m". After that the stop goes through.
    #[serde(with = "value::duration")]
    #[schemars(with = "String")]
    #[schemars(extend("x-project" = "never"))]
    pub timeout: Duration,
    /// Who tries to refute what would block: "same", "off" or another model. "same" asks the first
    /// reader's model again; with "off", what passes the checks blocks.
    #[schemars(with = "String")]
    #[schemars(extend("x-project" = "never"))]
    pub second_reader: SecondReader,
    /// The most model calls per session. After that only what the disk proves blocks.
    #[schemars(extend("x-project" = "never"))]
    pub max_calls_per_session: u32,
    /// The program to call, instead of the client that runs the session. `PUNCHLIST_CLAUDE` takes
    /// precedence.
    #[schemars(with = "String")]
    #[schemars(extend("x-project" = "never"))]
    pub client: Option<PathBuf>,
    /// The most that all sessions together may cost in a day, in dollars, as far as the client
    /// reports it. Not set: no limit.
    #[schemars(with = "f64", extend("examples" = [5.0]))]
    #[schemars(extend("x-project" = "never"))]
    pub max_cost_per_day: Option<f64>,
    /// A folder with `system.md`, `evidence.md`, `first.md`, `second.md`, `reason.md`,
    /// `answer.schema.json`, `loop.md` and `loop-hold.md`. Each replaces the built-in text.
    #[schemars(with = "String")]
    #[schemars(extend("x-project" = "never"))]
    pub prompts: Option<PathBuf>,
}

impl Default for AuditorConfig {
    fn default() -> Self {
        Self {
            model: "haiku".into(),
            timeout: Duration::from_secs(45),
            second_reader: SecondReader::Same,
            max_calls_per_session: 60,
            client: None,
            max_cost_per_day: None,
            prompts: None,
        }
    }
}

/// Who tries to refute what would block a stop.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub enum SecondReader {
    /// The first reader's model, in a call of its own.
    Same,
    /// Another model, by its name.
    Model(String),
    /// Nobody: what passes the checks blocks.
    Off,
}

impl From<String> for SecondReader {
    fn from(name: String) -> Self {
        match name.as_str() {
            "same" => Self::Same,
            "off" => Self::Off,
            _ => Self::Model(name),
        }
    }
}

impl From<SecondReader> for String {
    fn from(reader: SecondReader) -> Self {
        reader.name().to_owned()
    }
}

impl SecondReader {
    /// Returns the setting as it is written.
    pub fn name(&self) -> &str {
        match self {
            Self::Same => "same",
            Self::Model(model) => model,
            Self::Off => "off",
        }
    }
}

/// `[log]`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct LogConfig {
    /// How long decisions and their prompts are kept, such as "90d".
    #[serde(with = "value::duration")]
    #[schemars(with = "String")]
    #[schemars(extend("x-project" = "never"))]
    pub keep: Duration,
    /// The most space they may take, such as "200MB".
    #[serde(with = "value::size")]
    #[schemars(with = "String")]
    #[schemars(extend("x-project" = "never"))]
    pub max_size: u64,
}

impl Default for LogConfig {
    fn default() -> Self {
        Self { keep: Duration::from_secs(90 * 24 * 3600), max_size: 200_000_000 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::Kind;
    use crate::testing::finding;

    #[test]
    fn findings_on_ignored_paths_hold_no_stop() {
        let ignore = |paths: &[&str], categories: &[Category]| IgnoreConfig {
            paths: paths.iter().map(|path| (*path).to_owned()).collect(),
            categories: categories.to_vec(),
            why: "made by the build".into(),
        };
        let config = AuditConfig {
            ignore: vec![ignore(&["gen/**"], &[Category::B]), ignore(&["vendor/**"], &[])],
            ..AuditConfig::default()
        };
        for (category, path, is_ignored) in [
            (Category::B, Some("gen/a.rs"), true),
            (Category::B, Some("gen/deep/a.rs"), true),
            (Category::A, Some("gen/a.rs"), false),
            (Category::B, Some("src/gen.rs"), false),
            (Category::A, Some("vendor/a.rs"), true),
            (Category::B, None, false),
        ] {
            let mut findings = [finding(category, Kind::NotInPlan, "x", path)];
            config.ignore_in(&mut findings);
            assert_eq!(findings[0].status == Status::Ignored, is_ignored, "{category:?} {path:?}");
            assert_eq!(config.blocks_for(&findings[0]), !is_ignored);
            assert_eq!(findings[0].check == "ignored by the config: made by the build", is_ignored);
        }
        let mut refuted = [Finding {
            status: Status::Refuted,
            ..finding(Category::B, Kind::NotInPlan, "x", Some("gen/a"))
        }];
        config.ignore_in(&mut refuted);
        assert_eq!(refuted[0].status, Status::Refuted);
    }
}
