//! What a fleet costs, in one run on a `PostgreSQL` of its own: `cargo bench --bench fleet`. Prints
//! a table, and fails where a figure is over its limit. `--quick` does all of it with a little of
//! everything, in well under a minute: it shows that this works, and its figures mean nothing.
//! Needs the server's programs, `pgbench` among them.

#![cfg(unix)]
#![expect(clippy::print_stdout, reason = "the table is the point")]

#[path = "../../tests/fleet/machines.rs"]
#[expect(dead_code, reason = "shared with the tests, which need more of it")]
mod machines;
#[path = "../../tests/support/postgres.rs"]
#[expect(dead_code, reason = "shared with the tests, which need more of it")]
mod postgres;
#[path = "../../tests/fleet/proxy.rs"]
#[expect(dead_code, reason = "shared with the tests, which need more of it")]
mod proxy;
#[path = "../../tests/support/sample_log.rs"]
mod sample_log;
#[path = "../../tests/support/test_machine.rs"]
#[expect(dead_code, reason = "shared with the tests, which need more of it")]
mod test_machine;

mod claims;
mod decisions;
mod stops;
mod waiting;

use std::process::ExitCode;

use postgres::Cluster;

/// One line of the table.
struct Figure {
    what: &'static str,
    value: f64,
    unit: &'static str,
    /// What it must not be under, or over.
    limit: Option<Limit>,
}

#[derive(Clone, Copy)]
enum Limit {
    AtLeast(f64),
    AtMost(f64),
}

impl Figure {
    fn new(what: &'static str, value: f64, unit: &'static str) -> Self {
        Self { what, value, unit, limit: None }
    }

    fn at_least(self, limit: f64) -> Self {
        Self { limit: Some(Limit::AtLeast(limit)), ..self }
    }

    fn at_most(self, limit: f64) -> Self {
        Self { limit: Some(Limit::AtMost(limit)), ..self }
    }

    fn is_kept(&self) -> bool {
        match self.limit {
            Some(Limit::AtLeast(limit)) => self.value >= limit,
            Some(Limit::AtMost(limit)) => self.value <= limit,
            None => true,
        }
    }

    fn print(&self, is_quick: bool) {
        let limit = match self.limit {
            Some(Limit::AtLeast(limit)) => format!("at least {limit}"),
            Some(Limit::AtMost(limit)) => format!("at most {limit}"),
            None => String::new(),
        };
        let fault = if self.is_kept() || is_quick { "" } else { "  MISSED" };
        println!("| {:<58} | {:>10.2} {:<8} | {limit:<12} |{fault}", self.what, self.value, self.unit);
    }
}

/// A group of figures on a server, in earnest or only a little of it.
type Group = fn(&'static Cluster, bool) -> Vec<Figure>;

const GROUPS: [(&str, Group); 4] = [
    ("claims", claims::figures),
    ("stops", stops::figures),
    ("decisions", decisions::figures),
    ("waiting", waiting::figures),
];

fn main() -> ExitCode {
    if let Some(ended) = claims::run_process() {
        return ended;
    }
    // As Debian sets it up, but for the number of connections: what is committed is on the disk.
    let Some(cluster) = Cluster::start(&["max_connections=100"]) else { return ExitCode::SUCCESS };
    let cluster: &'static Cluster = Box::leak(Box::new(cluster));
    let (flags, wanted): (Vec<String>, Vec<String>) =
        std::env::args().skip(1).partition(|arg| arg.starts_with('-'));
    let is_quick = flags.iter().any(|flag| flag == "--quick");
    let mut is_kept = true;
    println!("| {:<58} | {:<19} | {:<12} |", "what", "figure", "limit");
    println!("| {:-<58} | {:-<19} | {:-<12} |", "", "", "");
    for (name, group) in GROUPS {
        if wanted.is_empty() || wanted.iter().any(|wanted| wanted == name) {
            for figure in group(cluster, is_quick) {
                figure.print(is_quick);
                is_kept &= figure.is_kept();
            }
        }
    }
    if is_kept || is_quick { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// The middle one.
fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
