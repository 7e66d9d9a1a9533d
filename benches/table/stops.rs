//! Stops at which no model is asked: those that are skipped before any work, and later ones after
//! which little is new.

use std::process::Command;

use punchlist::decision::Cause;
use serde_json::{Value, json};

use crate::bench::{Bench, bin_true, size};
use crate::measure::{Fault, Rounds, Runner, in_turns, timed};
use crate::project::BenchProject;
use crate::rows::{Row, Unit};
use crate::transcripts::Generator;

/// A thing of a millisecond is measured this many times more than one of a second.
fn more(rounds: Rounds) -> Rounds {
    Rounds { many: rounds.many * 2, ..rounds }
}

/// A way to be skipped: a name, what is special about the input, a variable, and the cause in the
/// log.
type Skip = (&'static str, fn(&mut Value), Option<(&'static str, &'static str)>, Cause);

const SKIPS: [Skip; 3] = [
    ("loop guard", |input| input["stop_hook_active"] = json!(true), None, Cause::LoopGuard),
    ("plan mode", |input| input["permission_mode"] = json!("plan"), None, Cause::PlanMode),
    ("off", |_| (), Some(("PUNCHLIST_OFF", "1")), Cause::Off),
];

fn skipped_stop(project: &BenchProject, skip: &Skip) -> (Command, Vec<u8>) {
    let (_, change, variable, _) = skip;
    let mut command = project.hook();
    command.envs(*variable);
    (command, project.input_with("It is done.", change))
}

/// Returns a stop that the loop guard skips.
pub(crate) fn loop_guard(project: &BenchProject) -> (Command, Vec<u8>) {
    skipped_stop(project, &SKIPS[0])
}

fn skipper<'a>(project: &'a BenchProject, skip: &'a Skip) -> Runner<'a> {
    Box::new(|| {
        let (mut command, input) = skipped_stop(project, skip);
        let time = timed(&mut command, &input)?.time;
        project.decided(&[skip.3]).map(|_| time)
    })
}

pub(crate) fn fast_path(bench: &mut Bench) -> Result<(), Fault> {
    let (rounds, small) = (more(bench.sizes.rounds), bench.sizes.small);
    let project = &*bench.project(Generator::First, small)?;
    let [idle, guard, plan, off] = in_turns(
        rounds,
        [bin_true(), skipper(project, &SKIPS[0]), skipper(project, &SKIPS[1]), skipper(project, &SKIPS[2])],
    )?;
    for (skip, times) in SKIPS.iter().zip([guard, plan, off]) {
        let name = format!("fast path ({}), over /bin/true", skip.0);
        let note =
            format!("{:.2} ms, true {:.2} ms, least of {}", times.least(), idle.least(), times.rounds());
        bench.rows.push(Row::new(name, times.least() / idle.least(), Unit::Times, 3.0).note(note));
    }
    Ok(())
}

/// How a stop with work behind it may be decided when the reader finds nothing.
pub(crate) const AUDITED: [Cause; 2] = [Cause::Clean, Cause::OnlyUnverified];
/// How one with nothing new may be.
pub(crate) const NOT_AUDITED: [Cause; 2] = [Cause::NothingToAudit, Cause::Unchanged];

/// Runs the session's first stop, on whose results later ones build.
pub(crate) fn first_stop(project: &BenchProject) -> Result<(), Fault> {
    timed(&mut project.hook(), &project.input(&project.truth.final_message))?;
    project.decided(&AUDITED).map(drop)
}

/// Appends a question and an answer; returns the stop behind them, at which there is nothing to
/// audit.
pub(crate) fn later_stop(project: &mut BenchProject) -> Result<(Command, Vec<u8>), Fault> {
    let turn = project.later.chat().map_err(|why| why.to_string())?;
    Ok((project.hook(), project.input(&turn.final_message)))
}

fn later_stopper(project: &mut BenchProject) -> Runner<'_> {
    Box::new(|| {
        let (mut command, input) = later_stop(project)?;
        let time = timed(&mut command, &input)?.time;
        project.decided(&NOT_AUDITED).map(|_| time)
    })
}

pub(crate) fn later_stops(bench: &mut Bench) -> Result<(), Fault> {
    let sizes = bench.sizes;
    for generator in Generator::ALL {
        let [small, large] = bench.projects(generator, [sizes.small, sizes.large])?;
        first_stop(small)?;
        first_stop(large)?;
        let [idle, at_small, at_large] =
            in_turns(more(sizes.rounds), [bin_true(), later_stopper(small), later_stopper(large)])?;
        let name = format!(
            "later stop at {}, {}, over one at {}",
            size(sizes.large),
            generator.name(),
            size(sizes.small)
        );
        let note =
            format!("{:.2} ms and {:.2} ms, least of {}", at_large.least(), at_small.least(), idle.rounds());
        bench.rows.push(Row::new(name, at_large.least() / at_small.least(), Unit::Times, 1.5).note(note));
        for (bytes, times) in [(sizes.large, &at_large), (sizes.small, &at_small)] {
            let name = format!("later stop at {}, {}, over /bin/true", size(bytes), generator.name());
            let note = format!("{:.2} ms, true {:.2} ms", times.least(), idle.least());
            bench.rows.push(Row::new(name, times.least() / idle.least(), Unit::Times, 10.0).note(note));
        }
    }
    Ok(())
}
