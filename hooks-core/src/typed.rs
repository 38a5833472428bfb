//! Typed slots: what `#[hooks]` generates calls into.
//!
//! | File | Subject |
//! |---|---|
//! | [`slot_def`] | the definition of a slot: arguments, output, default; the stored form of its hooks |
//! | [`into_hook`] | the forms of a hook: by its trait, closure, `Stateful`, entry, pointer |
//! | [`registrations`] | what is registered in a slot, for `<slot>_mut()` |
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
pub mod into_hook;
pub mod kind;
pub mod policy;
pub mod registrations;
pub mod slot;
pub mod slot_def;
