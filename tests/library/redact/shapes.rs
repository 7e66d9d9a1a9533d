//! How many shapes of secrets are missed, and how many of what only looks like one are masked:
//! tables of shapes, each with values of its own in every run.

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

/// Returns the names of shapes that go wrong in more than a quarter of their values, and how many
/// values went wrong in all, in thousandths.
fn figures(table: &'static str, is_wrong: fn(&Shape) -> bool) -> (Vec<String>, u64) {
    let seed = seed();
    let failures = failures(table, seed, is_wrong);
    let values = VALUES * rows(table).count() as u64;
    let wrong: u64 = failures.values().sum();
    eprintln!("seed {seed}: {wrong} of {values} values went wrong: {failures:?}");
    let often = failures.into_iter().filter(|(_, count)| count * 4 > VALUES).map(|(name, _)| name).collect();
    (often, wrong * 1000 / values)
}

#[test]
fn a_known_shape_of_a_secret_leaked() {
    assert!(rows(SECRET).count() + rows(SECRET_HELD_BACK).count() >= 250);
    let (often, thousandths) = figures(SECRET, leaks);
    assert_eq!((often, thousandths < 5), (Vec::<String>::new(), true), "{thousandths} in a thousand");
}

#[test]
fn a_harmless_shape_was_masked() {
    assert!(rows(HARMLESS).count() + rows(HARMLESS_HELD_BACK).count() >= 120);
    for table in [HARMLESS, HARMLESS_HELD_BACK] {
        let (often, thousandths) = figures(table, is_masked);
        assert_eq!((often, thousandths < 5), (Vec::<String>::new(), true), "{thousandths} in a thousand");
    }
}

/// No rule is made for one of these: what fails here is told, and the share must not grow.
#[test]
fn more_shapes_leaked_that_no_rule_was_made_for() {
    let (often, thousandths) = figures(SECRET_HELD_BACK, leaks);
    assert!(often.len() <= 15 && thousandths < 110, "{thousandths} in a thousand; {often:?}");
}
