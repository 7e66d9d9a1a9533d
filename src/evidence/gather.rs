//! Takes a session, its plan and the workspace, gives the [`Evidence`]: for every touched file and every
//! file that the plan names, what the disk shows. Must not show more than the budget allows, nor leave
//! anything out without saying so.

use std::borrow::Cow;
use std::cell::LazyCell;
use std::collections::{HashMap, HashSet};
use std::ops::Deref;

use super::budget::Budget;
use super::memory::{Shows, Stamp};
use super::redact::mask_owned;
use super::signs::{Fate, Signs, Wanted, signs, signs_with};
use super::workspace::{Body, Folders, Place, Sight};
use super::{
    Entered, Evidence, FileEvidence, FileState, LeftOut, Memory, Repository, TouchNote, Workspace, diff, git,
    shown,
};
use crate::claims::deeds::{Deed, deeds, promised_names};
use crate::facts::requests::requests;
use crate::names::QuickName;
use crate::plan::Plan;
use crate::plan::mentions::mentions_again;
use crate::session::originals::{self, Shelf};
use crate::session::{Change, EditTool, Original, Outcome, Session};
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
    stamp: Option<Stamp>,
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

/// Puts the evidence together; file contents get `file_bytes` at the most. Session and plan come masked. What `memory`
/// has of files that are as they were is taken from there.
pub fn gather(
    session: Session,
    plan: Option<Plan>,
    workspace: &Workspace,
    file_bytes: usize,
    memory: &mut Memory,
) -> Evidence {
    gathered(session, plan, workspace, file_bytes, Some(memory))
}

/// The same as with no room at all, for when nobody reads the files' contents: what they show by themselves is worked out
/// and nothing else.
pub fn gather_unread(session: Session, plan: Option<Plan>, workspace: &Workspace) -> Evidence {
    gathered(session, plan, workspace, 0, None)
}

fn gathered(
    mut session: Session,
    plan: Option<Plan>,
    workspace: &Workspace,
    file_bytes: usize,
    memory: Option<&mut Memory>,
) -> Evidence {
    fetch_for_facts(&mut session);
    let deeds = deeds(session.final_message.as_deref().unwrap_or_default());
    let todo_paths: Vec<Vec<String>> =
        session.todos.iter().map(|todo| mentions_again(&todo.text).paths).collect();
    let wanted = names_wanted(plan.as_ref(), &deeds, &session);
    let mut candidates = candidates(&session, plan.as_ref(), &deeds, &todo_paths, workspace);
    candidates
        .sort_by_key(|c| (c.steps.is_empty(), c.steps.first().copied(), std::cmp::Reverse(c.last_touch)));
    fill_originals_from_git(&mut candidates, workspace);
    let repository = ask_git(&mut candidates, &session, workspace);
    let missing: Vec<&Candidate> =
        candidates.iter().filter(|c| matches!(c.state, FileState::Missing { .. })).collect();
    // What stood in a file that is gone may stand elsewhere now.
    let gone: HashSet<&str> = missing.iter().map(|c| c.written.as_str()).collect();
    originals::fetch(&mut session, |touch| {
        if gone.contains(touch.path.as_str()) { originals::Wanted::All } else { originals::Wanted::Nothing }
    });
    let missing: Vec<String> = missing.iter().map(|c| c.name().to_owned()).collect();
    let missing = workspace.look_elsewhere(&missing);
    let mut budget = Budget::new(file_bytes);
    // Every file is named, whatever becomes of its content.
    budget.spend(candidates.iter().map(|candidate| candidate.written.len() + shown::FILE_HEADER).sum());
    let finder = LazyCell::new(|| Wanted::of(wanted.clone()));
    let shelf = Shelf::of(&session.sources);
    let mut looking = Looking { workspace, wanted: hash_of(&wanted), finder: &finder, shelf, memory };
    let files: Vec<_> = candidates
        .into_iter()
        .map(|candidate| enter(candidate, &missing, &mut looking, &mut budget))
        .collect();
    Evidence { plan, session, deeds, todo_paths, files, repository }
}

/// Reads from the transcripts what facts compare: what edits put where, and what files were before that were written
/// whole, or from which somebody wants a name to go.
fn fetch_for_facts(session: &mut Session) {
    let names: Vec<String> = session.asks.iter().flat_map(|ask| wishes::names(&ask.text)).collect();
    originals::fetch(session, |touch| {
        if touch.tool == EditTool::Write { originals::Wanted::All } else { originals::Wanted::Change }
    });
    originals::fetch_with_names(session, &names);
}

/// What it takes to look at a file.
struct Looking<'a> {
    workspace: &'a Workspace,
    /// A hash of the names that are looked for.
    wanted: u64,
    /// What finds them; made when the first file is really read.
    finder: &'a dyn Deref<Target = Wanted>,
    shelf: Shelf,
    /// What is remembered; `None` where nobody reads what a file holds.
    memory: Option<&'a mut Memory>,
}

/// A plan that names more than this many things promises none of them in particular.
const MOST_NAMES: usize = 400;

/// The names that steps and final message put into files, and those that asks want gone or changed.
fn names_wanted(plan: Option<&Plan>, deeds: &[Deed], session: &Session) -> Vec<String> {
    let promised = plan.iter().flat_map(|plan| plan.promised());
    let promised = promised.filter(|step| !step.paths.is_empty() || step.depth > 0).flat_map(promised_names);
    let said = deeds.iter().flat_map(|deed| deed.symbols.iter().cloned());
    let asked = session.asks.iter().flat_map(|ask| wishes::names(&ask.text));
    let mut names: Vec<String> = promised.chain(said).chain(asked).collect();
    names.sort_unstable();
    names.dedup();
    names.truncate(MOST_NAMES);
    names
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
    // Most files are named more than once, and to find out where a path leads takes several calls of the system.
    let mut known: HashMap<String, usize> = HashMap::new();
    let mut folders = Folders::default();
    let root = workspace.root().to_str();
    let mut entry = |written: &str| -> usize {
        if let Some(at) = known.get(written) {
            return *at;
        }
        // What a plan names from the workspace on, the session touches by its whole path.
        let inside = root.and_then(|root| written.strip_prefix(root)?.strip_prefix('/'));
        let named = inside.and_then(|inside| Some((inside, *known.get(inside)?)));
        if let Some((inside, at)) = named
            && all[at].place.as_ref().is_some_and(|place| place.name == inside)
        {
            return at;
        }
        let Sight { place, state, stamp } = workspace.look(written, &mut folders);
        let key = place.as_ref().map_or_else(|| written.to_owned(), |place| place.name.clone());
        let at = *index.entry(key).or_insert_with(|| {
            all.push(Candidate {
                written: written.to_owned(),
                state,
                place,
                stamp,
                touches: Vec::new(),
                original: Original::Unknown,
                change: None,
                steps: Vec::new(),
                last_touch: 0,
                unchanged: false,
            });
            all.len() - 1
        });
        known.insert(written.to_owned(), at);
        at
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
    let asked: Vec<String> = asked.flat_map(|request| mentions_again(request).paths).collect();
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
        let is_noted = candidate.touches.last().is_some_and(|last| {
            last.tool == touch.tool.name() && last.outcome == touch.outcome && last.agent == touch.agent
        });
        if !is_noted {
            candidate.touches.push(TouchNote {
                tool: touch.tool.name().to_owned(),
                outcome: touch.outcome.clone(),
                agent: touch.agent.clone(),
            });
        }
    }
    // The plan itself is shown as the plan.
    let plan_path = plan.and_then(|plan| plan.path.as_ref());
    let plan_file = plan_path.and_then(|path| workspace.locate_among(path, &mut folders));
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
    missing: &HashMap<String, FileState>,
    looking: &mut Looking<'_>,
    budget: &mut Budget,
) -> FileEvidence {
    let name = candidate.name().to_owned();
    let mut state = candidate.state.clone();
    if let Some(looked_for) = missing.get(&name) {
        state.clone_from(looked_for);
    }
    let body = match (&state, &candidate.place) {
        (FileState::File { .. }, Some(place)) => look_at(&candidate, place, looking),
        (FileState::File { .. } | FileState::Outside, _) => Looked::LeftOut(LeftOut::Outside),
        (FileState::Folder, _) => Looked::LeftOut(LeftOut::Folder),
        (FileState::Missing { .. }, _) => Looked::LeftOut(LeftOut::Missing),
        (FileState::Unreadable(_), _) => Looked::LeftOut(LeftOut::Unreadable),
    };
    let mut seen = Signs::default();
    let (entered, text, masked, digest) = match body {
        Looked::Whole(shows) => {
            let (entered, start, masked) = within(&shows, &state, true, budget);
            seen = shows.signs;
            (entered, start, masked, shows.digest)
        }
        Looked::Start(shows) => {
            let (entered, start, masked) = within(&shows, &state, false, budget);
            (entered, start, masked, format!("{}+{state:?}", shows.digest))
        }
        Looked::Unread(signs) => {
            seen = signs;
            (Entered::LeftOut(LeftOut::NoRoom), String::new(), 0, String::new())
        }
        Looked::Unreadable(why) => (Entered::LeftOut(LeftOut::Unreadable), String::new(), 0, why),
        Looked::LeftOut(why) => (Entered::LeftOut(why), String::new(), 0, format!("{state:?}")),
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

/// What a look at a file gave.
enum Looked {
    /// All of it was seen.
    Whole(Shows),
    /// It is too long: its start was.
    Start(Shows),
    /// It was looked through for what it shows, and is shown to nobody.
    Unread(Signs),
    /// It could not be read.
    Unreadable(String),
    /// It is not for showing.
    LeftOut(LeftOut),
}

/// Looks at a file, unless it is remembered.
fn look_at(candidate: &Candidate, place: &Place, looking: &mut Looking<'_>) -> Looked {
    let (shelf, finder, workspace) = (&mut looking.shelf, looking.finder, looking.workspace);
    let change = candidate.change.as_ref();
    let Some(memory) = looking.memory.as_deref_mut() else {
        let original = || Cow::Owned(shelf.original(&candidate.original));
        let seen = workspace.body_seen(place);
        let squeezed = || Cow::Borrowed(seen.squeezed());
        return match &seen.body {
            Body::Text(text) => {
                Looked::Unread(signs_with(&place.name, text, squeezed, finder, change, original))
            }
            Body::Start(_) => Looked::Unread(Signs::default()),
            Body::Binary => Looked::LeftOut(LeftOut::Binary),
            Body::Secret => Looked::LeftOut(LeftOut::Secret),
            Body::Unreadable(why) => Looked::Unreadable(why.clone()),
        };
    };
    let mut other = Looked::LeftOut(LeftOut::Unreadable);
    let mut look = |text: &str, is_all: bool| {
        let original = shelf.original(&candidate.original);
        let before = || Cow::Borrowed(&original);
        let signs = if is_all { signs(&place.name, text, finder, change, before) } else { Signs::default() };
        let (shown, is_diff) = shown_of(text, &original);
        let masked = mask_owned(shown.into_owned());
        let shown = masked.text.into_bytes().into();
        Shows { digest: QuickName::of(text), signs, text: shown, is_diff, masked: masked.count }
    };
    let question = question_of(candidate, place, looking.wanted);
    let stamp = candidate.stamp.or_else(|| workspace.stamp(place));
    let seen = memory.recall(&place.name, stamp, question, || {
        other = match workspace.body(place) {
            Body::Text(text) => return Some(look(&text, true)),
            Body::Start(text) => Looked::Start(look(&text, false)),
            Body::Binary => Looked::LeftOut(LeftOut::Binary),
            Body::Secret => Looked::LeftOut(LeftOut::Secret),
            Body::Unreadable(why) => Looked::Unreadable(why),
        };
        None
    });
    seen.map_or(other, Looked::Whole)
}

/// A hash of what is asked of a file: which names it should hold, and what of the session it is compared with.
fn question_of(candidate: &Candidate, place: &Place, wanted: u64) -> u64 {
    let change = candidate.change.as_ref().map_or(["", ""], |change| [&change.old, &change.new]);
    let original = match &candidate.original {
        Original::Text(text) => Cow::Borrowed(text.as_str()),
        other => Cow::Owned(format!("{other:?}")),
    };
    hash_of(&[&wanted.to_string(), &place.name, change[0], change[1], original.as_ref()])
}

fn hash_of(parts: &[impl AsRef<str>]) -> u64 {
    let mut name = QuickName::default();
    for part in parts {
        name.add(part.as_ref());
    }
    name.number()
}

/// The content of a file as it may be shown: what changed in it, where it is large and that is known.
fn shown_of<'a>(text: &'a str, original: &Original) -> (Cow<'a, str>, bool) {
    match original {
        Original::Text(before) if text.len() > SMALL => (Cow::Owned(diff::unified(before, text)), true),
        _ => (Cow::Borrowed(text), false),
    }
}

/// As much of it as the budget allows.
fn within(shows: &Shows, state: &FileState, is_all: bool, budget: &mut Budget) -> (Entered, String, usize) {
    if budget.left() < shows.text.len().min(LEAST) {
        return (Entered::LeftOut(LeftOut::NoRoom), String::new(), 0);
    }
    // No file may eat what the others need: one that is large and has no "before" is shown by its start.
    let is_large = matches!(state, FileState::File { bytes } if *bytes > SMALL as u64);
    let at_most = if shows.is_diff || !is_large { usize::MAX } else { SMALL };
    let cut = budget.start_of(&String::from_utf8_lossy(&shows.text), at_most);
    let entered = match (cut.missing, shows.is_diff, is_all) {
        (0, true, true) => Entered::Diff,
        (0, false, true) => Entered::Whole,
        (missing, _, _) => Entered::Cut(missing.max(1)),
    };
    (entered, cut.text, shows.masked)
}
