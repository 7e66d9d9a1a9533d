//! Whether the agent itself switched punchlist off. That is honoured, logged, and told to the person once. A switch
//! that was typed at a terminal is the person's, and so is a file that was there before the session: then nothing
//! more is read.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::SystemTime;

use crate::advisories::{SwitchFile, switched_off_by, switched_off_in_a_file_by};
use crate::client::folders::MOST_SETTINGS;
use crate::client::settings::Scope;
use crate::config::{own_file, project_file};
use crate::decision::{Cause, Outcome};
use crate::env;
use crate::files::{open_regular, read_bounded};
use crate::finding::Advisory;
use crate::gates::StopContext;
use crate::ids::ContentId;
use crate::redact::mask;
use crate::session::Session;
use crate::session::builder::Role;
use crate::session::file_history::{Wanted, fetch};
use crate::session::load::load;
use crate::state::SwitchedOff;

#[derive(Debug, Default)]
pub struct SelfDisabled {
    /// What the person is told, where the agent did it.
    pub advice: Option<(Outcome, Advisory)>,
    /// The switches that were looked at, each once: a long session takes a while to read.
    pub told: BTreeSet<String>,
}

impl SelfDisabled {
    /// Looks at who switched off what lets this stop through; `off` is the switch in our own state.
    pub fn look(stop: &StopContext<'_>, outcome: &Outcome, off: Option<&SwitchedOff>) -> Self {
        let mut looked = Self::default();
        let is_off = outcome.cause == Cause::Off;
        if !outcome.is_pass() || !is_off && stop.config.audit.enabled {
            return looked;
        }
        let found = match off.filter(|_| is_off) {
            Some(off) => looked
                .by_a_command(off, stop)
                .map(|advisory| (advisory, "`punchlist on` switches it on again".to_owned())),
            None => looked.in_a_file(stop).map(|(advisory, file)| {
                (advisory, format!("Take it out of {} to switch it on again", file.display()))
            }),
        };
        looked.advice = found.map(|(mut advisory, again)| {
            advisory.evidence = mask(&advisory.evidence).text;
            // Where it is not all off, the other gates have checked the stop.
            let audit_off = "the audit is switched off by [audit] enabled = false";
            let what = if is_off { &outcome.words } else { audit_off };
            let words = format!("{what}; the agent did it itself ({}). {again}", advisory.evidence);
            (Outcome::advise(outcome.cause, words), advisory)
        });
        looked
    }

    fn by_a_command(&mut self, off: &SwitchedOff, stop: &StopContext<'_>) -> Option<Advisory> {
        let is_new = !off.thrown.at_terminal && self.is_new(format!("switch {}", off.thrown.at_ms), stop);
        is_new.then(|| switched_off_by(&session_of(stop))).flatten()
    }

    /// The file that switches it off, where the agent wrote it.
    fn in_a_file(&mut self, stop: &StopContext<'_>) -> Option<(Advisory, PathBuf)> {
        let files: Vec<PathBuf> = if stop.env.switch(env::OFF) {
            Scope::ALL.into_iter().filter_map(|scope| scope.file(stop.env, stop.project)).collect()
        } else {
            [Some(project_file(stop.project)), own_file(stop.env)].into_iter().flatten().collect()
        };
        let changed = files.into_iter().filter_map(|file| {
            let changed = file.metadata().and_then(|meta| meta.modified()).ok()?;
            Some((file, changed))
        });
        let changed: Vec<(PathBuf, SystemTime)> = changed.collect();
        let began = changed.first().map(|_| began_at(stop))?;
        let (file, _) = changed.into_iter().find(|(file, changed)| {
            *changed > began
                && switches_off(file)
                && self.is_new(format!("switch {} {changed:?}", file.display()), stop)
        })?;
        let mut session = session_of(stop);
        let is_switch = |path: &str| SwitchFile::at(path).is_some();
        fetch(&mut session, |touch| if is_switch(&touch.path) { Wanted::All } else { Wanted::Nothing });
        switched_off_in_a_file_by(&session).map(|advisory| (advisory, file))
    }

    fn is_new(&mut self, what: String, stop: &StopContext<'_>) -> bool {
        let name = ContentId::of(what);
        let is_new = !stop.saved().told.contains(&name);
        if is_new {
            self.told.insert(name);
        }
        is_new
    }
}

fn switches_off(file: &std::path::Path) -> bool {
    let kind = SwitchFile::at(&file.to_string_lossy().replace('\\', "/"));
    let text = open_regular(file).and_then(|file| read_bounded(file, MOST_SETTINGS)).unwrap_or_default();
    kind.is_some_and(|kind| kind.line_that_switches_off(&text).is_some())
}

/// When the session began: the client makes its transcript then. Long ago where the file system does not tell.
fn began_at(stop: &StopContext<'_>) -> SystemTime {
    let transcript = stop.input.transcript_path.as_ref();
    let made = transcript.and_then(|path| path.metadata().ok()).and_then(|meta| meta.created().ok());
    made.unwrap_or(SystemTime::UNIX_EPOCH)
}

fn session_of(stop: &StopContext<'_>) -> Session {
    let input = stop.input;
    load(input.transcript_path.as_deref(), Role::Main, input.last_assistant_message.as_deref()).session
}
