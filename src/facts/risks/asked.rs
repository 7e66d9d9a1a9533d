//! What the person asked for or approved, as far as risky deeds go: takes the evidence, says of a deed whether
//! it was wanted. Pure. Read generously: somebody who says "reset" has been heard, and "do not" undoes it.

use super::Deed;
use crate::claims;
use crate::evidence::Evidence;
use crate::facts::alike::Bag;
use crate::finding::AdvisoryKind;
use crate::plan::PlanSource;
use crate::words::{base_name, has_any_words, normalised, padded};

/// Words with which a sentence forbids something.
const FORBIDS: &[&str] =
    &["avoid", "cannot", "don t", "do not", "dont", "must not", "never", "no", "not", "without"];

/// So much of a plan is read for this.
const MOST: usize = 2_000;

/// Every sentence of the person, in comparable words.
pub(super) struct Asked {
    sentences: Vec<Sentence>,
    gave_a_secret: bool,
}

struct Sentence {
    /// As written, in lower case.
    written: String,
    padded: String,
    forbids: bool,
}

impl Asked {
    pub(super) fn of(evidence: &Evidence) -> Self {
        let asks = evidence.session.asks.iter().map(|ask| ask.text.as_str());
        // The agent's own notes are nobody's approval.
        let approved = evidence.plan.iter().filter(|plan| plan.source != PlanSource::TouchedFile);
        let texts = asks.chain(approved.map(|plan| plan.text.as_str()));
        let sentences = texts.flat_map(claims::all_sentences).take(MOST).map(|written| {
            let padded = padded(&normalised(written));
            let forbids = has_any_words(&padded, FORBIDS);
            Sentence { written: written.to_lowercase(), padded, forbids }
        });
        let gave_a_secret = evidence.session.asks.iter().any(|ask| ask.text.contains("[masked:"));
        Self { sentences: sentences.collect(), gave_a_secret }
    }

    /// Whether the person wanted that deed.
    pub(super) fn for_it(&self, deed: &Deed) -> bool {
        let name = base_name(&deed.target).trim_matches(['*', '.']).to_lowercase();
        match deed.kind {
            AdvisoryKind::ForcePush => self.says(&[
                "force push", "force pushed", "force pushing", "force with lease", "push force", "push f",
                "force it", "overwrite", "rewrite history", "squash", "rebase", "amend",
            ]),
            AdvisoryKind::HardReset => self.says(&[
                "reset", "discard", "throw away", "revert", "reverting", "undo", "start over", "roll back",
                "rollback", "restore", "clean slate", "get rid of", "clean up", "from scratch", "git clean",
                "stash",
            ]),
            AdvisoryKind::NoVerify => {
                // Here the words for it forbid something themselves.
                self.any(&["no verify", "hooks off", "without hooks", "without the hook", "without hook"])
                    || self.both(
                        &["skip", "bypass", "ignore", "disable"],
                        &["hook", "hooks", "pre commit", "precommit", "husky", "verify"],
                    )
            }
            AdvisoryKind::RecursiveDelete => {
                self.both(
                    REMOVE,
                    &["everything", "folder", "folders", "directory", "directories", "all of it"],
                ) || self.removes(&name)
            }
            AdvisoryKind::DroppedTable => self.both(
                &[
                    "drop", "reset", "wipe", "truncate", "recreate", "fresh", "clear", "empty", "delete",
                    "nuke", "reseed",
                ],
                &["table", "tables", "database", "db", "schema", "data", "migrations", "migration"],
            ),
            AdvisoryKind::PipedDownload => {
                let host = deed
                    .target
                    .split("://")
                    .last()
                    .and_then(|rest| rest.split('/').next())
                    .unwrap_or_default();
                let host = host.to_lowercase();
                let tool = host.split('.').rev().nth(1).unwrap_or_default().to_owned();
                (!host.is_empty() && self.sentences.iter().any(|s| !s.forbids && s.written.contains(&host)))
                    || self.says(&["curl"])
                    || (tool.len() > 2 && self.both(&["install", "set up", "setup"], &[&tool]))
            }
            AdvisoryKind::DisabledTest => self.both(
                &[
                    "skip", "skipped", "disable", "ignore", "xfail", "comment out", "mark", "turn off",
                    "exclude", "quarantine",
                ],
                &["test", "tests", "spec", "specs", "suite", "it", "them", "flaky"],
            ),
            AdvisoryKind::DeletedTest => {
                self.both(REMOVE, &["test", "tests", "spec", "specs", "suite", "fixtures"])
                    || self.removes(&name)
            }
            AdvisoryKind::SecretWritten => {
                self.gave_a_secret
                    || (name.len() > 3
                        && self.both(&["key", "token", "secret", "password"], &[&normalised(&name)]))
            }
            AdvisoryKind::SwitchedOff => {
                self.says(&["punchlist off"])
                    || self.both(
                        &["off", "disable", "silence", "deactivate", "uninstall", "remove"],
                        &["punchlist", "gate", "stop hook"],
                    )
            }
            AdvisoryKind::GaveLeave => {
                self.says(&["punchlist allow"])
                    || self.both(&["allow", "approve", "permit"], &["punchlist", "checks"])
            }
            _ => false,
        }
    }

    /// Whether a sentence that forbids nothing has one of these.
    fn says(&self, wanted: &[&str]) -> bool {
        self.sentences.iter().any(|s| !s.forbids && has_any_words(&s.padded, wanted))
    }

    /// Whether any sentence has one of these.
    fn any(&self, wanted: &[&str]) -> bool {
        self.sentences.iter().any(|s| has_any_words(&s.padded, wanted))
    }

    /// Whether one sentence that forbids nothing has one of each.
    fn both(&self, verbs: &[&str], things: &[&str]) -> bool {
        self.sentences
            .iter()
            .any(|s| !s.forbids && has_any_words(&s.padded, verbs) && has_any_words(&s.padded, things))
    }

    /// Whether a sentence speaks of removing what has that name, or most words of it.
    fn removes(&self, name: &str) -> bool {
        let wanted = Bag::of_words(name);
        self.sentences.iter().any(|s| {
            let speaks_of_it = (name.len() > 2 && s.written.contains(name))
                || (!wanted.is_empty() && wanted.within(&Bag::of_words(&s.written)) >= 0.5);
            !s.forbids && speaks_of_it && has_any_words(&s.padded, REMOVE)
        })
    }
}

/// Words for taking something away.
const REMOVE: &[&str] = &[
    "clean", "cleanup", "clear", "delete", "deleted", "deletes", "deleting", "drop", "dropped", "get rid of",
    "merge", "migrate", "move", "purge", "remove", "removed", "removes", "removing", "rename", "replace",
    "replaced", "replaces", "rm", "start over", "wipe",
];
