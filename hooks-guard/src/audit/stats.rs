//! Statistics. Takes a period; returns counts and latencies, read from the running counts.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::backend::Backend;
use super::error::AuditError;
use super::record::{ceil_us, floor_us, timestamp};
use super::tally::{PeriodParts, billionths};
use super::tx::Tx;

/// Totals that `GET /decisions` returns besides the records. They count all decisions, regardless
/// of the filter.
#[cfg_attr(feature = "http", derive(utoipa::ToSchema))]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Totals {
    /// Number of decisions.
    pub total_decisions: u64,
    /// Number of decisions of class READ.
    pub read_operations: u64,
    /// Number of decisions of class CREATE.
    pub create_operations: u64,
    /// Number of decisions of class UPDATE.
    pub update_operations: u64,
    /// Number of decisions of class DELETE.
    pub delete_operations: u64,
    /// Number of records with the outcome `APPROVED`.
    pub approved_confirmations: u64,
    /// Number of records with the outcome `DENIED`, by a person or by a rule.
    pub denied_confirmations: u64,
    /// Number of decisions with an assumed class, because the classifier timed out.
    pub timeout_classifications: u64,
    /// Mean of the records' `response_time_ms`; 0 without records.
    pub avg_response_time_ms: f64,
    /// Number of records with the outcome `TIMEOUT`: the deadline passed without an answer.
    pub expired_confirmations: u64,
}

/// The period of the statistics.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Period {
    /// Exclusive start. Default: the first record.
    pub since: Option<Timestamp>,
    /// Exclusive end. Default: the last record.
    pub until: Option<Timestamp>,
}

/// Response of `GET /stats`.
#[cfg_attr(feature = "http", derive(utoipa::ToSchema))]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Stats {
    /// Number of decisions in the period.
    pub total_decisions: u64,
    /// Decisions by class.
    pub classifications: Classifications,
    /// Decisions by outcome.
    pub user_responses: UserResponses,
    /// Latency of the decisions.
    pub performance: Performance,
    /// Confidence of the decisions.
    pub confidence: Confidence,
    /// The period.
    pub period: Covered,
    /// Time of the count.
    #[cfg_attr(feature = "http", schema(value_type = String, format = DateTime))]
    #[serde(serialize_with = "hooks_runtime::timestamp::serialize")]
    pub generated_at: Timestamp,
}

/// Decisions by class.
#[cfg_attr(feature = "http", derive(utoipa::ToSchema))]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Classifications {
    /// Number of READ decisions.
    pub read: u64,
    /// Number of CREATE decisions.
    pub create: u64,
    /// Number of UPDATE decisions.
    pub update: u64,
    /// Number of DELETE decisions.
    pub delete: u64,
}

/// Decisions by their outcome.
#[cfg_attr(feature = "http", derive(utoipa::ToSchema))]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct UserResponses {
    /// Number of records with the outcome `APPROVED`.
    pub approved: u64,
    /// Number of records with the outcome `DENIED`.
    pub denied: u64,
    /// Number of classifications that timed out.
    pub timeouts: u64,
    /// Number of records with the outcome `TIMEOUT`: the deadline passed without an answer.
    pub expired: u64,
}

/// Latency of decisions, from the records' `response_time_ms`. All values are zero without records.
/// Percentiles are nearest ranks, so they are latencies that occurred.
#[cfg_attr(feature = "http", derive(utoipa::ToSchema))]
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Performance {
    /// Mean latency in milliseconds.
    pub avg_response_time_ms: f64,
    /// Minimum latency in milliseconds.
    pub min_response_time_ms: u64,
    /// Maximum latency in milliseconds.
    pub max_response_time_ms: u64,
    /// Median latency in milliseconds.
    pub p50_response_time_ms: u64,
    /// 95th percentile (p95) of the latency, in milliseconds.
    pub p95_response_time_ms: u64,
    /// 99th percentile (p99) of the latency, in milliseconds.
    pub p99_response_time_ms: u64,
}

/// Confidence of decisions. All values are zero without records.
#[cfg_attr(feature = "http", derive(utoipa::ToSchema))]
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Confidence {
    /// Mean, with a precision of one billionth.
    pub avg_confidence: f64,
    /// Number of decisions with a confidence of at least 0.9.
    pub high_confidence_count: u64,
    /// Number of decisions with a confidence below 0.8.
    pub low_confidence_count: u64,
}

/// The period that the statistics cover.
#[cfg_attr(feature = "http", derive(utoipa::ToSchema))]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Covered {
    /// Requested start, or the time of the first record; without records, the end.
    #[cfg_attr(feature = "http", schema(value_type = String, format = DateTime))]
    #[serde(serialize_with = "hooks_runtime::timestamp::serialize")]
    pub since: Timestamp,
    /// Requested end, or now.
    #[cfg_attr(feature = "http", schema(value_type = String, format = DateTime))]
    #[serde(serialize_with = "hooks_runtime::timestamp::serialize")]
    pub until: Timestamp,
    /// Length of the period in hours, rounded down; 0 if the end is before the start.
    pub duration_hours: u64,
}

#[derive(Debug, Default)]
struct Sums {
    n: i64,
    classes: [i64; 4],
    responses: [i64; 3],
    timed_out: i64,
    confidence: i64,
    high: i64,
    low: i64,
    times: BTreeMap<i64, i64>,
}

impl Sums {
    async fn read(tx: &mut Tx, pieces: &PeriodParts) -> Result<Self, AuditError> {
        let mut sums = Self::default();
        for &(unit, first, last) in &pieces.whole {
            let span = [unit.into(), first.into(), last.into()];
            let rows = tx
                .all(
                    "SELECT class, response, CAST(sum(n) AS BIGINT),
                        CAST(sum(timed_out) AS BIGINT), CAST(sum(confidence) AS BIGINT),
                        CAST(sum(high) AS BIGINT), CAST(sum(low) AS BIGINT)
                     FROM tallies WHERE unit = $1 AND start >= $2 AND start <= $3
                     GROUP BY class, response",
                    &span,
                )
                .await?;
            for row in rows {
                sums.count(row.int(0)?, row.int(1)?, row.int(2)?);
                sums.timed_out += row.int(3)?;
                sums.confidence += row.int(4)?;
                sums.high += row.int(5)?;
                sums.low += row.int(6)?;
            }
            let rows = tx
                .all(
                    "SELECT ms, CAST(sum(n) AS BIGINT) FROM times
                     WHERE unit = $1 AND start >= $2 AND start <= $3 GROUP BY ms",
                    &span,
                )
                .await?;
            for row in rows {
                *sums.times.entry(row.int(0)?).or_default() += row.int(1)?;
            }
        }
        for &(from, to) in &pieces.edges {
            let rows = tx
                .all(
                    "SELECT class, coalesce(response, 0), timed_out, confidence,
                        response_time_us / 1000, count(*)
                     FROM decisions WHERE at >= $1 AND at < $2 GROUP BY 1, 2, 3, 4, 5",
                    &[from.into(), to.into()],
                )
                .await?;
            for row in rows {
                let confidence = row.real(3)?;
                let n = row.int(5)?;
                sums.count(row.int(0)?, row.int(1)?, n);
                sums.timed_out += n * row.int(2)?;
                sums.confidence += n * billionths(confidence);
                sums.high += n * i64::from(confidence >= 0.9);
                sums.low += n * i64::from(confidence < 0.8);
                *sums.times.entry(row.int(4)?).or_default() += n;
            }
        }
        Ok(sums)
    }

    fn count(&mut self, class: i64, response: i64, n: i64) {
        self.n += n;
        let slot = |code: i64| usize::try_from(code - 1).ok();
        if let Some(count) = slot(class).and_then(|at| self.classes.get_mut(at)) {
            *count += n;
        }
        if let Some(count) = slot(response).and_then(|at| self.responses.get_mut(at)) {
            *count += n;
        }
    }

    fn performance(&self) -> Performance {
        let mut times = self.times.iter().filter(|(_, n)| **n > 0);
        let Some((first, _)) = times.next() else {
            return Performance::default();
        };
        let last = times.next_back().map_or(first, |(last, _)| last);
        Performance {
            avg_response_time_ms: self.average_time(),
            min_response_time_ms: first.unsigned_abs(),
            max_response_time_ms: last.unsigned_abs(),
            p50_response_time_ms: self.percentile(50),
            p95_response_time_ms: self.percentile(95),
            p99_response_time_ms: self.percentile(99),
        }
    }

    fn average_time(&self) -> f64 {
        let sum: i128 = self
            .times
            .iter()
            .map(|(ms, n)| i128::from(*ms) * i128::from(*n))
            .sum();
        mean(sum as f64, self.n)
    }

    /// Returns the nearest-rank percentile: of `n` ordered latencies, the one at
    /// `⌈n · percent / 100⌉`.
    fn percentile(&self, percent: i128) -> u64 {
        let rank = (i128::from(self.n) * percent + 99) / 100;
        let mut seen = 0;
        for (ms, n) in &self.times {
            seen += i128::from(*n);
            if seen >= rank.max(1) {
                return ms.unsigned_abs();
            }
        }
        0
    }
}

fn mean(sum: f64, n: i64) -> f64 {
    match n {
        0 => 0.0,
        n => sum / n as f64,
    }
}

fn counted(n: i64) -> u64 {
    n.max(0).unsigned_abs()
}

pub(super) async fn totals(backend: &Backend) -> Result<Totals, AuditError> {
    let mut tx = backend.read().await?;
    let sums = Sums::read(&mut tx, &PeriodParts::of(None, None)).await?;
    Ok(Totals {
        total_decisions: counted(sums.n),
        read_operations: counted(sums.classes[0]),
        create_operations: counted(sums.classes[1]),
        update_operations: counted(sums.classes[2]),
        delete_operations: counted(sums.classes[3]),
        approved_confirmations: counted(sums.responses[0]),
        denied_confirmations: counted(sums.responses[1]),
        timeout_classifications: counted(sums.timed_out),
        avg_response_time_ms: sums.average_time(),
        expired_confirmations: counted(sums.responses[2]),
    })
}

pub(super) async fn stats(
    backend: &Backend,
    period: &Period,
    now: Timestamp,
) -> Result<Stats, AuditError> {
    let mut tx = backend.read().await?;
    let pieces = PeriodParts::of(period.since.map(floor_us), period.until.map(ceil_us));
    let sums = Sums::read(&mut tx, &pieces).await?;
    let until = period.until.unwrap_or(now);
    let since = match period.since {
        Some(since) => since,
        None => tx
            .one("SELECT min(at) FROM decisions", &[])
            .await?
            .maybe_int(0)?
            .map(timestamp)
            .transpose()?
            .unwrap_or(until),
    };
    let hours = until.duration_since(since).as_hours();
    Ok(Stats {
        total_decisions: counted(sums.n),
        classifications: Classifications {
            read: counted(sums.classes[0]),
            create: counted(sums.classes[1]),
            update: counted(sums.classes[2]),
            delete: counted(sums.classes[3]),
        },
        user_responses: UserResponses {
            approved: counted(sums.responses[0]),
            denied: counted(sums.responses[1]),
            timeouts: counted(sums.timed_out),
            expired: counted(sums.responses[2]),
        },
        performance: sums.performance(),
        confidence: Confidence {
            avg_confidence: mean(sums.confidence as f64 / 1e9, sums.n),
            high_confidence_count: counted(sums.high),
            low_confidence_count: counted(sums.low),
        },
        period: Covered {
            since,
            until,
            duration_hours: counted(hours),
        },
        generated_at: now,
    })
}
