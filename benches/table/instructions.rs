//! How many instructions a few paths take, under callgrind: nearly the same on a busy machine as on
//! an idle one, so a slip is seen. Their ceilings are recorded in `benches/ceilings.toml`, for the
//! dev profile, which CI has built anyway and in which a slip shows as well.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use std::io::Write;

use punchlist::decision::Cause;
use serde::{Deserialize, Serialize};

use crate::measure::{Fault, timed};
use crate::project::BenchProject;
use crate::stops::{first_stop, later_stop, loop_guard};
use crate::transcripts::Spec;

/// What is written down for each path: what was measured, and a tenth.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Ceilings {
    instructions: BTreeMap<String, u64>,
}

const HEAD: &str = "\
# How many instructions each path may take in the dev profile: what was counted under callgrind, and a tenth.
# `cargo bench --profile dev --bench table -- --instructions` compares, with `--bless` it writes this anew.
";

/// How much more than what was measured is let through.
const SLACK_PERCENT: u64 = 10;
/// How long the transcript is.
const BYTES: u64 = 5_000_000;

fn file() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/ceilings.toml")
}

/// Counts, and compares with what is recorded, or records it. Gives whether all are below.
pub(crate) fn run(bless: bool) -> Result<bool, Fault> {
    if !Command::new("valgrind").arg("--version").output().is_ok_and(|out| out.status.success()) {
        println!("instructions: SKIPPED, there is no valgrind");
        return Ok(true);
    }
    let counted = count()?;
    if bless {
        let ceilings =
            counted.iter().map(|(name, count)| (name.clone(), count + count * SLACK_PERCENT / 100));
        let ceilings = Ceilings { instructions: ceilings.collect() };
        let text = toml::to_string(&ceilings).map_err(|why| why.to_string())?;
        std::fs::write(file(), format!("{HEAD}\n{text}"))
            .map_err(|why| format!("{}: {why}", file().display()))?;
    }
    let text = std::fs::read_to_string(file()).map_err(|why| format!("{}: {why}", file().display()))?;
    let ceilings: Ceilings = toml::from_str(&text).map_err(|why| format!("{}: {why}", file().display()))?;
    let mut all_below = true;
    println!("{:<14} {:>15} {:>15}", "instructions", "counted", "at the most");
    for (name, count) in &counted {
        let most = ceilings.instructions.get(name).copied().unwrap_or(0);
        let verdict = if *count <= most {
            "holds".to_owned()
        } else {
            all_below = false;
            #[expect(clippy::cast_precision_loss, reason = "percents")]
            let over = (*count as f64 / most.max(1) as f64 - 1.0) * 100.0;
            format!("OVER by {over:.1} %")
        };
        println!("{name:<14} {count:>15} {most:>15}  {verdict}");
    }
    if !all_below {
        println!(
            "A path takes more instructions than it may. If that is meant: cargo bench --profile dev --bench table -- --instructions --bless"
        );
    }
    Ok(all_below)
}

fn count() -> Result<BTreeMap<String, u64>, Fault> {
    let mut project = BenchProject::of(&Spec::of(BYTES))?;
    let own = std::env::current_exe().map_err(|why| why.to_string())?;
    let own = own.display().to_string();
    let fold = project.command(&own, &["fold", &project.transcript.display().to_string()]);
    let mut counted = BTreeMap::from([("read".to_owned(), callgrind(&fold, b"")?)]);
    let (command, input) = loop_guard(&project);
    // What is made once, such as folders, is there when it is counted.
    timed(&mut project.hook(), &input)?;
    counted.insert("fast-path".to_owned(), callgrind(&command, &input)?);
    project.decided(&[Cause::LoopGuard])?;
    first_stop(&project)?;
    let (command, input) = later_stop(&mut project)?;
    counted.insert("later-stop".to_owned(), callgrind(&command, &input)?);
    project.decided(&[Cause::NothingToAudit, Cause::Unchanged])?;
    Ok(counted)
}

/// How many instructions a command takes, its children left out.
fn callgrind(command: &Command, stdin: &[u8]) -> Result<u64, Fault> {
    let mut counting = Command::new("valgrind");
    counting.args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]);
    counting.arg(command.get_program()).args(command.get_args()).env_clear();
    counting.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    if let Some(folder) = command.get_current_dir() {
        counting.current_dir(folder);
    }
    let told = |why: std::io::Error| format!("valgrind: {why}");
    let mut child =
        counting.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().map_err(told)?;
    if let Some(mut pipe) = child.stdin.take() {
        let _ = pipe.write_all(stdin);
    }
    let output = child.wait_with_output().map_err(told)?;
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let count = said.lines().find_map(|line| line.split_once("Collected : ")?.1.trim().parse().ok());
    match count {
        Some(count) if output.status.success() => Ok(count),
        _ => Err(format!("{counting:?}: {}\n{said}", output.status)),
    }
}
