//! Takes a wish and the evidence, says whether the files that the session knows show it as done or as not done. Pure.
//! Where no file tells, neither.

use crate::evidence::{Entered, Evidence, FileEvidence, FileState};
use crate::facts::ordinary::is_doc;
use crate::facts::steps::written_as;
use crate::session::Original;
use crate::wishes::Wish;
use crate::words::base_name;

/// How a wish stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Standing {
    /// It is done, as this tells.
    Done(String),
    /// It is not, as this tells.
    Undone(String),
}

/// How a wish stands, as far as the files tell. `path` is the file that it is about, where that is known.
pub fn standing(wish: &Wish, path: Option<&str>, evidence: &Evidence) -> Option<Standing> {
    let code = || evidence.files.iter().filter(|file| is_there(file) && !is_doc(&file.name));
    let is_of_it = |file: &FileEvidence| path.is_some_and(|path| written_as(path, &file.name));
    let holder = |name: &str| {
        let is_home = |file: &&FileEvidence| is_of_it(file) || file.signs.defines.iter().any(|n| n == name);
        code().filter(|file| holds(file, name)).find(is_home)
    };
    match wish {
        Wish::Gone(name) => match holder(name) {
            Some(file) => Some(Standing::Undone(format!("{} still has `{name}`", file.name))),
            None => took_out(evidence, name)
                .filter(|_| !code().any(|file| holds(file, name)))
                .map(|file| Standing::Done(format!("`{name}` was taken out of {file}"))),
        },
        Wish::Renamed { from, to } => {
            let old = holder(from);
            let new = evidence.files.iter().find(|file| is_there(file) && holds(file, to));
            match (old, new) {
                (Some(file), None) => {
                    Some(Standing::Undone(format!("{} still has `{from}`, and no `{to}`", file.name)))
                }
                (None, Some(file)) => Some(Standing::Done(format!("{} has `{to}`", file.name))),
                _ => None,
            }
        }
        Wish::Value { path, value } => {
            let file = evidence.files.iter().find(|file| is_there(file) && written_as(path, &file.name))?;
            let bare = |text: &str| text.replace([',', '_'], "");
            let lacks = file.entered == Entered::Whole && !bare(&file.text).contains(&bare(value));
            lacks.then(|| Standing::Undone(format!("{} has no `{value}`", file.name)))
        }
    }
}

fn is_there(file: &FileEvidence) -> bool {
    matches!(file.state, FileState::File { .. })
}

/// Whether a file holds a name as it is written. Where all of it is shown, that is looked up: other forms of a name
/// may stand for other things.
fn holds(file: &FileEvidence, name: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let stands_in = |text: &str| {
        text.match_indices(name)
            .any(|(at, _)| !text[..at].ends_with(is_part) && !text[at + name.len()..].starts_with(is_part))
    };
    match file.entered {
        Entered::Whole => stands_in(&file.text),
        _ => file.signs.read_whole && file.signs.holds.iter().any(|held| held == name),
    }
}

/// A file from which the session took a name, as far as its changes are kept.
fn took_out<'a>(evidence: &'a Evidence, name: &str) -> Option<&'a str> {
    let mut touches = evidence.session.done_touches();
    let touch = touches.find(|touch| {
        let change = touch.change.as_ref();
        change.is_some_and(|change| change.old.contains(name) && !change.new.contains(name))
            || matches!(&touch.original, Original::Text(before) if before.contains(name))
    });
    touch.map(|touch| base_name(&touch.path))
}
