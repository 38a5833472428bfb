//! PRE and POST: hooks with ids that run before and after a call. The first PRE hook that refuses
//! ends the call; every POST hook runs.
//!
//! | Module | Subject |
//! |---|---|
//! | [`registry`] | [`PhaseRegistry`]: registering, listing |
//! | `run` | the methods of [`PhaseRegistry`] that run hooks |
//! | `descriptor` | [`HookDescriptor`]: one registered hook |
//! | [`hook`] | [`PreHook`] and [`PostHook`] |
//! | [`response`] | [`HookResponse`]: output of a PRE hook |
//! | `observer` | [`PreObserver`]: receives the response to each request |
//! | `bail` | the policy of PRE |
//! | `around` | [`PreCall`] and [`PostCall`]: the runs that around hooks enclose |
//!
//! | Property | PRE | POST |
//! |---|---|---|
//! | order | by priority, lower first; equal ones as registered | as registered |
//! | registering an existing id | replaces the hook, in its place | replaces the hook, in its place |
//! | early end | the first response that is not `CONTINUE` | never |
//! | failure of a hook | the caller gets the error, later hooks do not run | logged |
//! | result | the response that ended the run, else the last one | none |

pub mod hook;
pub mod registry;
pub mod response;

mod around;
mod bail;
mod descriptor;
mod observer;
mod phase;
mod run;

pub use around::{PostCall, PreCall};
pub use descriptor::HookDescriptor;
pub use hook::{IntoDone, IntoResponse, PostFn, PostHook, PreFn, PreHook};
pub use observer::{PreObserver, PreObserverFn, PreResult};
pub use phase::Phase;
pub use registry::{PhaseRegistry, WeakPhaseRegistry};
pub use response::{HookResponse, ResponseAction};
pub use run::PreRun;
