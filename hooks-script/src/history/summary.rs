//! How often hooks end how, and what it costs.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::record::{OutcomeKind, RunRecord};

/// What untrusted hooks name is counted by name only so far: the rest is counted together, so
/// that nobody can fill the memory of what counts.
const MOST_CLASSES: usize = 32;
const MOST_HOOKS: usize = 4096;
const REST: &str = "other";

/// Upper bounds of the parts of a histogram.
const MICROSECONDS: &[u64] = &[
    50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 250_000, 500_000,
    1_000_000, 2_500_000,
];
const FUEL: &[u64] = &[
    1_000,
    10_000,
    100_000,
    1_000_000,
    3_000_000,
    10_000_000,
    30_000_000,
    100_000_000,
    300_000_000,
    1_000_000_000,
];

/// The number of runs of one hook with one kind of outcome and one class.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RunGroup {
    /// The `source` of the hook's manifest; `other` for hooks beyond the first 4096.
    pub source: String,
    /// How they ended.
    pub outcome: OutcomeKind,
    /// The class of a stop or a failure, empty otherwise; `other` for what one hook names
    /// beyond the first 32.
    pub class: String,
    /// How many there were.
    pub runs: u64,
    /// How long they took, in microseconds.
    pub duration_us: Histogram,
    /// How much fuel they used.
    pub fuel: Histogram,
}

/// Distribution of values.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Histogram {
    /// The most that a value of each part is.
    pub bounds: &'static [u64],
    /// How many values are in each part; the last count is of those beyond all bounds.
    pub counts: Vec<u64>,
    /// All values together.
    pub sum: u64,
}

#[derive(Debug, Default)]
pub(super) struct Summary {
    groups: BTreeMap<(String, OutcomeKind, String), RunGroup>,
    classes: HashMap<String, HashSet<String>>,
}

impl Summary {
    pub(super) fn count(&mut self, record: &RunRecord) {
        let class = record.outcome.class().unwrap_or_default();
        let (source, class) = self.names(&record.source, class);
        let duration_us = u64::try_from(record.duration.as_micros()).unwrap_or(u64::MAX);
        let outcome = record.outcome.kind();
        #[cfg(feature = "metrics")]
        publish(&source, outcome, &class, record);
        let group = self
            .groups
            .entry((source, outcome, class))
            .or_insert_with_key(|key| RunGroup {
                source: key.0.clone(),
                outcome,
                class: key.2.clone(),
                runs: 0,
                duration_us: Histogram::new(MICROSECONDS),
                fuel: Histogram::new(FUEL),
            });
        group.runs += 1;
        // What did not run took no time and no fuel.
        if outcome != OutcomeKind::Skipped {
            group.duration_us.add(duration_us);
            group.fuel.add(record.fuel);
        }
    }

    fn names(&mut self, source: &str, class: &str) -> (String, String) {
        let known = self.classes.len();
        let source = if known < MOST_HOOKS || self.classes.contains_key(source) {
            source
        } else {
            REST
        };
        let classes = self.classes.entry(source.to_owned()).or_default();
        let class = if class.is_empty() || classes.len() < MOST_CLASSES || classes.contains(class) {
            class
        } else {
            REST
        };
        if !class.is_empty() {
            classes.insert(class.to_owned());
        }
        (source.to_owned(), class.to_owned())
    }

    pub(super) fn groups(&self) -> Vec<RunGroup> {
        self.groups.values().cloned().collect()
    }
}

#[cfg(feature = "metrics")]
fn publish(source: &str, outcome: OutcomeKind, class: &str, record: &RunRecord) {
    let labels = [
        ("hook", source.to_owned()),
        ("outcome", outcome.as_str().to_owned()),
        ("class", class.to_owned()),
    ];
    metrics::counter!("hooks_script_runs_total", &labels).increment(1);
    if outcome != OutcomeKind::Skipped {
        metrics::histogram!("hooks_script_run_duration_seconds", &labels)
            .record(record.duration.as_secs_f64());
        metrics::histogram!("hooks_script_run_fuel", &labels).record(record.fuel as f64);
    }
}

impl Histogram {
    fn new(bounds: &'static [u64]) -> Self {
        Histogram {
            bounds,
            counts: vec![0; bounds.len() + 1],
            sum: 0,
        }
    }

    fn add(&mut self, value: u64) {
        self.counts[self.bounds.partition_point(|&bound| bound < value)] += 1;
        self.sum = self.sum.saturating_add(value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s_20_a_value_is_counted_up_to_its_bound() {
        let mut histogram = Histogram::new(&[10, 20]);
        for value in [0, 10, 11, 20, 21, u64::MAX] {
            histogram.add(value);
        }
        assert_eq!(histogram.counts, [2, 2, 2]);
        assert_eq!(histogram.sum, u64::MAX);
    }

    #[test]
    fn s_20_hooks_cannot_fill_the_summary_with_names() {
        let mut summary = Summary::default();
        for number in 0..2 * MOST_CLASSES {
            summary.names("hook", &number.to_string());
        }
        assert_eq!(summary.names("hook", "new").1, REST);
        assert_eq!(summary.names("hook", "0").1, "0");
        assert_eq!(summary.names("hook", "").1, "");
        for number in 0..2 * MOST_HOOKS {
            summary.names(&number.to_string(), "class");
        }
        assert_eq!(
            summary.names("new", "class"),
            (REST.to_owned(), "class".to_owned())
        );
        assert_eq!(
            summary.names("hook", "0"),
            ("hook".to_owned(), "0".to_owned())
        );
        assert!(summary.classes.len() <= MOST_HOOKS + 1);
        assert!(summary.classes["hook"].len() <= MOST_CLASSES + 1);
    }
}
