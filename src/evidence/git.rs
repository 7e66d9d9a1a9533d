//! What git says a file was: takes paths of a repository, gives their committed text. Must not change
//! anything, must not wait long, and a folder that is no repository is no error.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::child::{self, Ending, Job};

const DEADLINE: Duration = Duration::from_secs(2);
const OUTPUT_CAP: usize = 16 << 20;

/// The text of each of these files in the last commit, for those that are in it. `paths` are relative to
/// `root`.
pub fn committed(root: &Path, paths: &[&str]) -> HashMap<String, String> {
    if paths.is_empty() {
        return HashMap::new();
    }
    let asked: Vec<_> =
        paths.iter().filter(|path| !path.contains('\n')).map(|path| format!("HEAD:./{path}")).collect();
    let ended = child::run(Job {
        program: PathBuf::from("git"),
        args: ["-c", "core.fsmonitor=false", "cat-file", "--batch"].map(Into::into).to_vec(),
        cwd: root.to_path_buf(),
        env_set: vec![
            ("GIT_OPTIONAL_LOCKS".into(), "0".into()),
            ("GIT_TERMINAL_PROMPT".into(), "0".into()),
            // A partial clone would fetch what it lacks.
            ("GIT_NO_LAZY_FETCH".into(), "1".into()),
        ],
        env_unset: Vec::new(),
        stdin: (asked.join("\n") + "\n").into_bytes(),
        deadline: DEADLINE,
        stdout_cap: OUTPUT_CAP,
        stderr_cap: 1 << 10,
    });
    match ended.how {
        Ending::Exited(0) => parse_batch(&ended.stdout, paths),
        _ => HashMap::new(),
    }
}

/// Reads the answers of `cat-file --batch`: `<id> <type> <size>\n<content>\n`, or `<asked> missing\n`.
fn parse_batch(mut output: &[u8], paths: &[&str]) -> HashMap<String, String> {
    let mut found = HashMap::new();
    for path in paths.iter().filter(|path| !path.contains('\n')) {
        let Some(end) = output.iter().position(|byte| *byte == b'\n') else { break };
        let header = String::from_utf8_lossy(&output[..end]).into_owned();
        output = &output[end + 1..];
        let mut words = header.split(' ');
        let (_, kind, size) =
            (words.next(), words.next(), words.next().and_then(|size| size.parse::<usize>().ok()));
        let Some(size) = size.filter(|_| !header.ends_with(" missing")) else { continue };
        if output.len() < size {
            break;
        }
        if kind == Some("blob")
            && let Ok(text) = std::str::from_utf8(&output[..size])
        {
            found.insert((*path).to_owned(), text.to_owned());
        }
        output = &output[(size + 1).min(output.len())..];
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_matched_to_what_was_asked() {
        let output = b"abc blob 4\na\nb\n\nHEAD:./none missing\ndef tree 3\nxyz\nfed blob 2\nhi\n";
        let found = parse_batch(output, &["one", "none", "folder", "two"]);
        assert_eq!(found, HashMap::from([("one".into(), "a\nb\n".into()), ("two".into(), "hi".into())]));
    }

    #[test]
    fn a_cut_answer_is_no_panic() {
        let output = b"abc blob 400\na\n";
        assert!(parse_batch(output, &["one", "two"]).is_empty());
    }
}
