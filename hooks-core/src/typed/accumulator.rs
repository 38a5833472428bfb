//! The accumulator of a dispatch: its last output, or all outputs.

use std::mem::{self, ManuallyDrop};

use crate::companion::Outputs;

/// The type of `last`: `Option<T>` if hooks receive the previous output, otherwise `()`.
pub trait Handover<T> {
    /// Takes the previous output from the accumulator.
    fn hand_over<A: Accumulator<T>>(accumulator: &mut A) -> Self;
    /// Returns the value for a hook that has no previous output.
    fn none() -> Self;
}

impl<T> Handover<T> for Option<T> {
    #[inline]
    fn hand_over<A: Accumulator<T>>(accumulator: &mut A) -> Self {
        accumulator.take_last()
    }

    fn none() -> Self {
        None
    }
}

impl<T> Handover<T> for () {
    #[inline]
    fn hand_over<A: Accumulator<T>>(_: &mut A) -> Self {}

    fn none() -> Self {}
}

/// Stores the outputs of a dispatch that its result depends on.
pub trait Accumulator<T> {
    /// The result of the dispatch, before a companion processes it.
    type Output;
    /// `true` if all outputs are stored. A `fallback` slot with a chain and an aggregate then does
    /// not run its default after the hooks.
    const STORES_ALL: bool;

    /// Creates an accumulator without outputs.
    fn new() -> Self;
    /// Allocates space for this number of outputs.
    fn reserve(&mut self, outputs: usize);
    /// Stores an output.
    fn push(&mut self, output: T);
    /// Stores the output of the default of a slot without hooks: the only output.
    fn set_only(&mut self, output: T);
    /// Stores these outputs only. All at once, so that a `Vec` of them is made without an allocation.
    fn set_all(&mut self, outputs: impl Iterator<Item = T>);
    /// Stores the output of the default of a `fallback` slot.
    fn set_default(&mut self, output: T);
    /// Takes the last output.
    fn take_last(&mut self) -> Option<T>;
    /// Returns the result.
    fn finish(self) -> Self::Output;
}

/// Stores the last output only.
#[derive(Debug)]
pub struct LastOutput<T>(Option<T>);

impl<T> Accumulator<T> for LastOutput<T> {
    type Output = T;
    const STORES_ALL: bool = false;

    fn new() -> Self {
        LastOutput(None)
    }

    fn reserve(&mut self, _: usize) {}

    fn push(&mut self, output: T) {
        self.0 = Some(output);
    }

    fn set_only(&mut self, output: T) {
        self.push(output);
    }

    fn set_all(&mut self, outputs: impl Iterator<Item = T>) {
        self.0 = outputs.last();
    }

    fn set_default(&mut self, output: T) {
        self.push(output);
    }

    fn take_last(&mut self) -> Option<T> {
        self.0.take()
    }

    fn finish(self) -> T {
        self.0.expect("a slot without hooks runs its default")
    }
}

/// Stores all outputs, for an aggregate.
///
/// An output is kept in memory if its address is passed to a function that is not inlined. So the
/// functions that drop and grow the `Vec` are separate and take it by value (`aggregate/0` −16 %,
/// `aggregate/4` −6 % instructions), and the others are always inlined (`aggregate/0` −1 %, which
/// is below its target of 80 instructions only then).
#[derive(Debug)]
pub struct AllOutputs<T>(ManuallyDrop<Outputs<T>>);

impl<T> AllOutputs<T> {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn of(outputs: Outputs<T>) -> Self {
        AllOutputs(ManuallyDrop::new(outputs))
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn take(&mut self) -> Outputs<T> {
        mem::replace(&mut *self.0, Outputs::All(Vec::new()))
    }
}

impl<T> Drop for AllOutputs<T> {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn drop(&mut self) {
        let is_empty = matches!(&*self.0, Outputs::All(outputs) if outputs.capacity() == 0);
        if !is_empty {
            drop_apart(self.take());
        }
    }
}

#[cold]
#[inline(never)]
fn drop_apart<T>(outputs: Outputs<T>) {
    drop(outputs);
}

#[cold]
#[inline(never)]
fn push_apart<T>(mut outputs: Vec<T>, output: T) -> Vec<T> {
    outputs.push(output);
    outputs
}

impl<T> Accumulator<T> for AllOutputs<T> {
    type Output = Outputs<T>;
    const STORES_ALL: bool = true;

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn new() -> Self {
        AllOutputs::of(Outputs::All(Vec::new()))
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn reserve(&mut self, outputs: usize) {
        *self = AllOutputs::of(Outputs::All(Vec::with_capacity(outputs)));
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn push(&mut self, output: T) {
        let Outputs::All(outputs) = &mut *self.0 else {
            return;
        };
        if outputs.len() < outputs.capacity() {
            outputs.push(output);
        } else {
            let grown = push_apart(mem::take(outputs), output);
            // The replaced `Vec` is empty. Dropping it would call a destructor.
            mem::forget(mem::replace(outputs, grown));
        }
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn set_only(&mut self, output: T) {
        *self = AllOutputs::of(Outputs::All(vec![output]));
    }

    fn set_all(&mut self, outputs: impl Iterator<Item = T>) {
        *self = AllOutputs::of(Outputs::All(outputs.collect()));
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn set_default(&mut self, output: T) {
        *self = AllOutputs::of(Outputs::Default(output));
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn take_last(&mut self) -> Option<T> {
        match &mut *self.0 {
            Outputs::All(outputs) => outputs.pop(),
            Outputs::Default(_) => None,
        }
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn finish(mut self) -> Outputs<T> {
        self.take()
    }
}
