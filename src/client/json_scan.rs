//! Takes JSON text, gives pieces of it in one pass: fields, items, and values as they stand. Must not copy, nor
//! look into what nobody asks for: most of a transcript is skipped here, at the speed at which quotes are found.
//!
//! It splits and does not validate. What is taken out is decoded, and so checked, by whoever wants it; a text
//! that ends too early, or has no JSON where JSON must stand, is [`Torn`].

use std::borrow::Cow;
use std::sync::LazyLock;

use memchr::memmem::Finder;
use wide::{i8x16, u8x16};

use crate::text::last_part;

/// Something to look for, made ready once: to make it ready takes as long as a look at a short text.
pub type Needle = LazyLock<Finder<'static>>;

/// The text is not JSON from here on, or ends in the middle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Torn;

/// A value as it stands in the text, and where.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Raw<'a> {
    json: &'a [u8],
    at: usize,
}

impl<'a> Raw<'a> {
    /// The value at a place of the text that was scanned first.
    pub fn at_place(text: &'a [u8], at: usize, length: usize) -> Option<Self> {
        let json = text.get(at..at.checked_add(length)?)?;
        Some(Self { json, at })
    }

    /// The value's JSON.
    pub fn json(self) -> &'a [u8] {
        self.json
    }

    /// Where it stands in the text that was scanned first.
    pub fn at(self) -> usize {
        self.at
    }

    /// The value, if it is text.
    pub fn text(self) -> Option<Cow<'a, str>> {
        match self.plain() {
            Some(plain) => simdutf8::basic::from_utf8(plain).ok().map(Cow::Borrowed),
            None => unescaped(self.literal()?).map(Cow::Owned),
        }
    }

    /// What stands between the quotes, if it is text that stands there as it is.
    pub fn plain(self) -> Option<&'a [u8]> {
        self.literal().filter(|inner| memchr::memchr(b'\\', inner).is_none())
    }

    /// The start of the value, if it is text: `cap` bytes of it or a little less.
    pub fn start(self, cap: usize) -> Option<String> {
        let inner = self.literal()?;
        let at_most = (cap * 2).min(inner.len());
        let end = (0..at_most).rev().take(NEAR).find(|at| is_place_to_cut(inner, *at));
        let decoded = end.filter(|_| at_most < inner.len()).and_then(|end| unescaped(&inner[..end]));
        let mut text = match decoded.filter(|text| text.len() >= cap) {
            Some(text) => text,
            None => self.text()?.into_owned(),
        };
        text.truncate(text.floor_char_boundary(cap));
        Some(text)
    }

    /// The end of the value, if it is text: `cap` bytes of it or a little less, with a mark where something is missing,
    /// which counts as the JSON does.
    pub fn end(self, cap: usize) -> Option<String> {
        let inner = self.literal()?;
        let from = inner.len().saturating_sub(cap * 2);
        let start = (from..inner.len()).take(NEAR).find(|at| is_place_to_cut(inner, *at));
        let decoded = start.filter(|_| from > 0).and_then(|start| unescaped(&inner[start..]));
        match decoded.filter(|text| text.len() >= cap) {
            None => Some(last_part(&self.text()?, cap)),
            Some(text) => {
                let kept = text.ceil_char_boundary(text.len() - cap);
                let cut = inner.len() - (text.len() - kept);
                Some(format!("[… {cut} bytes cut …]{}", &text[kept..]))
            }
        }
    }

    /// Whether it is this text. Cheap: nothing is decoded unless it has escapes.
    pub fn is(self, word: &str) -> bool {
        match self.literal() {
            Some(literal) if literal == word.as_bytes() => true,
            // An escape takes more room than what it stands for.
            Some(literal) if literal.len() > word.len() && literal.len() <= word.len() * 6 => {
                literal.contains(&b'\\') && self.text().is_some_and(|text| text == word)
            }
            _ => false,
        }
    }

    /// Whether it is `true`.
    pub fn is_true(self) -> bool {
        self.json == b"true"
    }

    /// Whether it is text, of whatever length.
    pub fn is_text(self) -> bool {
        self.json.starts_with(b"\"")
    }

    /// A scan of what is inside.
    pub fn scan(self) -> Scan<'a> {
        Scan { text: self.json, at: 0, base: self.at }
    }

    /// What stands between the quotes.
    fn literal(self) -> Option<&'a [u8]> {
        self.json.strip_prefix(b"\"")?.strip_suffix(b"\"")
    }
}

/// A place in a JSON text.
#[derive(Debug, Clone, Copy)]
pub struct Scan<'a> {
    text: &'a [u8],
    at: usize,
    /// Where `text` itself stands in the text that was scanned first.
    base: usize,
}

impl<'a> Scan<'a> {
    /// A scan from the start.
    pub fn new(text: &'a [u8]) -> Self {
        Self { text, at: 0, base: 0 }
    }

    /// The next byte that is no white space, which stays where it is.
    pub fn peek(&mut self) -> Option<u8> {
        let bytes = self.text;
        while bytes.get(self.at).is_some_and(u8::is_ascii_whitespace) {
            self.at += 1;
        }
        bytes.get(self.at).copied()
    }

    /// Gives each field of the object that comes next: its key as written, and the scan, which stands at its value
    /// and must be taken past it. Anything else than an object is torn.
    pub fn fields<E: From<Torn>>(
        &mut self,
        each: impl FnMut(&'a [u8], &mut Self) -> Result<(), E>,
    ) -> Result<(), E> {
        self.pass(b'{')?;
        if self.peek() == Some(b'}') {
            self.at += 1;
            return Ok(());
        }
        self.fields_from_here(each)
    }

    /// The same from the middle of an object on, before one of its keys.
    pub fn fields_from_here<E: From<Torn>>(
        &mut self,
        mut each: impl FnMut(&'a [u8], &mut Self) -> Result<(), E>,
    ) -> Result<(), E> {
        loop {
            self.must_be(b'"')?;
            let from = self.at;
            self.skip_string()?;
            let key = &self.text[from + 1..self.at - 1];
            self.pass(b':')?;
            each(key, self)?;
            if self.goes_on(b'}')? {
                continue;
            }
            return Ok(());
        }
    }

    /// Gives each item of the list that comes next, like [`Scan::fields`].
    pub fn items<E: From<Torn>>(
        &mut self,
        mut each: impl FnMut(&mut Self) -> Result<(), E>,
    ) -> Result<(), E> {
        self.pass(b'[')?;
        if self.peek() == Some(b']') {
            self.at += 1;
            return Ok(());
        }
        loop {
            each(self)?;
            if self.goes_on(b']')? {
                continue;
            }
            return Ok(());
        }
    }

    /// The value that comes next.
    pub fn value(&mut self) -> Result<Raw<'a>, Torn> {
        self.peek();
        let from = self.at;
        self.skip()?;
        Ok(Raw { json: &self.text[from..self.at], at: self.base + from })
    }

    /// Past the value that comes next.
    pub fn skip(&mut self) -> Result<(), Torn> {
        match self.peek().ok_or(Torn)? {
            b'"' => self.skip_string(),
            b'{' | b'[' => self.skip_nested(),
            b'}' | b']' | b',' | b':' => Err(Torn),
            _ => {
                self.skip_word();
                Ok(())
            }
        }
    }

    /// The value that comes next and all that stands behind it, with no look at where it ends.
    pub fn rest(&mut self) -> Raw<'a> {
        self.peek();
        Raw { json: &self.text[self.at..], at: self.base + self.at }
    }

    /// Goes to the next place in this object where `key` (with its quotes and colon) stands, unless `other` stands
    /// before it. Neither can stand in a string: there a quote has a backslash before it.
    pub fn jump_to(&mut self, key: &Needle, other: &Needle) -> Result<(), Torn> {
        let rest = &self.text[self.at..];
        let found = key.find(rest).ok_or(Torn)?;
        // The key may be the first one of another object.
        let passed = &rest[..=found];
        if other.find(passed).is_some() || starts_another_object(passed) {
            return Err(Torn);
        }
        self.at += found;
        Ok(())
    }

    /// Passes over all that is left of the one object that fills this text, if it is one.
    pub fn pass_to_the_end(&mut self) -> bool {
        let is_whole = self.text.starts_with(b"{\"") && self.text.ends_with(b"}");
        if !is_whole || starts_another_object(&self.text[self.at..]) {
            return false;
        }
        self.at = self.text.len();
        true
    }

    fn must_be(&mut self, byte: u8) -> Result<(), Torn> {
        if self.peek() == Some(byte) { Ok(()) } else { Err(Torn) }
    }

    fn pass(&mut self, byte: u8) -> Result<(), Torn> {
        self.must_be(byte)?;
        self.at += 1;
        Ok(())
    }

    /// Past a comma, and whether there was one; if not, past the end.
    fn goes_on(&mut self, end: u8) -> Result<bool, Torn> {
        let next = self.peek().ok_or(Torn)?;
        self.at += 1;
        match next {
            b',' => Ok(true),
            next if next == end => Ok(false),
            _ => Err(Torn),
        }
    }

    /// Past the string that starts here. Only quotes are looked for: program text is full of escapes, and most of
    /// them are of line ends. A quote after an odd number of backslashes is inside.
    fn skip_string(&mut self) -> Result<(), Torn> {
        let bytes = self.text;
        let start = self.at + 1;
        let mut quote = next_quote(bytes, start).ok_or(Torn)?;
        while bytes[quote - 1] == b'\\' && !is_unescaped(&bytes[start..quote]) {
            let from = quote + 1;
            quote = from + memchr::memchr(b'"', &bytes[from..]).ok_or(Torn)?;
        }
        self.at = quote + 1;
        Ok(())
    }

    fn skip_nested(&mut self) -> Result<(), Torn> {
        let bytes = self.text;
        let mut depth = 0usize;
        let mut at = self.at;
        loop {
            match bytes.get(at).ok_or(Torn)? {
                b'"' => {
                    self.at = at;
                    self.skip_string()?;
                    at = self.at;
                    continue;
                }
                b'{' | b'[' => depth += 1,
                b'}' | b']' => {
                    depth -= 1;
                    if depth == 0 {
                        self.at = at + 1;
                        return Ok(());
                    }
                }
                _ => {}
            }
            at += 1;
        }
    }

    /// Past a number, `true`, `false`, `null`, or whatever else stands between two signs.
    fn skip_word(&mut self) {
        let rest = &self.text[self.at..];
        let ends =
            |byte: &u8| matches!(byte, b',' | b'}' | b']' | b'"' | b'{' | b'[') || byte.is_ascii_whitespace();
        self.at += rest.iter().position(ends).unwrap_or(rest.len());
    }
}

/// Whether an object may start here behind the end of another. What stands in strings can't be taken for a start: there
/// a quote has a backslash before it.
fn starts_another_object(part: &[u8]) -> bool {
    static START: Needle = Needle::new(|| Finder::new("{\""));
    START.find_iter(part).any(|at| {
        let before = part[..at].iter().rev().find(|byte| !byte.is_ascii_whitespace());
        before == Some(&b'}')
    })
}

/// How far around the wanted place a place to cut is looked for.
const NEAR: usize = 200;

/// Whether a JSON string can be cut there: between two characters, and in no escape. The longest escape is `\uXXXX`;
/// two of them may be one character, and a cut between them would be before a backslash.
pub fn is_place_to_cut(string: &[u8], at: usize) -> bool {
    let before = &string[at.saturating_sub(5)..at];
    let is_plain = string.get(at).is_some_and(|byte| byte.is_ascii() && *byte != b'\\');
    is_plain
        && match before.iter().rposition(|byte| *byte == b'\\') {
            None => true,
            Some(backslash) => before.get(backslash + 1).is_some_and(|escaped| *escaped != b'u'),
        }
}

/// What a JSON string says, by what stands between its quotes. Of the escapes only the usual ones are known here.
fn unescaped(inner: &[u8]) -> Option<String> {
    let mut text = Vec::with_capacity(inner.len());
    let mut rest = inner;
    while let Some(at) = memchr::memchr2(b'\\', b'"', rest) {
        text.extend_from_slice(&rest[..at]);
        let plain = match rest[at..] {
            [b'\\', plain @ (b'"' | b'\\' | b'/'), ..] => plain,
            [b'\\', b'n', ..] => b'\n',
            [b'\\', b't', ..] => b'\t',
            [b'\\', b'r', ..] => b'\r',
            // Colours and other signs to a terminal, and whatever else is not written as it is.
            [b'\\', b'u', a, b, c, d, ..] => {
                let digits = [a, b, c, d];
                let number =
                    std::str::from_utf8(&digits).ok().filter(|_| digits.iter().all(u8::is_ascii_hexdigit));
                // Two may be one character; the rules know which.
                let sign =
                    number.and_then(|number| u32::from_str_radix(number, 16).ok()).and_then(char::from_u32);
                let Some(sign) = sign else { return decoded(inner) };
                text.extend_from_slice(sign.encode_utf8(&mut [0; 4]).as_bytes());
                rest = &rest[at + 6..];
                continue;
            }
            _ => return decoded(inner),
        };
        text.push(plain);
        rest = &rest[at + 2..];
    }
    text.extend_from_slice(rest);
    // With no way out on the way, many bytes are looked at in one step.
    let least = inner.iter().fold(u8::MAX, |least, byte| least.min(*byte));
    String::from_utf8(text).ok().filter(|_| least >= b' ')
}

/// The same by the whole of the rules.
fn decoded(inner: &[u8]) -> Option<String> {
    serde_json::from_slice(&[b"\"", inner, b"\""].concat()).ok()
}

/// Whether what follows this is not escaped by it.
#[cold]
fn is_unescaped(before: &[u8]) -> bool {
    before.iter().rev().take_while(|byte| **byte == b'\\').count() % 2 == 0
}

/// The next quote from there on. Most strings are short: those are looked through here, and only what is longer
/// is worth the call of a search that takes a run-up.
fn next_quote(bytes: &[u8], mut from: usize) -> Option<usize> {
    for _ in 0..3 {
        let Some(part) = bytes.get(from..).and_then(|rest| rest.first_chunk::<16>()) else { break };
        let quotes = u8x16::new(*part).cmp_eq(u8x16::splat(b'"'));
        let found = i8x16::from(quotes.to_array().map(u8::cast_signed)).move_mask();
        if found != 0 {
            return Some(from + found.trailing_zeros() as usize);
        }
        from += part.len();
    }
    memchr::memchr(b'"', bytes.get(from..)?).map(|at| from + at)
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
            Ok::<_, Torn>(())
        })?;
        Ok(found)
    }

    #[test]
    fn values_are_given_as_they_stand() {
        let json = r#" { "a" : "x\"}\\" , "b":[1,{"c":"]"}],"d":null,"e":{} } "#;
        let expected = [("a", r#""x\"}\\""#), ("b", r#"[1,{"c":"]"}]"#), ("d", "null"), ("e", "{}")];
        assert_eq!(fields(json), Ok(expected.map(|(k, v)| (k.to_owned(), v.to_owned())).to_vec()));
        assert_eq!(fields("{}"), Ok(Vec::new()));
    }

    #[test]
    fn what_ends_too_early_or_is_no_json_is_torn() {
        for json in [
            "", "{", r#"{"a"#, r#"{"a":"#, r#"{"a":"x\""#, r#"{"a":[1"#, r#"{"a":1"#, r#"{"a" 1}"#, "[]",
            "{a:1}",
        ] {
            assert_eq!(fields(json), Err(Torn), "{json}");
        }
    }

    #[test]
    fn a_value_knows_where_it_stands() {
        let json = r#"{"a":{"b":"find me"}}"#;
        let mut at = None;
        Scan::new(json.as_bytes())
            .fields(|_, scan| {
                scan.value()?.scan().fields(|_, scan| {
                    at = Some(scan.value()?.at());
                    Ok::<_, Torn>(())
                })
            })
            .expect("whole");
        assert_eq!(at.map(|at| &json[at..at + 9]), Some("\"find me\""));
    }

    proptest! {
        #[test]
        fn escapes_are_taken_as_the_rules_have_them(inner in r#"([a-zé \u{1}\n"]|\\[nrtbf/"\\u]|\\u00e9|\\u001[09afAFg]|\\ud83d\\ude00){0,12}"#) {
            prop_assert_eq!(unescaped(inner.as_bytes()), decoded(inner.as_bytes()));
        }
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
                    assert_eq!(
                        kept,
                        &whole[whole.ceil_char_boundary(whole.len() - 100)..],
                        "{unit:?} {times}"
                    );
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
    fn the_rest_of_a_text_is_passed_over_only_where_no_other_object_starts() {
        let passes = |json: &'static str| {
            let mut scan = Scan::new(json.as_bytes());
            scan.pass(b'{').expect("an object");
            scan.pass_to_the_end() && scan.peek().is_none()
        };
        assert!(passes(r#"{"a":{"b":[{"c":1},{"d":"}"}]}}"#) && passes(r#"{"a":"} {\"b\"}"}"#));
        assert!(!passes(r#"{"a":1}{"b":2}"#) && !passes(r#"{"a":1} {"b":2}"#));
        assert!(!passes(r#"{"a":{"b":1"#), "torn");
        assert!(!passes(r#"{ "a":1}"#), "who writes spaces may write them before a quote");
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

    /// Everything that a scan finds, put together again.
    fn rebuilt(scan: &mut Scan<'_>) -> Result<Value, Torn> {
        match scan.peek().ok_or(Torn)? {
            b'{' => {
                let mut map = serde_json::Map::new();
                scan.fields(|key, scan| {
                    map.insert(String::from_utf8(key.to_vec()).expect("text"), rebuilt(scan)?);
                    Ok::<_, Torn>(())
                })?;
                Ok(Value::Object(map))
            }
            b'[' => {
                let mut list = Vec::new();
                scan.items(|scan| {
                    list.push(rebuilt(scan)?);
                    Ok::<_, Torn>(())
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
