//! The pages that name the test behind each promise: every name is a test that is there.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

const PAGES: [&str; 2] = ["docs/reliability.md", "SECURITY.md"];

fn rust_files(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder").filter_map(Result::ok) {
        let path = entry.path();
        if path.is_dir() {
            rust_files(&path, files);
        } else if path.extension().is_some_and(|kind| kind == "rs") {
            files.push(path);
        }
    }
}

/// The names of all tests: functions below an attribute that ends with `test]`, or scenarios.
fn tests() -> BTreeSet<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = Vec::new();
    rust_files(&root.join("src"), &mut files);
    rust_files(&root.join("tests"), &mut files);
    let mut names = BTreeSet::new();
    for file in files {
        let text = fs::read_to_string(&file).expect("a source file");
        let mut is_test = false;
        for line in text.lines().map(str::trim_start) {
            is_test |= line == "#[test]" || line.starts_with("#[cfg(") && is_test;
            if let Some(rest) = line.strip_prefix("fn ") {
                let name: String = rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
                if is_test || file.starts_with(root.join("tests/real_client")) {
                    names.insert(name);
                }
                is_test = false;
            }
        }
    }
    names
}

/// The words in backticks that are named like tests.
fn named(page: &str) -> Vec<&str> {
    let is_name = |word: &&str| {
        word.matches('_').count() >= 2
            && word.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
    };
    page.split('`').skip(1).step_by(2).filter(is_name).collect()
}

#[test]
fn every_test_that_a_page_names_is_there() {
    let tests = tests();
    for page in PAGES {
        let text = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(page)).expect("the page");
        let named = named(&text);
        assert!(named.len() >= 10, "{page} names {} tests", named.len());
        let gone: Vec<_> = named.into_iter().filter(|name| !tests.contains(*name)).collect();
        assert!(gone.is_empty(), "{page} names tests that are not there: {gone:#?}");
        // What `.ci/promises` writes is a result, and names no test.
        let promises = text.split("## The last whole run").next().unwrap_or_default();
        let rows = promises.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| ---"));
        let bare: Vec<_> = rows.filter(|row| !row.contains('`') && !is_head(row)).collect();
        assert!(bare.is_empty(), "{page} has promises without a test: {bare:#?}");
    }
}

fn is_head(row: &str) -> bool {
    ["| promise |", "| attack |", "| what |"].iter().any(|head| row.starts_with(head))
}
