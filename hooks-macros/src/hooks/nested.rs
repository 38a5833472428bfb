//! Parses `#[nested_hooks(field = path::OtherHooksSet)]`.

use syn::parse::ParseStream;
use syn::{Ident, Meta, Path, Token};

use super::model::Nested;
use crate::attrs;
use crate::errors::Errors;
use crate::names;
use crate::options;
use crate::syntax::Trait;

/// Returns the sets that a trait nests.
pub(super) fn read(definition: &Trait, errors: &mut Errors) -> Vec<Nested> {
    let mut all = Vec::new();
    for attr in attrs::named(&definition.attrs, &["nested_hooks"]) {
        match &attr.meta {
            Meta::List(list) if !list.tokens.is_empty() => {
                options::read_all(attr, errors, |input, errors| {
                    read_one(&mut all, input, errors)
                });
            }
            _ => errors.error(
                attr,
                "missing nested set; write `#[nested_hooks(field = path::OtherHooksSet)]`",
            ),
        }
    }
    let own = names::set(&definition.ident, definition.ident.span());
    if let Some(nested) = all
        .iter()
        .find(|nested: &&Nested| nested.set.is_ident(&own))
    {
        errors.error(&nested.set, "a set cannot nest itself; name another set");
    }
    all
}

fn read_one(all: &mut Vec<Nested>, input: ParseStream<'_>, errors: &mut Errors) -> syn::Result<()> {
    if !input.peek(Ident) || !input.peek2(Token![=]) {
        errors.error(
            options::rest(input)?,
            "a nested set needs a field name; write `field = path::OtherHooksSet`",
        );
        return Ok(());
    }
    let field: Ident = input.parse()?;
    let Some(set) = options::value::<Path>(&field, input, errors)? else {
        return Ok(());
    };
    let mut segments = set.segments.iter();
    if let Some(generic) = segments.find(|segment| !segment.arguments.is_empty()) {
        errors.error(
            &generic.arguments,
            "a nested set takes no generic arguments; remove them",
        );
    } else if all.iter().any(|other| other.field == field) {
        errors.error(
            &field,
            format!("duplicate nested set `{field}`; remove one"),
        );
    } else {
        all.push(Nested { field, set });
    }
    Ok(())
}
