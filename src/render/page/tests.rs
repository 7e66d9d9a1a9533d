//! The page's data and frame, without a browser.

use jiff::tz::{TimeZone, offset};

use super::*;
use crate::testing::{annotated, record};

/// Two decisions: a block with two findings, of which much is known, and one that stepped aside.
fn tiny_log() -> Vec<Annotated<Record>> {
    let block = serde_json::json!({
        "schema": 1, "id": "k3f92m7q1x", "time": "2026-10-25T00:30:00.250Z", "session": "0f3a-1", "project": "/home/me/shop",
        "event": "Stop", "decision": "block", "cause": "findings",
        "plan": {"source": "touched-file", "path": "PLAN.md", "steps": 4, "ticked": 3},
        "findings": [
            {"category": "A", "status": "confirmed", "source": "both", "kind": "missing", "claim": "Write <b>a.rs</b> & more",
             "claimed_in": "plan", "proof": "$ ls a.rs",
             "path": "a.rs", "why": "there is no such file", "settle": "write it", "check": "its words stand in the evidence", "step": 2,
             "second": {"upheld": true, "why": "the file is not there"}},
            {"category": "ask", "status": "refuted", "source": "reader", "kind": "left-out", "why": "w", "settle": "s",
             "check": "the session did touch it"},
        ],
        "files": [
            {"path": "a.rs", "touched": [], "state": {"missing": {"elsewhere": "b/a.rs"}}, "entered": {"left-out": "missing"}, "bytes": 0},
            {"path": "c.rs", "touched": ["Edit"], "state": {"file": {"bytes": 900}}, "entered": {"cut": 300}, "bytes": 600, "masked": 1},
        ],
        "auditor": {"backend": "claude", "client": null, "model": "haiku", "outcome": "answered", "duration_ms": 2000.04,
            "usage": {"input_tokens": 1000, "output_tokens": 50, "cache_read_tokens": 20, "cache_write_tokens": 3, "cost_usd": 0.0012},
            "flags": []},
        "second_reader": {"backend": "claude", "client": null, "model": "haiku", "outcome": "answered", "duration_ms": 500.02,
            "usage": {"input_tokens": 100, "output_tokens": 5, "cache_read_tokens": 900, "cache_write_tokens": 0, "cost_usd": 0.0003},
            "flags": []},
        "phases_ms": {"read": 1.5, "auditor": 2000.0, "second-reader": 500.0, "total": 2512.34},
    });
    let notes = [
        serde_json::json!({"kind": "outcome", "schema": 2, "id": "n", "time": "2026-10-25T01:00:00Z", "of": "k3f92m7q1x", "finding": 1,
         "outcome": "disputed", "sentence": "It is in b/a.rs.", "was_wrong": false}),
        serde_json::json!({"kind": "label", "schema": 2, "id": "l", "time": "2026-10-26T00:00:00Z", "of": "k3f92m7q1x", "finding": 1,
         "label": "right", "note": "it was not"}),
    ];
    let aside = serde_json::json!(record("aside"));
    let lines: Vec<String> = [block, aside].iter().chain(&notes).map(ToString::to_string).collect();
    whole(&lines.join("\n"))
}

fn whole(log: &str) -> Vec<Annotated<Record>> {
    annotated(log).into_iter().map(|decision| decision.into_record().expect("a record")).collect()
}

fn made(
    decisions: &[Annotated<Record>],
    room: Room,
    snapshot_of: impl FnMut(&str) -> Option<Snapshot>,
) -> Page {
    let zone = TimeZone::fixed(offset(2));
    let made = "2026-11-16T08:00:00Z".parse().expect("a time");
    page(
        decisions,
        &About { made, zone: &zone, only: Some("of project shop".into()), torn: 1, repeats: &[], room },
        snapshot_of,
    )
}

/// A block of the page, read as the script reads it.
fn block(page: &Page, id: &str) -> Option<serde_json::Value> {
    let start = format!("<script type=\"application/json\" id=\"{id}\">");
    let json = page.text.split_once(&start)?.1.split_once("</script>")?.0;
    Some(serde_json::from_str(json).expect("json"))
}

#[test]
fn the_data_of_a_tiny_log() {
    let page = made(&tiny_log(), Room::default(), |_| None);
    let mut head = block(&page, "head").expect("a head");
    head["version"] = "VERSION".into();
    insta::assert_snapshot!("tiny_head", compact(&head));
    let details: Vec<String> =
        serde_json::from_value(block(&page, "details").expect("details")).expect("texts");
    let first: serde_json::Value = serde_json::from_str(&details[0]).expect("a detail");
    insta::assert_snapshot!("tiny_detail", compact(&first));
    assert_eq!(
        details[1],
        r#"{"time":"2026-10-01T00:00:00Z","event":"Stop","masked":0,"prompt_bytes":0,"phases_ms":{},"version":""}"#
    );
}

/// One line for each field, so that a golden text is read at a glance.
fn compact(value: &serde_json::Value) -> String {
    let line = |(name, value): (&String, &serde_json::Value)| match value {
        serde_json::Value::Object(inner) if name == "rows" => {
            inner.iter().map(|(name, value)| format!("rows.{name}: {value}\n")).collect()
        }
        value => format!("{name}: {value}\n"),
    };
    value.as_object().expect("an object").iter().map(line).collect()
}

#[test]
fn the_newest_have_the_room_first_and_what_is_left_out_is_counted() {
    let decisions = whole(&["a", "b", "c"].map(|id| serde_json::json!(record(id)).to_string()).join("\n"));
    let snapshot =
        |id: &str| (id != "b").then(|| Snapshot { asks: vec![id.repeat(30)], ..Snapshot::default() });
    let detail = detail::detail(&decisions[0]).len();
    let page = made(&decisions, Room { details: detail * 2, snapshots: 200 }, snapshot);
    assert_eq!((page.decisions, page.details_left_out, page.snapshots_left_out), (3, 1, 1));
    assert_eq!(block(&page, "head").expect("a head")["snapshots_left_out"], 1);
    let details: Vec<String> =
        serde_json::from_value(block(&page, "details").expect("details")).expect("texts");
    assert_eq!(details.iter().map(String::is_empty).collect::<Vec<_>>(), [true, false, false]);
    assert_eq!(block(&page, "snapshot-0"), None);
    assert_eq!(block(&page, "snapshot-2").expect("a snapshot")["asks"], serde_json::json!(["c".repeat(30)]));
}

#[test]
fn nothing_of_the_frame_is_left_open_and_nothing_of_the_data_is_put_in_twice() {
    let mut decisions = tiny_log();
    decisions[0].decision.id = "{{script}}{{policy}}</script><script>alert(1)</script>".into();
    let snapshot = Snapshot { final_message: Some("{{blocks}}</script>".into()), ..Snapshot::default() };
    let page = made(&decisions, Room::default(), |_| Some(snapshot.clone()));
    let frame = FRAME.replace("{{blocks}}", "");
    assert_eq!(page.text.matches("{{script}}{{policy}}\\u003c/script").count(), 1);
    assert!(!page.text.contains("<script>alert"));
    assert_eq!(frame.matches("{{").count(), 3, "policy, style, script");
    assert_eq!(
        page.text.matches("</script>").count(),
        2 + 2 + 1,
        "head, details, two snapshots and the script"
    );
    assert!(!SCRIPT.concat().contains("</") && !SCRIPT.concat().contains("<!--"));
}

#[test]
fn the_script_never_makes_markup_of_a_text() {
    for part in SCRIPT {
        for way in [
            "innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "DOMParser", "eval(",
            "Function(",
        ] {
            assert!(!part.contains(way), "{way}");
        }
    }
    assert!(!FRAME.contains("onclick") && !FRAME.contains(" style="));
}
