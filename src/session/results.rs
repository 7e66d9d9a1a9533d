//! Takes a tool's result as the transcript has it, says how the call ended. Must not take a failure for an
//! edit: a plain-text result, `is_error`, or `staged` mean that nothing was written.

use memchr::memmem::Finder;
use serde::{Deserialize, Serialize};

use super::{CommandEnd, Original, Outcome, Recorded};
use crate::client::json_scan::{Needle, Raw};
use crate::client::row::{Block, Content, Field, record};
use crate::text::{last_part, start_and_end};

/// How long a file's text before the session may be, as the transcript writes it, to be of use.
const ORIGINAL_CAP: usize = 512 << 10;
/// How long it may be to be held here, where its place in the transcript is not known.
const HELD_CAP: usize = 32 << 10;
/// How much of a command's output is kept: its end, more of it where it did not end well.
const OUTPUT_CAP: usize = 1_600;
const FAILED_OUTPUT_CAP: usize = 2_400;
/// How much of a subagent's report is kept: its start and its end.
pub const REPORT_CAP: usize = 3 << 10;
/// How much of a failure's words is kept: their start.
const FAILURE_CAP: usize = 200;

/// A key of edits that were not written.
static STAGED: Needle = Needle::new(|| Finder::new("\"staged\""));

/// Keys of a command that did not run to its end.
static INTERRUPTED: Needle = Needle::new(|| Finder::new("\"interrupted\""));
static BACKGROUND: Needle = Needle::new(|| Finder::new("\"backgroundTaskId\""));

/// Whether the result of a command may tell that it did not run to its end. A look is enough for most: no string can
/// hold a key, and all that the command printed stands here once more.
fn may_be_cut_off(result: Raw<'_>) -> bool {
    let json = result.json();
    let is_true = |key: usize| {
        let behind = json[key + INTERRUPTED.needle().len()..].iter();
        behind.copied().find(|byte| !byte.is_ascii_whitespace() && *byte != b':') == Some(b't')
    };
    INTERRUPTED.find_iter(json).any(is_true) || BACKGROUND.find(json).is_some()
}

/// What the result of a call says, for each kind of call.
pub trait CallResult {
    /// How a call ended for which plain text is a result like another.
    fn outcome(&self) -> Outcome;
    /// How an edit ended, and what the file was before, where that is wanted.
    fn edit(&self, wants_before: bool) -> (Outcome, Original);
    /// How a shell command ended, and the end of what it printed.
    fn command(&self) -> (CommandEnd, String);
    /// An approved plan's text and file; `None` when it was rejected.
    fn plan(&self) -> Option<(Option<String>, Option<String>)>;
    /// The plan's short name, which stands in the row of the result.
    fn slug(&self) -> Option<String>;
    /// The id that the client gave to a new task.
    fn task_id(&self) -> Option<String>;
    /// What a subagent gave back.
    fn report(&self) -> Report;
    /// The text of a file that was read whole.
    fn read(&self) -> Original;
}

/// What a subagent gave back.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Report {
    /// Its words, start and end where they are long. Empty for one that was only sent to the
    /// background.
    pub text: String,
    pub agent_id: Option<String>,
}

/// A result block and what belongs to it in its row.
#[derive(Debug, Clone, Copy)]
pub struct ToolResult<'a, 'b> {
    /// The block in the message.
    pub block: &'b Block<'a>,
    /// The client's structured result, where it belongs to this block alone.
    pub structured: Field<'a>,
    /// The plan's short name.
    pub slug: Field<'a>,
    /// Where the row's line starts in the transcript, if it is read as it stands there.
    pub line_at: Option<u64>,
}

record! {
    /// The result of Write, Edit, `MultiEdit`.
    EditResult {
        /// `create` or `update`.
        kind = b"type",
        /// The file before.
        original_file = b"originalFile",
        /// The same, from `MultiEdit`.
        original_file_contents = b"originalFileContents",
        /// Not written.
        staged = b"staged",
    }
}

record! {
    /// The result of a shell command.
    BashResult {
        /// Ended by somebody.
        interrupted = b"interrupted",
        /// Still running.
        background_task_id = b"backgroundTaskId",
    }
}

record! {
    /// The result of leaving plan mode.
    PlanResult {
        /// The plan's text.
        plan = b"plan",
        /// The plan's file.
        file_path = b"filePath",
    }
}

record! {
    /// The result of making a task.
    TaskResult {
        task = b"task",
    }
}

record! {
    /// The result of a subagent's call.
    AgentResult {
        /// The subagent's id.
        agent_id = b"agentId",
        /// `completed`, `async_launched`, …
        status = b"status",
        /// What it said in the end.
        content = b"content",
    }
}

record! {
    /// The result of reading a file.
    ReadResult {
        file = b"file",
    }
}

record! {
    /// A file that was read, or a part of it.
    FilePart {
        /// Its text.
        content = b"content",
        /// Which line the text starts with.
        start_line = b"startLine",
        /// How many lines the text has.
        num_lines = b"numLines",
        /// How many lines the file has.
        total_lines = b"totalLines",
    }
}

record! {
    TaskId {
        id = b"id",
    }
}

impl<'a> ToolResult<'a, '_> {
    fn text(&self) -> std::borrow::Cow<'a, str> {
        Content::of(self.block.content).text()
    }

    /// The plain text that stands where an object should: how the client records a failure.
    fn plain_text(&self) -> Option<Raw<'a>> {
        // What stands behind it may be there, too.
        self.structured.raw().filter(|raw| raw.is_text()).and_then(|raw| raw.scan().value().ok())
    }

    /// Whether the call failed, by any of the client's ways to say so.
    fn failure(&self) -> Option<String> {
        if self.block.is_error.is_true() {
            return Some(first_words(&self.text()));
        }
        self.plain_text().map(|raw| first_words(&raw.text().unwrap_or_default()))
    }

    /// Returns the text of a file: its place in the transcript, or the text itself where that place
    /// is not known.
    fn original(&self, raw: Raw<'a>) -> Original {
        match self.line_at {
            _ if raw.json().len() > ORIGINAL_CAP => Original::Unknown,
            Some(line_at) => Original::Recorded(Recorded::of(raw, line_at)),
            None if raw.json().len() <= HELD_CAP => {
                raw.text().map_or(Original::Unknown, |text| Original::Text(text.into_owned()))
            }
            None => Original::Unknown,
        }
    }
}

impl CallResult for ToolResult<'_, '_> {
    fn outcome(&self) -> Outcome {
        if self.block.is_error.is_true() {
            return Outcome::Failed(first_words(&self.text()));
        }
        Outcome::Done
    }

    fn edit(&self, wants_before: bool) -> (Outcome, Original) {
        if let Some(failure) = self.failure() {
            return (Outcome::Failed(failure), Original::Unknown);
        }
        let raw = self.structured.raw();
        // No string can hold the key: a quote in it has a backslash before it.
        let may_be_staged = raw.is_some_and(|raw| STAGED.find(raw.json()).is_some());
        if !wants_before && !may_be_staged {
            return (Outcome::Done, Original::Unknown);
        }
        let result = EditResult::of(raw);
        if result.staged.is_true() {
            return (Outcome::Failed("staged, not written".into()), Original::Unknown);
        }
        let text = |field: Field<'_>| field.raw().is_some_and(|raw| raw.is_text() && raw.json().len() > 2);
        // Newer clients often write null here for a file that was there all the same.
        let known =
            [result.original_file, result.original_file_contents].into_iter().find(|field| text(*field));
        let before = match known.and_then(Field::raw) {
            Some(raw) => self.original(raw),
            None if result.kind.is("create") => Original::Absent,
            None => Original::Unknown,
        };
        (Outcome::Done, before)
    }

    fn command(&self) -> (CommandEnd, String) {
        let content = Content::of(self.block.content);
        let result = BashResult::of(self.structured.raw().filter(|raw| may_be_cut_off(*raw)));
        let end = if self.block.is_error.is_true() {
            CommandEnd::Failed(content.start(FAILURE_CAP).and_then(|text| exit_code(&text)))
        } else if result.interrupted.is_true() {
            CommandEnd::Interrupted
        } else if result.background_task_id.text().is_some() {
            CommandEnd::Background
        } else if self.plain_text().is_some_and(|raw| raw.json().starts_with(b"\"Error")) {
            CommandEnd::Failed(content.start(FAILURE_CAP).and_then(|text| exit_code(&text)))
        } else {
            CommandEnd::Succeeded
        };
        let cap = match end {
            CommandEnd::Failed(_) | CommandEnd::Interrupted => FAILED_OUTPUT_CAP,
            CommandEnd::Succeeded | CommandEnd::Background | CommandEnd::Unanswered => OUTPUT_CAP,
        };
        let output = match content {
            Content::Text(raw) => raw.end(cap).unwrap_or_default(),
            Content::Blocks(_) => last_part(&content.text(), cap),
        };
        (end, output)
    }

    fn plan(&self) -> Option<(Option<String>, Option<String>)> {
        if self.failure().is_some() {
            return None;
        }
        let result = PlanResult::of(self.structured.raw());
        let text = self.text();
        let saved_to = || {
            let line = text.lines().find_map(|line| line.split_once("plan has been saved to: "))?.1;
            Some(line.trim().to_owned())
        };
        Some((result.plan.owned(), result.file_path.owned().or_else(saved_to)))
    }

    fn slug(&self) -> Option<String> {
        self.slug.owned()
    }

    fn task_id(&self) -> Option<String> {
        let task = TaskResult::of(self.structured.raw()).task;
        if let Some(id) = TaskId::of(task.raw()).id.owned() {
            return Some(id);
        }
        // Without a structured result: "Task #3 created successfully: …".
        let text = self.text();
        let digits: String = text.split_once('#')?.1.chars().take_while(char::is_ascii_digit).collect();
        (!digits.is_empty()).then_some(digits)
    }

    fn report(&self) -> Report {
        let result = AgentResult::of(self.structured.raw());
        let agent_id = result.agent_id.owned();
        if result.status.is("async_launched") {
            return Report { text: String::new(), agent_id };
        }
        // The block has the client's own words behind those of the subagent.
        let text = Some(Content::of(result.content).text()).filter(|text| !text.trim().is_empty());
        Report { text: start_and_end(text.unwrap_or_else(|| self.text()).trim(), REPORT_CAP), agent_id }
    }

    fn read(&self) -> Original {
        let file = FilePart::of(ReadResult::of(self.structured.raw()).file.raw());
        let number = |field: Field<'_>| field.raw().map(|raw| raw.json().to_vec());
        let is_whole = number(file.start_line).as_deref() == Some(b"1")
            && number(file.num_lines).is_some_and(|lines| Some(lines) == number(file.total_lines));
        match file.content.raw().filter(|raw| is_whole && raw.is_text()) {
            Some(raw) => self.original(raw),
            None => Original::Unknown,
        }
    }
}

fn exit_code(text: &str) -> Option<i32> {
    let rest = text.trim_start().trim_start_matches("Error: ").strip_prefix("Exit code ")?;
    let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    rest[..end].parse().ok()
}

fn first_words(text: &str) -> String {
    let line = text.trim().trim_start_matches("<tool_use_error>");
    line.chars().take(FAILURE_CAP).collect::<String>().trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client::row::rows_of;

    fn with_result<R>(json: &str, look: impl Fn(ToolResult<'_, '_>) -> R) -> R {
        let mut found = None;
        assert!(rows_of(json.as_bytes(), |row| {
            let message = row.message.as_ref().expect("a message");
            let Content::Blocks(blocks) = &message.content else { panic!("blocks") };
            let (structured, slug) = (row.tool_use_result, row.slug);
            found = Some(look(ToolResult { block: &blocks[0], structured, slug, line_at: None }));
        }));
        found.expect("a row")
    }

    /// How it ended, and the text before; `None` where that is not told, empty where there was no file.
    fn edit(rest: &str) -> (Outcome, Option<String>) {
        let row = format!(r#"{{"message":{{"content":[{{"type":"tool_result","content":"x"{rest}}}"#);
        with_result(&row, |result| {
            let (outcome, before) = result.edit(true);
            let before = match before {
                Original::Unknown | Original::Recorded(_) => None,
                Original::Absent => Some(String::new()),
                Original::Text(text) => Some(text),
            };
            (outcome, before)
        })
    }

    #[test]
    fn edits_and_what_was_before_them() {
        assert_eq!(
            edit(r#"}]},"toolUseResult":{"type":"create","originalFile":null}"#),
            (Outcome::Done, Some(String::new()))
        );
        assert_eq!(
            edit(r#"}]},"toolUseResult":{"originalFile":"old"}"#),
            (Outcome::Done, Some("old".into()))
        );
        assert_eq!(
            edit(r#"}]},"toolUseResult":{"originalFileContents":"old"}"#),
            (Outcome::Done, Some("old".into()))
        );
        assert_eq!(edit("}]}"), (Outcome::Done, None));
        assert_eq!(edit(r#"}]},"toolUseResult":{"originalFile":""}"#), (Outcome::Done, None));
    }

    #[test]
    fn a_file_whose_text_the_client_does_not_tell_is_neither_new_nor_empty() {
        for rest in [
            r#"}]},"toolUseResult":{"filePath":"/w/a","originalFile":null}"#,
            r#"}]},"toolUseResult":{"type":"update","originalFile":null}"#,
        ] {
            assert_eq!(edit(rest), (Outcome::Done, None), "{rest}");
        }
    }

    #[test]
    fn failures_are_not_edits() {
        for rest in [
            r#"}]},"toolUseResult":"Error: File has not been read yet""#,
            r#","is_error":true}]}"#,
            r#","is_error":true}]},"toolUseResult":{"originalFile":"old"}"#,
            r#"}]},"toolUseResult":{"originalFile":"old","staged":true}"#,
        ] {
            assert!(matches!(edit(rest), (Outcome::Failed(_), None)), "{rest}");
        }
    }

    fn command(json: &str) -> (CommandEnd, String) {
        with_result(json, |result| result.command())
    }

    #[test]
    fn commands_and_how_they_ended() {
        let failed =
            r#"{"message":{"content":[{"type":"tool_result","content":"Exit code 3\nhi","is_error":true}]}}"#;
        assert_eq!(command(failed), (CommandEnd::Failed(Some(3)), "Exit code 3\nhi".into()));
        let cut = r#"{"message":{"content":[{"type":"tool_result","content":"x"}]},"toolUseResult":{"interrupted":true}}"#;
        assert_eq!(command(cut).0, CommandEnd::Interrupted);
        let back = r#"{"message":{"content":[{"type":"tool_result","content":"x"}]},"toolUseResult":{"backgroundTaskId":"b1"}}"#;
        assert_eq!(command(back).0, CommandEnd::Background);
        let fine =
            r#"{"message":{"content":[{"type":"tool_result","content":[{"type":"text","text":"ok"}]}]}}"#;
        assert_eq!(command(fine), (CommandEnd::Succeeded, "ok".into()));
    }

    #[test]
    fn a_failure_deep_in_a_long_output_is_kept() {
        let row = |rest: &str| {
            let output = format!("error: the cause{}", "x".repeat(2_300));
            format!(r#"{{"message":{{"content":[{{"type":"tool_result","content":"{output}"{rest}}}]}}}}"#)
        };
        assert!(command(&row(r#","is_error":true"#)).1.starts_with("error: the cause"));
        let (end, output) = command(&row(""));
        assert_eq!((end, output.trim_start_matches(|c| c != 'x').len()), (CommandEnd::Succeeded, OUTPUT_CAP));
    }

    fn report(json: &str) -> (String, Option<String>) {
        with_result(json, |result| {
            let Report { text, agent_id } = result.report();
            (text, agent_id)
        })
    }

    #[test]
    fn a_subagents_report_is_its_words_and_not_the_clients() {
        let block = r#"{"type":"tool_result","content":[{"type":"text","text":"It works."},{"type":"text","text":"agentId: a1 (to resume)"}]}"#;
        let with = |result: &str| format!(r#"{{"message":{{"content":[{block}]}}{result}}}"#);
        let done = with(
            r#","toolUseResult":{"agentId":"a1","status":"completed","content":[{"type":"text","text":"It works."}]}"#,
        );
        assert_eq!(report(&done), ("It works.".into(), Some("a1".into())));
        let launched = with(r#","toolUseResult":{"agentId":"a1","isAsync":true,"status":"async_launched"}"#);
        assert_eq!(report(&launched), (String::new(), Some("a1".into())), "nothing is reported yet");
        assert_eq!(report(&with("")), ("It works.\nagentId: a1 (to resume)".into(), None));
    }

    #[test]
    fn a_part_of_a_file_is_not_taken_for_the_whole() {
        let read = |start: usize, lines: usize, total: usize| {
            let file = format!(
                r#"{{"filePath":"/w/p.md","content":"a\nb","startLine":{start},"numLines":{lines},"totalLines":{total}}}"#
            );
            let row = format!(
                r#"{{"message":{{"content":[{{"type":"tool_result","content":"x"}}]}},"toolUseResult":{{"type":"text","file":{file}}}}}"#
            );
            with_result(&row, |result| result.read())
        };
        assert_eq!(read(1, 2, 2), Original::Text("a\nb".into()));
        assert_eq!((read(1, 2, 3), read(2, 2, 2)), (Original::Unknown, Original::Unknown));
        let other = r#"{"message":{"content":[{"type":"tool_result","content":"x"}]},"toolUseResult":{"type":"file_unchanged","file":{"filePath":"/w/p.md"}}}"#;
        assert_eq!(with_result(other, |result| result.read()), Original::Unknown);
    }
}
