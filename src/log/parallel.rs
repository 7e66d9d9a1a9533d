//! Takes a list and what to do with a part of it, does it to all parts side by side, gives what came of each, in order.

/// Below this a thread costs more than it saves.
const WORTH_A_THREAD: usize = 1000;

/// Does something with each part of a list.
pub fn in_parts<T: Sync, R: Send>(items: &[T], each: impl Fn(&[T]) -> R + Sync) -> Vec<R> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let parts = cores.min(items.len() / WORTH_A_THREAD).max(1);
    let size = items.len().div_ceil(parts).max(1);
    let mut chunks = items.chunks(size);
    let Some(first) = chunks.next() else { return Vec::new() };
    std::thread::scope(|scope| {
        let each = &each;
        let helpers: Vec<_> = chunks.map(|chunk| scope.spawn(move || each(chunk))).collect();
        let mut done = vec![each(first)];
        for helper in helpers {
            match helper.join() {
                Ok(result) => done.push(result),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        done
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_come_back_in_order_and_whole() {
        for count in [0, 1, 999, 5000] {
            let items: Vec<usize> = (0..count).collect();
            assert_eq!(in_parts(&items, <[usize]>::to_vec).concat(), items);
        }
    }
}
