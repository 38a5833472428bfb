//! Background tasks of the service. Takes the state; expires questions, probes and cleans the
//! trail, and aggregates metrics until it is dropped.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use tokio::time::sleep;

use super::state::AppState;
use crate::audit::AuditError;
use crate::log_limit;

/// Interval of the search for expired questions.
const EXPIRY_INTERVAL: Duration = Duration::from_secs(1);
/// Interval of write probes after a failed write.
const PROBE_INTERVAL: Duration = Duration::from_secs(2);
/// Interval at which measurements are aggregated; they occupy memory until then.
const AGGREGATION_INTERVAL: Duration = Duration::from_secs(1);
/// Interval of the search for records to delete.
const RETENTION_INTERVAL: Duration = Duration::from_secs(3600);
/// Delay after an error of the trail.
const RETRY_DELAY: Duration = Duration::from_secs(10);

/// Runs all background tasks; never completes.
pub(super) async fn run(state: AppState) {
    let days = state.inner.config.retention_days;
    tokio::join!(
        expire(&state),
        probe(&state),
        aggregate_metrics(&state),
        async {
            if let Some(days) = days {
                apply_retention(&state, days).await;
            }
        }
    );
}

/// Expires questions at their deadlines, so that waiting clients are notified.
async fn expire(state: &AppState) {
    loop {
        sleep(EXPIRY_INTERVAL).await;
        if let Err(error) = state.service().expire().await {
            if let Some(suppressed) =
                log_limit::suppressed("cannot close expired questions", &error)
            {
                tracing::error!(%error, suppressed, "cannot close expired questions");
            }
            sleep(RETRY_DELAY).await;
        }
    }
}

/// Probes whether the trail can be written again after a failed write. Without requests, nothing
/// else would write.
async fn probe(state: &AppState) {
    loop {
        sleep(PROBE_INTERVAL).await;
        // The writer logs the error.
        let _ = state.service().audit().probe().await;
    }
}

async fn aggregate_metrics(state: &AppState) {
    loop {
        sleep(AGGREGATION_INTERVAL).await;
        state.inner.metrics.add_up();
    }
}

/// Deletes records that are older than a number of days.
async fn apply_retention(state: &AppState, days: u32) {
    loop {
        match delete_older(state, days).await {
            Ok(0) => {}
            Ok(deleted) => tracing::info!(deleted, days, "deleted old decisions"),
            Err(error) => tracing::error!(%error, "cannot delete old decisions"),
        }
        sleep(RETENTION_INTERVAL).await;
    }
}

async fn delete_older(state: &AppState, days: u32) -> Result<u64, AuditError> {
    let audit = state.service().audit();
    let Ok(limit) = Timestamp::now().checked_sub(SignedDuration::from_hours(24 * i64::from(days)))
    else {
        return Ok(0);
    };
    // A cleanup leaves a permanent record, so run none if there is nothing to delete.
    if audit.oldest().await?.is_none_or(|oldest| oldest >= limit) {
        return Ok(0);
    }
    let by = format!("retention of {days} days");
    Ok(audit.cleanup(limit, &by).await?.deleted)
}
