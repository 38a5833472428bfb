//! Hooks as their slots store them: a hook in, a value without the hook's type out.

use std::sync::Arc;

use hooks_core::{Entry, EntryMeta, Failure, HookFuture};

use super::filter::InputFilters;
use crate::HookError;
use crate::error::text;

/// One kind of hook: what it receives and what it returns.
pub(crate) trait Call: 'static {
    /// The input of a hook.
    type Input<'a>;
    /// The part of the input that filters receive.
    type Subject: ?Sized;
    /// The output of a hook, unless it fails.
    type Output;

    /// Name of the slot, in spans and logs.
    const SLOT: &'static str;
    /// Name of a hook, in messages.
    const HOOK: &'static str;
}

/// A hook as its slot stores it.
pub(crate) trait DynCall<C: Call>: Send + Sync {
    /// Starts the hook. A pending future does not borrow the reference to the input.
    fn start<'b, 'a: 'b>(
        &'b self,
        input: &C::Input<'a>,
    ) -> HookFuture<'b, Result<C::Output, HookError>>;

    /// Returns the filters of the registration, if there are any.
    fn filters(&self) -> Option<&InputFilters<C::Subject>> {
        None
    }
}

/// Returns `true` if the filters of a hook hold for this input.
pub(crate) fn admits<C: Call>(
    hook: &(dyn DynCall<C> + '_),
    subject: &C::Subject,
    entry: &EntryMeta,
) -> bool {
    let filters = hook.filters();
    filters.is_none_or(|filters| filters.hold(subject, entry))
}

/// A hook without filters, as its registry stores it.
pub(crate) struct PlainHook<H>(pub(crate) H);

/// A hook with filters.
struct FilteredHook<C: Call> {
    hook: Arc<dyn DynCall<C>>,
    filters: InputFilters<C::Subject>,
}

impl<C: Call> DynCall<C> for FilteredHook<C> {
    fn start<'b, 'a: 'b>(
        &'b self,
        input: &C::Input<'a>,
    ) -> HookFuture<'b, Result<C::Output, HookError>> {
        self.hook.start(input)
    }

    fn filters(&self) -> Option<&InputFilters<C::Subject>> {
        Some(&self.filters)
    }
}

/// Returns the entry of a hook with these filters.
pub(super) fn with_filters<C: Call>(
    entry: Entry<Arc<dyn DynCall<C>>>,
    filters: Option<InputFilters<C::Subject>>,
) -> Entry<Arc<dyn DynCall<C>>> {
    match filters {
        Some(filters) => entry
            .conditional(true)
            .map(|hook| Arc::new(FilteredHook { hook, filters }) as _),
        None => entry,
    }
}

/// Logs a failure of a hook.
pub(crate) fn log_failure<C: Call>(entry: &EntryMeta, failure: &Failure) {
    tracing::warn!(
        target: "hooks_runtime",
        slot = C::SLOT,
        hook = &*entry.name(),
        kind = failure.kind(),
        "{} {}",
        C::HOOK,
        text(failure)
    );
}
