//! What the benchmark makes of its figures.

#[path = "../../benches/table/rows.rs"]
mod rows;

use rows::{Row, Unit, table};

#[test]
fn a_row_misses_from_its_slack_on() {
    let misses = |measured| Row::new("x", measured, Unit::Times, 10.0).misses(1.2);
    assert_eq!([10.0, 12.0, 12.1].map(misses), [false, false, true]);
    assert!(!Row::without_limit("x", 99.0, Unit::Times).misses(1.2));
    assert!(Row::new("calls", 1.0, Unit::Count, 0.0).misses(f64::INFINITY), "no slack makes more of nothing");
}

#[test]
fn the_table_says_what_was_measured_and_whether_it_holds() {
    let rows = [
        Row::new("first read", 6.1, Unit::Times, 6.0).note("61 ms, wc 10 ms".into()),
        Row::without_limit("jq", 54.0, Unit::Times),
        Row::new("memory", 15.96, Unit::Megabytes, 32.0),
        Row::new("log list", 301.0, Unit::Milliseconds, 300.0),
        Row::new("calls of a model", 3.0, Unit::Count, 0.0),
    ];
    let lines: Vec<String> =
        table(&rows, 1.2).lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
    assert_eq!(
        lines,
        [
            "measured at most from",
            "first read 6.10 × 6.00 × over, within the slack 61 ms, wc 10 ms",
            "memory 16.0 MB 32.0 MB holds",
            "log list 301.0 ms 300.0 ms over, within the slack",
            "calls of a model 3 0 MISSED",
            "",
            "for comparison",
            "jq 54.00 ×",
        ]
    );
}
