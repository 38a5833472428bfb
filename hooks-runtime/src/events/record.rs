//! The data of one emission, as hooks change them.
//!
//! Hooks borrow the data for as long as they run, so nothing here moves or changes once a
//! hook may have seen it: a change becomes a layer on top. What is below is not copied.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use hooks_core::EntryId;
use serde_json::Value;

use super::changes::Changes;
use crate::Map;

/// The data of one emission: a base, and what hooks put on top of it.
pub(crate) struct Record<'t> {
    name: &'t Arc<str>,
    base: Base<'t>,
    layers: Layers,
    printed: Mutex<Vec<Printed>>,
}

struct Base<'t> {
    map: Arc<Map>,
    /// What is there where the map has nothing (`E-22`).
    defaults: Option<&'t Arc<Map>>,
    merged: OnceLock<Arc<Map>>,
}

/// What a hook printed.
pub(crate) struct Printed {
    pub(crate) id: EntryId,
    pub(crate) hook: Arc<str>,
    pub(crate) text: String,
}

/// How many layers are on the base. What a hook is given is the data at one version.
pub(crate) type Version = usize;

/// Layers in the order in which they were put on. They stay where they are: the first few
/// lie in the record itself, so that they cost no allocation.
struct Layers {
    first: [OnceLock<Layer>; 4],
    more: OnceLock<Box<Layers>>,
}

/// What one hook changed.
struct Layer {
    change: Change,
    /// The data at this version as one map, where a hook has asked for that.
    merged: OnceLock<Arc<Map>>,
}

pub(crate) enum Change {
    /// Everything below counts no more (`E-25`).
    Replaced(Arc<Map>),
    Fields(Changes),
}

impl<'t> Record<'t> {
    #[inline]
    pub(crate) fn new(
        name: &'t Arc<str>,
        mut map: Arc<Map>,
        mut defaults: Option<&'t Arc<Map>>,
    ) -> Self {
        if let (Some(fields), Some(map)) = (defaults, Arc::get_mut(&mut map)) {
            complete(map, fields);
            defaults = None;
        }
        Record {
            name,
            base: Base {
                map,
                defaults,
                merged: OnceLock::new(),
            },
            layers: Layers::new(),
            printed: Mutex::new(Vec::new()),
        }
    }

    #[inline]
    pub(crate) fn name(&self) -> &'t Arc<str> {
        self.name
    }

    /// Puts a layer on those of this version, which gives the next one.
    #[inline]
    pub(crate) fn push(&self, version: Version, change: Change) -> Version {
        self.layers.set(
            version,
            Layer {
                change,
                merged: OnceLock::new(),
            },
        );
        version + 1
    }

    /// The value of a field at a version.
    #[inline]
    pub(crate) fn get(&self, version: Version, field: &str) -> Option<&Value> {
        for at in (0..version).rev() {
            match &self.layers.get(at).change {
                Change::Replaced(map) => return map.get(field),
                Change::Fields(changes) => match changes.get(field) {
                    None => {}
                    found => return found,
                },
            }
        }
        let found = self.base.map.get(field);
        match self.base.defaults {
            Some(defaults) => found.or_else(|| defaults.get(field)),
            None => found,
        }
    }

    /// The data at a version as one map: made at most once, and only where there is none.
    pub(crate) fn merged(&self, version: Version) -> &Arc<Map> {
        let Some(top) = version.checked_sub(1) else {
            return self.base.merged();
        };
        let layer = self.layers.get(top);
        match &layer.change {
            Change::Replaced(map) => map,
            Change::Fields(changes) => layer.merged.get_or_init(|| {
                let mut map = Map::clone(self.merged(top));
                changes.clone().apply(&mut map);
                Arc::new(map)
            }),
        }
    }

    /// Takes what a hook prints.
    pub(crate) fn print(&self, printed: Printed) {
        let all = self.printed.lock();
        all.unwrap_or_else(PoisonError::into_inner).push(printed);
    }

    /// The data at the last version, and what was printed. Copies nothing but what the
    /// caller has kept for itself, and that only if it was changed.
    #[inline]
    pub(crate) fn finish(self, version: Version) -> (Arc<Map>, Vec<Printed>) {
        let printed = self
            .printed
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner);
        let map = if version == 0 {
            self.base.into_map()
        } else {
            flatten(self.base, self.layers, version)
        };
        (map, printed)
    }
}

/// The base with its layers on it.
fn flatten(base: Base<'_>, layers: Layers, version: Version) -> Arc<Map> {
    let mut base = Some(base);
    let mut map = None;
    for layer in layers.into_iter(version) {
        match (layer.merged.into_inner(), layer.change) {
            (Some(merged), _) | (None, Change::Replaced(merged)) => map = Some(merged),
            (None, Change::Fields(changes)) => {
                let map = map.get_or_insert_with(|| {
                    let base = base.take().expect("the base is the first map there is");
                    base.into_map()
                });
                changes.apply(Arc::make_mut(map));
            }
        }
    }
    map.expect("a version above 0 has a layer")
}

impl Base<'_> {
    fn merged(&self) -> &Arc<Map> {
        match self.defaults {
            None => &self.map,
            Some(defaults) => self.merged.get_or_init(|| {
                let mut map = Map::clone(&self.map);
                complete(&mut map, defaults);
                Arc::new(map)
            }),
        }
    }

    #[inline]
    fn into_map(self) -> Arc<Map> {
        match self.defaults {
            None => self.map,
            Some(defaults) => self.merged.into_inner().unwrap_or_else(|| {
                let mut map = self.map;
                complete(Arc::make_mut(&mut map), defaults);
                map
            }),
        }
    }
}

/// Adds the defaults for fields that are not there; an explicit null is there (`E-22`).
pub(crate) fn complete(map: &mut Map, defaults: &Map) {
    for (field, value) in defaults {
        if !map.contains_key(field) {
            map.insert(field.clone(), value.clone());
        }
    }
}

impl Layers {
    #[inline]
    const fn new() -> Self {
        Layers {
            first: [const { OnceLock::new() }; 4],
            more: OnceLock::new(),
        }
    }

    #[inline]
    fn get(&self, at: usize) -> &Layer {
        let layer = match self.first.get(at) {
            Some(layer) => layer.get(),
            None => return self.more().get(at - self.first.len()),
        };
        layer.expect("a version has all its layers")
    }

    #[inline]
    fn set(&self, at: usize, layer: Layer) {
        match self.first.get(at) {
            Some(place) => {
                let put = place.set(layer);
                assert!(put.is_ok(), "the hooks of one emission run one by one");
            }
            None => self.more().set(at - self.first.len(), layer),
        }
    }

    #[cold]
    fn more(&self) -> &Layers {
        self.more.get_or_init(|| Box::new(Layers::new()))
    }

    fn into_iter(self, layers: usize) -> impl Iterator<Item = Layer> {
        let mut rest = Some(Box::new(self));
        let chunks = std::iter::from_fn(move || {
            let chunk = *rest.take()?;
            rest = chunk.more.into_inner();
            Some(chunk.first)
        });
        chunks
            .flatten()
            .filter_map(OnceLock::into_inner)
            .take(layers)
    }
}
