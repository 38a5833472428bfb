//! Any file of rules and any command, with a NUL between: no panic, and nothing is relaxed that a
//! project's file that nobody trusts, or the protections, must not relax.
#![no_main]

use std::sync::LazyLock;

use hooks_guard::classify::Classifier;
use hooks_guard::rules::assert_holds;
use libfuzzer_sys::fuzz_target;

static CLASSIFIER: LazyLock<Classifier> = LazyLock::new(Classifier::new);

fuzz_target!(|text: &str| {
    let (file, command) = text.split_once('\0').unwrap_or((text, "rm -r target"));
    assert_holds(&CLASSIFIER, file, command);
});
