//! References to decisions, as a person writes them (`k3f9`, `k3f9.2`, `last`, `held`), and their
//! resolution. Pure; never guesses between two.

/// A decision, or one of its findings, as a person names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DecisionRef {
    /// The prefix of an id, or [`LAST`], or [`HELD`].
    pub id: String,
    /// The number of a finding, from 1.
    pub finding: Option<usize>,
}

/// The word for the newest decision.
pub const LAST: &str = "last";

/// The word for the newest decision that blocked a stop: the one after it always lets go, so it is
/// the last.
pub const HELD: &str = "held";

/// How many ids are listed if several match.
const NAMED: usize = 5;

/// Why a text names no decision.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DecisionRefError {
    #[error("write the decision's id, or the start of it, or `last`, or `held`")]
    Unnamed,
    #[error("\"{0}\" is no finding's number; write ID or ID.N, like k3f92m7q1x.2")]
    NotANumber(String),
    #[error("no decision is in the log yet")]
    Empty,
    #[error("no stop was held yet; `last` is the newest decision")]
    NeverHeld,
    #[error(
        "no decision has an id that starts with \"{0}\"; `punchlist log` lists them, `last` is the newest, \
         `held` the newest that held"
    )]
    NotFound(String),
    #[error("{count} ids start with \"{start}\" ({newest}): give more of the one that is meant")]
    Ambiguous { start: String, newest: String, count: usize },
    #[error("decision {id} has no findings; name it without \".{number}\"")]
    NoFindings { id: String, number: usize },
    #[error("decision {id} has no finding {number}: they are numbered from 1 to {count}")]
    NoSuchFinding { id: String, number: usize, count: usize },
}

impl DecisionRef {
    /// Parses `ID` or `ID.N`.
    pub fn parse(words: &str) -> Result<Self, DecisionRefError> {
        let (id, number) = match words.trim().split_once('.') {
            None => (words.trim(), None),
            Some((id, number)) => (id, Some(number)),
        };
        if id.is_empty() {
            return Err(DecisionRefError::Unnamed);
        }
        let parsed =
            |number: &str| number.parse().map_err(|_| DecisionRefError::NotANumber(number.to_owned()));
        Ok(Self { id: id.to_owned(), finding: number.map(parsed).transpose()? })
    }

    /// Returns the position of the decision among all ids, oldest first; for [`HELD`], among those
    /// of blocks. A complete id is exact even if others start with it.
    pub fn position(&self, ids: &[&str]) -> Result<usize, DecisionRefError> {
        if ids.is_empty() {
            return Err(if self.id == HELD { DecisionRefError::NeverHeld } else { DecisionRefError::Empty });
        }
        if self.id == LAST || self.id == HELD {
            return Ok(ids.len() - 1);
        }
        if let Some(at) = ids.iter().rposition(|id| *id == self.id) {
            return Ok(at);
        }
        let found: Vec<usize> = (0..ids.len()).filter(|&at| ids[at].starts_with(&self.id)).collect();
        match found[..] {
            [] => Err(DecisionRefError::NotFound(self.id.clone())),
            [only] => Ok(only),
            _ => {
                let mut newest: Vec<_> = found.iter().rev().take(NAMED).map(|&at| ids[at]).collect();
                if found.len() > NAMED {
                    newest.push("…");
                }
                let (start, newest, count) = (self.id.clone(), newest.join(", "), found.len());
                Err(DecisionRefError::Ambiguous { start, newest, count })
            }
        }
    }

    /// Returns the position of the finding among the `count` of decision `id`, if one is named.
    pub fn finding_position(&self, id: &str, count: usize) -> Result<Option<usize>, DecisionRefError> {
        let id = id.to_owned();
        match self.finding {
            None => Ok(None),
            Some(number) if (1..=count).contains(&number) => Ok(Some(number - 1)),
            Some(number) if count == 0 => Err(DecisionRefError::NoFindings { id, number }),
            Some(number) => Err(DecisionRefError::NoSuchFinding { id, number, count }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reference(words: &str) -> DecisionRef {
        DecisionRef::parse(words).expect("it names something")
    }

    fn place(words: &str) -> Result<usize, String> {
        let ids = ["k3f92m7q1x", "k3f9aaaaaa", "zzzz000000", "zz"];
        DecisionRef::parse(words)
            .and_then(|reference| reference.position(&ids))
            .map_err(|why| why.to_string())
    }

    #[test]
    fn a_start_is_enough_where_it_is_the_only_one() {
        assert_eq!(place("k3f92"), Ok(0));
        assert_eq!(place("last"), Ok(3));
        assert_eq!(place("last.1"), Ok(3));
        assert_eq!(place("held.1"), Ok(3));
        assert_eq!(place("zz"), Ok(3), "a whole id");
        assert_eq!(place("k3f9a.12"), Ok(1));
        assert_eq!(DecisionRef::parse("k3f9a.12"), Ok(DecisionRef { id: "k3f9a".into(), finding: Some(12) }));
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
        let many = ["a0", "a1", "a2", "a3", "a4", "a5", "a6", "a7", "a8"];
        let why = reference("a").position(&many).expect_err("nine").to_string();
        assert_eq!(why, "9 ids start with \"a\" (a8, a7, a6, a5, a4, …): give more of the one that is meant");
        assert_eq!(reference("last").position(&[]), Err(DecisionRefError::Empty));
        let never = reference("held").position(&[]).expect_err("none").to_string();
        assert_eq!(never, "no stop was held yet; `last` is the newest decision");
    }

    #[test]
    fn a_finding_is_counted_from_one() {
        let finding =
            |words: &str, count| reference(words).finding_position("k", count).map_err(|why| why.to_string());
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
