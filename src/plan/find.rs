//! Takes a session and a way to read files, gives the plan in play. Must not read anything itself: what may
//! be read is the workspace's to decide.

use std::cell::{LazyCell, OnceCell};
use std::collections::HashSet;
use std::path::{Path, PathBuf};

use aho_corasick::AhoCorasick;
use xxhash_rust::xxh3::xxh3_64;

use super::orders::{orders, specs};
use super::steps::{parse_steps, parse_steps_again, parse_words};
use super::{Mark, Plan, PlanSource, Step, StepKind};
use crate::config::PlanGlobs;
use crate::session::{ApprovedPlan, Ask, Naming, Original, Outcome, Session, Touch, shell};
use crate::words::{is_markdown, normalised, ratio};

/// Where plans live.
#[derive(Debug)]
pub struct PlanPlaces {
    /// The workspace.
    pub root: PathBuf,
    /// The client's own plan folders, the newest convention first.
    pub folders: Vec<PathBuf>,
    /// Which files of the workspace are plans.
    pub globs: PlanGlobs,
    /// What finds their names in many texts, once it was needed.
    finder: OnceCell<Option<AhoCorasick>>,
}

impl PlanPlaces {
    /// In a workspace, in these folders of the client, and where the globs say.
    pub fn new(root: PathBuf, folders: Vec<PathBuf>, globs: PlanGlobs) -> Self {
        Self { root, folders, globs, finder: OnceCell::new() }
    }

    /// Whether a file is a plan by its name and place.
    pub fn is_plan(&self, path: &Path) -> bool {
        let relative = path.strip_prefix(&self.root).unwrap_or(path);
        let in_folder = self.folders.iter().any(|folder| path.starts_with(folder));
        (in_folder && path.extension().is_some_and(|ext| ext == "md")) || self.globs.is_match(relative)
    }

    fn absolute(&self, path: &str) -> PathBuf {
        self.root.join(path)
    }

    /// Whether what is written so is that file. Most are told by their names.
    fn is_at(&self, written: &str, path: &Path) -> bool {
        Path::new(written).file_name() == path.file_name() && self.absolute(written) == path
    }
}

/// Texts that stand in whatever names a plan: to look at every word of a long session takes its time.
struct Hints<'p>(Option<Vec<&'p [u8]>>);

impl<'p> Hints<'p> {
    fn of(places: &'p PlanPlaces) -> Self {
        let folders = places.folders.iter().map(|folder| folder.file_name()?.to_str().map(str::as_bytes));
        let folders = folders.collect::<Option<Vec<_>>>();
        Self(places.globs.literals().zip(folders).map(|(globs, folders)| [globs, folders].concat()))
    }

    /// A hash of them.
    fn question(&self) -> u64 {
        let parts = self.0.iter().flatten().flat_map(|part| [*part, b"\0".as_slice()]);
        xxh3_64(&parts.flatten().copied().collect::<Vec<_>>()) | 1
    }
}

/// Notes which entries of a session may name a plan. Each is looked at once.
pub fn note_names(session: &mut Session, places: &PlanPlaces) {
    let mut naming = std::mem::take(&mut session.naming);
    note(&mut naming, session, places);
    session.naming = naming;
}

fn note(naming: &mut Naming, session: &Session, places: &PlanPlaces) {
    let hints = Hints::of(places);
    let question = hints.question();
    if naming.question != question {
        *naming = Naming { question, ..Naming::default() };
    }
    // Where any name may be a plan's, all of them are looked at.
    let Some(literals) = hints.0 else { return note_those(naming, session, |_| true) };
    let lists = [session.touches.len(), session.commands.len(), session.asks.len(), session.reads.len()];
    let [touches, commands, asks, reads] = lists;
    let new = naming.touches.unseen(touches) + naming.commands.unseen(commands);
    let new = new + naming.asks.unseen(asks) + naming.reads.unseen(reads);
    // To look for many names at once takes a run-up.
    if new <= FEW_ENTRIES {
        let holds = |text: &str, literal: &[u8]| memchr::memmem::find(text.as_bytes(), literal).is_some();
        return note_those(naming, session, |text| literals.iter().any(|literal| holds(text, literal)));
    }
    let finder = places.finder.get_or_init(|| AhoCorasick::new(literals).ok());
    note_those(naming, session, |text| finder.as_ref().is_none_or(|finder| finder.is_match(text)));
}

/// So few entries are looked at one by one.
const FEW_ENTRIES: usize = 16;

fn note_those(naming: &mut Naming, session: &Session, may_name: impl Fn(&str) -> bool) {
    let names_page = |text: &str| {
        let is_ending =
            |at: usize| text.as_bytes()[at..].get(1..3).is_some_and(|two| two.eq_ignore_ascii_case(b"md"));
        memchr::memchr_iter(b'.', text.as_bytes()).any(is_ending)
    };
    naming.touches.look(&session.touches, |touch| may_name(&touch.path));
    naming.notes.look(&session.touches, |touch| is_markdown(&touch.path));
    naming.commands.look(&session.commands, |command| may_name(&command.line));
    naming.asks.look(&session.asks, |ask| may_name(&ask.text));
    naming.pages.look(&session.asks, |ask| names_page(&ask.text));
    naming.reads.look(&session.reads, |path| may_name(path));
}

/// The most that counts of a plan. Steps are compared with each other and with every file: a plan of
/// megabytes, a log under a plan's name, took minutes.
const PLAN_CAP: usize = 128 << 10;

fn capped(text: &str) -> &str {
    &text[..text.floor_char_boundary(PLAN_CAP)]
}

/// Gives a file's text, or nothing when there is none to be had.
pub type ReadText<'a> = &'a dyn Fn(&Path) -> Option<String>;

/// How files are read: as they are, and as they were in the last commit.
#[derive(Clone, Copy)]
pub struct Read<'a> {
    /// As it is.
    pub now: ReadText<'a>,
    /// As it was in the last commit.
    pub committed: ReadText<'a>,
}

/// The plan in play: the newest approved one, else a plan file that the session changed, else one that the
/// person named, else none.
pub fn find(session: &Session, places: &PlanPlaces, files: Read<'_>) -> Option<Plan> {
    let read: ReadText<'_> = &|path| (files.now)(path).map(|text| capped(&text).to_owned());
    let mut naming = session.naming.clone();
    note(&mut naming, session, places);
    session
        .plans
        .iter()
        .rev()
        .find_map(|approved| approved_plan(approved, places, read))
        .or_else(|| touched_plan(session, places, &naming, Read { now: read, ..files }))
        .or_else(|| named_plan(session, places, &naming, read))
}

/// A plan that was put up for an audit, whatever the session did with it. Its ticks are claims, but for those that
/// the transcript shows to be older.
pub fn given(session: &Session, path: &Path, text: &str) -> Plan {
    let mut plan = plan_of(PlanSource::GivenFile, capped(text).to_owned(), Some(path.to_path_buf()));
    let first = session.done_touches().find(|touch| Path::new(&touch.path) == path);
    if let Some(Original::Text(original)) = first.map(|touch| &touch.original) {
        plan.ticked_before = ticked_in(&plan, &ticked_words(capped(original)));
    }
    plan
}

fn approved_plan(approved: &ApprovedPlan, places: &PlanPlaces, read: ReadText<'_>) -> Option<Plan> {
    let by_path = approved.path.as_ref().map(|path| places.absolute(path));
    let by_slug = approved
        .slug
        .as_ref()
        .into_iter()
        .flat_map(|slug| places.folders.iter().map(move |folder| folder.join(format!("{slug}.md"))));
    let on_disk = by_path.into_iter().chain(by_slug).find_map(|path| Some((read(&path)?, path)));
    // What bears a tick when it is approved was done before: it is nobody's claim of this session.
    let before = approved.text.as_deref().map(capped).map(ticked_words).unwrap_or_default();
    let mut plan = match (approved.text.as_deref().map(|text| capped(text).to_owned()), on_disk) {
        (Some(text), Some((file, path))) => Some(match kept_up(&text, &file) {
            KeptUp::Same => plan_of(PlanSource::Approved, text, Some(path)),
            KeptUp::Related => {
                let promised = parse_steps(&text);
                let mut plan = plan_of(PlanSource::ApprovedFile, file, Some(path));
                let present: HashSet<String> = plan.steps.iter().map(|step| normalised(&step.text)).collect();
                let whole_text = normalised(&plan.text);
                plan.dropped = promised
                    .into_iter()
                    .filter(|step| {
                        let words = normalised(&step.text);
                        !present.contains(&words) && !whole_text.contains(&words)
                    })
                    .collect();
                // Counted on: under its old number it would pass for another step of the file.
                for (number, step) in (plan.steps.len() + 1..).zip(&mut plan.dropped) {
                    step.number = number;
                }
                plan
            }
            // The file holds another plan by now.
            KeptUp::Other => plan_of(PlanSource::Approved, text, None),
        }),
        (Some(text), None) => Some(plan_of(PlanSource::Approved, text, None)),
        (None, Some((file, path))) => Some(plan_of(PlanSource::ApprovedFile, file, Some(path))),
        (None, None) => None,
    };
    if let Some(plan) = &mut plan {
        plan.ticked_before = ticked_in(plan, &before);
    }
    plan
}

/// The words of the steps that bear a tick in a text.
fn ticked_words(text: &str) -> HashSet<String> {
    let steps = parse_words(text);
    steps.iter().filter(|step| step.mark == Mark::Ticked).map(|step| normalised(&step.text)).collect()
}

/// The numbers of a plan's ticked steps that are among these.
fn ticked_in(plan: &Plan, words: &HashSet<String>) -> Vec<usize> {
    if words.is_empty() {
        return Vec::new();
    }
    let ticked = plan.steps.iter().filter(|step| step.mark == Mark::Ticked);
    ticked.filter(|step| words.contains(&normalised(&step.text))).map(|step| step.number).collect()
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
    if steps.is_empty() {
        let ratio = similar::TextDiff::from_lines(approved, file).ratio();
        return if ratio >= 0.5 { KeptUp::Related } else { KeptUp::Other };
    }
    let whole_file = normalised(file);
    let found = steps.iter().filter(|step| whole_file.contains(&normalised(&step.text))).count();
    if found * 2 >= steps.len() { KeptUp::Related } else { KeptUp::Other }
}

fn touched_plan(session: &Session, places: &PlanPlaces, naming: &Naming, files: Read<'_>) -> Option<Plan> {
    // The plan that was touched last is nearly always the one, and then nothing older has to be looked at.
    let touches = naming.touches.of(&session.touches).rev().filter(|touch| touch.outcome == Outcome::Done);
    let last = touches
        .into_iter()
        .find(|touch| places.is_plan(&places.absolute(&touch.path)))
        .map_or(0, |touch| touch.at);
    let found = touched_since(last, session, places, naming, files);
    if last == 0 { found } else { found.or_else(|| touched_since(0, session, places, naming, files)) }
}

/// The same for what was touched from there on.
fn touched_since(
    from: usize,
    session: &Session,
    places: &PlanPlaces,
    naming: &Naming,
    files: Read<'_>,
) -> Option<Plan> {
    let touches = naming.touches.of(&session.touches).filter(|touch| touch.outcome == Outcome::Done);
    let touches = touches.filter(|touch| touch.at >= from);
    let by_tool = touches.map(|touch| (touch.at, places.absolute(&touch.path)));
    let commands = naming.commands.of(&session.commands).filter(|command| command.at >= from);
    let by_command = commands.filter(|command| command.may_have_effects()).flat_map(|command| {
        let words = shell::simple_commands(&command.line).into_iter().flatten();
        words.map(|word| (command.at, places.absolute(word.trim_start_matches('>'))))
    });
    let mut candidates: Vec<_> = by_tool.chain(by_command).filter(|(_, path)| places.is_plan(path)).collect();
    candidates.sort_by_key(|(at, _)| std::cmp::Reverse(*at));
    candidates.into_iter().find_map(|(_, path)| {
        let text = (files.now)(&path)?;
        // Plan mode writes the file before the person has seen the plan.
        if session.rejected_plans.iter().any(|rejected| rejected.trim() == text.trim()) {
            return None;
        }
        let mut plan = plan_of(PlanSource::TouchedFile, text, Some(path.clone()));
        plan.ticked_before = ticked_before(session, places, &path, &plan, files.committed);
        plan.dropped = dropped_on_the_way(session, places, &path, &plan);
        Some(plan)
    })
}

/// Steps that stood in a plan file when the work began, and that the session took out since. A plan that is refined
/// before the work, a step that is put in other words, and one that the person wanted changed are none.
fn dropped_on_the_way(session: &Session, places: &PlanPlaces, path: &Path, plan: &Plan) -> Vec<Step> {
    let is_plan = |touch: &&Touch| places.is_at(&touch.path, path);
    let Some(work_began) = session.done_touches().find(|touch| !is_plan(touch)).map(|touch| touch.at) else {
        return Vec::new();
    };
    let asked_to = session.asks.iter().any(|ask| {
        ask.at > work_began
            && may_speak_of_plan(&ask.text)
            && normalised(&ask.text).split(' ').any(|word| word == "plan" || word == "step")
    });
    if asked_to {
        return Vec::new();
    }
    let Some(before) = text_at(session.done_touches().filter(is_plan), work_began) else {
        return Vec::new();
    };
    let before = capped(&before);
    if newly_ticked(before, &plan.text).is_some() {
        return Vec::new();
    }
    let whole_text = LazyCell::new(|| normalised(&plan.text));
    let present: HashSet<String> = plan.steps.iter().map(|step| normalised(&step.text)).collect();
    let is_kept = |step: &Step| {
        let words = normalised(&step.text);
        present.contains(&words)
            || whole_text.contains(&words)
            || plan.steps.iter().any(|now| ratio(&normalised(&now.text), &words) >= REWORDED)
    };
    // Most plans lose nothing, and then nobody asks what their steps named.
    if parse_words(before).iter().all(is_kept) {
        return Vec::new();
    }
    let gone = parse_steps(before).into_iter().filter(|step| !is_kept(step));
    (plan.steps.len() + 1..).zip(gone).map(|(number, step)| Step { number, ..step }).collect()
}

/// Whether a text may speak of a plan or a step: both have a "p", and few other words do.
fn may_speak_of_plan(text: &str) -> bool {
    let bytes = text.as_bytes();
    let is = |from: Option<usize>, word: &[u8; 4]| {
        from.and_then(|from| bytes.get(from..from + 4)).is_some_and(|found| found.eq_ignore_ascii_case(word))
    };
    memchr::memchr2_iter(b'p', b'P', bytes).any(|at| is(Some(at), b"plan") || is(at.checked_sub(3), b"step"))
}

/// A step this much like another is the same in other words.
const REWORDED: f32 = 0.6;

/// What a file held at a point of the session: what was there before, and every change up to then put in.
fn text_at<'a>(touches: impl Iterator<Item = &'a Touch>, at: usize) -> Option<String> {
    let mut text: Option<String> = None;
    for (number, touch) in touches.enumerate() {
        if number == 0
            && let Original::Text(original) = &touch.original
        {
            text = Some(original.clone());
        }
        if touch.at >= at {
            break;
        }
        let change = touch.change.as_ref()?;
        text = Some(match text {
            _ if change.old.is_empty() => change.new.clone(),
            Some(text) if text.contains(&change.old) => text.replacen(&change.old, &change.new, 1),
            _ => return None,
        });
    }
    text
}

/// Which steps of a plan file had their tick before the session changed the file. Where the transcript does not tell
/// what the file was (a command changed it), the last commit does; where there is none either, all ticks are the
/// session's.
fn ticked_before(
    session: &Session,
    places: &PlanPlaces,
    path: &Path,
    plan: &Plan,
    committed: ReadText<'_>,
) -> Vec<usize> {
    let first = session.done_touches().find(|touch| places.is_at(&touch.path, path));
    let before = match first.map(|touch| &touch.original) {
        Some(Original::Absent) => None,
        Some(Original::Text(original)) => Some(original.clone()),
        Some(Original::Unknown | Original::Recorded(_)) | None => committed(path),
    };
    before.map(|text| ticked_in(plan, &ticked_words_of(capped(&text), plan))).unwrap_or_default()
}

/// The lines of a plan that have come by a tick since, and nothing else has changed; `None` where something has.
fn newly_ticked(before: &str, now: &str) -> Option<Vec<usize>> {
    let mut ticked = Vec::new();
    let (mut then, mut now) = (before.lines(), now.lines());
    for number in 1.. {
        match (then.next(), now.next()) {
            (None, None) => break,
            (Some(then), Some(now)) if then == now => {}
            (Some(then), Some(now)) => {
                let (from, rest) = box_of(now, ["[x]", "[X]"])?;
                if box_of(then, ["[ ]"]) != Some((from, rest)) || then[..from] != now[..from] {
                    return None;
                }
                ticked.push(number);
            }
            _ => return None,
        }
    }
    Some(ticked)
}

/// Where the box stands that a list item opens with, if it is one of these, and what follows it.
fn box_of<'l, const N: usize>(line: &'l str, boxes: [&str; N]) -> Option<(usize, &'l str)> {
    let item = line.trim_start();
    let item =
        item.trim_start_matches(|c: char| c.is_ascii_digit()).trim_start_matches(['-', '*', '+', '.', ')']);
    let item = item.strip_prefix(' ')?.trim_start();
    let rest = boxes.iter().find_map(|tick| item.strip_prefix(tick))?;
    rest.starts_with(' ').then_some((line.len() - item.len(), rest))
}

/// The words of the steps that bore a tick in what a plan was before. Where nothing but boxes was ticked since, its
/// steps are those of the plan, and it need not be read.
fn ticked_words_of(before: &str, plan: &Plan) -> HashSet<String> {
    let Some(newly) = newly_ticked(before, &plan.text) else { return ticked_words(before) };
    let had_tick = plan
        .steps
        .iter()
        .filter(|step| step.mark == Mark::Ticked && newly.binary_search(&step.line).is_err());
    had_tick.map(|step| normalised(&step.text)).collect()
}

/// A plan that the person named in an ask, or that the session read when the person spoke of a plan.
fn named_plan(
    session: &Session,
    places: &PlanPlaces,
    naming: &Naming,
    text_of: ReadText<'_>,
) -> Option<Plan> {
    let named = naming.asks.of(&session.asks).rev().flat_map(|ask| {
        ask.text.split_whitespace().map(|word| {
            places.absolute(word.trim_matches(|c: char| "`'\"()[]<>,;:!?@".contains(c)).trim_end_matches('.'))
        })
    });
    let speaks_of_plan = LazyCell::new(|| {
        let is_plan = |word: &str| word == "plan" || word == "plans";
        session.asks.iter().any(|ask| normalised(&ask.text).split(' ').any(is_plan))
    });
    let read = naming.reads.of(&session.reads).rev();
    let read_for_them = read.filter(|_| *speaks_of_plan).map(|path| places.absolute(path));
    let plan_at = |path: PathBuf| {
        let text = text_of(&path)?;
        let mut plan = plan_with(parse_steps(&text), PlanSource::NamedFile, text, Some(path));
        plan.ticked_before = plan.steps.iter().filter(|s| s.mark == Mark::Ticked).map(|s| s.number).collect();
        Some(plan)
    };
    let by_name = named.chain(read_for_them).filter(|path| places.is_plan(path)).find_map(plan_at);
    let is_long = |plan: &Plan| plan.steps.len() >= LEAST_ORDERS;
    // A page of notes has bullets; one that is to be built has boxes or numbers.
    let is_in_order = |plan: &Plan| {
        let in_order = plan.steps.iter().filter(|step| step.kind != StepKind::Bullet);
        in_order.count() >= LEAST_ORDERS
    };
    let pages: Vec<&Ask> = naming.pages.of(&session.asks).collect();
    by_name
        .or_else(|| orders(&pages).map(|name| places.absolute(name)).find_map(plan_at).filter(is_long))
        .or_else(|| specs(&pages).map(|name| places.absolute(name)).find_map(plan_at).filter(is_in_order))
}

/// A list of fewer items is no plan unless it is called one.
const LEAST_ORDERS: usize = 3;

/// A plan that is in play for sure: whoever keeps what was read out of it asks first whether there is a secret in it.
fn plan_of(source: PlanSource, text: String, path: Option<PathBuf>) -> Plan {
    let steps = parse_steps_again(&text);
    plan_with(steps, source, text, path)
}

fn plan_with(steps: Vec<Step>, source: PlanSource, text: String, path: Option<PathBuf>) -> Plan {
    Plan {
        source,
        path: path.map(|path| path.to_string_lossy().into_owned()),
        text,
        steps,
        dropped: Vec::new(),
        ticked_before: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use std::collections::HashMap;

    use super::*;
    use crate::config::{Config, plan_globs};
    use crate::session::{Ask, EditTool, Touch};

    fn places() -> PlanPlaces {
        let globs = plan_globs(&Config::default().audit.plan).expect("globs");
        PlanPlaces::new("/w".into(), vec!["/home/me/.claude/plans".into()], globs)
    }

    fn found(session: &Session, files: &[(&str, &str)]) -> Option<Plan> {
        let files: HashMap<PathBuf, String> =
            files.iter().map(|(k, v)| (PathBuf::from(k), (*v).to_owned())).collect();
        find(session, &places(), Read { now: &|path| files.get(path).cloned(), committed: &|_| None })
    }

    fn approved(text: Option<&str>, path: Option<&str>, slug: Option<&str>) -> ApprovedPlan {
        ApprovedPlan {
            text: text.map(String::from),
            path: path.map(String::from),
            slug: slug.map(String::from),
            at: 1,
        }
    }

    fn touch(path: &str, original: Original) -> Touch {
        Touch {
            path: path.into(),
            tool: EditTool::Edit,
            at: 1,
            outcome: Outcome::Done,
            original,
            agent: None,
            change_at: None,
            change: None,
        }
    }

    const FILE: &str = "/home/me/.claude/plans/slug.md";

    #[test]
    fn the_newest_approved_plan_wins() {
        let session = Session {
            plans: vec![approved(Some("- [ ] one"), None, None), approved(Some("- [ ] two"), None, None)],
            ..Session::default()
        };
        let plan = found(&session, &[]).expect("a plan");
        assert_eq!((plan.text.as_str(), plan.source), ("- [ ] two", PlanSource::Approved));
    }

    #[test]
    fn its_file_counts_when_it_was_kept_up_and_what_it_dropped_is_still_promised() {
        let text = "1. make a\n2. make b\n3. make c";
        let session = Session { plans: vec![approved(Some(text), None, Some("slug"))], ..Session::default() };
        let plan = found(&session, &[(FILE, "1. make a ✅\n3. make c")]).expect("a plan");
        assert_eq!(plan.source, PlanSource::ApprovedFile);
        assert_eq!(
            plan.promised().map(|s| (s.number, s.text.as_str())).collect::<Vec<_>>(),
            [(1, "make a ✅"), (2, "make c"), (3, "make b")]
        );
        let other = found(&session, &[(FILE, "1. something\n2. else")]).expect("a plan");
        assert_eq!((other.source, other.text.as_str()), (PlanSource::Approved, text));
    }

    #[test]
    fn what_was_ticked_when_it_was_approved_is_no_claim_of_the_session() {
        let text = "- ✅ port `a.py`\n- [ ] create `b.py`";
        let session = Session { plans: vec![approved(Some(text), None, Some("slug"))], ..Session::default() };
        assert_eq!(found(&session, &[]).expect("a plan").ticked_before, [1]);
        let kept = found(&session, &[(FILE, "- ✅ port `a.py`\n- [x] create `b.py`")]).expect("a plan");
        assert_eq!(kept.ticked_before, [1]);
    }

    #[test]
    fn a_call_that_names_only_the_file_is_read_from_it() {
        let session = Session { plans: vec![approved(None, Some(FILE), None)], ..Session::default() };
        assert_eq!(found(&session, &[(FILE, "- [ ] x")]).expect("a plan").text, "- [ ] x");
        assert_eq!(found(&session, &[]), None);
    }

    #[test]
    fn a_touched_plan_file_is_found_wherever_plans_live() {
        for path in [
            "/w/PLAN.md",
            "/w/pkg/plan.md",
            "/w/docs/auth-plan.md",
            "/w/docs/plans/2024/x.md",
            "/w/.claude/plans/x.md",
            "docs/plans/y.md",
            "/w/packages/api/docs/plans/z.md",
            "/link-to-w/docs/plans/x.md",
        ] {
            let session =
                Session { touches: vec![touch(path, Original::Absent)].into(), ..Session::default() };
            let absolute = places().absolute(path);
            let plan = found(&session, &[(absolute.to_str().expect("text"), "- [x] a")]).expect(path);
            assert_eq!((plan.source, plan.ticked_before.len()), (PlanSource::TouchedFile, 0), "{path}");
        }
        let session = Session {
            touches: vec![touch("/w/explanation.md", Original::Absent)].into(),
            ..Session::default()
        };
        assert_eq!(found(&session, &[("/w/explanation.md", "- [x] a")]), None);
    }

    #[test]
    fn the_file_of_a_plan_that_was_turned_down_is_no_plan() {
        let session = Session {
            touches: vec![touch(FILE, Original::Absent)].into(),
            rejected_plans: vec!["1. rewrite it all".into()],
            ..Session::default()
        };
        assert_eq!(found(&session, &[(FILE, "1. rewrite it all\n")]), None);
        assert!(found(&session, &[(FILE, "1. fix the typo\n")]).is_some());
    }

    #[test]
    fn a_plan_that_is_put_up_counts_whatever_the_session_did() {
        let text = "- [x] old\n- [x] new";
        let path = Path::new("/w/notes.md");
        assert_eq!(given(&Session::default(), path, text).ticked_before, [0; 0]);
        let before = Original::Text("- [x] old\n- [ ] new".into());
        let session = Session { touches: vec![touch("/w/notes.md", before)].into(), ..Session::default() };
        let plan = given(&session, path, text);
        assert_eq!((plan.source, plan.ticked_before), (PlanSource::GivenFile, vec![1]));
    }

    #[test]
    fn a_plan_of_megabytes_is_cut() {
        let text = "- [x] Create `a.txt`\n".repeat(100_000);
        let session =
            Session { touches: vec![touch("/w/PLAN.md", Original::Absent)].into(), ..Session::default() };
        assert!(found(&session, &[("/w/PLAN.md", &text)]).expect("a plan").text.len() <= PLAN_CAP);
        let session = Session { plans: vec![approved(Some(&text), None, None)], ..Session::default() };
        assert!(found(&session, &[]).expect("a plan").text.len() <= PLAN_CAP);
    }

    #[test]
    fn a_step_that_is_taken_out_while_the_work_goes_on_is_still_promised() {
        let change = |old: &str, new: &str| Some(crate::session::Change { old: old.into(), new: new.into() });
        let plan = |at: usize, change| Touch { at, change, ..touch("/w/PLAN.md", Original::Unknown) };
        let first = "- [ ] add `a.rs`\n- [ ] write the manual\n- [ ] measure the speed\n";
        let written = Touch { original: Original::Absent, ..plan(1, change("", first)) };
        let work = Touch { at: 5, ..touch("/w/a.rs", Original::Absent) };
        let shrunk = plan(9, change("- [ ] write the manual\n", ""));
        let now = "- [x] add `a.rs`\n- [x] measure how fast it is\n";
        let dropped = |touches: Vec<Touch>, asks: Vec<Ask>| {
            let session = Session { asks: asks.into(), touches: touches.into(), ..Session::default() };
            let plan = found(&session, &[("/w/PLAN.md", now)]).expect("a plan");
            plan.dropped.into_iter().map(|step| (step.number, step.text)).collect::<Vec<_>>()
        };
        let late = vec![written.clone(), work.clone(), shrunk];
        assert_eq!(dropped(late.clone(), Vec::new())[0], (3, "write the manual".to_owned()));
        // Refined before the work, or at the person's word.
        let refined = plan(2, change("- [ ] write the manual\n", ""));
        assert!(
            dropped(vec![written, refined, work], Vec::new())
                .iter()
                .all(|(_, text)| !text.contains("manual"))
        );
        let asked = Ask { text: "take the manual out of the plan".into(), at: 8 };
        assert_eq!(dropped(late, vec![asked]), []);
    }

    #[test]
    fn a_page_that_says_what_to_build_is_a_plan_where_its_steps_are_in_order() {
        let ask = "Could you build the report? docs/report.md says what we want.";
        let session = Session { asks: vec![Ask { text: ask.into(), at: 1 }].into(), ..Session::default() };
        let plan = |text: &str| found(&session, &[("/w/docs/report.md", text)]);
        assert!(plan("## 1. Totals\n\nx\n\n## 2. Text\n\nx\n\n## 3. Command\n").is_some());
        assert!(plan("- Totals are fine\n- Text is fine\n- So are commands\n").is_none());
    }

    #[test]
    fn ticks_from_before_the_session_are_not_its_claims() {
        let before = Original::Text("- [x] old\n- [ ] new".into());
        let session = Session { touches: vec![touch("/w/PLAN.md", before)].into(), ..Session::default() };
        let plan = found(&session, &[("/w/PLAN.md", "- [x] old\n- [x] new")]).expect("a plan");
        assert_eq!(plan.ticked_before, [1]);
        assert!(plan.ticked_now(&plan.steps[1]) && !plan.ticked_now(&plan.steps[0]));
    }

    #[test]
    fn a_plan_that_the_person_named_is_in_play_and_one_only_read_is_not() {
        let ask = |text: &str| vec![Ask { text: text.into(), at: 1 }];
        let files = [("/w/docs/plans/x.md", "- [ ] a")];
        let named = Session { asks: ask("implement @docs/plans/x.md, please").into(), ..Session::default() };
        assert_eq!(found(&named, &files).expect("a plan").source, PlanSource::NamedFile);
        let spoken = Session {
            asks: ask("go on with the plan").into(),
            reads: vec!["/w/docs/plans/x.md".into()].into(),
            ..Session::default()
        };
        assert!(found(&spoken, &files).is_some());
        let read = Session {
            asks: ask("fix the bug").into(),
            reads: vec!["/w/docs/plans/x.md".into()].into(),
            ..Session::default()
        };
        assert_eq!(found(&read, &files), None);
    }

    fn plan_with(text: &str) -> Plan {
        plan_of(PlanSource::TouchedFile, text.to_owned(), None)
    }

    #[test]
    fn a_plan_in_which_only_boxes_were_ticked_is_not_read_twice() {
        let before = "# Plan\n- [ ] one\n- [x] two\n  1. [ ] three\n* [ ] four";
        let now = before.replace("[ ] one", "[x] one").replace("[ ] three", "[X] three");
        assert_eq!(newly_ticked(before, &now), Some(vec![2, 4]));
        assert_eq!(newly_ticked(before, before), Some(Vec::new()));
        for other in [before.replace("two", "2"), before.replace("[x]", "[ ]"), format!("{before}\n- five")] {
            assert_eq!(newly_ticked(before, &other), None, "{other}");
        }
        assert_eq!(newly_ticked("a table of [ ] cells", "a table of [x] cells"), None);
    }

    proptest! {
        #[test]
        fn what_had_a_tick_is_the_same_by_either_way(
            lines in prop::collection::vec("(- |\\* |  - |1\\. |## |\\| )?(\\[[ x]\\] |✅ )?(one|two|three|~~four~~|five \\(done\\))( \\[[ x]\\])?", 1..8),
            ticked in prop::collection::vec(any::<bool>(), 8),
        ) {
            let before = lines.join("\n");
            let tick = |(line, tick): (&String, &bool)| if *tick { line.replacen("[ ]", "[x]", 1) } else { line.clone() };
            let now: Vec<_> = lines.iter().zip(&ticked).map(tick).collect();
            let plan = plan_with(&now.join("\n"));
            prop_assert_eq!(
                ticked_in(&plan, &ticked_words_of(&before, &plan)),
                ticked_in(&plan, &ticked_words(&before))
            );
        }
    }
}
