//! What people notice: how often a model is asked, how much it is given to read, and where the time
//! of a stop goes.

use std::collections::BTreeMap;
use std::path::Path;

use crate::bench::Bench;
use crate::measure::{Fault, heard, timed};
use crate::project::{self, BenchProject, PUNCHLIST};
use crate::rows::{Row, Unit};
use crate::stops::{AUDITED, NOT_AUDITED, first_stop, later_stop};
use crate::transcripts::Spec;

/// About how many bytes of English and code one token has.
const BYTES_PER_TOKEN: f64 = 4.0;

pub(crate) fn people(bench: &mut Bench) -> Result<(), Fault> {
    calls_and_phases(bench)?;
    tokens(bench)
}

/// A session with as many turns of talk as of work: only those with new work may ask a model.
fn calls_and_phases(bench: &mut Bench) -> Result<(), Fault> {
    const TURNS: usize = 10;
    let spec = Spec { plan_steps: 20, ..Spec::of(bench.sizes.small * 5) };
    let mut project = BenchProject::of(&spec)?;
    first_stop(&project)?;
    let (mut asked_after_talk, mut asked_after_work) = (0, 0);
    let mut phases: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    for turn in 0..TURNS {
        let (mut command, input) = later_stop(&mut project)?;
        timed(&mut command, &input)?;
        asked_after_talk += usize::from(project.decided(&NOT_AUDITED)?.auditor.is_some());
        let file = project.workspace().join(format!("src/area_{}/unit_{:03}.rs", turn % 4, turn % 4));
        let done = project.later.edit(&file).map_err(|why| format!("{}: {why}", file.display()))?;
        timed(&mut project.hook(), &project.input(&done.final_message))?;
        let record = project.decided(&AUDITED)?;
        asked_after_work += usize::from(record.auditor.is_some());
        for (phase, took) in record.phases_ms {
            phases.entry(phase).or_default().push(took);
        }
    }
    #[expect(clippy::cast_precision_loss, reason = "a few stops")]
    let count = |asked: usize| asked as f64;
    let name = format!("stops of {TURNS} after talk alone that ask a model");
    bench.rows.push(Row::new(name, count(asked_after_talk), Unit::Count, 0.0));
    let name = format!("stops of {TURNS} after new work that ask a model");
    bench.rows.push(Row::without_limit(name, count(asked_after_work), Unit::Count));
    for (phase, took) in phases {
        let name = format!("wait at the prompt: {phase}");
        let note = "median; the scripted reader answers at once".to_owned();
        bench.rows.push(Row::without_limit(name, median(took), Unit::Milliseconds).note(note));
    }
    Ok(())
}

/// The first reader's prompts for all recorded cases.
fn tokens(bench: &mut Bench) -> Result<(), Fault> {
    let sandbox = project::empty_sandbox().map_err(|why| why.to_string())?;
    let (prompts, key) = (sandbox.path("prompts"), sandbox.path("key.json"));
    let cases = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/cases");
    let mut command = project::command(&sandbox, PUNCHLIST, &["eval", "prompts"]);
    heard(command.arg(cases).arg("--out").arg(&prompts).arg("--key").arg(key), &[0])?;
    let mut sizes = Vec::new();
    for entry in std::fs::read_dir(&prompts).map_err(|why| format!("{}: {why}", prompts.display()))? {
        let entry = entry.map_err(|why| why.to_string())?;
        if entry.path().extension().is_some_and(|extension| extension == "md" || extension == "txt") {
            #[expect(clippy::cast_precision_loss, reason = "bytes of a prompt")]
            let bytes = entry.metadata().map_err(|why| why.to_string())?.len() as f64;
            sizes.push(bytes / BYTES_PER_TOKEN);
        }
    }
    if sizes.is_empty() {
        return Err("no prompt was written".to_owned());
    }
    sizes.sort_by(f64::total_cmp);
    let (note, most) =
        (format!("{} recorded sessions, 4 bytes a token", sizes.len()), sizes[sizes.len() * 9 / 10]);
    let row = Row::without_limit("tokens that a reader is given, median", median(sizes), Unit::Count);
    bench.rows.push(row.note(note));
    bench.rows.push(Row::without_limit("and nine of ten are below", most, Unit::Count));
    Ok(())
}

fn median(mut numbers: Vec<f64>) -> f64 {
    numbers.sort_by(f64::total_cmp);
    numbers.get(numbers.len() / 2).copied().unwrap_or_default()
}
