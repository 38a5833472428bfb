//! Settings of a run of a stack.

use crate::scope::Scope;

/// Settings of a run besides its message: the order, the scope of records and consents, and the
/// name of the action.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RunContext {
    pub(crate) order: Option<String>,
    pub(crate) action: String,
    pub(crate) scope: Scope,
}

impl RunContext {
    /// Creates an occasion for any action and scope, in the general order.
    pub fn new() -> Self {
        RunContext::default()
    }

    /// Selects the order of a scope: see [`ScriptStack::set_order_in`](super::ScriptStack::set_order_in).
    #[must_use]
    pub fn order(mut self, scope: impl Into<String>) -> Self {
        self.order = Some(scope.into());
        self
    }

    /// Sets the name of the action in records.
    #[must_use]
    pub fn action(mut self, action: impl Into<String>) -> Self {
        self.action = action.into();
        self
    }

    /// Sets the user and place, for records and consents.
    #[must_use]
    pub fn scope(mut self, scope: Scope) -> Self {
        self.scope = scope;
        self
    }
}
