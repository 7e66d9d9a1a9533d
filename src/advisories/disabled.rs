//! Tests that a session's edits switched off: marks of test frameworks that the new text has and the old one had not.

use std::sync::LazyLock;

use regex::Regex;

use super::{Action, short};
use crate::evidence::Evidence;
use crate::finding::AdvisoryKind;
use crate::paths::{is_test, seen_from};

/// What switches a test off where it stands. Conditions (`skipif`) are left out: they say when.
static OFF: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(concat!(
        r"\b(?:it|test|describe|context|suite|specify)\.(?:skip|fixme)\b",
        r"|\bx(?:it|test|describe|context|specify)\(",
        r"|pytest\.mark\.(?:skip|xfail)\b|pytest\.skip\(|@unittest\.skip\(|\.skipTest\(",
        r"|@Ignore\b|@Disabled\b|#\[ignore\b|\bt\.Skip(?:Now|f)?\(|\[Ignore\]|\bmarkTestSkipped\(",
    ))
    .expect("a valid pattern")
});

pub(super) fn deeds(evidence: &Evidence) -> Vec<Action> {
    let root = evidence.session.cwd.as_deref();
    let disabled = evidence.session.done_touches().filter_map(|touch| {
        let path = seen_from(root, &touch.path);
        let change = touch.change.as_ref().filter(|_| is_test(path) || is_rust(path))?;
        // A new file takes nothing away.
        if change.old.is_empty() {
            return None;
        }
        let now = OFF.find_iter(&change.new).count();
        let mark = OFF.find(&change.new).filter(|_| now > OFF.find_iter(&change.old).count())?;
        Some(Action { kind: AdvisoryKind::DisabledTest, shown: short(&format!("{path}: {}", mark.as_str())) })
    });
    disabled.collect()
}

/// In Rust tests stand beside the code.
fn is_rust(path: &str) -> bool {
    path.rsplit_once('.').is_some_and(|(_, ending)| ending == "rs")
}
