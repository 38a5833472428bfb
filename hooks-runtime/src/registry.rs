//! The machine of every registry: hooks that threads share, with the options of their registration.
//!
//! | File | In | Out |
//! |---|---|---|
//! | `cell` | a change of a value | the value that readers see from then on, without a lock |
//! | `layer` | a registry, its parent | the hooks of both, as they are now |
//! | `options` | the options of a registry or of a registration | the entry of a slot |
//! | `filter` | the filters of a registration, an input | whether the hook runs |
//! | `call` | a hook and an input | the hook's future: the erased hook, with its filters |
//! | `slot` | registrations, and a policy | a run of the registered hooks: counted, reported |
//! | `observe` | an input | a run of all hooks, whatever the others return |
//! | `failure_counts` | outputs and failures of hooks | hooks that have failed too often |
//! | `deadline` | dispatches and a time | the dispatches, which end at that time |
//! | `catch` | a future | its output, or the payload of its panic |
//!
//! The registries of PRE and POST hooks, of transforms, of around hooks and of events are front ends:
//! each defines what a hook receives and returns, and by which policy its hooks run.

pub(crate) mod call;
pub(crate) mod catch;
pub(crate) mod cell;
pub(crate) mod deadline;
pub(crate) mod failure_counts;
pub(crate) mod filter;
pub(crate) mod layer;
pub(crate) mod observe;
pub(crate) mod options;
pub(crate) mod slot;
mod sync;
