//! Permission service for programs that run shell commands on behalf of somebody else.
//!
//! | Module | Is |
//! |---|---|
//! | [`classify`] | what a command would do: read, create, update or delete, and why |
//! | `audit` | the audit trail: what was decided, answered and run (features `sqlite`, `postgres`) |
//! | [`ClassifierHook`] | the classifier in front of the tools of an agent |
//! | [`protocol`] | what coding agents say to their hooks, and how they are answered |
//! | `install` | puts the hook into the agents' settings (feature `cli`) |
//! | `doctor` | what is wrong with an installation (feature `cli`) |
//!
//! ```
//! use hooks_guard::classify::{Classifier, Crud, Decision};
//!
//! let classifier = Classifier::new();
//! let verdict = classifier.classify("git status && rm -rf build")?;
//! assert_eq!(verdict.crud, Crud::Delete);
//! assert_eq!(verdict.decision, Decision::RequiresConfirmation);
//! # Ok::<(), hooks_guard::classify::InputError>(())
//! ```
#![forbid(unsafe_code)]

#[cfg(any(feature = "sqlite", feature = "postgres"))]
pub mod audit;
pub mod classify;
#[cfg(feature = "http")]
pub mod client;
#[cfg(feature = "http")]
pub mod config;
#[cfg(feature = "audit")]
pub mod gate;
mod hook;
#[cfg(feature = "http")]
pub mod http;
pub mod places;
#[cfg(feature = "cli")]
pub mod doctor;
mod hook;
#[cfg(feature = "cli")]
pub mod install;
pub mod protocol;
#[cfg(feature = "audit")]
mod random;
mod mask;
mod request;
#[cfg(feature = "audit")]
pub mod service;

pub use hook::ClassifierHook;
pub use request::{FileAccess, PermissionRequest, Ruling};

/// The page of the book, whose Rust blocks are tests of this crate.
#[cfg(all(doctest, feature = "semantic"))]
#[doc = include_str!("../../docs/classifier.md")]
mod page {}
