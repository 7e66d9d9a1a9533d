//! Light, dark, narrow, printed, empty: what a person sees of it.

use serde_json::json;

use crate::page::browser::Browser;
use crate::page::sample::made_up;

/// Every text that is in sight with too little contrast to what is behind it.
const PALE: &str = r#"
    const channel = (value) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4);
    const canvas = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
    const rgba = (colour) => {
      canvas.clearRect(0, 0, 1, 1);
      canvas.fillStyle = colour;
      canvas.fillRect(0, 0, 1, 1);
      return [...canvas.getImageData(0, 0, 1, 1).data].map((part) => part / 255);
    };
    const light = ([r, g, b]) => 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b);
    const behind = (node) => {
      for (let at = node; at; at = at.parentElement) {
        const colour = rgba(getComputedStyle(at).backgroundColor);
        if (colour[3] > 0.99) return colour;
      }
      return [1, 1, 1, 1];
    };
    const pale = new Set();
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
      const node = walker.currentNode.parentElement;
      if (walker.currentNode.textContent.trim() === "" || node.closest("script, noscript, option, dialog:not([open])") || !node.checkVisibility()) continue;
      const [a, b] = [light(rgba(getComputedStyle(node).color)), light(behind(node))];
      const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
      if (contrast < 4.5) pale.add(`${node.tagName}.${node.className} ${contrast.toFixed(2)}`);
    }
    return [...pale];
"#;

fn unfold_a_block(browser: &Browser) {
    browser.choose("#f-outcome", "disputed");
    browser.click("#rows .row .unfold");
    browser.click(".files summary");
    browser.wait_for("document.querySelectorAll('.diff .added').length > 0");
}

#[test]
fn light_and_dark_follow_the_system_and_the_switch_and_can_be_read() {
    let page = made_up(1200).page();
    let Some(browser) = Browser::open(&page.text, 1360, 1000) else { return };
    let paper = || browser.text("return getComputedStyle(document.body).backgroundColor");
    let system = |scheme: &str| {
        browser.cdp(
            "Emulation.setEmulatedMedia",
            &json!({"features": [{"name": "prefers-color-scheme", "value": scheme}]}),
        );
    };
    let (light, dark) = ("rgb(251, 250, 247)", "rgb(21, 22, 26)");
    system("light");
    assert_eq!(paper(), light);
    browser.picture("light");
    unfold_a_block(&browser);
    assert_eq!(browser.eval(PALE), json!([]));
    system("dark");
    assert_eq!(paper(), dark);
    assert_eq!(browser.eval(PALE), json!([]));
    browser.picture("dark-unfolded");
    browser.eval("scrollTo(0, 0)");
    browser.press("\u{e00c}");
    browser.picture("dark");

    browser.click("#theme");
    assert_eq!(browser.text("return document.querySelector('#theme').textContent"), "Theme: light");
    assert_eq!(paper(), light, "the switch wins over the system");
    browser.reload();
    assert_eq!(paper(), light, "and is remembered");
    browser.press("t");
    assert_eq!(paper(), dark);
    browser.press("t");
    assert_eq!(paper(), dark, "as the system has it");
    browser.assert_quiet();
}

/// From the tenth step of a plan on, its number stood on two lines.
#[test]
fn a_number_of_two_digits_was_broken() {
    let page = made_up(1200).page();
    let Some(browser) = Browser::open(&page.text, 1360, 1000) else { return };
    unfold_a_block(&browser);
    let broken = "const lines = (node) => { const range = document.createRange(); range.selectNodeContents(node);\
                  return range.getClientRects().length; };\
                  const numbers = [...document.querySelectorAll('.steps .number')];\
                  return [numbers.length > 9, ...numbers.filter((one) => lines(one) > 1).map((one) => one.textContent)];";
    assert_eq!(browser.eval(broken), json!([true]));
}

#[test]
fn the_switch_works_where_nothing_can_be_remembered() {
    let page = made_up(5).page();
    let Some(browser) = Browser::open(&page.text, 1360, 1000) else { return };
    let no_storage =
        "Object.defineProperty(window, 'localStorage', { get() { throw new Error('denied'); } })";
    browser.cdp("Page.addScriptToEvaluateOnNewDocument", &json!({"source": no_storage}));
    browser.reload();
    browser.press("t");
    browser.press("t");
    assert_eq!(browser.text("return document.documentElement.dataset.theme"), "dark");
    browser.assert_quiet();
}

#[test]
fn a_narrow_screen_scrolls_in_one_direction_only() {
    let page = made_up(1200).page();
    let Some(browser) = Browser::open(&page.text, 360, 740) else { return };
    let overflow = "return document.documentElement.scrollWidth - innerWidth";
    assert_eq!(browser.eval(overflow), 0);
    browser.picture("narrow");
    browser.eval("document.querySelector('#decisions').scrollIntoView()");
    browser.picture("narrow-table");
    browser.click("#more summary");
    browser.choose("#f-outcome", "disputed");
    browser.click("#rows .row .unfold");
    browser.click(".files summary");
    assert_eq!(browser.eval(overflow), 0, "unfolded, with a diff");
    browser.eval("document.querySelector('#rows').scrollIntoView()");
    browser.picture("narrow-unfolded");
    let outside = browser.eval(
        "return [...document.querySelectorAll('#main *')].filter((node) => node.checkVisibility() && !node.closest('pre, .unseen, .row, .axis')
            && node.getBoundingClientRect().right > innerWidth + 1).map((node) => node.tagName + '.' + node.className)",
    );
    assert_eq!(outside, json!([]));
    // Rows are as tall as the table thinks that they are.
    let heights = browser.eval("return [...new Set([...document.querySelectorAll('.row')].map((row) => row.getBoundingClientRect().height))]");
    assert_eq!(heights, json!([62]));
    browser.assert_quiet();
}

#[test]
fn rows_keep_their_height_at_every_width() {
    let page = made_up(300).page();
    let Some(browser) = Browser::open(&page.text, 1360, 900) else { return };
    for (width, height) in [(1360, 32), (1000, 32), (800, 32), (740, 62), (360, 62)] {
        browser.cdp(
            "Emulation.setDeviceMetricsOverride",
            &json!({"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": false}),
        );
        browser.wait_for(&format!("innerWidth === {width}"));
        let heights = browser.eval("return [...new Set([...document.querySelectorAll('.row')].map((row) => row.getBoundingClientRect().height))]");
        assert_eq!(heights, json!([height]), "{width}");
        assert_eq!(browser.eval("return document.documentElement.scrollWidth - innerWidth"), 0, "{width}");
    }
    browser.assert_quiet();
}

/// A filter more than the grid had columns put the last one on a line of its own.
#[test]
fn the_filters_were_on_two_lines() {
    let page = made_up(30).page();
    let Some(browser) = Browser::open(&page.text, 1360, 900) else { return };
    for width in [1360, 1130] {
        browser.cdp(
            "Emulation.setDeviceMetricsOverride",
            &json!({"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": false}),
        );
        browser.wait_for(&format!("innerWidth === {width}"));
        let ends = "return [...new Set([...document.querySelectorAll('#filters :is(input, select, button)')]\
                    .map((field) => Math.round(field.getBoundingClientRect().bottom)))].length";
        assert_eq!(browser.eval(ends), 1, "{width}");
    }
    browser.assert_quiet();
}

#[test]
fn it_can_be_printed() {
    let page = made_up(300).page();
    let Some(browser) = Browser::open(&page.text, 1360, 900) else { return };
    let printed = browser.cdp("Page.printToPDF", &json!({"printBackground": true}));
    assert!(printed["data"].as_str().is_some_and(|data| data.len() > 20_000));
    assert!(browser.number("return document.querySelectorAll('.row').length") < 100.0, "and is as before");
    browser.cdp("Emulation.setEmulatedMedia", &json!({"media": "print"}));
    browser.eval("dispatchEvent(new Event('beforeprint'))");
    assert_eq!(
        browser.eval("return document.querySelectorAll('.row').length"),
        300,
        "on paper nobody scrolls"
    );
    assert_eq!(browser.eval("return document.querySelector('#filters').checkVisibility()"), false);
    browser.picture("print");
    browser.assert_quiet();
}

#[test]
fn the_timeline_is_as_fine_as_there_is_room() {
    for (newest, by) in [(10, "an hour"), (200, "a day"), (2000, "a week")] {
        let page = made_up(2000).newest(newest).page();
        let Some(browser) = Browser::open(&page.text, 1360, 900) else { return };
        let most = browser.text("return document.querySelector('#timeline .most').textContent");
        assert!(most.ends_with(by), "{most}");
        let drawn = browser.number("return document.querySelectorAll('#timeline rect.fill').length");
        assert!((5.0..300.0).contains(&drawn), "{drawn}");
        browser.picture(&format!("timeline-{newest}"));
        browser.assert_quiet();
    }
}

#[test]
fn times_that_can_not_be_read_or_lie_far_away_break_nothing() {
    let mut log = made_up(50);
    log.decisions[0].decision.time = "1970-01-02T00:00:00Z".into();
    log.decisions[49].decision.time = "9000-01-01T00:00:00Z".into();
    log.decisions[7].decision.time = "soon".into();
    let Some(browser) = Browser::open(&log.page().text, 1360, 900) else { return };
    assert_eq!(browser.text("return document.querySelector('#shown').textContent"), "50 decisions");
    assert!(browser.number("return document.querySelectorAll('#timeline rect').length") < 300.0);
    log.decisions.drain(..7);
    log.decisions.truncate(1);
    drop(browser);
    let Some(browser) = Browser::open(&log.page().text, 1360, 900) else { return };
    let about = browser.text("return document.querySelector('#about').textContent");
    assert_eq!(about, "1 decision, times in +01:00");
    browser.assert_quiet();
}

#[test]
fn an_empty_log_says_so() {
    let page = made_up(0).page();
    let Some(browser) = Browser::open(&page.text, 1000, 700) else { return };
    let text = browser.text("return document.body.innerText");
    assert!(text.contains("No decisions yet."), "{text}");
    assert_eq!(browser.eval("return document.querySelector('#main').checkVisibility()"), false);
    browser.press("j");
    browser.press("/");
    browser.press("t");
    browser.picture("empty");
    browser.assert_quiet();
}

#[test]
fn a_filter_that_nothing_is_like_says_so() {
    let page = made_up(50).page();
    let Some(browser) = Browser::open(&page.text, 1360, 900) else { return };
    browser.type_into("#f-text", "nothing is like this");
    assert_eq!(browser.text("return document.querySelector('#shown').textContent"), "0 of 50");
    assert_eq!(browser.eval("return document.querySelector('#none').checkVisibility()"), true);
    browser.press("j");
    browser.press("\u{e00c}");
    assert_eq!(browser.eval("return document.querySelector('#none').checkVisibility()"), false);
    browser.assert_quiet();
}

#[test]
fn a_screen_reader_finds_a_table_with_names() {
    let page = made_up(300).page();
    let Some(browser) = Browser::open(&page.text, 1360, 900) else { return };
    browser.eval("document.querySelector('#decisions').scrollIntoView()");
    browser.wait_for("document.querySelectorAll('.row').length > 20");
    browser.cdp("Accessibility.enable", &json!({}));
    let tree = browser.cdp("Accessibility.getFullAXTree", &json!({}));
    let nodes: Vec<_> =
        tree["nodes"].as_array().expect("nodes").iter().filter(|node| node["ignored"] != true).collect();
    let of = |role: &str| nodes.iter().filter(|node| node["role"]["value"] == role).collect::<Vec<_>>();
    assert_eq!(of("columnheader").iter().filter(|node| node["name"]["value"] == "When").count(), 1);
    assert!(of("row").len() > 20 && of("cell").len() > 200, "{} {}", of("row").len(), of("cell").len());
    let nameless: Vec<_> = ["button", "textbox", "searchbox", "combobox", "Date", "image"]
        .iter()
        .flat_map(|role| of(role))
        .filter(|node| node["name"]["value"].as_str().is_none_or(str::is_empty))
        .collect();
    assert!(nameless.is_empty(), "{nameless:#?}");
    assert_eq!(browser.text("return document.querySelector('#table').getAttribute('aria-rowcount')"), "301");
    browser.assert_quiet();
}
