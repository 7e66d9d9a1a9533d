//! Takes a session, its plan and the workspace, gives the [`Evidence`]: for every touched file and every
//! file that the plan names, what the disk shows. Must not show more than the budget allows, nor leave
//! anything out without saying so.

use std::collections::{HashMap, HashSet};

use super::budget::Budget;
use super::redact::mask_owned;
use super::signs::{Fate, Signs, Wanted, signs};
use super::workspace::{Body, Place};
use super::{
    Entered, Evidence, FileEvidence, FileState, LeftOut, Repository, TouchNote, Workspace, diff, git, shown,
};
use crate::claims::deeds::{Deed, deeds, promised_names};
use crate::facts::requests::requests;
use crate::names::ContentName;
use crate::plan::Plan;
use crate::plan::mentions::mentions;
use crate::session::{Change, Original, Outcome, Session};
use crate::wishes;

/// Up to this size a file goes in whole; above it, what the session changed says more.
const SMALL: usize = 6_000;
/// With less room than this a file's content is left out: a few lines would mislead.
const LEAST: usize = 400;

/// A file on the way in.
struct Candidate {
    written: String,
    place: Option<Place>,
    state: FileState,
    touches: Vec<TouchNote>,
    original: Original,
    /// What the newest change that was done put where.
    change: Option<Change>,
    steps: Vec<usize>,
    last_touch: usize,
    unchanged: bool,
}

impl Candidate {
    /// How it is called: relative to the workspace where it is inside, else as written.
    fn name(&self) -> &str {
        self.place.as_ref().map_or(&self.written, |place| &place.name)
    }
}

/// Puts the evidence together; file contents get `file_bytes` at the most. Session and plan come masked.
pub fn gather(session: Session, plan: Option<Plan>, workspace: &Workspace, file_bytes: usize) -> Evidence {
    let deeds = deeds(session.final_message.as_deref().unwrap_or_default());
    let todo_paths: Vec<Vec<String>> = session.todos.iter().map(|todo| mentions(&todo.text).paths).collect();
    let wanted = names_wanted(plan.as_ref(), &deeds, &session);
    let mut candidates = candidates(&session, plan.as_ref(), &deeds, &todo_paths, workspace);
    candidates
        .sort_by_key(|c| (c.steps.is_empty(), c.steps.first().copied(), std::cmp::Reverse(c.last_touch)));
    fill_originals_from_git(&mut candidates, workspace);
    let repository = ask_git(&mut candidates, &session, workspace);
    let missing: Vec<String> = candidates
        .iter()
        .filter(|c| matches!(c.state, FileState::Missing { .. }))
        .map(|c| c.name().to_owned())
        .collect();
    let missing = workspace.look_elsewhere(&missing);
    let mut budget = Budget::new(file_bytes);
    // Every file is named, whatever becomes of its content.
    budget.spend(candidates.iter().map(|candidate| candidate.written.len() + shown::FILE_HEADER).sum());
    let files: Vec<_> = candidates
        .into_iter()
        .map(|candidate| enter(candidate, workspace, &missing, &wanted, &mut budget))
        .collect();
    Evidence { plan, session, deeds, todo_paths, files, repository }
}

/// A plan that names more than this many things promises none of them in particular.
const MOST_NAMES: usize = 400;

/// The names that steps and final message put into files, and those that asks want gone or changed.
fn names_wanted(plan: Option<&Plan>, deeds: &[Deed], session: &Session) -> Wanted {
    let promised = plan.iter().flat_map(|plan| plan.promised());
    let promised = promised.filter(|step| !step.paths.is_empty() || step.depth > 0).flat_map(promised_names);
    let said = deeds.iter().flat_map(|deed| deed.symbols.iter().cloned());
    let asked = session.asks.iter().flat_map(|ask| wishes::names(&ask.text));
    let mut names: Vec<String> = promised.chain(said).chain(asked).collect();
    names.sort_unstable();
    names.dedup();
    names.truncate(MOST_NAMES);
    Wanted::of(names)
}

/// What git knows of the session's time; asked only where something hangs on it: a file that was named and not
/// touched, or a word of a commit. Marks the files that nothing has changed since the session began.
fn ask_git(candidates: &mut [Candidate], session: &Session, workspace: &Workspace) -> Option<Repository> {
    let is_idle = |c: &Candidate| {
        matches!(c.state, FileState::File { .. })
            && c.place.as_ref().is_some_and(|place| place.path.starts_with(workspace.root()))
            && !c.touches.iter().any(|touch| touch.outcome == Outcome::Done)
    };
    let idle: Vec<String> = candidates.iter().filter(|c| is_idle(c)).map(|c| c.name().to_owned()).collect();
    let speaks_of_commits = session.final_message.as_deref().is_some_and(|message| {
        let message = message.to_lowercase();
        message.contains("commit") || message.contains("push")
    });
    if idle.is_empty() && !speaks_of_commits {
        return None;
    }
    let repository = git::repository(workspace.root(), session.started.as_deref(), session.ended.as_deref());
    let tracked = if repository.is_some() && !idle.is_empty() {
        git::tracked(workspace.root(), &idle)
    } else {
        HashSet::new()
    };
    for candidate in candidates.iter_mut().filter(|c| is_idle(c)) {
        let name = candidate.name().to_owned();
        candidate.unchanged = match &repository {
            Some(git) if tracked.contains(&name) => {
                !git.changed.contains(&name) && !git.committed.contains(&name)
            }
            _ => candidate
                .place
                .as_ref()
                .is_some_and(|place| workspace.is_older(place, session.started.as_deref())),
        };
    }
    repository
}

fn candidates(
    session: &Session,
    plan: Option<&Plan>,
    deeds: &[Deed],
    todo_paths: &[Vec<String>],
    workspace: &Workspace,
) -> Vec<Candidate> {
    let mut all: Vec<Candidate> = Vec::new();
    let mut index: HashMap<String, usize> = HashMap::new();
    let mut entry = |written: &str| -> usize {
        let place = workspace.locate(written);
        let key = place.as_ref().map_or_else(|| written.to_owned(), |place| place.name.clone());
        *index.entry(key).or_insert_with(|| {
            all.push(Candidate {
                written: written.to_owned(),
                state: workspace.state(place.as_ref()),
                place,
                touches: Vec::new(),
                original: Original::Unknown,
                change: None,
                steps: Vec::new(),
                last_touch: 0,
                unchanged: false,
            });
            all.len() - 1
        })
    };
    let named: Vec<(usize, usize)> = plan
        .iter()
        .flat_map(|plan| plan.promised())
        .flat_map(|step| step.paths.iter().map(move |path| (step.number, path)))
        .map(|(step, path)| (entry(path), step))
        .collect();
    let touched: Vec<usize> = session.touches.iter().map(|touch| entry(&touch.path)).collect();
    // What a later ask names by a file is looked at, so that nobody has to guess whether it was done.
    let asked = session.asks.iter().skip(1).flat_map(|ask| requests(&ask.text));
    let asked: Vec<String> = asked.flat_map(|request| mentions(request).paths).collect();
    for path in deeds.iter().flat_map(|deed| &deed.paths).chain(todo_paths.iter().flatten()).chain(&asked) {
        entry(path);
    }
    for (at, step) in named {
        if !all[at].steps.contains(&step) {
            all[at].steps.push(step);
        }
    }
    for (at, touch) in touched.into_iter().zip(&session.touches) {
        let candidate = &mut all[at];
        candidate.last_touch = touch.at;
        if candidate.original == Original::Unknown {
            candidate.original = touch.original.clone();
        }
        if touch.outcome == Outcome::Done {
            candidate.change.clone_from(&touch.change);
        }
        let note = TouchNote {
            tool: touch.tool.name().to_owned(),
            outcome: touch.outcome.clone(),
            agent: touch.agent.clone(),
        };
        if candidate.touches.last() != Some(&note) {
            candidate.touches.push(note);
        }
    }
    // The plan itself is shown as the plan.
    let plan_file = plan.and_then(|plan| plan.path.as_ref()).and_then(|path| workspace.locate(path));
    all.retain(|candidate| plan_file.is_none() || candidate.place != plan_file);
    all
}

/// Asks git, once, what the large files were before, where the transcript does not say.
fn fill_originals_from_git(candidates: &mut [Candidate], workspace: &Workspace) {
    let unknown = |c: &&Candidate| {
        let large = matches!(c.state, FileState::File { bytes } if bytes > SMALL as u64);
        large
            && c.original == Original::Unknown
            && c.place.as_ref().is_some_and(|p| p.path.starts_with(workspace.root()))
    };
    let names: Vec<String> = candidates
        .iter()
        .filter(unknown)
        .filter_map(|c| c.place.as_ref())
        .map(|place| place.name.clone())
        .collect();
    let committed = git::committed(workspace.root(), &names.iter().map(String::as_str).collect::<Vec<_>>());
    for candidate in candidates {
        if let Some(text) = candidate.place.as_ref().and_then(|place| committed.get(&place.name)) {
            candidate.original = Original::Text(text.clone());
        }
    }
}

fn enter(
    candidate: Candidate,
    workspace: &Workspace,
    missing: &HashMap<String, FileState>,
    wanted: &Wanted,
    budget: &mut Budget,
) -> FileEvidence {
    let name = candidate.name().to_owned();
    let mut state = candidate.state;
    if let Some(looked_for) = missing.get(&name) {
        state.clone_from(looked_for);
    }
    let body = match (&state, &candidate.place) {
        (FileState::File { .. }, Some(place)) => Ok(workspace.body(place)),
        (FileState::File { .. } | FileState::Outside, _) => Err(LeftOut::Outside),
        (FileState::Folder, _) => Err(LeftOut::Folder),
        (FileState::Missing { .. }, _) => Err(LeftOut::Missing),
        (FileState::Unreadable(_), _) => Err(LeftOut::Unreadable),
    };
    let mut seen = Signs::default();
    let (entered, text, masked, digest) = match body {
        Ok(Body::Text(text)) => {
            seen = signs(&name, &text, wanted, candidate.change.as_ref(), &candidate.original);
            let digest = ContentName::of(&text);
            let (entered, shown, masked) = show(&text, &candidate.original, true, budget);
            (entered, shown, masked, digest)
        }
        Ok(Body::Start(text)) => {
            let digest = format!("{}+{state:?}", ContentName::of(&text));
            let (entered, shown, masked) = show(&text, &candidate.original, false, budget);
            (entered, shown, masked, digest)
        }
        Ok(Body::Binary) => (Entered::LeftOut(LeftOut::Binary), String::new(), 0, format!("{state:?}")),
        Ok(Body::Secret) => (Entered::LeftOut(LeftOut::Secret), String::new(), 0, format!("{state:?}")),
        Ok(Body::Unreadable(why)) => (Entered::LeftOut(LeftOut::Unreadable), String::new(), 0, why),
        Err(why) => (Entered::LeftOut(why), String::new(), 0, format!("{state:?}")),
    };
    FileEvidence {
        name,
        touches: candidate.touches,
        steps: candidate.steps,
        state,
        entered,
        text,
        masked,
        digest,
        signs: if candidate.unchanged { Signs { fate: Fate::Unchanged, ..seen } } else { seen },
    }
}

/// The content of a file as the auditor sees it.
fn show(text: &str, original: &Original, is_all: bool, budget: &mut Budget) -> (Entered, String, usize) {
    let wants_diff = text.len() > SMALL;
    let (shown, is_diff) = match original {
        Original::Text(before) if wants_diff => (diff::unified(before, text), true),
        _ => (text.to_owned(), false),
    };
    let shown = mask_owned(shown);
    if budget.left() < shown.text.len().min(LEAST) {
        return (Entered::LeftOut(LeftOut::NoRoom), String::new(), 0);
    }
    // No file may eat what the others need: one that is large and has no "before" is shown by its start.
    let at_most = if is_diff || !wants_diff { usize::MAX } else { SMALL };
    let cut = budget.start_of(&shown.text, at_most);
    let entered = match (cut.missing, is_diff, is_all) {
        (0, true, true) => Entered::Diff,
        (0, false, true) => Entered::Whole,
        (missing, _, _) => Entered::Cut(missing.max(1)),
    };
    (entered, cut.text, shown.count)
}
