//! `[memory]`: what a session is given at its start, and how much of it.

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, de};

use super::super::file::file_globs;
use super::super::set;

/// What a session is given at its start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemoryConfig {
    /// Which files.
    pub files: Vec<String>,
    /// What always holds.
    pub mandates: Vec<String>,
    /// The same as a file; empty for none.
    pub mandates_file: String,
    /// How many lines of one file.
    pub file_lines: usize,
    /// How many bytes of one file.
    pub file_bytes: usize,
    /// How many lines in all.
    pub max_lines: usize,
    /// How many bytes in all.
    pub max_bytes: usize,
}

/// `[memory]`
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct MemoryTable {
    /// Files that a session is given when it starts, goes on or was compacted, newest first, as globs from the project's folder
    /// on. In your own file an absolute path or one that begins with `~/` counts, too.
    #[serde(deserialize_with = "globs")]
    #[schemars(with = "Vec<String>")]
    pub files: Option<Vec<String>>,
    /// What always holds, a sentence each: every session is given it as its standing mandates.
    #[schemars(with = "Vec<String>")]
    pub mandates: Option<Vec<String>>,
    /// A file with such mandates; where it may be is as for `files`. Empty: none.
    #[schemars(with = "String")]
    pub mandates_file: Option<String>,
    /// How many lines of one file are given at the most, from its start on.
    #[schemars(with = "usize")]
    pub file_lines: Option<usize>,
    /// How many bytes of one file are given at the most.
    #[schemars(with = "usize")]
    pub file_bytes: Option<usize>,
    /// How many lines are given at the most, all files together.
    #[schemars(with = "usize")]
    pub max_lines: Option<usize>,
    /// How many bytes are given at the most, with all that stands around the files. Over 10,000 characters newer clients
    /// give the agent only the start and the name of a file with the rest.
    #[serde(deserialize_with = "all_bytes")]
    #[schemars(with = "usize", range(min = LEAST_BYTES))]
    pub max_bytes: Option<usize>,
}

/// Below this there would be no room for what stands around the files.
const LEAST_BYTES: usize = 2_000;

impl Default for MemoryConfig {
    fn default() -> Self {
        Self {
            files: Vec::new(),
            mandates: Vec::new(),
            mandates_file: String::new(),
            file_lines: 100,
            file_bytes: 4_000,
            max_lines: 300,
            max_bytes: 9_000,
        }
    }
}

impl MemoryConfig {
    /// Takes over what a file sets.
    pub fn apply(&mut self, table: MemoryTable) {
        set(&mut self.files, table.files);
        set(&mut self.mandates, table.mandates);
        set(&mut self.mandates_file, table.mandates_file);
        set(&mut self.file_lines, table.file_lines);
        set(&mut self.file_bytes, table.file_bytes);
        set(&mut self.max_lines, table.max_lines);
        set(&mut self.max_bytes, table.max_bytes);
    }

    /// Whether there is anything to give.
    pub fn is_set(&self) -> bool {
        !self.files.is_empty() || !self.mandates.is_empty() || !self.mandates_file.is_empty()
    }
}

impl MemoryTable {
    /// Takes out what leads out of the project; gives the keys that did.
    pub fn take_out_what_leads_outside(&mut self) -> Vec<&'static str> {
        let mut taken = Vec::new();
        if self.files.take_if(|files| files.iter().any(|glob| super::leads_outside(glob))).is_some() {
            taken.push("memory.files with a path outside of the project");
        }
        if self.mandates_file.take_if(|file| super::leads_outside(file)).is_some() {
            taken.push("memory.mandates_file outside of the project");
        }
        taken
    }
}

fn globs<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Vec<String>>, D::Error> {
    file_globs(deserializer).map(Some)
}

fn all_bytes<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<usize>, D::Error> {
    let bytes = usize::deserialize(deserializer)?;
    if bytes < LEAST_BYTES {
        return Err(de::Error::custom(format!("{bytes} is too little; at least {LEAST_BYTES}")));
    }
    Ok(Some(bytes))
}
