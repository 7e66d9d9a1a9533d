//! Names in other spellings: takes names of files and of things in code, says which may be the same. Pure. Read
//! generously: a doubt here must not become a finding.

use super::tables::DEFINERS;
use crate::evidence::workspace::folded;
pub(super) use crate::words::bare;
use crate::words::base_name;

/// The words of a name, however they are joined: `user_profile`, `user-profile`, `UserProfile`.
pub(super) fn words(name: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut before = ' ';
    for c in name.chars() {
        let starts = before.is_lowercase() && c.is_uppercase() || !before.is_alphanumeric();
        if c.is_alphanumeric() {
            if starts || words.is_empty() {
                words.push(String::new());
            }
            if let Some(word) = words.last_mut() {
                word.extend(c.to_lowercase());
            }
        }
        before = c;
    }
    words
}

/// A word without the endings that change with the sentence: plural, past, present participle.
pub(super) fn root(word: &str) -> &str {
    const ENDINGS: &[&str] = &[
        "ations", "ation", "ating", "ated", "ates", "ate", "ions", "ion", "ings", "ing", "ies", "ied", "ers",
        "er", "ed", "es",
    ];
    let without = |ending: &&str| word.strip_suffix(*ending).filter(|rest| rest.len() > 3);
    if let Some(rest) = ENDINGS.iter().find_map(without) {
        return rest;
    }
    let long = |rest: &&str| rest.len() > 2;
    let singular = word.strip_suffix('s').filter(long).unwrap_or(word);
    singular.strip_suffix(['e', 'y']).filter(long).unwrap_or(singular)
}

/// What a file is called without its ending. `auth/mod.rs` is called after its folder.
pub(super) fn stem(path: &str) -> &str {
    let path = path.trim_end_matches('/');
    let (folder, file) = path.rsplit_once('/').unwrap_or(("", path));
    let stem = file.split('.').find(|part| !part.is_empty()).unwrap_or(file);
    let is_entry = matches!(stem, "mod" | "index" | "__init__" | "main" | "page" | "route" | "README");
    if is_entry && !folder.is_empty() { base_name(folder) } else { stem }
}

/// Whether a file is there to test something.
pub(super) fn is_test(path: &str) -> bool {
    let in_folder = path.split('/').rev().skip(1).any(|folder| {
        matches!(folder, "test" | "tests" | "__tests__" | "spec" | "specs" | "e2e" | "testing")
    });
    in_folder || subject_of_test(path).is_some()
}

/// What a test is named after: `slug` of `test_slug.py`, `slug.spec.ts`, `SlugTest.java`.
pub(super) fn subject_of_test(path: &str) -> Option<String> {
    let file = base_name(path);
    let name = file.rsplit_once('.').map_or(file, |(name, _)| name);
    let mut words = words(name);
    let is_mark = |word: &String| matches!(word.as_str(), "test" | "tests" | "spec" | "specs");
    let before = words.len();
    words.retain(|word| !is_mark(word));
    (words.len() < before && !words.is_empty()).then(|| words.concat())
}

/// Whether two files are called alike: endings, joints, plurals and marks of tests aside.
pub(super) fn called_alike(one: &str, other: &str) -> bool {
    let called = |path: &str| subject_of_test(path).unwrap_or_else(|| bare(stem(path)));
    let (one_called, other_called) = (called(one), called(other));
    is_test(one) == is_test(other)
        && one_called.len() > 2
        && (one_called == other_called || root(&one_called) == root(&other_called))
}

/// Whether two paths are one however their letters are written.
pub(super) fn same_path(one: &str, other: &str) -> bool {
    one == other || folded(one) == folded(other)
}

/// Whether a line names a file by its last part: as a whole word, or at the end of a path.
pub(super) fn line_names(line: &str, file: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
    !file.is_empty()
        && line.match_indices(file).any(|(at, _)| {
            !line[..at].ends_with(is_part)
                && !line[at + file.len()..].starts_with(is_part)
                && !line[..at].ends_with('.')
        })
}

/// Whether a text defines a thing of that name, in any spelling of it.
pub(super) fn defines(text: &str, symbol: &str) -> bool {
    let last = symbol.rsplit(['.', ':']).next().unwrap_or(symbol);
    let wanted = bare(last);
    if wanted.len() < 3 {
        return false;
    }
    if symbol.starts_with("--") {
        return bare(text).contains(&wanted);
    }
    text.lines().any(|line| {
        let mut words = line.split(|c: char| !(c.is_alphanumeric() || c == '_' || c == '!')).peekable();
        let mut defined = false;
        while let Some(word) = words.next() {
            let follows = words.peek().is_some_and(|next| bare(next) == wanted);
            defined |= follows && DEFINERS.contains(&word);
        }
        // A method, a key, an assignment: the name opens its line.
        let start = line.trim_start_matches(|c: char| c.is_whitespace() || c == '+' || c == '"');
        let end = start.find(|c: char| !(c.is_alphanumeric() || c == '_' || c == '-')).unwrap_or(start.len());
        defined
            || (bare(&start[..end]) == wanted
                && start[end..].trim_start_matches(['"', ' ']).starts_with([':', '=', '(']))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_split_and_joined_in_any_spelling() {
        for name in ["user_profile", "user-profile", "UserProfile", "userProfile"] {
            assert_eq!(words(name), ["user", "profile"], "{name}");
            assert_eq!(bare(name), "userprofile");
        }
    }

    #[test]
    fn a_path_is_one_however_its_letters_are_written() {
        assert!(same_path("docs/caf\u{e9}.md", "docs/cafe\u{301}.md") && same_path("README.md", "readme.md"));
        assert!(!same_path("docs/tea.md", "docs/cafe.md"));
    }

    #[test]
    fn files_are_called_alike() {
        for (one, other) in [
            ("src/user-profile.ts", "src/userProfile.tsx"),
            ("tests/test_slug.py", "tests/slug_test.py"),
            ("src/auth.rs", "src/auth/mod.rs"),
            ("src/util.py", "src/utils.py"),
        ] {
            assert!(called_alike(one, other), "{one} {other}");
        }
        for (one, other) in [("src/slug.rs", "tests/slug_test.rs"), ("src/app.js", "src/api.js"), ("a", "b")]
        {
            assert!(!called_alike(one, other), "{one} {other}");
        }
    }

    #[test]
    fn a_definition_is_told_from_a_call() {
        for text in
            ["pub fn parse_row(x: u8) {", "+def parseRow():", "const parseRow = () =>", "  parse_row: true,"]
        {
            assert!(defines(text, "parse_row"), "{text}");
        }
        for text in ["let x = parse_row(1);", "// parse_row is gone", "fn parse_rows()"] {
            assert!(!defines(text, "parse_row"), "{text}");
        }
        assert!(defines("verbose: bool", "--verbose"));
    }

    #[test]
    fn a_file_is_named_whole() {
        assert!(line_names("sed -i s/a/b/ src/a.rs", "a.rs") && line_names("cat 'a.rs'", "a.rs"));
        assert!(!line_names("cat data.rs", "a.rs") && !line_names("cat a.rst", "a.rs"));
    }
}
