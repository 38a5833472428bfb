//! What the context costs to be read is not the hook's to pay.

use futures_executor::block_on;
use hooks_runtime::Map;
use hooks_script::{ContextData, Failure, Run, ScriptEngine};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::support::{engine, engine_with, failure, map, out, pre, register};

const IGNORES: &str = "export default () => ({ out: {} });";
const ECHOES: &str = "export default ({ in: message }) => ({ out: message });";

fn given(engine: &ScriptEngine, source: &str, message: &Map) -> Run {
    block_on(register(engine, source).run_pre(message, &ContextData::new()))
}

/// Texts that the hash of the engine's names takes for one: the product of two pairs.
fn colliding(bits: u32) -> Map {
    let one = "\u{101}\u{400}";
    let two = format!("\u{102}{}", char::from_u32(0x400 - 263).unwrap());
    let key = |n: u32| -> String {
        let pieces = (0..bits).map(|bit| if n >> bit & 1 == 0 { one } else { two.as_str() });
        pieces.collect()
    };
    (0..1 << bits).map(|n| (key(n), Value::from(1))).collect()
}

#[test]
fn s_22_a_message_cannot_use_up_the_fuel_of_a_hook() {
    let engine = engine();
    let without = given(&engine, IGNORES, &Map::new()).fuel;
    let numbers = |number: f64, count| map(json!({ "n": vec![number; count] }));
    for message in [
        numbers(1e300, 900),
        numbers(5e-324, 10_000),
        numbers(1.234_567_890_123_456_7e-300, 10_000),
        colliding(11),
    ] {
        let run = given(&engine, IGNORES, &message);
        // Not quite the same: other names lie elsewhere in the engine's table.
        assert!(run.fuel < without + 1000, "{} and {without}", run.fuel);
        out(run);
    }
}

#[test]
fn s_22_a_context_that_takes_too_long_to_read_is_a_failure_of_its_own() {
    let run = given(&engine(), IGNORES, &colliding(13));
    assert!(matches!(failure(run), Failure::Reading(_)));
    let engine = engine_with(|limits| limits.input_fuel = 1_000_000);
    let run = given(
        &engine,
        IGNORES,
        &map(json!({ "text": "x".repeat(200_000) })),
    );
    assert_eq!(run.fuel, 0);
    let failure = failure(run);
    assert_eq!((failure.kind(), failure.is_limit()), ("input", true));
    assert!(matches!(failure, Failure::Reading(1_000_000)));
    // The instance is as good as before.
    let hook = register(&engine, ECHOES);
    assert_eq!(pre(&hook).fuel, pre(&hook).fuel);
    out(pre(&hook));
}

proptest! {
    #[test]
    fn s_08_numbers_come_back_as_they_are(numbers in prop::collection::vec(any::<u64>().prop_map(f64::from_bits).prop_filter("is JSON", |n| n.is_finite()), 200)) {
        // Every kind of exponent: of random floats hardly one is written without.
        let near = numbers.iter().map(|n| (n.to_bits() % 1_000_000_007) as f64 / 1e3);
        let numbers: Vec<f64> = numbers.iter().copied().chain(near).collect();
        let message = map(json!({ "n": &numbers }));
        let back = out(given(&engine(), ECHOES, &message));
        for (back, given) in back["n"].as_array().unwrap().iter().zip(&numbers) {
            prop_assert_eq!(back.as_f64().unwrap(), *given);
        }
    }
}
