//! Looks up attributes by name.

use proc_macro2::TokenTree;
use syn::{Attribute, Ident};

use crate::errors::Errors;

/// Returns `true` if the attribute has one of these names.
pub(crate) fn is_one_of(attr: &Attribute, names: &[&str]) -> bool {
    names.iter().any(|name| attr.path().is_ident(name))
}

/// Returns the attributes with one of these names.
pub(crate) fn named<'a>(
    attrs: &'a [Attribute],
    names: &[&str],
) -> impl Iterator<Item = &'a Attribute> {
    attrs.iter().filter(|attr| is_one_of(attr, names))
}

/// Returns `true` if the attribute calls the macro of this name, by any path.
pub(crate) fn calls(attr: &Attribute, name: &str) -> bool {
    let last = attr.path().segments.last();
    last.is_some_and(|segment| segment.ident == name)
}

/// Removes repeated calls of a macro, and reports them.
pub(crate) fn once(attrs: &mut Vec<Attribute>, name: &str, errors: &mut Errors) {
    attrs.retain(|attr| {
        let second = calls(attr, name);
        if second {
            errors.error(attr.path(), format!("duplicate `#[{name}]`; remove one"));
        }
        !second
    });
}

/// Returns the `cfg` attributes, which every item generated from the annotated one needs.
pub(crate) fn cfgs(attrs: &[Attribute]) -> impl Iterator<Item = &Attribute> {
    named(attrs, &["cfg"])
}

/// Returns the attributes, with an `allow` in place of each `expect`. The lint may be raised by any of the
/// generated items, and an expectation would have to be fulfilled by each of them.
pub(crate) fn with_allowed<'a>(attrs: impl Iterator<Item = &'a Attribute>) -> Vec<Attribute> {
    attrs
        .map(|attr| allowed(attr).unwrap_or_else(|| attr.clone()))
        .collect()
}

/// Returns the `allow` for the lints of an `expect`.
pub(crate) fn allowed(attr: &Attribute) -> Option<Attribute> {
    let syn::Meta::List(list) = &attr.meta else {
        return None;
    };
    if !is_or_contains(attr, &["expect"]) {
        return None;
    }
    let allow = |name: &Ident| Ident::new("allow", name.span());
    let mut list = list.clone();
    if let Some(name) = list.path.get_ident().filter(|name| *name == "expect") {
        list.path = allow(name).into();
    } else {
        let tokens = list.tokens.into_iter().map(|token| match token {
            TokenTree::Ident(name) if name == "expect" => allow(&name).into(),
            token => token,
        });
        list.tokens = tokens.collect();
    }
    Some(Attribute {
        meta: syn::Meta::List(list),
        ..attr.clone()
    })
}

/// Returns the attributes for every item generated from the annotated one: the `cfg` attributes,
/// and the `allow`s.
pub(crate) fn everywhere(attrs: &[Attribute]) -> impl Iterator<Item = &Attribute> {
    let goes = |attr: &&Attribute| is_one_of(attr, &["cfg"]) || is_or_contains(attr, &["allow"]);
    attrs.iter().filter(goes)
}

/// Returns the attributes with one of these names, and each `cfg_attr` that contains one.
pub(crate) fn given<'a>(
    attrs: &'a [Attribute],
    names: &[&str],
) -> impl Iterator<Item = &'a Attribute> {
    attrs.iter().filter(|attr| is_or_contains(attr, names))
}

/// Returns `true` if the attribute has one of these names, or is a `cfg_attr` that contains one.
pub(crate) fn is_or_contains(attr: &Attribute, names: &[&str]) -> bool {
    is_one_of(attr, names) || names.iter().any(|name| cfg_attr_contains(attr, name))
}

/// Reports a `cfg_attr` that adds a `cfg` to a method: code generated from the method would not
/// have that `cfg`. `of` names the kind of the method.
pub(crate) fn unconditional(attrs: &[Attribute], of: &str, errors: &mut Errors) {
    for attr in attrs.iter().filter(|attr| cfg_attr_contains(attr, "cfg")) {
        errors.error(
            attr,
            format!("a {of} cannot have a `cfg` inside `cfg_attr`; write one `#[cfg(all(…))]` or `#[cfg(any(…))]`"),
        );
    }
}

/// Returns `true` if the annotated item may be configured away.
pub(crate) fn is_optional(attrs: &[Attribute]) -> bool {
    cfgs(attrs).next().is_some()
}

/// Returns `true` if a `cfg_attr` contains an attribute of this name.
pub(crate) fn cfg_attr_contains(attr: &Attribute, name: &str) -> bool {
    let syn::Meta::List(list) = &attr.meta else {
        return false;
    };
    if !attr.path().is_ident("cfg_attr") {
        return false;
    }
    // The condition is before the first comma, and an attribute after each comma.
    let tokens: Vec<_> = list.tokens.clone().into_iter().collect();
    tokens.windows(2).any(|pair| match pair {
        [TokenTree::Punct(comma), TokenTree::Ident(given)] => {
            comma.as_char() == ',' && given == name
        }
        _ => false,
    })
}
