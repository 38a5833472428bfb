//! `#[derive(ToolSet)]`: from an enum of tool inputs to the hook set of the tools.

mod attr;
mod expand;
mod model;
mod validate;

use proc_macro2::TokenStream;
use syn::DeriveInput;

pub(crate) fn entry(item: TokenStream) -> TokenStream {
    let definition: DeriveInput = match syn::parse2(item) {
        Ok(definition) => definition,
        Err(error) => return error.to_compile_error(),
    };
    let expanded = validate::validate(&definition).and_then(|set| expand::expand(&set));
    expanded.unwrap_or_else(|errors| errors.to_compile_error())
}
