//! The paths in one word, usually one or none. Must not take prose, addresses, routes, refs, globs,
//! placeholders, versions, packages or members of objects for paths.

use super::names;

/// How a word is written: in backticks or a link, a word is a path that would be prose elsewhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Written {
    Bare,
    InCode,
    InLink,
}

/// Returns the paths in a word, usually one or none; `app.py/cli.py` names two files.
pub(super) fn paths(word: &str, written: Written) -> Vec<String> {
    if may_be_path(word) { paths_of(word, written) } else { Vec::new() }
}

/// Rules out most words of a text: without a dot or a slash, only a known name is a path.
fn may_be_path(word: &str) -> bool {
    let is_known = || {
        let name = word.trim_start_matches(|c: char| !c.is_alphanumeric());
        // Nearly every word begins otherwise.
        name.starts_with(names::is_initial)
            && names::FILES.iter().chain(names::FILES_IN_CODE).any(|known| name.starts_with(known))
    };
    // A dot behind nothing but letters and digits ends a sentence.
    let is_plain = |stem: &&str| stem.bytes().all(|byte| byte.is_ascii_alphanumeric());
    let without_end = word.strip_suffix('.').filter(is_plain).unwrap_or(word);
    without_end.bytes().any(|byte| matches!(byte, b'.' | b'/' | b'\\')) || is_known()
}

fn paths_of(word: &str, written: Written) -> Vec<String> {
    let Some(word) = cleaned(word, written) else {
        return Vec::new();
    };
    let alternatives: Vec<&str> = word.split('/').collect();
    if alternatives.len() > 1 && alternatives.iter().all(|part| is_file_name(part, written)) {
        return alternatives.into_iter().map(str::to_owned).collect();
    }
    if is_path(&word, written) { vec![word] } else { Vec::new() }
}

/// Returns whether a path ends like one: by an extension, by a slash, or as a name that has
/// neither.
pub(super) fn has_an_end(path: &str) -> bool {
    let name = last(path);
    name.is_empty() || extension(name).is_some() || is_known_name(name, Written::InCode) || is_dot_name(name)
}

/// Returns whether a path has both, as prose hardly ever does.
pub(super) fn has_separator_and_extension(path: &str) -> bool {
    path.contains(['/', '\\']) && extension(last(path)).is_some()
}

/// Returns the word without Markdown, punctuation and a position in the file; `None` if it can't be
/// a path.
fn cleaned(word: &str, written: Written) -> Option<String> {
    if word.len() > 300 || word.contains("...") || word.contains('…') || word.contains("://") {
        return None;
    }
    let word = match written {
        Written::Bare => without_markdown(word),
        Written::InCode | Written::InLink => word.to_owned(),
    };
    let word = without_position(without_punctuation(&word));
    let word = without_punctuation(word);
    // `@docs/a.md` is how the person points the client to a file; `@scope/pkg` is a package.
    let word = match word.strip_prefix('@') {
        Some(rest) if written == Written::Bare && has_known_extension(rest) => rest,
        _ => word,
    };
    let plain = !word.is_empty()
        && !word.contains(|c: char| c.is_control() || "*<>{}$%`\"'=!^&?#".contains(c))
        && !word.contains("//")
        && !word.ends_with('\\')
        && !word.contains("()")
        && !word.starts_with(['-', '@', ':', '+', '\\'])
        && balanced(word, '(', ')')
        && balanced(word, '[', ']');
    plain.then(|| word.to_owned())
}

/// Removes emphasis and escapes, which only bare words can have. A star beside a slash or a dot is
/// part of a glob.
fn without_markdown(word: &str) -> String {
    let mut word = word.trim_matches(['"', '\'']);
    while let Some(rest) = word.strip_prefix('*').filter(|rest| !rest.starts_with(['.', '/'])) {
        word = rest;
    }
    while let Some(rest) = without_punctuation(word).strip_suffix('*').filter(|rest| !rest.ends_with('/')) {
        word = rest;
    }
    word = word.strip_prefix("~~").unwrap_or(word);
    word = word.strip_suffix("~~").unwrap_or(word);
    if word.len() > 2 && !word.starts_with("__") && word.starts_with('_') && word.ends_with('_') {
        word = &word[1..word.len() - 1];
    }
    let mut plain = String::with_capacity(word.len());
    let mut chars = word.chars().peekable();
    while let Some(c) = chars.next() {
        let escapes = c == '\\' && chars.peek().is_some_and(|next| "_*[]()#-.`~".contains(*next));
        if !escapes {
            plain.push(c);
        }
    }
    plain
}

const POSSESSIVES: [&str; 2] = ["'s", "’s"];

/// Removes punctuation. Closing brackets go only if they were not opened in the word: `app/[id]`
/// keeps its own.
fn without_punctuation(mut word: &str) -> &str {
    let is_plain = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
    // Most words have none at either end.
    let bytes = word.as_bytes();
    if is_plain(bytes.first()) && is_plain(bytes.last()) && !POSSESSIVES.iter().any(|it| word.ends_with(it)) {
        return word;
    }
    loop {
        let before = word;
        for possessive in POSSESSIVES {
            word = word.strip_suffix(possessive).unwrap_or(word);
        }
        word = word.trim_end_matches(['.', ':', '!', '?', '\'', '’', '‘']);
        word = word.trim_start_matches(['\'', '‘', '’']);
        for (open, close) in [('(', ')'), ('[', ']'), ('{', '}')] {
            let (opened, closed) = (word.matches(open).count(), word.matches(close).count());
            if opened > closed {
                word = word.strip_prefix(open).unwrap_or(word);
            } else if closed > opened {
                word = word.strip_suffix(close).unwrap_or(word);
            } else if word.starts_with(open) && word.ends_with(close) && open == '(' {
                word = &word[1..word.len() - 1];
            }
        }
        if word == before {
            return word;
        }
    }
}

/// Returns the file that `a.rs:42:7`, `a.rs#L4-L9`, `a.py::test_x`, `a.rs:parse` and `a.svg?react`
/// all name.
fn without_position(word: &str) -> &str {
    let drive = usize::from(is_windows(word)) * 2;
    let end = word[drive..].find([':', '#', '?']).map_or(word.len(), |found| drive + found);
    let file = &word[..end];
    let position = word[end..].trim_start_matches([':', '#', 'L']);
    let numbered = position.starts_with(|c: char| c.is_ascii_digit());
    if end == 0 || !(numbered || extension(last(file)).is_some()) {
        return word;
    }
    file
}

fn is_path(word: &str, written: Written) -> bool {
    if is_windows(word) {
        return true;
    }
    if !word.contains(['/', '\\']) {
        return is_file_name(word, written) || written != Written::Bare && is_dot_name(word);
    }
    let unix = word.replace('\\', "/");
    let relative = unix.trim_start_matches("./").trim_start_matches("../");
    if is_placeholder(&unix) || is_elsewhere(relative) {
        return false;
    }
    let name = last(unix.trim_end_matches('/'));
    // `get/2` is a function with two arguments, and `run(a/b)` a call; `app/(auth)/page.tsx` is a
    // file.
    let is_arity = name.bytes().all(|b| b.is_ascii_digit()) && relative.split('/').count() == 2;
    if is_arity || unix.split('/').any(|part| part.find('(').is_some_and(|at| at > 0)) {
        return false;
    }
    if name.is_empty() || !unix.contains(char::is_alphabetic) {
        return false;
    }
    let first = relative.trim_start_matches('/').split('/').next().unwrap_or_default();
    let rooted = unix.starts_with('/');
    let known_root = rooted && names::ROOTS.contains(&first) && unix.len() > first.len() + 2;
    let route = rooted && (first == "api" || first == "v1" || first == "v2");
    let folder = unix.ends_with('/') && relative.len() > 2;
    let file = extension(name).is_some() || is_known_name(name, Written::InCode) || is_dot_name(name);
    match () {
        () if route => false,
        () if file || known_root => true,
        () if rooted => false,
        () if folder || unix.starts_with("./") || unix.starts_with("../") || unix.starts_with("~/") => true,
        // A folder that begins with a dot is not prose.
        () if unix.starts_with('.') => true,
        () => written != Written::Bare && !word.contains(['\\', '@']),
    }
}

/// Returns whether it is a name without folders.
fn is_file_name(word: &str, written: Written) -> bool {
    if is_known_name(word, written) || is_dot_name(word) {
        return true;
    }
    if word.starts_with('.') || word.contains(['@', '\\', '/', '~']) || is_placeholder(word) {
        return false;
    }
    let Some((stem, ending)) = word.rsplit_once('.') else {
        return false;
    };
    let ending = ending.to_ascii_lowercase();
    let lower = stem.to_ascii_lowercase();
    let library = ending == "js"
        && names::LIBRARIES.contains(&lower.as_str())
        && (written == Written::Bare || stem.starts_with(|c: char| c.is_ascii_uppercase()));
    let member = names::MEMBERS.contains(&word.to_ascii_lowercase().as_str());
    // `tar.gz` and `d.ts` alone are kinds of files.
    let kind = matches!(stem, "d" | "min" | "tar");
    // `_test.go` and `-spec.ts` are suffixes of names.
    let suffix = stem.starts_with(['_', '-']) && names::SUFFIXES.contains(&&stem[1..]);
    let site = written == Written::Bare && names::SITES.contains(&word);
    names::EXTENSIONS.contains(&ending.as_str())
        && stem.contains(|c: char| c.is_alphanumeric())
        && (ending.len() > 1 || stem.contains(char::is_alphabetic))
        && stem.chars().all(|c| c.is_alphanumeric() || "._-+[]()@ ".contains(c))
        && !(library || member || kind || suffix || site)
        && (!stem.contains('[') || is_script(&ending))
}

/// `[id].tsx` is a route's file in some frameworks; `[name].md` is a placeholder.
fn is_script(ending: &str) -> bool {
    matches!(ending, "ts" | "tsx" | "js" | "jsx" | "vue" | "svelte" | "astro")
}

fn is_known_name(word: &str, written: Written) -> bool {
    names::FILES.contains(&word)
        || word.starts_with("Dockerfile.")
        || written != Written::Bare && names::FILES_IN_CODE.contains(&word)
}

fn is_dot_name(word: &str) -> bool {
    if names::DOT_NAMES.contains(&word) || word.starts_with(".env.") {
        return true;
    }
    let Some((head, tail)) = word.strip_prefix('.').and_then(|rest| rest.split_once('.')) else {
        return false;
    };
    let named = head.len() > 1 && head.chars().all(|c| c.is_alphanumeric() || c == '-' || c == '_');
    let ending = tail.rsplit('.').next().unwrap_or(tail);
    named && !names::SUFFIXES.contains(&head) && names::EXTENSIONS.contains(&ending)
}

/// Returns the extension of the last component of a path with slashes: a known one, or at least one
/// of that shape.
fn extension(name: &str) -> Option<&str> {
    let (stem, ending) = name.rsplit_once('.')?;
    // `internal/store.Get` is a function of a package.
    let shaped = (1..=5).contains(&ending.len())
        && ending.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit())
        && ending.starts_with(|c: char| c.is_ascii_alphabetic());
    let known = names::EXTENSIONS.contains(&ending.to_ascii_lowercase().as_str());
    (!stem.is_empty() && (shaped || known)).then_some(ending)
}

fn has_known_extension(path: &str) -> bool {
    let ending = extension(last(path)).map(str::to_ascii_lowercase);
    ending.is_some_and(|ending| names::EXTENSIONS.contains(&ending.as_str()))
}

fn is_windows(word: &str) -> bool {
    let bytes = word.as_bytes();
    bytes.len() > 3 && bytes[0].is_ascii_alphabetic() && bytes[1] == b':' && matches!(bytes[2], b'\\' | b'/')
}

/// Returns whether a path is a placeholder, such as `NN-PLAN.md`, `XXX`, `YYYY-MM-DD` or
/// `[name].md`, with a repeated letter.
fn is_placeholder(path: &str) -> bool {
    let stands_for_more = |part: &str| {
        let mut letters = part.chars();
        let Some(first) = letters.next() else { return false };
        let is_one_letter = first.is_ascii_alphabetic() && letters.all(|c| c == first);
        let is_upper = matches!(first, 'D' | 'H' | 'M' | 'N' | 'S' | 'X' | 'Y');
        is_one_letter && (part.len() > 1 && is_upper || part.len() > 2 && matches!(first, 'n' | 'x' | 'y'))
    };
    path.split(['/', '.', '-', '_']).any(stands_for_more)
        || path.split('/').any(|part| part == "..." || part.contains('[') && part.contains("name"))
}

/// Returns whether a word with slashes is outside this workspace, or not a file at all.
fn is_elsewhere(path: &str) -> bool {
    let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
    let Some(first) = parts.first() else {
        return true;
    };
    let known = has_known_extension(path);
    let domain =
        first.rsplit_once('.').is_some_and(|(host, top)| !host.is_empty() && names::DOMAINS.contains(&top));
    let mime = parts.len() == 2 && names::MEDIA_TYPES.contains(first) && !known;
    let git_ref = names::REFS.contains(first) && !known;
    let initials = parts.len() > 1
        && parts.iter().all(|part| {
            part.len() <= 4 && part.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit())
        });
    let numbers = parts.iter().all(|part| part.bytes().all(|b| b.is_ascii_digit() || b == b'.' || b == b'-'));
    let letter = parts.len() == 1 && first.len() == 1;
    let substitution = *first == "s" && path.ends_with('/') && parts.len() > 2;
    let module = path.contains("::");
    domain || mime || git_ref || initials || numbers || letter || substitution || module
}

fn last(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}

fn balanced(word: &str, open: char, close: char) -> bool {
    word.matches(open).count() == word.matches(close).count()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn every_known_name_begins_with_a_letter_that_is_looked_for() {
        for known in names::FILES.iter().chain(names::FILES_IN_CODE) {
            assert!(known.starts_with(names::is_initial), "{known}");
            assert_eq!(paths(&format!("{known}."), Written::InCode), [*known]);
        }
    }

    proptest! {
        #[test]
        fn no_word_with_a_path_in_it_is_ruled_out(
            before in r#"[*_~"'(\[{@]{0,3}"#,
            name in "Makefile|justfile|LICENSE|Dockerfile|[a-zA-Z./:*_#-]{1,12}",
            after in r#"[*_~"')\]}.,:!?0-9sL#]{0,4}"#,
        ) {
            let word = format!("{before}{name}{after}");
            for written in [Written::Bare, Written::InCode, Written::InLink] {
                prop_assert_eq!(paths(&word, written), paths_of(&word, written), "{} {:?}", word, written);
            }
        }
    }
}
