//! What goes along with any work, by its name or its words: files that nobody plans, tasks that are chores, asks
//! that words can answer. Tables and the plainest questions to them; must not judge a session.

use crate::plan::Step;
use crate::words::{has_words, normalised, padded};

/// Files that nobody writes by hand: no plan needs to mention them.
pub const GENERATED: &[&str] = &[
    ".lock", "-lock.json", "-lock.yaml", ".lockb", ".sum", ".min.js", ".map", ".snap", ".pb.go", "_pb2.py",
    ".g.dart", ".generated.ts", "npm-shrinkwrap.json",
];

/// Files that go along with almost any work: a plan need not mention them either.
pub const COMPANIONS: &[&str] = &[
    ".gitignore", "CHANGELOG.md", "CLAUDE.md", "Cargo.toml", "Gemfile", "__init__.py", "build.gradle",
    "build.gradle.kts", "composer.json", "go.mod", "index.js", "index.ts", "lib.rs", "mod.rs",
    "package.json", "pom.xml", "pyproject.toml", "requirements.txt", "tsconfig.json",
];

/// Tasks that open or go on with these are the chores of any work.
pub const CHORES: &[&str] = &[
    "build", "check", "commit", "explore", "format", "lint", "linter", "push", "read", "review", "run",
    "test", "tests", "typecheck", "understand", "verify",
];

/// Asks that open with these can be answered in words.
pub const TALK: &[&str] = &[
    "answer", "are", "compare", "describe", "did", "discuss", "does", "explain", "how", "is", "never",
    "nevermind", "summarise", "summarize", "tell", "thank", "thanks", "wait", "what", "when", "where",
    "which", "who", "why",
];

/// Folders for what is not meant to stay.
pub const SCRATCH: &[&str] = &["/tmp/", "/var/tmp/", "/private/tmp/", "/var/folders/", "/dev/shm/"];

/// A todo this much like a step is that step.
pub const COVERED: f32 = 0.6;

/// Sections of a plan whose items are there to be known, not to be done.
pub const REFERENCES: &[&str] = &[
    "background", "context", "critical", "existing", "future", "goals", "key files", "notes", "reference",
    "references", "related", "risks", "scope", "verification",
];

/// Whether a step stands in such a section.
pub fn is_reference(step: &Step) -> bool {
    let section = padded(&normalised(step.section.as_deref().unwrap_or_default()));
    REFERENCES.iter().any(|word| has_words(&section, word))
}
