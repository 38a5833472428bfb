//! Spans of generated code, which decide where the compiler reports its errors.

use proc_macro2::{Group, Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, TokenStreamExt, quote_spanned};
use syn::ext::IdentExt;

/// Returns the span of a user's token for generated items: errors are shown there, and lints still
/// treat the items as generated.
pub(crate) fn generated_at(place: Span) -> Span {
    Span::call_site().located_at(place)
}

/// Returns the name as a generated one. It belongs to the macro's edition, in which it may be a
/// keyword.
pub(crate) fn generated(name: &Ident) -> Ident {
    let (text, place) = (name.unraw().to_string(), generated_at(name.span()));
    // Raw only if needed: macros that receive the name use its text.
    if text == "gen" || syn::parse_str::<Ident>(&text).is_err() {
        Ident::new_raw(&text, place)
    } else {
        Ident::new(&text, place)
    }
}

/// Returns the spans of the first and the last token. If code begins with the first span and ends
/// with the last, errors are reported at all tokens between, and several errors about it are shown
/// once.
pub(crate) fn ends(tokens: &impl ToTokens) -> (Span, Span) {
    let mut spans = tokens
        .to_token_stream()
        .into_iter()
        .map(|token| token.span());
    let first = spans.next().unwrap_or_else(Span::call_site);
    (first, spans.last().unwrap_or(first))
}

/// Returns a call by way of a trait, `<Type as Trait<Args>>::method(value)`. If the type does not
/// implement the trait, there is one error, at the type, which does not mention the caller.
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

/// Moves generated tokens to the span of the user's tokens.
pub(crate) fn respan_range(over: &impl ToTokens, tokens: impl ToTokens) -> TokenStream {
    respan_between(ends(over), tokens).to_token_stream()
}

/// As [`respan_range`], with the [`ends`] of the user's tokens.
pub(crate) fn respan_between((first, last): (Span, Span), tokens: impl ToTokens) -> SharedTokens {
    let mut span = first;
    let moved = |token| {
        let token = moved(token, span);
        span = last;
        token
    };
    SharedTokens(tokens.into_token_stream().into_iter().map(moved).collect())
}

/// Moves generated tokens before the user's tokens, as in `::core::Option<Answer>`: the first one
/// has their first span, the others have another span. An editor shows every name at the span of a
/// token, so no generated name gets the span of a user's name.
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

/// Tokens that many generated items contain, such as the path of the framework.
///
/// Quoting appends them one by one. A `TokenStream` in their place is several calls of the compiler
/// wherever it is quoted: `#[hooks]` takes 8 % fewer instructions without them.
#[derive(Clone)]
pub(crate) struct SharedTokens(Vec<TokenTree>);

impl SharedTokens {
    /// Returns the tokens at one span.
    pub(crate) fn respan(&self, span: Span) -> Self {
        SharedTokens(
            self.0
                .iter()
                .cloned()
                .map(|token| moved(token, span))
                .collect(),
        )
    }
}

impl From<TokenStream> for SharedTokens {
    fn from(tokens: TokenStream) -> Self {
        SharedTokens(tokens.into_iter().collect())
    }
}

impl ToTokens for SharedTokens {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        tokens.append_all(&self.0);
    }
}

/// Moves generated tokens to one span.
pub(crate) fn respan(tokens: TokenStream, span: Span) -> TokenStream {
    tokens.into_iter().map(|token| moved(token, span)).collect()
}
