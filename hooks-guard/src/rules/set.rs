//! A set of rules. In: rules files and protected places; then a request with its classification.
//! Out: the strictest verdict, if a rule or a protection applies.

use std::path::Path;
use std::sync::Arc;

use super::context::RequestContext;
use super::error::RulesError;
use super::load::{MAX_FILE_BYTES, name, project_of, read, text_of};
use super::paths::{Directory, MatchResult};
use super::protect::Protected;
use super::rule::Rule;
use super::trust::Trust;
use super::verdict::{BUILT_IN, Origin, RuleDecision, RuleEffect};
use super::{allow, file, protect};
use crate::classify::{CommandAnalysis, Decision};
use crate::request::PermissionRequest;

/// An immutable set of rules; cheap to clone.
#[derive(Clone, Debug)]
pub struct Rules {
    pub(super) inner: Arc<RulesInner>,
}

#[derive(Clone, Debug)]
pub(super) struct RulesInner {
    pub(super) rules: Vec<Rule>,
    guarded: Arc<protect::Protections>,
    pub(super) project: Option<Directory>,
}

impl Rules {
    /// Creates a set with the built-in protections only.
    #[must_use]
    pub fn built_in(places: &Protected) -> Self {
        Self {
            inner: Arc::new(RulesInner {
                rules: Vec::new(),
                guarded: Arc::new(protect::Protections::new(places)),
                project: None,
            }),
        }
    }

    /// Loads the rules of the user's file and of a project's file, if they exist. The project's
    /// directory is that of its file, or the parent if that directory is called `.hooks-guard`.
    ///
    /// # Errors
    /// If a file cannot be read or has mistakes. The error lists the mistakes of both files.
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
                .and_then(|text| Self::parse(text, &name(path), Origin::User, None, places))
                .map_err(|error| error.in_file(path)))?;
        }
        if let Some((path, text)) = &project {
            let origin = Origin::Project {
                trusted: trust.trusts(path, text),
            };
            let folder = project_of(path);
            add(text_of(text, &name(path))
                .and_then(|text| Self::parse(text, &name(path), origin, Some(&folder), places))
                .map_err(|error| error.in_file(path)))?;
        }
        match mistakes.is_empty() {
            true => Ok(all),
            false => Err(RulesError::Mistakes(mistakes)),
        }
    }

    /// Parses rules, and adds the protections. `name` is the displayed file name in rule names;
    /// `folder` is the project's directory, to which patterns are relative.
    ///
    /// # Errors
    /// If the text has mistakes; the error lists all of them.
    pub fn parse(
        text: &str,
        name: &str,
        origin: Origin,
        folder: Option<&Path>,
        places: &Protected,
    ) -> Result<Self, RulesError> {
        if text.len() > MAX_FILE_BYTES {
            return Err(RulesError::TooLong {
                name: name.to_owned(),
                length: text.len(),
                most: MAX_FILE_BYTES,
            });
        }
        let project = folder.map(Directory::new);
        let rules = file::read(text, name, origin, project.as_ref(), &places.home)?;
        Ok(Self {
            inner: Arc::new(RulesInner {
                rules,
                guarded: Arc::new(protect::Protections::new(places)),
                project,
            }),
        })
    }

    /// Returns the rules of both sets, with the protections and the project of the set that has
    /// them.
    #[must_use]
    pub fn and(&self, other: &Self) -> Self {
        let rules = [&self.inner.rules[..], &other.inner.rules[..]].concat();
        let project = other.inner.project.as_ref().or(self.inner.project.as_ref());
        Self {
            inner: Arc::new(RulesInner {
                rules,
                guarded: self.inner.guarded.clone(),
                project: project.cloned(),
            }),
        }
    }

    /// Returns the number of rules without the protections.
    #[must_use]
    pub fn len(&self) -> usize {
        self.inner.rules.len()
    }

    /// Returns `true` if the set contains only the protections.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.inner.rules.is_empty()
    }

    /// Returns `true` if `allow` rules of a project are ignored because the user does not trust
    /// their file.
    #[must_use]
    pub fn untrusted(&self) -> bool {
        self.inner.rules.iter().any(|rule| !rule.counts())
    }

    /// Returns the verdict of the rules for a request with the classification `found`, or `None` if
    /// the classification stands.
    ///
    /// An allow is returned only if the classification needs a confirmation, or if the agent can
    /// type commands into a program; in the latter case rules must allow each program by name.
    #[must_use]
    pub fn decide(
        &self,
        request: &PermissionRequest,
        found: &CommandAnalysis,
    ) -> Option<RuleDecision> {
        let context = self.request_context(request, found);
        if let Some(verdict) = self.restricted(&context) {
            return Some(verdict);
        }
        let typed = request.can_type_into(&found.classification);
        // A tool that runs a command may have other effects, too.
        if found.classification.decision == Decision::AutoAllowed && !typed && request.mcp.is_none()
        {
            return None;
        }
        self.allowed(&context).ok()
    }

    pub(super) fn request_context<'a>(
        &self,
        request: &'a PermissionRequest,
        found: &'a CommandAnalysis,
    ) -> RequestContext<'a> {
        let RulesInner {
            guarded, project, ..
        } = &*self.inner;
        RequestContext::new(request, found, project.as_ref(), &guarded.places().home)
    }

    /// Returns the strictest verdict that denies the request or asks about it.
    fn restricted(&self, context: &RequestContext<'_>) -> Option<RuleDecision> {
        let rules = self.inner.rules.iter();
        let restrictions = rules.filter_map(|rule| restriction(rule, context));
        restrictions
            .chain(self.inner.guarded.decide(context))
            .reduce(RuleDecision::stricter)
    }

    /// Returns the rules that allow the whole request, or the reason why they do not.
    pub(super) fn allowed(&self, context: &RequestContext<'_>) -> Result<RuleDecision, String> {
        let rules: Vec<&Rule> = self
            .inner
            .rules
            .iter()
            .filter(|rule| rule.effect == RuleEffect::Allow && rule.counts())
            .filter(|rule| !context.is_typed_into() || rule.names_programs())
            .collect();
        let request = context.request;
        let mut names_tool = false;
        let used = match (&request.file, &request.network, &request.mcp) {
            (Some(file), ..) => allow::files(context, file, &rules)?,
            (None, Some(access), _) => allow::network(context, access, &rules)?,
            (None, None, Some(call)) => match allow::mcp(context, call, &rules) {
                Ok(used) => {
                    names_tool = true;
                    used
                }
                Err(_) if call.runs_command => allow::parts(context, &rules)?,
                Err(why) => return Err(why),
            },
            (None, None, None) => match &request.tool {
                Some(tool) => allow::tool(context, tool, &rules)?,
                None => allow::parts(context, &rules)?,
            },
        };
        let reasons: Vec<&str> = used.iter().filter_map(|r| r.reason.as_deref()).collect();
        let places: Vec<&str> = used.iter().map(|rule| rule.place.as_str()).collect();
        let rule = places.join(", ");
        Ok(RuleDecision {
            effect: RuleEffect::Allow,
            reason: match reasons.is_empty() {
                true => format!("allowed by {rule}"),
                false => reasons.join("; "),
            },
            rule,
            remember: true,
            names_tool,
        })
    }
}

/// Returns the verdict of a `deny` or `ask` rule for a request, if it applies.
pub(super) fn restriction(rule: &Rule, context: &RequestContext<'_>) -> Option<RuleDecision> {
    if rule.effect == RuleEffect::Allow {
        return None;
    }
    let request = context.request;
    let command = || {
        let parts = context.parts().all.iter();
        parts
            .map(|part| rule.restricts(context, part))
            .fold(rule.restricts_all(context), MatchResult::max)
    };
    let holds = match (&request.file, &request.network, &request.mcp) {
        (Some(file), ..) => file
            .paths
            .iter()
            .map(|path| rule.match_file(context, file, &path.to_string_lossy()))
            .max()
            .unwrap_or(MatchResult::No),
        (None, Some(access), _) => rule.match_network(context, access),
        (None, None, Some(call)) if call.runs_command => {
            command().max(rule.match_mcp(context, call))
        }
        (None, None, Some(call)) => rule.match_mcp(context, call),
        (None, None, None) => match &request.tool {
            Some(tool) => rule.match_tool(context, tool),
            None => command(),
        },
    };
    let place = &rule.place;
    let verdict = |effect, reason, remember| RuleDecision {
        effect,
        rule: place.clone(),
        reason,
        remember,
        names_tool: false,
    };
    match holds {
        MatchResult::No => None,
        MatchResult::Yes => {
            let reason = rule.reason.clone().unwrap_or_else(|| {
                let default = match rule.effect {
                    RuleEffect::Deny => "a rule denies it",
                    RuleEffect::Ask | RuleEffect::Allow => "a rule requires confirmation",
                };
                default.to_owned()
            });
            Some(verdict(rule.effect, reason, rule.effect == RuleEffect::Ask))
        }
        MatchResult::Unknown => {
            let would = match rule.effect {
                RuleEffect::Deny => "denies",
                RuleEffect::Ask | RuleEffect::Allow => "asks about",
            };
            let reason = format!(
                "{place} {would} this if its unknown parts match; they are unknown until it runs"
            );
            Some(RuleDecision {
                rule: format!("{place}, {BUILT_IN} unknown files, texts and programs"),
                ..verdict(RuleEffect::Ask, reason, false)
            })
        }
    }
}
