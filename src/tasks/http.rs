//! Tasks behind a URL. One GET with a bearer token where a variable is named for it, tried again where that may help, all within
//! one time. Must not send a token over plain http to another machine, follow a redirect with it, or read without an end.

use std::thread::sleep;
use std::time::{Duration, Instant};

use ureq::http::StatusCode;
use ureq::{Agent, Error};

use super::command::seconds;
use super::{Looked, Lookup, found};

/// The most that is read.
const LONGEST: u64 = 8 << 20;

/// How long to wait before the first new try; each further one waits twice as long.
const FIRST_WAIT: Duration = Duration::from_millis(100);

pub(super) fn look(lookup: &Lookup<'_>) -> Looked {
    let Some(named) = lookup.config.url.as_deref() else {
        return Looked::Failed("[tasks] source is \"http\", but there is no `url` in your own config".into());
    };
    let Some(url) = lookup.filled(named, quoted) else { return Looked::NoWorker };
    let place = place_of(named);
    match fetch(lookup, &url).and_then(|body| found(lookup, &body, Lookup::names_asker(named))) {
        Ok(looked) => looked,
        Err(why) => Looked::Failed(format!("{place}: {why}")),
    }
}

/// A URL as people are told of it: what stands behind the question mark, or before the host, may be secret.
fn place_of(url: &str) -> String {
    let url = url.split(['?', '#']).next().unwrap_or_default();
    let Some((scheme, rest)) = url.split_once("://") else { return url.to_owned() };
    let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    format!("{scheme}://{}{path}", host.rsplit('@').next().unwrap_or_default())
}

/// The body, after as many tries as the settings allow.
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
        if is_over || left == 0 || !failure.may_pass {
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

/// Why a try failed.
struct Failure {
    why: String,
    /// Whether another try may go better.
    may_pass: bool,
    is_timeout: bool,
}

impl Failure {
    fn for_good(why: impl Into<String>) -> Self {
        Self { why: why.into(), may_pass: false, is_timeout: false }
    }
}

fn try_once(url: &str, token: Option<&str>, time: Duration) -> Result<Vec<u8>, Failure> {
    let mut settings = Agent::config_builder();
    // Without encryption it is meant for this machine, and no proxy is to see it.
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
    answer.body_mut().with_config().limit(LONGEST).read_to_vec().map_err(|error| match error {
        Error::BodyExceedsLimit(_) => Failure::for_good("an answer of more than 8 MB"),
        error => failure(&error),
    })
}

fn refusal(status: StatusCode) -> Failure {
    let may_pass = status.is_server_error() || matches!(status.as_u16(), 408 | 425 | 429);
    let more = match status.as_u16() {
        401 | 403 => "; is `token_variable` set, and the token in it right?",
        300..=399 => "; it wants to be asked elsewhere, and that is not followed: set `url` to that place",
        _ => "",
    };
    Failure { why: format!("it answered {status}{more}"), may_pass, is_timeout: false }
}

fn failure(error: &Error) -> Failure {
    let may_pass = matches!(error, Error::Io(_) | Error::ConnectionFailed | Error::HostNotFound);
    let is_timeout = matches!(error, Error::Timeout(_));
    Failure { why: error.to_string(), may_pass, is_timeout }
}

/// The token, where one is wanted and may be sent there.
fn token(lookup: &Lookup<'_>, url: &str) -> Result<Option<String>, String> {
    let Some(variable) = lookup.config.token_variable.as_deref() else { return Ok(None) };
    let Some(token) = lookup.env.text(variable) else {
        return Err(format!("the variable {variable}, which should have its token, is not set here"));
    };
    if !is_sealed(url) {
        return Err("its token is sent over https, or to this machine: this is neither".into());
    }
    // A line end would be a header of its own.
    let token = token.trim();
    if token.chars().any(|letter| letter.is_control() || letter.is_whitespace()) {
        return Err(format!("what the variable {variable} has is no token"));
    }
    Ok(Some(token.to_owned()))
}

/// Whether nobody on the way can read what is sent there.
fn is_sealed(url: &str) -> bool {
    let lower = url.to_ascii_lowercase();
    if lower.starts_with("https://") {
        return true;
    }
    let host = lower.strip_prefix("http://").unwrap_or_default();
    let host = host.split(['/', '?', '#']).next().unwrap_or_default();
    // What stands before an @ is not the host.
    let host = host.rsplit('@').next().unwrap_or_default();
    let host = if host.starts_with('[') {
        host.split(']').next().unwrap_or_default().trim_start_matches('[')
    } else {
        host.split(':').next().unwrap_or_default()
    };
    host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// A name as a part of a URL.
fn quoted(name: &str) -> String {
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
        for (url, told) in [
            ("https://bob:S3cret@tracker.example/t?key=1", "https://tracker.example/t"),
            ("http://localhost:80/t#x", "http://localhost:80/t"),
            ("https://tracker.example", "https://tracker.example"),
            ("https://tracker.example/a@b", "https://tracker.example/a@b"),
        ] {
            assert_eq!(place_of(url), told);
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
            assert!(is_sealed(url), "{url}");
        }
        for url in [
            "http://x.example/t",
            "http://localhost.evil.example",
            "http://127.0.0.1@evil.example/",
            "ftp://localhost",
            "",
        ] {
            assert!(!is_sealed(url), "{url}");
        }
    }

    #[test]
    fn a_name_is_one_part_of_a_url() {
        assert_eq!(quoted("w2.x-y_z~"), "w2.x-y_z~");
        assert_eq!(quoted("a b/&?é"), "a%20b%2F%26%3F%C3%A9");
    }
}
