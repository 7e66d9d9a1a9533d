//! Takes a tool's result as the transcript has it, says how the call ended. Must not take a failure for an
//! edit: a plain-text result, `is_error`, or `staged` mean that nothing was written.

use memchr::memmem::Finder;

use super::lines::{Block, Content, Field, record};
use super::scan::{Needle, Raw};
use super::{CommandEnd, Outcome};
use crate::text::last_part;

/// How long a file's text before the session may be, as the transcript writes it, to be of use.
const ORIGINAL_CAP: usize = 512 << 10;
/// How much of a command's output is kept: its end.
const OUTPUT_CAP: usize = 1_200;
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

/// A result block and, where it belongs to it alone, the row's own structured result.
#[derive(Debug, Clone, Copy)]
pub struct ToolResult<'a, 'b> {
    /// The block in the message.
    pub block: &'b Block<'a>,
    /// The client's structured result.
    pub structured: Field<'a>,
}

/// What a file was before a change, as the result tells it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Before<'a> {
    /// It does not say.
    Unknown,
    /// There was no such file.
    Absent,
    /// This text.
    Text(Raw<'a>),
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
        /// The task.
        task = b"task",
    }
}

record! {
    /// A task.
    TaskId {
        /// Its id.
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

    /// How an edit ended, and what the file was before, where that is wanted: most of the result is that.
    pub fn of_edit(&self, wants_before: bool) -> (Outcome, Before<'a>) {
        if let Some(failure) = self.failure() {
            return (Outcome::Failed(failure), Before::Unknown);
        }
        let raw = self.structured.raw();
        // No string can hold the key: a quote in it has a backslash before it.
        let may_be_staged = raw.is_some_and(|raw| STAGED.find(raw.json()).is_some());
        if !wants_before && !may_be_staged {
            return (Outcome::Done, Before::Unknown);
        }
        let result = EditResult::of(raw);
        if result.staged.is_true() {
            return (Outcome::Failed("staged, not written".into()), Before::Unknown);
        }
        let text = |field: Field<'a>| field.raw().filter(|raw| raw.is_text() && raw.json().len() > 2);
        let before = match text(result.original_file).or_else(|| text(result.original_file_contents)) {
            Some(raw) if raw.json().len() <= ORIGINAL_CAP => Before::Text(raw),
            None if result.kind.is("create") => Before::Absent,
            _ => Before::Unknown,
        };
        (Outcome::Done, before)
    }

    /// How any other call ended. Plain text is a result like another there.
    pub fn of_other(&self) -> Outcome {
        if self.block.is_error.is_true() {
            return Outcome::Failed(first_words(&self.text()));
        }
        Outcome::Done
    }

    /// How a shell command ended, and the end of what it printed.
    pub fn of_command(&self) -> (CommandEnd, String) {
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
        let output = match content {
            Content::Text(raw) => raw.end(OUTPUT_CAP).unwrap_or_default(),
            Content::Blocks(_) => last_part(&content.text(), OUTPUT_CAP),
        };
        (end, output)
    }

    /// An approved plan's text and file; `None` when it was rejected.
    pub fn of_plan(&self) -> Option<(Option<String>, Option<String>)> {
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

    /// The id that the client gave to a new task.
    pub fn of_task_create(&self) -> Option<String> {
        let task = TaskResult::of(self.structured.raw()).task;
        if let Some(id) = TaskId::of(task.raw()).id.owned() {
            return Some(id);
        }
        // Without a structured result: "Task #3 created successfully: …".
        let text = self.text();
        let digits: String = text.split_once('#')?.1.chars().take_while(char::is_ascii_digit).collect();
        (!digits.is_empty()).then_some(digits)
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
    use crate::session::lines::rows_of;

    fn with_result<R>(json: &str, look: impl Fn(ToolResult<'_, '_>) -> R) -> R {
        let mut found = None;
        assert!(rows_of(json.as_bytes(), |row| {
            let message = row.message.as_ref().expect("a message");
            let Content::Blocks(blocks) = &message.content else { panic!("blocks") };
            found = Some(look(ToolResult { block: &blocks[0], structured: row.tool_use_result }));
        }));
        found.expect("a row")
    }

    /// How it ended, and the text before; `None` where that is not told, empty where there was no file.
    fn edit(rest: &str) -> (Outcome, Option<String>) {
        let row = format!(r#"{{"message":{{"content":[{{"type":"tool_result","content":"x"{rest}}}"#);
        with_result(&row, |result| {
            let (outcome, before) = result.of_edit(true);
            let before = match before {
                Before::Unknown => None,
                Before::Absent => Some(String::new()),
                Before::Text(raw) => raw.text().map(std::borrow::Cow::into_owned),
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
        with_result(json, |result| result.of_command())
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
}
