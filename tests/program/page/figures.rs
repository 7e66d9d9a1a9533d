//! The figures of the page are those of `punchlist log stats`: the script's own source is run on
//! the page's own data and compared, figure by figure, with what the program counts.

use std::collections::BTreeMap;

use punchlist::log::stats::{Named, Percentiles, Share};
use serde_json::{Value, json};

use crate::page::browser::Browser;
use crate::page::sample::made_up;

const SOURCES: [&str; 3] = [
    include_str!("../../../src/render/page/script/words.js"),
    include_str!("../../../src/render/page/script/data.js"),
    include_str!("../../../src/render/page/script/figures.js"),
];

/// What the page counts over all of its decisions.
const COUNTED: &str = "
    const sums = figures(rows.id.map((_, row) => row));
    const days = new Map();
    rows.at.forEach((at, row) => {
        if (rows.model[row] === null) return;
        const day = days.get(isoDay(at)) ?? [0, 0, 0];
        days.set(isoDay(at), [day[0] + rows.tokens_in[row], day[1] + rows.tokens_out[row], day[2] + (rows.cost_usd[row] ?? 0)]);
    });
    return {
        ...sums,
        causes: Object.fromEntries(sums.causes.map(([cause, number]) => [rows.causes[cause], number])),
        failures: Object.fromEntries(sums.failures),
        outcomes: Object.fromEntries(sums.outcomes),
        projects: Object.fromEntries(sums.projects.map(([project, entry]) => [rows.projects[project], entry])),
        days: Object.fromEntries(days),
    };
";

fn near(page: &Value, stats: f64, by: f64, what: &str) {
    let page = page.as_f64().unwrap_or_else(|| panic!("{what}: {page}"));
    assert!((page - stats).abs() <= by, "{what}: {page} on the page, {stats} in stats");
}

fn same_share(page: &Value, stats: &Share, what: &str) {
    assert_eq!((&page["right"], &page["wrong"]), (&json!(stats.right), &json!(stats.wrong)), "{what}");
    for (name, of_stats) in [("share", stats.precision), ("low", stats.low), ("high", stats.high)] {
        near(&page[name], of_stats.expect("a share"), 1e-9, what);
    }
}

fn same_shares(page: &Value, stats: &[Named], what: &str) {
    let by_name: BTreeMap<_, _> = page
        .as_array()
        .expect(what)
        .iter()
        .map(|share| (share["name"].as_str().expect(what), share))
        .collect();
    let names: Vec<_> = stats.iter().map(|named| named.name.as_str()).collect();
    let mut sorted = names.clone();
    sorted.sort_unstable();
    assert_eq!(by_name.keys().copied().collect::<Vec<_>>(), sorted, "{what}");
    for named in stats {
        same_share(by_name[named.name.as_str()], &named.share, &named.name);
    }
}

fn same_times(page: &Value, stats: Option<Percentiles>, what: &str) {
    let stats = stats.expect(what);
    assert_eq!(page["n"], stats.count, "{what}");
    for (at, ms) in [stats.p50_ms, stats.p90_ms, stats.p99_ms].into_iter().enumerate() {
        // The page has times to the hundredth of a millisecond.
        near(&page["of"][at], ms, 0.006, what);
    }
}

#[test]
fn the_page_counts_what_stats_counts() {
    let log = made_up(3000);
    let Some(browser) = Browser::open(&log.page().text, 1360, 900) else { return };
    let page = browser.eval(&format!("{}{COUNTED}", SOURCES.concat()));
    let stats = &log.stats;
    assert_eq!(
        [
            &page["decisions"], &page["audited"], &page["kinds"][0], &page["kinds"][1], &page["kinds"][2],
            &page["asked"]
        ],
        [
            &json!(stats.decisions),
            &json!(stats.audited),
            &json!(stats.blocks),
            &json!(stats.would_block),
            &json!(stats.could_not_check),
            &json!(stats.auditor.asked)
        ]
    );
    assert_eq!(page["projects"].as_object().map(serde_json::Map::len), Some(stats.projects));
    for (part, counts) in [("causes", &stats.causes), ("failures", &stats.auditor.failures)] {
        let counted: BTreeMap<_, _> = counts.iter().map(|count| (count.name.as_str(), count.count)).collect();
        assert_eq!(page[part], json!(counted), "{part}");
    }
    let second = &stats.second_reader;
    assert_eq!(
        page["second"],
        json!({"asked": second.reader.asked, "answered": second.reader.answered, "upheld": second.upheld,
            "dismissed": second.dismissed})
    );
    assert!(second.upheld > 0 && second.dismissed > 0, "{second:?}");
    let outcomes = &stats.outcomes;
    let became = json!({"fixed": outcomes.fixed, "disputed": outcomes.disputed, "ignored": outcomes.ignored,
        "unknown": outcomes.open});
    assert_eq!(page["outcomes"], became);
    let said = json!({"right": outcomes.said_right, "wrong": outcomes.said_wrong, "missed": outcomes.missed});
    assert_eq!(page["said"], said);
    assert!(outcomes.said_right > 0 && outcomes.missed > 0, "{outcomes:?}");
    same_share(&page["precision"]["all"], &stats.precision.overall, "precision");
    same_shares(&page["precision"]["category"], &stats.precision.by_category, "categories");
    same_shares(&page["precision"]["source"], &stats.precision.by_source, "sources");
    same_shares(&page["precision"]["model"], &stats.precision.by_model, "models");
    same_times(&page["latency"]["aside"], stats.latency.ours_aside, "aside");
    same_times(&page["latency"]["audited"], stats.latency.ours_audited, "audited");
    same_times(&page["latency"]["readers"], stats.latency.auditor, "readers");
    for spent in &stats.by_project {
        let of_page = &page["projects"][&spent.name];
        assert_eq!(of_page["tokens"], spent.tokens_in + spent.tokens_out, "{}", spent.name);
        near(&of_page["cost"], spent.cost_usd, 1e-9, &spent.name);
    }
    assert_eq!(page["days"].as_object().map(serde_json::Map::len), Some(stats.days.len()));
    for day in &stats.days {
        let of_page = &page["days"][&day.name];
        assert_eq!(
            (&of_page[0], &of_page[1]),
            (&json!(day.tokens_in), &json!(day.tokens_out)),
            "{}",
            day.name
        );
        near(&of_page[2], day.cost_usd, 1e-9, &day.name);
    }
    let rate = stats.block_rate.expect("a rate") * 100.0;
    let held = browser.text("return document.querySelectorAll('#glance .under')[1].textContent");
    assert!(held.starts_with("the audit "), "{held}");
    assert!(
        held.ends_with(&format!(", {rate:.1}\u{2009}% of {} audited", thousands(stats.audited))),
        "{held}"
    );
}

fn thousands(count: usize) -> String {
    if count < 1000 { count.to_string() } else { format!("{},{:03}", count / 1000, count % 1000) }
}

#[test]
fn what_is_disputed_again_and_again_is_suggested_and_leads_to_the_newest() {
    let log = made_up(3000);
    let Some(browser) = Browser::open(&log.page().text, 1360, 900) else { return };
    let repeat = log.stats.repeats.first().expect("somebody disputes");
    let told = browser.text("return document.querySelector('#repeat-list li').textContent");
    assert!(
        told.contains(&repeat.project) && told.contains(&repeat.line) && told.contains(&repeat.file),
        "{told}"
    );
    assert!(told.contains("all stay in the log."), "{told}");
    browser.choose("#f-kind", "2");
    browser.eval("document.querySelector('#repeats').scrollIntoView()");
    browser.picture("repeats");
    browser.click("#repeat-list .link");
    browser.wait_for("document.querySelector('.detail') !== null");
    assert_eq!(
        browser.text("return document.querySelector('.detail aside code').textContent"),
        repeat.newest
    );
    browser.assert_quiet();
}
