//! Stops at which a reader is asked, less the reader's own time; and audits of many saved sessions
//! at once.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, SystemTime};

use punchlist::log::Record;

use crate::bench::{Bench, bin_true, size};
use crate::measure::{Fault, Runner, heard, in_turns, timed};
use crate::project::{self, BenchProject, PUNCHLIST, READER};
use crate::rows::{Row, Unit};
use crate::stops::{AUDITED, first_stop};
use crate::transcripts::{Spec, generate};

const FILES: usize = 50;
const FILE_BYTES: usize = 20_000;
const STEPS: usize = 200;
/// From a session's last change to its stop there are its last words at the least. A file that was
/// changed a moment ago may be changed once more with the same time on it, and would be looked at
/// again at the next stop.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// The newest decision, at which the auditor must have been asked and have answered.
fn audited(state: &Path) -> Result<Record, Fault> {
    let record = project::last_record(state, &AUDITED)?;
    match record.auditor.as_ref().map(|auditor| auditor.outcome.as_str()) {
        Some("answered") => Ok(record),
        other => Err(format!("the auditor did not answer: {other:?}")),
    }
}

/// The auditor by itself, given as much to read.
fn reader_alone<'a>(command: impl Fn() -> Command + 'a, prompt: &'a [u8]) -> Runner<'a> {
    Box::new(move || Ok(timed(&mut command(), prompt)?.time))
}

/// A later stop at which one file has changed, but for the auditor.
pub(crate) fn whole_hook(bench: &mut Bench) -> Result<(), Fault> {
    let sizes = bench.sizes;
    let spec = Spec { files: FILES, file_bytes: FILE_BYTES, plan_steps: STEPS, ..Spec::of(sizes.middle) };
    for has_repository in [false, true] {
        let mut project = BenchProject::of(&spec)?;
        if has_repository && !make_repository(project.workspace()) {
            bench.skipped.push("the whole hook in a git repository: there is no git".to_owned());
            break;
        }
        first_stop(&project)?;
        let prompt = vec![b'x'; audited(&project.state())?.prompt_bytes];
        let sandbox = project::empty_sandbox().map_err(|why| why.to_string())?;
        let alone = reader_alone(|| project::command(&sandbox, READER, &["-p"]), &prompt);
        let mut round = 0;
        let project = &mut project;
        let hook: Runner<'_> = Box::new(|| {
            round += 1;
            let file = format!("src/area_{}/unit_{:03}.rs", round % FILES % 7, round % FILES);
            let file = project.workspace().join(file);
            let turn = project.later.edit(&file).map_err(|why| format!("{}: {why}", file.display()))?;
            long_ago(&file).map_err(|why| format!("{}: {why}", file.display()))?;
            let time = timed(&mut project.hook(), &project.input(&turn.final_message))?.time;
            audited(&project.state()).map(|_| time)
        });
        let [idle, reader, hook] = in_turns(sizes.rounds, [bin_true(), alone, hook])?;
        let own = (hook.least() - reader.least()).max(0.0);
        let ratio = own / idle.least();
        let note = format!(
            "{:.2} ms, reader {:.2} ms, true {:.2} ms, least of {}",
            hook.least(),
            reader.least(),
            idle.least(),
            hook.rounds()
        );
        bench.rows.push(if has_repository {
            Row::without_limit("the same in a git repository", ratio, Unit::Times).note(note)
        } else {
            let name = format!(
                "whole hook but the readers, {}, {FILES} files, {STEPS} steps, over /bin/true",
                size(sizes.middle)
            );
            Row::new(name, ratio, Unit::Times, 40.0).note(note)
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

/// Many saved sessions at once, nobody asked.
pub(crate) fn all_sessions(bench: &mut Bench) -> Result<(), Fault> {
    let sizes = bench.sizes;
    let told = |why: std::io::Error| format!("{} sessions: {why}", sizes.sessions);
    let sandbox = project::empty_sandbox().map_err(told)?;
    let folder = project::project_folder(&sandbox);
    let mut transcripts: Vec<PathBuf> = Vec::new();
    let mut bytes = 0;
    for number in 0..sizes.sessions {
        let transcript = folder.join(format!("{number:08x}-0000-4000-8000-000000000000.jsonl"));
        let spec = Spec { seed: number as u64, ..Spec::of(sizes.small) };
        bytes += generate(&spec, &transcript, sandbox.workspace()).map_err(told)?.bytes;
        transcripts.push(transcript);
    }
    let wc: Runner<'_> = Box::new(|| {
        let mut command = Command::new("wc");
        Ok(heard(command.arg("-l").args(&transcripts), &[0])?.time)
    });
    let audit: Runner<'_> = Box::new(|| {
        // With confirmed findings the code is 1.
        let ran = heard(&mut project::command(&sandbox, PUNCHLIST, &["audit", "--all"]), &[0, 1])?;
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
    bench.rows.push(Row::new(name, audit.least() / wc.least(), Unit::Times, 6.0).note(note));
    Ok(())
}
