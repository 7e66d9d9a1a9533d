//! `[subagents]`: whose stops are looked at, where the hook is registered for those of subagents.

use globset::{GlobBuilder, GlobMatcher};
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, de};

use crate::config::file::prompt_bytes;
use crate::config::set;

/// Whose stops are looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SubagentsConfig {
    /// Of which types of agents.
    pub types: Vec<String>,
    /// Of which of them not.
    pub skip: Vec<String>,
    /// Whether what they claim is audited, beside the checks that are set for them.
    pub audit: bool,
    /// How long the prompt of such an audit may be.
    pub max_prompt_bytes: usize,
}

/// `[subagents]`
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SubagentsTable {
    /// Which types of agents are looked at, as globs, such as "code-*".
    #[serde(deserialize_with = "types")]
    #[schemars(with = "Vec<String>")]
    pub types: Option<Vec<String>>,
    /// Which of them are left alone all the same.
    #[serde(deserialize_with = "types")]
    #[schemars(with = "Vec<String>")]
    pub skip: Option<Vec<String>>,
    /// Whether what a subagent was asked and claims is audited; false leaves it to the checks that are set for subagents.
    #[schemars(with = "bool")]
    pub audit: Option<bool>,
    /// How many bytes are sent to the auditor at the most: a subagent is asked for a part.
    #[serde(deserialize_with = "prompt_bytes")]
    #[schemars(with = "usize", range(min = crate::config::file::LEAST_PROMPT_BYTES))]
    pub max_prompt_bytes: Option<usize>,
}

impl Default for SubagentsConfig {
    fn default() -> Self {
        Self { types: vec!["*".into()], skip: Vec::new(), audit: true, max_prompt_bytes: 30_000 }
    }
}

impl SubagentsConfig {
    /// Takes over what a file sets.
    pub fn apply(&mut self, table: SubagentsTable) {
        set(&mut self.types, table.types);
        set(&mut self.skip, table.skip);
        set(&mut self.audit, table.audit);
        set(&mut self.max_prompt_bytes, table.max_prompt_bytes);
    }

    /// Whether an agent of this type is looked at. A client that does not tell the type has one without a name.
    pub fn looks_at(&self, agent_type: &str) -> bool {
        let any = |globs: &[String]| globs.iter().any(|glob| fits(glob, agent_type));
        any(&self.types) && !any(&self.skip)
    }
}

fn glob(text: &str) -> Result<GlobMatcher, globset::Error> {
    // A type of agent is no path, and people write it in either case.
    GlobBuilder::new(text).case_insensitive(true).build().map(|glob| glob.compile_matcher())
}

fn fits(text: &str, agent_type: &str) -> bool {
    text == "*" || glob(text).is_ok_and(|glob| glob.is_match(agent_type))
}

fn types<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Vec<String>>, D::Error> {
    let globs = Vec::<String>::deserialize(deserializer)?;
    for text in &globs {
        glob(text)
            .map_err(|error| de::Error::custom(format!("\"{text}\" is not a glob: {}", error.kind())))?;
    }
    Ok(Some(globs))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_told_by_globs() {
        let config = SubagentsConfig {
            types: vec!["code-*".into(), "general-purpose".into()],
            skip: vec!["code-reader".into()],
            ..SubagentsConfig::default()
        };
        for (agent_type, is_ours) in [
            ("code-writer", true),
            ("Code-Writer", true),
            ("general-purpose", true),
            ("code-reader", false),
            ("Explore", false),
            ("", false),
        ] {
            assert_eq!(config.looks_at(agent_type), is_ours, "{agent_type}");
        }
        assert!(SubagentsConfig::default().looks_at("") && SubagentsConfig::default().looks_at("a:b/c"));
    }
}
