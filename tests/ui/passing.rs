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
    ($($file:literal $name:ident)*) => {
        $(
            #[path = $file]
            mod $name;
        )*

        const FILES: &[&str] = &[$($file),*];

        mod runs {
            $(
                #[test]
                fn $name() {
                    super::$name::main();
                }
            )*
        }
    };
}

programs! {
    "pass/attributes.rs" attributes
    "pass/attributes_inside.rs" attributes_inside
    "pass/attributes_under_a_condition.rs" attributes_under_a_condition
    "pass/borrowed_hooks.rs" borrowed_hooks
    "pass/cfg_methods.rs" cfg_methods
    "pass/elided_lifetime_in_impl.rs" elided_lifetime_in_impl
    "pass/elided_lifetime_of_str.rs" elided_lifetime_of_str
    "pass/equal_slot_names.rs" equal_slot_names
    "pass/expected_lints.rs" expected_lints
    "pass/functions_named_like_slots.rs" functions_named_like_slots
    "pass/lifetimes_named_like_the_sets.rs" lifetimes_named_like_the_sets
    "pass/methods_of_blanket_traits.rs" methods_of_blanket_traits
    "pass/names_of_configured_slots.rs" names_of_configured_slots
    "pass/parameters_named_like_locals.rs" parameters_named_like_locals
    "pass/raw_identifiers.rs" raw_identifiers
    "pass/shadowed_names.rs" shadowed_names
    "pass/slots_in_modules.rs" slots_in_modules
    "pass/slots_named_like_sets.rs" slots_named_like_sets
    "pass/toolset_named_executor.rs" toolset_named_executor
    "pass/toolset_shadowed_names.rs" toolset_shadowed_names
    "pass/trait_in_function.rs" trait_in_function
    "pass/traits_from_macros.rs" traits_from_macros
}

#[test]
fn every_program_is_run() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("pass");
    let entries = fs::read_dir(folder).expect("the folder is there");
    let found: BTreeSet<_> = entries
        .map(|entry| entry.expect("the folder can be read").file_name())
        .map(|name| format!("pass/{}", name.to_string_lossy()))
        .collect();
    let declared: BTreeSet<_> = FILES.iter().map(|file| (*file).to_owned()).collect();
    assert_eq!(found, declared);
}
