//! A set of rules. In: files of rules and what is protected; then a request with its judgement. Out:
//! the strictest verdict, if a rule or a protection says something.

use std::path::Path;
use std::sync::Arc;

use super::error::RulesError;
use super::load::{MOST_BYTES, name, project_of, read, text_of};
use super::paths::{Folder, Holds};
use super::protect::Protected;
use super::rule::Rule;
use super::scene::Scene;
use super::trust::Trust;
use super::verdict::{BUILT_IN, Effect, Origin, Verdict};
use super::{allow, file, protect};
use crate::classify::{Decision, Judgement};
use crate::request::PermissionRequest;

/// A set of rules: cheap to clone, and never changed.
#[derive(Clone, Debug)]
pub struct Rules {
    pub(super) inner: Arc<Inner>,
}

#[derive(Clone, Debug)]
pub(super) struct Inner {
    pub(super) rules: Vec<Rule>,
    guarded: Arc<protect::Guarded>,
    pub(super) project: Option<Folder>,
}

impl Rules {
    /// No rules but the protections.
    #[must_use]
    pub fn built_in(places: &Protected) -> Self {
        Self {
            inner: Arc::new(Inner {
                rules: Vec::new(),
                guarded: Arc::new(protect::Guarded::new(places)),
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
                guarded: Arc::new(protect::Guarded::new(places)),
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

    pub(super) fn scene<'a>(
        &self,
        request: &'a PermissionRequest,
        found: &'a Judgement,
    ) -> Scene<'a> {
        let Inner {
            guarded, project, ..
        } = &*self.inner;
        Scene::new(request, found, project.as_ref(), &guarded.places().home)
    }

    /// The strictest of what forbids it or asks about it.
    fn restricted(&self, scene: &Scene<'_>) -> Option<Verdict> {
        let rules = self.inner.rules.iter();
        let said = rules.filter_map(|rule| restriction(rule, scene));
        said.chain(self.inner.guarded.judge(scene))
            .reduce(Verdict::or_stricter)
    }

    /// The rules that allow all of it; an error says what is not allowed.
    pub(super) fn allowed(&self, scene: &Scene<'_>) -> Result<Verdict, String> {
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
pub(super) fn restriction(rule: &Rule, scene: &Scene<'_>) -> Option<Verdict> {
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
