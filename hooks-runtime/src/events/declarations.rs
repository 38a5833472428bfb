//! Declared events: their names and schemas in, warnings about names that are probably mistakes out.

use std::sync::Arc;

use hooks_core::__private::drop_catching_panic;

use super::names::EventNameWarning;
use super::registry::HookRegistry;
use super::schema::EventSchema;
use super::state::HookRegistryInner;
use crate::lock::lock;

impl HookRegistry {
    /// Declares events, in addition to the standard events and to those that were declared earlier.
    ///
    /// An event needs no declaration: hooks for undeclared events are registered and run. But once
    /// events are declared, a hook for an undeclared event causes a
    /// [warning](Self::event_name_warnings). A declared event causes no warning.
    ///
    /// ```
    /// use hooks_runtime::events::EventNameProblem;
    /// use hooks_runtime::{Event, HookRegistry, HookResult, RegisterOptions};
    ///
    /// let hooks = HookRegistry::new();
    /// hooks.declare_events(["deploy:start", "deploy:done"]);
    ///
    /// let hook = |_: Event<'_>| HookResult::proceed();
    /// hooks.register("deploy:strat", hook, RegisterOptions::new());
    ///
    /// let warnings = hooks.event_name_warnings();
    /// assert_eq!(warnings[0].problem, EventNameProblem::Undeclared);
    /// assert_eq!(warnings[0].similar.as_deref(), Some("deploy:start"));
    /// ```
    pub fn declare_events<I>(&self, events: I)
    where
        I: IntoIterator<Item: Into<Arc<str>>>,
    {
        // The caller's iterator may use the registry: it runs before the lock is taken.
        let events: Vec<Arc<str>> = events.into_iter().map(Into::into).collect();
        let table = self.inner.table.load();
        let warnings = lock(&self.inner.names).declare(events.into_iter(), &table);
        drop_catching_panic(table);
        for warning in warnings {
            log(&warning);
        }
    }

    /// Declares an event and the fields in its data, like [`declare_events`](Self::declare_events)
    /// declares its name. Replaces an earlier schema of the event.
    ///
    /// The data of each emission are compared with the schema, together with the default fields:
    /// before the first hook, and after the changes by hooks, unless the event is denied. A mismatch
    /// is the error [`EmitError::Schema`](super::EmitError::Schema), or a warning in the log if the
    /// schema is [`warn_only`](EventSchema::warn_only).
    ///
    /// ```
    /// use hooks_runtime::events::{EventField, EventSchema};
    /// use hooks_runtime::HookRegistry;
    /// use serde_json::json;
    ///
    /// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
    /// let hooks = HookRegistry::new();
    /// hooks.declare(EventSchema::new("deploy:start").field(EventField::string("target")));
    ///
    /// assert!(hooks.emit("deploy:start", json!({"target": "staging"})).await.is_ok());
    /// let error = hooks.emit("deploy:start", json!({"tagret": "staging"})).await.unwrap_err();
    /// assert_eq!(
    ///     error.to_string(),
    ///     "the data of event `deploy:start` do not match its schema: field `target` is missing",
    /// );
    /// # });
    /// ```
    pub fn declare(&self, schema: EventSchema) {
        let event = Arc::clone(&schema.name);
        self.inner.table.update(|table, record| {
            record.set(|settings| settings.declare(schema.clone()));
            table.declare(schema);
        });
        self.declare_events([event]);
    }

    /// Returns the schemas of the declared events, sorted by name. An event that is declared by
    /// its name only has no schema.
    pub fn schemas(&self) -> Vec<Arc<EventSchema>> {
        self.inner.table.load().schemas()
    }

    /// Returns warnings about names of events that are probably mistakes: of hooks that may never
    /// run. Sorted by name.
    ///
    /// Each warning was also logged with `tracing`, at the level `WARN` and once for its name, when
    /// the first hook was registered for the name. The list has the warnings that apply at the
    /// moment. See [`EventNameProblem`](super::EventNameProblem) for the checks, and
    /// [`declare_events`](Self::declare_events) to make them stricter.
    ///
    /// Emissions are not checked: the registry does not compare the names of hooks with the events
    /// that were emitted, only with the standard and the declared events. After 1024 names, it
    /// checks no more names.
    pub fn event_name_warnings(&self) -> Vec<EventNameWarning> {
        let table = self.inner.table.load();
        let warnings = lock(&self.inner.names).warnings(&table);
        drop_catching_panic(table);
        warnings
    }
}

impl HookRegistryInner {
    pub(super) fn check_registration(&self, event: &Arc<str>) {
        let warning = lock(&self.names).on_registration(event);
        if let Some(warning) = warning {
            log(&warning);
        }
    }
}

fn log(warning: &EventNameWarning) {
    tracing::warn!(target: "hooks_runtime", event = &*warning.event, "{warning}");
}
