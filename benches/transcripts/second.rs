//! Another generator, whose rows have little in common with the first one's: many short rows,
//! several blocks in one row, tools of MCP servers and notebooks, results as lists of blocks, text
//! full of escapes, hook and progress rows between any two calls. What is quick on both is not
//! tuned to one.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::Path;

use serde_json::{Value, json};

use super::Spec;
use super::chance::Chance;
use super::truth::{Before, CommandEnd, CommandTruth, TouchEnd, TouchTruth, Truth};

/// Monday, 1 June 2026, at eight.
const STARTED_MS: i64 = 1_780_300_800_000;
const VERSION: &str = "2.0.32";

/// Lines with quotes, tabs, colours and other scripts, as logs have them.
const LOG_LINES: [&str; 6] = [
    "\u{1b}[32m✓\u{1b}[0m renders \"an empty\" list\t(12 ms)\n",
    "WARN  deprecated: `url.parse()` — use the WHATWG API\r\n",
    "сборка завершена: 14 модулей, 0 ошибок\n",
    "  at Object.<anonymous> (C:\\work\\app\\src\\index.test.ts:42:13)\n",
    "{\"level\":\"info\",\"msg\":\"listening\",\"port\":8080}\n",
    "日志：已连接到数据库\n",
];

struct Writer {
    out: BufWriter<File>,
    chance: Chance,
    truth: Truth,
    number: u64,
}

impl Writer {
    /// Writes one row; `user`, `assistant` and `attachment` rows count as read.
    fn row(&mut self, kind: &str, fields: Value) -> io::Result<()> {
        self.number += 1;
        let time =
            jiff::Timestamp::from_millisecond(STARTED_MS + i64::try_from(self.number).unwrap_or(0) * 40)
                .unwrap_or_default()
                .to_string();
        let uuid = format!("{:08x}-0000-4000-9000-{:012x}", self.number, self.number);
        let mut row = json!({
            "parentUuid": format!("{:08x}-0000-4000-9000-{:012x}", self.number - 1, self.number - 1),
            "isSidechain": false, "userType": "external", "cwd": self.truth.cwd,
            "sessionId": self.truth.session, "version": VERSION, "gitBranch": "main",
            "type": kind, "uuid": uuid, "timestamp": time,
        });
        if let (Some(row), Value::Object(fields)) = (row.as_object_mut(), fields) {
            row.extend(fields);
        }
        let line = serde_json::to_string(&row).map_err(io::Error::other)?;
        self.out.write_all(line.as_bytes())?;
        self.out.write_all(b"\n")?;
        self.truth.bytes += line.len() as u64 + 1;
        self.truth.lines += 1;
        *self.truth.kinds.entry(kind.to_owned()).or_default() += 1;
        if matches!(kind, "user" | "assistant" | "attachment") {
            self.truth.rows += 1;
        }
        if self.truth.started.is_empty() {
            self.truth.started.clone_from(&time);
        }
        // Rows that are not read do not tell when the session ended.
        if matches!(kind, "user" | "assistant" | "attachment") {
            self.truth.ended = time;
        }
        Ok(())
    }

    fn log_text(&mut self, bytes: usize) -> String {
        let mut text = String::new();
        while text.len() < bytes {
            text.push_str(LOG_LINES[self.chance.below(LOG_LINES.len())]);
        }
        text
    }

    fn call(&mut self, tool: &str, input: &Value) -> io::Result<String> {
        let id = format!("toolu_02{:020x}", self.number);
        let message = format!("msg_02{:020x}", self.number);
        let words = self.log_text(60);
        // Words and call in one row, as older clients write them.
        let content = json!([
            {"type": "thinking", "thinking": words, "signature": "RXJyb3I=".repeat(8)},
            {"type": "tool_use", "id": id, "name": tool, "input": input},
        ]);
        self.row("assistant", json!({"message": {"id": message, "role": "assistant", "content": content}}))?;
        for _ in 0..self.chance.below(3) {
            self.row(
                "progress",
                json!({"toolUseID": id, "data": {"type": "hook_progress", "hookEvent": "PreToolUse"}}),
            )?;
        }
        Ok(id)
    }

    fn result(&mut self, id: &str, text: &str, is_error: bool, details: Option<Value>) -> io::Result<()> {
        let content = json!([{
            "type": "tool_result", "tool_use_id": id, "is_error": is_error,
            "content": [{"type": "text", "text": text}],
        }]);
        let mut row = json!({"message": {"role": "user", "content": content}});
        if let Some(details) = details {
            row["toolUseResult"] = details;
        }
        self.row("user", row)
    }

    fn command(&mut self) -> io::Result<()> {
        let number = self.truth.commands.len();
        let line = format!("pnpm --filter app{} exec tsc -p . && touch out/{number}", number % 7);
        let id = self.call("Bash", &json!({"command": line, "description": "Type-check"}))?;
        let bytes = self.chance.size(300, 1.2).clamp(20, 20_000);
        let output = self.log_text(bytes);
        let fails = number % 9 == 4;
        let details = json!({"stdout": output, "stderr": "", "interrupted": false, "isImage": false});
        let (text, details) = if fails {
            (format!("Exit code 2\n{output}"), json!(format!("Error: Exit code 2\n{output}")))
        } else {
            (output.clone(), details)
        };
        self.result(&id, &text, fails, Some(details))?;
        let end = if fails { CommandEnd::Failed(2) } else { CommandEnd::Succeeded };
        self.truth.commands.push(CommandTruth { line, end, output_end: String::new(), by_subagent: false });
        Ok(())
    }

    fn edit(&mut self) -> io::Result<()> {
        let number = self.truth.touches.len();
        let path = format!("{}/app/page_{}.tsx", self.truth.cwd, number % 40);
        let (old, new) = (format!("const n = {number};"), format!("const n = {};", number + 1));
        let edits = json!([{"old_string": old, "new_string": new, "replace_all": false}]);
        let id = self.call("MultiEdit", &json!({"file_path": path, "edits": edits}))?;
        let details = json!({
            "filePath": path, "edits": edits, "originalFileContents": format!("{old}\n"),
            "structuredPatch": [], "userModified": false,
        });
        self.result(&id, "Applied 1 edit", false, Some(details))?;
        let tool = "MultiEdit".to_owned();
        let (end, before) = (TouchEnd::Done, Before::Untold);
        self.truth.touches.push(TouchTruth { path, tool, end, before, by_subagent: false });
        Ok(())
    }

    fn other_call(&mut self) -> io::Result<()> {
        let tool = ["mcp__db__query", "WebFetch", "mcp__browser__snapshot", "Skill"][self.chance.below(4)];
        let bytes = self.chance.size(900, 1.4).clamp(40, 60_000);
        let text = self.log_text(bytes);
        let id =
            self.call(tool, &json!({"query": "select 1", "url": "http://localhost/", "skill": "review"}))?;
        self.result(&id, &text, false, None)
    }

    fn say(&mut self, words: &str) -> io::Result<()> {
        let message = format!("msg_02{:020x}", self.number);
        let content = json!([{"type": "text", "text": words}]);
        self.row("assistant", json!({"message": {"id": message, "role": "assistant", "content": content}}))
    }

    fn turn(&mut self) -> io::Result<()> {
        let number = self.truth.asks.len();
        let pasted = self.chance.size(200, 1.5).clamp(10, 4_000);
        let ask = format!("Page {number} fails, here is the log.\n{}", self.log_text(pasted).trim_end());
        self.row("user", json!({"message": {"role": "user", "content": ask}}))?;
        self.truth.asks.push(ask);
        for _ in 0..3 + self.chance.below(30) {
            match self.chance.below(10) {
                0..3 => self.command()?,
                3..5 => self.edit()?,
                _ => self.other_call()?,
            }
            if self.chance.happens(200) {
                self.row(
                    "attachment",
                    json!({"attachment": {"type": "hook_success", "hookName": "PostToolUse", "content": ""}}),
                )?;
            }
        }
        let words = format!("Page {number} is mended.");
        self.say(&words)?;
        self.truth.final_message = words;
        self.row("system", json!({"subtype": "turn_duration", "durationMs": 1000, "isMeta": false}))
    }
}

/// Writes a transcript of the second kind, and its workspace.
pub(super) fn write(spec: &Spec, transcript: &Path, workspace: &Path) -> io::Result<Truth> {
    let session = transcript.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let cwd = workspace.display().to_string();
    let truth = Truth { session, cwd, version: VERSION.to_owned(), ..Truth::default() };
    let out = BufWriter::with_capacity(1 << 20, File::create(transcript)?);
    let mut writer = Writer { out, chance: Chance::new(spec.seed), truth, number: 0 };
    while writer.truth.bytes < spec.bytes {
        writer.turn()?;
    }
    writer.out.flush()?;
    fs::create_dir_all(workspace.join("app"))?;
    for number in 0..40 {
        fs::write(workspace.join(format!("app/page_{number}.tsx")), "const n = 1;\n")?;
    }
    Ok(writer.truth)
}
