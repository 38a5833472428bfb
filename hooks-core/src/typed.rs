//! Typed slots: what `#[hooks]` generates calls into.
//!
//! | File | Subject |
//! |---|---|
//! | [`signature`] | what a slot's hooks take and answer, and how they are called through `dyn` |
//! | [`policy`] | the dispatch table of the kinds of slot as one [`Policy`](crate::Policy) policy |
//! | [`kind`] | always, fallback, singleton: when the default runs, what a registration does |
//! | [`accumulator`] | the outputs of a dispatch: the last, or all |
//! | [`custom`] | pipelines on `fallback` slots, for generated sets: hooks hand a call on, or end the dispatch |
//! | [`slot`] | `TypedSlot`: entries and companions of one slot, its registration and dispatch |
//! | [`direct`] | functions called with their arguments as one: `#[impl_hook]`, `Stateful` |
//! | [`group`] | values that provide several hooks of a set (`#[impl_hooks]`) |

pub mod accumulator;
pub mod custom;
pub mod direct;
pub mod group;
pub mod kind;
pub mod policy;
pub mod signature;
pub mod slot;
