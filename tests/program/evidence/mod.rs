//! What the readers are shown.

mod languages;
mod prompt;
