//! The report page in a headless Chromium over loopback. Where there is no such browser every test
//! says aloud that it is skipped; `command` needs none.

mod browser;
mod command;
mod figures;
mod hostile;
mod looks;
mod many;
mod sample;
mod table;
