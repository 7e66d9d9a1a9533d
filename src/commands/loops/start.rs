//! `loop init`, `loop start`, `loop stop` and `loop pass`: creates missing files, starts a loop,
//! binds a session to it, marks features. Must not overwrite a file, nor take a loop from a session
//! unless asked to.

use std::path::Path;

use serde_json::json;

use super::display::passing;
use super::output::print;
use super::{LoopContext, Result};
use crate::cli::loops::{LoopInitArgs, LoopPassArgs, LoopStartArgs};
use crate::client::env_vars;
use crate::commands::switch::project_here;
use crate::config::asked_by_feature;
use crate::feature_loop::snapshot::{LoopSnapshot, now_ms};
use crate::feature_loop::state::{KnownFeature, iterations};
use crate::feature_loop::{LoopState, Status, disk, features};
use crate::files::bounded_text;
use crate::ids::random_fence;
use crate::past_sessions::find::short_id;
use crate::text::{counted, harmless};

pub(super) fn init(context: &LoopContext<'_>, args: &LoopInitArgs) -> Result {
    let folder = &context.working_dir;
    if let Some(running) = context.state.loop_of(folder).filter(|state| state.ended.is_none()) {
        return Err(format!(
            "there is a loop in this folder already, in iteration {} of {}; `punchlist loop start` goes on with it, \
             `punchlist loop stop` halts it",
            running.iteration, running.max
        )
        .into());
    }
    let mut fresh = context.new_loop(folder);
    fresh.max = args.max.unwrap_or(fresh.max);
    let is_created = match &args.from {
        Some(file) => {
            if !disk::create(folder, &fresh.features, &import_list(file)?)? {
                return Err(format!("{} already exists and was left as it is", fresh.features).into());
            }
            true
        }
        // A loop with nothing on its list holds nobody, and nobody would notice.
        None if !folder.join(&fresh.features).exists() => return Err(nothing_to_begin(folder, &fresh).into()),
        None => false,
    };
    let snapshot = LoopSnapshot::read(&fresh)?;
    if snapshot.features.is_empty() {
        return Err(format!("{} has no features yet: {EXAMPLE}", fresh.features).into());
    }
    disk::create(folder, &fresh.progress, "")?;
    fresh.iteration = continued_iteration(&snapshot);
    let count = counted(snapshot.features.len(), "feature", "features");
    let how = if is_created { "written" } else { "is there already" };
    let mut text = format!("{}: {how}; {count}, {} of them pass\n", fresh.features, snapshot.passing());
    text.push_str(&begin(context, &fresh, true, &LoopStartArgs::default(), &snapshot)?);
    print(&harmless(&text))
}

/// How a feature is written.
const EXAMPLE: &str =
    "put each in as {\"id\": \"F1\", \"description\": \"…\", \"steps\": [\"…\"], \"passes\": false}";

/// Files that may hold a list to begin with.
const LIKELY_LISTS: [&str; 6] = ["PLAN.md", "plan.md", "TODO.md", "todo.md", "FEATURES.md", "features.md"];

/// A longer one is no list that somebody wrote.
const LONGEST_LIST: u64 = 4 << 20;

/// Says what a loop needs, with the files in this folder that would do.
fn nothing_to_begin(folder: &Path, fresh: &LoopState) -> String {
    let items = |name: &'static str| {
        let text = bounded_text(&folder.join(name), LONGEST_LIST).ok()?;
        let count = features::from_markdown(&text).len();
        (count > 0).then_some((name, count))
    };
    let found = LIKELY_LISTS.into_iter().find_map(items).map_or_else(
        || "`punchlist loop init --from FILE` takes a JSON list, or the items of a Markdown list".to_owned(),
        |(name, count)| {
            let items = counted(count, "item", "items");
            format!("{name} has {items}: `punchlist loop init --from {name}` begins with them")
        },
    );
    format!(
        "there is no {} here to work through, and no loop was begun. {found}; or write the file: {EXAMPLE}",
        fresh.features
    )
}

/// The iteration at which a progress file of an older loop, or of another tool, continues.
fn continued_iteration(snapshot: &LoopSnapshot) -> u32 {
    let progress = &snapshot.progress;
    let continues =
        matches!(progress.status, None | Some(Status::InProgress | Status::HandedOver | Status::Other(_)));
    progress.iteration.filter(|_| continues).unwrap_or_default()
}

/// Reads a feature list, or makes one of a Markdown list.
fn import_list(file: &Path) -> Result<String> {
    let name = file.display();
    let text = std::fs::read_to_string(file).map_err(|error| format!("{name}: {error}"))?;
    let Err(error) = features::parse(&text) else { return Ok(text) };
    let made = features::from_markdown(&text);
    if made.is_empty() {
        return Err(format!("{name}: {error}, and it has no list in Markdown").into());
    }
    Ok(serde_json::to_string_pretty(&json!({ "features": made }))? + "\n")
}

pub(super) fn start(context: &LoopContext<'_>, args: &LoopStartArgs) -> Result {
    if args.as_is && !context.is_persons() {
        return Err(
            "only a person can drop features: --as-is is for a terminal of your own, outside of a session"
                .into(),
        );
    }
    let folder = context.folder();
    let mut fresh = context.state.loop_of(&folder).unwrap_or_else(|| context.new_loop(&folder));
    let snapshot =
        LoopSnapshot::read(&fresh).map_err(|why| format!("{why}; `punchlist loop init` begins a loop"))?;
    fresh.iteration = continued_iteration(&snapshot);
    // A `loop run` in this folder would start another session beside this one.
    let _lock = context.state.run_loop(&folder)?;
    let text = begin(context, &fresh, false, args, &snapshot)?;
    print(&harmless(&text))
}

/// The session that the loop is bound to, else the token that the session will print.
type Owner = (Option<String>, Option<String>);

/// Starts the loop, or continues one that is saved unless `is_new`; returns the text for the
/// person.
fn begin(
    context: &LoopContext<'_>,
    fresh: &LoopState,
    is_new: bool,
    args: &LoopStartArgs,
    snapshot: &LoopSnapshot,
) -> Result<String> {
    let session = args.session.clone().or_else(|| context.env.text(env_vars::SESSION_ID));
    let has_token = session.is_none() && context.env.switch(env_vars::INSIDE_SESSION);
    let owner = (session, has_token.then(random_fence));
    let is_persons = context.is_persons();
    let state = context.state.change_loop(&fresh.folder, |saved| {
        let known = match saved.as_ref() {
            Some(saved) if !is_new => saved.clone(),
            // What a session says of marks was looked into or not, whichever loop they stood in.
            Some(saved) if !is_persons => fresh.clone().continuing(saved, &snapshot.features),
            _ => fresh.clone(),
        };
        let running = saved.as_ref().filter(|saved| saved.ended.is_none());
        let (state, corrected) = next_state(&known, running, &owner, args, snapshot, is_persons)?;
        *saved = Some(state.clone());
        Ok((state, corrected))
    });
    let (state, corrected) = state?;
    snapshot.write_progress(&state, Status::InProgress)?;
    context.state.tidy_loops(now_ms());
    let verified = unallowed_line(context, &state);
    Ok(describe(&state, &owner, snapshot) + &corrected + &verified)
}

/// Says how many features of a loop have a command that nobody has allowed yet.
fn unallowed_line(context: &LoopContext<'_>, state: &LoopState) -> String {
    let allowed = context.state.allowed(&project_here(context.env));
    let commands = state.known_features.iter().filter_map(|feature| feature.verify.as_deref());
    let count = commands.filter(|run| !asked_by_feature(run, &allowed).is_allowed).count();
    if count == 0 {
        return String::new();
    }
    let (features, them) =
        (counted(count, "feature has", "features have"), if count == 1 { "it" } else { "them" });
    format!("{features} a `verify`: `punchlist allow` lets {them} run\n")
}

/// Returns the loop as it goes on, and what is said of commands that it takes from the list.
/// `running` is the saved one if it has not ended; only a person can vouch for marks and correct
/// commands.
fn next_state(
    known: &LoopState,
    running: Option<&LoopState>,
    owner: &Owner,
    args: &LoopStartArgs,
    snapshot: &LoopSnapshot,
    is_persons: bool,
) -> std::result::Result<(LoopState, String), String> {
    // A person at a shell changes what is to be done, not who does it.
    let keeps_owner = *owner == (None, None) && !args.take;
    if let Some(other) = running.and_then(|running| running.session.as_deref())
        && !(args.take || keeps_owner || owner.0.as_deref() == Some(other))
    {
        return Err(format!(
            "the loop is bound to session {other}; `punchlist loop start --take` takes it over, if that one is over"
        ));
    }
    let mut state = known.clone();
    state.max = args.max.unwrap_or(state.max);
    if state.iteration >= state.max {
        return Err(format!("the limit of {} is reached; --max N sets it higher", iterations(state.max)));
    }
    state.begin(&snapshot.features, snapshot.fingerprint.clone(), now_ms());
    // A session that begins its loop again can't vouch for marks that nobody has looked into.
    if !is_persons && !known.known_features.is_empty() {
        state.keep_marks_of(known);
    }
    let mut corrected = String::new();
    if !args.as_is {
        // Features that are no longer in the list are still asked for.
        let mut features = known.known_features.clone();
        for feature in features.iter_mut().filter(|_| is_persons) {
            if feature.take_command(&snapshot.features) {
                corrected.push_str(&corrected_line(feature));
            }
        }
        state.known_features.retain(|feature| !features.iter().any(|old| old.key == feature.key));
        features.append(&mut state.known_features);
        state.known_features = features;
    }
    (state.session, state.token) = match running.filter(|_| keeps_owner) {
        Some(running) => (running.session.clone(), running.token.clone()),
        None => owner.clone(),
    };
    Ok((state, corrected))
}

fn corrected_line(feature: &KnownFeature) -> String {
    let name = feature.display_name();
    match &feature.verify {
        Some(run) => format!("`verify` of {name} is now: {run}  (`punchlist allow` lets it run)\n"),
        None => format!("{name} has no `verify` any more.\n"),
    }
}

fn describe(state: &LoopState, owner: &Owner, snapshot: &LoopSnapshot) -> String {
    let unproven = state.unproven(&snapshot.features).len();
    let open = snapshot.features.len() - snapshot.passing() + unproven;
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
    text.push_str(&match (&state.session, &owner.1) {
        (Some(session), _) => {
            format!("Bound to session {}: its stops are held until every feature passes.\n", short_id(session))
        }
        (None, Some(token)) => {
            format!("Bound to the session that prints this word, from its next stop on: {token}\n")
        }
        (None, None) => "Bound to no session: `punchlist loop run` works the list off, or `! punchlist loop start` in a session.\n".into(),
    });
    text
}

pub(super) fn stop(context: &LoopContext<'_>) -> Result {
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
    print(&text)
}

pub(super) fn pass(context: &LoopContext<'_>, args: &LoopPassArgs) -> Result {
    let folder = context.folder();
    let state = context.state.loop_of(&folder).unwrap_or_else(|| context.new_loop(&folder));
    for feature in &args.features {
        disk::set_passes(&folder, &state.features, feature, !args.undo)?;
    }
    let list = disk::read_features(&folder, &state.features)?;
    // A person's word needs no proof; what a session says of its own work does.
    let (is_persons, is_in_loop) = (context.is_persons(), context.state.loop_of(&folder).is_some());
    if is_persons && is_in_loop {
        let is_meant = |feature: &&features::Feature| {
            args.features.iter().any(|one| *one == feature.key || feature.id.as_ref() == Some(one))
        };
        context.state.change_loop(&folder, |saved| {
            let state = saved.as_mut().ok_or("the loop is gone")?;
            list.iter().filter(is_meant).for_each(|feature| state.set_passing(feature));
            Ok(())
        })?;
    }
    let what = if args.undo { "open again" } else { "passes" };
    let mut text =
        format!("{}: {what}; {} of {} pass now\n", args.features.join(", "), passing(&list), list.len());
    if is_in_loop && !is_persons && !args.undo {
        text.push_str("It is looked into at the next stop: only what you type in a terminal of your own counts as it is.\n");
    }
    print(&harmless(&text))
}
