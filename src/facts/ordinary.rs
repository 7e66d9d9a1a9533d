//! What goes along with any work, by its name or its words: files that nobody plans, tasks that are chores, asks
//! that words can answer. Tables and the plainest questions to them; must not judge a session.

use crate::plan::Step;
use crate::words::{base_name, has_any_words, has_words, normalised, padded};

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
const REFERENCES: &[&str] = &[
    "alternatives", "background", "context", "critical", "existing", "future", "goals", "key files", "later",
    "non goals", "notes", "open questions", "optional", "out of scope", "reference", "references", "related",
    "risks", "scope", "verification",
];

/// Whether a step stands in such a section.
pub fn is_reference(step: &Step) -> bool {
    let section = padded(&normalised(step.section.as_deref().unwrap_or_default()));
    has_any_words(&section, REFERENCES)
}

/// Whether a step says of itself that it need not be done.
pub fn is_optional(step: &Step) -> bool {
    let words = padded(&normalised(&step.text));
    ["if time", "maybe", "nice to have", "optional", "optionally", "stretch"]
        .iter()
        .any(|word| has_words(&words, word))
}

/// A path as seen from the folder in which the session began, where it is below it.
pub fn seen_from<'a>(cwd: Option<&str>, path: &'a str) -> &'a str {
    let below = cwd.and_then(|cwd| path.strip_prefix(cwd.trim_end_matches('/')));
    below.and_then(|rest| rest.strip_prefix('/')).unwrap_or(path)
}

/// Parts of a path that stand for tests.
const TESTS: &[&str] =
    &["__tests__", "__test__", "e2e", "spec", "specs", "test", "testdata", "testing", "tests", "unittests"];

/// Whether a path is of tests, by its name or a folder above it.
pub fn is_test(path: &str) -> bool {
    let file = base_name(path);
    let mut folders = path.split('/').rev().skip(1);
    let mut parts = file.split(['.', '_', '-']);
    let stem = file.split('.').next().unwrap_or(file);
    folders.any(|folder| TESTS.contains(&folder))
        || parts.any(|part| matches!(part, "test" | "tests" | "spec" | "specs" | "e2e" | "conftest"))
        || stem.len() > 4 && (stem.ends_with("Test") || stem.ends_with("Tests") || stem.ends_with("Spec"))
}

/// Whether a path is of words for people, by its ending or a folder above it.
pub fn is_doc(path: &str) -> bool {
    let ending = base_name(path).rsplit_once('.').map_or("", |(_, ending)| ending);
    matches!(ending, "md" | "mdx" | "rst" | "adoc" | "txt")
        || path.split('/').rev().skip(1).any(|folder| matches!(folder, "doc" | "docs"))
}

/// Folders whose files nobody writes by hand, or nobody plans.
const BY_MACHINE: &[&str] = &[
    ".claude", ".git", ".idea", ".next", ".vscode", "__generated__", "__pycache__", "__snapshots__", "build",
    "dist", "generated", "node_modules", "out", "scratch", "target", "third_party", "tmp", "vendor",
];

/// Whether a file of the workspace is generated, vendored or scratch.
pub fn is_by_machine(name: &str) -> bool {
    GENERATED.iter().any(|end| name.ends_with(end))
        || name.split('/').rev().skip(1).any(|folder| BY_MACHINE.contains(&folder))
        || SCRATCH.iter().any(|folder| name.starts_with(folder))
}

/// Whether a file joins the others together: whatever is built, something of it ends up there.
pub fn is_joint(name: &str) -> bool {
    let stem = base_name(name).split('.').next().unwrap_or(name);
    matches!(
        stem,
        "app"
            | "App"
            | "common"
            | "config"
            | "constants"
            | "errors"
            | "helpers"
            | "index"
            | "interfaces"
            | "lib"
            | "main"
            | "mod"
            | "models"
            | "routes"
            | "router"
            | "settings"
            | "setup"
            | "types"
            | "urls"
            | "utils"
            | "util"
            | "conftest"
    )
}

/// Words with which a request for work opens.
const REQUESTS: &[&str] = &[
    "add", "allow", "append", "apply", "bring", "build", "bump", "bundle", "cache", "change", "configure",
    "convert", "copy", "correct", "create", "define", "delete", "deploy", "disable", "document", "drop",
    "emit", "enable", "export", "expose", "extend", "extract", "fix", "format", "generate", "handle", "hide",
    "implement", "improve", "include", "increase", "inline", "insert", "install", "integrate", "introduce",
    "limit", "log", "make", "merge", "migrate", "move", "name", "optimise", "optimize", "parse", "persist",
    "pin", "port", "print", "publish", "put", "raise", "redesign", "reduce", "refactor", "register",
    "remove", "rename", "render", "reorder", "replace", "rewrite", "save", "send", "set", "show", "simplify",
    "sort", "split", "store", "support", "swap", "switch", "translate", "turn", "update", "upgrade", "use",
    "validate", "wire", "wrap", "write",
];

/// What may stand before such a word.
const LEAD_INS: &[&str] = &[
    "actually", "additionally", "again", "also", "and", "but", "can", "could", "fine", "finally", "first",
    "go", "good", "great", "i", "just", "let", "lets", "like", "me", "need", "next", "now", "oh", "ok",
    "okay", "one", "please", "s", "should", "so", "sure", "than", "then", "thing", "to", "want", "we",
    "while", "with", "would", "yes", "you", "more", "re", "at", "it", "ahead", "thanks", "nice", "perfect",
    "before", "that", "must", "ll", "here", "in", "there",
];

/// Whether words open with a request for work: "also, could you add …".
pub fn asks_for_work(text: &str) -> bool {
    let words = normalised(text);
    let mut words = words.split(' ');
    let opening = words.by_ref().take(10).find(|word| !LEAD_INS.contains(word));
    opening.is_some_and(|word| REQUESTS.contains(&word))
}

/// More words with which a chore opens: looking, thinking and tidying.
const LOOKS: &[&str] = &[
    "add tests", "address", "analyse", "analyze", "apply formatting", "ask", "assess", "audit", "clean",
    "cleanup", "collect", "compare", "compile", "confirm", "continue", "create pr", "create pull request",
    "debug", "determine", "diagnose", "discover", "double check", "ensure", "evaluate", "examine", "execute",
    "exit plan mode", "figure", "final", "finalise", "finalize", "find", "fix build", "fix ci", "fix clippy",
    "fix compilation", "fix compile", "fix errors", "fix failing", "fix lint", "fix linting",
    "fix remaining", "fix test", "fix tests", "fix type", "fix typescript", "fix warnings", "gather", "get",
    "identify", "inspect", "install dependencies", "investigate", "launch", "list", "locate", "look",
    "make sure", "manual", "map", "monitor", "offer", "open pr", "plan", "present", "propose", "prototype",
    "quality", "re run", "rebuild", "report", "rerun", "research", "resolve", "restart", "reproduce", "save",
    "scan", "search", "self review", "spec self review", "transition", "user", "return to", "wrap up",
    "submit", "bump version", "tag", "smoke", "stage", "study", "summarise", "summarize", "trace",
    "update changelog", "update doc", "update docs", "update documentation", "update existing tests",
    "update memory", "update plan", "update readme", "update test", "update tests", "update the plan",
    "validate", "wait", "watch", "write plan", "write tests", "write the plan", "write unit tests",
    "add unit tests",
];

/// Whether padded words open with these.
fn opens_with(padded: &str, words: &str) -> bool {
    padded[1..].strip_prefix(words).is_some_and(|rest| rest.starts_with(' '))
}

/// Whether a task is a chore of any work: it opens with a word for looking, checking or tidying.
pub fn is_chore(text: &str) -> bool {
    let words = normalised(text);
    let start: Vec<&str> = words.split(' ').take(4).collect();
    let opening = padded(&start.join(" "));
    let is = |at: usize, table: &[&str]| start.get(at).is_some_and(|word| table.contains(word));
    // "Build the form" is work, "build the project" is none.
    let first_is_chore = match start.first() {
        Some(&"build") => {
            start.len() == 1
                || start[1..].iter().any(|w| matches!(*w, "and" | "app" | "project" | "test" | "to"))
        }
        _ => {
            is(0, CHORES)
                || (is(0, &["all", "do", "final", "fix", "full", "git", "perform"]) && is(1, CHORES))
        }
    };
    words.is_empty() || first_is_chore || LOOKS.iter().any(|chore| opens_with(&opening, chore))
}
