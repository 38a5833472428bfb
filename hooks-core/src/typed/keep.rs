//! What a dispatch keeps of its outputs: the latest, or every one.

/// How the previous output reaches the next hook (`T-24`).
pub trait Handover<T> {
    /// Takes the kept output where the slot hands it over, else leaves it.
    fn hand_over(kept: &mut Option<T>) -> Self;
}

/// Slots that pass `last`.
impl<T> Handover<T> for Option<T> {
    #[inline]
    fn hand_over(kept: &mut Option<T>) -> Self {
        kept.take()
    }
}

/// Slots that do not.
impl<T> Handover<T> for () {
    #[inline]
    fn hand_over(_: &mut Option<T>) -> Self {}
}

/// The outputs of a dispatch, as far as its end needs them.
pub trait Keep<T> {
    /// What the dispatch answers.
    type Outcome;
    /// Whether the outputs are collected, so that the default is no answer to
    /// "every hook went on" (`fallback + chain + aggregate`).
    const COLLECTS: bool;

    /// Nothing kept yet, room for so many.
    fn with_capacity(outputs: usize) -> Self;
    /// Keeps the output of the default or of a hook.
    fn put(&mut self, output: T);
    /// Keeps the default's output as the only one, because nothing is registered;
    /// `fallback` says of which kind the slot is.
    fn put_alone(&mut self, output: T, fallback: bool);
    /// What is passed to the next hook as `last`.
    fn hand_over<L: Handover<T>>(&mut self) -> L;
    /// The outputs in the form of the outcome.
    fn finish(self) -> Self::Outcome;
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
    fn put(&mut self, output: T) {
        self.0 = Some(output);
    }

    #[inline]
    fn put_alone(&mut self, output: T, _: bool) {
        self.put(output);
    }

    #[inline]
    fn hand_over<L: Handover<T>>(&mut self) -> L {
        L::hand_over(&mut self.0)
    }

    #[inline]
    fn finish(self) -> T {
        self.0.expect("a slot without hooks runs its default")
    }
}

/// Every output in execution order, for an aggregate.
#[derive(Debug)]
pub struct Every<T> {
    outputs: Vec<T>,
    alone: Option<T>,
}

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
        Every {
            outputs: Vec::with_capacity(outputs),
            alone: None,
        }
    }

    #[inline]
    fn put(&mut self, output: T) {
        self.outputs.push(output);
    }

    #[inline]
    fn put_alone(&mut self, output: T, fallback: bool) {
        if fallback {
            self.alone = Some(output);
        } else {
            self.put(output);
        }
    }

    #[inline]
    fn hand_over<L: Handover<T>>(&mut self) -> L {
        L::hand_over(&mut None)
    }

    #[inline]
    fn finish(self) -> Gathered<T> {
        match self.alone {
            Some(output) => Gathered::Default(output),
            None => Gathered::Outputs(self.outputs),
        }
    }
}
