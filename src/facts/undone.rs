//! A ticked item names a file that the session edited, and the file is as it was before.

use super::{TickedItem, fact};
use crate::evidence::{Evidence, FileChange};
use crate::finding::{Finding, Kind};

/// Returns the files whose edits are no longer there.
pub(super) fn findings(evidence: &Evidence, ticked: &[TickedItem]) -> Vec<Finding> {
    let mut findings: Vec<Finding> = Vec::new();
    for item in ticked {
        let [path] = item.paths.as_slice() else { continue };
        let plain = path.trim_start_matches("./");
        let Some(file) = evidence.files.iter().find(|file| file.name == plain) else { continue };
        let is_known = findings.iter().any(|known| known.path.as_deref() == Some(file.name.as_str()));
        let is_committed = evidence.repository.as_ref().is_some_and(|git| git.has_committed(&file.name));
        if is_known || !file.was_edited() || file.change != FileChange::Unchanged || is_committed {
            continue;
        }
        let why =
            format!("It is ticked, and {} is as it was before the session: its edits are gone.", file.name);
        let settle = "Make the change again, or take the tick back.";
        findings.push(fact(item, Kind::WrongContent, Some(&file.name), "", why, settle));
    }
    findings
}
