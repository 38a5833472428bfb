//! PRE and POST: hooks with ids before a call, where the first that says no ends it, and
//! after a call, where every one runs.
//!
//! | Module | Subject |
//! |---|---|
//! | [`registry`] | [`PhaseRegistry`]: registering, running, listing |
//! | [`hook`] | [`PreHook`] and [`PostHook`] |
//! | [`response`] | [`HookResponse`]: what a PRE hook answers |
//! | `bail`, `observe` | the two policies |
//!
//! | | PRE | POST |
//! |---|---|---|
//! | order | by priority, lower first; equals as registered | as registered |
//! | an id that exists | is replaced, in its place | the same |
//! | ends early | with the first response that is not `CONTINUE` | never |
//! | a hook fails | the caller gets the error, later hooks do not run | it is logged |
//! | the answer | that of the hook that ended it, else of the last | none |

pub mod hook;
pub mod registry;
pub mod response;

mod bail;
mod observe;
mod phase;

pub use hook::{IntoDone, IntoResponse, PostFn, PostHook, PreFn, PreHook};
pub use phase::Phase;
pub use registry::{HookDescriptor, PhaseRegistry, WeakPhaseRegistry};
pub use response::{HookResponse, ResponseAction};
