//! A log that might be somebody's: takes how many decisions of a year, gives them with what was said of them later and
//! what their audits looked at. The same every time.

use std::collections::HashMap;

use jiff::tz::TimeZone;
use punchlist::log::annotated::join;
use punchlist::log::seen;
use punchlist::log::stats::{Stats, stats};
use punchlist::log::summary::Line;
use punchlist::log::{Note, Record, Snapshot, Told};
use punchlist::render::page::{About, Page, Room, page};
use serde_json::json;

use crate::sample_log::year;

/// Decisions, oldest first, with the scenes that are kept.
pub(crate) struct MadeUp {
    pub(crate) told: Vec<Told>,
    pub(crate) scenes: HashMap<String, Snapshot>,
    /// What `punchlist log stats` says of them.
    pub(crate) stats: Stats,
}

/// Times are told an hour ahead of UTC.
pub(crate) fn zone() -> TimeZone {
    TimeZone::fixed(jiff::tz::offset(1))
}

const DIFF: &str = "\
@@ -12,9 +12,14 @@ impl Webhook {
     pub fn receive(&self, request: Request) -> Response {
         let body = request.body();
-        if !self.signature_is_valid(&request) {
-            return Response::new(401);
+        let Some(signature) = request.header(\"x-signature\") else {
+            return Response::new(400);
+        };
+        if !self.verify(signature, body) {
+            // TODO: say why
+            return Response::new(401);
         }
         self.queue.push(body.to_owned());
         Response::new(202)
@@ -41,3 +46,7 @@ impl Webhook {
         hmac::verify(&self.key, body, signature).is_ok()
     }
 }
+
+fn reason(status: u16) -> &'static str {
+    if status == 400 { \"no signature\" } else { \"bad signature\" }
+}
";

/// What an audit looked at: the first of its files as what changed in it, the second whole.
fn scene(record: &Record) -> Snapshot {
    let steps = record.plan.as_ref().map_or(0, |plan| plan.steps);
    let quoted = |number| record.findings.iter().find(|finding| finding.step == Some(number));
    let steps: Vec<_> = (1..=steps)
        .map(|number| {
            let text = quoted(number).map_or("Write the next part and its tests", |finding| {
                finding.claim.split_once(". ").map_or("", |(_, words)| words)
            });
            let state = ["ticked", "ticked", "ticked", "open", "dropped"][number % 5];
            json!({"number": number, "text": text, "state": state})
        })
        .collect();
    let texts = [DIFF, "# Webhooks\n\nSigned with HMAC-SHA256.\n"];
    let files: Vec<_> =
        record.files.iter().zip(texts).map(|(file, text)| json!({"path": file.path, "text": text})).collect();
    let scene = json!({
        "asks": [
            "Make the webhook receiver safe: verify signatures, log what is rejected, retry with backoff.",
            "Looks good. Go on with the plan, and please bump the changelog too.",
        ],
        "steps": steps,
        "final_message": "All steps are done. Signatures are verified before anything is queued, rejected webhooks \
            are logged, and deliveries are retried with backoff.\n\nAll tests pass.",
        "files": files,
    });
    serde_json::from_value(scene).expect("a scene")
}

/// So many decisions, over a year.
pub(crate) fn made_up(decisions: usize) -> MadeUp {
    let (mut records, mut notes, mut scenes) = (Vec::<Record>::new(), Vec::<Note>::new(), HashMap::new());
    let (mut glances, mut said) = (Vec::new(), Vec::new());
    let lines = year(7, decisions);
    for line in &lines {
        match Line::of(line.as_bytes()) {
            Some(Line::Decision(glance)) => glances.push(*glance),
            Some(Line::Note(note)) => {
                notes.push(note.note.clone());
                said.push(*note);
                continue;
            }
            other => panic!("{other:?}"),
        }
        let record: Record = serde_json::from_str(line).expect("a record");
        if record.auditor.is_some() {
            scenes.insert(record.id.clone(), scene(&record));
        }
        records.push(record);
    }
    let stats = stats(&seen::join(glances, said), &zone());
    MadeUp { told: join(records, notes), scenes, stats }
}

impl MadeUp {
    /// The newest of them.
    pub(crate) fn newest(mut self, count: usize) -> Self {
        self.told.drain(..self.told.len() - count);
        self.stats.repeats.clear();
        self
    }

    /// Their page.
    pub(crate) fn page(&self) -> Page {
        let made = "2026-10-01T08:00:00Z".parse().expect("a time");
        let (repeats, room) = (&self.stats.repeats, Room::default());
        let about = About { made, zone: &zone(), only: None, torn: 0, repeats, room };
        page(&self.told, &about, |id| self.scenes.get(id).cloned())
    }
}
