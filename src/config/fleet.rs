//! `[fleet]`: where several machines share tasks, workers and decisions. Plain data: must not
//! connect.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `[fleet]`
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct FleetConfig {
    /// The Postgres that several machines share, such as `postgres://user@host/name`. It holds
    /// tasks and workers instead of the file on this machine, and gets a copy of every decision.
    #[schemars(with = "String", extend("x-project" = "never"))]
    pub database: Option<String>,
    /// The name of this machine in the fleet. The host's name by default.
    #[schemars(with = "String", extend("x-project" = "never"))]
    pub machine: Option<String>,
    /// True copies the text of claims, proofs and prompts with the decisions. Otherwise the copies
    /// have only categories, paths in the project, reasons and figures.
    #[schemars(extend("x-project" = "never"))]
    pub ship_evidence: bool,
}

/// Returns a URL that is safe to show: without its password, whatever that has in it, and without
/// the values of its options but those for TLS.
pub(crate) fn without_password(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else { return "…".to_owned() };
    let (user, place) = match rest.rsplit_once('@') {
        Some((user, place)) => match user.split_once(':') {
            Some((user, _)) => (format!("{user}:…@"), place),
            None => (format!("{user}@"), place),
        },
        None => (String::new(), rest),
    };
    let (place, query) = place.split_once('?').unwrap_or((place, ""));
    let shown = |pair: &str| match pair.split_once('=') {
        Some((key, _)) if !["sslmode", "sslrootcert"].contains(&key) => format!("{key}=…"),
        _ => pair.to_owned(),
    };
    let query: Vec<_> = query.split('&').filter(|pair| !pair.is_empty()).map(shown).collect();
    let mark = if query.is_empty() { "" } else { "?" };
    format!("{scheme}://{user}{place}{mark}{}", query.join("&"))
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
            ("postgres:///x?passw%6frd=secret&sslmode=disable", "postgres:///x?passw%6frd=…&sslmode=disable"),
            ("postgres://ann:se/cr?e@t@db/x", "postgres://ann:…@db/x"),
            ("postgres://:secret@db/x", "postgres://:…@db/x"),
            ("secret", "…"),
        ] {
            assert_eq!(without_password(url), shown);
        }
    }
}
