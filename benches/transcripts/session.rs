//! What happens in a made-up session: turns of a person and an agent until the transcript is as
//! long as it should be.

use std::collections::HashSet;
use std::io;
use std::path::Path;

use super::Spec;
use super::chance::Chance;
use super::pool::Pools;
use super::project::{PlanFile, SourceFile, write_out};
use super::rows::{Rows, VERSION, id_key, quoted, text};
use super::sink::{Odd, Sink};
use super::truth::Truth;

/// Monday, 2 March 2026, at nine: when all of them start.
const STARTED: u64 = 1_772_442_000_000;

/// A session that is being told.
pub(super) struct SessionWriter<'a> {
    pub(super) spec: &'a Spec,
    pub(super) pools: &'a Pools,
    pub(super) chance: Chance,
    pub(super) rows: Rows,
    pub(super) files: Vec<SourceFile>,
    pub(super) plan: Option<PlanFile>,
    pub(super) truth: Truth,
    pub(super) reads: HashSet<String>,
    pub(super) changed: HashSet<String>,
    pub(super) edits: usize,
    pub(super) by_subagent: bool,
    ticks: usize,
    compactions: u64,
    long_line_is_out: bool,
}

/// Tells a whole session.
pub(super) fn tell(spec: &Spec, transcript: &Path, workspace: &Path) -> io::Result<Truth> {
    let pools = Pools::shared();
    let session = format!("5e551000-0000-4000-8000-{:012x}", spec.seed);
    let session = transcript.file_stem().map_or(session, |stem| stem.to_string_lossy().into_owned());
    let root = workspace.display().to_string();
    let mut chance = Chance::new(spec.seed);
    let files: Vec<_> = (0..spec.files)
        .map(|number| {
            let varied = chance.size(6_000, 0.7).clamp(600, 40_000);
            let bytes = if spec.file_bytes == 0 { varied } else { spec.file_bytes };
            SourceFile::new(number, &root, pools, bytes, number % 10 != 9)
        })
        .collect();
    let plan = (spec.plan_steps > 0).then(|| PlanFile::new(&root, spec.plan_steps, &files));
    let sink = Sink::open(transcript, false, spec.odd, spec.seed)?;
    let mut session = SessionWriter {
        rows: Rows::new(sink, spec.seed, &session, &root, STARTED, None),
        spec,
        pools,
        chance,
        files,
        plan,
        truth: Truth {
            session: session.clone(),
            cwd: root.clone(),
            version: VERSION.into(),
            ..Truth::default()
        },
        reads: HashSet::new(),
        changed: HashSet::new(),
        edits: 0,
        by_subagent: false,
        ticks: 0,
        compactions: 0,
        long_line_is_out: false,
    };
    session.tell_main()?;
    write_out(workspace, &session.files, session.plan.as_ref(), pools)?;
    let mut truth = session.truth;
    for number in 0..spec.subagents {
        tell_subagent(spec, number, transcript, workspace, pools, &mut truth)?;
    }
    truth.subagents = spec.subagents;
    Ok(truth)
}

/// How many batches the steps of a plan are ticked in.
const TICKS: usize = 10;

impl SessionWriter<'_> {
    fn tell_main(&mut self) -> io::Result<()> {
        self.rows.bare("summary", |out| {
            text(out, "summary", "Limits of the readers");
            out.extend_from_slice(b",\"leafUuid\":\"0237810a-3cb6-4be1-8798-61864443b076\"");
        })?;
        self.rows.bare("mode", |out| text(out, "mode", "normal"))?;
        self.start_attachments()?;
        let first = match &self.plan {
            Some(_) => "Please work through PLAN.md, step by step, and tick what is done.",
            None => "Please tune the limits of the units in src, one after the other.",
        };
        self.ask(first)?;
        if let Some(plan) = self.plan.clone() {
            self.rows.new_message();
            let content = plan.text();
            self.read_file(&plan.path, content.as_bytes())?;
        }
        while self.rows.written() < self.spec.bytes {
            self.turn()?;
        }
        self.catch_up()?;
        self.last_turn()?;
        self.rows.finish()?;
        let truth = &mut self.truth;
        truth.bytes = self.rows.written();
        truth.lines = self.rows.lines();
        truth.torn = self.rows.torn();
        truth.rows = self.rows.read_rows();
        truth.started = self.rows.started.clone().unwrap_or_default();
        truth.ended.clone_from(&self.rows.ended);
        truth.kinds = self.rows.kinds.iter().map(|(kind, count)| ((*kind).to_owned(), *count)).collect();
        Ok(())
    }

    /// How many of `total` things should have happened by now.
    fn due(&self, total: usize) -> usize {
        let share = u128::from(self.rows.written()) * total as u128 / u128::from(self.spec.bytes.max(1));
        usize::try_from(share).unwrap_or(total).min(total)
    }

    fn is_over(&self) -> bool {
        self.rows.written() >= self.spec.bytes
    }

    /// One turn: a prompt, what the agent does about it, and what it says in the end.
    fn turn(&mut self) -> io::Result<()> {
        let number = self.truth.asks.len();
        if self.truth.final_message.is_empty() {
            // The first prompt is there already.
        } else if self.chance.happens(60) {
            self.queued_ask(&format!("And while you are at it, look at unit {number} again."))?;
        } else {
            let words = self.prose(120, 900);
            self.ask(&format!("Now go on with unit {number}. {words}"))?;
        }
        for _ in 0..4 + self.chance.below(36) {
            self.step()?;
            if self.is_over() {
                break;
            }
        }
        if self.chance.happens(30) {
            return self.interrupted();
        }
        let words = self.prose(200, 1500);
        self.say_finally(&[format!("Unit {number} is looked at. {words}")])?;
        self.after_turn()
    }

    /// One step of the agent: it thinks, says something, and calls a tool or two.
    fn step(&mut self) -> io::Result<()> {
        self.rows.new_message();
        if self.chance.happens(400) {
            self.think()?;
        }
        if self.chance.happens(500) {
            let words = self.prose(80, 700);
            self.rows.words(&words)?;
        }
        if let Some(plan) = &self.plan
            && self.ticks < self.due(TICKS)
            && plan.open_steps() > 0
        {
            self.tick_plan()?;
        }
        let long_line = self.spec.odd.long_line;
        if long_line > 0 && !self.long_line_is_out && self.rows.written() * 2 >= self.spec.bytes {
            self.long_line_is_out = true;
            self.read_picture(long_line)?;
        }
        let command_is_due =
            self.spec.commands.is_some_and(|total| self.truth.commands.len() < self.due(total));
        let edit_is_due = self.spec.edits.is_some_and(|total| self.edits < self.due(total));
        match self.chance.below(1000) {
            _ if command_is_due => self.command()?,
            _ if edit_is_due => self.edit()?,
            205..605 if self.spec.commands.is_none() => self.command()?,
            605..765 if self.spec.edits.is_none() => self.edit()?,
            0..5 => {
                let bytes = self.chance.size(60_000, 0.8).clamp(4_000, 500_000);
                self.read_picture(bytes)?;
            }
            5..90 => self.grep()?,
            90..150 => self.todos(false)?,
            150..175 => self.delegate()?,
            175..190 => self.request_blob()?,
            190..205 => self.api_error()?,
            _ => self.read_something()?,
        }
        if self.chance.happens(40) {
            self.reminder()?;
        }
        if self.rows.written() / (8 << 20) > self.compactions {
            self.compactions += 1;
            self.compact()?;
        }
        Ok(())
    }

    /// What the sizes asked for did not leave room for.
    fn catch_up(&mut self) -> io::Result<()> {
        self.rows.new_message();
        while self.plan.as_ref().is_some_and(|plan| plan.open_steps() > 0) {
            self.tick_plan()?;
        }
        while self.spec.commands.is_some_and(|total| self.truth.commands.len() < total) {
            self.command()?;
        }
        while self.spec.edits.is_some_and(|total| self.edits < total)
            || self.files.iter().any(|file| !self.changed.contains(&file.path))
        {
            self.edit()?;
        }
        Ok(())
    }

    fn last_turn(&mut self) -> io::Result<()> {
        self.ask("Where do we stand?")?;
        self.rows.new_message();
        self.todos(true)?;
        self.rows.new_message();
        self.say_finally(&[
            "The limits are tuned where the list says so.".to_owned(),
            "Open: nothing that I know of.\n\n| unit | \"limit\" |\n| --- | --- |".to_owned(),
        ])?;
        self.after_turn()
    }

    /// A prompt.
    fn ask(&mut self, words: &str) -> io::Result<()> {
        let with_picture = self.chance.happens(30);
        let id = self.rows.id();
        let time = self.rows.time();
        self.rows.bare("file-history-snapshot", |out| {
            id_key(out, "messageId", &id);
            out.extend_from_slice(b",\"snapshot\":{");
            id_key(out, "messageId", &id);
            out.extend_from_slice(b",\"trackedFileBackups\":{");
            for (index, file) in self.files.iter().filter(|file| file.is_there).take(12).enumerate() {
                out.extend_from_slice(if index == 0 { b"\"" } else { b",\"" });
                out.extend_from_slice(file.name.as_bytes());
                out.extend_from_slice(b"\":{\"backupFileName\":null,\"version\":1}");
            }
            out.extend_from_slice(b"},");
            text(out, "timestamp", &time);
            out.extend_from_slice(b"},\"isSnapshotUpdate\":false");
        })?;
        let bytes = self.chance.size(60_000, 0.8).clamp(4_000, 400_000);
        let pools = self.pools;
        self.rows.prompt(|out| {
            if with_picture {
                out.extend_from_slice(b"[{\"type\":\"text\",");
                text(out, "text", words);
                out.extend_from_slice(b"},{\"type\":\"image\",\"source\":{\"type\":\"base64\",\"media_type\":\"image/png\",\"data\":");
                quoted(out, &pools.base64[..bytes]);
                out.extend_from_slice(b"}}]");
            } else {
                let mut inside = Vec::new();
                super::pool::escape(words, &mut inside);
                quoted(out, &inside);
            }
        })?;
        self.truth.asks.push(words.to_owned());
        Ok(())
    }

    /// A prompt that was typed while the agent worked.
    fn queued_ask(&mut self, words: &str) -> io::Result<()> {
        let time = self.rows.time();
        for operation in ["enqueue", "remove"] {
            self.rows.bare("queue-operation", |out| {
                text(out, "operation", operation);
                out.push(b',');
                text(out, "timestamp", &time);
                out.push(b',');
                text(out, "content", words);
            })?;
        }
        self.rows.attachment(|out| {
            out.extend_from_slice(b"\"type\":\"queued_command\",");
            text(out, "prompt", words);
            out.extend_from_slice(b",\"commandMode\":\"prompt\"");
        })?;
        self.truth.asks.push(words.to_owned());
        Ok(())
    }

    /// What the agent says in the end, in as many parts as given.
    fn say_finally(&mut self, parts: &[String]) -> io::Result<()> {
        self.rows.new_message();
        for part in parts {
            self.rows.words(part)?;
        }
        self.truth.final_message = parts.join("\n");
        Ok(())
    }

    /// What the client writes after a turn.
    fn after_turn(&mut self) -> io::Result<()> {
        let last = self.truth.asks.last().cloned().unwrap_or_default();
        let (took, hook) = (self.chance.below(90_000), self.chance.below(900));
        self.rows.system(|out| {
            out.extend_from_slice(b"\"subtype\":\"stop_hook_summary\",\"hookCount\":1,\"hookInfos\":[{\"command\":\"punchlist hook\",\"durationMs\":");
            out.extend_from_slice(hook.to_string().as_bytes());
            out.extend_from_slice(b"}],\"hookErrors\":[],\"preventedContinuation\":false,\"stopReason\":\"\",\"hasOutput\":false,\"level\":\"suggestion\"");
        })?;
        self.rows.system(|out| {
            out.extend_from_slice(b"\"subtype\":\"turn_duration\",\"isMeta\":false,\"durationMs\":");
            out.extend_from_slice(took.to_string().as_bytes());
        })?;
        self.rows.bare("last-prompt", |out| text(out, "lastPrompt", &last))?;
        self.rows.bare("permission-mode", |out| text(out, "permissionMode", "acceptEdits"))?;
        if self.chance.happens(100) {
            self.rows.own_user_row("<command-name>/cost</command-name>", "\"isMeta\":false")?;
            self.rows.own_user_row("<local-command-stdout>$ 1.20</local-command-stdout>", "")?;
        }
        Ok(())
    }

    /// The person stops a call before its result is there.
    fn interrupted(&mut self) -> io::Result<()> {
        self.unanswered_call()?;
        self.rows.own_user_row("[Request interrupted by user for tool use]", "")?;
        "(interrupted)".clone_into(&mut self.truth.final_message);
        Ok(())
    }

    /// Sentences, about as many bytes as asked for.
    pub(super) fn prose(&mut self, median: usize, most: usize) -> String {
        let bytes = self.chance.size(median, 0.8).clamp(20, most);
        let (from, count) = self.pools.prose.run(&mut self.chance, bytes);
        String::from_utf8_lossy(self.pools.prose.raw(from, count)).trim_end().to_owned()
    }

    fn tick_plan(&mut self) -> io::Result<()> {
        self.ticks += 1;
        let Some(plan) = &mut self.plan else { return Ok(()) };
        let before = plan.text();
        let (old, new) = plan.tick(self.spec.plan_steps.div_ceil(TICKS));
        let path = plan.path.clone();
        self.edit_text(&path, &before, &old, &new)
    }
}

/// A subagent's transcript: a few commands and one new file.
fn tell_subagent(
    spec: &Spec,
    number: usize,
    transcript: &Path,
    workspace: &Path,
    pools: &Pools,
    truth: &mut Truth,
) -> io::Result<()> {
    let folder = transcript.with_extension("").join("subagents");
    std::fs::create_dir_all(&folder)?;
    let (name, seed) = (format!("a{number:07x}"), spec.seed ^ (number as u64 + 77));
    let sink = Sink::open(&folder.join(format!("agent-{name}.jsonl")), false, Odd::default(), seed)?;
    std::fs::write(folder.join(format!("agent-{name}.meta.json")), "{\"agentType\":\"general-purpose\"}")?;
    let root = workspace.display().to_string();
    let file = SourceFile::new(1000 + number, &root, pools, 2_000, false);
    let mut session = SessionWriter {
        rows: Rows::new(sink, seed, &truth.session, &root, STARTED, Some(&name)),
        spec,
        pools,
        chance: Chance::new(seed),
        files: vec![file],
        plan: None,
        truth: Truth::default(),
        reads: HashSet::new(),
        changed: HashSet::new(),
        edits: 0,
        by_subagent: true,
        ticks: 0,
        compactions: 0,
        long_line_is_out: true,
    };
    session.rows.own_user_row("Look at the units and add the missing one.", "")?;
    for _ in 0..3 {
        session.rows.new_message();
        session.command()?;
    }
    while session.changed.is_empty() {
        session.edit()?;
    }
    session.rows.new_message();
    session.rows.words("Added.")?;
    session.rows.finish()?;
    write_out(workspace, &session.files, None, pools)?;
    truth.touches.extend(session.truth.touches);
    truth.commands.extend(session.truth.commands);
    Ok(())
}
