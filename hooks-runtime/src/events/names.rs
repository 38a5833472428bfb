//! Names of events that are probably mistakes: of hooks that may never run.
//!
//! Any name is valid, and an event needs no declaration. The registry therefore warns, once for
//! each name, and never refuses a name. A name is checked when its first hook is registered; an
//! emission checks nothing.

use std::collections::HashSet;
use std::fmt;
use std::sync::{Arc, Mutex};

use rpds::HashTrieSetSync;

use super::table::EventTable;
use crate::lock::lock;

/// A name of an event that is probably a mistake; see
/// [`HookRegistry::event_name_warnings`](super::HookRegistry::event_name_warnings).
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct EventNameWarning {
    /// The name.
    pub event: Arc<str>,
    /// The problem of the name.
    pub problem: EventNameProblem,
    /// The name that was probably meant.
    pub similar: Option<Arc<str>>,
}

/// Problem of the name of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum EventNameProblem {
    /// A hook is registered for the empty name.
    Empty,
    /// A hook is registered for a name with white space or a control character.
    WhiteSpace,
    /// A hook is registered for a name with `*`, which matches only itself.
    Pattern,
    /// Events are [declared](super::HookRegistry::declare_events), and this event is not.
    Undeclared,
    /// A hook is registered for a name that is not a standard event, and a standard event has a
    /// similar name.
    Unknown,
}

impl fmt::Display for EventNameWarning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let event = self.event.escape_debug();
        match (self.problem, &self.similar) {
            (EventNameProblem::Empty, _) => {
                f.write_str("empty event name; register the hook for the name of an event")
            }
            (EventNameProblem::WhiteSpace, _) => write!(
                f,
                "white space in the event name `{event}`; remove it, or declare the event"
            ),
            (EventNameProblem::Pattern, _) => write!(
                f,
                "`*` in the event name `{event}` matches only itself; register the hook for each \
                 event, or for every event with `register_any`, or declare this event"
            ),
            (EventNameProblem::Unknown, Some(similar)) => write!(
                f,
                "unknown event `{event}`, similar to `{similar}`; correct the name, or declare the \
                 event"
            ),
            (_, Some(similar)) => write!(
                f,
                "undeclared event `{event}`, similar to `{similar}`; correct the name, or declare \
                 the event"
            ),
            (_, None) => write!(
                f,
                "undeclared event `{event}`; declare it with `declare_events`"
            ),
        }
    }
}

/// Maximum number of names that a registry records. If more are needed, the names of events are data,
/// such as ids, and are no longer checked.
const MAX_NAMES: usize = 1024;

/// The names that a registry knows. A copy of the registry has its own declarations and
/// registrations, and shares what was logged: a copy often exists for one call.
pub(super) struct EventNames {
    standard: &'static [&'static str],
    declared: NameSet,
    /// Names for which a hook was registered.
    registered: NameSet,
    /// Names with a logged warning, of the registry and its copies.
    warned: Arc<Mutex<HashSet<Arc<str>>>>,
}

/// A set that is copied in constant time.
type NameSet = HashTrieSetSync<Arc<str>>;

impl EventNames {
    pub(super) fn new(standard: &'static [&'static str]) -> Self {
        EventNames {
            standard,
            declared: NameSet::new_sync(),
            registered: NameSet::new_sync(),
            warned: Arc::default(),
        }
    }

    /// Returns the names of a copied registry. Takes constant time.
    pub(super) fn copied(&self) -> Self {
        EventNames {
            standard: self.standard,
            declared: self.declared.clone(),
            registered: self.registered.clone(),
            warned: Arc::clone(&self.warned),
        }
    }

    /// Adds declared names. Returns warnings for hooks that were registered earlier, for names that
    /// are similar to a declared name.
    pub(super) fn declare(
        &mut self,
        events: impl Iterator<Item = Arc<str>>,
        table: &EventTable,
    ) -> Vec<EventNameWarning> {
        events.for_each(|event| self.declared.insert_mut(event));
        let mut warned = lock(&self.warned);
        let with_hooks = table.events().filter_map(|event| self.check(event));
        with_hooks
            .filter(|warning| warning.similar.is_some())
            .filter(|warning| warned.insert(Arc::clone(&warning.event)))
            .collect()
    }

    /// Records that a hook was registered for an event.
    pub(super) fn on_registration(&mut self, event: &Arc<str>) -> Option<EventNameWarning> {
        if self.registered.contains(event) || self.registered.size() == MAX_NAMES {
            return None;
        }
        self.registered.insert_mut(Arc::clone(event));
        let warning = self.check(event)?;
        lock(&self.warned)
            .insert(Arc::clone(event))
            .then_some(warning)
    }

    /// Returns the warnings that apply, by the names of their events.
    pub(super) fn warnings(&self, table: &EventTable) -> Vec<EventNameWarning> {
        let with_hooks = table.events().filter_map(|event| self.check(event));
        let mut warnings: Vec<_> = with_hooks.collect();
        warnings.sort_unstable_by(|a, b| a.event.cmp(&b.event));
        warnings
    }

    /// Checks the name of an event that has hooks.
    fn check(&self, event: &Arc<str>) -> Option<EventNameWarning> {
        if self.is_declared(event) {
            return None;
        }
        let shape = match &**event {
            "" => Some(EventNameProblem::Empty),
            event if event.contains(|c: char| c.is_whitespace() || c.is_control()) => {
                Some(EventNameProblem::WhiteSpace)
            }
            event if event.contains('*') => Some(EventNameProblem::Pattern),
            _ => None,
        };
        let warning = |problem, similar| EventNameWarning {
            event: Arc::clone(event),
            problem,
            similar,
        };
        if let Some(problem) = shape {
            return Some(warning(problem, None));
        }
        let declared = self.declared.iter().map(|name| &**name);
        let similar = similar(event, self.standard.iter().copied().chain(declared));
        match (self.declared.is_empty(), similar) {
            (true, None) => None,
            (true, similar) => Some(warning(EventNameProblem::Unknown, similar)),
            (false, similar) => Some(warning(EventNameProblem::Undeclared, similar)),
        }
    }

    fn is_declared(&self, event: &str) -> bool {
        self.standard.contains(&event) || self.declared.contains(event)
    }
}

/// Returns the name of which `event` is most likely a misspelling, if there is one.
fn similar<'a>(event: &str, names: impl Iterator<Item = &'a str>) -> Option<Arc<str>> {
    let spelling = Spelling::of(event);
    let names = names.filter(|name| *name != event);
    let found = names.filter_map(|name| Some((spelling.distance(&Spelling::of(name))?, name)));
    found.min().map(|(_, name)| name.into())
}

/// A name, with the properties that are compared first.
struct Spelling<'a> {
    name: &'a str,
    length: usize,
    /// A bit for each remainder of the name's characters modulo 32.
    characters: u32,
}

/// Names with fewer characters are never similar.
const MIN_LENGTH: usize = 4;

impl<'a> Spelling<'a> {
    fn of(name: &'a str) -> Self {
        let (mut length, mut characters) = (0, 0);
        for c in name.chars() {
            length += 1;
            characters |= 1 << (u32::from(c) % u32::BITS);
        }
        Spelling {
            name,
            length,
            characters,
        }
    }

    /// Returns the number of edits between two names, or `None` if they are not similar.
    ///
    /// Names that differ only in case and separators are similar. Names that differ in a digit are
    /// not: `step:1` and `step:2` are two events.
    fn distance(&self, other: &Spelling<'_>) -> Option<usize> {
        let length = self.length.min(other.length);
        if length < MIN_LENGTH {
            return None;
        }
        if folded(self.name).eq(folded(other.name)) && folded(self.name).next().is_some() {
            return Some(0);
        }
        let max_edits = match length {
            ..5 => return None,
            5..9 => 1,
            9.. => 2,
        };
        // An edit changes the length by at most one, and at most two bits.
        let bits = (self.characters ^ other.characters).count_ones();
        if self.length.abs_diff(other.length) > max_edits || bits as usize > 2 * max_edits {
            return None;
        }
        if !digits(self.name).eq(digits(other.name)) {
            return None;
        }
        let edits = strsim::osa_distance(self.name, other.name);
        (edits <= max_edits).then_some(edits)
    }
}

/// Returns the letters and digits of a name in lower case.
fn folded(name: &str) -> impl Iterator<Item = char> {
    let characters = name.chars().filter(|c| c.is_alphanumeric());
    characters.flat_map(char::to_lowercase)
}

fn digits(name: &str) -> impl Iterator<Item = char> {
    name.chars().filter(char::is_ascii_digit)
}

#[cfg(test)]
mod tests {
    use super::Spelling;

    fn distance(one: &str, other: &str) -> Option<usize> {
        let there = Spelling::of(one).distance(&Spelling::of(other));
        let back = Spelling::of(other).distance(&Spelling::of(one));
        assert_eq!(there, back, "`{one}` and `{other}`");
        there
    }

    #[test]
    fn misspelled_names_are_similar() {
        for (one, other, edits) in [
            ("tool:pre", "tool:per", 1),
            ("tool:pre", "tol:pre", 1),
            ("tool:pre", "tools:pre", 1),
            ("tool:pre", "tool_pre", 0),
            ("tool:pre", "TOOL:PRE", 0),
            ("tool:pre", "ToolPre", 0),
            ("session:start", "sesion:strat", 2),
            ("größe:neu", "grösse:neu", 2),
            ("context:pre-compact", "context:pre_compact", 0),
            ("step:12:done", "step:12:dnoe", 1),
        ] {
            assert_eq!(distance(one, other), Some(edits), "`{one}` and `{other}`");
        }
    }

    #[test]
    fn different_names_are_not_similar() {
        for (one, other) in [
            ("tool:pre", "tool:post"),
            ("session:start", "session:end"),
            ("agent:spawn", "agent:complete"),
            ("step:1", "step:2"),
            ("order:2024:paid", "order:2025:paid"),
            ("a", "b"),
            ("get", "set"),
            ("::::", "----"),
            ("user:login", "user:logout"),
            ("", "tool:pre"),
        ] {
            assert_eq!(distance(one, other), None, "`{one}` and `{other}`");
        }
    }
}
