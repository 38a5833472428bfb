//! Typed slots: the items behind the code that `#[hooks]` generates.
//!
//! | File | Subject |
//! |---|---|
//! | [`slot_def`] | the definition of a slot: arguments, output, kind, default, companions; the stored form of its hooks |
//! | [`into_hook`] | the forms of a hook: by its trait, closure, `Stateful`, entry, pointer |
//! | [`registrations`] | the registrations of a slot, for `<slot>_mut()` |
//! | [`rule`] | always, fallback, singleton: when the default runs, and the effect of a registration |
//! | [`policy`] | the policy of slots whose hooks run one after the other: the dispatch table of the rules |
//! | [`accumulator`] | the outputs of a dispatch: the last, or all |
//! | [`concurrent`] | the policy of slots whose hooks run concurrently |
//! | `exchange` | how hooks get the arguments: each hook its own, or all hooks the same `&mut` ones |
//! | [`kind`] | `Sequential`, `Lending` and `Concurrent`, each of which selects the policy, and `Synchronous` |
//! | [`mode`] | how hooks return their output: as a future, or at once |
//! | [`around`] | slots with hooks that enclose the dispatch |
//! | [`custom`] | slots whose hooks pass a call on, or end the dispatch: `waterfall`, and pipelines for generated sets |
//! | [`end`] | the types of the last part of a dispatch: what stores the outputs, and the result |
//! | [`slot`] | `TypedSlot`: entries and companions of one slot, its registration and dispatch |
//! | [`direct`] | functions called with borrowed arguments: `#[impl_hook]`, `Stateful` |
//! | [`group`] | values that provide several hooks of a set (`#[impl_hooks]`) |

pub mod accumulator;
pub mod around;
pub mod concurrent;
pub mod custom;
pub mod direct;
pub mod end;
pub(crate) mod exchange;
pub mod group;
pub mod into_hook;
pub mod kind;
pub mod mode;
pub mod policy;
pub mod registrations;
pub mod rule;
pub mod slot;
pub mod slot_def;
