//! What `loop run` makes of its sessions: takes what the client printed and how it ended, gives what that means; counts
//! failures and budgets. Pure.

use std::time::Duration;

use serde_json::Value;

use super::show::{dollars, length};
use crate::text::first_part;

/// How a session ended.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Ended {
    /// By itself, whatever it has done.
    Well(Report),
    /// It failed, in words.
    Failed(String),
    /// Its time was up.
    OutOfTime,
    /// We were asked to end.
    Interrupted,
}

/// What the client says of a session.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Report {
    /// What it cost, in dollars, where the client tells.
    pub(super) usd: Option<f64>,
    /// How often it was denied a tool.
    pub(super) denied: usize,
}

/// How much is told of what went wrong.
const WORDS: usize = 300;

/// Reads what the client printed in print mode. A failure may have cost something, too.
pub(super) fn of_print(code: i32, stdout: &[u8], stderr: &[u8]) -> (Ended, Option<f64>) {
    let stdout = String::from_utf8_lossy(stdout);
    let lines = stdout.lines().rev().map(str::trim).filter(|line| line.starts_with(['{', '[']));
    let envelope = lines.filter_map(|line| serde_json::from_str::<Value>(line).ok()).find_map(result_in);
    let usd = envelope.as_ref().and_then(|envelope| envelope["total_cost_usd"].as_f64());
    let usd = usd.filter(|usd| usd.is_finite() && *usd >= 0.0);
    let said = envelope
        .as_ref()
        .and_then(|envelope| envelope["result"].as_str())
        .filter(|said| !said.trim().is_empty());
    // An API failure says `subtype: "success"` (2.1.325); out of turns says `is_error: false` (2.1.42).
    let subtype = envelope.as_ref().and_then(|envelope| envelope["subtype"].as_str()).unwrap_or("success");
    let is_error = envelope.as_ref().is_some_and(|envelope| envelope["is_error"] == true);
    if code == 0 && !is_error && subtype == "success" {
        let denied =
            envelope.as_ref().and_then(|envelope| envelope["permission_denials"].as_array().map(Vec::len));
        return (Ended::Well(Report { usd, denied: denied.unwrap_or_default() }), usd);
    }
    let stderr = String::from_utf8_lossy(stderr);
    let words = said.filter(|_| is_error).or_else(|| Some(stderr.trim()).filter(|words| !words.is_empty()));
    let words = match (words, subtype) {
        (Some(words), _) => words.to_owned(),
        (None, "success") => format!("exit code {code}"),
        (None, subtype) => subtype.to_owned(),
    };
    (Ended::Failed(first_part(&one_line(&words), WORDS)), usd)
}

/// The result in what was printed: an object, or the last of a list of events.
fn result_in(value: Value) -> Option<Value> {
    match value {
        Value::Array(list) => list.into_iter().rev().find_map(result_in),
        value => (value["type"] == "result" || value.get("total_cost_usd").is_some()).then_some(value),
    }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Failures in a row.
#[derive(Debug, Default)]
pub(super) struct Failures {
    last: String,
    same: u32,
    all: u32,
}

impl Failures {
    /// A session went well.
    pub(super) fn forget(&mut self) {
        *self = Self::default();
    }

    /// One more; gives why it is enough, if it is. Numbers in the words, such as a request's, make no other failure of it.
    pub(super) fn add(&mut self, words: &str, most: u32) -> Option<String> {
        let kind: String =
            words.split_whitespace().filter(|word| !word.contains(|c: char| c.is_ascii_digit())).collect();
        self.same = if kind == self.last && self.all > 0 { self.same + 1 } else { 1 };
        self.all += 1;
        self.last = kind;
        if self.same >= most {
            return Some(match most {
                1 => format!("a session failed: {words}"),
                _ => format!("{most} sessions in a row failed in the same way: {words}"),
            });
        }
        let enough = most.saturating_mul(2);
        (self.all >= enough)
            .then(|| format!("{enough} sessions in a row failed, the last one like this: {words}"))
    }

    /// How long to wait before the next session: twice as long each time, up to ten minutes.
    pub(super) fn pause(&self, first: Duration) -> Duration {
        const LONGEST: Duration = Duration::from_secs(600);
        match self.all {
            0 => Duration::ZERO,
            all => first.saturating_mul(1 << (all - 1).min(10)).min(LONGEST.max(first)),
        }
    }
}

/// What may be spent.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Budget {
    pub(super) usd: Option<f64>,
    pub(super) time: Option<Duration>,
}

impl Budget {
    /// Why nothing more may be spent, if that is so.
    pub(super) fn spent(&self, usd: f64, time: Duration) -> Option<String> {
        if let Some(most) = self.usd.filter(|most| usd >= *most) {
            return Some(format!("{} of {} are spent", dollars(usd), dollars(most)));
        }
        let most = self.time.filter(|most| time >= *most)?;
        Some(format!("the time of {} is up", length(most)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(code: i32, stdout: &str, stderr: &str) -> (Ended, Option<f64>) {
        of_print(code, stdout.as_bytes(), stderr.as_bytes())
    }

    #[test]
    fn what_the_client_prints_is_read() {
        let good = r#"{"type":"result","subtype":"success","is_error":false,"result":"Done","total_cost_usd":0.25,"permission_denials":[{},{}]}"#;
        let report = Report { usd: Some(0.25), denied: 2 };
        assert_eq!(of(0, good, "a warning"), (Ended::Well(report.clone()), Some(0.25)));
        assert_eq!(
            of(0, &format!("noise\n[{{\"type\":\"system\"}},{good}]\n"), ""),
            (Ended::Well(report), Some(0.25))
        );
        assert_eq!(of(0, "plain words\n", ""), (Ended::Well(Report::default()), None));
    }

    #[test]
    fn failures_are_told_by_the_clients_words() {
        let failed = |words: &str| Ended::Failed(words.into());
        let api = r#"{"type":"result","subtype":"success","is_error":true,"result":"API Error: 529 overloaded","total_cost_usd":0.01}"#;
        assert_eq!(of(1, api, ""), (failed("API Error: 529 overloaded"), Some(0.01)));
        let turns = r#"{"type":"result","subtype":"error_max_turns","is_error":false,"total_cost_usd":0.5}"#;
        assert_eq!(of(0, turns, ""), (failed("error_max_turns"), Some(0.5)));
        assert_eq!(
            of(1, "", "error: unknown\n option '--x'\n"),
            (failed("error: unknown option '--x'"), None)
        );
        assert_eq!(of(3, "", ""), (failed("exit code 3"), None));
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
        failures.forget();
        assert_eq!(failures.add("a", 1).as_deref(), Some("a session failed: a"));
        failures.forget();
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
        let budget = Budget { usd: Some(1.0), time: Some(Duration::from_secs(7_200)) };
        assert_eq!(budget.spent(0.99, Duration::ZERO), None);
        assert_eq!(budget.spent(1.0, Duration::ZERO).as_deref(), Some("$1.00 of $1.00 are spent"));
        assert_eq!(
            budget.spent(0.0, Duration::from_secs(7_200)).as_deref(),
            Some("the time of 2h 00m is up")
        );
        assert_eq!(Budget::default().spent(1e9, Duration::MAX), None);
    }
}
