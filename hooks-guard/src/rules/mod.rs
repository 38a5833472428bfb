//! User-defined rules. In: rules files, then a request with its classification. Out: whether the
//! request is allowed without confirmation, needs confirmation, or is denied.
//!
//! [`Rules`] combine the user's file, the project's file, and the built-in [protections](Protected).
//! The strictest matching rule decides, whichever file it is in:
//!
//! | Effect | Source | Result |
//! |---|---|---|
//! | deny | either file | denied; cannot be approved |
//! | ask | either file, and the protections | needs confirmation, even if another rule allows it |
//! | allow | the user's file; the project's, while it is [trusted](Trust) | runs without confirmation |
//!
//! ```
//! use hooks_guard::classify::Classifier;
//! use hooks_guard::rules::{Origin, Protected, RuleEffect, Rules};
//! use hooks_guard::PermissionRequest;
//!
//! let rules = Rules::parse(
//!     r#"
//!     [[rule]]
//!     effect = "allow"
//!     program = "cargo"
//!     subcommand = ["build", "test"]
//!     "#,
//!     "guard.toml",
//!     Origin::User,
//!     None,
//!     &Protected::new("/srv/ada"),
//! )?;
//!
//! let ask = |command: &str| {
//!     let found = Classifier::new().analyze(command).unwrap();
//!     rules.decide(&PermissionRequest::new(command), &found)
//! };
//! assert_eq!(ask("cargo test").unwrap().effect, RuleEffect::Allow);
//! assert!(ask("cargo test && rm -r target").is_none());
//! assert_eq!(ask("cargo test; crontab jobs").unwrap().effect, RuleEffect::Ask);
//! # Ok::<(), hooks_guard::rules::RulesError>(())
//! ```

mod allow;
mod book;
mod check;
mod context;
mod cover;
mod error;
mod file;
mod load;
mod packages;
mod paths;
mod preset;
mod project;
mod protect;
mod rule;
mod scope;
mod set;
mod suggest;
mod trust;
mod verdict;

pub(crate) use self::context::{candidates as words_of, start_of};
pub(crate) use self::paths::{NO_DIRECTORY, PathBase};
pub(crate) use self::scope::{ChangeScope, change_scope};

#[cfg(feature = "http")]
pub(crate) use self::suggest::rule_for;

pub use self::set::Rules;
pub use self::verdict::{Origin, RuleDecision, RuleEffect};
pub use book::{BookError, RuleBook};
pub use check::{TestOutcome, Warning};
pub use error::{Mistake, RulesError};
pub use load::MAX_FILE_BYTES;
pub use preset::{MarksError, Preset};
pub use protect::{Protected, SettingsFiles};
pub use suggest::{PastAnswer, SuggestedRule, SuggestedTest, Suggestions, UnsuitableCommand};
pub use trust::{Trust, TrustError};
