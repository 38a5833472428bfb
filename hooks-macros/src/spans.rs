//! Where the compiler points when it refuses generated code.

use proc_macro2::{Group, Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote_spanned};
use syn::ext::IdentExt;

/// The place of a token of the user's, for items that the macro wrote: errors are shown
/// there, and lints still take the items for generated ones.
pub(crate) fn generated_at(place: Span) -> Span {
    Span::call_site().located_at(place)
}

/// The same name, as one that the macro wrote. It is read in the macro's edition, in which
/// it may be a keyword.
pub(crate) fn generated(name: &Ident) -> Ident {
    let (text, place) = (name.unraw().to_string(), generated_at(name.span()));
    // Raw only then: macros that are given the name take what it looks like for the name.
    if text == "gen" || syn::parse_str::<Ident>(&text).is_err() {
        Ident::new_raw(&text, place)
    } else {
        Ident::new(&text, place)
    }
}

/// The spans of the first and the last of the user's tokens. Code that begins with the one
/// and ends with the other is blamed on all of the tokens between, and what the compiler
/// finds wrong with several parts of it is shown once.
pub(crate) fn ends(tokens: &impl ToTokens) -> (Span, Span) {
    let mut spans = tokens
        .to_token_stream()
        .into_iter()
        .map(|token| token.span());
    let first = spans.next().unwrap_or_else(Span::call_site);
    (first, spans.last().unwrap_or(first))
}

/// A call by way of a trait, `<Type as Trait<Args>>::method(value)`. That the type does
/// not implement the trait is one error, at the type, and says nothing of who calls.
pub(crate) fn call_by_way_of(
    ty: &impl ToTokens,
    generated_trait: &TokenStream,
    trait_args: &TokenStream,
    method: &str,
    value: &TokenStream,
) -> TokenStream {
    let (first, last) = ends(ty);
    let open = quote_spanned!(first=> <);
    let generated_trait = respan(generated_trait.clone(), last);
    let method = Ident::new(method, last);
    quote_spanned!(last=> #open #ty as #generated_trait #trait_args>::#method(#value))
}

/// Generated tokens, moved to where the user's tokens are.
pub(crate) fn respan_range(over: &impl ToTokens, tokens: impl ToTokens) -> TokenStream {
    let (first, last) = ends(over);
    let mut span = first;
    let moved = |token| {
        let token = moved(token, span);
        span = last;
        token
    };
    tokens.into_token_stream().into_iter().map(moved).collect()
}

/// Generated tokens ahead of tokens of the user's, as in `::core::Option<Answer>`: the first
/// begins where those do, the others are at another place. An editor shows what every name at
/// the place of a token is, so no name of ours is put where one of the user's stands.
pub(crate) fn respan_prefix(
    over: &impl ToTokens,
    tokens: TokenStream,
    others: Span,
) -> TokenStream {
    let (mut span, _) = ends(over);
    let moved = |token| {
        let is_name = matches!(token, TokenTree::Ident(_));
        let token = moved(token, if is_name { others } else { span });
        span = others;
        token
    };
    tokens.into_iter().map(moved).collect()
}

fn moved(mut token: TokenTree, span: Span) -> TokenTree {
    if let TokenTree::Group(group) = &token {
        token = Group::new(group.delimiter(), respan(group.stream(), span)).into();
    }
    token.set_span(span);
    token
}

/// Generated tokens at one place.
pub(crate) fn respan(tokens: TokenStream, span: Span) -> TokenStream {
    tokens.into_iter().map(|token| moved(token, span)).collect()
}
