//! When the default of a slot runs.

/// When the default of a slot runs, as a type.
pub trait DefaultRule: 'static {
    /// The word in `#[hook(…)]`.
    const NAME: &'static str;
    /// `true` if the default runs when hooks are registered but none stopped a chain.
    const FALLS_BACK: bool = false;
    /// `true` if a registration replaces the one before.
    const IS_SINGLE: bool = false;

    /// Returns `true` if the default runs before the hooks.
    #[inline]
    fn runs_first(hooks: usize) -> bool {
        hooks == 0
    }
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

impl DefaultRule for Always {
    const NAME: &'static str = "always";

    #[inline]
    fn runs_first(_: usize) -> bool {
        true
    }
}

impl DefaultRule for Fallback {
    const NAME: &'static str = "fallback";
    const FALLS_BACK: bool = true;
}

impl DefaultRule for Singleton {
    const NAME: &'static str = "singleton";
    const IS_SINGLE: bool = true;
}
