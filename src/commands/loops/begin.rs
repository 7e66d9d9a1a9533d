//! `loop init`, `loop start` and `loop stop`: writes the two files where they are missing, begins to remember, and binds a
//! session. Must not overwrite a file, and must not take a loop from a session without being told to.

use std::path::Path;

use serde_json::json;

use super::super::say::say;
use super::Desk;
use crate::cli::loops::{LoopInitArgs, LoopStartArgs};
use crate::client::env_vars;
use crate::exit;
use crate::feature_loop::round::{Seen, now_ms, see};
use crate::feature_loop::state::Known;
use crate::feature_loop::step::iterations;
use crate::feature_loop::{Loop, Status, disk, features};
use crate::ids::random_fence;
use crate::past_sessions::find::short_id;
use crate::text::{counted, harmless};

/// Runs `loop init`.
pub(super) fn init(desk: &Desk<'_>, args: &LoopInitArgs) -> Result<u8, String> {
    let folder = &desk.here;
    let fresh =
        Loop { max: args.max.unwrap_or(desk.config.feature_loop.max_iterations), ..desk.new_loop(folder) };
    if let Some(known) = desk.state.loop_of(folder).filter(|known| known.ended.is_none()) {
        return Err(format!(
            "there is a loop in this folder already, in iteration {} of {}; `punchlist loop start` goes on with it, \
             `punchlist loop stop` halts it",
            known.iteration, known.max
        ));
    }
    let mut text = String::new();
    let list = match &args.from {
        None => serde_json::to_string_pretty(&json!({ "features": [] })).unwrap_or_default() + "\n",
        Some(file) => list_of(file)?,
    };
    let made = disk::create(folder, &fresh.features, &list)?;
    if !made && args.from.is_some() {
        return Err(format!("{} is there already and was left as it is", fresh.features));
    }
    disk::create(folder, &fresh.progress, "")?;
    let seen = see(&fresh)?;
    let fresh = Loop { iteration: counted_before(&seen), ..fresh };
    let passing = seen.features.iter().filter(|feature| feature.passes).count();
    let count = counted(seen.features.len(), "feature", "features");
    let how = if made { "written" } else { "is there already" };
    text.push_str(&format!("{}: {how}; {count}, {passing} of them pass\n", fresh.features));
    if seen.features.is_empty() {
        text.push_str(
            "  Put each in as {\"id\": \"F1\", \"description\": \"…\", \"steps\": [\"…\"], \"passes\": false}.\n",
        );
    }
    begin(
        desk,
        &seen,
        &Begin { fresh, anew: true, as_is: true, max: None, named: None, take: false },
        &mut text,
    )?;
    Ok(say(&harmless(&text), exit::OK))
}

/// How often the work was handed out before, as the progress file has it: one of an older loop, or of somebody else's, is
/// gone on with, unless it is over.
fn counted_before(seen: &Seen) -> u32 {
    let goes_on = matches!(
        seen.progress.status,
        None | Some(Status::InProgress | Status::HandedOver | Status::Other(_))
    );
    seen.progress.iteration.filter(|_| goes_on).unwrap_or_default()
}

/// The text of a list: as it is where it is one, else made of a Markdown list.
fn list_of(file: &Path) -> Result<String, String> {
    let name = file.display();
    let text = std::fs::read_to_string(file).map_err(|error| format!("{name}: {error}"))?;
    let Err(fault) = features::read(&text) else { return Ok(text) };
    let made = features::from_markdown(&text);
    if made.is_empty() {
        return Err(format!("{name}: {fault}, and it has no list in Markdown"));
    }
    let list = serde_json::to_string_pretty(&json!({ "features": made }));
    list.map(|list| list + "\n").map_err(|error| error.to_string())
}

/// Runs `loop start`.
pub(super) fn start(desk: &Desk<'_>, args: &LoopStartArgs) -> Result<u8, String> {
    if args.as_is && desk.env.switch(env_vars::INSIDE_SESSION) {
        return Err(
            "only a person can drop features: --as-is is for a terminal of your own, outside of a session"
                .into(),
        );
    }
    let folder = desk.folder();
    let known = desk.state.loop_of(&folder);
    let is_new = known.is_none();
    let fresh = known.unwrap_or_else(|| desk.new_loop(&folder));
    let seen = see(&fresh).map_err(|why| format!("{why}; `punchlist loop init` begins a loop"))?;
    let fresh = Loop { iteration: counted_before(&seen), ..fresh };
    // Whoever begins to run it here would start a session beside this one.
    let _place = desk.state.run_loop(&folder)?;
    let mut text = String::new();
    let how = Begin {
        fresh,
        anew: false,
        as_is: is_new || args.as_is,
        max: args.max,
        named: args.session.clone(),
        take: args.take,
    };
    begin(desk, &seen, &how, &mut text)?;
    Ok(say(&harmless(&text), exit::OK))
}

/// Whose loop it becomes.
enum Whose {
    Session(String),
    /// The one that prints this word.
    Prints(String),
    Nobody,
}

fn whose(desk: &Desk<'_>, named: Option<&str>) -> Whose {
    if let Some(session) = named.map(String::from).or_else(|| desk.env.text(env_vars::SESSION_ID)) {
        return Whose::Session(session);
    }
    if desk.env.switch(env_vars::INSIDE_SESSION) { Whose::Prints(random_fence()) } else { Whose::Nobody }
}

/// How to begin.
struct Begin {
    /// The loop, where there is none yet.
    fresh: Loop,
    /// Whatever was remembered is forgotten.
    anew: bool,
    /// The list as it is now is what is to be worked off.
    as_is: bool,
    max: Option<u32>,
    named: Option<String>,
    take: bool,
}

/// Begins, or goes on.
fn begin(desk: &Desk<'_>, seen: &Seen, how: &Begin, text: &mut String) -> Result<(), String> {
    let whose = whose(desk, how.named.as_deref());
    let memory = desk.state.change_loop(&how.fresh.folder, |kept| {
        let bound = kept.as_ref().filter(|kept| kept.ended.is_none());
        let other = bound.and_then(|kept| kept.session.clone());
        // Somebody who is no session changes what is to be done, not who does it.
        let stays = matches!(whose, Whose::Nobody) && !how.take;
        let bound = bound.filter(|_| stays).map(|kept| (kept.session.clone(), kept.token.clone()));
        let is_same = matches!((&whose, &other), (Whose::Session(ours), Some(other)) if ours == other);
        if let Some(other) = other.filter(|_| !how.take && !is_same && !stays) {
            return Err(format!(
                "the loop is bound to session {other}; `punchlist loop start --take` takes it over, if that one is over"
            ));
        }
        let mut memory = kept.clone().filter(|_| !how.anew).unwrap_or_else(|| how.fresh.clone());
        memory.max = how.max.unwrap_or(memory.max);
        if memory.iteration >= memory.max {
            return Err(format!("the limit of {} is reached; --max N sets it higher", iterations(memory.max)));
        }
        let before: Vec<Known> = std::mem::take(&mut memory.known);
        memory.begin(&seen.features, seen.trace.clone(), now_ms());
        if !how.as_is {
            let is_new = |known: &Known| !before.iter().any(|old| old.key == known.key);
            let new: Vec<Known> = std::mem::take(&mut memory.known).into_iter().filter(is_new).collect();
            memory.known = before.into_iter().chain(new).collect();
        }
        (memory.session, memory.token) = match &whose {
            Whose::Session(session) => (Some(session.clone()), None),
            Whose::Prints(token) => (None, Some(token.clone())),
            Whose::Nobody => bound.unwrap_or_default(),
        };
        *kept = Some(memory.clone());
        Ok(memory)
    })?;
    seen.write(&memory, Status::InProgress)?;
    let open = seen.features.iter().filter(|feature| !feature.passes).count();
    text.push_str(&format!(
        "{}: iteration {} of {}, {}\n",
        memory.progress,
        memory.iteration,
        memory.max,
        counted(open, "feature is open", "features are open")
    ));
    let gone = memory.changes(&seen.features).gone;
    if !gone.is_empty() {
        text.push_str(&format!(
            "Gone from the list, and still open: {}; --as-is drops them.\n",
            gone.join(", ")
        ));
    }
    text.push_str(&match (&memory.session, &whose) {
        (Some(session), _) => {
            format!("Bound to session {}: its stops are held until every feature passes.\n", short_id(session))
        }
        (None, Whose::Prints(token)) => {
            format!("Bound to the session that prints this word, from its next stop on: {token}\n")
        }
        (None, _) => "Bound to no session: `punchlist loop run` works the list off, or `! punchlist loop start` in a session.\n".into(),
    });
    desk.state.tidy_loops(now_ms());
    Ok(())
}

/// Runs `loop stop`.
pub(super) fn stop(desk: &Desk<'_>) -> Result<u8, String> {
    let folder = desk.folder();
    let by = match desk.env.text(env_vars::SESSION_ID) {
        Some(session) => format!(", which session {session} ran"),
        None if desk.env.switch(env_vars::INSIDE_SESSION) => ", which a session ran".into(),
        None => String::new(),
    };
    let why = &format!("halted by `punchlist loop stop`{by}");
    let halted = desk.state.change_loop(&folder, |kept| {
        let memory = kept.as_mut().ok_or("there is no loop in this folder")?;
        if let Some(status) = memory.ended_as().filter(|status| *status != Status::HandedOver) {
            return Err(format!("the loop is over already: {status}"));
        }
        memory.end(&Status::Paused, why, now_ms());
        Ok(memory.clone())
    })?;
    if let Ok(seen) = see(&halted) {
        seen.write(&halted, Status::Paused)?;
    }
    let text = format!(
        "Halted in iteration {} of {}. `punchlist loop start` or `punchlist loop run` goes on.\n",
        halted.iteration, halted.max
    );
    Ok(say(&text, exit::OK))
}
