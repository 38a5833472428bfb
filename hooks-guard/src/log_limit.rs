//! A bound on the lines that one lasting error writes to the log.

use std::collections::HashMap;
use std::fmt::Display;
use std::sync::{LazyLock, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How often the same error is logged at most.
const INTERVAL: Duration = Duration::from_secs(10);

/// How many different errors are told apart.
const MAX_ERRORS: usize = 64;

/// The errors that were logged last, with when, and how often each was left out since.
static LOGGED: LazyLock<Mutex<HashMap<String, (Instant, u64)>>> = LazyLock::new(Mutex::default);

/// Returns how often an error was left out since it was logged last, if it is to be logged now;
/// `None` if the same error was logged within the last seconds.
pub(crate) fn suppressed(message: &'static str, error: &dyn Display) -> Option<u64> {
    let mut logged = LOGGED.lock().unwrap_or_else(PoisonError::into_inner);
    count(&mut logged, format!("{message}: {error}"), Instant::now())
}

fn count(
    logged: &mut HashMap<String, (Instant, u64)>,
    mut error: String,
    now: Instant,
) -> Option<u64> {
    if !logged.contains_key(&error) && logged.len() >= MAX_ERRORS {
        logged.retain(|_, (at, left_out)| {
            *left_out > 0 || now.saturating_duration_since(*at) < INTERVAL
        });
        if logged.len() >= MAX_ERRORS {
            // All others are one.
            error.clear();
        }
    }
    match logged.get_mut(&error) {
        Some((at, left_out)) if now.saturating_duration_since(*at) < INTERVAL => {
            *left_out += 1;
            None
        }
        Some((at, left_out)) => {
            *at = now;
            Some(std::mem::take(left_out))
        }
        None => {
            logged.insert(error, (now, 0));
            Some(0)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_error_is_logged_once_in_ten_seconds_with_how_often_it_was_left_out() {
        let mut logged = HashMap::new();
        let begin = Instant::now();
        let full = || "not written: the disk is full".to_owned();
        assert_eq!(count(&mut logged, full(), begin), Some(0));
        for _ in 0..60_000 {
            assert_eq!(count(&mut logged, full(), begin), None);
        }
        assert_eq!(count(&mut logged, "another".to_owned(), begin), Some(0));
        let later = begin + INTERVAL;
        assert_eq!(count(&mut logged, full(), later), Some(60_000));
        assert_eq!(count(&mut logged, full(), later), None);
        for number in 0..10_000 {
            count(&mut logged, format!("error {number}"), later);
        }
        assert!(logged.len() <= MAX_ERRORS + 1);
    }
}
