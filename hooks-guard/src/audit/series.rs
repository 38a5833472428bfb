//! Counts over time. Takes a period; returns a point per step, read from the running counts.

use std::collections::{BTreeMap, HashMap};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::backend::Backend;
use super::error::AuditError;
use super::record::{ceil_us, floor_us, timestamp};
use super::stats::{Classifications, Period};
use super::tally::{DAY_US, HOUR_US, UNIT_DAY, UNIT_HOUR};
use super::tx::Tx;

/// Maximum length of a period, in hours, that is divided into hours instead of days.
const MAX_HOURS: i64 = 72;
/// Maximum length of a period, in days, that is divided into days instead of weeks.
const MAX_DAYS: i64 = 400;
/// Number of latest commands whose programs are counted.
const MAX_COUNTED_COMMANDS: i64 = 5000;
/// Maximum number of listed programs and agents.
const MAX_LISTED: usize = 12;

/// Counts of the trail over time, in all hours, days or weeks (UTC) that a period touches.
#[cfg_attr(feature = "http", derive(utoipa::ToSchema))]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Series {
    /// Length of a step in seconds: 3600, 86 400 or 604 800.
    pub step_seconds: u64,
    /// Points in order, including empty ones.
    pub points: Vec<Point>,
    /// Agents with the most decisions, in descending order; at most twelve.
    pub agents: Vec<Count>,
    /// Programs with the most decisions, in descending order; at most twelve. Determined from the
    /// first word of the latest commands.
    pub programs: Vec<Count>,
    /// Number of commands whose programs were counted.
    pub programs_of: u64,
}

/// The counts of one step.
#[cfg_attr(feature = "http", derive(utoipa::ToSchema))]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Point {
    /// Start of the step.
    #[cfg_attr(feature = "http", schema(value_type = String, format = DateTime))]
    #[serde(serialize_with = "hooks_runtime::timestamp::serialize")]
    pub start: Timestamp,
    /// Decisions by class.
    pub classifications: Classifications,
    /// Number of records with the outcome `APPROVED`.
    pub approved: u64,
    /// Number of records with the outcome `DENIED`.
    pub denied: u64,
    /// Number of records with the outcome `TIMEOUT`.
    pub expired: u64,
    /// Mean confidence; 0 without records.
    pub avg_confidence: f64,
    /// Median latency in milliseconds.
    pub p50_response_time_ms: u64,
    /// 95th percentile (p95) of the latency, in milliseconds.
    pub p95_response_time_ms: u64,
    /// 99th percentile (p99) of the latency, in milliseconds.
    pub p99_response_time_ms: u64,
}

/// A value and its number of occurrences.
#[cfg_attr(feature = "http", derive(utoipa::ToSchema))]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Count {
    /// The value.
    pub name: String,
    /// Number of occurrences.
    pub count: u64,
}

#[derive(Clone, Debug, Default)]
struct StepSums {
    classes: [u64; 4],
    responses: [u64; 3],
    n: u64,
    confidence: i64,
    times: BTreeMap<i64, u64>,
}

impl StepSums {
    fn point(&self, start: Timestamp) -> Point {
        Point {
            start,
            classifications: Classifications {
                read: self.classes[0],
                create: self.classes[1],
                update: self.classes[2],
                delete: self.classes[3],
            },
            approved: self.responses[0],
            denied: self.responses[1],
            expired: self.responses[2],
            avg_confidence: match self.n {
                0 => 0.0,
                n => self.confidence as f64 / 1e9 / n as f64,
            },
            p50_response_time_ms: self.percentile(50),
            p95_response_time_ms: self.percentile(95),
            p99_response_time_ms: self.percentile(99),
        }
    }

    fn percentile(&self, percent: u64) -> u64 {
        let rank = (self.times.values().sum::<u64>() * percent).div_ceil(100);
        let mut seen = 0;
        let mut times = self.times.iter();
        let found = times.find(|(_, n)| {
            seen += **n;
            seen >= rank.max(1)
        });
        found.map_or(0, |(ms, _)| ms.max(&0).unsigned_abs())
    }
}

/// The steps of a period.
struct Steps {
    unit: i64,
    /// Length of the unit in microseconds.
    length: i64,
    /// Number of units per step.
    units: i64,
    first: i64,
    last: i64,
}

impl Steps {
    /// Returns the steps between two times, both inclusive.
    fn of(from: i64, to: i64) -> Self {
        let span = to.saturating_sub(from).max(0);
        let (unit, length, units) = match span {
            span if span <= MAX_HOURS * HOUR_US => (UNIT_HOUR, HOUR_US, 1),
            span if span <= MAX_DAYS * DAY_US => (UNIT_DAY, DAY_US, 1),
            _ => (UNIT_DAY, DAY_US, 7),
        };
        let step = length * units;
        Self {
            unit,
            length,
            units,
            first: from.div_euclid(step),
            last: to.div_euclid(step).max(from.div_euclid(step)),
        }
    }

    fn step(&self) -> i64 {
        self.length * self.units
    }

    /// Returns the first and the last unit to read.
    fn read(&self) -> (i64, i64) {
        (self.first * self.units, (self.last + 1) * self.units - 1)
    }
}

pub(super) async fn series(
    backend: &Backend,
    period: &Period,
    now: Timestamp,
) -> Result<Series, AuditError> {
    let mut tx = backend.read().await?;
    let ends = tx
        .one("SELECT min(at), max(at) FROM decisions", &[])
        .await?;
    let now = floor_us(now);
    // Start at the first record, and end no later than now.
    let first = ends.maybe_int(0)?.unwrap_or(now);
    let end = ends.maybe_int(1)?.unwrap_or(now).max(now);
    let from = period.since.map_or(first, floor_us).max(first).min(end);
    let to = period.until.map_or(end, ceil_us).min(end).max(from);
    let steps = Steps::of(from, to);
    let mut sums: BTreeMap<i64, StepSums> = BTreeMap::new();
    counts(&mut tx, &steps, &mut sums).await?;
    let agents = agents(&mut tx, &steps).await?;
    times(&mut tx, &steps, &mut sums).await?;
    let programs = programs(&mut tx, from, to).await?;
    let nothing = StepSums::default();
    let points = (steps.first..=steps.last).map(|step| {
        let start = timestamp(step.saturating_mul(steps.step()))?;
        Ok(sums.get(&step).unwrap_or(&nothing).point(start))
    });
    Ok(Series {
        step_seconds: steps.step().unsigned_abs() / 1_000_000,
        points: points.collect::<Result<_, AuditError>>()?,
        agents: top(agents),
        programs_of: programs.values().sum(),
        programs: top(programs),
    })
}

async fn counts(
    tx: &mut Tx,
    steps: &Steps,
    sums: &mut BTreeMap<i64, StepSums>,
) -> Result<(), AuditError> {
    let (first, last) = steps.read();
    let rows = tx
        .all(
            "SELECT start, class, response, CAST(sum(n) AS BIGINT),
                CAST(sum(confidence) AS BIGINT)
             FROM tallies WHERE unit = $1 AND start >= $2 AND start <= $3
             GROUP BY start, class, response",
            &[steps.unit.into(), first.into(), last.into()],
        )
        .await?;
    for row in rows {
        let sums = sums.entry(row.int(0)?.div_euclid(steps.units)).or_default();
        let n = row.int(3)?.max(0).unsigned_abs();
        let slot = |code: i64| usize::try_from(code - 1).ok();
        if let Some(count) = slot(row.int(1)?).and_then(|at| sums.classes.get_mut(at)) {
            *count += n;
        }
        if let Some(count) = slot(row.int(2)?).and_then(|at| sums.responses.get_mut(at)) {
            *count += n;
        }
        sums.n += n;
        sums.confidence += row.int(4)?;
    }
    Ok(())
}

/// Returns the agents with the most decisions. Counted by the database, because clients can send
/// any number of agent names.
async fn agents(tx: &mut Tx, steps: &Steps) -> Result<HashMap<String, u64>, AuditError> {
    let (first, last) = steps.read();
    let rows = tx
        .all(
            "SELECT agent, CAST(sum(n) AS BIGINT) FROM tallies
             WHERE unit = $1 AND start >= $2 AND start <= $3 AND agent <> ''
             GROUP BY agent ORDER BY sum(n) DESC, agent LIMIT $4",
            &[
                steps.unit.into(),
                first.into(),
                last.into(),
                (MAX_LISTED as i64).into(),
            ],
        )
        .await?;
    let agents = rows.iter().map(|row| {
        let count = row.int(1)?.max(0).unsigned_abs();
        Ok((row.text(0)?, count))
    });
    agents.collect()
}

async fn times(
    tx: &mut Tx,
    steps: &Steps,
    sums: &mut BTreeMap<i64, StepSums>,
) -> Result<(), AuditError> {
    let (first, last) = steps.read();
    let rows = tx
        .all(
            "SELECT start, ms, n FROM times WHERE unit = $1 AND start >= $2 AND start <= $3",
            &[steps.unit.into(), first.into(), last.into()],
        )
        .await?;
    for row in rows {
        let step = row.int(0)?.div_euclid(steps.units);
        let times = &mut sums.entry(step).or_default().times;
        *times.entry(row.int(1)?).or_default() += row.int(2)?.max(0).unsigned_abs();
    }
    Ok(())
}

async fn programs(tx: &mut Tx, from: i64, to: i64) -> Result<HashMap<String, u64>, AuditError> {
    let rows = tx
        .all(
            "SELECT substr(command, 1, 1000) FROM decisions WHERE at >= $1 AND at <= $2
             ORDER BY at DESC, id DESC LIMIT $3",
            &[from.into(), to.into(), MAX_COUNTED_COMMANDS.into()],
        )
        .await?;
    let mut programs = HashMap::new();
    for row in rows {
        if let Some(program) = program(&row.text(0)?) {
            *programs.entry(program).or_default() += 1;
        }
    }
    Ok(programs)
}

/// Returns the first word that is not an assignment, without its folder and its quotes.
fn program(command: &str) -> Option<String> {
    let assigns = |word: &str| {
        let name = word.split('=').next().unwrap_or_default();
        let named = |c: char| c.is_ascii_alphanumeric() || c == '_';
        word.contains('=') && !name.is_empty() && name.chars().all(named)
    };
    let word = command.split_whitespace().find(|word| !assigns(word))?;
    let word = word.trim_matches(['"', '\'', '(', '{', ';', '&', '|']);
    let name = word.rsplit('/').next().unwrap_or(word);
    (!name.is_empty()).then(|| name.chars().take(40).collect())
}

/// Returns the highest counts in descending order; equal counts by name.
fn top(counts: HashMap<String, u64>) -> Vec<Count> {
    let named = counts.into_iter().filter(|(name, _)| !name.is_empty());
    let mut counts: Vec<Count> = named.map(|(name, count)| Count { name, count }).collect();
    counts.sort_by(|one, other| (other.count, &one.name).cmp(&(one.count, &other.name)));
    counts.truncate(MAX_LISTED);
    counts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_period_is_covered_by_a_limited_number_of_steps() {
        for (span, step) in [
            (0, HOUR_US),
            (MAX_HOURS * HOUR_US, HOUR_US),
            (MAX_HOURS * HOUR_US + 1, DAY_US),
            (MAX_DAYS * DAY_US + 1, 7 * DAY_US),
            (3000 * DAY_US, 7 * DAY_US),
        ] {
            let from = 1_763_374_200_000_000;
            let steps = Steps::of(from, from + span);
            assert_eq!(steps.step(), step);
            assert!(steps.first * step <= from && from + span < (steps.last + 1) * step);
            assert!(steps.last - steps.first <= 430, "{span}");
        }
    }

    #[test]
    fn a_program_is_the_first_word_after_assignments() {
        for (command, name) in [
            ("git push", "git"),
            ("A=1 B_2=x /usr/bin/env python", "env"),
            ("(cd x && ls)", "cd"),
            ("'my tool' x", "my"),
            ("  ls", "ls"),
            ("Write src/main.rs", "Write"),
        ] {
            assert_eq!(program(command).as_deref(), Some(name), "{command}");
        }
        assert_eq!(program(" "), None);
        assert_eq!(program("A=1"), None);
    }
}
