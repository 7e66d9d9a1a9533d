//! What the disk, git or an exit code proves: takes evidence, returns findings. Pure.
//!
//! They go to the first reader as numbered candidates that it may dispute; without a reader nothing
//! else can block a stop. Facts go by marks alone and must not read prose: a rule that needs a list
//! of words of any language is not a fact.

mod missing;

use std::cell::OnceCell;
use std::collections::{HashMap, HashSet};

use crate::evidence::{Evidence, FileChange, FileEvidence, FileState, Repository};
use crate::finding::{Category, ClaimedIn, Finding, Kind, Source, Status};
use crate::plan::mentions::{Named, paths_named};
use crate::plan::steps::parse_steps;
use crate::plan::{Mark, Step};
use crate::session::{Command, CommandEnd};
use crate::text::normalise::normalised;

/// How many facts are returned: a longer list helps nobody.
pub const MOST: usize = 12;

/// How many ticked items are looked at, and how many commands of each.
const MAX_ITEMS: usize = 2_000;
const MAX_COMMANDS: usize = 40;

/// Returns everything that is proven.
pub fn facts(evidence: &Evidence) -> Vec<Finding> {
    let ticked = ticked(evidence);
    let known = FactIndex::new(evidence);
    let mut findings = about_files(&known, &ticked, missing::missing);
    findings.extend(ticked.iter().flat_map(|item| failed(&known, item)).take(MOST));
    findings.extend(about_files(&known, &ticked, undone));
    findings.truncate(MOST);
    findings
}

/// Indexes for the rules, built once: there may be thousands of items and files.
struct FactIndex<'a> {
    evidence: &'a Evidence,
    files: HashMap<&'a str, &'a FileEvidence>,
    committed: HashSet<&'a str>,
    /// The names, without extension, of existing files that the session changed.
    changed_stems: HashSet<&'a str>,
    /// The newest run of each simple command, by its words. Few items name a command.
    last_runs: OnceCell<HashMap<String, &'a Command>>,
}

impl<'a> FactIndex<'a> {
    fn new(evidence: &'a Evidence) -> Self {
        let files = evidence.files.iter().rev().map(|file| (file.name.as_str(), file));
        let is_there =
            |file: &&FileEvidence| matches!(file.state, FileState::File { .. }) && file.was_changed();
        let changed = evidence.files.iter().filter(is_there);
        Self {
            evidence,
            files: files.collect(),
            committed: evidence.repository.as_ref().map(Repository::committed).unwrap_or_default(),
            changed_stems: changed.filter_map(|file| stem(&file.name)).collect(),
            last_runs: OnceCell::new(),
        }
    }

    fn last_runs(&self) -> &HashMap<String, &'a Command> {
        self.last_runs.get_or_init(|| {
            let runs = self.evidence.session.commands.iter().flat_map(|command| {
                let simple = command.line.commands().iter();
                simple.map(move |simple| (normalised(&simple.words_and_files().join(" ")), command))
            });
            runs.collect()
        })
    }
}

/// Extensions of what is left beside a file, which are never the file itself.
const COPIES: [&str; 7] = ["bak", "orig", "old", "tmp", "swp", "rej", "log"];

/// Returns a file's path without its extension, if it has one.
fn stem(name: &str) -> Option<&str> {
    let (stem, ending) = name.rsplit_once('.')?;
    let is_ending = !ending.is_empty() && ending.chars().all(char::is_alphanumeric);
    (is_ending && !COPIES.contains(&ending)).then_some(stem)
}

/// Returns whether a fact may depend on a file: something that was ticked names one.
pub fn need_files(evidence: &Evidence) -> bool {
    ticked(evidence).iter().any(|item| item.paths.len() == 1)
}

/// Something that this session ticked: a claim made by a mark.
#[derive(Debug, Clone, PartialEq, Eq)]
struct TickedItem {
    text: String,
    place: ClaimedIn,
    /// The plan's step.
    step: Option<usize>,
    /// The paths that it names, written as paths.
    paths: Vec<String>,
}

/// Returns what this session ticked: steps of the plan, tasks that it finished, and ticked items in
/// its final message.
fn ticked(evidence: &Evidence) -> Vec<TickedItem> {
    let item = |text: &str, named: Vec<Named>, place, step| {
        let marked = named.into_iter().filter(|named| named.marked);
        TickedItem { text: text.to_owned(), place, step, paths: marked.map(|named| named.path).collect() }
    };
    let of_step = |step: &Step, place, number| item(&step.text, step.own_paths.clone(), place, number);
    let mut all = Vec::new();
    if let Some(plan) = &evidence.plan {
        let steps = plan.steps.iter().filter(|step| plan.ticked_now(step));
        all.extend(steps.map(|step| of_step(step, ClaimedIn::Plan, Some(step.number))));
    }
    let todos = evidence.session.todos.iter().filter(|todo| todo.status == "completed");
    all.extend(todos.map(|todo| item(&todo.text, paths_named(&todo.text), ClaimedIn::Tasks, None)));
    let message = evidence.session.final_message.as_deref().unwrap_or_default();
    let said = parse_steps(message).into_iter().filter(|step| step.mark == Mark::Ticked);
    all.extend(said.map(|step| of_step(&step, ClaimedIn::Message, None)));
    all.truncate(MAX_ITEMS);
    all
}

/// Applies a rule to the file of each item that names exactly one, and reports each file once. An
/// item that names several may name examples and old names beside what it promises.
fn about_files(
    known: &FactIndex<'_>,
    ticked: &[TickedItem],
    rule: fn(&FactIndex<'_>, &TickedItem, &FileEvidence) -> Option<Finding>,
) -> Vec<Finding> {
    let mut findings: Vec<Finding> = Vec::new();
    for item in ticked {
        let [path] = item.paths.as_slice() else { continue };
        let plain = path.trim_start_matches("./");
        let Some(file) = known.files.get(plain).or_else(|| known.files.get(path.as_str())) else {
            continue;
        };
        if findings.iter().all(|found| found.path.as_ref() != Some(&file.name)) {
            findings.extend(rule(known, item, file));
        }
        if findings.len() == MOST {
            break;
        }
    }
    findings
}

/// The session edited the file, but its content is what it was before.
fn undone(known: &FactIndex<'_>, item: &TickedItem, file: &FileEvidence) -> Option<Finding> {
    let is_committed = known.committed.contains(file.name.as_str());
    let is_undone = file.was_edited() && file.change == FileChange::Unchanged && !is_committed;
    let why = format!("It is ticked, and {} is as it was before the session: its edits are gone.", file.name);
    let settle = "Make the change again, or take the tick back.";
    is_undone.then(|| fact(item, Kind::WrongContent, Some(&file.name), "", why, settle))
}

/// Returns the commands that an item names and whose last run failed.
fn failed(known: &FactIndex<'_>, item: &TickedItem) -> Vec<Finding> {
    let named = item.text.split('`').skip(1).step_by(2).map(str::trim).filter(|named| named.contains(' '));
    let findings = named.take(MAX_COMMANDS).filter_map(|named| {
        let last = last_run(known, named)?;
        let CommandEnd::Failed(code) = last.end else { return None };
        let code = code.map(|code| format!(" with exit code {code}")).unwrap_or_default();
        let why = format!("It is ticked, and `{named}` failed{code} when it was run last.");
        let settle = "Make the command succeed, or take the tick back.";
        let proof = last.output.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default();
        Some(fact(item, Kind::Failed, None, proof.trim(), why, settle))
    });
    findings.collect()
}

/// Returns the newest run of a command, unless a check of the same kind has passed since: the same
/// tests may have passed under another name.
fn last_run<'a>(known: &FactIndex<'a>, named: &str) -> Option<&'a Command> {
    let commands = &known.evidence.session.commands;
    let last = *known.last_runs().get(&normalised(named)).filter(|last| !last.line.hides_exit_status())?;
    let check = last.line.check();
    let has_passed_since = check.is_some()
        && last.end != CommandEnd::Succeeded
        && commands.iter().any(|command| {
            command.at >= last.at && command.end == CommandEnd::Succeeded && command.line.check() == check
        });
    (!has_passed_since).then_some(last)
}

/// Returns a finding about a ticked item.
fn fact(
    ticked: &TickedItem,
    kind: Kind,
    path: Option<&str>,
    proof: &str,
    why: String,
    settle: &str,
) -> Finding {
    Finding {
        category: Category::A,
        status: Status::Confirmed,
        source: Source::Facts,
        kind,
        claim: ticked.text.clone(),
        claimed_in: ticked.place,
        proof: proof.to_owned(),
        path: path.map(str::to_owned),
        why,
        settle: settle.to_owned(),
        check: "disk and session show it".to_owned(),
        second: None,
        step: ticked.step,
    }
    .bounded()
}
