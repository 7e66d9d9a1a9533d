//! Tests that a session switched off or deleted: takes its newest edits and its commands, gives deeds. Pure. Only
//! what the old text lacked counts, and a test that was written elsewhere instead was moved, not deleted.

use std::sync::LazyLock;

use super::deletes::{is_own, is_scratch};
use super::line::Simple;
use super::{Deed, short};
use crate::evidence::Evidence;
use crate::facts::ordinary::{is_test, seen_from};
use crate::finding::AdvisoryKind;
use crate::pattern::Pattern;
use crate::session::{Original, Touch};
use crate::words::base_name;

/// What switches a test off where it stands. Conditions (`skipif`) are left out: they say when.
static OFF: LazyLock<Pattern> = LazyLock::new(|| {
    Pattern::known(concat!(
        r"\b(?:it|test|describe|context|suite|specify)\.(?:skip|fixme|todo)\b",
        r"|\bx(?:it|test|describe|context|specify)\(",
        r"|pytest\.mark\.(?:skip|xfail)\b|pytest\.skip\(|@unittest\.skip\(|@skip\(|\.skipTest\(",
        r"|@Ignore\b|@Disabled\b|#\[ignore\b|\bt\.Skip(?:Now|f)?\(|\[Ignore\]|\bSkip\s*=\s*\x22",
        r"|\bmarkTestSkipped\(|--deselect\b|testPathIgnorePatterns|--ignore[= ]\S*test",
        // An assertion that can't fail.
        r"|\bassert(?:True|_true)?[!(]?\(\s*true\s*\)|\bassertTrue\(\s*True\s*\)|(?m:\bassert True\s*$)|\bassert\.ok\(true\)",
        r"|\bexpect\(true\)\.(?:toBe\(true\)|toEqual\(true\)|toBeTruthy\(\)|to\.be\.true|to\.equal\(true\))",
        // A test that became a comment; an empty comment above one is none.
        r"|(?m:^[ \t]*(?://|#)[ \t]*(?:(?:it|test|describe)\(|def test_|fn test_|func Test|#\[test\]))",
    ))
});

/// What all that switches a test off has, but for what stands in comments and for assertions.
const OFF_STEMS: &[&str] = &[
    "kip", "fixme", "todo", "xit(", "xtest(", "xdescribe(", "xcontext(", "xspecify(", "xfail", "gnore",
    "Disabled", "--deselect",
];

/// How often a text switches a test off, and the last words that do.
fn switched_off(text: &str) -> (usize, &str) {
    let lines = || text.lines().map(str::trim_start);
    let is_comment_of_a_test = |line: &str| {
        let said = line.strip_prefix("//").or_else(|| line.strip_prefix('#')).map(str::trim_start);
        said.is_some_and(|said| {
            ["it(", "test(", "describe(", "def test_", "fn test_", "func Test", "#[test]"]
                .iter()
                .any(|start| said.starts_with(start))
        })
    };
    // `assert(true)`, `assert True`, `expect(true)`.
    let is_sure = |(at, _): (usize, &str)| {
        let before = text[..at].strip_suffix(['t', 'T']).map(str::trim_end);
        before.is_some_and(|before| before.ends_with('(') || before.ends_with("assert"))
    };
    let may_be = OFF_STEMS.iter().any(|stem| text.contains(stem))
        || text.match_indices("rue").any(is_sure)
        || lines().any(is_comment_of_a_test);
    if !may_be {
        return (0, "");
    }
    OFF.find_iter(text).fold((0, ""), |(count, _), found| (count + 1, &text[found]))
}

/// How many tests begin in a text: lines that open with a form of one.
fn tests_in(text: &str) -> usize {
    text.lines().filter(|line| begins_test(line.trim_start())).count()
}

fn begins_test(line: &str) -> bool {
    let ends_word = |rest: &str| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_');
    let is_call = |rest: &str| {
        let chained = rest.strip_prefix('.').map(|rest| {
            let after = rest.trim_start_matches(|c: char| c.is_alphanumeric() || c == '_');
            (after.len() < rest.len()) && after.starts_with('(')
        });
        rest.starts_with('(') || chained.unwrap_or_default()
    };
    let python = line.strip_prefix("async").map_or(line, |rest| {
        let after = rest.trim_start();
        if after.len() < rest.len() { after } else { line }
    });
    ["it", "test", "specify"].iter().any(|word| line.strip_prefix(word).is_some_and(is_call))
        || python.starts_with("def test_")
        || line
            .strip_prefix("func Test")
            .is_some_and(|rest| rest.starts_with(|c: char| c.is_alphanumeric() || c == '_'))
        || ["#[test", "#[tokio::test", "@Test", "[Fact", "[Test"]
            .iter()
            .any(|mark| line.strip_prefix(mark).is_some_and(ends_word))
}

/// Files whose words decide which tests run.
const SETTINGS: &[&str] = &[
    "jest.config", "vitest.config", "vite.config", "pytest.ini", "tox.ini", "setup.cfg", "pyproject.toml",
    "package.json", "playwright.config", "conftest.py", "Makefile",
];

fn is_of_tests(path: &str) -> bool {
    is_test(path)
        || base_name(path).rsplit('.').next() == Some("rs")
        || SETTINGS.iter().any(|name| base_name(path).starts_with(name))
}

/// What a newest change took out and put in. A whole file stands against what was there before the session, as
/// far as that is known; one that is new takes nothing away.
fn before_and_after<'a>(
    touch: &Touch,
    session_original: impl FnOnce() -> Option<&'a Original>,
) -> Option<(String, String)> {
    let change = touch.change.as_ref()?;
    if !change.old.is_empty() {
        return Some((change.old.clone(), change.new.clone()));
    }
    match session_original()? {
        // Cut like the change is: what stands behind the cut can't be compared.
        Original::Text(text) => {
            let end = text.floor_char_boundary(change.new.len().max(text.len().min(change.new.len() * 2)));
            Some((text[..end.min(text.len())].to_owned(), change.new.clone()))
        }
        Original::Absent | Original::Unknown | Original::Recorded(_) => None,
    }
}

/// Tests that edits switched off or took out.
pub(super) fn deeds(evidence: &Evidence) -> Vec<Deed> {
    let session = &evidence.session;
    let mut deeds = Vec::new();
    // With no word of the person in sight nobody knows what they asked for.
    if session.asks.is_empty() {
        return deeds;
    }
    let name = |touch: &Touch| seen_from(session.cwd.as_deref(), &touch.path).to_owned();
    let mut gone: Vec<(String, usize)> = Vec::new();
    let mut come = 0;
    // Where nothing tells what was changed, nothing tells of a test.
    let told = session.done_touches().filter(|touch| touch.change.is_some());
    for touch in told.filter(|touch| is_of_tests(&name(touch))) {
        let first =
            || session.done_touches().find(|first| first.path == touch.path).map(|first| &first.original);
        let Some((before, after)) = before_and_after(touch, first) else {
            come += touch.change.as_ref().map_or(0, |change| tests_in(&change.new));
            continue;
        };
        let (off, marker) = switched_off(&after);
        let is_switched_off = off > 0 && off > switched_off(&before).0;
        if is_switched_off {
            deeds.push(Deed {
                kind: AdvisoryKind::DisabledTest,
                shown: short(&format!("{}: {}", name(touch), marker.trim())),
                target: touch.path.clone(),
            });
        }
        let (were, are) = (tests_in(&before), tests_in(&after));
        come += are.saturating_sub(were);
        if were > are && is_test(&name(touch)) && !is_switched_off {
            gone.push((name(touch), were - are));
        }
    }
    // As many came somewhere else: they were moved or written anew.
    for (path, lost) in gone.into_iter().filter(|(_, lost)| *lost > come) {
        deeds.push(Deed {
            kind: AdvisoryKind::DeletedTest,
            shown: format!("{path}: {lost} {} taken out", if lost == 1 { "test" } else { "tests" }),
            target: path,
        });
    }
    deeds
}

/// Whether a command that is not git's may delete files.
pub(super) fn may_delete(command: &Simple) -> bool {
    matches!(base_name(command.program()), "rm" | "unlink" | "trash" | "Remove-Item")
}

/// A test file that a command deleted and that the session had not made itself.
pub(super) fn deleted_by(command: &Simple, at: usize, evidence: &Evidence) -> Option<Deed> {
    let from = match (base_name(command.program()), command.words.get(1).map(String::as_str)) {
        ("rm" | "unlink" | "trash" | "Remove-Item", _) => 1,
        ("git", Some("rm")) if !command.has("--cached") => 2,
        _ => return None,
    };
    let mut operands = command.words.iter().skip(from).filter(|word| !word.starts_with('-'));
    let target = operands.find(|word| is_test_source(word) && !is_scratch(word))?;
    let session = &evidence.session;
    // As many came somewhere else: it was moved or written anew.
    let written = session.done_touches().filter(|touch| {
        touch.original == Original::Absent && is_test(seen_from(session.cwd.as_deref(), &touch.path))
    });
    let moved = written.filter_map(|touch| touch.change.as_ref()).any(|change| tests_in(&change.new) > 0);
    let is_own = is_own(target, at, evidence);
    (!is_own && !moved).then(|| Deed::of(AdvisoryKind::DeletedTest, command, target.clone()))
}

/// A file of tests, not what they leave behind.
fn is_test_source(path: &str) -> bool {
    const SOURCES: &[&str] = &[
        "c", "cc", "cpp", "cs", "dart", "ex", "exs", "go", "java", "js", "jsx", "kt", "mjs", "php", "py",
        "rb", "rs", "scala", "swift", "ts", "tsx", "vue",
    ];
    let ending = base_name(path).rsplit_once('.').map_or("", |(_, ending)| ending);
    is_test(path) && SOURCES.contains(&ending)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use regex::Regex;

    use super::*;

    fn code() -> impl Strategy<Value = String> {
        let pieces = prop::sample::select(vec![
            "it", "test", "describe", "specify", ".", "skip", "only", "(", ")", "\n", "\n", " ", "    ", "x",
            "async ", "async\n", "def test_", "func Test", "A", "#[", "test", "]", "tokio::", "@Test",
            "[Fact", "[Test", "@Ignore", "assert", "!", "True", "true", "assert True", "expect(true)",
            ".toBe(true)", "//", "#", "fn test_", "t.Skip", "Now", "Skip", "=", "\"", "--ignore=",
            "--deselect", "pytest.mark.", "xfail", "é", "_", "todo", "a",
        ]);
        prop::collection::vec(pieces, 0..16).prop_map(|pieces| pieces.concat())
    }

    #[test]
    fn an_empty_comment_above_a_test_switches_nothing_off() {
        assert_eq!(switched_off("//\ndef test_"), (0, ""));
        assert_eq!(switched_off("# todo\n#\ndef test_a():\n").0, 0);
        assert_eq!(switched_off("\t# def test_a():\n"), (1, "\t# def test_"));
    }

    proptest! {
        #[test]
        fn tests_are_counted_as_the_pattern_for_them_says(code in code()) {
            let pattern = Regex::new(
                r"(?m)^\s*(?:(?:it|test|specify)(?:\.\w+)?\(|(?:async\s+)?def test_|func Test\w|#\[(?:tokio::)?test\b|@Test\b|\[Fact\b|\[Test\b)",
            );
            prop_assert_eq!(tests_in(&code), pattern.expect("a pattern").find_iter(&code).count(), "{}", code);
        }

        #[test]
        fn a_text_without_the_stems_switches_nothing_off(code in code()) {
            let found: Vec<_> = OFF.find_iter(&code).collect();
            let last = found.last().map_or("", |last| &code[last.clone()]);
            prop_assert_eq!(switched_off(&code), (found.len(), last), "{}", code);
        }
    }
}
