//! Takes the words of a step, an ask or a claim and a path in them, says whether they promise that the path
//! will be there. Pure. A wrong yes holds a good session, a wrong no leaves the judgement to the auditor: so
//! doubt is a no.

use crate::plan::mentions;
use crate::words::{base_name, has_any_words, normalised, padded};

/// A text with one of these words does not promise that the paths it names exist.
const NO_PROMISE: &[&str] = &[
    "abandon", "avoid", "clean", "cleanup", "delete", "deleted", "deprecate", "don", "drop", "dropped",
    "exclude", "excluded", "gitignore", "gitignored", "ignore", "ignored", "instead", "migrate", "move",
    "moved", "never", "not", "optional", "optionally", "prune", "purge", "remove", "removed", "rename",
    "renamed", "replace", "replaced", "revert", "skip", "skipped", "temporary", "undo", "uninstall",
    "unless",
];

/// The same for words before the path: behind it they say what the file is for ("`prune.sh` removes old archives").
const NO_PROMISE_BEFORE: &[&str] = &[
    "called", "deletes", "e g", "eg", "example", "examples", "excludes", "if", "ignores", "instance", "like",
    "moves", "no", "removes", "renames", "replaces", "such", "without",
];

/// The same for words right behind the path.
const NO_PROMISE_BEHIND: &[&str] = &["example", "if", "no longer"];

/// Words for what a program does with files of its users, or for a look at one: "detect `go.mod`".
const HANDLES: &[&str] = &[
    "accept", "accepts", "against", "allow", "allows", "ask", "asks", "back", "based", "check", "checks",
    "compare", "detect", "detection", "detects", "discover", "download", "downloads", "ensure", "fallback",
    "find", "finds", "follow", "from", "handle", "handles", "handling", "honour", "inspect", "load",
    "loading", "loads", "look", "lookup", "mention", "mentions", "override", "overriding", "parse", "parses",
    "parsing", "pattern", "read", "reading", "reads", "reference", "respect", "reuse", "review", "run",
    "scan", "see", "support", "supports", "sure", "template", "upload", "uploads", "use", "uses", "using",
    "verify", "via", "watch", "when", "with",
];

/// Words for what a program writes when it runs: "log errors to `error.log`".
const OUTPUTS: &[&str] = &[
    "cache", "caches", "dump", "dumps", "emit", "emits", "export", "exports", "log", "logs", "output",
    "outputs", "persist", "persists", "print", "prints", "record", "records", "save", "saves", "store",
    "stores",
];

/// Words for making or changing a file.
const MAKES: &[&str] = &[
    "add", "added", "adds", "change", "changed", "configure", "cover", "covers", "create", "created",
    "creates", "define", "document", "edit", "extend", "extract", "fix", "generate", "implement",
    "implemented", "introduce", "into", "make", "modify", "new", "port", "prepare", "put", "scaffold", "set",
    "setup", "test", "tests", "update", "updated", "write", "writes", "written", "wrote", "built",
    "configured", "covered", "defined", "documented", "extended", "extracted", "fixed", "generated",
    "introduced", "made", "modified", "ported", "prepared", "scaffolded",
];

/// Words after which a place follows: "the parser in `src/parser.rs`".
const PLACES: &[&str] = &["at", "in", "inside", "into", "to", "under", "within"];

/// Endings of what programs read and write when they run.
const DATA: &[&str] = &[
    "cfg", "conf", "csv", "db", "gz", "html", "ini", "json", "jsonl", "log", "onnx", "pdf", "png", "sqlite",
    "svg", "tar", "toml", "tsv", "txt", "xml", "yaml", "yml", "zip",
];

/// Whether `text` promises that `path`, as written in it, will be there.
pub fn promises(text: &str, path: &str) -> bool {
    if !mentions::is_surely_a_path(path) {
        return false;
    }
    // What stands in backticks are names, not words: `deleted_at` deletes nothing.
    let outside: Vec<&str> = text.split('`').step_by(2).collect();
    let rest = padded(&normalised(&outside.join(" ").replace(path, " ")));
    let is_ignored = text.contains("gitignore") && !path.contains("gitignore");
    if is_ignored || has_any_words(&rest, NO_PROMISE) {
        return false;
    }
    let Some(at) = text.find(path) else { return true };
    let words = words_before(text, at);
    let before = padded(&words.join(" "));
    let behind = padded(&words_close_behind(text, at + path.len()));
    if has_any_words(&before, NO_PROMISE_BEFORE) || has_any_words(&behind, NO_PROMISE_BEHIND) {
        return false;
    }
    let verb =
        words.iter().rev().find(|word| [MAKES, HANDLES, OUTPUTS].iter().any(|t| t.contains(&word.as_str())));
    let name = base_name(path);
    let is_data =
        name.rsplit_once('.').is_some_and(|(stem, ending)| stem.is_empty() || DATA.contains(&ending));
    // Data is sent "to" a file at run time; code is put into one.
    let is_placed =
        words.last().is_some_and(|last| PLACES.contains(&last.as_str()) && !(is_data && last == "to"));
    // "The limits, read by `src/config.rs`": what does it has to be there.
    let is_actor = words.last().is_some_and(|last| last == "by") && !is_data;
    let is_set_off = text[..at].trim_end_matches(['`', ' ']).ends_with([':', '(', '—', '–']);
    match verb {
        Some(verb) if OUTPUTS.contains(&verb.as_str()) => !is_data,
        // "`nightly.py` writes `orders.csv`", when it runs.
        Some(verb) if is_data && matches!(verb.as_str(), "adds" | "creates" | "writes") => false,
        Some(verb) if HANDLES.contains(&verb.as_str()) => is_placed || is_actor || (is_set_off && !is_data),
        Some(_) => true,
        None => words.is_empty() || !is_data || is_placed || text.contains('✅'),
    }
}

/// Words for changing a file that is there.
const CHANGES: &[&str] = &[
    "add", "added", "adds", "adjust", "adjusted", "amend", "amended", "bump", "bumped", "change", "changed",
    "changes", "convert", "converted", "correct", "corrected", "document", "documented", "edit", "edited",
    "extend", "extended", "fix", "fixed", "fixes", "harden", "hardened", "implement", "implemented",
    "improve", "improved", "insert", "inserted", "modified", "modify", "patch", "patched", "port", "ported",
    "refactor", "refactored", "rewrite", "rewritten", "rewrote", "simplified", "simplify", "switch",
    "switched", "tweak", "tweaked", "update", "updated", "updates", "wire", "wired",
];

/// Whether `text` says that the file at `path`, as written in it, is changed: the file is what the verb is about, or
/// the place where something is put. "Add tests for `a.rs`" changes another file.
pub fn is_changed_by(text: &str, path: &str) -> bool {
    let Some(at) = text.find(path) else { return false };
    if !promises(text, path) {
        return false;
    }
    let before = words_before(text, at);
    let Some(last) = before.last() else {
        // "`a.rs`: bumped the version", or a bare list of files to change. "`a.md` lists the routes" may have been so.
        let behind = normalised(text[at + path.len()..].trim_start_matches('`'));
        return behind.is_empty() || behind.split(' ').take(2).any(|word| CHANGES.contains(&word));
    };
    let is_change = |word: &str| CHANGES.contains(&word);
    let verb = before.iter().rposition(|word| is_change(word));
    match verb {
        // Between the verb and the place where it is put there may be anything.
        Some(_) if PLACES.contains(&last.as_str()) => true,
        // "Update `a.rs` and `b.rs`"
        Some(verb) => before[verb + 1..].iter().all(|word| matches!(word.as_str(), "and" | "both")),
        None => false,
    }
}

/// Whether `text` says that `name` is put into the file at `path`: a word of making or none at all, then the name, then
/// the place; or the file first and what it gets after it.
pub fn is_put_into(text: &str, name: &str, path: &str) -> bool {
    // A heading is written without its marks.
    let name = if text.contains(name) { name } else { name.trim_start_matches(['#', ' ']) };
    let (Some(name_at), Some(path_at)) = (text.find(name), text.find(path)) else { return false };
    if !promises(text, path) || (path_at..path_at + path.len()).contains(&name_at) {
        return false;
    }
    let is_made = |before: &[String]| {
        let verb = before.iter().rev().filter(|word| *word != "with").find(|word| {
            [MAKES, HANDLES, OUTPUTS, CHANGES].iter().any(|table| table.contains(&word.as_str()))
        });
        verb.is_none_or(|verb| PUTS.contains(&verb.as_str()))
    };
    if name_at < path_at {
        let last = words_before(text, path_at).pop().unwrap_or_default();
        is_made(&words_before(text, name_at)) && PLACES.contains(&last.as_str())
    } else {
        // "`src/cli.rs`: add `--verbose`", "Create `a.rs` with `parse()`": what comes right behind it.
        let between = normalised(&text[path_at + path.len()..name_at].replace('`', " "));
        let between: Vec<String> = between
            .split(' ')
            .filter(|word| !word.is_empty() && !is_filler(word))
            .map(String::from)
            .collect();
        let is_close = between.len() <= 2;
        let (first, rest) =
            between.split_first().map_or(("", &between[..]), |(first, rest)| (first.as_str(), rest));
        let is_with = matches!(first, "with" | "containing" | "exporting" | "defining" | "exposing");
        let is_set_off =
            text[path_at + path.len()..].trim_start_matches(['`', '*']).starts_with([':', '—', '–', '(']);
        is_close
            && ((is_with && rest.is_empty()) || PUTS.contains(&first) || (is_set_off && between.is_empty()))
    }
}

/// Verbs with which a name is put into a file.
const PUTS: &[&str] = &[
    "add", "added", "adds", "create", "created", "creates", "define", "defined", "defines", "expose",
    "export", "implement", "implemented", "implements", "introduce", "introduced", "write", "writes",
    "wrote",
];

/// A few words behind a place in a text.
fn words_close_behind(text: &str, at: usize) -> String {
    let words = normalised(text[at..].trim_start_matches(['`', '"', '*']));
    words.split(' ').take(2).collect::<Vec<_>>().join(" ")
}

/// The words before a place in a text; what stands in backticks are names, not words.
fn words_before(text: &str, at: usize) -> Vec<String> {
    let outside: Vec<&str> = text[..at].split('`').step_by(2).collect();
    let words = normalised(&outside.join(" "));
    words.split(' ').filter(|word| !word.is_empty() && !is_filler(word)).map(String::from).collect()
}

fn is_filler(word: &str) -> bool {
    matches!(word, "a" | "an" | "the" | "file" | "folder" | "its" | "our")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_made_or_changed_is_promised() {
        for (text, path) in [
            ("Create `beta.txt`", "beta.txt"),
            ("`src/parser.rs`: new parser", "src/parser.rs"),
            ("Implement the parser in `src/parser.rs`", "src/parser.rs"),
            ("Add config loading in `src/loader.rs`", "src/loader.rs"),
            ("Create `src/load.rs` and `src/b.rs`", "src/b.rs"),
            ("Create `src/loader.rs` that loads `config.yaml`", "src/loader.rs"),
            ("Cover `src/slug.rs` with tests in `tests/slug.rs`", "tests/slug.rs"),
            ("Create the `migrations/` folder", "migrations/"),
            ("Create a `.gitignore`", ".gitignore"),
            ("Add `Dockerfile`", "Dockerfile"),
            ("Add unit tests for parsing: `tests/parse.rs`", "tests/parse.rs"),
            ("Set up `tsconfig.json`", "tsconfig.json"),
            ("`ci.yml`", "ci.yml"),
            ("New page `docs/search.md` with three examples", "docs/search.md"),
            ("`scripts/prune.sh` removes archives after thirty days", "scripts/prune.sh"),
            ("Limits from `limits.json`, read by `src/limits.go`", "src/limits.go"),
            ("| 2 | Sprite generated | `public/sprite.svg` | ✅ |", "public/sprite.svg"),
        ] {
            assert!(promises(text, path), "{text}: {path}");
        }
    }

    #[test]
    fn what_is_changed_is_told_from_what_is_spoken_of() {
        for (text, path) in [
            ("Update `README.md`", "README.md"),
            ("Updated `src/a.rs` and `src/b.rs`", "src/b.rs"),
            ("Add a retry to `src/client.rs`", "src/client.rs"),
            ("Implemented the parser in `src/parser.rs`", "src/parser.rs"),
            ("`Chart.yaml` – bumped `version` to 1.4.0", "Chart.yaml"),
            ("`locales/sk.json`", "locales/sk.json"),
        ] {
            assert!(is_changed_by(text, path), "{text}: {path}");
        }
        for (text, path) in [
            ("Add tests for `src/a.rs`", "src/a.rs"),
            ("Cover `src/slug.rs` with tests in `tests/slug.rs`", "src/slug.rs"),
            ("Update `src/a.rs` to use `src/b.rs`", "src/b.rs"),
            ("Review `src/a.rs`", "src/a.rs"),
            ("Create `src/b.rs` based on `src/a.rs`", "src/a.rs"),
            ("Keep `src/a.rs` as it is", "src/a.rs"),
            ("`docs/routes.md` lists it", "docs/routes.md"),
            ("`tests/a.py` is untouched and all five pass now", "tests/a.py"),
        ] {
            assert!(!is_changed_by(text, path), "{text}: {path}");
        }
    }

    #[test]
    fn what_is_put_into_a_file_is_told() {
        for (text, name, path) in [
            ("Add `parse_date` to `src/util.rs`", "parse_date", "src/util.rs"),
            ("Implement `retry()` in `src/client.rs`", "retry", "src/client.rs"),
            ("`src/cli.rs`: add `--verbose`", "--verbose", "src/cli.rs"),
            ("Create `src/a.rs` with `parse()`", "parse", "src/a.rs"),
            ("Added a `## Usage` section to `README.md`", "## Usage", "README.md"),
            ("`docs/a.md`: an \"Upgrading\" section", "# Upgrading", "docs/a.md"),
            ("`formatMoney(cents)` in `src/format.ts`", "formatMoney", "src/format.ts"),
            ("`src/a.go`: `Backoff(n int)`, doubling", "Backoff", "src/a.go"),
            ("`Writer` with `append` and `rotate` in `src/Writer.java`", "rotate", "src/Writer.java"),
        ] {
            assert!(is_put_into(text, name, path), "{text}: {name}");
        }
        for (text, name, path) in [
            ("Remove `parse_date` from `src/util.rs`", "parse_date", "src/util.rs"),
            ("`src/a.ts`: the caller of `parse_date`", "parse_date", "src/a.ts"),
            ("Rename `a_b` to `c_d` in `src/util.rs`", "a_b", "src/util.rs"),
            ("Use `parse_date` in `src/main.rs`", "parse_date", "src/main.rs"),
            ("Add tests for `parse_date` in `tests/util.rs`", "parse_date", "src/util.rs"),
        ] {
            assert!(!is_put_into(text, name, path), "{text}: {name}");
        }
    }

    #[test]
    fn what_is_no_file_for_sure_is_not() {
        for (text, path) in [
            ("Open a PR against `acme/widgets`", "acme/widgets"),
            ("Create branch `docs/update-readme`", "docs/update-readme"),
            ("Add endpoint `api/users`", "api/users"),
            ("Change imports to `utils/helpers`", "utils/helpers"),
            ("Fix test `TestParse/empty`", "TestParse/empty"),
            ("Push image `acme/web:latest`", "acme/web:latest"),
        ] {
            assert!(!promises(text, path), "{text}: {path}");
        }
    }

    #[test]
    fn what_is_ignored_handled_written_at_run_time_or_an_example_is_not() {
        for (text, path) in [
            ("Add a plugin loader (e.g. `plugins/foo.js`)", "plugins/foo.js"),
            ("Add a loader, for instance for `foo.js`", "foo.js"),
            ("Add `.env.local` and `coverage/` to `.gitignore`", ".env.local"),
            ("Add `.env.local` and `coverage/` to `.gitignore`", "coverage/"),
            ("Detect the project type from `package.json` or `setup.cfg`", "setup.cfg"),
            ("Create `src/loader.rs` that loads `config.yaml`", "config.yaml"),
            ("Add support for `.prettierrc.json`", ".prettierrc.json"),
            ("Log errors to `logs/error.log`", "logs/error.log"),
            ("`export/nightly.py` writes `orders.csv`", "orders.csv"),
            ("Use `b.js` instead of `a.js`", "a.js"),
            ("Removed `old.js`", "old.js"),
            ("Verify that `dist/app.js` loads", "dist/app.js"),
            ("Make sure `out.csv` is written by the export", "out.csv"),
            ("Respect `.editorconfig`", ".editorconfig"),
            ("Fall back to `config.default.json`", "config.default.json"),
            ("Upload `backup.tar.gz` to S3", "backup.tar.gz"),
            ("Fixed a crash when `settings.toml` is missing", "settings.toml"),
            ("Tested with `sample.pdf`", "sample.pdf"),
            ("The order is `a.toml`, then `b.toml`", "b.toml"),
            ("Do not create `beta.txt`", "beta.txt"),
        ] {
            assert!(!promises(text, path), "{text}: {path}");
        }
    }
}
