//! Expands `#[derive(ToolSet)]`: from an enum of tool inputs to the hook set of the tools.

mod attr;
mod expand;
mod model;
mod validate;

use std::collections::HashSet;

use proc_macro2::TokenStream;
use syn::{Data, DeriveInput};

use crate::errors::Errors;

pub(crate) fn entry(item: TokenStream) -> TokenStream {
    let definition: DeriveInput = match syn::parse2(item) {
        Ok(definition) => definition,
        Err(error) => return error.to_compile_error(),
    };
    if is_refused(&definition) {
        return TokenStream::new();
    }
    let mut errors = Errors::default();
    attr::of_the_enum(&definition.attrs, &mut errors);
    let expanded = validate::validate(&definition).and_then(|set| expand::expand(&set));
    let expanded = expanded.unwrap_or_else(|errors| errors.to_compile_error());
    errors.with_rest(Some(expanded))
}

/// Returns `crate = path`, if the enum has it.
pub(crate) fn args(item: TokenStream) -> TokenStream {
    let definition: Option<DeriveInput> = syn::parse2(item).ok();
    definition.map_or_else(TokenStream::new, |definition| {
        attr::of_the_enum(&definition.attrs, &mut Errors::default())
    })
}

/// Returns `true` if two variants share a name, which the compiler reports.
fn is_refused(definition: &DeriveInput) -> bool {
    let mut names = HashSet::new();
    match &definition.data {
        Data::Enum(data) => !data
            .variants
            .iter()
            .all(|variant| names.insert(&variant.ident)),
        Data::Struct(_) | Data::Union(_) => false,
    }
}
