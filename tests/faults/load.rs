//! Many sessions that stop at once, and one that stops for long, on one state folder: no record is
//! lost or mixed, the counters are right, and neither memory, descriptors nor the folder grow.
//! Every hook runs under a limit on both.

use std::collections::BTreeMap;
use std::process::Command;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::is_whole;
use crate::state_folder::{blocks, files, leftovers, records};
use crate::test_project::{PUNCHLIST, TestProject};

const SESSIONS: usize = 64;

/// What one hook may use: descriptors, and kilobytes of address space, most of which is the program
/// itself.
const LIMITS: &str = "ulimit -n 48 -v 1500000";

fn project() -> TestProject {
    let mut project = TestProject::with_drift();
    // What the disk proves needs no reader.
    project.var("PUNCHLIST_CLAUDE", "/nonexistent/claude");
    project.own_config("[gates]\nmax_blocks = 1000000\n");
    project.run_args(&["--version"]);
    project
}

/// What one hook used at the most, as far as a look every millisecond tells: kilobytes of memory
/// and descriptors.
type Used = (u64, usize);

fn used_by(process: u32) -> Option<Used> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kilobytes = peak.trim().trim_end_matches(" kB").parse().ok()?;
    Some((kilobytes, std::fs::read_dir(format!("/proc/{process}/fd")).ok()?.count()))
}

/// Runs one stop of a session; gives its exit code.
fn stop(project: &TestProject, session: &str, is_active: bool) -> Option<i32> {
    stop_and_look(project, session, is_active).0
}

/// Runs one stop of a session; gives its exit code, and what it used.
fn stop_and_look(project: &TestProject, session: &str, is_active: bool) -> (Option<i32>, Used) {
    let mut input = project.input.clone();
    input["session_id"] = json!(session);
    input["stop_hook_active"] = json!(is_active);
    let mut command = Command::new("sh");
    command.args(["-c", &format!("{LIMITS}; exec \"$0\" hook"), PUNCHLIST]);
    command.env_clear().envs(project.variables()).current_dir(project.path("work"));
    let mut child = command
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .spawn()
        .expect("started");
    let _ = std::io::Write::write_all(&mut child.stdin.take().expect("stdin"), input.to_string().as_bytes());
    let mut most = (0, 0);
    loop {
        if let Some((kilobytes, descriptors)) = used_by(child.id()) {
            most = (most.0.max(kilobytes), most.1.max(descriptors));
        }
        if let Some(status) = child.try_wait().expect("a status") {
            return (status.code(), most);
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// By session: how many of its stops were let go and held.
type Tally = BTreeMap<String, (u64, u64)>;

fn tally(records: &[Value]) -> Tally {
    let mut tally = Tally::new();
    for record in records {
        let count = tally.entry(record["session"].as_str().unwrap_or("?").to_owned()).or_default();
        if record["decision"] == "block" { count.1 += 1 } else { count.0 += 1 }
    }
    tally
}

#[test]
fn sessions_that_stop_at_once_lose_and_mix_nothing() {
    let project = project();
    let until = Instant::now() + if is_whole() { Duration::from_secs(120) } else { Duration::ZERO };
    let expected = Mutex::new(Tally::new());
    std::thread::scope(|scope| {
        for number in 0..SESSIONS {
            let (project, expected) = (&project, &expected);
            scope.spawn(move || {
                let session = format!("session-{number}");
                let mut is_active = false;
                loop {
                    let code = stop(project, &session, is_active);
                    let mut expected = expected.lock().expect("the tally");
                    let count = expected.entry(session.clone()).or_default();
                    match code {
                        Some(0) => count.0 += 1,
                        Some(2) => count.1 += 1,
                        other => panic!("{session}: {other:?}"),
                    }
                    drop(expected);
                    // After a block the session goes on because of it, and is let go.
                    if is_active && Instant::now() >= until {
                        return;
                    }
                    is_active = !is_active;
                }
            });
        }
    });
    let expected = expected.into_inner().expect("the tally");
    let records = records(&project).expect("no torn line");
    assert_eq!(tally(&records), expected);
    for (session, (_, held)) in &expected {
        assert_eq!(blocks(&project, session), *held, "{session}");
    }
    // A stop whose bounds are used up, as they may be among so many, goes through; that is no
    // reason for most of them.
    let held = expected.values().filter(|(_, held)| *held > 0).count();
    assert!(held > SESSIONS / 2, "{held} of {SESSIONS} sessions were held");
    let mut ids: Vec<&str> = records.iter().filter_map(|record| record["id"].as_str()).collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), records.len(), "each record has a name of its own");
    assert_eq!(leftovers(&project), Vec::<std::path::PathBuf>::new());
    eprintln!("load: {} stops of {SESSIONS} sessions", records.len());
}

#[test]
fn a_session_that_stops_for_long_keeps_no_more() {
    let project = project();
    // What a file showed is remembered once the file has been left alone for two seconds.
    std::thread::sleep(Duration::from_millis(2_100));
    let rounds = if is_whole() { 2_000 } else { 12 };
    let (mut early, mut held) = (None, 0);
    let mut used: Vec<Used> = Vec::new();
    for round in 0..rounds {
        // What was held once and not disputed is held again only after more work; every other stop
        // is let go.
        let (code, most) = stop_and_look(&project, "session-1", round % 2 == 1);
        used.push(most);
        assert!(code == Some(0) || code == Some(2) && round % 2 == 0, "stop {round}: {code:?}");
        held += u64::from(code == Some(2));
        if round == 9 {
            early = Some(kept(&project));
        }
    }
    let (early, late) = (early.expect("ten rounds"), kept(&project));
    assert_eq!(early.0, late.0, "the same files");
    assert!(late.1 < early.1 * 2, "{} bytes of state became {}", early.1, late.1);
    // The first stops against the last ones: neither memory nor descriptors grow with what is
    // remembered.
    let most =
        |stops: &[Used]| stops.iter().fold((0, 0), |one, other| (one.0.max(other.0), one.1.max(other.1)));
    let (first, last) = (most(&used[..6]), most(&used[rounds - 6..]));
    assert!(last.0 <= first.0 * 3 / 2 + 4_096, "{} kB of memory became {}", first.0, last.0);
    assert!(last.1 <= first.1 + 8, "{} descriptors became {}", first.1, last.1);
    eprintln!("soak: {first:?} kB and descriptors at first, {last:?} at last");
    assert_eq!(records(&project).expect("no torn line").len(), rounds);
    assert_eq!(blocks(&project, "session-1"), held);
    assert!(held > 0, "it was held");
    eprintln!("soak: {rounds} stops, {} files and {} bytes beside the log", late.0.len(), late.1);
}

/// The files of the state folder, and how many bytes those beside the log and the artifacts of
/// decisions have.
fn kept(project: &TestProject) -> (Vec<String>, u64) {
    let state = project.path("state");
    let is_growing = |path: &std::path::Path| {
        path.starts_with(state.join("decisions")) || path.starts_with(state.join("audits"))
    };
    let files: Vec<_> = files(&state).into_iter().filter(|path| !is_growing(path)).collect();
    let bytes = files.iter().filter_map(|path| path.metadata().ok()).map(|meta| meta.len()).sum();
    (files.iter().map(|path| path.display().to_string()).collect(), bytes)
}
