//! What needs no model. Pure: evidence in, findings out.

pub mod claims;
pub mod promises;
pub mod steps;

use crate::evidence::Evidence;
use crate::finding::Finding;

/// Everything that disk and session prove by themselves. All of it is category A and confirmed.
pub fn facts(evidence: &Evidence) -> Vec<Finding> {
    steps::missing_files(evidence)
}
