//! The cases by name: what is measured and what it is measured against.

use std::hint::black_box;

use crate::contenders::{self, BenchSet, Boxed, BoxedWaiting, Ready, Waiting};
use crate::workload::{PROMPT, block_on, default, words};

/// One dispatch, ready to be repeated.
pub(crate) type Run = Box<dyn FnMut()>;

/// A row of the tables: a slot with a number of hooks.
pub(crate) struct Case {
    pub(crate) slot: &'static str,
    pub(crate) hooks: usize,
    /// The framework.
    pub(crate) ours: Run,
    /// What it is held against.
    pub(crate) baseline: Run,
    /// What that is.
    pub(crate) against: &'static str,
    /// The greatest ratio that meets the target, if there is one.
    pub(crate) target: Option<f64>,
    /// Allocations that a dispatch may make.
    pub(crate) allocations: u64,
}

/// One dispatch of a slot, inlined into its own loop body as every contender is.
macro_rules! dispatch {
    ($future:expr) => {
        Box::new(move || {
            let _ = black_box(block_on($future));
        }) as Run
    };
}

fn ready<const N: usize>() -> BenchSet<'static> {
    words::<N>()
        .into_iter()
        .fold(BenchSet::new(), |set, word| set.with_hooks(Ready(word)))
}

fn waiting<const N: usize>() -> BenchSet<'static> {
    words::<N>()
        .into_iter()
        .fold(BenchSet::new(), |set, word| set.with_hooks(Waiting(word)))
}

fn boxed<const N: usize>() -> Vec<Box<dyn Boxed>> {
    words::<N>()
        .into_iter()
        .map(|word| Box::new(BoxedWaiting(word)) as Box<dyn Boxed>)
        .collect()
}

fn prompt() -> &'static str {
    black_box(PROMPT)
}

fn sized<const N: usize>() -> Vec<Case> {
    let target = match N {
        0 => None,
        1 => Some(1.30),
        _ => Some(1.15),
    };
    macro_rules! case {
        ($slot:ident against $limit:ident, $target:expr, $allocations:expr) => {{
            let (set, hooks) = (ready::<N>(), words::<N>());
            Case {
                slot: stringify!($slot),
                hooks: N,
                ours: dispatch!(set.$slot(prompt())),
                baseline: dispatch!(contenders::$limit(&hooks, prompt())),
                against: "limit",
                target: $target,
                allocations: $allocations,
            }
        }};
    }
    macro_rules! awaiting {
        ($slot:ident, $name:literal against $objects:ident) => {{
            let (set, hooks) = (waiting::<N>(), boxed::<N>());
            Case {
                slot: $name,
                hooks: N,
                ours: dispatch!(set.$slot(prompt())),
                baseline: dispatch!(contenders::$objects(&hooks, prompt())),
                against: "async_trait",
                target: Some(1.10),
                allocations: N as u64,
            }
        }};
    }
    let mut cases = vec![
        case!(fold against limit_fold, target, 0),
        case!(fallback_fold against limit_fallback, target, 0),
        case!(chain against limit_chain, target, 0),
        case!(gather against limit_gather, target, 1),
    ];
    if N <= 1 {
        cases.push(case!(single against limit_single, target, 0));
    }
    if N > 0 {
        cases.push(awaiting!(fold, "fold, awaiting" against boxed_fold));
        cases.push(awaiting!(chain, "chain, awaiting" against boxed_chain));
    }
    cases
}

/// All cases.
pub(crate) fn all() -> Vec<Case> {
    [sized::<0>(), sized::<1>(), sized::<4>(), sized::<16>()]
        .into_iter()
        .flatten()
        .collect()
}

/// The direct call of a slot's default.
pub(crate) fn direct() -> Run {
    dispatch!(async { default(prompt()) })
}
