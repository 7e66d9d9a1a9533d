//! Takes evidence, gives a short name for it: the same name means that nothing an audit looks at has
//! changed. Pure. Must not depend on chatter: a "you're welcome" is no reason to audit again.

use sha2::{Digest, Sha256};

use super::Evidence;
use crate::facts::claims;

/// The evidence's name: plan, files as they are on disk, task list, work done, and what is claimed.
pub fn fingerprint(evidence: &Evidence) -> String {
    let mut hash = Sha256::new();
    let mut add = |part: &str| {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part.as_bytes());
    };
    add(evidence.plan.as_ref().map_or("", |plan| &plan.text));
    for file in &evidence.files {
        add(&file.name);
        add(&file.digest);
        add(&format!("{:?}", file.state));
    }
    for todo in &evidence.session.todos {
        add(&todo.text);
        add(&todo.status);
    }
    add(&evidence.session.work_done().to_string());
    for claim in claims::sentences(evidence.session.final_message.as_deref().unwrap_or_default()) {
        add(claim);
    }
    hash.finalize().iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}
