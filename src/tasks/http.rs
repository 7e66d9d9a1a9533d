//! Tasks behind a URL: a GET with an optional bearer token, retried within one time limit. Must not
//! send a token over plain http to another machine, follow a redirect, or read without a bound.

use std::thread::sleep;
use std::time::{Duration, Instant};

use ureq::http::{StatusCode, Uri};
use ureq::{Agent, Error};

use super::command::seconds;
use super::{Lookup, LookupOutcome, find_in_json};

const MAX_BYTES: u64 = 8 << 20;

/// The wait before the first retry; doubled with each further one.
const FIRST_WAIT: Duration = Duration::from_millis(100);

pub(super) fn find_pending(lookup: &Lookup<'_>) -> LookupOutcome {
    let Some(named) = lookup.config.url.as_deref() else {
        return LookupOutcome::Failed(
            "[tasks] source is \"http\", but there is no `url` in your own config".into(),
        );
    };
    let Some(url) = lookup.fill(named, percent_encode) else { return LookupOutcome::NoWorker };
    let shown = display_url(named);
    match fetch(lookup, &url).and_then(|body| find_in_json(lookup, &body, Lookup::names_query(named))) {
        Ok(looked) => looked,
        Err(why) => LookupOutcome::Failed(format!("{shown}: {why}")),
    }
}

/// Returns a URL without its user part and query, which may be secret.
fn display_url(url: &str) -> String {
    let url = url.split(['?', '#']).next().unwrap_or_default();
    let Some((scheme, rest)) = url.split_once("://") else { return url.to_owned() };
    let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    format!("{scheme}://{}{path}", host.rsplit('@').next().unwrap_or_default())
}

/// Returns the body, after as many tries as the config allows.
fn fetch(lookup: &Lookup<'_>, url: &str) -> Result<Vec<u8>, String> {
    let token = token(lookup, url)?;
    let (begun, time) = (Instant::now(), lookup.time());
    let mut wait = FIRST_WAIT;
    let mut left = lookup.config.retries;
    loop {
        let rest = time.saturating_sub(begun.elapsed());
        let failure = match try_once(url, token.as_deref(), rest) {
            Ok(body) => return Ok(body),
            Err(failure) => failure,
        };
        let is_over = time.saturating_sub(begun.elapsed()) <= wait;
        if is_over || left == 0 || !failure.is_temporary {
            let why =
                if failure.is_timeout { format!("no answer within {}", seconds(time)) } else { failure.why };
            return Err(why);
        }
        tracing::debug!(why = failure.why, "asked again");
        sleep(wait);
        wait *= 2;
        left -= 1;
    }
}

/// Why an attempt failed.
struct Failure {
    why: String,
    is_temporary: bool,
    is_timeout: bool,
}

impl Failure {
    fn permanent(why: impl Into<String>) -> Self {
        Self { why: why.into(), is_temporary: false, is_timeout: false }
    }
}

fn try_once(url: &str, token: Option<&str>, time: Duration) -> Result<Vec<u8>, Failure> {
    let mut settings = Agent::config_builder();
    // Plain http is for this machine, and must not go through a proxy.
    if url.starts_with("http://") {
        settings = settings.proxy(None);
    }
    let agent: Agent = settings
        .timeout_global(Some(time))
        .max_redirects(0)
        .max_redirects_will_error(false)
        .http_status_as_error(false)
        .user_agent(concat!("punchlist/", env!("CARGO_PKG_VERSION")))
        .build()
        .into();
    let mut request = agent.get(url).header("Accept", "application/json");
    if let Some(token) = token {
        request = request.header("Authorization", format!("Bearer {token}"));
    }
    let mut answer = request.call().map_err(|error| failure(&error))?;
    let status = answer.status();
    if !status.is_success() {
        return Err(refusal(status));
    }
    answer.body_mut().with_config().limit(MAX_BYTES).read_to_vec().map_err(|error| match error {
        Error::BodyExceedsLimit(_) => Failure::permanent("an answer of more than 8 MB"),
        error => failure(&error),
    })
}

fn refusal(status: StatusCode) -> Failure {
    let is_temporary = status.is_server_error() || matches!(status.as_u16(), 408 | 425 | 429);
    let more = match status.as_u16() {
        401 | 403 => "; is `token_variable` set, and the token in it right?",
        300..=399 => "; it wants to be asked elsewhere, and that is not followed: set `url` to that place",
        _ => "",
    };
    Failure { why: format!("it answered {status}{more}"), is_temporary, is_timeout: false }
}

fn failure(error: &Error) -> Failure {
    let is_temporary = matches!(error, Error::Io(_) | Error::ConnectionFailed | Error::HostNotFound);
    let is_timeout = matches!(error, Error::Timeout(_));
    Failure { why: error.to_string(), is_temporary, is_timeout }
}

/// Returns the configured token, if it may be sent to this URL.
fn token(lookup: &Lookup<'_>, url: &str) -> Result<Option<String>, String> {
    let Some(variable) = lookup.config.token_variable.as_deref() else { return Ok(None) };
    let Some(token) = lookup.env.text(variable) else {
        return Err(format!("the variable {variable}, which should have its token, is not set here"));
    };
    if !is_private(url) {
        return Err("its token is sent over https, or to this machine: this is neither".into());
    }
    // A newline would start another header.
    let token = token.trim();
    if token.chars().any(|letter| letter.is_control() || letter.is_whitespace()) {
        return Err(format!("what the variable {variable} has is no token"));
    }
    Ok(Some(token.to_owned()))
}

/// Returns whether the URL is https or on this machine.
pub fn is_private(url: &str) -> bool {
    let Ok(url) = url.parse::<Uri>() else { return false };
    let host = url.host().unwrap_or_default().trim_matches(['[', ']']);
    let is_here = || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback());
    match url.scheme_str() {
        Some("https") => true,
        Some("http") => host.eq_ignore_ascii_case("localhost") || is_here(),
        _ => false,
    }
}

/// Percent-encodes a name for a URL.
fn percent_encode(name: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte);
    name.bytes()
        .map(|byte| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_told_of_a_url_holds_no_secret() {
        for (url, shown) in [
            ("https://bob:S3cret@tracker.example/t?key=1", "https://tracker.example/t"),
            ("http://localhost:80/t#x", "http://localhost:80/t"),
            ("https://tracker.example", "https://tracker.example"),
            ("https://tracker.example/a@b", "https://tracker.example/a@b"),
        ] {
            assert_eq!(display_url(url), shown);
        }
    }

    #[test]
    fn a_token_goes_over_https_or_stays_on_this_machine() {
        for url in [
            "https://x.example/t",
            "http://localhost:8080/t",
            "http://127.0.0.1/t",
            "http://[::1]:9/t",
            "HTTPS://x",
        ] {
            assert!(is_private(url), "{url}");
        }
        for url in [
            "http://x.example/t",
            "http://localhost.evil.example",
            "http://127.0.0.1@evil.example/",
            "ftp://localhost",
            "",
        ] {
            assert!(!is_private(url), "{url}");
        }
    }

    #[test]
    fn a_name_is_one_part_of_a_url() {
        assert_eq!(percent_encode("w2.x-y_z~"), "w2.x-y_z~");
        assert_eq!(percent_encode("a b/&?é"), "a%20b%2F%26%3F%C3%A9");
    }
}
