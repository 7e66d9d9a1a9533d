//! Finds a file that was renamed: takes what stood in it, gives the file of the workspace that holds that now.
//! Must not read more than a bounded number of files, must not compare for long, and must not take a file for
//! another because both are short.

use std::time::Duration;

use similar::TextDiff;
use walkdir::WalkDir;

use super::Workspace;
use super::workspace::{Body, NOT_SEARCHED};

/// How many entries of the workspace are looked at.
const WALKED: usize = 20_000;
/// How many files are read.
const READ: usize = 300;
/// How much of each is compared: the session keeps no more of what it wrote.
const COMPARED: usize = 8 << 10;
/// From this on two texts are one that was edited.
const ALIKE: f32 = 0.7;
/// A text with fewer letters than this says nothing.
const LEAST: usize = 24;
/// A comparison ends here, and is a guess from then on.
const DEADLINE: Duration = Duration::from_millis(20);

/// The file, other than `name` and not one of `others`, that holds what one of `contents` is, or nearly.
pub fn find(workspace: &Workspace, name: &str, contents: &[&str], others: &[&str]) -> Option<String> {
    let contents: Vec<&str> = contents.iter().copied().filter(|text| letters(text) >= LEAST).collect();
    if contents.is_empty() {
        return None;
    }
    let walk = WalkDir::new(workspace.root()).follow_links(false).sort_by_file_name().into_iter();
    let files = walk
        .filter_entry(|entry| {
            !(entry.file_type().is_dir()
                && NOT_SEARCHED.contains(&entry.file_name().to_string_lossy().as_ref()))
        })
        .take(WALKED)
        .filter_map(Result::ok)
        .filter(|entry| entry.file_type().is_file())
        .filter(|entry| entry.metadata().is_ok_and(|meta| is_long_enough(meta.len(), &contents)));
    files.take(READ).find_map(|entry| {
        let place = workspace.locate(entry.path().to_str()?)?;
        let is_another = place.name != name && !others.contains(&place.name.as_str());
        let (true, Body::Text(text) | Body::Start(text)) = (is_another, workspace.body(&place)) else {
            return None;
        };
        contents.iter().any(|content| is_it(content, &text)).then_some(place.name)
    })
}

fn letters(text: &str) -> usize {
    text.chars().filter(|c| c.is_alphanumeric()).count()
}

/// Whether a file of that length can hold one of these.
fn is_long_enough(bytes: u64, contents: &[&str]) -> bool {
    contents.iter().any(|content| bytes >= content.len() as u64 / 2)
}

/// Whether a text is that content, edited a little, or holds it whole.
fn is_it(content: &str, text: &str) -> bool {
    let start = |text: &str| text[..text.floor_char_boundary(COMPARED)].to_owned();
    let (content, start) = (start(content.trim()), start(text.trim()));
    if text.contains(&content) {
        return true;
    }
    let is_of_like_length = start.len() <= content.len() * 2 && content.len() <= start.len() * 2;
    is_of_like_length && TextDiff::configure().timeout(DEADLINE).diff_lines(&content, &start).ratio() >= ALIKE
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONTENT: &str = "fn one() -> usize { 1 }\nfn two() -> usize { 2 }\nfn three() -> usize { 3 }\n\
                           fn four() -> usize { 4 }\nfn five() -> usize { 5 }\n";

    #[test]
    fn a_renamed_file_is_found_by_what_it_holds() {
        let folder = tempfile::tempdir().expect("a folder");
        let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).expect("written");
        write("new.rs", &CONTENT.replace("fn three() -> usize { 3 }", "fn drei() -> usize { 3 }"));
        write("short.rs", "fn one()");
        let workspace = Workspace::new(folder.path(), folder.path(), None, &[]);
        assert_eq!(find(&workspace, "old.rs", &[CONTENT], &[]).as_deref(), Some("new.rs"));
        assert_eq!(find(&workspace, "old.rs", &["fn one()"], &[]), None);
        assert_eq!(find(&workspace, "old.rs", &[CONTENT], &["new.rs"]), None);
        assert_eq!(find(&workspace, "old.rs", &[&"fn other() {}\n".repeat(9)], &[]), None);
    }
}
