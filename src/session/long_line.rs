//! A line that is put together from parts. One that is too long to hold becomes the same JSON with its long strings cut
//! in the middle. Must not split a character or an escape, and must not hold more than it returns.
//!
//! What makes a line long is one string: an image, a whole file, the output of a command. What an audit needs is at the
//! start or the end of such a string, or beside it.

use crate::client::json_scan::is_place_to_cut;

/// A line that is longer than this is condensed: what an audit needs is never that large.
const LONGEST: usize = 4 << 20;
/// How much of the start and of the end of a string is left. Together they are longer than any text that is only of use
/// when it is whole, so that a cut one is never taken for a whole one.
const START: usize = 288 << 10;
const END: usize = 288 << 10;
/// A line that is longer than this even so is skipped.
const LONGEST_CONDENSED: usize = 6 << 20;
/// How far from the wanted position a cut may be.
const NEAR: usize = 4 << 10;

/// A line that grows part by part.
#[derive(Debug, Default)]
pub struct GrowingLine {
    text: Vec<u8>,
    condenser: Option<Condenser>,
    /// How many bytes were added.
    pub bytes: u64,
}

impl GrowingLine {
    /// Adds the next part of the line.
    pub fn add(&mut self, part: &[u8]) {
        self.bytes += part.len() as u64;
        if self.condenser.is_none() && self.text.len() + part.len() > LONGEST {
            let mut condenser = Condenser::default();
            condenser.add(&std::mem::take(&mut self.text));
            self.condenser = Some(condenser);
        }
        match &mut self.condenser {
            Some(condenser) => condenser.add(part),
            None => self.text.extend_from_slice(part),
        }
    }

    /// Returns the line, and whether it is as it was added; `None` for a line that could not be condensed.
    pub fn finish(self) -> Option<(Vec<u8>, bool)> {
        match self.condenser {
            None => Some((self.text, true)),
            Some(condenser) => condenser.finish().map(|text| (text, false)),
        }
    }
}

/// Cuts the long strings of a line while it is added.
#[derive(Debug, Default)]
struct Condenser {
    line: Vec<u8>,
    /// Where the string starts that we are in.
    string: Option<usize>,
    is_escaped: bool,
    has_given_up: bool,
}

impl Condenser {
    fn add(&mut self, mut part: &[u8]) {
        while !part.is_empty() && !self.has_given_up {
            let taken = if self.string.is_some() { self.add_in_string(part) } else { self.add_outside(part) };
            part = &part[taken..];
            if self.line.len() > LONGEST_CONDENSED {
                self.has_given_up = true;
                self.line = Vec::new();
            }
        }
    }

    fn finish(self) -> Option<Vec<u8>> {
        (!self.has_given_up).then_some(self.line)
    }

    fn add_outside(&mut self, part: &[u8]) -> usize {
        let quote = memchr::memchr(b'"', part);
        let taken = quote.map_or(part.len(), |at| at + 1);
        self.line.extend_from_slice(&part[..taken]);
        if quote.is_some() {
            self.string = Some(self.line.len());
        }
        taken
    }

    fn add_in_string(&mut self, part: &[u8]) -> usize {
        if self.is_escaped {
            self.is_escaped = false;
            self.line.push(part[0]);
            return 1;
        }
        // In small pieces, so that the line stays short.
        let piece = &part[..part.len().min(64 << 10)];
        let special = memchr::memchr2(b'"', b'\\', piece);
        let taken = special.map_or(piece.len(), |at| at + 1);
        self.line.extend_from_slice(&piece[..taken]);
        match special.map(|at| piece[at]) {
            Some(b'"') => {
                self.cut(START + END);
                self.string = None;
            }
            Some(_) => self.is_escaped = true,
            None => {}
        }
        if !self.is_escaped {
            self.cut(START + 2 * END);
        }
        taken
    }

    /// Removes the middle of the string that we are in, if it is longer than that.
    fn cut(&mut self, longest: usize) {
        let Some(string) = self.string else { return };
        if self.line.len() - string <= longest {
            return;
        }
        let (from, to) = (self.cut_near(string + START), self.cut_near(self.line.len() - END));
        match (from, to) {
            (Some(from), Some(to)) if from < to => drop(self.line.drain(from..to)),
            _ => self.has_given_up = true,
        }
    }

    /// Returns the first position from `wanted` on that is between two characters and outside of an escape.
    fn cut_near(&self, wanted: usize) -> Option<usize> {
        (wanted..(wanted + NEAR).min(self.line.len())).find(|at| is_place_to_cut(&self.line, *at))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;

    fn condensed(line: &str, part: usize) -> Option<Vec<u8>> {
        let mut condenser = Condenser::default();
        line.as_bytes().chunks(part).for_each(|part| condenser.add(part));
        condenser.finish()
    }

    #[test]
    fn the_middle_of_a_long_string_goes_and_the_rest_stays() {
        let long = format!("start {} end", "line\n\"é\" \u{1f600} ".repeat(400_000));
        let line = json!({"id": "x", "content": long, "after": [1, "y"]}).to_string();
        let short: Value = serde_json::from_slice(&condensed(&line, 100_000).expect("a line")).expect("JSON");
        assert_eq!((&short["id"], &short["after"]), (&json!("x"), &json!([1, "y"])));
        let text = short["content"].as_str().expect("text");
        assert!(text.starts_with("start line") && text.ends_with(" end"));
        assert!((START..START + END + 2 * NEAR).contains(&text.len()), "{}", text.len());
    }

    #[test]
    fn a_line_of_many_short_strings_is_given_up() {
        let line = format!("[{}1]", "\"short\",".repeat(1_000_000));
        assert_eq!(condensed(&line, 4_096), None);
    }

    #[test]
    fn a_string_with_no_place_to_cut_is_given_up() {
        let line = format!("\"{}\"", "\\\\".repeat(1_000_000));
        assert_eq!(condensed(&line, 4_096), None);
    }

    proptest! {
        #[test]
        fn what_is_not_long_stays_as_it_is(text in r#"["\\a-zé{}]{0,60}"#, part in 1usize..20) {
            let line = json!({"a": text, "b": [text]}).to_string();
            prop_assert_eq!(condensed(&line, part), Some(line.into_bytes()));
        }
    }
}
