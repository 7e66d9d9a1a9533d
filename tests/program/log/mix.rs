//! What the made-up year is made of.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::sample_log::year;

#[test]
fn a_year_is_the_same_for_the_same_seed_and_mixed_as_a_teams_is() {
    let lines = year(1, 4000);
    assert_eq!(lines, year(1, 4000));
    assert_ne!(lines, year(2, 4000));
    let (mut causes, mut kinds) = (BTreeMap::<String, usize>::new(), BTreeMap::<String, usize>::new());
    let mut times = Vec::new();
    for line in &lines {
        let value: Value = serde_json::from_str(line).expect("JSON");
        times.push(value["time"].as_str().expect("a time").to_owned());
        match value["kind"].as_str() {
            Some(kind) => *kinds.entry(kind.to_owned()).or_default() += 1,
            None => *causes.entry(value["cause"].as_str().expect("a cause").to_owned()).or_default() += 1,
        }
    }
    let share = |names: &[&str]| {
        let count: usize = names.iter().filter_map(|name| causes.get(*name)).sum();
        count * 100 / 4000
    };
    assert_eq!(causes.values().sum::<usize>(), 4000);
    assert!((20..30).contains(&share(&["clean"])), "{causes:?}");
    let aside =
        ["nothing-to-audit", "unchanged", "plan-mode", "background-work", "off", "budget", "loop-guard"];
    assert!((55..66).contains(&share(&aside)), "{causes:?}");
    assert!((4..8).contains(&share(&["findings"])), "{causes:?}");
    assert!(share(&["auditor-timeout", "auditor-unavailable", "auditor-unreadable"]) >= 1, "{causes:?}");
    assert!(kinds["outcome"] > 200 && kinds["label"] > 10, "{kinds:?}");
    assert!(times.first() > Some(&"2025-10-01".to_owned()) && times.last() < Some(&"2026-10-08".to_owned()));
}
