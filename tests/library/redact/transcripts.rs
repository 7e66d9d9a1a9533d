//! What the masker takes for a secret in transcripts of real sessions: one line a file, with how
//! often by kind. Run by hand, over folders that `PUNCHLIST_TRANSCRIPTS` names (separated by `:`);
//! with `PUNCHLIST_SHOW=1` each with the words around it.

use std::collections::BTreeMap;
use std::path::Path;

use punchlist::redact::mask;
use serde_json::Value;
use walkdir::WalkDir;

const MARK: &str = "[masked:";

#[test]
#[ignore = "over transcripts that are not part of the project"]
fn maskings_in_transcripts() {
    let folders = std::env::var("PUNCHLIST_TRANSCRIPTS").expect("PUNCHLIST_TRANSCRIPTS names folders");
    let (mut all, mut texts, mut bytes): (BTreeMap<String, usize>, usize, usize) = (BTreeMap::new(), 0, 0);
    let files = folders.split(':').flat_map(|folder| WalkDir::new(folder).sort_by_file_name()).flatten();
    for file in files.filter(|file| file.path().extension().is_some_and(|ending| ending == "jsonl")) {
        let mut kinds: BTreeMap<String, usize> = BTreeMap::new();
        let text = std::fs::read_to_string(file.path()).unwrap_or_default();
        for row in text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok()) {
            each_text(&row, &mut |text| {
                (texts, bytes) = (texts + 1, bytes + text.len());
                for kind in maskings(text) {
                    *kinds.entry(kind).or_default() += 1;
                }
            });
        }
        eprintln!("{}: {kinds:?}", name(file.path()));
        for (kind, count) in kinds {
            *all.entry(kind).or_default() += count;
        }
    }
    let count: usize = all.values().sum();
    eprintln!("{count} maskings in {texts} texts of {bytes} bytes: {all:?}");
}

fn name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

fn each_text(value: &Value, act: &mut impl FnMut(&str)) {
    match value {
        Value::String(text) => act(text),
        Value::Array(items) => items.iter().for_each(|item| each_text(item, act)),
        Value::Object(fields) => {
            // Signatures of the client's, which no audit reads.
            fields.iter().filter(|(key, _)| *key != "signature").for_each(|(_, value)| each_text(value, act));
        }
        _ => {}
    }
}

/// Returns the kind of each masking in a text.
fn maskings(text: &str) -> Vec<String> {
    let masked = mask(text);
    if masked.count == 0 {
        return Vec::new();
    }
    let marks = masked.text.match_indices(MARK).skip(text.matches(MARK).count());
    let kind = |(at, _): (usize, &str)| {
        let rest = &masked.text[at + MARK.len()..];
        if std::env::var_os("PUNCHLIST_SHOW").is_some() {
            let from = masked.text.floor_char_boundary(at.saturating_sub(60));
            let to = masked.text.ceil_char_boundary((at + 60).min(masked.text.len()));
            eprintln!("    {:?}", &masked.text[from..to]);
        }
        rest.split(']').next().unwrap_or_default().to_owned()
    };
    marks.map(kind).collect()
}
