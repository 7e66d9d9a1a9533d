//! What an agent does with its tools, one function for each: the call, what is printed meanwhile,
//! the result as the client records it, and the truth of it.

use std::io::{self, Write};

use super::pool::escape;
use super::rows::{quoted, text};
use super::session::SessionWriter;
use super::truth::{Before, CommandEnd, CommandTruth, TouchEnd, TouchTruth, hash};

const COMMANDS: &[&str] = &[
    "cargo check -p unit_NUMBER",
    "git status --short",
    "git diff --stat HEAD~NUMBER",
    "ls -la src/area_NUMBER",
    "rg -n \"limit_NUMBER\" src | head -20",
    "cd crates/area_NUMBER && cargo build 2>&1 | tail -5",
    "sed -n '1,NUMBERp' src/area_3/unit_003.rs",
    "python3 - <<'EOF'\nimport json\nprint(json.dumps({\"unit\": NUMBER}))\nEOF",
    "cargo bench --bench limits -- NUMBER",
    "git add -A && git commit -q -m \"Tune limit NUMBER\"",
];

impl SessionWriter<'_> {
    pub(super) fn think(&mut self) -> io::Result<()> {
        let pools = self.pools;
        let bytes = self.chance.size(500, 1.0).clamp(40, 20_000);
        let (from, count) = pools.prose.run(&mut self.chance, bytes);
        let signature = 300 + self.chance.below(900);
        self.rows
            .assistant(|out| {
                out.extend_from_slice(b"{\"type\":\"thinking\",\"thinking\":");
                quoted(out, pools.prose.escaped(from, count));
                out.extend_from_slice(b",\"signature\":");
                quoted(out, &pools.base64[..signature]);
                out.push(b'}');
            })
            .map(drop)
    }

    fn new_command(&mut self) -> String {
        let number = 1 + self.chance.below(300);
        self.chance.one_of(COMMANDS).replace("NUMBER", &number.to_string())
    }

    fn call_command(&mut self, call: &str, line: &str) -> io::Result<()> {
        self.rows
            .call(call, "Bash", |out| {
                text(out, "command", line);
                out.extend_from_slice(b",\"description\":\"Look where the unit stands\",\"timeout\":120000");
            })
            .map(drop)
    }

    pub(super) fn command(&mut self) -> io::Result<()> {
        let (line, call) = (self.new_command(), self.rows.call_id());
        self.call_command(&call, &line)?;
        let end = match self.chance.below(1000) {
            0..60 => CommandEnd::Failed(i32::try_from(1 + self.chance.below(101)).unwrap_or(1)),
            60..65 => CommandEnd::Interrupted,
            65..75 => CommandEnd::Background,
            _ => CommandEnd::Succeeded,
        };
        for _ in 0..self.chance.below(4) {
            self.command_progress(&call)?;
        }
        let bytes = self.chance.size(350, 1.7).min(400_000);
        let (from, count) = self.pools.terminal.run(&mut self.chance, bytes);
        let raw = String::from_utf8_lossy(self.pools.terminal.raw(from, count)).into_owned();
        let escaped = self.pools.terminal.escaped(from, count);
        let escaped = &escaped[..escaped.len() - 2];
        let mut output_end = last_bytes(raw.strip_suffix('\n').unwrap_or(&raw));
        match end {
            CommandEnd::Failed(code) => self.rows.result(
                &call,
                true,
                |out| {
                    let _ = write!(out, "\"Exit code {code}\\n");
                    out.extend_from_slice(escaped);
                    out.push(b'"');
                },
                |out| {
                    let _ = write!(out, "\"Error: Exit code {code}\\n");
                    out.extend_from_slice(escaped);
                    out.push(b'"');
                },
            )?,
            CommandEnd::Background => {
                let words = "Command running in background with ID: b7f31";
                output_end = last_bytes(words);
                self.rows.result(&call, false, |out| quoted(out, words.as_bytes()), |out| {
                    out.extend_from_slice(b"{\"stdout\":\"\",\"stderr\":\"\",\"interrupted\":false,\"isImage\":false,\"backgroundTaskId\":\"b7f31\"}");
                })?
            }
            _ => self.rows.result(
                &call,
                false,
                |out| quoted(out, escaped),
                |out| {
                    out.extend_from_slice(b"{\"stdout\":");
                    quoted(out, escaped);
                    out.extend_from_slice(b",\"stderr\":\"\",\"interrupted\":");
                    let cut: &[u8] = if end == CommandEnd::Interrupted { b"true" } else { b"false" };
                    out.extend_from_slice(cut);
                    out.extend_from_slice(b",\"isImage\":false,\"noOutputExpected\":false}");
                },
            )?,
        };
        self.truth.commands.push(CommandTruth { line, end, output_end, by_subagent: self.by_subagent });
        Ok(())
    }

    fn command_progress(&mut self, call: &str) -> io::Result<()> {
        let pools = self.pools;
        let bytes = self.chance.size(400, 1.0).min(20_000);
        let (from, count) = pools.terminal.run(&mut self.chance, bytes);
        if self.chance.happens(500) {
            return self.rows.progress(call, |out| {
                out.extend_from_slice(b"\"type\":\"hook_progress\",\"hookEvent\":\"PostToolUse\",\"hookName\":\"PostToolUse:Bash\",\"command\":\"callback\"");
            });
        }
        self.rows.progress(call, |out| {
            out.extend_from_slice(b"\"type\":\"bash_progress\",\"output\":");
            quoted(out, pools.terminal.escaped(from, count.min(5)));
            out.extend_from_slice(b",\"fullOutput\":");
            quoted(out, pools.terminal.escaped(from, count));
            let _ = write!(out, ",\"elapsedTimeSeconds\":3,\"totalLines\":{count}");
        })
    }

    /// Files are changed one after the other at first, then as it comes.
    pub(super) fn edit(&mut self) -> io::Result<()> {
        let untouched = (self.edits < self.files.len()).then_some(self.edits);
        let index = untouched.unwrap_or_else(|| self.chance.below(self.files.len()));
        self.edits += 1;
        if !self.files[index].is_there {
            return self.create(index);
        }
        let place = self.chance.below(self.files[index].places());
        let change = self.files[index].next_edit(place);
        let path = self.files[index].path.clone();
        if self.chance.happens(40) {
            // Tried again at once, as agents do.
            self.refused_edit(&path, &change.old, &change.new)?;
        }
        let mut before = Vec::new();
        self.files[index].write_text(self.pools, true, &mut before);
        let was = if self.changed.contains(&path) {
            Before::Untold
        } else {
            let mut raw = Vec::new();
            self.files[index].write_text(self.pools, false, &mut raw);
            Before::Text { bytes: raw.len(), hash: hash(&raw) }
        };
        let hunks = |out: &mut Vec<u8>| {
            let line = change.line;
            let _ = write!(
                out,
                "{{\"oldStart\":{},\"oldLines\":2,\"newStart\":{0},\"newLines\":2,\"lines\":[\" ",
                line - 1
            );
            escape(&change.above, out);
            out.extend_from_slice(b"\",\"-");
            escape(&change.old, out);
            out.extend_from_slice(b"\",\"+");
            escape(&change.new, out);
            out.extend_from_slice(b"\"]}");
        };
        self.write_edit(&path, &change.old, &change.new, &before, was, hunks)?;
        self.files[index].apply(place);
        Ok(())
    }

    /// An edit of a file whose text is at hand.
    pub(super) fn edit_text(&mut self, path: &str, before: &str, old: &str, new: &str) -> io::Result<()> {
        let mut escaped = Vec::new();
        escape(before, &mut escaped);
        let first = !self.changed.contains(path);
        let was = Before::Text { bytes: before.len(), hash: hash(before.as_bytes()) };
        self.write_edit(path, old, new, &escaped, if first { was } else { Before::Untold }, |_| ())
    }

    fn write_edit(
        &mut self,
        path: &str,
        old: &str,
        new: &str,
        escaped_before: &[u8],
        before: Before,
        hunks: impl FnOnce(&mut Vec<u8>),
    ) -> io::Result<()> {
        let call = self.rows.call_id();
        self.call_edit(&call, path, old, new)?;
        self.rows.result(
            &call,
            false,
            |out| {
                let mut words = Vec::new();
                escape(&format!("The file {path} has been updated successfully."), &mut words);
                quoted(out, &words);
            },
            |out| {
                out.push(b'{');
                for (key, value) in [("filePath", path), ("oldString", old), ("newString", new)] {
                    text(out, key, value);
                    out.push(b',');
                }
                out.extend_from_slice(b"\"originalFile\":");
                quoted(out, escaped_before);
                out.extend_from_slice(b",\"structuredPatch\":[");
                hunks(out);
                out.extend_from_slice(b"],\"userModified\":false,\"replaceAll\":false}");
            },
        )?;
        self.changed.insert(path.to_owned());
        self.note_touch(path, "Edit", TouchEnd::Done, before);
        Ok(())
    }

    fn call_edit(&mut self, call: &str, path: &str, old: &str, new: &str) -> io::Result<()> {
        self.rows
            .call(call, "Edit", |out| {
                out.extend_from_slice(b"\"replace_all\":false,");
                text(out, "file_path", path);
                out.push(b',');
                text(out, "old_string", old);
                out.push(b',');
                text(out, "new_string", new);
            })
            .map(drop)
    }

    fn refused_edit(&mut self, path: &str, old: &str, new: &str) -> io::Result<()> {
        let call = self.rows.call_id();
        self.call_edit(&call, path, old, new)?;
        self.rows.result(
            &call,
            true,
            |out| out.extend_from_slice(b"\"<tool_use_error>File has not been read yet. Read it first before writing to it.</tool_use_error>\""),
            |out| out.extend_from_slice(b"\"Error: File has not been read yet. Read it first before writing to it.\""),
        )?;
        self.note_touch(path, "Edit", TouchEnd::Failed, Before::Untold);
        Ok(())
    }

    fn create(&mut self, index: usize) -> io::Result<()> {
        let (path, call) = (self.files[index].path.clone(), self.rows.call_id());
        let mut content = Vec::new();
        self.files[index].write_text(self.pools, true, &mut content);
        self.rows.call(&call, "Write", |out| {
            text(out, "file_path", &path);
            out.extend_from_slice(b",\"content\":");
            quoted(out, &content);
        })?;
        self.rows.result(
            &call,
            false,
            |out| {
                let mut words = Vec::new();
                escape(&format!("File created successfully at: {path}"), &mut words);
                quoted(out, &words);
            },
            |out| {
                out.extend_from_slice(b"{\"type\":\"create\",");
                text(out, "filePath", &path);
                out.extend_from_slice(b",\"content\":");
                quoted(out, &content);
                out.extend_from_slice(
                    b",\"structuredPatch\":[],\"originalFile\":null,\"userModified\":false}",
                );
            },
        )?;
        self.files[index].is_there = true;
        self.changed.insert(path.clone());
        self.note_touch(&path, "Write", TouchEnd::Done, Before::Nothing);
        Ok(())
    }

    fn note_touch(&mut self, path: &str, tool: &str, end: TouchEnd, before: Before) {
        let (path, tool) = (path.to_owned(), tool.to_owned());
        self.truth.touches.push(TouchTruth { path, tool, end, before, by_subagent: self.by_subagent });
    }

    /// A command or a change with no result.
    pub(super) fn unanswered_call(&mut self) -> io::Result<()> {
        self.rows.new_message();
        let call = self.rows.call_id();
        if self.spec.commands.is_none() && self.chance.happens(500) {
            let line = self.new_command();
            self.call_command(&call, &line)?;
            let end = CommandEnd::Unanswered;
            self.truth.commands.push(CommandTruth {
                line,
                end,
                output_end: String::new(),
                by_subagent: false,
            });
        } else {
            let path = self.files[0].path.clone();
            self.call_edit(&call, &path, "what was never there", "what never will be")?;
            self.note_touch(&path, "Edit", TouchEnd::Unanswered, Before::Untold);
        }
        Ok(())
    }

    fn note_read(&mut self, path: &str) {
        if self.reads.insert(path.to_owned()) {
            self.truth.reads.push(path.to_owned());
        }
    }

    /// One of the project's files, or one of those that are only looked at.
    pub(super) fn read_something(&mut self) -> io::Result<()> {
        if self.chance.happens(300) {
            let file = self.files[self.chance.below(self.files.len())].clone();
            if file.is_there {
                let mut raw = Vec::new();
                file.write_text(self.pools, false, &mut raw);
                return self.read_file(&file.path, &raw);
            }
        }
        let number = self.chance.below(400);
        let path = format!("{}/vendor/lib_{}/mod_{number}.rs", self.truth_cwd(), number % 13);
        let bytes = self.chance.size(3_000, 1.2).min(300_000);
        let (from, count) = self.pools.code.run(&mut self.chance, bytes);
        let raw = self.pools.code.raw(from, count);
        self.read_file(&path, raw)
    }

    fn truth_cwd(&self) -> &str {
        &self.truth.cwd
    }

    pub(super) fn read_file(&mut self, path: &str, raw: &[u8]) -> io::Result<()> {
        let call = self.rows.call_id();
        self.rows.call(&call, "Read", |out| text(out, "file_path", path))?;
        let raw = std::str::from_utf8(raw).unwrap_or_default();
        let lines = raw.lines().count();
        self.rows.result(
            &call,
            false,
            |out| {
                out.push(b'"');
                for (index, line) in raw.lines().enumerate() {
                    number(out, index + 1);
                    out.extend_from_slice("→".as_bytes());
                    escape(line, out);
                    out.extend_from_slice(b"\\n");
                }
                out.push(b'"');
            },
            |out| {
                out.extend_from_slice(b"{\"type\":\"text\",\"file\":{");
                text(out, "filePath", path);
                out.extend_from_slice(b",\"content\":\"");
                escape(raw, out);
                let _ = write!(out, "\",\"numLines\":{lines},\"startLine\":1,\"totalLines\":{lines}}}}}");
            },
        )?;
        self.note_read(path);
        Ok(())
    }

    /// A picture of about that many bytes, which the row holds twice.
    pub(super) fn read_picture(&mut self, bytes: usize) -> io::Result<()> {
        let (path, call) = (format!("{}/docs/screen.png", self.truth.cwd), self.rows.call_id());
        self.rows.call(&call, "Read", |out| text(out, "file_path", &path))?;
        let base64 = &self.pools.base64;
        let write = |out: &mut Vec<u8>| {
            let mut left = bytes / 2;
            while left > 0 {
                let part = left.min(base64.len());
                out.extend_from_slice(&base64[..part]);
                left -= part;
            }
        };
        self.rows.result(
            &call,
            false,
            |out| {
                out.extend_from_slice(b"[{\"type\":\"image\",\"source\":{\"type\":\"base64\",\"data\":\"");
                write(out);
                out.extend_from_slice(b"\",\"media_type\":\"image/png\"}}]");
            },
            |out| {
                out.extend_from_slice(b"{\"type\":\"image\",\"file\":{\"base64\":\"");
                write(out);
                let _ = write!(out, "\",\"type\":\"image/png\",\"originalSize\":{bytes}}}}}");
            },
        )?;
        self.note_read(&path);
        Ok(())
    }

    pub(super) fn grep(&mut self) -> io::Result<()> {
        let (pools, call) = (self.pools, self.rows.call_id());
        let bytes = self.chance.size(600, 1.3).min(60_000);
        let (from, count) = pools.terminal.run(&mut self.chance, bytes);
        let tool = if self.chance.happens(800) { "Grep" } else { "Glob" };
        self.rows.call(&call, tool, |out| {
            out.extend_from_slice(b"\"pattern\":\"limit_\\\\d+\",\"output_mode\":\"content\",\"-n\":true");
        })?;
        let found = pools.terminal.escaped(from, count);
        self.rows.result(
            &call,
            false,
            |out| quoted(out, found),
            |out| {
                out.extend_from_slice(b"{\"mode\":\"content\",\"numFiles\":0,\"filenames\":[],\"content\":");
                quoted(out, found);
                let _ = write!(out, ",\"numLines\":{count}}}");
            },
        )?;
        if !self.truth.other_tools.iter().any(|known| known == tool) {
            self.truth.other_tools.push(tool.to_owned());
        }
        Ok(())
    }

    /// The task list anew; in the `end` everything on it is done.
    pub(super) fn todos(&mut self, end: bool) -> io::Result<()> {
        let call = self.rows.call_id();
        let done = if end { 6 } else { self.chance.below(6) };
        let first = self.chance.below(90);
        let todos: Vec<(String, String)> = (0..6)
            .map(|index| {
                let status = match index {
                    _ if index < done => "completed",
                    _ if index == done => "in_progress",
                    _ => "pending",
                };
                (format!("Tune unit {} (\"soft\" limit)", first + index), status.to_owned())
            })
            .collect();
        let list = |todos: &[(String, String)], out: &mut Vec<u8>| {
            out.push(b'[');
            for (index, (words, status)) in todos.iter().enumerate() {
                out.extend_from_slice(if index == 0 { b"{" } else { b",{" });
                text(out, "content", words);
                out.push(b',');
                text(out, "status", status);
                out.extend_from_slice(b",\"activeForm\":\"Tuning\"}");
            }
            out.push(b']');
        };
        self.rows.call(&call, "TodoWrite", |out| {
            out.extend_from_slice(b"\"todos\":");
            list(&todos, out);
        })?;
        let old = std::mem::replace(&mut self.truth.todos, todos.clone());
        self.rows.result(
            &call,
            false,
            |out| out.extend_from_slice(b"\"Todos have been modified successfully.\""),
            |out| {
                out.extend_from_slice(b"{\"oldTodos\":");
                list(&old, out);
                out.extend_from_slice(b",\"newTodos\":");
                list(&todos, out);
                out.push(b'}');
            },
        )?;
        Ok(())
    }

    /// A helper. What it does on the way is told in rows that are not the session's.
    pub(super) fn delegate(&mut self) -> io::Result<()> {
        let (call, task, answer) = (self.rows.call_id(), self.prose(800, 4_000), self.prose(900, 6_000));
        let description = format!("Look at unit {}", self.chance.below(300));
        self.rows.call(&call, "Task", |out| {
            text(out, "description", &description);
            out.push(b',');
            text(out, "prompt", &task);
            out.extend_from_slice(b",\"subagent_type\":\"Explore\"");
        })?;
        for _ in 0..self.chance.below(6) {
            self.rows.progress(&call, |out| {
                out.extend_from_slice(b"\"message\":{\"type\":\"assistant\",\"message\":{\"id\":\"msg_helper\",\"type\":\"message\",\"role\":\"assistant\",\"content\":[{\"type\":\"tool_use\",\"id\":\"toolu_helper\",\"name\":\"Edit\",\"input\":{\"file_path\":\"/elsewhere/x.rs\",\"old_string\":\"a\",\"new_string\":\"b\"}}]}},\"type\":\"agent_progress\",");
                text(out, "prompt", &task);
                out.extend_from_slice(b",\"agentId\":\"a0000001\"");
            })?;
        }
        let failed = self.chance.happens(30);
        self.rows.result(
            &call,
            failed,
            |out| {
                out.extend_from_slice(b"[{\"type\":\"text\",");
                text(out, "text", &answer);
                out.extend_from_slice(b"}]");
            },
            |out| {
                out.extend_from_slice(
                    b"{\"status\":\"completed\",\"agentId\":\"a0000001\",\"content\":[{\"type\":\"text\",",
                );
                text(out, "text", &answer);
                out.extend_from_slice(
                    b"}],\"totalDurationMs\":81234,\"totalTokens\":40211,\"totalToolUseCount\":9}",
                );
            },
        )?;
        self.truth.delegations.push((description, "Explore".to_owned(), !failed));
        Ok(())
    }

    /// What was sent to the model, kept by newer clients: it looks like the conversation, and is
    /// none of it.
    pub(super) fn request_blob(&mut self) -> io::Result<()> {
        let pools = self.pools;
        let bytes = self.chance.size(3_000, 1.2).min(200_000);
        let (from, count) = pools.code.run(&mut self.chance, bytes);
        let name = self.chance.next();
        self.rows.bare("api-request-blob", |out| {
            let _ = write!(out, "\"hash\":\"{name:016x}\",");
            out.extend_from_slice(b"\"message\":{\"role\":\"user\",\"content\":[{\"type\":\"tool_result\",\"tool_use_id\":\"toolu_blob\",\"content\":");
            quoted(out, pools.code.escaped(from, count));
            out.extend_from_slice(b"},{\"type\":\"tool_use\",\"id\":\"toolu_blob\",\"name\":\"Write\",\"input\":{\"file_path\":\"/elsewhere/y.rs\"}}]}");
        })
    }

    pub(super) fn api_error(&mut self) -> io::Result<()> {
        self.rows
            .system(|out| {
                out.extend_from_slice(b"\"subtype\":\"api_error\",\"level\":\"error\",\"error\":{\"status\":529,\"error\":{\"type\":\"error\"}},\"retryInMs\":512,\"retryAttempt\":1,\"maxRetries\":10");
            })
            .map(drop)
    }

    pub(super) fn reminder(&mut self) -> io::Result<()> {
        let words = self.prose(300, 2_000);
        self.rows
            .attachment(|out| {
                out.extend_from_slice(b"\"type\":\"hook_success\",\"hookName\":\"PostToolUse:Edit\",\"hookEvent\":\"PostToolUse\",");
                text(out, "content", &words);
                out.extend_from_slice(b",\"stdout\":\"\",\"stderr\":\"\",\"exitCode\":0,\"durationMs\":12");
            })
            .map(drop)
    }

    pub(super) fn start_attachments(&mut self) -> io::Result<()> {
        let pools = self.pools;
        self.rows
            .attachment(|out| {
                out.extend_from_slice(b"\"type\":\"skill_listing\",\"content\":");
                quoted(out, pools.prose.escaped(0, 40));
                out.extend_from_slice(b",\"skillCount\":20,\"isInitial\":true");
            })
            .map(drop)
    }

    /// The context is summed up, and everything before stays in the file.
    pub(super) fn compact(&mut self) -> io::Result<()> {
        self.rows.system(|out| {
            out.extend_from_slice(b"\"subtype\":\"compact_boundary\",\"content\":\"Conversation compacted\",\"isMeta\":false,\"level\":\"info\",\"compactMetadata\":{\"trigger\":\"auto\",\"preTokens\":155116}");
        })?;
        let words = self.prose(4_000, 12_000);
        let words = format!(
            "This session is being continued from a previous conversation that ran out of context. {words}"
        );
        self.rows
            .own_user_row(&words, "\"isVisibleInTranscriptOnly\":true,\"isCompactSummary\":true")
            .map(drop)
    }
}

/// A line number as the client writes it, six wide.
fn number(out: &mut Vec<u8>, number: usize) {
    let mut digits = [b' '; 6];
    let mut left = number;
    for digit in digits.iter_mut().rev() {
        if left > 0 {
            *digit = b'0' + u8::try_from(left % 10).unwrap_or(0);
            left /= 10;
        }
    }
    out.extend_from_slice(&digits);
}

/// The last few dozen bytes.
fn last_bytes(text: &str) -> String {
    text[text.ceil_char_boundary(text.len().saturating_sub(40))..].to_owned()
}
