//! `punchlist demo`: a stub to be filled.

/// Runs it.
pub fn run() -> u8 {
    0
}
