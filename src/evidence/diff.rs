//! Takes what a file was and what it is, gives a unified diff. Must not take long: a large rewrite falls back to
//! a coarser diff.

use std::time::Duration;

use similar::{Algorithm, TextDiff};

/// After this the diff is approximated.
const DEADLINE: Duration = Duration::from_millis(200);

/// The unified diff of a file, three lines of context, without file headers.
pub fn unified(before: &str, after: &str) -> String {
    TextDiff::configure()
        .algorithm(Algorithm::Myers)
        .timeout(DEADLINE)
        .diff_lines(before, after)
        .unified_diff()
        .context_radius(3)
        .to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_shown_with_its_context() {
        assert_eq!(unified("a\nb\nc\n", "a\nB\nc\n"), "@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n");
        assert_eq!(unified("same\n", "same\n"), "");
    }
}
