//! The sealed command line: no tools, no hooks, no settings, no memory, no attachments, no session
//! file, an empty folder, the prompt on stdin. Every flag and variable of the client that a call
//! uses is named here. Must not leave out a sealing flag that the client has.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::call::Prompt;
use super::program::Flags;
use super::{env_vars, folders};
use crate::child::Job;
use crate::env;

/// Variables that keep the client quiet and away from the person's files.
const SET: &[(&str, &str)] = &[
    // Hooks of managed settings run even in a sealed client: ours sees this and does nothing.
    (env::INSIDE_AUDITOR, "1"),
    // Without this, `@path` anywhere in the prompt makes the client read and send that file.
    ("CLAUDE_CODE_DISABLE_ATTACHMENTS", "1"),
    // MEMORY.md gets past every flag but `--safe-mode`.
    ("CLAUDE_CODE_DISABLE_AUTO_MEMORY", "1"),
    ("CLAUDE_CODE_DISABLE_CLAUDE_MDS", "1"),
    ("CLAUDE_CODE_DISABLE_TERMINAL_TITLE", "1"),
    ("CLAUDE_CODE_MAX_OUTPUT_TOKENS", "8000"),
    ("CLAUDE_CODE_MAX_RETRIES", "2"),
    // 2.1.42 counts the good answer as a retry, too.
    ("MAX_STRUCTURED_OUTPUT_RETRIES", "3"),
    ("DISABLE_AUTOUPDATER", "1"),
];

/// Variables by which a client notices that it runs inside another. Listed one by one:
/// `CLAUDE_CODE_*` has the credentials, too.
const UNSET: &[&str] = &[
    // Some 2.1.x refuse to start inside a session.
    env_vars::INSIDE_SESSION,
    "CLAUDE_CODE_CHILD_SESSION",
    "CLAUDE_CODE_ENTRYPOINT",
    env_vars::SESSION_ID,
    "CLAUDE_CODE_MESSAGING_SOCKET",
    "CLAUDE_CODE_MESSAGING_TOKEN",
    env_vars::PROJECT_DIR,
    "CLAUDE_PLUGIN_ROOT",
    "CLAUDE_PLUGIN_DATA",
    env_vars::PID,
    "CLAUDE_EFFORT",
    env_vars::AGENT,
];

/// The tools of clients that can only take tools away by name (before `--tools`, 2.0.32).
const OLD_TOOLS: &str = "Task,Bash,Glob,Grep,LS,ExitPlanMode,Read,Edit,MultiEdit,Write,NotebookRead,NotebookEdit,\
                         WebFetch,TodoRead,TodoWrite,WebSearch,BashOutput,KillBash,KillShell,SlashCommand,\
                         ListMcpResourcesTool,ReadMcpResourceTool";

/// The client's only settings.
const NO_HOOKS: &str = r#"{"disableAllHooks":true}"#;

const SETTINGS: &str = "--settings";
const NO_SESSION_FILE: &str = "--no-session-persistence";
const SCHEMA: &str = "--json-schema";

/// The variables to set for the client.
pub fn env_set() -> Vec<(OsString, OsString)> {
    SET.iter().map(|(name, value)| (name.into(), value.into())).collect()
}

/// The variables that the client must not see.
pub fn env_unset() -> Vec<OsString> {
    UNSET.iter().map(Into::into).collect()
}

/// A sealed command, with the folder that it runs in.
#[derive(Debug)]
pub struct SealedCommand {
    args: Vec<String>,
    stdin: String,
    cwd: PathBuf,
    /// Has `cwd` and the settings; removed on drop.
    _folder: tempfile::TempDir,
}

impl SealedCommand {
    /// Builds the command with every sealing flag that this client has.
    pub fn new(flags: &Flags, model: &str, prompt: &Prompt) -> std::io::Result<Self> {
        let folder = tempfile::Builder::new().prefix("punchlist-auditor-").tempdir()?;
        // A file and not text: clients up to 2.1.136 leave such text behind as a file in the
        // temporary folder.
        let settings = folder.path().join("settings.json");
        // The client reads what is in its folder, so that has to be empty.
        let mut cwd = folder.path().to_path_buf();
        if flags.has(SETTINGS) {
            std::fs::write(&settings, NO_HOOKS)?;
            cwd.push("empty");
            std::fs::create_dir(&cwd)?;
        }
        let (args, stdin) = command_line(flags, model, prompt, &settings.to_string_lossy());
        Ok(Self { args, stdin, cwd, _folder: folder })
    }

    /// Returns the flags without their values.
    pub fn flag_names(&self) -> Vec<String> {
        let is_flag = |arg: &&String| arg.starts_with("--") && !arg.contains(char::is_whitespace);
        self.args.iter().filter(is_flag).cloned().collect()
    }

    /// Whether the client itself enforces the schema.
    pub fn has_schema(&self) -> bool {
        self.has(SCHEMA)
    }

    fn has(&self, flag: &str) -> bool {
        self.args.iter().any(|arg| arg == flag)
    }

    /// Removes the session file of a client that can't be kept from writing one. Its folder is
    /// named after our own temporary one, so nothing of the person's is in it.
    pub fn remove_session_file(&self, client_config_dir: &Path) {
        if self.has(NO_SESSION_FILE) {
            return;
        }
        let Ok(folder) = std::fs::canonicalize(&self.cwd) else { return };
        let _ = std::fs::remove_dir_all(folders::project_folder(client_config_dir, &folder));
    }

    /// Returns the job to run. Takes the prompt along, so this works once.
    pub fn job(&mut self, client: &Path, deadline: Duration, stdout_cap: usize, stderr_cap: usize) -> Job {
        Job {
            program: client.to_path_buf(),
            args: self.args.iter().map(Into::into).collect(),
            cwd: self.cwd.clone(),
            env_set: env_set(),
            env_unset: env_unset(),
            stdin: std::mem::take(&mut self.stdin).into_bytes(),
            deadline,
            stdout_cap,
            stderr_cap,
        }
    }
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
    // One turn for the answer, one that clients up to 2.1.136 take after a good answer, and room
    // for retries.
    give("--max-turns", &["4"]);
    if !give(SCHEMA, &[&prompt.schema]) {
        stdin = format!(
            "{stdin}\n\nAnswer with one JSON object that fits this schema, and nothing else:\n{}",
            prompt.schema
        );
    }
    // 1.0.98 does not know the variable that turns attachments off.
    (args, if is_old { without_attachments(&stdin) } else { stdin })
}

/// Puts a word joiner before every `@` that a client could take for a file to attach, which it does
/// only at the start of a word. Quotes in an answer are compared by letters and digits, so the
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
