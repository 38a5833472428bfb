//! Attributes by their names.

use syn::Attribute;

/// Whether the attribute has one of these names.
pub(crate) fn is_one_of(attr: &Attribute, names: &[&str]) -> bool {
    names.iter().any(|name| attr.path().is_ident(name))
}

/// The attributes that have one of these names.
pub(crate) fn named<'a>(
    attrs: &'a [Attribute],
    names: &[&str],
) -> impl Iterator<Item = &'a Attribute> {
    attrs.iter().filter(|attr| is_one_of(attr, names))
}

/// The `cfg` attributes, which go wherever something is generated from what they stand on.
pub(crate) fn cfgs(attrs: &[Attribute]) -> impl Iterator<Item = &Attribute> {
    named(attrs, &["cfg"])
}
