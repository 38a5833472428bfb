//! What a dispatch keeps of its outputs: the latest, or every one.

/// How the previous output reaches the next hook (`T-24`).
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
    type Outcome;
    /// Whether the outputs are collected, so that the default is no answer to
    /// "every hook went on" (`fallback + chain + aggregate`).
    const COLLECTS: bool;

    /// Nothing kept yet, space for so many.
    fn with_capacity(outputs: usize) -> Self;
    /// Keeps an output.
    fn keep(&mut self, output: T);
    /// Takes the latest output away.
    fn take_latest(&mut self) -> Option<T>;
    /// The outputs in the form of the outcome; `alone` says that the only one is the
    /// default of a fallback slot without hooks.
    fn finish(self, alone: bool) -> Self::Outcome;
}

/// Only the latest output.
#[derive(Debug)]
pub struct Latest<T>(Option<T>);

impl<T> Keep<T> for Latest<T> {
    type Outcome = T;
    const COLLECTS: bool = false;

    #[inline]
    fn with_capacity(_: usize) -> Self {
        Latest(None)
    }

    #[inline]
    fn keep(&mut self, output: T) {
        self.0 = Some(output);
    }

    #[inline]
    fn take_latest(&mut self) -> Option<T> {
        self.0.take()
    }

    #[inline]
    fn finish(self, _: bool) -> T {
        self.0.expect("a slot without hooks runs its default")
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
    fn keep(&mut self, output: T) {
        self.0.push(output);
    }

    #[inline]
    fn take_latest(&mut self) -> Option<T> {
        self.0.pop()
    }

    #[inline]
    fn finish(self, alone: bool) -> Gathered<T> {
        let mut outputs = self.0;
        match outputs.pop() {
            Some(output) if alone => Gathered::Default(output),
            last => {
                outputs.extend(last);
                Gathered::Outputs(outputs)
            }
        }
    }
}
