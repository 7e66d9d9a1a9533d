//! What is built into the program, held against `deny.toml`: licences, sources and duplicates.
//! `cargo deny` does the same and more in CI; this needs nothing but cargo.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

use serde_json::Value;

struct Policy {
    licences: Vec<String>,
    may_be_double: BTreeSet<String>,
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn policy() -> Policy {
    let text = std::fs::read_to_string(root().join("deny.toml")).expect("deny.toml");
    let table: toml::Table = text.parse().expect("TOML");
    let words = |table: &toml::Value| -> Vec<String> {
        let words = table.as_array().expect("a list").iter();
        words.map(|word| word.as_str().expect("a word").to_owned()).collect()
    };
    Policy {
        licences: words(&table["licenses"]["allow"]),
        may_be_double: words(&table["bans"]["skip"]).into_iter().collect(),
    }
}

/// Every package that any build of ours needs, on any system.
fn packages() -> Option<Vec<Value>> {
    let metadata = |more: &[&str]| {
        let mut cargo = Command::new(env!("CARGO"));
        cargo.args(["metadata", "--format-version", "1", "--locked"]).args(more).current_dir(root());
        cargo.output().ok().filter(|output| output.status.success()).map(|output| output.stdout)
    };
    // What is not here yet has to be downloaded, where that can be.
    let Some(json) = metadata(&["--offline"]).or_else(|| metadata(&[])) else {
        eprintln!("SKIPPED: cargo can't tell what we depend on without a network");
        return None;
    };
    let all: Value = serde_json::from_slice(&json).expect("JSON");
    all["packages"].as_array().cloned()
}

/// Whether an SPDX expression is met by the licences that are allowed. `/` is an old way to write
/// OR.
fn is_met(expression: &str, allowed: &[String]) -> bool {
    let spaced = expression.replace('/', " OR ").replace('(', " ( ").replace(')', " ) ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let mut at = 0;
    any_of(&words, &mut at, allowed) && at == words.len()
}

fn any_of(words: &[&str], at: &mut usize, allowed: &[String]) -> bool {
    let mut met = all_of(words, at, allowed);
    while words.get(*at) == Some(&"OR") {
        *at += 1;
        met |= all_of(words, at, allowed);
    }
    met
}

fn all_of(words: &[&str], at: &mut usize, allowed: &[String]) -> bool {
    let mut met = one(words, at, allowed);
    while words.get(*at) == Some(&"AND") {
        *at += 1;
        met &= one(words, at, allowed);
    }
    met
}

fn one(words: &[&str], at: &mut usize, allowed: &[String]) -> bool {
    let Some(word) = words.get(*at) else { return false };
    *at += 1;
    if *word == "(" {
        let met = any_of(words, at, allowed);
        let is_closed = words.get(*at) == Some(&")");
        *at += 1;
        return met && is_closed;
    }
    let mut licence = (*word).to_owned();
    if words.get(*at) == Some(&"WITH") {
        licence = format!("{licence} WITH {}", words.get(*at + 1).unwrap_or(&""));
        *at += 2;
    }
    allowed.contains(&licence)
}

#[test]
fn an_expression_of_licences_is_read_with_its_brackets() {
    let allowed = ["MIT", "ISC", "Apache-2.0 WITH LLVM-exception"].map(String::from);
    for (expression, met) in [
        ("MIT", true),
        ("GPL-3.0", false),
        ("GPL-3.0 OR MIT", true),
        ("GPL-3.0 AND MIT", false),
        ("MIT/Apache-2.0", true),
        ("(GPL-3.0 OR MIT) AND ISC", true),
        ("(GPL-3.0 OR MIT) AND Zlib", false),
        ("Apache-2.0 WITH LLVM-exception", true),
        ("Apache-2.0", false),
        ("(MIT", false),
        ("", false),
    ] {
        assert_eq!(is_met(expression, &allowed), met, "{expression}");
    }
}

#[test]
fn every_dependency_has_a_licence_that_we_may_ship() {
    let Some(packages) = packages() else { return };
    let policy = policy();
    let refused: Vec<_> = packages
        .iter()
        .map(|package| (package["name"].to_string(), package["license"].as_str().unwrap_or("none at all")))
        .filter(|(_, licence)| !is_met(licence, &policy.licences))
        .collect();
    assert!(packages.len() > 100, "{}", packages.len());
    assert!(refused.is_empty(), "{refused:?}");
}

/// One registry, no git repository, no folder but our own.
#[test]
fn every_dependency_comes_from_the_one_registry() {
    let lock = std::fs::read_to_string(root().join("Cargo.lock")).expect("the lock file");
    let lock: toml::Table = lock.parse().expect("TOML");
    let packages = lock["package"].as_array().expect("packages");
    let sources: BTreeSet<_> =
        packages.iter().filter_map(|package| package.get("source")?.as_str()).collect();
    assert_eq!(sources.len(), 1, "{sources:?}");
    assert!(sources.iter().all(|source| source.starts_with("registry+")), "{sources:?}");
    let local: Vec<_> = packages.iter().filter(|package| package.get("source").is_none()).collect();
    assert_eq!(local.len(), 1, "{local:?}");
    let unchecked = packages
        .iter()
        .filter(|package| package.get("source").is_some() && package.get("checksum").is_none());
    assert_eq!(unchecked.count(), 0, "each with its checksum");
}

#[test]
fn no_dependency_is_there_twice_but_those_that_are_listed() {
    let lock = std::fs::read_to_string(root().join("Cargo.lock")).expect("the lock file");
    let lock: toml::Table = lock.parse().expect("TOML");
    let mut versions = BTreeMap::<String, usize>::new();
    for package in lock["package"].as_array().expect("packages") {
        *versions.entry(package["name"].as_str().expect("a name").to_owned()).or_default() += 1;
    }
    let double: BTreeSet<_> =
        versions.into_iter().filter(|(_, count)| *count > 1).map(|(name, _)| name).collect();
    let listed = policy().may_be_double;
    let new: Vec<_> = double.difference(&listed).collect();
    assert!(new.is_empty(), "two versions of {new:?}");
}
