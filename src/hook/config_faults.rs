//! What is wrong with the settings, or was left aside of a project's: each on stderr and in the
//! log, and the person is told once for each content of a file. Must not tell the agent.

use std::collections::BTreeSet;

use crate::client::env_vars;
use crate::client::hook_reply::Reply;
use crate::config::{ConfigError, summary};
use crate::env;
use crate::exit::complain;
use crate::gates::StopContext;
use crate::hook::notices::Notices;
use crate::ids::ContentId;
use crate::state::{Line, StateFolder};

/// What was done about something wrong with the person's own prompts.
const BUILT_IN_USED: &str = " (the built-in text is used)";

/// What is wrong with the settings.
#[derive(Debug)]
pub struct ConfigFaults {
    /// What is wrong with the files, or does not count in them.
    files: Vec<ConfigError>,
    /// Everything, each with what was done about it.
    lines: Vec<(String, &'static str)>,
}

impl ConfigFaults {
    pub fn new(files: Vec<ConfigError>) -> Self {
        let lines = files.iter().map(|fault| (fault.to_string(), fault.note())).collect();
        Self { files, lines }
    }

    /// Adds what is wrong with how the hook is registered.
    pub fn add_registration(&mut self, faults: impl IntoIterator<Item = String>) {
        self.lines.extend(faults.into_iter().map(|fault| (fault, "")));
    }

    /// Adds what is wrong with the person's own prompts.
    pub fn add_prompts(&mut self, faults: impl IntoIterator<Item = String>) {
        self.lines.extend(faults.into_iter().map(|fault| (fault, BUILT_IN_USED)));
    }

    /// Says all of it on stderr, for the client's debug log.
    pub fn complain(&self) {
        self.lines.iter().for_each(|(text, note)| complain(&format!("{text}{note}")));
    }

    /// All of it, for the log.
    pub fn texts(&self) -> Vec<String> {
        self.lines.iter().map(|(text, _)| text.clone()).collect()
    }

    /// Adds what the person was not told yet of the files. A block has no room for it: the stop
    /// after it has. Of a stop that nobody waits for it is told later, and of one whose client
    /// shows nobody anything it does not count as told.
    pub fn add_to(&self, notices: &mut Notices, stop: &StopContext<'_>, reply: &Reply) {
        let is_ours = stop.env.get(env::INSIDE_AUDITOR).is_some();
        let has_room = stop.is_background() || matches!(reply, Reply::Silent | Reply::Tell(_));
        if !has_room || is_ours || !stop.is_main() {
            return;
        }
        let is_seen = !stop.is_background() && !env_vars::is_unwatched(stop.env);
        for FileFaults { file, content, line } in self.by_file(stop) {
            let is_new = if is_seen {
                stop.state.tell_once(file, &content)
            } else {
                !stop.state.is_told(file, &content)
            };
            if is_new {
                notices.add_once(&format!("{NAME}{content} {file}"), &BTreeSet::new(), line);
            }
        }
    }

    /// One line for each file.
    fn by_file(&self, stop: &StopContext<'_>) -> Vec<FileFaults<'_>> {
        let mut names: Vec<&str> = self.files.iter().map(ConfigError::file).collect();
        names.dedup();
        let home = stop.env.home();
        let lines = names.into_iter().map(|file| {
            let of_file: Vec<&ConfigError> = self.files.iter().filter(|fault| fault.file() == file).collect();
            let mut content = ContentId::default();
            for fault in &of_file {
                content.add(fault.to_string());
            }
            FileFaults { file, content: content.finish(), line: summary(&of_file, home.as_deref()) }
        });
        lines.collect()
    }
}

/// What is wrong with one file.
struct FileFaults<'f> {
    file: &'f str,
    content: String,
    line: String,
}

/// How the name of a notice about a file begins: what identifies its content and its path follow.
const NAME: &str = "config ";

/// Returns whether a line that waited is still to be shown, and counts it as told: another session
/// may have shown it meanwhile.
pub fn is_to_be_shown(state: &StateFolder, (name, _): &Line) -> bool {
    let fault = name.as_ref().and_then(|name| name.strip_prefix(NAME)?.split_once(' '));
    fault.is_none_or(|(content, file)| state.tell_once(file, content))
}
