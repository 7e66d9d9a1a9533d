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
                Original::Absent | Original::Unknown | Original::Recorded(_) => None,
            };
            touch.change.as_ref().map(|change| change.new.as_str()).into_iter().chain(before)
        })
        .collect();
    // What another step promises is no stand-in for this one.
    let planned = evidence.files.iter().filter(|file| !file.steps.is_empty() && file.name != name);
    let planned: Vec<&str> = planned.map(|file| file.name.as_str()).collect();
    renamed::find(workspace, name, &contents, &planned)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::evidence::{Memory, gather};
    use crate::session::{Change, EditTool, Outcome, Session, Touch};

    /// A folder with files, and a session that wrote some of them, there still or not.
    fn look(files: &[(&str, &str)], wrote: &[(&str, &str)], path: &str, needle: &str) -> Look {
        let folder = tempfile::tempdir().expect("a folder");
        for (name, text) in files {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().expect("a parent")).expect("made");
            fs::write(path, text).expect("written");
        }
        let touches = wrote.iter().map(|(name, text)| Touch {
            path: folder.path().join(name).display().to_string(),
            tool: EditTool::Write,
            at: 1,
            outcome: Outcome::Done,
            original: Original::Absent,
            agent: None,
            change_at: None,
            change: Some(Change { old: String::new(), new: (*text).to_owned() }),
        });
        let session = Session { touches: touches.collect(), ..Session::default() };
        let workspace = Workspace::new(folder.path(), folder.path(), None, &[]);
        // No room for any content: what the auditor saw does not matter.
        let evidence = gather(session, None, &workspace, 0, &mut Memory::default());
        let proposal = Proposal {
            category: Category::A,
            problem: Problem::MissingContent,
            quote: "any words".into(),
            path: path.into(),
            needle: needle.into(),
            why: String::new(),
            settle: String::new(),
        };
        let verdict = Verdict { findings: vec![proposal] };
        looks(&workspace, &verdict, &evidence).remove(0).expect("a look")
    }

    #[test]
    fn the_whole_file_is_searched_whatever_was_shown_of_it() {
        let long = format!("{}\nfn last() {{}}\n", "// filler\n".repeat(9_000));
        let files = [("a.rs", long.as_str())];
        assert_eq!(look(&files, &[("a.rs", "x")], "a.rs", "fn last()").holds_needle, Some(true));
        assert_eq!(look(&files, &[("a.rs", "x")], "`a.rs`:3", "`fn first()`").holds_needle, Some(false));
        let too_long = "// filler\n".repeat(120_000);
        assert_eq!(look(&[("a.rs", &too_long)], &[], "a.rs", "fn first()").holds_needle, None);
        assert_eq!(look(&[("a.rs", "a\0b")], &[], "a.rs", "fn first()").holds_needle, None);
    }

    #[test]
    fn a_masked_text_is_found_masked_or_not_told() {
        let secret = "token = \"ghp_abcdefghijklmnopqrstuvwxyz0123456789\"\n";
        let masked = mask(secret).text;
        assert_ne!(masked, secret);
        assert_eq!(look(&[("a.toml", secret)], &[], "a.toml", masked.trim()).holds_needle, Some(true));
        assert_eq!(look(&[("a.toml", "x = 1\n")], &[], "a.toml", masked.trim()).holds_needle, None);
    }

    #[test]
    fn another_form_and_another_file_of_the_session_are_looked_at() {
        let both = [("cli.rs", "dry_run: bool"), ("flags.rs", "fn parse_row() {}")];
        assert_eq!(look(&both, &[], "cli.rs", "--dry-run").other_form.as_deref(), Some("cli.rs"));
        assert_eq!(look(&both, &[], "cli.rs", "parseRow()").other_form, None);
        let wrote = [("flags.rs", "")];
        assert_eq!(look(&both, &wrote, "cli.rs", "parseRow()").other_form.as_deref(), Some("flags.rs"));
    }

    #[test]
    fn a_file_that_stands_elsewhere_or_in_other_letters_is_looked_into_there() {
        let files = [("packages/cli/src/Main.rs", "fn main() {}")];
        let found = look(&files, &[], "src/main.rs", "fn main()");
        let elsewhere = Some("packages/cli/src/Main.rs".to_owned());
        assert_eq!((found.state, found.holds_needle), (FileState::Missing { elsewhere }, Some(true)));
    }

    #[test]
    fn what_the_session_wrote_is_found_under_its_new_name() {
        let text = "fn one() -> usize { 1 }\nfn two() -> usize { 2 }\nfn three() -> usize { 3 }\n";
        let found = look(&[("src/new.rs", text), ("b.rs", "x")], &[("src/old.rs", text)], "src/old.rs", "");
        assert_eq!(found.lives_on.as_deref(), Some("src/new.rs"));
        assert_eq!(look(&[("src/new.rs", text)], &[], "src/old.rs", "").lives_on, None);
    }
}
