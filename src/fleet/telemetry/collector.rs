//! The collector: OTLP as protobuf over HTTP, by the client that is there for tasks behind a URL.
//! Must not follow a redirect, wait longer than it may, or send a password over plain http to
//! another machine.

use opentelemetry_proto::tonic::collector::logs::v1::ExportLogsServiceResponse;
use prost::Message;
use ureq::http::Uri;
use ureq::tls::{Certificate, RootCerts, TlsConfig};
use ureq::{Agent, Error};

use super::{Entry, Series, Service, TelemetryError, messages};
use crate::clock::now;
use crate::database::Patience;
use crate::tasks::is_private;

/// The most of an answer that is read.
const MAX_ANSWER: u64 = 1 << 20;

/// One collector, and a connection to it once something was sent.
#[derive(Debug)]
pub struct Collector {
    agent: Agent,
    url: String,
    /// The URL as it may be shown.
    server: String,
}

impl Collector {
    pub fn new(url: &str) -> Result<Self, TelemetryError> {
        let wrong = |why: &str| TelemetryError::BadUrl(why.to_owned());
        let parsed: Uri = url.parse().map_err(|_| wrong("it is no URL"))?;
        let (Some(scheme @ ("http" | "https")), Some(host)) = (parsed.scheme_str(), parsed.host()) else {
            return Err(wrong("it is `http://HOST:4318` or `https://…`"));
        };
        if parsed.query().is_some() {
            return Err(wrong("it has a query"));
        }
        if parsed.authority().is_some_and(|authority| authority.as_str().contains('@')) && !is_private(url) {
            return Err(wrong("a password is sent over https, or to this machine: this is neither"));
        }
        let port = parsed.port_u16().map(|port| format!(":{port}")).unwrap_or_default();
        let mut settings = Agent::config_builder()
            .max_redirects(0)
            .max_redirects_will_error(false)
            .http_status_as_error(false)
            .user_agent(concat!("punchlist/", env!("CARGO_PKG_VERSION")));
        if scheme == "https" {
            settings = settings.tls_config(TlsConfig::builder().root_certs(system_roots()).build());
        } else {
            // Plain http is for a network of one's own, and must not go through a proxy.
            settings = settings.proxy(None);
        }
        Ok(Self {
            agent: settings.build().into(),
            url: url.trim_end_matches('/').to_owned(),
            server: format!("{scheme}://{host}{port}"),
        })
    }

    pub fn server(&self) -> &str {
        &self.server
    }

    /// Sends entries, and returns how many are refused for what is in them. None at all is a
    /// message as well: who answers it is a collector.
    pub fn send_entries(
        &self,
        service: &Service,
        entries: &[Entry],
        patience: Patience,
    ) -> Result<usize, TelemetryError> {
        let message = messages::logs(service, entries, now().as_millisecond());
        match self.post("v1/logs", &message.encode_to_vec(), patience) {
            Ok(answer) => {
                let partial =
                    ExportLogsServiceResponse::decode(&answer[..]).unwrap_or_default().partial_success;
                let rejected = partial.map_or(0, |partial| partial.rejected_log_records);
                Ok(usize::try_from(rejected).unwrap_or_default().min(entries.len()))
            }
            // One record that it can't take must not keep back all that come after it.
            Err(TelemetryError::Unfit { .. }) if entries.len() > 1 => {
                let (one, other) = entries.split_at(entries.len() / 2);
                Ok(self.send_entries(service, one, patience)?
                    + self.send_entries(service, other, patience)?)
            }
            Err(TelemetryError::Unfit { server, status }) if entries.len() == 1 => {
                // Whoever refuses an empty message as well has nothing against the record.
                match self.send_entries(service, &[], patience) {
                    Ok(_) => {
                        tracing::debug!(status, "a record was refused");
                        Ok(1)
                    }
                    Err(TelemetryError::Unfit { .. }) => Err(TelemetryError::Refused { server, status }),
                    Err(error) => Err(error),
                }
            }
            Err(error) => Err(error),
        }
    }

    /// Sends series; sums begin at `start_ms`.
    pub fn send_series(
        &self,
        service: &Service,
        start_ms: Option<i64>,
        series: &[Series],
        patience: Patience,
    ) -> Result<(), TelemetryError> {
        let message = messages::metrics(service, start_ms, series, now().as_millisecond());
        self.post("v1/metrics", &message.encode_to_vec(), patience).map(drop)
    }

    fn post(&self, path: &str, body: &[u8], patience: Patience) -> Result<Vec<u8>, TelemetryError> {
        let server = self.server.clone();
        let time = patience.left();
        if time.is_zero() {
            return Err(TelemetryError::Slow { server });
        }
        let request =
            self.agent.post(format!("{}/{path}", self.url)).config().timeout_global(Some(time)).build();
        let answer = request.header("Content-Type", "application/x-protobuf").send(body);
        let mut answer = answer.map_err(|error| self.failed(&error))?;
        match answer.status().as_u16() {
            200..=299 => {}
            status @ (400 | 413) => return Err(TelemetryError::Unfit { server, status }),
            status => return Err(TelemetryError::Refused { server, status }),
        }
        let body = answer.body_mut().with_config().limit(MAX_ANSWER).read_to_vec();
        body.map_err(|error| self.failed(&error))
    }

    fn failed(&self, error: &Error) -> TelemetryError {
        let server = self.server.clone();
        match error {
            Error::Timeout(_) => TelemetryError::Slow { server },
            error => TelemetryError::Unreachable { server, why: error.to_string() },
        }
    }
}

/// The certificates that the system trusts, a company's own among them.
fn system_roots() -> RootCerts {
    let certificates = rustls_native_certs::load_native_certs().certs;
    RootCerts::from(certificates.iter().map(|one| Certificate::from_der(one).to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_collector_is_named_by_its_url_and_shown_without_a_password() {
        for (url, shown) in [
            ("http://localhost:4318", "http://localhost:4318"),
            ("http://10.0.0.7:4318/", "http://10.0.0.7:4318"),
            ("https://ann:secret@otel.example.org/in", "https://otel.example.org"),
            ("http://ann:secret@127.0.0.1:4318", "http://127.0.0.1:4318"),
        ] {
            assert_eq!(Collector::new(url).expect("a collector").server(), shown);
        }
        for url in
            ["", "localhost:4318", "grpc://localhost:4317", "http://ann:secret@10.0.0.7", "http://x/?k=1"]
        {
            let error = Collector::new(url).expect_err("none").to_string();
            assert!(
                error.starts_with("the collector is named wrongly") && !error.contains("secret"),
                "{error}"
            );
        }
    }
}
