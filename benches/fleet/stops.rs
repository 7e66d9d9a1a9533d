//! What a stop takes more with a fleet whose database is up, slow or down, beside a stop without
//! one: of a session that is no worker, and of one that is.

use std::time::{Duration, Instant};

use crate::machines::{Fleet, Machine};
use crate::postgres::{Cluster, free_port};
use crate::proxy::Proxy;
use crate::{Figure, median};

const WHOLE: usize = 41;
const QUICK: usize = 3;

/// The session that is a worker, and one that is none.
const WORKER: &str = "worker";
const NO_WORKER: &str = "none";

/// How long a query of the slow database takes.
const SLOW: Duration = Duration::from_millis(500);

/// A machine, and what stops of one session took.
struct Measured {
    machine: Machine,
    session: &'static str,
    /// Whether a failure is forgotten before each stop, so that each tries.
    forgets: bool,
    took: Vec<f64>,
}

impl Measured {
    fn new(url: Option<&str>, forgets: bool) -> Self {
        let machine = Machine::new("m1", url.unwrap_or_default());
        if url.is_none() {
            machine.write("home/.config/punchlist/config.toml", "");
        }
        Self { machine, session: NO_WORKER, forgets, took: Vec::new() }
    }

    /// The same for a session that has registered, while the database was at `up`.
    fn worker(up: &str, url: &str) -> Self {
        let measured = Self { session: WORKER, ..Self::new(Some(up), false) };
        measured.machine.print(&["worker", "register", "--session", WORKER]);
        measured.machine.configure("m1", url, "[tasks]\nsource = \"registry\"\n");
        measured
    }

    fn stop(&mut self) {
        if self.forgets {
            let cursor = self.machine.path("state/fleet-cursor.json");
            let text = std::fs::read_to_string(&cursor).unwrap_or_default();
            if text.contains("\"failed\":\"") {
                std::fs::remove_file(cursor).expect("removed");
            }
        }
        let begun = Instant::now();
        let output = self.machine.answered_stop(self.session);
        self.took.push(begun.elapsed().as_secs_f64() * 1_000.0);
        // What goes on after the answer must not be in the way of the next one's.
        self.machine.settle();
        assert!(matches!(output.code, Some(0 | 2)), "{output:?}");
    }
}

pub(crate) fn figures(cluster: &'static Cluster, is_quick: bool) -> Vec<Figure> {
    let rounds = if is_quick { QUICK } else { WHOLE };
    let fleet = Fleet { cluster, name: cluster.database() };
    let proxy = Proxy::to(cluster.port);
    proxy.delay(SLOW);
    let (up, slow, dead) = (fleet.url(), fleet.url_at(proxy.port), fleet.url_at(free_port()));
    let mut all = [
        Measured::new(None, false),
        Measured::new(Some(&up), false),
        Measured::new(Some(&slow), true),
        Measured::new(Some(&slow), false),
        Measured::new(Some(&dead), true),
        Measured::new(Some(&dead), false),
        Measured::worker(&up, &up),
        Measured::worker(&up, &slow),
        Measured::worker(&up, &dead),
    ];
    for _ in 0..rounds {
        for one in &mut all {
            one.stop();
        }
    }
    let logged = fleet.sql("SELECT count(*) FROM punchlist.decisions WHERE machine = 'm1'");
    assert!(logged.parse::<usize>().expect("a number") >= rounds, "{logged}");
    let [none, up, slow, slow_later, down, down_later, worker, worker_slow, worker_down] =
        all.map(|one| median(one.took));
    vec![
        Figure::new("a stop without a fleet", none, "ms"),
        Figure::new("  more with the database up", up - none, "ms").at_most(5.0),
        Figure::new("  more with 500 ms a query, a stop that tries", slow - none, "ms").at_most(160.0),
        Figure::new("  more with 500 ms a query, the stops of the next 30 s", slow_later - none, "ms")
            .at_most(5.0),
        Figure::new("  more with the database down, a stop that tries", down - none, "ms").at_most(5.0),
        Figure::new("  more with the database down, the stops of the next 30 s", down_later - none, "ms")
            .at_most(5.0),
        // Its gates have to know what it has in hand: it connects, and waits for the answer.
        Figure::new("  more of a worker's stop with the database up", worker - none, "ms"),
        Figure::new("  more of a worker's stop with 500 ms a query", worker_slow - none, "ms")
            .at_most(1_600.0),
        Figure::new("  more of a worker's stop with the database down", worker_down - none, "ms"),
    ]
}
