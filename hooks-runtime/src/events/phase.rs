//! Phases of an emission.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Phase of an emission in which a hook runs. The phases run in this order; within a phase, the
/// priority determines the order.
///
/// | Phase | Runs | Allowed | On failure, by default |
/// |---|---|---|---|
/// | `Transform` | first | every action; changes of the data | is logged and left out |
/// | `Decide` | with the final data; not after a denial | every action except `Modify` | the event is denied |
/// | `Observe` | with the [outcome](super::Event::outcome), also after a denial or an error | `Continue`, with a message for the user | is logged and left out |
///
/// ```
/// use hooks_runtime::events::EventPhase;
/// use hooks_runtime::{Action, Event, HookRegistry, HookResult, RegisterOptions};
/// use serde_json::json;
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let hooks = HookRegistry::new();
/// hooks.register(
///     "tool:pre",
///     |event: Event<'_>| match event.str("path") {
///         Some("/etc/passwd") => HookResult::deny("a system file"),
///         _ => HookResult::proceed(),
///     },
///     RegisterOptions::new().phase(EventPhase::Decide),
/// );
/// // Registered later, but runs earlier: the check sees the changed path.
/// hooks.register(
///     "tool:pre",
///     |_: Event<'_>| HookResult::set("path", "/etc/passwd"),
///     RegisterOptions::new(),
/// );
/// hooks.register(
///     "tool:pre",
///     |event: Event<'_>| {
///         let denied = event.outcome().is_some_and(|outcome| {
///             outcome.as_ref().is_ok_and(|emission| emission.is_denied())
///         });
///         println!("denied: {denied}");
///         HookResult::proceed()
///     },
///     RegisterOptions::new().phase(EventPhase::Observe),
/// );
///
/// let emission = hooks.emit("tool:pre", json!({"path": "notes.md"})).await?;
/// assert_eq!(emission.action, Action::Deny);
/// # Ok::<_, hooks_runtime::EmitError>(())
/// # }).unwrap();
/// ```
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum EventPhase {
    /// Changes the data, and may decide. The default.
    #[default]
    Transform,
    /// Decides on the final data, and cannot change them.
    Decide,
    /// Receives the outcome, and cannot change it.
    Observe,
}

impl fmt::Display for EventPhase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            EventPhase::Transform => "transform",
            EventPhase::Decide => "decide",
            EventPhase::Observe => "observe",
        })
    }
}
