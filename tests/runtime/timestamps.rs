//! Time stamps have one width and sort as text.

use futures::executor::block_on;
use hooks_runtime::{Event, HookRegistry, HookResult, timestamp};
use jiff::Timestamp;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::kit::{emit, plain};

/// The nanoseconds since 1970 at the start of the year 0 and at the end of the year 9999.
const RANGE: std::ops::RangeInclusive<i128> =
    -62_167_219_200_000_000_000..=253_402_207_199_999_999_999;

/// Times, half of them with a round fraction.
fn times() -> impl Strategy<Value = Timestamp> {
    let round = prop::sample::select(vec![1_i128, 1_000, 1_000_000, 1_000_000_000]);
    (RANGE, round).prop_map(|(nanoseconds, to)| {
        let nanoseconds = nanoseconds.div_euclid(to) * to;
        Timestamp::from_nanosecond(nanoseconds.max(*RANGE.start())).expect("a time in the range")
    })
}

const WIDTH: usize = "2026-05-01T10:00:00.000000000Z".len();

proptest! {
    #[test]
    fn timestamps_sort_as_text(a in times(), b in times()) {
        let (text, other) = (timestamp::to_text(a), timestamp::to_text(b));
        prop_assert_eq!(text.len(), WIDTH);
        prop_assert!(text.ends_with('Z'));
        prop_assert_eq!(text.cmp(&other), a.cmp(&b), "{} and {}", text, other);
        prop_assert_eq!(text.parse::<Timestamp>().expect("it is RFC 3339"), a);
    }

    #[test]
    fn a_slightly_later_timestamp_sorts_after_the_earlier_one(a in times(), step in prop::sample::select(vec![1_i64, 999, 1_000_000])) {
        let next = a + jiff::SignedDuration::from_nanos(step);
        prop_assume!(next.as_nanosecond() <= *RANGE.end());
        prop_assert!(timestamp::to_text(a) < timestamp::to_text(next));
    }
}

#[test]
fn event_and_injection_timestamps_have_equal_width() {
    let registry = HookRegistry::new();
    registry.set_timestamps(true);
    registry.register(
        "e",
        |_: Event<'_>| HookResult::inject_context("text"),
        plain(),
    );
    for _ in 0..100 {
        let emission = block_on(emit(&registry, "e", json!({})));
        let stamp = emission.data["timestamp"].as_str().expect("a text");
        assert_eq!(stamp.len(), WIDTH, "{stamp}");
        let injection = serde_json::to_value(&emission.injections[0]).expect("it is data");
        let at = &injection["provenance"]["at"];
        assert_eq!(at.as_str().map(str::len), Some(WIDTH), "{at}");
        assert!(stamp <= at.as_str().unwrap_or_default(), "{stamp}, {at}");
    }
}

#[test]
fn timestamps_of_any_width_are_deserialized() {
    let provenance = |at: &str| json!({"source": "hook", "hook": "h", "event": "e", "at": at});
    for at in [
        "2026-05-01T10:00:00Z",
        "2026-05-01T10:00:00.5Z",
        "2026-05-01T12:00:00+02:00",
    ] {
        let read: hooks_runtime::Provenance =
            serde_json::from_value(provenance(at)).expect("it is a time");
        let written: Value = serde_json::to_value(&read).expect("it is data");
        assert_eq!(
            written["at"],
            timestamp::to_text(at.parse().expect("it is a time"))
        );
    }
}
