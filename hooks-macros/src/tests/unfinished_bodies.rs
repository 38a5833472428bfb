//! Bodies that do not parse, as in an editor during typing: every macro passes them through
//! unchanged.

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use quote::quote;

use crate::{hooks, impl_hook, impl_hooks};

const BODY: &str = "{ let x = ; if prompt. self. }";

#[test]
fn hooks_keeps_an_unfinished_default_body() {
    let item = item("trait AppHooks { #[hook(always)] async fn check(prompt: &str) -> bool BODY }");
    let expansion = hooks::entry(TokenStream::new(), item);
    assert!(contains_body(expansion));
}

#[test]
fn hooks_keeps_an_unfinished_default_body_beside_an_error() {
    let item =
        item("trait AppHooks { #[hook(sometimes)] async fn check(prompt: &str) -> bool BODY }");
    let expansion = hooks::entry(TokenStream::new(), item);
    assert!(expansion.to_string().contains("compile_error"));
    assert!(contains_body(expansion));
}

#[test]
fn impl_hooks_keeps_an_unfinished_method_body() {
    let item =
        item("impl AppHooks for Policy { async fn check(&self, prompt: &str) -> bool BODY }");
    assert!(contains_body(impl_hooks::entry(quote!(AppHooksSet), item)));
}

#[test]
fn impl_hook_keeps_an_unfinished_function_body() {
    let item = item("async fn no_keys(prompt: &str) -> bool BODY");
    assert!(contains_body(impl_hook::entry(quote!(Check), item)));
}

/// An editor replaces a body that it cannot repair by a name, and the name by the body afterwards.
#[test]
fn a_name_in_place_of_a_body_is_kept() {
    let default = "trait AppHooks { #[hook(always)] async fn check(prompt: &str) -> bool mended }";
    let method = "impl AppHooks for Policy { async fn check(&self, prompt: &str) -> bool mended }";
    let expansions = [
        impl_hooks::entry(quote!(AppHooksSet), item(method)),
        impl_hook::entry(
            quote!(Check),
            item("async fn no_keys(prompt: &str) -> bool mended"),
        ),
        hooks::entry(TokenStream::new(), item(default)),
    ];
    for expansion in expansions {
        let text = expansion.to_string();
        assert_eq!(text.matches("mended").count(), 1, "{text}");
        assert!(!text.contains("compile_error"), "{text}");
    }
}

/// Returns an item with an unparsed body.
fn item(text: &str) -> TokenStream {
    let item: TokenStream = text
        .replace("BODY", BODY)
        .parse()
        .expect("these are tokens");
    assert!(syn::parse2::<syn::Item>(item.clone()).is_err());
    item
}

/// Returns `true` if the tokens of the body end a block of the expansion. `#[hooks]` adds a statement
/// at the start.
fn contains_body(expansion: TokenStream) -> bool {
    let body = BODY.trim_matches(['{', '}']);
    let body: TokenStream = body.parse().expect("these are tokens");
    let body = body.to_string();
    expansion.into_iter().any(|token| match token {
        TokenTree::Group(group) => {
            let is_block = group.delimiter() == Delimiter::Brace;
            is_block && group.stream().to_string().ends_with(&body) || contains_body(group.stream())
        }
        _ => false,
    })
}
