//! A year of decisions of a small team, made up: takes a seed and a number, gives the lines of its
//! log, oldest first, the same on every machine. About 60 % of the stops step aside, 25 % are clean
//! audits; the rest holds findings, failures, what became of it all and what people said of it. No
//! file that a decision names is there.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;

use jiff::Timestamp;
use punchlist::decision::{Action, Cause};
use punchlist::evidence::{Entered, FileState, LeftOut};
use punchlist::finding::{Category, ClaimedIn, Finding, Kind, SecondOpinion, Source, Status};
use punchlist::log::note::{FindingOutcome, Label, LabelNote, SCHEMA};
use punchlist::log::record::{FileRecord, PlanRecord, ReaderRecord, TranscriptRecord};
use punchlist::log::{Note, OutcomeNote, Record};
use punchlist::plan::PlanSource;
use punchlist::readers::Usage;

/// The first day of the year, at midnight in UTC: 2025-10-01.
const FIRST_DAY_MS: i64 = 1_759_276_800_000;
const DAY_MS: i64 = 24 * 3_600_000;

const PROJECTS: [&str; 6] = ["shop", "payments-api", "mobile", "infra", "legacy-importer", "docs site"];
const PEOPLE: [&str; 4] = ["ana", "björn", "chidi", "dana"];
const FOLDERS: [&str; 8] =
    ["src", "src/api", "src/ui/components", "tests", "docs", "migrations", "scripts", "src/übersetzung"];
const NOUNS: [&str; 16] = [
    "order", "basket", "invoice", "session", "login", "report", "queue", "mailer", "price", "stock", "route",
    "cache", "export", "webhook", "audit", "theme",
];
const DISPUTES: [&str; 4] = [
    "That file is written by the generator, so the plan does not list it.",
    "The step was replaced by the change in lib.rs that you asked for, see the commit.",
    "It is there under another name: I renamed it in the last edit.",
    "The tests ran on the build server, which this machine can't see.",
];

/// The lines of the log of a year with so many decisions, notes on them between.
pub(crate) fn year(seed: u64, records: usize) -> Vec<String> {
    let mut maker = Maker { chance: Chance(seed), lines: Vec::new(), due: Vec::new(), session: 0 };
    for (day, stops) in stops_by_day(records).into_iter().enumerate() {
        let first = FIRST_DAY_MS + DAY_MS * i64::try_from(day).unwrap_or_default();
        // From seven in the morning on, for twelve hours.
        let mut times: Vec<i64> =
            (0..stops).map(|_| first + 7 * 3_600_000 + maker.chance.below(12 * 3_600_000)).collect();
        times.sort_unstable();
        for time in times {
            maker.stop(time);
        }
    }
    maker.say_what_is_due(i64::MAX);
    maker.lines
}

/// Writes them where a punchlist with that state folder has its log.
pub(crate) fn write_year(state: &Path, seed: u64, records: usize) -> io::Result<()> {
    let folder = state.join("decisions");
    fs::create_dir_all(&folder)?;
    let mut months: BTreeMap<String, String> = BTreeMap::new();
    for line in year(seed, records) {
        let at = line.find("\"time\":\"").map_or(0, |at| at + 8);
        let month = months.entry(line[at..at + 7].to_owned()).or_default();
        month.push_str(&line);
        month.push('\n');
    }
    months.iter().try_for_each(|(month, lines)| fs::write(folder.join(format!("{month}.jsonl")), lines))
}

/// How many stops each day of the year has: few on weekends.
fn stops_by_day(records: usize) -> Vec<usize> {
    // 2025-10-01 was a Wednesday.
    let weight = |day: usize| if (day + 2) % 7 < 5 { 12 } else { 1 };
    let all: usize = (0..365).map(weight).sum();
    let (mut sum, mut so_far) = (0, 0);
    (0..365)
        .map(|day| {
            sum += weight(day);
            let until = records * sum / all;
            let stops = until - so_far;
            so_far = until;
            stops
        })
        .collect()
}

/// Numbers that look random and are the same for the same seed (`SplitMix64`).
struct Chance(u64);

impl Chance {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, end: i64) -> i64 {
        i64::try_from(self.next() % u64::try_from(end).unwrap_or(1)).unwrap_or(0)
    }

    fn index(&mut self, count: usize) -> usize {
        usize::try_from(self.next() % count as u64).unwrap_or(0)
    }

    fn one_of<'a>(&mut self, all: &[&'a str]) -> &'a str {
        all[self.index(all.len())]
    }

    fn happens(&mut self, per_mille: u64) -> bool {
        self.next() % 1000 < per_mille
    }

    /// Around `middle`, with a long tail.
    #[expect(clippy::cast_precision_loss, reason = "it is made up")]
    fn around(&mut self, middle: f64) -> f64 {
        let sum: f64 = (0..4).map(|_| (self.next() >> 11) as f64 / (1u64 << 53) as f64).sum();
        ((middle * (sum - 2.0).exp()) * 1000.0).round() / 1000.0
    }

    fn id(&mut self) -> String {
        const LETTERS: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
        (0..10).map(|_| char::from(LETTERS[self.index(32)])).collect()
    }
}

/// What is said of a decision once its time has come.
struct Due {
    time: i64,
    what: What,
}

enum What {
    /// The session of a block stops again.
    Again(Box<Record>),
    /// A person says something.
    Label(LabelNote),
}

struct Maker {
    chance: Chance,
    lines: Vec<String>,
    due: Vec<Due>,
    session: u64,
}

fn at(ms: i64) -> Timestamp {
    Timestamp::from_millisecond(ms).unwrap_or_default()
}

impl Maker {
    /// One more stop of somebody. The stop after a block comes in place of another one, so that
    /// their number holds.
    fn stop(&mut self, time: i64) {
        self.say_labels(time);
        if let Some(place) =
            self.due.iter().position(|due| due.time <= time && matches!(due.what, What::Again(_)))
        {
            let Due { what: What::Again(block), .. } = self.due.remove(place) else { return };
            self.again(&block, time);
            return;
        }
        let cause = self.cause();
        let mut record = self.bare(cause, time);
        match cause {
            Cause::Findings => self.held(&mut record),
            Cause::Clean => self.audited(&mut record, "answered"),
            Cause::OnlyUnverified => {
                self.audited(&mut record, "answered");
                for _ in 0..=self.chance.index(3) {
                    let finding = self.finding(&record, Status::CannotVerify);
                    record.findings.push(finding);
                }
            }
            Cause::AuditorTimeout => self.audited(&mut record, "timed-out"),
            Cause::AuditorUnavailable => self.audited(&mut record, "unavailable"),
            Cause::AuditorUnreadable => self.audited(&mut record, "unreadable"),
            Cause::Superseded => self.audited(&mut record, "superseded"),
            Cause::MovedOn => {
                self.audited(&mut record, "answered");
                let finding = self.finding(&record, Status::Confirmed);
                record.findings.push(finding);
            }
            _ => {}
        }
        self.write(&record);
        self.maybe_label(&record, time);
        if record.decision == Action::Block {
            // Some sessions are never gone on with.
            if !self.chance.happens(60) {
                let later = time + 60_000 + self.chance.below(1_800_000);
                self.due.push(Due { time: later, what: What::Again(Box::new(record)) });
            }
        }
    }

    fn cause(&mut self) -> Cause {
        match self.chance.index(1000) {
            0..=369 => Cause::NothingToAudit,
            370..=469 => Cause::Unchanged,
            470..=509 => Cause::PlanMode,
            510..=549 => Cause::BackgroundWork,
            550..=569 => Cause::Off,
            570..=579 => Cause::Budget,
            580..=584 => Cause::InsideAuditor,
            585..=586 => Cause::BadInput,
            587..=844 => Cause::Clean,
            845..=904 => Cause::Findings,
            905..=954 => Cause::OnlyUnverified,
            955..=967 => Cause::AuditorTimeout,
            968..=978 => Cause::AuditorUnavailable,
            979..=983 => Cause::AuditorUnreadable,
            984..=993 => Cause::Superseded,
            994..=998 => Cause::MovedOn,
            _ => Cause::Error,
        }
    }

    fn bare(&mut self, cause: Cause, time: i64) -> Record {
        if self.session == 0 || self.chance.happens(250) {
            self.session = self.chance.next();
        }
        let (project, person) = (self.chance.one_of(&PROJECTS), self.chance.one_of(&PEOPLE));
        let mut phases = BTreeMap::new();
        for (name, middle) in [("input", 0.1), ("config", 0.08), ("state", 0.1), ("read", 1.1)] {
            phases.insert(name.to_owned(), self.chance.around(middle));
        }
        let total = phases.values().sum::<f64>() + 0.2;
        phases.insert("total".to_owned(), (total * 1000.0).round() / 1000.0);
        Record {
            id: self.chance.id(),
            session: Some(format!(
                "{:08x}-0000-4000-8000-{:012x}",
                self.session >> 32,
                self.session & 0xffff_ffff
            )),
            project: Some(format!("/home/{person}/work/{project}")),
            detail: (cause == Cause::NothingToAudit).then(|| "no work since the last audit".to_owned()),
            phases_ms: phases,
            client_version: Some("2.1.325".to_owned()),
            version: "0.1.0".to_owned(),
            ..Record::new(cause, at(time))
        }
    }

    /// What an audit adds to a record.
    #[expect(clippy::cast_precision_loss, reason = "tokens are few")]
    fn audited(&mut self, record: &mut Record, outcome: &str) {
        let files = 5 + self.chance.index(46);
        record.files = (0..files).map(|_| self.file()).collect();
        let steps = self.chance.index(24);
        record.plan = (steps > 0).then(|| PlanRecord {
            source: PlanSource::TouchedFile,
            path: record.project.as_ref().map(|project| format!("{project}/PLAN.md")),
            steps,
            ticked: steps - steps / 4,
            dropped: 0,
        });
        let answered = outcome == "answered" || outcome == "unreadable";
        let took = if outcome == "timed-out" {
            45_000.0
        } else {
            self.chance.around(if answered { 6_500.0 } else { 90.0 })
        };
        let (read, written) =
            if answered { (2_000 + self.chance.below(24_000), 60 + self.chance.below(900)) } else { (0, 0) };
        let is_large = record.project.as_deref().is_some_and(|project| project.ends_with("payments-api"));
        let price = if is_large { 3.0 } else { 1.0 };
        let cost = (read as f64 + 5.0 * written as f64) * price / 1e6;
        record.auditor = Some(ReaderRecord {
            backend: "claude".to_owned(),
            client: (outcome != "unavailable").then(|| "/usr/local/bin/claude".to_owned()),
            model: if is_large { "sonnet" } else { "haiku" }.to_owned(),
            outcome: outcome.to_owned(),
            detail: match outcome {
                "timed-out" => Some("no answer after 45 s".to_owned()),
                "unavailable" => Some("Not logged in · Please run /login".to_owned()),
                _ => None,
            },
            duration_ms: took,
            usage: Usage {
                input: u64::try_from(read).unwrap_or_default(),
                output: u64::try_from(written).unwrap_or_default(),
                cost_usd: answered.then_some((cost * 1e6).round() / 1e6),
                ..Usage::default()
            },
            flags: ["--tools", "--system-prompt", "--safe-mode", "--json-schema"].map(str::to_owned).to_vec(),
        });
        record.prompt_bytes = files * 1_300;
        record.transcript = serde_json::from_value::<TranscriptRecord>(serde_json::json!({
            "rows": 40 + self.chance.index(900), "subagents": self.chance.index(3),
            "skipped": {"unreadable": 0, "unknown": self.chance.index(4), "oversized": 0, "repaired": 0},
        }))
        .ok();
        let mut ours = 0.0;
        for (name, middle) in [
            ("plan", 0.4),
            ("evidence", 7.0),
            ("facts", 1.5),
            ("prompt", 1.0),
            ("checks", 0.6),
            ("remember", 0.9),
        ] {
            let spent = self.chance.around(middle);
            ours += if name == "facts" { 0.0 } else { spent };
            record.phases_ms.insert(name.to_owned(), spent);
        }
        record.phases_ms.insert("auditor".to_owned(), took);
        let total = record.phases_ms.get("total").copied().unwrap_or_default() + ours + took;
        record.phases_ms.insert("total".to_owned(), (total * 1000.0).round() / 1000.0);
    }

    /// What the second reader adds to a record: the evidence comes from the provider's cache.
    fn read_again(record: &mut Record) {
        let Some(first) = record.auditor.clone() else { return };
        let took = (first.duration_ms * 0.4 * 1000.0).round() / 1000.0;
        let usage = Usage {
            input: 180,
            output: first.usage.output / 4,
            cache_read: first.usage.input,
            cache_write: 0,
            cost_usd: first.usage.cost_usd.map(|cost| (cost * 0.2 * 1e6).round() / 1e6),
        };
        record.second_reader = Some(ReaderRecord { duration_ms: took, usage, ..first });
        record.phases_ms.insert("second-reader".to_owned(), took);
        let total = record.phases_ms.get("total").copied().unwrap_or_default() + took;
        record.phases_ms.insert("total".to_owned(), (total * 1000.0).round() / 1000.0);
    }

    fn file(&mut self) -> FileRecord {
        let bytes = self.chance.below(24_000);
        let shown = usize::try_from(bytes).unwrap_or_default();
        let (state, entered) = match self.chance.index(20) {
            0 => (FileState::Missing { elsewhere: None }, Entered::LeftOut(LeftOut::NoRoom)),
            1..=6 => (FileState::File { bytes: bytes.unsigned_abs() }, Entered::Diff),
            _ => (FileState::File { bytes: bytes.unsigned_abs() }, Entered::Whole),
        };
        let tool = self.chance.one_of(&["Edit", "Write", "Edit", "Bash"]);
        FileRecord {
            path: self.path(),
            touched: vec![tool.to_owned()],
            state,
            entered,
            bytes: shown,
            masked: 0,
        }
    }

    fn path(&mut self) -> String {
        let (folder, noun, other) =
            (self.chance.one_of(&FOLDERS), self.chance.one_of(&NOUNS), self.chance.one_of(&NOUNS));
        format!("{folder}/{noun}_{other}.rs")
    }

    fn held(&mut self, record: &mut Record) {
        self.audited(record, "answered");
        Self::read_again(record);
        for _ in 0..=self.chance.index(4) {
            let finding = self.finding(record, Status::Confirmed);
            record.findings.push(finding);
        }
        if self.chance.happens(300) {
            let finding = self.finding(record, Status::CannotVerify);
            record.findings.push(finding);
        }
        if self.chance.happens(150) {
            let finding = self.finding(record, Status::Refuted);
            record.findings.push(finding);
        }
        record.decision = Action::Block;
        if self.chance.happens(120) {
            record.decision = Action::Allow;
            (record.dry_run, record.would_block) = (true, true);
        }
    }

    fn finding(&mut self, record: &Record, status: Status) -> Finding {
        let is_generated =
            record.project.as_deref().is_some_and(|project| project.ends_with("legacy-importer"));
        let (category, kind) = match self.chance.index(20) {
            _ if is_generated && self.chance.happens(500) => (Category::B, Kind::NotInPlan),
            0..=5 => (Category::A, Kind::Missing),
            6..=8 => (Category::A, Kind::WrongContent),
            9..=10 => (Category::A, Kind::Failed),
            11..=13 => (Category::B, Kind::NotInPlan),
            14..=16 => (Category::C, Kind::LeftOut),
            17 => (Category::D, Kind::NotInPlan),
            _ => (Category::Ask, Kind::LeftOut),
        };
        let path = match kind {
            Kind::Failed | Kind::LeftOut => None,
            Kind::NotInPlan if is_generated => Some(format!("generated/{}.rs", self.chance.one_of(&NOUNS))),
            _ => Some(self.path()),
        };
        let source = match self.chance.index(3) {
            0 if category == Category::A => Source::Facts,
            1 if category == Category::A => Source::Both,
            _ => Source::Reader,
        };
        let (noun, step) = (self.chance.one_of(&NOUNS), self.chance.index(20));
        Finding {
            category,
            status,
            source,
            kind,
            claim: format!("{}. Write the {noun} and its tests", step + 1),
            claimed_in: ClaimedIn::Plan,
            proof: if kind == Kind::Failed {
                format!("$ cargo test {noun} => failed")
            } else {
                String::new()
            },
            why: match &path {
                Some(path) => format!("the step is ticked, and `{path}` does not show it"),
                None => {
                    format!("nothing in the session worked on the {noun}, and `cargo test {noun}` failed")
                }
            },
            path,
            settle: format!("write the {noun}, or say in the plan why it is not needed"),
            check: match status {
                Status::Confirmed => {
                    "its quotes are in the evidence, and nothing there contradicts it".to_owned()
                }
                Status::CannotVerify => "it speaks of a file of which only a part was shown".to_owned(),
                Status::Refuted => format!("the second reader dismisses it: the {noun} is in another file"),
                Status::Ignored => "ignored by the config: it is made by the build".to_owned(),
            },
            second: match status {
                Status::Confirmed => {
                    Some(SecondOpinion { upheld: true, why: format!("nothing shows the {noun}") })
                }
                Status::CannotVerify | Status::Ignored => None,
                Status::Refuted => {
                    Some(SecondOpinion { upheld: false, why: format!("the {noun} is in another file") })
                }
            },
            step: Some(step + 1),
        }
    }

    /// The stop after a block: it goes through, and says what became of each finding.
    fn again(&mut self, block: &Record, time: i64) {
        let mut record = self.bare(Cause::LoopGuard, time);
        (record.session, record.project) = (block.session.clone(), block.project.clone());
        self.write(&record);
        for (place, finding) in block.findings.iter().enumerate() {
            if finding.status != Status::Confirmed {
                continue;
            }
            let is_generated = finding.path.as_deref().is_some_and(|path| path.starts_with("generated/"));
            let outcome = match self.chance.index(100) {
                _ if is_generated => FindingOutcome::Disputed,
                0..=77 => FindingOutcome::Fixed,
                78..=89 => FindingOutcome::Disputed,
                _ => FindingOutcome::Ignored,
            };
            let sentence = if is_generated { DISPUTES[0] } else { self.chance.one_of(&DISPUTES) };
            let note = OutcomeNote {
                id: self.chance.id(),
                why: (outcome == FindingOutcome::Fixed).then(|| "the file is there now".to_owned()),
                sentence: (outcome == FindingOutcome::Disputed).then(|| sentence.to_owned()),
                was_wrong: match outcome {
                    FindingOutcome::Disputed if is_generated => Some(true),
                    FindingOutcome::Disputed => [None, Some(true), Some(false)][place % 3],
                    FindingOutcome::Ignored => Some(false),
                    FindingOutcome::Fixed => None,
                },
                told_by: Some(record.id.clone()),
                ..OutcomeNote::new(block, place + 1, outcome, at(time + 5))
            };
            self.write_note(&Note::Outcome(note));
        }
    }

    fn maybe_label(&mut self, record: &Record, time: i64) {
        let is_block = record.decision == Action::Block;
        let is_clean = record.cause == Cause::Clean;
        if !(is_block && self.chance.happens(90) || is_clean && self.chance.happens(4)) {
            return;
        }
        let later = time + 3_600_000 + self.chance.below(3 * DAY_MS);
        let finding =
            (is_block && self.chance.happens(700)).then(|| 1 + self.chance.index(record.findings.len()));
        let label = if is_block && self.chance.happens(800) { Label::Right } else { Label::Wrong };
        let note = self.chance.happens(400).then(|| "looked at it with the team".to_owned());
        let id = self.chance.id();
        let what = LabelNote {
            schema: SCHEMA,
            id,
            time: format!("{:.3}", at(later)),
            of: record.id.clone(),
            finding,
            label,
            note,
        };
        self.due.push(Due { time: later, what: What::Label(what) });
    }

    fn say_labels(&mut self, now: i64) {
        while let Some(place) =
            self.due.iter().position(|due| due.time <= now && matches!(due.what, What::Label(_)))
        {
            if let Due { what: What::Label(note), .. } = self.due.remove(place) {
                self.write_note(&Note::Label(note));
            }
        }
    }

    fn say_what_is_due(&mut self, now: i64) {
        self.due.sort_by_key(|due| due.time);
        self.say_labels(now);
    }

    fn write(&mut self, record: &Record) {
        self.lines.push(serde_json::to_string(record).unwrap_or_default());
    }

    fn write_note(&mut self, note: &Note) {
        self.lines.push(serde_json::to_string(note).unwrap_or_default());
    }
}
