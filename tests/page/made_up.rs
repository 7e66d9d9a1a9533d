//! A log that might be somebody's: takes how many decisions, gives them with what was said of them later and what their
//! audits looked at. The same every time.

use std::collections::HashMap;

use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan};
use punchlist::log::told::join;
use punchlist::log::{Note, Record, Scene, Told};
use punchlist::page::{About, Page, Room, page};
use serde_json::{Value, json};

/// Numbers that look random and are the same every time.
pub(crate) struct Dice(u64);

impl Dice {
    fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0 >> 33
    }

    fn below(&mut self, end: u64) -> u64 {
        self.roll() % end
    }

    fn of<'a, T: ?Sized>(&mut self, some: &[&'a T]) -> &'a T {
        some[usize::try_from(self.below(some.len() as u64)).unwrap_or(0)]
    }

    /// A stretch around `middle`, sometimes far longer.
    #[expect(clippy::cast_precision_loss, reason = "made up")]
    fn around(&mut self, middle: f64) -> f64 {
        let tail = if self.below(20) == 0 { 6.0 } else { 1.0 };
        middle * (0.4 + self.below(1000) as f64 / 800.0) * tail
    }
}

/// Decisions, oldest first, with the scenes that are kept.
pub(crate) struct MadeUp {
    pub(crate) told: Vec<Told>,
    pub(crate) scenes: HashMap<String, Scene>,
}

const PROJECTS: [&str; 6] = [
    "/home/mira/code/shop",
    "/home/mira/code/ledger-api",
    "/home/jon/src/weather",
    "/home/jon/src/infra",
    "/home/ada/work/parser",
    "/home/ada/work/docs-site",
];

const FINDINGS: [(&str, &str, &str, &str, &str, &str); 6] = [
    (
        "A",
        "missing-file",
        "both",
        "Add a retry with backoff in `src/deliver/retry.rs`",
        "src/deliver/retry.rs",
        "the step is ticked, and there is no such file; nothing in the session wrote or moved it",
    ),
    (
        "A",
        "failed-command",
        "facts",
        "All tests pass.",
        "",
        "`cargo test` was run last at 14:02 and failed: 2 of 118 tests",
    ),
    (
        "A",
        "missing-content",
        "auditor",
        "Log every rejected webhook with its reason",
        "src/webhook.rs",
        "`src/webhook.rs` returns early on a bad signature and logs nothing there",
    ),
    (
        "B",
        "not-in-plan",
        "auditor",
        "src/cache.rs",
        "src/cache.rs",
        "the session added an in-memory cache that no step mentions",
    ),
    (
        "C",
        "no-trace",
        "auditor",
        "Benchmark the new encoder against the old one",
        "",
        "nothing in the session ran a benchmark, and it says that it is finished",
    ),
    (
        "ask",
        "no-trace",
        "both",
        "and please bump the changelog too",
        "CHANGELOG.md",
        "nothing touched CHANGELOG.md after that",
    ),
];

const DIFF: &str = "@@ -12,9 +12,14 @@ impl Webhook {\n     pub fn receive(&self, request: Request) -> Response {\n         let body = request.body();\n-        if !self.signature_is_valid(&request) {\n-            return Response::new(401);\n+        let Some(signature) = request.header(\"x-signature\") else {\n+            return Response::new(400);\n+        };\n+        if !self.verify(signature, body) {\n+            // TODO: say why\n+            return Response::new(401);\n         }\n         self.queue.push(body.to_owned());\n         Response::new(202)\n@@ -41,3 +46,7 @@ impl Webhook {\n         hmac::verify(&self.key, body, signature).is_ok()\n     }\n }\n+\n+fn reason(status: u16) -> &'static str {\n+    if status == 400 { \"no signature\" } else { \"bad signature\" }\n+}\n";

fn finding(dice: &mut Dice, status: &str) -> Value {
    let at = usize::try_from(dice.below(FINDINGS.len() as u64)).unwrap_or(0);
    let (category, problem, source, quote, path, why) = FINDINGS[at];
    let mut finding = json!({
        "category": category, "status": status, "source": source, "problem": problem, "quote": quote, "why": why,
        "settle": "do it, or say plainly why it is not needed", "step": at + 1,
        "verifier": match status {
            "confirmed" => "the quote stands in the plan; nothing on disk or in the session contradicts it",
            "refuted" => "the file exists, and the session did touch it",
            _ => "the file was cut: what is missing may hold it",
        },
        "evidence": [format!("$ ls {path}"), "ls: cannot access: No such file or directory", "exit 2, 14:02:11"],
    });
    if !path.is_empty() {
        finding["path"] = json!(path);
    }
    finding
}

fn scene() -> Scene {
    let steps = [
        ("Verify signatures before anything is queued", "ticked"),
        ("Log every rejected webhook with its reason", "ticked"),
        ("Add a retry with backoff in `src/deliver/retry.rs`", "ticked"),
        ("Benchmark the new encoder against the old one", "open"),
        ("Drop the old queue table", "dropped"),
    ];
    let steps: Vec<_> = steps
        .iter()
        .enumerate()
        .map(|(at, (text, state))| json!({"number": at + 1, "text": text, "state": state}))
        .collect();
    let scene = json!({
        "asks": ["Make the webhook receiver safe: verify signatures, log what is rejected, retry deliveries with backoff.",
            "Looks good. Go on with the plan, and please bump the changelog too."],
        "steps": steps,
        "final_message": "All steps are done. Signatures are verified before anything is queued, rejected webhooks are logged, and \
            deliveries are retried with backoff.\n\nAll tests pass.",
        "files": [{"path": "src/webhook.rs", "text": DIFF}, {"path": "docs/webhooks.md", "text": "# Webhooks\n\nSigned with HMAC-SHA256.\n"}],
    });
    serde_json::from_value(scene).expect("a scene")
}

/// What the second model cost, and what came of it.
fn auditor(dice: &mut Dice, outcome: &str) -> Value {
    let model = if dice.below(5) == 0 { "sonnet" } else { "haiku" };
    let (input, output) = (4_000 + dice.below(18_000), 200 + dice.below(900));
    #[expect(clippy::cast_precision_loss, reason = "made up")]
    let cost = (input as f64 * 1.0 + output as f64 * 5.0) / 1e6 * if model == "haiku" { 1.0 } else { 3.0 };
    json!({
        "backend": "claude", "client": "claude", "model": model, "outcome": outcome, "duration_ms": dice.around(6_200.0),
        "usage": {"input_tokens": input, "output_tokens": output, "cache_read_tokens": 0, "cache_write_tokens": 0, "cost_usd": cost},
        "flags": ["--tools", "--setting-sources", "--strict-mcp-config"],
    })
}

fn decision(dice: &mut Dice, number: usize, time: Timestamp) -> Value {
    let (decision, cause, outcome) = match dice.below(100) {
        0..7 => ("block", "findings", Some("answered")),
        7..9 => ("would", "findings", Some("answered")),
        9..11 => ("allow", "auditor-timeout", Some("timed-out")),
        11..12 => ("allow", "auditor-unavailable", Some("unavailable")),
        12..13 => ("allow", "auditor-unreadable", Some("unreadable")),
        13..45 => ("allow", "clean", Some("answered")),
        45..50 => ("allow", "only-unverified", Some("answered")),
        50..58 => ("allow", "loop-guard", None),
        58..70 => ("allow", "unchanged", None),
        70..78 => ("allow", "background-work", None),
        _ => ("allow", "nothing-to-audit", None),
    };
    let session = format!("{:08x}-77a1-4c52-9d1e-{:012x}", number / 4 * 2_654_435 % 0xffff_ffff, number / 4);
    let ours = dice.around(if outcome.is_some() { 9.0 } else { 1.6 });
    let mut phases = json!({"input": 0.1, "config": 0.1, "state": 0.2, "read": ours * 0.5, "wait": ours * 0.1, "total": ours});
    let mut record = json!({
        "schema": 1, "id": format!("{number:x}k3f92m7q"), "time": format!("{time:.3}"), "session": session,
        "project": PROJECTS[number / 4 * 7 % 11 % PROJECTS.len()], "event": "Stop",
        "decision": if decision == "block" { "block" } else { "allow" }, "cause": cause,
        "would_block": decision == "would", "dry_run": decision == "would",
        "client_version": "2.1.325", "version": "0.1.0",
    });
    if let Some(outcome) = outcome {
        let auditor = auditor(dice, outcome);
        phases["evidence"] = json!(ours * 0.2);
        phases["facts"] = json!(ours * 0.05);
        phases["prompt"] = json!(ours * 0.05);
        phases["auditor"] = auditor["duration_ms"].clone();
        phases["total"] = json!(ours + auditor["duration_ms"].as_f64().unwrap_or(0.0));
        record["auditor"] = auditor;
        record["plan"] = json!({"source": "approved-file", "path": "docs/plans/webhooks.md", "steps": 5, "ticked": 3, "dropped": 1});
        record["files"] = json!([
            {"path": "src/webhook.rs", "touched": ["Edit"], "state": {"file": {"bytes": 2310}}, "entered": "diff", "bytes": 812, "masked": 1},
            {"path": "docs/webhooks.md", "touched": ["Write"], "state": {"file": {"bytes": 41}}, "entered": "whole", "bytes": 41},
            {"path": "src/deliver/retry.rs", "touched": [], "state": {"missing": {"elsewhere": null}}, "entered": {"left-out": "missing"}, "bytes": 0},
        ]);
        record["prompt_bytes"] = json!(14_000 + dice.below(30_000));
        record["masked"] = json!(1);
        record["transcript"] = json!({"rows": 40 + dice.below(900), "skipped": {"unreadable": 0, "unknown": 2, "oversized": 0, "repaired": 0}});
    }
    let confirmed = if cause == "findings" { 1 + dice.below(3) } else { 0 };
    let others = match cause {
        "findings" => dice.below(2),
        "only-unverified" => 1,
        _ => 0,
    };
    let status = dice.of(&["cannot-verify", "refuted"]);
    let status = if cause == "only-unverified" { "cannot-verify" } else { status };
    let mut findings: Vec<_> = (0..confirmed).map(|_| finding(dice, "confirmed")).collect();
    findings.extend((0..others).map(|_| finding(dice, status)));
    record["findings"] = json!(findings);
    if cause.starts_with("auditor") {
        record["detail"] = json!("the auditor did not answer in 45 s, so this stop was not checked");
    }
    if dice.below(30) == 0 {
        record["advisories"] = json!([{"kind": "stale-tests", "text": "the tests ran before the last edit", "evidence": "cargo test"}]);
    }
    record["phases_ms"] = phases;
    record
}

/// What became of a block's findings.
fn notes(dice: &mut Dice, record: &Value, time: Timestamp) -> Vec<Value> {
    let mut notes = Vec::new();
    let findings = record["findings"].as_array().map_or(0, Vec::len);
    if record["decision"] != "block" || dice.below(8) == 0 {
        return notes;
    }
    for number in 1..=findings {
        let outcome = dice.of(&["fixed", "fixed", "fixed", "fixed", "disputed", "ignored"]);
        let mut note = json!({"kind": "outcome", "schema": 2, "id": "n", "time": format!("{time:.3}"), "of": record["id"],
        "finding": number, "outcome": outcome, "why": match outcome {
            "fixed" => "the file is there now, and the step's words stand in it",
            "disputed" => "the final message says why it is wrong",
            _ => "nothing changed, and nothing was said of it",
        }});
        if outcome == "disputed" {
            note["sentence"] = json!(
                "The retry lives in `src/deliver/mod.rs`: a file of its own was not worth it for twelve lines."
            );
        }
        notes.push(note);
        if dice.below(25) == 0 {
            let label = dice.of(&["right", "wrong"]);
            notes.push(json!({"kind": "label", "schema": 2, "id": "l", "time": format!("{time:.3}"), "of": record["id"],
                "finding": number, "label": label, "note": "looked at it with Jon"}));
        }
    }
    notes
}

const DAY: i64 = 24 * 3600;

/// So many decisions, up to the given end of a year.
pub(crate) fn made_up(decisions: usize, days: i64) -> MadeUp {
    let mut dice = Dice(7);
    let end: Timestamp = "2026-11-15T17:00:00Z".parse().expect("a time");
    let every = days * 24 * 3600 / i64::try_from(decisions.max(1)).expect("few");
    let (mut records, mut all_notes, mut scenes) = (Vec::new(), Vec::new(), HashMap::new());
    for number in 0..decisions {
        let back = every * i64::try_from(decisions - number).expect("few");
        let mut time = end - back.seconds();
        // Nights and weekends are quiet, and so is every fifth week.
        let day = time.as_second() / DAY;
        let is_quiet = day % 7 == 2 || day % 7 == 3 || day / 7 % 5 == 0;
        if is_quiet && dice.below(6) > 0 {
            time -= (DAY * (2 + i64::try_from(dice.below(9)).expect("few"))).seconds();
        }
        let hour = time.as_second() / 3600 % 24;
        if !(7..19).contains(&hour) {
            time -= (time.as_second() % DAY).seconds();
            time += (9 * 3600 + i64::try_from(dice.below(8 * 3600)).expect("few")).seconds();
        }
        let record = decision(&mut dice, number, time);
        all_notes.extend(notes(&mut dice, &record, time + 20.minutes()));
        if record.get("auditor").is_some() {
            scenes.insert(record["id"].as_str().unwrap_or_default().to_owned(), scene());
        }
        records.push(record);
    }
    records.sort_by_key(|record| record["time"].as_str().map(str::to_owned));
    let records: Vec<Record> = serde_json::from_value(json!(records)).expect("records");
    let all_notes: Vec<Note> = serde_json::from_value(json!(all_notes)).expect("notes");
    MadeUp { told: join(records, all_notes), scenes }
}

impl MadeUp {
    /// Their page.
    pub(crate) fn page(&self) -> Page {
        let zone = TimeZone::fixed(jiff::tz::offset(1));
        let made = "2026-11-16T08:00:00Z".parse().expect("a time");
        let about = About { made, zone: &zone, only: None, torn: 0, room: Room::default() };
        page(&self.told, &about, |id| self.scenes.get(id).cloned())
    }
}
