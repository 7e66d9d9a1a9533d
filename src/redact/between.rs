//! What stands between the name of a secret and its value, right behind the name. Written out rather
//! than as patterns: with their counted repetitions those take longer to compile than most texts to
//! mask. Must not judge the value.

use std::ops::Range;

/// Returns the rest of a text behind at most `most` characters of a kind, and all that there are.
fn skip(text: &str, most: usize, is_kind: impl Fn(char) -> bool) -> &str {
    let end = text.char_indices().take(most).find(|(_, letter)| !is_kind(*letter)).map(|(at, _)| at);
    let all = || text.char_indices().nth(most).map_or(text.len(), |(at, _)| at);
    &text[end.unwrap_or_else(all)..]
}

/// Returns the rest of a text behind one of these characters, which may be missing.
fn skip_one<const N: usize>(text: &str, letters: [char; N]) -> &str {
    text.strip_prefix(letters).unwrap_or(text)
}

fn is_blank(letter: char) -> bool {
    matches!(letter, ' ' | '\t')
}

/// Returns the words of a passphrase that a text assigns at its start: nothing but small letters,
/// and none as short as the little words that every sentence has.
pub(super) fn phrase(text: &str) -> Option<Range<usize>> {
    let rest = skip_one(skip_one(text, ['"', '\'']), [']']);
    let rest = skip(rest, 4, is_blank);
    let rest = [":=", ":", "="].iter().find_map(|sign| rest.strip_prefix(sign))?;
    let rest = skip(rest, 4, is_blank);
    let (start, words, shortest) = if let quote @ ('"' | '\'') = rest.chars().next()? {
        (1, rest[1..].split_once(quote)?.0, 3)
    } else {
        let line = match rest.split_once('\n') {
            Some((line, _)) => line.strip_suffix('\r').unwrap_or(line),
            None => rest,
        };
        (0, line.trim_end_matches(is_blank), 4)
    };
    let is_word =
        |word: &str| (shortest..=12).contains(&word.len()) && word.bytes().all(|b| b.is_ascii_lowercase());
    let is_phrase = words.split(' ').all(is_word) && (4..=24).contains(&words.split(' ').count());
    let at = text.len() - rest.len() + start;
    is_phrase.then(|| at..at + words.len())
}

/// Returns the length of what stands between a name and its value where the name is a value itself:
/// `"name": "PASSWORD", "value": "…"`, `<add key="password" value="…"/>`,
/// `<key>Password</key><string>…`.
pub(super) fn named_value(text: &str) -> Option<usize> {
    let rest = behind_value_key(text).or_else(|| behind_string_tag(text)).or_else(|| behind_tag(text))?;
    Some(text.len() - rest.len())
}

/// `", "value": `
fn behind_value_key(text: &str) -> Option<&str> {
    let rest = skip(skip_one(text, ['"', '\'']), 8, is_blank);
    let rest = skip_one(skip(skip_one(rest, [',', '{']), 40, char::is_whitespace), ['"', '\'']);
    let rest = ["value", "default", "content"].iter().find_map(|key| rest.strip_prefix(key))?;
    let rest = skip(skip_one(rest, ['"', '\'']), 8, is_blank).strip_prefix([':', '='])?;
    Some(skip(rest, 8, is_blank))
}

/// `</key><string>`
fn behind_string_tag(text: &str) -> Option<&str> {
    skip(text.strip_prefix("</key>")?, 40, char::is_whitespace).strip_prefix("<string>")
}

/// `" type="text">`, the end of the tag that has the name.
fn behind_tag(text: &str) -> Option<&str> {
    const LONGEST: usize = 80;
    let (inside, rest) = text.split_once('>')?;
    let mut end = inside.len();
    // Blanks and a quote before the end of the tag do not count as its attributes.
    for _ in 0..8 {
        end -= usize::from(inside[..end].ends_with(is_blank));
    }
    end -= usize::from(inside[..end].ends_with(['"', '\'']));
    let attributes = &inside[..end];
    let is_tag = attributes.is_empty()
        || attributes.starts_with(is_blank)
            && !inside.contains(['<', '\n'])
            && attributes.chars().count() <= 1 + LONGEST;
    let rest = rest.strip_prefix("<value>").unwrap_or(rest);
    is_tag.then(|| rest.strip_prefix("<![CDATA[").unwrap_or(rest))
}

#[cfg(test)]
mod tests {
    use std::sync::LazyLock;

    use proptest::prelude::*;
    use regex::Regex;

    use super::*;

    static PHRASE: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(concat!(
            r#"\A["']?\]?[ \t]{0,4}(?::=|[:=])[ \t]{0,4}(?:"([a-z]{3,12}(?: [a-z]{3,12}){3,23})""#,
            r"|'([a-z]{3,12}(?: [a-z]{3,12}){3,23})'|([a-z]{4,12}(?: [a-z]{4,12}){3,23})[ \t]*(?:\r?\n|\z))",
        ))
        .expect("a valid pattern")
    });

    static NAMED_VALUE: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(concat!(
            r#"\A(?:["']?[ \t]{0,8}[,{]?\s{0,40}["']?(?:value|default|content)["']?[ \t]{0,8}[:=][ \t]{0,8}"#,
            r"|</key>\s{0,40}<string>",
            r#"|(?:[ \t][^<>\n]{0,80})?["']?[ \t]{0,8}>(?:<value>)?(?:<!\[CDATA\[)?)"#,
        ))
        .expect("a valid pattern")
    });

    fn phrase_by_pattern(text: &str) -> Option<Range<usize>> {
        PHRASE.captures(text)?.iter().skip(1).flatten().next().map(|found| found.range())
    }

    fn named_value_by_pattern(text: &str) -> Option<usize> {
        NAMED_VALUE.find(text).map(|found| found.end())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]

        #[test]
        fn a_phrase_is_what_the_pattern_says(
            before in "[\"']?\\]?[ \t]{0,6}(:=|:|=|::|==|)[ \t]{0,6}[\"']?",
            words in prop::collection::vec("[a-z]{2,5}|[a-z]{11,14}|[a-zA-Z0-9é]{3,4}", 2..7),
            many in 0usize..30,
            space in "( | |  |\t)",
            after in "[\"']?[ \t]{0,3}(\r?\n|\r|\\PC)?[a-z\"]{0,3}",
        ) {
            let mut words = words;
            if many > 20 {
                words.resize(many, "word".to_owned());
            }
            let text = format!("{before}{}{after}", words.join(&space));
            prop_assert_eq!(phrase(&text), phrase_by_pattern(&text), "{:?}", text);
            let text = format!("{before}{}{after}", ["some", "four", "long", "words"].join(&space));
            prop_assert_eq!(phrase(&text), phrase_by_pattern(&text), "{:?}", text);
        }

        #[test]
        fn a_named_value_is_what_the_pattern_says(
            pieces in prop::collection::vec(
                "[\"']|[ \t]{0,10}|[ \t\n\u{a0}]{1,42}|[,{]|value|default|content|[:=]|</key>|<string>|<value>\
                 |<!\\[CDATA\\[|>|[a-zé=\"]{1,12}|[ a-z]{60,90}|<|\n",
                0..9,
            ),
        ) {
            let text = pieces.concat();
            prop_assert_eq!(named_value(&text), named_value_by_pattern(&text), "{:?}", text);
        }

        #[test]
        fn the_end_of_a_tag_is_what_the_pattern_says(
            quote in "[\"']?",
            attributes in "[ \t]?[a-zé]{70,85}|[ \t][a-z\"' \t]{0,20}|[ \t]{0,100}",
            end in "[\"']{0,2}[ \t]{0,10}",
            behind in "(<value>)?(<!\\[CDATA\\[)?x?",
        ) {
            let text = format!("{quote}{attributes}{end}>{behind}");
            prop_assert_eq!(named_value(&text), named_value_by_pattern(&text), "{:?}", text);
        }

        #[test]
        fn a_key_of_a_value_is_what_the_pattern_says(
            quote in "[\"']{0,2}",
            blanks in "[ \t]{0,10}",
            comma in "[,{]?",
            spaces in "[ \t\n\u{a0}]{0,45}",
            key in "[\"']{0,2}(value|default|content|val)[\"']{0,2}[ \t]{0,10}[:=]{0,2}[ \t]{0,10}",
            behind in "[a-z>]{0,3}",
        ) {
            let text = format!("{quote}{blanks}{comma}{spaces}{key}{behind}");
            prop_assert_eq!(named_value(&text), named_value_by_pattern(&text), "{:?}", text);
            let text = format!("</key>{spaces}<string>{behind}");
            prop_assert_eq!(named_value(&text), named_value_by_pattern(&text), "{:?}", text);
        }
    }
}
