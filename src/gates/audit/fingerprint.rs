//! Takes evidence, gives a short name for it: the same name means that nothing an audit looks at has
//! changed. Pure. Must not depend on chatter: a "you're welcome" is no reason to audit again.

use crate::evidence::Evidence;
use crate::facts::claims;
use crate::names::ContentName;

/// The evidence's name: plan, files as they are on disk, task list, work done, and what is claimed.
pub fn fingerprint(evidence: &Evidence) -> String {
    let mut name = ContentName::default();
    name.add(evidence.plan.as_ref().map_or("", |plan| &plan.text));
    for file in &evidence.files {
        name.add(&file.name);
        name.add(&file.digest);
        name.add(format!("{:?}", file.state));
    }
    for todo in &evidence.session.todos {
        name.add(&todo.text);
        name.add(&todo.status);
    }
    name.add(evidence.session.work_done().to_string());
    for claim in claims::sentences(evidence.session.final_message.as_deref().unwrap_or_default()) {
        name.add(claim);
    }
    name.finish()
}
