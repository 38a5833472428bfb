//! Cost of reading the context: it is not charged to the hook.

use std::sync::LazyLock;

use futures_executor::block_on;
use hooks_runtime::Map;
use hooks_script::{ContextData, Failure, Run, ScriptEngine, ScriptHook};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::support::{engine, engine_with, failure, map, out, pre, register};

const IGNORES: &str = "export default () => ({ out: {} });";
const ECHOES: &str = "export default ({ in: message }) => ({ out: message });";

fn run_hook(engine: &ScriptEngine, source: &str, message: &Map) -> Run {
    block_on(register(engine, source).run_pre(message, &ContextData::new()))
}

/// Texts with colliding hashes in the engine's table of names: the product of two pairs.
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
fn s_22_reading_a_message_is_not_charged_to_the_hook() {
    let engine = engine();
    let without = run_hook(&engine, IGNORES, &Map::new()).fuel;
    let numbers = |number: f64, count| map(json!({ "n": vec![number; count] }));
    for message in [
        numbers(1e300, 900),
        numbers(5e-324, 10_000),
        numbers(1.234_567_890_123_456_7e-300, 10_000),
        colliding(11),
    ] {
        let run = run_hook(&engine, IGNORES, &message);
        // Not exactly equal: other names change the engine's table.
        assert!(run.fuel < without + 1000, "{} and {without}", run.fuel);
        out(run);
    }
    // Writing a number costs about as much as any other value.
    let fuel = |number| run_hook(&engine, ECHOES, &numbers(number, 1000)).fuel;
    for number in [1e300, 5e-324, f64::MAX, 0.1, 1.234_567_890_123_456_7e-300] {
        assert!(fuel(number) < 3 * fuel(1.0), "{number}");
    }
}

#[test]
fn s_22_a_context_too_expensive_to_read_is_a_separate_failure() {
    let run = run_hook(&engine(), IGNORES, &colliding(13));
    assert!(matches!(failure(run), Failure::Reading(_)));
    let engine = engine_with(|limits| limits.input_fuel = 1_000_000);
    let run = run_hook(
        &engine,
        IGNORES,
        &map(json!({ "text": "x".repeat(200_000) })),
    );
    assert_eq!(run.fuel, 0);
    let failure = failure(run);
    assert_eq!((failure.kind(), failure.is_limit()), ("input", true));
    assert!(matches!(failure, Failure::Reading(1_000_000)));
    // The instance is still usable.
    let hook = register(&engine, ECHOES);
    assert_eq!(pre(&hook).fuel, pre(&hook).fuel);
    out(pre(&hook));
}

/// Generates floats of every exponent, short and long ones, and edge cases.
fn number() -> impl Strategy<Value = f64> {
    let edge = prop::sample::select(vec![
        5e-324,
        2.225_073_858_507_201e-308,
        f64::MIN_POSITIVE,
        f64::MAX,
        9_007_199_254_740_993.0,
        1e15,
        1e21,
        1e22,
        1e-6,
        1e-7,
        0.1,
        123_456_789.123_456_79,
    ]);
    let of_bits = any::<u64>().prop_map(f64::from_bits);
    let power = (0..2047_u64).prop_map(|exponent| f64::from_bits(exponent << 52));
    let short = (-99_999..99_999_i32, -320..300_i32)
        .prop_map(|(digits, ten)| format!("{digits}e{ten}").parse().unwrap());
    let number = prop_oneof![4 => of_bits, 2 => power, 4 => short, 1 => edge];
    number.prop_filter("is JSON", |number| number.is_finite())
}

/// Formats a number as ECMAScript requires, from the digits that Rust prints.
fn written(number: f64) -> String {
    if number == 0.0 {
        return "0".to_owned();
    }
    let scientific = format!("{:e}", number.abs());
    let (digits, exponent) = scientific.split_once('e').unwrap();
    let digits = digits.replace('.', "");
    let point = exponent.parse::<i32>().unwrap() + 1;
    let count = digits.len() as i32;
    let text = match point {
        -5..=0 => format!("0.{}{digits}", "0".repeat(-point as usize)),
        1..=21 if point >= count => format!("{digits}{}", "0".repeat((point - count) as usize)),
        1..=21 => {
            let (whole, part) = digits.split_at(point as usize);
            format!("{whole}.{part}")
        }
        _ => {
            let (first, rest) = digits.split_at(1);
            let dot = if rest.is_empty() { "" } else { "." };
            format!("{first}{dot}{rest}e{:+}", point - 1)
        }
    };
    format!("{}{text}", if number < 0.0 { "-" } else { "" })
}

fn of_numbers(hook: &ScriptHook, numbers: &[f64]) -> Vec<Value> {
    let message = map(json!({ "n": numbers }));
    let mut out = out(block_on(hook.run_pre(&message, &ContextData::new())));
    match out["n"].take() {
        Value::Array(numbers) => numbers,
        other => panic!("{other}"),
    }
}

proptest! {
    #[test]
    fn s_08_numbers_round_trip_unchanged(numbers in prop::collection::vec(number(), 500)) {
        static HOOK: LazyLock<ScriptHook> = LazyLock::new(|| register(&engine(), ECHOES));
        for (back, given) in of_numbers(&HOOK, &numbers).iter().zip(&numbers) {
            prop_assert_eq!(back.as_f64().unwrap(), *given);
        }
    }

    #[test]
    fn s_02_numbers_are_formatted_as_ecmascript_requires(numbers in prop::collection::vec(number(), 500)) {
        static HOOK: LazyLock<ScriptHook> = LazyLock::new(|| {
            register(&engine(), "export default ({ in: { n } }) => ({ out: { n: n.map(String) } });")
        });
        for (shown, given) in of_numbers(&HOOK, &numbers).iter().zip(&numbers) {
            let shown = shown.as_str().unwrap();
            let expected = written(*given);
            // Of two equally near decimals, the standard takes the even one, Rust the larger one.
            let tie = shown.len() == expected.len() && shown.parse() == Ok(*given);
            prop_assert!(shown == expected || tie, "{} and {}", shown, expected);
        }
    }
}
