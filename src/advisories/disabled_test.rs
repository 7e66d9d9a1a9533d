//! A test was disabled: an edit added a test framework's skip marker.

use std::sync::LazyLock;

use regex::Regex;

use crate::evidence::Evidence;
use crate::paths::{is_test, seen_from, without_shared_folders};
use crate::session::Command;

/// Markers that disable a test. Conditional ones (`skipif`) are left out: they state when it is
/// skipped.
static OFF: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(concat!(
        r"\b(?:it|test|describe|context|suite|specify)\.(?:skip|fixme)\b",
        r"|\bx(?:it|test|describe|context|specify)\(",
        r"|pytest\.mark\.(?:skip|xfail)\b|pytest\.skip\(|@unittest\.skip\(|\.skipTest\(",
        r"|@Ignore\b|@Disabled\b|#\[ignore\b|\bt\.Skip(?:Now|f)?\(|\[Ignore\]|\bmarkTestSkipped\(",
    ))
    .expect("a valid pattern")
});

pub(super) fn find(evidence: &Evidence, _: &[&Command]) -> Option<String> {
    let root = evidence.session.cwd.as_deref();
    let mut shown = evidence.session.done_touches().filter_map(|touch| {
        let path = without_shared_folders(root, &touch.path);
        let change = touch.change.as_ref().filter(|_| is_test(path) || is_rust(path))?;
        // A new file removes no test.
        if change.old.is_empty() {
            return None;
        }
        let now = OFF.find_iter(&change.new).count();
        let mark = OFF.find(&change.new).filter(|_| now > OFF.find_iter(&change.old).count())?;
        Some(format!("{}: {}", seen_from(root, &touch.path), mark.as_str()))
    });
    shown.next_back()
}

/// In Rust, tests are in the same files as the code.
fn is_rust(path: &str) -> bool {
    path.rsplit_once('.').is_some_and(|(_, ending)| ending == "rs")
}
