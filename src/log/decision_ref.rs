//! Which decision is meant: takes the words with which a person names one (`k3f9`, `k3f9.2`, `last`, `held`) and the ids that
//! there are, gives the one. Pure. Must not guess between two.

use std::fmt;

/// A decision, or one of its findings, as a person names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Which {
    /// The start of an id, or [`LAST`], or [`HELD`].
    pub id: String,
    /// Which of its findings, counted from 1.
    pub finding: Option<usize>,
}

/// The word for the newest decision.
pub const LAST: &str = "last";

/// The word for the newest decision that held a stop: the one after it always lets go, and is the last.
pub const HELD: &str = "held";

/// How many ids are told where several are meant.
const TOLD: usize = 5;

/// Why no decision is meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NotOne {
    /// Nothing is named.
    Unnamed,
    /// What stands behind the dot is no number.
    NoNumber(String),
    /// There is none at all.
    Empty,
    /// There is none that held a stop.
    NeverHeld,
    /// None begins so.
    None(String),
    /// Several do: the newest of them, and how many there are.
    Several(String, Vec<String>, usize),
    /// The decision has no such finding: its id, which one, and how many it has.
    NoFinding(String, usize, usize),
}

impl fmt::Display for NotOne {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unnamed => write!(f, "write the decision's id, or the start of it, or `last`, or `held`"),
            Self::NoNumber(word) => {
                write!(f, "\"{word}\" is no finding's number; write ID or ID.N, like k3f92m7q1x.2")
            }
            Self::Empty => write!(f, "no decision is in the log yet"),
            Self::NeverHeld => write!(f, "no stop was held yet; `last` is the newest decision"),
            Self::None(id) => {
                write!(
                    f,
                    "no decision has an id that starts with \"{id}\"; `punchlist log` lists them, `last` is the newest, \
                     `held` the newest that held"
                )
            }
            Self::Several(id, ids, all) => {
                let more = if *all > ids.len() { ", …" } else { "" };
                write!(
                    f,
                    "{all} ids start with \"{id}\" ({}{more}): give more of the one that is meant",
                    ids.join(", ")
                )
            }
            Self::NoFinding(id, number, 0) => {
                write!(f, "decision {id} has no findings; name it without \".{number}\"")
            }
            Self::NoFinding(id, number, count) => {
                write!(f, "decision {id} has no finding {number}: they are numbered from 1 to {count}")
            }
        }
    }
}

impl Which {
    /// What the words name. A dot and a number behind the id name one of its findings.
    pub fn of(words: &str) -> Result<Self, NotOne> {
        let (id, number) = match words.trim().split_once('.') {
            None => (words.trim(), None),
            Some((id, number)) => (id, Some(number)),
        };
        if id.is_empty() {
            return Err(NotOne::Unnamed);
        }
        let parsed = |number: &str| number.parse().map_err(|_| NotOne::NoNumber(number.to_owned()));
        Ok(Self { id: id.to_owned(), finding: number.map(parsed).transpose()? })
    }

    /// The place of the decision that is meant among all ids, oldest first. A whole id is meant even if others begin
    /// with it. Where [`HELD`] is meant, the ids are those of decisions that held.
    pub fn place<'a>(&self, ids: impl Iterator<Item = &'a str>) -> Result<usize, NotOne> {
        let ids: Vec<&str> = ids.collect();
        if ids.is_empty() {
            return Err(if self.id == HELD { NotOne::NeverHeld } else { NotOne::Empty });
        }
        if self.id == LAST || self.id == HELD {
            return Ok(ids.len() - 1);
        }
        if let Some(at) = ids.iter().rposition(|id| *id == self.id) {
            return Ok(at);
        }
        let starts = |id: &&str| id.starts_with(&self.id);
        let found: Vec<usize> = (0..ids.len()).filter(|&at| starts(&ids[at])).collect();
        match found[..] {
            [] => Err(NotOne::None(self.id.clone())),
            [only] => Ok(only),
            _ => {
                let newest = found.iter().rev().take(TOLD).map(|&at| ids[at].to_owned()).collect();
                Err(NotOne::Several(self.id.clone(), newest, found.len()))
            }
        }
    }

    /// The place of the finding that is meant among `count` of them, if one is.
    pub fn finding_of(&self, id: &str, count: usize) -> Result<Option<usize>, NotOne> {
        match self.finding {
            None => Ok(None),
            Some(number) if (1..=count).contains(&number) => Ok(Some(number - 1)),
            Some(number) => Err(NotOne::NoFinding(id.to_owned(), number, count)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn which(words: &str) -> Which {
        Which::of(words).expect("it names something")
    }

    fn place(words: &str) -> Result<usize, String> {
        let ids = ["k3f92m7q1x", "k3f9aaaaaa", "zzzz000000", "zz"];
        Which::of(words).and_then(|which| which.place(ids.into_iter())).map_err(|why| why.to_string())
    }

    #[test]
    fn a_start_is_enough_where_it_is_the_only_one() {
        assert_eq!(place("k3f92"), Ok(0));
        assert_eq!(place("last"), Ok(3));
        assert_eq!(place("last.1"), Ok(3));
        assert_eq!(place("held.1"), Ok(3));
        assert_eq!(place("zz"), Ok(3), "a whole id");
        assert_eq!(place("k3f9a.12"), Ok(1));
        assert_eq!(Which::of("k3f9a.12"), Ok(Which { id: "k3f9a".into(), finding: Some(12) }));
    }

    #[test]
    fn what_is_not_one_says_what_to_do() {
        assert_eq!(
            place("q").expect_err("none"),
            "no decision has an id that starts with \"q\"; `punchlist log` lists them, `last` is the newest, `held` the newest that held"
        );
        for nothing in ["", " ", ".1"] {
            let why = place(nothing).expect_err("nothing");
            assert_eq!(why, "write the decision's id, or the start of it, or `last`, or `held`");
        }
        assert_eq!(
            place("k3f9a.x").expect_err("no number"),
            "\"x\" is no finding's number; write ID or ID.N, like k3f92m7q1x.2"
        );
        assert_eq!(
            place("k3").expect_err("two"),
            "2 ids start with \"k3\" (k3f9aaaaaa, k3f92m7q1x): give more of the one that is meant"
        );
        let many: Vec<String> = (0..9).map(|n| format!("a{n}")).collect();
        let why = which("a").place(many.iter().map(String::as_str)).expect_err("nine").to_string();
        assert_eq!(why, "9 ids start with \"a\" (a8, a7, a6, a5, a4, …): give more of the one that is meant");
        assert_eq!(which("last").place([].into_iter()), Err(NotOne::Empty));
        let never = which("held").place([].into_iter()).expect_err("none").to_string();
        assert_eq!(never, "no stop was held yet; `last` is the newest decision");
    }

    #[test]
    fn a_finding_is_counted_from_one() {
        let finding = |words: &str, count| which(words).finding_of("k", count).map_err(|why| why.to_string());
        assert_eq!(finding("k", 2), Ok(None));
        assert_eq!(finding("k.2", 2), Ok(Some(1)));
        assert_eq!(
            finding("k.3", 2).expect_err("none"),
            "decision k has no finding 3: they are numbered from 1 to 2"
        );
        assert!(finding("k.0", 2).is_err());
        assert_eq!(
            finding("k.1", 0).expect_err("none"),
            "decision k has no findings; name it without \".1\""
        );
    }
}
