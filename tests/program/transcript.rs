//! Writes a transcript as the client does, row by row: what was asked, written, run and said. Only
//! the fields that an audit reads, and all of them old, so that no test waits for rows that are
//! still to come.

use serde_json::{Value, json};

/// A transcript in the making.
#[derive(Debug, Default)]
pub(crate) struct Transcript {
    rows: Vec<Value>,
    calls: usize,
    /// When what is added happens, if not long ago.
    time: Option<String>,
    /// In which folder.
    cwd: Option<String>,
}

impl Transcript {
    /// Of a session in this folder.
    pub(crate) fn in_folder(cwd: &str) -> Self {
        Self { cwd: Some(cwd.to_owned()), ..Self::default() }
    }

    /// The file's text.
    pub(crate) fn text(&self) -> String {
        self.rows.iter().flat_map(|row| [row.to_string(), "\n".to_owned()]).collect()
    }

    /// The person's words.
    pub(crate) fn asked(&mut self, words: &str) {
        self.row("user", json!({ "role": "user", "content": words }), None);
    }

    /// From here on, what is added happens now.
    pub(crate) fn happens_now(&mut self) {
        self.time = Some(jiff::Timestamp::now().to_string());
    }

    /// A file that was not there, written whole.
    pub(crate) fn wrote(&mut self, path: &str, content: &str) {
        let input = json!({ "file_path": path, "content": content });
        let result = json!({ "type": "create", "filePath": path, "content": content, "originalFile": null });
        self.call("Write", &input, &json!({ "content": "File created" }), Some(result));
    }

    /// A file that held something else, written anew.
    pub(crate) fn rewrote(&mut self, path: &str, before: &str, content: &str) {
        let input = json!({ "file_path": path, "content": content });
        let result =
            json!({ "type": "update", "filePath": path, "content": content, "originalFile": before });
        self.call("Write", &input, &json!({ "content": "The file was updated" }), Some(result));
    }

    /// A subagent that was sent, and what it reported. Its own transcript is a file of its own.
    pub(crate) fn sent(&mut self, agent: &str, description: &str, report: &str) {
        let input =
            json!({ "description": description, "subagent_type": "general-purpose", "prompt": description });
        let content = json!([{ "type": "text", "text": report }]);
        let result =
            json!({ "status": "completed", "agentId": agent, "content": content, "totalToolUseCount": 1 });
        self.call("Task", &input, &json!({ "content": content }), Some(result));
    }

    /// An edit that the client refused.
    pub(crate) fn failed_to_edit(&mut self, path: &str, why: &str) {
        let input = json!({ "file_path": path, "old_string": "a", "new_string": "b" });
        self.call("Edit", &input, &json!({ "is_error": true, "content": why }), Some(json!(why)));
    }

    /// A shell command and what it printed.
    pub(crate) fn ran(&mut self, line: &str, output: &str) {
        let result = json!({ "stdout": output, "stderr": "", "interrupted": false });
        self.call("Bash", &json!({ "command": line }), &json!({ "content": output }), Some(result));
    }

    /// A shell command, and what it does while it runs.
    pub(crate) fn ran_now(&mut self, line: &str, work: impl FnOnce()) {
        self.happens_now();
        self.calls += 1;
        let id = format!("toolu_{}", self.calls);
        let call = json!({ "type": "tool_use", "id": id, "name": "Bash", "input": { "command": line } });
        self.row("assistant", json!({ "role": "assistant", "content": [call] }), None);
        work();
        self.happens_now();
        let result = json!({ "type": "tool_result", "tool_use_id": id, "content": "" });
        let structured = json!({ "stdout": "", "stderr": "", "interrupted": false });
        self.row("user", json!({ "role": "user", "content": [result] }), Some(structured));
    }

    /// A shell command that failed.
    pub(crate) fn ran_in_vain(&mut self, line: &str, output: &str) {
        let content = format!("Exit code 1\n{output}");
        self.call(
            "Bash",
            &json!({ "command": line }),
            &json!({ "is_error": true, "content": content }),
            Some(json!(format!("Error: {content}"))),
        );
    }

    /// The session's own task list, each entry with its state.
    pub(crate) fn noted(&mut self, tasks: &[(&str, &str)]) {
        let task =
            |(text, status): &(&str, &str)| json!({ "content": text, "status": status, "activeForm": text });
        let todos: Vec<Value> = tasks.iter().map(task).collect();
        self.call(
            "TodoWrite",
            &json!({ "todos": todos }),
            &json!({ "content": "Todos have been modified" }),
            None,
        );
    }

    /// The agent's words.
    pub(crate) fn said(&mut self, words: &str) {
        let message = json!({ "role": "assistant", "content": [{ "type": "text", "text": words }] });
        self.row("assistant", message, None);
    }

    /// What the client hands the agent of a block.
    pub(crate) fn fed_back(&mut self, reason: &str) {
        let words = format!("Stop hook feedback:\n[punchlist hook]: {reason}");
        self.row("user", json!({ "role": "user", "content": words }), None);
        if let Some(row) = self.rows.last_mut() {
            row["isMeta"] = json!(true);
            row["timestamp"] = json!(jiff::Timestamp::now().to_string());
        }
    }

    fn call(&mut self, tool: &str, input: &Value, result: &Value, structured: Option<Value>) {
        self.calls += 1;
        let id = format!("toolu_{}", self.calls);
        let call = json!({ "type": "tool_use", "id": id, "name": tool, "input": input });
        self.row("assistant", json!({ "role": "assistant", "content": [call] }), None);
        let mut block = json!({ "type": "tool_result", "tool_use_id": id });
        for (key, value) in result.as_object().into_iter().flatten() {
            block[key] = value.clone();
        }
        self.row("user", json!({ "role": "user", "content": [block] }), structured);
    }

    fn row(&mut self, kind: &str, mut message: Value, structured: Option<Value>) {
        let number = self.rows.len() + 1;
        message["id"] = json!(format!("msg_{number}"));
        // One row a second, from the start of the year on.
        let seconds = i64::try_from(number).expect("few rows");
        let long_ago = jiff::Timestamp::new(1_767_225_600 + seconds, 0).expect("a time").to_string();
        let mut row = json!({
            "type": kind,
            "uuid": format!("row-{number}"),
            "timestamp": self.time.as_ref().unwrap_or(&long_ago),
            "message": message,
        });
        if let Some(cwd) = &self.cwd {
            row["cwd"] = json!(cwd);
        }
        if let Some(structured) = structured {
            row["toolUseResult"] = structured;
        }
        self.rows.push(row);
    }
}
