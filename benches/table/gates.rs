//! What the gates beside the audit cost where all of them are set and pass: later stops of two sessions that are alike, one of
//! them with every gate in its config. The checks' own time is no part of it: they passed at the first stop.

use std::fs;

use punchlist::decision::Cause;
use punchlist::registry::{NewWorker, Registry};

use crate::bench::Bench;
use crate::measure::{Fault, Rounds, Runner, in_turns, timed};
use crate::rows::{Row, Unit};
use crate::scene::{BenchProject, PUNCHLIST};
use crate::stops::{first_stop, later_stop};
use crate::transcripts::Spec;

/// Every gate, as a person would set it.
const ALL_SET: &str = r###"
[[check]]
name = "test"
run = "true"
when = ["*.rs"]

[[check]]
name = "docs"
run = "true"
when = ["docs/**", "*.md"]

[checklist]
plan = true
files = ["TODO.md", "docs/lists/*.md"]
todos = true
require_section = "## Plan Completion Check"

[tasks]
source = "registry"

[worker]
keep_alive = true
"###;

/// How much more all of them may take, in milliseconds.
const MOST: f64 = 3.0;

/// How often: what is compared is a few milliseconds long.
const MORE: usize = 2;

fn stopper(scene: &mut BenchProject) -> Runner<'_> {
    Box::new(|| {
        let (mut command, input, _) = later_stop(scene)?;
        let time = timed(&mut command, &input)?.time;
        scene.decided(&[Cause::NothingToAudit, Cause::Unchanged, Cause::Clean]).map(|_| time)
    })
}

/// A feature loop of another session, with as many features as such lists have: every stop on the machine passes by it.
fn begin_a_loop(scene: &BenchProject) -> Result<(), Fault> {
    let folder = scene.state().join("beside");
    let feature =
        |at: usize| format!(r#"{{"id":"F{at}","description":"What feature {at} is","passes":false}}"#);
    let list: Vec<_> = (0..200).map(feature).collect();
    let written = fs::create_dir_all(&folder)
        .and_then(|()| fs::write(folder.join("feature_list.json"), format!("[{}]", list.join(","))));
    written.map_err(|why| format!("{}: {why}", folder.display()))?;
    let begun =
        scene.command(PUNCHLIST, &["loop", "start", "--session", "another"]).current_dir(&folder).output();
    match begun {
        Ok(output) if output.status.success() => Ok(()),
        other => Err(format!("no loop could be begun: {other:?}")),
    }
}

/// All gates over none.
pub(crate) fn gates(bench: &mut Bench) -> Result<(), Fault> {
    let spec = Spec::of(bench.sizes.small);
    let (mut bare, mut set) = (BenchProject::of(&spec)?, BenchProject::of(&spec)?);
    set.configure(ALL_SET)?;
    begin_a_loop(&set)?;
    // Somebody else's: a worker itself would be kept at its queue.
    let mut registry = Registry::open(&set.state()).map_err(|fault| fault.to_string())?;
    let other = NewWorker { name: Some("other".to_owned()), ..NewWorker::default() };
    registry.register(&other, 0).map_err(|fault| fault.to_string())?;
    drop(registry);
    first_stop(&bare)?;
    first_stop(&set)?;
    let rounds = Rounds { many: bench.sizes.rounds.many * MORE, ..bench.sizes.rounds };
    let [without, with] = in_turns(rounds, [stopper(&mut bare), stopper(&mut set)])?;
    let looked = set.decided(&[Cause::NothingToAudit, Cause::Unchanged, Cause::Clean])?.gates;
    let names: Vec<_> = looked.iter().map(|gate| gate.gate.as_str()).collect();
    let note = format!(
        "{:.2} ms, none {:.2} ms, least of {}; looked: {}",
        with.least(),
        without.least(),
        with.rounds(),
        names.join(", ")
    );
    let over = with.least() - without.least();
    bench
        .rows
        .push(Row::new("all gates set and passing, over none", over, Unit::Milliseconds, MOST).note(note));
    Ok(())
}
