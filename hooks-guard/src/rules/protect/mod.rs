//! The built-in protections: actions that always need confirmation, whatever rules allow, and whose
//! approval is never remembered, because they would let a program approve its own requests or act
//! later without a question. In: a request with its classification. Out: a verdict, if a protection
//! is touched.

mod commands;
mod files;
mod network;
mod places;
mod process;
mod protection;
mod secrets;
mod variables;

use std::sync::Arc;

pub use self::protection::{Protected, SettingsFiles};
pub(super) use self::secrets::may_be_secret;

use self::protection::{Protection, active};
use super::context::{RequestContext, name_of};
use super::verdict::{BUILT_IN, RuleDecision, RuleEffect};
use crate::classify::{Crud, Part, Tables, UNKNOWN};
use files::ProtectedFiles;

/// The compiled protections.
#[derive(Debug)]
pub(super) struct Protections {
    places: Arc<Protected>,
    files: ProtectedFiles,
}

impl Protections {
    pub(super) fn new(places: &Protected) -> Self {
        let places = Arc::new(places.clone());
        Self {
            files: ProtectedFiles::new(places.clone()),
            places,
        }
    }

    pub(super) fn places(&self) -> &Protected {
        &self.places
    }

    /// Returns a verdict if a request touches a protection.
    pub(super) fn decide(&self, context: &RequestContext<'_>) -> Option<RuleDecision> {
        // Neither access to the network nor a tool of a server runs a program or touches a file that
        // the guard could see.
        if context.request.file.is_none() && !context.request.is_command() {
            return None;
        }
        let (protection, what) = match &context.request.file {
            Some(file) => {
                let guarded = file.paths.iter().find_map(|path| {
                    let text = path.to_string_lossy();
                    let path = context.start.locate(&text);
                    let protection = self.files.tree_protection(context, &path, file.effect)?;
                    Some((protection, text.into_owned()))
                });
                guarded.or_else(|| secrets::file_protection(context, file))?
            }
            None => self.command_protection(context)?,
        };
        Some(RuleDecision {
            effect: RuleEffect::Ask,
            rule: format!("{BUILT_IN} {}", protection.name()),
            reason: format!("{} (`{}`)", protection.reason(), display_text(&what)),
            remember: false,
            names_tool: false,
        })
    }

    fn command_protection(&self, context: &RequestContext<'_>) -> Option<(Protection, String)> {
        if let Some(set) = variables::set_by_project(context) {
            return Some((Protection::Variables, set));
        }
        let parts = &context.parts().all;
        let mut found: Option<(Protection, String)> = None;
        for part in parts {
            let here = self.part_protection(context, part);
            match here {
                // A more specific protection takes precedence.
                Some((Protection::Unknown, _)) => found = found.or(here),
                Some(_) => return here,
                None => {}
            }
        }
        if let Some(value) = network::by_variable(parts, &self.places) {
            return Some((Protection::Port, value));
        }
        // A shell may run commands that are not among the parts, which rules cannot see.
        if found.is_none() && !context.parts().is_followed() {
            found = Some((Protection::Unknown, "…".to_owned()));
        }
        found
    }

    fn part_protection(
        &self,
        context: &RequestContext<'_>,
        part: &Part,
    ) -> Option<(Protection, String)> {
        let words = || {
            let words: Vec<&str> = part.words.iter().map(|word| word.text.as_str()).collect();
            words.join(" ")
        };
        let controls = Tables::embedded().controls(part);
        if let Some(protection) = commands::protection(part, &controls)
            .or_else(|| process::protection(part, &controls, self.places.pid))
            .or_else(|| network::protection(part, &self.places))
        {
            return Some((protection, words()));
        }
        let files = self.files.protection(context, part);
        files
            .or_else(|| secrets::protection(context, part))
            .or_else(|| {
                let runs = has_unknown_effect(part);
                runs.then(|| (Protection::Unknown, words()))
            })
    }
}

/// Returns `true` if a part changes files or runs text that are unknown until it runs.
fn has_unknown_effect(part: &Part) -> bool {
    let unknown = |text: &str| text.contains(UNKNOWN);
    let touches = part.path_effects.iter().chain(&part.redirections);
    let written = touches
        .filter(|touch| touch.effect > Crud::Read)
        .any(|touch| unknown(&touch.path.text));
    let text = Tables::embedded().is_shell(name_of(part))
        && part.words.iter().any(|word| unknown(&word.text));
    let program = part.words.first().is_some_and(|word| !word.known);
    active(part) && (written || text || program)
}

/// Returns a text for people: its beginning, with `…` for each unknown part.
pub(super) fn display_text(text: &str) -> String {
    let text: String = text.chars().take(120).collect();
    text.replace(UNKNOWN, "…")
}
