//! Rules of one's own: what may run without a question, what is asked about, what is forbidden.
//!
//! [`Rules`] are those of the user's file, of the project's file, and the [protections](Protected)
//! that are built in. The strictest of what they say holds, in whichever file it stands:
//!
//! | Says | Comes from | Does |
//! |---|---|---|
//! | deny | either file | nobody can agree to it |
//! | ask | either file, and the protections | somebody has to agree, whatever is allowed |
//! | allow | the user's file; the project's, while it is [trusted](Trust) | nobody has to agree |
//!
//! ```
//! use hooks_guard::classify::Classifier;
//! use hooks_guard::rules::{Effect, Origin, Protected, Rules};
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
//!     let found = Classifier::new().judge(command, None).unwrap();
//!     rules.judge(&PermissionRequest::new(command), &found)
//! };
//! assert_eq!(ask("cargo test").unwrap().effect, Effect::Allow);
//! assert!(ask("cargo test && rm -r target").is_none());
//! assert_eq!(ask("cargo test; crontab jobs").unwrap().effect, Effect::Ask);
//! # Ok::<(), hooks_guard::rules::RulesError>(())
//! ```

mod allow;
mod book;
mod check;
mod cover;
mod error;
mod file;
mod load;
mod paths;
mod protect;
mod rule;
mod scene;
mod trust;

#[cfg(any(feature = "sqlite", feature = "postgres"))]
pub(crate) use self::paths::{NOWHERE, Start};
#[cfg(any(feature = "sqlite", feature = "postgres"))]
pub(crate) use self::scene::{candidates as words_of, start_of};

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::classify::{Crud, Decision, Judgement};
use crate::request::PermissionRequest;
use load::{name, project_of, read, text_of};
use paths::{Folder, Holds};
use rule::Rule;
use scene::Scene;

pub use book::{BookError, RuleBook};
pub use check::{TestOutcome, Warning};
pub use error::{Mistake, RulesError};
pub use protect::Protected;
pub use trust::{Trust, TrustError};

/// What a rule says; the strictest is the greatest (P-06).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Effect {
    /// Nobody has to agree.
    Allow,
    /// Somebody has to agree.
    Ask,
    /// It must not happen.
    Deny,
}

impl fmt::Display for Effect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Allow => "allow",
            Self::Ask => "ask",
            Self::Deny => "deny",
        })
    }
}

/// Whose file of rules it is (P-06).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Origin {
    /// The user's own.
    User,
    /// One that came with a project: it may restrict, and allow only while the user trusts it.
    Project {
        /// Whether the user trusts it as it is now.
        trusted: bool,
    },
}

/// What the rules say about a request (P-06).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Verdict {
    /// What is to be done.
    pub effect: Effect,
    /// The rule that says so: its place, such as `guard.toml:12`, several with commas between, or
    /// `built in: shell start files`; of a hook that restricts `hook: NAME`.
    pub rule: String,
    /// Why, in a sentence for people; it may hold text of a file that nobody vouches for.
    pub reason: String,
    /// Whether an answer may be remembered: it may not where the same command could mean
    /// something else the next time, or touch what is protected.
    pub remember: bool,
}

/// Stands in the names of what is asked about every time.
const BUILT_IN: &str = "built in:";

/// The rule of commands of which a part that runs is hidden as a secret.
#[cfg(any(feature = "sqlite", feature = "postgres"))]
const HIDDEN_CODE: &str = "built in: hidden text is executed";

#[cfg(any(feature = "sqlite", feature = "postgres"))]
impl Verdict {
    /// Returns whether a built-in protection asks, alone or with other rules.
    pub(crate) fn is_protection(&self) -> bool {
        !Self::remembers(&self.rule)
    }

    /// Whether an answer to what a rule of this name asks about may be remembered.
    pub(crate) fn remembers(rule: &str) -> bool {
        !rule.contains(BUILT_IN)
    }

    /// Whether a decision under this rule hides a part of what would run, so that it
    /// cannot be approved by what the trail shows.
    pub(crate) fn hides_code(rule: &str) -> bool {
        rule.contains(HIDDEN_CODE)
    }

    /// The name of a rule, if there is one, for a command that hides a part of what would run.
    pub(crate) fn hiding_code(rule: Option<&str>) -> String {
        match rule {
            Some(rule) => format!("{rule}, {HIDDEN_CODE}"),
            None => HIDDEN_CODE.to_owned(),
        }
    }

    /// Asks, because the rules cannot be read: one of them may forbid it.
    pub(crate) fn unreadable(why: &str) -> Self {
        Self {
            effect: Effect::Ask,
            rule: "built in: rules that cannot be read".to_owned(),
            reason: format!("the rules cannot be read: {why}"),
            remember: false,
        }
    }

    /// What a hook says that may only restrict.
    pub(crate) fn of_hook(name: &str, effect: Effect, reason: String) -> Self {
        Self {
            effect,
            rule: format!("hook: {name}"),
            reason,
            remember: true,
        }
    }

    /// Asks, because such a hook failed: it might have forbidden it.
    pub(crate) fn of_failed_hook(name: &str, kind: &str) -> Self {
        Self {
            effect: Effect::Ask,
            rule: format!("built in: hook {name} failed"),
            reason: format!("a hook that may forbid it failed: {kind}"),
            remember: false,
        }
    }
}

impl Verdict {
    /// The stricter of two, the first where they are equal. An answer that must not be remembered
    /// is the stricter one.
    pub(crate) fn or_stricter(self, other: Self) -> Self {
        match (other.effect, !other.remember) > (self.effect, !self.remember) {
            true => other,
            false => self,
        }
    }
}

/// A set of rules: cheap to clone, and never changed (P-06).
#[derive(Clone, Debug)]
pub struct Rules {
    inner: Arc<Inner>,
}

#[derive(Clone, Debug)]
struct Inner {
    rules: Vec<Rule>,
    places: Protected,
    guarded: protect::Guarded,
    project: Option<Folder>,
}

/// The largest file of rules, in bytes (P-06).
pub const MOST_BYTES: usize = 256 << 10;

impl Rules {
    /// No rules but the protections.
    #[must_use]
    pub fn built_in(places: &Protected) -> Self {
        Self {
            inner: Arc::new(Inner {
                rules: Vec::new(),
                places: places.clone(),
                guarded: protect::Guarded::new(places),
                project: None,
            }),
        }
    }

    /// The rules of the user's file and of a project's, where there are such files. The project is
    /// the directory in which its file is, or the one above if that is called `.hooks-guard`.
    ///
    /// # Errors
    /// If one of them cannot be read or has mistakes: all of those of both are told at once.
    pub fn load(
        user: Option<&Path>,
        project: Option<&Path>,
        trust: &Trust,
        places: &Protected,
    ) -> Result<Self, RulesError> {
        let user = user.map(read).transpose()?.flatten();
        let project = project.map(read).transpose()?.flatten();
        let mut all = Self::built_in(places);
        let mut mistakes = Vec::new();
        let mut add = |rules: Result<Self, RulesError>| match rules {
            Ok(rules) => {
                all = all.and(&rules);
                Ok(())
            }
            Err(RulesError::Mistakes(more)) => {
                mistakes.extend(more);
                Ok(())
            }
            Err(error) => Err(error),
        };
        if let Some((path, text)) = &user {
            add(text_of(text, &name(path))
                .and_then(|text| Self::parse(text, &name(path), Origin::User, None, places)))?;
        }
        if let Some((path, text)) = &project {
            let origin = Origin::Project {
                trusted: trust.trusts(path, text),
            };
            let folder = project_of(path);
            add(text_of(text, &name(path))
                .and_then(|text| Self::parse(text, &name(path), origin, Some(&folder), places)))?;
        }
        match mistakes.is_empty() {
            true => Ok(all),
            false => Err(RulesError::Mistakes(mistakes)),
        }
    }

    /// The rules of a text, and the protections. `name` is what the text is called where a rule is
    /// named; `folder` the directory of the project, whose paths its patterns are relative to.
    ///
    /// # Errors
    /// If the text has mistakes: all of them.
    pub fn parse(
        text: &str,
        name: &str,
        origin: Origin,
        folder: Option<&Path>,
        places: &Protected,
    ) -> Result<Self, RulesError> {
        if text.len() > MOST_BYTES {
            return Err(RulesError::TooLong {
                name: name.to_owned(),
                length: text.len(),
                most: MOST_BYTES,
            });
        }
        let project = folder.map(Folder::new);
        let rules = file::read(text, name, origin, project.as_ref(), &places.home)?;
        Ok(Self {
            inner: Arc::new(Inner {
                rules,
                places: places.clone(),
                guarded: protect::Guarded::new(places),
                project,
            }),
        })
    }

    /// The rules of both; the protections and the project of whichever has them.
    #[must_use]
    pub fn and(&self, other: &Self) -> Self {
        let rules = [&self.inner.rules[..], &other.inner.rules[..]].concat();
        let project = other.inner.project.as_ref().or(self.inner.project.as_ref());
        Self {
            inner: Arc::new(Inner {
                rules,
                places: self.inner.places.clone(),
                guarded: self.inner.guarded.clone(),
                project: project.cloned(),
            }),
        }
    }

    /// How many rules there are besides the protections.
    #[must_use]
    pub fn len(&self) -> usize {
        self.inner.rules.len()
    }

    /// Whether there are no rules but the protections.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.inner.rules.is_empty()
    }

    /// Whether a project's rules that allow something are left out because the user does not
    /// trust their file.
    #[must_use]
    pub fn untrusted(&self) -> bool {
        self.inner.rules.iter().any(|rule| !rule.counts())
    }

    /// What the rules say about a request of which `found` is the judgement; nothing where the
    /// classification holds as it is.
    ///
    /// An allow is the answer only if the classification needs a confirmation, or if the agent can
    /// type commands into a program; then rules have to allow each program by its name.
    #[must_use]
    pub fn judge(&self, request: &PermissionRequest, found: &Judgement) -> Option<Verdict> {
        let scene = self.scene(request, found);
        if let Some(verdict) = self.restricted(&scene) {
            return Some(verdict);
        }
        let typed = request.can_type_into(&found.classification);
        if found.classification.decision == Decision::AutoAllowed && !typed {
            return None;
        }
        self.allowed(&scene).ok()
    }

    fn scene<'a>(&self, request: &'a PermissionRequest, found: &'a Judgement) -> Scene<'a> {
        let Inner {
            places, project, ..
        } = &*self.inner;
        Scene::new(request, found, project.as_ref(), &places.home)
    }

    /// The strictest of what forbids it or asks about it.
    fn restricted(&self, scene: &Scene<'_>) -> Option<Verdict> {
        let rules = self.inner.rules.iter();
        let said = rules.filter_map(|rule| restriction(rule, scene));
        said.chain(self.inner.guarded.judge(scene))
            .reduce(Verdict::or_stricter)
    }

    /// The rules that allow all of it; an error says what is not allowed.
    fn allowed(&self, scene: &Scene<'_>) -> Result<Verdict, String> {
        let rules: Vec<&Rule> = self
            .inner
            .rules
            .iter()
            .filter(|rule| rule.effect == Effect::Allow && rule.counts())
            .filter(|rule| !scene.is_typed_into() || rule.names_programs())
            .collect();
        let used = match (&scene.request.file, &scene.request.network) {
            (Some(file), _) => allow::files(scene, file, &rules)?,
            (None, Some(access)) => allow::network(scene, access, &rules)?,
            (None, None) => allow::parts(scene, &rules)?,
        };
        let reasons: Vec<&str> = used.iter().filter_map(|r| r.reason.as_deref()).collect();
        let places: Vec<&str> = used.iter().map(|rule| rule.place.as_str()).collect();
        let rule = places.join(", ");
        Ok(Verdict {
            effect: Effect::Allow,
            reason: match reasons.is_empty() {
                true => format!("allowed by {rule}"),
                false => reasons.join("; "),
            },
            rule,
            remember: true,
        })
    }
}

/// What a rule that denies or asks says about a request.
fn restriction(rule: &Rule, scene: &Scene<'_>) -> Option<Verdict> {
    if rule.effect == Effect::Allow {
        return None;
    }
    let holds = match (&scene.request.file, &scene.request.network) {
        (None, Some(access)) => rule.of_network(scene, access),
        (Some(file), _) => file
            .paths
            .iter()
            .map(|path| rule.of_file(scene, file, &path.to_string_lossy()))
            .max()
            .unwrap_or(Holds::No),
        (None, None) => {
            let parts = scene.parts().all.iter();
            parts
                .map(|part| rule.restricts(scene, part))
                .fold(rule.restricts_all(scene), Holds::max)
        }
    };
    let place = &rule.place;
    let verdict = |effect, reason, remember| Verdict {
        effect,
        rule: place.clone(),
        reason,
        remember,
    };
    match holds {
        Holds::No => None,
        Holds::Yes => {
            let reason = rule.reason.clone().unwrap_or_else(|| match rule.effect {
                Effect::Deny => format!("forbidden by {place}"),
                Effect::Ask | Effect::Allow => format!("{place} asks about it"),
            });
            Some(verdict(rule.effect, reason, rule.effect == Effect::Ask))
        }
        Holds::Perhaps => {
            let would = match rule.effect {
                Effect::Deny => "forbids",
                Effect::Ask | Effect::Allow => "asks about",
            };
            let reason = format!(
                "{place} {would} something that this may be: what stands in it is only known when it runs"
            );
            Some(Verdict {
                rule: format!("{place}, {BUILT_IN} what is not known yet"),
                ..verdict(Effect::Ask, reason, false)
            })
        }
    }
}

/// Asserts what has to hold for a file of rules and a command, whatever they are: for a fuzzer.
#[doc(hidden)]
pub fn assert_holds(classifier: &crate::classify::Classifier, file: &str, command: &str) {
    let places = Protected::new("/srv/u");
    let origin = Origin::Project { trusted: false };
    let folder = Path::new("/srv/u/project");
    let Ok(found) = classifier.judge(command, None) else {
        return;
    };
    let request = PermissionRequest {
        cwd: Some(folder.to_owned()),
        ..PermissionRequest::new(command)
    };
    let alone = Rules::built_in(&places);
    let rank = |rules: &Rules| match (rules.judge(&request, &found), found.classification.decision)
    {
        (Some(verdict), _) => verdict.effect,
        (None, Decision::AutoAllowed) => Effect::Allow,
        (None, Decision::RequiresConfirmation) => Effect::Ask,
    };
    match Rules::parse(file, "guard.toml", origin, Some(folder), &places) {
        Ok(rules) => {
            assert!(
                rank(&rules) >= rank(&alone),
                "a file that nobody trusts allows something"
            );
            let trusted = Origin::Project { trusted: true };
            let trusted = Rules::parse(file, "guard.toml", trusted, Some(folder), &places)
                .expect("what parses does so for everybody");
            assert!(rank(&rules) >= rank(&trusted), "trust makes it stricter");
            let guarded = alone.judge(&request, &found).is_some();
            assert!(
                !guarded || rank(&trusted) >= Effect::Ask,
                "what is protected is allowed"
            );
        }
        Err(RulesError::Mistakes(mistakes)) => assert!(!mistakes.is_empty()),
        Err(_) => {}
    }
}

/// Whether a class is stronger than reading.
fn changes(effect: Crud) -> bool {
    effect > Crud::Read
}
