//! Takes what a file was and what it is, returns a unified diff. Must not take long: a large rewrite
//! falls back to a coarser diff.

use std::time::Duration;

use similar::{Algorithm, TextDiff};

/// After this the diff is approximated.
const DEADLINE: Duration = Duration::from_millis(200);
/// How many lines are shown around a change.
const CONTEXT: usize = 3;

/// Returns the unified diff of a file, without file headers.
pub fn unified(before: &str, after: &str) -> String {
    let diff = TextDiff::configure().algorithm(Algorithm::Myers).timeout(DEADLINE).diff_lines(before, after);
    diff.unified_diff().context_radius(CONTEXT).to_string()
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;

    #[test]
    fn a_change_is_shown_with_its_context() {
        assert_eq!(unified("a\nb\nc\n", "a\nB\nc\n"), "@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n");
        assert_eq!(unified("same\n", "same\n"), "");
        assert_eq!(unified("a", "a\n"), "@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+a\n");
    }

    #[test]
    fn a_large_rewrite_is_compared_in_time() {
        let text = |from: usize| (from..from + 20_000).map(|at| format!("{at}\n")).collect::<String>();
        let begun = Instant::now();
        assert!(unified(&text(0), &text(30_000)).starts_with("@@ -1,20000 +1,20000 @@\n"));
        assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
    }
}
