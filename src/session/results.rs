//! Takes a tool's result as the transcript has it, says how the call ended. Must not take a failure for an
//! edit: a plain-text result, `is_error`, or `staged` mean that nothing was written.

use serde::Deserialize;
use serde_json::value::RawValue;

use super::lines::{Block, Content, Lenient, LenientText, Text, read};
use super::{CommandEnd, Original, Outcome};
use crate::text::last_part;

/// How much of a file's text before the session is kept.
const ORIGINAL_CAP: usize = 512 << 10;
/// How much of a command's output is kept: its end.
const OUTPUT_CAP: usize = 1_200;
/// How much of a failure's words is kept: their start.
const FAILURE_CAP: usize = 200;

/// A result block and, where it belongs to it alone, the row's own structured result.
#[derive(Debug, Clone, Copy)]
pub struct ToolResult<'a, 'b> {
    /// The block in the message.
    pub block: &'b Block<'a>,
    /// The client's structured result.
    pub structured: Option<&'a RawValue>,
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct EditResult<'a> {
    #[serde(borrow, rename = "type")]
    kind: LenientText<'a>,
    #[serde(borrow)]
    original_file: LenientText<'a>,
    #[serde(borrow)]
    original_file_contents: LenientText<'a>,
    staged: Lenient<bool>,
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct BashResult<'a> {
    interrupted: Lenient<bool>,
    #[serde(borrow)]
    background_task_id: LenientText<'a>,
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct PlanResult<'a> {
    #[serde(borrow)]
    plan: LenientText<'a>,
    #[serde(borrow)]
    file_path: LenientText<'a>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct TaskResult<'a> {
    #[serde(borrow)]
    task: Option<&'a RawValue>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct TaskId<'a> {
    #[serde(borrow)]
    id: LenientText<'a>,
}

impl<'a> ToolResult<'a, '_> {
    fn text(&self) -> String {
        Content::of(self.block.content).text()
    }

    /// The plain text that stands where an object should: how the client records a failure.
    fn plain_text(&self) -> Option<String> {
        read::<Text<'a>>(self.structured).map(|text| text.0.into_owned())
    }

    /// Whether the call failed, by any of the client's ways to say so.
    fn failure(&self) -> Option<String> {
        if self.block.is_error.0 == Some(true) {
            return Some(first_words(&self.text()));
        }
        self.plain_text().map(|text| first_words(&text))
    }

    /// How an edit ended, and what the file was before.
    pub fn of_edit(&self) -> (Outcome, Original) {
        if let Some(failure) = self.failure() {
            return (Outcome::Failed(failure), Original::Unknown);
        }
        let result: EditResult<'_> = read(self.structured).unwrap_or_default();
        if result.staged.0 == Some(true) {
            return (Outcome::Failed("staged, not written".into()), Original::Unknown);
        }
        let original = result.original_file.get().or(result.original_file_contents.get());
        let original = match (original, result.kind.get()) {
            (Some(text), _) if text.len() <= ORIGINAL_CAP => Original::Text(text.to_owned()),
            (None, Some("create")) => Original::Absent,
            _ => Original::Unknown,
        };
        (Outcome::Done, original)
    }

    /// How any other call ended. Plain text is a result like another there.
    pub fn of_other(&self) -> Outcome {
        match self.block.is_error.0 {
            Some(true) => Outcome::Failed(first_words(&self.text())),
            _ => Outcome::Done,
        }
    }

    /// How a shell command ended, and the end of what it printed.
    pub fn of_command(&self) -> (CommandEnd, String) {
        let text = self.text();
        let result: BashResult<'_> = read(self.structured).unwrap_or_default();
        let end = if self.block.is_error.0 == Some(true) {
            CommandEnd::Failed(exit_code(&text))
        } else if result.interrupted.0 == Some(true) {
            CommandEnd::Interrupted
        } else if result.background_task_id.get().is_some() {
            CommandEnd::Background
        } else if self.plain_text().is_some_and(|text| text.starts_with("Error")) {
            CommandEnd::Failed(exit_code(&text))
        } else {
            CommandEnd::Succeeded
        };
        (end, last_part(&text, OUTPUT_CAP))
    }

    /// An approved plan's text and file; `None` when it was rejected.
    pub fn of_plan(&self) -> Option<(Option<String>, Option<String>)> {
        if self.failure().is_some() {
            return None;
        }
        let result: PlanResult<'_> = read(self.structured).unwrap_or_default();
        let text = self.text();
        let saved_to = || {
            let line = text.lines().find_map(|line| line.split_once("plan has been saved to: "))?.1;
            Some(line.trim().to_owned())
        };
        Some((
            result.plan.get().map(String::from),
            result.file_path.get().map(String::from).or_else(saved_to),
        ))
    }

    /// The id that the client gave to a new task.
    pub fn of_task_create(&self) -> Option<String> {
        let result: TaskResult<'_> = read(self.structured).unwrap_or_default();
        if let Some(id) = read::<TaskId<'_>>(result.task).and_then(|task| task.id.get().map(String::from)) {
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
    use crate::session::lines::{Message, rows_of};

    fn with_result<R>(json: &str, look: impl Fn(ToolResult<'_, '_>) -> R) -> R {
        let mut found = None;
        assert!(rows_of(json, |row| {
            let message: Message<'_> = read(row.message).expect("a message");
            let Content::Blocks(blocks) = Content::of(message.content) else { panic!("blocks") };
            found = Some(look(ToolResult { block: &blocks[0], structured: row.tool_use_result }));
        }));
        found.expect("a row")
    }

    fn edit(rest: &str) -> (Outcome, Original) {
        with_result(
            &format!(r#"{{"message":{{"content":[{{"type":"tool_result","content":"x"{rest}}}"#),
            |result| result.of_edit(),
        )
    }

    #[test]
    fn edits_and_what_was_before_them() {
        assert_eq!(
            edit(r#"}]},"toolUseResult":{"type":"create","originalFile":null}"#),
            (Outcome::Done, Original::Absent)
        );
        assert_eq!(
            edit(r#"}]},"toolUseResult":{"originalFile":"old"}"#),
            (Outcome::Done, Original::Text("old".into()))
        );
        assert_eq!(
            edit(r#"}]},"toolUseResult":{"originalFileContents":"old"}"#),
            (Outcome::Done, Original::Text("old".into()))
        );
        assert_eq!(edit("}]}"), (Outcome::Done, Original::Unknown));
    }

    #[test]
    fn failures_are_not_edits() {
        for rest in [
            r#"}]},"toolUseResult":"Error: File has not been read yet""#,
            r#","is_error":true}]}"#,
            r#","is_error":true}]},"toolUseResult":{"originalFile":"old"}"#,
            r#"}]},"toolUseResult":{"originalFile":"old","staged":true}"#,
        ] {
            assert!(matches!(edit(rest), (Outcome::Failed(_), Original::Unknown)), "{rest}");
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
