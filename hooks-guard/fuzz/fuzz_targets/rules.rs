//! Any rules file and any command, separated by a NUL: no panic, and neither an untrusted project's
//! file nor a protection relaxes a decision.
#![no_main]

#[path = "../../tests/rules/holds.rs"]
mod holds;

use std::sync::LazyLock;

use hooks_guard::classify::Classifier;
use libfuzzer_sys::fuzz_target;

static CLASSIFIER: LazyLock<Classifier> = LazyLock::new(Classifier::new);

fuzz_target!(|text: &str| {
    let (file, command) = text.split_once('\0').unwrap_or((text, "rm -r target"));
    holds::assert_holds(&CLASSIFIER, file, command);
});
