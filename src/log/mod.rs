//! The decision log: what was decided, why, and on what grounds; and beside it what was sent and what came
//! back. Append-only, one JSON object a line, one file a month.

pub mod keepsakes;
pub mod record;
pub mod store;

pub use record::Record;
pub use store::DecisionLog;

/// A short random name for one decision.
pub fn new_id() -> String {
    const LETTERS: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
    let mut bytes = [0u8; 10];
    if getrandom::fill(&mut bytes).is_err() {
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        bytes.copy_from_slice(&now.as_nanos().to_le_bytes()[..10]);
    }
    bytes.iter().map(|byte| char::from(LETTERS[usize::from(byte % 32)])).collect()
}
