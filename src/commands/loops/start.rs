//! `loop init`, `loop start` and `loop stop`: creates missing files, starts a loop and binds a
//! session to it. Must not overwrite a file, nor take a loop from a session unless asked to.

use std::path::Path;

use serde_json::json;

use super::super::say::say;
use super::LoopContext;
use crate::cli::loops::{LoopInitArgs, LoopStartArgs};
use crate::client::env_vars;
use crate::exit;
use crate::feature_loop::snapshot::{LoopSnapshot, now_ms};
use crate::feature_loop::state::iterations;
use crate::feature_loop::{LoopState, Status, disk, features};
use crate::ids::random_fence;
use crate::past_sessions::find::short_id;
use crate::text::{counted, harmless};

/// Runs `loop init`.
pub(super) fn init(context: &LoopContext<'_>, args: &LoopInitArgs) -> Result<u8, String> {
    let folder = &context.working_dir;
    if let Some(running) = context.state.loop_of(folder).filter(|state| state.ended.is_none()) {
        return Err(format!(
            "there is a loop in this folder already, in iteration {} of {}; `punchlist loop start` goes on with it, \
             `punchlist loop stop` halts it",
            running.iteration, running.max
        ));
    }
    let mut fresh = context.new_loop(folder);
    fresh.max = args.max.unwrap_or(fresh.max);
    let list = match &args.from {
        None => serde_json::to_string_pretty(&json!({ "features": [] })).unwrap_or_default() + "\n",
        Some(file) => import_list(file)?,
    };
    let is_created = disk::create(folder, &fresh.features, &list)?;
    if !is_created && args.from.is_some() {
        return Err(format!("{} is there already and was left as it is", fresh.features));
    }
    disk::create(folder, &fresh.progress, "")?;
    let snapshot = LoopSnapshot::read(&fresh)?;
    fresh.iteration = continued_iteration(&snapshot);
    let count = counted(snapshot.features.len(), "feature", "features");
    let how = if is_created { "written" } else { "is there already" };
    let mut text = format!("{}: {how}; {count}, {} of them pass\n", fresh.features, snapshot.passing());
    if snapshot.features.is_empty() {
        text.push_str(
            "  Put each in as {\"id\": \"F1\", \"description\": \"…\", \"steps\": [\"…\"], \"passes\": false}.\n",
        );
    }
    let begin =
        Begin { fresh, is_new: true, drops_removed: true, max: None, session: None, takes_over: false };
    text.push_str(&begin.run(context, &snapshot)?);
    Ok(say(&harmless(&text), exit::OK))
}

/// The iteration at which a progress file of an older loop, or of another tool, continues.
fn continued_iteration(snapshot: &LoopSnapshot) -> u32 {
    let progress = &snapshot.progress;
    let continues =
        matches!(progress.status, None | Some(Status::InProgress | Status::HandedOver | Status::Other(_)));
    progress.iteration.filter(|_| continues).unwrap_or_default()
}

/// Reads a feature list, or makes one of a Markdown list.
fn import_list(file: &Path) -> Result<String, String> {
    let name = file.display();
    let text = std::fs::read_to_string(file).map_err(|error| format!("{name}: {error}"))?;
    let Err(error) = features::parse(&text) else { return Ok(text) };
    let made = features::from_markdown(&text);
    if made.is_empty() {
        return Err(format!("{name}: {error}, and it has no list in Markdown"));
    }
    let list = serde_json::to_string_pretty(&json!({ "features": made }));
    list.map(|list| list + "\n").map_err(|error| error.to_string())
}

/// Runs `loop start`.
pub(super) fn start(context: &LoopContext<'_>, args: &LoopStartArgs) -> Result<u8, String> {
    if args.as_is && context.env.switch(env_vars::INSIDE_SESSION) {
        return Err(
            "only a person can drop features: --as-is is for a terminal of your own, outside of a session"
                .into(),
        );
    }
    let folder = context.folder();
    let saved = context.state.loop_of(&folder);
    let is_first = saved.is_none();
    let mut fresh = saved.unwrap_or_else(|| context.new_loop(&folder));
    let snapshot =
        LoopSnapshot::read(&fresh).map_err(|why| format!("{why}; `punchlist loop init` begins a loop"))?;
    fresh.iteration = continued_iteration(&snapshot);
    // A `loop run` in this folder would start another session beside this one.
    let _lock = context.state.run_loop(&folder)?;
    let begin = Begin {
        fresh,
        is_new: false,
        drops_removed: is_first || args.as_is,
        max: args.max,
        session: args.session.clone(),
        takes_over: args.take,
    };
    let text = begin.run(context, &snapshot)?;
    Ok(say(&harmless(&text), exit::OK))
}

/// Who the loop is bound to.
enum Owner {
    Session(String),
    /// The session that prints this token.
    Token(String),
    Nobody,
}

impl Owner {
    fn find(context: &LoopContext<'_>, named: Option<&str>) -> Self {
        let session = named.map(String::from).or_else(|| context.env.text(env_vars::SESSION_ID));
        match session {
            Some(session) => Self::Session(session),
            None if context.env.switch(env_vars::INSIDE_SESSION) => Self::Token(random_fence()),
            None => Self::Nobody,
        }
    }
}

/// How to start a loop, or continue one.
struct Begin {
    /// Used where no loop is saved.
    fresh: LoopState,
    /// Ignores a saved loop.
    is_new: bool,
    /// Forgets features that are no longer in the list.
    drops_removed: bool,
    max: Option<u32>,
    session: Option<String>,
    takes_over: bool,
}

impl Begin {
    /// Starts the loop, and returns the text for the person.
    fn run(&self, context: &LoopContext<'_>, snapshot: &LoopSnapshot) -> Result<String, String> {
        let owner = Owner::find(context, self.session.as_deref());
        let state = context.state.change_loop(&self.fresh.folder, |saved| {
            let state = self.next_state(saved.as_ref(), &owner, snapshot)?;
            *saved = Some(state.clone());
            Ok(state)
        })?;
        snapshot.write_progress(&state, Status::InProgress)?;
        context.state.tidy_loops(now_ms());
        Ok(describe(&state, &owner, snapshot))
    }

    fn next_state(
        &self,
        saved: Option<&LoopState>,
        owner: &Owner,
        snapshot: &LoopSnapshot,
    ) -> Result<LoopState, String> {
        let running = saved.filter(|saved| saved.ended.is_none());
        // A person at a shell changes what is to be done, not who does it.
        let keeps_owner = matches!(owner, Owner::Nobody) && !self.takes_over;
        if let Some(other) = running.and_then(|running| running.session.as_deref()) {
            let is_same = matches!(owner, Owner::Session(session) if session == other);
            if !(self.takes_over || is_same || keeps_owner) {
                return Err(format!(
                    "the loop is bound to session {other}; `punchlist loop start --take` takes it over, if that one is over"
                ));
            }
        }
        let mut state = saved.filter(|_| !self.is_new).unwrap_or(&self.fresh).clone();
        state.max = self.max.unwrap_or(state.max);
        if state.iteration >= state.max {
            return Err(format!("the limit of {} is reached; --max N sets it higher", iterations(state.max)));
        }
        let mut known = state.known_features.clone();
        state.begin(&snapshot.features, snapshot.fingerprint.clone(), now_ms());
        if !self.drops_removed {
            for feature in state.known_features {
                if !known.iter().any(|old| old.key == feature.key) {
                    known.push(feature);
                }
            }
            state.known_features = known;
        }
        (state.session, state.token) = match owner {
            Owner::Session(session) => (Some(session.clone()), None),
            Owner::Token(token) => (None, Some(token.clone())),
            Owner::Nobody => running
                .filter(|_| keeps_owner)
                .map(|running| (running.session.clone(), running.token.clone()))
                .unwrap_or_default(),
        };
        Ok(state)
    }
}

fn describe(state: &LoopState, owner: &Owner, snapshot: &LoopSnapshot) -> String {
    let open = snapshot.features.len() - snapshot.passing();
    let mut text = format!(
        "{}: iteration {} of {}, {}\n",
        state.progress,
        state.iteration,
        state.max,
        counted(open, "feature is open", "features are open")
    );
    let gone = state.changes(&snapshot.features).gone;
    if !gone.is_empty() {
        let gone = gone.join(", ");
        text.push_str(&format!("Gone from the list, and still open: {gone}; --as-is drops them.\n"));
    }
    text.push_str(&match (&state.session, owner) {
        (Some(session), _) => {
            format!("Bound to session {}: its stops are held until every feature passes.\n", short_id(session))
        }
        (None, Owner::Token(token)) => {
            format!("Bound to the session that prints this word, from its next stop on: {token}\n")
        }
        (None, _) => "Bound to no session: `punchlist loop run` works the list off, or `! punchlist loop start` in a session.\n".into(),
    });
    text
}

/// Runs `loop stop`.
pub(super) fn stop(context: &LoopContext<'_>) -> Result<u8, String> {
    let folder = context.folder();
    let by = match context.env.text(env_vars::SESSION_ID) {
        Some(session) => format!(", which session {session} ran"),
        None if context.env.switch(env_vars::INSIDE_SESSION) => ", which a session ran".into(),
        None => String::new(),
    };
    let stopped = context.state.change_loop(&folder, |saved| {
        let state = saved.as_mut().ok_or("there is no loop in this folder")?;
        if let Some(status) = state.end_status().filter(|status| *status != Status::HandedOver) {
            return Err(format!("the loop is over already: {status}"));
        }
        state.end(&Status::Paused, &format!("halted by `punchlist loop stop`{by}"), now_ms());
        Ok(state.clone())
    })?;
    if let Ok(snapshot) = LoopSnapshot::read(&stopped) {
        snapshot.write_progress(&stopped, Status::Paused)?;
    }
    let text = format!(
        "Halted in iteration {} of {}. `punchlist loop start` or `punchlist loop run` goes on.\n",
        stopped.iteration, stopped.max
    );
    Ok(say(&text, exit::OK))
}
