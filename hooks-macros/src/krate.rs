//! Where the expansion finds the framework.

use proc_macro_crate::{FoundCrate, crate_name};
use proc_macro2::{Span, TokenStream};
use quote::quote;
use syn::Ident;

/// The module of `hooks-core` that expansions call, whichever of the two crates the user
/// depends on, and whatever the user calls it.
pub(crate) fn private() -> TokenStream {
    let krate = root();
    quote!(#krate::__private)
}

/// The framework's crate.
pub(crate) fn root() -> TokenStream {
    named(&["hooks-core", "hooks-runtime"])
}

/// The module of `hooks-runtime` that has the tool sets.
pub(crate) fn toolset() -> TokenStream {
    let krate = named(&["hooks-runtime"]);
    quote!(#krate::toolset)
}

/// The first of these packages that the user depends on, under the user's name for it.
fn named(packages: &[&str]) -> TokenStream {
    let found = packages
        .iter()
        .find_map(|package| Some((package, crate_name(package).ok()?)));
    let name = match found {
        Some((_, FoundCrate::Name(name))) => name,
        Some((package, FoundCrate::Itself)) => package.replace('-', "_"),
        None => packages[0].replace('-', "_"),
    };
    let name = Ident::new(&name, Span::call_site());
    quote!(::#name)
}
