//! `punchlist log --follow`, while others write.
#![cfg(unix)]

use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

use crate::log::machine::Machine;

/// Far more than it needs on a busy machine.
const LIMIT: Duration = Duration::from_secs(40);

struct Following {
    child: Child,
    lines: Receiver<String>,
}

impl Following {
    fn begin(machine: &Machine, args: &[&str]) -> Self {
        let mut command = machine.command(&[&["log", "--follow"], args].concat());
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it runs");
        let (sender, lines) = channel();
        let out = BufReader::new(child.stdout.take().expect("a pipe"));
        std::thread::spawn(move || {
            for line in out.lines().map_while(Result::ok) {
                let _ = sender.send(line);
            }
        });
        Self { child, lines }
    }

    #[track_caller]
    fn next(&self) -> String {
        self.lines.recv_timeout(LIMIT).expect("a line")
    }
}

impl Drop for Following {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn decision(id: &str, time: &str) -> String {
    format!(
        r#"{{"schema":1,"id":"{id}","time":"{time}","project":"/w/shop","decision":"block","cause":"findings","findings":[{{"category":"A","status":"confirmed"}}]}}"#
    ) + "\n"
}

#[test]
fn new_decisions_come_as_they_are_written_over_the_turn_of_a_month() {
    let machine = Machine::new();
    machine.append("2026-09", decision("old", "2026-09-30T23:00:00.000Z").as_bytes());
    let following = Following::begin(&machine, &[]);
    assert_eq!(following.next(), "old  2026-09-30 23:00  shop  -  block  findings  1A");
    // Half a line is none yet, and noise is nothing.
    let line = decision("half", "2026-09-30T23:30:00.000Z");
    machine.append("2026-09", &line.as_bytes()[..30]);
    std::thread::sleep(Duration::from_millis(500));
    machine.append("2026-09", &line.as_bytes()[30..]);
    assert_eq!(following.next(), "half  2026-09-30 23:30  shop  -  block  findings  1A");
    machine.append("2026-09", b"torn\n\0\0\n");
    machine.append("2026-10", decision("next", "2026-10-01T00:00:00.000Z").as_bytes());
    assert_eq!(following.next(), "next  2026-10-01 00:00  shop  -  block  findings  1A");
    let outcome = r#"{"kind":"outcome","schema":2,"id":"n","time":"2026-10-01T00:01:00Z","of":"next","finding":1,"outcome":"disputed","sentence":"It is in\nlib.rs."}"#;
    machine.append("2026-10", format!("{outcome}\n").as_bytes());
    assert_eq!(following.next(), "  next.1 disputed: It is in lib.rs.");
}

#[test]
fn filters_hold_and_json_goes_on_as_json() {
    let machine = Machine::new();
    let following = Following::begin(&machine, &["--json", "--session", "abc"]);
    std::thread::sleep(Duration::from_millis(300));
    let other = decision("other", "2026-10-01T00:00:00.000Z");
    let meant = decision("meant", "2026-10-01T00:00:01.000Z").replacen('{', r#"{"session":"abcd","#, 1);
    machine.append("2026-10", (other + &meant).as_bytes());
    let record: serde_json::Value = serde_json::from_str(&following.next()).expect("JSON");
    assert_eq!((&record["id"], &record["outcomes"]), (&"meant".into(), &serde_json::json!([])));
}

#[test]
fn a_file_whose_old_lines_are_taken_out_is_gone_on_with() {
    let machine = Machine::new();
    let now = jiff::Timestamp::now();
    let month = now.strftime("%Y-%m").to_string();
    machine.append(&month, decision("old", "2020-01-01T00:00:00.000Z").as_bytes());
    machine.append(&month, decision("new", &format!("{now:.3}")).as_bytes());
    let following = Following::begin(&machine, &["--json"]);
    let id = |line: String| serde_json::from_str::<serde_json::Value>(&line).expect("JSON")["id"].to_string();
    assert_eq!((id(following.next()), id(following.next())), (r#""old""#.into(), r#""new""#.into()));
    machine.print(&["log", "prune", "--keep", "300d"]);
    std::thread::sleep(Duration::from_millis(500));
    machine.append(&month, decision("newer", &format!("{now:.3}")).as_bytes());
    assert_eq!(id(following.next()), r#""newer""#, "none comes twice");
}

/// Whether whoever started the tests, such as `nohup` or a shell's `&`, told all children to ignore
/// interrupts.
fn ignores_interrupts() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).unwrap_or("0");
    let bit = 1 << (Signal::INT.as_raw() - 1);
    u64::from_str_radix(ignored.trim(), 16).is_ok_and(|ignored| ignored & bit != 0)
}

#[test]
fn an_interrupt_ends_it_quietly() {
    if ignores_interrupts() {
        eprintln!("SKIPPED: these tests were started with interrupts ignored, and so are their children");
        return;
    }
    let machine = Machine::with_year(50);
    let mut following = Following::begin(&machine, &["-n", "2"]);
    following.next();
    following.next();
    kill_process(Pid::from_child(&following.child), Signal::INT).expect("signalled");
    let status = following.child.wait().expect("an end");
    let mut stderr = String::new();
    following.child.stderr.take().expect("a pipe").read_to_string(&mut stderr).expect("text");
    assert_eq!(stderr, "");
    assert_eq!(status.signal(), Some(2), "as any program that is interrupted");
    assert!(following.lines.recv_timeout(LIMIT).is_err(), "nothing more is printed");
}
