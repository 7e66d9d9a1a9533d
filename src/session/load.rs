//! Takes a transcript's path, gives the whole session: the file, its subagents' files, and the final message
//! that the hook's input carries. Touches the disk and the clock; must not decide anything.

use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use jiff::Timestamp;
use walkdir::WalkDir;

use super::ledger::{Ledger, MESSAGE_CAP, Role};
use super::{Session, Tail, reader};
use crate::text::last_part;

/// The client writes its transcript every 100 ms, so a stop is often seen before its last rows are there.
/// These bound how long we wait for them.
mod patience {
    use std::time::Duration;

    /// For the result of a trailing tool call.
    pub(super) const OPEN_CALL: Duration = Duration::from_secs(2);
    /// For the final message itself, from clients that do not send it along.
    pub(super) const NO_MESSAGE: Duration = Duration::from_millis(500);
    /// For rows written in the same breath as the final message. Every row was there within 80 ms, on all
    /// versions tried; a file that ends on a finished tool result can lack a whole further call till then.
    pub(super) const FRESH_ROWS: Duration = Duration::from_millis(300);
    /// A last row older than this was flushed long ago: whatever is missing is only the final message, which
    /// we have. A model takes longer than this to speak; a scripted one does not.
    pub(super) const FRESH: Duration = Duration::from_secs(1);
    /// How often to look.
    pub(super) const POLL: Duration = Duration::from_millis(10);
}

/// A session as read, and how the reading went.
#[derive(Debug)]
pub struct Loaded {
    /// What happened.
    pub session: Session,
    /// Why the transcript could not be read, if it could not.
    pub problem: Option<String>,
    /// How long was waited for the transcript to catch up.
    pub waited: Duration,
    /// How many subagents' transcripts were folded in.
    pub subagents: usize,
}

/// Reads the session of a stop. A transcript that is missing or unreadable gives an empty session and says why.
pub fn load(transcript: Option<&Path>, role: Role, last_message: Option<&str>) -> Loaded {
    let mut loaded = match transcript {
        None => Loaded {
            session: Session::default(),
            problem: Some("the hook's input names no transcript".to_owned()),
            waited: Duration::ZERO,
            subagents: 0,
        },
        Some(path) => read_with(path, role, |ledger| read_until_settled(path, ledger, last_message)),
    };
    if let Some(message) = last_message {
        loaded.session.final_message = Some(last_part(message, MESSAGE_CAP));
    }
    loaded
}

/// Reads a session that is over. Its transcript ends where it ends: nothing is waited for.
pub fn load_saved(transcript: &Path) -> Loaded {
    read_with(transcript, Role::Main, |ledger| {
        reader::fold_from(transcript, 0, ledger).map(|_| Duration::ZERO)
    })
}

/// Folds a transcript as `read` reads it, and a main agent's subagents.
fn read_with(
    transcript: &Path,
    role: Role,
    read: impl FnOnce(&mut Ledger) -> io::Result<Duration>,
) -> Loaded {
    let mut ledger = Ledger::new(role);
    let (waited, problem) = match read(&mut ledger) {
        Ok(waited) => (waited, None),
        Err(error) => (Duration::ZERO, Some(format!("{}: {error}", transcript.display()))),
    };
    let mut session = ledger.into_session();
    let mut subagents = 0;
    if role == Role::Main {
        for file in subagent_transcripts(transcript) {
            let mut ledger = Ledger::new(Role::Subagent);
            if reader::fold_from(&file, 0, &mut ledger).is_ok() {
                session.absorb(ledger.into_session(), &agent_name(&file));
                subagents += 1;
            }
        }
    }
    Loaded { session, problem, waited, subagents }
}

/// Reads the transcript, and what is still being written of it; gives how long was waited for that.
fn read_until_settled(path: &Path, ledger: &mut Ledger, last_message: Option<&str>) -> io::Result<Duration> {
    // A session of one quick turn can stop before its transcript is there at all.
    let for_the_file = wait_while(|waited| !path.exists() && waited < patience::FRESH_ROWS);
    let mut offset = reader::fold_from(path, 0, ledger)?;
    let mut failed = None;
    let for_rows = wait_while(|waited| {
        let grown = std::fs::metadata(path).is_ok_and(|meta| meta.len() > offset);
        if grown {
            match reader::fold_from(path, offset, ledger) {
                Ok(after) => offset = after,
                Err(error) => failed = Some(error),
            }
        }
        failed.is_none() && waited < patience_for(ledger, last_message)
    });
    failed.map_or(Ok(for_the_file + for_rows), Err)
}

/// Looks again and again, until there is nothing more to wait for; gives how long that took.
fn wait_while(mut worth_waiting: impl FnMut(Duration) -> bool) -> Duration {
    let started = Instant::now();
    while worth_waiting(started.elapsed()) {
        std::thread::sleep(patience::POLL);
    }
    started.elapsed()
}

/// How long the transcript as read so far is worth waiting for.
fn patience_for(ledger: &Ledger, last_message: Option<&str>) -> Duration {
    let session = ledger.peek();
    let is_fresh = || {
        let last = ledger.last_time().and_then(|time| time.parse::<Timestamp>().ok());
        last.is_none_or(|last| Timestamp::now().duration_since(last).unsigned_abs() < patience::FRESH)
    };
    match (session.tail, last_message) {
        (Tail::OpenCall, _) => patience::OPEN_CALL,
        (Tail::Words, None) => Duration::ZERO,
        // 2.1.42 was seen to stop with the file still empty.
        (Tail::Empty | Tail::Result | Tail::Prompt, None) => patience::NO_MESSAGE,
        (_, Some(message)) => {
            let arrived =
                session.final_message.as_deref().is_some_and(|words| words.trim() == message.trim());
            if !arrived && is_fresh() { patience::FRESH_ROWS } else { Duration::ZERO }
        }
    }
}

/// Helpers of the client itself: they hold copied rows or no work at all.
const NOT_WORKERS: &[&str] = &["agent-acompact-", "agent-aprompt_suggestion-"];

/// The transcripts of a session's subagents: in a folder of its own from 2.1.17 on, beside it in 2.0.x.
fn subagent_transcripts(transcript: &Path) -> Vec<PathBuf> {
    let own_folder = transcript.with_extension("").join("subagents");
    let files = |folder: &Path| -> Vec<PathBuf> {
        WalkDir::new(folder)
            .min_depth(1)
            .max_depth(1)
            .sort_by_file_name()
            .into_iter()
            .filter_map(Result::ok)
            .filter(|entry| entry.file_type().is_file())
            .filter(|entry| {
                let name = entry.file_name().to_string_lossy();
                name.starts_with("agent-")
                    && name.ends_with(".jsonl")
                    && !NOT_WORKERS.iter().any(|start| name.starts_with(start))
            })
            .map(walkdir::DirEntry::into_path)
            .collect()
    };
    if own_folder.is_dir() {
        return files(&own_folder);
    }
    let Some((folder, session)) =
        transcript.parent().zip(transcript.file_stem().and_then(|stem| stem.to_str()))
    else {
        return Vec::new();
    };
    files(folder).into_iter().filter(|file| belongs_to(file, session)).collect()
}

/// Whether a subagent's file is of this session: its first row says so.
fn belongs_to(file: &Path, session: &str) -> bool {
    use std::io::{BufRead, BufReader, Read};
    let Ok(file) = std::fs::File::open(file) else { return false };
    let mut line = String::new();
    if BufReader::new(file.take(1 << 20)).read_line(&mut line).is_err() {
        return false;
    }
    let mut is_ours = false;
    super::lines::rows_of(&line, |row| is_ours |= row.session_id.get() == Some(session));
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
        let mut ledger = Ledger::new(Role::Main);
        reader::fold_from(&path, 0, &mut ledger).expect("readable");
        assert_eq!(patience_for(&ledger, Some("done")), Duration::ZERO);
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
    fn a_missing_transcript_is_an_empty_session_that_says_so() {
        let loaded = load(Some(Path::new("/nowhere/s.jsonl")), Role::Main, Some("done"));
        assert!(loaded.problem.expect("a problem").starts_with("/nowhere/s.jsonl: "));
        assert_eq!(loaded.session.final_message.as_deref(), Some("done"));
    }
}
