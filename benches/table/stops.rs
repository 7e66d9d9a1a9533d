//! Stops of a session that nobody is asked about: those that step aside before any work, and those after which only
//! little is new.

use std::process::Command;

use punchlist::decision::Cause;
use serde_json::{Value, json};
use walkdir::WalkDir;

use crate::bench::{Bench, bin_true, size};
use crate::measure::{Fault, Rounds, Runner, in_turns, timed};
use crate::rows::{Row, Unit};
use crate::scene::{BenchProject, PUNCHLIST};
use crate::strace;

/// How many times more a thing of a millisecond is measured than one of a second.
const MORE: usize = 2;

fn more(rounds: Rounds) -> Rounds {
    Rounds { many: rounds.many * MORE, ..rounds }
}

/// The ways to step aside: a name, what is special about the input, the environment, and the cause in the log.
type Skip = (&'static str, fn(&mut Value), Option<(&'static str, &'static str)>, Cause);

const ASIDES: [Skip; 3] = [
    ("loop guard", |input| input["stop_hook_active"] = json!(true), None, Cause::LoopGuard),
    ("plan mode", |input| input["permission_mode"] = json!("plan"), None, Cause::PlanMode),
    ("off", |_| (), Some(("PUNCHLIST_OFF", "1")), Cause::Off),
];

/// The fast path as a script would do it: read the input, look at three fields, log a line.
const WITH_JQ: &str = r#"
input=$(cat)
active=$(printf %s "$input" | jq -r '.stop_hook_active')
mode=$(printf %s "$input" | jq -r '.permission_mode')
if [ "$active" = true ] || [ "$mode" = plan ]; then
  printf '%s' "$input" | jq -c '{session: .session_id, decision: "allow", cause: "loop-guard"}' >> "$PUNCHLIST_HOME/jq.jsonl"
  exit 0
fi
"#;

/// A stop that steps aside, once.
pub(crate) fn step_aside(scene: &BenchProject, aside: &Skip) -> (Command, Vec<u8>) {
    let (_, change, variable, _) = aside;
    let mut command = scene.hook();
    command.envs(*variable);
    (command, scene.input_with("It is done.", change))
}

/// The first way to step aside, for those who want only one.
pub(crate) fn loop_guard(scene: &BenchProject) -> (Command, Vec<u8>) {
    step_aside(scene, &ASIDES[0])
}

fn stepper<'a>(scene: &'a BenchProject, aside: &'a Skip) -> Runner<'a> {
    Box::new(|| {
        let (mut command, input) = step_aside(scene, aside);
        let time = timed(&mut command, &input)?.time;
        scene.decided(&[aside.3]).map(|_| time)
    })
}

/// Stepping aside.
pub(crate) fn fast_path(bench: &mut Bench) -> Result<(), Fault> {
    let (rounds, can_trace) = (more(bench.sizes.rounds), strace::is_there());
    let scene = &*bench.small()?;
    let [idle, guard, plan, off] = in_turns(
        rounds,
        [bin_true(), stepper(scene, &ASIDES[0]), stepper(scene, &ASIDES[1]), stepper(scene, &ASIDES[2])],
    )?;
    let mut rows = Vec::new();
    for (aside, times) in ASIDES.iter().zip([guard, plan, off]) {
        let name = format!("fast path ({}), over /bin/true", aside.0);
        let note =
            format!("{:.2} ms, true {:.2} ms, least of {}", times.least(), idle.least(), times.rounds());
        rows.push(Row::new(&name, times.least() / idle.least(), Unit::Times, 1.8).aim(1.4).note(note));
    }
    for aside in ASIDES.iter().filter(|_| can_trace) {
        let (command, input) = step_aside(scene, aside);
        let asked = strace::traced(&command, &input)?;
        scene.decided(&[aside.3])?;
        #[expect(clippy::cast_precision_loss, reason = "a few dozen")]
        let (calls, started) = (asked.calls as f64, asked.started as f64);
        let name = |what: &str| format!("{what} of the fast path ({})", aside.0);
        rows.push(Row::new(&name("system calls"), calls, Unit::Count, 70.0).exact());
        rows.push(Row::new(&name("threads and children"), started, Unit::Count, 0.0).exact());
    }
    let with_jq: Runner<'_> = Box::new(|| {
        let (_, input) = step_aside(scene, &ASIDES[0]);
        Ok(timed(&mut scene.command("bash", &["-c", WITH_JQ]), &input)?.time)
    });
    if let Ok([times]) = in_turns(rounds, [with_jq]) {
        let ratio = times.least() / idle.least();
        rows.push(Row::beside("the fast path with bash and jq, over /bin/true", ratio, Unit::Times));
    }
    bench.rows.extend(rows);
    if !can_trace {
        bench.skipped.push("system calls and threads of the fast path: there is no strace".to_owned());
    }
    Ok(())
}

/// What a stop with work behind it may be decided as, when the auditor finds nothing.
pub(crate) const AUDITED: [Cause; 2] = [Cause::Clean, Cause::OnlyUnverified];

/// The session's first stop, which leaves behind what later ones build on.
pub(crate) fn first_stop(scene: &BenchProject) -> Result<(), Fault> {
    timed(&mut scene.hook(), &scene.input(&scene.truth.final_message))?;
    scene.decided(&AUDITED).map(drop)
}

/// A later stop: a question, an answer, and nothing to audit.
pub(crate) fn later_stop(scene: &mut BenchProject) -> Result<(Command, Vec<u8>, u64), Fault> {
    let turn = scene.later.chat().map_err(|why| why.to_string())?;
    Ok((scene.hook(), scene.input(&turn.final_message), turn.appended))
}

fn later_stopper(scene: &mut BenchProject) -> Runner<'_> {
    Box::new(|| {
        let (mut command, input, _) = later_stop(scene)?;
        let time = timed(&mut command, &input)?.time;
        scene.decided(&[Cause::NothingToAudit, Cause::Unchanged]).map(|_| time)
    })
}

/// Stops at which only little is new.
pub(crate) fn later_stops(bench: &mut Bench) -> Result<(), Fault> {
    let sizes = bench.sizes;
    let (small, large) = bench.small_and_large()?;
    first_stop(small)?;
    first_stop(large)?;
    let rounds = more(sizes.rounds);
    let [idle, at_small, at_large] =
        in_turns(rounds, [bin_true(), later_stopper(small), later_stopper(large)])?;
    let least = |name: &str| format!("{name} {:.2} ms, least of {}", idle.least(), idle.rounds());
    let mut rows = vec![
        Row::new(
            &format!("a later stop at {}, over one at {}", size(sizes.large), size(sizes.small)),
            at_large.least() / at_small.least(),
            Unit::Times,
            3.0,
        )
        .aim(1.1)
        .note(format!(
            "{:.2} ms and {:.2} ms, least of {}",
            at_large.least(),
            at_small.least(),
            idle.rounds()
        )),
    ];
    for (bytes, times) in [(sizes.large, &at_large), (sizes.small, &at_small)] {
        let name = format!("a later stop at {}, over /bin/true", size(bytes));
        let note = format!("{:.2} ms, {}", times.least(), least("true"));
        rows.push(Row::new(&name, times.least() / idle.least(), Unit::Times, 10.0).aim(2.5).note(note));
    }
    let mut skipped = None;
    if strace::is_there() {
        rows.extend(bytes_read(large, sizes.large)?);
    } else {
        skipped = Some("bytes that a later stop reads: there is no strace".to_owned());
    }
    bench.rows.extend(rows);
    bench.skipped.extend(skipped);
    Ok(())
}

/// What is remembered between stops, in bytes; the log and what is kept for people is none of it.
fn state_bytes(scene: &BenchProject) -> u64 {
    let kept = WalkDir::new(scene.state()).into_iter().filter_entry(|entry| {
        let name = entry.file_name().to_string_lossy();
        !(entry.depth() == 1 && matches!(&*name, "decisions" | "audits" | "tidied" | "jq.jsonl"))
    });
    let files = kept.filter_map(Result::ok).filter(|entry| entry.file_type().is_file());
    files.filter_map(|entry| entry.metadata().ok()).map(|meta| meta.len()).sum()
}

fn bytes_read(scene: &mut BenchProject, of: u64) -> Result<Vec<Row>, Fault> {
    let (command, input, appended) = later_stop(scene)?;
    let state = state_bytes(scene);
    let asked = strace::traced(&command, &input)?;
    scene.decided(&[Cause::NothingToAudit, Cause::Unchanged])?;
    let read = asked.bytes_of_files(PUNCHLIST);
    let of_transcript = asked.read.get(&scene.transcript.display().to_string()).copied().unwrap_or(0);
    #[expect(clippy::cast_precision_loss, reason = "bytes of a few files")]
    let (read, most) = (read as f64, (appended + state + (8 << 10)) as f64);
    let note = format!(
        "{appended} appended, {state} of state; {of_transcript} of the transcript, {} system calls, {} threads",
        asked.calls, asked.started
    );
    let name = format!("bytes that a later stop at {} reads", size(of));
    Ok(vec![Row::new(&name, read, Unit::Bytes, most).exact().note(note)])
}
