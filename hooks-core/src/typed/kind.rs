//! The kinds of slot: when the default runs, and the effect of a registration.

use std::marker::PhantomData;

/// A kind of slot, as a type.
pub trait Kind {
    /// The word in `#[hook(…)]`.
    const NAME: &'static str;
    /// `true` if the default runs when hooks are registered but none stopped a chain.
    const FALLS_BACK: bool;
    /// `true` if a registration replaces the one before.
    const IS_SINGLE: bool = false;
    /// `true` if the hooks run concurrently.
    const IS_CONCURRENT: bool = false;

    /// Returns `true` if the default runs before the hooks.
    fn default_runs_first(hooks: usize) -> bool;
}

/// The default always runs, before the hooks.
#[derive(Debug)]
pub enum Always {}

/// The default runs only if no hook is registered.
#[derive(Debug)]
pub enum Fallback {}

/// At most one hook, in place of the default.
#[derive(Debug)]
pub enum Singleton {}

/// The kind `M`, whose hooks run concurrently.
#[derive(Debug)]
pub struct Concurrent<M>(PhantomData<M>);

impl<M: Kind> Kind for Concurrent<M> {
    const NAME: &'static str = M::NAME;
    const FALLS_BACK: bool = M::FALLS_BACK;
    const IS_CONCURRENT: bool = true;

    fn default_runs_first(hooks: usize) -> bool {
        M::default_runs_first(hooks)
    }
}

impl Kind for Always {
    const NAME: &'static str = "always";
    const FALLS_BACK: bool = false;

    #[inline]
    fn default_runs_first(_: usize) -> bool {
        true
    }
}

impl Kind for Fallback {
    const NAME: &'static str = "fallback";
    const FALLS_BACK: bool = true;

    #[inline]
    fn default_runs_first(hooks: usize) -> bool {
        hooks == 0
    }
}

impl Kind for Singleton {
    const NAME: &'static str = "singleton";
    const FALLS_BACK: bool = false;
    const IS_SINGLE: bool = true;

    #[inline]
    fn default_runs_first(hooks: usize) -> bool {
        hooks == 0
    }
}
