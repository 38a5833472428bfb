//! What a dispatch keeps of its outputs: the latest, or every one.

use std::mem::{self, ManuallyDrop};

/// How the previous output reaches the next hook.
pub trait Handover<T> {
    /// The previous output, where the slot hands it over.
    fn hand_over<K: Keep<T>>(kept: &mut K) -> Self;
}

/// Slots that pass `last`.
impl<T> Handover<T> for Option<T> {
    #[inline]
    fn hand_over<K: Keep<T>>(kept: &mut K) -> Self {
        kept.take_latest()
    }
}

/// Slots that do not.
impl<T> Handover<T> for () {
    #[inline]
    fn hand_over<K: Keep<T>>(_: &mut K) -> Self {}
}

/// The outputs of a dispatch, as far as its end needs them.
pub trait Keep<T> {
    /// What the dispatch answers.
    type Output;
    /// Whether the outputs are collected, so that the default is no answer to
    /// "every hook went on" (`fallback + chain + aggregate`).
    const COLLECTS: bool;

    /// Nothing kept yet.
    fn new() -> Self;
    /// Makes space for so many outputs.
    fn reserve(&mut self, outputs: usize);
    /// Keeps an output.
    fn keep(&mut self, output: T);
    /// Keeps the output of a default that stands for hooks that are not there.
    fn keep_default(&mut self, output: T);
    /// Takes the latest output away.
    fn take_latest(&mut self) -> Option<T>;
    /// The outputs in the form of the outcome.
    fn finish(self) -> Self::Output;
}

/// Only the latest output.
#[derive(Debug)]
pub struct Latest<T>(Option<T>);

impl<T> Keep<T> for Latest<T> {
    type Output = T;
    const COLLECTS: bool = false;

    #[inline(always)]
    fn new() -> Self {
        Latest(None)
    }

    #[inline(always)]
    fn reserve(&mut self, _: usize) {}

    #[inline(always)]
    fn keep(&mut self, output: T) {
        self.0 = Some(output);
    }

    #[inline(always)]
    fn keep_default(&mut self, output: T) {
        self.keep(output);
    }

    #[inline(always)]
    fn take_latest(&mut self) -> Option<T> {
        self.0.take()
    }

    #[inline(always)]
    fn finish(self) -> T {
        self.0.expect("a slot without hooks runs its default")
    }
}

/// Every output, for an aggregate. What costs time here is memory whose address is known
/// elsewhere, as to a destructor or to a `Vec` that grows: it is kept out of registers. So both are
/// given what they need by value.
#[derive(Debug)]
pub struct Gathered<T>(ManuallyDrop<Outputs<T>>);

/// What has been gathered.
#[derive(Debug)]
pub enum Outputs<T> {
    /// All outputs, in execution order.
    All(Vec<T>),
    /// The default's output of a fallback slot without hooks.
    Default(T),
}

impl<T> Gathered<T> {
    #[inline(always)]
    fn of(outputs: Outputs<T>) -> Self {
        Gathered(ManuallyDrop::new(outputs))
    }

    /// What has been gathered.
    #[inline(always)]
    pub(crate) fn into_outputs(mut self) -> Outputs<T> {
        self.take()
    }

    #[inline(always)]
    fn take(&mut self) -> Outputs<T> {
        mem::replace(&mut *self.0, Outputs::All(Vec::new()))
    }
}

impl<T> Drop for Gathered<T> {
    #[inline(always)]
    fn drop(&mut self) {
        let nothing = matches!(&*self.0, Outputs::All(outputs) if outputs.capacity() == 0);
        if !nothing {
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

impl<T> Keep<T> for Gathered<T> {
    type Output = Self;
    const COLLECTS: bool = true;

    #[inline(always)]
    fn new() -> Self {
        Gathered::of(Outputs::All(Vec::new()))
    }

    #[inline(always)]
    fn reserve(&mut self, outputs: usize) {
        *self = Gathered::of(Outputs::All(Vec::with_capacity(outputs)));
    }

    #[inline(always)]
    fn keep(&mut self, output: T) {
        let Outputs::All(outputs) = &mut *self.0 else {
            return;
        };
        if outputs.len() < outputs.capacity() {
            outputs.push(output);
        } else {
            let grown = push_apart(mem::take(outputs), output);
            // What it replaces is empty. To drop that, too, would be a destructor.
            mem::forget(mem::replace(outputs, grown));
        }
    }

    #[inline(always)]
    fn keep_default(&mut self, output: T) {
        *self = Gathered::of(Outputs::Default(output));
    }

    #[inline(always)]
    fn take_latest(&mut self) -> Option<T> {
        match &mut *self.0 {
            Outputs::All(outputs) => outputs.pop(),
            Outputs::Default(_) => None,
        }
    }

    #[inline(always)]
    fn finish(self) -> Self {
        self
    }
}
