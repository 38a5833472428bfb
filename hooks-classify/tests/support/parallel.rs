//! Work of a test in several threads: a program of few tests otherwise leaves processors idle.

use std::thread;

const THREADS: usize = 4;

/// Returns the results of the items, in their order. Panics if the work on an item panics.
pub(crate) fn map<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let work = &work;
    let len = items.len().div_ceil(THREADS).max(1);
    thread::scope(|scope| {
        let started: Vec<_> = items
            .chunks(len)
            .map(|items| scope.spawn(move || items.iter().map(work).collect::<Vec<_>>()))
            .collect();
        let results = started.into_iter();
        results
            .flat_map(|thread| thread.join().expect("the work on no item panics"))
            .collect()
    })
}
