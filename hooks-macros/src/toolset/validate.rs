//! Converts an enum into the model: every error is reported, at the tokens that cause it.

use std::collections::HashMap;

use heck::ToSnakeCase;
use proc_macro2::Span;
use quote::format_ident;
use syn::ext::IdentExt;
use syn::{Attribute, Data, DataEnum, DeriveInput, Expr, Fields, Ident, Lit, Meta, Type, Variant};

use super::attr::ToolAttr;
use super::model::{Tool, ToolSet};
use crate::attrs;
use crate::errors::Errors;
use crate::names;
use crate::params;
use crate::spans;

pub(crate) fn validate(definition: &DeriveInput) -> syn::Result<ToolSet<'_>> {
    const ENUMS_ONLY: &str =
        "`#[derive(ToolSet)]` is only valid on an enum; add a variant with the input of each tool";
    let data = match &definition.data {
        Data::Enum(data) => data,
        Data::Struct(data) => return Err(syn::Error::new_spanned(data.struct_token, ENUMS_ONLY)),
        Data::Union(data) => return Err(syn::Error::new_spanned(data.union_token, ENUMS_ONLY)),
    };
    let mut errors = Errors::default();
    header(definition, data, &mut errors);
    let name = &definition.ident;
    let place = spans::generated_at(name.span());
    let set = ToolSet {
        vis: &definition.vis,
        name,
        hooks: format_ident!("{}Hooks", name.unraw(), span = place),
        tools: data
            .variants
            .iter()
            .filter_map(|variant| tool(variant, &mut errors))
            .collect(),
    };
    collisions(&set, data, &mut errors);
    errors.finish(set)
}

fn header(definition: &DeriveInput, data: &DataEnum, errors: &mut Errors) {
    let generics = &definition.generics;
    if !generics.params.is_empty() {
        errors.error(
            &generics.params,
            "a tool set cannot be generic; use concrete types",
        );
    } else if let Some(clause) = &generics.where_clause {
        errors.error(clause, "a tool set cannot have a `where` clause; remove it");
    }
    if data.variants.is_empty() {
        errors.error(
            &definition.ident,
            format!(
                "tool set `{}` has no tools; add a variant with the input of a tool",
                definition.ident
            ),
        );
    }
}

fn tool<'a>(variant: &'a Variant, errors: &mut Errors) -> Option<Tool<'a>> {
    let mut mistakes = Errors::default();
    let attr = ToolAttr::read(&variant.attrs, &mut mistakes);
    let ident = &variant.ident;
    let input = input(variant, &mut mistakes);
    let slot = slot(ident);
    if slot.is_none() {
        mistakes.error(
            ident,
            format!("the name of variant `{ident}` cannot be converted into the name of a method; rename the variant"),
        );
    }
    let is_reserved = |slot: &Ident| names::RESERVED.iter().any(|name| slot == name);
    if slot.as_ref().is_some_and(is_reserved) {
        mistakes.error(
            ident,
            format!(
                "variant `{ident}` would get a method that every hook set already has; rename the variant"
            ),
        );
    }
    if let Some(output) = &attr.output {
        if let Some(found) = params::impl_trait(output) {
            mistakes.error(
                found,
                "the output of a tool cannot be `impl Trait`; use a named type",
            );
        } else if params::borrows(output) {
            mistakes.error(
                output,
                "the output of a tool cannot borrow; use an owned type",
            );
        }
    }
    let mistaken = errors.found_in(mistakes);
    if let (None, false) = (&attr.output, mistaken) {
        errors.error(
            ident,
            format!("tool `{ident}` has no output; add `#[tool(output = Type)]`"),
        );
    }
    let place = spans::generated_at(ident.span());
    Some(Tool {
        attrs: &variant.attrs,
        variant: ident,
        input: input?,
        output: attr.output?,
        name: match &attr.name {
            Some(name) => name.value(),
            None => ident.unraw().to_string().to_snake_case(),
        },
        description: description(&variant.attrs),
        slot: slot?,
        hook: match attr.hook {
            Some(hook) => hook,
            None => format_ident!("{}Hook", ident.unraw(), span = place),
        },
    })
}

/// Returns the type that a variant contains.
fn input<'a>(variant: &'a Variant, errors: &mut Errors) -> Option<&'a Type> {
    let ident = &variant.ident;
    match &variant.fields {
        Fields::Unnamed(fields) => {
            let mut fields = fields.unnamed.iter();
            if let (Some(input), second) = (fields.next(), fields.next()) {
                if let Some(second) = second {
                    errors.error(
                        second,
                        format!("variant `{ident}` has more than one field; group the fields in a struct"),
                    );
                    return None;
                }
                return Some(&input.ty);
            }
            errors.error(ident, without_input(ident));
        }
        Fields::Unit => errors.error(ident, without_input(ident)),
        Fields::Named(fields) => errors.error(
            fields,
            format!("variant `{ident}` has named fields; move them into a struct, and write `{ident}(Input)`"),
        ),
    }
    None
}

fn without_input(ident: &Ident) -> String {
    format!(
        "variant `{ident}` has no input; write `{ident}(Input)`, with a type that implements `serde::Deserialize`"
    )
}

/// Converts `WebSearch` into `web_search`; `None` for `_1`.
fn slot(variant: &Ident) -> Option<Ident> {
    let name = variant.unraw().to_string().to_snake_case();
    // `r#crate` and similar ones are not valid names.
    [name.clone(), format!("r#{name}"), format!("{name}_")]
        .into_iter()
        .find_map(|name| syn::parse_str::<Ident>(&name).ok())
        .filter(|ident| ident != "_")
        .map(|mut ident| {
            ident.set_span(variant.span());
            ident
        })
}

/// Returns the documentation of a variant as one text.
fn description(attrs: &[Attribute]) -> String {
    let lines = attrs::named(attrs, &["doc"]).filter_map(|attr| match &attr.meta {
        Meta::NameValue(meta) => match &meta.value {
            Expr::Lit(literal) => match &literal.lit {
                Lit::Str(text) => {
                    let text = text.value();
                    Some(text.strip_prefix(' ').unwrap_or(&text).to_owned())
                }
                _ => None,
            },
            _ => None,
        },
        _ => None,
    });
    lines.collect::<Vec<_>>().join("\n").trim().to_owned()
}

/// Reports names that clash.
fn collisions(set: &ToolSet<'_>, data: &DataEnum, errors: &mut Errors) {
    let mut tools: HashMap<&str, &Ident> = HashMap::new();
    let mut traits: HashMap<Ident, String> =
        [set.hooks.clone(), names::set(&set.hooks, set.hooks.span())]
            .into_iter()
            .map(|name| (name, "the hook set of the tools".to_owned()))
            .collect();
    let types = set.tools.iter().flat_map(|tool| [tool.input, &tool.output]);
    let types = names::in_types(types).into_iter();
    traits.extend(types.map(|name| (name, "a type of the tools".to_owned())));
    traits.extend(names::PRELUDE_TYPES.iter().map(|name| {
        let name = Ident::new(name, Span::call_site());
        (name, "a type of the prelude".to_owned())
    }));
    for tool in &set.tools {
        if let Some(first) = tools.insert(&tool.name, tool.variant) {
            let (at, name) = (name_token(tool, data), &tool.name);
            errors.push(syn::Error::new(
                at,
                format!("duplicate tool `{name}` of `{first}` and `{}`; rename one with `#[tool(name = \"…\")]`", tool.variant),
            ));
            continue;
        }
        let owner = format!("the hook of `{}`", tool.variant);
        for name in [tool.hook.clone(), format_ident!("Stateful{}", tool.hook)] {
            if let Some(other) = traits.insert(name.clone(), owner.clone()) {
                errors.error(
                    &tool.hook,
                    format!("the hook of `{}` would be named `{name}`, which is taken by {other}; add `#[tool(hook = OtherName)]`", tool.variant),
                );
                break;
            }
        }
    }
}

/// Returns the span of a tool's name.
fn name_token(tool: &Tool<'_>, data: &DataEnum) -> Span {
    let mut ignored = Errors::default();
    data.variants
        .iter()
        .find(|variant| std::ptr::eq(&variant.ident, tool.variant))
        .and_then(|variant| ToolAttr::read(&variant.attrs, &mut ignored).name)
        .map_or(tool.variant.span(), |name| name.span())
}
