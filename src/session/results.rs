//! How a call ended and what it brought, by its result in the transcript. Pure. Must not take a failure for an edit: a
//! plain-text result, `is_error`, or `staged` mean that nothing was written.

use std::borrow::Cow;
use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use crate::client::json_scan::Raw;
use crate::client::row::{Block, Content, Field, record};
use crate::session::{CommandEnd, Original, Outcome, Recorded};
use crate::text::last_part;
use crate::text::start_and_end;

/// How long a file's text before the session may be, as the transcript writes it, to be of use.
const ORIGINAL_CAP: usize = 512 << 10;
/// How long it may be where its position in the transcript is not known, so that the text itself is kept.
const INLINE_CAP: usize = 32 << 10;
/// How much of a command's output is kept: its end, more of it where it did not end well.
const OUTPUT_CAP: usize = 1_600;
const FAILED_OUTPUT_CAP: usize = 2_400;
/// How much of a subagent's report is kept: its start and its end.
pub const REPORT_CAP: usize = 3 << 10;
/// How much of a failure's message is kept: its start.
const FAILURE_CAP: usize = 200;

/// What the result of a call says, for each kind of call.
pub trait CallResult {
    /// How a call ended whose result may be plain text.
    fn outcome(&self) -> Outcome;
    /// How an edit ended, and what the file was before.
    fn edit(&self) -> (Outcome, Original);
    /// How a shell command ended, and the end of what it printed.
    fn command(&self) -> (CommandEnd, String);
    /// An approved plan's text and file; `None` when it was rejected.
    fn plan(&self) -> Option<(Option<String>, Option<String>)>;
    /// The plan's short name.
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
    /// Its text, start and end where that is long. Empty for a subagent that was only sent to the background.
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
    /// The offset of the row's line in the transcript, if the line is as the transcript has it.
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
    fn text(&self) -> Cow<'a, str> {
        Content::parse(self.block.content).text()
    }

    /// Returns the plain text that is there instead of an object: how the client records a failure.
    fn plain_text(&self) -> Option<Raw<'a>> {
        self.structured.raw().filter(|raw| raw.is_text())
    }

    /// Returns the failure's message, whichever way the client records it.
    fn failure(&self) -> Option<String> {
        if self.block.is_error.is_true() {
            return Some(first_line(&self.text()));
        }
        self.plain_text().map(|raw| first_line(&raw.text().unwrap_or_default()))
    }

    /// Returns the text of a file: its position in the transcript, or the text itself where that is not known.
    fn original(&self, raw: Raw<'a>) -> Original {
        match self.line_at {
            _ if raw.json().len() > ORIGINAL_CAP => Original::Unknown,
            Some(line_at) => Original::Recorded(Recorded::new(raw, line_at)),
            None if raw.json().len() <= INLINE_CAP => {
                raw.text().map_or(Original::Unknown, |text| Original::Text(text.into_owned()))
            }
            None => Original::Unknown,
        }
    }
}

impl CallResult for ToolResult<'_, '_> {
    fn outcome(&self) -> Outcome {
        if self.block.is_error.is_true() {
            return Outcome::Failed(first_line(&self.text()));
        }
        Outcome::Done
    }

    fn edit(&self) -> (Outcome, Original) {
        if let Some(failure) = self.failure() {
            return (Outcome::Failed(failure), Original::Unknown);
        }
        let result = EditResult::parse(self.structured.raw());
        if result.staged.is_true() {
            return (Outcome::Failed("staged, not written".into()), Original::Unknown);
        }
        let is_text = |field: Field<'_>| field.raw().is_some_and(|raw| raw.is_text() && raw.json().len() > 2);
        // Newer clients often write null here for a file that was there all the same.
        let known =
            [result.original_file, result.original_file_contents].into_iter().find(|field| is_text(*field));
        let original = match known.and_then(Field::raw) {
            Some(raw) => self.original(raw),
            None if result.kind.is("create") => Original::Absent,
            None => Original::Unknown,
        };
        (Outcome::Done, original)
    }

    fn command(&self) -> (CommandEnd, String) {
        let content = Content::parse(self.block.content);
        let result = BashResult::parse(self.structured.raw());
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
        let result = PlanResult::parse(self.structured.raw());
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
        let task = TaskResult::parse(self.structured.raw()).task;
        if let Some(id) = TaskId::parse(task.raw()).id.owned() {
            return Some(id);
        }
        // Without a structured result: "Task #3 created successfully: …".
        let text = self.text();
        let digits: String = text.split_once('#')?.1.chars().take_while(char::is_ascii_digit).collect();
        (!digits.is_empty()).then_some(digits)
    }

    fn report(&self) -> Report {
        let result = AgentResult::parse(self.structured.raw());
        let agent_id = result.agent_id.owned();
        if result.status.is("async_launched") {
            return Report { text: String::new(), agent_id };
        }
        // The block has the client's own text behind that of the subagent.
        let text = Some(Content::parse(result.content).text()).filter(|text| !text.trim().is_empty());
        Report { text: start_and_end(text.unwrap_or_else(|| self.text()).trim(), REPORT_CAP), agent_id }
    }

    fn read(&self) -> Original {
        let file = FilePart::parse(ReadResult::parse(self.structured.raw()).file.raw());
        let number = |field: Field<'_>| field.raw().map(|raw| raw.json().to_vec());
        let is_whole = number(file.start_line).as_deref() == Some(b"1")
            && number(file.num_lines).is_some_and(|lines| Some(lines) == number(file.total_lines));
        match file.content.raw().filter(|raw| is_whole && raw.is_text()) {
            Some(raw) => self.original(raw),
            None => Original::Unknown,
        }
    }
}

/// How many results may come before their calls, and how many bytes they may take together.
const MOST_EARLY: usize = 64;
const MOST_EARLY_BYTES: usize = 256 << 10;
/// A longer plan is not kept: the call has its text, too.
const PLAN_CAP: usize = 32 << 10;

/// What a result that came before its call says, whatever its call may turn out to be. Clients from 2.1.101 on write
/// some.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EarlyResult {
    outcome: Outcome,
    edit: (Outcome, Original),
    command: (CommandEnd, String),
    plan: Option<(Option<String>, Option<String>)>,
    slug: Option<String>,
    task_id: Option<String>,
    report: Report,
    read: Original,
}

impl EarlyResult {
    /// Takes all that a result says.
    pub fn new(result: &impl CallResult) -> Self {
        let short = |text: &String| text.len() <= PLAN_CAP;
        Self {
            outcome: result.outcome(),
            edit: result.edit(),
            command: result.command(),
            plan: result.plan().map(|(text, path)| (text.filter(short), path)),
            slug: result.slug(),
            task_id: result.task_id(),
            report: result.report(),
            read: result.read(),
        }
    }

    fn texts(&self) -> impl Iterator<Item = &str> {
        let failures = [&self.outcome, &self.edit.0].into_iter().filter_map(|outcome| match outcome {
            Outcome::Failed(why) => Some(why.as_str()),
            Outcome::Done | Outcome::Unanswered => None,
        });
        let originals = [&self.edit.1, &self.read].into_iter().filter_map(Original::text);
        let plan = self.plan.iter().filter_map(|(text, _)| text.as_deref());
        failures.chain(originals).chain(plan).chain([self.command.1.as_str(), self.report.text.as_str()])
    }
}

impl CallResult for EarlyResult {
    fn outcome(&self) -> Outcome {
        self.outcome.clone()
    }

    fn edit(&self) -> (Outcome, Original) {
        self.edit.clone()
    }

    fn command(&self) -> (CommandEnd, String) {
        self.command.clone()
    }

    fn plan(&self) -> Option<(Option<String>, Option<String>)> {
        self.plan.clone()
    }

    fn slug(&self) -> Option<String> {
        self.slug.clone()
    }

    fn task_id(&self) -> Option<String> {
        self.task_id.clone()
    }

    fn report(&self) -> Report {
        self.report.clone()
    }

    fn read(&self) -> Original {
        self.read.clone()
    }
}

/// Results that came before their calls, oldest first, each with the hash of its call's id. The oldest are dropped.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EarlyResults(VecDeque<(u64, EarlyResult)>);

impl EarlyResults {
    pub fn add(&mut self, call: u64, result: EarlyResult) {
        self.0.push_back((call, result));
        while self.0.len() > MOST_EARLY || self.texts().map(str::len).sum::<usize>() > MOST_EARLY_BYTES {
            self.0.pop_front();
        }
    }

    /// Removes and returns the result of a call.
    pub fn take(&mut self, call: u64) -> Option<EarlyResult> {
        let at = self.0.iter().position(|(id, _)| *id == call)?;
        self.0.remove(at).map(|(_, result)| result)
    }

    /// Returns whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns all texts in them.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        self.0.iter().flat_map(|(_, result)| result.texts())
    }
}

fn exit_code(text: &str) -> Option<i32> {
    let rest = text.trim_start().trim_start_matches("Error: ").strip_prefix("Exit code ")?;
    let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    rest[..end].parse().ok()
}

fn first_line(text: &str) -> String {
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
            let message = row.message().expect("a message");
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
            let (outcome, before) = result.edit();
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

    fn printed(bytes: usize) -> EarlyResult {
        EarlyResult {
            outcome: Outcome::Done,
            edit: (Outcome::Done, Original::Unknown),
            command: (CommandEnd::Succeeded, "x".repeat(bytes)),
            plan: None,
            slug: None,
            task_id: None,
            report: Report::default(),
            read: Original::Unknown,
        }
    }

    #[test]
    fn results_whose_calls_never_come_do_not_pile_up() {
        let mut early = EarlyResults::default();
        (0..1_000).for_each(|id| early.add(id, printed(10)));
        assert_eq!((early.0.len(), early.take(0), early.take(999)), (MOST_EARLY, None, Some(printed(10))));
        (0..20).for_each(|id| early.add(id, printed(MOST_EARLY_BYTES / 4)));
        assert!(early.texts().map(str::len).sum::<usize>() <= MOST_EARLY_BYTES && early.take(19).is_some());
    }
}
