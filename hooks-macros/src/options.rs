//! Parses `word, option = value, …` in an attribute, and suggests the intended spelling of invalid
//! options. Each error is reported at its tokens, and parsing continues after it.

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use quote::ToTokens;
use syn::ext::IdentExt;
use syn::parse::discouraged::Speculative;
use syn::parse::{ParseStream, Parser};
use syn::{Attribute, Ident, LitStr, Path, PathArguments, Token, Type};

use crate::errors::Errors;

/// Parses the items between the commas of an attribute, each by `one`.
pub(crate) fn read_all(
    attr: &Attribute,
    errors: &mut Errors,
    mut one: impl FnMut(ParseStream<'_>, &mut Errors) -> syn::Result<()>,
) {
    let parsed = attr.parse_args_with(|input: ParseStream<'_>| {
        let mut blamed = false;
        while !input.is_empty() {
            if let Some(comma) = input.parse::<Option<Token![,]>>()? {
                errors.error(comma, "unexpected `,`; remove it");
                continue;
            }
            // A word that was already reported causes no further errors.
            let mut mistakes = Errors::default();
            let read = one(input, &mut mistakes);
            if !blamed {
                errors.found_in(mistakes);
            }
            read?;
            blamed = comma(input, errors)?;
        }
        Ok(())
    });
    errors.ok(parsed);
}

/// Parses the comma after an option. If a word follows instead, it is reported, and begins the next
/// option.
fn comma(input: ParseStream<'_>, errors: &mut Errors) -> syn::Result<bool> {
    if is_end(input) {
        return input.parse::<Option<Token![,]>>().map(|_| false);
    }
    if input.peek(Ident::peek_any) {
        let next = input.fork().call(Ident::parse_any)?;
        errors.error(
            &next,
            format!("expected `,` before `{next}`; separate options with commas"),
        );
        return Ok(true);
    }
    let other: TokenTree = input.parse()?;
    errors.error(
        &other,
        format!("expected `,` in place of `{other}`; separate options with commas"),
    );
    Ok(false)
}

/// Type of an option's value.
pub(crate) trait Value: Sized {
    /// Description for messages.
    const IS: &'static str;
    /// Placeholder for messages.
    const SHAPE: &'static str;

    fn read(input: ParseStream<'_>) -> syn::Result<Self>;
}

impl Value for Type {
    const IS: &'static str = "a type";
    const SHAPE: &'static str = "Type";

    fn read(input: ParseStream<'_>) -> syn::Result<Self> {
        let ty = input.parse()?;
        match &ty {
            Type::Path(path) => no_call(&path.path)?,
            Type::Never(_) | Type::Infer(_) | Type::ImplTrait(_) => {
                return Err(syn::Error::new_spanned(ty, "not the type of a value"));
            }
            _ => {}
        }
        Ok(ty)
    }
}

impl Value for Path {
    const IS: &'static str = "a path";
    const SHAPE: &'static str = "path";

    fn read(input: ParseStream<'_>) -> syn::Result<Self> {
        let path = input.parse()?;
        no_call(&path)?;
        Ok(path)
    }
}

impl Value for Ident {
    const IS: &'static str = "an identifier";
    const SHAPE: &'static str = "Name";

    fn read(input: ParseStream<'_>) -> syn::Result<Self> {
        input.parse()
    }
}

/// Refuses `T::new()`, which syn parses as a path because of `Fn()`.
fn no_call(path: &Path) -> syn::Result<()> {
    let call = |arguments: &&PathArguments| matches!(arguments, PathArguments::Parenthesized(_));
    let mut arguments = path.segments.iter().map(|segment| &segment.arguments);
    match arguments.find(call) {
        Some(call) => Err(syn::Error::new_spanned(call, "a call")),
        None => Ok(()),
    }
}

/// Parses the value after the key of an option. `None` if an error was reported.
pub(crate) fn value<T: Value>(
    key: &Ident,
    input: ParseStream<'_>,
    errors: &mut Errors,
) -> syn::Result<Option<T>> {
    let equals = input.parse::<Option<Token![=]>>()?;
    if is_end(input) {
        errors.error(
            key,
            format!("missing value of `{key}`; write `{key} = {}`", T::SHAPE),
        );
        return Ok(None);
    }
    let ahead = input.fork();
    match T::read(&ahead) {
        Ok(value) if equals.is_some() && (is_end(&ahead) || ahead.peek(Ident)) => {
            input.advance_to(&ahead);
            return Ok(Some(value));
        }
        _ => {}
    }
    let found = rest(input)?;
    let value = meant::<T>(&found).unwrap_or_else(|| T::SHAPE.to_owned());
    let rule = match equals {
        Some(_) => format!("the value of `{key}` must be {}", T::IS),
        None => format!("expected `=` after `{key}`"),
    };
    errors.error(found, format!("{rule}; write `{key} = {value}`"));
    Ok(None)
}

/// Returns the value that a text in quotes or parentheses stood for.
fn meant<T: Value>(found: &TokenStream) -> Option<String> {
    let mut tokens = found.clone().into_iter();
    let text = match (tokens.next()?, tokens.next()) {
        (TokenTree::Group(group), None) if group.delimiter() == Delimiter::Parenthesis => {
            group.stream().to_string()
        }
        (token, None) => quoted(token)?.value(),
        _ => return None,
    };
    T::read.parse_str(&text).is_ok().then_some(text)
}

/// Returns the token, if it is a text.
pub(crate) fn quoted(token: TokenTree) -> Option<LitStr> {
    syn::parse2(token.into_token_stream()).ok()
}

/// Returns `true` at the end of an option.
pub(crate) fn is_end(input: ParseStream<'_>) -> bool {
    input.is_empty() || input.peek(Token![,])
}

/// Takes all tokens up to the next comma outside of angle brackets.
pub(crate) fn rest(input: ParseStream<'_>) -> syn::Result<TokenStream> {
    let mut rest = TokenStream::new();
    let mut depth = 0_usize;
    while !input.is_empty() && (depth > 0 || !input.peek(Token![,])) {
        if let Some(arrow) = input.parse::<Option<Token![->]>>()? {
            arrow.to_tokens(&mut rest);
            continue;
        }
        let token: TokenTree = input.parse()?;
        if let TokenTree::Punct(punct) = &token {
            match punct.as_char() {
                '<' => depth += 1,
                '>' => depth = depth.saturating_sub(1),
                _ => {}
            }
        }
        token.to_tokens(&mut rest);
    }
    Ok(rest)
}
