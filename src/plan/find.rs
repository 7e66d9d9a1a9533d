//! Finds the plan in play, from a session and a way to read files. Must not read anything itself, and
//! must not interpret the person's words: structure decides.
//!
//! The newest approved plan wins; then a plan file that the session changed, or any Markdown file
//! in which it ticked boxes; then one that the person named; then one that the session read.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use super::places::{PlanFile, PlanPlaces};
use super::steps::{Mark, Step, StepKind, parse_steps};
use super::{BeforeSource, Plan, PlanBefore, PlanSource, are_in, marks_changed, ticked_before};
use crate::paths::is_markdown;
use crate::session::{ApprovedPlan, Original, ReadFile, Session, Touch};
use crate::shell::SimpleCommand;

/// How much of a plan is read. A log of megabytes under a plan's name is none.
pub const PLAN_CAP: usize = 128 << 10;

/// How many files of one class are tried, the newest first.
const MAX_CANDIDATES: usize = 32;

/// A page that the person named has at least so many steps in order, or a box; a shorter list is
/// none to work by.
const MIN_STEPS: usize = 3;

/// Returns the start of a text, as much as is read of a plan.
pub(super) fn capped(text: &str) -> &str {
    &text[..text.floor_char_boundary(PLAN_CAP)]
}

/// Returns a file's text, or `None` where it has none.
pub type ReadText<'a> = &'a dyn Fn(&Path) -> Option<String>;

/// How files are read.
#[derive(Clone, Copy)]
pub struct Read<'a> {
    /// As they are on disk.
    pub now: ReadText<'a>,
    /// As the session saw them when it first read them whole.
    pub first_read: &'a dyn Fn(&ReadFile) -> Option<String>,
    /// As they were in the commit before the session.
    pub committed: ReadText<'a>,
}

/// Returns the plan in play, if there is one.
pub fn find(session: &Session, places: &PlanPlaces, files: Read<'_>) -> Option<Plan> {
    let now: ReadText<'_> = &|path| (files.now)(path).map(|text| capped(&text).to_owned());
    let edits = session.done_touches().filter_map(|touch| Some((places.file(&touch.path)?, touch)));
    let reads = session.reads.iter().filter_map(|read| Some((places.file(&read.path)?, read)));
    let (edits, reads) = (edits.collect(), reads.collect());
    let finder = Finder { session, places, files: Read { now, ..files }, edits, reads };
    let approved = session.plans.iter().rev().find_map(|approved| finder.approved(approved));
    approved.or_else(|| finder.changed()).or_else(|| finder.named()).or_else(|| finder.read())
}

/// Returns the plan that the caller chose, whatever the session did with it. Its ticks are claims,
/// but for those that the transcript shows to be older.
pub fn given(session: &Session, path: &Path, text: &str) -> Plan {
    let mut plan = new_plan(PlanSource::GivenFile, capped(text).to_owned(), Some(path));
    let first = session.done_touches().find(|touch| Path::new(&touch.path) == path);
    plan.before = PlanBefore::original(first);
    mark_old_ticks(&mut plan);
    plan
}

fn new_plan(source: PlanSource, text: String, path: Option<&Path>) -> Plan {
    Plan {
        source,
        path: path.map(|path| path.to_string_lossy().into_owned()),
        steps: parse_steps(&text),
        text,
        before: None,
        ticked_before: Vec::new(),
    }
}

/// Notes which ticks are older than the session. What the session wrote itself it claims, from the
/// first word on.
fn mark_old_ticks(plan: &mut Plan) {
    let before = plan.before.as_ref().filter(|before| before.from != BeforeSource::FirstWritten);
    plan.ticked_before = before.map(|before| ticked_before(plan, &before.text)).unwrap_or_default();
}

struct Finder<'a> {
    session: &'a Session,
    places: &'a PlanPlaces,
    files: Read<'a>,
    /// The session's edits of files that may be plans, oldest first.
    edits: Vec<(PlanFile, &'a Touch)>,
    /// Its reads of such files, oldest first.
    reads: Vec<(PlanFile, &'a ReadFile)>,
}

impl Finder<'_> {
    fn approved(&self, approved: &ApprovedPlan) -> Option<Plan> {
        let by_path = approved.path.as_ref().map(|path| self.places.absolute(path));
        let by_slug = approved
            .slug
            .iter()
            .flat_map(|slug| self.places.folders.iter().map(move |folder| folder.join(format!("{slug}.md"))));
        let on_disk =
            by_path.into_iter().chain(by_slug).find_map(|path| Some(((self.files.now)(&path)?, path)));
        let text = approved.text.as_deref().map(|text| capped(text).to_owned());
        let mut plan = match (&text, on_disk) {
            (Some(text), Some((file, path))) => match compare(text, &file) {
                Likeness::Same => new_plan(PlanSource::Approved, text.clone(), Some(&path)),
                Likeness::Updated => new_plan(PlanSource::ApprovedFile, file, Some(&path)),
                Likeness::AnotherPlan => new_plan(PlanSource::Approved, text.clone(), None),
            },
            (Some(text), None) => new_plan(PlanSource::Approved, text.clone(), None),
            (None, Some((file, path))) => new_plan(PlanSource::ApprovedFile, file, Some(&path)),
            (None, None) => return None,
        };
        // A step that was ticked when the plan was approved is no claim of this session.
        plan.before = text.as_deref().map(|text| PlanBefore::new(text, BeforeSource::Approved));
        mark_old_ticks(&mut plan);
        Some(plan)
    }

    /// The plan file that the session changed last, or the Markdown file in which it ticked boxes
    /// last.
    fn changed(&self) -> Option<Plan> {
        let mut candidates: Vec<_> =
            self.edits.iter().map(|(file, touch)| (touch.at, file.clone())).collect();
        for command in self.session.commands.iter().filter(|command| command.may_have_effects()) {
            let words = command.line.commands().iter().flat_map(SimpleCommand::words_and_files);
            let files = words.filter_map(|word| self.places.file(word.trim_start_matches('>')));
            candidates.extend(files.map(|file| (command.at, file)));
        }
        candidates.sort_by_key(|(at, _)| std::cmp::Reverse(*at));
        newest(candidates.into_iter().map(|(_, file)| file)).find_map(|file| {
            let text = self.text(&file.path)?;
            let has_marks = || parse_steps(&text).iter().any(|step| step.mark != Mark::None);
            if !file.is_plan && !has_marks() {
                return None;
            }
            let before = self.before(&file.path);
            if !file.is_plan && !self.has_ticked(&file.path, before.as_ref(), &text) {
                return None;
            }
            let mut plan = new_plan(PlanSource::TouchedFile, text, Some(&file.path));
            plan.before = before;
            mark_old_ticks(&mut plan);
            Some(plan)
        })
    }

    /// Whether the session changed the marks of steps in a file: since it began, or on the way in a
    /// file that it made.
    fn has_ticked(&self, path: &Path, before: Option<&PlanBefore>, now: &str) -> bool {
        let ticked = |touch: &Touch| {
            let change = touch.change.as_ref();
            change.is_some_and(|change| marks_changed(capped(&change.old), capped(&change.new)))
        };
        let before = before.filter(|before| before.from != BeforeSource::FirstWritten);
        before.is_some_and(|before| marks_changed(&before.text, now)) || self.edits_of(path).any(ticked)
    }

    /// A file that the person named in an ask: a plan by its place, or one with steps in order.
    /// A page that the session rewrote was the subject of the work, unless it is called a plan.
    fn named(&self) -> Option<Plan> {
        let words = self.session.asks.iter().rev().flat_map(|ask| words_that_name_files(&ask.text));
        newest(words.filter_map(|word| self.places.file(word))).find_map(|file| {
            let is_called_plan = file.is_plan || file.is_called_plan();
            if !is_called_plan && self.edits_of(&file.path).next().is_some() {
                return None;
            }
            let plan = self.unchanged(&file.path)?;
            (file.is_plan || has_order(&plan.steps)).then_some(plan)
        })
    }

    /// A file that the session read and that is called a plan, or else is in a folder of plans.
    fn read(&self) -> Option<Plan> {
        let reads =
            || self.reads.iter().rev().map(|(file, _)| file).filter(|file| !file.is_common_page()).cloned();
        let has_steps = |plan: &Plan| plan.steps.iter().any(|step| step.kind != StepKind::Paragraph);
        let plan = |file: PlanFile| self.unchanged(&file.path).filter(has_steps);
        let by_name = newest(reads().filter(PlanFile::is_called_plan)).find_map(plan);
        let mut by_folder = newest(reads().filter(|file| file.is_in_plan_folder || file.is_plan));
        by_name.or_else(|| by_folder.find_map(plan))
    }

    /// A plan that no call of the session is known to have changed. Its ticks are older than the
    /// session, unless the session has read the file without them.
    fn unchanged(&self, path: &Path) -> Option<Plan> {
        let mut plan = new_plan(PlanSource::NamedFile, self.text(path)?, Some(path));
        plan.before = self.before(path);
        mark_old_ticks(&mut plan);
        if plan.before.as_ref().is_none_or(|before| before.from == BeforeSource::Commit) {
            let ticked = plan.steps.iter().filter(|step| step.mark == Mark::Ticked);
            plan.ticked_before = ticked.map(|step| step.number).collect();
        }
        Some(plan)
    }

    /// The text of a plan file, unless it is a plugin's prompt or a plan that the person turned
    /// down: plan mode writes the file before they have seen the plan.
    fn text(&self, path: &Path) -> Option<String> {
        let is_prompt =
            || self.places.plugin_manifests(path).iter().any(|file| (self.files.now)(file).is_some());
        let text = (self.files.now)(path).filter(|_| !is_prompt())?;
        let is_rejected = self.session.rejected_plans.iter().any(|rejected| rejected.trim() == text.trim());
        (!is_rejected).then_some(text)
    }

    /// What a file was when the session began, or when the session first wrote it.
    fn before(&self, path: &Path) -> Option<PlanBefore> {
        let first = self.edits_of(path).next();
        if let Some(touch) = first.filter(|touch| touch.original == Original::Absent) {
            return PlanBefore::first_written(touch);
        }
        let read = || {
            let (_, read) = self.reads.iter().find(|(file, _)| file.path == path)?;
            (self.files.first_read)(read).map(|text| PlanBefore::new(&text, BeforeSource::FirstRead))
        };
        let committed =
            || (self.files.committed)(path).map(|text| PlanBefore::new(&text, BeforeSource::Commit));
        PlanBefore::original(first).or_else(read).or_else(committed)
    }

    fn edits_of<'s>(&'s self, path: &'s Path) -> impl Iterator<Item = &'s Touch> {
        self.edits.iter().filter(move |(file, _)| file.path == path).map(|(_, touch)| *touch)
    }
}

/// The first of each path, up to a number of them.
fn newest(files: impl Iterator<Item = PlanFile>) -> impl Iterator<Item = PlanFile> {
    let mut seen: HashSet<PathBuf> = HashSet::new();
    files.filter(move |file| seen.insert(file.path.clone())).take(MAX_CANDIDATES)
}

/// The words of an ask that may be files: as they stand, without the punctuation around them, and
/// without the letters of another script beside them, where no blanks stand between words.
fn words_that_name_files(ask: &str) -> Vec<&str> {
    let words = ask.split(|c: char| c.is_whitespace() || "<>\"`".contains(c)).map(without_punctuation);
    let mut files = Vec::new();
    for word in words.filter(|word| !word.is_empty()) {
        files.push(word);
        let runs = word.split(|c: char| !c.is_ascii());
        files.extend(runs.map(without_punctuation).filter(|run| run.len() < word.len() && is_markdown(run)));
    }
    files
}

fn without_punctuation(word: &str) -> &str {
    word.trim_matches(|c: char| "'()[],;:!?@".contains(c) || !c.is_ascii() && !c.is_alphanumeric())
        .trim_end_matches('.')
}

/// Whether steps are in an order that somebody can work by: boxes, or several with numbers.
fn has_order(steps: &[Step]) -> bool {
    let is_counted =
        |step: &&Step| matches!(step.kind, StepKind::Numbered | StepKind::Heading | StepKind::Row);
    steps.iter().any(|step| step.kind == StepKind::Checkbox)
        || steps.iter().filter(is_counted).count() >= MIN_STEPS
}

/// How the file of an approved plan compares to what was approved.
enum Likeness {
    Same,
    /// At least half of the approved steps are there, ticked or not.
    Updated,
    AnotherPlan,
}

fn compare(approved: &str, file: &str) -> Likeness {
    if approved.trim() == file.trim() {
        return Likeness::Same;
    }
    let steps = parse_steps(approved);
    let found = are_in(file, &parse_steps(file), &steps).into_iter().filter(|is_in| *is_in).count();
    if found > 0 && found * 2 >= steps.len() { Likeness::Updated } else { Likeness::AnotherPlan }
}
