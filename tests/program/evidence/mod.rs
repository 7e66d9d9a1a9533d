//! What the readers are shown.

mod bounds;
mod languages;
mod prompt;
