//! A type map for values that a request passes through the framework.

use std::any::{Any, TypeId, type_name};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use crate::bounds::{AnyObject, HookObject};

/// Typed values attached to one request: at most one of each type.
///
/// A request's own values override layers of defaults by type. Clones are cheap: they share the
/// values.
///
/// ```
/// use hooks_core::RequestExtensions;
///
/// #[derive(Debug, PartialEq)]
/// struct Tenant(&'static str);
/// #[derive(Debug, PartialEq)]
/// struct Trace(u64);
///
/// let defaults = RequestExtensions::new().ext(Tenant("shared")).ext(Trace(0));
/// let request = RequestExtensions::new().ext(Tenant("eu-prod")).with_defaults(&defaults);
/// assert_eq!(request.get::<Tenant>(), Some(&Tenant("eu-prod")));
/// assert_eq!(request.get::<Trace>(), Some(&Trace(0)));
/// ```
#[derive(Clone, Default)]
pub struct RequestExtensions {
    own: BTreeMap<TypeId, Extension>,
    defaults: Option<Arc<RequestExtensions>>,
}

#[derive(Clone)]
struct Extension {
    /// An `Arc<T>` behind the outer `Arc`; callers get clones of the inner one.
    value: Arc<AnyObject>,
    type_name: &'static str,
}

impl RequestExtensions {
    /// Creates a map without values, and without an allocation.
    pub const fn new() -> Self {
        RequestExtensions {
            own: BTreeMap::new(),
            defaults: None,
        }
    }

    /// Adds a value, for builder chains; replaces an existing value of its type.
    #[must_use]
    pub fn ext<T: Any + HookObject>(mut self, value: T) -> Self {
        self.insert(value);
        self
    }

    /// Adds all values of another map's own layer and of its defaults; they replace existing values
    /// of their types.
    #[must_use]
    pub fn extensions(mut self, other: RequestExtensions) -> Self {
        self.extend(other);
        self
    }

    /// Adds a value, and returns the value of its type that it replaced in this map's own layer.
    pub fn insert<T: Any + HookObject>(&mut self, value: T) -> Option<Arc<T>> {
        self.own
            .insert(TypeId::of::<T>(), Extension::new(value))
            .and_then(|replaced| replaced.downcast().cloned())
    }

    /// Adds all values of another map, including its defaults.
    pub fn extend(&mut self, other: RequestExtensions) {
        if let Some(defaults) = other.defaults {
            self.extend(Arc::unwrap_or_clone(defaults));
        }
        self.own.extend(other.own);
    }

    /// Removes a value of this map's own layer; a default of its type becomes visible again.
    pub fn remove<T: Any + HookObject>(&mut self) -> Option<Arc<T>> {
        self.own
            .remove(&TypeId::of::<T>())
            .and_then(|removed| removed.downcast().cloned())
    }

    /// Returns the value of this type: the request's own, else the nearest default.
    pub fn get<T: Any + HookObject>(&self) -> Option<&T> {
        self.layers()
            .find_map(|layer| layer.own.get(&TypeId::of::<T>()))
            .and_then(Extension::downcast)
            .map(|value| &**value)
    }

    /// Returns `true` if there is a value of this type, own or default.
    pub fn contains<T: Any + HookObject>(&self) -> bool {
        self.get::<T>().is_some()
    }

    /// Returns `true` if there is no value, own or default.
    pub fn is_empty(&self) -> bool {
        self.layers().all(|layer| layer.own.is_empty())
    }

    /// Adds further defaults below the existing ones.
    #[must_use]
    pub fn with_defaults(mut self, defaults: &RequestExtensions) -> Self {
        self.defaults = Some(Arc::new(match self.defaults.take() {
            Some(nearer) => Arc::unwrap_or_clone(nearer).with_defaults(defaults),
            None => defaults.clone(),
        }));
        self
    }

    /// Iterates over this map, then its defaults, nearest first.
    fn layers(&self) -> impl Iterator<Item = &RequestExtensions> {
        std::iter::successors(Some(self), |layer| layer.defaults.as_deref())
    }
}

/// Type names only: the values are opaque.
impl fmt::Debug for RequestExtensions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = |layer: &RequestExtensions| -> Vec<_> {
            layer.own.values().map(|value| value.type_name).collect()
        };
        f.debug_list().entries(self.layers().map(names)).finish()
    }
}

impl Extension {
    fn new<T: Any + HookObject>(value: T) -> Self {
        Extension {
            value: Arc::new(Arc::new(value)),
            type_name: type_name::<T>(),
        }
    }

    fn downcast<T: Any + HookObject>(&self) -> Option<&Arc<T>> {
        self.value.downcast_ref()
    }
}
