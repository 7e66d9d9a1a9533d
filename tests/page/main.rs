//! The report page in a real browser, as a person uses it: a headless Chromium is driven over loopback, and the page is
//! opened from a file. Where there is no such browser every test says aloud that it is skipped.
#![cfg(unix)]

mod browser;
mod made_up;

use browser::Browser;
use made_up::made_up;

#[test]
fn a_page_opens_from_a_file_and_asks_for_nothing() {
    let page = made_up(300, 120).page();
    let Some(browser) = Browser::open(&page.text, 1360, 1000) else { return };
    assert_eq!(browser.text("return document.querySelector('#shown').textContent"), "300 decisions");
    browser.picture("light");
    browser.assert_quiet();
}
