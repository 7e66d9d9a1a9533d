//! What is wrong with the settings, or was left aside of a project's: each on stderr and in the log, and the person is
//! told once for each content of a file. Must not tell the agent.

use crate::client::hook_reply::Reply;
use crate::config::{ConfigError, summary};
use crate::env;
use crate::exit::complain;
use crate::gates::StopContext;
use crate::ids::ContentId;

/// What was done about something wrong with the settings.
const DEFAULT_USED: &str = " (the default is used)";
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
        let note = |fault: &ConfigError| if fault.is_fault() { DEFAULT_USED } else { "" };
        let lines = files.iter().map(|fault| (fault.to_string(), note(fault))).collect();
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

    /// Adds to a reply what the person was not told yet of the files. A block has no room for it: the stop after it
    /// has. A client that does not wait throws it away, so it is told at the next stop that waits.
    pub fn tell(&self, stop: &StopContext<'_>, reply: Reply) -> Reply {
        let is_ours = stop.env.get(env::INSIDE_AUDITOR).is_some();
        let before = match reply {
            Reply::Silent => String::new(),
            Reply::Tell(ref words) => format!("{words}; "),
            Reply::Block(_) | Reply::Context(_) => return reply,
        };
        if self.files.is_empty() || is_ours || !stop.is_main() || stop.is_background() {
            return reply;
        }
        let new = self.new_lines(stop);
        match (new.is_empty(), before.is_empty()) {
            (true, _) => reply,
            (false, true) => Reply::Tell(format!("punchlist: {}", new.join("; "))),
            (false, false) => Reply::Tell(format!("{before}{}", new.join("; "))),
        }
    }

    /// One line for each file of which this is not told yet.
    fn new_lines(&self, stop: &StopContext<'_>) -> Vec<String> {
        let mut names: Vec<&str> = self.files.iter().map(ConfigError::file).collect();
        names.dedup();
        let home = stop.env.home();
        let lines = names.into_iter().filter_map(|name| {
            let of_file: Vec<&ConfigError> = self.files.iter().filter(|fault| fault.file() == name).collect();
            let mut content = ContentId::default();
            for fault in &of_file {
                content.add(fault.to_string());
            }
            let is_new = stop.state.tell_once(name, &content.finish());
            is_new.then(|| summary(&of_file, home.as_deref()))
        });
        lines.collect()
    }
}
