//! Descriptions of a set and its registrations, for display and for serialisation.

use std::fmt;
use std::time::Duration;

use crate::entry::{EntryMeta, short_type_name};
use crate::escape::escape;

/// Description of a hook set: its slots in the order of their declaration. Prints as a table; the
/// feature `serde` adds serialisation.
///
/// ```
/// use hooks_core::{Entry, hooks};
///
/// #[hooks]
/// trait AppHooks {
///     #[hook(fallback)]
///     async fn choose_model() -> &'static str { "small" }
/// }
///
/// let hooks = AppHooksSet::new()
///     .with_choose_model(Entry::new(async |_last: Option<&'static str>| "large").key("size"));
/// let described = hooks.describe();
/// assert_eq!(described.slots[0].slot, "choose_model");
/// assert_eq!(described.slots[0].entries[0].key.as_deref(), Some("size"));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct SetDescription {
    /// The name of the set's type.
    pub set: &'static str,
    /// Its slots.
    pub slots: Vec<SlotDescription>,
    /// The sets nested in it, by the name of their field.
    pub nested: Vec<NestedDescription>,
}

/// Description of a set nested in another set.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct NestedDescription {
    /// The field that holds the nested set.
    pub field: &'static str,
    /// Description of the nested set.
    pub set: SetDescription,
}

/// Description of a slot.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct SlotDescription {
    /// The method that declares the slot.
    pub slot: &'static str,
    /// `always`, `fallback` or `singleton`.
    pub kind: &'static str,
    /// `true` if the hooks run concurrently. Serialised if `true`.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "is_false"))]
    pub concurrent: bool,
    /// The companions in the order in which they run.
    pub companions: Vec<CompanionDescription>,
    /// The around hooks, from the outermost to the innermost. Serialised if there are any.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Vec::is_empty"))]
    pub around: Vec<EntryDescription>,
    /// The entries in execution order.
    pub entries: Vec<EntryDescription>,
}

/// Description of a companion of a slot.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct CompanionDescription {
    /// `chain`, `aggregate`, `finalize`, or `custom` for a pipeline.
    pub role: &'static str,
    /// The name of its type.
    pub name: String,
}

/// Description of a registration of a slot. The descriptors of registries contain it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct EntryDescription {
    /// The name given at registration, else the name of the hook's type.
    pub name: String,
    /// The key for replacement and removal.
    pub key: Option<String>,
    /// Lower runs first.
    pub priority: i32,
    /// The keys of the entries before which this entry runs.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Vec::is_empty"))]
    pub before: Vec<String>,
    /// The keys of the entries after which this entry runs.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Vec::is_empty"))]
    pub after: Vec<String>,
    /// The keys of the entries before which this entry runs, if they are registered.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Vec::is_empty"))]
    pub before_if_present: Vec<String>,
    /// The keys of the entries after which this entry runs, if they are registered.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Vec::is_empty"))]
    pub after_if_present: Vec<String>,
    /// The owner of the hook. Serialised if there is one.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub owner: Option<String>,
    /// Timeout of a call. Serialised if there is one.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub timeout: Option<Duration>,
    /// `false` if the host does not trust the hook. Serialised if `false`.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "is_true"))]
    pub trusted: bool,
    /// `true` if the entry has a condition, so that it runs for some calls only. Serialised if `true`.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "is_false"))]
    pub conditional: bool,
    /// `false` if the entry is disabled and does not run. Serialised as `disabled: true`,
    /// if `false`.
    #[cfg_attr(
        feature = "serde",
        serde(
            rename = "disabled",
            skip_serializing_if = "is_true",
            serialize_with = "opposite"
        )
    )]
    pub enabled: bool,
}

#[cfg(feature = "serde")]
#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde passes a reference"
)]
fn is_false(value: &bool) -> bool {
    !value
}

#[cfg(feature = "serde")]
#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde passes a reference"
)]
fn is_true(value: &bool) -> bool {
    *value
}

#[cfg(feature = "serde")]
#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde passes a reference"
)]
fn opposite<S: serde::Serializer>(value: &bool, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_bool(!value)
}

impl EntryDescription {
    /// Returns the options besides the priority that decide when the entry runs.
    fn options(&self) -> Vec<String> {
        let named = [
            ("before", &self.before),
            ("before, if present,", &self.before_if_present),
            ("after", &self.after),
            ("after, if present,", &self.after_if_present),
        ];
        let mut options: Vec<_> = named
            .iter()
            .flat_map(|(word, keys)| {
                keys.iter()
                    .map(move |key| format!("{word} {}", escape(key)))
            })
            .collect();
        let owner = self.owner.as_ref();
        options.extend(owner.map(|owner| format!("of {}", escape(owner))));
        options.extend(self.conditional.then(|| "conditional".to_owned()));
        options.extend((!self.enabled).then(|| "disabled".to_owned()));
        options
    }
}

impl SetDescription {
    #[doc(hidden)]
    pub fn __new(set: &'static str) -> Self {
        SetDescription {
            set,
            slots: Vec::new(),
            nested: Vec::new(),
        }
    }

    #[doc(hidden)]
    pub fn __slot(&mut self, slot: SlotDescription) {
        self.slots.push(slot);
    }

    #[doc(hidden)]
    pub fn __nested(&mut self, field: &'static str, set: SetDescription) {
        self.nested.push(NestedDescription { field, set });
    }

    /// Returns a short form of the description, for the set's `Debug`.
    #[doc(hidden)]
    pub fn __names(&self) -> impl fmt::Debug {
        Names(self)
    }

    fn rows(&self, prefix: &str, rows: &mut Vec<[String; COLUMNS]>) {
        for slot in &self.slots {
            slot.rows(prefix, rows);
        }
        for nested in &self.nested {
            nested.set.rows(&format!("{prefix}{}.", nested.field), rows);
        }
    }
}

/// Names of the hooks by slot.
struct Names<'s>(&'s SetDescription);

impl fmt::Debug for Names<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shape = f.debug_struct(self.0.set);
        for slot in &self.0.slots {
            let names: Vec<_> = slot.entries.iter().map(|entry| &entry.name).collect();
            shape.field(slot.slot, &names);
        }
        for nested in &self.0.nested {
            shape.field(nested.field, &Names(&nested.set));
        }
        shape.finish()
    }
}

impl SlotDescription {
    pub(crate) fn new(
        name: &'static str,
        kind: &'static str,
        companions: [Option<(&'static str, &'static str)>; 3],
        entries: &[&EntryMeta],
    ) -> Self {
        let companions = companions.into_iter().flatten();
        SlotDescription {
            slot: name,
            kind,
            concurrent: false,
            around: Vec::new(),
            companions: companions
                .map(|(role, name)| CompanionDescription {
                    role,
                    name: short_type_name(name),
                })
                .collect(),
            entries: entries.iter().map(|&entry| entry.into()).collect(),
        }
    }

    fn rows(&self, prefix: &str, rows: &mut Vec<[String; COLUMNS]>) {
        let companions: Vec<_> = self
            .companions
            .iter()
            .map(|companion| format!("{} = {}", companion.role, companion.name))
            .collect();
        let slot = [
            format!("{prefix}{}", self.slot),
            match self.concurrent {
                true => format!("{}, concurrent", self.kind),
                false => self.kind.to_owned(),
            },
            companions.join(", "),
        ];
        let mut lead = slot;
        let mut row = |hook: &str, key: &str, priority: String, options: String| {
            let [slot, kind, companions] = std::mem::take(&mut lead);
            // Escaped so that a name stays within its cell.
            let (hook, key) = (escape(hook), escape(key));
            rows.push([slot, kind, companions, hook, key, priority, options]);
        };
        let around = self.around.iter().map(|entry| (entry, Some("around")));
        let entries = self.entries.iter().map(|entry| (entry, None));
        for (entry, word) in around.chain(entries) {
            let options = word.map(str::to_owned).into_iter();
            let options: Vec<_> = options.chain(entry.options()).collect();
            row(
                &entry.name,
                entry.key.as_deref().unwrap_or_default(),
                entry.priority.to_string(),
                options.join(", "),
            );
        }
        if self.entries.is_empty() {
            row("(default)", "", String::new(), String::new());
        }
    }
}

impl From<&EntryMeta> for EntryDescription {
    fn from(entry: &EntryMeta) -> Self {
        fn owned<'k>(keys: impl Iterator<Item = &'k str>) -> Vec<String> {
            keys.map(str::to_owned).collect()
        }
        EntryDescription {
            name: entry.name().into_owned(),
            key: entry.key().map(str::to_owned),
            priority: entry.priority(),
            before: owned(entry.before()),
            after: owned(entry.after()),
            before_if_present: owned(entry.before_if_present()),
            after_if_present: owned(entry.after_if_present()),
            owner: entry.owner().map(str::to_owned),
            timeout: entry.timeout(),
            trusted: entry.is_trusted(),
            conditional: entry.is_conditional(),
            enabled: entry.is_enabled(),
        }
    }
}

/// The last column is printed if an entry has one of its options.
const COLUMNS: usize = 7;

/// A table, one line per entry in execution order; the columns are as wide as needed.
impl fmt::Display for SetDescription {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let head = [
            "slot",
            "kind",
            "companions",
            "hook",
            "key",
            "priority",
            "options",
        ];
        let mut rows = vec![head.map(str::to_owned)];
        self.rows("", &mut rows);
        if rows[1..].iter().all(|row| row[COLUMNS - 1].is_empty()) {
            rows[0][COLUMNS - 1].clear();
        }
        let mut widths = [0; COLUMNS];
        for row in &rows {
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = (*width).max(cell.chars().count());
            }
        }
        writeln!(f, "{}", self.set)?;
        for row in &rows {
            let mut line = String::new();
            for (cell, width) in row.iter().zip(widths) {
                line.push_str(&format!("{cell:width$}  "));
            }
            writeln!(f, "{}", line.trim_end())?;
        }
        Ok(())
    }
}
