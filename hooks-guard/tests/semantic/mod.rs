//! The semantic stage (P-07, P-08): when it is asked, and what its answers can do.

#[cfg(feature = "semantic")]
mod http;
mod stage;
