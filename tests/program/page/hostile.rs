//! A record that tries to run script in every text field it has.

use punchlist::finding::Category;
use punchlist::log::Snapshot;
use punchlist::log::stats::Repeat;
use serde_json::{Value, json};

use crate::page::browser::Browser;
use crate::page::sample::{MadeUp, from_log};

const ATTACKS: [&str; 9] = [
    "</script><script>window.owned = 1</script>",
    "<img src=x onerror=\"window.owned = 1\">",
    "\"'><svg onload=window.owned=1>",
    "javascript:window.owned=1",
    "{{constructor.constructor('window.owned=1')()}} ${window.owned=1} {{script}}",
    "<!--<script>",
    "]]></style><style>*{display:none}</style>",
    "\u{202e}txt.exe\u{2066} \u{200f}abc\u{2028}\u{2029}",
    "nul\0 bell\u{7} esc\u{1b}[31m &lt;b&gt; &#60;script&#62;",
];

/// Every text of a record in place of which something else may stand.
fn poison(value: &mut Value, text: &str) {
    match value {
        Value::String(old) if old == "X" => text.clone_into(old),
        Value::Array(all) => all.iter_mut().for_each(|value| poison(value, text)),
        Value::Object(all) => all.values_mut().for_each(|value| poison(value, text)),
        _ => (),
    }
}

fn disputed(attack: &str) -> Repeat {
    let text = || attack.to_owned();
    Repeat {
        project: text(),
        category: Category::B,
        kind: None,
        place: Some(text()),
        count: 3,
        right: 0,
        right_in_category: 0,
        newest: text(),
        file: text(),
        line: text(),
    }
}

fn hostile_log() -> MadeUp {
    let all = ATTACKS.concat();
    let (mut lines, mut snapshots) = (Vec::new(), std::collections::HashMap::new());
    for (number, attack) in ATTACKS.iter().copied().chain([all.as_str()]).enumerate() {
        let mut record = json!({
            "schema": 1, "id": "X", "time": format!("2026-10-0{}T10:00:00Z", number % 9 + 1), "session": "X", "agent": "X",
            "project": "X", "event": "X", "decision": "block", "cause": "findings", "detail": "X",
            "plan": {"source": "approved", "path": "X", "steps": 1, "ticked": 1},
            "findings": [{"category": "A", "status": "confirmed", "source": "reader", "kind": "missing", "claim": "X",
                "claimed_in": "plan", "proof": "X", "path": "X", "why": "X", "settle": "X", "check": "X", "step": 1,
                "second": {"upheld": true, "why": "X"}}],
            "gates": [{"gate": "X", "outcome": "X", "cause": "findings", "detail": "X", "took_ms": 1.0}],
            "advisories": [{"kind": "force-push", "text": "X", "evidence": "X"}],
            "files": [{"path": "X", "touched": ["X"], "state": {"unreadable": "X"}, "entered": "diff", "bytes": 3},
                {"path": "b", "touched": ["X"], "state": {"missing": {"elsewhere": "X"}}, "entered": "whole", "bytes": 3}],
            "auditor": {"backend": "X", "client": "X", "model": "X", "outcome": "X", "detail": "X", "duration_ms": 5.0,
                "usage": {"input_tokens": 1, "output_tokens": 1, "cache_read_tokens": 0, "cache_write_tokens": 0, "cost_usd": 0.1},
                "flags": ["X"]},
            "second_reader": {"backend": "X", "client": "X", "model": "X", "outcome": "X", "detail": "X", "duration_ms": 5.0,
                "usage": {"input_tokens": 1, "output_tokens": 1, "cache_read_tokens": 0, "cache_write_tokens": 0, "cost_usd": 0.1},
                "flags": ["X"]},
            "transcript": {"rows": 1, "skipped": {"unreadable": 0, "unknown": 0, "oversized": 0, "repaired": 0}, "problem": "X"},
            "config_error": "X", "phases_ms": {"total": 7.0}, "client_version": "X", "version": "X",
        });
        let mut said = json!([
            {"kind": "outcome", "schema": 2, "id": "X", "time": "X", "of": "X", "finding": 1, "outcome": "disputed", "why": "X",
             "sentence": "X", "was_wrong": true, "told_by": "X"},
            {"kind": "label", "schema": 2, "id": "X", "time": "X", "of": "X", "label": "wrong", "note": "X"},
        ]);
        let mut snapshot = json!({"asks": ["X"], "steps": [{"number": 1, "text": "X", "state": "X"}], "final_message": "X",
            "files": [{"path": "X", "text": "X"}, {"path": "b", "text": format!("@@ -1 +1 @@\n-{attack}\n+{attack}\n")}]});
        record["phases_ms"][attack] = json!(1.0);
        for value in [&mut record, &mut said, &mut snapshot] {
            poison(value, attack);
        }
        lines.push(record.to_string());
        lines.extend(said.as_array().expect("notes").iter().map(ToString::to_string));
        snapshots
            .insert(attack.to_owned(), serde_json::from_value::<Snapshot>(snapshot).expect("a snapshot"));
    }
    let mut log = from_log(&lines.join("\n"), |record| snapshots.get(&record.id).cloned());
    log.stats.repeats = ATTACKS.map(disputed).into();
    log
}

#[test]
fn a_hostile_record_runs_nothing_and_is_shown_as_it_stands() {
    let page = hostile_log().page();
    assert!(!page.text.contains("window.owned = 1</script>"));
    let Some(browser) = Browser::open(&page.text, 1360, 900) else { return };
    let is_safe = || {
        assert_eq!(browser.eval("return window.owned === undefined"), true);
        let strange = "return document.querySelectorAll('img, iframe, object, embed, a[href]:not(.skip), [onload], [onerror], [style*=url], body script:not([type]) ~ script').length";
        assert_eq!(browser.eval(strange), 0);
        assert_eq!(
            browser.eval("return document.querySelectorAll('script:not([type]), style').length"),
            2,
            "ours alone"
        );
    };
    is_safe();
    // One after the other, newest first, each with its files; what was seen of all of them
    // together.
    let mut text = String::new();
    for _ in 0..=ATTACKS.len() {
        browser.press("j");
        browser.press("\u{e007}");
        browser.eval("for (const fold of document.querySelectorAll('.files details')) fold.open = true");
        browser.wait_for("document.querySelectorAll('.files pre').length >= 2");
        is_safe();
        text += &browser.text("return document.querySelector('main').textContent");
        let turning = "return /[\\u0000\\u0007\\u001b\\u202e\\u2066\\u200f]/.test(
            document.querySelector('main').textContent
                + [...document.querySelectorAll('main *')].map((node) => `${node.title}${node.ariaLabel}`).join())";
        assert_eq!(browser.eval(turning), false, "what turns text around is shown by its number");
        browser.picture("hostile");
        browser.press("\u{e007}");
    }
    for words in [
        "</script><script>window.owned = 1</script>",
        "<img src=x onerror=\"window.owned = 1\">",
        "[U+202E]txt.exe[U+2066]",
        "nul[U+0000] bell[U+0007] esc[U+001B][31m &lt;b&gt; &#60;script&#62;",
    ] {
        assert!(text.contains(words), "{words}");
    }
    // Filters take it as words, and an address that is not an id is none.
    browser.type_into("#f-text", "<img src=x onerror=");
    assert_eq!(browser.text("return document.querySelector('#shown').textContent"), "2 of 10");
    browser.eval("location.hash = '%E0%A4%A'");
    browser.eval("location.hash = '<img src=x onerror=window.owned=1>'");
    is_safe();
    browser.assert_quiet();
}

/// What the page itself would do if a text got through: the browser refuses.
#[test]
fn the_policy_lets_no_other_script_or_style_in() {
    let page = hostile_log().page();
    let Some(browser) = Browser::open(&page.text, 1360, 900) else { return };
    let refused = browser.eval(
        "const refused = [];
         try { document.body.innerHTML = '<b>x</b>'; } catch { refused.push('markup'); }
         const script = document.createElement('script');
         try { script.text = 'window.owned = 1'; document.body.append(script); } catch { refused.push('script'); }
         const frame = document.createElement('div');
         try { frame.setAttribute('onclick', 'window.owned = 1'); } catch { refused.push('handler'); }
         document.body.append(frame);
         frame.click();
         return [refused, window.owned === undefined]",
    );
    assert_eq!(refused, json!([["markup", "script", "handler"], true]));
}
