//! Text for people: cuts it to size, writes counts as words, removes terminal control characters. A
//! cut must not split a character, and must say how much is missing.

pub mod normalise;
pub mod template;

use std::path::Path;
use std::sync::LazyLock;
use std::time::Duration;

use regex::Regex;
use similar::TextDiff;

/// Returns whether an ASCII word, which is not empty, is in a text, in whatever case.
pub fn contains_ignoring_case(text: &str, word: &str) -> bool {
    let (bytes, first) = (text.as_bytes(), word.as_bytes()[0]);
    memchr::memchr2_iter(first.to_ascii_lowercase(), first.to_ascii_uppercase(), bytes).any(|at| {
        bytes[at..].get(..word.len()).is_some_and(|part| part.eq_ignore_ascii_case(word.as_bytes()))
    })
}

/// After this time a diff is approximated.
const DIFF_DEADLINE: Duration = Duration::from_millis(200);

/// Returns a unified diff without file headers, with `context` lines around each change.
pub fn unified_diff(before: &str, after: &str, context: usize, hints_at_newline: bool) -> String {
    let diff = TextDiff::configure().timeout(DIFF_DEADLINE).diff_lines(before, after);
    diff.unified_diff().context_radius(context).missing_newline_hint(hints_at_newline).to_string()
}

/// The longest part of a word that is dropped at a cut. Half a path or a number would mislead, and
/// half a token is known by nothing as the secret that it is a part of.
const CUT_WORD: usize = 200;

/// Returns how much of a word may be dropped where about `cap` bytes stay: most of a short text is
/// worth more than whole words.
fn droppable(cap: usize) -> usize {
    CUT_WORD.min(cap / 2)
}

/// Returns the text or, if it is longer, about its first `cap` bytes, up to white space if some is
/// near. A word that ends right at the cut goes, too: what follows would be glued to it.
pub fn start_of(text: &str, cap: usize) -> &str {
    let start = &text[..text.floor_char_boundary(cap)];
    let words = start.trim_end_matches(|c: char| !c.is_whitespace());
    let is_near = start.len() < text.len() && start.len() - words.len() <= droppable(cap);
    if is_near { words } else { start }
}

/// Returns the text or, if it is longer, about its last `cap` bytes, from white space or the start of
/// a word if one is near.
pub fn end_of(text: &str, cap: usize) -> &str {
    let from = text.ceil_char_boundary(text.len().saturating_sub(cap));
    let (before, end) = text.split_at(from);
    if before.is_empty() || before.ends_with(char::is_whitespace) {
        return end;
    }
    let rest_of_word = end.find(char::is_whitespace).filter(|length| *length <= droppable(cap));
    &end[rest_of_word.unwrap_or(0)..]
}

/// Returns the text or, if it is longer, about its first `cap` bytes, with a mark.
pub fn first_part(text: &str, cap: usize) -> String {
    let start = start_of(text, cap);
    if start.len() == text.len() {
        return text.to_owned();
    }
    format!("{start}[… {} bytes cut …]", text.len() - start.len())
}

/// Returns the text or, if it is longer, its first characters and an ellipsis: `max` in all.
pub fn shorten(text: &str, max: usize) -> String {
    if text.chars().count() <= max {
        return text.to_owned();
    }
    format!("{}…", text.chars().take(max - 1).collect::<String>().trim_end())
}

/// Returns at most this many bytes of the start and of the end of a text, without splitting a
/// character.
pub fn ends(text: &str, start: usize, end: usize) -> (&str, &str) {
    let start = text.floor_char_boundary(start);
    let end = text.ceil_char_boundary(text.len().saturating_sub(end));
    (&text[..start], &text[end..])
}

/// Returns the text or, if it is longer than `cap` bytes, its start and its end, half of that each,
/// with a mark in between. People say what they want before or after a log that they paste, and a
/// report states its result at either end.
pub fn start_and_end(text: &str, cap: usize) -> String {
    if text.len() <= cap {
        return text.to_owned();
    }
    let (start, end) = (start_of(text, cap / 2), end_of(text, cap / 2));
    format!("{start}[… {} bytes cut …]{end}", text.len() - start.len() - end.len())
}

/// Returns the text or, if it is longer, about its last `cap` bytes, with a mark.
pub fn last_part(text: &str, cap: usize) -> String {
    let end = end_of(text, cap);
    if end.len() == text.len() {
        return text.to_owned();
    }
    format!("[… {} bytes cut …]{end}", text.len() - end.len())
}

/// Returns a number with its noun.
pub(crate) fn counted(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

/// Returns a human-readable number of bytes: `1.3 kB`.
pub(crate) fn in_bytes(bytes: u64) -> String {
    let units = ["kB", "MB", "GB", "TB", "PB", "EB"];
    // Tenths of the unit, rounded.
    let (mut tenths, mut unit) = (u128::from(bytes) * 10, None);
    for name in units {
        if (tenths + 5) / 10 < 1_000 {
            break;
        }
        (tenths, unit) = ((tenths + 500) / 1_000, Some(name));
    }
    match unit {
        None => format!("{bytes} B"),
        Some(unit) => format!("{}.{} {unit}", tenths / 10, tenths % 10),
    }
}

/// Returns a human-readable duration, rounded down: `2 h 5 min`.
pub(crate) fn time_span(ms: i64) -> String {
    let seconds = ms.max(0) / 1000;
    let (minutes, hours, days) = (seconds / 60, seconds / 3600, seconds / 86_400);
    match (minutes, hours, days) {
        (0, ..) => format!("{seconds} s"),
        (_, 0, _) => format!("{minutes} min"),
        (_, _, 0) if minutes % 60 == 0 => format!("{hours} h"),
        (_, _, 0) => format!("{hours} h {} min", minutes % 60),
        _ => counted(usize::try_from(days).unwrap_or(usize::MAX), "day", "days"),
    }
}

/// Returns 1234567 as 1,234,567.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Returns whether a character neither controls a terminal, nor changes the direction of the text
/// around it, nor is invisible. The joiners that scripts and emoji need are harmless.
pub(crate) fn is_harmless(letter: char) -> bool {
    let turns = matches!(letter, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let hides = matches!(
        letter,
        '\u{180e}' | '\u{200b}' | '\u{2060}'..='\u{2064}' | '\u{206a}'..='\u{206f}' | '\u{feff}'
            | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}'
    );
    !letter.is_control() && !turns && !hides && !matches!(letter, '\u{2028}' | '\u{2029}')
}

/// Returns a multi-line text with terminal control characters replaced by a mark.
pub(crate) fn harmless(text: &str) -> String {
    let may_stay = |letter: char| is_harmless(letter) || letter == '\n' || letter == '\t';
    // CSV has line ends of two characters.
    let text = text.replace("\r\n", "\n");
    text.chars().map(|letter| if may_stay(letter) { letter } else { char::REPLACEMENT_CHARACTER }).collect()
}

/// Parameters of our own styles: bold, dim, italic, underlined, and the sixteen colours.
static STYLE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"\x1b\[(?:(?:[0-4]|[39][0-7])(?:;(?:[0-4]|[39][0-7]))*)?m").expect("a valid pattern")
});

/// Like [`harmless`], but our own colours and styles stay.
pub(crate) fn harmless_but_styled(text: &str) -> String {
    let (mut all, mut done) = (String::with_capacity(text.len()), 0);
    for style in STYLE.find_iter(text) {
        all += &harmless(&text[done..style.start()]);
        all += style.as_str();
        done = style.end();
    }
    all + &harmless(&text[done..])
}

/// Returns a path as people write it: with `~` for their home.
pub fn from_home(path: &Path, home: Option<&Path>) -> String {
    match home.filter(|home| home.components().count() > 1).and_then(|home| path.strip_prefix(home).ok()) {
        Some(rest) if rest.as_os_str().is_empty() => "~".to_owned(),
        Some(rest) => Path::new("~").join(rest).display().to_string(),
        None => path.display().to_string(),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;

    #[test]
    fn a_home_is_a_tilde_and_nothing_else_is() {
        let named = |path: &str, home: &str| from_home(Path::new(path), Some(Path::new(home)));
        assert_eq!(named("/home/me/shop", "/home/me"), "~/shop");
        assert_eq!(named("/home/me", "/home/me"), "~");
        assert_eq!(named("/home/meadow", "/home/me"), "/home/meadow");
        assert_eq!(named("/etc", "/"), "/etc");
        assert_eq!(from_home(Path::new("/etc"), None), "/etc");
    }

    #[test]
    fn a_change_is_shown_with_its_context() {
        let diff = |before, after| unified_diff(before, after, 3, true);
        assert_eq!(diff("a\nb\nc\n", "a\nB\nc\n"), "@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n");
        assert_eq!(diff("same\n", "same\n"), "");
        assert_eq!(diff("a", "a\n"), "@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+a\n");
        let text = |from: usize| (from..from + 20_000).map(|at| format!("{at}\n")).collect::<String>();
        let begun = Instant::now();
        assert!(diff(&text(0), &text(30_000)).starts_with("@@ -1,20000 +1,20000 @@\n"));
        assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
    }

    #[test]
    fn thousands_are_set_apart() {
        let cases = [(0, "0"), (999, "999"), (1_000, "1,000"), (1_234_567, "1,234,567")];
        for (number, text) in cases {
            assert_eq!(grouped(number), text);
        }
    }

    #[test]
    fn what_steers_a_terminal_or_turns_a_line_round_is_shown_as_a_mark() {
        assert_eq!(
            harmless("a\u{1b}[2J\u{9b}b\r\r\n\tc\u{7f}"),
            "a\u{fffd}[2J\u{fffd}b\u{fffd}\n\tc\u{fffd}"
        );
        for turned in ["\u{202e}", "\u{2066}", "\u{200f}", "\u{61c}", "\u{2028}"] {
            assert_eq!(harmless(&format!("x{turned}y")), "x\u{fffd}y", "{turned:?}");
        }
        assert_eq!(harmless("שלום é 漢 👍🏽"), "שלום é 漢 👍🏽");
    }

    #[test]
    fn only_our_own_styles_reached_a_terminal() {
        let styled = "\u{1b}[1m\u{1b}[31mred\u{1b}[0m \u{1b}[1;32mok\u{1b}[m";
        assert_eq!(harmless_but_styled(styled), styled);
        for steering in
            ["\u{1b}]0;x\u{7}", "\u{1b}[2J", "\u{1b}[8m", "\u{1b}[1;8m", "\u{9b}31m", "\u{1b}[?25l"]
        {
            let shown = harmless_but_styled(&format!("\u{1b}[1ma{steering}b\u{1b}[0m"));
            assert!(shown.starts_with("\u{1b}[1ma\u{fffd}") && shown.ends_with("b\u{1b}[0m"), "{shown:?}");
        }
    }

    proptest::proptest! {
        #[test]
        fn whatever_is_printed_steers_no_terminal(text in "(\u{1b}|\u{9b}|\\[|\\]|[0-9;?mJKh]|\\PC|\\pC){0,40}") {
            let shown = harmless_but_styled(&text);
            let unstyled = STYLE.replace_all(&shown, "");
            proptest::prop_assert_eq!(harmless(&unstyled), unstyled.as_ref());
        }
    }

    #[test]
    fn a_cut_is_at_a_character_and_says_so() {
        assert_eq!(first_part("äöüß", 8), "äöüß");
        assert_eq!(first_part("äöüß", 4), "äö[… 4 bytes cut …]");
        assert_eq!(first_part("äöüß", 5), "äö[… 4 bytes cut …]");
        assert_eq!(start_and_end("äöüß", 8), "äöüß");
        assert_eq!(start_and_end("äöüßäöüß", 8), "äö[… 8 bytes cut …]üß");
        assert_eq!(start_and_end("äöüßäöüß", 7), "ä[… 12 bytes cut …]ß");
        assert_eq!(last_part("äöüß", 8), "äöüß");
        assert_eq!(last_part("äöüß", 4), "[… 4 bytes cut …]üß");
        assert_eq!(last_part("äöüß", 5), "[… 4 bytes cut …]üß");
        assert_eq!(last_part("at /home/me/a.js fails", 12), "[… 16 bytes cut …] fails");
        assert_eq!(last_part("at a.js it fails", 8), "[… 8 bytes cut …]it fails");
    }

    #[test]
    fn half_a_word_stood_before_a_cut() {
        assert_eq!(first_part("log in with hunter2secret now", 18), "log in with [… 17 bytes cut …]");
        assert_eq!(first_part("log in with hunter2 now", 19), "log in with [… 11 bytes cut …]");
        assert_eq!(
            start_and_end("log in with hunter2 or else wait", 20),
            "log in [… 15 bytes cut …] else wait"
        );
        // What is left of a short name is worth more than its words.
        assert_eq!(first_part("a longest-of-names", 12), "a longest-of[… 6 bytes cut …]");
    }

    proptest::proptest! {
        #[test]
        fn no_cut_is_within_a_word_that_is_not_too_long(
            words in proptest::collection::vec("[a-zß\u{2003}]{0,9}|[a-z0-9_]{200,260}", 0..40),
            cap in 8_usize..600,
        ) {
            let text = words.join(" ");
            let is_fine = |cut: usize, word: &str, cap: usize| {
                let is_whole = cut == 0
                    || cut == text.len()
                    || text[..cut].ends_with(char::is_whitespace)
                    || text[cut..].starts_with(char::is_whitespace);
                is_whole || word.len() > droppable(cap)
            };
            let word_before = |text: &str| text.rsplit(char::is_whitespace).next().unwrap_or_default().to_owned();
            let word_after = |text: &str| text.split(char::is_whitespace).next().unwrap_or_default().to_owned();
            for (cut, cap) in [
                (first_part(&text, cap), cap),
                (last_part(&text, cap), cap),
                (start_and_end(&text, cap), cap / 2),
            ] {
                let Some((start, rest)) = cut.split_once("[… ") else {
                    proptest::prop_assert_eq!(&cut, &text);
                    continue;
                };
                let end = rest.split_once(" bytes cut …]").expect("a mark").1;
                proptest::prop_assert!(text.starts_with(start) && text.ends_with(end));
                proptest::prop_assert!(is_fine(start.len(), &word_before(start), cap), "{:?}", cut);
                proptest::prop_assert!(is_fine(text.len() - end.len(), &word_after(end), cap), "{:?}", cut);
            }
        }
    }

    #[test]
    fn a_span_of_time_is_said_in_what_counts() {
        let minute = 60_000;
        for (ms, said) in [
            (-5, "0 s"),
            (999, "0 s"),
            (59_999, "59 s"),
            (minute, "1 min"),
            (59 * minute, "59 min"),
            (120 * minute, "2 h"),
            (125 * minute, "2 h 5 min"),
            (24 * 60 * minute, "1 day"),
            (75 * 60 * minute, "3 days"),
        ] {
            assert_eq!(time_span(ms), said);
        }
    }

    #[test]
    fn bytes_are_said_in_units_of_their_size() {
        for (bytes, said) in [
            (0, "0 B"),
            (999, "999 B"),
            (1_000, "1.0 kB"),
            (1_250, "1.3 kB"),
            (200_000_000, "200.0 MB"),
            (1_000_000_000, "1.0 GB"),
            (u64::MAX, "18.4 EB"),
        ] {
            assert_eq!(in_bytes(bytes), said);
        }
    }
}
