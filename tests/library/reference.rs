//! The session's fold against a slow reference on every transcript at hand: the fixtures, and
//! whatever `PUNCHLIST_TRANSCRIPTS` points at (a folder of real ones, say `~/.claude/projects`).
//! None may panic, hang or lose anything, whether it is read at once or in pieces.

use std::collections::HashMap;
use std::io::Write;
use std::path::{Path, PathBuf};

use punchlist::client::prompt::persons_words;
use punchlist::session::load::{Reading, load_saved};
use punchlist::session::{CommandEnd, Session, resume};
use serde_json::Value;

/// What the reference sees.
#[derive(Debug, Default, PartialEq, Eq)]
struct Seen {
    /// Files changed with success, in the order of the calls.
    edits: Vec<String>,
    /// Commands, whether each failed, and the end of what it printed.
    commands: Vec<(String, bool, String)>,
    asks: Vec<String>,
    /// Task lists as written at once; tasks made one by one are told by their results.
    todos: Vec<(String, String)>,
    reads: Vec<String>,
    helpers: Vec<String>,
    final_message: Option<String>,
    rows: usize,
}

/// How much of a command's output is compared: the session keeps no more.
const END: usize = 1_000;

fn end_of(text: &str) -> String {
    text[text.ceil_char_boundary(text.len().saturating_sub(END))..].to_owned()
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or_default()
}

fn time_of(row: &Value) -> Option<i64> {
    text(row, "timestamp").parse().ok().map(jiff::Timestamp::as_millisecond)
}

/// All text of a content, blocks joined.
fn content_of(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => {
            let texts = blocks.iter().map(|block| text(block, "text")).filter(|text| !text.is_empty());
            texts.collect::<Vec<_>>().join("\n")
        }
        _ => String::new(),
    }
}

/// The plain way: every line as a `Value`, one call and its result at a time, nothing clever.
#[derive(Default)]
struct Reference {
    seen: Seen,
    calls: HashMap<String, Value>,
    order: Vec<String>,
    /// How each call ended: done or not, and what came back.
    ends: HashMap<String, (bool, String)>,
    /// Results whose calls have not come yet, each in a row of its own.
    early: HashMap<String, Value>,
    uuids: std::collections::HashSet<String>,
    words_of: Option<String>,
    /// When the newest words were said, if something that comes before them was not there yet.
    ahead_since: Option<i64>,
}

impl Reference {
    fn of(bytes: &[u8]) -> Seen {
        let mut reference = Self::default();
        for line in bytes.split(|byte| *byte == b'\n') {
            let line = String::from_utf8_lossy(line);
            let line = line.trim_matches(|c: char| c == '\0' || c.is_whitespace());
            for row in serde_json::Deserializer::from_str(line).into_iter::<Value>() {
                let Ok(row) = row else { break };
                reference.row(&row);
            }
        }
        reference.finish()
    }

    fn row(&mut self, row: &Value) {
        let kind = text(row, "type");
        let is_known = ["user", "assistant", "attachment"].contains(&kind);
        let is_copy = |uuids: &mut std::collections::HashSet<String>| {
            row["uuid"].as_str().is_some_and(|id| !id.is_empty() && !uuids.insert(id.to_owned()))
        };
        if !is_known || is_copy(&mut self.uuids) {
            return;
        }
        self.seen.rows += 1;
        let aside = row["isSidechain"] == true;
        match kind {
            "assistant" => self.assistant(row, aside),
            "user" => self.user(row, aside),
            _ => self.attachment(row, aside),
        }
    }

    fn assistant(&mut self, row: &Value, aside: bool) {
        let speaks = !aside && row["isApiErrorMessage"] != true;
        let message = &row["message"];
        let id = message["id"].as_str().map(String::from);
        if let (Some(words), true) = (message["content"].as_str(), speaks) {
            self.words(words, id.as_deref(), row);
        }
        for block in message["content"].as_array().into_iter().flatten() {
            if block["type"] == "text" && speaks {
                self.words(text(block, "text"), id.as_deref(), row);
            }
            let (Some(call), Some(_)) = (block["id"].as_str(), block["name"].as_str()) else { continue };
            if block["type"] == "tool_use" && !self.calls.contains_key(call) {
                let mut block = block.clone();
                block["aside"] = aside.into();
                let ends_words = !aside && !self.was_overtaken(row);
                self.calls.insert(call.into(), block);
                self.order.push(call.into());
                if let Some(early) = self.early.remove(call) {
                    self.user(&early, aside);
                }
                if ends_words {
                    self.end_words();
                }
            }
        }
    }

    /// Whether a row comes before the newest words, though it stands behind them.
    fn was_overtaken(&self, row: &Value) -> bool {
        self.ahead_since.zip(time_of(row)).is_some_and(|(words, time)| time < words)
    }

    fn end_words(&mut self) {
        (self.seen.final_message, self.words_of, self.ahead_since) = (None, None, None);
    }

    fn words(&mut self, words: &str, message: Option<&str>, row: &Value) {
        let goes_on = message.is_some() && self.words_of.as_deref() == message;
        if words.trim().is_empty() || (!goes_on && self.was_overtaken(row)) {
            return;
        }
        let lacks_parent = row["parentUuid"].as_str().is_some_and(|id| !self.uuids.contains(id));
        let was_ahead = goes_on && self.ahead_since.is_some();
        let is_ahead = lacks_parent || was_ahead || self.seen.asks.is_empty() || !self.early.is_empty();
        self.ahead_since = time_of(row).filter(|_| is_ahead);
        self.seen.final_message = match self.seen.final_message.take() {
            Some(before) if goes_on => Some(format!("{before}\n{words}")),
            _ => Some(words.to_owned()),
        };
        self.words_of = message.map(String::from);
    }

    fn user(&mut self, row: &Value, aside: bool) {
        let content = &row["message"]["content"];
        let blocks = content.as_array().cloned().unwrap_or_default();
        let results: Vec<_> = blocks.iter().filter(|block| block["type"] == "tool_result").collect();
        for block in &results {
            let Some(id) = block["tool_use_id"].as_str() else { continue };
            let Some(call) = self.calls.get(id) else {
                // A result may stand before its call.
                let mut early = row.clone();
                early["message"]["content"] = Value::Array(vec![(*block).clone()]);
                if results.len() > 1 {
                    early["toolUseResult"] = Value::Null;
                }
                self.early.entry(id.into()).or_insert(early);
                continue;
            };
            let result = &row["toolUseResult"];
            let plain = results.len() == 1 && result.is_string();
            let staged = results.len() == 1 && result["staged"] == true;
            let is_command = ["Bash", "PowerShell"].contains(&text(call, "name"));
            let plain_error = plain && result.as_str().is_some_and(|text| text.starts_with("Error"));
            let is_edit = ["Write", "Edit", "MultiEdit", "NotebookEdit"].contains(&text(call, "name"));
            let failed =
                block["is_error"] == true || (is_edit && (plain || staged)) || (is_command && plain_error);
            self.ends.entry(id.into()).or_insert((!failed, content_of(&block["content"])));
            if text(call, "name") == "TodoWrite" && !failed && call["aside"] == false {
                let todos = call["input"]["todos"].as_array().cloned().unwrap_or_default();
                let todos = todos.iter().filter(|todo| todo.is_object());
                self.seen.todos =
                    todos.map(|todo| (text(todo, "content").into(), text(todo, "status").into())).collect();
            }
        }
        let is_said =
            ["isMeta", "isCompactSummary", "isVisibleInTranscriptOnly"].iter().all(|key| row[key] != true);
        let is_persons = row["origin"]["kind"].as_str().is_none_or(|kind| kind == "human" || kind.is_empty())
            && row["promptSource"] != "system";
        if !results.is_empty() || aside || !is_said || !is_persons {
            return;
        }
        if !text(row, "planContent").is_empty() {
            return self.ask("Implement the following plan.", row);
        }
        let words = match content {
            Value::String(words) => persons_words(words).map(String::from),
            Value::Array(blocks) => {
                let words = blocks.iter().filter_map(|block| persons_words(text(block, "text")));
                Some(words.collect::<Vec<_>>().join("\n")).filter(|words| !words.is_empty())
            }
            _ => None,
        };
        match words.as_deref().map(|words| (words, words.strip_prefix("Implement the following plan:"))) {
            Some((_, Some(plan))) if !plan.trim().is_empty() => {
                self.ask("Implement the following plan.", row);
            }
            Some((words, _)) => self.ask(words, row),
            None => {}
        }
    }

    fn attachment(&mut self, row: &Value, aside: bool) {
        let attachment = &row["attachment"];
        if aside || attachment["type"] != "queued_command" || attachment["commandMode"] != "prompt" {
            return;
        }
        if let Some(words) = persons_words(&content_of(&attachment["prompt"])) {
            self.ask(&words, row);
        }
    }

    fn ask(&mut self, words: &str, row: &Value) {
        if self.seen.asks.last().is_none_or(|last| last != words) {
            self.seen.asks.push(words.to_owned());
        }
        if !self.was_overtaken(row) {
            self.end_words();
        }
    }

    fn finish(mut self) -> Seen {
        for id in &self.order {
            let call = &self.calls[id];
            let (name, input, aside) = (text(call, "name"), &call["input"], call["aside"] == true);
            let path = [text(input, "file_path"), text(input, "notebook_path")];
            let path = path.into_iter().find(|path| !path.is_empty());
            let end = self.ends.get(id);
            match (name, path) {
                ("Write" | "Edit" | "MultiEdit" | "NotebookEdit", Some(path))
                    if end.is_some_and(|(done, _)| *done) =>
                {
                    self.seen.edits.push(path.into());
                }
                ("Bash" | "PowerShell", _) => {
                    let failed = end.is_some_and(|(done, _)| !done);
                    let printed = end.map(|(_, printed)| end_of(printed)).unwrap_or_default();
                    self.seen.commands.push((text(input, "command").into(), failed, printed));
                }
                ("Read", Some(_)) => {
                    let path = text(input, "file_path").to_owned();
                    if !path.is_empty() && !self.seen.reads.contains(&path) {
                        self.seen.reads.push(path);
                    }
                }
                ("Agent" | "Task", _) if !aside => self.seen.helpers.push(text(input, "description").into()),
                _ => {}
            }
        }
        self.seen
    }
}

/// The session, in the words of the reference. Of long texts the session keeps a part, and says so.
fn told(session: &Session, reference: &Seen) -> Seen {
    let whole = |kept: &str, other: &str| {
        if kept.contains("bytes cut …]") { other.to_owned() } else { kept.to_owned() }
    };
    let commands = session.commands.iter().enumerate().map(|(at, command)| {
        let line = reference.commands.get(at).map_or("", |command| &command.0);
        let failed = matches!(command.end, CommandEnd::Failed(_));
        (whole(&command.line, line), failed, end_of(&command.output))
    });
    let asks = session.asks.iter().enumerate();
    let message = reference.final_message.as_deref().unwrap_or_default();
    // A task that was made by itself has an id.
    let listed = session.todos.iter().filter(|_| !reference.todos.is_empty());
    Seen {
        edits: session.done_touches().map(|touch| touch.path.clone()).collect(),
        commands: commands.collect(),
        asks: asks.map(|(at, ask)| whole(&ask.text, reference.asks.get(at).map_or("", |ask| ask))).collect(),
        todos: listed.map(|todo| (todo.text.clone(), todo.status.clone())).collect(),
        reads: session.reads.iter().map(|read| read.path.clone()).collect(),
        helpers: session.delegations.iter().map(|helper| helper.description.clone()).collect(),
        final_message: session.final_message.as_deref().map(|words| whole(words, message)),
        rows: session.rows,
    }
}

fn transcripts() -> Vec<PathBuf> {
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
    let more = std::env::var_os("PUNCHLIST_TRANSCRIPTS").map(PathBuf::from);
    [Some(own), more]
        .into_iter()
        .flatten()
        .flat_map(walkdir::WalkDir::new)
        .filter_map(Result::ok)
        .map(walkdir::DirEntry::into_path)
        .filter(|path| path.extension().is_some_and(|ext| ext == "jsonl"))
        .collect()
}

/// A copy of a transcript, alone: what subagents did is told apart.
fn alone(bytes: &[u8]) -> tempfile::NamedTempFile {
    let mut file = tempfile::Builder::new().suffix(".jsonl").tempfile().expect("a file");
    file.write_all(bytes).expect("written");
    file
}

#[test]
fn the_fold_sees_what_a_slow_reader_sees() {
    let transcripts = transcripts();
    assert!(transcripts.len() >= 2, "the fixtures at least");
    let mut edits = 0;
    for path in &transcripts {
        let bytes = std::fs::read(path).expect("readable");
        let expected = Reference::of(&bytes);
        edits += expected.edits.len();
        let session = load_saved(alone(&bytes).path()).session;
        assert_eq!(told(&session, &expected), expected, "{}", path.display());
    }
    assert!(edits >= 8, "{edits} edits in {} transcripts", transcripts.len());
}

#[test]
fn the_fold_sees_what_a_slow_reader_sees_where_the_last_rows_come_first() {
    for path in &transcripts() {
        let bytes = std::fs::read(path).expect("readable");
        for in_front in 1..4 {
            let mut lines: Vec<&[u8]> =
                bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).collect();
            let in_front = in_front.min(lines.len());
            lines.rotate_right(in_front);
            let bytes = lines.join(&b'\n');
            let expected = Reference::of(&bytes);
            let session = load_saved(alone(&bytes).path()).session;
            assert_eq!(told(&session, &expected), expected, "{in_front} of {}", path.display());
        }
    }
}

#[test]
fn a_transcript_that_grows_is_the_one_that_is_there_in_the_end() {
    for path in transcripts() {
        let bytes = std::fs::read(&path).expect("readable");
        let expected = load_saved(alone(&bytes).path()).session;
        let mut file = alone(b"");
        let mut kept = Vec::new();
        // Cuts that have nothing to do with lines.
        for part in bytes.chunks((bytes.len() / 7 + 13).max(1)) {
            file.write_all(part).expect("written");
            let reading = Reading::saved(file.path(), resume::decode(&kept).unwrap_or_default());
            kept = reading.resume_points().and_then(|points| resume::encode(&points)).unwrap_or(kept);
        }
        let reading = Reading::saved(file.path(), resume::decode(&kept).unwrap_or_default());
        let mut session = reading.finish().session;
        session.sources.clone_from(&expected.sources);
        assert_eq!(session, expected, "{}", path.display());
    }
}
