//! What decisions cost in the database: bytes a row with its indexes, and rows a second through one
//! connection.

use std::time::Instant;

use crate::Figure;
use crate::machines::Fleet;
use crate::postgres::Cluster;
use crate::sample_log;

const WHOLE: usize = 20_000;
const QUICK: usize = 500;

pub(crate) fn figures(cluster: &'static Cluster, is_quick: bool) -> Vec<Figure> {
    let decisions = if is_quick { QUICK } else { WHOLE };
    let fleet = Fleet { cluster, name: cluster.database() };
    let machine = fleet.machine("m1");
    sample_log::write_year(&machine.path("state"), 1, decisions).expect("a log");
    let begun = Instant::now();
    machine.print(&["fleet", "push"]);
    let took = begun.elapsed().as_secs_f64();
    let number = |sql: &str| fleet.sql(sql).parse::<f64>().expect("a number");
    let rows = number("SELECT count(*) FROM punchlist.decisions");
    let notes = number("SELECT count(*) FROM punchlist.notes");
    let of = |what: &str, table: &str| number(&format!("SELECT {what}('punchlist.{table}')"));
    vec![
        Figure::new("decisions shipped by `fleet push`", (rows + notes) / took, "a second"),
        Figure::new(
            "a decision, table and indexes",
            of("pg_total_relation_size", "decisions") / rows,
            "bytes",
        ),
        Figure::new("  of these its indexes", of("pg_indexes_size", "decisions") / rows, "bytes"),
        Figure::new("notes for each decision", notes / rows, ""),
    ]
}
