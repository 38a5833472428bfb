//! Every generated name is on the page of generated code, under the names of its examples.

use std::collections::BTreeSet;

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use quote::quote;
use syn::ext::IdentExt;

use crate::{hooks, impl_hook, impl_hooks, toolset};

const PAGE: &str = include_str!("../../../docs/generated-code.md");

#[test]
fn names_generated_for_a_set_are_documented() {
    let slots = [
        quote!(
            #[hook(always)]
            async fn validate_prompt(prompt: &str) -> bool {
                true
            }
        ),
        quote!(
            #[hook(fallback)]
            async fn validate_prompt(prompt: String) -> bool {
                true
            }
        ),
        quote!(
            #[hook(singleton)]
            async fn validate_prompt(prompt: &u8) {}
        ),
        quote!(
            #[hook(always, chain = C, aggregate = A, output = u8)]
            async fn validate_prompt() -> bool {
                true
            }
        ),
        quote!(
            #[hook(always, finalize = F)]
            async fn validate_prompt() -> bool {
                true
            }
        ),
        quote!(
            #[hook(fallback, custom = P)]
            async fn validate_prompt(prompt: u8) -> bool {
                true
            }
        ),
        quote!(
            #[hook(always)]
            #[cfg(x)]
            async fn validate_prompt() -> bool {
                true
            }
        ),
    ];
    for slot in slots {
        let expansion = hooks::entry(TokenStream::new(), quote!(trait AppHooks { #slot }));
        let names = names(expansion);
        for public in [
            "AppHooks",
            "AppHooksSet",
            "ValidatePrompt",
            "validate_prompt",
        ] {
            assert!(names.contains(public), "`{public}` of {names:?}");
        }
        assert_documented(&names);
    }
    let nesting = quote!(
        #[nested_hooks(tools = ToolHooksSet)]
        trait AppHooks {}
    );
    let names = names(hooks::entry(TokenStream::new(), nesting));
    assert!(names.contains("with_tools"), "{names:?}");
    assert_documented(&names);
}

#[test]
fn names_generated_for_hooks_are_documented() {
    let function = quote!(
        async fn reject_keys(prompt: &str) -> bool {
            true
        }
    );
    let names = names(impl_hook::entry(quote!(ValidatePrompt), function));
    assert!(names.contains("RejectKeys"), "{names:?}");
    assert_documented(&names);

    let block =
        quote!(impl AppHooks for Policy { async fn validate_prompt(&self) -> bool { true } });
    assert_documented(&self::names(impl_hooks::entry(quote!(AppHooksSet), block)));
}

#[test]
fn names_generated_for_a_tool_set_are_documented() {
    let tools = quote! {
        enum Tools { #[tool(output = Forecast)] Weather(WeatherArgs) }
    };
    let names = names(toolset::entry(tools));
    for public in ["ToolsHooks", "ToolsHooksSet", "WeatherHook", "weather"] {
        assert!(names.contains(public), "`{public}` of {names:?}");
    }
    // It is an ordinary set, and the page lists the names of sets in another example.
    let alike = [
        ("ToolsHooks", "AppHooks"),
        ("WeatherHook", "ValidatePrompt"),
        ("weather", "validate_prompt"),
    ];
    let rename = |name: String| {
        let names = alike.iter();
        names.fold(name, |name, (tools, set)| name.replace(tools, set))
    };
    assert_documented(&names.into_iter().map(rename).collect());
}

fn assert_documented(names: &BTreeSet<String>) {
    let words: BTreeSet<&str> = PAGE
        .split(|c: char| !c.is_alphanumeric() && c != '_')
        .collect();
    for name in names {
        assert!(
            words.contains(name.as_str()),
            "`{name}` is generated; add it to docs/generated-code.md"
        );
    }
}

/// Returns the names of these items and of their contents, without bodies and without
/// implementations of traits, whose names are the trait's.
fn names(items: TokenStream) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    // The keyword before a name, and `true` within the implementation of a trait.
    let (mut keyword, mut implements, mut is_function) = (false, false, false);
    for token in items {
        match token {
            TokenTree::Ident(word) => {
                let text = word.unraw().to_string();
                if keyword && text != "_" {
                    names.insert(text.clone());
                }
                keyword = ["const", "fn", "struct", "trait", "type"].contains(&&*text);
                is_function |= text == "fn";
                implements |= text == "for";
            }
            TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => {
                if !implements && !is_function {
                    names.extend(self::names(group.stream()));
                }
                (keyword, implements, is_function) = (false, false, false);
            }
            TokenTree::Punct(punct) if punct.as_char() == ';' => {
                (keyword, implements, is_function) = (false, false, false);
            }
            _ => keyword = false,
        }
    }
    names
}
