//! Permission service for programs that run shell commands on behalf of somebody else.
//!
//! | Module | Is |
//! |---|---|
//! | [`classify`] | what a command would do: the crate [`hooks_classify`], and a second stage |
//! | [`ClassifierHook`] | the classifier in front of the tools of an agent |
//! | [`rules`] | what a user and a project allow, ask about and deny |
//! | [`protocol`] | what coding agents say to their hooks, and how they are answered |
//! | `gate` | classifiers and rules, and the decision they make; feature `sqlite` or `postgres`, as the next three |
//! | `approval` | what an approval is bound to: agent, real folder, files that decide |
//! | `audit` | the trail of what was decided, answered and done |
//! | `service` | the gate with its trail, and the answers of people |
//! | `script` | hooks in JavaScript that may restrict; feature `script` |
//! | `http`, `config`, `client` | the service over HTTP; feature `http` |
//! | `proof` | the key by which clients and the service know each other; feature `http` |
//! | `install` | puts the hook into the agents' settings; feature `cli` |
//! | `doctor` | what is wrong with an installation; feature `cli` |
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
pub mod approval;
#[cfg(any(feature = "sqlite", feature = "postgres"))]
pub mod audit;
pub mod classify;
#[cfg(feature = "http")]
pub mod client;
#[cfg(feature = "http")]
pub mod config;
#[cfg(any(feature = "sqlite", feature = "postgres"))]
mod dispatches;
#[cfg(feature = "cli")]
pub mod doctor;
mod files;
#[cfg(any(feature = "sqlite", feature = "postgres"))]
pub mod gate;
mod hook;
#[cfg(feature = "http")]
pub mod http;
#[cfg(feature = "cli")]
pub mod install;
#[cfg(any(feature = "sqlite", feature = "postgres"))]
mod log_limit;
mod mask;
pub mod places;
#[cfg(feature = "http")]
pub mod proof;
pub mod protocol;
#[cfg(any(feature = "sqlite", feature = "postgres"))]
mod random;
mod request;
pub mod rules;
#[cfg(feature = "script")]
pub mod script;
#[cfg(any(feature = "sqlite", feature = "postgres"))]
pub mod service;

pub use hook::ClassifierHook;
pub use request::{CommandPart, FileAccess, NetworkAccess, PermissionRequest, Ruling};

/// The page of the book, whose Rust blocks are tests of this crate.
#[cfg(all(doctest, feature = "semantic"))]
#[doc = include_str!("../../docs/classifier.md")]
mod page {}

/// As [`page`].
#[cfg(doctest)]
#[doc = include_str!("../../docs/rules.md")]
mod rules_page {}

/// As [`page`].
#[cfg(all(doctest, feature = "sqlite"))]
#[doc = include_str!("../../docs/embedding.md")]
mod embedding_page {}
