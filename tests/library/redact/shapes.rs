//! How many shapes of secrets are missed, and how many of what only looks like one are masked: tables of
//! shapes, each with values of its own in every run.

use std::collections::BTreeMap;

use punchlist::redact::mask;

use crate::secret_shapes::{
    HARMLESS, HARMLESS_HELD_BACK, SECRET, SECRET_HELD_BACK, Shape, rows, seed, shapes, survives,
};

/// Values that are made up for each shape.
const VALUES: u64 = 20;

/// Returns in how many of its values each shape went wrong, without those that never did.
fn failures(table: &'static str, seed: u64, is_wrong: fn(&Shape) -> bool) -> BTreeMap<String, u64> {
    let mut failures = BTreeMap::new();
    for round in 0..VALUES {
        for shape in shapes(table, seed.wrapping_add(round)).iter().filter(|shape| is_wrong(shape)) {
            *failures.entry(shape.name.clone()).or_default() += 1;
        }
    }
    failures
}

fn leaks(shape: &Shape) -> bool {
    let masked = mask(&shape.text).text;
    shape.secrets.iter().any(|secret| survives(secret, &masked))
}

fn is_masked(shape: &Shape) -> bool {
    mask(&shape.text).count > 0
}

#[test]
fn figures() {
    let seed = seed();
    for (name, table, wrong) in [
        ("secret", SECRET, leaks as fn(&Shape) -> bool),
        ("held back", SECRET_HELD_BACK, leaks),
        ("harmless", HARMLESS, is_masked),
        ("harmless held back", HARMLESS_HELD_BACK, is_masked),
    ] {
        let failures = failures(table, seed, wrong);
        let often = failures.values().filter(|count| **count * 2 > VALUES).count();
        println!("{name}: {} shapes, {} ever, {often} mostly", rows(table).count(), failures.len());
        for (name, count) in failures {
            println!("    {count:3} {name}");
        }
    }
}
