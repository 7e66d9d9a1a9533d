//! The copy of a decision or a note that leaves the machine: categories, paths in the project, reasons and
//! figures, masked. It is made field by field, so that a field nobody thought of stays here. Pure.

use std::path::Path;

use serde_json::Value;

use crate::decision::could_not_check;
use crate::finding::{Advisory, Finding, SecondOpinion};
use crate::log::note::{LabelNote, Note, OutcomeNote};
use crate::log::record::{FileRecord, GateRecord, PlanRecord, ReaderRecord, Record, TranscriptRecord};
use crate::paths::base_name;
use crate::redact::mask;
use crate::text::first_part;

/// The longest text of a copy.
const LONGEST: usize = 2_000;

/// How copies are made.
#[derive(Debug, Clone, Copy)]
pub struct Copier<'a> {
    pub machine: &'a str,
    /// `[fleet] ship_evidence`: whether claims, proofs and people's words go along.
    pub with_evidence: bool,
}

impl Copier<'_> {
    /// The copy of a decision. `project` is the project's name in the fleet.
    pub fn decision(&self, record: &Record, project: Option<&str>) -> Value {
        let at = Place { root: record.project.as_deref(), with_evidence: self.with_evidence };
        // What could not be done says why; what was decided may quote anything.
        let is_failure = could_not_check(record.cause.name());
        let copy = Record {
            schema: record.schema,
            id: record.id.clone(),
            time: record.time.clone(),
            machine: Some(self.machine.to_owned()),
            session: record.session.clone(),
            agent: record.agent.clone(),
            project: project.map(str::to_owned),
            event: record.event.clone(),
            decision: record.decision,
            cause: record.cause,
            detail: record
                .detail
                .as_deref()
                .filter(|_| is_failure || at.with_evidence)
                .map(|text| at.text(text)),
            dry_run: record.dry_run,
            would_block: record.would_block,
            gates: record.gates.iter().map(|gate| at.gate(gate)).collect(),
            plan: record.plan.as_ref().map(|plan| PlanRecord {
                path: plan.path.as_deref().map(|path| at.path(path)),
                ..plan.clone()
            }),
            findings: record.findings.iter().map(|finding| at.finding(finding)).collect(),
            advisories: record.advisories.iter().map(|advisory| at.advisory(advisory)).collect(),
            files: record.files.iter().map(|file| at.file(file)).collect(),
            auditor: record.auditor.as_ref().map(|reader| at.reader(reader)),
            second_reader: record.second_reader.as_ref().map(|reader| at.reader(reader)),
            masked: record.masked,
            prompt_bytes: record.prompt_bytes,
            transcript: record.transcript.as_ref().map(|transcript| TranscriptRecord {
                path: None,
                problem: None,
                ..transcript.clone()
            }),
            // It names files and values of the person's own settings.
            config_error: None,
            phases_ms: record.phases_ms.clone(),
            client_version: record.client_version.clone(),
            version: record.version.clone(),
        };
        serde_json::to_value(copy).unwrap_or_default()
    }

    /// The copy of a note.
    pub fn note(&self, note: &Note) -> Value {
        let at = Place { root: None, with_evidence: self.with_evidence };
        let copy = match note {
            Note::Outcome(note) => Note::Outcome(OutcomeNote {
                project: None,
                why: note.why.as_deref().map(|why| at.text(why)),
                sentence: note.sentence.as_deref().and_then(|sentence| at.evidence(sentence)),
                ..note.clone()
            }),
            Note::Label(note) => Note::Label(LabelNote {
                note: note.note.as_deref().and_then(|words| at.evidence(words)),
                ..note.clone()
            }),
        };
        serde_json::to_value(copy).unwrap_or_default()
    }
}

/// Where paths of one decision begin, and what goes along.
#[derive(Clone, Copy)]
struct Place<'a> {
    root: Option<&'a str>,
    with_evidence: bool,
}

impl Place<'_> {
    /// A text, masked, bounded, and without the project's folder. The database knows no NUL.
    fn text(self, text: &str) -> String {
        let text = first_part(&mask(text).text, LONGEST).replace('\0', "");
        match self.root {
            Some(root) if root.len() > 1 => text.replace(root, "."),
            _ => text,
        }
    }

    fn evidence(self, text: &str) -> Option<String> {
        self.with_evidence.then(|| self.text(text))
    }

    /// A path in the project; of others the last name only.
    fn path(self, path: &str) -> String {
        let inside = self.root.and_then(|root| Path::new(path).strip_prefix(root).ok());
        let path = match inside {
            Some(inside) => inside.to_string_lossy().into_owned(),
            None if Path::new(path).is_absolute() || path.starts_with(['~', '.']) => {
                base_name(path).to_owned()
            }
            None => path.to_owned(),
        };
        self.text(&path)
    }

    fn finding(self, finding: &Finding) -> Finding {
        let second = finding.second.as_ref();
        Finding {
            claim: self.evidence(&finding.claim).unwrap_or_default(),
            proof: self.evidence(&finding.proof).unwrap_or_default(),
            settle: self.evidence(&finding.settle).unwrap_or_default(),
            path: finding.path.as_deref().map(|path| self.path(path)),
            why: self.text(&finding.why),
            check: self.text(&finding.check),
            second: second.map(|second| SecondOpinion { upheld: second.upheld, why: self.text(&second.why) }),
            ..finding.clone()
        }
    }

    fn advisory(self, advisory: &Advisory) -> Advisory {
        Advisory {
            kind: advisory.kind,
            text: self.evidence(&advisory.text).unwrap_or_else(|| advisory.kind.title().to_owned()),
            evidence: self.evidence(&advisory.evidence).unwrap_or_default(),
        }
    }

    fn gate(self, gate: &GateRecord) -> GateRecord {
        GateRecord { detail: gate.detail.as_deref().and_then(|detail| self.evidence(detail)), ..gate.clone() }
    }

    fn file(self, file: &FileRecord) -> FileRecord {
        FileRecord { path: self.path(&file.path), ..file.clone() }
    }

    fn reader(self, reader: &ReaderRecord) -> ReaderRecord {
        ReaderRecord {
            backend: reader.backend.clone(),
            client: None,
            model: reader.model.clone(),
            outcome: reader.outcome.clone(),
            detail: reader.detail.as_deref().and_then(|detail| self.evidence(detail)),
            duration_ms: reader.duration_ms,
            usage: reader.usage,
            flags: Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decision::Cause;
    use crate::finding::{AdvisoryKind, Category, Kind};
    use crate::log::note::{FindingOutcome, Label};
    use crate::testing::finding;

    /// A decision in which every text that a person or a file wrote says so.
    fn telling() -> Record {
        let words = "PRIVATE words";
        let mut found = finding(Category::A, Kind::Missing, words, Some("/home/ann/shop/src/a.rs"));
        found.proof = words.into();
        found.settle = words.into();
        found.why = "src/a.rs is missing, see /home/ann/shop/src, AKIAIOSFODNN7EXAMPLE\0".into();
        let mut record = Record::new(Cause::Findings, "2026-11-01T09:30:00Z".parse().expect("a time"));
        record.project = Some("/home/ann/shop".into());
        record.detail = Some(words.into());
        record.config_error = Some(words.into());
        record.findings = vec![found];
        record.gates =
            vec![GateRecord { gate: "checks".into(), detail: Some(words.into()), ..GateRecord::default() }];
        record.advisories =
            vec![Advisory { kind: AdvisoryKind::ForcePush, text: words.into(), evidence: words.into() }];
        record.auditor = Some(ReaderRecord {
            client: Some("/home/ann/PRIVATE".into()),
            detail: Some(words.into()),
            flags: vec![words.into()],
            ..ReaderRecord::default()
        });
        record.transcript = Some(TranscriptRecord {
            path: Some("/home/ann/PRIVATE.jsonl".into()),
            bytes: 7,
            rows: 3,
            subagents: 0,
            skipped: crate::session::Skipped::default(),
            problem: Some(words.into()),
        });
        record
    }

    #[test]
    fn a_copy_has_paths_reasons_and_figures_and_nobodys_words() {
        let record = telling();
        let copier = Copier { machine: "m1", with_evidence: false };
        let copy = copier.decision(&record, Some("example.org/acme/shop"));
        let text = copy.to_string();
        assert!(!text.contains("PRIVATE") && !text.contains("/home/ann") && !text.contains("AKIA"), "{text}");
        assert!(!text.contains("\\u0000"), "{text}");
        assert_eq!(copy["project"], "example.org/acme/shop");
        assert_eq!(copy["machine"], "m1");
        assert_eq!(copy["findings"][0]["path"], "src/a.rs");
        assert_eq!(copy["findings"][0]["why"], "src/a.rs is missing, see ./src, [masked:aws-key-id]");
        assert_eq!(copy["advisories"][0]["text"], "a branch on a remote was overwritten");
        assert_eq!(copy["transcript"]["rows"], 3);
        let whole = Copier { with_evidence: true, ..copier }.decision(&record, None).to_string();
        assert!(whole.contains("PRIVATE words") && !whole.contains("/home/ann/PRIVATE"), "{whole}");
    }

    #[test]
    fn a_note_is_copied_without_what_anybody_said() {
        let record = telling();
        let now = jiff::Timestamp::UNIX_EPOCH;
        let mut outcome = OutcomeNote::new(&record, 1, FindingOutcome::Disputed, now);
        outcome.sentence = Some("PRIVATE".into());
        let label =
            LabelNote { note: Some("PRIVATE".into()), ..LabelNote::new("x", None, Label::Wrong, now) };
        for note in [Note::Outcome(outcome), Note::Label(label)] {
            let copier = Copier { machine: "m1", with_evidence: false };
            let text = copier.note(&note).to_string();
            assert!(!text.contains("PRIVATE") && !text.contains("/home"), "{text}");
            assert!(Copier { with_evidence: true, ..copier }.note(&note).to_string().contains("PRIVATE"));
        }
    }
}
