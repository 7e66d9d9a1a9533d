//! Whole trips, arrow by arrow: `fixtures/trips/<name>/` holds a hook's input, a transcript, a workspace and
//! the auditor's reply, and beside them what each stage makes of it. An edited prompt shows up as the diff of
//! one file. `PUNCHLIST_BLESS=1 cargo test --test trips` writes the stages anew.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use jiff::Timestamp;
use punchlist::audit::looks::looks;
use punchlist::commands::hook::{Registered, answer};
use punchlist::config::{Config, plan_globs};
use punchlist::env::Env;
use punchlist::evidence::masking::{mask_plan, mask_session};
use punchlist::evidence::{self, Memory, Workspace, shown};
use punchlist::hook::HookInput;
use punchlist::log::DecisionLog;
use punchlist::plan::{self, PlanPlaces};
use punchlist::readers::prompt::{self, Prompts};
use punchlist::readers::{ReaderOutcome, RecordedReply, reply};
use punchlist::session::ledger::Role;
use punchlist::session::load;
use punchlist::stage::Stage;
use punchlist::state::StateFolder;
use punchlist::verify::verify;
use serde::Serialize;
use similar::TextDiff;

/// The word that stands for the random fence.
const FENCE: &str = "FENCE0";

/// One trip, laid out in a folder of its own.
struct Trip {
    fixture: PathBuf,
    folder: Stage,
    different: Vec<String>,
}

impl Trip {
    fn lay_out(fixture: &Path) -> Self {
        let folder = Stage::new("workspace").expect("a folder");
        for (part, there) in [("workspace", folder.workspace().to_path_buf()), ("home", folder.home())] {
            if fixture.join(part).is_dir() {
                folder.copy(&fixture.join(part), &there).expect("copied");
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

fn take(fixture: &Path) -> Vec<String> {
    let mut trip = Trip::lay_out(fixture);
    let input = HookInput::parse(trip.placed("hook.json").as_bytes()).expect("input");
    let config = Config::default();

    let mut session =
        load::load(input.own_transcript(), Role::Main, input.last_assistant_message.as_deref()).session;
    trip.stage_json("session.json", &session);

    let plans = trip.folder.home().join(".claude/plans");
    let workspace = Workspace::new(trip.folder.workspace(), trip.folder.workspace(), None, &[plans]);
    let globs = plan_globs(&config.audit.plan).expect("globs");
    let places = PlanPlaces::new(workspace.root().to_path_buf(), workspace.plan_folders().to_vec(), globs);
    let mut plan = plan::find(
        &session,
        &places,
        plan::Read { now: &|path| workspace.plan_text(path), committed: &|_| None },
    );
    trip.stage_json("plan.json", &plan);

    mask_session(&mut session);
    plan.as_mut().map(mask_plan);
    let sections = shown::sections(&session, plan.as_ref(), config.audit.max_prompt_bytes);
    let evidence =
        evidence::gather(session, plan, &workspace, config.audit.max_prompt_bytes, &mut Memory::default());
    trip.stage_json("files.json", &evidence.files);
    let facts = punchlist::facts::facts(&evidence, &config.audit);
    trip.stage_json("facts.json", &facts);

    let prompts = Prompts::default();
    let written = prompt::write(&prompts, &sections, &evidence, &facts, FENCE, config.audit.max_prompt_bytes)
        .expect("a prompt");
    trip.stage("prompt.md", &format!("{}\n---\n{}\n", written.system, written.text));

    let outcome = reply::outcome_of_exit(0, trip.placed("reply.json").as_bytes(), b"", true);
    let ReaderOutcome::Answered(verdict) = outcome else { panic!("{outcome:?}") };
    trip.stage_json("verdict.json", &verdict);
    let findings = verify(&verdict, &looks(&workspace, &verdict, &evidence), &evidence, facts.findings);
    trip.stage_json("findings.json", &findings);

    whole_way(&mut trip);
    trip.different
}

/// The same trip through the hook itself: its answer, and the record that it leaves.
fn whole_way(trip: &mut Trip) {
    let state = StateFolder::at(trip.folder.path("state"));
    let env = Env::from_pairs([("HOME", trip.folder.home())]);
    let (stdin, reply) = (trip.placed("hook.json"), trip.placed("reply.json"));
    let mut auditor = RecordedReply(&reply);
    let registered = Registered::holding(Duration::from_secs(120));
    let answer = answer(stdin.as_bytes(), &env, &state, registered, Timestamp::now(), Some(&mut auditor));
    trip.stage("stdout.json", &answer.stdout().map(|text| text + "\n").unwrap_or_default());
    trip.stage("stderr.txt", &answer.stderr().map(|text| format!("{text}\n")).unwrap_or_default());
    let mut record = None;
    DecisionLog::in_folder(state.root()).read(|found, _| record = Some(found)).expect("a log");
    let mut record = record.expect("a record");
    record.id = "[id]".into();
    record.time = "[time]".into();
    record.phases_ms.values_mut().for_each(|ms| *ms = 0.0);
    if let Some(transcript) = &mut record.transcript {
        let length = fs::metadata(trip.folder.path("transcript.jsonl")).expect("there").len();
        assert_eq!(transcript.bytes, length, "all of it is read");
        // The folder's name stands in it, and is not as long everywhere.
        transcript.bytes = 0;
    }
    if let Some(auditor) = &mut record.auditor {
        auditor.duration_ms = 0.0;
    }
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
