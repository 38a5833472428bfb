//! Transforms: hooks that receive a value, and may return a changed one. They change the result of
//! a tool before an agent receives it, or a request before the hooks that check it.
//!
//! ```
//! use hooks_runtime::transform::{TransformFn, TransformInput, TransformRegistry, Transformed};
//! use hooks_runtime::RegisterOptions;
//!
//! # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
//! let results: TransformRegistry<str> = TransformRegistry::new();
//! results.register(
//!     TransformFn::new("redact", |result: TransformInput<'_, str>| {
//!         if result.current().contains("sk-") {
//!             Transformed::changed(result.current().replace("sk-", "***"))
//!         } else {
//!             Transformed::Unchanged
//!         }
//!     }),
//!     RegisterOptions::new(),
//! );
//!
//! let result = results.apply("key: sk-1").await?;
//! assert_eq!(&*result.value, "key: ***1");
//! assert_eq!(&*result.raw, "key: sk-1");
//! assert_eq!(&*result.changed_by[0], "redact");
//! # Ok::<_, hooks_runtime::transform::TransformError>(())
//! # }).unwrap();
//! ```
//!
//! | File | Content |
//! |---|---|
//! | `input` | [`TransformInput`]: the input of a hook |
//! | `hook` | [`TransformHook`], [`TransformFn`], [`Transformed`] |
//! | `run` | the policy of one run |
//! | `registry` | [`TransformRegistry`] |
//! | `outcome` | [`TransformOutcome`], [`TransformError`] |
//! | `descriptor` | [`TransformDescriptor`]: one registered hook |
//!
//! # Order and failure
//!
//! Hooks run one after the other, by priority, lower first; equal priorities in order of
//! registration. Each receives the value as the earlier hooks left it, and the raw value.
//!
//! | Hook | Effect |
//! |---|---|
//! | returns [`Unchanged`](Transformed::Unchanged) or [`Changed`](Transformed::Changed) | the next hook runs |
//! | returns [`Denied`](Transformed::Denied) | no later hook runs; the caller gets [`TransformError::Denied`] and no value |
//! | fails, panics or exceeds its timeout | no later hook runs; the caller gets [`TransformError::Failed`] and no value |
//! | the same, with [`FailClosed`](crate::FailurePolicy::FailClosed) | as `Denied` |
//! | the same, with [`Isolate`](crate::FailurePolicy::Isolate) | is logged; the next hook receives the value that this hook received |

mod descriptor;
mod hook;
mod input;
mod outcome;
mod registry;
mod run;

pub use descriptor::TransformDescriptor;
pub use hook::{IntoTransformed, TransformFn, TransformHook, Transformed};
pub use input::TransformInput;
pub use outcome::{TransformError, TransformOutcome};
pub use registry::TransformRegistry;
