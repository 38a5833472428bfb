//! Resolves the path of the framework for expansions.

use std::cell::RefCell;
use std::env;

use proc_macro_crate::{Error, FoundCrate, crate_name};
use proc_macro2::{Span, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::{Ident, Path};

use crate::errors::Errors;

thread_local! {
    /// The path in `crate = path`, while a macro expands.
    static GIVEN: RefCell<Option<TokenStream>> = const { RefCell::new(None) };
}

/// Returns the module of `hooks-core` that expansions use, from whichever of the two crates the
/// user depends on, under the user's name for it.
pub(crate) fn private() -> TokenStream {
    let krate = root();
    quote!(#krate::__private)
}

/// Returns the framework's crate, or the module that re-exports it.
pub(crate) fn root() -> TokenStream {
    given().unwrap_or_else(|| named(&PACKAGES))
}

fn given() -> Option<TokenStream> {
    GIVEN.with_borrow(Option::clone)
}

/// Returns the module of `hooks-runtime` with the tool sets.
pub(crate) fn toolset() -> TokenStream {
    let krate = given().unwrap_or_else(|| named(&["hooks-runtime"]));
    quote!(#krate::toolset)
}

/// Expands a macro whose arguments may contain `crate = path`.
///
/// If the user's crate depends on no package of the framework and no path is given, generated code
/// cannot name the framework: the expansion is `rest` and an error.
pub(crate) fn with_framework(
    args: TokenStream,
    rest: TokenStream,
    expand: impl FnOnce(TokenStream) -> TokenStream,
) -> TokenStream {
    with_packages(&PACKAGES, args, rest, expand)
}

fn with_packages(
    packages: &[&str],
    args: TokenStream,
    rest: TokenStream,
    expand: impl FnOnce(TokenStream) -> TokenStream,
) -> TokenStream {
    let mut errors = Errors::default();
    let (args, path) = take_path(args, &mut errors);
    if path.is_none() && errors.is_empty() && are_missing(packages) {
        return quote!(#rest ::core::compile_error! { #MISSING });
    }
    let expanded = with_path(path.as_ref(), || expand(args));
    errors.with_rest(Some(expanded))
}

/// Expands with this path to the framework, if there is one.
pub(crate) fn with_path<T>(path: Option<&Path>, expand: impl FnOnce() -> T) -> T {
    GIVEN.set(path.map(ToTokens::to_token_stream));
    let expanded = expand();
    GIVEN.set(None);
    expanded
}

/// Removes `crate = path` from the arguments of a macro, and returns the path.
pub(crate) fn take_path(args: TokenStream, errors: &mut Errors) -> (TokenStream, Option<Path>) {
    let (mut rest, mut path, mut is_given) = (TokenStream::new(), None, false);
    let tokens: Vec<TokenTree> = args.into_iter().collect();
    let is_comma =
        |token: &TokenTree| matches!(token, TokenTree::Punct(punct) if punct.as_char() == ',');
    for argument in tokens.split_inclusive(is_comma) {
        let value = match argument {
            [argument @ .., last] if is_comma(last) => argument,
            argument => argument,
        };
        match value {
            [TokenTree::Ident(key), value @ ..] if key == "crate" && !begins_a_path(value) => {
                if is_given {
                    errors.duplicate(key);
                }
                is_given = true;
                path = path.or(read_path(key, value, errors));
            }
            _ => rest.extend(argument.iter().cloned()),
        }
    }
    if is_given {
        // The comma before it.
        let mut tokens: Vec<TokenTree> = rest.into_iter().collect();
        if tokens.last().is_some_and(is_comma) {
            tokens.pop();
        }
        rest = tokens.into_iter().collect();
    }
    (rest, path)
}

/// Returns `true` if the tokens after `crate` continue a path, as in `crate::AppHooksSet`.
fn begins_a_path(tokens: &[TokenTree]) -> bool {
    matches!(tokens, [TokenTree::Punct(colon), ..] if colon.as_char() == ':')
}

fn read_path(key: &Ident, value: &[TokenTree], errors: &mut Errors) -> Option<Path> {
    const SHAPE: &str = "expected the path of the module that re-exports the framework; write `crate = path::to::hooks_core`";
    let path = match value {
        [TokenTree::Punct(equals), path @ ..] if equals.as_char() == '=' && !path.is_empty() => {
            path
        }
        _ => {
            errors.error(key, SHAPE);
            return None;
        }
    };
    let path: TokenStream = path.iter().cloned().collect();
    let read = syn::parse::Parser::parse2(Path::parse_mod_style, path.clone());
    errors.ok(read.map_err(|_| syn::Error::new_spanned(path, SHAPE)))
}

const MISSING: &str = "the expansion needs `hooks-core`, which is not a dependency of this crate; add `hooks-core` or `hooks-runtime` to the dependencies in Cargo.toml, or name a re-export with `crate = path`";

/// Returns `true` if the user's crate depends on none of these packages.
fn are_missing(packages: &[&str]) -> bool {
    // Dependencies of build scripts do not count.
    let is_build_script = |name: String| name.starts_with("build_script_");
    if env::var("CARGO_CRATE_NAME").is_ok_and(is_build_script) {
        return false;
    }
    let is_missing = |package: &&str| {
        let found = crate_name(package);
        matches!(found, Err(Error::CrateNotFound { .. }))
    };
    packages.iter().all(is_missing)
}

/// Packages with the items that expansions use.
const PACKAGES: [&str; 2] = ["hooks-core", "hooks-runtime"];

/// Returns the first of these packages that the user depends on, under the user's name for it.
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
    /// The examples of this crate depend on `hooks-core`, and nothing on `hooks-runtime`.
    #[test]
    fn a_missing_dependency_is_an_error_with_its_remedy() {
        let expand = |packages: &[&str]| {
            let expansion = |_| quote::quote!(expanded);
            super::with_packages(packages, Default::default(), Default::default(), expansion)
        };
        let error = expand(&["hooks-runtime"]).to_string();
        assert!(error.contains("add `hooks-core` or"), "{error}");
        assert!(!error.contains("expanded"), "{error}");
        assert_eq!(expand(&super::PACKAGES).to_string(), "expanded");
    }

    #[test]
    fn the_crate_path_is_removed_from_the_arguments() {
        let mut errors = super::Errors::default();
        let args = quote::quote!(AppHooksSet, crate = framework::hooks,);
        let (rest, path) = super::take_path(args, &mut errors);
        assert!(errors.is_empty());
        assert_eq!(rest.to_string(), "AppHooksSet");
        let path = super::with_path(path.as_ref(), super::private);
        assert_eq!(path.to_string(), "framework :: hooks :: __private");
        assert_eq!(super::private().to_string(), ":: hooks_core :: __private");
        let (rest, path) = super::take_path(quote::quote!(crate::AppHooksSet), &mut errors);
        assert_eq!(
            (rest.to_string().as_str(), path.is_none()),
            ("crate :: AppHooksSet", true)
        );
    }
}
