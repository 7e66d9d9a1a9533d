//! One line of the punch list. Plain data: facts, the auditor and the verifier all speak in it.

use serde::{Deserialize, Serialize};

use crate::names::ContentName;
use crate::words::normalised;

/// What kind of drift it is.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, schemars::JsonSchema,
)]
pub enum Category {
    /// Claimed done, not on disk.
    A,
    /// Done, and the plan does not mention it.
    B,
    /// Abandoned, and the plan still lists it.
    C,
    /// On the task list, not in the plan.
    D,
    /// The person asked for it on the way, and it was never done.
    #[serde(rename = "ask")]
    Ask,
}

impl Category {
    /// All of them, in order.
    pub const ALL: [Self; 5] = [Self::A, Self::B, Self::C, Self::D, Self::Ask];

    /// As written in the log and the config.
    pub fn name(self) -> &'static str {
        match self {
            Self::A => "A",
            Self::B => "B",
            Self::C => "C",
            Self::D => "D",
            Self::Ask => "ask",
        }
    }

    /// In words, for the agent and the person.
    pub fn title(self) -> &'static str {
        match self {
            Self::A => "claimed done, not on disk",
            Self::B => "done, but the plan does not mention it",
            Self::C => "abandoned, but the plan still lists it",
            Self::D => "on the task list, but not in the plan",
            Self::Ask => "asked for on the way, never done",
        }
    }
}

/// Which kind of check would prove it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Problem {
    /// The file is not there.
    MissingFile,
    /// The file is there and lacks what was promised.
    MissingContent,
    /// A command was claimed to succeed, and failed.
    FailedCommand,
    /// Nothing in the session worked on it.
    NoTrace,
    /// The plan does not mention it.
    NotInPlan,
}

impl Problem {
    /// All of them, in order.
    pub const ALL: [Self; 5] =
        [Self::MissingFile, Self::MissingContent, Self::FailedCommand, Self::NoTrace, Self::NotInPlan];

    /// As written in the log.
    pub fn name(self) -> &'static str {
        match self {
            Self::MissingFile => "missing-file",
            Self::MissingContent => "missing-content",
            Self::FailedCommand => "failed-command",
            Self::NoTrace => "no-trace",
            Self::NotInPlan => "not-in-plan",
        }
    }
}

/// What the verifier made of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// Its quotes are real and nothing contradicts it: it may hold the stop.
    Confirmed,
    /// It may be so; it can't be shown. Never holds a stop.
    CannotVerify,
    /// Disk or session say otherwise. Dropped, and kept in the log only.
    Refuted,
}

impl Status {
    /// All of them, in order.
    pub const ALL: [Self; 3] = [Self::Confirmed, Self::CannotVerify, Self::Refuted];

    /// As written in the log.
    pub fn name(self) -> &'static str {
        match self {
            Self::Confirmed => "confirmed",
            Self::CannotVerify => "cannot-verify",
            Self::Refuted => "refuted",
        }
    }
}

/// Who says so.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Source {
    /// The hook's own facts.
    Facts,
    /// The second model.
    Auditor,
    /// Both of them.
    Both,
}

impl Source {
    /// All of them, in order.
    pub const ALL: [Self; 3] = [Self::Facts, Self::Auditor, Self::Both];

    /// As written in the log.
    pub fn name(self) -> &'static str {
        match self {
            Self::Facts => "facts",
            Self::Auditor => "auditor",
            Self::Both => "both",
        }
    }
}

/// One finding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// What kind of drift.
    pub category: Category,
    /// What the verifier made of it.
    #[serde(default = "unsaid::status")]
    pub status: Status,
    /// Who says so.
    #[serde(default = "unsaid::source")]
    pub source: Source,
    /// Which check would prove it.
    #[serde(default = "unsaid::problem")]
    pub problem: Problem,
    /// The words of the step, claim, task or ask.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub quote: String,
    /// The file concerned, as the workspace has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// What was found.
    #[serde(default)]
    pub why: String,
    /// What would settle it.
    #[serde(default)]
    pub settle: String,
    /// What the verifier did and why.
    #[serde(default)]
    pub verifier: String,
    /// The number of the plan's step that it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<usize>,
    /// What disk and session show, a line each: a command and how it ended, a file and what stands there.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<String>,
}

/// What is taken for so where an older log does not say.
mod unsaid {
    use super::{Problem, Source, Status};

    pub(super) fn status() -> Status {
        Status::CannotVerify
    }

    pub(super) fn source() -> Source {
        Source::Auditor
    }

    pub(super) fn problem() -> Problem {
        Problem::NoTrace
    }
}

impl Finding {
    /// A short name for what it rests on, by which it is known again in the same session. That a file is missing is the
    /// same in whatever words, and so is how a command ended.
    pub fn grounds(&self) -> String {
        let quote = || normalised(&self.quote);
        let words = match (self.problem, &self.path, self.evidence.first()) {
            (Problem::MissingFile, Some(_), _) => String::new(),
            (Problem::FailedCommand, _, Some(shown)) => shown.clone(),
            _ => quote(),
        };
        let path = self.path.as_deref().unwrap_or_default();
        ContentName::of(format!("{} {:?} {path} {words}", self.category.name(), self.problem))
    }
}

/// Something that the person should know. Never holds a stop.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Advisory {
    /// What it is about.
    pub kind: AdvisoryKind,
    /// In words.
    pub text: String,
    /// The command, the sentence or the file that it rests on.
    pub evidence: String,
}

impl Advisory {
    /// A short name by which it is known again.
    pub fn name(&self) -> String {
        ContentName::of(format!("{:?} {}", self.kind, self.evidence))
    }
}

/// What an advisory is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AdvisoryKind {
    /// The tests are said to pass, and never ran.
    UnrunTests,
    /// It is said to build, and was never built.
    UnrunBuild,
    /// The linter is said to be content, and never ran.
    UnrunLint,
    /// The tests ran before the last edit.
    StaleTests,
    /// It was built before the last edit.
    StaleBuild,
    /// The linter ran before the last edit.
    StaleLint,
    /// A branch on a remote was overwritten.
    ForcePush,
    /// Work that was not committed was thrown away.
    HardReset,
    /// A folder was deleted with all that was in it.
    RecursiveDelete,
    /// A commit or a push went past its hooks.
    NoVerify,
    /// A table or a database was dropped.
    DroppedTable,
    /// A download went into a shell unseen.
    PipedDownload,
    /// A test was switched off.
    DisabledTest,
    /// A test was deleted.
    DeletedTest,
    /// A secret was written to a file that git tracks.
    SecretWritten,
    /// The agent used the person's switch.
    SwitchedOff,
    /// The agent allowed in the person's place what a project's config asks to run.
    GaveLeave,
}

impl AdvisoryKind {
    /// All of them, in order.
    pub const ALL: [Self; 17] = [
        Self::UnrunTests,
        Self::UnrunBuild,
        Self::UnrunLint,
        Self::StaleTests,
        Self::StaleBuild,
        Self::StaleLint,
        Self::ForcePush,
        Self::HardReset,
        Self::RecursiveDelete,
        Self::NoVerify,
        Self::DroppedTable,
        Self::PipedDownload,
        Self::DisabledTest,
        Self::DeletedTest,
        Self::SecretWritten,
        Self::SwitchedOff,
        Self::GaveLeave,
    ];

    /// As written in the log.
    pub fn name(self) -> &'static str {
        match self {
            Self::UnrunTests => "unrun-tests",
            Self::UnrunBuild => "unrun-build",
            Self::UnrunLint => "unrun-lint",
            Self::StaleTests => "stale-tests",
            Self::StaleBuild => "stale-build",
            Self::StaleLint => "stale-lint",
            Self::ForcePush => "force-push",
            Self::HardReset => "hard-reset",
            Self::RecursiveDelete => "recursive-delete",
            Self::NoVerify => "no-verify",
            Self::DroppedTable => "dropped-table",
            Self::PipedDownload => "piped-download",
            Self::DisabledTest => "disabled-test",
            Self::DeletedTest => "deleted-test",
            Self::SecretWritten => "secret-written",
            Self::SwitchedOff => "switched-off",
            Self::GaveLeave => "gave-leave",
        }
    }

    /// In words.
    pub fn title(self) -> &'static str {
        match self {
            Self::UnrunTests => "the tests are said to pass, and never ran",
            Self::UnrunBuild => "it is said to build, and was never built",
            Self::UnrunLint => "the linter is said to be content, and never ran",
            Self::StaleTests => "the tests ran before the last edit",
            Self::StaleBuild => "it was built before the last edit",
            Self::StaleLint => "the linter ran before the last edit",
            Self::ForcePush => "a branch on a remote was overwritten",
            Self::HardReset => "work that was not committed was thrown away",
            Self::RecursiveDelete => "a folder was deleted with all that was in it",
            Self::NoVerify => "a commit or a push went past its hooks",
            Self::DroppedTable => "a table or a database was dropped",
            Self::PipedDownload => "a download went into a shell unseen",
            Self::DisabledTest => "a test was switched off",
            Self::DeletedTest => "a test was deleted",
            Self::SecretWritten => "a secret was written to a file that git tracks",
            Self::SwitchedOff => "the agent used the person's switch",
            Self::GaveLeave => "the agent allowed a project's commands in the person's place",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_part_of_a_finding_is_written_by_its_name() {
        for problem in Problem::ALL {
            assert_eq!(serde_json::json!(problem), problem.name());
        }
        for status in Status::ALL {
            assert_eq!(serde_json::json!(status), status.name());
        }
        for source in Source::ALL {
            assert_eq!(serde_json::json!(source), source.name());
        }
    }

    #[test]
    fn an_advisory_is_written_by_its_name() {
        for kind in AdvisoryKind::ALL {
            assert_eq!(serde_json::json!(kind), kind.name());
        }
    }
}
