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
//!     let found = Classifier::new().analyze(command, None).unwrap();
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

use std::path::Path;

use crate::classify::Decision;
use crate::request::PermissionRequest;

pub use self::set::Rules;
pub use self::verdict::{Origin, RuleDecision, RuleEffect};
pub use book::{BookError, RuleBook};
pub use check::{TestOutcome, Warning};
pub use error::{Mistake, RulesError};
pub use load::MAX_FILE_BYTES;
pub use preset::{MarksError, Preset};
pub use protect::Protected;
pub use suggest::{PastAnswer, SuggestedRule, SuggestedTest, Suggestions, UnsuitableCommand};
pub use trust::{Trust, TrustError};

/// Asserts properties that hold for every rules file and command; used by a fuzzer.
#[doc(hidden)]
pub fn assert_holds(classifier: &crate::classify::Classifier, file: &str, command: &str) {
    let places = Protected::new("/srv/u");
    let origin = Origin::Project { trusted: false };
    let folder = Path::new("/srv/u/project");
    let Ok(found) = classifier.analyze(command, None) else {
        return;
    };
    let request = PermissionRequest {
        cwd: Some(folder.to_owned()),
        ..PermissionRequest::new(command)
    };
    let alone = Rules::built_in(&places);
    let rank = |rules: &Rules| match (
        rules.decide(&request, &found),
        found.classification.decision,
    ) {
        (Some(verdict), _) => verdict.effect,
        (None, Decision::AutoAllowed) => RuleEffect::Allow,
        (None, Decision::RequiresConfirmation) => RuleEffect::Ask,
    };
    match Rules::parse(file, "guard.toml", origin, Some(folder), &places) {
        Ok(rules) => {
            assert!(
                rank(&rules) >= rank(&alone),
                "an untrusted file allows something"
            );
            let trusted = Origin::Project { trusted: true };
            let trusted = Rules::parse(file, "guard.toml", trusted, Some(folder), &places)
                .expect("a valid file is valid for each origin");
            assert!(rank(&rules) >= rank(&trusted), "trust makes it stricter");
            let guarded = alone.decide(&request, &found).is_some();
            assert!(
                !guarded || rank(&trusted) >= RuleEffect::Ask,
                "a protection is bypassed"
            );
        }
        Err(RulesError::Mistakes(mistakes)) => assert!(!mistakes.is_empty()),
        Err(_) => {}
    }
}
