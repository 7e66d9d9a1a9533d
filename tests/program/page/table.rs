//! Filter, sort, unfold: by mouse and by keyboard.

use std::collections::BTreeSet;

use punchlist::decision::Action;
use punchlist::finding::{Finding, Status};
use punchlist::log::Annotated;
use punchlist::log::annotated::FindingNotes;
use punchlist::render::charts::project_names;
use serde_json::json;

use crate::page::browser::Browser;
use crate::page::sample::{MadeUp, from_log, made_up};
use crate::sample_log::year;

const DOWN: &str = "\u{e015}";
const UP: &str = "\u{e013}";
const END: &str = "\u{e010}";
const HOME: &str = "\u{e011}";
const ENTER: &str = "\u{e007}";
const ESCAPE: &str = "\u{e00c}";

const SHOWN: &str = "return document.querySelector('#shown').textContent";
const FIGURES: &str =
    "return [...document.querySelectorAll('#glance .figure')].map((figure) => figure.textContent)";

fn column(browser: &Browser, kind: &str) -> Vec<String> {
    let cells = browser.eval(&format!(
        "return [...document.querySelectorAll('#rows .row td.{kind}')].map((cell) => cell.textContent)"
    ));
    serde_json::from_value(cells).expect("texts")
}

fn opened(log: &MadeUp) -> Option<Browser> {
    Browser::open(&log.page().text, 1360, 900)
}

#[test]
fn filters_combine_and_the_figures_follow_them() {
    let log = made_up(400);
    let Some(browser) = opened(&log) else { return };
    let blocks = || log.decisions.iter().filter(|one| one.decision.decision == Action::Block);
    let project = blocks().next().and_then(|one| one.decision.project.clone()).expect("a project");
    let of_project = |one: &&Annotated| one.decision.project.as_ref() == Some(&project);
    let (all, of_one) = (blocks().count(), blocks().filter(of_project).count());
    assert!(of_one > 0 && of_one < all, "{of_one} of {all}");

    browser.choose("#f-kind", "0");
    assert_eq!(browser.text(SHOWN), format!("{all} of 400"));
    assert_eq!(browser.eval(FIGURES)[0], all.to_string());
    assert!(column(&browser, "decision").iter().all(|decision| decision == "block"));
    let options = "[...document.querySelector('#f-project').options]";
    // The page calls projects what `stats` calls them.
    let paths: BTreeSet<&str> =
        log.decisions.iter().filter_map(|one| one.decision.project.as_deref()).collect();
    let paths: Vec<&str> = paths.into_iter().collect();
    let at = paths.iter().position(|path| *path == project).expect("among them");
    let name = &project_names(&paths)[at];
    let place = browser.text(&format!("return {options}.find((o) => o.text === '{name}').value"));
    browser.choose("#f-project", &place);
    assert_eq!(browser.text(SHOWN), format!("{of_one} of 400"));
    assert_eq!(browser.eval(FIGURES)[1], of_one.to_string());
    assert!(column(&browser, "project").iter().all(|shown| shown == name));
    browser.press(ESCAPE);
    assert_eq!(browser.text(SHOWN), "400 decisions");
    assert_eq!(browser.text("return document.querySelector('#f-kind').value"), "");
    browser.assert_quiet();
}

#[test]
fn text_session_cause_category_outcome_and_date_filter_too() {
    let log = made_up(400);
    let Some(browser) = opened(&log) else { return };
    let shown = |browser: &Browser| browser.text(SHOWN).split(' ').next().expect("a number").to_owned();
    let counted = |takes: &dyn Fn(&Annotated) -> bool| {
        log.decisions.iter().filter(|one| takes(one)).count().to_string()
    };

    // A path of a finding, in another case; words of the agent's own sentence, in another order.
    let path =
        log.decisions.iter().flat_map(|one| &one.decision.findings).find_map(|finding| finding.path.clone());
    let path = path.expect("a path");
    browser.type_into("#f-text", &path.to_uppercase());
    let named = counted(&|one| {
        let mut files = one.decision.files.iter().map(|file| &file.path);
        one.decision.findings.iter().any(|finding| finding.why.contains(&path))
            || files.any(|file| *file == path)
    });
    assert_eq!(shown(&browser), named);
    browser.press(ESCAPE);
    browser.type_into("#f-text", "disputed \"the build server\" tests");
    let sentence = |notes: &FindingNotes| {
        notes.outcome.as_ref().and_then(|note| note.sentence.clone()).unwrap_or_default()
    };
    let served =
        counted(&|one| one.findings.iter().any(|notes| sentence(notes).contains("the build server")));
    assert!(served != "0");
    assert_eq!(shown(&browser), served);
    browser.press(ESCAPE);

    browser.choose("#f-outcome", "disputed");
    assert_eq!(shown(&browser), counted(&|one| one.findings.iter().any(|notes| !sentence(notes).is_empty())));
    browser.press(ESCAPE);
    browser.choose("#f-cause", "auditor-timeout");
    assert_eq!(shown(&browser), counted(&|one| one.decision.cause.name() == "auditor-timeout"));
    browser.press(ESCAPE);
    browser.choose("#f-category", "ask");
    let asked = counted(&|one| {
        let is_shown = |f: &Finding| f.status != Status::Refuted;
        one.decision.findings.iter().any(|f| f.category.name() == "ask" && is_shown(f))
    });
    assert_eq!(shown(&browser), asked);
    browser.press(ESCAPE);

    let session = log.decisions[100].decision.session.clone().expect("a session");
    browser.type_into("#f-session", &session[..8]);
    assert_eq!(shown(&browser), counted(&|one| one.decision.session.as_ref() == Some(&session)));
    browser.press(ESCAPE);

    // The page's days are those of its time zone, an hour ahead of UTC.
    browser.eval(
        "for (const [id, day] of [['f-from', '2026-03-02'], ['f-to', '2026-03-08']]) {
             document.getElementById(id).value = day;
             document.getElementById(id).dispatchEvent(new Event('change'));
         }",
    );
    let week = counted(&|one| {
        let time = one.decision.time.as_str();
        ("2026-03-01T23:00:00".."2026-03-08T23:00:00").contains(&time)
    });
    assert!(week != "0");
    assert_eq!(shown(&browser), week);
    browser.assert_quiet();
}

/// A log in which every third decision had a force-push, and every fifth a disabled test.
fn advised() -> MadeUp {
    let mut at = 0;
    let with_advisories = |line: &String| {
        let mut record: serde_json::Value = serde_json::from_str(line).expect("JSON");
        if record.get("event").is_none() {
            return line.clone();
        }
        at += 1;
        let kinds =
            [("force-push", 3), ("disabled-test", 5)].into_iter().filter(|(_, every)| at % every == 0);
        let kinds = kinds.map(|(kind, _)| json!({ "kind": kind, "text": kind, "evidence": kind }));
        record["advisories"] = kinds.collect();
        record.to_string()
    };
    let lines: Vec<String> = year(7, 60).iter().map(with_advisories).collect();
    from_log(&lines.join("\n"), |_| None)
}

#[test]
fn advisories_filter_too() {
    let log = advised();
    let Some(browser) = opened(&log) else { return };
    let options = "return [...document.querySelector('#f-advisory').options].map((o) => o.text).join(' ')";
    assert_eq!(browser.text(options), "any disabled-test force-push");
    browser.choose("#f-advisory", "force-push");
    assert_eq!(browser.text(SHOWN), "20 of 60");
    assert!(column(&browser, "findings").iter().all(|words| words.contains('!')));
    browser.choose("#f-advisory", "disabled-test");
    assert_eq!(browser.text(SHOWN), "12 of 60");
    browser.press(ESCAPE);
    assert_eq!(browser.text(SHOWN), "60 decisions");
    browser.assert_quiet();
}

#[test]
fn bars_and_the_timeline_filter_when_they_are_pressed() {
    let log = made_up(400);
    let Some(browser) = opened(&log) else { return };
    browser.click("#causes button.bar");
    let cause = browser.text("return document.querySelector('#f-cause').value");
    assert_eq!(browser.text("return document.activeElement.getAttribute('aria-pressed')"), "true");
    assert!(column(&browser, "cause").iter().all(|shown| *shown == cause));
    browser.press(ENTER);
    assert_eq!(browser.text(SHOWN), "400 decisions", "pressed again it lets go");

    // From the middle of the timeline to three quarters of it.
    let drag = |kind: &str, share: f64| {
        let place = browser.eval(&format!(
            "const box = document.querySelector('#timeline svg').getBoundingClientRect();
             return [box.left + box.width * {share}, box.top + 60]"
        ));
        browser.cdp(
            "Input.dispatchMouseEvent",
            &json!({"type": kind, "x": place[0], "y": place[1], "button": "left", "buttons": 1, "clickCount": 1}),
        );
    };
    drag("mousePressed", 0.5);
    drag("mouseMoved", 0.75);
    drag("mouseReleased", 0.75);
    let days = browser.eval("return ['f-from', 'f-to'].map((id) => document.getElementById(id).value)");
    let (from, to) = (days[0].as_str().expect("a day"), days[1].as_str().expect("a day"));
    assert!("2026-03-20" < from && from < "2026-04-10" && "2026-06-20" < to && to < "2026-07-15", "{days}");
    let when = column(&browser, "when");
    assert!(!when.is_empty() && when.iter().all(|when| &when[..10] <= to && &when[..10] >= from));
    assert!(browser.number("return document.querySelectorAll('#timeline .outside').length") > 10.0);
    browser.assert_quiet();
}

#[test]
fn every_column_sorts_both_ways() {
    let log = made_up(120);
    let Some(browser) = opened(&log) else { return };
    assert_eq!(
        browser.text("return document.querySelector('th.when').getAttribute('aria-sort')"),
        "descending"
    );
    let newest = column(&browser, "when");
    assert!(newest.is_sorted_by(|a, b| a >= b));
    for kind in
        ["project", "session", "decision", "cause", "findings", "became", "ours", "readers", "cost", "when"]
    {
        browser.click(&format!("th.{kind} button"));
        let first = browser.eval(&format!(
            "return [document.querySelector('th.{kind}').getAttribute('aria-sort'), document.querySelectorAll('th[aria-sort]').length]"
        ));
        let one = column(&browser, kind);
        browser.click(&format!("th.{kind} button"));
        let second =
            browser.eval(&format!("return document.querySelector('th.{kind}').getAttribute('aria-sort')"));
        let other = column(&browser, kind);
        assert_eq!(first[1], 1, "{kind}");
        assert_ne!(first[0], second, "{kind}");
        assert_ne!(one, other, "{kind}");
        if ["project", "session", "cause", "became", "when"].contains(&kind) {
            let (up, down) = if second == "descending" { (&one, &other) } else { (&other, &one) };
            assert!(up.is_sorted() && down.is_sorted_by(|a, b| a >= b), "{kind}: {up:?} {down:?}");
        }
    }
    browser.assert_quiet();
}

#[test]
fn a_decision_unfolds_into_its_evidence() {
    let log = made_up(400);
    let Some(browser) = opened(&log) else { return };
    browser.choose("#f-outcome", "disputed");
    browser.click("#rows .row .unfold");
    browser.wait_for("document.querySelector('#rows .detail .record') !== null");
    let detail = browser.text("return document.querySelector('.detail').innerText");
    for words in [
        "Make the webhook receiver safe",
        "Write the ",
        "would settle it",
        "found by",
        "its quotes are in the evidence, and nothing there contradicts it",
        "upheld: nothing shows the ",
        "Disputed.",
        "All tests pass.",
        "shown as what changed",
        "tokens in",
        "of it the readers'",
        "Second reader",
        "punchlist log show",
    ] {
        assert!(detail.contains(words), "{words} in\n{detail}");
    }
    let unfold = "return document.querySelector('#rows .row .unfold')";
    assert_eq!(browser.text(&format!("{unfold}.getAttribute('aria-expanded')")), "true");
    let is_controlled =
        format!("{unfold}.getAttribute('aria-controls') === document.querySelector('.detail').id");
    assert_eq!(browser.eval(&is_controlled), true);

    browser.click(".files summary");
    browser.wait_for("document.querySelectorAll('.diff .added').length === 10");
    assert_eq!(browser.eval("return document.querySelectorAll('.diff .removed').length"), 2);
    assert_eq!(browser.eval("return document.querySelectorAll('.diff .hunk').length"), 2);
    browser.eval("document.querySelector('.diff').scrollIntoView({block: 'center'})");
    browser.picture("diff");
    browser.eval("document.querySelector('#decisions').scrollIntoView()");
    browser.picture("unfolded");

    browser.click("#rows .row .unfold");
    assert_eq!(browser.eval("return document.querySelector('.detail')"), json!(null));
    assert_eq!(browser.text(&format!("{unfold}.getAttribute('aria-expanded')")), "false");
    browser.assert_quiet();
}

#[test]
fn what_is_unfolded_stays_so_while_one_scrolls_and_filters() {
    let log = made_up(400);
    let Some(browser) = opened(&log) else { return };
    browser.click("#rows .row .unfold");
    let id = browser.text("return document.querySelector('.detail').id");
    let height = browser.number("return document.documentElement.scrollHeight");
    browser.eval("scrollTo(0, document.documentElement.scrollHeight)");
    browser.wait_for("document.querySelector('.detail') === null");
    let last = column(&browser, "when").pop();
    assert_eq!(last.as_deref(), Some(&*when_of(&log, 0)), "the oldest is the last");
    assert!((browser.number("return document.documentElement.scrollHeight") - height).abs() < 2.0);
    browser.eval("document.querySelector('#decisions').scrollIntoView()");
    browser.wait_for(&format!("document.querySelector('.detail')?.id === '{id}'"));
    browser.choose("#f-kind", "2");
    browser.press(ESCAPE);
    browser.wait_for(&format!("document.querySelector('.detail')?.id === '{id}'"));
    browser.assert_quiet();
}

fn when_of(log: &MadeUp, row: usize) -> String {
    let time: jiff::Timestamp = log.decisions[row].decision.time.parse().expect("a time");
    time.to_zoned(jiff::tz::TimeZone::fixed(jiff::tz::offset(1))).strftime("%Y-%m-%d %H:%M").to_string()
}

#[test]
fn the_keyboard_reaches_everything() {
    let log = made_up(400);
    let Some(browser) = opened(&log) else { return };
    let focused = || browser.text("return document.activeElement.textContent");
    browser.press("/");
    assert_eq!(browser.text("return document.activeElement.id"), "f-text");
    browser.press("findings j k ? t");
    assert_eq!(
        browser.text("return document.querySelector('#f-text').value"),
        "findings j k ? t",
        "who types, types"
    );
    browser.press(ESCAPE);
    assert_eq!(browser.text(SHOWN), "400 decisions");

    browser.press("j");
    assert_eq!(focused(), when_of(&log, 399), "the first press goes to the newest");
    browser.press(DOWN);
    browser.press("j");
    assert_eq!(focused(), when_of(&log, 397));
    browser.press(UP);
    browser.press("k");
    assert_eq!(focused(), when_of(&log, 399));
    browser.press(END);
    assert_eq!(focused(), when_of(&log, 0));
    let is_seen = "const box = document.activeElement.getBoundingClientRect();
        return box.top >= 0 && box.bottom <= innerHeight
            && document.activeElement.contains(document.elementFromPoint(box.left + 30, box.top + box.height / 2))";
    assert_eq!(browser.eval(is_seen), true, "the last row is in sight");
    browser.press("k");
    browser.press(ENTER);
    assert_eq!(browser.text("return document.activeElement.getAttribute('aria-expanded')"), "true");
    browser.press(HOME);
    assert_eq!(focused(), when_of(&log, 399));
    assert_eq!(browser.eval(is_seen), true, "the first row is in sight, and nothing covers it");
    let outline = browser.text("return getComputedStyle(document.activeElement).outlineStyle");
    assert_eq!(outline, "solid", "the focus is seen");

    browser.press("?");
    assert_eq!(browser.eval("return document.querySelector('#keys').open"), true);
    browser.press(ESCAPE);
    assert_eq!(browser.eval("return document.querySelector('#keys').open"), false);
    assert_eq!(
        browser.eval("return document.querySelectorAll('#rows .unfold[tabindex=\"0\"]').length"),
        1,
        "one stop for Tab"
    );
    browser.assert_quiet();
}

#[test]
fn an_address_with_an_id_unfolds_that_decision() {
    let log = made_up(400);
    let Some(browser) = opened(&log) else { return };
    let id = &log.decisions[3].decision.id;
    browser.eval(&format!("location.hash = '{id}'"));
    browser.wait_for("document.querySelector('.detail') !== null");
    assert_eq!(browser.text("return document.querySelector('.detail aside code').textContent"), *id);
    assert_eq!(browser.text("return document.activeElement.getAttribute('aria-expanded')"), "true");
    browser.reload();
    browser.wait_for("document.querySelector('.detail') !== null");
    browser.assert_quiet();
}
