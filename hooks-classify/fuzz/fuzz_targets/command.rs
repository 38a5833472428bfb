//! Any text: an answer in form, whatever its commands, and a command after it counts.
#![no_main]

#[path = "../../tests/random/holds.rs"]
mod holds;

use std::sync::LazyLock;

use hooks_classify::Classifier;
use libfuzzer_sys::fuzz_target;

static CLASSIFIER: LazyLock<Classifier> = LazyLock::new(Classifier::new);

// A panic ends the process before the classifier could catch it: the fuzzer's hook does so.
fuzz_target!(|text: &str| holds::assert_holds(&CLASSIFIER, text));
