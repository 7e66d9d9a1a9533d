//! The client's reply: parses its output and exit code into an outcome. Pure. An answer counts only
//! with exit 0, `is_error` false and a passed check: an API failure has the subtype "success", too.

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;

use super::call::{AnswerCheck, ReaderOutcome, Unavailable, Usage};
use crate::child::{Ended, Ending};
use crate::redact::mask;

/// A text is not searched further after this many braces that begin no JSON object.
const MAX_BRACES: usize = 200;

/// What `--output-format json` prints: the fields that are used, all of them optional.
#[derive(Debug, Deserialize)]
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
#[expect(clippy::struct_field_names, reason = "the client's names")]
struct EnvelopeUsage {
    input_tokens: Option<u64>,
    output_tokens: Option<u64>,
    cache_read_input_tokens: Option<u64>,
    cache_creation_input_tokens: Option<u64>,
}

/// Parses all of stdout, or its last line if the client printed a notice before it.
fn envelope(stdout: &str) -> Option<Envelope<'_>> {
    let last_line = || stdout.trim().lines().next_back().unwrap_or_default();
    serde_json::from_str(stdout.trim()).or_else(|_| serde_json::from_str(last_line())).ok()
}

/// Returns the flag that a client does not know: `error: unknown option '--x'`, exit 1, nothing on
/// stdout.
pub fn refused_flag(ended: &Ended) -> Option<String> {
    if !matches!(ended.how, Ending::Exited(code) if code != 0) || !ended.stdout.is_empty() {
        return None;
    }
    let stderr = String::from_utf8_lossy(&ended.stderr);
    let rest = stderr.split_once("unknown option '")?.1;
    Some(rest.split_once('\'')?.0.split('=').next()?.to_owned())
}

pub fn usage(stdout: &[u8]) -> Usage {
    let text = String::from_utf8_lossy(stdout);
    let Some(envelope) = envelope(&text) else { return Usage::default() };
    let usage = envelope.usage.unwrap_or_default();
    Usage {
        input: usage.input_tokens.unwrap_or_default(),
        output: usage.output_tokens.unwrap_or_default(),
        cache_read: usage.cache_read_input_tokens.unwrap_or_default(),
        cache_write: usage.cache_creation_input_tokens.unwrap_or_default(),
        cost_usd: envelope.total_cost_usd,
    }
}

pub fn exit_outcome(
    code: i32,
    stdout: &[u8],
    stderr: &[u8],
    has_schema: bool,
    check: AnswerCheck,
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
    // 2.1.42 reports `is_error: false` when it ran out of turns.
    if let Some(other) = envelope.subtype.as_deref().filter(|subtype| *subtype != "success") {
        return ReaderOutcome::Unreadable(format!("it ended with {other}"));
    }
    let answer = match (envelope.structured_output, has_schema) {
        (Some(json), true) => check(json.get()).map(|()| json.get()),
        // A prompt that the client mistakes for one of its own commands is a success without a
        // turn.
        (None, _) if envelope.num_turns == Some(0) => Err("the model was not asked".into()),
        (None, true) => Err("it has no structured answer".into()),
        (_, false) => find_in_text(envelope.result.as_deref().unwrap_or_default(), check),
    };
    checked(answer)
}

/// Returns the outcome of a recorded reply: the client's result as printed, the answer alone, or a
/// text with the answer in it.
pub fn recorded_outcome(text: &str, check: AnswerCheck) -> ReaderOutcome {
    let is_result = |envelope: &Envelope<'_>| envelope.is_error.is_some();
    if let Some(envelope) = envelope(text).filter(is_result) {
        return exit_outcome(0, text.as_bytes(), b"", envelope.structured_output.is_some(), check);
    }
    // A lone object gets its exact fault; a text may have several that do not fit.
    let alone = serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(text.trim());
    let answer =
        if alone.is_ok() { check(text.trim()).map(|()| text.trim()) } else { find_in_text(text, check) };
    checked(answer)
}

fn checked(answer: Result<&str, String>) -> ReaderOutcome {
    match answer {
        Ok(answer) => ReaderOutcome::Answered(answer.to_owned()),
        Err(fault) => ReaderOutcome::Unreadable(excerpt(&fault)),
    }
}

/// Finds the answer in a text, for clients that can't enforce a schema. Exactly one JSON object in
/// it may pass the check: with two, it is unknown which one is meant.
fn find_in_text(text: &str, check: AnswerCheck) -> Result<&str, String> {
    let mut found = None;
    let mut last_fault = None;
    let mut rest = text;
    let mut braces = 0;
    while let Some(start) = rest.find('{') {
        rest = &rest[start..];
        braces += 1;
        if braces > MAX_BRACES {
            return Err("its text is full of braces that are no answer".into());
        }
        let mut stream = serde_json::Deserializer::from_str(rest).into_iter::<IgnoredAny>();
        match stream.next() {
            Some(Ok(_)) => {
                let end = stream.byte_offset();
                match check(&rest[..end]) {
                    Ok(()) if found.is_none() => found = Some(&rest[..end]),
                    Ok(()) => return Err("its text holds more than one answer".into()),
                    Err(fault) => last_fault = Some(fault),
                }
                rest = &rest[end..];
            }
            _ => rest = &rest[1..],
        }
    }
    found.ok_or_else(|| match last_fault {
        Some(fault) => format!("its JSON does not fit: {fault}"),
        None => "its text holds no JSON object".into(),
    })
}

/// Classifies a failure by the client's message.
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

/// Returns the start of a text on one line, masked, for the person and the log.
fn excerpt(text: &str) -> String {
    // Mask before cutting: half a secret would not be recognised.
    let start: String = text.trim_start().chars().take(64_000).collect();
    let line = mask(&start).text.split_whitespace().collect::<Vec<_>>().join(" ");
    let short: String = line.chars().take(200).collect();
    if short.len() < line.len() { format!("{short}…") } else { short }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use proptest::prelude::*;

    use super::*;

    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Answer {
        #[serde(rename = "findings")]
        _findings: Vec<Finding>,
        #[serde(rename = "candidates")]
        _candidates: Vec<IgnoredAny>,
    }

    #[derive(Deserialize)]
    struct Finding {
        #[serde(rename = "sure")]
        _sure: bool,
    }

    fn check(json: &str) -> Result<(), String> {
        serde_json::from_str::<Answer>(json).map(drop).map_err(|error| error.to_string())
    }

    const NOTHING: &str = r#"{"findings":[],"candidates":[]}"#;

    fn nothing() -> ReaderOutcome {
        ReaderOutcome::Answered(NOTHING.to_owned())
    }

    fn saved(text: &str) -> ReaderOutcome {
        recorded_outcome(text, check)
    }

    fn exit(code: i32, stdout: &str, has_schema: bool) -> ReaderOutcome {
        exit_outcome(code, stdout.as_bytes(), b"", has_schema, check)
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
    fn a_recorded_reply_may_be_a_result_an_answer_or_a_text() {
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
    fn usage_is_parsed() {
        let read = usage(br#"{"total_cost_usd":0.0012,"usage":{"input_tokens":100,"output_tokens":20}}"#);
        assert_eq!((read.input, read.output, read.cost_usd), (100, 20, Some(0.0012)));
        assert_eq!(usage(b"noise"), Usage::default());
    }

    #[test]
    fn in_a_text_exactly_one_object_may_fit() {
        for text in [NOTHING.to_owned(), format!("Here it is:\n```json\n{NOTHING}\n```\nThat's all {{sic}}.")]
        {
            assert_eq!(find_in_text(&text, check), Ok(NOTHING), "{text}");
        }
        for (text, fault) in [
            (String::new(), "its text holds no JSON object"),
            ("All good!".into(), "its text holds no JSON object"),
            (format!("{NOTHING} or {NOTHING}"), "its text holds more than one answer"),
            (r#"{"findings":[{"sure":true}],"candida"#.into(), "its JSON does not fit"),
            (r#"{"category":"A"} is all"#.into(), "its JSON does not fit: unknown field `category`"),
        ] {
            let found = find_in_text(&text, check).expect_err("no answer");
            assert!(found.starts_with(fault), "{text}: {found}");
        }
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(text in "[{}\\[\\]\":,a-zé\\\\ ]{0,200}") {
            let _ = find_in_text(&text, check);
        }
    }
}
