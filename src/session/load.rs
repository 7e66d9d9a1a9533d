//! Reads a whole session: its transcript, its subagents' transcripts, and the final message in the
//! hook's input. Touches the disk and the clock; must not decide anything.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use jiff::Timestamp;

use crate::client::folders::subagent_transcripts;
use crate::session::builder::{MESSAGE_CAP, Role, SessionBuilder};
use crate::session::resume::ResumePoint;
use crate::session::retention;
use crate::session::transcript::Transcript;
use crate::session::{Session, Tail};
use crate::text::last_part;

/// The client writes its transcript every 100 ms, so a stop often comes before its last rows. These
/// limit how long we wait for them.
mod patience {
    use std::time::Duration;

    /// For the result of a trailing tool call.
    pub(super) const OPEN_CALL: Duration = Duration::from_secs(2);
    /// For the final message itself, from clients that do not send it along.
    pub(super) const NO_MESSAGE: Duration = Duration::from_millis(500);
    /// For rows written together with the final message. Every row was there within 80 ms, on all
    /// versions tried; until then a file that ends with a finished tool result may lack a whole
    /// further call.
    pub(super) const FRESH_ROWS: Duration = Duration::from_millis(300);
    /// A last row older than this was flushed long ago: only the final message can be missing,
    /// which we have. A model takes longer than this to answer; a scripted one does not.
    pub(super) const FRESH: Duration = Duration::from_secs(1);
    /// The time between two looks.
    pub(super) const POLL: Duration = Duration::from_millis(10);
}

/// A session, and how reading it went.
#[derive(Debug)]
pub struct Loaded {
    pub session: Session,
    /// Why the transcript could not be read, if so.
    pub problem: Option<String>,
    /// How long we waited for the transcript to catch up.
    pub waited: Duration,
    /// How many subagents' transcripts were folded in.
    pub subagents: usize,
    /// How much of the session's own transcript was read, in bytes.
    pub bytes: u64,
}

/// A session's transcripts, read to their ends but not merged: each has its own resume point.
#[derive(Debug, Default)]
pub struct Reading {
    main: Option<Transcript>,
    subagents: Vec<Transcript>,
    waited: Duration,
    last_message: Option<String>,
}

impl Reading {
    /// Reads the session of a stop, starting at those of `points` that fit. A missing or unreadable
    /// transcript is an empty session with a problem.
    pub fn at_stop(
        transcript: Option<&Path>,
        role: Role,
        last_message: Option<&str>,
        mut points: Vec<ResumePoint>,
    ) -> Self {
        let own_message = last_message.map(|message| last_part(message, MESSAGE_CAP));
        let Some(path) = transcript else { return Self { last_message: own_message, ..Self::default() } };
        // A session of one quick turn can stop before its transcript exists.
        let mut waited = wait_while(|waited| !path.exists() && waited < patience::FRESH_ROWS);
        let mut main = Transcript::open(path, role, &mut points);
        main.read_on();
        waited += wait_while(|waited| {
            if waited > Duration::ZERO && main.has_grown() {
                main.read_on();
            }
            main.problem.is_none() && waited < patience_for(&main.read.builder, last_message)
        });
        let subagents = if role == Role::Main { read_subagents(path, &main, points) } else { Vec::new() };
        Self { main: Some(main), subagents, waited, last_message: own_message }
    }

    /// Reads a finished session, starting at those of `points` that fit. There is nothing to wait
    /// for.
    pub fn saved(path: &Path, mut points: Vec<ResumePoint>) -> Self {
        let mut main = Transcript::open(path, Role::Main, &mut points);
        main.read_on();
        let subagents = read_subagents(path, &main, points);
        Self { main: Some(main), subagents, ..Self::default() }
    }

    pub fn sessions_mut(&mut self) -> impl Iterator<Item = &mut Session> {
        self.main.iter_mut().chain(&mut self.subagents).map(|one| one.read.builder.session_mut())
    }

    /// Returns the resume points, if they are worth saving.
    pub fn resume_points(&self) -> Option<Vec<ResumePoint>> {
        let all = || self.main.iter().chain(&self.subagents);
        // After an error the offset of what was read is unknown.
        if all().any(|one| one.problem.is_some()) || all().all(Transcript::is_saved) {
            return None;
        }
        Some(all().filter_map(Transcript::resume_point).collect())
    }

    /// Merges the transcripts into one session.
    pub fn finish(self) -> Loaded {
        let (mut session, problem, bytes) = match self.main {
            Some(main) => (main.read.builder.into_session(), main.problem, main.read.offset),
            None => (Session::default(), Some("the hook's input names no transcript".to_owned()), 0),
        };
        let subagents = self.subagents.len();
        for one in self.subagents {
            let name = Path::new(&one.path).file_stem().map(|stem| stem.to_string_lossy().into_owned());
            session.absorb(one.read.builder.into_session(), &name.unwrap_or_default());
        }
        session.final_message = self.last_message.or(session.final_message);
        retention::bound_claims(&mut session);
        Loaded { session, problem, waited: self.waited, subagents, bytes }
    }
}

/// Reads the transcripts of a session's subagents. Those that can't be read are left out.
fn read_subagents(path: &Path, main: &Transcript, mut points: Vec<ResumePoint>) -> Vec<Transcript> {
    let version = main.read.builder.session().version.as_deref();
    let read = |file: PathBuf| {
        let mut subagent = Transcript::open(&file, Role::Subagent, &mut points);
        subagent.read_on();
        subagent
    };
    let all = subagent_transcripts(path, version).into_iter().map(read);
    all.filter(|subagent| subagent.problem.is_none()).collect()
}

/// Reads the session of a stop from the start.
pub fn load(transcript: Option<&Path>, role: Role, last_message: Option<&str>) -> Loaded {
    Reading::at_stop(transcript, role, last_message, Vec::new()).finish()
}

/// Reads a finished session.
pub fn load_saved(transcript: &Path) -> Loaded {
    Reading::saved(transcript, Vec::new()).finish()
}

/// Polls until there is nothing more to wait for; returns how long that took.
fn wait_while(mut worth_waiting: impl FnMut(Duration) -> bool) -> Duration {
    if !worth_waiting(Duration::ZERO) {
        return Duration::ZERO;
    }
    let started = Instant::now();
    loop {
        std::thread::sleep(patience::POLL);
        if !worth_waiting(started.elapsed()) {
            return started.elapsed();
        }
    }
}

/// Returns how long the transcript as read so far is worth waiting for.
fn patience_for(builder: &SessionBuilder, last_message: Option<&str>) -> Duration {
    let session = builder.session();
    let is_fresh = |time: Option<&str>| {
        let time = time.and_then(|time| time.parse::<Timestamp>().ok());
        time.is_none_or(|time| crate::clock::now().duration_since(time).unsigned_abs() < patience::FRESH)
    };
    // The first rows of a new file can come after later ones, since their folder has to be created.
    let lacks_start = || builder.lacks_rows() && is_fresh(session.started.as_deref());
    match (session.tail, last_message) {
        (Tail::OpenCall, _) => patience::OPEN_CALL,
        (Tail::Words, None) if !lacks_start() => Duration::ZERO,
        // 2.1.42 was seen to stop with the file still empty.
        (_, None) => patience::NO_MESSAGE,
        (_, Some(message)) => {
            let arrived = session.final_message.as_deref().is_some_and(|text| text.trim() == message.trim());
            let lacks_rows = if arrived { lacks_start() } else { is_fresh(session.ended.as_deref()) };
            if lacks_rows { patience::FRESH_ROWS } else { Duration::ZERO }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;
    use crate::session::Outcome;

    const CALL: &str = r#"{"type":"assistant","message":{"id":"m","content":[{"type":"tool_use","id":"1","name":"Write","input":{"file_path":"/w/a"}}]}}"#;
    const RESULT: &str =
        r#"{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"1","content":"ok"}]}}"#;

    /// A transcript in a folder of its own.
    fn transcript(text: &str) -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("s.jsonl");
        std::fs::write(&path, text).expect("written");
        (folder, path)
    }

    #[test]
    fn a_trailing_result_that_comes_late_is_waited_for() {
        let (_folder, path) = transcript(&format!("{CALL}\n"));
        let late = path.clone();
        let writer = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(60));
            let mut file = std::fs::OpenOptions::new().append(true).open(late).expect("open");
            writeln!(file, "{RESULT}").expect("written");
        });
        let loaded = load(Some(&path), Role::Main, Some("done"));
        writer.join().expect("written");
        assert_eq!(loaded.session.touches[0].outcome, Outcome::Done);
        assert_eq!(loaded.session.final_message.as_deref(), Some("done"));
    }

    #[test]
    fn the_wait_for_a_result_that_never_comes_ends() {
        let (_folder, path) = transcript(&format!("{CALL}\n"));
        let loaded = load(Some(&path), Role::Main, Some("done"));
        assert!(loaded.waited >= patience::OPEN_CALL);
        assert_eq!(loaded.session.touches[0].outcome, Outcome::Unanswered);
    }

    #[test]
    fn an_old_transcript_is_not_waited_for() {
        let old = CALL.replacen('{', r#"{"timestamp":"2020-01-01T00:00:00Z","#, 1);
        let (_folder, path) = transcript(&format!("{old}\n{RESULT}\n"));
        let mut transcript = Transcript::open(&path, Role::Main, &mut Vec::new());
        transcript.read_on();
        assert_eq!(patience_for(&transcript.read.builder, Some("done")), Duration::ZERO);
    }

    #[test]
    fn rows_that_the_last_words_overtook_are_waited_for() {
        let row = |json: &str, uuid: &str, parent: &str| {
            let time = crate::clock::now();
            let start = format!(r#"{{"timestamp":"{time}","uuid":"{uuid}","parentUuid":{parent},"#);
            json.replacen('{', &start, 1) + "\n"
        };
        for message in [None, Some("done")] {
            let ask = row(r#"{"type":"user","message":{"content":"write it"}}"#, "r1", "null");
            let late = [ask, row(CALL, "r2", r#""r1""#), row(RESULT, "r3", r#""r2""#)];
            std::thread::sleep(Duration::from_millis(5));
            let words = r#"{"type":"assistant","message":{"id":"n","content":"done"}}"#;
            let (_folder, path) = transcript(&row(words, "r4", r#""r3""#));
            let late_path = path.clone();
            let writer = std::thread::spawn(move || {
                for row in late {
                    std::thread::sleep(Duration::from_millis(40));
                    let mut file = std::fs::OpenOptions::new().append(true).open(&late_path).expect("open");
                    file.write_all(row.as_bytes()).expect("written");
                }
            });
            let loaded = load(Some(&path), Role::Subagent, message);
            writer.join().expect("written");
            assert_eq!(loaded.session.asks.len(), 1);
            assert_eq!(loaded.session.touches[0].outcome, Outcome::Done);
            assert_eq!(loaded.session.final_message.as_deref(), Some("done"));
        }
    }

    #[test]
    fn a_saved_transcript_that_ends_on_a_call_is_not_waited_for() {
        let (folder, path) = transcript(&format!("{CALL}\n"));
        let loaded = load_saved(&path);
        assert_eq!(loaded.waited, Duration::ZERO);
        assert_eq!(loaded.session.touches[0].outcome, Outcome::Unanswered);
        assert!(load_saved(&folder.path().join("none.jsonl")).problem.is_some());
    }

    #[test]
    fn subagents_work_is_folded_in_from_either_place() {
        for (agent, session) in
            [("s/subagents/agent-a1.jsonl", "s"), ("agent-a1.jsonl", "s"), ("agent-a1.jsonl", "other")]
        {
            let (folder, main) = transcript("");
            let file = folder.path().join(agent);
            std::fs::create_dir_all(file.parent().expect("a parent")).expect("made");
            let row = CALL.replacen('{', &format!(r#"{{"isSidechain":true,"sessionId":"{session}","#), 1);
            std::fs::write(&file, format!("{row}\n{RESULT}\n")).expect("written");
            let loaded = load(Some(&main), Role::Main, None);
            let expected = if session == "s" { vec![Some("agent-a1".to_owned())] } else { vec![] };
            assert_eq!(
                loaded.session.touches.iter().map(|t| t.agent.clone()).collect::<Vec<_>>(),
                expected,
                "{agent} {session}"
            );
        }
    }

    #[test]
    fn subagents_are_read_though_their_session_can_not_be() {
        let folder = tempfile::tempdir().expect("a folder");
        let agent = folder.path().join("s/subagents/agent-a1.jsonl");
        std::fs::create_dir_all(agent.parent().expect("a parent")).expect("made");
        std::fs::write(&agent, format!("{CALL}\n{RESULT}\n")).expect("written");
        let reading = Reading::saved(&folder.path().join("s.jsonl"), Vec::new());
        assert_eq!(reading.resume_points(), None);
        let loaded = reading.finish();
        assert!(loaded.problem.is_some());
        assert_eq!((loaded.subagents, loaded.session.touches.len()), (1, 1));
    }

    #[test]
    fn a_missing_transcript_is_an_empty_session_that_says_so() {
        let loaded = load(Some(Path::new("/nowhere/s.jsonl")), Role::Main, Some("done"));
        assert!(loaded.problem.expect("a problem").starts_with("/nowhere/s.jsonl: "));
        assert_eq!(loaded.session.final_message.as_deref(), Some("done"));
    }
}
