//! `[fleet]`: where several machines share tasks, workers and decisions. Plain data: must not connect.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `[fleet]`
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct FleetConfig {
    /// The Postgres that several machines share, such as `postgres://user@host/name`. Tasks and workers are
    /// there in place of the file on this machine, and every decision is copied there.
    #[schemars(with = "String", extend("x-project" = "never"))]
    pub database: Option<String>,
    /// The name of this machine in the fleet. Without it, the host's.
    #[schemars(with = "String", extend("x-project" = "never"))]
    pub machine: Option<String>,
    /// True copies the words of claims, proofs and people with the decisions. Otherwise the copies have
    /// categories, paths in the project, reasons and figures only.
    #[schemars(extend("x-project" = "never"))]
    pub ship_evidence: bool,
}

/// A URL that may be shown: without its password.
pub(super) fn without_password(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else { return "…".to_owned() };
    let (authority, tail) = rest.split_at(rest.find(['/', '?']).unwrap_or(rest.len()));
    let authority = match authority.rsplit_once('@') {
        Some((user, host)) => match user.split_once(':') {
            Some((user, _)) => format!("{user}:…@{host}"),
            None => authority.to_owned(),
        },
        None => authority.to_owned(),
    };
    let (path, query) = tail.split_once('?').unwrap_or((tail, ""));
    let shown =
        |pair: &str| if pair.starts_with("password=") { "password=…".to_owned() } else { pair.to_owned() };
    let query: Vec<_> = query.split('&').filter(|pair| !pair.is_empty()).map(shown).collect();
    let mark = if query.is_empty() { "" } else { "?" };
    format!("{scheme}://{authority}{path}{mark}{}", query.join("&"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_was_shown_by_config_show() {
        for (url, shown) in [
            (
                "postgres://ann:se:cret@db:5433/x?sslmode=require",
                "postgres://ann:…@db:5433/x?sslmode=require",
            ),
            ("postgres://ann@db/x", "postgres://ann@db/x"),
            ("postgres://db", "postgres://db"),
            ("postgres:///x?password=secret&user=ann", "postgres:///x?password=…&user=ann"),
            ("secret", "…"),
        ] {
            assert_eq!(without_password(url), shown);
        }
    }
}
