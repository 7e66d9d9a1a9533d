//! Takes a final message, gives what it says was done to files: each sentence or list item that claims
//! something, with the files and names in it. Pure. A reading of words: it says what is claimed, never that it
//! is so. What is proposed, asked, shown as an example or left for later is no deed.

use serde::{Deserialize, Serialize};

use crate::claims;
use crate::plan::Step;
use crate::plan::mentions::mentions;
use crate::words::{has_any_words, normalised, padded};

/// The names that a step puts into its files: those in backticks, and the headings that it speaks of.
pub fn promised_names(step: &Step) -> Vec<String> {
    step.symbols.iter().cloned().chain(headings(&step.text)).collect()
}

/// Headings that a text speaks of: `## Usage` in backticks or quotes.
fn headings(text: &str) -> Vec<String> {
    // Most steps speak of none.
    if memchr::memchr2(b'#', b'"', text.as_bytes()).is_none() {
        return Vec::new();
    }
    let quoted = text.split(['`', '"']).skip(1).step_by(2);
    let marked = quoted.filter(|part| part.starts_with('#') && part.contains("# ")).map(String::from);
    marked.chain(titles(text)).collect()
}

/// What a text calls a section: `an "Upgrading" section`.
fn titles(text: &str) -> Vec<String> {
    let parts: Vec<&str> = text.split('"').collect();
    let is_section = |after: &str| {
        ["section", "heading", "chapter"].iter().any(|word| after.trim_start().starts_with(word))
    };
    let quoted = parts.windows(2).skip(1).step_by(2);
    quoted.filter(|pair| is_section(pair[1])).map(|pair| format!("# {}", pair[0])).collect()
}

/// One thing that a message says was done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Deed {
    /// The words.
    pub text: String,
    /// Files that they name.
    pub paths: Vec<String>,
    /// Names of things in files.
    pub symbols: Vec<String>,
    /// They are a mere list, with no word that says what was done.
    pub listed: bool,
    /// They stand under a title that says that it was changed.
    pub changed: bool,
}

/// Titles under which things are listed that were done, with no verb of their own: "Files created:".
const DONE_TITLES: &[&str] = &[
    "added", "changed", "changes", "completed", "created", "delivered", "done", "files", "fixed",
    "implemented", "modified", "new", "summary", "updated", "what changed", "wrote",
];

/// Titles under which nothing was done, whatever the words below them.
const OTHER_TITLES: &[&str] = &[
    "alternatives", "before", "caveats", "deferred", "example", "examples", "follow", "future", "how to",
    "if you", "ideas", "known", "later", "left", "limitations", "next", "not done", "not included", "open",
    "optional", "options", "out of scope", "pending", "plan", "planned", "proposal", "proposed", "questions",
    "recommend", "recommendations", "remaining", "skipped", "suggested", "suggestions", "to do", "todo",
    "try it", "unchanged", "usage", "you can", "your turn",
];

/// More than this of a message is nobody's summary.
const MOST: usize = 200;

/// What a final message says was done to files.
pub fn deeds(message: &str) -> Vec<Deed> {
    let mut deeds = Vec::new();
    let mut title = Title::None;
    for line in claims::outside_code(message) {
        if let Some(words) = title_words(line) {
            title = Title::of(words);
            // "Created `a.rs`:" is a title and a deed.
            if !line.contains('`') {
                continue;
            }
        }
        if title == Title::Other {
            continue;
        }
        let claimed = claims::sentences(line);
        let is_list = claimed.is_empty() && is_list_item(line) && !denies(line);
        let subjects = || claims::all_sentences(line).filter(|said| opens_with_a_name(said) && !denies(said));
        let (said, is_listed): (Vec<&str>, bool) = match () {
            () if !claimed.is_empty() => (claimed, false),
            () if is_list => (vec![line.trim()], true),
            // "`guides/limits.md` explains how a limit is raised."
            () => (subjects().collect(), true),
        };
        for sentence in said {
            let mut named = mentions(sentence);
            if is_listed {
                // Without a verb only what is named first is what it is about.
                named.paths.truncate(1);
            }
            if !named.paths.is_empty() && deeds.len() < MOST {
                deeds.push(Deed {
                    text: sentence.trim_start_matches(['-', '*', '•', ' ']).to_owned(),
                    paths: named.paths,
                    symbols: named.symbols,
                    listed: is_listed && !matches!(title, Title::Done | Title::Changed),
                    changed: is_listed && title == Title::Changed,
                });
            }
        }
    }
    deeds
}

/// Whether a list item is about something that it names first: "- **`docs/a.md`**: the rota".
fn opens_with_a_name(line: &str) -> bool {
    let line = line.trim_start();
    // "**Docs.** `docs/a.md` explains …"
    let line = line.strip_prefix("**").and_then(|rest| rest.split_once("**")).map_or(line, |(_, rest)| rest);
    line.trim_start_matches(|c: char| c.is_whitespace() || c.is_ascii_digit() || "-*•.)".contains(c))
        .starts_with('`')
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Title {
    None,
    Done,
    Changed,
    Other,
}

impl Title {
    fn of(title: &str) -> Self {
        let words = padded(&normalised(title));
        // "All parts of the plan are done:" is a claim, whatever else it speaks of.
        if !claims::sentences(title).is_empty() && words.split_whitespace().count() > 2 {
            return Self::Done;
        }
        let is = |table: &[&str]| has_any_words(&words, table);
        if is(OTHER_TITLES) {
            Self::Other
        } else if is(&["changed", "edited", "modified", "updated"]) && !is(&["added", "created", "new"]) {
            Self::Changed
        } else if is(DONE_TITLES) {
            Self::Done
        } else {
            Self::None
        }
    }
}

/// The words of a line that stands above others: a heading, a line all in bold, one that ends with a colon.
fn title_words(line: &str) -> Option<&str> {
    let line = line.trim();
    if line.starts_with('#') {
        return Some(line.trim_start_matches('#'));
    }
    let is_short = line.chars().count() <= 80;
    let is_bold = line.starts_with("**") && line.trim_end_matches(':').ends_with("**") && is_short;
    ((is_bold || line.ends_with(':')) && is_short && !is_list_item(line)).then_some(line)
}

fn is_list_item(line: &str) -> bool {
    let line = line.trim_start();
    let numbered = line.trim_start_matches(|c: char| c.is_ascii_digit());
    line.starts_with(['-', '*', '•', '|', '✅', '✔', '☑']) && !line.starts_with("**")
        || (numbered.len() < line.len() && numbered.starts_with(['.', ')']))
}

/// Words with which a list item without a verb says that something is not there.
const DENIALS: &[&str] = &[
    "could", "deferred", "exists already", "if", "later", "missing", "never", "no", "not", "optional",
    "pending", "should", "skipped", "todo", "unchanged", "untouched", "will", "would",
];

fn denies(line: &str) -> bool {
    // Further on the words say what a file does: "`totals.py`: skips rows whose amount is missing".
    let outside: Vec<&str> = line.split('`').step_by(2).collect();
    let words = normalised(&outside.join(" "));
    let words = padded(&words.split(' ').take(3).collect::<Vec<_>>().join(" "));
    has_any_words(&words, DENIALS) || line.contains(['❌', '⏭', '⏳'])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(message: &str) -> Vec<String> {
        deeds(message).into_iter().flat_map(|deed| deed.paths).collect()
    }

    #[test]
    fn what_is_said_to_be_done_is_heard() {
        for (message, paths) in [
            ("I created `src/a.rs` and updated `src/lib.rs`.", &["src/a.rs", "src/lib.rs"][..]),
            (
                "All done.\n\n**Files created:**\n- `src/a.rs` - the parser\n- `src/b.rs`\n",
                &["src/a.rs", "src/b.rs"],
            ),
            ("## Summary\n\n1. `docs/api.md`: the endpoints\n", &["docs/api.md"]),
            ("## What changed\n\n| `src/a.rs` | new |\n", &["src/a.rs"]),
            ("✅ Added `--verbose` to `src/cli.rs`", &["src/cli.rs"]),
            (
                "All four parts of the plan are done:\n\n| Part | File |\n| Docs | `docs/a.md` |",
                &["docs/a.md"],
            ),
            ("The docs are in:\n\n- `docs/a.md`: the rota", &["docs/a.md"]),
            ("Main has it all:\n\n- the receipt shows the code (`receipt.php`)", &["receipt.php"]),
            ("**Docs.** `docs/a.md` explains the limits.", &["docs/a.md"]),
        ] {
            assert_eq!(named(message), paths, "{message}");
        }
    }

    #[test]
    fn what_stands_under_a_title_of_changes_is_changed() {
        let changed = |message: &str| deeds(message).iter().map(|deed| deed.changed).collect::<Vec<_>>();
        assert_eq!(changed("**Changed**\n- `src/cli.rb` takes `--json`\n"), [true]);
        assert_eq!(changed("**Added**\n- `src/a.rb`\n"), [false]);
    }

    #[test]
    fn what_is_left_shown_or_denied_is_not() {
        for message in [
            "Next steps:\n- Create `deploy.yaml`\n- Added value: `x.rs`",
            "## Usage\n\nRun `scripts/run.sh`, and it created `out.csv`.",
            "```\ncreated src/a.rs\n```",
            "> I created `src/a.rs`",
            "I did not create `src/a.rs`.",
            "Changes:\n- `src/a.rs`: skipped for now",
            "You should look at `src/a.rs`.",
        ] {
            assert_eq!(named(message), Vec::<String>::new(), "{message}");
        }
    }
}
