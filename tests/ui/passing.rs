//! Runs the programs that must compile, the files of `pass`. Each is a module of this test, not a
//! case of `trybuild`, which would build all dependencies once more.

#![allow(
    clippy::all,
    clippy::allow_attributes_without_reason,
    dead_code,
    unreachable_pub,
    unused_parens,
    reason = "the programs show what compiles, and are no library"
)]

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// Declares a module and a test for each file of `pass`.
macro_rules! programs {
    ($($name:ident)*) => {
        mod pass {
            $(mod $name;)*

            mod runs {
                $(
                    #[test]
                    fn $name() {
                        super::$name::main();
                    }
                )*
            }
        }

        const FILES: &[&str] = &[$(concat!(stringify!($name), ".rs")),*];
    };
}

programs! {
    attributes
    attributes_inside
    attributes_under_a_condition
    borrowed_hooks
    cfg_methods
    elided_lifetime_in_impl
    elided_lifetime_of_str
    equal_slot_names
    expected_lints
    functions_named_like_slots
    functions_without_return_type
    generic_set_by_hand
    lifetimes_named_like_the_sets
    methods_of_blanket_traits
    mutable_arguments
    names_of_configured_slots
    parameters_named_like_locals
    raw_identifiers
    shadowed_names
    slots_in_modules
    slots_named_like_sets
    synchronous_slots
    toolset_named_executor
    toolset_shadowed_names
    trait_in_function
    traits_from_macros
}

#[test]
fn every_program_is_run() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("pass");
    let entries = fs::read_dir(folder).expect("the folder is there");
    let found: BTreeSet<_> = entries
        .map(|entry| entry.expect("the folder can be read").file_name())
        .map(|name| name.to_string_lossy().into_owned())
        .collect();
    let declared: BTreeSet<_> = FILES.iter().map(|file| (*file).to_owned()).collect();
    assert_eq!(found, declared);
}
