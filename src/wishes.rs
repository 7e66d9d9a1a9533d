//! Takes a part of an ask, gives what it wants of a thing with a name: to be gone, to be called otherwise, to have a
//! value. Pure. A reading of words: whether it was done is for others. Doubt gives no wish.

use serde::{Deserialize, Serialize};

use crate::facts::requests::clauses;
use crate::plan::mentions::{is_surely_a_path, mentions_again};
use crate::readings::{What, recall};

/// What is wanted of a thing with a name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Wish {
    /// It is to go.
    Gone(String),
    /// It is to have another name.
    Renamed {
        /// The name it has.
        from: String,
        /// The name it shall have.
        to: String,
    },
    /// A file is to hold a value.
    Value {
        /// The file, as written.
        path: String,
        /// The value.
        value: String,
    },
}

const REMOVES: &[&str] = &["delete", "drop", "kill", "remove", "rid", "rip"];
const SETS: &[&str] =
    &["bump", "change", "increase", "lower", "pin", "raise", "reduce", "set", "switch", "update", "upgrade"];

/// Words that end the object of a verb: what follows them is where, of what or why.
const ENDS_OBJECT: &[&str] = &[
    "after", "before", "everywhere", "for", "from", "if", "in", "of", "on", "since", "so", "that", "to",
    "when", "which", "with",
];

/// What a name stands for when only a use of it is to go.
const USES: &[&str] = &[
    "argument", "call", "calls", "import", "imports", "mention", "param", "parameter", "reference",
    "references", "usage", "use", "uses",
];

/// What a part of an ask wants of a named thing, if it is plain.
pub fn wish(clause: &str) -> Option<Wish> {
    let words: Vec<Word<'_>> = clause.split_whitespace().map(Word::of).collect();
    let verb = words.iter().position(|word| {
        let verb = word.lower();
        verb == "rename" || REMOVES.contains(&verb.as_str()) || SETS.contains(&verb.as_str())
    })?;
    let of = usize::from(words.get(verb + 1).is_some_and(|word| word.plain == "of"));
    let rest = &words[verb + 1 + of..];
    match words[verb].lower().as_str() {
        "rename" => {
            let from = rest.first_name(&["to", "into", "as"])?;
            let at = rest.iter().position(|word| matches!(word.plain, "to" | "into" | "as"))?;
            let to = rest.get(at + 1).filter(|word| word.is_identifier())?;
            Some(Wish::Renamed { from, to: to.plain.to_owned() })
        }
        set if SETS.contains(&set) => {
            let path = mentions_again(clause).paths.into_iter().find(|path| is_surely_a_path(path))?;
            let at = rest.iter().position(|word| word.plain == "to")?;
            let value = rest.get(at + 1)?.plain;
            let is_value = value.trim_start_matches('v').starts_with(|c: char| c.is_ascii_digit());
            is_value.then(|| Wish::Value { path, value: value.to_owned() })
        }
        _ => {
            let name = rest.first_name(ENDS_OBJECT)?;
            let after = rest.iter().position(|word| word.plain == name)? + 1;
            let is_a_use = rest.get(after).is_some_and(|word| USES.contains(&word.lower().as_str()));
            (!is_a_use).then_some(Wish::Gone(name))
        }
    }
}

/// The same for a part that was masked and is likely to be read again.
pub fn wish_again(clause: &str) -> Option<Wish> {
    recall(What::Wish, clause, || wish(clause))
}

/// The names in what an ask wants of named things: whoever looks at files looks for them.
pub fn names(ask: &str) -> Vec<String> {
    recall(What::Wishes, ask, || names_in(ask))
}

fn names_in(ask: &str) -> Vec<String> {
    let wishes = clauses(ask).into_iter().filter_map(wish);
    wishes
        .flat_map(|wish| match wish {
            Wish::Gone(name) => vec![name],
            Wish::Renamed { from, to } => vec![from, to],
            Wish::Value { .. } => Vec::new(),
        })
        .collect()
}

/// A word as written, and without what stands around it.
struct Word<'a> {
    plain: &'a str,
    is_code: bool,
}

impl<'a> Word<'a> {
    fn of(written: &'a str) -> Self {
        let plain = written
            .trim_matches(|c: char| "`'\",;:()!?".contains(c))
            .trim_end_matches('.')
            .trim_end_matches("()");
        Self { plain, is_code: written.contains('`') }
    }

    fn lower(&self) -> String {
        self.plain.to_lowercase()
    }

    fn is_identifier(&self) -> bool {
        let plain = self.plain.trim_start_matches('-');
        !plain.is_empty()
            && !is_surely_a_path(self.plain)
            && plain.chars().all(|c| c.is_alphanumeric() || "_-:.#".contains(c))
            && plain.starts_with(|c: char| c.is_alphabetic() || c == '_')
    }

    /// Whether it is a name and no word: in backticks, or written as only names are.
    fn is_name(&self) -> bool {
        let chars: Vec<char> = self.plain.chars().collect();
        let has_hump = chars.windows(2).any(|pair| pair[0].is_lowercase() && pair[1].is_uppercase());
        self.is_identifier()
            && (self.is_code || has_hump || self.plain.contains(['_', '#']) || self.plain.starts_with("--"))
    }
}

trait FirstName {
    fn first_name(&self, ends: &[&str]) -> Option<String>;
}

impl FirstName for [Word<'_>] {
    fn first_name(&self, ends: &[&str]) -> Option<String> {
        let mut object = self.iter().take_while(|word| !ends.contains(&word.lower().as_str()));
        object.find(|word| word.is_name()).map(|word| word.plain.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wanted_of_a_name_is_heard() {
        let gone = |name: &str| Wish::Gone(name.into());
        for (clause, expected) in [
            ("while you're in there drop the unused legacy_hash helper", gone("legacy_hash")),
            ("please remove `parseOld()` from src/a.ts", gone("parseOld")),
            ("get rid of the --verbose flag", gone("--verbose")),
            (
                "rename load_cfg to load_config everywhere, the short name in app/settings.py annoys me",
                Wish::Renamed { from: "load_cfg".into(), to: "load_config".into() },
            ),
            (
                "pin postgres to 16.4 in docker-compose.yml, latest bit us before",
                Wish::Value { path: "docker-compose.yml".into(), value: "16.4".into() },
            ),
        ] {
            assert_eq!(wish(clause), Some(expected), "{clause}");
        }
        for clause in [
            "drop the verbose parameter from parse_args",
            "remove the parse_args call in main",
            "rename the settings folder to preferences",
            "set it to 5",
            "delete src/old_name.rs",
            "add load_config to app/settings.py",
        ] {
            assert_eq!(wish(clause), None, "{clause}");
        }
    }
}
