//! One line of the punch list. Plain data, shared by facts, readers and checks.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strum::{EnumMessage, IntoStaticStr, VariantArray};

use crate::ids::ContentId;
use crate::text::normalise::normalised;

/// What kind of drift it is.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    Hash,
    PartialOrd,
    Ord,
    Serialize,
    Deserialize,
    JsonSchema,
    IntoStaticStr,
)]
pub enum Category {
    /// Claimed done, but not so.
    A,
    /// Done, but the plan does not mention it.
    B,
    /// Left out or replaced, and the plan still lists it.
    C,
    /// On the task list, but not in the plan.
    D,
    /// The person asked for it, but it was never done.
    #[serde(rename = "ask")]
    #[strum(serialize = "ask")]
    Ask,
}

impl Category {
    pub const ALL: [Self; 5] = [Self::A, Self::B, Self::C, Self::D, Self::Ask];

    /// Returns the name used in the log and the config.
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// Returns a description for the agent and the person.
    pub fn title(self) -> &'static str {
        match self {
            Self::A => "claimed done, and not so",
            Self::B => "done, but the plan does not mention it",
            Self::C => "left out, but the plan still lists it",
            Self::D => "on the task list, but not in the plan",
            Self::Ask => "asked for, never done",
        }
    }
}

/// In which way the claim is wrong: tells a check what to look at.
#[derive(
    Debug,
    Clone,
    Copy,
    Default,
    PartialEq,
    Eq,
    Hash,
    PartialOrd,
    Ord,
    Serialize,
    Deserialize,
    JsonSchema,
    IntoStaticStr,
    VariantArray,
)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum Kind {
    /// A file, a commit or another thing does not exist.
    #[serde(alias = "missing-file")]
    Missing,
    /// It exists, but is not what was promised.
    #[serde(alias = "missing-content")]
    WrongContent,
    /// A command that is claimed to have succeeded failed.
    #[serde(alias = "failed-command")]
    Failed,
    /// A command that is claimed to have run never did.
    NotRun,
    /// The plan does not mention it.
    NotInPlan,
    /// It was left out or replaced.
    LeftOut,
    /// Anything else.
    #[serde(alias = "no-trace")]
    #[default]
    Other,
}

impl Kind {
    pub const ALL: &'static [Self] = Self::VARIANTS;

    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// The section of the evidence that has the claim.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize, JsonSchema, IntoStaticStr,
)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum ClaimedIn {
    Plan,
    /// In the agent's final message.
    Message,
    /// On the task list.
    Tasks,
    /// In the person's words.
    Asks,
    /// Nobody claimed it: it was done, but is in no plan.
    #[default]
    Nowhere,
}

impl ClaimedIn {
    pub const ALL: [Self; 5] = [Self::Plan, Self::Message, Self::Tasks, Self::Asks, Self::Nowhere];

    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// The result of the checks and the second reader.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize, IntoStaticStr)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum Status {
    /// Its quotes are real, nothing contradicts it, and the second reader upholds it: it may block
    /// the stop.
    Confirmed,
    /// It may be true, but can't be shown. Never blocks a stop.
    #[default]
    CannotVerify,
    /// Disk, session or the second reader contradict it. Dropped, and kept in the log only.
    Refuted,
    /// `[[audit.ignore]]` excludes it. Kept in the log only.
    Ignored,
}

impl Status {
    pub const ALL: [Self; 4] = [Self::Confirmed, Self::CannotVerify, Self::Refuted, Self::Ignored];

    pub fn name(self) -> &'static str {
        self.into()
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize, IntoStaticStr)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum Source {
    Facts,
    #[serde(alias = "auditor")]
    #[default]
    Reader,
    Both,
}

impl Source {
    pub const ALL: [Self; 3] = [Self::Facts, Self::Reader, Self::Both];

    pub fn name(self) -> &'static str {
        self.into()
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SecondOpinion {
    pub upheld: bool,
    /// The reason, in a sentence.
    #[serde(default)]
    pub why: String,
}

/// Fields that an older log lacks get the default of their type.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    pub category: Category,
    /// The result of the checks and the second reader.
    #[serde(default)]
    pub status: Status,
    #[serde(default)]
    pub source: Source,
    /// In which way the claim is wrong.
    #[serde(default, alias = "problem")]
    pub kind: Kind,
    /// The text of the step, claim, task or ask.
    #[serde(default, skip_serializing_if = "String::is_empty", alias = "quote")]
    pub claim: String,
    #[serde(default)]
    pub claimed_in: ClaimedIn,
    /// The text of the evidence that shows it; empty if the proof is that something is missing.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub proof: String,
    /// The file concerned, by its path in the workspace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    #[serde(default)]
    pub why: String,
    #[serde(default)]
    pub settle: String,
    /// What the checks did and why.
    #[serde(default, alias = "verifier")]
    pub check: String,
    /// The second reader's verdict, if it was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub second: Option<SecondOpinion>,
    /// The number of the plan's step that it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<usize>,
}

/// How much is kept of each text of a finding, and of its path.
const TEXT: usize = 1_000;
const PATH: usize = 500;

impl Finding {
    /// Returns the text that it is about, or its path if it quotes none, or else what was found.
    pub fn subject(&self) -> &str {
        if self.claim.is_empty() { self.path.as_deref().unwrap_or(&self.why) } else { &self.claim }
    }

    /// Cuts texts that are longer than anybody reads. The start of a quote is still a quote: the
    /// mark is not a letter, and quotes are compared by letters and digits.
    #[must_use]
    pub fn bounded(mut self) -> Self {
        let texts = [&mut self.claim, &mut self.proof, &mut self.why, &mut self.settle, &mut self.check];
        texts
            .into_iter()
            .chain(self.second.as_mut().map(|second| &mut second.why))
            .for_each(|text| cut(text, TEXT));
        self.path.iter_mut().for_each(|path| cut(path, PATH));
        self
    }

    /// Returns a short name for its subject, which identifies it in the same session. A missing
    /// file is the same finding whatever the words.
    pub fn grounds(&self) -> String {
        let words = match (self.kind, &self.path) {
            (Kind::Missing, Some(_)) => String::new(),
            _ => normalised(&self.claim),
        };
        let path = self.path.as_deref().unwrap_or_default();
        ContentId::digest(format!("{} {} {path} {words}", self.category.name(), self.kind.name()))
    }
}

fn cut(text: &mut String, most: usize) {
    const MARK: char = '…';
    if text.len() > most + MARK.len_utf8() {
        text.truncate(text.floor_char_boundary(most));
        text.push(MARK);
    }
}

/// How a text for the person begins that lists advisories alone.
pub const WORTH_KNOWING: &str = "worth knowing:";

/// Something that the person should know. Never blocks a stop.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Advisory {
    /// What it is about.
    pub kind: AdvisoryKind,
    pub text: String,
    /// The command, the sentence or the file that it is based on.
    pub evidence: String,
}

impl Advisory {
    /// Returns a short name that identifies it.
    pub fn name(&self) -> String {
        ContentId::digest(format!("{:?} {}", self.kind, self.evidence))
    }
}

/// What an advisory is about.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    Hash,
    PartialOrd,
    Ord,
    Serialize,
    Deserialize,
    EnumMessage,
    IntoStaticStr,
    VariantArray,
)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum AdvisoryKind {
    #[serde(alias = "unrun-tests", alias = "unrun-build", alias = "unrun-lint")]
    #[strum(message = "a check is said to pass, but never ran")]
    NotRun,
    #[strum(message = "the tests ran before the last edit")]
    StaleTests,
    #[strum(message = "it was built before the last edit")]
    StaleBuild,
    #[strum(message = "the linter ran before the last edit")]
    StaleLint,
    #[strum(message = "a branch on a remote was overwritten")]
    ForcePush,
    #[strum(message = "uncommitted work was thrown away")]
    HardReset,
    #[strum(message = "a folder was deleted with everything in it")]
    RecursiveDelete,
    #[strum(message = "a commit or a push skipped its hooks")]
    NoVerify,
    #[strum(message = "a table or a database was dropped")]
    DroppedTable,
    #[strum(message = "a download was piped into a shell")]
    PipedDownload,
    #[strum(message = "a test was disabled")]
    DisabledTest,
    #[strum(message = "a test was deleted")]
    DeletedTest,
    #[strum(message = "a secret was written to a file that git tracks")]
    SecretWritten,
    #[strum(message = "the switch or a setting of punchlist was changed")]
    SwitchedOff,
    #[strum(message = "the agent allowed a project's commands for the person")]
    GaveLeave,
    #[strum(message = "there was more to check than the limits allow")]
    LimitReached,
}

impl AdvisoryKind {
    pub const ALL: &'static [Self] = Self::VARIANTS;

    pub fn name(self) -> &'static str {
        self.into()
    }

    pub fn title(self) -> &'static str {
        self.get_message().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::finding;

    #[test]
    fn each_part_of_a_finding_is_written_by_its_name() {
        for kind in Kind::ALL {
            assert_eq!(serde_json::json!(kind), kind.name());
        }
        for place in ClaimedIn::ALL {
            assert_eq!(serde_json::json!(place), place.name());
        }
        for status in Status::ALL {
            assert_eq!(serde_json::json!(status), status.name());
        }
        for source in Source::ALL {
            assert_eq!(serde_json::json!(source), source.name());
        }
        for kind in AdvisoryKind::ALL {
            assert_eq!(serde_json::json!(kind), kind.name());
        }
    }

    #[test]
    fn a_finding_of_the_older_format_is_read() {
        let older = r#"{"category":"A","status":"confirmed","source":"auditor","problem":"missing-file",
            "quote":"Create `a.rs`","path":"a.rs","why":"w","settle":"s","verifier":"no such file on disk","step":2,
            "evidence":["a.rs: no such file"]}"#;
        let read: Finding = serde_json::from_str(older).expect("a finding");
        let expected = Finding {
            source: Source::Reader,
            claimed_in: ClaimedIn::Nowhere,
            why: "w".into(),
            settle: "s".into(),
            check: "no such file on disk".into(),
            step: Some(2),
            ..finding(Category::A, Kind::Missing, "Create `a.rs`", Some("a.rs"))
        };
        assert_eq!(read, expected);
        for (name, kind) in [
            ("missing-file", Kind::Missing),
            ("missing-content", Kind::WrongContent),
            ("failed-command", Kind::Failed),
            ("no-trace", Kind::Other),
            ("not-in-plan", Kind::NotInPlan),
        ] {
            let json = older.replace("missing-file", name);
            assert_eq!(serde_json::from_str::<Finding>(&json).expect("a finding").kind, kind);
        }
        for name in ["unrun-tests", "unrun-build", "unrun-lint", "recursive-delete", "deleted-test"] {
            let kind = serde_json::from_str::<AdvisoryKind>(&format!("\"{name}\"")).expect("a kind");
            assert_eq!(kind == AdvisoryKind::NotRun, name.starts_with("unrun-"), "{name}");
        }
    }

    #[test]
    fn a_finding_is_no_longer_than_anybody_reads() {
        let long = "é".repeat(1 << 20);
        let second = Some(SecondOpinion { upheld: true, why: long.clone() });
        let finding = Finding {
            proof: long.clone(),
            why: long.clone(),
            check: long.clone(),
            second,
            ..finding(Category::A, Kind::Other, &long, Some(&long))
        };
        let bounded = finding.bounded();
        let json = serde_json::to_string(&bounded).expect("JSON");
        assert!((5 * TEXT..7 * TEXT).contains(&json.len()), "{}", json.len());
        assert!(bounded.claim.ends_with("é…") && long.contains(bounded.claim.trim_end_matches('…')));
        assert_eq!(bounded.clone().bounded().claim, bounded.claim, "once");
    }

    #[test]
    fn a_finding_is_read_as_it_was_written() {
        let whole = Finding {
            proof: "a.rs: does not exist".into(),
            second: Some(SecondOpinion { upheld: true, why: "nothing made it".into() }),
            ..finding(Category::Ask, Kind::LeftOut, "and add a.rs", None)
        };
        let json = serde_json::to_string(&whole).expect("JSON");
        assert_eq!(serde_json::from_str::<Finding>(&json).expect("a finding"), whole);
    }
}
