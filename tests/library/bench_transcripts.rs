//! The transcripts that the benchmarks are run on are read as what they are: the truth that is
//! written beside each is what `load_saved` finds, for every odd shape too.

#[path = "../../benches/transcripts/mod.rs"]
mod transcripts;

use std::io::Write;
use std::path::{Path, PathBuf};

use punchlist::session::file_history;
use punchlist::session::file_history::Wanted;
use punchlist::session::load::{Loaded, Reading, load_saved};
use punchlist::session::resume;
use punchlist::session::{CommandEnd, Original, Outcome, Session};
use serde_json::Value;
use tempfile::TempDir;
use transcripts::truth::{self, Before, TouchEnd, hash};
use transcripts::{Generator, Later, Odd, Spec, Truth, generate};

struct Made {
    folder: TempDir,
    truth: Truth,
}

impl Made {
    fn new(spec: &Spec) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let truth = generate(spec, &folder.path().join("s.jsonl"), &folder.path().join("w")).expect("made");
        Self { folder, truth }
    }

    fn transcript(&self) -> PathBuf {
        self.folder.path().join("s.jsonl")
    }

    fn load(&self) -> Loaded {
        let mut loaded = load_saved(&self.transcript());
        file_history::fetch(&mut loaded.session, |_| Wanted::All);
        loaded
    }
}

/// What was read, in the words of the truth.
fn told(loaded: &Loaded, truth: &Truth) -> Truth {
    let session = &loaded.session;
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    Truth {
        session: text(&session.id),
        cwd: text(&session.cwd),
        version: text(&session.version),
        started: text(&session.started),
        ended: text(&session.ended),
        rows: session.rows,
        torn: session.skipped.unreadable,
        asks: session.asks.iter().map(|ask| ask.text.clone()).collect(),
        touches: agent_by_agent(&session.touches, |touch| touch.agent.as_deref()).map(touch_told).collect(),
        reads: session.reads.iter().map(|read| read.path.clone()).collect(),
        commands: commands_told(session, truth),
        todos: session.todos.iter().map(|todo| (todo.text.clone(), todo.status.clone())).collect(),
        delegations: session
            .delegations
            .iter()
            .map(|one| (one.description.clone(), one.agent_type.clone(), one.outcome == Outcome::Done))
            .collect(),
        other_tools: session.other_calls.iter().map(|call| call.tool.clone()).collect(),
        final_message: text(&session.final_message),
        subagents: loaded.subagents,
        // What no reader tells.
        bytes: truth.bytes,
        lines: truth.lines,
        kinds: truth.kinds.clone(),
    }
}

/// The entries of the main agent, then those of each subagent: the truth is told file by file.
fn agent_by_agent<T>(entries: &[T], agent: impl Fn(&T) -> Option<&str>) -> impl Iterator<Item = &T> {
    let mut entries: Vec<&T> = entries.iter().collect();
    entries.sort_by_key(|entry| agent(entry).map(str::to_owned));
    entries.into_iter()
}

fn touch_told(touch: &punchlist::session::Touch) -> truth::TouchTruth {
    truth::TouchTruth {
        path: touch.path.clone(),
        tool: touch.tool.name().to_owned(),
        end: match touch.outcome {
            Outcome::Done => TouchEnd::Done,
            Outcome::Failed(_) => TouchEnd::Failed,
            Outcome::Unanswered => TouchEnd::Unanswered,
        },
        before: if let Original::Text(text) = &touch.original {
            Before::Text { bytes: text.len(), hash: hash(text.as_bytes()) }
        } else if touch.original == Original::Absent {
            Before::Nothing
        } else {
            Before::Untold
        },
        by_subagent: touch.agent.is_some(),
    }
}

/// Of the output only the last bytes are in the truth; where they are the end of what was read,
/// they are told.
fn commands_told(session: &Session, truth: &Truth) -> Vec<truth::CommandTruth> {
    let ends = truth.commands.iter().map(|command| command.output_end.as_str());
    let ends = ends.chain(std::iter::repeat(""));
    let commands = agent_by_agent(&session.commands, |command| command.agent.as_deref());
    let told = commands.zip(ends).map(|(command, end)| truth::CommandTruth {
        line: command.line.to_string(),
        end: match command.end {
            CommandEnd::Succeeded => truth::CommandEnd::Succeeded,
            CommandEnd::Failed(code) => truth::CommandEnd::Failed(code.unwrap_or(-1)),
            CommandEnd::Interrupted => truth::CommandEnd::Interrupted,
            CommandEnd::Background => truth::CommandEnd::Background,
            CommandEnd::Unanswered => truth::CommandEnd::Unanswered,
        },
        output_end: if command.output.ends_with(end) { end } else { &command.output }.to_owned(),
        by_subagent: command.agent.is_some(),
    });
    told.collect()
}

fn assert_read_as_it_is(spec: &Spec) -> Made {
    let made = Made::new(spec);
    let loaded = made.load();
    assert_eq!(loaded.problem, None);
    let json = |truth: &Truth| serde_json::to_value(truth).expect("JSON");
    let mut found = Vec::new();
    differences(&json(&told(&loaded, &made.truth)), &json(&made.truth), "", &mut found);
    assert!(
        found.is_empty(),
        "{spec:?}: {} differences, the first:\n{}",
        found.len(),
        found[..found.len().min(5)].join("\n")
    );
    made
}

/// Where two values differ: a whole truth is too long to look at.
fn differences(read: &Value, truth: &Value, at: &str, found: &mut Vec<String>) {
    match (read, truth) {
        (Value::Object(one), Value::Object(other)) if one.len() == other.len() => {
            for (key, value) in other {
                differences(one.get(key).unwrap_or(&Value::Null), value, &format!("{at}.{key}"), found);
            }
        }
        (Value::Array(one), Value::Array(other)) if one.len() == other.len() => {
            for (index, (one, other)) in one.iter().zip(other).enumerate() {
                differences(one, other, &format!("{at}[{index}]"), found);
            }
        }
        (Value::Array(one), Value::Array(other)) => {
            found.push(format!("{at}: {} were read, {} are true", one.len(), other.len()));
        }
        _ if read != truth => found.push(format!("{at}: read {read}, true {truth}")),
        _ => {}
    }
}

const SMALL: u64 = 600_000;

#[test]
fn a_session_is_read_as_what_it_is() {
    for seed in 1..4 {
        let made = assert_read_as_it_is(&Spec { seed, ..Spec::of(2 << 20) });
        let truth = &made.truth;
        assert_eq!(std::fs::metadata(made.transcript()).expect("there").len(), truth.bytes);
        assert!(truth.bytes >= 2 << 20 && truth.bytes < 4 << 20, "{}", truth.bytes);
        assert!(truth.commands.len() > 20 && truth.touches.len() > 10 && truth.asks.len() > 5, "{truth:?}");
        for kind in
            ["assistant", "user", "attachment", "system", "progress", "file-history-snapshot", "summary"]
        {
            assert!(truth.kinds.contains_key(kind), "{kind}: {:?}", truth.kinds);
        }
        let beside = std::fs::read(made.transcript().with_extension("truth.json")).expect("written");
        assert_eq!(&serde_json::from_slice::<Truth>(&beside).expect("JSON"), truth);
    }
}

#[test]
fn the_same_seed_makes_the_same_session_and_another_one_does_not() {
    let folder = tempfile::tempdir().expect("a folder");
    let made = |seed| {
        let (transcript, workspace) = (folder.path().join("s.jsonl"), folder.path().join("w"));
        generate(&Spec { seed, ..Spec::of(SMALL) }, &transcript, &workspace).expect("made");
        std::fs::read(transcript).expect("read")
    };
    let first = made(7);
    assert_eq!(first, made(7));
    assert_ne!(first, made(8));
}

#[test]
fn odd_shapes_change_nothing_that_is_read() {
    let odd = Odd::default();
    for odd in [
        Odd { spaced: true, ..odd },
        Odd { shuffled: true, ..odd },
        Odd { torn: true, ..odd },
        Odd { paired: true, ..odd },
        Odd { repeated: true, ..odd },
        Odd { spaced: true, shuffled: true, paired: true, repeated: true, ..odd },
        Odd { long_line: 3 << 20, ..odd },
    ] {
        let made = assert_read_as_it_is(&Spec { odd, ..Spec::of(SMALL) });
        assert_eq!(odd.torn, made.truth.torn > 0, "{odd:?}");
        let text = std::fs::read(made.transcript()).expect("read");
        let longest = text.split(|byte| *byte == b'\n').map(<[u8]>::len).max().unwrap_or(0);
        assert_eq!(odd.long_line > 0, longest >= 3 << 20, "{odd:?}: {longest}");
    }
}

#[test]
fn numbers_that_are_asked_for_are_kept_and_files_are_on_disk_as_they_were_left() {
    let spec = Spec {
        files: 12,
        file_bytes: 5_000,
        plan_steps: 40,
        commands: Some(33),
        edits: Some(50),
        subagents: 2,
        ..Spec::of(SMALL)
    };
    let made = assert_read_as_it_is(&spec);
    let truth = &made.truth;
    assert_eq!(truth.commands.iter().filter(|command| !command.by_subagent).count(), 33);
    assert_eq!(truth.subagents, 2);
    let session = made.load().session;
    let mut paths: Vec<_> = session.done_touches().map(|touch| touch.path.as_str()).collect();
    paths.sort_unstable();
    paths.dedup();
    assert_eq!(paths.len(), 12 + 1 + 2, "the files, the plan, and one of each subagent");
    for path in paths {
        let text = std::fs::read_to_string(path).expect(path);
        let last = session.done_touches().rfind(|touch| touch.path == path).expect("a touch");
        let change = last.change.as_ref().expect("a change");
        assert!(
            text.contains(&change.new) && (change.old.is_empty() || !text.contains(&change.old)),
            "{path}"
        );
        if let Some(Original::Text(before)) = session
            .done_touches()
            .find(|touch| touch.path == path)
            .map(|touch| touch.original.clone())
            .filter(|_| !path.ends_with("PLAN.md"))
        {
            let kept = before.lines().zip(text.lines()).filter(|(one, other)| one == other).count();
            assert!(kept + 10 >= text.lines().count(), "{path}: most lines are as they were");
            assert!((4_000..6_000).contains(&before.len()), "{path}: {}", before.len());
        }
    }
    let plan = std::fs::read_to_string(Path::new(&truth.cwd).join("PLAN.md")).expect("a plan");
    assert_eq!(plan.lines().filter(|line| line.starts_with("- [x] ")).count(), 40, "{plan}");
}

#[test]
fn a_session_that_goes_on_has_what_was_appended() {
    let made = Made::new(&Spec::of(SMALL));
    let mut later = Later::of(&made.transcript(), &made.truth);
    later.chat().expect("appended");
    let file = made.load().session.done_touches().map(|touch| touch.path.clone()).next().expect("a file");
    let edit = later.edit(Path::new(&file)).expect("appended");
    let session = made.load().session;
    assert_eq!(session.asks.len(), made.truth.asks.len() + 2);
    assert_eq!(session.final_message.as_deref(), Some(edit.final_message.as_str()));
    let last = session.touches.last().expect("a touch");
    assert_eq!((last.path.as_str(), &last.outcome), (file.as_str(), &Outcome::Done));
    let new = &last.change.as_ref().expect("a change").new;
    assert!(std::fs::read_to_string(&file).expect("read").contains(new.as_str()));
}

/// Reads what is there of a transcript, going on with what was kept; gives what to keep next.
fn read_on(path: &Path, kept: &[u8]) -> (Reading, Vec<u8>) {
    let reading = Reading::saved(path, resume::decode(kept).unwrap_or_default());
    let encoded = reading.resume_points().and_then(|points| resume::encode(&points));
    let kept = encoded.unwrap_or_else(|| kept.to_vec());
    (reading, kept)
}

#[test]
fn a_session_read_in_pieces_is_the_one_that_is_read_at_once() {
    let odd = Odd { torn: true, paired: true, repeated: true, ..Odd::default() };
    let many = Spec { commands: Some(2_500), edits: Some(1_700), ..Spec::of(6_000_000) };
    let specs = [Spec::of(SMALL), Spec { odd, seed: 5, ..Spec::of(SMALL) }, many];
    for (spec, cuts) in specs.iter().zip([40usize, 40, 6]) {
        let made = Made::new(spec);
        let bytes = std::fs::read(made.transcript()).expect("readable");
        let expected = load_saved(&made.transcript()).session;
        assert_eq!(expected.forgotten.commands, spec.commands.is_some(), "a long one is not kept whole");
        let path = made.folder.path().join("growing.jsonl");
        let (mut kept, mut at, mut number) = (Vec::new(), 0, spec.seed);
        std::fs::write(&path, b"").expect("made");
        while at < bytes.len() {
            // Anywhere: in the middle of a line, of a character, right before a line's end.
            number = number.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let step = usize::try_from(number >> 33).expect("fits") % (bytes.len() * 2 / cuts) + 1;
            let next = (at + step).min(bytes.len());
            let mut file = std::fs::OpenOptions::new().append(true).open(&path).expect("open");
            file.write_all(&bytes[at..next]).expect("written");
            at = next;
            (_, kept) = read_on(&path, &kept);
        }
        let (reading, _) = read_on(&path, &kept);
        assert_eq!(reading.resume_points(), None, "nothing is new");
        let mut session = reading.finish().session;
        session.sources.clone_from(&expected.sources);
        assert_eq!(session, expected, "{spec:?}");
    }
}

#[test]
fn a_transcript_that_was_rewritten_is_read_afresh() {
    let (one, two) = (Made::new(&Spec::of(SMALL)), Made::new(&Spec { seed: 9, ..Spec::of(SMALL) }));
    let path = one.folder.path().join("t.jsonl");
    let written = |from: &Made, bytes: usize| {
        let text = std::fs::read(from.transcript()).expect("readable");
        std::fs::write(&path, &text[..bytes.min(text.len())]).expect("written");
    };
    let session = |kept: &[u8]| read_on(&path, kept).0.finish().session;
    written(&one, 400_000);
    let (_, kept) = read_on(&path, &[]);
    // Shorter, another one of whatever length, and what was kept is broken.
    for (from, bytes) in [(&one, 200_000), (&two, 400_000), (&two, usize::MAX)] {
        written(from, bytes);
        assert_eq!(session(&kept), session(&[]), "{bytes}");
        assert_eq!(session(&kept[..kept.len() / 2]), session(&[]), "{bytes}");
    }
    written(&one, 500_000);
    assert_eq!(session(&kept), session(&[]), "the same one, longer");
}

#[test]
fn what_is_not_worth_writing_down_is_read_again_and_counted_once() {
    let made = Made::new(&Spec { subagents: 1, ..Spec::of(SMALL) });
    let path = made.transcript();
    let (_, kept) = read_on(&path, &[]);
    let agents = path.with_extension("").join("subagents");
    let agents = std::fs::read_dir(agents).expect("agents").filter_map(Result::ok).map(|entry| entry.path());
    let is_transcript = |path: &PathBuf| path.extension().is_some_and(|kind| kind == "jsonl");
    let agent = agents.into_iter().find(is_transcript).expect("one");
    let append = |path: &Path, rows: usize| {
        let mut file = std::fs::OpenOptions::new().append(true).open(path).expect("open");
        for number in 0..rows {
            let id = format!("{}-{number}", path.display());
            let call = format!(
                r#"{{"type":"assistant","isSidechain":false,"uuid":"{id}","message":{{"id":"m","content":[{{"type":"tool_use","id":"{id}","name":"Bash","input":{{"command":"make {number}"}}}}]}}}}"#
            );
            writeln!(file, "{call}").expect("written");
        }
    };
    append(&path, 3);
    let (reading, same) = read_on(&path, &kept);
    assert_eq!((same == kept, reading.resume_points()), (true, None), "too little");
    // Another one has enough for both: what was read of this one is kept with it.
    append(&agent, 40);
    let (_, both) = read_on(&path, &kept);
    assert!(both != kept, "there is more to remember");
    append(&path, 1);
    let expected = load_saved(&path).session;
    assert_eq!(read_on(&path, &both).0.finish().session, expected);
    assert_eq!(read_on(&path, &kept).0.finish().session, expected);
}

#[test]
fn the_second_generators_sessions_are_read_as_what_they_are() {
    let [first, second] = Generator::ALL;
    let made = Made::new(&Spec { generator: second, seed: 3, ..Spec::of(300_000) });
    let (loaded, truth) = (made.load(), &made.truth);
    let session = &loaded.session;
    assert_ne!(first.name(), second.name());
    assert_eq!(session.rows, truth.rows);
    assert_eq!(
        (session.started.as_ref(), session.ended.as_ref()),
        (Some(&truth.started), Some(&truth.ended))
    );
    let asks: Vec<_> = session.asks.iter().map(|ask| ask.text.trim()).collect();
    assert_eq!(asks, truth.asks.iter().map(|ask| ask.trim()).collect::<Vec<_>>());
    assert_eq!(session.final_message.as_ref(), Some(&truth.final_message));
    let touched: Vec<_> = session.touches.iter().map(|touch| (&touch.path, &touch.outcome)).collect();
    assert_eq!(touched, truth.touches.iter().map(|touch| (&touch.path, &Outcome::Done)).collect::<Vec<_>>());
    let commands: Vec<_> = session.commands.iter().map(|command| (&*command.line, command.end)).collect();
    let expected = truth.commands.iter().map(|command| match command.end {
        truth::CommandEnd::Failed(code) => (command.line.as_str(), CommandEnd::Failed(Some(code))),
        _ => (command.line.as_str(), CommandEnd::Succeeded),
    });
    assert_eq!(commands, expected.collect::<Vec<_>>());
    assert!(commands.iter().any(|(_, end)| *end != CommandEnd::Succeeded), "some fail");
}
