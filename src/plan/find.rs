//! Which plan is in play, from a session and a way to read files. Must not read anything itself,
//! and must not read what the person's words mean: structure decides.
//!
//! The newest approved plan wins; then a plan file that the session changed, or any Markdown file
//! in which it ticked boxes; then one that the person named; then one that the session read.

#[cfg(test)]
mod tests;

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use super::before::{self, PlanBefore};
use super::places::PlanPlaces;
use super::steps::{Mark, Step, StepKind, parse_steps, parse_words};
use super::{BeforeSource, Plan, PlanSource, Presence};
use crate::paths::is_markdown;
use crate::session::{ApprovedPlan, Session, Touch};

/// The most that counts of a plan. A log of megabytes under a plan's name is none.
const PLAN_CAP: usize = 128 << 10;

/// The most files of one class that are looked at, the newest first.
const MOST_CANDIDATES: usize = 32;

/// A page that the person named has at least so many steps in order, or a box; a shorter list is
/// none to work by.
const LEAST_STEPS: usize = 3;

/// Returns the start of a text, as much as counts of a plan.
pub(super) fn capped(text: &str) -> &str {
    &text[..text.floor_char_boundary(PLAN_CAP)]
}

/// Gives a file's text, or nothing when there is none to be had.
pub type ReadText<'a> = &'a dyn Fn(&Path) -> Option<String>;

/// How files are read.
#[derive(Clone, Copy)]
pub struct Read<'a> {
    /// As they are.
    pub now: ReadText<'a>,
    /// As the session saw them when it first read them whole.
    pub first_read: ReadText<'a>,
    /// As they were in the commit before the session.
    pub committed: ReadText<'a>,
}

/// Returns the plan in play, if there is one.
pub fn find(session: &Session, places: &PlanPlaces, files: Read<'_>) -> Option<Plan> {
    let now: ReadText<'_> = &|path| (files.now)(path).map(|text| capped(&text).to_owned());
    let finder = Finder { session, places, files: Read { now, ..files } };
    session
        .plans
        .iter()
        .rev()
        .find_map(|approved| finder.approved(approved))
        .or_else(|| finder.changed())
        .or_else(|| finder.named())
        .or_else(|| finder.read())
}

/// Returns the plan that was put up for an audit, whatever the session did with it. Its ticks are
/// claims, but for those that the transcript shows to be older.
pub fn given(session: &Session, path: &Path, text: &str) -> Plan {
    let mut plan = plan_of(PlanSource::GivenFile, capped(text).to_owned(), Some(path));
    let first = session.done_touches().find(|touch| Path::new(&touch.path) == path);
    plan.before = PlanBefore::original(first);
    mark_old_ticks(&mut plan);
    plan
}

fn plan_of(source: PlanSource, text: String, path: Option<&Path>) -> Plan {
    Plan {
        source,
        path: path.map(|path| path.to_string_lossy().into_owned()),
        steps: parse_steps(&text),
        text,
        before: None,
        ticked_before: Vec::new(),
    }
}

/// Notes which ticks are older than the session. What the session wrote itself it claims, from the first
/// word on.
fn mark_old_ticks(plan: &mut Plan) {
    let before = plan.before.as_ref().filter(|was| was.from != BeforeSource::FirstWritten);
    plan.ticked_before = before.map(|was| before::ticked_before(plan, &was.text)).unwrap_or_default();
}

struct Finder<'a> {
    session: &'a Session,
    places: &'a PlanPlaces,
    files: Read<'a>,
}

impl Finder<'_> {
    fn approved(&self, approved: &ApprovedPlan) -> Option<Plan> {
        let by_path = approved.path.as_ref().map(|path| self.places.absolute(path));
        let slugs = approved.slug.iter();
        let by_slug = slugs
            .flat_map(|slug| self.places.folders.iter().map(move |folder| folder.join(format!("{slug}.md"))));
        let on_disk =
            by_path.into_iter().chain(by_slug).find_map(|path| Some(((self.files.now)(&path)?, path)));
        let text = approved.text.as_deref().map(|text| capped(text).to_owned());
        let mut plan = match (&text, on_disk) {
            (Some(text), Some((file, path))) => match kept_up(text, &file) {
                KeptUp::Same => plan_of(PlanSource::Approved, text.clone(), Some(&path)),
                KeptUp::Related => plan_of(PlanSource::ApprovedFile, file, Some(&path)),
                // The file holds another plan by now.
                KeptUp::Other => plan_of(PlanSource::Approved, text.clone(), None),
            },
            (Some(text), None) => plan_of(PlanSource::Approved, text.clone(), None),
            (None, Some((file, path))) => plan_of(PlanSource::ApprovedFile, file, Some(&path)),
            (None, None) => return None,
        };
        // What bears a tick when it is approved was done before: it is nobody's claim of this
        // session.
        plan.before = text.as_deref().map(PlanBefore::approved);
        mark_old_ticks(&mut plan);
        Some(plan)
    }

    /// The plan file that the session changed last, or the Markdown file in which it ticked boxes
    /// last.
    fn changed(&self) -> Option<Plan> {
        let touches = self.session.done_touches().map(|touch| (touch.at, self.places.absolute(&touch.path)));
        let commands = self.session.commands.iter();
        let commands =
            commands.filter(|command| self.may_name_plan(&command.line) && command.may_have_effects());
        let by_command = commands.flat_map(|command| {
            let words = command.parsed().commands.into_iter().flat_map(|command| command.words_and_files());
            words
                .map(|word| (command.at, self.places.absolute(word.trim_start_matches('>'))))
                .collect::<Vec<_>>()
        });
        let mut candidates: Vec<_> =
            touches.chain(by_command).filter(|(_, path)| self.is_candidate(path)).collect();
        candidates.sort_by_key(|(at, _)| std::cmp::Reverse(*at));
        newest_of(candidates.into_iter().map(|(_, path)| path)).find_map(|path| {
            let text = self.text(&path)?;
            if !self.places.is_plan(&path) && !parse_words(&text).iter().any(|step| step.mark != Mark::None) {
                return None;
            }
            let before = PlanBefore::of_file(self.session, self.places, &path, self.files);
            if !self.places.is_plan(&path) && !self.has_ticked(&path, before.as_ref(), &text) {
                return None;
            }
            let mut plan = plan_of(PlanSource::TouchedFile, text, Some(&path));
            plan.before = before;
            mark_old_ticks(&mut plan);
            Some(plan)
        })
    }

    /// Whether the session changed the marks of steps in a file: since it began, or on the way in a
    /// file that it made.
    fn has_ticked(&self, path: &Path, before: Option<&PlanBefore>, now: &str) -> bool {
        let ticked = |touch: &Touch| {
            touch
                .change
                .as_ref()
                .is_some_and(|change| before::marks_changed(capped(&change.old), capped(&change.new)))
        };
        let before = before.filter(|before| before.from != BeforeSource::FirstWritten);
        before.is_some_and(|before| before::marks_changed(&before.text, now))
            || self.touches_of(path).any(ticked)
    }

    /// A file that the person named in an ask: a plan by its place, or one with steps in order.
    /// What the session rewrote was to be worked on and not from, unless it is called a plan.
    fn named(&self) -> Option<Plan> {
        let asks = self.session.asks.iter().rev().filter(|ask| self.may_name_plan(&ask.text));
        let paths =
            asks.flat_map(|ask| words_that_name_files(&ask.text)).map(|word| self.places.absolute(word));
        newest_of(paths.filter(|path| self.is_candidate(path))).find_map(|path| {
            let is_called_plan = self.places.is_plan(&path) || self.places.is_named_plan(&path);
            if !is_called_plan && self.touches_of(&path).next().is_some() {
                return None;
            }
            let plan = self.unchanged(&path)?;
            (self.places.is_plan(&path) || has_order(&plan.steps)).then_some(plan)
        })
    }

    /// A file that the session read and that is called a plan, or else stands in a folder that is.
    fn read(&self) -> Option<Plan> {
        let reads = || {
            let reads = self.session.reads.iter().rev().map(|read| self.places.absolute(&read.path));
            reads.filter(|path| self.is_candidate(path) && !self.places.is_common_page(path))
        };
        let by_name = reads().filter(|path| self.places.is_named_plan(path));
        let by_folder =
            reads().filter(|path| self.places.is_in_plan_folder(path) || self.places.is_plan(path));
        let has_steps = |plan: &Plan| plan.steps.iter().any(|step| step.kind != StepKind::Paragraph);
        let plan = |path: PathBuf| self.unchanged(&path).filter(has_steps);
        newest_of(by_name).find_map(plan).or_else(|| newest_of(by_folder).find_map(plan))
    }

    /// A plan that no call of the session is known to have changed. Its ticks are older than the
    /// session, unless the session has read the file without them.
    fn unchanged(&self, path: &Path) -> Option<Plan> {
        let mut plan = plan_of(PlanSource::NamedFile, self.text(path)?, Some(path));
        plan.before = PlanBefore::of_file(self.session, self.places, path, self.files);
        mark_old_ticks(&mut plan);
        let is_seen = plan.before.as_ref().is_some_and(|before| before.from != BeforeSource::Commit);
        if !is_seen {
            let ticked = plan.steps.iter().filter(|step| step.mark == Mark::Ticked);
            plan.ticked_before = ticked.map(|step| step.number).collect();
        }
        Some(plan)
    }

    /// The text of a plan file, unless it is one that the person turned down: plan mode writes the
    /// file before they have seen the plan.
    fn text(&self, path: &Path) -> Option<String> {
        let is_prompt =
            || self.places.plugin_manifests(path).iter().any(|file| (self.files.now)(file).is_some());
        let text = (self.files.now)(path).filter(|_| !is_prompt())?;
        let is_rejected = self.session.rejected_plans.iter().any(|rejected| rejected.trim() == text.trim());
        (!is_rejected).then_some(text)
    }

    fn is_candidate(&self, path: &Path) -> bool {
        self.places.is_plan(path) || self.places.may_be_plan(path)
    }

    fn touches_of<'s>(&'s self, path: &'s Path) -> impl Iterator<Item = &'s Touch> {
        self.session.done_touches().filter(move |touch| self.places.is_at(&touch.path, path))
    }

    /// Whether a text may name a plan, so that its words are worth a look.
    fn may_name_plan(&self, text: &str) -> bool {
        let bytes = text.as_bytes();
        let is_markdown =
            |at: usize| bytes.get(at + 1..at + 3).is_some_and(|two| two.eq_ignore_ascii_case(b"md"));
        memchr::memchr_iter(b'.', bytes).any(is_markdown)
            || self.places.globs.literals().is_none_or(|literals| {
                literals.iter().any(|literal| memchr::memmem::find(bytes, literal).is_some())
            })
    }
}

/// The first of each path, up to a number of them.
fn newest_of(paths: impl Iterator<Item = PathBuf>) -> impl Iterator<Item = PathBuf> {
    let mut seen = HashSet::new();
    paths.filter(move |path| seen.insert(path.clone())).take(MOST_CANDIDATES)
}

/// The words of an ask that may be files: as they stand, without the marks around them, and without
/// the letters of another script beside them, where no blanks stand between words.
fn words_that_name_files(ask: &str) -> Vec<&str> {
    let words = ask.split(|c: char| c.is_whitespace() || "<>\"`".contains(c)).map(without_marks);
    let mut files = Vec::new();
    for word in words.filter(|word| !word.is_empty()) {
        files.push(word);
        let runs = word.split(|c: char| !c.is_ascii());
        files.extend(runs.map(without_marks).filter(|run| run.len() < word.len() && is_markdown(run)));
    }
    files
}

fn without_marks(word: &str) -> &str {
    word.trim_matches(|c: char| "'()[],;:!?@".contains(c) || !c.is_ascii() && !c.is_alphanumeric())
        .trim_end_matches('.')
}

/// Whether steps are in an order that somebody can work by: boxes, or several with numbers.
fn has_order(steps: &[Step]) -> bool {
    let is_counted =
        |step: &&Step| matches!(step.kind, StepKind::Numbered | StepKind::Heading | StepKind::Row);
    steps.iter().any(|step| step.kind == StepKind::Checkbox)
        || steps.iter().filter(is_counted).count() >= LEAST_STEPS
}

enum KeptUp {
    Same,
    Related,
    Other,
}

/// Whether the file is the approved plan, still: half of its steps are there, ticked or not.
fn kept_up(approved: &str, file: &str) -> KeptUp {
    if approved.trim() == file.trim() {
        return KeptUp::Same;
    }
    let steps = parse_words(approved);
    let found =
        Presence::new(file, &parse_words(file)).find(&steps).into_iter().filter(|there| *there).count();
    if found > 0 && found * 2 >= steps.len() { KeptUp::Related } else { KeptUp::Other }
}
