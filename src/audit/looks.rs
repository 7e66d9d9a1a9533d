//! Takes the auditor's proposals, gives what the disk shows of each: the last look at the world before
//! judging. Must not judge, and must not read more than a bounded part of the workspace.

use std::collections::HashMap;

use crate::auditor::{Proposal, Verdict};
use crate::evidence::redact::mask;
use crate::evidence::workspace::{Body, Place};
use crate::evidence::{Evidence, FileState, Workspace, renamed};
use crate::finding::{Category, Problem};
use crate::session::Original;
use crate::verify::forms::{holds_another_form, holds_it_elsewhere, is_hidden, needle_of};
use crate::verify::{Look, path_of};

/// How many files of the session are searched for a text that is not where it was promised.
const SEARCHED: usize = 200;

/// One look for each finding of the verdict, in order; `None` where it names no path.
pub fn looks(workspace: &Workspace, verdict: &Verdict, evidence: &Evidence) -> Vec<Option<Look>> {
    let places: Vec<Option<(String, Option<Place>)>> = verdict
        .findings
        .iter()
        .map(|proposal| path_of(proposal, evidence).map(|path| (path.to_owned(), workspace.locate(path))))
        .collect();
    let mut looks: Vec<Option<Look>> = places
        .iter()
        .map(|found| {
            let (path, place) = found.as_ref()?;
            let name = place.as_ref().map_or(path, |place| &place.name);
            Some(Look::new(name, workspace.state(place.as_ref())))
        })
        .collect();
    look_for_missing(workspace, &mut looks);
    for (look, proposal) in looks.iter_mut().zip(&verdict.findings) {
        let Some(look) = look else { continue };
        if proposal.category == Category::A && proposal.problem == Problem::MissingContent {
            look_into(workspace, look, proposal, evidence);
        }
        let is_gone = look.state == FileState::Missing { elsewhere: None };
        if is_gone && matches!(proposal.category, Category::A | Category::C) {
            look.lives_on = lives_on(workspace, evidence, &look.name);
        }
    }
    looks
}

/// Looks for missing files elsewhere in the workspace, for all of them in one walk.
fn look_for_missing(workspace: &Workspace, looks: &mut [Option<Look>]) {
    let missing: Vec<String> = looks
        .iter()
        .flatten()
        .filter(|look| matches!(look.state, FileState::Missing { .. }))
        .map(|look| look.name.clone())
        .collect();
    let missing: HashMap<String, FileState> = workspace.look_elsewhere(&missing);
    for look in looks.iter_mut().flatten() {
        if let (FileState::Missing { .. }, Some(looked_for)) = (&look.state, missing.get(&look.name)) {
            look.state = looked_for.clone();
        }
    }
}

/// Whether the file, wherever it stands, holds the needle, and whether another form of it is to be had.
fn look_into(workspace: &Workspace, look: &mut Look, proposal: &Proposal, evidence: &Evidence) {
    let needle = needle_of(&proposal.needle);
    let name = match &look.state {
        FileState::File { .. } => look.name.as_str(),
        FileState::Missing { elsewhere: Some(there) } => there.as_str(),
        _ => return,
    };
    let Some(place) = workspace.locate(name).filter(|_| !needle.is_empty()) else { return };
    let text = match workspace.body(&place) {
        Body::Text(text) | Body::Start(text) => text,
        Body::Binary | Body::Secret | Body::Unreadable(_) => return,
    };
    look.holds_needle = match workspace.holds(&place, needle) {
        // The auditor saw the masked text, and may quote what a mask left of it.
        Some(false) if mask(&text).text.contains(needle) => Some(true),
        Some(false) if is_hidden(needle) => None,
        held => held,
    };
    if look.holds_needle == Some(false) {
        let here = holds_another_form(&text, needle).then(|| place.name.clone());
        look.other_form = here.or_else(|| in_another_file(workspace, evidence, &place.name, needle));
    }
}

/// Another file of the session that holds the needle, or that is too long to tell.
fn in_another_file(workspace: &Workspace, evidence: &Evidence, name: &str, needle: &str) -> Option<String> {
    let changed = evidence.files.iter().filter(|file| file.was_changed() && file.name != name);
    changed
        .take(SEARCHED)
        .find(|file| {
            let Some(place) = workspace.locate(&file.name) else {
                // In another worktree, where we do not look: its name may be all that we know.
                return false;
            };
            match workspace.body(&place) {
                Body::Text(text) => holds_it_elsewhere(&text, needle),
                Body::Start(_) => true,
                Body::Binary | Body::Secret | Body::Unreadable(_) => false,
            }
        })
        .map(|file| file.name.clone())
}

/// Where what the session wrote into a file, or what stood there before, stands now.
fn lives_on(workspace: &Workspace, evidence: &Evidence, name: &str) -> Option<String> {
    let touches = evidence
        .session
        .done_touches()
        .filter(|touch| workspace.locate(&touch.path).is_some_and(|place| place.name == name));
    let contents: Vec<&str> = touches
        .flat_map(|touch| {
            let before = match &touch.original {
                Original::Text(text) => Some(text.as_str()),
                Original::Absent | Original::Unknown => None,
            };
            touch.change.as_ref().map(|change| change.new.as_str()).into_iter().chain(before)
        })
        .collect();
    // What another step promises is no stand-in for this one.
    let planned = evidence.files.iter().filter(|file| !file.steps.is_empty() && file.name != name);
    let planned: Vec<&str> = planned.map(|file| file.name.as_str()).collect();
    renamed::find(workspace, name, &contents, &planned)
}
