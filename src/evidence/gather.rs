//! Gathers the [`Evidence`] of a session, its plan and the workspace: every file that changed by
//! whatever means, and every path that plan, asks, tasks or final message name, with what the disk
//! shows. Must not show more than fits, or leave anything out without saying so.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

use super::budget::both_ends_within;
use super::{
    Entered, Evidence, FileCache, FileChange, FileEvidence, FileState, JudgedUntil, LeftOut, Limit, NamedIn,
    Repository, TouchNote, Workspace, sections,
};
use crate::ids::ContentId;
use crate::paths::is_generated;
use crate::plan::Plan;
use crate::plan::mentions::paths_named;
use crate::redact::mask;
use crate::session::file_history::RecordedTexts;
use crate::session::{Original, Outcome, Session, Touch};
use crate::text::unified_diff;
use crate::workspace::file_cache::FileSummary;
use crate::workspace::git::Change;
use crate::workspace::{Body, Place, READ_CAP, TOO_LARGE};

/// Up to this size a changed file is shown whole beside its diff: the unchanged part may be what
/// was promised.
pub const SMALL: usize = 2_500;
/// How much is shown of a changed file: whole, or as a diff.
pub const MAX_OF_CHANGED: usize = 4_000;
/// How much is shown of a changed file that a step, the final message or a task names as well.
pub const MAX_OF_CLAIMED: usize = 7_000;
/// How much is shown of a changed file that nobody names and no edit tool touched: it was changed
/// by a merge or a generator.
pub const MAX_OF_OTHER: usize = 1_500;
/// Up to this size an unchanged file is shown, if somebody names it.
pub const MAX_OF_UNCHANGED: usize = 1_500;
/// With less room than this a file's content is left out: a few lines would mislead.
pub const LEAST_SHOWN: usize = 400;
/// How many lines are shown around a change.
pub const DIFF_CONTEXT: usize = 3;
/// How many files are listed that nobody names and no edit tool touched: an install or a generator
/// can change thousands.
pub const MAX_OTHERS: usize = 120;

/// A text that names more paths than this is a listing; the rest of it is left out.
pub const MAX_IN_ONE_TEXT: usize = 60;
/// How many named paths are looked at, and how many changed files that only git lists.
pub const MAX_NAMED: usize = 1_500;
pub const MAX_CHANGED: usize = 2_000;
/// How many bytes of files are read. More would not fit in any prompt.
const MAX_READ: u64 = 48 << 20;
/// How many of the steps that name a file are recorded.
const MAX_STEPS_OF_FILE: usize = 40;

/// A path that somebody names: as it is written, by whom, and whether it is marked as a path: in
/// backticks, as a link, or with a folder and an extension. Others may not be paths at all.
type NamedPath = (String, NamedIn, bool);

/// Returns the named paths, the plan's first.
pub fn named_paths(session: &Session, plan: Option<&Plan>) -> Vec<NamedPath> {
    let in_text = |text: &str, by: NamedIn| {
        let paths = paths_named(text).into_iter().take(MAX_IN_ONE_TEXT);
        paths.map(move |found| (found.path, by, found.marked))
    };
    let mut named = Vec::new();
    for step in plan.iter().flat_map(|plan| plan.promised()) {
        let by = NamedIn::Step(step.number);
        let own = step.own_paths.iter().map(|found| (found.path.clone(), by, found.marked));
        let is_other = |path: &&String| step.own_paths.iter().all(|own| own.path != **path);
        let others = step.paths.iter().filter(is_other).map(|path| (path.clone(), by, true));
        named.extend(own.chain(others).take(MAX_IN_ONE_TEXT));
    }
    named.extend(in_text(session.final_message.as_deref().unwrap_or_default(), NamedIn::Message));
    named.extend(session.todos.iter().flat_map(|todo| in_text(&todo.text, NamedIn::Task)));
    named.extend(session.asks.iter().flat_map(|ask| in_text(&ask.text, NamedIn::Ask)));
    named
}

/// A file that may become evidence.
struct Candidate {
    written: String,
    place: Option<Place>,
    state: FileState,
    touches: Vec<TouchNote>,
    original: Original,
    named_in: Vec<NamedIn>,
    /// Whether somebody marks it as a path: in backticks, as a link, or with a folder and an
    /// extension.
    is_marked: bool,
    last_touch: usize,
    by_git: Option<Change>,
}

impl Candidate {
    /// Returns its path, relative to the workspace if it is inside, else as written.
    fn name(&self) -> &str {
        self.place.as_ref().map_or(&self.written, |place| &place.name)
    }

    fn was_edited(&self) -> bool {
        self.touches.iter().any(|touch| touch.outcome == Outcome::Done)
    }

    /// Returns whether a step, the final message or a task names it: what is claimed is shown
    /// first.
    fn is_claimed(&self) -> bool {
        self.named_in.iter().any(|named| *named != NamedIn::Ask)
    }

    /// Returns whether nobody names it and no edit tool touched it, so that it comes last.
    fn is_other(&self) -> bool {
        self.touches.is_empty() && self.named_in.is_empty()
    }

    /// Returns whether it is worth an entry. A name that does not exist, was never touched and is
    /// not marked as a path is most likely not a path.
    fn is_worth_naming(&self) -> bool {
        let has_trace = !self.touches.is_empty() || self.by_git.is_some();
        match self.state {
            FileState::Missing { .. } => has_trace || self.is_marked,
            FileState::Outside => has_trace,
            FileState::File { .. } | FileState::Folder | FileState::Unreadable(_) => true,
        }
    }

    /// Names are added in the order of [`NamedIn`].
    fn add_name(&mut self, by: NamedIn, is_marked: bool) {
        self.is_marked |= is_marked;
        let is_step = matches!(by, NamedIn::Step(_));
        if self.named_in.last() != Some(&by) && !(is_step && self.named_in.len() >= MAX_STEPS_OF_FILE) {
            self.named_in.push(by);
        }
    }

    fn add_touch(&mut self, touch: &Touch) {
        self.last_touch = touch.at;
        if self.original == Original::Unknown && touch.outcome == Outcome::Done {
            self.original = touch.original.clone();
        }
        let is_alike = |last: &&mut TouchNote| {
            last.tool == touch.tool.name() && last.outcome == touch.outcome && last.agent == touch.agent
        };
        match self.touches.last_mut().filter(is_alike) {
            Some(last) => last.times += 1,
            None => self.touches.push(TouchNote {
                tool: touch.tool.name().to_owned(),
                outcome: touch.outcome.clone(),
                agent: touch.agent.clone(),
                times: 1,
            }),
        }
    }
}

/// How much room file contents have, and what was judged before.
#[derive(Debug, Clone)]
pub struct Scope {
    pub file_bytes: usize,
    /// How much of the session was judged before.
    pub judged: Option<JudgedUntil>,
}

/// Gathers the evidence. Session and plan are masked already. Files that have not changed since the
/// last audit are taken from the cache.
pub fn gather(
    session: Session,
    plan: Option<Plan>,
    workspace: &Workspace,
    scope: Scope,
    cache: &mut FileCache,
) -> Evidence {
    let repository = workspace.git().repository(session.started.as_deref(), session.ended.as_deref());
    let (mut candidates, mut beyond) = candidates(&session, plan.as_ref(), workspace, repository.as_ref());
    beyond.search |= find_elsewhere(&mut candidates, workspace);
    candidates.retain(Candidate::is_worth_naming);
    candidates.sort_by_key(|c| {
        (Reverse(c.is_claimed()), c.is_other(), c.named_in.first().copied(), Reverse(c.last_touch))
    });
    // Those that nobody names are last in this order.
    let others = candidates.iter().filter(|candidate| candidate.is_other()).count();
    let unlisted = others.saturating_sub(MAX_OTHERS);
    candidates.truncate(candidates.len() - unlisted);
    fill_originals(&mut candidates, workspace, repository.as_ref());
    let lines = candidates.iter().map(|candidate| candidate.written.len() + sections::FILE_HEADER);
    let (first, rest) = (lines.clone().take(sections::LEAST_LISTED), lines.skip(sections::LEAST_LISTED));
    let first: usize = first.sum();
    // Files beyond this get no line of their own.
    let headers = (first + rest.sum::<usize>()).min(first.max(sections::lines_room(scope.file_bytes)));
    let mut viewer = Viewer {
        workspace,
        originals: RecordedTexts::new(&session.sources),
        cache,
        started: session.started.as_deref(),
        judged: scope.judged.as_ref(),
        room: scope.file_bytes.saturating_sub(headers),
        unread: MAX_READ,
    };
    let files = candidates.into_iter().map(|candidate| viewer.view(candidate)).collect();
    let (unlisted, limits) = (unlisted + beyond.changes, beyond.limits());
    Evidence { plan, session, files, unlisted, limits, repository, judged: scope.judged }
}

/// How much was not looked at.
#[derive(Debug, Default)]
struct Beyond {
    names: usize,
    changes: usize,
    search: bool,
}

impl Beyond {
    fn limits(&self) -> Vec<Limit> {
        let names = Some(Limit::Names(self.names)).filter(|_| self.names > 0);
        let changes = Some(Limit::Changes(self.changes)).filter(|_| self.changes > 0);
        names.into_iter().chain(changes).chain(self.search.then_some(Limit::Search)).collect()
    }
}

/// Looks for missing files elsewhere in the workspace; returns whether the search was cut short.
fn find_elsewhere(candidates: &mut [Candidate], workspace: &Workspace) -> bool {
    let missing = candidates.iter().filter(|c| matches!(c.state, FileState::Missing { .. }));
    let missing: Vec<String> = missing.map(|candidate| candidate.name().to_owned()).collect();
    let elsewhere = workspace.look_elsewhere(&missing);
    for candidate in candidates {
        if let Some(state) = elsewhere.get(candidate.name()) {
            candidate.state = state.clone();
        }
    }
    elsewhere.values().any(|state| matches!(state, FileState::Unreadable(why) if why == TOO_LARGE))
}

fn candidates(
    session: &Session,
    plan: Option<&Plan>,
    workspace: &Workspace,
    repository: Option<&Repository>,
) -> (Vec<Candidate>, Beyond) {
    let mut set = CandidateSet { workspace, all: Vec::new(), by_name: HashMap::new() };
    let message = session.final_message.as_deref().unwrap_or_default();
    let in_message = paths_named(message).len();
    let mut beyond = Beyond { names: in_message.saturating_sub(MAX_IN_ONE_TEXT), ..Beyond::default() };
    for (path, by, is_marked) in named_paths(session, plan) {
        if set.all.len() >= MAX_NAMED && !set.by_name.contains_key(&path) {
            beyond.names += 1;
            continue;
        }
        set.entry(&path).add_name(by, is_marked);
    }
    for touch in &session.touches {
        set.entry(&touch.path).add_touch(touch);
    }
    let started = session.started.as_deref();
    let most = set.all.len() + MAX_CHANGED;
    if let Some(repository) = repository {
        let committed = repository.committed();
        for (path, change) in &repository.changed {
            // An uncommitted change from before the session is not the session's.
            let place = Place { path: workspace.root().join(path), name: path.clone() };
            let is_older = *change != Change::Deleted
                && !committed.contains(path.as_str())
                && workspace.is_older(&place, started);
            if is_older {
                continue;
            }
            if set.all.len() >= most && !set.by_name.contains_key(path) {
                beyond.changes += 1;
                continue;
            }
            set.entry(path).by_git = Some(*change);
        }
    } else {
        let since = started.and_then(|time| time.parse::<jiff::Timestamp>().ok());
        let since = since.and_then(|since| u128::try_from(since.as_nanosecond()).ok());
        let (changed, is_all) = since.map_or((Vec::new(), true), |since| workspace.changed_since(since));
        beyond.search |= !is_all;
        for (path, _) in changed {
            if set.all.len() >= most && !set.by_name.contains_key(&path) {
                beyond.changes += 1;
                continue;
            }
            set.entry(&path).by_git.get_or_insert(Change::Modified);
        }
    }
    // The plan has its own section.
    let plan_path = plan.and_then(|plan| plan.path.as_ref());
    let plan_file = plan_path.and_then(|path| workspace.locate(path));
    set.all.retain(|candidate| plan_file.is_none() || candidate.place != plan_file);
    (set.all, beyond)
}

/// Candidates by name. Most files are named more than once, and locating one takes several system
/// calls.
struct CandidateSet<'a> {
    workspace: &'a Workspace,
    all: Vec<Candidate>,
    by_name: HashMap<String, usize>,
}

impl CandidateSet<'_> {
    fn entry(&mut self, written: &str) -> &mut Candidate {
        if let Some(at) = self.by_name.get(written) {
            return &mut self.all[*at];
        }
        let place = self.workspace.locate(written);
        let name = place.as_ref().map_or_else(|| written.to_owned(), |place| place.name.clone());
        let next = self.all.len();
        let at = *self.by_name.entry(name).or_insert(next);
        if at == next {
            self.all.push(Candidate {
                written: written.to_owned(),
                state: self.workspace.state(place.as_ref()),
                place,
                touches: Vec::new(),
                original: Original::Unknown,
                named_in: Vec::new(),
                is_marked: false,
                last_touch: 0,
                by_git: None,
            });
        }
        self.by_name.insert(written.to_owned(), at);
        &mut self.all[at]
    }
}

/// Asks git, once, for the original content of changed files if the transcript does not have it.
fn fill_originals(candidates: &mut [Candidate], workspace: &Workspace, repository: Option<&Repository>) {
    let Some(base) = repository.and_then(|repository| repository.base.as_deref()) else { return };
    let is_unknown = |c: &&Candidate| {
        matches!(c.original, Original::Unknown)
            && (c.was_edited() || c.by_git == Some(Change::Modified))
            && c.place.as_ref().is_some_and(|place| place.path.starts_with(workspace.root()))
    };
    let unknown = candidates.iter().filter(is_unknown).take(MAX_OTHERS);
    let names: Vec<String> = unknown.map(|candidate| candidate.name().to_owned()).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let texts = workspace.git().texts_at(base, &names);
    let asked: HashSet<&str> = names.into_iter().collect();
    for candidate in candidates.iter_mut().filter(|c| is_unknown(&&**c)) {
        match texts.get(candidate.name()) {
            Some(text) => candidate.original = Original::Text(text.clone()),
            // The commit before the session does not have it.
            None if asked.contains(candidate.name()) && candidate.by_git == Some(Change::Added) => {
                candidate.original = Original::Absent;
            }
            None => {}
        }
    }
}

/// Reads files, and decides how much of each is shown.
struct Viewer<'a> {
    workspace: &'a Workspace,
    originals: RecordedTexts,
    cache: &'a mut FileCache,
    started: Option<&'a str>,
    judged: Option<&'a JudgedUntil>,
    /// How many bytes are left for content.
    room: usize,
    /// How many bytes may still be read.
    unread: u64,
}

/// The result of reading a file.
enum View {
    Whole(FileSummary),
    /// The file is longer than what is read of it.
    Start(FileSummary),
    Unreadable(String),
    LeftOut(LeftOut),
}

impl Viewer<'_> {
    fn view(&mut self, candidate: Candidate) -> FileEvidence {
        let view = match (&candidate.state, &candidate.place) {
            (FileState::File { .. }, Some(place)) => self.read(&candidate, place),
            (FileState::File { .. } | FileState::Outside, _) => View::LeftOut(LeftOut::Outside),
            (FileState::Folder, _) => View::LeftOut(LeftOut::Folder),
            (FileState::Missing { .. }, _) => View::LeftOut(LeftOut::Missing),
            (FileState::Unreadable(_), _) => View::LeftOut(LeftOut::Unreadable),
        };
        let change = self.change(&candidate, &view);
        let nothing = |why| (Entered::LeftOut(why), String::new(), 0);
        let ((entered, text, masked), digest) = match view {
            View::Whole(summary) => (self.shown(&candidate, change, &summary, true), summary.digest),
            View::Start(summary) => {
                let shown = self.shown(&candidate, change, &summary, false);
                (shown, format!("{}+{:?}", summary.digest, candidate.state))
            }
            View::Unreadable(why) => (nothing(LeftOut::Unreadable), why),
            View::LeftOut(why) => (nothing(why), format!("{:?}", candidate.state)),
        };
        FileEvidence {
            name: candidate.name().to_owned(),
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

    /// Returns what happened to a file in the session, by git and file times or, failing those,
    /// edit tools.
    fn change(&self, candidate: &Candidate, view: &View) -> FileChange {
        let is_there = matches!(candidate.state, FileState::File { .. });
        let is_gone = matches!(candidate.state, FileState::Missing { .. });
        let is_same = matches!(view, View::Whole(summary) if summary.is_same);
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
                let place = candidate.place.as_ref();
                let is_older = place.is_some_and(|place| self.workspace.is_older(place, self.started));
                if is_older { FileChange::Unchanged } else { FileChange::Unknown }
            }
            _ => FileChange::Unknown,
        }
    }

    /// Reads a file, unless the cache has it.
    fn read(&mut self, candidate: &Candidate, place: &Place) -> View {
        let FileState::File { bytes } = candidate.state else { return View::LeftOut(LeftOut::Unreadable) };
        let Some(unread) = self.unread.checked_sub(bytes.min(READ_CAP)) else {
            return View::LeftOut(LeftOut::NoRoom);
        };
        self.unread = unread;
        let (originals, workspace) = (&mut self.originals, self.workspace);
        let mut other = View::LeftOut(LeftOut::Unreadable);
        let mut summarise = |text: &str| {
            let original = originals.original(&candidate.original);
            let is_same = matches!(&original, Original::Text(before) if before == text);
            let (shown, is_diff) = content(text, &original);
            let masked = mask(&shown);
            let digest = ContentId::digest(text);
            FileSummary { digest, is_same, text: masked.text, is_diff, masked: masked.count }
        };
        let summary = self.cache.get_or_look(
            &place.name,
            workspace.stamp(place),
            original_id(candidate, place),
            || {
                other = match workspace.body(place) {
                    Body::Text(text) => return Some(summarise(&text)),
                    Body::Start(text) => View::Start(summarise(&text)),
                    Body::Binary => View::LeftOut(LeftOut::Binary),
                    Body::Secret => View::LeftOut(LeftOut::Secret),
                    Body::Unreadable(why) => View::Unreadable(why),
                };
                None
            },
        );
        summary.map_or(other, View::Whole)
    }

    /// Returns as much of a file as fits, and how many secrets were masked in it.
    fn shown(
        &mut self,
        candidate: &Candidate,
        change: FileChange,
        summary: &FileSummary,
        is_all: bool,
    ) -> (Entered, String, usize) {
        let left_out = |why| (Entered::LeftOut(why), String::new(), 0);
        let name = candidate.name();
        if is_generated(name) {
            return left_out(LeftOut::Generated);
        }
        let was_changed = matches!(change, FileChange::Created | FileChange::Modified);
        if was_changed && self.judged.is_some_and(|judged| judged.files.get(name) == Some(&summary.digest)) {
            return left_out(LeftOut::JudgedBefore);
        }
        let max = match (was_changed, candidate.is_claimed()) {
            (true, true) => MAX_OF_CLAIMED,
            (true, false) if candidate.is_other() => MAX_OF_OTHER,
            (true, false) => MAX_OF_CHANGED,
            (false, _) if summary.text.len() <= MAX_OF_UNCHANGED => MAX_OF_UNCHANGED,
            (false, _) => return left_out(LeftOut::Unchanged),
        };
        if self.room < summary.text.len().min(LEAST_SHOWN) {
            return left_out(LeftOut::NoRoom);
        }
        let cut = both_ends_within(&summary.text, max.min(self.room));
        self.room = self.room.saturating_sub(cut.text.len());
        let entered = match (cut.missing, summary.is_diff, is_all) {
            (0, true, true) => Entered::Diff,
            (0, false, true) => Entered::Whole,
            (missing, _, _) => Entered::Cut(missing.max(1)),
        };
        (entered, cut.text, summary.masked)
    }
}

/// Returns an id of what a file is compared with.
fn original_id(candidate: &Candidate, place: &Place) -> String {
    let mut id = ContentId::default();
    id.add(&place.name);
    match &candidate.original {
        Original::Text(text) => id.add(text),
        other => id.add(format!("{other:?}")),
    }
    id.finish()
}

/// Returns the content to show of a file, and whether that is a diff: all of a small file and its
/// diff, and of a larger one the diff, if it is known and shorter.
fn content<'a>(text: &'a str, original: &Original) -> (Cow<'a, str>, bool) {
    let Original::Text(before) = original else { return (Cow::Borrowed(text), false) };
    if before == text {
        return (Cow::Borrowed(text), false);
    }
    let changes = unified_diff(before, text, DIFF_CONTEXT, true);
    match (text.len() <= SMALL, changes.len() < text.len()) {
        (true, true) => (Cow::Owned(format!("{}\n[what changed in it:]\n{changes}", text.trim_end())), false),
        (false, true) => (Cow::Owned(changes), true),
        (_, false) => (Cow::Borrowed(text), false),
    }
}
