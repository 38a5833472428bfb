//! Filters of PRE and POST hooks, observers and transforms by the input of their run.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use hooks_core::{EntryMeta, Failure, RegistrationError};

use crate::events::condition::{Condition, Conditions, names_tool};

/// Returns the name of the tool in an input.
pub(crate) type ToolName<I> = fn(&I) -> Option<&str>;

/// A filter of inputs of the type `I`.
pub(crate) struct InputFilter<I: ?Sized>(Box<dyn Fn(&I) -> bool + Send + Sync>);

impl<I: ?Sized> InputFilter<I> {
    pub(crate) fn new(filter: impl Fn(&I) -> bool + Send + Sync + 'static) -> Self {
        InputFilter(Box::new(filter))
    }
}

/// The filters of one registration; all of them have to hold.
pub(crate) struct InputFilters<I: ?Sized>(Arc<[Filter<I>]>);

enum Filter<I: ?Sized> {
    Closure(Arc<InputFilter<I>>),
    /// One of these patterns matches the name of the tool.
    Tools(Arc<[String]>, ToolName<I>),
}

impl<I: ?Sized> Clone for InputFilters<I> {
    fn clone(&self) -> Self {
        InputFilters(Arc::clone(&self.0))
    }
}

impl<I: ?Sized + 'static> InputFilters<I> {
    /// Returns the filters in the options of a registration; `None` if the options have none.
    /// `hook` describes the hook.
    ///
    /// # Errors
    /// If a filter is for another type of input, or for the names of tools and there is no
    /// `tool_name`.
    pub(crate) fn new(
        conditions: &Conditions,
        hook: &str,
        tool_name: Option<ToolName<I>>,
    ) -> Result<Option<Self>, RegistrationError> {
        conditions.warn_of_empty_tools(|| hook.to_owned());
        let mut filters = Vec::new();
        let refused = |message: String| Err(RegistrationError::invalid_option(message));
        for condition in conditions.iter() {
            filters.push(match condition {
                Condition::Closure(_) => {
                    return refused(format!(
                        "{hook} has the option `when`, which is for hooks of events; use `when_input`"
                    ));
                }
                Condition::Tools(patterns) => match tool_name {
                    Some(name) => Filter::Tools(Arc::clone(patterns), name),
                    None => {
                        return refused(format!(
                            "{hook} has the option `tools`, and its registry does not know the names of tools; call `set_tool_names` first, or use `when_input`"
                        ));
                    }
                },
                Condition::Input { filter, input } => {
                    match Arc::clone(filter).downcast::<InputFilter<I>>() {
                        Ok(filter) => Filter::Closure(filter),
                        Err(_) => {
                            return refused(format!(
                                "{hook} has a filter for `{input}`, and its input is `{}`; write this type at the parameter of the filter",
                                std::any::type_name::<I>()
                            ));
                        }
                    }
                }
            });
        }
        Ok((!filters.is_empty()).then(|| InputFilters(filters.into())))
    }
}

impl<I: ?Sized> InputFilters<I> {
    /// Returns `true` if the hook runs for this input. A filter without a result holds, because the
    /// hook may be a check: a filter that panics, a function for the name of the tool that panics,
    /// and patterns for an input without the name of a tool.
    pub(crate) fn hold(&self, input: &I, entry: &EntryMeta) -> bool {
        self.0.iter().all(|filter| {
            let result = catch_unwind(AssertUnwindSafe(|| filter.holds(input)));
            result.unwrap_or_else(|payload| {
                let failure = Failure::panic(payload);
                tracing::warn!(
                    target: "hooks_runtime",
                    hook = &*entry.name(),
                    "{} {failure}; the hook runs",
                    filter.description()
                );
                true
            })
        })
    }
}

impl<I: ?Sized> Filter<I> {
    fn holds(&self, input: &I) -> bool {
        match self {
            Filter::Closure(filter) => (filter.0)(input),
            Filter::Tools(patterns, name) => names_tool(patterns, name(input)),
        }
    }

    /// Returns the subject of a sentence about a panic.
    fn description(&self) -> &'static str {
        match self {
            Filter::Closure(_) => "the filter",
            Filter::Tools(..) => "the function for the name of the tool",
        }
    }
}
