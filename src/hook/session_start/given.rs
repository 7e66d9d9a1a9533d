//! Whether two hooks were run for the same start: takes what the last one noted and what this one would, gives a yes or a no.
//! Pure. The client runs a hook that is registered twice at the same time, and once is enough for the agent.

use crate::state::Given;

/// Two hooks of one start begin within so many milliseconds of each other, even on a busy machine.
const TOGETHER_MS: i64 = 1_000;

/// Whether both are of one start. A note from the future is a clock that jumped back.
pub(super) fn is_same_start(last: &Given, now: &Given) -> bool {
    let apart = now.at_ms.abs_diff(last.at_ms);
    last.source == now.source && last.client == now.client && apart < TOGETHER_MS.unsigned_abs()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_start_has_one_client_one_source_and_one_moment() {
        let at =
            |source: &str, client: &str, at_ms| Given { source: source.into(), client: client.into(), at_ms };
        let first = at("startup", "7", 10_000);
        for (other, is_same) in [
            (at("startup", "7", 10_000), true),
            (at("startup", "7", 10_400), true),
            (at("startup", "7", 9_800), true),
            (at("startup", "7", 11_000), false),
            (at("startup", "7", 5_000), false),
            (at("resume", "7", 10_000), false),
            (at("startup", "8", 10_000), false),
        ] {
            assert_eq!(is_same_start(&first, &other), is_same, "{other:?}");
        }
    }
}
