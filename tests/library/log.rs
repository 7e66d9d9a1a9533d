//! Which figures come of which lines.

use jiff::tz::TimeZone;
use punchlist::finding::Category;
use punchlist::finding::Kind;
use punchlist::log::stats::*;
use punchlist::testing::annotated;

fn of(lines: &[String]) -> Stats {
    stats(&annotated(&lines.join("\n")), &TimeZone::UTC)
}

fn decision(id: &str, rest: &str) -> String {
    format!(r#"{{"id":"{id}","time":"2026-10-01T23:30:00Z","session":"s","project":"/w/shop",{rest}}}"#)
}

fn block(id: &str, findings: &[&str]) -> String {
    decision(id, &format!(r#""decision":"block","cause":"findings","findings":[{}]"#, findings.join(",")))
}

fn outcome(of: &str, finding: usize, outcome: &str) -> String {
    format!(
        r#"{{"kind":"outcome","schema":2,"id":"n","time":"2026-10-01T00:00:00Z","of":"{of}","finding":{finding},"outcome":"{outcome}"}}"#
    )
}

fn label(of: &str, finding: Option<usize>, label: &str) -> String {
    let finding = finding.map(|number| format!("\"finding\":{number},")).unwrap_or_default();
    format!(
        r#"{{"kind":"label","schema":2,"id":"n","time":"2026-10-01T00:00:00Z","of":"{of}",{finding}"label":"{label}"}}"#
    )
}

const A: &str = r#"{"category":"A","status":"confirmed","source":"facts","kind":"missing","path":"a.rs"}"#;
const B: &str =
    r#"{"category":"B","status":"confirmed","source":"reader","kind":"not-in-plan","path":"gen/x.rs"}"#;
const UNVERIFIED: &str = r#"{"category":"C","status":"cannot-verify","source":"reader","kind":"left-out"}"#;

#[test]
fn the_interval_is_wilsons() {
    // Figures of the literature: 8 of 10, and none of 10.
    let share = Share { right: 8, wrong: 2, ..Share::default() }.with_interval();
    let round = |number: Option<f64>| number.map(|number| (number * 1e4).round() / 1e4);
    assert_eq!(
        (round(share.precision), round(share.low), round(share.high)),
        (Some(0.8), Some(0.4902), Some(0.9433))
    );
    let none = Share { right: 0, wrong: 10, ..Share::default() }.with_interval();
    assert_eq!((none.low, round(none.high)), (Some(0.0), Some(0.2775)));
    assert_eq!(Share::default().with_interval(), Share::default());
}

#[test]
fn percentiles_are_times_that_something_took() {
    let hundred = percentiles((1..=100).rev().map(f64::from).collect()).expect("some");
    assert_eq!((hundred.p50_ms, hundred.p90_ms, hundred.p99_ms), (50.0, 90.0, 99.0));
    let one = percentiles(vec![7.0]).expect("some");
    assert_eq!((one.p50_ms, one.p99_ms), (7.0, 7.0));
    assert_eq!(percentiles(vec![]), None);
}

#[test]
fn precision_counts_confirmed_findings_whose_end_is_known() {
    let lines = [
        block("a", &[A, B, UNVERIFIED]).replacen(
            '{',
            r#"{"auditor":{"model":"haiku","outcome":"answered"},"#,
            1,
        ),
        outcome("a", 1, "fixed"),
        outcome("a", 2, "disputed"),
        outcome("a", 3, "disputed"),
        block("b", &[A, B]),
        outcome("b", 1, "ignored"),
        label("b", Some(2), "right"),
        decision("c", r#""decision":"allow","cause":"clean""#),
        label("c", None, "wrong"),
    ];
    let stats = of(&lines);
    assert_eq!((stats.blocks, stats.allows, stats.audited, stats.block_rate), (2, 1, 3, Some(2.0 / 3.0)));
    let Outcomes { findings, fixed, disputed, ignored, open, said_right, said_wrong, missed } =
        stats.outcomes;
    assert_eq!((findings, fixed, disputed, ignored, open), (4, 1, 1, 1, 1));
    assert_eq!((said_right, said_wrong, missed), (1, 0, 1));
    assert_eq!((stats.precision.overall.right, stats.precision.overall.wrong), (2, 1));
    let named = |named: &[Named]| {
        named.iter().map(|one| (one.name.clone(), one.share.right, one.share.wrong)).collect::<Vec<_>>()
    };
    assert_eq!(named(&stats.precision.by_category), [("A".into(), 1, 0), ("B".into(), 1, 1)]);
    assert_eq!(named(&stats.precision.by_source), [("facts".into(), 1, 0), ("reader".into(), 1, 1)]);
    assert_eq!(named(&stats.precision.by_model), [("haiku".into(), 0, 1)], "facts say nothing of a model");
}

#[test]
fn what_a_project_disputes_again_and_again_is_told_with_a_line_of_config() {
    let mut lines = Vec::new();
    for number in 0..3 {
        let id = format!("b{number}");
        lines.push(block(&id, &[&B.replace("gen/x", &format!("gen/{number}"))]));
        lines.push(outcome(&id, 1, "disputed"));
    }
    lines.push(block("other", &[&B.replace("gen/x", "src/y")]));
    lines.push(outcome("other", 1, "fixed"));
    let stats = of(&lines);
    assert_eq!(
        stats.repeats,
        [Repeat {
            project: "/w/shop".into(),
            category: Category::B,
            kind: Some(Kind::NotInPlan),
            place: Some("gen/".into()),
            count: 3,
            right: 0,
            right_in_category: 1,
            newest: "b2".into(),
            file: "/w/shop/.claude/punchlist.toml".into(),
            line: "[[audit.ignore]]\npaths = [\"gen/**\"]\ncategories = [\"B\"]\nwhy = \"disputed 3 times\""
                .into(),
        }]
    );
    assert_eq!(punchlist::config::parse::parse(&stats.repeats[0].line, "x").errors, [], "it can be pasted");
    assert_eq!(of(&lines[2..]).repeats, [], "twice is not often");
    for number in 0..3 {
        lines.push(block(&format!("r{number}"), &[B]));
        lines.push(outcome(&format!("r{number}"), 1, "fixed"));
    }
    assert_eq!(of(&lines).repeats, [], "as often right as wrong");
}

#[test]
fn a_check_that_was_not_run_has_a_narrower_line() {
    let unrun = r#"{"category":"A","status":"confirmed","source":"reader","kind":"not-run"}"#;
    let mut lines = Vec::new();
    for number in 0..3 {
        lines.push(block(&format!("b{number}"), &[unrun]));
        lines.push(label(&format!("b{number}"), None, "wrong"));
    }
    let stats = of(&lines);
    assert_eq!(
        (stats.repeats[0].line.as_str(), &stats.repeats[0].place),
        ("unrun_checks = \"advise\"", &None)
    );
}

#[test]
fn time_and_money_are_counted_where_they_were_spent() {
    let audit = |id: &str, ms: f64, outcome: &str| {
        decision(
            id,
            &format!(
                r#""decision":"allow","cause":"clean","auditor":{{"model":"haiku","outcome":"{outcome}","duration_ms":{ms},
                "usage":{{"input_tokens":100,"output_tokens":10,"cost_usd":0.5}}}},"phases_ms":{{"total":{},"auditor":{ms}}}"#,
                ms + 12.0
            ),
        )
        .replace('\n', "")
    };
    let aside = decision("z", r#""decision":"allow","cause":"off","phases_ms":{"total":2}"#);
    let lines = [audit("a", 1000.0, "answered"), audit("b", 3000.0, "timed-out"), aside];
    let stats = of(&lines);
    let ours = stats.latency.ours_audited.expect("some");
    assert_eq!((ours.count, ours.p50_ms, ours.p99_ms), (2, 12.0, 12.0));
    assert_eq!(stats.latency.ours_aside.map(|times| times.p50_ms), Some(2.0));
    assert_eq!(stats.latency.auditor.map(|times| (times.p50_ms, times.p99_ms)), Some((1000.0, 3000.0)));
    assert_eq!((stats.auditor.asked, stats.auditor.answered), (2, 1));
    assert_eq!(stats.auditor.failures, [Count { name: "timed-out".into(), count: 1 }]);
    let spent =
        |name: &str| Spent { name: name.into(), audits: 2, tokens_in: 200, tokens_out: 20, cost_usd: 1.0 };
    assert_eq!((stats.days, stats.by_project), (vec![spent("2026-10-01")], vec![spent("/w/shop")]));
}

#[test]
fn both_readers_are_counted_and_paid_for() {
    let second = r#""second_reader":{"model":"sonnet","outcome":"OUTCOME","duration_ms":500,
        "usage":{"input_tokens":40,"output_tokens":4,"cost_usd":0.25}}"#;
    let audit = |id: &str, outcome: &str, findings: &str| {
        let second = second.replace("OUTCOME", outcome);
        let rest = format!(
            r#""decision":"allow","cause":"clean","findings":[{findings}],
            "auditor":{{"model":"haiku","outcome":"answered","duration_ms":1000,
            "usage":{{"input_tokens":100,"output_tokens":10,"cost_usd":0.5}}}},{second},
            "phases_ms":{{"total":1512,"auditor":1000,"second-reader":500}}"#
        );
        decision(id, &rest).replace('\n', "")
    };
    let said = r#"{"category":"A","status":"confirmed","second":{"upheld":true,"why":"w"}},
        {"category":"A","status":"refuted","second":{"upheld":false,"why":"w"}},
        {"category":"B","status":"refuted"}"#;
    let stats = of(&[audit("a", "answered", said), audit("b", "timed-out", "")]);
    let SecondStats { reader, upheld, dismissed } = stats.second_reader;
    assert_eq!((reader.asked, reader.answered, upheld, dismissed), (2, 1, 1, 1));
    assert_eq!(reader.failures, [Count { name: "timed-out".into(), count: 1 }]);
    assert_eq!((stats.auditor.asked, stats.auditor.answered), (2, 2));
    assert_eq!(stats.latency.auditor.map(|times| times.p50_ms), Some(1500.0));
    assert_eq!(stats.latency.ours_audited.map(|times| times.p50_ms), Some(12.0));
    let all = Spent { name: "/w/shop".into(), audits: 2, tokens_in: 280, tokens_out: 28, cost_usd: 1.5 };
    assert_eq!(stats.by_project, [all]);
}

#[test]
fn a_dispute_that_a_reader_does_not_share_counts_neither_way() {
    let disputed = |id: &str, was_wrong: &str| {
        let note = outcome(id, 1, "disputed");
        [block(id, &[B]), note.replacen('}', &format!(",\"was_wrong\":{was_wrong}}}"), 1)]
    };
    let lines: Vec<String> = [disputed("a", "true"), disputed("b", "false")].into_iter().flatten().collect();
    let stats = of(&lines);
    assert_eq!((stats.precision.overall.right, stats.precision.overall.wrong), (0, 1));
    assert_eq!(stats.outcomes.disputed, 2);
}
