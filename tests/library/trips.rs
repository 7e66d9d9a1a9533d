//! Whole trips, arrow by arrow: `fixtures/trips/<name>/` holds a hook's input, a transcript, a
//! workspace and what both readers replied, and beside them what each stage makes of it. An edited
//! prompt shows up as the diff of one file. `PUNCHLIST_BLESS=1 cargo test --test library trips`
//! writes the stages anew.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use jiff::Timestamp;
use punchlist::audit::reading::{self, Setting};
use punchlist::audit::{AuditInput, plan_in_play, plan_places};
use punchlist::config::Config;
use punchlist::env::Env;
use punchlist::evidence::{FileCache, Workspace};
use punchlist::finding::Finding;
use punchlist::hook::HookInput;
use punchlist::hook::stop::{Registered, answer};
use punchlist::log::DecisionLog;
use punchlist::readers::{Answer, Prompts, ReaderOutcome, RecordedReplies, RecordedReply, second};
use punchlist::sandbox::Sandbox;
use punchlist::session::builder::Role;
use punchlist::session::load;
use punchlist::state::StateFolder;
use punchlist::timing::Phases;
use serde::Serialize;
use similar::TextDiff;

/// The word that stands for the random fence.
const FENCE: &str = "FENCE0";

/// One trip, laid out in a folder of its own.
struct Trip {
    fixture: PathBuf,
    folder: Sandbox,
    different: Vec<String>,
}

impl Trip {
    fn lay_out(fixture: &Path) -> Self {
        let folder = Sandbox::new("workspace").expect("a folder");
        for (part, there) in [("workspace", folder.workspace().to_path_buf()), ("home", folder.home())] {
            if fixture.join(part).is_dir() {
                folder.copy(&fixture.join(part), &there).expect("copied");
            }
        }
        // Long before any session: what is newer than its session counts as changed in it.
        let long_ago = SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000);
        for entry in walkdir::WalkDir::new(folder.workspace()).into_iter().filter_map(Result::ok) {
            if entry.file_type().is_file() {
                let file = fs::File::options().append(true).open(entry.path()).expect("a file");
                file.set_modified(long_ago).expect("dated");
            }
        }
        let trip = Self { fixture: fixture.to_path_buf(), folder, different: Vec::new() };
        fs::write(trip.folder.path("transcript.jsonl"), trip.placed("transcript.jsonl")).expect("written");
        trip
    }

    /// A file of the fixture with its placeholders filled in.
    fn placed(&self, name: &str) -> String {
        self.folder.placed_in_json(&fs::read_to_string(self.fixture.join(name)).expect(name))
    }

    fn has(&self, name: &str) -> bool {
        self.fixture.join(name).exists()
    }

    /// Compares a stage with its file, or writes it.
    fn stage(&mut self, name: &str, text: &str) {
        let text = self.folder.unplaced(text);
        let path = self.fixture.join(name);
        if std::env::var_os("PUNCHLIST_BLESS").is_some() {
            fs::write(&path, &text).expect("written");
            return;
        }
        let expected = fs::read_to_string(&path).unwrap_or_default();
        if expected != text {
            let diff = TextDiff::from_lines(&expected, &text);
            let diff = diff.unified_diff().header("expected", "got").to_string();
            self.different.push(format!("{}:\n{diff}", path.display()));
        }
    }

    fn stage_json(&mut self, name: &str, value: &impl Serialize) {
        let text = serde_json::to_string_pretty(value).expect("json");
        self.stage(name, &format!("{text}\n"));
    }
}

/// The answer of a recorded reply.
fn answered(outcome: &ReaderOutcome) -> Answer {
    let ReaderOutcome::Answered(json) = outcome else { panic!("{outcome:?}") };
    Answer::from_json(json).expect("an answer")
}

fn take(fixture: &Path) -> Vec<String> {
    let mut trip = Trip::lay_out(fixture);
    let input = HookInput::parse(trip.placed("hook.json").as_bytes()).expect("input");
    let config = Config::default().audit;

    let mut session =
        load::load(input.own_transcript(), Role::Main, input.last_assistant_message.as_deref()).session;
    trip.stage_json("session.json", &session);

    let plans = trip.folder.home().join(".claude/plans");
    let workspace = Workspace::new(trip.folder.workspace(), trip.folder.workspace(), None, &[plans]);
    let plan = plan_in_play(&mut session, &workspace, &plan_places(&workspace, &config));
    trip.stage_json("plan.json", &plan);

    let brief = AuditInput::new(
        session,
        plan,
        &workspace,
        Prompts::default(),
        &config,
        None,
        &mut FileCache::default(),
    );
    trip.stage_json("files.json", &brief.evidence.files);
    trip.stage_json("facts.json", &brief.facts);

    let shown = brief.shown_between(FENCE).expect("evidence");
    let first = shown.first(brief.prompts()).expect("a prompt");
    trip.stage("first-prompt.md", &format!("{}\n---\n{}\n", first.system, first.text));

    let reply = trip.placed("first-reply.json");
    let run = RecordedReply(&reply).replay();
    trip.stage_json("first-answer.json", &answered(&run.outcome));

    let setting = Setting { workspace: &workspace, config: &config, is_disputed: &|_| false };
    let mut findings = reading::proposed(&brief, &shown, run, setting).findings;
    trip.stage_json("checked.json", &findings);

    let asked = reading::asked_about(&findings, setting);
    assert_eq!(
        asked.is_empty(),
        !trip.has("second-reply.json"),
        "{}: a reply for whom is asked",
        fixture.display()
    );
    if !asked.is_empty() {
        let listed: Vec<&Finding> = asked.iter().map(|at| &findings[*at]).collect();
        let prompt = shown.second(brief.prompts(), &second::list_findings(&listed)).expect("a prompt");
        assert_eq!(
            (&prompt.system, &prompt.schema),
            (&first.system, &first.schema),
            "the same question form"
        );
        let task = prompt.text.strip_prefix(&shown.evidence).expect("the same evidence first");
        trip.stage("second-prompt.md", &format!("{}\n", task.trim_start()));

        let reply = trip.placed("second-reply.json");
        let run = RecordedReply(&reply).replay();
        trip.stage_json("second-answer.json", &answered(&run.outcome));
        let mut judged: Vec<&mut Finding> = Vec::new();
        for (at, finding) in findings.iter_mut().enumerate() {
            if asked.contains(&at) {
                judged.push(finding);
            }
        }
        second::apply(&mut judged, &run.outcome);
    }
    trip.stage_json("findings.json", &findings);

    whole_way(&mut trip, &findings);
    trip.different
}

/// The same trip through the hook itself: its answer, and the record that it leaves.
fn whole_way(trip: &mut Trip, findings: &[Finding]) {
    let state = StateFolder::at(trip.folder.path("state"));
    let env = Env::from_pairs([("HOME", trip.folder.home())]);
    let stdin = trip.placed("hook.json");
    let names = ["first-reply.json", "second-reply.json"].into_iter().filter(|name| trip.has(name));
    let replies: Vec<String> = names.map(|name| trip.placed(name)).collect();
    let mut readers = RecordedReplies::new(&replies.iter().map(String::as_str).collect::<Vec<_>>());
    let registered = Registered::holding(Duration::from_secs(120));
    let answer = answer(
        &Phases::default(),
        stdin.as_bytes(),
        &env,
        &state,
        registered,
        Timestamp::now(),
        Some(&mut readers),
    );
    let mut record = None;
    DecisionLog::in_folder(state.root()).read(|found| record = Some(found)).expect("a log");
    let mut record = record.expect("a record");
    let printed = |text: String| format!("{}\n", text.replace(&record.id, "[id]"));
    trip.stage("stdout.json", &answer.stdout().map(printed).unwrap_or_default());
    trip.stage("stderr.txt", &answer.stderr().map(|text| printed(text.clone())).unwrap_or_default());
    record.id = "[id]".into();
    record.time = "[time]".into();
    record.phases_ms.values_mut().for_each(|ms| *ms = 0.0);
    // An edited prompt is to show up in the prompt alone.
    assert!(record.prompt_bytes > 0, "somebody was asked");
    record.prompt_bytes = 0;
    if let Some(transcript) = &mut record.transcript {
        let length = fs::metadata(trip.folder.path("transcript.jsonl")).expect("there").len();
        assert_eq!(transcript.bytes, length, "all of it is read");
        // The folder's name stands in it, and is not as long everywhere.
        transcript.bytes = 0;
    }
    for reader in [&mut record.auditor, &mut record.second_reader].into_iter().flatten() {
        reader.duration_ms = 0.0;
    }
    assert_eq!(record.findings, findings, "each arrow alone comes to the same as the whole way");
    trip.stage_json("record.json", &record);
}

#[test]
fn every_stage_of_every_trip_is_as_recorded() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/trips");
    let mut trips: Vec<_> =
        fs::read_dir(folder).expect("fixtures").map(|entry| entry.expect("readable").path()).collect();
    trips.sort();
    assert!(trips.len() >= 4, "fixtures/trips is not empty");
    let different: Vec<_> = trips.iter().flat_map(|trip| take(trip)).collect();
    assert!(different.is_empty(), "{}", different.join("\n"));
}
