//! Programs that the macros refuse (`fail`). The programs that must compile are in `pass`, which
//! `passing.rs` runs, and in `alone`.
//!
//! A case of `fail` contains one mistake in at most fifteen lines. The compiler's output is in a
//! file beside it and is compared, with the compiler that recorded it; run with
//! `TRYBUILD=overwrite` to record it again. [`one_mistake_is_one_error`] checks the recorded
//! outputs against the general rules for errors.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Compiler of the recorded outputs.
const RECORDED_WITH: &str = "1.95.0";

/// The cases hold `T-02`, `T-05`, `T-21`, `T-23`, `T-24`, `T-31`, `T-62`,
/// `T-63` and `T-64`.
#[test]
fn a_mistake_is_refused_in_the_recorded_words() {
    let version = compiler_version();
    if version == RECORDED_WITH {
        trybuild::TestCases::new().compile_fail("fail/*.rs");
        return;
    }
    let left_out = format!(
        "the cases of tests/ui/fail are left out: they hold the words of Rust {RECORDED_WITH}, and this is {version}"
    );
    let required = std::env::var_os("HOOKS_REQUIRE_ALL").is_some_and(|value| value == "1");
    assert!(!required, "{left_out}");
    println!("{left_out}");
}

fn compiler_version() -> String {
    let compiler = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(compiler)
        .arg("--version")
        .output()
        .expect("the compiler that built this test runs");
    let text = String::from_utf8(output.stdout).expect("the compiler writes UTF-8");
    text.split(' ').nth(1).unwrap_or_default().to_owned()
}

/// Cases with more than one error: several mistakes, or one that the compiler reports in several
/// parts, which a macro cannot join.
const ERRORS: &[(&str, usize)] = &[
    ("hooks_trait_several_mistakes", 9),
    ("toolset_several_mistakes", 6),
    // Each item of the slot, by the compiler's check of names and that of implementations.
    ("hooks_slots_same_name_in_two_sets", 7),
    // The user's type has the name of the slot's trait.
    ("hooks_slot_trait_name_taken", 2),
    // `Send` and `Sync` are separate supertraits, and an `async fn` that takes `&self` of a
    // value which is not `Sync` returns a future which is not `Send`.
    ("hooks_value_not_sync", 2),
    ("hooks_value_not_send_or_sync", 3),
    // The type of `next`, and the method that it then does not have.
    ("hooks_around_without_option", 2),
    // For the argument, for the returned future, and for its `.await`.
    ("emit_struct", 3),
    // The method that the trait does not have, and its use.
    ("impl_hooks_helper_method", 2),
    // The number of parameters, and the missing one.
    ("impl_hook_last_missing", 2),
    ("impl_hook_last_missing_of_cfg_slot", 2),
    ("impl_hooks_last_missing", 2),
    ("impl_hooks_last_missing_of_one_hook", 2),
    // Both methods of the hook, the trait that is no slot, twice, and the use of the hook.
    ("impl_hook_set_of_another_name", 5),
    ("impl_hook_trait_of_the_set", 5),
];

/// Cases in which the compiler compares generated items with each other, and names them; see
/// docs/errors.md.
const NAMES_GENERATED: &[&str] = &[
    "hooks_slots_same_name_in_two_sets",
    "impl_hook_set_of_another_name",
    "impl_hook_trait_of_the_set",
];

/// Names of generated items and of what only they use. None starts a word in an error.
const GENERATED: &[&str] = &[
    "__",
    "private",
    "TypedSlot",
    "SingleHook",
    "HookGroupPtr",
    "DynHook",
    "CallHook",
    "CallMethod",
    "CallStateful",
    "Started",
    "Readiness",
    "Function<",
    "NoHooks",
    "Companion<",
    "By<",
    "ChainRole",
    "AggregateRole",
    "AggregateIntoRole",
    "FinalizeRole",
    "FinalizeIntoRole",
    "SlotEnd",
    "Sequential",
    "Lending",
    "Returned<",
    "Started",
    "Handover",
    "StepsOf",
    "Companions<",
    "EndOf",
    "OutputsOf",
    "Concurrent<",
    "StopCondition",
    "Relay",
    "Steps",
];

#[test]
fn one_mistake_is_one_error() {
    let expected: BTreeMap<&str, usize> = ERRORS.iter().copied().collect();
    let mut broken = Vec::new();
    for case in cases() {
        let name = case.file_stem().unwrap_or_default().to_string_lossy();
        let source = read(&case);
        let output = read(&case.with_extension("stderr"));
        let errors = output
            .lines()
            .filter(|line| line.starts_with("error"))
            .count();
        if errors != expected.get(&*name).copied().unwrap_or(1) {
            broken.push(format!("{name}: {errors} errors"));
        }
        if source.lines().count() > 15 {
            broken.push(format!("{name}: more than fifteen lines"));
        }
        if output.lines().any(|line| line.starts_with("warning")) {
            broken.push(format!("{name}: a warning besides the error"));
        }
        let words: Vec<_> = output.lines().filter(|line| !is_drawn(line)).collect();
        let words = words.join("\n");
        let mut generated = GENERATED
            .iter()
            .filter(|name| names(&words, name))
            .peekable();
        if NAMES_GENERATED.contains(&&*name) {
            if generated.peek().is_none() {
                broken.push(format!("{name}: names nothing that is generated any more"));
            }
        } else {
            for generated in generated {
                broken.push(format!("{name}: names what is generated, `{generated}`"));
            }
        }
        if blames_the_attribute(&source, &output) && !NAMES_GENERATED.contains(&&*name) {
            broken.push(format!(
                "{name}: blames the attribute for a fault in the item"
            ));
        }
        for foreign in ["$RUST", "$CARGO", "/rustc/"] {
            if output.contains(foreign) {
                broken.push(format!(
                    "{name}: shows a file of another package, `{foreign}`"
                ));
            }
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

/// Returns `true` if a line of the compiler's output only draws positions.
fn is_drawn(line: &str) -> bool {
    line.chars().all(|c| " |_^-".contains(c))
}

/// Returns `true` if a word of the text starts with a name.
fn names(text: &str, name: &str) -> bool {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(name)
        .any(|(at, _)| !text[..at].ends_with(is_word))
}

/// Returns `true` if an error is shown at an attribute that is not empty.
fn blames_the_attribute(source: &str, output: &str) -> bool {
    let places = output.lines().zip(output.lines().skip(1));
    places
        .filter(|(error, _)| error.starts_with("error"))
        .filter_map(|(_, place)| {
            let mut place = place.rsplitn(3, ':');
            let (column, line) = (place.next()?, place.next()?);
            let line = source.lines().nth(line.parse::<usize>().ok()? - 1)?;
            line.get(column.parse::<usize>().ok()? - 1..)
        })
        .any(|blamed| {
            let ours = ["#[hooks", "#[impl_hooks", "#[impl_hook"];
            ours.iter().any(|start| blamed.starts_with(start)) && !blamed.contains("()")
        })
}

fn cases() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fail");
    let entries = fs::read_dir(folder).expect("the cases are there");
    let paths = entries.map(|entry| entry.expect("the folder can be read").path());
    let mut cases: Vec<_> = paths
        .filter(|path| path.extension().is_some_and(|extension| extension == "rs"))
        .collect();
    cases.sort();
    cases
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}
