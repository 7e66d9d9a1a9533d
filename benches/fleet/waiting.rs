//! What a worker costs that waits and is given nothing: messages to the server in a minute, once it
//! listens.

use std::process::Stdio;
use std::time::Duration;

use crate::Figure;
use crate::machines::{Fleet, Machine};
use crate::postgres::Cluster;
use crate::proxy::Proxy;

/// Long enough for two looks of its own.
const WHOLE: Duration = Duration::from_secs(126);
/// Too short for any.
const QUICK: Duration = Duration::from_secs(3);

#[expect(clippy::cast_precision_loss, reason = "a handful")]
pub(crate) fn figures(cluster: &'static Cluster, is_quick: bool) -> Vec<Figure> {
    let time = if is_quick { QUICK } else { WHOLE };
    let fleet = Fleet { cluster, name: cluster.database() };
    let proxy = Proxy::to(cluster.port);
    let url = fleet.url_at(proxy.port);
    let machine = Machine::new("m1", &url);
    machine.print(&["worker", "register", "w1"]);
    let mut wait = machine.command(&["worker", "wait", "w1", "--timeout", "10m"]);
    let mut waiting = wait.stdout(Stdio::null()).spawn().expect("it starts");
    std::thread::sleep(Duration::from_secs(3));
    let before = proxy.messages();
    std::thread::sleep(time);
    let sent = proxy.messages() - before;
    waiting.kill().expect("ended");
    waiting.wait().expect("it ends");
    vec![Figure::new(
        "an idle worker that waits: queries",
        sent as f64 / time.as_secs_f64() * 60.0,
        "a minute",
    )]
}
