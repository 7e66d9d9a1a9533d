//! What became of a block: takes the findings that held a stop and what there is at the session's next one, says of
//! each whether it was fixed, disputed or ignored. Pure: whoever asks has read the session and looked at the disk.
//!
//! `pending` is what is remembered of a block until then, `recheck` tells what disk and plan have settled, `dispute`
//! finds the sentence in which the agent says that a finding is wrong, `grounds` keeps what was disputed from being
//! held again.

pub mod dispute;
pub mod grounds;
pub mod pending;
pub mod recheck;

pub use pending::{Held, PendingBlock};

use crate::log::note::Became;
use recheck::Standing;

/// What became of one finding, and how that is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fate {
    /// What became of it.
    pub became: Became,
    /// How that is known, in words.
    pub why: String,
    /// The agent's own words, where it disputes.
    pub sentence: Option<String>,
}

/// What became of a finding. What disk or plan settle is fixed, whatever was said of it; a dispute counts before a
/// claim that was only taken back, since "it is not needed, so I did not write it" is one.
pub fn fate(standing: Standing, disputed: Option<String>, takes_back: bool) -> Fate {
    let plain = |became, why: String| Fate { became, why, sentence: None };
    match (standing, disputed) {
        (Standing::Settled(why), _) => plain(Became::Fixed, why),
        (_, Some(sentence)) => Fate {
            became: Became::Disputed,
            why: "the final message says that it is wrong".to_owned(),
            sentence: Some(sentence),
        },
        (_, None) if takes_back => plain(Became::Fixed, "the final message takes the claim back".to_owned()),
        (Standing::Stands(why), None) => plain(
            Became::Ignored,
            format!("it still stands: {why}, and the final message says nothing against it"),
        ),
        (Standing::CanNotTell(why), None) => plain(
            Became::Ignored,
            format!("whether it was fixed can't be told: {why}; the final message says nothing against it"),
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_fixed_counts_before_what_is_said() {
        let settled = || Standing::Settled("the file exists".into());
        let stands = || Standing::Stands("no such file".into());
        let unknown = || Standing::CanNotTell("remote".into());
        let words = || Some("It is wrong.".to_owned());
        let became = |standing, disputed, back| fate(standing, disputed, back).became;
        assert_eq!(became(settled(), words(), false), Became::Fixed);
        assert_eq!(became(stands(), words(), true), Became::Disputed);
        assert_eq!(became(unknown(), words(), false), Became::Disputed);
        assert_eq!(became(stands(), None, true), Became::Fixed);
        assert_eq!(became(stands(), None, false), Became::Ignored);
        assert_eq!(became(unknown(), None, false), Became::Ignored);
        assert_eq!(fate(stands(), words(), false).sentence, words());
        assert_eq!(fate(settled(), words(), false).sentence, None);
    }
}
