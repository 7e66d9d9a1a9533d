//! Takes evidence, gives a short name for it: the same name means that nothing an audit looks at has
//! changed. Pure. Must not depend on chatter: a "you're welcome" is no reason to audit again.

use crate::claims;
use crate::evidence::Evidence;
use crate::names::QuickName;

/// The evidence's name: plan, files as they are on disk, task list, what was asked for, work done, and what
/// is claimed.
pub fn fingerprint(evidence: &Evidence) -> String {
    let mut name = QuickName::default();
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
    // What was asked for and came to nothing is drift, too.
    for ask in evidence.session.asks.iter().filter(|ask| ask.may_want_work()) {
        name.add(&ask.text);
    }
    name.add(evidence.session.work_done().to_string());
    for claim in claims::sentences(evidence.session.final_message.as_deref().unwrap_or_default()) {
        name.add(claim);
    }
    name.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::{Ask, Session};

    fn name_of(asks: &[&str], message: &str) -> String {
        let asks = asks.iter().map(|text| Ask { text: (*text).to_owned(), at: 1 }).collect();
        let session = Session { asks, final_message: Some(message.into()), ..Session::default() };
        fingerprint(&Evidence {
            plan: None,
            session,
            files: Vec::new(),
            deeds: Vec::new(),
            todo_paths: Vec::new(),
            repository: None,
        })
    }

    #[test]
    fn chatter_and_questions_change_nothing() {
        let first = "Write the parser and its tests, please.";
        let before = name_of(&[first], "All done.");
        assert_eq!(before, name_of(&[first, "thanks a lot!"], "All done. You're welcome!"));
        assert_eq!(
            before,
            name_of(&[first, "and how does the parser treat empty lines?"], "All done. It skips them.")
        );
    }

    #[test]
    fn a_new_claim_and_a_new_ask_do() {
        let first = "Write the parser and its tests, please.";
        let before = name_of(&[first], "All done.");
        assert_ne!(before, name_of(&[first], "All done. I also wrote the docs."));
        assert_ne!(before, name_of(&[first, "now also add a LICENSE file"], "All done."));
    }
}
