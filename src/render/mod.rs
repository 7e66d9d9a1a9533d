//! Output for people and other programs. Formats: `table`, `charts`, `paragraphs`, `json`, `csv`,
//! `markdown`, `sarif`, `page` (HTML); the other files are one view each. Pure: values in, text
//! out; no clock, no disk.

pub mod charts;
pub mod csv;
pub mod decision;
pub mod diagnosis;
pub mod json;
pub mod listing;
pub mod markdown;
pub mod page;
mod paragraphs;
pub mod registry;
pub mod replay;
pub mod report;
pub mod report_text;
pub mod sarif;
pub mod settings;
pub mod status;
mod table;
mod wording;

pub use report::Report;
