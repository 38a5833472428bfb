//! Behaviour of hook sets, from the requirements: one module per kind or subject, each test named
//! after its rule and citing its id.
//!
//! [`in_every_form`](kit::in_every_form) runs a module's rules once with bodies that cannot
//! suspend, once with bodies that do, and once with bodies whose tokens do not show it: the
//! behaviour has to be equal.

mod kit;

mod aggregate;
mod always;
mod arguments;
mod attributes;
mod chain;
mod closures;
mod custom;
mod definition;
mod describe;
mod drop_and_panic;
mod entries;
mod extend;
mod extensions;
mod fallback;
mod finalize;
mod impl_hook;
mod impl_hooks;
mod lifetimes;
mod mutable;
mod nesting;
mod plugins;
mod recursion;
mod run_now;
mod singleton;
mod slot;
mod stateful;
mod sync;
mod tracing;
mod waterfall;
