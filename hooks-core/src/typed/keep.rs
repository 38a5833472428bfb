//! What a dispatch keeps of its outputs: the latest, or every one.

use crate::room::Room;

/// How the previous output reaches the next hook (`T-24`).
pub trait Handover<T> {
    /// Takes the previous output where the slot hands it over, else leaves it.
    fn hand_over(room: &mut Room<'_, T>) -> Self;
}

/// Slots that pass `last`.
impl<T> Handover<T> for Option<T> {
    #[inline]
    fn hand_over(room: &mut Room<'_, T>) -> Self {
        room.take()
    }
}

/// Slots that do not.
impl<T> Handover<T> for () {
    #[inline]
    fn hand_over(_: &mut Room<'_, T>) -> Self {}
}

/// The outputs of a dispatch, as far as its end needs them.
pub trait Keep<T> {
    /// What the dispatch answers.
    type Outcome;
    /// Whether the outputs are collected, so that the default is no answer to
    /// "every hook went on" (`fallback + chain + aggregate`).
    const COLLECTS: bool;

    /// Nothing kept yet, space for so many.
    fn with_capacity(outputs: usize) -> Self;
    /// Keeps the output that is in the room: here, or there.
    fn keep(&mut self, room: &mut Room<'_, T>);
    /// The outputs in the form of the outcome; `alone` says that the only one is the
    /// default of a fallback slot without hooks.
    fn finish(&mut self, alone: bool, room: &mut Room<'_, T>) -> Self::Outcome;
    /// The outcome of a slot without hooks; `fallback` says of which kind it is.
    fn alone(output: T, fallback: bool) -> Self::Outcome;
}

/// Only the latest output, which stays in the room.
#[derive(Debug)]
pub struct Latest;

impl<T> Keep<T> for Latest {
    type Outcome = T;
    const COLLECTS: bool = false;

    #[inline]
    fn with_capacity(_: usize) -> Self {
        Latest
    }

    #[inline]
    fn keep(&mut self, _: &mut Room<'_, T>) {}

    #[inline]
    fn finish(&mut self, _: bool, room: &mut Room<'_, T>) -> T {
        room.take().expect("a slot without hooks runs its default")
    }

    #[inline]
    fn alone(output: T, _: bool) -> T {
        output
    }
}

/// Every output in execution order, for an aggregate.
#[derive(Debug)]
pub struct Every<T>(Vec<T>);

/// What an aggregate is given.
#[derive(Debug)]
pub enum Gathered<T> {
    /// The default's output of a fallback slot without hooks.
    Default(T),
    /// All outputs, in execution order.
    Outputs(Vec<T>),
}

impl<T> Keep<T> for Every<T> {
    type Outcome = Gathered<T>;
    const COLLECTS: bool = true;

    #[inline]
    fn with_capacity(outputs: usize) -> Self {
        Every(Vec::with_capacity(outputs))
    }

    #[inline]
    fn keep(&mut self, room: &mut Room<'_, T>) {
        if let Some(output) = room.take() {
            self.0.push(output);
        }
    }

    #[inline]
    fn finish(&mut self, alone: bool, _: &mut Room<'_, T>) -> Gathered<T> {
        let mut outputs = std::mem::take(&mut self.0);
        match outputs.pop() {
            Some(output) if alone => Gathered::Default(output),
            last => {
                outputs.extend(last);
                Gathered::Outputs(outputs)
            }
        }
    }

    #[inline]
    fn alone(output: T, fallback: bool) -> Gathered<T> {
        if fallback {
            Gathered::Default(output)
        } else {
            Gathered::Outputs(vec![output])
        }
    }
}
