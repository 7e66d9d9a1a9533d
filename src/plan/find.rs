//! Finds the plan in play, given a session and a way to read files. Must not read anything itself,
//! or interpret the person's words: structure decides.
//!
//! The newest approved plan wins; then a plan file that the session changed, or any Markdown file
//! in which it ticked boxes; then one that the person named; then one that the session read.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use super::places::{PlanFile, PlanPlaces};
use super::steps::{Mark, Step, StepKind, parse_steps};
use super::{BeforeSource, Plan, PlanBefore, PlanSource, are_in, marks_changed};
use crate::paths::is_markdown;
use crate::session::{ApprovedPlan, Original, ReadFile, Session, Touch};
use crate::shell::SimpleCommand;

/// How much of a plan is read. A log of megabytes under a plan's name is not a plan.
pub const PLAN_CAP: usize = 128 << 10;

/// How many files of one class are tried, the newest first.
const MAX_CANDIDATES: usize = 32;

/// A page that the person named needs this many ordered steps, or a box, to count as a plan.
const MIN_STEPS: usize = 3;

/// Returns the part of a text that is read of a plan.
pub(super) fn capped(text: &str) -> &str {
    &text[..text.floor_char_boundary(PLAN_CAP)]
}

/// Returns a file's text, or `None` if it has none.
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
/// except those that the transcript shows to be older.
pub fn given(session: &Session, path: &Path, text: &str) -> Plan {
    let plan = Plan::new(PlanSource::GivenFile, capped(text).to_owned(), Some(path));
    let first = session.done_touches().find(|touch| Path::new(&touch.path) == path);
    plan.since(PlanBefore::original(first))
}

/// Which of the plans that were changed in one turn counts, the least first: one that only the
/// project's globs match comes last.
type Rank = (bool, Origin);

/// How a changed plan came about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Origin {
    /// It is older than the session, which ticked steps in it.
    TickedOlder,
    /// The session changed it with its tools.
    Edited,
    /// Only commands name it.
    ByCommand,
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
        let plan = match (&text, on_disk) {
            (Some(text), Some((file, path))) => match compare(text, &file) {
                Likeness::Same => Plan::new(PlanSource::Approved, text.clone(), Some(&path)),
                Likeness::Updated => Plan::new(PlanSource::ApprovedFile, file, Some(&path)),
                Likeness::AnotherPlan => Plan::new(PlanSource::Approved, text.clone(), None),
            },
            (Some(text), None) => Plan::new(PlanSource::Approved, text.clone(), None),
            (None, Some((file, path))) => Plan::new(PlanSource::ApprovedFile, file, Some(&path)),
            (None, None) => return None,
        };
        // A step that was already ticked when the plan was approved is not a claim of this session.
        let before = text.as_deref().map(|text| PlanBefore::new(text, BeforeSource::Approved));
        Some(plan.since(before))
    }

    /// Returns the plan file that the session changed last, or the Markdown file in which it last
    /// ticked boxes. Of several in one turn, the one that a decoy made by the agent can't outrank.
    fn changed(&self) -> Option<Plan> {
        let mut candidates: Vec<_> =
            self.edits.iter().map(|(file, touch)| (touch.at, file.clone())).collect();
        // A long session has thousands of commands, and nearly none names a plan.
        let commands = self.session.commands.iter();
        let commands = commands.filter(|command| self.places.may_be_named_in(&command.line));
        for command in commands.filter(|command| command.may_have_effects()) {
            let words = command.line.commands().iter().flat_map(SimpleCommand::words_and_files);
            let files = words.filter_map(|word| self.places.file(word.trim_start_matches('>')));
            candidates.extend(files.map(|file| (command.at, file)));
        }
        candidates.sort_by_key(|(at, _)| std::cmp::Reverse(*at));
        let newest_at = candidates.first().map_or(0, |(at, _)| *at);
        let asked = self.session.asks.iter().map(|ask| ask.at).filter(|at| *at < newest_at).max();
        let (of_turn, earlier): (Vec<_>, Vec<_>) =
            candidates.into_iter().partition(|(at, _)| asked.is_none_or(|asked| *at > asked));
        let plans = newest(of_turn.into_iter().map(|(_, file)| file));
        let plans = plans.filter_map(|file| self.changed_plan(&file));
        let of_turn = plans.min_by_key(|(rank, _)| *rank);
        let mut earlier = newest(earlier.into_iter().map(|(_, file)| file));
        let plan = of_turn.or_else(|| earlier.find_map(|file| self.changed_plan(&file)));
        plan.map(|(_, plan)| plan)
    }

    /// Returns a file that the session changed, if it is a plan.
    fn changed_plan(&self, file: &PlanFile) -> Option<(Rank, Plan)> {
        let plan = Plan::new(PlanSource::TouchedFile, self.text(&file.path)?, Some(&file.path));
        if !file.is_plan && plan.steps.iter().all(|step| step.mark == Mark::None) {
            return None;
        }
        let before = self.before(&file.path);
        let has_ticked = self.has_ticked(&file.path, before.as_ref(), &plan.steps);
        if !file.is_plan && !has_ticked {
            return None;
        }
        let is_older = before.as_ref().is_some_and(|before| match before.from {
            BeforeSource::Original | BeforeSource::Commit => true,
            BeforeSource::FirstRead => self.edits_of(&file.path).next().is_some(),
            BeforeSource::Approved | BeforeSource::FirstWritten => false,
        });
        let origin = if is_older && has_ticked {
            Origin::TickedOlder
        } else if self.edits_of(&file.path).next().is_some() {
            Origin::Edited
        } else {
            Origin::ByCommand
        };
        Some(((file.is_only_projects, origin), plan.since(before)))
    }

    /// Returns whether the session changed the marks of steps in a file: since it began, or at some
    /// point in a file that it created.
    fn has_ticked(&self, path: &Path, before: Option<&PlanBefore>, now: &[Step]) -> bool {
        let steps = |text: &str| parse_steps(capped(text));
        let ticked = |touch: &Touch| {
            let change = touch.change.as_ref();
            change.is_some_and(|change| marks_changed(&steps(&change.old), &steps(&change.new)))
        };
        let before = before.filter(|before| before.from != BeforeSource::FirstWritten);
        before.is_some_and(|before| marks_changed(&before.steps, now)) || self.edits_of(path).any(ticked)
    }

    /// Returns a file that the person named in an ask: a plan by its location, or one with ordered
    /// steps. A page that the session rewrote was the subject of the work, unless it is called a
    /// plan.
    fn named(&self) -> Option<Plan> {
        let asks = self.session.asks.iter().rev().filter(|ask| self.places.may_be_named_in(&ask.text));
        let words = asks.flat_map(|ask| words_that_name_files(&ask.text));
        newest(words.filter_map(|word| self.places.file(word))).find_map(|file| {
            let is_called_plan = file.is_plan || file.is_called_plan();
            if !is_called_plan && self.edits_of(&file.path).next().is_some() {
                return None;
            }
            let plan = self.unchanged(&file.path)?;
            (file.is_plan || has_order(&plan.steps)).then_some(plan)
        })
    }

    /// Returns a file that the session read and that is called a plan, or else is in a folder of
    /// plans.
    fn read(&self) -> Option<Plan> {
        let reads =
            || self.reads.iter().rev().map(|(file, _)| file).filter(|file| !file.is_common_page()).cloned();
        let has_steps = |plan: &Plan| plan.steps.iter().any(|step| step.kind != StepKind::Paragraph);
        let plan = |file: PlanFile| self.unchanged(&file.path).filter(has_steps);
        let by_name = newest(reads().filter(PlanFile::is_called_plan)).find_map(plan);
        let mut by_folder = newest(reads().filter(|file| file.is_in_plan_folder || file.is_plan));
        by_name.or_else(|| by_folder.find_map(plan))
    }

    /// Returns a plan that no call of the session is known to have changed. Its ticks are older
    /// than the session, unless the session has read the file without them.
    fn unchanged(&self, path: &Path) -> Option<Plan> {
        let plan = Plan::new(PlanSource::NamedFile, self.text(path)?, Some(path));
        let mut plan = plan.since(self.before(path));
        if plan.before.as_ref().is_none_or(|before| before.from == BeforeSource::Commit) {
            let ticked = plan.steps.iter().filter(|step| step.mark == Mark::Ticked);
            plan.ticked_before = ticked.map(|step| step.number).collect();
        }
        Some(plan)
    }

    /// Returns the text of a plan file, unless it is a plugin's prompt or a plan that the person
    /// rejected: plan mode writes the file before they have seen the plan.
    fn text(&self, path: &Path) -> Option<String> {
        let is_prompt =
            || self.places.plugin_manifests(path).iter().any(|file| (self.files.now)(file).is_some());
        let text = (self.files.now)(path).filter(|_| !is_prompt())?;
        let is_rejected = self.session.rejected_plans.iter().any(|rejected| rejected.trim() == text.trim());
        (!is_rejected).then_some(text)
    }

    /// Returns a file's text when the session began, or when the session first wrote it.
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

/// Returns the first entry of each path, up to a maximum.
fn newest(files: impl Iterator<Item = PlanFile>) -> impl Iterator<Item = PlanFile> {
    let mut seen: HashSet<PathBuf> = HashSet::new();
    files.filter(move |file| seen.insert(file.path.clone())).take(MAX_CANDIDATES)
}

/// Returns the words of an ask that may be files: unchanged, without surrounding punctuation, and
/// without adjacent letters of another script, which may not separate words with spaces.
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

/// Returns whether somebody can work through the steps in order: boxes, or several with numbers.
fn has_order(steps: &[Step]) -> bool {
    let is_counted =
        |step: &&Step| matches!(step.kind, StepKind::Numbered | StepKind::Heading | StepKind::Row);
    steps.iter().any(|step| step.kind == StepKind::Checkbox)
        || steps.iter().filter(is_counted).count() >= MIN_STEPS
}

/// How the file of an approved plan compares with the approved text.
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
