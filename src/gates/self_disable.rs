//! Who used the person's switch: takes a stop that it lets through, and looks whether the agent threw it. That is
//! honoured, logged, and told to the person once. What was typed at a terminal is the person's, and nothing is read; nor is
//! anything of a file that says so and was there before the session.

use std::path::PathBuf;
use std::time::SystemTime;

use crate::advisories::{SwitchFile, switched_off_by, switched_off_in_a_file_by};
use crate::client::settings::files::Scope;
use crate::config::{own_file, project_file};
use crate::decision::{Cause, Outcome};
use crate::env;
use crate::finding::Advisory;
use crate::gates::{StopContext, StopReport};
use crate::ids::ContentId;
use crate::redact::mask;
use crate::session::Session;
use crate::session::builder::Role;
use crate::session::file_history::{Wanted, fetch};
use crate::session::load::load;
use crate::state::SwitchedOff;

/// The outcome of a stop that is let through; `off` is the switch in our own state, where that does it.
pub fn with_whose_it_was(
    outcome: Outcome,
    off: Option<&SwitchedOff>,
    stop: &StopContext<'_>,
    story: &mut StopReport,
) -> Outcome {
    let Outcome::Pass { cause, detail } = &outcome else { return outcome };
    let is_off = *cause == Cause::Off;
    if !is_off && stop.config.audit.enabled {
        return outcome;
    }
    let what = match detail {
        Some(detail) if is_off => detail.as_str(),
        // The other gates have looked.
        _ => "the audit is switched off by [audit] enabled = false",
    };
    let (advisory, again) = match off {
        Some(off) => (by_a_command(off, stop, story), "`punchlist on` switches it on again".to_owned()),
        None => match in_a_file(stop, story) {
            Some((advisory, file)) => {
                (Some(advisory), format!("Take it out of {} to switch it on again", file.display()))
            }
            None => return outcome,
        },
    };
    let Some(mut advisory) = advisory else { return outcome };
    advisory.evidence = mask(&advisory.evidence).text;
    let message = format!("{what}; the agent did it itself ({}). {again}", advisory.evidence);
    story.advisories.push(advisory);
    Outcome::Advise { cause: *cause, message }
}

fn by_a_command(off: &SwitchedOff, stop: &StopContext<'_>, story: &mut StopReport) -> Option<Advisory> {
    if off.thrown.at_terminal || is_known(format!("switch {}", off.thrown.at_ms), stop, story) {
        return None;
    }
    switched_off_by(&session_of(stop))
}

/// The file that says so, where the agent wrote it.
fn in_a_file(stop: &StopContext<'_>, story: &mut StopReport) -> Option<(Advisory, PathBuf)> {
    let files: Vec<PathBuf> = if stop.env.switch(env::OFF) {
        Scope::ALL.into_iter().filter_map(|scope| scope.file(stop.env, stop.project)).collect()
    } else {
        [Some(project_file(stop.project)), own_file(stop.env)].into_iter().flatten().collect()
    };
    let changed = files.into_iter().filter_map(|file| {
        let changed = file.metadata().and_then(|meta| meta.modified()).ok()?;
        Some((file, changed))
    });
    let mut began = None;
    let (file, _) = changed.into_iter().find(|(file, changed)| {
        *changed > *began.get_or_insert_with(|| began_at(stop))
            && throws(file)
            && !is_known(format!("switch {} {changed:?}", file.display()), stop, story)
    })?;
    let mut session = session_of(stop);
    fetch(
        &mut session,
        |touch| {
            if SwitchFile::at(&touch.path).is_some() { Wanted::All } else { Wanted::Nothing }
        },
    );
    switched_off_in_a_file_by(&session).map(|advisory| (advisory, file))
}

fn throws(file: &std::path::Path) -> bool {
    let kind = SwitchFile::at(&file.to_string_lossy().replace('\\', "/"));
    let text = std::fs::read_to_string(file).unwrap_or_default();
    kind.is_some_and(|kind| kind.line_that_switches_off(&text).is_some())
}

/// When the session began: the client makes its transcript then. Long ago where the file system does not tell.
fn began_at(stop: &StopContext<'_>) -> SystemTime {
    let transcript = stop.input.transcript_path.as_ref();
    let made = transcript.and_then(|path| path.metadata().ok()).and_then(|meta| meta.created().ok());
    made.unwrap_or(SystemTime::UNIX_EPOCH)
}

/// Looked at once for each time that it was thrown: a long session takes a while to read.
fn is_known(what: String, stop: &StopContext<'_>, story: &mut StopReport) -> bool {
    let name = ContentId::of(what);
    let is_known = stop.state.session(stop.session).told.contains(&name);
    if !is_known {
        story.told.push(name);
    }
    is_known
}

fn session_of(stop: &StopContext<'_>) -> Session {
    let input = stop.input;
    load(input.transcript_path.as_deref(), Role::Main, input.last_assistant_message.as_deref()).session
}
