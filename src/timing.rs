//! Our own time by phase, as numbers for the log and as a table for a person. Must not make system
//! calls that a stop does not need; reading the clock is not one.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::time::{Duration, Instant};

/// From the start of the process to our `main`: only the processor time of it is known. Includes a
/// shell that became this process.
pub const START: &str = "start";
/// Reading and parsing stdin.
pub const INPUT: &str = "input";
pub const CONFIG: &str = "config";
/// Reading the session's state.
pub const STATE: &str = "state";
pub const READ: &str = "read";
/// Waiting for the transcript to catch up, a part of [`READ`].
pub const WAIT: &str = "wait";
pub const PLAN: &str = "plan";
pub const CHECKS: &str = "checks";
/// Gathering plan, session and disk.
pub const EVIDENCE: &str = "evidence";
/// Finding facts, a part of [`EVIDENCE`].
pub const FACTS: &str = "facts";
pub const PROMPT: &str = "prompt";
/// The first reader, from looking for the client to its end.
pub const AUDITOR: &str = "auditor";
pub const SECOND_READER: &str = "second-reader";
/// Saving the decision in the state.
pub const REMEMBER: &str = "remember";
/// Writing the decision to the log. The log can't contain it: it ends when the line is written.
pub const LOG: &str = "log";
/// Starting the process that ships decisions to the fleet's database and the collector.
pub const FLEET: &str = "fleet";
pub const TOTAL: &str = "total";

/// The phases that are parts of others.
const PARTS: [(&str, &str); 2] = [(WAIT, READ), (FACTS, EVIDENCE)];

#[derive(Debug)]
pub struct Phases {
    since: Instant,
    before: Duration,
    spent: RefCell<Vec<(&'static str, Duration)>>,
}

impl Default for Phases {
    fn default() -> Self {
        Self { since: Instant::now(), before: Duration::ZERO, spent: RefCell::default() }
    }
}

impl Phases {
    /// Returns a timer that counts from the start of the process.
    pub fn of_process() -> Self {
        let before = processor_time().unwrap_or_default();
        let phases = Self { before, ..Self::default() };
        phases.add(START, before);
        phases
    }

    /// Runs a phase and adds its time.
    pub fn time<T>(&self, name: &'static str, run: impl FnOnce() -> T) -> T {
        let started = Instant::now();
        let result = run();
        self.add(name, started.elapsed());
        result
    }

    pub fn add(&self, name: &'static str, time: Duration) {
        tracing::debug!(phase = name, ms = time.as_secs_f64() * 1e3, "phase");
        let mut spent = self.spent.borrow_mut();
        match spent.iter_mut().find(|(known, _)| *known == name) {
            Some((_, spent)) => *spent += time,
            None => spent.push((name, time)),
        }
    }

    /// Returns the whole time up to now, counted or not.
    pub fn total(&self) -> Duration {
        self.before + self.since.elapsed()
    }

    /// Returns the times for the log: what was counted so far, and the total.
    pub fn in_millis(&self) -> BTreeMap<String, f64> {
        let spent = self.spent.borrow();
        let all = spent.iter().copied().chain([(TOTAL, self.total())]);
        all.map(|(name, time)| (name.to_owned(), millis(time))).collect()
    }

    /// Returns the times for a person: each phase in order, without its parts, the uncounted rest,
    /// and the total.
    pub fn table(&self) -> String {
        let total = self.total();
        let mut rows: Vec<(&str, Duration)> = Vec::new();
        let spent = self.spent.borrow();
        for (name, time) in spent.iter() {
            let part = |(part, _): &&(&str, &str)| spent.iter().find(|(known, _)| known == part);
            let parts = PARTS.iter().filter(|(_, whole)| whole == name).filter_map(|pair| part(&pair));
            let own = parts.fold(*time, |left, (_, part)| left.saturating_sub(*part));
            rows.push((name, own));
        }
        let counted: Duration = rows.iter().map(|(_, time)| *time).sum();
        rows.push(("rest", total.saturating_sub(counted)));
        rows.push((TOTAL, total));
        let mut table = format!("{:<10}{:>10}{:>8}\n", "phase", "ms", "share");
        for (name, time) in rows {
            let share = 100.0 * time.as_secs_f64() / total.as_secs_f64().max(f64::MIN_POSITIVE);
            let _ = writeln!(table, "{name:<10}{:>10.3}{share:>7.1}%", time.as_secs_f64() * 1e3);
        }
        table
    }
}

/// Returns milliseconds to three places: finer is noise.
pub fn millis(time: Duration) -> f64 {
    (time.as_secs_f64() * 1e6).round() / 1e3
}

/// Returns this process's processor time so far.
#[cfg(unix)]
fn processor_time() -> Option<Duration> {
    let used = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Some(Duration::new(used.tv_sec.try_into().ok()?, used.tv_nsec.try_into().ok()?))
}

#[cfg(not(unix))]
fn processor_time() -> Option<Duration> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_is_taken_out_of_its_whole_in_the_table_and_not_in_the_log() {
        let phases = Phases { before: Duration::from_secs(10), ..Phases::default() };
        phases.add(READ, Duration::from_millis(1500));
        phases.add(WAIT, Duration::from_millis(500));
        phases.add(READ, Duration::from_millis(500));
        let log = phases.in_millis();
        assert_eq!((log[READ], log[WAIT]), (2000.0, 500.0));
        assert!(log[TOTAL] >= 10_000.0, "{log:?}");
        let table = phases.table();
        let rows: Vec<Vec<&str>> = table.lines().map(|line| line.split_whitespace().collect()).collect();
        assert_eq!(rows[0], ["phase", "ms", "share"]);
        assert_eq!((&rows[1][..2], &rows[2][..2]), (&["read", "1500.000"][..], &["wait", "500.000"][..]));
        assert_eq!((rows[3][0], rows[4][0], rows[4][2]), ("rest", "total", "100.0%"));
        assert!(table.lines().all(|line| line.len() == 28), "{table}");
    }

    #[test]
    fn times_are_kept_to_a_thousandth() {
        assert_eq!(format!("{}", millis(Duration::from_nanos(1_234_567))), "1.235");
    }
}
