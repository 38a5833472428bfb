//! The rules of the kinds of slot: when the default runs, and the effect of a registration.

/// The rule of a kind, as a type.
pub trait Rule: 'static {
    /// The word in `#[hook(…)]`.
    const NAME: &'static str;
    /// `true` if the default runs when hooks are registered but none stopped a chain.
    const FALLS_BACK: bool = false;
    /// `true` if a registration replaces the one before.
    const IS_SINGLE: bool = false;

    /// Returns `true` if the default runs before the hooks.
    #[inline]
    fn default_runs_first(hooks: usize) -> bool {
        hooks == 0
    }
}

/// The default always runs, before the hooks.
#[derive(Debug)]
pub enum Always {}

/// The default runs only if no hook is registered.
#[derive(Debug)]
pub enum Fallback {}

/// The default runs only if no hook is registered; a registration replaces the hook before.
#[derive(Debug)]
pub enum Singleton {}

impl Rule for Always {
    const NAME: &'static str = "always";

    #[inline]
    fn default_runs_first(_: usize) -> bool {
        true
    }
}

impl Rule for Fallback {
    const NAME: &'static str = "fallback";
    const FALLS_BACK: bool = true;
}

impl Rule for Singleton {
    const NAME: &'static str = "singleton";
    const IS_SINGLE: bool = true;
}
