//! Applies the same work to many items on several threads. Must not start anything after a signal.

use std::panic::resume_unwind;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::child;

/// A signal ended the work before all of it was done.
#[derive(Debug, thiserror::Error)]
#[error("interrupted")]
pub struct Interrupted;

/// Returns the result of `each` for every item, in the order of the items, or the first error in
/// that order. `done` is called after every item.
pub fn map<I: Sync, T: Send, E: From<Interrupted> + Send>(
    items: &[I],
    threads: usize,
    done: &(dyn Fn() + Sync),
    each: impl Fn(&I) -> Result<T, E> + Sync,
) -> Result<Vec<T>, E> {
    let (next, results) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    child::watch_interrupts();
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while child::interrupted().is_none() {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    let Some(item) = items.get(at) else { break };
                    let result = each(item);
                    results.lock().unwrap_or_else(PoisonError::into_inner).push((at, result));
                    done();
                }
            });
        }
    });
    if child::interrupted().is_some() {
        return Err(Interrupted.into());
    }
    let mut results = results.into_inner().unwrap_or_else(PoisonError::into_inner);
    results.sort_by_key(|(at, _)| *at);
    results.into_iter().map(|(_, result)| result).collect()
}

/// With fewer items than this for each thread, starting one costs more than it saves.
const LEAST: usize = 500;

/// Returns the result of `each` for every item, in their order. For work that is over in a moment:
/// no signal is looked for.
pub fn all<I: Sync, T: Send>(items: &[I], each: impl Fn(&I) -> T + Sync) -> Vec<T> {
    let size = items.len().div_ceil(cores()).max(LEAST);
    let work = |part: &[I]| part.iter().map(&each).collect::<Vec<T>>();
    if items.len() <= size {
        return work(items);
    }
    std::thread::scope(|scope| {
        let start =
            |part| std::thread::Builder::new().spawn_scoped(scope, move || work(part)).map_err(|_| part);
        let parts: Vec<_> = items.chunks(size).map(start).collect();
        let end = |part| match part {
            Ok(thread) => {
                std::thread::ScopedJoinHandle::join(thread).unwrap_or_else(|panic| resume_unwind(panic))
            }
            // There is no thread to be had.
            Err(part) => work(part),
        };
        parts.into_iter().flat_map(end).collect()
    })
}

/// Returns how many threads can run at the same time.
pub fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug)]
    struct Fault(u64);

    impl From<Interrupted> for Fault {
        fn from(_: Interrupted) -> Self {
            Self(u64::MAX)
        }
    }

    #[test]
    fn every_item_is_worked_on_once_and_in_order() {
        for count in [0, 1, LEAST, 3 * LEAST + 1] {
            let items: Vec<usize> = (0..count).collect();
            assert_eq!(all(&items, |item| item + 1), (1..=count).collect::<Vec<_>>());
        }
    }

    #[test]
    fn results_are_in_the_order_of_the_items_and_the_first_error_wins() {
        let items: Vec<u64> = (0..100).collect();
        let slow_start = |item: &u64| {
            std::thread::sleep(std::time::Duration::from_millis(if *item == 0 { 20 } else { 0 }));
            Ok::<_, Interrupted>(item * 2)
        };
        let calls = AtomicUsize::new(0);
        let count = || {
            calls.fetch_add(1, Ordering::Relaxed);
        };
        let doubled = map(&items, 4, &count, slow_start).expect("no signal");
        assert_eq!(doubled, items.iter().map(|item| item * 2).collect::<Vec<_>>());
        assert_eq!(calls.into_inner(), 100);

        let failing = |item: &u64| if item % 30 == 29 { Err(Fault(*item)) } else { Ok(()) };
        assert_eq!(map(&items, 4, &|| (), failing).expect_err("some fail").0, 29);
    }
}
