//! Takes a session, its plan and the workspace, gives the [`Evidence`]: every file that changed by whatever means, and every
//! path that plan, asks, tasks or final message name, with what the disk shows. Must not show more than the budget allows,
//! nor leave anything out without saying so.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

use super::budget::Budget;
use super::named::named_paths;
use super::{
    Entered, Evidence, FileCache, FileChange, FileEvidence, FileState, JudgedUntil, LeftOut, NamedIn,
    Repository, TouchNote, Workspace, sections,
};
use crate::ids::QuickId;
use crate::paths::is_generated;
use crate::plan::Plan;
use crate::redact::mask_owned;
use crate::session::file_history::RecordedTexts;
use crate::session::{Original, Outcome, Session};
use crate::workspace::diff;
use crate::workspace::file_cache::{FileSummary, Stamp};
use crate::workspace::git;
use crate::workspace::git::Change;
use crate::workspace::{Body, Folders, Place, Sight};

/// Up to this size a file that was changed is shown whole besides: what did not change may be what was promised.
const SMALL: usize = 2_500;
/// How much is shown of a file that was changed: whole, or as a diff.
const MOST_OF_CHANGED: usize = 4_000;
/// How much is shown of a file that a step, the final message or a task names as well.
const MOST_OF_CLAIMED: usize = 7_000;
/// How much is shown of a file that nobody names and no edit tool touched: a merge or a generator changed it.
const MOST_OF_OTHERS: usize = 1_500;
/// Up to this size a file that was not changed is shown, where somebody names it.
const MOST_OF_UNCHANGED: usize = 1_500;
/// With less room than this a file's content is left out: a few lines would mislead.
const LEAST: usize = 400;
/// How many files that nobody names and no edit tool touched are listed.
const MOST_OTHERS: usize = 120;

/// A file on the way in.
struct Candidate {
    written: String,
    place: Option<Place>,
    state: FileState,
    stamp: Option<Stamp>,
    touches: Vec<TouchNote>,
    original: Original,
    named_in: Vec<NamedIn>,
    is_marked: bool,
    last_touch: usize,
    by_git: Option<Change>,
}

impl Candidate {
    /// How it is called: relative to the workspace where it is inside, else as written.
    fn name(&self) -> &str {
        self.place.as_ref().map_or(&self.written, |place| &place.name)
    }

    fn was_edited(&self) -> bool {
        self.touches.iter().any(|touch| touch.outcome == Outcome::Done)
    }

    /// Whether a step, the final message or a task names it: what is claimed is shown first.
    fn is_claimed(&self) -> bool {
        self.named_in.iter().any(|named| *named != NamedIn::Ask)
    }

    /// Whether nobody names it and no edit tool touched it: it comes last.
    fn is_other(&self) -> bool {
        self.touches.is_empty() && self.named_in.is_empty()
    }
}

/// What the content of files may take, and what was judged before.
#[derive(Debug, Clone)]
pub struct Scope {
    /// How many bytes.
    pub file_bytes: usize,
    /// Up to where the session was judged before.
    pub judged: Option<JudgedUntil>,
}

/// Puts the evidence together. Session and plan come masked. What `memory` has of files that are as they were is taken
/// from there.
pub fn gather(
    session: Session,
    plan: Option<Plan>,
    workspace: &Workspace,
    scope: Scope,
    memory: &mut FileCache,
) -> Evidence {
    let repository = git::repository(workspace.root(), session.started.as_deref(), session.ended.as_deref());
    let mut candidates = candidates(&session, plan.as_ref(), workspace, repository.as_ref());
    let missing: Vec<String> = candidates
        .iter()
        .filter(|candidate| matches!(candidate.state, FileState::Missing { .. }))
        .map(|candidate| candidate.name().to_owned())
        .collect();
    let elsewhere = workspace.look_elsewhere(&missing);
    for candidate in &mut candidates {
        if let Some(state) = elsewhere.get(candidate.name()) {
            candidate.state = state.clone();
        }
    }
    candidates.retain(is_worth_naming);
    candidates.sort_by_key(|c| {
        (Reverse(c.is_claimed()), c.is_other(), c.named_in.first().copied(), Reverse(c.last_touch))
    });
    limit_others(&mut candidates);
    fill_originals(&mut candidates, workspace, repository.as_ref());
    let mut budget = Budget::new(scope.file_bytes);
    budget.spend(candidates.iter().map(|candidate| candidate.written.len() + sections::FILE_HEADER).sum());
    let mut looking = Looking {
        workspace,
        recorded: RecordedTexts::new(&session.sources),
        memory,
        started: session.started.as_deref(),
        judged: scope.judged.as_ref(),
    };
    let files = candidates.into_iter().map(|candidate| looking.enter(candidate, &mut budget)).collect();
    Evidence { plan, session, files, repository, judged: scope.judged }
}

/// Returns whether a file is worth an entry: a name that is on no disk, was never touched and is not written as a path is
/// most likely none.
fn is_worth_naming(candidate: &Candidate) -> bool {
    let is_known = candidate.was_edited() || !candidate.touches.is_empty() || candidate.by_git.is_some();
    match candidate.state {
        FileState::Missing { .. } => is_known || candidate.is_marked,
        FileState::Outside => is_known,
        FileState::File { .. } | FileState::Folder | FileState::Unreadable(_) => true,
    }
}

/// Keeps a bounded number of the files that nobody names and no edit tool touched: an install or a generator can change
/// thousands.
fn limit_others(candidates: &mut Vec<Candidate>) {
    let mut others = 0;
    candidates.retain(|candidate| {
        others += usize::from(candidate.is_other());
        !candidate.is_other() || others <= MOST_OTHERS
    });
}

fn candidates(
    session: &Session,
    plan: Option<&Plan>,
    workspace: &Workspace,
    repository: Option<&Repository>,
) -> Vec<Candidate> {
    let mut all =
        Candidates { workspace, all: Vec::new(), by_name: HashMap::new(), folders: Folders::default() };
    for named in named_paths(session, plan) {
        let at = all.entry(&named.path);
        let candidate = &mut all.all[at];
        if !candidate.named_in.contains(&named.by) {
            candidate.named_in.push(named.by);
        }
        candidate.is_marked |= named.is_marked;
    }
    for touch in &session.touches {
        let at = all.entry(&touch.path);
        let candidate = &mut all.all[at];
        candidate.last_touch = touch.at;
        if candidate.original == Original::Unknown && touch.outcome == Outcome::Done {
            candidate.original = touch.original.clone();
        }
        match candidate.touches.last_mut().filter(|last| {
            last.tool == touch.tool.name() && last.outcome == touch.outcome && last.agent == touch.agent
        }) {
            Some(last) => last.times += 1,
            None => candidate.touches.push(TouchNote {
                tool: touch.tool.name().to_owned(),
                outcome: touch.outcome.clone(),
                agent: touch.agent.clone(),
                times: 1,
            }),
        }
    }
    if let Some(repository) = repository {
        for (path, change) in &repository.changed {
            let at = all.entry(path);
            let candidate = &mut all.all[at];
            // What was changed before the session began, and not committed, is not the session's.
            let is_older = *change != Change::Deleted
                && !repository.has_committed(path)
                && candidate
                    .place
                    .as_ref()
                    .is_some_and(|place| workspace.is_older(place, session.started.as_deref()));
            candidate.by_git = Some(*change).filter(|_| !is_older);
        }
        all.all.retain(|c| c.by_git.is_some() || !c.touches.is_empty() || !c.named_in.is_empty());
    } else {
        for (path, _) in workspace.changed_since(session.started.as_deref()) {
            let at = all.entry(&path);
            all.all[at].by_git.get_or_insert(Change::Modified);
        }
    }
    // The plan itself is shown as the plan.
    let plan_path = plan.and_then(|plan| plan.path.as_ref());
    let plan_file = plan_path.and_then(|path| workspace.locate_among(path, &mut all.folders));
    all.all.retain(|candidate| plan_file.is_none() || candidate.place != plan_file);
    all.all
}

/// Candidates by their names. Most files are named more than once, and to find out where a path leads takes several calls
/// of the system.
struct Candidates<'a> {
    workspace: &'a Workspace,
    all: Vec<Candidate>,
    by_name: HashMap<String, usize>,
    folders: Folders,
}

impl Candidates<'_> {
    fn entry(&mut self, written: &str) -> usize {
        if let Some(at) = self.by_name.get(written) {
            return *at;
        }
        let Sight { place, state, stamp } = self.workspace.look(written, &mut self.folders);
        let name = place.as_ref().map_or_else(|| written.to_owned(), |place| place.name.clone());
        let next = self.all.len();
        let at = *self.by_name.entry(name).or_insert(next);
        if at == next {
            self.all.push(Candidate {
                written: written.to_owned(),
                state,
                place,
                stamp,
                touches: Vec::new(),
                original: Original::Unknown,
                named_in: Vec::new(),
                is_marked: false,
                last_touch: 0,
                by_git: None,
            });
        }
        self.by_name.insert(written.to_owned(), at);
        at
    }
}

/// Asks git, once, what the changed files were before the session, where the transcript does not say.
fn fill_originals(candidates: &mut [Candidate], workspace: &Workspace, repository: Option<&Repository>) {
    let Some(base) = repository.and_then(|repository| repository.base.as_deref()) else { return };
    let is_unknown = |c: &&Candidate| {
        matches!(c.original, Original::Unknown)
            && (c.was_edited() || c.by_git == Some(Change::Modified))
            && c.place.as_ref().is_some_and(|place| place.path.starts_with(workspace.root()))
    };
    let names: Vec<String> =
        candidates.iter().filter(is_unknown).map(|candidate| candidate.name().to_owned()).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).take(MOST_OTHERS).collect();
    let texts = git::texts_at(workspace.root(), base, &names);
    let asked: HashSet<&str> = names.into_iter().collect();
    for candidate in candidates.iter_mut().filter(|c| is_unknown(&&**c)) {
        match texts.get(candidate.name()) {
            Some(text) => candidate.original = Original::Text(text.clone()),
            // Git was asked, and the commit before the session does not have it.
            None if asked.contains(candidate.name()) && candidate.by_git == Some(Change::Added) => {
                candidate.original = Original::Absent;
            }
            None => {}
        }
    }
}

/// What it takes to look at a file.
struct Looking<'a> {
    workspace: &'a Workspace,
    recorded: RecordedTexts,
    memory: &'a mut FileCache,
    started: Option<&'a str>,
    judged: Option<&'a JudgedUntil>,
}

/// What a look at a file gave.
enum Looked {
    /// All of it was seen.
    Whole(FileSummary),
    /// It is too long: its start was.
    Start(FileSummary),
    /// It could not be read.
    Unreadable(String),
    /// It is not for showing.
    LeftOut(LeftOut),
}

impl Looking<'_> {
    fn enter(&mut self, candidate: Candidate, budget: &mut Budget) -> FileEvidence {
        let name = candidate.name().to_owned();
        let body = match (&candidate.state, &candidate.place) {
            (FileState::File { .. }, Some(place)) => self.look_at(&candidate, place),
            (FileState::File { .. } | FileState::Outside, _) => Looked::LeftOut(LeftOut::Outside),
            (FileState::Folder, _) => Looked::LeftOut(LeftOut::Folder),
            (FileState::Missing { .. }, _) => Looked::LeftOut(LeftOut::Missing),
            (FileState::Unreadable(_), _) => Looked::LeftOut(LeftOut::Unreadable),
        };
        let change = self.change_of(&candidate, &body);
        let (entered, text, masked, digest) = match body {
            Looked::Whole(shows) => {
                let (entered, text, masked) = self.within(&candidate, change, &shows, true, budget);
                (entered, text, masked, shows.digest)
            }
            Looked::Start(shows) => {
                let (entered, text, masked) = self.within(&candidate, change, &shows, false, budget);
                (entered, text, masked, format!("{}+{:?}", shows.digest, candidate.state))
            }
            Looked::Unreadable(why) => (Entered::LeftOut(LeftOut::Unreadable), String::new(), 0, why),
            Looked::LeftOut(why) => {
                (Entered::LeftOut(why), String::new(), 0, format!("{:?}", candidate.state))
            }
        };
        FileEvidence {
            name,
            touches: candidate.touches,
            named_in: candidate.named_in,
            change,
            state: candidate.state,
            entered,
            text,
            masked,
            digest,
        }
    }

    /// What became of a file in the session: git and times tell, edit tools where those do not.
    fn change_of(&self, candidate: &Candidate, body: &Looked) -> FileChange {
        let is_there = matches!(candidate.state, FileState::File { .. });
        let is_gone = matches!(candidate.state, FileState::Missing { .. });
        let is_same = matches!(body, Looked::Whole(shows) if shows.is_same);
        match candidate.by_git {
            Some(Change::Deleted) if is_gone => FileChange::Deleted,
            Some(Change::Added) if is_there => FileChange::Created,
            Some(_) if is_there => FileChange::Modified,
            _ if is_gone && candidate.was_edited() => FileChange::Deleted,
            _ if is_gone => FileChange::Unknown,
            _ if is_same => FileChange::Unchanged,
            _ if candidate.was_edited() && candidate.original == Original::Absent => FileChange::Created,
            _ if candidate.was_edited() => FileChange::Modified,
            _ if is_there => {
                let is_older = candidate
                    .place
                    .as_ref()
                    .is_some_and(|place| self.workspace.is_older(place, self.started));
                if is_older { FileChange::Unchanged } else { FileChange::Unknown }
            }
            _ => FileChange::Unknown,
        }
    }

    /// Looks at a file, unless it is remembered.
    fn look_at(&mut self, candidate: &Candidate, place: &Place) -> Looked {
        let (originals, workspace) = (&mut self.recorded, self.workspace);
        let mut other = Looked::LeftOut(LeftOut::Unreadable);
        let mut look = |text: &str| {
            let original = originals.original(&candidate.original);
            let is_same = matches!(&original, Original::Text(before) if before == text);
            let (shown, is_diff) = shown_of(text, &original);
            let masked = mask_owned(shown.into_owned());
            FileSummary {
                digest: QuickId::of(text),
                is_same,
                text: masked.text,
                is_diff,
                masked: masked.count,
            }
        };
        let question = question_of(candidate, place);
        let stamp = candidate.stamp.or_else(|| workspace.stamp(place));
        let seen = self.memory.recall(&place.name, stamp, question, || {
            other = match workspace.body(place) {
                Body::Text(text) => return Some(look(&text)),
                Body::Start(text) => Looked::Start(look(&text)),
                Body::Binary => Looked::LeftOut(LeftOut::Binary),
                Body::Secret => Looked::LeftOut(LeftOut::Secret),
                Body::Unreadable(why) => Looked::Unreadable(why),
            };
            None
        });
        seen.map_or(other, Looked::Whole)
    }

    /// As much of a file as the budget allows.
    fn within(
        &self,
        candidate: &Candidate,
        change: FileChange,
        shows: &FileSummary,
        is_all: bool,
        budget: &mut Budget,
    ) -> (Entered, String, usize) {
        let left_out = |why| (Entered::LeftOut(why), String::new(), 0);
        let name = candidate.name();
        if is_generated(name) {
            return left_out(LeftOut::Generated);
        }
        let was_changed = matches!(change, FileChange::Created | FileChange::Modified);
        // Shown at an earlier stop, and as it was then.
        if was_changed && self.judged.is_some_and(|judged| judged.files.get(name) == Some(&shows.digest)) {
            return left_out(LeftOut::JudgedBefore);
        }
        let at_most = match (was_changed, candidate.is_claimed()) {
            (true, true) => MOST_OF_CLAIMED,
            (true, false) if candidate.touches.is_empty() && candidate.named_in.is_empty() => MOST_OF_OTHERS,
            (true, false) => MOST_OF_CHANGED,
            (false, _) if shows.text.len() <= MOST_OF_UNCHANGED => MOST_OF_UNCHANGED,
            (false, _) => return left_out(LeftOut::Unchanged),
        };
        if budget.left() < shows.text.len().min(LEAST) {
            return left_out(LeftOut::NoRoom);
        }
        let cut = budget.both_ends_of(&shows.text, at_most);
        let entered = match (cut.missing, shows.is_diff, is_all) {
            (0, true, true) => Entered::Diff,
            (0, false, true) => Entered::Whole,
            (missing, _, _) => Entered::Cut(missing.max(1)),
        };
        (entered, cut.text, shows.masked)
    }
}

/// A hash of what a file is compared with.
fn question_of(candidate: &Candidate, place: &Place) -> u64 {
    let original = match &candidate.original {
        Original::Text(text) => Cow::Borrowed(text.as_str()),
        other => Cow::Owned(format!("{other:?}")),
    };
    let mut name = QuickId::default();
    name.add(&place.name);
    name.add(original.as_ref());
    name.number()
}

/// The content of a file as it may be shown: of a small one all of it and what changed, of a larger one what changed, where
/// that is known and shorter.
fn shown_of<'a>(text: &'a str, original: &Original) -> (Cow<'a, str>, bool) {
    let Original::Text(before) = original else { return (Cow::Borrowed(text), false) };
    if before == text {
        return (Cow::Borrowed(text), false);
    }
    let changes = diff::unified(before, text);
    match (text.len() <= SMALL, changes.len() < text.len()) {
        (true, true) => (Cow::Owned(format!("{}\n[what changed in it:]\n{changes}", text.trim_end())), false),
        (false, true) => (Cow::Owned(changes), true),
        (_, false) => (Cow::Borrowed(text), false),
    }
}

#[cfg(test)]
mod tests;
