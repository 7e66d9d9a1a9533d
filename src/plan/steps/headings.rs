//! Whether a heading is numbered, in any language: `Step 3`, `2. …`, `Étape 2 : …`, `第1步：…`. Must
//! not judge what its title says.

/// A numbered heading.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Counted<'a> {
    /// The words before the number, in lower case; empty if the number comes first.
    pub label: String,
    /// What follows the number.
    pub title: &'a str,
    /// Whether the number is set off from what follows. `Python 3` and `Phase 2 Storage` are not,
    /// and count only if several headings have the label.
    pub is_set_off: bool,
}

/// The most words before a number: "Work package 2".
const LABEL_WORDS: usize = 2;

/// Returns the parts of a numbered heading.
pub(super) fn counted(heading: &str) -> Option<Counted<'_>> {
    // Emphasis and decoration (`🚀 Phase 1`) may precede the label.
    let words = heading.trim_start_matches(|c: char| !c.is_alphanumeric());
    if words.starts_with(is_number) {
        return number_first(words);
    }
    let mut rest = words;
    for _ in 0..LABEL_WORDS {
        let (word, after) = rest.split_at(letters(rest));
        if word.is_empty() {
            return None;
        }
        rest = after.trim_start_matches([' ', '\t']);
        // `阶段1` and `第一步` have no space before the number; `v1` is not a label.
        let is_apart = rest.len() < after.len() || word.chars().all(|c| !c.is_ascii());
        let number = if is_apart { number_length(rest) } else { 0 };
        if number > 0 {
            let label = words[..words.len() - rest.len()].trim().to_lowercase();
            return behind_number(&rest[number..]).map(|(title, is_set_off)| Counted {
                label,
                title,
                is_set_off,
            });
        }
    }
    None
}

/// Parses `3. Do it`, `2) Do it`, `1.2 Do it`, `1단계: …`, `一、…`. A bare number and a version's
/// heading (`1.2.0 (2024-05-01)`) do not count.
fn number_first(words: &str) -> Option<Counted<'_>> {
    let number = number_length(words);
    let behind = &words[number..];
    let unit = unit_length(behind);
    let after = &behind[unit..];
    let delimiters = after.len() - after.trim_start_matches(['.', ')', ':', '：', '、', '．']).len();
    let title = after.trim_start_matches(is_between);
    let has_parts = words[..number].contains('.');
    let is_apart = title.len() < after.len() - delimiters || after[..delimiters].contains(['：', '、', '．']);
    let is_named = title.starts_with(|c: char| !c.is_ascii_digit() && c != '(');
    let is_short = words[..number].split('.').all(|part| part.len() <= 3 || !part.is_ascii());
    let counts = (delimiters > 0 || has_parts || unit > 0) && is_apart && is_named && is_short;
    counts.then_some(Counted { label: String::new(), title, is_set_off: true })
}

/// Returns the title after a label's number, and whether something sets it off.
fn behind_number(behind: &str) -> Option<(&str, bool)> {
    let unit = unit_length(behind);
    let after = behind[unit..].trim_start_matches(['*', '_']);
    let title = after.trim_start_matches(is_between);
    let is_set_off = unit > 0 || after.trim_start().starts_with([':', '.', ')', '–', '—', '-', '：', '、']);
    // In `Phase 2x` and `HTTP 2/3` the number goes on.
    let ends = after.is_empty() || is_set_off || after.starts_with([' ', '\t']);
    ends.then_some((title, is_set_off))
}

fn is_between(c: char) -> bool {
    c.is_whitespace() || matches!(c, ':' | '-' | '–' | '—' | '.' | ')' | '：' | '、' | '．' | '*' | '_')
}

fn is_number(c: char) -> bool {
    c.is_ascii_digit() || "一二三四五六七八九十".contains(c)
}

/// Returns the length of the number that a text begins with: `3`, `1.2`, `4a`, `#3`, `IV`, `三`.
fn number_length(text: &str) -> usize {
    let hash = usize::from(text.starts_with('#'));
    let digits = &text[hash..];
    let end = digits.find(|c: char| !(is_number(c) || c == '.')).unwrap_or(digits.len());
    let number = digits[..end].trim_end_matches('.').len();
    if number > 0 && digits.starts_with(is_number) {
        let letter = digits[number..].starts_with(|c: char| c.is_ascii_alphabetic())
            && !digits[number + 1..].starts_with(char::is_alphanumeric);
        return hash + number + usize::from(letter);
    }
    let roman = text.find(|c: char| !"IVX".contains(c)).unwrap_or(text.len());
    // "Part I of it" is prose.
    let ends = text[roman..].trim_start();
    if roman > 0 && (ends.is_empty() || ends.starts_with([':', '.', ')', '–', '—', '-'])) {
        roman
    } else {
        0
    }
}

/// Returns the length of the word that some languages put directly after a number: `第1步`, `1단계`.
fn unit_length(behind: &str) -> usize {
    let end = behind.find(|c: char| c.is_ascii() || !c.is_alphabetic()).unwrap_or(behind.len());
    let is_short = behind[..end].chars().count() <= 3;
    let ends = behind[end..].is_empty() || behind[end..].starts_with(is_between);
    if is_short && ends { end } else { 0 }
}

fn letters(text: &str) -> usize {
    text.find(|c: char| !c.is_alphabetic() || is_number(c)).unwrap_or(text.len())
}

/// Returns whether a paragraph that starts with `bold` and continues with `rest` is used as a
/// heading.
pub(super) fn is_bold_heading(bold: &str, rest: &str) -> bool {
    let rest = rest.trim_start();
    // "**Phase 1** covers …" is prose; "**Phase 1**: …" is not.
    let goes_on = !rest.is_empty() && !rest.starts_with([':', '-', '–', '—', '(']);
    counted(bold).is_some_and(|heading| {
        let has_title = !heading.title.trim_matches(['*', '_', ' ']).is_empty();
        heading.is_set_off && (has_title || bold.trim_end_matches(['*', '_']).ends_with([':', '：']))
            || !goes_on
    })
}

/// Returns whether a line below a heading says where the work is: a short label, a colon, and a
/// path (`**File:** …`).
pub(super) fn is_file_line(line: &str, names_path: impl Fn(&str) -> bool) -> bool {
    let line = line.trim_start_matches(['*', '_', '-', ' ']);
    let Some((label, rest)) = line.split_once([':', '：']) else { return false };
    let is_label = label.len() <= LABEL_BYTES && !label.contains(['`', '/', '.', '(']);
    let first = rest.trim_start_matches(['*', '_', ' ', '[']).split([' ', ',']).next().unwrap_or_default();
    is_label && names_path(first)
}

/// The longest label of a `File:` line.
const LABEL_BYTES: usize = 40;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_count_in_any_language() {
        for (heading, title) in [
            ("Step 1: a", "a"),
            ("Schritt 2 – b", "b"),
            ("Étape 3 : c", "c"),
            ("Work package 4. d", "d"),
            ("阶段1：e", "e"),
            ("第1步：f", "f"),
            ("第一步：g", "g"),
            ("1단계: h", "h"),
            ("一、i", "i"),
            ("Этап 2: j", "j"),
            ("ステップ 3: k", "k"),
            ("Step #4: l", "l"),
        ] {
            let heading = counted(heading).expect(heading);
            assert_eq!((heading.title, heading.is_set_off), (title, true));
        }
        for heading in ["Python 3", "Phase 2 Storage"] {
            assert!(!counted(heading).expect(heading).is_set_off, "{heading}");
        }
        for heading in
            ["Context", "v2: a", "2024 in numbers", "1.2.0 (2024-05-01)", "Part I of it", "HTTP 2/3", "", "3"]
        {
            assert_eq!(counted(heading), None, "{heading}");
        }
    }

    #[test]
    fn a_line_with_a_label_and_a_path_says_where_the_work_is() {
        let is_line = |line| is_file_line(line, |word| word.contains(".rs"));
        assert!(is_line("**File:** `a.rs`") && is_line("Datei: a.rs") && is_line("文件：`a.rs`"));
        assert!(!is_line("Like `c.rs`.") && !is_line("It is so: a thing in a.rs"));
    }
}
