//! One decision for a terminal: what was asked, planned and said, what was found and how it turned
//! out, what it cost. Pure. Never leaves out what decided it.

use std::fmt::Write as _;

use anstyle::Style;
use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::decision::Action;
use crate::evidence::Entered;
use crate::finding::{ClaimedIn, Finding, Status, WORTH_KNOWING};
use crate::log::annotated::FindingNotes;
use crate::log::record::{self, FileRecord, ReaderRecord};
use crate::log::{Annotated, LabelNote, Record, Snapshot};
use crate::plan::PlanSource;
use crate::render::paragraphs::{CLEAN, CONFIRMED, LABEL, Paragraphs, TITLE, UNVERIFIED, squeezed};
use crate::render::wording::milliseconds;
use crate::text::{counted, first_part, grouped, harmless};
use crate::timing;

/// How many bytes of an ask and of the final message are shown.
const ASK_SHOWN: usize = 1_200;
const MESSAGE_SHOWN: usize = 2_000;
/// How many of the newest asks, and how many files, are shown.
const ASKS_SHOWN: usize = 12;
const FILES_SHOWN: usize = 60;

/// How a decision is laid out.
#[derive(Debug, Clone)]
pub struct Setting {
    /// The available width.
    pub width: usize,
    /// The person's time zone.
    pub zone: TimeZone,
    /// Only the finding at this index.
    pub finding: Option<usize>,
}

/// Renders a decision.
pub fn text(annotated: &Annotated, snapshot: Option<&Snapshot>, setting: &Setting) -> String {
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

    fn head(&mut self, annotated: &Annotated, setting: &Setting) {
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
        self.labelled_at(2, "machine", record.machine.as_deref().unwrap_or_default());
        self.labelled_at(2, "project", record.project.as_deref().unwrap_or_default());
        let agent = record.agent.as_ref().map_or_else(String::new, |agent| format!(", subagent {agent}"));
        self.labelled_at(2, "session", &format!("{}{agent}", record.session.as_deref().unwrap_or("unnamed")));
        // Advisories are listed below.
        let detail = record.detail.as_deref().filter(|detail| !detail.starts_with(WORTH_KNOWING));
        self.labelled_at(2, "because", detail.unwrap_or_default());
        self.labelled_at(2, "dry run", if record.dry_run { "yes: nothing was blocked" } else { "" });
        self.labelled_at(2, "config", record.config_error.as_deref().unwrap_or_default());
        self.labelled_at(2, "label", &annotated.label.as_ref().map(describe_label).unwrap_or_default());
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
            let cost = gate.usage.and_then(|usage| dollars(usage.cost_usd));
            let cost = cost.map_or_else(String::new, |cost| format!(", a reader for {cost}"));
            let (name, took) = (&gate.gate, gate.took_ms);
            let words = format!("  {name}: {} ({}, {took:.0} ms{cost})", gate.outcome, gate.cause.name());
            self.wrapped(&words, style, "    ");
            for check in &gate.checks {
                self.wrapped(&format!("    {}: {}", check.name, check.outcome), LABEL, "      ");
            }
            // Exactly as the agent got it, line by line.
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
            let is_about_it = |(_, finding): &(usize, &Finding)| {
                finding.step == Some(step.number)
                    && !matches!(finding.status, Status::Refuted | Status::Ignored)
            };
            let found = (1..).zip(&record.findings).filter(is_about_it);
            let found: Vec<String> = found.map(|(number, _)| number.to_string()).collect();
            let (style, found) = match found.len() {
                0 => (Style::new(), String::new()),
                1 => (UNVERIFIED, format!("  <- finding {}", found[0])),
                _ => (UNVERIFIED, format!("  <- findings {}", found.join(", "))),
            };
            let line = format!("  {mark} {:>2}  {}{found}", step.number, squeezed(&step.text));
            self.wrapped(&line, style, "          ");
        }
    }

    fn said(&mut self, snapshot: Option<&Snapshot>) {
        let Some(message) = snapshot.and_then(|snapshot| snapshot.final_message.as_deref()) else { return };
        self.heading("Said at the end");
        self.lines(&first_part(message.trim(), MESSAGE_SHOWN), "  ");
    }

    fn every_finding(&mut self, annotated: &Annotated, setting: &Setting) {
        let findings = &annotated.decision.findings;
        if findings.is_empty() {
            return;
        }
        let count = |status: Status| findings.iter().filter(|finding| finding.status == status).count();
        let ignored = match count(Status::Ignored) {
            0 => String::new(),
            count => format!(", {count} ignored by the config"),
        };
        self.heading(&format!(
            "Findings ({} confirmed, {} not verified, {} refuted{ignored})",
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
            Status::Ignored => ("ignored by the config", LABEL),
        };
        let _ = writeln!(
            self.text,
            "\n  {TITLE}{:<3}{TITLE:#}[{}] {}: {style}{word}{style:#}",
            at + 1,
            finding.category.name(),
            finding.category.title()
        );
        let step = finding.step.map(|step| step.to_string()).unwrap_or_default();
        self.judged(finding, said_in(finding), &step, record.second_reader.is_some());
        if let Some(outcome) = &notes.outcome {
            let why = outcome.why.as_deref().map_or_else(String::new, |why| format!(": {why}"));
            let by =
                outcome.told_by.as_deref().map_or_else(String::new, |stop| format!(", told by stop {stop}"));
            let at = when(&outcome.time, &setting.zone);
            self.labelled("became", &format!("{}{why} ({at}{by})", outcome.outcome.name()));
            let sentence = outcome.sentence.as_deref().map(|words| format!("\"{words}\""));
            self.labelled("agent", &sentence.unwrap_or_default());
            let cost = outcome.usage.and_then(|usage| dollars(usage.cost_usd));
            let cost = cost.map_or_else(String::new, |cost| format!(" (asked for {cost})"));
            let said = asked_again(outcome.was_wrong);
            self.labelled("again", &if said.is_empty() { String::new() } else { format!("{said}{cost}") });
        }
        self.labelled("label", &notes.label.as_ref().map(describe_label).unwrap_or_default());
    }

    fn files(&mut self, record: &Record) {
        if record.files.is_empty() {
            return;
        }
        self.heading(&format!("Files ({})", record.files.len()));
        for file in record.files.iter().take(FILES_SHOWN) {
            self.wrapped(&format!("  {}: {}", file.path, describe_entry(file)), Style::new(), "    ");
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
            self.wrapped(&format!("  {}", describe_reader(reader)), Style::new(), "  ");
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
            let subagents = transcript.subagents;
            let mut read = vec![counted(transcript.rows, "row", "rows")];
            read.extend((transcript.bytes > 0).then(|| format!("{} bytes", grouped(transcript.bytes))));
            read.extend((subagents > 0).then(|| counted(subagents, "subagent", "subagents")));
            read.extend((lost > 0).then(|| format!("{} skipped", counted(lost, "row", "rows"))));
            self.labelled_at(2, "read", &read.join(", "));
            self.labelled_at(2, "path", transcript.path.as_deref().unwrap_or_default());
            self.labelled_at(2, "problem", transcript.problem.as_deref().unwrap_or_default());
        }
        if !record.phases_ms.is_empty() {
            self.heading("Time");
            let parts = record.phases_ms.iter().filter(|(name, _)| *name != timing::TOTAL);
            let parts: Vec<_> = parts.map(|(name, ms)| format!("{name} {}", milliseconds(*ms))).collect();
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

/// Returns a time of the log in a time zone.
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
        PlanSource::GivenFile => "given for this audit",
    }
}

fn describe_label(label: &LabelNote) -> String {
    let of = if label.finding.is_none() { ", said of the decision as a whole" } else { "" };
    let note = label.note.as_ref().map(|note| format!(": {note}")).unwrap_or_default();
    format!("{}{of}{note}", label.label.name())
}

fn describe_entry(file: &FileRecord) -> String {
    let bytes = || format!("{} bytes", grouped(file.bytes as u64));
    let mut words = vec![match &file.entered {
        Entered::Whole => format!("whole, {}", bytes()),
        Entered::Diff => format!("as a diff, {}", bytes()),
        Entered::Cut(missing) => format!("cut, {} of it and {} missing", bytes(), grouped(*missing as u64)),
        Entered::LeftOut(why) => format!("left out: {}", why.reason()),
    }];
    words.extend((!file.touched.is_empty()).then(|| format!("touched with {}", file.touched.join(", "))));
    words.extend((file.masked > 0).then(|| format!("{} masked", counted(file.masked, "secret", "secrets"))));
    words.join("; ")
}

/// Returns where a finding quotes its claim from.
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

/// Returns what a reader said when it was asked again at the next stop; empty if none was.
fn asked_again(was_wrong: Option<bool>) -> &'static str {
    match was_wrong {
        Some(true) => "a reader that was asked again says that the finding was never right",
        Some(false) => "a reader that was asked again says that the finding was right",
        None => "",
    }
}

fn describe_reader(reader: &ReaderRecord) -> String {
    let (usage, read) = (&reader.usage, reader.usage.total_input());
    let mut words = vec![
        format!("{} {}", reader.backend, reader.model).trim().to_owned(),
        format!("{} in {}", reader.outcome, milliseconds(reader.duration_ms)),
    ];
    if read + usage.output > 0 {
        let cached = match usage.cache_read {
            0 => String::new(),
            cached => format!(" ({} of them from the provider's cache)", grouped(cached)),
        };
        words.push(format!("{} tokens in{cached}, {} out", grouped(read), grouped(usage.output)));
    }
    words.extend(dollars(usage.cost_usd));
    words.join(", ")
}

fn dollars(cost: Option<f64>) -> Option<String> {
    cost.map(|cost| format!("${cost:.4}"))
}

/// Returns what was sent, and what both readers cost together.
fn both_readers(record: &Record) -> Option<String> {
    let mut words = Vec::new();
    if let (Some(first), Some(second)) = (&record.auditor, &record.second_reader) {
        words.push(format!("both together {}", milliseconds(first.duration_ms + second.duration_ms)));
        words.extend(dollars(record::total_cost([&first.usage, &second.usage].into_iter())));
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

    fn block() -> Annotated {
        annotated(include_str!("fixtures/block.jsonl")).remove(0)
    }

    fn snapshot() -> Snapshot {
        serde_json::from_str(include_str!("fixtures/block.scene.json")).expect("a snapshot")
    }

    fn set(snapshot: Option<&Snapshot>, width: usize, finding: Option<usize>) -> String {
        let zone = TimeZone::posix("CEST-2").expect("a zone");
        text(&block(), snapshot, &Setting { width, zone, finding })
    }

    fn plain(text: &str) -> String {
        anstream::adapter::strip_str(text).to_string()
    }

    #[test]
    fn a_block_is_told_whole_and_by_finding() {
        let set = |width, finding| set(Some(&snapshot()), width, finding);
        insta::assert_snapshot!("the_whole_story_of_a_block", plain(&set(100, None)));
        insta::assert_snapshot!("the_story_on_a_narrow_terminal", plain(&set(48, None)));
        insta::assert_snapshot!("one_finding_alone", plain(&set(100, Some(1))));
        insta::assert_snapshot!("what_decided_it_has_its_colour", set(100, Some(0)).replace('\u{1b}', "␛"));
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
    fn a_stop_that_was_none_of_our_business_is_told_in_few_lines() {
        let quiet = r#"{"schema":1,"id":"q","time":"2026-10-01T21:04:05Z","session":null,"project":"/home/me/shop","event":"Stop","decision":"allow","cause":"loop-guard","detail":"the session was blocked already and continues because of it","phases_ms":{"total":0.5}}"#;
        let setting = Setting { width: 100, zone: TimeZone::UTC, finding: None };
        insta::assert_snapshot!(plain(&text(&annotated(quiet)[0], None, &setting)));
    }
}
