//! Finds what a Kubernetes `Secret` holds: every value of its data, whatever the names. Must not
//! look at manifests of other kinds.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use crate::redact::Find;
use crate::redact::values::is_stand_in;

/// The data of a secret in JSON, and its pairs.
static JSON_DATA: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r#""(?:data|stringData)"\s*:\s*\{([^{}]*)\}"#).expect("a valid pattern"));
static JSON_PAIR: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r#""[^"\n]+"\s*:\s*"((?:[^"\\\n]|\\.){3,})""#).expect("a valid pattern"));

/// The `content:` of a secret or a config in a compose file.
static COMPOSE_SECRETS: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"(?m)^secrets:[ \t]*\r?\n").expect("a valid pattern"));

static SECRET_KIND: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r#"kind["']?:[ \t]*["']?Secret(?-u:\b)"#).expect("a valid pattern"));

/// More lines of a manifest are not read.
const LONGEST: usize = 400;

pub(super) fn finds(text: &str) -> Vec<Find> {
    let mut finds = Vec::new();
    let mut done = 0;
    // Most texts have neither word, and no pattern is compiled for them.
    if !text.contains("Secret") && !text.contains("secrets:") {
        return finds;
    }
    for kind in SECRET_KIND.find_iter(text) {
        if kind.start() < done {
            continue;
        }
        // The kind may stand behind the data: it is looked for in the whole document.
        let start = document_start(text, kind.start()).max(done);
        done = in_document(text, start, &mut finds);
        let document = &text[start..done];
        for data in JSON_DATA.captures_iter(document).filter_map(|data| data.get(1)) {
            let values = JSON_PAIR.captures_iter(data.as_str()).filter_map(|pair| Some(pair.get(1)?.range()));
            let values = values.filter(|value| !is_stand_in(&data.as_str()[value.clone()]));
            let base = start + data.start();
            finds.extend(values.map(|value| find(base + value.start..base + value.end)));
        }
    }
    for section in COMPOSE_SECRETS.find_iter(text) {
        in_compose(text, section.end(), &mut finds);
    }
    finds
}

fn find(range: Range<usize>) -> Find {
    Find { range, kind: "k8s-secret" }
}

/// Finds what stands behind or below each `content:` of a section.
fn in_compose(text: &str, start: usize, finds: &mut Vec<Find>) {
    let mut at = start;
    let mut block: Option<usize> = None;
    for line in text[start..].split_inclusive('\n').take(LONGEST) {
        let content = line.trim();
        let indent = line.len() - line.trim_start().len();
        if !content.is_empty() && indent == 0 {
            break;
        }
        let value = match (block, content.strip_prefix("content:")) {
            (Some(above), _) if indent > above => content,
            (_, Some(value)) => {
                block = value.trim().starts_with(['|', '>']).then_some(indent);
                if block.is_some() { "" } else { value.trim().trim_matches(['"', '\'']) }
            }
            _ => "",
        };
        if value.len() >= 3 && !is_stand_in(value) {
            let from = at + line.find(value).unwrap_or(0);
            finds.push(find(from..from + value.len()));
        }
        at += line.len();
    }
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
            // A block of several lines has none of its key's name.
            let pair = content.split_once(": ").map(|(_, value)| value.trim());
            let is_block =
                content.trim_end_matches(['-', '+']).ends_with([' ', '|', '>']) || content.ends_with(':');
            if let Some(value) = pair.or(Some(content.trim())).filter(|_| !is_block) {
                let value = value.trim_matches(['"', '\'', ',']);
                let value_at = at + content.rfind(value).unwrap_or(0);
                if value.len() >= 3 && !is_stand_in(value) {
                    finds.push(find(value_at..value_at + value.len()));
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
