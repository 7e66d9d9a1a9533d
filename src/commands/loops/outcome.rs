//! How the sessions of `loop run` ended, and when failures or the budget end the run. Pure.

use std::time::Duration;

use serde_json::Value;

use super::display::{dollars, duration};
use crate::cli::loops::LoopRunArgs;
use crate::text::first_part;

#[derive(Debug, Clone, PartialEq)]
pub(super) enum SessionOutcome {
    /// It ended by itself; the client denied it this many tool calls.
    Finished {
        denied: usize,
    },
    Failed(String),
    OutOfTime,
    /// `loop run` itself was interrupted.
    Interrupted,
}

const MAX_MESSAGE: usize = 300;

/// Parses what the client printed in print mode. Returns the cost, too; a failure may have one.
pub(super) fn parse_output(code: i32, stdout: &[u8], stderr: &[u8]) -> (SessionOutcome, Option<f64>) {
    let stdout = String::from_utf8_lossy(stdout);
    let lines = stdout.lines().rev().map(str::trim).filter(|line| line.starts_with(['{', '[']));
    let envelope = lines.filter_map(|line| serde_json::from_str::<Value>(line).ok()).find_map(find_result);
    let envelope = envelope.unwrap_or_default();
    let usd = envelope["total_cost_usd"].as_f64().filter(|usd| usd.is_finite() && *usd >= 0.0);
    let said = envelope["result"].as_str().filter(|said| !said.trim().is_empty());
    // The client prints `subtype: "success"` for an API error (2.1.325), and `is_error: false` when
    // it runs out of turns (2.1.42).
    let subtype = envelope["subtype"].as_str().unwrap_or("success");
    let is_error = envelope["is_error"] == true;
    if code == 0 && !is_error && subtype == "success" {
        let denied = envelope["permission_denials"].as_array().map_or(0, Vec::len);
        return (SessionOutcome::Finished { denied }, usd);
    }
    let stderr = String::from_utf8_lossy(stderr);
    let words = said.filter(|_| is_error).or_else(|| Some(stderr.trim()).filter(|words| !words.is_empty()));
    let words = match (words, subtype) {
        (Some(words), _) => words.to_owned(),
        (None, "success") => format!("exit code {code}"),
        (None, subtype) => subtype.to_owned(),
    };
    let words = words.split_whitespace().collect::<Vec<_>>().join(" ");
    (SessionOutcome::Failed(first_part(&words, MAX_MESSAGE)), usd)
}

/// Finds the result: the object itself, or the last one in a list of events.
fn find_result(value: Value) -> Option<Value> {
    match value {
        Value::Array(list) => list.into_iter().rev().find_map(find_result),
        value => (value["type"] == "result" || value.get("total_cost_usd").is_some()).then_some(value),
    }
}

#[derive(Debug, Default)]
pub(super) struct Failures {
    last: String,
    same: u32,
    all: u32,
}

impl Failures {
    /// Resets the count after a session that did not fail.
    pub(super) fn reset(&mut self) {
        *self = Self::default();
    }

    /// Counts a failure, and returns why the run has to end, if it has to. Messages that differ
    /// only in words with digits, such as request ids, count as the same failure.
    pub(super) fn add(&mut self, words: &str, max: u32) -> Option<String> {
        let kind: String =
            words.split_whitespace().filter(|word| !word.contains(|c: char| c.is_ascii_digit())).collect();
        self.same = if kind == self.last && self.all > 0 { self.same + 1 } else { 1 };
        self.all += 1;
        self.last = kind;
        if self.same >= max {
            return Some(match max {
                1 => format!("a session failed: {words}"),
                _ => format!("{max} sessions in a row failed in the same way: {words}"),
            });
        }
        let limit = max.saturating_mul(2);
        (self.all >= limit)
            .then(|| format!("{limit} sessions in a row failed, the last one like this: {words}"))
    }

    /// The pause before the next session: doubled with each failure, up to ten minutes.
    pub(super) fn pause(&self, first: Duration) -> Duration {
        const LONGEST: Duration = Duration::from_secs(600);
        match self.all {
            0 => Duration::ZERO,
            all => first.saturating_mul(1 << (all - 1).min(10)).min(LONGEST.max(first)),
        }
    }
}

/// Returns why a run may not go on, if it has spent what it may.
pub(super) fn over_budget(args: &LoopRunArgs, usd: f64, time: Duration) -> Option<String> {
    if let Some(max) = args.max_cost.filter(|max| usd >= *max) {
        return Some(format!("{} of {} are spent", dollars(usd), dollars(max)));
    }
    let max = args.max_time.filter(|max| time >= *max)?;
    Some(format!("the time of {} is up", duration(max)))
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::cli::loops::{LoopArgs, LoopCommand};
    use crate::cli::{self, Cli};

    fn parse(code: i32, stdout: &str, stderr: &str) -> (SessionOutcome, Option<f64>) {
        parse_output(code, stdout.as_bytes(), stderr.as_bytes())
    }

    #[test]
    fn what_the_client_prints_is_read() {
        let good = r#"{"type":"result","subtype":"success","is_error":false,"result":"Done","total_cost_usd":0.25,"permission_denials":[{},{}]}"#;
        let finished = |denied| SessionOutcome::Finished { denied };
        assert_eq!(parse(0, good, "a warning"), (finished(2), Some(0.25)));
        let events = format!("noise\n[{{\"type\":\"system\"}},{good}]\n");
        assert_eq!(parse(0, &events, ""), (finished(2), Some(0.25)));
        assert_eq!(parse(0, "plain words\n", ""), (finished(0), None));
    }

    #[test]
    fn failures_are_told_by_the_clients_words() {
        let failed = |words: &str| SessionOutcome::Failed(words.into());
        let api = r#"{"type":"result","subtype":"success","is_error":true,"result":"API Error: 529 overloaded","total_cost_usd":0.01}"#;
        assert_eq!(parse(1, api, ""), (failed("API Error: 529 overloaded"), Some(0.01)));
        let turns = r#"{"type":"result","subtype":"error_max_turns","is_error":false,"total_cost_usd":0.5}"#;
        assert_eq!(parse(0, turns, ""), (failed("error_max_turns"), Some(0.5)));
        assert_eq!(
            parse(1, "", "error: unknown\n option '--x'\n"),
            (failed("error: unknown option '--x'"), None)
        );
        assert_eq!(parse(3, "", ""), (failed("exit code 3"), None));
    }

    #[test]
    fn the_same_failure_again_and_again_is_enough_and_so_are_many_of_any_kind() {
        let mut failures = Failures::default();
        assert_eq!(failures.add("API Error: 529 request req_01", 3), None);
        assert_eq!(failures.add("API Error: 500 request req_02", 3), None);
        assert_eq!(
            failures.add("API Error: 529 request req_03", 3).as_deref(),
            Some("3 sessions in a row failed in the same way: API Error: 529 request req_03")
        );
        failures.reset();
        assert_eq!(failures.add("a", 1).as_deref(), Some("a session failed: a"));
        failures.reset();
        let said: Vec<_> =
            ["a", "b", "a", "b", "a", "b"].iter().map(|words| failures.add(words, 3)).collect();
        assert!(said[..5].iter().all(Option::is_none), "{said:?}");
        assert_eq!(said[5].as_deref(), Some("6 sessions in a row failed, the last one like this: b"));
    }

    #[test]
    fn pauses_grow_and_end() {
        let mut failures = Failures::default();
        let pauses: Vec<_> = (0..12)
            .map(|_| {
                let pause = failures.pause(Duration::from_secs(5)).as_secs();
                failures.add("x", 99);
                pause
            })
            .collect();
        assert_eq!(pauses[..5], [0, 5, 10, 20, 40]);
        assert_eq!(pauses[11], 600);
    }

    #[test]
    fn budgets_are_used_up_at_their_edge() {
        let args = |line: &str| match Cli::parse_from(line.split(' ')).command {
            cli::Command::Loop(LoopArgs { command: Some(LoopCommand::Run(args)), .. }) => args,
            _ => panic!("{line}"),
        };
        let limited = args("punchlist loop run --max-cost 1 --max-time 2h");
        let over = |usd, seconds| over_budget(&limited, usd, Duration::from_secs(seconds));
        assert_eq!(over(0.99, 0), None);
        assert_eq!(over(1.0, 0).as_deref(), Some("$1.00 of $1.00 are spent"));
        assert_eq!(over(0.0, 7_200).as_deref(), Some("the time of 2h 00m is up"));
        assert_eq!(over_budget(&args("punchlist loop run"), 1e9, Duration::MAX), None);
    }
}
