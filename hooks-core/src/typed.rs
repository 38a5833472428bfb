//! Typed slots: the items behind the code that `#[hooks]` generates.
//!
//! | File | Subject |
//! |---|---|
//! | [`slot_def`] | the definition of a slot: arguments, output, default; the stored form of its hooks |
//! | [`into_hook`] | the forms of a hook: by its trait, closure, `Stateful`, entry, pointer |
//! | [`registrations`] | the registrations of a slot, for `<slot>_mut()` |
//! | [`default_rule`] | always, fallback, singleton: when the default runs, and the effect of a registration |
//! | [`policy`] | the dispatch table of these rules as a [`Policy`](crate::Policy) |
//! | [`accumulator`] | the outputs of a dispatch: the last, or all |
//! | [`concurrent`] | the policy of slots whose hooks run concurrently |
//! | [`kind`] | hooks that run one after the other, or concurrently, with one of these rules |
//! | [`around`] | slots with hooks that enclose the dispatch |
//! | [`custom`] | pipelines on `fallback` slots, for generated sets: hooks pass a call on, or end the dispatch |
//! | [`end`] | the last part of a dispatch: the aggregate or the finalizer |
//! | [`slot`] | `TypedSlot`: entries and companions of one slot, its registration and dispatch |
//! | [`direct`] | functions called with borrowed arguments: `#[impl_hook]`, `Stateful` |
//! | [`group`] | values that provide several hooks of a set (`#[impl_hooks]`) |

pub mod accumulator;
pub mod around;
pub mod concurrent;
pub mod custom;
pub mod default_rule;
pub mod direct;
pub mod end;
pub mod group;
pub mod into_hook;
pub mod kind;
pub mod policy;
pub mod registrations;
pub mod slot;
pub mod slot_def;
