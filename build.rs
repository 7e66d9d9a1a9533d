//! Makes the table of vendors' tokens out of the rules of a secret scanner, at build time: the program
//! that runs on every stop parses no rules, and what it has of the scanner is data.
//!
//! Taken are rules whose secret begins with letters of its own (`ghp_…`). Those that know a secret only
//! by a vendor's name nearby would mask hashes in every text about that vendor.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::Path;
use std::{env, fs};

use regex_syntax::ParserBuilder;
use regex_syntax::hir::{Class, Hir, HirKind};
use secrets_scanner::RulesetConfig;
use secrets_scanner::rules::BUNDLED_RULES;

/// Shorter beginnings stand in ordinary words.
const SHORTEST_PREFIX: usize = 3;
/// A secret has at least so many bytes beside its beginning.
const SHORTEST_REST: usize = 12;
/// A rule with more beginnings than this names words of a language, not a vendor's own.
const MOST_PREFIXES: usize = 24;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let ruleset: RulesetConfig = toml::from_str(BUNDLED_RULES).expect("the scanner's rules");
    let mut table = String::from("&[\n");
    let mut seen = BTreeSet::new();
    for rule in &ruleset.rules {
        let Some(pattern) = rule.regex.as_deref() else { continue };
        let Some((prefixes, pattern)) = own_shape(pattern, rule.secret_group) else { continue };
        if !seen.insert(pattern.clone()) {
            continue;
        }
        let (kind, bits) = (kind(&rule.id), rule.entropy.unwrap_or(0.0));
        let _ = writeln!(
            table,
            "    VendorRule {{ kind: {kind:?}, prefixes: &{prefixes:?}, pattern: {pattern:?}, min_bits: {bits:?} }},"
        );
    }
    table.push(']');
    let folder = env::var("OUT_DIR").expect("a folder for what is made");
    fs::write(Path::new(&folder).join("vendor_rules.rs"), table).expect("a table");
}

/// Returns the name of a rule as it stands in a mask.
fn kind(id: &str) -> String {
    let name = id.strip_prefix("kingfisher.").and_then(|rest| rest.split('.').next()).unwrap_or(id);
    name.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' }).collect()
}

/// Returns how the secret of a rule begins, in small letters, and the pattern of the secret alone.
fn own_shape(pattern: &str, group: Option<usize>) -> Option<(Vec<String>, String)> {
    // ASCII only: tokens are, and classes of all letters of the world would be most of the table.
    let whole = ParserBuilder::new().unicode(false).utf8(false).build().parse(pattern).ok()?;
    let wanted = u32::try_from(group.unwrap_or(1)).ok()?;
    let secret = find_group(&whole, wanted).unwrap_or_else(|| whole.clone());
    let (prefixes, _) = prefixes(&secret);
    let shortest = prefixes.iter().map(String::len).min()?;
    let longest = prefixes.iter().map(String::len).max()?;
    let is_own = shortest >= SHORTEST_PREFIX
        && prefixes.len() <= MOST_PREFIXES
        && secret.properties().minimum_len()? >= longest.min(SHORTEST_REST) + SHORTEST_REST;
    let pattern = secret.to_string();
    let matches_text = regex_syntax::parse(&pattern).is_ok();
    (is_own && matches_text).then_some((prefixes, pattern))
}

fn find_group(hir: &Hir, wanted: u32) -> Option<Hir> {
    match hir.kind() {
        HirKind::Capture(capture) if capture.index == wanted => Some((*capture.sub).clone()),
        HirKind::Capture(capture) => find_group(&capture.sub, wanted),
        HirKind::Repetition(repetition) => find_group(&repetition.sub, wanted),
        HirKind::Concat(parts) | HirKind::Alternation(parts) => {
            parts.iter().find_map(|part| find_group(part, wanted))
        }
        _ => None,
    }
}

/// Returns every beginning in small letters, and whether they are all that there is.
fn prefixes(hir: &Hir) -> (Vec<String>, bool) {
    match hir.kind() {
        HirKind::Literal(literal) => (vec![String::from_utf8_lossy(&literal.0).to_lowercase()], true),
        HirKind::Empty | HirKind::Look(_) => (vec![String::new()], true),
        HirKind::Class(class) => one_letter(class).map_or((vec![String::new()], false), |letter| (vec![letter], true)),
        HirKind::Capture(capture) => prefixes(&capture.sub),
        HirKind::Repetition(_) => (vec![String::new()], false),
        HirKind::Alternation(parts) => {
            let all: Vec<_> = parts.iter().map(prefixes).collect();
            let is_exact = all.iter().all(|(_, is_exact)| *is_exact);
            (all.into_iter().flat_map(|(prefixes, _)| prefixes).collect(), is_exact)
        }
        HirKind::Concat(parts) => {
            let mut so_far = vec![String::new()];
            for part in parts {
                let (next, is_exact) = prefixes(part);
                so_far = so_far.iter().flat_map(|a| next.iter().map(move |b| format!("{a}{b}"))).collect();
                so_far.sort();
                so_far.dedup();
                if !is_exact || so_far.len() > MOST_PREFIXES {
                    return (so_far, false);
                }
            }
            (so_far, true)
        }
    }
}

/// Returns the letter of a class that has it only in its two cases.
fn one_letter(class: &Class) -> Option<String> {
    let Class::Bytes(class) = class else { return None };
    let mut letters = class.iter().flat_map(|range| range.start()..=range.end()).take(3);
    let first = letters.next()?.to_ascii_lowercase();
    letters.all(|letter| letter.to_ascii_lowercase() == first).then(|| char::from(first).to_string())
}
