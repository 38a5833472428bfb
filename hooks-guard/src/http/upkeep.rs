//! What a service does of its own accord while it runs. In: the state. Out: nothing; it cleans up and
//! counts until it is stopped.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use tokio::time::sleep;

use super::state::AppState;
use crate::audit::AuditError;
use crate::log_limit;

/// How often questions whose time is up are looked for.
const EXPIRY: Duration = Duration::from_secs(1);
/// How often a trail that could not be written is tried.
const PROBE: Duration = Duration::from_secs(2);
/// How often what was measured is added up: it grows until then.
const ADDING: Duration = Duration::from_secs(1);
/// How often records that are too old are looked for.
const RETENTION: Duration = Duration::from_secs(3600);
/// How long to leave a trail alone that failed.
const AGAIN: Duration = Duration::from_secs(10);

/// Does it until it is dropped.
pub(super) async fn run(state: AppState) {
    let days = state.inner.config.retention_days;
    tokio::join!(expire(&state), probe(&state), add_up(&state), async {
        if let Some(days) = days {
            retain(&state, days).await;
        }
    });
}

/// Denies questions as their time runs out, so that whoever waits elsewhere hears of it.
async fn expire(state: &AppState) {
    loop {
        sleep(EXPIRY).await;
        if let Err(error) = state.service().expire().await {
            if let Some(suppressed) =
                log_limit::suppressed("questions whose time is up could not be closed", &error)
            {
                tracing::error!(%error, suppressed, "questions whose time is up could not be closed");
            }
            sleep(AGAIN).await;
        }
    }
}

/// Tries whether the trail can be written again after a record could not be written: without
/// requests, nothing else would write.
async fn probe(state: &AppState) {
    loop {
        sleep(PROBE).await;
        // The writer has logged the error.
        let _ = state.service().audit().probe().await;
    }
}

async fn add_up(state: &AppState) {
    loop {
        sleep(ADDING).await;
        state.inner.metrics.add_up();
    }
}

/// Deletes records as they get older than so many days.
async fn retain(state: &AppState, days: u32) {
    loop {
        match delete_older(state, days).await {
            Ok(0) => {}
            Ok(deleted) => tracing::info!(deleted, days, "old decisions were deleted"),
            Err(error) => tracing::error!(%error, "old decisions could not be deleted"),
        }
        sleep(RETENTION).await;
    }
}

async fn delete_older(state: &AppState, days: u32) -> Result<u64, AuditError> {
    let audit = state.service().audit();
    let Ok(limit) = Timestamp::now().checked_sub(SignedDuration::from_hours(24 * i64::from(days)))
    else {
        return Ok(0);
    };
    // A cleanup leaves a record that stays for ever: none where there is nothing to clean up.
    if audit.oldest().await?.is_none_or(|oldest| oldest >= limit) {
        return Ok(0);
    }
    let by = format!("retention of {days} days");
    Ok(audit.cleanup(limit, &by).await?.deleted)
}
