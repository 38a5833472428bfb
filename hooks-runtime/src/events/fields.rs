//! The data of one emission, as hooks change them.
//!
//! The emission owns the data, and changes them in place if they are not shared. Otherwise changes
//! of single fields are stored in a layer on top of the shared map, and the rest is copied only
//! when a hook needs all data as one map.

// Attributes that name a row of the bench `performance` hold it. Together:
// `event_modify/4` −1 % instructions.

use std::sync::{Arc, Mutex};

use hooks_core::EntryId;
use once_cell::race::OnceBox;
use serde_json::Value;

use super::changes::Changes;
use super::data::EmitError;
use super::emission::Emission;
use super::lookup;
use crate::Map;
use crate::lock::lock;

/// The data of an event at one moment. A clone shares everything.
#[derive(Clone)]
pub(crate) struct Fields {
    map: Arc<Map>,
    /// Values that replace those of the map, if it could not be changed.
    changes: Option<Arc<Changes>>,
    /// Values for fields that the map does not have, if it could not be completed.
    defaults: Option<Arc<Map>>,
    /// `true` if the data have changed since the last check.
    has_changed: bool,
}

impl Fields {
    #[inline]
    pub(crate) fn new(mut map: Arc<Map>, defaults: Option<&Arc<Map>>) -> Self {
        let mut held = None;
        if let Some(defaults) = defaults {
            match Arc::get_mut(&mut map) {
                Some(map) => complete(map, defaults),
                None => held = Some(Arc::clone(defaults)),
            }
        }
        Fields {
            map,
            changes: None,
            defaults: held,
            has_changed: false,
        }
    }

    /// Returns the value of a field.
    #[cfg_attr(not(debug_assertions), inline(always))] // event_modify/4
    pub(crate) fn get(&self, field: &str) -> Option<&Value> {
        if self.is_plain() {
            lookup::get(&self.map, field)
        } else {
            self.get_from_all(field)
        }
    }

    #[cold] // event_modify/4
    fn get_from_all(&self, field: &str) -> Option<&Value> {
        let changed = self.changes.as_ref().and_then(|changes| changes.get(field));
        changed
            .or_else(|| lookup::get(&self.map, field))
            .or_else(|| {
                let defaults = self.defaults.as_ref()?;
                lookup::get(defaults, field)
            })
    }

    /// Returns all fields as one map, which is a copy if there are layers.
    #[inline]
    pub(crate) fn to_map(&self) -> Arc<Map> {
        if self.is_plain() {
            return Arc::clone(&self.map);
        }
        self.clone().into_map()
    }

    /// Merges the layers, so that [`to_map`](Self::to_map) copies nothing.
    #[inline]
    pub(crate) fn merge(&mut self) {
        if self.is_plain() {
            return;
        }
        let (changes, defaults) = (self.changes.take(), self.defaults.take());
        put_together(Arc::make_mut(&mut self.map), changes, defaults);
    }

    /// Returns `true` if these data are not equal.
    pub(crate) fn differs_from(&self, data: &Arc<Map>) -> bool {
        let is_shared = self.is_plain() && Arc::ptr_eq(&self.map, data);
        !is_shared && self.to_map() != *data
    }

    /// Returns `true` if the data have changed since the last call.
    #[cfg_attr(not(debug_assertions), inline(always))] // event_modify/4
    pub(crate) fn has_changed(&mut self) -> bool {
        std::mem::take(&mut self.has_changed)
    }

    #[cfg_attr(not(debug_assertions), inline(always))] // event_modify/4
    fn is_plain(&self) -> bool {
        self.changes.is_none() && self.defaults.is_none()
    }

    /// Replaces all fields.
    pub(crate) fn replace(&mut self, map: Map) {
        *self = Fields::new(Arc::new(map), None);
        self.has_changed = true;
    }

    /// Changes single fields.
    #[inline]
    pub(crate) fn change(&mut self, changes: Changes) {
        self.has_changed = true;
        if self.is_plain() {
            if let Some(map) = Arc::get_mut(&mut self.map) {
                changes.apply(map);
                return;
            }
        }
        self.add_layer(changes);
    }

    #[cold] // event_modify/4
    fn add_layer(&mut self, changes: Changes) {
        // A few changes are searched faster than a map is copied; many are not.
        let before = self.changes.as_ref().map_or(0, |before| before.len());
        if before + changes.len() > MAX_LAYER_CHANGES {
            self.merge();
            changes.apply(Arc::make_mut(&mut self.map));
            return;
        }
        match &mut self.changes {
            Some(before) => Arc::make_mut(before).extend(changes),
            None => self.changes = Some(Arc::new(changes)),
        }
    }

    /// Returns all fields as one map, which is copied only if it is shared and has changed.
    #[cfg_attr(not(debug_assertions), inline(always))] // event_modify/4
    pub(crate) fn into_map(self) -> Arc<Map> {
        let Fields {
            map,
            changes,
            defaults,
            ..
        } = self;
        if changes.is_none() && defaults.is_none() {
            return map;
        }
        flatten(map, changes, defaults)
    }
}

#[cold] // event_modify/4
fn flatten(
    mut map: Arc<Map>,
    changes: Option<Arc<Changes>>,
    defaults: Option<Arc<Map>>,
) -> Arc<Map> {
    put_together(Arc::make_mut(&mut map), changes, defaults);
    map
}

/// Merges the layers into a map; defaults first, as if they had been applied at once.
fn put_together(map: &mut Map, changes: Option<Arc<Changes>>, defaults: Option<Arc<Map>>) {
    if let Some(defaults) = defaults {
        complete(map, &defaults);
    }
    if let Some(changes) = changes {
        Arc::unwrap_or_clone(changes).apply(map);
    }
}

/// Maximum number of changes in the layer.
const MAX_LAYER_CHANGES: usize = 16;

/// Adds the defaults for missing fields; an explicit null is not missing.
pub(crate) fn complete(map: &mut Map, defaults: &Map) {
    for (field, value) in defaults {
        if !map.contains_key(field) {
            map.insert(field.clone(), value.clone());
        }
    }
}

/// Output that the hooks of an emission print.
#[derive(Default)]
pub(crate) struct Transcript(OnceBox<Lines>);

type Lines = Arc<SharedParts>;

/// Parts that all hooks of an emission share, and most emissions do not have.
#[derive(Default)]
struct SharedParts {
    printed: Mutex<Vec<Printed>>,
    background: Background,
}

/// What a hook can know of its emission besides the data.
#[derive(Default, Clone)]
pub(crate) struct Background {
    /// Data before the changes by hooks.
    pub(crate) original: Option<Arc<Map>>,
    /// Result of the emission, for the phase `Observe`.
    pub(crate) outcome: Option<Arc<Result<Emission, EmitError>>>,
}

/// Text that a hook printed.
#[derive(Clone)]
pub(crate) struct Printed {
    pub(crate) id: EntryId,
    pub(crate) hook: Arc<str>,
    pub(crate) text: String,
}

impl Transcript {
    /// Creates a transcript for hooks that know this background.
    pub(crate) fn with_background(background: Background) -> Self {
        let shared = SharedParts {
            background,
            ..SharedParts::default()
        };
        Transcript(OnceBox::with_value(Box::new(Arc::new(shared))))
    }

    /// Returns the background of the hooks, if there is one.
    pub(crate) fn background(&self) -> Option<&Background> {
        self.0.get().map(|shared| &shared.background)
    }

    fn lines(&self) -> &Lines {
        self.0.get_or_init(Box::default)
    }

    pub(crate) fn print(&self, printed: Printed) {
        lock(&self.lines().printed).push(printed);
    }

    /// Returns a handle of this transcript, for a pending hook.
    pub(crate) fn share(&self) -> Self {
        Transcript(OnceBox::with_value(Box::new(Arc::clone(self.lines()))))
    }

    /// Returns `true` if the transcript is unused.
    #[cfg_attr(not(debug_assertions), inline(always))] // event_modify/4
    pub(crate) fn is_untouched(&self) -> bool {
        self.0.get().is_none()
    }

    /// Returns the printed lines, in order of time.
    pub(crate) fn into_lines(self) -> Vec<Printed> {
        match self.0.get() {
            None => Vec::new(),
            Some(lines) => std::mem::take(&mut *lock(&lines.printed)),
        }
    }
}
