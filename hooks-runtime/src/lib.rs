//! The runtime layer over [`hooks_core`].
//!
//! It re-exports everything of `hooks-core`, so that a program needs one
//! dependency; the macros find either crate under whatever name it was given.

#![forbid(unsafe_code)]

#[doc(inline)]
pub use hooks_core::*;
