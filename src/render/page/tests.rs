//! The page's data and frame, without a browser.

use jiff::tz::{TimeZone, offset};

use super::*;
use crate::testing::{annotated, record};

/// Two decisions: a block with two findings, of which much is known, and one that was skipped.
fn tiny_log() -> Vec<Annotated> {
    let aside = serde_json::json!(record("aside"));
    annotated(&format!("{}{aside}", include_str!("../fixtures/tiny.jsonl")))
}

fn made(decisions: &[Annotated], room: Room, snapshot_of: impl FnMut(&str) -> Option<Snapshot>) -> Page {
    let zone = TimeZone::fixed(offset(2));
    let made = "2026-11-16T08:00:00Z".parse().expect("a time");
    page(
        decisions,
        &About { made, zone: &zone, only: Some("of project shop".into()), torn: 1, repeats: &[], room },
        snapshot_of,
    )
}

/// Returns a block of the page, parsed as the script parses it.
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
        r#"{"event":"Stop","masked":0,"phases_ms":{},"prompt_bytes":0,"time":"2026-10-01T00:00:00Z","version":""}"#
    );
}

/// Writes one field per line, so that a golden text is easy to read.
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
    let decisions =
        annotated(&["a", "b", "c"].map(|id| serde_json::json!(record(id)).to_string()).join("\n"));
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

#[test]
fn nothing_in_a_value_ends_its_block() {
    let hostile = "</script><!--<script>&\u{2028}\u{2029}\0\"\\";
    let block = json_block("x", &hostile);
    assert_eq!(
        block,
        "<script type=\"application/json\" id=\"x\">\"\\u003c/script\\u003e\\u003c!--\\u003cscript\\u003e\\u0026\
         \\u2028\\u2029\\u0000\\\"\\\\\"</script>\n"
    );
    let json = block.strip_prefix("<script type=\"application/json\" id=\"x\">").expect("a block");
    let json = json.strip_suffix("</script>\n").expect("its end");
    assert_eq!(serde_json::from_str::<String>(json).expect("json"), hostile);
}

#[test]
fn a_hash_is_the_one_that_browsers_compute() {
    // The example of the Content Security Policy specification.
    assert_eq!(
        source_hash("alert('Hello, world.');"),
        "'sha256-qznLcsROx4GACP2dm0UCKCzCG+HiZ1guq6ZZDob/Tng='"
    );
}
