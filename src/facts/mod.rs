//! What needs no model. Pure: evidence in, findings and advisories out.
//!
//! `claimed` says what is claimed, `files` holds it against the disk (`promises` and `steps` say what words and
//! commands mean for a file). Findings of category A are confirmed;
//! those of the others are candidates, which the auditor has to agree with.

pub mod claimed;
pub mod claims;
pub mod files;
pub mod ordinary;
pub mod promises;
pub mod steps;

use serde::{Deserialize, Serialize};

use crate::config::AuditConfig;
use crate::evidence::Evidence;
use crate::finding::{Advisory, Finding};

/// What disk and session show by themselves.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Facts {
    /// What they prove, and what they make worth a second look.
    pub findings: Vec<Finding>,
    /// What the person should know.
    pub advisories: Vec<Advisory>,
}

/// Everything that disk and session show by themselves.
pub fn facts(evidence: &Evidence, _config: &AuditConfig) -> Facts {
    Facts { findings: files::findings(evidence), advisories: Vec::new() }
}
