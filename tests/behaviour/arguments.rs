//! Arguments of hooks, and the copies made of them (T-60, T-61, T-34).

use std::borrow::Cow;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use futures::executor::block_on;
use hooks_core::{Chain, hooks, impl_hook, impl_hooks};

use crate::kit::{Log, in_every_form};

/// An owned argument that cannot be cloned.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Unique(u32);

/// Counts how often it was cloned.
#[derive(Debug, Default)]
pub(crate) struct Counted(Arc<AtomicUsize>);

impl Clone for Counted {
    fn clone(&self) -> Self {
        self.0.fetch_add(1, Ordering::SeqCst);
        Counted(Arc::clone(&self.0))
    }
}

impl Counted {
    /// Returns an argument, and how often it and its descendants were cloned so far.
    fn new() -> (Self, Arc<AtomicUsize>) {
        let clones = Arc::new(AtomicUsize::new(0));
        (Counted(Arc::clone(&clones)), clones)
    }
}

/// Breaks at ten.
#[derive(Default)]
pub(crate) struct AtTen;

impl Chain<Unique> for AtTen {
    async fn call(&self, output: &Unique) -> ControlFlow<()> {
        if output.0 == 10 {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }
}

/// A value that hooks may read while a dispatch runs.
#[derive(Clone)]
pub(crate) struct Context<'a> {
    text: &'a str,
}

pub(crate) trait Number: Sync {
    fn get(&self) -> u32;
}

impl Number for u32 {
    fn get(&self) -> u32 {
        *self
    }
}

/// Returns the address of a string.
fn place(text: &str) -> String {
    format!("{:p}+{}", text.as_ptr(), text.len())
}

macro_rules! rules {
    ($form:ident, $($pause:tt)*) => {
        mod $form {
            use super::*;

            #[hooks]
            trait Args {
                #[hook(always)]
                async fn borrowed(text: &str, unique: &Unique, list: &[u8], log: &Log) -> u32 {
                    $($pause)*
                    log.add(format!("default {} {unique:p} {:p}", place(text), list.as_ptr()));
                    0
                }

                #[hook(singleton)]
                async fn moved(unique: Unique) -> Unique {
                    $($pause)*
                    unique
                }

                #[hook(singleton)]
                async fn moved_among_others(text: &str, unique: Unique, number: &u32) -> String {
                    $($pause)*
                    format!("default {text} {} {number}", unique.0)
                }

                #[hook(always)]
                async fn replayed(counted: Counted) -> usize {
                    $($pause)*
                    drop(counted);
                    0
                }

                #[hook(fallback)]
                async fn replayed_by_hooks(counted: Counted) -> usize {
                    $($pause)*
                    drop(counted);
                    0
                }

                #[hook(singleton)]
                async fn given_once(counted: Counted) -> usize {
                    $($pause)*
                    drop(counted);
                    0
                }

                #[hook(always, chain = AtTen)]
                async fn chained(number: u32) -> Unique {
                    $($pause)*
                    Unique(number)
                }

                #[hook(fallback, chain = AtTen)]
                async fn chained_without_default(counted: Counted, number: u32) -> Unique {
                    $($pause)*
                    drop(counted);
                    Unique(number)
                }

                #[hook(always)]
                async fn optional(text: Option<u8>, pair: (u8, String), f: fn(u8) -> u8) -> u8 {
                    $($pause)*
                    f(text.unwrap_or(pair.0)) + u8::try_from(pair.1.len()).unwrap()
                }
            }

            struct Notes;

            #[impl_hooks(ArgsSet)]
            impl Args for Notes {
                async fn borrowed(
                    &self,
                    text: &str,
                    unique: &Unique,
                    list: &[u8],
                    log: &Log,
                    last: Option<u32>,
                ) -> u32 {
                    $($pause)*
                    log.add(format!("impl {} {unique:p} {:p}", place(text), list.as_ptr()));
                    last.unwrap() + 1
                }
            }

            #[impl_hook(Borrowed)]
            async fn function(
                text: &str,
                unique: &Unique,
                list: &[u8],
                log: &Log,
                last: Option<u32>,
            ) -> u32 {
                $($pause)*
                log.add(format!("function {} {unique:p} {:p}", place(text), list.as_ptr()));
                last.unwrap() + 1
            }

            /// T-60: through the macros a hook gets the very `&str`, `&T` and `&[T]` of the caller
            #[test]
            fn macro_hooks_get_the_references_of_the_caller() {
                let set =
                    ArgsSet::new().with_hooks(Notes).with_borrowed(Function).with_hooks(&Notes);
                let text = String::from("the text");
                let (unique, list, log) = (Unique(1), [1, 2, 3], Log::new());
                assert_eq!(block_on(set.borrowed(&text, &unique, &list, &log)), 3);
                let same = format!("{} {:p} {:p}", place(&text), &unique, list.as_ptr());
                let expected = ["default", "impl", "function", "impl"];
                let expected = expected.map(|who| format!("{who} {same}"));
                assert_eq!(log.lines(), expected);
            }

            struct ByHand;

            impl Borrowed for ByHand {
                async fn call(
                    &self,
                    text: String,
                    unique: &Unique,
                    list: &[u8],
                    log: &Log,
                    last: Option<u32>,
                ) -> u32 {
                    $($pause)*
                    log.add(format!("{text} {unique:p} {:p}", list.as_ptr()));
                    last.unwrap() + 1
                }
            }

            /// T-60: by hand, `&str` becomes an owned `String`, and `&T` is unchanged
            #[test]
            fn manual_hooks_get_an_owned_string_and_the_callers_other_references() {
                let set = ArgsSet::new().with_borrowed(ByHand).with_borrowed(ByHand);
                let (unique, list, log) = (Unique(1), [1, 2, 3], Log::new());
                assert_eq!(block_on(set.borrowed("grüße", &unique, &list, &log)), 2);
                let expected = format!("grüße {:p} {:p}", &unique, list.as_ptr());
                assert_eq!(log.lines()[1..], [expected.clone(), expected]);
            }

            struct Takes(u32);

            impl Moved for Takes {
                async fn call(&self, unique: Unique) -> Unique {
                    $($pause)*
                    Unique(unique.0 + self.0)
                }
            }

            #[impl_hook(Moved)]
            async fn doubles(unique: Unique) -> Unique {
                $($pause)*
                Unique(unique.0 * 2)
            }

            #[impl_hook(MovedAmongOthers)]
            async fn takes_among_others(text: &str, unique: Unique, number: &u32) -> String {
                $($pause)*
                format!("{text} {} {number}", unique.0)
            }

            /// T-61: a singleton must not require `Clone`, for the default and for the hook
            #[test]
            fn a_singleton_accepts_arguments_without_clone() {
                assert_eq!(block_on(ArgsSet::new().moved(Unique(7))), Unique(7));
                let set = ArgsSet::new().with_moved(Takes(1));
                assert_eq!(block_on(set.moved(Unique(7))), Unique(8));
                let set = ArgsSet::new().with_moved(Doubles);
                assert_eq!(block_on(set.moved(Unique(7))), Unique(14));
                let set = ArgsSet::new().with_moved(|unique: Unique| async move {
                    $($pause)*
                    Unique(unique.0 + 100)
                });
                assert_eq!(block_on(set.moved(Unique(7))), Unique(107));
            }

            /// T-61, T-60: owned, `&str` and `&T` side by side
            #[test]
            fn owned_and_borrowed_arguments_can_be_mixed() {
                let set = ArgsSet::new();
                assert_eq!(block_on(set.moved_among_others("a", Unique(7), &8)), "default a 7 8");
                let set = set.with_moved_among_others(TakesAmongOthers);
                assert_eq!(block_on(set.moved_among_others("a", Unique(7), &8)), "a 7 8");
            }

            impl Replayed for ByHand {
                async fn call(&self, counted: Counted, last: Option<usize>) -> usize {
                    $($pause)*
                    drop(counted);
                    last.unwrap() + 1
                }
            }

            impl ReplayedByHooks for ByHand {
                async fn call(&self, counted: Counted, last: Option<usize>) -> usize {
                    $($pause)*
                    drop(counted);
                    last.unwrap_or(0) + 1
                }
            }

            impl GivenOnce for ByHand {
                async fn call(&self, counted: Counted) -> usize {
                    $($pause)*
                    drop(counted);
                    1
                }
            }

            struct ByMacro;

            #[impl_hooks(ArgsSet)]
            impl Args for ByMacro {
                async fn replayed(&self, counted: Counted, last: Option<usize>) -> usize {
                    $($pause)*
                    drop(counted);
                    last.unwrap() + 1
                }

                async fn replayed_by_hooks(&self, counted: Counted, last: Option<usize>) -> usize {
                    $($pause)*
                    drop(counted);
                    last.unwrap_or(0) + 1
                }

                async fn given_once(&self, counted: Counted) -> usize {
                    $($pause)*
                    drop(counted);
                    1
                }
            }

            /// T-61: one clone for the default and one per hook; the last hook gets the caller's value
            #[test]
            fn an_always_slot_clones_an_argument_at_most_once_per_hook() {
                let mut set = ArgsSet::new();
                for hooks in 0..4 {
                    let (counted, clones) = Counted::new();
                    assert_eq!(block_on(set.replayed(counted)), hooks);
                    let clones = clones.load(Ordering::SeqCst);
                    assert!(clones <= hooks, "{clones} clones for {hooks} hooks");
                    if hooks % 2 == 0 {
                        set.register_hooks(ByMacro)
                    } else {
                        set.register_replayed(ByHand)
                    };
                }
            }

            /// T-61: one clone per hook; the last hook gets the caller's value
            #[test]
            fn a_fallback_slot_clones_an_argument_for_all_hooks_except_one() {
                let mut set = ArgsSet::new();
                for hooks in 0..4_usize {
                    let (counted, clones) = Counted::new();
                    assert_eq!(block_on(set.replayed_by_hooks(counted)), hooks);
                    let clones = clones.load(Ordering::SeqCst);
                    assert!(clones <= hooks.saturating_sub(1), "{clones} clones for {hooks} hooks");
                    if hooks % 2 == 0 {
                        set.register_hooks(ByMacro)
                    } else {
                        set.register_replayed_by_hooks(ByHand)
                    };
                }
            }

            /// T-61: nothing can be replayed, so nothing is cloned
            #[test]
            fn a_singleton_never_clones_arguments() {
                let sets = [
                    ArgsSet::new(),
                    ArgsSet::new().with_given_once(ByHand),
                    ArgsSet::new().with_hooks(ByMacro),
                    ArgsSet::new().with_given_once(ByHand).with_hooks(ByMacro),
                ];
                for set in sets {
                    let (counted, clones) = Counted::new();
                    block_on(set.given_once(counted));
                    assert_eq!(clones.load(Ordering::SeqCst), 0);
                }
            }

            impl ChainedWithoutDefault for ByHand {
                async fn call(&self, counted: Counted, number: u32) -> Unique {
                    $($pause)*
                    drop(counted);
                    Unique(number)
                }
            }

            /// T-61: arguments are not cloned for hooks after a chain has stopped
            #[test]
            fn a_stopped_chain_does_not_clone_arguments_for_skipped_hooks() {
                let mut set = ArgsSet::new();
                for _ in 0..5 {
                    set.register_chained_without_default(ByHand);
                }
                let (counted, clones) = Counted::new();
                assert_eq!(block_on(set.chained_without_default(counted, 10)), Unique(10));
                let clones = clones.load(Ordering::SeqCst);
                assert!(clones <= 1, "{clones} clones for one call");
            }

            #[impl_hook(Chained)]
            async fn ten(number: u32) -> Unique {
                $($pause)*
                Unique(number + 10)
            }

            /// T-34: a chain borrows outputs and never clones them
            #[test]
            fn the_output_of_a_chain_need_not_be_clone() {
                let set = ArgsSet::new().with_chained(Ten).with_chained(Ten);
                assert_eq!(block_on(set.chained(10)), Unique(10));
                assert_eq!(block_on(set.chained(0)), Unique(10));
                assert_eq!(block_on(set.chained(1)), Unique(11));
            }

            #[hooks]
            trait Contexts {
                #[hook(always)]
                async fn on_input(cx: &Context<'_>, log: &Log) {
                    $($pause)*
                    log.add(format!("default {}", cx.text));
                }

                #[hook(fallback)]
                async fn owned(cx: Context<'_>, maybe: Option<&str>, cow: Cow<'_, str>) -> String {
                    $($pause)*
                    format!("default {} {maybe:?} {cow}", cx.text)
                }

                #[hook(always)]
                async fn dynamic(number: &dyn Number, f: &(dyn Fn(u32) -> u32 + Sync)) -> u32 {
                    $($pause)*
                    f(number.get())
                }
            }

            struct Sees;

            #[impl_hooks(ContextsSet)]
            impl Contexts for Sees {
                async fn on_input(&self, cx: &Context<'_>, log: &Log) {
                    $($pause)*
                    log.add(format!("sees {}", cx.text));
                }

                async fn owned(
                    &self,
                    cx: Context<'_>,
                    maybe: Option<&str>,
                    cow: Cow<'_, str>,
                    last: Option<String>,
                ) -> String {
                    $($pause)*
                    format!("{} {maybe:?} {cow} after {last:?}", cx.text)
                }

                async fn dynamic(
                    &self,
                    number: &dyn Number,
                    f: &(dyn Fn(u32) -> u32 + Sync),
                    last: Option<u32>,
                ) -> u32 {
                    $($pause)*
                    f(number.get() + last.unwrap())
                }
            }

            #[impl_hook(OnInput)]
            async fn sees_as_well(cx: &Context<'_>, log: &Log) {
                $($pause)*
                log.add(format!("sees {} as well", cx.text));
            }

            impl OnInput for ByHand {
                async fn call(&self, cx: &Context<'_>, log: &Log) {
                    $($pause)*
                    log.add(format!("by hand {}", cx.text));
                }
            }

            /// T-60: `&Context<'_>`
            #[test]
            fn a_context_argument_can_borrow_for_the_duration_of_the_dispatch() {
                let set = ContextsSet::new()
                    .with_hooks(Sees)
                    .with_on_input(SeesAsWell)
                    .with_on_input(ByHand);
                let log = Log::new();
                {
                    let text = String::from("short-lived");
                    block_on(set.on_input(&Context { text: &text }, &log));
                }
                assert_eq!(
                    log.lines(),
                    [
                        "default short-lived",
                        "sees short-lived",
                        "sees short-lived as well",
                        "by hand short-lived",
                    ]
                );
            }

            /// T-60: an owned argument may hold borrows of the caller
            #[test]
            fn an_owned_argument_can_contain_references_of_the_caller() {
                let text = String::from("text");
                let ask = |set: &ContextsSet<'_>| {
                    let cx = Context { text: &text };
                    block_on(set.owned(cx, Some(&text), Cow::Borrowed(&text)))
                };
                let mut set = ContextsSet::new();
                assert_eq!(ask(&set), r#"default text Some("text") text"#);
                set.register_hooks(Sees);
                assert_eq!(ask(&set), r#"text Some("text") text after None"#);
            }

            /// T-60: `&T` where `T` is a trait object
            #[test]
            fn references_to_trait_objects_can_be_arguments() {
                let set = ContextsSet::new().with_hooks(Sees).with_hooks(Sees);
                let factor = 3;
                let sum = block_on(set.dynamic(&7_u32, &|number| number * factor));
                assert_eq!(sum, ((21 + 7) * 3 + 7) * 3);
            }

            #[hooks]
            trait Patterns {
                #[hook(always)]
                async fn shape(text: &str, pair: (u8, u8), list: Vec<u8>) -> usize {
                    $($pause)*
                    text.len() + usize::from(pair.0) + list.len()
                }
            }

            struct Takes3;

            #[impl_hooks(PatternsSet)]
            impl Patterns for Takes3 {
                async fn shape(
                    &self,
                    _: &str,
                    (a, b): (u8, u8),
                    mut items: Vec<u8>,
                    previous: Option<usize>,
                ) -> usize {
                    $($pause)*
                    items.push(0);
                    previous.unwrap() * 100 + usize::from(a + b) + items.len()
                }
            }

            #[impl_hook(Shape)]
            async fn takes_patterns(
                mut text: &str,
                (a, _): (u8, u8),
                _: Vec<u8>,
                previous: Option<usize>,
            ) -> usize {
                $($pause)*
                text = &text[1..];
                previous.unwrap() * 100 + usize::from(a) + text.len()
            }

            /// T-21, T-25: parameters of an implementation are patterns, as in any function
            #[test]
            fn an_implementation_can_destructure_and_rename_its_parameters() {
                let set = PatternsSet::new().with_hooks(Takes3).with_shape(TakesPatterns);
                assert_eq!(block_on(set.shape("abc", (2, 3), vec![1])), 60_704);
            }

            #[impl_hook(Optional)]
            async fn sum(
                text: Option<u8>,
                pair: (u8, String),
                f: fn(u8) -> u8,
                last: Option<u8>,
            ) -> u8 {
                $($pause)*
                f(text.unwrap()) + pair.0 + last.unwrap()
            }

            /// T-60: an owned argument may have any type that can be cloned
            #[test]
            fn owned_arguments_can_be_options_tuples_and_function_pointers() {
                let set = ArgsSet::new().with_optional(Sum);
                let double: fn(u8) -> u8 = |number| number * 2;
                assert_eq!(block_on(set.optional(Some(5), (1, "abc".to_owned()), double)), 24);
            }
        }
    };
}

in_every_form!(rules);
