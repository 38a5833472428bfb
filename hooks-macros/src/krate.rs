//! Where the expansion finds the framework.

use std::env;

use proc_macro_crate::{Error, FoundCrate, crate_name};
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
    named(&PACKAGES)
}

/// The module of `hooks-runtime` that has the tool sets.
pub(crate) fn toolset() -> TokenStream {
    let krate = named(&["hooks-runtime"]);
    quote!(#krate::toolset)
}

/// What a macro makes of an item, unless the user's crate does not depend on the framework: then
/// nothing that is written can name it, and `rest` is what can stand without it.
pub(crate) fn with_framework(
    rest: TokenStream,
    expand: impl FnOnce() -> TokenStream,
) -> TokenStream {
    match is_missing() {
        true => quote!(#rest ::core::compile_error! { #MISSING }),
        false => expand(),
    }
}

const MISSING: &str = "what the macro writes names `hooks-core`, which this crate does not depend on; add `hooks-core` or `hooks-runtime` to the dependencies in its Cargo.toml";

fn is_missing() -> bool {
    // The dependencies of build scripts are not looked at.
    let is_build_script = |name: String| name.starts_with("build_script_");
    if env::var("CARGO_CRATE_NAME").is_ok_and(is_build_script) {
        return false;
    }
    let missing = |package| matches!(crate_name(package), Err(Error::CrateNotFound { .. }));
    PACKAGES.into_iter().all(missing)
}

/// Those that have what expansions call.
const PACKAGES: [&str; 2] = ["hooks-core", "hooks-runtime"];

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

#[cfg(test)]
mod tests {
    /// This crate is one that depends on neither.
    #[test]
    fn a_crate_without_the_framework_is_told_so() {
        assert!(super::is_missing());
        let error = super::with_framework(Default::default(), || {
            unreachable!("nothing is to be written")
        });
        assert!(error.to_string().contains("add `hooks-core` or"), "{error}");
    }
}
