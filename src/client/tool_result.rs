//! The result of a tool call: how the call ended and what it returned. Pure. Must not take a
//! failure for an edit: a plain-text result, `is_error`, or `staged` mean that nothing was written.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::client::json_scan::Raw;
use crate::client::row::{Block, Content, Field, record};
use crate::client::tool_call::PlanText;
use crate::text::{last_part, start_and_end, start_of};

/// How much of a command's output is kept: its end, and more of it after a failure.
const OUTPUT_CAP: usize = 1_600;
const FAILED_OUTPUT_CAP: usize = 2_400;
/// How much of a subagent's report is kept: its start and its end.
pub const REPORT_CAP: usize = 3 << 10;
/// How much of a failure's message is kept: its start.
const FAILURE_CAP: usize = 200;

/// How a shell command ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum CommandEnd {
    /// Exit code 0, or no sign of a failure.
    Succeeded,
    /// It failed, with this exit code if it is known.
    Failed(Option<i32>),
    /// The person or a timeout ended it.
    Interrupted,
    /// It was sent to the background: its ending is not known.
    Background,
    /// No result in the transcript.
    #[default]
    Unanswered,
}

/// The text of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileText<'a> {
    Unknown,
    /// There was no such file.
    Absent,
    Text(Raw<'a>),
}

/// What a subagent returned.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Report {
    /// Its text, or the start and end of a long one. Empty for a subagent that was only sent to the
    /// background.
    pub text: String,
    pub agent_id: Option<String>,
}

/// A result block, and the client's structured result if it belongs to this block alone.
#[derive(Debug)]
pub struct ToolResult<'a, 'b> {
    block: &'b Block<'a>,
    structured: Field<'a>,
    fields: Structured<'a>,
    /// The short name of the plan that the row is about.
    slug: Field<'a>,
}

record! {
    /// The structured results of all tools.
    Structured {
        /// Of an edit: `create` or `update`.
        kind = b"type",
        /// The file before an edit.
        original_file = b"originalFile",
        /// The same, from `MultiEdit`.
        original_file_contents = b"originalFileContents",
        /// The edit was not written.
        staged = b"staged",
        interrupted = b"interrupted",
        /// A command that still runs.
        background_task_id = b"backgroundTaskId",
        plan = b"plan",
        file_path = b"filePath",
        task = b"task",
        agent_id = b"agentId",
        /// Of a subagent: `completed`, `async_launched`, …
        status = b"status",
        /// A subagent's final message.
        content = b"content",
        /// A file that was read, or a part of it.
        file = b"file",
    }
}

record! {
    FilePart {
        content = b"content",
        start_line = b"startLine",
        num_lines = b"numLines",
        total_lines = b"totalLines",
    }
}

record! {
    Task {
        id = b"id",
    }
}

impl<'a, 'b> ToolResult<'a, 'b> {
    pub fn new(block: &'b Block<'a>, structured: Field<'a>, slug: Field<'a>) -> Self {
        Self { block, structured, fields: Structured::parse(structured.raw()), slug }
    }

    fn text(&self) -> Cow<'a, str> {
        Content::parse(self.block.content).text()
    }

    /// Returns the plain text in place of an object, which is how the client records a failure.
    fn plain_text(&self) -> Option<Raw<'a>> {
        self.structured.raw().filter(|raw| raw.is_text())
    }

    /// Returns the error's message, of a call whose result may be plain text.
    pub fn error(&self) -> Option<String> {
        self.block.is_error.is_true().then(|| first_line(&self.text()))
    }

    /// Returns the failure's message, however the client records it.
    fn failure(&self) -> Option<String> {
        let plain = || self.plain_text().map(|raw| first_line(&raw.text().unwrap_or_default()));
        self.error().or_else(plain)
    }

    /// Returns the file's text before an edit, or why it was not edited.
    pub fn edit(&self) -> Result<FileText<'a>, String> {
        if let Some(failure) = self.failure() {
            return Err(failure);
        }
        if self.fields.staged.is_true() {
            return Err("staged, not written".into());
        }
        // Newer clients often write null here for a file that existed.
        let texts = [self.fields.original_file, self.fields.original_file_contents].map(Field::raw);
        let known = texts.into_iter().flatten().find(|raw| raw.is_text() && raw.json().len() > 2);
        Ok(match known {
            Some(raw) => FileText::Text(raw),
            None if self.fields.kind.is("create") => FileText::Absent,
            None => FileText::Unknown,
        })
    }

    /// Returns how a shell command ended, and the end of what it printed.
    pub fn command(&self) -> (CommandEnd, String) {
        let content = Content::parse(self.block.content);
        let is_error_text = || self.plain_text().is_some_and(|raw| raw.json().starts_with(b"\"Error"));
        let end = if self.block.is_error.is_true() {
            CommandEnd::Failed(exit_code(&content))
        } else if self.fields.interrupted.is_true() {
            CommandEnd::Interrupted
        } else if self.fields.background_task_id.text().is_some() {
            CommandEnd::Background
        } else if is_error_text() {
            CommandEnd::Failed(exit_code(&content))
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

    /// Returns an approved plan; `None` when it was rejected.
    pub fn plan(&self) -> Option<PlanText> {
        if self.failure().is_some() {
            return None;
        }
        let text = self.text();
        let saved_to = || {
            let line = text.lines().find_map(|line| line.split_once("plan has been saved to: "))?.1;
            Some(line.trim().to_owned())
        };
        let path = self.fields.file_path.owned().or_else(saved_to);
        Some(PlanText { text: self.fields.plan.owned(), path, slug: self.slug.owned() })
    }

    /// Returns the id that the client gave to a new task.
    pub fn task_id(&self) -> Option<String> {
        // Without a structured result: "Task #3 created successfully: …".
        let in_text = || {
            let text = self.text();
            let digits: String = text.split_once('#')?.1.chars().take_while(char::is_ascii_digit).collect();
            (!digits.is_empty()).then_some(digits)
        };
        Task::parse(self.fields.task.raw()).id.owned().or_else(in_text)
    }

    /// Returns what a subagent returned.
    pub fn report(&self) -> Report {
        let agent_id = self.fields.agent_id.owned();
        if self.fields.status.is("async_launched") {
            return Report { text: String::new(), agent_id };
        }
        // The block has the client's own text after the subagent's.
        let text = Some(Content::parse(self.fields.content).text()).filter(|text| !text.trim().is_empty());
        Report { text: start_and_end(text.unwrap_or_else(|| self.text()).trim(), REPORT_CAP), agent_id }
    }

    /// Returns the text of a file that was read whole.
    pub fn read(&self) -> FileText<'a> {
        let file = FilePart::parse(self.fields.file.raw());
        let number = |field: Field<'a>| field.raw().map(Raw::json);
        let (lines, total) = (number(file.num_lines), number(file.total_lines));
        let is_whole = number(file.start_line) == Some(b"1") && lines.is_some() && lines == total;
        let text = file.content.raw().filter(|raw| is_whole && raw.is_text());
        text.map_or(FileText::Unknown, FileText::Text)
    }
}

fn exit_code(content: &Content<'_>) -> Option<i32> {
    let text = content.text();
    let rest = text.trim_start().trim_start_matches("Error: ").strip_prefix("Exit code ")?;
    let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    rest[..end].parse().ok()
}

fn first_line(text: &str) -> String {
    let line = text.trim().trim_start_matches("<tool_use_error>");
    start_of(line, FAILURE_CAP).trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client::row::rows_of;

    fn with_result<R>(json: &str, look: impl Fn(ToolResult<'_, '_>) -> R) -> R {
        let mut found = None;
        assert!(rows_of(json.as_bytes(), |row| {
            let message = row.message().expect("a message");
            let Content::Blocks(blocks) = &message.content else { panic!("blocks") };
            found = Some(look(ToolResult::new(&blocks[0], row.tool_use_result, row.slug)));
        }));
        found.expect("a row")
    }

    /// Returns the text, if it is known; empty if there was no file.
    fn told(text: FileText<'_>) -> Option<String> {
        match text {
            FileText::Unknown => None,
            FileText::Absent => Some(String::new()),
            FileText::Text(raw) => raw.text().map(Cow::into_owned),
        }
    }

    fn edit(rest: &str) -> Result<Option<String>, String> {
        let row = format!(r#"{{"message":{{"content":[{{"type":"tool_result","content":"x"{rest}}}"#);
        with_result(&row, |result| result.edit().map(told))
    }

    #[test]
    fn edits_and_what_was_before_them() {
        for (rest, before) in [
            (r#"}]},"toolUseResult":{"type":"create","originalFile":null}"#, Some("")),
            (r#"}]},"toolUseResult":{"originalFile":"old"}"#, Some("old")),
            (r#"}]},"toolUseResult":{"originalFileContents":"old"}"#, Some("old")),
            ("}]}", None),
            (r#"}]},"toolUseResult":{"originalFile":""}"#, None),
            // A file whose text the client does not report is neither new nor empty.
            (r#"}]},"toolUseResult":{"filePath":"/w/a","originalFile":null}"#, None),
            (r#"}]},"toolUseResult":{"type":"update","originalFile":null}"#, None),
        ] {
            assert_eq!(edit(rest), Ok(before.map(String::from)), "{rest}");
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
            assert!(edit(rest).is_err(), "{rest}");
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

    #[test]
    fn a_subagents_report_is_its_words_and_not_the_clients() {
        let block = r#"{"type":"tool_result","content":[{"type":"text","text":"It works."},{"type":"text","text":"agentId: a1 (to resume)"}]}"#;
        let with = |result: &str| format!(r#"{{"message":{{"content":[{block}]}}{result}}}"#);
        let done = with(
            r#","toolUseResult":{"agentId":"a1","status":"completed","content":[{"type":"text","text":"It works."}]}"#,
        );
        let report = |json: &str| with_result(json, |result| result.report());
        let given =
            |text: &str, id: Option<&str>| Report { text: text.into(), agent_id: id.map(String::from) };
        assert_eq!(report(&done), given("It works.", Some("a1")));
        let launched = with(r#","toolUseResult":{"agentId":"a1","isAsync":true,"status":"async_launched"}"#);
        assert_eq!(report(&launched), given("", Some("a1")), "nothing is reported yet");
        assert_eq!(report(&with("")), given("It works.\nagentId: a1 (to resume)", None));
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
            with_result(&row, |result| told(result.read()))
        };
        assert_eq!(read(1, 2, 2).as_deref(), Some("a\nb"));
        assert_eq!((read(1, 2, 3), read(2, 2, 2)), (None, None));
        let other = r#"{"message":{"content":[{"type":"tool_result","content":"x"}]},"toolUseResult":{"type":"file_unchanged","file":{"filePath":"/w/p.md"}}}"#;
        assert_eq!(with_result(other, |result| told(result.read())), None);
    }

    #[test]
    fn half_a_word_ended_the_message_of_a_failure() {
        let message = format!("{}logged in with hunter2secret", "and ".repeat(45));
        assert!(first_line(&message).ends_with("and logged in with"), "{}", first_line(&message));
    }
}
