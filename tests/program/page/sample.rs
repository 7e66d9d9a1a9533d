//! A log that might be somebody's: takes how many decisions of a year, gives them with what was
//! said of them later and what their audits looked at. The same every time.

use std::collections::HashMap;

use jiff::tz::TimeZone;
use punchlist::log::query;
use punchlist::log::stats::{Stats, stats};
use punchlist::log::{Annotated, Record, Snapshot};
use punchlist::render::page::{About, Page, Room, page};
use serde_json::json;

use crate::sample_log::year;

/// Decisions, oldest first, with the snapshots of their audits.
pub(crate) struct MadeUp {
    pub(crate) decisions: Vec<Annotated>,
    pub(crate) snapshots: HashMap<String, Snapshot>,
    /// What `punchlist log stats` says of them.
    pub(crate) stats: Stats,
}

/// An hour ahead of UTC.
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
fn snapshot(record: &Record) -> Snapshot {
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
    let snapshot = json!({
        "asks": [
            "Make the webhook receiver safe: verify signatures, log what is rejected, retry with backoff.",
            "Looks good. Go on with the plan, and please bump the changelog too.",
        ],
        "steps": steps,
        "final_message": "All steps are done. Signatures are verified before anything is queued, rejected webhooks \
            are logged, and deliveries are retried with backoff.\n\nAll tests pass.",
        "files": files,
    });
    serde_json::from_value(snapshot).expect("a snapshot")
}

/// So many decisions, over a year.
pub(crate) fn made_up(decisions: usize) -> MadeUp {
    from_log(&year(7, decisions).join("\n"), |record| record.auditor.is_some().then(|| snapshot(record)))
}

/// The decisions of a log, each with the snapshot that `snapshot_of` gives it.
pub(crate) fn from_log(log: &str, snapshot_of: impl Fn(&Record) -> Option<Snapshot>) -> MadeUp {
    let found = query::parse(log);
    assert_eq!((found.torn, found.newer), (0, 0));
    let stats = stats(&found.decisions, &zone());
    let decisions = found.decisions;
    let snapshot =
        |annotated: &Annotated| Some((annotated.decision.id.clone(), snapshot_of(&annotated.decision)?));
    let snapshots = decisions.iter().filter_map(snapshot).collect();
    MadeUp { decisions, snapshots, stats }
}

impl MadeUp {
    /// The newest of them.
    pub(crate) fn newest(mut self, count: usize) -> Self {
        self.decisions.drain(..self.decisions.len() - count);
        self.stats.repeats.clear();
        self
    }

    /// Their page.
    pub(crate) fn page(&self) -> Page {
        let made = "2026-10-01T08:00:00Z".parse().expect("a time");
        let (repeats, room) = (&self.stats.repeats, Room::default());
        let about = About { made, zone: &zone(), only: None, torn: 0, repeats, room };
        page(&self.decisions, &about, |id| self.snapshots.get(id).cloned())
    }
}
