//! `#[nested_hooks(field = path::OtherHooksSet)]` as it is written.

use syn::parse::ParseStream;
use syn::{Ident, Meta, Path, Token};

use super::model::Nested;
use crate::attrs;
use crate::names;
use crate::options;
use crate::report::Report;
use crate::syntax::Trait;

/// The sets that a trait nests.
pub(super) fn read(definition: &Trait, report: &mut Report) -> Vec<Nested> {
    let mut all = Vec::new();
    for attr in attrs::named(&definition.attrs, &["nested_hooks"]) {
        match &attr.meta {
            Meta::List(list) if !list.tokens.is_empty() => {
                options::read_all(attr, report, |input, report| {
                    read_one(&mut all, input, report)
                });
            }
            _ => report.error(
                attr,
                "`#[nested_hooks(…)]` names a set; write `#[nested_hooks(field = path::OtherHooksSet)]`",
            ),
        }
    }
    let own = names::set(&definition.ident, definition.ident.span());
    if let Some(nested) = all
        .iter()
        .find(|nested: &&Nested| nested.set.is_ident(&own))
    {
        report.error(
            &nested.set,
            "a set cannot be nested in itself; name another",
        );
    }
    all
}

fn read_one(all: &mut Vec<Nested>, input: ParseStream<'_>, report: &mut Report) -> syn::Result<()> {
    if !input.peek(Ident) || !input.peek2(Token![=]) {
        report.error(
            options::rest(input)?,
            "a nested set has a field; write `field = path::OtherHooksSet`",
        );
        return Ok(());
    }
    let field: Ident = input.parse()?;
    let Some(set) = options::value::<Path>(&field, input, report)? else {
        return Ok(());
    };
    let mut segments = set.segments.iter();
    if let Some(generic) = segments.find(|segment| !segment.arguments.is_empty()) {
        report.error(
            &generic.arguments,
            "a nested set is named without generic arguments; remove them",
        );
    } else if all.iter().any(|other| other.field == field) {
        report.error(&field, format!("`{field}` is nested twice; remove one"));
    } else {
        all.push(Nested { field, set });
    }
    Ok(())
}
