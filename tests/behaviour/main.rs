//! What hook sets do, from the requirements: one module a kind or subject, each
//! test named after the rule it holds and citing its id.
//!
//! [`in_every_form`](kit::in_every_form) runs a module's rules once with bodies
//! that cannot suspend, once with bodies that do, and once with bodies of which
//! the tokens do not tell: the behaviour has to be the same.

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
mod nesting;
mod recursion;
mod singleton;
mod slot;
mod stateful;
mod tracing;
