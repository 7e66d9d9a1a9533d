//! One decision for a terminal: what was asked, planned and said, what was found and what became of
//! it, what it cost. Pure. Never leaves out what decided it.

use std::fmt::Write as _;

use anstyle::Style;
use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::decision::Action;
use crate::evidence::Entered;
use crate::finding::{ClaimedIn, Finding, Status};
use crate::log::annotated::FindingNotes;
use crate::log::record::{self, FileRecord, ReaderRecord};
use crate::log::{Annotated, LabelNote, Record, Snapshot};
use crate::plan::PlanSource;
use crate::render::paragraphs::{CLEAN, CONFIRMED, LABEL, Paragraphs, TITLE, UNVERIFIED};
use crate::render::units::milliseconds;
use crate::render::wording::{by_whom, check_words, quoted, second_words};
use crate::text::{counted, first_part, grouped, harmless};
use crate::timing;

/// How many bytes of an ask and of the final message are shown.
const ASK_SHOWN: usize = 1_200;
const MESSAGE_SHOWN: usize = 2_000;
/// How many of the newest asks, and how many files, are shown.
const ASKS_SHOWN: usize = 12;
const FILES_SHOWN: usize = 60;

/// How a decision is set.
#[derive(Debug, Clone)]
pub struct Setting {
    /// How wide it may be.
    pub width: usize,
    /// The person's time zone.
    pub zone: TimeZone,
    /// Only this finding, by its place.
    pub finding: Option<usize>,
}

/// Sets a decision.
pub fn text(annotated: &Annotated<Record>, snapshot: Option<&Snapshot>, setting: &Setting) -> String {
    let mut page = Paragraphs::new(setting.width);
    page.head(annotated, setting);
    if let Some(at) = setting.finding {
        page.finding(at, &annotated.decision, &annotated.findings[at], setting);
        return page.text;
    }
    page.gates(&annotated.decision);
    page.asked(&annotated.decision, snapshot);
    page.plan(&annotated.decision, snapshot);
    page.said(snapshot);
    page.every_finding(annotated, setting);
    page.files(&annotated.decision);
    page.worth_knowing(&annotated.decision);
    page.costs(&annotated.decision);
    page.further(&annotated.decision);
    page.text
}

impl Paragraphs {
    fn heading(&mut self, words: &str) {
        self.gap();
        self.wrapped(words, TITLE, "  ");
    }

    fn head(&mut self, annotated: &Annotated<Record>, setting: &Setting) {
        let record = &annotated.decision;
        let (word, style) = match (record.decision, record.would_block) {
            (Action::Block, _) => ("block", CONFIRMED),
            (Action::Allow, true) => ("would block", UNVERIFIED),
            (Action::Allow, false) => ("allow", CLEAN),
        };
        let _ = writeln!(
            self.text,
            "{TITLE}{}{TITLE:#}  {style}{word}{style:#} ({})",
            harmless(&record.id),
            record.cause.name()
        );
        self.labelled_at(2, "when", &when(&record.time, &setting.zone));
        self.labelled_at(2, "project", record.project.as_deref().unwrap_or_default());
        let agent = record.agent.as_ref().map_or_else(String::new, |agent| format!(", subagent {agent}"));
        self.labelled_at(2, "session", &format!("{}{agent}", record.session.as_deref().unwrap_or("unnamed")));
        self.labelled_at(2, "because", record.detail.as_deref().unwrap_or_default());
        self.labelled_at(2, "dry run", if record.dry_run { "yes: nobody was held" } else { "" });
        self.labelled_at(2, "config", record.config_error.as_deref().unwrap_or_default());
        self.labelled_at(2, "label", &annotated.label.as_ref().map(label_words).unwrap_or_default());
        let client = record.client_version.as_ref().map(|version| format!("client {version}"));
        let ours = (!record.version.is_empty()).then(|| format!("punchlist {}", record.version));
        let versions: Vec<_> = client.into_iter().chain(ours).collect();
        self.labelled_at(2, "versions", &versions.join(", "));
    }

    fn gates(&mut self, record: &Record) {
        if record.gates.is_empty() {
            return;
        }
        self.heading("Gates");
        for gate in &record.gates {
            let style = match gate.outcome.as_str() {
                "hold" => CONFIRMED,
                "pass" => CLEAN,
                _ => UNVERIFIED,
            };
            let words =
                format!("  {}: {} ({}, {:.0} ms)", gate.gate, gate.outcome, gate.cause.name(), gate.took_ms);
            self.wrapped(&words, style, "    ");
            // As the agent got it, line by line.
            for line in gate.detail.iter().flat_map(|detail| detail.lines()) {
                self.wrapped(&format!("    {line}"), Style::new(), "      ");
            }
        }
    }

    fn asked(&mut self, record: &Record, snapshot: Option<&Snapshot>) {
        let Some(snapshot) = snapshot else {
            if !record.findings.is_empty() || record.plan.is_some() {
                self.gap();
                let words = "What was asked and the plan's steps were not kept, or are gone by now.";
                self.wrapped(words, LABEL, "");
            }
            return;
        };
        if snapshot.asks.is_empty() {
            return;
        }
        self.heading(&format!("Asked ({})", snapshot.asks.len()));
        let from = snapshot.asks.len().saturating_sub(ASKS_SHOWN);
        if from > 0 {
            self.wrapped(&format!("  … {} before these", counted(from, "ask", "asks")), LABEL, "  ");
        }
        for (at, ask) in snapshot.asks.iter().enumerate().skip(from) {
            let words = first_part(&squeezed(ask), ASK_SHOWN);
            self.wrapped(&format!("  {}. {words}", at + 1), Style::new(), "     ");
        }
    }

    fn plan(&mut self, record: &Record, snapshot: Option<&Snapshot>) {
        let Some(plan) = &record.plan else { return };
        let name = plan.path.as_deref().unwrap_or("without a file");
        let dropped = if plan.dropped > 0 { format!(", {} dropped", plan.dropped) } else { String::new() };
        self.heading(&format!(
            "Plan {name} ({}, {} ticked{dropped}; {})",
            counted(plan.steps, "step", "steps"),
            plan.ticked,
            how_in_play(plan.source)
        ));
        for step in snapshot.iter().flat_map(|snapshot| &snapshot.steps) {
            let mark = match step.state.as_str() {
                "ticked" => "[x]",
                "dropped" => "[-]",
                _ => "[ ]",
            };
            let found: Vec<String> = record
                .findings
                .iter()
                .enumerate()
                .filter(|(_, finding)| finding.step == Some(step.number) && finding.status != Status::Refuted)
                .map(|(at, _)| (at + 1).to_string())
                .collect();
            let is_found = !found.is_empty();
            let found = match found.len() {
                0 => String::new(),
                1 => format!("  <- finding {}", found[0]),
                _ => format!("  <- findings {}", found.join(", ")),
            };
            let line = format!("  {mark} {:>2}  {}{found}", step.number, squeezed(&step.text));
            self.wrapped(&line, if is_found { UNVERIFIED } else { Style::new() }, "          ");
        }
    }

    fn said(&mut self, snapshot: Option<&Snapshot>) {
        let Some(message) = snapshot.and_then(|snapshot| snapshot.final_message.as_deref()) else { return };
        self.heading("Said at the end");
        let message = first_part(message.trim(), MESSAGE_SHOWN);
        for line in message.lines() {
            if line.trim().is_empty() {
                self.gap();
            } else {
                self.wrapped(&format!("  {line}"), Style::new(), "  ");
            }
        }
    }

    fn every_finding(&mut self, annotated: &Annotated<Record>, setting: &Setting) {
        let findings = &annotated.decision.findings;
        if findings.is_empty() {
            return;
        }
        let count = |status: Status| findings.iter().filter(|finding| finding.status == status).count();
        self.heading(&format!(
            "Findings ({} confirmed, {} not verified, {} refuted)",
            count(Status::Confirmed),
            count(Status::CannotVerify),
            count(Status::Refuted)
        ));
        for (at, notes) in annotated.findings.iter().enumerate() {
            self.finding(at, &annotated.decision, notes, setting);
        }
    }

    fn finding(&mut self, at: usize, record: &Record, notes: &FindingNotes, setting: &Setting) {
        let finding = &record.findings[at];
        let (word, style) = match finding.status {
            Status::Confirmed => ("confirmed", CONFIRMED),
            Status::CannotVerify => ("not verified", UNVERIFIED),
            Status::Refuted => ("refuted", LABEL),
        };
        let _ = writeln!(
            self.text,
            "\n  {TITLE}{:<3}{TITLE:#}[{}] {}: {style}{word}{style:#}",
            at + 1,
            finding.category.name(),
            finding.category.title()
        );
        self.labelled("words", &quoted(&finding.claim));
        self.labelled("said in", said_in(finding));
        self.labelled("step", &finding.step.map(|step| step.to_string()).unwrap_or_default());
        self.labelled("path", finding.path.as_deref().unwrap_or_default());
        self.labelled("found", &finding.why);
        self.labelled("proof", &quoted(&finding.proof));
        self.labelled("settle", &finding.settle);
        self.labelled("found by", by_whom(finding.source));
        self.labelled("checks", check_words(&finding.check, finding.second.as_ref()));
        let reader = record.second_reader.as_ref().map(|reader| reader.outcome.as_str());
        let second = second_words(finding.second.as_ref(), finding.status, &finding.check, reader);
        self.labelled("second", &second);
        if let Some(outcome) = &notes.outcome {
            let why = outcome.why.as_deref().map_or_else(String::new, |why| format!(": {why}"));
            let by =
                outcome.told_by.as_deref().map_or_else(String::new, |stop| format!(", told by stop {stop}"));
            let at = when(&outcome.time, &setting.zone);
            self.labelled("became", &format!("{}{why} ({at}{by})", outcome.outcome.name()));
            let sentence = outcome.sentence.as_deref().map(|words| format!("\"{words}\""));
            self.labelled("agent", &sentence.unwrap_or_default());
            self.labelled("again", asked_again(outcome.was_wrong));
        }
        self.labelled("label", &notes.label.as_ref().map(label_words).unwrap_or_default());
    }

    fn files(&mut self, record: &Record) {
        if record.files.is_empty() {
            return;
        }
        self.heading(&format!("Files ({})", record.files.len()));
        for file in record.files.iter().take(FILES_SHOWN) {
            self.wrapped(&format!("  {}: {}", file.path, entered_words(file)), Style::new(), "    ");
        }
        if record.files.len() > FILES_SHOWN {
            let more = record.files.len() - FILES_SHOWN;
            self.wrapped(&format!("  … and {}, with --json", counted(more, "file", "files")), LABEL, "  ");
        }
    }

    fn worth_knowing(&mut self, record: &Record) {
        if record.advisories.is_empty() {
            return;
        }
        self.heading(&format!("Worth knowing ({})", record.advisories.len()));
        for advisory in &record.advisories {
            self.wrapped(&format!("  {}: {}", advisory.kind.name(), advisory.text), Style::new(), "    ");
            self.labelled("", &advisory.evidence);
        }
    }

    fn costs(&mut self, record: &Record) {
        let readers = [("First reader", &record.auditor), ("Second reader", &record.second_reader)];
        for (title, reader) in readers {
            let Some(reader) = reader else { continue };
            self.heading(title);
            self.wrapped(&format!("  {}", reader_words(reader)), Style::new(), "  ");
            self.labelled_at(2, "why", reader.detail.as_deref().unwrap_or_default());
            self.labelled_at(2, "client", reader.client.as_deref().unwrap_or_default());
        }
        if let Some(both) = both_readers(record) {
            self.gap();
            self.wrapped(&format!("  {both}"), Style::new(), "  ");
        }
        if let Some(transcript) = &record.transcript {
            self.heading("Transcript");
            let skipped = transcript.skipped;
            let lost = skipped.unreadable + skipped.unknown + skipped.oversized;
            let lost = if lost > 0 {
                format!(", {} passed over", counted(lost, "row", "rows"))
            } else {
                String::new()
            };
            let subagents = match transcript.subagents {
                0 => String::new(),
                count => format!(", {}", counted(count, "subagent", "subagents")),
            };
            let bytes = if transcript.bytes > 0 {
                format!(", {} bytes", grouped(transcript.bytes))
            } else {
                String::new()
            };
            let rows = counted(transcript.rows, "row", "rows");
            self.labelled_at(2, "read", &format!("{rows}{bytes}{subagents}{lost}"));
            self.labelled_at(2, "path", transcript.path.as_deref().unwrap_or_default());
            self.labelled_at(2, "problem", transcript.problem.as_deref().unwrap_or_default());
        }
        if !record.phases_ms.is_empty() {
            self.heading("Time");
            let of_all = |name: &str| name == timing::TOTAL;
            let parts = record.phases_ms.iter().filter(|(name, _)| !of_all(name));
            let parts: Vec<String> =
                parts.map(|(name, ms)| format!("{name} {}", milliseconds(*ms))).collect();
            if !parts.is_empty() {
                self.wrapped(&format!("  {}", parts.join(", ")), Style::new(), "  ");
            }
            if let Some(total) = record.phases_ms.get(timing::TOTAL) {
                self.wrapped(&format!("  all of it {}", milliseconds(*total)), TITLE, "  ");
            }
        }
    }

    fn further(&mut self, record: &Record) {
        if record.auditor.as_ref().is_none_or(|auditor| auditor.outcome == "not-asked") {
            return;
        }
        self.gap();
        let id = &record.id;
        self.wrapped(
            &format!("What was sent and what came back: `punchlist log show {id} --prompt`, `--reply`; today's rules on it: `--replay`."),
            LABEL,
            "",
        );
    }
}

fn squeezed(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A time of the log in a time zone.
fn when(time: &str, zone: &TimeZone) -> String {
    let Ok(at) = time.parse::<Timestamp>() else { return time.to_owned() };
    at.to_zoned(zone.clone()).strftime("%Y-%m-%d %H:%M:%S %Z").to_string()
}

fn how_in_play(source: PlanSource) -> &'static str {
    match source {
        PlanSource::Approved => "approved in the session, by the transcript",
        PlanSource::ApprovedFile => "approved in the session, by its file",
        PlanSource::TouchedFile => "the session changed it",
        PlanSource::NamedFile => "the person named it, or the session read it for them",
        PlanSource::GivenFile => "put up for this audit",
    }
}

fn label_words(label: &LabelNote) -> String {
    let of = if label.finding.is_none() { ", said of the decision as a whole" } else { "" };
    let note = label.note.as_ref().map(|note| format!(": {note}")).unwrap_or_default();
    format!("{}{of}{note}", label.label.name())
}

fn entered_words(file: &FileRecord) -> String {
    let bytes = || format!("{} bytes", grouped(file.bytes as u64));
    let how = match &file.entered {
        Entered::Whole => format!("whole, {}", bytes()),
        Entered::Diff => format!("as a diff, {}", bytes()),
        Entered::Cut(missing) => format!("cut, {} of it and {} missing", bytes(), grouped(*missing as u64)),
        Entered::LeftOut(why) => format!("left out: {}", why.words()),
    };
    let touched = if file.touched.is_empty() {
        String::new()
    } else {
        format!("; touched with {}", file.touched.join(", "))
    };
    let masked = if file.masked > 0 {
        format!("; {} masked", counted(file.masked, "secret", "secrets"))
    } else {
        String::new()
    };
    format!("{how}{touched}{masked}")
}

/// Where a finding quotes its claim from.
fn said_in(finding: &Finding) -> &'static str {
    match finding.claimed_in {
        _ if finding.claim.is_empty() => "",
        ClaimedIn::Plan => "the plan",
        ClaimedIn::Message => "the final message",
        ClaimedIn::Tasks => "the task list",
        ClaimedIn::Asks => "the person's asks",
        ClaimedIn::Nowhere => "",
    }
}

/// What a reader that was asked again at the next stop says; nothing where none was.
fn asked_again(was_wrong: Option<bool>) -> &'static str {
    match was_wrong {
        Some(true) => "a reader that was asked again says that the finding was never right",
        Some(false) => "a reader that was asked again does not say that the finding was wrong",
        None => "",
    }
}

fn reader_words(reader: &ReaderRecord) -> String {
    let usage = &reader.usage;
    let mut words = vec![
        format!("{} {}", reader.backend, reader.model).trim().to_owned(),
        format!("{} in {}", reader.outcome, milliseconds(reader.duration_ms)),
    ];
    words.extend(tokens_words(reader));
    words.extend(usage.cost_usd.map(|cost| format!("${cost:.4}")));
    words.join(", ")
}

fn tokens_words(reader: &ReaderRecord) -> Option<String> {
    let (read, usage) = (reader.usage.total_input(), &reader.usage);
    let cached = match usage.cache_read {
        0 => String::new(),
        cached => format!(" ({} of them from the provider's cache)", grouped(cached)),
    };
    let words = || format!("{} tokens in{cached}, {} out", grouped(read), grouped(usage.output));
    (read + usage.output > 0).then(words)
}

/// What was sent, and what both readers cost together.
fn both_readers(record: &Record) -> Option<String> {
    let mut words = Vec::new();
    if let (Some(first), Some(second)) = (&record.auditor, &record.second_reader) {
        words.push(format!("both together {}", milliseconds(first.duration_ms + second.duration_ms)));
        let cost = record::total_cost([first, second].into_iter());
        words.extend(cost.map(|cost| format!("${cost:.4}")));
    }
    if record.prompt_bytes > 0 {
        words.push(format!("prompt of {} bytes", grouped(record.prompt_bytes as u64)));
    }
    if record.masked > 0 {
        words.push(format!("{} masked", counted(record.masked, "secret", "secrets")));
    }
    (record.auditor.is_some() && !words.is_empty()).then(|| words.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::annotated;

    const BLOCK: &str = r#"{"schema":1,"id":"k3f92m7q1x","time":"2026-10-01T21:04:05.123Z","session":"1f2e3d4c",
        "project":"/home/me/shop","event":"Stop","decision":"block","cause":"findings",
        "plan":{"source":"touched-file","path":"/home/me/shop/PLAN.md","steps":3,"ticked":2,"dropped":1},
        "findings":[
          {"category":"A","status":"confirmed","source":"both","kind":"missing","claim":"Create `beta.txt`","claimed_in":"plan",
           "path":"beta.txt","why":"the step is ticked, and there is no beta.txt","settle":"create beta.txt, or untick the step",
           "check":"no such file on disk; nothing in the session removed or moved it","step":2,"proof":"ls: beta.txt: No such file",
           "second":{"upheld":true,"why":"No other file stands in for it."}},
          {"category":"ask","status":"confirmed","source":"reader","kind":"left-out","claim":"and add a LICENSE","claimed_in":"asks",
           "path":null,"why":"nothing was done for it","settle":"add it",
           "check":"its words stand in the evidence, and nothing there contradicts it",
           "second":{"upheld":true,"why":"Nobody took it back."}},
          {"category":"A","status":"refuted","source":"reader","kind":"wrong-content","claim":"I created alpha.txt","claimed_in":"message",
           "path":"alpha.txt","why":"it is empty","settle":"fill it","check":"the second reader dismisses it: it was to be empty",
           "second":{"upheld":false,"why":"it was to be empty"}},
          {"category":"B","status":"refuted","source":"reader","kind":"not-in-plan","path":"src/b.rs",
           "why":"no step names it","settle":"name it","check":"src/b.rs did not change in this session"}],
        "gates":[{"gate":"checks","outcome":"hold","cause":"check-failed","took_ms":812.4,
           "detail":"A check of this project fails:\n\n1. test: `make test` ended with exit code 2:\n   | error: \u001b[31mno rule"},
          {"gate":"audit","outcome":"hold","cause":"findings","took_ms":8140.2}],
        "advisories":[{"kind":"force-push","text":"a branch on a remote was overwritten","evidence":"git push --force"}],
        "files":[{"path":"alpha.txt","touched":["Write"],"state":{"file":{"bytes":6}},"entered":"whole","bytes":6},
          {"path":"src/long.rs","touched":["Edit"],"state":{"file":{"bytes":99999}},"entered":{"cut":81234},"bytes":18765,"masked":2},
          {"path":"beta.txt","touched":[],"state":{"missing":{"elsewhere":null}},"entered":{"left-out":"missing"},"bytes":0}],
        "auditor":{"backend":"claude","client":"/usr/bin/claude","model":"haiku","outcome":"answered","duration_ms":8123.4,
          "usage":{"input_tokens":1200,"output_tokens":345,"cache_read_tokens":10000,"cache_write_tokens":0,"cost_usd":0.01234},"flags":[]},
        "second_reader":{"backend":"claude","client":"/usr/bin/claude","model":"sonnet","outcome":"answered","duration_ms":2000.0,
          "usage":{"input_tokens":200,"output_tokens":45,"cache_read_tokens":11000,"cache_write_tokens":0,"cost_usd":0.002},"flags":[]},
        "masked":2,"prompt_bytes":45678,
        "transcript":{"path":"/home/me/.claude/projects/x/1f2e3d4c.jsonl","bytes":1234567,"rows":321,"subagents":1,
          "skipped":{"unreadable":1,"oversized":0,"unknown":2,"repaired":0}},
        "phases_ms":{"read":12.34,"evidence":5.6,"auditor":8123.4,"second-reader":2000.0,"total":10150.0},
        "client_version":"2.1.325","version":"0.1.0"}"#;

    const NOTES: [&str; 3] = [
        r#"{"kind":"outcome","schema":2,"id":"n1","time":"2026-10-01T21:06:00Z","of":"k3f92m7q1x","finding":1,"outcome":"fixed","why":"the file exists","told_by":"p0w4n8c2ze"}"#,
        r#"{"kind":"outcome","schema":2,"id":"n2","time":"2026-10-01T21:06:00Z","of":"k3f92m7q1x","finding":2,"outcome":"disputed","was_wrong":true,"why":"the final message speaks of it","sentence":"The LICENSE is not needed: \u001b[31mit is in the root.","told_by":"p0w4n8c2ze"}"#,
        r#"{"kind":"label","schema":2,"id":"n3","time":"2026-10-02T09:00:00Z","of":"k3f92m7q1x","finding":2,"label":"wrong","note":"the agent is right"}"#,
    ];

    fn block() -> Annotated<Record> {
        let log = format!("{}\n{}", BLOCK.replace('\n', ""), NOTES.join("\n"));
        annotated(&log).remove(0).into_record().expect("a record")
    }

    fn snapshot() -> Snapshot {
        serde_json::from_str(
            r#"{"asks":["Make a plan in PLAN.md, then create alpha.txt and beta.txt.","and add a LICENSE"],
                "steps":[{"number":1,"text":"Create `alpha.txt`","state":"ticked"},
                         {"number":2,"text":"Create `beta.txt`","state":"ticked"},
                         {"number":3,"text":"Write the docs, in so many words that a line of a terminal does not hold all of them","state":"open"},
                         {"number":4,"text":"Ship it","state":"dropped"}],
                "final_message":"All done: I created alpha.txt and beta.txt.\n\nAnything else?",
                "files":[]}"#,
        )
        .expect("a snapshot")
    }

    fn set(snapshot: Option<&Snapshot>, width: usize, finding: Option<usize>) -> String {
        let zone = TimeZone::posix("CEST-2").expect("a zone");
        text(&block(), snapshot, &Setting { width, zone, finding })
    }

    fn plain(text: &str) -> String {
        anstream::adapter::strip_str(text).to_string()
    }

    #[test]
    fn the_whole_story_of_a_block() {
        insta::assert_snapshot!(plain(&set(Some(&snapshot()), 100, None)));
    }

    #[test]
    fn the_story_on_a_narrow_terminal() {
        insta::assert_snapshot!(plain(&set(Some(&snapshot()), 48, None)));
    }

    #[test]
    fn a_decision_whose_snapshot_is_gone() {
        let text = plain(&set(None, 100, None));
        assert!(
            text.contains("What was asked and the plan's steps were not kept, or are gone by now."),
            "{text}"
        );
        assert!(!text.contains("Asked (") && text.contains("Plan /home/me/shop/PLAN.md"), "{text}");
    }

    #[test]
    fn one_finding_alone() {
        insta::assert_snapshot!(plain(&set(Some(&snapshot()), 100, Some(1))));
    }

    #[test]
    fn what_decided_it_has_its_colour() {
        insta::assert_snapshot!(set(Some(&snapshot()), 100, Some(0)).replace('\u{1b}', "␛"));
    }

    #[test]
    fn a_stop_that_was_none_of_our_business_is_told_in_few_lines() {
        let mut quiet_stop = block();
        let quiet = r#"{"schema":1,"id":"q","time":"2026-10-01T21:04:05Z","session":null,"project":"/home/me/shop",
            "event":"Stop","decision":"allow","cause":"loop-guard","detail":"the session was held already and goes on because of it",
            "phases_ms":{"total":0.5}}"#;
        quiet_stop.decision = serde_json::from_str(quiet).expect("a record");
        quiet_stop.findings.clear();
        let zone = TimeZone::UTC;
        insta::assert_snapshot!(plain(&text(
            &quiet_stop,
            None,
            &Setting { width: 100, zone, finding: None }
        )));
    }
}
