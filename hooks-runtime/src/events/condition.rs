//! Conditions of registrations: closures, the names of tools, and filters of inputs.

use std::any::Any;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use hooks_core::Failure;

use super::event::Event;

/// The conditions of one registration; all of them have to hold.
#[derive(Clone, Default)]
pub(crate) struct Conditions(Vec<Condition>);

#[derive(Clone)]
pub(crate) enum Condition {
    Closure(Closure),
    /// One of these patterns matches the name of the tool.
    Tools(Arc<[String]>),
    /// An `InputFilter`, and the type of its input.
    Input {
        filter: Arc<dyn Any + Send + Sync>,
        input: &'static str,
    },
}

pub(crate) type Closure = Arc<dyn Fn(Event<'_>) -> bool + Send + Sync>;

/// Field with the name of a tool in the data of an event.
const TOOL_NAME: &str = "tool_name";

impl Conditions {
    pub(crate) fn add_closure(&mut self, closure: Closure) {
        self.0.push(Condition::Closure(closure));
    }

    pub(crate) fn add_tools(&mut self, patterns: Vec<String>) {
        self.0.push(Condition::Tools(patterns.into()));
    }

    pub(crate) fn add_input(&mut self, filter: Arc<dyn Any + Send + Sync>, input: &'static str) {
        self.0.push(Condition::Input { filter, input });
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Condition> {
        self.0.iter()
    }

    /// Logs a warning if an option `tools` has no pattern. `hook` returns a description of the hook.
    pub(crate) fn warn_of_empty_tools(&self, hook: impl FnOnce() -> String) {
        let is_empty = |condition: &Condition| matches!(condition, Condition::Tools(patterns) if patterns.is_empty());
        if self.0.iter().any(is_empty) {
            tracing::warn!(
                target: "hooks_runtime",
                "{} has the option `tools` without a tool, and runs for every tool; name a tool, or leave `tools` out",
                hook()
            );
        }
    }

    /// Returns `true` if a filter is not for events.
    pub(crate) fn has_input_filter(&self) -> bool {
        let mut conditions = self.0.iter();
        conditions.any(|condition| matches!(condition, Condition::Input { .. }))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns `true` if the hook runs for this event. A condition without a result holds, because
    /// the hook may be a check: a closure that panics, and patterns for an event without the name
    /// of a tool.
    pub(crate) fn hold(&self, event: Event<'_>) -> bool {
        self.0.iter().all(|condition| match condition {
            Condition::Closure(closure) => {
                let result = catch_unwind(AssertUnwindSafe(|| closure(event)));
                result.unwrap_or_else(|payload| {
                    let failure = Failure::panic(payload);
                    tracing::warn!(
                        target: "hooks_runtime",
                        event = event.name(),
                        hook = &*event.hook().name(),
                        "the condition {failure}; the hook runs"
                    );
                    true
                })
            }
            Condition::Tools(patterns) => names_tool(patterns, event.str(TOOL_NAME)),
            // Refused at registration.
            Condition::Input { .. } => true,
        })
    }
}

/// Closures are equal if they are the same.
impl PartialEq for Conditions {
    fn eq(&self, other: &Self) -> bool {
        let are_equal = |(one, other): (&Condition, &Condition)| match (one, other) {
            (Condition::Closure(one), Condition::Closure(other)) => Arc::ptr_eq(one, other),
            (Condition::Tools(one), Condition::Tools(other)) => one == other,
            (Condition::Input { filter: one, .. }, Condition::Input { filter: other, .. }) => {
                Arc::ptr_eq(one, other)
            }
            _ => false,
        };
        self.0.len() == other.0.len() && self.0.iter().zip(&other.0).all(are_equal)
    }
}

impl Eq for Conditions {}

impl fmt::Debug for Conditions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let conditions = self.0.iter().map(|condition| match condition {
            Condition::Closure(_) => "closure".to_owned(),
            Condition::Tools(patterns) => format!("tools {patterns:?}"),
            Condition::Input { input, .. } => format!("filter of `{input}`"),
        });
        f.debug_list().entries(conditions).finish()
    }
}

/// Returns `true` if one of the patterns matches the name of the tool, if there is no name, or if
/// there are no patterns.
pub(crate) fn names_tool(patterns: &[String], tool: Option<&str>) -> bool {
    let matches = |tool| patterns.iter().any(|pattern| matches(pattern, tool));
    patterns.is_empty() || tool.is_none_or(matches)
}

/// Returns `true` if the pattern matches the whole name. `*` matches any characters, `?` one.
fn matches(pattern: &str, name: &str) -> bool {
    let (mut pattern, mut name) = (pattern.chars(), name.chars());
    // The rest of the pattern after the last `*`, and the name that it was last compared with.
    let mut retry = None;
    loop {
        let at_name = name.clone();
        match (pattern.next(), name.next()) {
            (None, None) => return true,
            (Some('*'), _) => {
                name = at_name;
                retry = Some((pattern.clone(), name.clone()));
            }
            (Some('?'), Some(_)) => {}
            (Some(one), Some(other)) if one == other => {}
            _ => {
                let Some((rest, mut from)) = retry.take() else {
                    return false;
                };
                // `*` matches one more character.
                if from.next().is_none() {
                    return false;
                }
                pattern = rest.clone();
                name = from.clone();
                retry = Some((rest, from));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn patterns_match_whole_names() {
        for (pattern, name) in [
            ("bash", "bash"),
            ("write_*", "write_file"),
            ("write_*", "write_"),
            ("*", ""),
            ("*", "anything"),
            ("mcp__*__read", "mcp__files__read"),
            ("*a*b", "xaab"),
            ("r?ad", "read"),
            ("größe?", "größen"),
            ("**", "x"),
        ] {
            assert!(matches(pattern, name), "`{pattern}` and `{name}`");
        }
        for (pattern, name) in [
            ("bash", "Bash"),
            ("bash", "bash2"),
            ("write_*", "rewrite_x"),
            ("", "x"),
            ("?", ""),
            ("a*b", "abc"),
            ("*a*b", "bbb"),
        ] {
            assert!(!matches(pattern, name), "`{pattern}` and `{name}`");
        }
    }
}
