//! The sealed call: runs the client on one prompt with no tools, hooks, settings, memory,
//! attachments or session file, in an empty folder, and names how that ended. Must not leave out a
//! sealing flag that the client has, or run longer than the deadline, all tries together.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::call::{Prompt, Reader, ReaderOutcome, ReaderRun, Unavailable};
use super::program::{self, FlagCache, Flags};
use super::{env_vars, folders, reply};
use crate::child::{self, Ended};
use crate::env::Env;
use crate::text::last_part;

/// The tools of clients whose tools can only be disabled by name (before `--tools`, 2.0.32).
const OLD_TOOLS: &str = "Task,Bash,Glob,Grep,LS,ExitPlanMode,Read,Edit,MultiEdit,Write,NotebookRead,NotebookEdit,\
                         WebFetch,TodoRead,TodoWrite,WebSearch,BashOutput,KillBash,KillShell,SlashCommand,\
                         ListMcpResourcesTool,ReadMcpResourceTool";

/// The only settings that the client gets.
const NO_HOOKS: &str = r#"{"disableAllHooks":true}"#;

const SETTINGS: &str = "--settings";
const NO_SESSION_FILE: &str = "--no-session-persistence";
const SCHEMA: &str = "--json-schema";

/// How much of the client's output goes to the log.
const REPLY_CAP: usize = 256 << 10;
/// The most calls for one question: each one after the first drops a flag that the client refused.
const MAX_TRIES: usize = 6;
/// With less time left there is no point in another try.
const MIN_TIME: Duration = Duration::from_millis(500);

/// The client, run with no tools, hooks, settings or memory.
pub struct SealedClient<'a> {
    /// Where the client is looked for.
    pub env: &'a Env,
    /// The configured program, if any.
    pub program: Option<&'a Path>,
    /// The model to ask.
    pub model: &'a str,
    /// The flags of clients that ran before.
    pub flag_cache: &'a dyn FlagCache,
    /// Whether the answer is still wanted; called while the client runs.
    pub is_wanted: Option<&'a dyn Fn() -> bool>,
}

impl Reader for SealedClient<'_> {
    fn ask(&mut self, prompt: &Prompt, deadline: Duration) -> ReaderRun {
        let started = Instant::now();
        let client = match program::find(self.env, self.program) {
            Ok(client) => client,
            Err(why) => return ReaderRun::not_asked(ReaderOutcome::Unavailable(why)),
        };
        let left = || deadline.saturating_sub(started.elapsed());
        let run = self.flags(&client, left()).and_then(|flags| self.run(&client, flags, prompt, left));
        let run = run.unwrap_or_else(ReaderRun::not_asked);
        ReaderRun { client: Some(client), duration: started.elapsed(), ..run }
    }

    fn backend(&self) -> &'static str {
        "claude"
    }

    fn model(&self) -> &str {
        self.model
    }
}

impl SealedClient<'_> {
    fn flags(&self, client: &Path, left: Duration) -> Result<Flags, ReaderOutcome> {
        if let Some(flags) = self.flag_cache.get(client) {
            return Ok(flags);
        }
        let flags = Flags::probe(client, left)?;
        self.flag_cache.put(client, &flags);
        Ok(flags)
    }

    /// Runs the client; runs it again without a flag that it refuses, since help texts list flags
    /// that some builds reject.
    fn run(
        &self,
        client: &Path,
        mut flags: Flags,
        prompt: &Prompt,
        left: impl Fn() -> Duration,
    ) -> Result<ReaderRun, ReaderOutcome> {
        let mut tries = 0;
        loop {
            tries += 1;
            let folder = SealedFolder::new(&flags, &self.env.temp_folder()).map_err(|error| {
                let why = format!("no empty folder to run it in: {error}");
                ReaderOutcome::Unavailable(Unavailable::Crashed(why))
            })?;
            let (args, stdin) = command_line(&flags, self.model, prompt, &folder.settings.to_string_lossy());
            let mut job = program::job(client, &args, &folder.cwd, left());
            job.stdin = stdin.into_bytes();
            let ended = match self.is_wanted {
                Some(is_wanted) => child::run_while(job, is_wanted),
                None => child::run(job),
            };
            tracing::debug!(how = ?ended.how, ms = ended.duration.as_millis(), "auditor ended");
            if !flags.has(NO_SESSION_FILE)
                && let Some(config_dir) = env_vars::config_dir(self.env)
            {
                folder.remove_session_file(&config_dir);
            }
            let has_schema = flags.has(SCHEMA);
            if let Some(refused) = reply::refused_flag(&ended)
                && flags.remove(&refused)
                && tries < MAX_TRIES
                && left() > MIN_TIME
            {
                tracing::debug!(flag = refused, "the client refused a flag");
                self.flag_cache.put(client, &flags);
                continue;
            }
            let outcome = match program::exit_code(&ended, client, "it") {
                Ok(code) => reply::exit_outcome(code, &ended.stdout, &ended.stderr, has_schema, prompt.check),
                Err(outcome) => outcome,
            };
            let is_flag = |arg: &String| arg.starts_with("--") && !arg.contains(char::is_whitespace);
            return Ok(ReaderRun {
                flags: args.into_iter().filter(is_flag).collect(),
                usage: reply::usage(&ended.stdout),
                raw_reply: raw_reply(&ended),
                ..ReaderRun::not_asked(outcome)
            });
        }
    }
}

/// The folder that the client runs in; removed on drop.
struct SealedFolder {
    settings: PathBuf,
    /// Empty, since the client reads what is in its folder.
    cwd: PathBuf,
    _folder: tempfile::TempDir,
}

impl SealedFolder {
    fn new(flags: &Flags, base: &Path) -> std::io::Result<Self> {
        let folder = child::temp_folder(base)?;
        // A file rather than an argument: clients up to 2.1.136 leave such text behind as a file in
        // the temporary folder.
        let settings = folder.path().join("settings.json");
        let mut cwd = folder.path().to_path_buf();
        if flags.has(SETTINGS) {
            std::fs::write(&settings, NO_HOOKS)?;
            cwd.push("empty");
            std::fs::create_dir(&cwd)?;
        }
        Ok(Self { settings, cwd, _folder: folder })
    }

    /// Removes the session file of a client that can't be kept from writing one. Its folder is
    /// named after our own temporary one, so it has nothing of the person's.
    fn remove_session_file(&self, client_config_dir: &Path) {
        let Ok(folder) = std::fs::canonicalize(&self.cwd) else { return };
        let _ = std::fs::remove_dir_all(folders::project_folder(client_config_dir, &folder));
    }
}

/// Returns what was printed, for the log.
fn raw_reply(ended: &Ended) -> String {
    let mut text = last_part(&String::from_utf8_lossy(&ended.stdout), REPLY_CAP);
    if !ended.stderr.is_empty() {
        text.push_str("\n--- stderr ---\n");
        text.push_str(&String::from_utf8_lossy(&ended.stderr));
    }
    text
}

/// Returns arguments and stdin. The prompt is never an argument: those are limited to 128 KiB each,
/// and a flag that takes many values would swallow it.
fn command_line(flags: &Flags, model: &str, prompt: &Prompt, settings: &str) -> (Vec<String>, String) {
    let mut args: Vec<String> =
        ["-p", "--model", model, "--output-format", "json"].map(String::from).to_vec();
    let mut stdin = prompt.text.clone();
    let mut give = |flag: &str, values: &[&str]| {
        let has = flags.has(flag);
        if has {
            args.push(flag.to_owned());
            args.extend(values.iter().map(|value| (*value).to_owned()));
        }
        has
    };
    let is_old = !give("--tools", &[""]);
    if is_old {
        give("--disallowedTools", &[OLD_TOOLS]);
    }
    if !give("--system-prompt", &[&prompt.system]) && !give("--append-system-prompt", &[&prompt.system]) {
        stdin = format!("{}\n\n{stdin}", prompt.system);
    }
    give("--setting-sources", &[""]);
    give(SETTINGS, &[settings]);
    give("--strict-mcp-config", &[]);
    give("--disable-slash-commands", &[]);
    give(NO_SESSION_FILE, &[]);
    give("--effort", &["low"]);
    // One turn for the answer, one that clients up to 2.1.136 take after a valid answer, and room
    // for retries.
    give("--max-turns", &["4"]);
    if !give(SCHEMA, &[&prompt.schema]) {
        stdin = format!(
            "{stdin}\n\nAnswer with one JSON object that fits this schema, and nothing else:\n{}",
            prompt.schema
        );
    }
    // 1.0.98 does not know the variable that disables attachments.
    (args, if is_old { without_attachments(&stdin) } else { stdin })
}

/// Puts a word joiner before every `@` that a client could take for a file to attach, which is only
/// the case at the start of a word. Quotes in an answer are compared by letters and digits, so the
/// joiner does no harm there.
fn without_attachments(text: &str) -> String {
    let mut guarded = String::with_capacity(text.len());
    let mut at_start = true;
    for c in text.chars() {
        if c == '@' && at_start {
            guarded.push('\u{2060}');
        }
        guarded.push(c);
        // JavaScript counts the byte order mark as white space.
        at_start = c.is_whitespace() || c == '\u{feff}';
    }
    guarded
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prompt() -> Prompt {
        let [system, text, schema] = ["SYSTEM", "QUESTION", "SCHEMA"].map(String::from);
        Prompt { system, text, schema, check: |_| Ok(()) }
    }

    fn line(help: &str) -> (String, String) {
        let (args, stdin) = command_line(&Flags::from_help(help), "haiku", &prompt(), "SETTINGS");
        (args.join(" "), stdin)
    }

    #[test]
    fn a_new_client_is_sealed_whole() {
        let help = "--tools\n--system-prompt\n--setting-sources\n--settings\n--strict-mcp-config\n\
                    --disable-slash-commands\n--no-session-persistence\n--effort\n--json-schema\n--disallowedTools";
        let (args, stdin) = line(help);
        assert_eq!(
            args,
            "-p --model haiku --output-format json --tools  --system-prompt SYSTEM --setting-sources  --settings \
             SETTINGS --strict-mcp-config --disable-slash-commands --no-session-persistence \
             --effort low --max-turns 4 --json-schema SCHEMA"
        );
        assert_eq!(stdin, "QUESTION");
    }

    #[test]
    fn an_old_client_is_sealed_as_far_as_it_goes() {
        let (args, _) = line("--settings\n--strict-mcp-config\n--disallowedTools\n--append-system-prompt");
        assert!(
            args.contains("--disallowedTools Task,Bash,") && args.contains("--system-prompt SYSTEM"),
            "{args}"
        );
        assert!(!args.contains("--tools ") && !args.contains("--json-schema"), "{args}");
    }

    #[test]
    fn an_old_client_can_not_take_an_at_sign_for_a_file() {
        assert_eq!(
            without_attachments("@a b@c\n@/d \u{feff}@e"),
            "\u{2060}@a b@c\n\u{2060}@/d \u{feff}\u{2060}@e"
        );
    }

    #[test]
    fn a_client_that_takes_no_system_prompt_gets_it_first_on_stdin() {
        let mut flags = Flags::from_help("");
        flags.remove("--system-prompt");
        let (args, stdin) = command_line(&flags, "haiku", &prompt(), "SETTINGS");
        assert_eq!(args.join(" "), "-p --model haiku --output-format json --max-turns 4");
        assert_eq!(
            stdin,
            "SYSTEM\n\nQUESTION\n\nAnswer with one JSON object that fits this schema, and nothing else:\nSCHEMA"
        );
    }
}
