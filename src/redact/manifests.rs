//! Finds what a Kubernetes `Secret` holds: every value of its data, whatever the names. Must not look
//! at manifests of other kinds.

use std::sync::LazyLock;

use regex::Regex;

use crate::redact::Find;
use crate::redact::values::is_stand_in;

static SECRET_KIND: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r#"kind["']?:[ \t]*["']?Secret(?-u:\b)"#).expect("a valid pattern"));

/// More lines of a manifest are not read.
const LONGEST: usize = 400;

pub(super) fn finds(text: &str) -> Vec<Find> {
    let mut finds = Vec::new();
    let mut done = 0;
    for kind in SECRET_KIND.find_iter(text) {
        if kind.start() < done {
            continue;
        }
        // The kind may stand behind the data: it is looked for in the whole document.
        let start = document_start(text, kind.start()).max(done);
        done = in_document(text, start, &mut finds);
    }
    finds
}

/// How far back the document may begin.
const LOOKBACK: usize = 4096;

fn document_start(text: &str, at: usize) -> usize {
    let from = text.ceil_char_boundary(at.saturating_sub(LOOKBACK));
    text[from..at].rfind("\n---").map_or(from, |mark| from + mark + 1)
}

/// Returns where the document ends.
fn in_document(text: &str, start: usize, finds: &mut Vec<Find>) -> usize {
    let mut at = start;
    // The indentation of `data:` while its lines are read.
    let mut block: Option<usize> = None;
    for (number, line) in text[start..].split_inclusive('\n').take(LONGEST).enumerate() {
        let content = line.trim_end();
        if number > 0 && content.starts_with("---") {
            break;
        }
        let indent = content.len() - content.trim_start().len();
        let name = content.trim().trim_matches('"');
        if block.is_some_and(|data| indent > data) {
            if let Some((_, value)) = content.split_once(": ") {
                let value = value.trim().trim_matches(['"', '\'', ',']);
                let value_at = at + content.rfind(value).unwrap_or(0);
                if value.len() >= 3 && !is_stand_in(value) {
                    finds.push(Find { range: value_at..value_at + value.len(), kind: "k8s-secret" });
                }
            }
        } else if !content.is_empty() {
            block =
                matches!(name, "data:" | "stringData:" | "data\": {" | "stringData\": {").then_some(indent);
        }
        at += line.len();
    }
    at.max(start + 1)
}
