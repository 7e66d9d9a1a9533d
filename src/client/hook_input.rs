//! The hook's input on stdin. Must not fail on a field that is missing, unknown or of another type
//! than today's, only on what is no JSON object.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// The main agent is about to stop.
    Stop,
    SubagentStop,
    /// A session starts, goes on or was compacted.
    SessionStart,
    /// The person has sent a prompt.
    PromptSubmit,
    /// An event that punchlist is not for.
    Other(String),
}

impl Event {
    pub fn name(&self) -> &str {
        match self {
            Self::Stop => "Stop",
            Self::SubagentStop => "SubagentStop",
            Self::SessionStart => "SessionStart",
            Self::PromptSubmit => "UserPromptSubmit",
            Self::Other(name) => name,
        }
    }
}

/// Something that the session left running in the background.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BackgroundTask {
    /// The client's id for it; a subagent's is its agent id.
    pub id: String,
    /// The client's name for its kind.
    pub kind: String,
    /// `running`, `completed`, …
    pub status: String,
    pub description: String,
}

impl BackgroundTask {
    /// Whether it may run without end. A subagent ends by itself, and its report starts a turn.
    pub fn may_run_on(&self) -> bool {
        !self.kind.contains("agent")
    }

    /// Whether it still runs. An unknown status counts as running: then the stop is not audited,
    /// which is safe.
    pub fn is_running(&self) -> bool {
        !["completed", "failed", "killed", "stopped", "cancelled", "canceled", "done", "exited"]
            .iter()
            .any(|over| self.status.eq_ignore_ascii_case(over))
    }
}

/// What the client gives its hook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HookInput {
    pub event: Event,
    pub session_id: Option<String>,
    /// The session's transcript; may name a file that does not exist.
    pub transcript_path: Option<PathBuf>,
    /// The session's current folder; moves with `cd`.
    pub cwd: Option<PathBuf>,
    /// `default`, `plan`, `bypassPermissions`, …
    pub permission_mode: Option<String>,
    /// Whether a Stop hook blocked the last stop, and the session went on because of that.
    pub stop_hook_active: bool,
    /// The final message, which the transcript may not hold yet (2.1.47 and later).
    pub last_assistant_message: Option<String>,
    /// The prompt that this turn answers (2.1.145 and later).
    pub prompt_id: Option<String>,
    /// Background tasks (2.1.145 and later).
    pub background_tasks: Vec<BackgroundTask>,
    pub agent_id: Option<String>,
    pub agent_type: Option<String>,
    /// `SubagentStop`: its own transcript.
    pub agent_transcript_path: Option<PathBuf>,
    /// `SessionStart`: `startup`, `resume`, `clear` or `compact`.
    pub source: Option<String>,
    /// Whether it is another client's: one that has its own names for the fields that Claude Code
    /// always sends.
    pub is_foreign: bool,
}

/// Why stdin is not a hook's input.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InputError {
    #[error("stdin is empty; `punchlist hook` is run by Claude Code, which sends the hook's JSON there")]
    Empty,
    #[error("stdin is not the hook's JSON ({0}); `punchlist hook` is run by Claude Code, see the README")]
    NotJson(String),
}

/// What other clients that run this hook call the session's id, and its transcript.
const FOREIGN_IDS: [&str; 3] = ["sessionId", "conversation_id", "thread_id"];
const FOREIGN_TRANSCRIPT: &str = "transcriptPath";
/// What one of them sends that has the other names of Claude Code's, and no transcript where it
/// keeps none.
const FOREIGN_TURN: &str = "turn_id";
/// What some send besides; without a session's id that is all there is.
const FOREIGN_TIME: &str = "timestamp";
/// What one of them calls a stop. Its other fields have Claude Code's names.
const FOREIGN_STOP: &str = "AfterAgent";

impl HookInput {
    /// Reads what came on stdin.
    pub fn parse(stdin: &[u8]) -> Result<Self, InputError> {
        let text = String::from_utf8_lossy(stdin);
        let text = text.trim_matches(|c: char| c.is_whitespace() || c == '\u{feff}' || c == '\0');
        if text.is_empty() {
            return Err(InputError::Empty);
        }
        // A message that was cut in the middle of an emoji is a message still.
        let parsed = serde_json::from_str(text).or_else(|_| serde_json::from_str(&without_halves(text)));
        match parsed {
            Ok(Value::Object(fields)) => Ok(Self::from_fields(&fields)),
            Ok(_) => Err(InputError::NotJson("it is JSON, but not an object".into())),
            Err(error) => Err(InputError::NotJson(error.to_string())),
        }
    }

    fn from_fields(fields: &Map<String, Value>) -> Self {
        let text =
            |key: &str| fields.get(key).and_then(Value::as_str).filter(|s| !s.is_empty()).map(String::from);
        let path = |key: &str| text(key).map(PathBuf::from);
        let has_foreign_names = FOREIGN_IDS
            .iter()
            .chain(&[FOREIGN_TRANSCRIPT, FOREIGN_TIME])
            .any(|key| fields.contains_key(*key));
        let name = text("hook_event_name");
        let is_foreign = !fields.contains_key("session_id") && has_foreign_names
            || fields.contains_key(FOREIGN_TURN) && text("transcript_path").is_none()
            || name.as_deref() == Some(FOREIGN_STOP);
        let event = match name.as_deref() {
            // Without a name it is still our registration that started us, and we register on Stop.
            None | Some("Stop" | FOREIGN_STOP) => Event::Stop,
            Some("SubagentStop") => Event::SubagentStop,
            Some("SessionStart") => Event::SessionStart,
            Some("UserPromptSubmit") => Event::PromptSubmit,
            // They have names of their own for a stop, too.
            Some(other) if is_foreign && other.to_lowercase().ends_with("stop") => Event::Stop,
            Some(other) => Event::Other(other.into()),
        };
        let foreign_id = || FOREIGN_IDS.iter().find_map(|key| text(key));
        Self {
            event,
            session_id: text("session_id").or_else(foreign_id),
            transcript_path: path("transcript_path"),
            cwd: path("cwd"),
            permission_mode: text("permission_mode"),
            stop_hook_active: fields.get("stop_hook_active").and_then(Value::as_bool).unwrap_or(false),
            last_assistant_message: text("last_assistant_message"),
            prompt_id: text("prompt_id"),
            background_tasks: fields.get("background_tasks").map(background_tasks).unwrap_or_default(),
            agent_id: text("agent_id"),
            agent_type: text("agent_type"),
            agent_transcript_path: path("agent_transcript_path"),
            source: text("source"),
            is_foreign,
        }
    }

    /// Returns the transcript of the agent or subagent that is stopping.
    pub fn own_transcript(&self) -> Option<&Path> {
        match self.event {
            Event::SubagentStop => self.agent_transcript_path.as_deref(),
            Event::Stop | Event::SessionStart | Event::PromptSubmit | Event::Other(_) => {
                self.transcript_path.as_deref()
            }
        }
    }

    /// Returns the tasks that run on after this stop. A `SubagentStop` lists the stopping agent,
    /// too.
    pub fn running_tasks(&self) -> impl Iterator<Item = &BackgroundTask> {
        self.background_tasks
            .iter()
            .filter(|task| task.is_running())
            .filter(|task| self.event == Event::Stop || Some(&task.id) != self.agent_id.as_ref())
    }
}

/// Returns JSON with `\u{fffd}` in the place of each half of a character that is escaped alone.
fn without_halves(json: &str) -> String {
    let code = |at: usize| {
        let digits = json.get(at..at + 6)?.strip_prefix("\\u")?;
        u32::from_str_radix(digits, 16).ok()
    };
    let (mut whole, mut at) = (String::with_capacity(json.len()), 0);
    while let Some(found) = json[at..].find('\\') {
        let start = at + found;
        whole.push_str(&json[at..start]);
        let is_pair =
            matches!((code(start), code(start + 6)), (Some(0xd800..=0xdbff), Some(0xdc00..=0xdfff)));
        let (kept, length) = match code(start) {
            _ if is_pair => (&json[start..start + 12], 12),
            Some(0xd800..=0xdfff) => ("\\ufffd", 6),
            _ => {
                let next = json[start + 1..].chars().next().map_or(0, char::len_utf8);
                (&json[start..=start + next], 1 + next)
            }
        };
        whole.push_str(kept);
        at = start + length;
    }
    whole + &json[at..]
}

fn background_tasks(value: &Value) -> Vec<BackgroundTask> {
    let text = |task: &Value, key: &str| task.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    value
        .as_array()
        .into_iter()
        .flatten()
        .filter(|task| task.is_object())
        .map(|task| BackgroundTask {
            id: text(task, "id"),
            kind: text(task, "type"),
            status: text(task, "status"),
            description: text(task, "description"),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn parse(json: &str) -> HookInput {
        HookInput::parse(json.as_bytes()).expect("an object")
    }

    #[test]
    fn current_input_is_parsed_whole() {
        let input = parse(
            r#"{"session_id":"s","transcript_path":"/t.jsonl","cwd":"/w","permission_mode":"default",
                "hook_event_name":"SubagentStop","stop_hook_active":true,"last_assistant_message":"Done.",
                "agent_id":"a1","agent_type":"Explore","agent_transcript_path":"/a.jsonl",
                "background_tasks":[{"id":"a1","type":"agent","status":"running","description":"me"},
                                    {"id":"b2","type":"shell","status":"running","description":"tests"},
                                    {"id":"c3","type":"shell","status":"completed","description":"old"}]}"#,
        );
        assert_eq!(input.event, Event::SubagentStop);
        assert!(input.stop_hook_active);
        assert_eq!(input.own_transcript(), Some(Path::new("/a.jsonl")));
        assert_eq!(input.running_tasks().map(|t| t.id.as_str()).collect::<Vec<_>>(), ["b2"]);
    }

    #[test]
    fn a_sessions_start_says_why_it_starts() {
        let input =
            parse(r#"{"session_id":"s","cwd":"/w","hook_event_name":"SessionStart","source":"compact"}"#);
        assert_eq!((&input.event, input.source.as_deref()), (&Event::SessionStart, Some("compact")));
        assert_eq!(input.event.name(), "SessionStart");
    }

    #[test]
    fn another_clients_stop_is_a_stop_and_its_session_has_a_name() {
        let cursor = parse(r#"{"hook_event_name":"stop","conversation_id":"c","status":"completed"}"#);
        assert_eq!((cursor.event, cursor.session_id.as_deref()), (Event::Stop, Some("c")));
        assert!(cursor.is_foreign);
        for transcript in ["", r#""transcript_path":null,"#] {
            let codex = format!(r#"{{"session_id":"s","turn_id":"t",{transcript}"hook_event_name":"Stop"}}"#);
            assert!(parse(&codex).is_foreign, "{codex}");
        }
        for other in [
            r#"{"session_id":"s","transcript_path":"/t","timestamp":"2026-01-01","hook_event_name":"AfterAgent"}"#,
            r#"{"timestamp":1767225600000,"cwd":"/w"}"#,
        ] {
            let stop = parse(other);
            assert_eq!((stop.event, stop.is_foreign), (Event::Stop, true), "{other}");
        }
        let own = parse(r#"{"session_id":"s","transcript_path":"/t","hook_event_name":"stop"}"#);
        assert_eq!((own.event, own.is_foreign), (Event::Other("stop".into()), false));
    }

    #[test]
    fn unknown_fields_and_other_types_are_ignored() {
        let input = parse(r#"{"session_id":7,"stop_hook_active":"yes","background_tasks":{"x":1},"new":[]}"#);
        assert_eq!((input.session_id, input.stop_hook_active, input.event), (None, false, Event::Stop));
        assert!(input.background_tasks.is_empty());
    }

    #[test]
    fn half_a_character_in_a_message_was_no_input() {
        let said = |json: &str| parse(json).last_assistant_message.expect("a message");
        assert_eq!(
            said(r#"{"last_assistant_message":"Done \ud83d\ude00 \ud83d"}"#),
            "Done \u{1f600} \u{fffd}"
        );
        assert_eq!(
            said(r#"{"last_assistant_message":"\ude00 \\ud83d \ud83d\n"}"#),
            "\u{fffd} \\ud83d \u{fffd}\n"
        );
        assert!(HookInput::parse(br#"{"last_assistant_message":"x\"#).is_err());
    }

    #[test]
    fn input_that_is_no_object_is_an_error() {
        assert_eq!(HookInput::parse(b" \n"), Err(InputError::Empty));
        assert_eq!(
            HookInput::parse(b"[1]").expect_err("a list").to_string(),
            "stdin is not the hook's JSON (it is JSON, but not an object); \
             `punchlist hook` is run by Claude Code, see the README"
        );
        assert!(HookInput::parse(b"{\"session_id\":").is_err());
        assert!(HookInput::parse(&[0xff, 0xfe, 0x00]).is_err());
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
            let _ = HookInput::parse(&bytes);
        }
    }
}
