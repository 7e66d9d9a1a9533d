//! `[loop]`: what may be set of the feature loop. A project may set all of it: nothing here runs a program or leaves the
//! folder, and no loop begins before a person begins one.

use std::path::{Component, Path};

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, de};

use super::super::set;

/// The feature loop.
#[derive(Debug, Clone, PartialEq)]
pub struct LoopConfig {
    /// The list.
    pub features: String,
    /// The progress file.
    pub progress: String,
    /// How often the work may be handed out.
    pub max_iterations: u32,
    /// When a loop ends before its last iteration.
    pub limits: LoopLimits,
    /// How many tokens a context holds.
    pub window: u64,
}

/// When a loop ends before its last iteration.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LoopLimits {
    /// How many rounds in a row may change nothing.
    pub stall_after: u32,
    /// How full a session's context may get, as a fraction of 1.
    pub context: f64,
}

/// `[loop]`
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct LoopTable {
    /// The list of features, from the loop's folder on.
    #[serde(deserialize_with = "inside")]
    #[schemars(with = "String")]
    pub features: Option<String>,
    /// The file that says how the loop stands, with the notes of whoever works.
    #[serde(deserialize_with = "inside")]
    #[schemars(with = "String")]
    pub progress: Option<String>,
    /// How often the work is handed out, holds and fresh sessions together. Counts when a loop is begun.
    #[serde(deserialize_with = "at_least_one")]
    #[schemars(with = "u32", range(min = 1))]
    pub max_iterations: Option<u32>,
    /// After how many iterations in a row the loop ends in which no feature passed, no file changed and nothing was committed.
    #[serde(deserialize_with = "at_least_one")]
    #[schemars(with = "u32", range(min = 1))]
    pub stall_after: Option<u32>,
    /// How full a session's context may get, as a part of 1; then it is let go, and a fresh one goes on.
    #[serde(deserialize_with = "part")]
    #[schemars(with = "f64", range(min = 0.0, max = 1.0))]
    pub context: Option<f64>,
    /// How many tokens a context holds. A model that is named with `[1m]`, or was filled further than this, has a million.
    #[schemars(with = "u64")]
    pub window: Option<u64>,
}

fn inside<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    let name = String::deserialize(deserializer)?;
    let is_inside = Path::new(&name).components().all(|part| matches!(part, Component::Normal(_)));
    if name.is_empty() || !is_inside {
        return Err(de::Error::custom(format!(
            "\"{name}\" is not a file in the loop's folder; write it like \"docs/features.json\""
        )));
    }
    Ok(Some(name))
}

fn at_least_one<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u32>, D::Error> {
    let count = u32::deserialize(deserializer)?;
    if count == 0 { Err(de::Error::custom("0 is too little; at least 1")) } else { Ok(Some(count)) }
}

fn part<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<f64>, D::Error> {
    let part = f64::deserialize(deserializer)?;
    if part > 0.0 && part <= 1.0 {
        return Ok(Some(part));
    }
    Err(de::Error::custom(format!("{part} is not a part of 1; write it like 0.8")))
}

impl Default for LoopConfig {
    fn default() -> Self {
        Self {
            features: "feature_list.json".into(),
            progress: "progress.txt".into(),
            max_iterations: 50,
            limits: LoopLimits { stall_after: 3, context: 0.8 },
            window: 200_000,
        }
    }
}

impl LoopConfig {
    /// Takes over what a file sets.
    pub fn apply(&mut self, table: LoopTable) {
        set(&mut self.features, table.features);
        set(&mut self.progress, table.progress);
        set(&mut self.max_iterations, table.max_iterations);
        set(&mut self.limits.stall_after, table.stall_after);
        set(&mut self.limits.context, table.context);
        set(&mut self.window, table.window);
    }
}

#[cfg(test)]
mod tests {
    use crate::config::file::ConfigFile;

    fn said(line: &str) -> String {
        let text = format!("[loop]\n{line}\n");
        ConfigFile::parse(&text, "c").expect_err("a fault").to_string()
    }

    #[test]
    fn files_stay_in_the_folder_and_numbers_make_sense() {
        for name in ["/etc/passwd", "../list.json", "a/../../b", ""] {
            let wanted = format!(
                "c, line 2: loop.features: \"{name}\" is not a file in the loop's folder; write it like \"docs/features.json\""
            );
            assert_eq!(said(&format!("features = \"{name}\"")), wanted);
        }
        assert_eq!(said("max_iterations = 0"), "c, line 2: loop.max_iterations: 0 is too little; at least 1");
        assert_eq!(
            said("context = 80.0"),
            "c, line 2: loop.context: 80 is not a part of 1; write it like 0.8"
        );
        let file =
            ConfigFile::parse("[loop]\nfeatures = \"docs/prd.json\"\ncontext = 1.0\n", "c").expect("right");
        assert_eq!(file.feature_loop.features.as_deref(), Some("docs/prd.json"));
    }
}
