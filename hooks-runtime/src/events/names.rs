//! Names of events that are probably mistakes: a hook whose event is never emitted, or an emitted
//! event whose hooks are registered under a similar name.
//!
//! Any name is valid, and an event needs no declaration. The registry therefore warns, once for
//! each name, and never refuses a name.
//!
//! A name is checked when its first hook is registered, and at its first emission without hooks. An
//! emission that finds hooks is not checked, so it costs nothing.

use std::collections::HashSet;
use std::fmt;
use std::sync::{Arc, Mutex, TryLockError};

use rpds::HashTrieSetSync;

use super::table::{EventTable, filter_bit};
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
    /// The name that was probably meant, or that has the hooks of a
    /// [`NoHooks`](EventNameProblem::NoHooks).
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
    /// A hook is registered for a name that is neither a standard event nor emitted so far, and
    /// a known event has a similar name.
    Unknown,
    /// The event was emitted without hooks, and an event with a similar name has hooks.
    NoHooks,
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
                 event, or declare this event"
            ),
            (EventNameProblem::NoHooks, Some(similar)) => write!(
                f,
                "event `{event}` has no hooks, but the similar event `{similar}` has; correct one \
                 of the names, or declare the event `{event}`"
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

/// Maximum number of names of each kind that a registry records. If more are needed, the names of
/// events are data, such as ids, and are no longer checked.
const MAX_NAMES: usize = 1024;

/// Number of successive emissions of recorded names after which their filter bit is no longer
/// watched.
const MAX_REPEATS: u8 = 32;

/// The names that a registry knows. A copy of the registry has its own declarations and
/// registrations, and shares what was emitted and what was logged: a copy often exists for one call,
/// and its emissions are the host's.
pub(super) struct EventNames {
    standard: &'static [&'static str],
    declared: NameSet,
    /// Names for which a hook was registered.
    registered: NameSet,
    seen: Arc<Mutex<SeenNames>>,
}

/// A set that is copied in constant time.
type NameSet = HashTrieSetSync<Arc<str>>;

/// The names that a registry and its copies have seen.
struct SeenNames {
    /// Names that were emitted without hooks, except standard and declared names.
    emitted: HashSet<Arc<str>>,
    /// Names with a logged warning.
    warned: HashSet<Arc<str>>,
    /// For each filter bit, the number of emissions since the last new name.
    repeats: [u8; u64::BITS as usize],
}

/// Result of the check of an emission.
#[derive(Default)]
pub(super) struct CheckedEmission {
    pub(super) warning: Option<EventNameWarning>,
    /// Filter bits of names that need no more checks.
    pub(super) settled: u64,
}

impl EventNames {
    pub(super) fn new(standard: &'static [&'static str]) -> Self {
        let seen = SeenNames {
            emitted: HashSet::new(),
            warned: HashSet::new(),
            repeats: [0; u64::BITS as usize],
        };
        EventNames {
            standard,
            declared: NameSet::new_sync(),
            registered: NameSet::new_sync(),
            seen: Arc::new(Mutex::new(seen)),
        }
    }

    /// Returns the names of a copied registry. Takes constant time.
    pub(super) fn copied(&self) -> Self {
        EventNames {
            standard: self.standard,
            declared: self.declared.clone(),
            registered: self.registered.clone(),
            seen: Arc::clone(&self.seen),
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
        let mut seen = lock(&self.seen);
        let with_hooks = table
            .events()
            .filter_map(|event| self.check_hook(event, &seen));
        let misspelled: Vec<_> = with_hooks
            .filter(|warning| warning.similar.is_some())
            .collect();
        let news = misspelled.into_iter();
        news.filter(|warning| seen.warned.insert(Arc::clone(&warning.event)))
            .collect()
    }

    /// Records that a hook was registered for an event.
    pub(super) fn on_registration(&mut self, event: &Arc<str>) -> Option<EventNameWarning> {
        if self.registered.contains(event) || self.registered.size() == MAX_NAMES {
            return None;
        }
        self.registered.insert_mut(Arc::clone(event));
        if self.is_declared(event) {
            return None;
        }
        let mut seen = lock(&self.seen);
        if seen.warned.contains(event) {
            return None;
        }
        let warning = self.check_hook(event, &seen)?;
        seen.warned.insert(Arc::clone(event));
        Some(warning)
    }

    /// Records that an event without hooks was emitted. Waits for no other thread: if one uses the
    /// names, a later emission is checked.
    pub(super) fn on_emission(&mut self, event: &str, table: &EventTable) -> CheckedEmission {
        let mut seen = match self.seen.try_lock() {
            Ok(seen) => seen,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => return CheckedEmission::default(),
        };
        let bit = filter_bit(event);
        let is_known = seen.emitted.contains(event)
            || self.registered.contains(event)
            || self.is_declared(event);
        let repeats = &mut seen.repeats[bit.trailing_zeros() as usize];
        if is_known {
            *repeats = repeats.saturating_add(1);
            return CheckedEmission {
                settled: if *repeats < MAX_REPEATS { 0 } else { bit },
                ..CheckedEmission::default()
            };
        }
        *repeats = 0;
        if seen.emitted.len() == MAX_NAMES || self.registered.size() == MAX_NAMES {
            return CheckedEmission {
                settled: u64::MAX,
                ..CheckedEmission::default()
            };
        }
        let event: Arc<str> = event.into();
        seen.emitted.insert(Arc::clone(&event));
        let warning = self.check_emission(&event, table);
        CheckedEmission {
            warning: warning.filter(|_| seen.warned.insert(event)),
            ..CheckedEmission::default()
        }
    }

    /// Returns the warnings that apply, by the names of their events.
    pub(super) fn warnings(&self, table: &EventTable) -> Vec<EventNameWarning> {
        let seen = lock(&self.seen);
        let hooks = table
            .events()
            .filter_map(|event| self.check_hook(event, &seen));
        let emitted = seen.emitted.iter();
        let emissions = emitted.filter_map(|event| self.check_emission(event, table));
        let mut warnings: Vec<_> = hooks.chain(emissions).collect();
        if self.declared.is_empty() {
            // Two names may be similar to each other: the log has a warning for the second.
            let is_logged = |event: &Arc<str>| seen.warned.contains(event);
            warnings.retain(|warning| {
                let is_of_other = warning.similar.as_ref().is_some_and(is_logged);
                is_logged(&warning.event) || !is_of_other
            });
        }
        warnings.sort_unstable_by(|a, b| a.event.cmp(&b.event));
        warnings
    }

    /// Checks the name of an event that has hooks.
    fn check_hook(&self, event: &Arc<str>, seen: &SeenNames) -> Option<EventNameWarning> {
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
        if self.declared.is_empty() && seen.emitted.contains(event) {
            return None;
        }
        let emitted = seen.emitted.iter().map(|name| &**name);
        let similar = similar(event, self.declared_names().chain(emitted));
        match (self.declared.is_empty(), similar) {
            (true, None) => None,
            (true, similar) => Some(warning(EventNameProblem::Unknown, similar)),
            (false, similar) => Some(warning(EventNameProblem::Undeclared, similar)),
        }
    }

    /// Checks the name of an event that was emitted without hooks.
    fn check_emission(&self, event: &Arc<str>, table: &EventTable) -> Option<EventNameWarning> {
        if self.is_declared(event) || self.registered.contains(event) {
            return None;
        }
        let with_hooks = table.events().take(MAX_NAMES).map(|name| &**name);
        let (problem, similar) = if self.declared.is_empty() {
            (EventNameProblem::NoHooks, Some(similar(event, with_hooks)?))
        } else {
            let known = self.declared_names().chain(with_hooks);
            (EventNameProblem::Undeclared, similar(event, known))
        };
        Some(EventNameWarning {
            event: Arc::clone(event),
            problem,
            similar,
        })
    }

    fn is_declared(&self, event: &str) -> bool {
        self.standard.contains(&event) || self.declared.contains(event)
    }

    /// Returns the names of the standard events and the declared events.
    fn declared_names(&self) -> impl Iterator<Item = &str> {
        let declared = self.declared.iter().map(|name| &**name);
        self.standard.iter().copied().chain(declared)
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
