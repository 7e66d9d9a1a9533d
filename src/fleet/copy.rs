//! The copy of a decision or a note that leaves the machine: categories, paths in the project,
//! reasons and figures, masked. It is made field by field, so that a field nobody thought of stays
//! here. Pure.

use std::path::Path;

use serde_json::Value;

use super::places::without_places;
use super::quotes::without_quotes;
use crate::finding::{Advisory, Finding, SecondOpinion};
use crate::log::note::{LabelNote, Note, OutcomeNote};
use crate::log::record::{
    CheckRecord, FileRecord, GateRecord, PlanRecord, ReaderRecord, Record, TranscriptRecord,
};
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
        let Record {
            schema,
            id,
            time,
            machine: _,
            session,
            agent,
            project: folder,
            event,
            decision,
            cause,
            detail,
            dry_run,
            would_block,
            gates,
            plan,
            findings,
            advisories,
            files,
            auditor,
            second_reader,
            masked,
            prompt_bytes,
            transcript,
            // It names files and values of the person's own settings.
            config_error: _,
            phases_ms,
            client_version,
            version,
        } = record;
        let at = Place { root: folder.as_deref(), with_evidence: self.with_evidence };
        let copy = Record {
            schema: *schema,
            id: id.clone(),
            time: time.clone(),
            machine: Some(self.machine.to_owned()),
            session: session.clone(),
            agent: agent.clone(),
            project: project.map(str::to_owned),
            event: event.clone(),
            decision: *decision,
            cause: *cause,
            // The words of all gates in one, whatever the cause: titles of tasks and replies of
            // readers among them.
            detail: detail.as_deref().and_then(|text| at.evidence(text)),
            dry_run: *dry_run,
            would_block: *would_block,
            gates: gates.iter().map(|gate| at.gate(gate)).collect(),
            plan: plan.as_ref().map(|plan| at.plan(plan)),
            findings: findings.iter().map(|finding| at.finding(finding)).collect(),
            advisories: advisories.iter().map(|advisory| at.advisory(advisory)).collect(),
            files: files.iter().map(|file| at.file(file)).collect(),
            auditor: auditor.as_ref().map(|reader| at.reader(reader)),
            second_reader: second_reader.as_ref().map(|reader| at.reader(reader)),
            masked: *masked,
            prompt_bytes: *prompt_bytes,
            transcript: transcript.as_ref().map(Place::transcript),
            config_error: None,
            phases_ms: phases_ms.clone(),
            client_version: client_version.clone(),
            version: version.clone(),
        };
        serde_json::to_value(copy).unwrap_or_default()
    }

    /// The copy of a note.
    pub fn note(&self, note: &Note) -> Value {
        let copy = match note {
            Note::Outcome(note) => Note::Outcome(self.outcome(note)),
            Note::Label(note) => Note::Label(self.label(note)),
        };
        serde_json::to_value(copy).unwrap_or_default()
    }

    fn outcome(&self, note: &OutcomeNote) -> OutcomeNote {
        let OutcomeNote {
            schema,
            id,
            time,
            session,
            project,
            of,
            finding,
            category,
            outcome,
            why,
            sentence,
            was_wrong,
            told_by,
            usage,
        } = note;
        let at = Place { root: project.as_deref(), with_evidence: self.with_evidence };
        OutcomeNote {
            schema: *schema,
            id: id.clone(),
            time: time.clone(),
            session: session.clone(),
            project: None,
            of: of.clone(),
            finding: *finding,
            category: *category,
            outcome: *outcome,
            why: why.as_deref().map(|why| at.reason(why, &[sentence.as_deref().unwrap_or_default()])),
            sentence: sentence.as_deref().and_then(|sentence| at.evidence(sentence)),
            was_wrong: *was_wrong,
            told_by: told_by.clone(),
            usage: *usage,
        }
    }

    fn label(&self, note: &LabelNote) -> LabelNote {
        let LabelNote { schema, id, time, of, finding, label, note: words } = note;
        let at = Place { root: None, with_evidence: self.with_evidence };
        LabelNote {
            schema: *schema,
            id: id.clone(),
            time: time.clone(),
            of: of.clone(),
            finding: *finding,
            label: *label,
            note: words.as_deref().and_then(|words| at.evidence(words)),
        }
    }
}

/// Where paths of one decision begin, and what goes along.
#[derive(Clone, Copy)]
struct Place<'a> {
    root: Option<&'a str>,
    with_evidence: bool,
}

impl Place<'_> {
    /// A text, masked, bounded, and without the places of this machine. The database knows no NUL.
    fn text(self, text: &str) -> String {
        let text = without_places(&mask(text).text, self.root);
        first_part(&text, LONGEST).replace('\0', "")
    }

    /// A reason, without what it quotes of others.
    fn reason(self, why: &str, said: &[&str]) -> String {
        if self.with_evidence { self.text(why) } else { self.text(&without_quotes(why, said)) }
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

    fn plan(self, plan: &PlanRecord) -> PlanRecord {
        let PlanRecord { source, path, steps, ticked, dropped } = plan;
        let path = path.as_deref().map(|path| self.path(path));
        PlanRecord { source: *source, path, steps: *steps, ticked: *ticked, dropped: *dropped }
    }

    fn finding(self, finding: &Finding) -> Finding {
        let Finding {
            category,
            status,
            source,
            kind,
            claim,
            claimed_in,
            proof,
            path,
            why,
            settle,
            check,
            second,
            step,
        } = finding;
        Finding {
            category: *category,
            status: *status,
            source: *source,
            kind: *kind,
            claim: self.evidence(claim).unwrap_or_default(),
            claimed_in: *claimed_in,
            proof: self.evidence(proof).unwrap_or_default(),
            path: path.as_deref().map(|path| self.path(path)),
            why: self.reason(why, &[claim, proof]),
            settle: self.evidence(settle).unwrap_or_default(),
            // It may quote a command.
            check: self.evidence(check).unwrap_or_default(),
            second: second.as_ref().map(|SecondOpinion { upheld, why }| SecondOpinion {
                upheld: *upheld,
                why: self.reason(why, &[claim, proof]),
            }),
            step: *step,
        }
    }

    fn advisory(self, advisory: &Advisory) -> Advisory {
        let Advisory { kind, text, evidence } = advisory;
        Advisory {
            kind: *kind,
            text: self.evidence(text).unwrap_or_else(|| kind.title().to_owned()),
            evidence: self.evidence(evidence).unwrap_or_default(),
        }
    }

    fn gate(self, gate: &GateRecord) -> GateRecord {
        let GateRecord { gate, outcome, cause, detail, checks, usage, took_ms } = gate;
        let check = |CheckRecord { name, outcome }: &CheckRecord| CheckRecord {
            name: self.text(name),
            outcome: outcome.clone(),
        };
        GateRecord {
            gate: gate.clone(),
            outcome: outcome.clone(),
            cause: *cause,
            detail: detail.as_deref().and_then(|detail| self.evidence(detail)),
            checks: checks.iter().map(check).collect(),
            usage: *usage,
            took_ms: *took_ms,
        }
    }

    fn file(self, file: &FileRecord) -> FileRecord {
        let FileRecord { path, touched, state, entered, bytes, masked } = file;
        FileRecord {
            path: self.path(path),
            touched: touched.clone(),
            state: state.clone(),
            entered: entered.clone(),
            bytes: *bytes,
            masked: *masked,
        }
    }

    fn reader(self, reader: &ReaderRecord) -> ReaderRecord {
        let ReaderRecord { backend, client: _, model, outcome, detail, duration_ms, usage, flags: _ } =
            reader;
        ReaderRecord {
            backend: backend.clone(),
            client: None,
            model: model.clone(),
            outcome: outcome.clone(),
            detail: detail.as_deref().and_then(|detail| self.evidence(detail)),
            duration_ms: *duration_ms,
            usage: *usage,
            flags: Vec::new(),
        }
    }

    fn transcript(transcript: &TranscriptRecord) -> TranscriptRecord {
        let TranscriptRecord { path: _, bytes, rows, subagents, skipped, problem: _ } = transcript;
        TranscriptRecord {
            path: None,
            bytes: *bytes,
            rows: *rows,
            subagents: *subagents,
            skipped: *skipped,
            problem: None,
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
        found.check = format!("`mysql -p {words}` failed");
        found.why = concat!(
            "src/a.rs is missing, see /home/ann/shop/src, /home/ann/.ssh/config, AKIA",
            "Q3EGRTVX7WLMNB2C\0"
        )
        .into();
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
        assert_eq!(copy["findings"][0]["why"], "src/a.rs is missing, see ./src, config, [masked:aws-key]");
        assert_eq!(copy["advisories"][0]["text"], "a branch on a remote was overwritten");
        assert_eq!(copy["transcript"]["rows"], 3);
        let whole = Copier { with_evidence: true, ..copier }.decision(&record, None).to_string();
        assert!(whole.contains("PRIVATE words") && !whole.contains("/home/ann/PRIVATE"), "{whole}");
    }

    #[test]
    fn the_words_of_all_gates_left_with_a_cause_that_nothing_could_be_checked() {
        let record = Record { cause: Cause::TasksUnknown, ..telling() };
        let copier = Copier { machine: "m1", with_evidence: false };
        let copy = copier.decision(&record, None);
        assert_eq!((&copy["detail"], &copy["cause"]), (&Value::Null, &"tasks-unknown".into()));
        let copy = Copier { with_evidence: true, ..copier }.decision(&record, None);
        assert_eq!(copy["detail"], "PRIVATE words");
    }

    #[test]
    fn a_note_is_copied_without_what_anybody_said() {
        let record = telling();
        let now = jiff::Timestamp::UNIX_EPOCH;
        let mut outcome = OutcomeNote::new(&record, 1, FindingOutcome::Disputed, now);
        outcome.why = Some("/home/ann/shop/src/a.rs is as /home/ann/.ssh/config".into());
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
