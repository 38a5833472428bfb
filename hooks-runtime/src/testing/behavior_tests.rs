//! The contract as tests in the user's crate.

use super::contract::{CASES, Subject, case};

/// Generates a test for each case of the [contract](crate::testing::contract) of event hooks, for
/// the hook that a closure creates. The closure is called once per case.
///
/// The tests are in a module, so that `cargo test` lists each hook separately; its name is the
/// first argument, `hook_behavior` by default. The hook can have any form that can be
/// [registered](crate::HookRegistry::register): an async or a plain function, a closure, a type
/// that implements [`EventHook`](crate::EventHook), a
#[cfg_attr(feature = "command", doc = "[`CommandHook`](crate::CommandHook).")]
#[cfg_attr(not(feature = "command"), doc = "program.")]
///
/// ```
/// use std::sync::Arc;
///
/// use hooks_runtime::{HookResult, Map, hook_behavior_tests};
///
/// async fn no_keys(_event: Arc<str>, data: Arc<Map>) -> HookResult {
///     match data.get("file_path").and_then(|path| path.as_str()) {
///         Some(path) if path.ends_with(".key") => HookResult::deny("writing key files is forbidden"),
///         _ => HookResult::proceed(),
///     }
/// }
///
/// hook_behavior_tests!(no_keys_behaves, || no_keys);
/// ```
///
/// `cargo test` then lists `no_keys_behaves::survives_null_data` and the others. A failed test
/// prints the data sent to the hook, and the result.
///
/// To choose the events or the timeout, create a [`Subject`](crate::testing::contract::Subject),
/// and check its cases in your own test. The tests need no further dependency.
#[macro_export]
macro_rules! hook_behavior_tests {
    ($module:ident, $make:expr $(,)?) => {
        #[allow(dead_code, reason = "unused outside of a test")]
        mod $module {
            pub(super) enum Hook {}

            $crate::__hook_contract_cases!($crate::__hook_behavior_tests!);
        }

        // Outside of the module, so that the closure can use all names that are in scope here.
        impl $crate::testing::__private::Make for $module::Hook {
            fn make() -> $crate::testing::__private::Subject {
                $crate::testing::__private::Subject::new($make)
            }
        }
    };
    ($make:expr $(,)?) => {
        $crate::hook_behavior_tests!(hook_behavior, $make);
    };
}

/// The tests in the module of [`hook_behavior_tests!`](crate::hook_behavior_tests).
#[doc(hidden)]
#[macro_export]
macro_rules! __hook_behavior_tests {
    ($($name:ident)*) => {
        $(
            #[::core::prelude::v1::test]
            fn $name() {
                $crate::testing::__private::check::<Hook>(::core::stringify!($name));
            }
        )*
    };
}

/// Passes the names of the cases to a macro; this is the only list.
#[doc(hidden)]
#[macro_export]
macro_rules! __hook_contract_cases {
    ($($then:tt)*) => {
        $($then)* {
            returns_valid_results
            survives_empty_data
            survives_null_data
            handles_every_standard_event
            handles_an_unknown_event
            survives_a_huge_text
            survives_many_fields
            survives_deep_nesting
            survives_wrong_types
            survives_odd_text
            handles_repeated_events
            handles_concurrent_events
            handles_collected_events
            survives_being_dropped
            unregisters
        }
    };
}

/// Creates the subject of the tests in one module.
pub trait Make {
    /// Creates the subject.
    fn make() -> Subject;
}

/// Tests a hook with the case of this name.
///
/// # Panics
/// If the hook fails the case.
#[track_caller]
pub fn check<M: Make>(name: &str) {
    let Some(case) = case(name) else {
        let names: Vec<_> = CASES.iter().map(|case| case.name).collect();
        panic!("there is no case `{name}`; it is one of {names:?}");
    };
    if let Err(failure) = case.check(&M::make()) {
        panic!("{failure}");
    }
}
