//! Resolves the path of the framework for expansions.

mod command_line;
mod manifest;

use std::cell::RefCell;
use std::env;
use std::path::Path as FilePath;

use command_line::CommandLine;
use manifest::Manifest;
use proc_macro2::{Span, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::{Ident, Path};

use crate::errors::Errors;
use crate::names::crate_of;

thread_local! {
    /// The path to the framework, while a macro expands.
    static ROOT: RefCell<Option<TokenStream>> = const { RefCell::new(None) };
}

/// Returns the module of `hooks-core` that expansions use.
pub(crate) fn private() -> TokenStream {
    let krate = root();
    quote!(#krate::__private)
}

/// Returns the framework's crate, or the module that re-exports it.
pub(crate) fn root() -> TokenStream {
    let given = ROOT.with_borrow(Option::clone);
    given.unwrap_or_else(|| find(&PACKAGES).unwrap_or_else(|| path_to(PACKAGES[0])))
}

/// Returns the module of `hooks-runtime` with the tool sets.
pub(crate) fn toolset() -> TokenStream {
    let krate = root();
    quote!(#krate::toolset)
}

/// Expands a macro whose arguments may contain `crate = path`.
///
/// If the user's crate can name no package of the framework and no path is given, generated code
/// cannot name the framework: the expansion is `rest` and an error.
pub(crate) fn with_framework(
    args: TokenStream,
    rest: TokenStream,
    expand: impl FnOnce(TokenStream) -> TokenStream,
) -> TokenStream {
    with_packages(&PACKAGES, MISSING, args, rest, expand)
}

/// Does the same for a macro whose expansion needs `hooks-runtime`.
pub(crate) fn with_runtime(
    args: TokenStream,
    expand: impl FnOnce(TokenStream) -> TokenStream,
) -> TokenStream {
    with_packages(
        &[RUNTIME],
        MISSING_RUNTIME,
        args,
        TokenStream::new(),
        expand,
    )
}

fn with_packages(
    packages: &[&str],
    missing: &str,
    args: TokenStream,
    rest: TokenStream,
    expand: impl FnOnce(TokenStream) -> TokenStream,
) -> TokenStream {
    let mut errors = Errors::default();
    let (args, path) = take_path(args, &mut errors);
    let root = match path {
        Some(path) => path.into_token_stream(),
        None => match find(packages) {
            Some(found) => found,
            None if errors.is_empty() => {
                return quote!(#rest ::core::compile_error! { #missing });
            }
            None => path_to(packages[0]),
        },
    };
    let expanded = with_root(root, || expand(args));
    errors.with_rest(Some(expanded))
}

/// Expands with this path to the framework.
fn with_root<T>(root: TokenStream, expand: impl FnOnce() -> T) -> T {
    ROOT.set(Some(root));
    let expanded = expand();
    ROOT.set(None);
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
const MISSING_RUNTIME: &str = "the expansion needs `hooks-runtime`, which is not a dependency of this crate; add `hooks-runtime` to the dependencies in Cargo.toml, or name a re-export with `crate = path`";

/// The package with the tool sets, which re-exports `hooks-core`.
const RUNTIME: &str = "hooks-runtime";

/// Packages with the items that expansions use.
const PACKAGES: [&str; 2] = ["hooks-core", RUNTIME];

/// Returns the path to the first of these packages that the call site can name. If this cannot be
/// decided, it is the path without a rename.
fn find(packages: &[&str]) -> Option<TokenStream> {
    let Some(folder) = env::var_os("CARGO_MANIFEST_DIR") else {
        // Without cargo, `extern crate` may name crates of the compiler's search path.
        let linked = CommandLine::current().and_then(|line| linked(line, packages));
        return Some(linked.unwrap_or_else(|| path_to(packages[0])));
    };
    match CommandLine::current() {
        Some(line) => linked(line, packages),
        None => match Manifest::read(FilePath::new(&folder)) {
            Some(manifest) => {
                let is_build_script = env::var("CARGO_CRATE_NAME")
                    .is_ok_and(|name| name.starts_with("build_script_"));
                let name = manifest.name_of(packages, is_build_script);
                name.as_deref().map(path_to)
            }
            None => Some(path_to(packages[0])),
        },
    }
}

fn linked(line: &CommandLine, packages: &[&str]) -> Option<TokenStream> {
    packages.iter().find_map(|package| {
        let name = line.name_of(package);
        let own = || line.compiles(package).then_some(*package);
        name.or_else(own).map(path_to)
    })
}

/// Returns the absolute path to the crate of a package, or to a crate of this name.
fn path_to(name: &str) -> TokenStream {
    let name = Ident::new(&crate_of(name), Span::call_site());
    quote!(::#name)
}

#[cfg(test)]
mod tests {
    /// The examples of this crate depend on `hooks-core`, and nothing on `hooks-runtime`.
    #[test]
    fn a_missing_dependency_is_an_error_with_its_remedy() {
        let expand = |packages: &[&str]| {
            let expansion = |_| quote::quote!(expanded);
            let (args, rest) = Default::default();
            super::with_packages(packages, super::MISSING, args, rest, expansion)
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
        let path = quote::quote!(#path);
        let path = super::with_root(path, super::private);
        assert_eq!(path.to_string(), "framework :: hooks :: __private");
        assert_eq!(super::private().to_string(), ":: hooks_core :: __private");
        let (rest, path) = super::take_path(quote::quote!(crate::AppHooksSet), &mut errors);
        assert_eq!(
            (rest.to_string().as_str(), path.is_none()),
            ("crate :: AppHooksSet", true)
        );
    }
}
