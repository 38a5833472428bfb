//! Fuzzes commands: any text gets a well-formed classification, and a command after it is still
//! classified.
#![no_main]

#[path = "../../tests/classifier/random/holds.rs"]
mod holds;

use std::sync::LazyLock;

use hooks_classify::Classifier;
use libfuzzer_sys::fuzz_target;

static CLASSIFIER: LazyLock<Classifier> = LazyLock::new(Classifier::new);

// The fuzzer's panic hook ends the process before the classifier can catch a panic.
fuzz_target!(|text: &str| holds::assert_holds(&CLASSIFIER, text));
