//! What hooks said besides their answer.

use std::fmt;
use std::ops::{Deref, DerefMut};

use hooks_core::__private::ColdOption;
use serde::{Serialize, Serializer};

/// A `Vec` of one word, of what an [`Emission`](super::Emission) has seldom anything of (`E-29`,
/// `E-36`, `E-152`).
///
/// ```
/// use hooks_runtime::events::Items;
///
/// let mut items = Items::from(vec!["one", "two"]);
/// items.push("three");
/// assert_eq!(items.len(), 3);
/// assert_eq!(items, ["one", "two", "three"]);
/// for item in &mut items {
///     *item = item.trim_end_matches('e');
/// }
/// assert_eq!(vec!["on", "two", "thr"], items);
/// assert_eq!(Vec::from(items).concat(), "ontwothr");
/// ```
#[expect(
    clippy::box_collection,
    reason = "a word where there is nothing, which is nearly always"
)]
pub struct Items<T>(ColdOption<Box<Vec<T>>>);

impl<T> Items<T> {
    /// None.
    #[inline(always)]
    pub const fn new() -> Self {
        Items(ColdOption::none())
    }
}

impl<T> Deref for Items<T> {
    type Target = Vec<T>;

    fn deref(&self) -> &Vec<T> {
        match self.0.as_ref() {
            Some(items) => items,
            None => const { &Vec::new() },
        }
    }
}

impl<T> DerefMut for Items<T> {
    fn deref_mut(&mut self) -> &mut Vec<T> {
        self.0.get_or_default()
    }
}

impl<T> From<Vec<T>> for Items<T> {
    fn from(items: Vec<T>) -> Self {
        if items.is_empty() {
            return Items::new();
        }
        Items(Box::new(items).into())
    }
}

impl<T> From<Items<T>> for Vec<T> {
    fn from(mut items: Items<T>) -> Self {
        items.0.take().map(|items| *items).unwrap_or_default()
    }
}

impl<T> AsRef<[T]> for Items<T> {
    fn as_ref(&self) -> &[T] {
        self
    }
}

impl<T> Extend<T> for Items<T> {
    fn extend<I: IntoIterator<Item = T>>(&mut self, items: I) {
        let mut items = items.into_iter().peekable();
        if items.peek().is_some() {
            Vec::extend(self, items);
        }
    }
}

impl<T> FromIterator<T> for Items<T> {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Self {
        Vec::from_iter(items).into()
    }
}

impl<T> IntoIterator for Items<T> {
    type Item = T;
    type IntoIter = std::vec::IntoIter<T>;

    fn into_iter(self) -> Self::IntoIter {
        Vec::from(self).into_iter()
    }
}

impl<'a, T> IntoIterator for &'a Items<T> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<'a, T> IntoIterator for &'a mut Items<T> {
    type Item = &'a mut T;
    type IntoIter = std::slice::IterMut<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter_mut()
    }
}

impl<T> Default for Items<T> {
    fn default() -> Self {
        Items::new()
    }
}

impl<T: Clone> Clone for Items<T> {
    fn clone(&self) -> Self {
        Items(self.0.clone())
    }
}

impl<T: fmt::Debug> fmt::Debug for Items<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Vec::fmt(self, f)
    }
}

impl<T: PartialEq<U>, U> PartialEq<Items<U>> for Items<T> {
    fn eq(&self, other: &Items<U>) -> bool {
        **self == **other
    }
}

impl<T: PartialEq<U>, U> PartialEq<Vec<U>> for Items<T> {
    fn eq(&self, other: &Vec<U>) -> bool {
        **self == *other
    }
}

impl<T: PartialEq<U>, U> PartialEq<Items<U>> for Vec<T> {
    fn eq(&self, other: &Items<U>) -> bool {
        *self == **other
    }
}

impl<T: PartialEq<U>, U> PartialEq<[U]> for Items<T> {
    fn eq(&self, other: &[U]) -> bool {
        **self == *other
    }
}

impl<T: PartialEq<U>, U> PartialEq<&[U]> for Items<T> {
    fn eq(&self, other: &&[U]) -> bool {
        **self == **other
    }
}

impl<T: PartialEq<U>, U, const N: usize> PartialEq<[U; N]> for Items<T> {
    fn eq(&self, other: &[U; N]) -> bool {
        **self == *other
    }
}

impl<T: Eq> Eq for Items<T> {}

impl<T: Serialize> Serialize for Items<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Vec::serialize(self, serializer)
    }
}
