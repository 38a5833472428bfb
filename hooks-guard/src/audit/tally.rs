//! Running counts, so that statistics over millions of decisions read few rows. Takes added and
//! removed decisions; returns changes of the counts.

use std::collections::BTreeMap;

#[cfg(feature = "postgres")]
use super::error::AuditError;
use super::record::DecisionRow;
#[cfg(feature = "postgres")]
use super::tx::Tx;

pub(super) const HOUR_US: i64 = 3_600_000_000;
pub(super) const DAY_US: i64 = 24 * HOUR_US;

pub(super) const UNIT_ALL: i64 = 0;
pub(super) const UNIT_DAY: i64 = 1;
pub(super) const UNIT_HOUR: i64 = 2;

macro_rules! insert_tallies {
    () => {
        "INSERT INTO tallies (unit, start, class, requires, response, agent, n, timed_out,
            confidence, high, low)"
    };
}

macro_rules! add_tallies {
    () => {
        " ON CONFLICT (unit, start, class, requires, response, agent) DO UPDATE SET
            n = tallies.n + excluded.n,
            timed_out = tallies.timed_out + excluded.timed_out,
            confidence = tallies.confidence + excluded.confidence,
            high = tallies.high + excluded.high,
            low = tallies.low + excluded.low"
    };
}

macro_rules! insert_times {
    () => {
        "INSERT INTO times (unit, start, ms, n)"
    };
}

macro_rules! add_times {
    () => {
        " ON CONFLICT (unit, start, ms) DO UPDATE SET n = times.n + excluded.n"
    };
}

/// SQLite statement that adds the tallies in a JSON parameter. SQLite ends a text in JSON at a NUL, so
/// agents are in hexadecimal digits. It needs the condition to parse the clause after it.
macro_rules! write_tallies_json {
    ($json:literal) => {
        concat!(
            $crate::audit::tally::insert_tallies!(),
            " SELECT value ->> '$[0][0]', value ->> '$[0][1]', value ->> '$[0][2]',
                value ->> '$[0][3]', value ->> '$[1][0]', CAST(unhex(value ->> '$[1][1]') AS TEXT),
                value ->> '$[2][0]', value ->> '$[2][1]', value ->> '$[2][2]',
                value ->> '$[2][3]', value ->> '$[2][4]' FROM json_each(",
            $json,
            ") WHERE true",
            $crate::audit::tally::add_tallies!()
        )
    };
}

/// SQLite statement that adds the times in a JSON parameter.
macro_rules! write_times_json {
    ($json:literal) => {
        concat!(
            $crate::audit::tally::insert_times!(),
            " SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3 FROM json_each(",
            $json,
            ") WHERE true",
            $crate::audit::tally::add_times!()
        )
    };
}
pub(super) use {add_tallies, add_times, insert_tallies, insert_times};
pub(super) use {write_tallies_json, write_times_json};

/// Counted properties of a decision.
#[derive(Clone, Debug)]
pub(super) struct CountedDecision {
    pub(super) at: i64,
    pub(super) class: i64,
    pub(super) requires: bool,
    pub(super) response: Option<i64>,
    pub(super) agent: Option<String>,
    pub(super) timed_out: bool,
    pub(super) confidence: f64,
    pub(super) ms: i64,
}

impl From<&DecisionRow> for CountedDecision {
    fn from(row: &DecisionRow) -> Self {
        Self {
            at: row.at,
            class: row.class,
            requires: row.requires,
            response: row.response,
            agent: row.agent.clone(),
            timed_out: row.timed_out,
            confidence: row.confidence,
            ms: row.response_time_ms(),
        }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Tally {
    pub(super) n: i64,
    pub(super) timed_out: i64,
    pub(super) confidence: i64,
    pub(super) high: i64,
    pub(super) low: i64,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct TallyKey {
    pub(super) unit: i64,
    pub(super) start: i64,
    pub(super) class: i64,
    pub(super) requires: bool,
    pub(super) response: i64,
    pub(super) agent: String,
}

impl Tally {
    /// Returns the tally of a decision that is counted `by` times.
    fn of(timed_out: bool, confidence: f64, by: i64) -> Self {
        Self {
            n: by,
            timed_out: by * i64::from(timed_out),
            confidence: by * billionths(confidence),
            high: by * i64::from(confidence >= 0.9),
            low: by * i64::from(confidence < 0.8),
        }
    }

    fn add(&mut self, other: &Self) {
        self.n += other.n;
        self.timed_out += other.timed_out;
        self.confidence += other.confidence;
        self.high += other.high;
        self.low += other.low;
    }
}

/// Changes of the counts by a transaction.
#[derive(Debug, Default)]
pub(super) struct Deltas {
    pub(super) tallies: BTreeMap<TallyKey, Tally>,
    pub(super) times: BTreeMap<(i64, i64, i64), i64>,
}

impl Deltas {
    pub(super) fn is_empty(&self) -> bool {
        self.tallies.is_empty() && self.times.is_empty()
    }

    /// Counts a decision `by` times.
    pub(super) fn add(&mut self, row: &CountedDecision, by: i64) {
        self.tally(row, by);
        for (unit, start) in units(row.at) {
            *self.times.entry((unit, start, row.ms)).or_default() += by;
        }
    }

    /// Replaces `was` by `is` in the counts when the response of a decision changes.
    pub(super) fn answered(&mut self, was: &CountedDecision, is: &CountedDecision) {
        self.tally(was, -1);
        self.tally(is, 1);
    }

    /// Returns the change of the total number of decisions.
    pub(super) fn of_all_time(&self) -> i64 {
        let all = self.tallies.iter().filter(|(key, _)| key.unit == UNIT_ALL);
        all.map(|(_, tally)| tally.n).sum()
    }

    fn tally(&mut self, row: &CountedDecision, by: i64) {
        for (unit, start) in units(row.at) {
            let key = TallyKey {
                unit,
                start,
                class: row.class,
                requires: row.requires,
                response: row.response.unwrap_or(0),
                agent: row.agent.clone().unwrap_or_default(),
            };
            let tally = self.tallies.entry(key).or_default();
            tally.add(&Tally::of(row.timed_out, row.confidence, by));
        }
    }

    /// Returns the tallies for [`write_tallies_json`].
    pub(super) fn tallies_json(&self) -> String {
        let rows: Vec<_> = self
            .changed_tallies()
            .map(|(key, tally)| {
                (
                    (key.unit, key.start, key.class, i64::from(key.requires)),
                    (key.response, hex::encode(&key.agent)),
                    (
                        tally.n,
                        tally.timed_out,
                        tally.confidence,
                        tally.high,
                        tally.low,
                    ),
                )
            })
            .collect();
        serde_json::json!(rows).to_string()
    }

    /// Returns the times for [`write_times_json`].
    pub(super) fn times_json(&self) -> String {
        let rows: Vec<_> = self
            .changed_times()
            .map(|((unit, start, ms), n)| (unit, start, ms, n))
            .collect();
        serde_json::json!(rows).to_string()
    }

    fn changed_tallies(&self) -> impl Iterator<Item = (&TallyKey, &Tally)> {
        let tallies = self.tallies.iter();
        tallies.filter(|(_, tally)| **tally != Tally::default())
    }

    fn changed_times(&self) -> impl Iterator<Item = ((i64, i64, i64), i64)> {
        let times = self.times.iter().map(|(key, n)| (*key, *n));
        times.filter(|(_, n)| *n != 0)
    }

    /// Writes the counts to PostgreSQL.
    #[cfg(feature = "postgres")]
    pub(super) async fn write(&self, tx: &mut Tx) -> Result<(), AuditError> {
        for (key, tally) in self.changed_tallies() {
            tx.execute(
                concat!(
                    insert_tallies!(),
                    " VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)",
                    add_tallies!()
                ),
                &[
                    key.unit.into(),
                    key.start.into(),
                    key.class.into(),
                    i64::from(key.requires).into(),
                    key.response.into(),
                    (&key.agent).into(),
                    tally.n.into(),
                    tally.timed_out.into(),
                    tally.confidence.into(),
                    tally.high.into(),
                    tally.low.into(),
                ],
            )
            .await?;
        }
        for ((unit, start, ms), n) in self.changed_times() {
            tx.execute(
                concat!(insert_times!(), " VALUES ($1, $2, $3, $4)", add_times!()),
                &[unit.into(), start.into(), ms.into(), n.into()],
            )
            .await?;
        }
        Ok(())
    }
}

/// Counts of many decisions by hour. [`deltas`](Self::deltas) returns the counts of days and of all
/// time, so that a decision changes one tally and one time instead of three each.
#[derive(Debug, Default)]
pub(super) struct HourCounts {
    /// By agent, so that a known agent needs no allocation.
    tallies: BTreeMap<String, BTreeMap<HourKey, Tally>>,
    /// Number of decisions by hour and milliseconds.
    times: BTreeMap<(i64, i64), i64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct HourKey {
    hour: i64,
    class: i64,
    requires: bool,
    response: i64,
}

impl HourCounts {
    pub(super) fn add<T: AsRef<str>>(&mut self, row: &DecisionRow<T>) {
        let hour = row.at.div_euclid(HOUR_US);
        let key = HourKey {
            hour,
            class: row.class,
            requires: row.requires,
            response: row.response.unwrap_or(0),
        };
        let tally = Tally::of(row.timed_out, row.confidence, 1);
        let agent = row.agent.as_ref().map_or("", AsRef::as_ref);
        self.add_tally(agent, key, &tally);
        *self
            .times
            .entry((hour, row.response_time_ms()))
            .or_default() += 1;
    }

    fn add_tally(&mut self, agent: &str, key: HourKey, tally: &Tally) {
        let of_agent = match self.tallies.get_mut(agent) {
            Some(of_agent) => of_agent,
            None => self.tallies.entry(agent.to_owned()).or_default(),
        };
        of_agent.entry(key).or_default().add(tally);
    }

    /// Adds the counts of other decisions.
    pub(super) fn append(&mut self, other: &Self) {
        for (agent, tallies) in &other.tallies {
            for (key, tally) in tallies {
                self.add_tally(agent, *key, tally);
            }
        }
        for (key, n) in &other.times {
            *self.times.entry(*key).or_default() += n;
        }
    }

    /// Returns the counts of hours, days and all time.
    pub(super) fn deltas(&self) -> Deltas {
        let mut deltas = Deltas::default();
        for (agent, tallies) in &self.tallies {
            for (key, tally) in tallies {
                for (unit, start) in units_of_hour(key.hour) {
                    let key = TallyKey {
                        unit,
                        start,
                        class: key.class,
                        requires: key.requires,
                        response: key.response,
                        agent: agent.clone(),
                    };
                    deltas.tallies.entry(key).or_default().add(tally);
                }
            }
        }
        for (&(hour, ms), n) in &self.times {
            for (unit, start) in units_of_hour(hour) {
                *deltas.times.entry((unit, start, ms)).or_default() += n;
            }
        }
        deltas
    }
}

/// Converts to integers: a sum of fractions would depend on their order, and drift when values are
/// subtracted again.
pub(super) fn billionths(confidence: f64) -> i64 {
    (confidence * 1e9).round() as i64
}

fn units(at: i64) -> [(i64, i64); 3] {
    units_of_hour(at.div_euclid(HOUR_US))
}

/// Returns the units that contain an hour, each with its start.
fn units_of_hour(hour: i64) -> [(i64, i64); 3] {
    [
        (UNIT_ALL, 0),
        (UNIT_DAY, hour.div_euclid(24)),
        (UNIT_HOUR, hour),
    ]
}

/// A period as whole units, and the edges whose decisions are read individually.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct PeriodParts {
    /// Unit, first and last start of each whole part.
    pub(super) whole: Vec<(i64, i64, i64)>,
    /// Half-open time ranges: first included time and first excluded time.
    pub(super) edges: Vec<(i64, i64)>,
}

impl PeriodParts {
    /// Splits the period between two times, both exclusive.
    pub(super) fn of(after: Option<i64>, before: Option<i64>) -> Self {
        let mut pieces = Self::default();
        if after.is_none() && before.is_none() {
            pieces.whole.push((UNIT_ALL, 0, 0));
            return pieces;
        }
        // From here on a half-open range of microseconds.
        let from = after.map(|after| after.saturating_add(1));
        if let (Some(from), Some(to)) = (from, before)
            && from >= to
        {
            return pieces;
        }
        let up = |at: i64, unit: i64| at.div_euclid(unit) + i64::from(at.rem_euclid(unit) != 0);
        // The range of whole hours, and of whole days; without an end up to the end of time.
        let first_hour = from.map_or(i64::MIN, |from| up(from, HOUR_US));
        let end_hour = before.map_or(i64::MAX, |to| to.div_euclid(HOUR_US));
        if first_hour >= end_hour
            && let (Some(from), Some(to)) = (from, before)
        {
            pieces.edges.push((from, to));
            return pieces;
        }
        if let Some(from) = from
            && from < first_hour * HOUR_US
        {
            pieces.edges.push((from, first_hour * HOUR_US));
        }
        if let Some(to) = before
            && end_hour * HOUR_US < to
        {
            pieces.edges.push((end_hour * HOUR_US, to));
        }
        let first_day = from.map_or(i64::MIN, |_| up(first_hour, 24));
        let end_day = before.map_or(i64::MAX, |_| end_hour.div_euclid(24));
        if first_day >= end_day {
            pieces.whole.push((UNIT_HOUR, first_hour, end_hour - 1));
            return pieces;
        }
        pieces.whole.push((UNIT_DAY, first_day, end_day - 1));
        if from.is_some() && first_hour < first_day * 24 {
            pieces
                .whole
                .push((UNIT_HOUR, first_hour, first_day * 24 - 1));
        }
        if before.is_some() && end_day * 24 < end_hour {
            pieces.whole.push((UNIT_HOUR, end_day * 24, end_hour - 1));
        }
        pieces
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn covered(pieces: &PeriodParts, at: i64) -> usize {
        let whole = pieces.whole.iter().filter(|(unit, first, last)| {
            units(at)
                .iter()
                .any(|(of, start)| of == unit && first <= start && start <= last)
        });
        let edges = pieces
            .edges
            .iter()
            .filter(|(from, to)| *from <= at && at < *to);
        whole.count() + edges.count()
    }

    proptest! {
        #[test]
        fn p_30_the_parts_of_a_period_cover_it_exactly_once(
            after in prop::option::of(-3 * DAY_US..3 * DAY_US),
            before in prop::option::of(-3 * DAY_US..3 * DAY_US),
            at in -4 * DAY_US..4 * DAY_US,
            snap in prop::sample::select(vec![1, HOUR_US, DAY_US]),
        ) {
            let after = after.map(|at| at / snap * snap);
            let before = before.map(|at| at / snap * snap);
            let pieces = PeriodParts::of(after, before);
            for at in [at, at / snap * snap, at / snap * snap - 1, at / snap * snap + 1] {
                let inside = after.is_none_or(|after| at > after)
                    && before.is_none_or(|before| at < before);
                prop_assert_eq!(covered(&pieces, at), usize::from(inside));
            }
        }
    }
}
