//! Takes what the client printed and how it exited, gives what that means. Pure. A verdict counts only with
//! exit 0, `is_error` false and an answer that validates: an API failure calls itself a "success" too.

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::child::{Ended, Ending};
use crate::readers::answer::find_in_text;
use crate::readers::{ReaderOutcome, Unavailable, Usage};
use crate::redact::mask;

/// Whether an answer fits its question.
pub type Check = fn(&str) -> Result<(), String>;

/// What `--output-format json` prints. Only what is used; all of it may be missing.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Envelope<'a> {
    is_error: Option<bool>,
    subtype: Option<String>,
    result: Option<String>,
    #[serde(borrow)]
    structured_output: Option<&'a RawValue>,
    total_cost_usd: Option<f64>,
    usage: Option<EnvelopeUsage>,
    num_turns: Option<u64>,
    api_error_status: Option<u16>,
    errors: Option<Vec<String>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
#[expect(clippy::struct_field_names, reason = "the client's names")]
struct EnvelopeUsage {
    input_tokens: Option<u64>,
    output_tokens: Option<u64>,
    cache_read_input_tokens: Option<u64>,
    cache_creation_input_tokens: Option<u64>,
}

/// The envelope: all of stdout, or its last line when the client put a notice before it.
fn envelope(stdout: &str) -> Option<Envelope<'_>> {
    let last_line = || stdout.trim().lines().next_back().unwrap_or_default();
    serde_json::from_str(stdout.trim()).or_else(|_| serde_json::from_str(last_line())).ok()
}

/// The flag that an older client does not know: `error: unknown option '--x'`, exit 1, nothing on stdout.
pub fn refused_flag(ended: &Ended) -> Option<String> {
    if !matches!(ended.how, Ending::Exited(code) if code != 0) || !ended.stdout.is_empty() {
        return None;
    }
    let stderr = String::from_utf8_lossy(&ended.stderr);
    let rest = stderr.split_once("unknown option '")?.1;
    Some(rest.split_once('\'')?.0.split('=').next()?.to_owned())
}

/// What the audit cost.
pub fn usage_of(stdout: &[u8]) -> Usage {
    let text = String::from_utf8_lossy(stdout);
    let Some(envelope) = envelope(&text) else { return Usage::default() };
    let usage = envelope.usage.unwrap_or_default();
    Usage {
        input_tokens: usage.input_tokens.unwrap_or_default(),
        output_tokens: usage.output_tokens.unwrap_or_default(),
        cache_read_tokens: usage.cache_read_input_tokens.unwrap_or_default(),
        cache_write_tokens: usage.cache_creation_input_tokens.unwrap_or_default(),
        cost_usd: envelope.total_cost_usd,
    }
}

/// What an exit means.
pub fn outcome_of_exit(
    code: i32,
    stdout: &[u8],
    stderr: &[u8],
    has_schema: bool,
    check: Check,
) -> ReaderOutcome {
    let text = String::from_utf8_lossy(stdout);
    let Some(envelope) = envelope(&text) else {
        return if code == 0 {
            ReaderOutcome::Unreadable(format!("it did not print its result as JSON: {}", excerpt(&text)))
        } else {
            let said = String::from_utf8_lossy(stderr);
            let said = excerpt(if said.trim().is_empty() { &text } else { &said });
            let said = if said.is_empty() { String::new() } else { format!(": {said}") };
            failure(None, None, &format!("exit code {code}{said}"))
        };
    };
    if code != 0 || envelope.is_error == Some(true) {
        let said =
            envelope.result.clone().or_else(|| envelope.errors.as_ref().map(|errors| errors.join("; ")));
        let said = said.filter(|said| !said.trim().is_empty()).unwrap_or_else(|| format!("exit code {code}"));
        return failure(envelope.api_error_status, envelope.subtype.as_deref(), &excerpt(&said));
    }
    if envelope.is_error.is_none() {
        return ReaderOutcome::Unreadable("its JSON is not a result of the client".into());
    }
    // 2.1.42 says `is_error: false` when it ran out of turns.
    if let Some(other) = envelope.subtype.as_deref().filter(|subtype| *subtype != "success") {
        return ReaderOutcome::Unreadable(format!("it ended with {other}"));
    }
    let answer = match (envelope.structured_output, has_schema) {
        (Some(json), true) => check(json.get()).map(|()| json.get()),
        // A prompt that the client takes for a command of its own comes back as a success with no turn.
        (None, _) if envelope.num_turns == Some(0) => Err("the model was not asked".into()),
        (None, true) => Err("it has no structured answer".into()),
        (_, false) => find_in_text(envelope.result.as_deref().unwrap_or_default(), check),
    };
    match answer {
        Ok(answer) => ReaderOutcome::Answered(answer.to_owned()),
        Err(fault) => ReaderOutcome::Unreadable(excerpt(&fault)),
    }
}

/// What a saved reply says: the client's result as printed, the answer alone, or a text with the answer in it.
pub fn outcome_of_saved(text: &str, check: Check) -> ReaderOutcome {
    let is_result = |envelope: &Envelope<'_>| envelope.is_error.is_some();
    if let Some(envelope) = envelope(text).filter(is_result) {
        return outcome_of_exit(0, text.as_bytes(), b"", envelope.structured_output.is_some(), check);
    }
    // On its own it gets the exact fault; in a text there may be several objects that do not fit.
    let alone = serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(text.trim());
    let answer =
        if alone.is_ok() { check(text.trim()).map(|()| text.trim()) } else { find_in_text(text, check) };
    match answer {
        Ok(answer) => ReaderOutcome::Answered(answer.to_owned()),
        Err(fault) => ReaderOutcome::Unreadable(excerpt(&fault)),
    }
}

/// Which kind of failure the client's words mean.
fn failure(status: Option<u16>, subtype: Option<&str>, said: &str) -> ReaderOutcome {
    let words = said.to_lowercase();
    let has = |parts: &[&str]| parts.iter().any(|part| words.contains(part));
    let why = said.to_owned();
    if subtype.is_some_and(|subtype| subtype.contains("structured_output")) {
        return ReaderOutcome::Unreadable(why);
    }
    let unavailable =
        if subtype.is_some_and(|subtype| subtype.contains("budget")) || has(&["credit balance", "budget"]) {
            Unavailable::OverBudget(why)
        } else if status == Some(401)
            || has(&["not logged in", "/login", "invalid api key", "oauth token", "authentication_error"])
        {
            Unavailable::NotLoggedIn(why)
        } else if status == Some(429)
            || has(&["rate limit", "rate_limit", "usage limit", "limit reached", "hit your limit", "429"])
        {
            Unavailable::RateLimited(why)
        } else if status.is_some() || has(&["api error", "overloaded", "model"]) {
            Unavailable::ServiceFailed(why)
        } else {
            Unavailable::Crashed(why)
        };
    ReaderOutcome::Unavailable(unavailable)
}

/// The first words of a text, on one line and masked: they go to the person and into the log.
fn excerpt(text: &str) -> String {
    // Masked before it is cut, lest half a secret gets by; more than this can't show.
    let start: String = text.trim_start().chars().take(4_000).collect();
    let line = mask(&start).text.split_whitespace().collect::<Vec<_>>().join(" ");
    let short: String = line.chars().take(200).collect();
    if short.len() < line.len() { format!("{short}…") } else { short }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::readers::Answer;

    /// An answer with nothing in it.
    const NOTHING: &str = r#"{"findings":[],"candidates":[],"verdicts":[]}"#;

    fn nothing() -> ReaderOutcome {
        ReaderOutcome::Answered(NOTHING.to_owned())
    }

    fn saved(text: &str) -> ReaderOutcome {
        outcome_of_saved(text, Answer::check)
    }

    fn exit(code: i32, stdout: &str, has_schema: bool) -> ReaderOutcome {
        outcome_of_exit(code, stdout.as_bytes(), b"", has_schema, Answer::check)
    }

    fn unreadable(outcome: ReaderOutcome) -> String {
        match outcome {
            ReaderOutcome::Unreadable(why) => why,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_structured_answer_counts() {
        let head = r#""type":"result","subtype":"success","is_error":false,"result":"""#;
        let out = format!(r#"{{{head},"structured_output":{NOTHING}}}"#);
        assert_eq!(exit(0, &out, true), nothing());
        let noticed = format!("warning: something\n{out}\n");
        assert_eq!(exit(0, &noticed, true), nothing());
        let other = format!(r#"{{{head},"structured_output":{{"findings":[]}}}}"#);
        assert!(unreadable(exit(0, &other, true)).starts_with("missing field `candidates`"));
    }

    #[test]
    fn without_a_schema_the_text_is_the_answer_and_with_one_it_is_not() {
        let said = serde_json::json!(format!("Sure: {NOTHING}"));
        let out = format!(r#"{{"is_error":false,"num_turns":1,"result":{said}}}"#);
        assert_eq!(exit(0, &out, false), nothing());
        assert_eq!(unreadable(exit(0, &out, true)), "it has no structured answer");
    }

    #[test]
    fn a_success_that_is_an_error_is_no_answer() {
        let case = |rest: &str| exit(1, &format!(r#"{{"subtype":"success","is_error":true,{rest}}}"#), true);
        let good = format!(r#""structured_output":{NOTHING}"#);
        assert!(matches!(case(&good), ReaderOutcome::Unavailable(Unavailable::Crashed(_))));
        for (rest, expected) in [
            (
                r#""result":"Not logged in · Please run /login""#,
                "the client is not logged in where hooks run (Not logged in · Please run /login); \
                 log in with `claude`, or set ANTHROPIC_API_KEY",
            ),
            (
                r#""result":"API Error: 429 slow down""#,
                "the model's service is limiting requests (API Error: 429 slow down)",
            ),
            (r#""result":"x","api_error_status":429"#, "the model's service is limiting requests (x)"),
            (
                r#""result":"Credit balance is too low","api_error_status":400"#,
                "the account's budget is spent (Credit balance is too low)",
            ),
            (
                r#""result":"API Error: 529 Overloaded","api_error_status":529"#,
                "the model's service failed (API Error: 529 Overloaded)",
            ),
            (
                r#""result":"There's an issue with the selected model (x).","api_error_status":404"#,
                "the model's service failed (There's an issue with the selected model (x).)",
            ),
        ] {
            match case(rest) {
                ReaderOutcome::Unavailable(why) => assert_eq!(why.to_string(), expected),
                other => panic!("{rest}: {other:?}"),
            }
        }
    }

    #[test]
    fn a_saved_reply_may_be_a_result_an_answer_or_a_text() {
        let said = serde_json::json!(format!("Sure: {NOTHING}"));
        let result = |rest: &str| format!(r#"{{"subtype":"success","is_error":false,{rest}}}"#);
        for text in [
            NOTHING.to_owned(),
            format!("\n{NOTHING}\n"),
            format!("Here it is:\n```json\n{NOTHING}\n```"),
            result(&format!(r#""structured_output":{NOTHING}"#)),
            result(&format!(r#""num_turns":1,"result":{said}"#)),
        ] {
            assert_eq!(saved(&text), nothing(), "{text}");
        }
        assert_eq!(unreadable(saved("All good.")), "its text holds no JSON object");
        assert_eq!(
            unreadable(saved(r#"{"findings":[{"category":"A"}]}"#)),
            "missing field `sure` at line 1 column 29"
        );
        assert!(matches!(
            saved(r#"{"is_error":true,"result":"Not logged in"}"#),
            ReaderOutcome::Unavailable(Unavailable::NotLoggedIn(_))
        ));
    }

    #[test]
    fn garbage_is_unreadable_and_half_a_reply_too() {
        assert_eq!(
            unreadable(exit(0, "Hello\n there", true)),
            "it did not print its result as JSON: Hello there"
        );
        assert!(
            unreadable(exit(0, r#"{"is_error":false,"structured_output":{"find"#, true))
                .starts_with("it did not")
        );
        assert_eq!(unreadable(exit(0, r#"{"hello":1}"#, true)), "its JSON is not a result of the client");
        assert_eq!(
            unreadable(exit(0, r#"{"is_error":false,"num_turns":0,"result":"x"}"#, true)),
            "the model was not asked"
        );
        let retried = r#"{"subtype":"error_max_structured_output_retries","is_error":true,"errors":["no valid output"]}"#;
        assert_eq!(unreadable(exit(1, retried, true)), "no valid output");
    }

    #[test]
    fn a_refused_flag_is_named() {
        let ended = |how, stdout: &str, stderr: &str| Ended {
            how,
            stdout: stdout.into(),
            stderr: stderr.into(),
            duration: Duration::ZERO,
        };
        let refusal = "error: unknown option '--safe-mode'\n";
        assert_eq!(refused_flag(&ended(Ending::Exited(1), "", refusal)).as_deref(), Some("--safe-mode"));
        assert_eq!(refused_flag(&ended(Ending::Exited(0), "", refusal)), None);
        assert_eq!(refused_flag(&ended(Ending::Exited(1), "x", refusal)), None);
        assert_eq!(refused_flag(&ended(Ending::Exited(1), "", "other")), None);
    }

    #[test]
    fn what_it_cost_is_read() {
        let usage = usage_of(br#"{"total_cost_usd":0.0012,"usage":{"input_tokens":100,"output_tokens":20}}"#);
        assert_eq!((usage.input_tokens, usage.output_tokens, usage.cost_usd), (100, 20, Some(0.0012)));
        assert_eq!(usage_of(b"noise"), Usage::default());
    }
}
