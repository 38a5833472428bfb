//! Checks that every time that is serialized has the form of `hooks_runtime::timestamp`.

use std::collections::BTreeMap;
use std::path::Path;

use hooks_tests::repository;
use syn::visit::{self, Visit};
use syn::{Attribute, Field, GenericArgument, ItemEnum, ItemStruct, PathArguments, Type};

use crate::names::{PACKAGES, read_sources};

/// Collects the fields of serialized types that are times.
#[derive(Default)]
struct Times {
    /// `true` in a type that derives `Serialize`.
    is_serialized: bool,
    /// Name of the field, and `true` if it has the fixed form.
    fields: Vec<(String, bool)>,
}

/// Returns `true` for `Timestamp` and `Option<Timestamp>`, with or without a path.
fn is_time(kind: &Type) -> bool {
    let Type::Path(path) = kind else {
        return false;
    };
    let Some(last) = path.path.segments.last() else {
        return false;
    };
    match &last.arguments {
        PathArguments::None => last.ident == "Timestamp",
        PathArguments::AngleBracketed(inner) => inner.args.iter().any(|argument| match argument {
            GenericArgument::Type(inner) => is_time(inner),
            _ => false,
        }),
        PathArguments::Parenthesized(_) => false,
    }
}

/// Returns `true` if an attribute contains this word in its tokens.
fn contains(attributes: &[Attribute], word: &str) -> bool {
    attributes.iter().any(|attribute| match &attribute.meta {
        syn::Meta::List(list) => list.tokens.to_string().contains(word),
        _ => false,
    })
}

impl Times {
    fn within(&mut self, attributes: &[Attribute], visit: impl FnOnce(&mut Self)) {
        // `Serialize` as a word of its own, not as a part of `Deserialize`.
        self.is_serialized = attributes.iter().any(|attribute| match &attribute.meta {
            syn::Meta::List(list) => list
                .tokens
                .to_string()
                .split(|c: char| !c.is_alphanumeric())
                .any(|word| word == "Serialize"),
            _ => false,
        });
        visit(self);
        self.is_serialized = false;
    }
}

impl<'a> Visit<'a> for Times {
    fn visit_item_struct(&mut self, item: &'a ItemStruct) {
        self.within(&item.attrs, |times| visit::visit_item_struct(times, item));
    }

    fn visit_item_enum(&mut self, item: &'a ItemEnum) {
        self.within(&item.attrs, |times| visit::visit_item_enum(times, item));
    }

    fn visit_field(&mut self, field: &'a Field) {
        if self.is_serialized && is_time(&field.ty) {
            let name = field
                .ident
                .as_ref()
                .map_or_else(String::new, ToString::to_string);
            let is_fixed = contains(&field.attrs, "timestamp::serialize");
            self.fields.push((name, is_fixed));
        }
    }
}

#[test]
fn serialized_times_have_the_fixed_form() {
    let (mut checked, mut wrong) = (0, Vec::new());
    for package in PACKAGES {
        let mut sources = BTreeMap::new();
        read_sources(&repository().join(package), Path::new("src"), &mut sources);
        for (path, source) in &sources {
            let mut times = Times::default();
            source.items.iter().for_each(|item| times.visit_item(item));
            checked += times.fields.len();
            let not_fixed = times.fields.iter().filter(|(_, is_fixed)| !is_fixed);
            wrong.extend(not_fixed.map(|(name, _)| {
                let path = path.display();
                format!(
                    "{package}/{path}: `{name}`; add `serialize_with = \"hooks_runtime::timestamp::serialize\"`"
                )
            }));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(checked > 30, "only {checked} times were found");
}

#[test]
fn a_serialized_time_without_the_fixed_form_is_found() {
    let source = "
        #[derive(Debug, Serialize)]
        struct A {
            #[serde(serialize_with = \"hooks_runtime::timestamp::serialize\")]
            a: Timestamp,
            b: Option<jiff::Timestamp>,
            c: String,
        }
        #[derive(Deserialize)]
        struct B { d: Timestamp }
        #[derive(serde::Serialize)]
        enum C { D { e: jiff::Timestamp }, E(Vec<Timestamp>) }";
    let mut times = Times::default();
    times.visit_file(&syn::parse_file(source).unwrap());
    let expected = [("a", true), ("b", false), ("e", false), ("", false)];
    let found = times.fields.iter().map(|(name, fixed)| (&**name, *fixed));
    assert!(found.eq(expected), "{:?}", times.fields);
}
