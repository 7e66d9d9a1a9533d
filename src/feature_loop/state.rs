//! What a loop remembers: whose it is, which features there were, how often the work was handed out and whether anything
//! came of it. Takes what is seen now, gives what that means. Pure: no clock, no disk.

use std::collections::BTreeSet;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::feature_loop::features::{Feature, shortened};
use crate::feature_loop::progress::{LoopProgress, Status};

/// One loop, as it is kept.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Loop {
    /// The folder of its files. They are named once, so that a config that changes in between mixes nothing up.
    pub folder: PathBuf,
    /// The list, from there.
    pub features: String,
    /// The progress file, from there.
    pub progress: String,
    /// When it was begun, in milliseconds since 1970.
    pub begun_ms: i64,
    /// The session that it is bound to: nobody else's stops are held.
    pub session: Option<String>,
    /// A word that the session to be bound has printed, where the client does not tell its id.
    pub token: Option<String>,
    /// How often the work was handed out.
    pub iteration: u32,
    /// How often it may be.
    pub max: u32,
    /// Every feature that there was.
    pub known: Vec<Known>,
    /// Those that passed when it was looked at last.
    pub passing: BTreeSet<String>,
    /// How the workspace looked when the work was handed out last; `None` where nobody can tell.
    pub trace: Option<String>,
    /// Whether work was handed out that nobody has looked at since.
    pub is_out: bool,
    /// How often in a row nothing came of it.
    pub still: u32,
    /// When something came of it last.
    pub moved_ms: i64,
    /// Why it is over, if it is.
    pub ended: Option<Ended>,
    /// What `loop run` has spent on it.
    pub spent: Spent,
}

/// A feature that there was.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Known {
    /// What it is known by.
    pub key: String,
    /// What it was, in one line.
    pub description: String,
    /// A name made of its description and its steps.
    pub content: String,
}

impl Known {
    fn of(feature: &Feature) -> Self {
        let description = feature.description.clone();
        Self { key: feature.key.clone(), description, content: feature.content() }
    }

    /// What people call it.
    pub fn called(&self) -> String {
        let is_word = self.key.len() == 12 && self.key.bytes().all(|byte| byte.is_ascii_hexdigit());
        if is_word { shortened(&self.description) } else { self.key.clone() }
    }
}

/// How a loop ended.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Ended {
    /// The status, as the progress file has it.
    pub status: String,
    /// In words.
    pub why: String,
    /// When, in milliseconds since 1970.
    pub at_ms: i64,
    /// In which session.
    pub session: Option<String>,
}

/// What `loop run` has spent: all its runs together, so that one that was cut off is not forgotten.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Spent {
    /// How many sessions it started.
    pub sessions: u32,
    /// What they cost, in dollars.
    pub usd: f64,
    /// How long they took, in milliseconds.
    pub ms: u64,
    /// The session that runs now, or that ran when its run was cut off.
    pub child: Option<Child>,
}

/// A session that `loop run` has started.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Child {
    /// Its id.
    pub session: String,
    /// Its process.
    pub pid: u32,
    /// When that process began, as the system counts: a number that was given away again has another one.
    pub born: Option<u64>,
}

/// What is to be told of the list beside its open features.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Changes {
    /// Features that were there and are not any more.
    pub gone: Vec<String>,
    /// Features whose words or steps are others than before.
    pub rewritten: Vec<String>,
}

impl Loop {
    /// Begins to remember: this is the list that is to be worked off.
    pub fn begin(&mut self, features: &[Feature], trace: Option<String>, now_ms: i64) {
        self.known = features.iter().map(Known::of).collect();
        self.passing = passing(features);
        (self.trace, self.is_out, self.still) = (trace, false, 0);
        (self.moved_ms, self.ended) = (now_ms, None);
    }

    /// What is not as it was. A feature that has another id and the same words is the same feature.
    pub fn changes(&self, features: &[Feature]) -> Changes {
        let same = |known: &&Known| {
            features.iter().find(|feature| feature.key == known.key).or_else(|| {
                let is_same = |feature: &&Feature| {
                    !known.description.is_empty() && feature.description == known.description
                };
                features.iter().find(is_same)
            })
        };
        let gone = self.known.iter().filter(|known| same(known).is_none());
        let rewritten =
            self.known.iter().filter(|known| same(known).is_some_and(|now| now.content() != known.content));
        Changes { gone: gone.map(Known::called).collect(), rewritten: rewritten.map(Known::called).collect() }
    }

    /// Looks at what came of the work that was handed out; says whether anything did. Work that was looked at already, or a
    /// workspace that nobody can look at, is no sign of standing still.
    pub fn look(&mut self, features: &[Feature], trace: Option<&str>, now_ms: i64) -> bool {
        let now = passing(features);
        let can_tell = self.trace.is_some() && trace.is_some();
        let moved = now != self.passing || (can_tell && self.trace.as_deref() != trace);
        if moved {
            self.still = 0;
            self.moved_ms = now_ms;
        } else if self.is_out && can_tell {
            self.still += 1;
        }
        self.is_out = false;
        self.passing = now;
        if trace.is_some() {
            self.trace = trace.map(String::from);
        }
        let changes = self.changes(features);
        for feature in features {
            let is_known = self.known.iter().any(|known| known.key == feature.key);
            let is_renamed = self
                .known
                .iter()
                .any(|known| !known.description.is_empty() && known.description == feature.description);
            if !is_known && !is_renamed {
                self.known.push(Known::of(feature));
            }
        }
        debug_assert_eq!(changes, self.changes(features), "what is new is not changed");
        moved
    }

    /// Hands the work out once more.
    pub fn hand_out(&mut self, trace: Option<String>) {
        self.iteration += 1;
        self.is_out = true;
        if trace.is_some() {
            self.trace = trace;
        }
    }

    /// It is over, or this session's part of it is: nobody is bound any more.
    pub fn end(&mut self, status: &Status, why: &str, now_ms: i64) {
        let session = self.session.take();
        self.ended = Some(Ended { status: status.word().into(), why: why.into(), at_ms: now_ms, session });
        self.token = None;
        self.is_out = false;
    }

    /// How it stands, if it is over.
    pub fn ended_as(&self) -> Option<Status> {
        self.ended.as_ref().and_then(|ended| Status::read(&ended.status))
    }

    /// What the progress file should say.
    pub fn standing(&self, features: &[Feature], status: Status, updated: String) -> LoopProgress {
        let gone = self.changes(features).gone;
        let left = features.iter().filter(|feature| !feature.passes).map(Feature::called);
        let is_over = !matches!(status, Status::InProgress);
        LoopProgress {
            iteration: self.iteration,
            max: self.max,
            passing: (self.passing.len(), features.len() + gone.len()),
            left: if is_over { left.chain(gone).collect() } else { Vec::new() },
            status,
            updated,
        }
    }
}

fn passing(features: &[Feature]) -> BTreeSet<String> {
    features.iter().filter(|feature| feature.passes).map(|feature| feature.key.clone()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::feature_loop::features::read;

    fn list(text: &str) -> Vec<Feature> {
        read(text).expect("features")
    }

    fn begun(features: &[Feature]) -> Loop {
        let mut memory = Loop { max: 10, ..Loop::default() };
        memory.begin(features, Some("a".into()), 1);
        memory
    }

    const TWO: &str = r#"[{"id":"a","description":"x","steps":["1"]},{"id":"b","description":"y"}]"#;

    #[test]
    fn what_moved_is_a_feature_or_the_workspace_and_an_unknown_workspace_is_no_standstill() {
        let two = list(TWO);
        let mut memory = begun(&two);
        assert!(!memory.look(&two, Some("a"), 2));
        assert_eq!((memory.still, memory.moved_ms), (0, 1), "nothing was handed out yet");
        memory.hand_out(Some("a".into()));
        assert!(!memory.look(&two, Some("a"), 3));
        assert_eq!(memory.still, 1);
        assert!(!memory.look(&two, Some("a"), 3), "nothing was handed out meanwhile");
        assert_eq!(memory.still, 1);
        memory.hand_out(Some("a".into()));
        assert!(!memory.look(&two, Some("a"), 4));
        assert_eq!((memory.still, memory.iteration), (2, 2));
        memory.hand_out(Some("a".into()));
        assert!(memory.look(&two, Some("b"), 5), "the workspace moved");
        assert_eq!((memory.still, memory.moved_ms), (0, 5));
        memory.hand_out(Some("b".into()));
        assert!(
            memory.look(&list(&TWO.replace("\"y\"", "\"y\",\"passes\":true")), Some("b"), 6),
            "a feature passes"
        );
        memory.hand_out(None);
        assert!(!memory.look(&list(&TWO.replace("\"y\"", "\"y\",\"passes\":true")), None, 7));
        assert_eq!(memory.still, 0, "nobody can tell");
    }

    #[test]
    fn features_that_are_gone_or_rewritten_are_told() {
        let memory = begun(&list(TWO));
        let without = list(r#"[{"id":"a","description":"x","steps":["2"],"passes":true}]"#);
        let changes = memory.changes(&without);
        assert_eq!((changes.gone, changes.rewritten), (vec!["b".to_owned()], vec!["a".to_owned()]));
        let renamed = list(r#"[{"id":"A1","description":"x","steps":["1"]},{"id":"b","description":"y"}]"#);
        assert_eq!(memory.changes(&renamed), Changes::default());
    }

    #[test]
    fn what_came_later_is_remembered_too() {
        let mut memory = begun(&list(TWO));
        memory.look(
            &list(
                &TWO.replace(']', ",{\"description\":\"a third\"}]")
                    .replace("\"1\",{\"description\":\"a third\"}]", "\"1\"]"),
            ),
            Some("b"),
            2,
        );
        assert_eq!(memory.changes(&list(TWO)).gone, ["a third"]);
    }

    #[test]
    fn what_is_left_stands_in_the_file_when_it_is_over() {
        let mut memory = begun(&list(TWO));
        memory.iteration = 10;
        let one = list(r#"[{"id":"a","description":"x","steps":["1"]}]"#);
        memory.look(&one, Some("b"), 2);
        let standing = memory.standing(&one, Status::ReachedLimit, "now".into());
        assert_eq!((standing.left, standing.passing), (vec!["a".to_owned(), "b".into()], (0, 2)));
        assert_eq!(memory.standing(&one, Status::InProgress, "now".into()).left, Vec::<String>::new());
    }
}
