//! The spool: ships what the local log has and a destination has not. The log itself is the spool,
//! and a cursor beside it, one for each destination, says how far it was shipped. A line may be
//! shipped twice, so a destination stores it once. A stop tries for a moment and leaves the rest to
//! the next one. Must not lose a line, and must not keep a stop waiting.

use std::fs::File;
use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

use super::cursor::{Cursor, CursorFile, Position, name_of};
use super::telemetry::TelemetryError;
use crate::database::{DatabaseError, Patience};
use crate::files::read_at;
use crate::log::DecisionLog;
use crate::private_file::{self, Access};

/// How long the process that ships for a stop may wait for all destinations together, and how long
/// it may work.
const STOP_WAIT: Duration = Duration::from_millis(150);
const STOP_WORK: Duration = Duration::from_millis(500);

/// How long each call of a command may take.
const COMMAND: Duration = Duration::from_secs(30);

/// After a failure, stops leave it for so long.
const RETRY_AFTER_MS: i64 = 30_000;

/// The most that is shipped at once.
const BATCH_BYTES: u64 = 1 << 20;
const BATCH_LINES: usize = 500;

/// What a stop ships first; as long as there is time, each further batch is larger.
const FIRST_LINES: usize = 8;

/// What one line may take of a batch's bytes; a batch has room for one that is longer.
const LINE_BYTES: u64 = 16 << 10;

/// Where lines of the log are shipped to.
pub trait Destination {
    /// What it stores of a line.
    type Copy;

    /// Its name, of which its cursor has its file's.
    fn name(&self) -> &'static str;

    /// Makes the copy of a line.
    fn copy(&mut self, line: &str) -> Copied<Self::Copy>;

    /// Connects where it is not connected yet, and stores copies; one that is there already stays
    /// as it is. Returns how many it refuses for what is in them.
    fn store(&mut self, copies: &[Self::Copy], patience: Patience) -> Result<usize, ShipError>;

    /// Takes back what it gave the cursor to keep, before the first line.
    fn resume(&mut self, _: &serde_json::Value) {}

    /// What it keeps of all lines that it copied: written with the positions behind them, in one
    /// write.
    fn carried(&self) -> serde_json::Value {
        serde_json::Value::Null
    }

    /// Called when nothing waits any more.
    fn finish(&mut self, _: Patience) -> Result<(), ShipError> {
        Ok(())
    }
}

/// What became of a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Copied<T> {
    Copy(T),
    /// Nothing stands on it.
    Empty,
    /// It is torn, or a newer punchlist wrote it.
    Unreadable,
}

/// What was shipped.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Shipped {
    /// Lines that are there now, whoever brought them.
    pub lines: usize,
    /// Lines that are refused for what is in them.
    pub refused: usize,
    /// Lines that this program can't read.
    pub unreadable: usize,
}

impl Shipped {
    fn is_nothing(self) -> bool {
        self == Self::default()
    }
}

/// The time that is left to ship for a stop.
#[derive(Debug, Clone, Copy)]
pub struct StopTime {
    /// To wait for destinations.
    wait: Duration,
    /// The end of all work.
    end: Instant,
}

impl StopTime {
    /// What a stop has, from now on.
    pub fn begin() -> Self {
        Self { wait: STOP_WAIT, end: Instant::now() + STOP_WORK }
    }

    fn is_over(self) -> bool {
        self.wait.is_zero() || Instant::now() >= self.end
    }
}

/// What waits to be shipped.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Lag {
    pub lines: usize,
    pub bytes: u64,
    /// Why the last try failed.
    pub failed: Option<String>,
    /// For how long every try has failed.
    pub failing_ms: i64,
}

/// A line of the log with where it begins.
struct Pending {
    file: String,
    start: u64,
    line: Vec<u8>,
}

/// The spool of a state folder for one destination.
#[derive(Debug)]
pub struct Spool<D> {
    log: DecisionLog,
    cursor: CursorFile,
    destination: D,
}

impl<D: Destination> Spool<D> {
    pub fn new(state: &Path, destination: D) -> Self {
        let cursor = CursorFile::new(state, destination.name());
        Self { log: DecisionLog::in_folder(state), cursor, destination }
    }

    /// Returns lines that are not shipped, oldest file first, up to the size of a batch.
    fn pending(&self, cursor: &Cursor, most_bytes: u64, most_lines: usize) -> io::Result<Vec<Pending>> {
        let (mut pending, mut is_full) = (Vec::new(), false);
        for path in self.log.files() {
            if is_full || pending.len() >= most_lines {
                break;
            }
            let name = name_of(&path);
            let Ok(file) = private_file::open(&path, Access::Read) else { continue };
            let from = cursor.offset_in(&name, &file)?;
            let length = file.metadata()?.len().saturating_sub(from);
            let bytes = read_at(&file, from, length.min(most_bytes))?;
            is_full = length > most_bytes;
            let mut start = from;
            for line in bytes.split_inclusive(|byte| *byte == b'\n') {
                // A line without its end is being written, or longer than a batch.
                if !line.ends_with(b"\n") || pending.len() >= most_lines {
                    break;
                }
                pending.push(Pending { file: name.clone(), start, line: line.to_vec() });
                start += line.len() as u64;
            }
        }
        if pending.is_empty() && is_full {
            return self.pending(cursor, most_bytes.saturating_mul(4), most_lines);
        }
        Ok(pending)
    }

    pub fn destination(&self) -> &D {
        &self.destination
    }

    /// What waits.
    pub fn lag(&self) -> io::Result<Lag> {
        let cursor = self.cursor.read();
        let pending = self.pending(&cursor, u64::MAX >> 1, usize::MAX)?;
        let bytes = pending.iter().map(|one| one.line.len() as u64).sum();
        let failing_ms = crate::clock::now().as_millisecond().saturating_sub(cursor.failing_since_ms);
        Ok(Lag { lines: pending.len(), bytes, failed: cursor.failed, failing_ms })
    }

    /// Where what waits begins in a file of the log.
    pub fn offset_in(&self, path: &Path, file: &File) -> io::Result<u64> {
        self.cursor.read().offset_in(&name_of(path), file)
    }

    /// Ships for a stop: tries for a moment, not again soon after a failure, and not while another
    /// process does. What there is no time for is left to the next stop.
    pub fn ship_at_stop(&mut self, time: &mut StopTime) {
        // Another destination has taken all the time.
        if time.is_over() {
            return;
        }
        let Ok(lock) = self.cursor.lock_file() else { return };
        if lock.try_lock().is_err() || self.has_failed_lately() {
            return;
        }
        if let Err(error) = self.ship_locked(Some(time)) {
            tracing::debug!(%error, "decisions wait for the next stop");
        }
    }

    /// Whether the last try failed a moment ago, so that stops leave it for a while.
    pub fn has_failed_lately(&self) -> bool {
        let cursor = self.cursor.read();
        // A time ahead was written by another clock.
        let since = crate::clock::now().as_millisecond().saturating_sub(cursor.failed_ms);
        cursor.failed.is_some() && (0..RETRY_AFTER_MS).contains(&since)
    }

    /// Ships all that waits.
    pub fn ship(&mut self) -> Result<Shipped, ShipError> {
        let lock = self.cursor.lock_file()?;
        lock.lock()?;
        self.ship_locked(None)
    }

    fn ship_locked(&mut self, mut time: Option<&mut StopTime>) -> Result<Shipped, ShipError> {
        let (mut cursor, mut shipped) = (self.cursor.read(), Shipped::default());
        let mut ended = self.ship_after(&mut cursor, time.as_deref_mut(), &mut shipped);
        // A stop that has shipped something and ran out of time has not failed: the next one goes
        // on.
        if time.is_some() && !shipped.is_nothing() {
            ended = ended.or_else(|error| if error.is_slow() { Ok(()) } else { Err(error) });
        }
        let failed = ended.as_ref().err().map(ToString::to_string);
        if failed.is_some() || cursor.failed.is_some() {
            cursor.failed_ms = crate::clock::now().as_millisecond();
            if cursor.failed.is_none() {
                cursor.failing_since_ms = cursor.failed_ms;
            }
            cursor.failed = failed;
            self.cursor.write(&cursor)?;
        }
        ended.map(|()| shipped)
    }

    /// Ships batch after batch, with the cursor written behind each of them.
    fn ship_after(
        &mut self,
        cursor: &mut Cursor,
        mut time: Option<&mut StopTime>,
        shipped: &mut Shipped,
    ) -> Result<(), ShipError> {
        self.destination.resume(&cursor.carried);
        let mut size = if time.is_some() { FIRST_LINES } else { BATCH_LINES };
        loop {
            let (begun, before) = (Instant::now(), time.as_deref().copied());
            let most_bytes = (size as u64 * LINE_BYTES).min(BATCH_BYTES);
            let pending = self.pending(cursor, most_bytes, size)?;
            if pending.is_empty() {
                let destination = &mut self.destination;
                return waiting(time.as_deref_mut(), |patience| destination.finish(patience));
            }
            let count = self.ship_batch(&pending, time.as_deref_mut(), shipped)?;
            for line in &pending[..count] {
                cursor.files.insert(line.file.clone(), Position::behind(line.start, &line.line));
            }
            cursor.carried = self.destination.carried();
            cursor.failed = None;
            self.cursor.write(cursor)?;
            if let (Some(before), Some(time)) = (before, time.as_deref()) {
                let waited = before.wait.saturating_sub(time.wait);
                let left = time.end.saturating_duration_since(Instant::now());
                size = next_size(size, count, waited, time.wait).min(next_size(
                    size,
                    count,
                    begun.elapsed(),
                    left,
                ));
            }
            if size == 0 {
                return Ok(());
            }
        }
    }

    /// Copies lines, at a stop for no more than half of the time that is left, and stores the
    /// copies. Returns how many of the lines are dealt with, at least one.
    fn ship_batch(
        &mut self,
        pending: &[Pending],
        time: Option<&mut StopTime>,
        shipped: &mut Shipped,
    ) -> Result<usize, ShipError> {
        let begun = Instant::now();
        let half = time.as_deref().map(|time| time.end.saturating_duration_since(begun) / 2);
        let (mut copies, mut count, mut unreadable) = (Vec::new(), 0, 0);
        for line in pending {
            if count > 0 && half.is_some_and(|half| begun.elapsed() > half) {
                break;
            }
            count += 1;
            match self.destination.copy(&String::from_utf8_lossy(&line.line)) {
                Copied::Copy(copy) => copies.push(copy),
                Copied::Empty => {}
                Copied::Unreadable => unreadable += 1,
            }
        }
        if !copies.is_empty() {
            let destination = &mut self.destination;
            let refused = waiting(time, |patience| destination.store(&copies, patience))?;
            shipped.refused += refused;
            shipped.lines += copies.len() - refused;
        }
        shipped.unreadable += unreadable;
        Ok(count)
    }
}

/// Calls a destination, and takes the time that it needs from what a stop has.
fn waiting<T>(
    time: Option<&mut StopTime>,
    call: impl FnOnce(Patience) -> Result<T, ShipError>,
) -> Result<T, ShipError> {
    let Some(time) = time else { return call(Patience::Each(COMMAND)) };
    let begun = Instant::now();
    let called = call(Patience::Until(begun + time.wait));
    time.wait = time.wait.saturating_sub(begun.elapsed());
    called
}

/// The size of a stop's next batch: twice the last one, if it fits into half of the time that is
/// left at the pace of the last; else what fits. 0 where nothing does.
fn next_size(size: usize, count: usize, took: Duration, left: Duration) -> usize {
    let lines = f64::from(u32::try_from(count).unwrap_or(u32::MAX));
    let fits = left.as_secs_f64() / 2.0 / took.as_secs_f64().max(1e-6) * lines;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "it is bounded, and not negative"
    )]
    let fits = fits.clamp(0.0, 1e6) as usize;
    (size * 2).min(fits).min(BATCH_LINES)
}

/// Why not all was shipped.
#[derive(Debug, thiserror::Error)]
pub enum ShipError {
    #[error(transparent)]
    Database(#[from] DatabaseError),
    #[error(transparent)]
    Telemetry(#[from] TelemetryError),
    #[error("the log or its cursor: {0}")]
    File(#[from] io::Error),
}

impl ShipError {
    /// Whether there was not enough time.
    fn is_slow(&self) -> bool {
        matches!(
            self,
            Self::Database(DatabaseError::Slow { .. }) | Self::Telemetry(TelemetryError::Slow { .. })
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stops_batches_grow_while_there_is_time_and_end_where_there_is_none() {
        let ms = Duration::from_millis;
        assert_eq!(next_size(8, 8, ms(5), ms(145)), 16, "twice as many");
        assert_eq!(next_size(400, 400, ms(5), ms(145)), BATCH_LINES, "a whole batch at the most");
        assert_eq!(next_size(64, 64, ms(64), ms(40)), 20, "what fits into half of the rest");
        assert_eq!(next_size(64, 64, ms(64), ms(1)), 0);
        assert_eq!(next_size(8, 1, ms(100), ms(50)), 0);
        assert_eq!(next_size(8, 8, Duration::ZERO, Duration::ZERO), 0);
    }
}
