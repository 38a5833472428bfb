//! Counts of runs by hook, outcome and class, with histograms of duration and fuel.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::record::{OutcomeKind, RunRecord};

/// Maximum number of class names per hook and of hooks that are counted by name. Further ones are
/// counted together, so that untrusted hooks cannot fill the memory.
const MAX_CLASSES: usize = 32;
const MAX_HOOKS: usize = 4096;
const OTHER: &str = "other";

/// Upper bounds of the histogram buckets.
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

/// Runs of one hook with one outcome and one class.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RunGroup {
    /// The `source` of the hook's manifest; `other` for hooks beyond the first 4096.
    pub source: String,
    /// Outcome of the runs.
    pub outcome: OutcomeKind,
    /// Class of a stop or a failure, empty otherwise; `other` for classes beyond the first 32 of a
    /// hook.
    pub class: String,
    /// Number of runs.
    pub runs: u64,
    /// Durations, in microseconds.
    pub duration_us: Histogram,
    /// Fuel used.
    pub fuel: Histogram,
}

/// Distribution of values.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Histogram {
    /// Upper bound of each bucket.
    pub bounds: &'static [u64],
    /// Number of values in each bucket; the last count is of values above all bounds.
    pub counts: Vec<u64>,
    /// Sum of all values.
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
        // A skipped run used no time and no fuel.
        if outcome != OutcomeKind::Skipped {
            group.duration_us.add(duration_us);
            group.fuel.add(record.fuel);
        }
    }

    fn names(&mut self, source: &str, class: &str) -> (String, String) {
        let known = self.classes.len();
        let source = if known < MAX_HOOKS || self.classes.contains_key(source) {
            source
        } else {
            OTHER
        };
        let classes = self.classes.entry(source.to_owned()).or_default();
        let class = if class.is_empty() || classes.len() < MAX_CLASSES || classes.contains(class) {
            class
        } else {
            OTHER
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
    fn s_20_histogram_bounds_are_inclusive_and_the_sum_saturates() {
        let mut histogram = Histogram::new(&[10, 20]);
        for value in [0, 10, 11, 20, 21, u64::MAX] {
            histogram.add(value);
        }
        assert_eq!(histogram.counts, [2, 2, 2]);
        assert_eq!(histogram.sum, u64::MAX);
    }

    #[test]
    fn s_20_the_summary_bounds_the_number_of_hooks_and_classes() {
        let mut summary = Summary::default();
        for number in 0..2 * MAX_CLASSES {
            summary.names("hook", &number.to_string());
        }
        assert_eq!(summary.names("hook", "new").1, OTHER);
        assert_eq!(summary.names("hook", "0").1, "0");
        assert_eq!(summary.names("hook", "").1, "");
        for number in 0..2 * MAX_HOOKS {
            summary.names(&number.to_string(), "class");
        }
        assert_eq!(
            summary.names("new", "class"),
            (OTHER.to_owned(), "class".to_owned())
        );
        assert_eq!(
            summary.names("hook", "0"),
            ("hook".to_owned(), "0".to_owned())
        );
        assert!(summary.classes.len() <= MAX_HOOKS + 1);
        assert!(summary.classes["hook"].len() <= MAX_CLASSES + 1);
    }
}
