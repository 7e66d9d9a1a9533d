//! Names that are looked for in files: takes them once, gives for each text which it holds and which it defines. Pure.
//! A text is read once for all of them, however many there are.

use std::collections::{HashMap, HashSet};

use crate::names::Quickly;
use crate::words::{bare, is_markdown, push_bare_ascii};

/// Names that plan, message and asks put into files.
#[derive(Debug, Default)]
pub struct Wanted {
    names: Vec<Name>,
    /// Those of three letters and more, in bare form.
    bare: Finder,
    /// For each bare form, whose it is: names to be held, and names to be defined.
    holders: Vec<Vec<usize>>,
    definers: Vec<Vec<usize>>,
    /// The words of names that have several.
    words: Finder,
    /// Their sets, each once, and for each word those that are asked for when it is seen on a line.
    sets: Vec<Vec<usize>>,
    anchored: Vec<Vec<usize>>,
}

#[derive(Debug)]
struct Name {
    written: String,
    /// Of `Config::load` the last part counts.
    last: String,
    /// A heading's title, in bare form.
    title: Option<String>,
    is_flag: bool,
    /// The last part in bare form: it may be too short to be looked for so.
    bare_last: String,
    /// Which set of words would do as well, on one line.
    set: Option<usize>,
    definition: Definition,
}

/// How a definition would look.
#[derive(Debug)]
struct Definition {
    wanted: String,
    /// The name as it would stand there.
    own: String,
}

/// The last part of a name that is cut at these.
fn last_part<'a>(name: &'a str, cuts: &[char]) -> &'a str {
    name.rsplit(cuts).find(|part| !part.trim().is_empty()).unwrap_or(name).trim()
}

/// A name whose bare form is shorter stands in every text.
const LEAST: usize = 3;

impl Wanted {
    /// Makes ready to look for names.
    pub fn of(names: impl IntoIterator<Item = String>) -> Self {
        let mut wanted = Self::default();
        let (mut forms, mut words, mut sets) = (Index::default(), Index::default(), HashMap::new());
        for written in names {
            let at = wanted.names.len();
            let last = last_part(&written, &['.', ':', '/', '#']).to_owned();
            let bare_last = bare(&last);
            let title = (written.starts_with('#') && written.contains("# ")).then(|| bare(&written));
            let is_flag = written.starts_with("--");
            let mut set = None;
            if title.is_none() && !is_flag && bare_last.len() >= LEAST {
                put(&mut wanted.holders, forms.of(&bare_last), at);
                let mut parts: Vec<usize> = words_of(&last).iter().map(|word| words.of(word)).collect();
                if parts.len() > 1 {
                    parts.sort_unstable();
                    parts.dedup();
                    let next = sets.len();
                    set = Some(*sets.entry(parts).or_insert(next));
                }
            }
            let own = last_part(&written, &['.', ':', '/']);
            let wanted_there = if own == last { bare_last.clone() } else { bare(own) };
            let definition = Definition { wanted: wanted_there, own: own.to_owned() };
            if !written.starts_with('#') && definition.wanted.len() >= LEAST {
                put(&mut wanted.definers, forms.of(&definition.wanted), at);
            }
            wanted.names.push(Name { written, last, title, is_flag, bare_last, set, definition });
        }
        let (forms, words) = (forms.into_texts(), words.into_texts());
        wanted.holders.resize(forms.len(), Vec::new());
        wanted.definers.resize(forms.len(), Vec::new());
        wanted.anchored.resize(words.len(), Vec::new());
        wanted.sets.resize(sets.len(), Vec::new());
        for (parts, number) in sets {
            // The longest word is the rarest.
            if let Some(anchor) = parts.iter().max_by_key(|word| words[**word].len()) {
                wanted.anchored[*anchor].push(number);
            }
            wanted.sets[number] = parts;
        }
        (wanted.bare, wanted.words) = (Finder::of(forms), Finder::of(words));
        wanted
    }

    /// Whether nobody wants anything.
    pub(super) fn is_nothing(&self) -> bool {
        self.names.is_empty()
    }

    /// Which of the names a text holds, and which it defines.
    pub(super) fn looked_for(&self, file: &str, code: &Code<'_>) -> (Vec<String>, Vec<String>) {
        let mut seen = vec![Seen::default(); self.names.len()];
        if self.names.is_empty() {
            return (Vec::new(), Vec::new());
        }
        let is_prose = is_markdown(file);
        self.look_for_bare_forms(code, is_prose, &mut seen);
        self.look_for_words(code, &mut seen);
        self.look_for_others(code, is_prose, &mut seen);
        let those = |is_seen: fn(&Seen) -> bool| {
            let all = self.names.iter().zip(&seen).filter(|(_, seen)| is_seen(seen));
            all.map(|(name, _)| name.written.clone()).collect()
        };
        (those(|seen| seen.held), those(|seen| seen.defined))
    }

    fn look_for_bare_forms(&self, code: &Code<'_>, is_prose: bool, seen: &mut [Seen]) {
        let mut line = 0;
        for (form, start, end) in self.bare.all_in(&code.bare) {
            for name in &self.holders[form] {
                seen[*name].held = true;
            }
            if is_prose {
                continue;
            }
            while code.ends[line] <= start {
                line += 1;
            }
            let is_on_one_line = end <= code.ends[line];
            for name in self.definers[form].iter().filter(|_| is_on_one_line) {
                let seen = &mut seen[*name];
                // A line is asked once.
                if !seen.defined && seen.asked != Some(line) {
                    seen.asked = Some(line);
                    seen.defined = self.names[*name].is_defined_by(code.lines[line]);
                }
            }
        }
    }

    /// Names whose words stand on one line, in whatever order.
    fn look_for_words(&self, code: &Code<'_>, seen: &mut [Seen]) {
        // Of `#name` nothing but its words defines it.
        let is_open = |name: &Name, seen: &Seen| !seen.held || name.written.starts_with('#');
        let open = self.names.iter().zip(seen.iter()).filter(|(name, seen)| is_open(name, seen));
        let mut is_open = vec![false; self.sets.len()];
        for set in open.filter_map(|(name, _)| name.set) {
            is_open[set] = true;
        }
        let mut open = is_open.iter().filter(|is_open| **is_open).count();
        if open == 0 {
            return;
        }
        let lower = code.text.to_lowercase();
        let mut found = vec![false; self.sets.len()];
        let mut on_line: Vec<usize> = Vec::new();
        let mut line_end = 0;
        for (word, start, _) in self.words.all_in(&lower) {
            if start >= line_end {
                open -= self.close_line(&mut on_line, &is_open, &mut found);
                if open == 0 {
                    break;
                }
                line_end = lower[start..].find('\n').map_or(lower.len(), |at| start + at);
            }
            if !on_line.contains(&word) {
                on_line.push(word);
            }
        }
        self.close_line(&mut on_line, &is_open, &mut found);
        for (name, seen) in self.names.iter().zip(seen) {
            if name.set.is_some_and(|set| found[set]) {
                seen.held = true;
                seen.has_words = true;
            }
        }
    }

    /// Gives how many sets the line has settled.
    fn close_line(&self, on_line: &mut Vec<usize>, is_open: &[bool], found: &mut [bool]) -> usize {
        let mut settled = 0;
        for set in on_line.iter().flat_map(|word| &self.anchored[*word]) {
            if is_open[*set] && !found[*set] && self.sets[*set].iter().all(|word| on_line.contains(word)) {
                found[*set] = true;
                settled += 1;
            }
        }
        on_line.clear();
        settled
    }

    /// Headings, flags and names that are too short.
    fn look_for_others(&self, code: &Code<'_>, is_prose: bool, seen: &mut [Seen]) {
        let (mut headings, mut snakes) = (None, None);
        for (name, seen) in self.names.iter().zip(seen) {
            if let Some(title) = &name.title {
                let headings = headings.get_or_insert_with(|| code.headings());
                seen.held = headings.iter().any(|line| line.contains(title.as_str()));
            } else if name.is_flag {
                // `json` stands in many a name; the flag is itself, or a name of its own (`dry_run`).
                seen.held = code.text.contains(&name.written)
                    || snakes.get_or_insert_with(|| code.snakes()).contains(&name.bare_last);
            } else if name.bare_last.len() < LEAST {
                seen.held = code.text.contains(&name.last);
            }
            if name.written.starts_with('#') {
                let is_plain = name.title.is_some() || name.bare_last.len() < LEAST;
                seen.defined = if is_plain { seen.held } else { seen.has_words };
            } else if !is_prose && name.definition.wanted.len() < LEAST {
                let wanted = &name.definition.wanted;
                let mut lines = code.lines.iter().filter(|line| bare(line).contains(wanted));
                seen.defined = lines.any(|line| name.is_defined_by(line));
            }
        }
    }
}

/// What was seen of a name.
#[derive(Debug, Clone, Default)]
struct Seen {
    held: bool,
    defined: bool,
    has_words: bool,
    asked: Option<usize>,
}

/// Words before a name that define it.
const DECLARES: &[&str] = &[
    "class", "const", "def", "defp", "describe", "enum", "fn", "fun", "func", "function", "interface", "it",
    "let", "macro_rules", "module", "object", "record", "resource", "static", "struct", "test", "trait",
    "type", "val", "var", "variable",
];

impl Name {
    /// Whether a line that holds it defines it, as far as the line tells: a word that declares stands before it, or a
    /// flag or a key is written in quotes. Prose defines nothing but its headings.
    fn is_defined_by(&self, line: &str) -> bool {
        let start = line.trim_start();
        if start.starts_with("import ") {
            return false;
        }
        // A method of Java or Ruby has no word of its own: `void append(String line) {`
        let own = &self.definition.own;
        let is_method = || line.trim_end().ends_with('{') && line.contains(&format!("{own}("));
        self.is_declared_on(line)
            || (self.is_flag && line.contains(&self.written))
            || is_method()
            || start.strip_prefix(own).is_some_and(|rest| rest.starts_with(':'))
    }

    fn is_declared_on(&self, line: &str) -> bool {
        let mut is_declared = false;
        for word in line.split(|c: char| !(c.is_alphanumeric() || c == '_')) {
            if is_bare_form(word, &self.definition.wanted) {
                return is_declared;
            }
            is_declared |= DECLARES.contains(&word);
        }
        false
    }
}

/// Whether a word has that bare form.
fn is_bare_form(word: &str, wanted: &str) -> bool {
    word.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).eq(wanted.chars())
}

/// A text to look through.
pub(super) struct Code<'a> {
    text: &'a str,
    lines: Vec<&'a str>,
    /// Letters and digits only, in lower case, and where each line ends in it.
    bare: String,
    ends: Vec<usize>,
}

impl<'a> Code<'a> {
    pub(super) fn of(text: &'a str) -> Self {
        let mut letters: Vec<u8> = Vec::with_capacity(text.len());
        let (mut lines, mut ends) = (Vec::new(), Vec::new());
        for line in text.lines() {
            if line.is_ascii() {
                push_bare_ascii(line.as_bytes(), &mut letters);
            } else {
                letters.extend(bare(line).as_bytes());
            }
            lines.push(line);
            ends.push(letters.len());
        }
        // They are whole characters of whole lines.
        let bare = String::from_utf8(letters).unwrap_or_default();
        Self { text, lines, bare, ends }
    }

    fn headings(&self) -> Vec<String> {
        self.lines.iter().filter(|line| line.starts_with(['#', '*', '='])).map(|line| bare(line)).collect()
    }

    fn snakes(&self) -> HashSet<String> {
        let names = self.text.split(|c: char| !(c.is_alphanumeric() || c == '_'));
        names.filter(|name| name.contains('_')).map(bare).collect()
    }
}

/// Texts that each have a number.
#[derive(Default)]
struct Index(HashMap<String, usize, Quickly>);

impl Index {
    fn of(&mut self, text: &str) -> usize {
        if let Some(number) = self.0.get(text) {
            return *number;
        }
        let number = self.0.len();
        self.0.insert(text.to_owned(), number);
        number
    }

    /// By their numbers.
    fn into_texts(self) -> Vec<String> {
        let mut texts = vec![String::new(); self.0.len()];
        self.0.into_iter().for_each(|(text, number)| texts[number] = text);
        texts
    }
}

fn put(lists: &mut Vec<Vec<usize>>, at: usize, value: usize) {
    if lists.len() <= at {
        lists.resize(at + 1, Vec::new());
    }
    lists[at].push(value);
}

/// Finds many texts of three bytes and more in one pass. It is made in next to no time: most stops look through one file
/// or two, and to build an automaton for those would take longer than the look.
#[derive(Debug, Default)]
struct Finder {
    texts: Vec<String>,
    /// By the first three bytes: the number of the newest text that begins so, counted from one.
    heads: Vec<u32>,
    /// For each text the one before it that begins so.
    before: Vec<u32>,
}

/// Room for so many beginnings, as a power of two.
const HEADS: u32 = 11;

impl Finder {
    fn of(texts: Vec<String>) -> Self {
        let mut finder = Self { heads: vec![0; 1 << HEADS], before: Vec::with_capacity(texts.len()), texts };
        for (number, text) in (1..).zip(&finder.texts) {
            let head = text.bytes().take(LEAST).fold(0, with_next);
            finder.before.push(std::mem::replace(&mut finder.heads[place(head)], number));
        }
        finder
    }

    /// Every place of every text, by where it starts: number, start and end.
    fn all_in(&self, text: &str) -> impl Iterator<Item = (usize, usize, usize)> {
        let bytes = if self.texts.is_empty() { &[] } else { text.as_bytes() };
        let (first, rest) = bytes.split_at(bytes.len().min(LEAST - 1));
        let mut head = first.iter().copied().fold(0, with_next);
        let newest = rest.iter().map(move |byte| {
            head = with_next(head, *byte);
            self.heads[place(head)]
        });
        let begun = newest.enumerate().filter(|(_, newest)| *newest > 0);
        begun.flat_map(move |(start, newest)| {
            let one = |number: u32| (number as usize).checked_sub(1);
            let those = std::iter::successors(one(newest), move |number| one(self.before[*number]));
            let found =
                those.filter(move |number| bytes[start..].starts_with(self.texts[*number].as_bytes()));
            found.map(move |number| (number, start, start + self.texts[number].len()))
        })
    }
}

/// Three bytes in one number, moved on by a byte.
fn with_next(head: u32, byte: u8) -> u32 {
    (head << 8 | u32::from(byte)) & 0xff_ffff
}

/// Where texts are that begin with these three bytes.
fn place(head: u32) -> usize {
    (head.wrapping_mul(0x9e37_79b1) >> (u32::BITS - HEADS)) as usize
}

/// `parseDate`, `parse_date` and `parse-date` are two words.
fn words_of(name: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut was_lower = false;
    for c in name.chars() {
        let starts = !c.is_alphanumeric() || (c.is_uppercase() && was_lower) || words.is_empty();
        if starts {
            words.push(String::new());
        }
        if c.is_alphanumeric()
            && let Some(word) = words.last_mut()
        {
            word.extend(c.to_lowercase());
        }
        was_lower = c.is_lowercase();
    }
    words.retain(|word| word.len() > 2);
    words
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// One name at a time, line by line.
    fn slowly_holds(text: &str, bare_text: &str, symbol: &str) -> bool {
        if symbol.starts_with('#') && symbol.contains("# ") {
            let title = bare(symbol);
            return text
                .lines()
                .filter(|line| line.starts_with(['#', '*', '=']))
                .any(|line| bare(line).contains(&title));
        }
        let last = last_part(symbol, &['.', ':', '/', '#']);
        let bare_last = bare(last);
        if symbol.starts_with("--") {
            let mut names = text.split(|c: char| !(c.is_alphanumeric() || c == '_'));
            return text.contains(symbol) || names.any(|name| name.contains('_') && bare(name) == bare_last);
        }
        if bare_last.len() < 3 {
            return text.contains(last);
        }
        if bare_text.contains(&bare_last) {
            return true;
        }
        let words = words_of(last);
        words.len() > 1
            && text.lines().any(|line| {
                let line = line.to_lowercase();
                words.iter().all(|word| line.contains(word.as_str()))
            })
    }

    fn slowly_defines(file: &str, text: &str, symbol: &str) -> bool {
        if symbol.starts_with('#') {
            return slowly_holds(text, "", symbol);
        }
        if is_markdown(file) {
            return false;
        }
        let last = last_part(symbol, &['.', ':', '/']);
        let wanted = bare(last);
        let is_flag = symbol.starts_with("--");
        text.lines().any(|line| {
            if !bare(line).contains(&wanted) || line.trim_start().starts_with("import ") {
                return false;
            }
            let words: Vec<&str> = line.split(|c: char| !(c.is_alphanumeric() || c == '_')).collect();
            let at = words.iter().position(|word| bare(word) == wanted);
            let is_declared = at.is_some_and(|at| words[..at].iter().any(|word| DECLARES.contains(word)));
            let is_method = line.trim_end().ends_with('{') && line.contains(&format!("{last}("));
            is_declared
                || (is_flag && line.contains(symbol))
                || is_method
                || line.trim_start().starts_with(&format!("{last}:"))
        })
    }

    fn line() -> impl Strategy<Value = String> {
        let pieces = prop::sample::select(vec![
            "parse", "date", "Date", "_", "-", " ", " ", "\n", "\n", "\r\n", "fn ", "def ", "import ", "(",
            ") {", ": ", "--", "dry", "run", "json", "# ", "## ", "#", "* ", "Usage", "Config", "::", ".",
            "load", "x", "é", "Σ", "\"", "case", "1", "12", "const ", "a",
        ]);
        prop::collection::vec(pieces, 0..30).prop_map(|pieces| pieces.concat())
    }

    fn name() -> impl Strategy<Value = String> {
        let known = prop::sample::select(vec![
            "parse_date", "parseDate", "date", "--dry-run", "--json", "## Usage", "# Usage", "#load", "#x",
            "Config::load", "Config.load", "load()", "x", "a1", "case_1", "case_12", "case 12 date",
            "src/load", "", "#", "::", "Éé", "xΣ", "parse-date-load", "dateparse", "a.x", "run", "--x",
        ]);
        prop_oneof![known.prop_map(String::from), line().prop_map(|line| line.replace(['\n', '\r'], ""))]
    }

    proptest! {
        #[test]
        fn all_names_at_once_are_found_as_each_by_itself(
            text in line(),
            names in prop::collection::vec(name(), 0..12),
            file in prop::sample::select(vec!["a.md", "a.rs"]),
        ) {
            let bare_text = bare(&text);
            let those = |is_it: &dyn Fn(&str) -> bool| -> Vec<String> {
                names.iter().filter(|name| is_it(name.as_str())).cloned().collect()
            };
            let expected = (
                those(&|name| slowly_holds(&text, &bare_text, name)),
                those(&|name| slowly_defines(file, &text, name)),
            );
            prop_assert_eq!(Wanted::of(names.clone()).looked_for(file, &Code::of(&text)), expected);
        }
    }
}
