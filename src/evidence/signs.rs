//! Takes the whole text of a file and what plan, message and session say of it, gives what it shows: the names it
//! holds, whether it holds anything at all, whether the session's change is still there. Pure. Must not judge.

mod wanted;

use std::borrow::Cow;
use std::cell::LazyCell;

use serde::{Deserialize, Serialize};

use super::workspace::squeezed;
use crate::session::{Change, Original};

use wanted::Code;
pub use wanted::Wanted;

/// What the whole of a file shows, beyond what of it enters the prompt.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Signs {
    /// All of its text was looked through.
    pub read_whole: bool,
    /// Which of the names that plan and final message put into files it holds, in whatever form.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub holds: Vec<String>,
    /// Which of them it defines, not only uses.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub defines: Vec<String>,
    /// It holds nothing but white space and comments.
    pub hollow: bool,
    /// What became of it in the session's time, beside what the session's own edits say.
    pub fate: Fate,
}

impl Signs {
    /// Whether nothing has changed it since the session began.
    pub fn is_unchanged(&self) -> bool {
        self.fate == Fate::Unchanged
    }
}

/// What became of a file in the session's time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fate {
    /// Nothing that would contradict the session.
    #[default]
    Plain,
    /// The session's newest change of it is gone, and what was there before is back.
    Undone,
    /// Nothing has changed it since the session began, as git or its own time tell.
    Unchanged,
}

/// Looks through a text. What it was before the session is asked for only where something hangs on it.
pub fn signs<'o>(
    name: &str,
    text: &str,
    wanted: &Wanted,
    change: Option<&Change>,
    original: impl FnOnce() -> Cow<'o, Original>,
) -> Signs {
    signs_with(name, text, || Cow::Owned(squeezed(text)), wanted, change, original)
}

/// The same where somebody has the text without white space, or makes it when something hangs on it.
pub(super) fn signs_with<'o, 's>(
    name: &str,
    text: &str,
    squeezed_text: impl FnOnce() -> Cow<'s, str>,
    wanted: &Wanted,
    change: Option<&Change>,
    original: impl FnOnce() -> Cow<'o, Original>,
) -> Signs {
    let (holds, defines) = if wanted.is_nothing() {
        (Vec::new(), Vec::new())
    } else {
        let code = without_comments(name, text);
        wanted.looked_for(name, &Code::of(&code))
    };
    let is_hollow = || !code_lines(name, text).any(|line| line.contains(char::is_alphanumeric));
    Signs {
        read_whole: true,
        holds,
        defines,
        hollow: !is_meant_to_be_empty(name) && is_hollow(),
        fate: match change {
            Some(change) if is_undone(text, squeezed_text, change, original) => Fate::Undone,
            _ => Fate::Plain,
        },
    }
}

/// What begins a comment, by a file's ending. Files of other kinds have none.
const COMMENTS: &[(&[&str], &[&str])] = &[
    (
        &[
            "c", "cc", "cpp", "cs", "dart", "go", "h", "hpp", "java", "js", "jsx", "kt", "mjs", "rs",
            "scala", "swift", "ts", "tsx", "php", "vue", "svelte", "zig",
        ],
        &["//", "/*", "*"],
    ),
    (&["py", "rb", "sh", "bash", "zsh", "yml", "yaml", "toml", "tf", "ex", "exs", "pl", "r"], &["#"]),
    (&["sql", "lua", "hs"], &["--"]),
];

/// What begins a comment in a file of that name, if anything does.
fn comment_starts(name: &str) -> &'static [&'static str] {
    let ending = name.rsplit('.').next().unwrap_or_default();
    COMMENTS.iter().find(|(endings, _)| endings.contains(&ending)).map_or(&[], |(_, starts)| starts)
}

/// A program's text without its comment lines: a promise to write it later is not it.
fn without_comments<'a>(name: &str, text: &'a str) -> Cow<'a, str> {
    if comment_starts(name).is_empty() {
        return Cow::Borrowed(text);
    }
    code_lines(name, text).flat_map(|line| [line, "\n"]).collect()
}

/// Its lines that are no comments.
fn code_lines<'a>(name: &str, text: &'a str) -> impl Iterator<Item = &'a str> {
    let starts = comment_starts(name);
    let is_comment = move |line: &str| {
        let line = line.trim_start();
        starts.iter().any(|start| line.starts_with(start))
    };
    text.lines().filter(move |line| !is_comment(line))
}

/// Files that say all they have to say by being there.
fn is_meant_to_be_empty(name: &str) -> bool {
    let file = crate::words::base_name(name);
    file.starts_with('.') || file.starts_with("__init__") || file == "py.typed" || !file.contains('.')
}

/// An edit of fewer letters than this proves nothing by being absent or back.
const LEAST: usize = 8;

/// Whether a text holds another, both of which may be long.
fn holds(text: &str, part: &str) -> bool {
    memchr::memmem::find(text.as_bytes(), part.as_bytes()).is_some()
}

fn is_undone<'o, 's>(
    text: &str,
    squeezed_text: impl FnOnce() -> Cow<'s, str>,
    change: &Change,
    original: impl FnOnce() -> Cow<'o, Original>,
) -> bool {
    if !change.new.is_empty() && holds(text, &change.new) {
        return false;
    }
    let (old, new) = (squeezed(&change.old), squeezed(&change.new));
    if old == new {
        return false;
    }
    let is_as_before = LazyCell::new(|| {
        !new.is_empty()
            && matches!(&*original(), Original::Text(before) if before.trim_end() == text.trim_end())
    });
    if old.len() < LEAST && !*is_as_before {
        return false;
    }
    let text_now = squeezed_text();
    if !new.is_empty() && holds(&text_now, &new) {
        return false;
    }
    // An edit that only takes something out is undone when that is back.
    let old_is_back = old.len() >= LEAST && holds(&text_now, &old);
    old_is_back || *is_as_before
}

#[cfg(test)]
mod tests {
    use super::*;

    fn held(name: &str, text: &str, symbol: &str) -> bool {
        !signs(name, text, &Wanted::of([symbol.to_owned()]), None, || Cow::Owned(Original::Unknown))
            .holds
            .is_empty()
    }

    #[test]
    fn a_name_is_held_in_whatever_form() {
        for (text, symbol) in [
            ("fn parse_date() {}", "parse_date"),
            ("function parseDate() {}", "parse_date"),
            ("def date_parse(): pass", "parse_date"),
            ("#[arg(long)] dry_run: bool", "--dry-run"),
            ("opts.on('--json')", "--json"),
            ("impl Config { fn load() {} }", "Config::load"),
            ("# Project\n\n## Usage\n", "## Usage"),
        ] {
            assert!(held("a.md", text, symbol), "{text}: {symbol}");
        }
        assert!(!held("a.rs", "fn parse_time() {}", "parse_date"));
        assert!(!held("a.rb", "require 'json'\nclass JsonFormatter", "--json"));
        assert!(!held("a.rs", "// TODO: parse_date\nfn main() {}", "parse_date"));
        assert!(!held("a.py", "# parse_date goes here\n", "parse_date"));
        assert!(held("a.md", "# parse_date\n", "parse_date"));
    }

    #[test]
    fn to_use_a_name_is_not_to_define_it() {
        let defined = |name: &str, text: &str, symbol: &str| {
            !signs(name, text, &Wanted::of([symbol.to_owned()]), None, || Cow::Owned(Original::Unknown))
                .defines
                .is_empty()
        };
        assert!(defined("a.ts", "export const formatMoney = (x) => x", "formatMoney"));
        assert!(defined("A.java", "    void append(String line) {", "append"));
        assert!(defined("a.py", "parser.add_argument(\"--dry-run\")", "--dry-run"));
        assert!(!defined("b.ts", "import { formatMoney } from './a'\nprint(formatMoney(1))", "formatMoney"));
        assert!(!defined("T.php", "public function testSplit(): void {", "Money::split"));
        assert!(!defined("a.md", "`formatMoney` formats money", "formatMoney"));
    }

    #[test]
    fn a_heading_is_a_heading() {
        assert!(held("a.md", "# A\n\n## Upgrading from 1.0\n", "# Upgrading"));
        assert!(!held("a.md", "# A\n\nUpgrading is easy.\n", "# Upgrading"));
    }

    #[test]
    fn a_file_of_comments_is_hollow() {
        let hollow = |name: &str, text: &str| {
            signs(name, text, &Wanted::default(), None, || Cow::Owned(Original::Unknown)).hollow
        };
        assert!(hollow("a.rs", "// TODO\n\n") && hollow("a.md", " \n"));
        assert!(
            !hollow("a.rs", "// TODO\nfn a() {}") && !hollow("pkg/__init__.py", "") && !hollow("a.md", "# A")
        );
    }

    #[test]
    fn an_undone_change_is_seen() {
        let undone = |text: &str, old: &str, new: &str, original: Original| {
            let change = Change { old: old.into(), new: new.into() };
            signs("a.rs", text, &Wanted::default(), Some(&change), || Cow::Owned(original)).fate
                == Fate::Undone
        };
        let before = "fn main() { old_way(); }\n";
        let text = || Original::Text(before.into());
        assert!(undone(before, "old_way();", "new_way();", text()));
        assert!(undone(before, "", "fn main() { new_way(); }", text()));
        assert!(undone(before, "old_way();", "", Original::Unknown));
        assert!(!undone("fn main() { new_way(); }", "old_way();", "new_way();", text()));
        assert!(!undone("fn main() {\n    new_way();\n}", "", "fn main() { new_way(); }", text()));
        assert!(!undone("fn main() { third_way(); }", "old_way();", "new_way();", text()));
    }
}
