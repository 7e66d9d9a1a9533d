//! The URL of the fleet's database: `postgres://user@host:port/name?sslmode=…&sslrootcert=…`.
//! Parses it, and says what it means for TLS. Must not connect.

use std::path::PathBuf;
use std::str::FromStr;

use tokio_postgres::Config;
use tokio_postgres::config::{Host, SslMode};

use super::tls::{MakeTls, Verify};
use crate::database::DatabaseError;

/// How a connection is opened.
#[derive(Debug, Clone)]
pub(super) struct DatabaseUrl {
    config: Config,
    verify: Verify,
    /// The file with the certificates that are trusted; `None` is the system's.
    roots: Option<PathBuf>,
}

/// What is said of the program to the server.
const APPLICATION: &str = concat!("punchlist/", env!("CARGO_PKG_VERSION"));

impl FromStr for DatabaseUrl {
    type Err = DatabaseError;

    fn from_str(url: &str) -> Result<Self, DatabaseError> {
        let bad = |why: &str| DatabaseError::BadUrl(why.to_owned());
        if !["postgres://", "postgresql://"].iter().any(|start| url.starts_with(start)) {
            return Err(bad("write it like \"postgres://user@host/name\""));
        }
        // Else a part of the password is taken for the host, looked up and shown.
        let (_, rest) = url.split_once("://").unwrap_or_default();
        let end = rest.find(['/', '?']).unwrap_or(rest.len());
        if rest[end..].contains('@') || rest.matches('@').count() > 1 {
            return Err(bad("`@`, `/` and `?` in a name or password are written as %40, %2F and %3F"));
        }
        let (base, query) = url.split_once('?').unwrap_or((url, ""));
        let (mut mode, mut roots, mut rest) = (None, None, Vec::new());
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            match pair.split_once('=') {
                Some(("sslmode", value)) => mode = Some(value.to_owned()),
                Some(("sslrootcert", value)) => roots = Some(decoded(value)),
                _ => rest.push(pair),
            }
        }
        let rest = if rest.is_empty() { String::new() } else { format!("?{}", rest.join("&")) };
        let mut config = Config::from_str(&format!("{base}{rest}")).map_err(|error| {
            bad(&std::error::Error::source(&error).map_or(error.to_string(), ToString::to_string))
        })?;
        if config.get_hosts().is_empty() {
            return Err(bad("it names no host"));
        }
        let is_here = config.get_hosts().iter().all(is_this_machine) && config.get_hostaddrs().is_empty();
        // A URL that does not say is safe: encrypted and verified, but where nobody can listen.
        let mode = mode.unwrap_or_else(|| if is_here { "prefer" } else { "verify-full" }.to_owned());
        let trusts = if roots.is_some() { Verify::Chain } else { Verify::Nothing };
        let (ssl, verify) = match mode.as_str() {
            "disable" => (SslMode::Disable, Verify::Nothing),
            "prefer" => (SslMode::Prefer, Verify::Nothing),
            "require" => (SslMode::Require, trusts),
            "verify-ca" => (SslMode::Require, Verify::Chain),
            "verify-full" => (SslMode::Require, Verify::Full),
            other => {
                return Err(bad(&format!(
                    "sslmode is \"{other}\"; it may be disable, prefer, require, verify-ca or verify-full"
                )));
            }
        };
        // `sslrootcert=system` is how libpq names the system's.
        let roots = roots.filter(|roots| roots != "system").map(PathBuf::from);
        config.ssl_mode(ssl).application_name(APPLICATION);
        Ok(Self { config, verify, roots })
    }
}

/// A Unix socket, or the loopback.
fn is_this_machine(host: &Host) -> bool {
    match host {
        Host::Tcp(name) => matches!(name.as_str(), "localhost" | "127.0.0.1" | "::1"),
        #[cfg(unix)]
        Host::Unix(_) => true,
    }
}

/// A percent-encoded value.
fn decoded(value: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = value.as_bytes();
    while let [first, more @ ..] = rest {
        let hex = more.get(..2).and_then(|hex| u8::from_str_radix(std::str::from_utf8(hex).ok()?, 16).ok());
        if let (b'%', Some(byte)) = (first, hex) {
            bytes.push(byte);
            rest = &more[2..];
        } else {
            bytes.push(*first);
            rest = more;
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

impl DatabaseUrl {
    pub(super) fn config(&self) -> &Config {
        &self.config
    }

    pub(super) fn tls(&self) -> Result<MakeTls, String> {
        MakeTls::new(
            self.verify,
            self.roots.as_deref(),
            self.config.get_ssl_mode() == SslMode::Disable || self.is_local_socket(),
        )
    }

    fn is_local_socket(&self) -> bool {
        self.config.get_hosts().iter().all(|host| !matches!(host, Host::Tcp(_)))
    }

    /// The server and the database, without user and password.
    pub(super) fn shown(&self) -> String {
        let hosts = self
            .config
            .get_hosts()
            .iter()
            .zip(self.config.get_ports().iter().chain(std::iter::repeat(&5432)));
        let hosts: Vec<_> = hosts
            .map(|(host, port)| match host {
                Host::Tcp(name) => format!("{name}:{port}"),
                #[cfg(unix)]
                Host::Unix(folder) => folder.display().to_string(),
            })
            .collect();
        let name = self.config.get_dbname().or(self.config.get_user()).unwrap_or_default();
        format!("postgres://{}/{name}", hosts.join(","))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(url: &str) -> Result<(SslMode, Verify, String), String> {
        let url: DatabaseUrl = url.parse().map_err(|error: DatabaseError| error.to_string())?;
        Ok((url.config.get_ssl_mode(), url.verify, url.shown()))
    }

    #[test]
    fn a_url_that_does_not_say_is_encrypted_and_verified_unless_it_stays_on_this_machine() {
        for (url, mode, verify) in [
            ("postgres://a:b@db.example/x", SslMode::Require, Verify::Full),
            ("postgres://a:b@localhost:1/x", SslMode::Prefer, Verify::Nothing),
            ("postgres://a@%2Ftmp%2Fx/x", SslMode::Prefer, Verify::Nothing),
            ("postgres://a@localhost/x?hostaddr=10.0.0.7", SslMode::Require, Verify::Full),
            ("postgres://a@db/x?sslmode=disable", SslMode::Disable, Verify::Nothing),
            ("postgres://a@db/x?sslmode=prefer", SslMode::Prefer, Verify::Nothing),
            ("postgres://a@db/x?sslmode=require", SslMode::Require, Verify::Nothing),
            ("postgres://a@db/x?sslmode=require&sslrootcert=/ca.pem", SslMode::Require, Verify::Chain),
            ("postgres://a@db/x?sslmode=verify-ca&sslrootcert=system", SslMode::Require, Verify::Chain),
            ("postgresql://a@db/x?connect_timeout=3&sslmode=verify-full", SslMode::Require, Verify::Full),
        ] {
            let (found, verified, _) = parsed(url).expect(url);
            assert_eq!((found, verified), (mode, verify), "{url}");
        }
    }

    #[test]
    fn a_url_is_shown_without_its_password_and_refused_with_what_is_wrong() {
        let shown = parsed("postgres://ann:secret@db.example:5433/fleet?sslmode=require").expect("a URL").2;
        assert_eq!(shown, "postgres://db.example:5433/fleet");
        assert_eq!(parsed("postgres://a@%2Ftmp%2Fx/y").expect("a URL").2, "postgres:///tmp/x/y");
        for (url, why) in [
            ("mysql://db/x", "write it like \"postgres://user@host/name\""),
            (
                "postgres://db/x?sslmode=on",
                "sslmode is \"on\"; it may be disable, prefer, require, verify-ca or verify-full",
            ),
            ("postgres://db/x?colour=red", "unknown option `colour`"),
            ("postgres:///x", "it names no host"),
        ] {
            assert_eq!(parsed(url), Err(format!("the fleet's database is named wrongly: {why}")));
        }
        // They were shown, or looked up as a host's name.
        for password in ["se@cret", "se/cret", "se?cret", "se?secret=1&x"] {
            let refused = parsed(&format!("postgres://ann:{password}@db.example/x")).expect_err("refused");
            assert!(refused.contains("written as %40") && !refused.contains("cret"), "{refused}");
        }
        assert_eq!(decoded("%2Fetc%2fca%20x.pem%"), "/etc/ca x.pem%");
    }
}
