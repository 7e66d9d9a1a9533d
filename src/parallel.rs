//! Applies the same work to many items on several threads. Must not start anything after a signal.

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
