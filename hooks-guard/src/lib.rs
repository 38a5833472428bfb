//! Permission service for programs that run shell commands on behalf of somebody else.
//!
//! | Module | Is |
//! |---|---|
//! | [`classify`] | what a command would do: read, create, update or delete, and why |
//! | [`rules`] | what may run without a question, what is asked about, what is forbidden |
//! | [`ClassifierHook`] | the classifier in front of the tools of an agent |
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

pub mod classify;
mod hook;
mod request;
pub mod rules;

pub use hook::ClassifierHook;
pub use request::{FileAccess, PermissionRequest, Ruling};

/// The page of the book, whose Rust blocks are tests of this crate.
#[cfg(all(doctest, feature = "semantic"))]
#[doc = include_str!("../../docs/classifier.md")]
mod page {}

/// As [`page`].
#[cfg(doctest)]
#[doc = include_str!("../../docs/rules.md")]
mod rules_page {}
