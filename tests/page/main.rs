//! The report page in a real browser, as a person uses it: a headless Chromium is driven over loopback, and the page is
//! opened from a file. Where there is no such browser every test says aloud that it is skipped.
//!
//! `browser` drives it, `made_up` and `year` make a log that might be somebody's. The other modules are the tests, by what they look
//! at; `command` looks at the program that writes the page, and needs no browser.
#![cfg(unix)]

mod browser;
mod made_up;
#[path = "../support/year.rs"]
#[expect(dead_code, reason = "shared with tests/log, which writes it to disk")]
mod year;

mod command;
mod figures;
mod hostile;
mod looks;
mod many;
mod table;
