//! Splits JSON text in one pass into fields, items and values as they are written. Must not copy,
//! or look into values that nobody asks for.
//!
//! It does not validate: `serde_json` rejects a cut or damaged line as a whole, while most of such
//! a line is still useful. A value is checked when it is decoded. Text that ends too early, or has
//! no JSON where JSON must be, is [`Torn`].

use std::borrow::Cow;
use std::fmt;

use memchr::memmem;
use serde::de::Visitor;
use serde::{Deserialize, Deserializer};

use crate::text::{end_of, last_part};

/// The text is not JSON from here on, or it ends in the middle of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Torn;

/// A value as it is written, and its position in the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Raw<'a> {
    json: &'a [u8],
    at: usize,
}

impl<'a> Raw<'a> {
    pub fn json(self) -> &'a [u8] {
        self.json
    }

    /// Returns the value's position in the text that was scanned first.
    pub fn at(self) -> usize {
        self.at
    }

    /// Returns the decoded string, if the value is one.
    pub fn text(self) -> Option<Cow<'a, str>> {
        let inner = self.literal()?;
        match memchr::memchr(b'\\', inner) {
            None => Some(match str::from_utf8(inner) {
                Ok(text) => Cow::Borrowed(text),
                // Much slower, also on text without a fault.
                Err(_) => String::from_utf8_lossy(inner),
            }),
            Some(_) => decode(self.json).map(Cow::Owned),
        }
    }

    /// Returns the first `cap` bytes of a string, or a little less.
    pub fn start(self, cap: usize) -> Option<String> {
        let mut text = self.text()?.into_owned();
        text.truncate(text.floor_char_boundary(cap));
        Some(text)
    }

    /// Returns the last `cap` bytes of a string, or a little less, with a mark if something is
    /// missing. The mark counts bytes of JSON: the part that is cut off is not decoded.
    pub fn end(self, cap: usize) -> Option<String> {
        let inner = self.literal()?;
        let from = inner.len().saturating_sub(cap * 2);
        let start = (from..inner.len()).take(NEAR).find(|at| is_place_to_cut(inner, *at));
        let decoded =
            start.filter(|_| from > 0).and_then(|start| decode(&[b"\"", &inner[start..], b"\""].concat()));
        match decoded.filter(|text| text.len() > cap) {
            None => Some(last_part(&self.text()?, cap)),
            Some(text) => {
                let end = end_of(&text, cap);
                Some(format!("[… {} bytes cut …]{end}", inner.len() - end.len()))
            }
        }
    }

    pub fn is(self, word: &str) -> bool {
        let is_as_written = self.literal() == Some(word.as_bytes());
        is_as_written || self.json.contains(&b'\\') && self.text().as_deref() == Some(word)
    }

    pub fn is_true(self) -> bool {
        self.json == b"true"
    }

    pub fn is_text(self) -> bool {
        self.json.starts_with(b"\"")
    }

    /// Returns a scan of the value itself.
    pub fn scan(self) -> Scan<'a> {
        Scan { text: self.json, at: 0, base: self.at }
    }

    fn literal(self) -> Option<&'a [u8]> {
        self.json.strip_prefix(b"\"")?.strip_suffix(b"\"")
    }
}

/// A position in a JSON text.
#[derive(Debug, Clone, Copy)]
pub struct Scan<'a> {
    text: &'a [u8],
    at: usize,
    /// The position of `text` in the text that was scanned first.
    base: usize,
}

impl<'a> Scan<'a> {
    pub fn new(text: &'a [u8]) -> Self {
        Self { text, at: 0, base: 0 }
    }

    /// Skips white space and returns the next byte without consuming it.
    pub fn peek(&mut self) -> Option<u8> {
        while self.text.get(self.at).is_some_and(u8::is_ascii_whitespace) {
            self.at += 1;
        }
        self.text.get(self.at).copied()
    }

    /// Calls `each` for every field of the next object, with the key as written. `each` must
    /// consume the value. Anything but an object is torn.
    pub fn fields(
        &mut self,
        mut each: impl FnMut(&'a [u8], &mut Self) -> Result<(), Torn>,
    ) -> Result<(), Torn> {
        self.expect(b'{')?;
        if self.peek() == Some(b'}') {
            self.at += 1;
            return Ok(());
        }
        loop {
            if self.peek() != Some(b'"') {
                return Err(Torn);
            }
            let from = self.at;
            self.skip_string()?;
            let key = &self.text[from + 1..self.at - 1];
            self.expect(b':')?;
            each(key, self)?;
            if !self.continues(b'}')? {
                return Ok(());
            }
        }
    }

    /// Calls `each` for every item of the next list. `each` must consume the item.
    pub fn items(&mut self, mut each: impl FnMut(&mut Self) -> Result<(), Torn>) -> Result<(), Torn> {
        self.expect(b'[')?;
        if self.peek() == Some(b']') {
            self.at += 1;
            return Ok(());
        }
        loop {
            each(self)?;
            if !self.continues(b']')? {
                return Ok(());
            }
        }
    }

    /// Consumes and returns the next value.
    pub fn value(&mut self) -> Result<Raw<'a>, Torn> {
        self.peek();
        let from = self.at;
        self.skip()?;
        Ok(Raw { json: &self.text[from..self.at], at: self.base + from })
    }

    pub fn skip(&mut self) -> Result<(), Torn> {
        match self.peek().ok_or(Torn)? {
            b'"' => self.skip_string(),
            b'{' | b'[' => self.skip_nested(),
            b'}' | b']' | b',' | b':' => Err(Torn),
            _ => {
                let rest = &self.text[self.at..];
                let is_end = |byte: &u8| {
                    matches!(byte, b',' | b'}' | b']' | b'"' | b'{' | b'[') || byte.is_ascii_whitespace()
                };
                self.at += rest.iter().position(is_end).unwrap_or(rest.len());
                Ok(())
            }
        }
    }

    /// Skips to the end of the text, if the text is one object as the client writes it, and no
    /// second object starts in the rest. Returns whether it did.
    pub fn skip_last_object(&mut self) -> bool {
        let is_one = self.text.starts_with(b"{\"") && self.text.ends_with(b"}");
        if !is_one || starts_another_object(&self.text[self.at..]) {
            return false;
        }
        self.at = self.text.len();
        true
    }

    fn expect(&mut self, byte: u8) -> Result<(), Torn> {
        if self.peek() != Some(byte) {
            return Err(Torn);
        }
        self.at += 1;
        Ok(())
    }

    /// Consumes a comma, or the `end` of the list or object. Returns whether it was a comma.
    fn continues(&mut self, end: u8) -> Result<bool, Torn> {
        let next = self.peek().ok_or(Torn)?;
        self.at += 1;
        match next {
            b',' => Ok(true),
            next if next == end => Ok(false),
            _ => Err(Torn),
        }
    }

    /// Consumes a string by looking for quotes only. A quote after an odd number of backslashes is
    /// inside.
    fn skip_string(&mut self) -> Result<(), Torn> {
        let mut at = self.at + 1;
        loop {
            at += next_quote(&self.text[at..]).ok_or(Torn)?;
            let is_inside = ends_with_escape(&self.text[self.at..at]);
            at += 1;
            if !is_inside {
                self.at = at;
                return Ok(());
            }
        }
    }

    fn skip_nested(&mut self) -> Result<(), Torn> {
        let mut depth = 0usize;
        loop {
            match self.text.get(self.at).ok_or(Torn)? {
                b'"' => {
                    self.skip_string()?;
                    continue;
                }
                b'{' | b'[' => depth += 1,
                b'}' | b']' => depth -= 1,
                _ => {}
            }
            self.at += 1;
            if depth == 0 {
                return Ok(());
            }
        }
    }
}

/// Most strings, and most stretches between quotes in one, are shorter: a search for a quote begins
/// by looking at this many bytes one by one, which takes less than to set up one for long texts.
const SHORT: usize = 16;

fn next_quote(text: &[u8]) -> Option<usize> {
    let is_quote = |byte: &u8| *byte == b'"';
    let Some((start, rest)) = text.split_first_chunk::<SHORT>() else {
        return text.iter().position(is_quote);
    };
    let in_rest = || memchr::memchr(b'"', rest).map(|at| SHORT + at);
    start.iter().position(is_quote).or_else(in_rest)
}

/// Returns whether a text ends with an odd number of backslashes.
fn ends_with_escape(text: &[u8]) -> bool {
    let is_escape = |byte: &&u8| **byte == b'\\';
    text.ends_with(b"\\") && text.iter().rev().take_while(is_escape).count() % 2 == 1
}

/// Returns whether an object may start after the end of another. A string can't look like that: a
/// quote inside one has a backslash before it.
fn starts_another_object(part: &[u8]) -> bool {
    memmem::find_iter(part, "{\"").any(|at| {
        let before = part[..at].iter().rev().find(|byte| !byte.is_ascii_whitespace());
        before == Some(&b'}')
    })
}

/// How far from the wanted position a string may be cut.
const NEAR: usize = 200;

/// Returns whether a JSON string can be cut at `at`: between two characters and outside an escape.
/// The longest escape is `\uXXXX`; two of them may form one character, and a cut between them would
/// be before a backslash.
pub fn is_place_to_cut(string: &[u8], at: usize) -> bool {
    let before = &string[at.saturating_sub(5)..at];
    let is_plain = string.get(at).is_some_and(|byte| byte.is_ascii() && *byte != b'\\');
    is_plain
        && match before.iter().rposition(|byte| *byte == b'\\') {
            None => true,
            Some(backslash) => before.get(backslash + 1).is_some_and(|escaped| *escaped != b'u'),
        }
}

/// Decodes a string with its quotes. The client cuts long texts between the halves of an emoji, and
/// a half is no text: `\u{fffd}` takes its place, so that the rest is not lost.
fn decode(json: &[u8]) -> Option<String> {
    let lossy =
        || serde_json::from_slice(json).ok().map(|Bytes(bytes)| String::from_utf8_lossy(&bytes).into());
    serde_json::from_slice(json).ok().or_else(lossy)
}

/// The bytes of a JSON string. For them `serde_json` takes halves of a character as well.
struct Bytes(Vec<u8>);

impl<'de> Deserialize<'de> for Bytes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Take;
        impl Visitor<'_> for Take {
            type Value = Bytes;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a string")
            }

            fn visit_bytes<E>(self, bytes: &[u8]) -> Result<Bytes, E> {
                Ok(Bytes(bytes.to_vec()))
            }
        }
        deserializer.deserialize_bytes(Take)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::Value;

    use super::*;

    fn fields(json: &str) -> Result<Vec<(String, String)>, Torn> {
        let mut found = Vec::new();
        Scan::new(json.as_bytes()).fields(|key, scan| {
            let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).expect("text");
            found.push((text(key), text(scan.value()?.json())));
            Ok(())
        })?;
        Ok(found)
    }

    #[test]
    fn values_are_returned_as_written() {
        let json = r#" { "a" : "x\"}\\" , "b":[1,{"c":"]"}],"d":null,"e":{} } "#;
        let expected = [("a", r#""x\"}\\""#), ("b", r#"[1,{"c":"]"}]"#), ("d", "null"), ("e", "{}")];
        assert_eq!(fields(json), Ok(expected.map(|(k, v)| (k.to_owned(), v.to_owned())).to_vec()));
        assert_eq!(fields("{}"), Ok(Vec::new()));
    }

    #[test]
    fn text_that_ends_too_early_or_is_no_json_is_torn() {
        for json in [
            "", "{", r#"{"a"#, r#"{"a":"#, r#"{"a":"x\""#, r#"{"a":[1"#, r#"{"a":1"#, r#"{"a" 1}"#, "[]",
            "{a:1}",
        ] {
            assert_eq!(fields(json), Err(Torn), "{json}");
        }
    }

    #[test]
    fn a_text_with_half_a_character_was_lost() {
        let text = |json: &[u8]| Scan::new(json).value().expect("a value").text().map(Cow::into_owned);
        let lost = "\u{fffd}";
        let half = text(br#""cut \ud83d, and \"the rest\" \ud83d\ude00""#).expect("text");
        assert_eq!(half.replace(lost, ""), "cut , and \"the rest\" \u{1f600}");
        assert!(half.contains(lost));
        assert_eq!(text(b"\"a \xff b\"").as_deref(), Some("a \u{fffd} b"));
        assert_eq!(text(br#""no \q escape""#), None);
        let long = format!(r#""\ud83d{}""#, "x ".repeat(300));
        let end = Scan::new(long.as_bytes()).value().expect("a value").end(590).expect("text");
        assert!(end.ends_with("x x "), "{end}");
    }

    #[test]
    fn a_value_knows_its_position() {
        let json = r#"{"a":{"b":"find me"}}"#;
        let mut at = None;
        Scan::new(json.as_bytes())
            .fields(|_, scan| {
                scan.value()?.scan().fields(|_, scan| {
                    at = Some(scan.value()?.at());
                    Ok(())
                })
            })
            .expect("whole");
        assert_eq!(at.map(|at| &json[at..at + 9]), Some("\"find me\""));
    }

    #[test]
    fn the_start_and_the_end_of_a_long_text_are_those_of_the_whole() {
        for unit in ["plain words ", "line\n\"q\" ", "\u{1f600}é", "\\\\\\", "\u{1}\u{2}", "a\\\"b"] {
            for times in [0, 1, 40, 900] {
                let whole = unit.repeat(times);
                let json = serde_json::to_string(&whole).expect("JSON");
                let raw = Scan::new(json.as_bytes()).value().expect("a value");
                let start = raw.start(100).expect("text");
                assert_eq!(start, whole[..whole.floor_char_boundary(100)], "{unit:?} {times}");
                let end = raw.end(100).expect("text");
                if whole.len() <= 100 {
                    assert_eq!(end, whole);
                } else {
                    let kept = end.split_once("cut …]").expect("a mark").1;
                    assert_eq!(kept, end_of(&whole, 100), "{unit:?} {times}");
                }
            }
        }
        assert_eq!(Scan::new(b"7").value().expect("a value").start(9), None);
    }

    #[test]
    fn text_is_decoded_only_where_it_has_escapes() {
        let text = |json: &'static str| Scan::new(json.as_bytes()).value().expect("a value").text();
        assert!(matches!(text(r#""plain""#), Some(Cow::Borrowed("plain"))));
        assert_eq!(text(r#""a\n\u00e9""#).as_deref(), Some("a\né"));
        assert_eq!((text("7"), text(r#""\q""#)), (None, None));
    }

    #[test]
    fn the_rest_of_a_text_is_skipped_only_where_no_other_object_starts() {
        let passes = |json: &'static str| {
            let mut scan = Scan::new(json.as_bytes());
            scan.expect(b'{').expect("an object");
            scan.skip_last_object() && scan.peek().is_none()
        };
        assert!(passes(r#"{"a":{"b":[{"c":1},{"d":"}"}]}}"#) && passes(r#"{"a":"} {\"b\"}"}"#));
        assert!(!passes(r#"{"a":1}{"b":2}"#) && !passes(r#"{"a":1} {"b":2}"#));
        assert!(!passes(r#"{"a":{"b":1"#), "torn");
        assert!(!passes(r#"{ "a":1}"#), "spaces may also be before a quote");
    }

    fn json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            r#"[a-z"\\\n{}\[\],:é]{0,12}"#.prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 40, 5, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
                prop::collection::btree_map("[a-z ]{0,5}", inner, 0..5)
                    .prop_map(|map| Value::Object(map.into_iter().collect())),
            ]
        })
    }

    /// Rebuilds the value from what a scan finds.
    fn rebuilt(scan: &mut Scan<'_>) -> Result<Value, Torn> {
        match scan.peek().ok_or(Torn)? {
            b'{' => {
                let mut map = serde_json::Map::new();
                scan.fields(|key, scan| {
                    map.insert(String::from_utf8(key.to_vec()).expect("text"), rebuilt(scan)?);
                    Ok(())
                })?;
                Ok(Value::Object(map))
            }
            b'[' => {
                let mut list = Vec::new();
                scan.items(|scan| {
                    list.push(rebuilt(scan)?);
                    Ok(())
                })?;
                Ok(Value::Array(list))
            }
            _ => {
                let raw = scan.value()?;
                Ok(raw
                    .text()
                    .map_or_else(|| serde_json::from_slice(raw.json()).unwrap_or_default(), Into::into))
            }
        }
    }

    proptest! {
        #[test]
        fn a_scan_sees_what_a_parser_sees(value in json(), pretty in any::<bool>()) {
            let text = if pretty { serde_json::to_string_pretty(&value) } else { serde_json::to_string(&value) };
            let text = text.expect("JSON");
            prop_assert_eq!(rebuilt(&mut Scan::new(text.as_bytes())), Ok(value.clone()));
            prop_assert_eq!(Scan::new(text.as_bytes()).value().map(Raw::json), Ok(text.as_bytes()));
        }

        #[test]
        fn no_text_makes_it_panic(text in r#"[a{}\[\]",:\\0 é]{0,40}"#) {
            let _ = rebuilt(&mut Scan::new(text.as_bytes()));
            let _ = Scan::new(text.as_bytes()).value();
        }
    }
}
