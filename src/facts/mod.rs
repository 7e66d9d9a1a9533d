//! What needs no model. Pure: evidence in, findings and advisories out.
//!
//! `claimed` says what is claimed, `files` holds it against the disk (`promises` and `steps` say what words and
//! commands mean for a file); all of that is category A and confirmed. `drift` compares plan, task list and files,
//! `asks` what the person wanted on the way: they bring candidates, which the auditor has to agree with. `risks` is
//! what the person should know.

pub mod alike;
pub mod asks;
pub mod checks;
pub mod claimed;
pub mod doings;
pub mod drift;
pub mod files;
pub mod glances;
pub mod left;
pub mod ordinary;
pub mod parts;
pub mod promises;
pub mod requests;
pub mod risks;
pub mod steps;
pub mod whose;
pub mod wished;

use serde::{Deserialize, Serialize};

use crate::config::AuditConfig;
use crate::evidence::Evidence;
use crate::finding::{Advisory, Finding};
use crate::plan::Plan;
use crate::session::Session;

/// What disk and session show by themselves.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Facts {
    /// What they prove, and what they make worth a second look.
    pub findings: Vec<Finding>,
    /// What the person should know.
    pub advisories: Vec<Advisory>,
}

/// Whether what is shown of files, not only what they show by themselves, may matter for facts: to `drift` where there is
/// a plan, and to `asks` where something was wanted on the way. Both come masked.
pub fn look_into_files(session: &Session, plan: Option<&Plan>) -> bool {
    plan.is_some_and(|plan| !plan.steps.is_empty()) || asks::look_into_files(session)
}

/// Everything that disk and session show by themselves. What is proven is no candidate as well.
pub fn facts(evidence: &Evidence, config: &AuditConfig) -> Facts {
    let mut findings = files::findings(evidence);
    let (unbacked, mut advisories) = checks::findings(evidence, config);
    findings.extend(unbacked);
    for candidate in drift::candidates(evidence).into_iter().chain(asks::candidates(evidence)) {
        let is_known = findings.iter().any(|known| {
            (known.step.is_some() && known.step == candidate.step)
                || (known.path.is_some() && known.path == candidate.path)
        });
        if !is_known {
            findings.push(candidate);
        }
    }
    advisories.extend(risks::advisories(evidence));
    Facts { findings, advisories }
}
