//! Stops at which an auditor is asked, less the auditor's own time; the length of what it is asked; and audits of many
//! saved sessions at once.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, SystemTime};

use punchlist::log::Record;
use punchlist::sandbox::Sandbox;

use crate::bench::{Bench, bin_true, size};
use crate::measure::{Fault, Runner, heard, in_turns, timed};
use crate::rows::{Row, Unit};
use crate::scene::{self, AUDITOR, BenchProject, PUNCHLIST};
use crate::stops::{AUDITED, first_stop};
use crate::transcripts::{Spec, generate};

const FILES: usize = 50;
const FILE_BYTES: usize = 20_000;
const STEPS: usize = 200;
/// From a session's last change to its stop there are its last words at the least. A file that was changed a moment ago may be
/// changed once more with the same time on it, and would be looked at again at the next stop.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// The newest decision, at which the auditor must have been asked and have answered.
fn audited(state: &Path) -> Result<Record, Fault> {
    let record = scene::last_record(state, &AUDITED)?;
    match record.auditor.as_ref().map(|auditor| auditor.outcome.as_str()) {
        Some("answered") => Ok(record),
        other => Err(format!("the auditor did not answer: {other:?}")),
    }
}

/// The auditor by itself, given as much to read.
fn auditor_alone<'a>(command: impl Fn() -> Command + 'a, prompt: &'a [u8]) -> Runner<'a> {
    Box::new(move || Ok(timed(&mut command(), prompt)?.time))
}

/// A later stop at which one file has changed, but for the auditor.
pub(crate) fn whole_hook(bench: &mut Bench) -> Result<(), Fault> {
    let sizes = bench.sizes;
    let spec = Spec { files: FILES, file_bytes: FILE_BYTES, plan_steps: STEPS, ..Spec::of(sizes.middle) };
    for has_repository in [false, true] {
        let mut scene = BenchProject::of(&spec)?;
        if has_repository && !make_repository(scene.workspace()) {
            bench.skipped.push("the whole hook in a git repository: there is no git".to_owned());
            break;
        }
        first_stop(&scene)?;
        let prompt = vec![b'x'; audited(&scene.state())?.prompt_bytes];
        let stage = scene::empty_stage().map_err(|why| why.to_string())?;
        let alone = auditor_alone(|| scene::command(&stage, AUDITOR, &["-p"]), &prompt);
        let mut round = 0;
        let scene = &mut scene;
        let hook: Runner<'_> = Box::new(|| {
            round += 1;
            let file = format!("src/area_{}/unit_{:03}.rs", round % FILES % 7, round % FILES);
            let file = scene.workspace().join(file);
            let turn = scene.later.edit(&file).map_err(|why| format!("{}: {why}", file.display()))?;
            long_ago(&file).map_err(|why| format!("{}: {why}", file.display()))?;
            let time = timed(&mut scene.hook(), &scene.input(&turn.final_message))?.time;
            audited(&scene.state()).map(|_| time)
        });
        let [idle, auditor, hook] = in_turns(sizes.rounds, [bin_true(), alone, hook])?;
        let own = (hook.least() - auditor.least()).max(0.0);
        let ratio = own / idle.least();
        let note = format!(
            "{:.2} ms, auditor {:.2} ms, true {:.2} ms, least of {}",
            hook.least(),
            auditor.least(),
            idle.least(),
            hook.rounds()
        );
        bench.rows.push(if has_repository {
            Row::beside("the same in a git repository", ratio, Unit::Times).note(note)
        } else {
            let name = format!(
                "whole hook but the auditor, {}, {FILES} files, {STEPS} steps, over /bin/true",
                size(sizes.middle)
            );
            Row::new(&name, ratio, Unit::Times, 40.0).note(note)
        });
    }
    Ok(())
}

/// Has a file look as if it was changed before the session's last words.
fn long_ago(file: &Path) -> std::io::Result<()> {
    fs::File::options().append(true).open(file)?.set_modified(SystemTime::now() - LAST_WORDS)
}

/// Makes a repository of a folder, with everything committed.
fn make_repository(folder: &Path) -> bool {
    let git = |args: &[&str]| {
        let mut command = Command::new("git");
        command.args([
            "-c",
            "user.name=Bench",
            "-c",
            "user.email=bench@localhost",
            "-c",
            "commit.gpgsign=false",
        ]);
        command.args(args).current_dir(folder).output().is_ok_and(|out| out.status.success())
    };
    git(&["init", "-q"]) && git(&["add", "-A"]) && git(&["commit", "-q", "-m", "As it was left"])
}

/// What a whole audit of a small session takes over the auditor's own time.
pub(crate) fn over_the_auditor(bench: &mut Bench) -> Result<(), Fault> {
    let stage = clean_trip().map_err(|why| format!("the clean trip: {why}"))?;
    let input = fs::read(stage.path("hook.json")).map_err(|why| why.to_string())?;
    let alone = auditor_alone(|| scene::command(&stage, AUDITOR, &["-p"]), &input);
    let hook: Runner<'_> = Box::new(|| {
        // A clean audit is remembered; forgotten, the next stop audits again.
        let _ = fs::remove_dir_all(stage.path("state/sessions"));
        let time = timed(&mut scene::command(&stage, PUNCHLIST, &["hook"]), &input)?.time;
        audited(&stage.path("state")).map(|_| time)
    });
    let [auditor, hook] = in_turns(bench.sizes.rounds, [alone, hook])?;
    let note = format!(
        "{:.2} ms, auditor {:.2} ms, least of {}; medians differ by {:.2} ms",
        hook.least(),
        auditor.least(),
        hook.rounds(),
        hook.median() - auditor.median()
    );
    let over = hook.least() - auditor.least();
    bench.rows.push(
        Row::new("over the auditor's own time, small session", over, Unit::Milliseconds, 15.0)
            .aim(5.0)
            .note(note),
    );
    Ok(())
}

/// The recorded session of `fixtures/trips/clean`, laid out.
fn clean_trip() -> std::io::Result<Sandbox> {
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/trips/clean");
    let stage = scene::empty_stage()?;
    stage.copy(&fixture.join("workspace"), stage.workspace())?;
    for name in ["hook.json", "transcript.jsonl"] {
        let text = fs::read_to_string(fixture.join(name))?;
        fs::write(stage.path(name), stage.placed_in_json(&text))?;
    }
    Ok(stage)
}

/// How much the auditor is sent of many large files.
pub(crate) fn prompt(bench: &mut Bench) -> Result<(), Fault> {
    let spec =
        Spec { files: FILES, file_bytes: FILE_BYTES, plan_steps: FILES, ..Spec::of(bench.sizes.small * 5) };
    let scene = BenchProject::of(&spec)?;
    // The budget must not be what makes it short.
    scene.configure("[audit]\nmax_prompt_bytes = 10000000\n")?;
    first_stop(&scene)?;
    let prompt_bytes = audited(&scene.state())?.prompt_bytes;
    let mut files: Vec<_> = scene.truth.touches.iter().map(|touch| touch.path.as_str()).collect();
    files.sort_unstable();
    files.dedup();
    let sources = files.iter().filter(|path| !path.ends_with("PLAN.md"));
    let whole: u64 = sources.filter_map(|path| fs::metadata(path).ok()).map(|meta| meta.len()).sum();
    #[expect(clippy::cast_precision_loss, reason = "a ratio of sizes")]
    let share = prompt_bytes as f64 / whole as f64;
    let name = format!("prompt for {FILES} files of {FILE_BYTES} bytes, over the files");
    let note = format!("{prompt_bytes} bytes of prompt, {whole} of files");
    bench.rows.push(Row::new(&name, share, Unit::Times, 1.0 / 3.0).exact().note(note));
    Ok(())
}

/// Many saved sessions at once, nobody asked.
pub(crate) fn all_sessions(bench: &mut Bench) -> Result<(), Fault> {
    let sizes = bench.sizes;
    let told = |why: std::io::Error| format!("{} sessions: {why}", sizes.sessions);
    let stage = scene::empty_stage().map_err(told)?;
    let folder = scene::project_folder(&stage);
    let mut transcripts: Vec<PathBuf> = Vec::new();
    let mut bytes = 0;
    for number in 0..sizes.sessions {
        let transcript = folder.join(format!("{number:08x}-0000-4000-8000-000000000000.jsonl"));
        let spec = Spec { seed: number as u64, ..Spec::of(sizes.small) };
        bytes += generate(&spec, &transcript, stage.workspace()).map_err(told)?.bytes;
        transcripts.push(transcript);
    }
    let wc: Runner<'_> = Box::new(|| {
        let mut command = Command::new("wc");
        Ok(heard(command.arg("-l").args(&transcripts), &[0])?.time)
    });
    let audit: Runner<'_> = Box::new(|| {
        // With confirmed findings the code is 1.
        let ran = heard(&mut scene::command(&stage, PUNCHLIST, &["audit", "--all"]), &[0, 1])?;
        let named =
            (0..sizes.sessions).filter(|number| ran.stdout.contains(&format!("{number:08x}"))).count();
        if named != sizes.sessions {
            return Err(format!("audit --all names {named} sessions of {}", sizes.sessions));
        }
        Ok(ran.time)
    });
    let [wc, audit] = in_turns(sizes.rounds, [wc, audit])?;
    let name = format!("audit --all over {} sessions, {}, over wc -l", sizes.sessions, size(bytes));
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let note =
        format!("{:.0} ms, wc {:.0} ms, least of {}, {cores} cores", audit.least(), wc.least(), wc.rounds());
    bench.rows.push(Row::new(&name, audit.least() / wc.least(), Unit::Times, 16.0).note(note));
    Ok(())
}
