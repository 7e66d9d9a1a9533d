//! One function for each kind of row that the client writes, with its keys in the client's order.
//! Knows ids, times and the chain of parents; must not know what the session is about.

use std::collections::BTreeMap;
use std::io::{self, Write};

use super::chance::Chance;
use super::pool::escape;
use super::sink::{Row, Sink};

/// The version that the rows are of.
pub(crate) const VERSION: &str = "2.1.199";

/// A row's id.
pub(crate) type Id = [u8; 36];

/// Writes rows one after the other.
#[derive(Debug)]
pub(crate) struct Rows {
    sink: Sink,
    row: Row,
    chance: Chance,
    /// The keys that every row of the conversation ends with.
    envelope: Vec<u8>,
    session: String,
    sidechain: bool,
    parent: Option<Id>,
    now: u64,
    message: Vec<u8>,
    usage: Vec<u8>,
    prompt: Id,
    /// When the first row was written, if one was.
    pub(crate) started: Option<String>,
    /// When the last one was.
    pub(crate) ended: String,
    /// How many rows of each kind.
    pub(crate) kinds: BTreeMap<&'static str, usize>,
}

impl Rows {
    /// Writes to `sink`, the first row at `now` milliseconds since 1970. `agent` names a subagent.
    pub(crate) fn new(
        sink: Sink,
        seed: u64,
        session: &str,
        cwd: &str,
        now: u64,
        agent: Option<&str>,
    ) -> Self {
        let mut envelope = Vec::new();
        if let Some(agent) = agent {
            text(&mut envelope, "agentId", agent);
            envelope.push(b',');
        }
        envelope.extend_from_slice(b"\"userType\":\"external\",\"entrypoint\":\"cli\",");
        text(&mut envelope, "cwd", cwd);
        envelope.push(b',');
        text(&mut envelope, "sessionId", session);
        envelope.push(b',');
        text(&mut envelope, "version", VERSION);
        envelope.extend_from_slice(b",\"gitBranch\":\"tune-limits\"");
        let mut rows = Self {
            sink,
            row: Row::default(),
            chance: Chance::new(seed ^ 0x726f_7773),
            envelope,
            session: session.to_owned(),
            sidechain: agent.is_some(),
            parent: None,
            now,
            message: Vec::new(),
            usage: Vec::new(),
            prompt: [b'0'; 36],
            started: None,
            ended: String::new(),
            kinds: BTreeMap::new(),
        };
        rows.new_message();
        rows
    }

    /// What has been written so far, in bytes.
    pub(crate) fn written(&self) -> u64 {
        self.sink.written
    }

    /// How many lines.
    pub(crate) fn lines(&self) -> usize {
        self.sink.lines
    }

    /// How many torn ones.
    pub(crate) fn torn(&self) -> usize {
        self.sink.torn
    }

    /// Writes what is held.
    pub(crate) fn finish(&mut self) -> io::Result<()> {
        self.sink.finish()
    }

    /// How many rows are of a kind that is read.
    pub(crate) fn read_rows(&self) -> usize {
        ["user", "assistant", "attachment"].iter().filter_map(|kind| self.kinds.get(kind)).sum()
    }

    /// A new id.
    pub(crate) fn id(&mut self) -> Id {
        const HEX: &[u8; 16] = b"0123456789abcdef";
        let (mut high, mut low) = (self.chance.next(), self.chance.next());
        let mut id = [b'-'; 36];
        for (index, byte) in id.iter_mut().enumerate() {
            if !matches!(index, 8 | 13 | 18 | 23) {
                *byte = HEX[(high & 15) as usize];
                high = (high >> 4) | (low << 60);
                low >>= 4;
            }
        }
        id
    }

    /// A new id of a tool's call.
    pub(crate) fn call_id(&mut self) -> String {
        format!("toolu_01{:016x}{:06x}", self.chance.next(), self.chance.next() & 0xff_ffff)
    }

    /// The next message of the model: what it says and does until then are parts of one.
    pub(crate) fn new_message(&mut self) {
        self.message =
            format!("msg_01{:016x}{:06x}", self.chance.next(), self.chance.next() & 0xff_ffff).into();
        let (fresh, cached, out) =
            (self.chance.below(4000), self.chance.below(180_000), self.chance.below(900));
        self.usage = format!(
            "{{\"input_tokens\":3,\"cache_creation_input_tokens\":{fresh},\"cache_read_input_tokens\":{cached},\
             \"output_tokens\":{out},\"server_tool_use\":{{\"web_search_requests\":0,\"web_fetch_requests\":0}},\
             \"service_tier\":\"standard\",\"cache_creation\":{{\"ephemeral_1h_input_tokens\":0,\
             \"ephemeral_5m_input_tokens\":{fresh}}},\"inference_geo\":\"not_available\",\"speed\":\"standard\"}}"
        )
        .into();
    }

    fn tick(&mut self) {
        self.now += 20 + self.chance.next() % 3000;
    }

    fn count(&mut self, kind: &'static str) {
        *self.kinds.entry(kind).or_default() += 1;
    }

    /// A row of the conversation: `before` and `after` stand around `type`.
    fn talk(
        &mut self,
        kind: &'static str,
        before: impl FnOnce(&mut Vec<u8>),
        after: impl FnOnce(&mut Vec<u8>),
        last: impl FnOnce(&mut Vec<u8>),
    ) -> io::Result<Id> {
        self.tick();
        self.count(kind);
        let (id, parent, sidechain) = (self.id(), self.parent.replace([b'0'; 36]), self.sidechain);
        self.parent = Some(id);
        let time = time(self.now);
        let row = &mut self.row;
        row.clear();
        row.group(|out| {
            match parent {
                Some(parent) => id_key(out, "parentUuid", &parent),
                None => out.extend_from_slice(b"\"parentUuid\":null"),
            }
            out.extend_from_slice(if sidechain {
                b",\"isSidechain\":true"
            } else {
                b",\"isSidechain\":false"
            });
        });
        row.group(before);
        row.group(|out| text(out, "type", kind));
        row.group(after);
        row.group(|out| {
            id_key(out, "uuid", &id);
            out.push(b',');
            text(out, "timestamp", &time);
        });
        row.group(last);
        row.group(|out| out.extend_from_slice(&self.envelope));
        let matters = matches!(kind, "user" | "assistant" | "attachment");
        if matters {
            self.started.get_or_insert_with(|| time.clone());
            self.ended = time;
        }
        self.sink.write(&self.row, matters)?;
        Ok(id)
    }

    /// One block of the model's message, in a row of its own.
    pub(crate) fn assistant(&mut self, block: impl FnOnce(&mut Vec<u8>)) -> io::Result<Id> {
        let (message, usage) = (self.message.clone(), self.usage.clone());
        let request = self.chance.next();
        self.talk(
            "assistant",
            |out| {
                out.extend_from_slice(b"\"message\":{\"model\":\"claude-opus-4-8\",\"id\":\"");
                out.extend_from_slice(&message);
                out.extend_from_slice(b"\",\"type\":\"message\",\"role\":\"assistant\",\"content\":[");
                block(out);
                out.extend_from_slice(
                    b"],\"stop_reason\":null,\"stop_sequence\":null,\"stop_details\":null,\"usage\":",
                );
                out.extend_from_slice(&usage);
                out.extend_from_slice(b",\"diagnostics\":null},\"requestId\":\"req_011C");
                let _ = write!(out, "{request:016x}\"");
            },
            |_| (),
            |_| (),
        )
    }

    /// Words of the model.
    pub(crate) fn words(&mut self, words: &str) -> io::Result<Id> {
        self.assistant(|out| {
            out.extend_from_slice(b"{\"type\":\"text\",");
            text(out, "text", words);
            out.push(b'}');
        })
    }

    /// A call of a tool; `input` writes the inside of its input.
    pub(crate) fn call(
        &mut self,
        call: &str,
        tool: &str,
        input: impl FnOnce(&mut Vec<u8>),
    ) -> io::Result<Id> {
        self.assistant(|out| {
            out.extend_from_slice(b"{\"type\":\"tool_use\",");
            text(out, "id", call);
            out.push(b',');
            text(out, "name", tool);
            out.extend_from_slice(b",\"input\":{");
            input(out);
            out.extend_from_slice(b"},\"caller\":{\"type\":\"direct\"}}");
        })
    }

    /// A tool's result: `content` writes it whole, as JSON; `structured` what the client adds, as
    /// JSON, or nothing.
    pub(crate) fn result(
        &mut self,
        call: &str,
        failed: bool,
        content: impl FnOnce(&mut Vec<u8>),
        structured: impl FnOnce(&mut Vec<u8>),
    ) -> io::Result<Id> {
        let (prompt, source) = (self.prompt, self.parent.unwrap_or([b'0'; 36]));
        let id_first = self.chance.happens(700);
        self.talk(
            "user",
            |out| id_key(out, "promptId", &prompt),
            |out| {
                out.extend_from_slice(b"\"message\":{\"role\":\"user\",\"content\":[{");
                if id_first {
                    text(out, "tool_use_id", call);
                    out.extend_from_slice(b",\"type\":\"tool_result\",\"content\":");
                } else {
                    out.extend_from_slice(b"\"type\":\"tool_result\",\"content\":");
                }
                content(out);
                if failed {
                    out.extend_from_slice(b",\"is_error\":true");
                }
                if !id_first {
                    out.push(b',');
                    text(out, "tool_use_id", call);
                }
                out.extend_from_slice(b"}]}");
            },
            |out| {
                out.extend_from_slice(b"\"toolUseResult\":");
                let before = out.len();
                structured(out);
                if out.len() == before {
                    out.truncate(before - b"\"toolUseResult\":".len());
                } else {
                    out.push(b',');
                }
                id_key(out, "sourceToolAssistantUUID", &source);
            },
        )
    }

    /// What a person typed: `content` writes it whole, as JSON.
    pub(crate) fn prompt(&mut self, content: impl FnOnce(&mut Vec<u8>)) -> io::Result<Id> {
        self.prompt = self.id();
        let prompt = self.prompt;
        self.talk(
            "user",
            |out| id_key(out, "promptId", &prompt),
            |out| {
                out.extend_from_slice(b"\"message\":{\"role\":\"user\",\"content\":");
                content(out);
                out.push(b'}');
            },
            |out| {
                out.extend_from_slice(
                    b"\"permissionMode\":\"acceptEdits\",\"origin\":{\"kind\":\"human\"},\"promptSource\":\"typed\"",
                );
            },
        )
    }

    /// A user row of the client's own, with `flags` such as `"isMeta":true`.
    pub(crate) fn own_user_row(&mut self, words: &str, flags: &str) -> io::Result<Id> {
        self.talk(
            "user",
            |_| (),
            |out| {
                out.extend_from_slice(b"\"message\":{\"role\":\"user\",");
                text(out, "content", words);
                out.push(b'}');
            },
            |out| out.extend_from_slice(flags.as_bytes()),
        )
    }

    /// An attachment: `inside` writes the inside of it.
    pub(crate) fn attachment(&mut self, inside: impl FnOnce(&mut Vec<u8>)) -> io::Result<Id> {
        self.talk(
            "attachment",
            |out| {
                out.extend_from_slice(b"\"attachment\":{");
                inside(out);
                out.push(b'}');
            },
            |_| (),
            |_| (),
        )
    }

    /// A system row: `inside` writes its own keys.
    pub(crate) fn system(&mut self, inside: impl FnOnce(&mut Vec<u8>)) -> io::Result<Id> {
        self.talk("system", |_| (), inside, |_| ())
    }

    /// A progress row: `data` writes the inside of its data. Its parent stays the parent of what
    /// follows.
    pub(crate) fn progress(&mut self, call: &str, data: impl FnOnce(&mut Vec<u8>)) -> io::Result<()> {
        self.talk(
            "progress",
            |_| (),
            |out| {
                out.extend_from_slice(b"\"data\":{");
                data(out);
                out.extend_from_slice(b"},");
                text(out, "toolUseID", call);
                out.push(b',');
                text(out, "parentToolUseID", call);
            },
            |_| (),
        )
        .map(drop)
    }

    /// A row outside the conversation, which has no id: `inside` writes its keys after the type.
    pub(crate) fn bare(&mut self, kind: &'static str, inside: impl FnOnce(&mut Vec<u8>)) -> io::Result<()> {
        self.count(kind);
        self.row.clear();
        self.row.group(|out| text(out, "type", kind));
        self.row.group(inside);
        let session = self.session.clone();
        self.row.group(|out| text(out, "sessionId", &session));
        self.sink.write(&self.row, false)
    }

    /// The time of the last row, as the client writes it.
    pub(crate) fn time(&self) -> String {
        time(self.now)
    }
}

/// Writes `"key":"value"`, escaped.
pub(crate) fn text(out: &mut Vec<u8>, key: &str, value: &str) {
    out.push(b'"');
    out.extend_from_slice(key.as_bytes());
    out.extend_from_slice(b"\":\"");
    escape(value, out);
    out.push(b'"');
}

/// Writes `"key":"id"`.
pub(crate) fn id_key(out: &mut Vec<u8>, key: &str, id: &Id) {
    out.push(b'"');
    out.extend_from_slice(key.as_bytes());
    out.extend_from_slice(b"\":\"");
    out.extend_from_slice(id);
    out.push(b'"');
}

/// A string of JSON whose inside is escaped already.
pub(crate) fn quoted(out: &mut Vec<u8>, inside: &[u8]) {
    out.push(b'"');
    out.extend_from_slice(inside);
    out.push(b'"');
}

/// Milliseconds since 1970 as `2026-03-02T09:00:00.000Z`.
fn time(ms: u64) -> String {
    let (days, of_day) = (ms / 86_400_000, ms % 86_400_000);
    // Days since 1970 to year, month and day, counted in years that begin in March.
    let shifted = days + 719_468;
    let (era, of_era) = (shifted / 146_097, shifted % 146_097);
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = year + era * 400 + u64::from(month <= 2);
    format!(
        "{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}.{:03}Z",
        of_day / 3_600_000,
        of_day / 60_000 % 60,
        of_day / 1000 % 60,
        of_day % 1000
    )
}
