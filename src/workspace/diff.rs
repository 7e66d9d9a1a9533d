//! Takes what a file was and what it is, gives a unified diff. Must not take long: a large rewrite falls back to
//! a coarser diff.

use std::collections::HashMap;
use std::fmt::Write;
use std::ops::Range;
use std::time::{Duration, Instant};

use similar::{Algorithm, ChangeTag, DiffOp, capture_diff_slices_deadline, group_diff_ops};

use crate::ids::Quickly;

/// After this the diff is approximated.
const DEADLINE: Duration = Duration::from_millis(200);
/// How many lines are shown around a change.
const CONTEXT: usize = 3;

/// The unified diff of a file, three lines of context, without file headers.
pub fn unified<'t>(before: &'t str, after: &'t str) -> String {
    let (old, new) = (lines(before), lines(after));
    // To compare numbers is quicker than to compare lines.
    let mut numbers = HashMap::with_capacity_and_hasher(old.len(), Quickly::default());
    let mut numbered = |lines: &[&'t str]| -> Vec<usize> {
        let number_of = |line: &&'t str| {
            let next = numbers.len();
            *numbers.entry(*line).or_insert(next)
        };
        lines.iter().map(number_of).collect()
    };
    let (old_numbers, new_numbers) = (numbered(&old), numbered(&new));
    let deadline = Instant::now() + DEADLINE;
    let ops = capture_diff_slices_deadline(Algorithm::Myers, &old_numbers, &new_numbers, Some(deadline));
    let mut text = String::new();
    for hunk in group_diff_ops(ops, CONTEXT) {
        let (Some(first), Some(last)) = (hunk.first(), hunk.last()) else { continue };
        let from = place(first.old_range().start..last.old_range().end);
        let to = place(first.new_range().start..last.new_range().end);
        let _ = writeln!(text, "@@ -{from} +{to} @@");
        for op in &hunk {
            put(&mut text, op, &old, &new);
        }
    }
    text
}

/// Its lines with their ends. A carriage return ends one, too.
fn lines(text: &str) -> Vec<&str> {
    let by_feeds = text.split_inclusive('\n');
    if !text.contains('\r') {
        return by_feeds.collect();
    }
    by_feeds.flat_map(by_returns).collect()
}

/// The lines of one that ends with a line feed, or with the text.
fn by_returns(line: &str) -> Vec<&str> {
    let mut parts: Vec<&str> = line.split_inclusive('\r').collect();
    // `\r\n` is one end.
    if let [.., last, "\n"] = parts.as_slice() {
        let both = last.len() + 1;
        parts.truncate(parts.len() - 2);
        parts.push(&line[line.len() - both..]);
    }
    parts
}

/// Lines by their numbers, as the head of a hunk has them.
fn place(lines: Range<usize>) -> String {
    match lines.len() {
        1 => (lines.start + 1).to_string(),
        // None: they would stand behind this one.
        0 => format!("{},0", lines.start),
        count => format!("{},{count}", lines.start + 1),
    }
}

fn put(text: &mut String, op: &DiffOp, old: &[&str], new: &[&str]) {
    let mut put = |sign: ChangeTag, lines: &[&str]| {
        for line in lines {
            let _ = write!(text, "{sign}{line}");
            if !line.ends_with(['\n', '\r']) {
                text.push_str("\n\\ No newline at end of file\n");
            }
        }
    };
    let (old, new) = (&old[op.old_range()], &new[op.new_range()]);
    if let DiffOp::Equal { .. } = op {
        put(ChangeTag::Equal, old);
    } else {
        put(ChangeTag::Delete, old);
        put(ChangeTag::Insert, new);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use similar::TextDiff;

    use super::*;

    #[test]
    fn a_change_is_shown_with_its_context() {
        assert_eq!(unified("a\nb\nc\n", "a\nB\nc\n"), "@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n");
        assert_eq!(unified("same\n", "same\n"), "");
    }

    /// The same as the library writes it.
    fn plain(before: &str, after: &str) -> String {
        let diff = TextDiff::configure().algorithm(Algorithm::Myers).diff_lines(before, after);
        diff.unified_diff().context_radius(CONTEXT).to_string()
    }

    fn numbered(lines: usize, change: impl Fn(usize) -> String) -> String {
        (0..lines).map(change).collect()
    }

    #[test]
    fn changes_anywhere_are_told_by_their_lines() {
        let line = |at: usize| format!("line {at}\n");
        let before = numbered(300, line);
        let changed = |these: &[usize], to: &str| {
            numbered(300, |at| if these.contains(&at) { to.to_owned() } else { line(at) })
        };
        for these in [&[0][..], &[5], &[150], &[299], &[100, 104, 200], &[0, 299], &[]] {
            for to in ["", "other\n", "two\nlines\n", "line 7\n", "é"] {
                let after = changed(these, to);
                assert_eq!(unified(&before, &after), plain(&before, &after), "{these:?} {to:?}");
                assert_eq!(unified(&after, &before), plain(&after, &before), "{these:?} {to:?}");
            }
        }
        let unended = before.trim_end();
        for (one, other) in
            [(before.as_str(), unended), (unended, before.as_str()), (unended, ""), ("", unended)]
        {
            assert_eq!(unified(one, other), plain(one, other));
        }
        let returns = before.replace("line 9\n", "line 9\r");
        let other = returns.replace("line 200", "another");
        assert_eq!(unified(&returns, &other), plain(&returns, &other));
    }

    proptest! {
        #[test]
        fn a_diff_is_as_its_makers_would_have_it(
            before in "([abé]|\r)(\n|\r\n|\r|[ab]\n){0,60}[a]?",
            after in "([abé]|\r)(\n|\r\n|\r|[ab]\n){0,60}[a]?",
        ) {
            prop_assert_eq!(unified(&before, &after), plain(&before, &after));
        }
    }
}
