//! The sealed command line: takes a client's flags and a prompt, gives the one way in which it is run: no
//! tools, no hooks, no settings, no memory, no attachments, no session file, an empty folder, the prompt on
//! stdin. Every flag and variable of the client that an audit uses is named here. Must not leave out a flag
//! that the client has.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::child::Job;
use crate::client::flags::Flags;
use crate::client::folders;
use crate::env;
use crate::readers::prompt::Prompt;

/// Variables that make the client quiet and blind.
const SET: &[(&str, &str)] = &[
    // A hook that fires inside the auditor all the same (managed settings) steps aside.
    (env::INSIDE_AUDITOR, "1"),
    // Without this, `@path` anywhere in the prompt makes the client read and send that file.
    ("CLAUDE_CODE_DISABLE_ATTACHMENTS", "1"),
    // MEMORY.md gets past every flag but `--safe-mode`.
    ("CLAUDE_CODE_DISABLE_AUTO_MEMORY", "1"),
    ("CLAUDE_CODE_DISABLE_CLAUDE_MDS", "1"),
    ("CLAUDE_CODE_DISABLE_TERMINAL_TITLE", "1"),
    ("CLAUDE_CODE_MAX_OUTPUT_TOKENS", "8000"),
    ("CLAUDE_CODE_MAX_RETRIES", "2"),
    // 2.1.42 counts the good answer as a try as well.
    ("MAX_STRUCTURED_OUTPUT_RETRIES", "3"),
    ("DISABLE_AUTOUPDATER", "1"),
];

/// Variables by which a client knows that it runs inside another. By name: all of `CLAUDE_CODE_*` would
/// take the credentials as well.
const UNSET: &[&str] = &[
    // Some 2.1.x refuse to start inside a session.
    "CLAUDECODE",
    "CLAUDE_CODE_CHILD_SESSION",
    "CLAUDE_CODE_ENTRYPOINT",
    "CLAUDE_CODE_SESSION_ID",
    "CLAUDE_CODE_MESSAGING_SOCKET",
    "CLAUDE_CODE_MESSAGING_TOKEN",
    env::CLIENT_PROJECT_DIR,
    "CLAUDE_PLUGIN_ROOT",
    "CLAUDE_PLUGIN_DATA",
    env::CLIENT_PID,
    "CLAUDE_EFFORT",
    env::CLIENT_AGENT,
];

/// The tools of clients that can only take tools away by name (before `--tools`, 2.0.32).
const OLD_TOOLS: &str = "Task,Bash,Glob,Grep,LS,ExitPlanMode,Read,Edit,MultiEdit,Write,NotebookRead,NotebookEdit,\
                         WebFetch,TodoRead,TodoWrite,WebSearch,BashOutput,KillBash,KillShell,SlashCommand,\
                         ListMcpResourcesTool,ReadMcpResourceTool";

/// The settings that the client gets: it has no others.
const NO_HOOKS: &str = r#"{"disableAllHooks":true}"#;
/// Gives them.
const SETTINGS: &str = "--settings";
/// Keeps the client from writing a session file.
const NO_SESSION_FILE: &str = "--no-session-persistence";
/// Makes the client hold the answer to a schema.
const SCHEMA: &str = "--json-schema";
/// The name of the folder in which it stands, beside its settings.
const EMPTY: &str = "empty";

/// The variables to set.
pub fn env_set() -> Vec<(OsString, OsString)> {
    SET.iter().map(|(name, value)| (name.into(), value.into())).collect()
}

/// The variables to take away.
pub fn env_unset() -> Vec<OsString> {
    UNSET.iter().map(Into::into).collect()
}

/// A command line, ready to run.
#[derive(Debug)]
pub struct Seal {
    args: Vec<String>,
    stdin: String,
    /// The folder in which it stands.
    cwd: PathBuf,
    /// What the run needs on disk; gone with us.
    _folder: tempfile::TempDir,
}

impl Seal {
    /// The tightest seal that this client can be put under.
    pub fn new(flags: &Flags, model: &str, prompt: &Prompt) -> std::io::Result<Self> {
        let folder = tempfile::Builder::new().prefix("punchlist-auditor-").tempdir()?;
        // Given as text, settings are left behind by the client as a file in the temporary folder (to 2.1.136).
        let settings = folder.path().join("settings.json");
        // The client looks around where it stands: there is nothing to see there.
        let mut cwd = folder.path().to_path_buf();
        if flags.has(SETTINGS) {
            std::fs::write(&settings, NO_HOOKS)?;
            cwd.push(EMPTY);
            std::fs::create_dir(&cwd)?;
        }
        let (args, stdin) = command_line(flags, model, prompt, &settings.to_string_lossy());
        Ok(Self { args, stdin, cwd, _folder: folder })
    }

    /// The flags used, values left out.
    pub fn flag_names(&self) -> Vec<String> {
        let is_flag = |arg: &&String| arg.starts_with("--") && !arg.contains(char::is_whitespace);
        self.args.iter().filter(is_flag).cloned().collect()
    }

    /// Whether the client itself holds the answer to the schema.
    pub fn has_schema(&self) -> bool {
        self.has(SCHEMA)
    }

    fn has(&self, flag: &str) -> bool {
        self.args.iter().any(|arg| arg == flag)
    }

    /// Removes the session file that a client left which can't be kept from writing one. It stands under the
    /// name of our own folder, which nobody else was ever in.
    pub fn remove_session_file(&self, client_config_dir: &Path) {
        if self.has(NO_SESSION_FILE) {
            return;
        }
        let Ok(folder) = std::fs::canonicalize(&self.cwd) else { return };
        let _ = std::fs::remove_dir_all(folders::project_folder(client_config_dir, &folder));
    }

    /// What to run, once: the prompt goes along.
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

/// Arguments and stdin. The prompt never stands in an argument: those are limited to 128 KiB each, and flags
/// that take many values swallow it.
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
    // Up to 2.1.136 the client wants one more turn after a good answer; one more is for a retry.
    give("--max-turns", &["4"]);
    if !give(SCHEMA, &[&prompt.schema]) {
        stdin = format!(
            "{stdin}\n\nAnswer with one JSON object that fits this schema, and nothing else:\n{}",
            prompt.schema
        );
    }
    // 1.0.98 does not know the variable that switches attachments off.
    (args, if is_old { without_attachments(&stdin) } else { stdin })
}

/// The text with every `@` that a client could take for a file kept from being one: it does so only at the
/// start of a word, so a word joiner before it is enough. Quotes are compared by their words, which this is
/// not one of.
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
    use crate::readers::Answer;

    fn prompt() -> Prompt {
        Prompt {
            system: "SYSTEM".into(),
            text: "QUESTION".into(),
            schema: "SCHEMA".into(),
            check: Answer::check,
        }
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
