//! What has to hold for whatever bytes come in: one function for each fuzz target. The targets in
//! `fuzz` call them, and so does `tests/library/fuzz.rs`, which replays the seeds. Must not need
//! the network, a clock or more than one small file.

use std::fs::File;
use std::io::Write;
use std::path::Path;

use punchlist::client::call::ReaderOutcome;
use punchlist::client::hook_input::HookInput;
use punchlist::client::reply::{exit_outcome, recorded_outcome, usage};
use punchlist::client::row;
use punchlist::client::settings::registration::{Wanted, is_registered, register, unregister};
use punchlist::config::{Config, parse as config_parse};
use punchlist::log::query::{self, Line};
use punchlist::plan::mentions::paths_named;
use punchlist::plan::steps::parse_steps;
use punchlist::plan::{BeforeSource, Plan, PlanBefore, PlanSource};
use punchlist::readers::Answer;
use punchlist::session::builder::Role;
use punchlist::session::resume::{self, ResumePoint};
use punchlist::session::transcript::Transcript;
use punchlist::shell::CommandLine;
use punchlist::text::{first_part, last_part, start_and_end, unified_diff};
use punchlist::workspace::file_cache::FileCache;

/// A property, and the name of its target and of its folder of seeds.
pub(crate) type Property = (&'static str, fn(&[u8]));

/// All of them.
pub(crate) const ALL: [Property; 9] = [
    ("hook_input", hook_input),
    ("rows", rows),
    ("plan", plan),
    ("answer", answer),
    ("settings", settings),
    ("config", config),
    ("log_record", log_record),
    ("diff", diff),
    ("shell", shell),
];

/// What may stand around the JSON on stdin changes nothing, and what is not in it is not made up.
pub(crate) fn hook_input(bytes: &[u8]) {
    let parsed = HookInput::parse(bytes);
    let padded = [b"\xef\xbb\xbf \n", bytes, b"\0\n"].concat();
    assert_eq!(parsed, HookInput::parse(&padded), "padding changes it");
    let Ok(input) = parsed else { return };
    let text = String::from_utf8_lossy(bytes);
    let json: serde_json::Value =
        serde_json::from_str(text.trim_matches(|c: char| c.is_whitespace() || c == '\u{feff}' || c == '\0'))
            .expect("what was parsed is JSON");
    // Other clients have other names for it.
    let ids: Vec<&str> = ["session_id", "sessionId", "conversation_id", "thread_id"]
        .iter()
        .filter_map(|name| json[*name].as_str())
        .filter(|id| !id.is_empty())
        .collect();
    assert_eq!(input.session_id.as_deref(), ids.first().copied());
    assert_eq!(input.stop_hook_active, json["stop_hook_active"].as_bool().unwrap_or(false));
    assert!(input.running_tasks().count() <= input.background_tasks.len());
}

/// A transcript that is read in two parts, with the resume point written down in between, is the
/// session that is read in one. The first two bytes say where it is cut.
pub(crate) fn rows(bytes: &[u8]) {
    // Torn caches are no caches.
    let _ = resume::decode(bytes);
    let _ = FileCache::decode(bytes, 1);
    let Some((cut, text)) = bytes.split_first_chunk::<2>() else { return };
    let cut = usize::from(u16::from_le_bytes(*cut)).min(text.len());
    // A last line that is whole JSON counts as written to its end.
    let last_line = text[..cut].rsplit(|byte| *byte == b'\n').next().unwrap_or_default();
    if text.get(cut) != Some(&b'\n') && row::is_whole(row::trim(last_line).0) {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("s.jsonl");
    let mut file = File::create(&path).expect("a file");
    file.write_all(&text[..cut]).expect("written");
    let first = read(&path, Vec::new());
    let points: Vec<ResumePoint> = first.resume_point().into_iter().collect();
    let encoded = resume::encode(&points).expect("bytes");
    let decoded = resume::decode(&encoded).expect("what was encoded is decoded");
    assert_eq!(points, decoded);
    file.write_all(&text[cut..]).expect("written");
    let (resumed, whole) = (read(&path, decoded), read(&path, Vec::new()));
    assert_eq!(resumed.read.offset, whole.read.offset);
    assert_eq!(resumed.read.builder, whole.read.builder);
}

fn read(path: &Path, mut points: Vec<ResumePoint>) -> Transcript {
    let mut transcript = Transcript::open(path, Role::Main, &mut points);
    transcript.read_on();
    assert_eq!(transcript.problem, None);
    transcript
}

/// Steps are numbered, in order, on lines that are there; what is named stands in the text.
pub(crate) fn plan(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let steps = parse_steps(&text);
    let lines = text.matches('\n').count() + 1;
    for (at, step) in steps.iter().enumerate() {
        assert_eq!(step.number, at + 1);
        assert!((1..=lines).contains(&step.line), "{step:?} of {lines} lines");
        assert!(!step.text.is_empty() && !step.text.contains('\n'), "{step:?}");
    }
    assert!(steps.is_sorted_by_key(|step| step.line), "{steps:?}");
    // `a\\-b.md` is Markdown for `a-b.md`.
    let plain = text.replace('\\', "");
    for named in paths_named(&text) {
        let is_there = text.contains(&named.path) || plain.contains(&named.path.replace('\\', ""));
        assert!(!named.path.is_empty() && is_there, "{named:?}");
    }
}

/// Nothing that a client prints is a verdict unless the check says so, and a failure is never an
/// answer.
pub(crate) fn answer(bytes: &[u8]) {
    for has_schema in [true, false] {
        if let ReaderOutcome::Answered(answer) = exit_outcome(0, bytes, b"", has_schema, Answer::check) {
            assert_eq!(Answer::check(&answer), Ok(()));
        }
        let failed = exit_outcome(1, bytes, bytes, has_schema, Answer::check);
        assert!(!matches!(failed, ReaderOutcome::Answered(_)), "{failed:?}");
    }
    let text = String::from_utf8_lossy(bytes);
    if let ReaderOutcome::Answered(answer) = recorded_outcome(&text, Answer::check) {
        assert_eq!(Answer::check(&answer), Ok(()));
    }
    let _ = usage(bytes);
}

/// The hook is put in once, and taken out again so that all else is as it was.
pub(crate) fn settings(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let wanted = Wanted {
        program: "/opt/punchlist".into(),
        min_timeout: 60,
        timeout: 120,
        background: Some(text.len() % 2 == 1),
        status_line: text.len() % 3 == 1,
        subagents: text.len() % 3 == 1,
    };
    let Ok(edited) = register(text, &wanted) else { return };
    let json = |text: &str| serde_json::from_str::<serde_json::Value>(text).expect("still JSON");
    let (before, after) = (json(text), json(&edited.text));
    assert!(is_registered(&after), "{}", edited.text);
    let again = register(&edited.text, &wanted).expect("it can be read");
    assert_eq!((&again.text, again.created.len()), (&edited.text, 0), "idempotent");
    if is_registered(&before) {
        return;
    }
    let back = unregister(&edited.text, Some(&edited.created)).expect("it can be read");
    assert_eq!(json(&back), before, "{text}\n{}", edited.text);
    // Every byte that is no white space: an empty object may lose the line end in it.
    let ink = |text: &str| text.chars().filter(|c| !c.is_whitespace()).collect::<String>();
    assert_eq!(ink(&back), ink(text));
}

/// Settings that are read, written and read again are the same; faults are told with a place in the
/// file.
pub(crate) fn config(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let config_parse::Parsed { table, errors: faults } = config_parse::parse(&text, "config.toml");
    assert!(table.try_into::<Config>().is_ok(), "what is right in a file makes settings: {text}");
    match Config::parse(&text, "config.toml") {
        Ok(config) => {
            assert!(faults.is_empty(), "{faults:?}");
            let written = toml::to_string(&config).expect("settings can be written");
            let again = Config::parse(&written, "config.toml");
            assert_eq!(again.as_ref().ok(), Some(&config), "{again:?}\n{written}");
            let _ = config.longest_stop();
        }
        Err(fault) => {
            assert!(!faults.is_empty(), "{fault}");
            assert!(fault.to_string().contains("config.toml"), "{fault}");
        }
    }
}

/// Each line counts once; a decision that is read, written and read again is the same.
pub(crate) fn log_record(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let mut decisions = 0;
    for line in text.lines() {
        let Some(Line::Decision(read)) = Line::parse(line) else { continue };
        decisions += 1;
        let written = serde_json::to_string(&read.decision).expect("a record can be written");
        assert!(!written.contains('\n'), "a record is one line");
        let Some(Line::Decision(again)) = Line::parse(&written) else { panic!("not read again: {written}") };
        assert_eq!(again.decision, read.decision);
    }
    assert!(query::parse(&text).decisions.len() <= decisions);
}

/// A diff with all lines around it is both texts; a cut text keeps its ends. A NUL splits the two.
pub(crate) fn diff(bytes: &[u8]) {
    // A carriage return alone ends a line of the diff, too, which can't be told from what is
    // printed.
    let text = String::from_utf8_lossy(bytes).replace('\r', "");
    let (before, after) = text.split_once('\0').unwrap_or((&text, ""));
    let printed = unified_diff(before, after, usize::MAX >> 1, true);
    if before == after {
        assert_eq!(printed, "");
    } else {
        assert_eq!(side(&printed, '-'), before, "{printed}");
        assert_eq!(side(&printed, '+'), after, "{printed}");
    }
    let plan = Plan::new(PlanSource::GivenFile, after.to_owned(), None);
    let plan = plan.since(Some(PlanBefore::new(before, BeforeSource::FirstRead)));
    assert_eq!(plan.diff().is_none(), before.trim_end() == after.trim_end());
    assert!(plan.promised().count() >= plan.steps.len());
    for cap in [0, 7, 64] {
        for cut in [first_part(&text, cap), last_part(&text, cap), start_and_end(&text, cap)] {
            assert!(cut == text || cut.contains("bytes cut"), "{cut}");
        }
    }
}

/// One side of a unified diff, as it was.
fn side(diff: &str, sign: char) -> String {
    let (mut text, mut is_ours) = (String::new(), false);
    for line in diff.split_inclusive('\n').skip(1) {
        if line.starts_with("\\ No newline") {
            // It speaks of the line before it.
            if is_ours {
                text.pop();
            }
        } else if let Some(rest) = line.strip_prefix([sign, ' ']) {
            text.push_str(rest);
            is_ours = true;
        } else {
            is_ours = false;
        }
    }
    text
}

/// A command line is the same however often it is asked about; no program comes out of nothing.
pub(crate) fn shell(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let line = CommandLine::from(text.as_ref());
    assert_eq!(line.commands(), CommandLine::from(text.as_ref()).commands());
    let all = line.all();
    assert!(all.len() >= line.commands().len());
    for command in &all {
        assert!(command.program_words().len() <= command.words.len());
        assert!(command.arguments().len() <= command.program_words().len());
        let _ = (command.git(), command.program_only_reads(), command.assignments().count());
    }
    if text.trim().is_empty() {
        assert!(all.is_empty(), "{all:?}");
    }
    // What only reads has no word that writes a file.
    if line.only_reads() {
        let is_gone = |file: &String| {
            ["/dev/null", "/dev/stdout", "/dev/stderr", "/dev/tty"].contains(&file.as_str())
                || file.starts_with("/dev/fd/")
        };
        assert!(all.iter().all(|command| command.writes.iter().all(is_gone)), "{all:?}");
    }
    let _ = (line.check(), line.hides_exit_status(), line.works_elsewhere(), line.uses_version_control());
}
