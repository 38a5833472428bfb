//! Limits how often one persistent error is logged. In: a message and an error. Out: whether to log
//! it.

use std::collections::HashMap;
use std::fmt::Display;
use std::sync::{LazyLock, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Minimum interval between two log lines of one error.
const MIN_INTERVAL: Duration = Duration::from_secs(10);

/// Maximum number of errors that are tracked separately.
const MAX_ERRORS: usize = 64;

/// Last logged errors, with the time and the number of suppressed repetitions.
static LOGGED: LazyLock<Mutex<HashMap<String, (Instant, u64)>>> = LazyLock::new(Mutex::default);

/// Returns how often an error was suppressed since it was last logged, if it should be logged now;
/// `None` if it was logged within [`MIN_INTERVAL`].
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
            *left_out > 0 || now.saturating_duration_since(*at) < MIN_INTERVAL
        });
        if logged.len() >= MAX_ERRORS {
            // All further errors share one entry.
            error.clear();
        }
    }
    match logged.get_mut(&error) {
        Some((at, left_out)) if now.saturating_duration_since(*at) < MIN_INTERVAL => {
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
    fn an_equal_error_is_logged_once_in_ten_seconds_with_its_count() {
        let mut logged = HashMap::new();
        let begin = Instant::now();
        let full = || "not written: the disk is full".to_owned();
        assert_eq!(count(&mut logged, full(), begin), Some(0));
        for _ in 0..60_000 {
            assert_eq!(count(&mut logged, full(), begin), None);
        }
        assert_eq!(count(&mut logged, "another".to_owned(), begin), Some(0));
        let later = begin + MIN_INTERVAL;
        assert_eq!(count(&mut logged, full(), later), Some(60_000));
        assert_eq!(count(&mut logged, full(), later), None);
        for number in 0..10_000 {
            count(&mut logged, format!("error {number}"), later);
        }
        assert!(logged.len() <= MAX_ERRORS + 1);
    }
}
