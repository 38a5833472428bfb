//! Permission service for programs that run shell commands on behalf of a user, such as coding
//! agents. In: a command or a file access. Out: a decision, recorded in an audit trail.
//!
//! | Module | Contents |
//! |---|---|
//! | [`classify`] | Classification of commands by effect: the crate [`hooks_classify`], and a second stage; its client of a language model: feature `semantic` |
//! | [`ClassifierHook`] | The classifier as a hook before an agent's tools |
//! | [`rules`] | `allow`, `ask` and `deny` rules of users and projects |
//! | [`protocol`] | The hook protocols of coding agents |
//! | [`changes`] | The changes that file tools would make, as diffs |
//! | `gate` | Classifiers, rules and hooks, and the decision derived from them |
//! | `approval` | The scope of an approval: agent, real directory, files that determine the effect |
//! | `loss` | The files, changes and commits that a command would discard |
//! | `audit` | The trail of decisions, answers and executions |
//! | `service` | The gate with its trail and people's answers |
//! | `tool_call` | The answer to a tool call of an agent, after that of the operator; feature `http` |
//! | `decider` | The decision that counts: of the running service, or of this process; feature `http` |
//! | `script` | JavaScript hooks that may restrict; feature `script` |
//! | `http`, `config`, `client` | The service over HTTP; feature `http` |
//! | `proof` | The key by which clients and the service authenticate each other; feature `http` |
//! | `install` | Installation of the hook in agents' settings; feature `cli` |
//! | `doctor` | Checks of an installation; feature `cli` |
//! | `replay` | What the guard would have decided about past sessions; feature `cli` |
//! | `acp` | A proxy of the Agent Client Protocol; feature `acp` |
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
//!
//! The folder `docs` of the repository is a book. `mdbook build docs` writes it beside these pages:
//! [The permission service](../../book/permission-service.html), [Embedding the
//! service](../../book/embedding.html), [Rules](../../book/rules.html). The layers of the modules are
//! on the page [Architecture](../../book/architecture.html#layers-of-modules).
#![forbid(unsafe_code)]

#[cfg(feature = "acp")]
pub mod acp;
pub mod approval;
pub mod audit;
pub mod changes;
pub mod classify;
#[cfg(feature = "http")]
pub mod client;
#[cfg(feature = "http")]
pub mod config;
#[cfg(feature = "http")]
pub mod decider;
mod dispatches;
#[cfg(feature = "cli")]
pub mod doctor;
pub mod excerpt;
mod files;
pub mod gate;
mod hook;
#[cfg(feature = "http")]
pub mod http;
#[cfg(feature = "cli")]
pub mod install;
mod log_limit;
pub mod loss;
mod mask;
pub mod places;
#[cfg(feature = "http")]
pub mod proof;
pub mod protocol;
mod random;
#[cfg(feature = "cli")]
pub mod replay;
pub mod repository;
mod request;
pub mod rules;
#[cfg(feature = "script")]
pub mod script;
pub mod service;
mod shell_word;
mod spelling;
mod tool_analysis;
#[cfg(feature = "http")]
pub mod tool_call;
mod workspace;

pub use hook::ClassifierHook;
pub use request::{
    AgentTool, AgentToolEffect, CommandPart, FileAccess, McpCall, McpTool, NetworkAccess,
    PermissionDecision, PermissionRequest, Sight,
};
pub use workspace::LocalWorkspace;

/// Page of the book; its Rust code blocks are tests of this crate.
#[cfg(all(doctest, feature = "semantic"))]
#[doc = include_str!("../../docs/classifier.md")]
mod page {}

/// As [`page`].
#[cfg(doctest)]
#[doc = include_str!("../../docs/rules.md")]
mod rules_page {}

/// As [`page`].
#[cfg(doctest)]
#[doc = include_str!("../../docs/embedding.md")]
mod embedding_page {}
