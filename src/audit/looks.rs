//! Takes the auditor's proposals, gives what the disk shows of each: the last look at the world before
//! judging. Must not judge.

use crate::auditor::Verdict;
use crate::evidence::{FileState, Workspace};
use crate::verify::Look;

/// One look for each finding of the verdict, in order; `None` where it names no path.
pub fn looks(workspace: &Workspace, verdict: &Verdict) -> Vec<Option<Look>> {
    let mut looks: Vec<Option<Look>> = verdict
        .findings
        .iter()
        .map(|proposal| {
            let path = proposal.path.trim();
            if path.is_empty() {
                return None;
            }
            let place = workspace.locate(path);
            let state = workspace.state(place.as_ref());
            let holds_needle = match (&state, &place) {
                (FileState::File { .. }, Some(place)) => workspace.holds(place, &proposal.needle),
                _ => None,
            };
            Some(Look {
                name: place.map_or_else(|| path.to_owned(), |place| place.name),
                state,
                holds_needle,
            })
        })
        .collect();
    let missing: Vec<String> = looks
        .iter()
        .flatten()
        .filter(|look| matches!(look.state, FileState::Missing { .. }))
        .map(|look| look.name.clone())
        .collect();
    let missing = workspace.look_elsewhere(&missing);
    for look in looks.iter_mut().flatten() {
        if let (FileState::Missing { .. }, Some(looked_for)) = (&look.state, missing.get(&look.name)) {
            look.state = looked_for.clone();
        }
    }
    looks
}
