//! Metrics sent to the recorder of the crate `metrics`.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex};

use futures_executor::block_on;
use hooks_script::{ContextData, RunHistory, RunRecord, ScriptEngine, Stage};
use metrics::{
    Counter, CounterFn, Gauge, Histogram, HistogramFn, Key, KeyName, Metadata, Recorder,
    SharedString, Unit,
};

use crate::HOOK;

/// Recorded values by name and labels.
#[derive(Clone, Default)]
struct RecordedValues(Arc<Mutex<BTreeMap<String, Vec<f64>>>>);

struct Metric {
    name: String,
    seen: RecordedValues,
}

impl RecordedValues {
    fn metric(&self, key: &Key) -> Arc<Metric> {
        let labels: Vec<_> = key
            .labels()
            .map(|label| format!("{}={}", label.key(), label.value()))
            .collect();
        Arc::new(Metric {
            name: format!("{} {}", key.name(), labels.join(" ")),
            seen: self.clone(),
        })
    }
}

impl Metric {
    fn add(&self, value: f64) {
        self.seen
            .0
            .lock()
            .unwrap()
            .entry(self.name.clone())
            .or_default()
            .push(value);
    }
}

impl CounterFn for Metric {
    fn increment(&self, value: u64) {
        self.add(value as f64);
    }

    fn absolute(&self, _: u64) {}
}

impl HistogramFn for Metric {
    fn record(&self, value: f64) {
        self.add(value);
    }
}

impl Recorder for RecordedValues {
    fn describe_counter(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}
    fn describe_gauge(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}
    fn describe_histogram(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}

    fn register_counter(&self, key: &Key, _: &Metadata<'_>) -> Counter {
        Counter::from_arc(self.metric(key))
    }

    fn register_gauge(&self, _: &Key, _: &Metadata<'_>) -> Gauge {
        Gauge::noop()
    }

    fn register_histogram(&self, key: &Key, _: &Metadata<'_>) -> Histogram {
        Histogram::from_arc(self.metric(key))
    }
}

#[test]
fn s_20_runs_are_published_by_hook_outcome_and_class() {
    let engine = ScriptEngine::builder().build().unwrap();
    let history = RunHistory::in_memory(NonZeroUsize::MIN);
    let seen = RecordedValues::default();
    let (message, data) = (serde_json::Map::new(), ContextData::new());
    let code = "export default () => { throw new TypeError('a'); }";
    let hook = crate::hook(&engine, code);
    let run = block_on(hook.run_pre(&message, &data));
    metrics::with_local_recorder(&seen, || {
        for _ in 0..2 {
            let record = RunRecord::of(&hook, Stage::Pre, &run, &message, &data);
            block_on(history.record(record)).unwrap();
        }
        block_on(history.record(RunRecord::skipped(&hook, Stage::Pre, "budget"))).unwrap();
    });
    let seen = seen.0.lock().unwrap();
    let values =
        |name: &str, labels: &str| seen.get(&format!("{name} hook={HOOK} {labels}")).cloned();
    let failed = "outcome=failure class=TypeError";
    assert_eq!(
        values("hooks_script_runs_total", failed),
        Some(vec![1.0, 1.0])
    );
    assert_eq!(
        values("hooks_script_run_fuel", failed),
        Some(vec![run.fuel as f64; 2])
    );
    let seconds = run.duration.as_secs_f64();
    assert_eq!(
        values("hooks_script_run_duration_seconds", failed),
        Some(vec![seconds; 2])
    );
    let skipped = "outcome=skipped class=";
    assert_eq!(values("hooks_script_runs_total", skipped), Some(vec![1.0]));
    assert_eq!(values("hooks_script_run_fuel", skipped), None);
}
