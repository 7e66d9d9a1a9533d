//! Reads a whole session: its transcript, its subagents' transcripts, and the final message that the hook's input carries.
//! Touches the disk and the clock; must not decide anything.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use jiff::Timestamp;

use crate::files::{inode_of, open_regular, read_at};
use crate::session::builder::{MESSAGE_CAP, Role, SessionBuilder};
use crate::session::resume::{Mark, ResumePoint};
use crate::session::{Session, Tail, reader};
use crate::text::last_part;

/// The client writes its transcript every 100 ms, so a stop often comes before its last rows. These bound how long we
/// wait for them.
mod patience {
    use std::time::Duration;

    /// For the result of a trailing tool call.
    pub(super) const OPEN_CALL: Duration = Duration::from_secs(2);
    /// For the final message itself, from clients that do not send it along.
    pub(super) const NO_MESSAGE: Duration = Duration::from_millis(500);
    /// For rows written together with the final message. Every row was there within 80 ms, on all versions tried; until
    /// then a file that ends on a finished tool result can lack a whole further call.
    pub(super) const FRESH_ROWS: Duration = Duration::from_millis(300);
    /// A last row older than this was flushed long ago: only the final message can be missing, which we have. A model
    /// takes longer than this to answer; a scripted one does not.
    pub(super) const FRESH: Duration = Duration::from_secs(1);
    /// The time between two looks.
    pub(super) const POLL: Duration = Duration::from_millis(10);
}

/// A session, and how reading it went.
#[derive(Debug)]
pub struct Loaded {
    /// What happened.
    pub session: Session,
    /// Why the transcript could not be read, if it could not.
    pub problem: Option<String>,
    /// How long we waited for the transcript to catch up.
    pub waited: Duration,
    /// How many subagents' transcripts were folded in.
    pub subagents: usize,
    /// How much of the session's own transcript was read, in bytes.
    pub bytes: u64,
}

/// A session's transcripts, read to their ends and not yet merged: resume points are of each transcript by itself.
#[derive(Debug)]
pub struct Reading {
    main: Option<Transcript>,
    subagents: Vec<Transcript>,
    problem: Option<String>,
    waited: Duration,
    last_message: Option<String>,
}

/// With no more than this many new bytes, the old resume point stays: to write a new one for a long session takes longer
/// than to read them again.
const WORTH_A_WRITE: u64 = 4 << 10;

/// A transcript that was read.
#[derive(Debug)]
struct Transcript {
    point: ResumePoint,
    /// The resume point that we started from is still good enough.
    is_saved: bool,
}

impl Reading {
    /// Reads the session of a stop, starting at those of `points` that fit. A transcript that is missing or unreadable is
    /// an empty session with a problem.
    pub fn at_stop(
        transcript: Option<&Path>,
        role: Role,
        last_message: Option<&str>,
        points: Vec<ResumePoint>,
    ) -> Self {
        let mut reading = match transcript {
            None => Self {
                main: None,
                subagents: Vec::new(),
                problem: Some("the hook's input names no transcript".to_owned()),
                waited: Duration::ZERO,
                last_message: None,
            },
            Some(path) => {
                // A session of one quick turn can stop before its transcript exists.
                let waited = wait_while(|waited| !path.exists() && waited < patience::FRESH_ROWS);
                let mut reading =
                    Self::read(path, role, points, |opened| read_until_settled(opened, last_message));
                reading.waited += waited;
                reading
            }
        };
        reading.last_message = last_message.map(|message| last_part(message, MESSAGE_CAP));
        reading
    }

    /// Reads a session that is over, starting at those of `points` that fit. There is nothing to wait for.
    pub fn saved(transcript: &Path, points: Vec<ResumePoint>) -> Self {
        Self::read(transcript, Role::Main, points, |opened| opened.read_on().map(|()| Duration::ZERO))
    }

    fn read(
        path: &Path,
        role: Role,
        mut points: Vec<ResumePoint>,
        read_main: impl FnOnce(&mut Opened) -> io::Result<Duration>,
    ) -> Self {
        let failed = |error: io::Error| Some(format!("{}: {error}", path.display()));
        let (main, waited, problem) = match Opened::open(path, role, &mut points) {
            Err(error) => (None, Duration::ZERO, failed(error)),
            Ok(mut opened) => match read_main(&mut opened) {
                Ok(waited) => (Some(opened.finish()), waited, None),
                // What was read before the error counts.
                Err(error) => (Some(opened.finish()), Duration::ZERO, failed(error)),
            },
        };
        let mut subagents = Vec::new();
        if role == Role::Main {
            let version = main.as_ref().and_then(|main| main.point.builder.session().version.as_deref());
            for file in subagent_transcripts(path, version) {
                let opened = Opened::open(&file, Role::Subagent, &mut points);
                subagents.extend(opened.and_then(|mut opened| {
                    opened.read_on()?;
                    Ok(opened.finish())
                }));
            }
        }
        Self { main, subagents, problem, waited, last_message: None }
    }

    /// Returns the session of each transcript.
    pub fn sessions_mut(&mut self) -> impl Iterator<Item = &mut Session> {
        self.main.iter_mut().chain(&mut self.subagents).map(|one| one.point.builder.session_mut())
    }

    /// Returns the resume points, if they are worth saving.
    pub fn resume_points(&self) -> Option<Vec<ResumePoint>> {
        let all = || self.main.iter().chain(&self.subagents);
        // After an error the offset of what was read is not known.
        if self.problem.is_some() || all().all(|one| one.is_saved) {
            return None;
        }
        Some(all().map(|one| one.point.clone()).collect())
    }

    /// Merges the transcripts into one session.
    pub fn finish(self) -> Loaded {
        let bytes = self.main.as_ref().map_or(0, |main| main.point.mark.offset);
        let mut session = self.main.map(|main| main.point.builder.into_session()).unwrap_or_default();
        let subagents = self.subagents.len();
        for one in self.subagents {
            let name = agent_name(Path::new(&one.point.path));
            session.absorb(one.point.builder.into_session(), &name);
        }
        if self.last_message.is_some() {
            session.final_message = self.last_message;
        }
        Loaded { session, problem: self.problem, waited: self.waited, subagents, bytes }
    }
}

/// Reads the session of a stop from the start.
pub fn load(transcript: Option<&Path>, role: Role, last_message: Option<&str>) -> Loaded {
    Reading::at_stop(transcript, role, last_message, Vec::new()).finish()
}

/// Reads a session that is over.
pub fn load_saved(transcript: &Path) -> Loaded {
    Reading::saved(transcript, Vec::new()).finish()
}

/// A transcript that is being read.
struct Opened {
    file: File,
    inode: u64,
    path: String,
    builder: SessionBuilder,
    /// How far it is read.
    offset: u64,
    /// Where reading started, if a resume point fit.
    resumed: Option<Mark>,
}

impl Opened {
    /// Opens a transcript at its resume point, if there is one that fits, else at its start.
    fn open(path: &Path, role: Role, points: &mut Vec<ResumePoint>) -> io::Result<Self> {
        let file = open_regular(path)?;
        let meta = file.metadata()?;
        let inode = inode_of(&meta);
        let path = path.to_string_lossy().into_owned();
        let point = points.iter().position(|point| point.path == path).map(|at| points.swap_remove(at));
        let fits = |ResumePoint { mark, .. }: &ResumePoint| {
            let from = mark.tail_from();
            mark.may_fit(inode, meta.len())
                && read_at(&file, from, mark.offset - from).is_ok_and(|tail| mark.with_tail(&tail) == *mark)
        };
        let (builder, resumed) = match point.filter(fits) {
            Some(point) => (point.builder, Some(point.mark)),
            None => (SessionBuilder::for_file(role, &path), None),
        };
        let offset = resumed.map_or(0, |mark| mark.offset);
        Ok(Self { file, inode, path, builder, offset, resumed })
    }

    /// Reads to the end of the file.
    fn read_on(&mut self) -> io::Result<()> {
        self.offset = reader::fold_file(&self.file, self.offset, &mut self.builder)?;
        Ok(())
    }

    fn has_grown(&self) -> bool {
        self.file.metadata().is_ok_and(|meta| meta.len() > self.offset)
    }

    fn finish(self) -> Transcript {
        let is_saved = self.resumed.is_some_and(|mark| self.offset - mark.offset <= WORTH_A_WRITE);
        let mark = self.resumed.filter(|mark| mark.offset == self.offset).unwrap_or_else(|| {
            let mark = Mark { inode: self.inode, offset: self.offset, tail: 0 };
            let tail = read_at(&self.file, mark.tail_from(), mark.offset - mark.tail_from());
            mark.with_tail(&tail.unwrap_or_default())
        });
        Transcript { point: ResumePoint { path: self.path, mark, builder: self.builder }, is_saved }
    }
}

/// Reads the transcript and what is still being written of it; returns how long we waited for that.
fn read_until_settled(opened: &mut Opened, last_message: Option<&str>) -> io::Result<Duration> {
    opened.read_on()?;
    let mut failed = None;
    let waited = wait_while(|waited| {
        if waited > Duration::ZERO && opened.has_grown() {
            failed = opened.read_on().err();
        }
        failed.is_none() && waited < patience_for(&opened.builder, last_message)
    });
    failed.map_or(Ok(waited), Err)
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
        time.is_none_or(|time| Timestamp::now().duration_since(time).unsigned_abs() < patience::FRESH)
    };
    // The first rows of a new file can come after those that follow them: their folder has to be made.
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

/// Files of the client's own helpers, which hold copied rows or no work at all.
const NOT_WORKERS: &[&str] = &["agent-acompact-", "agent-aprompt_suggestion-"];

/// The first version that keeps a session's subagents in a folder of the session's own.
const OWN_FOLDER_SINCE: [u32; 3] = [2, 1, 17];

/// Returns the transcripts of a session's subagents: in a folder of their own from 2.1.17 on, beside it in 2.0.x.
fn subagent_transcripts(transcript: &Path, version: Option<&str>) -> Vec<PathBuf> {
    let own = agent_files(&transcript.with_extension("").join("subagents"));
    // The folder of all sessions can be long: it is searched only for a client that wrote them there.
    if !own.is_empty() || version.and_then(version_numbers).is_some_and(|version| version >= OWN_FOLDER_SINCE)
    {
        return own;
    }
    let Some((folder, session)) =
        transcript.parent().zip(transcript.file_stem().and_then(|stem| stem.to_str()))
    else {
        return Vec::new();
    };
    agent_files(folder).into_iter().filter(|file| belongs_to(file, session)).collect()
}

/// Returns the subagents' transcripts in a folder, sorted by name.
fn agent_files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
    let mut files: Vec<PathBuf> = entries
        .filter(|entry| {
            let name = entry.file_name();
            let name = name.to_string_lossy();
            name.starts_with("agent-")
                && name.ends_with(".jsonl")
                && !NOT_WORKERS.iter().any(|start| name.starts_with(start))
                && entry.file_type().is_ok_and(|kind| kind.is_file())
        })
        .map(|entry| entry.path())
        .collect();
    files.sort_unstable();
    files
}

/// Parses `2.1.17`.
fn version_numbers(version: &str) -> Option<[u32; 3]> {
    let mut numbers = version.split('.').map(|part| part.parse().ok());
    Some([numbers.next()??, numbers.next()??, numbers.next()??])
}

/// Returns whether a subagent's file belongs to this session, which its first row says.
fn belongs_to(file: &Path, session: &str) -> bool {
    use std::io::{BufRead, BufReader, Read};
    let Ok(file) = std::fs::File::open(file) else { return false };
    let mut line = String::new();
    if BufReader::new(file.take(1 << 20)).read_line(&mut line).is_err() {
        return false;
    }
    let mut is_ours = false;
    crate::client::row::rows_of(line.as_bytes(), |row| is_ours |= row.session_id.is(session));
    is_ours
}

fn agent_name(file: &Path) -> String {
    file.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;
    use crate::session::Outcome;

    const CALL: &str = r#"{"type":"assistant","message":{"id":"m","content":[{"type":"tool_use","id":"1","name":"Write","input":{"file_path":"/w/a"}}]}}"#;
    const RESULT: &str =
        r#"{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"1","content":"ok"}]}}"#;

    #[test]
    fn a_trailing_result_that_comes_late_is_waited_for() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("s.jsonl");
        std::fs::write(&path, format!("{CALL}\n")).expect("written");
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
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("s.jsonl");
        std::fs::write(&path, format!("{CALL}\n")).expect("written");
        let loaded = load(Some(&path), Role::Main, Some("done"));
        assert!(loaded.waited >= patience::OPEN_CALL);
        assert_eq!(loaded.session.touches[0].outcome, Outcome::Unanswered);
    }

    #[test]
    fn an_old_transcript_is_not_waited_for() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("s.jsonl");
        let old = CALL.replacen('{', r#"{"timestamp":"2020-01-01T00:00:00Z","#, 1);
        std::fs::write(&path, format!("{old}\n{RESULT}\n")).expect("written");
        let mut builder = SessionBuilder::new(Role::Main);
        reader::fold_from(&path, 0, &mut builder).expect("readable");
        assert_eq!(patience_for(&builder, Some("done")), Duration::ZERO);
    }

    #[test]
    fn rows_that_the_last_words_overtook_are_waited_for() {
        let row = |json: &str, uuid: &str, parent: &str| {
            let time = Timestamp::now();
            let start = format!(r#"{{"timestamp":"{time}","uuid":"{uuid}","parentUuid":{parent},"#);
            json.replacen('{', &start, 1) + "\n"
        };
        for message in [None, Some("done")] {
            let folder = tempfile::tempdir().expect("a folder");
            let path = folder.path().join("s.jsonl");
            let ask = row(r#"{"type":"user","message":{"content":"write it"}}"#, "r1", "null");
            let late = [ask, row(CALL, "r2", r#""r1""#), row(RESULT, "r3", r#""r2""#)];
            std::thread::sleep(Duration::from_millis(5));
            let words = r#"{"type":"assistant","message":{"id":"n","content":"done"}}"#;
            std::fs::write(&path, row(words, "r4", r#""r3""#)).expect("written");
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
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("s.jsonl");
        std::fs::write(&path, format!("{CALL}\n")).expect("written");
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
            let folder = tempfile::tempdir().expect("a folder");
            let main = folder.path().join("s.jsonl");
            std::fs::write(&main, "").expect("written");
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
