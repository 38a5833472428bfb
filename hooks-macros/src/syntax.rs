//! Parses traits and `impl` blocks with their bodies left unparsed: an unfinished body passes
//! through unchanged, and the editor keeps working inside it.

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::token;
use syn::{
    AttrStyle, Attribute, Generics, Ident, ImplItem, Path, Result, Signature, Token, TraitItem,
    Type, TypeParamBound, Visibility, braced,
};

/// Returns the identifiers among the tokens, in groups too.
pub(crate) fn idents(tokens: TokenStream) -> Vec<Ident> {
    let mut found = Vec::new();
    for token in tokens {
        match token {
            TokenTree::Ident(ident) => found.push(ident),
            TokenTree::Group(group) => found.extend(idents(group.stream())),
            TokenTree::Punct(_) | TokenTree::Literal(_) => {}
        }
    }
    found
}

/// A trait.
pub(crate) struct Trait {
    pub(crate) attrs: Vec<Attribute>,
    pub(crate) vis: Visibility,
    pub(crate) unsafety: Option<Token![unsafe]>,
    pub(crate) auto_token: Option<Token![auto]>,
    pub(crate) trait_token: Token![trait],
    pub(crate) ident: Ident,
    pub(crate) generics: Generics,
    pub(crate) supertraits: Punctuated<TypeParamBound, Token![+]>,
    pub(crate) items: Vec<Item<TraitItem>>,
}

/// An `impl` block.
pub(crate) struct Impl {
    pub(crate) attrs: Vec<Attribute>,
    pub(crate) unsafety: Option<Token![unsafe]>,
    pub(crate) impl_token: Token![impl],
    pub(crate) generics: Generics,
    pub(crate) trait_: Option<(Option<Token![!]>, Path, Token![for])>,
    pub(crate) self_ty: Type,
    pub(crate) brace_token: token::Brace,
    pub(crate) items: Vec<Item<ImplItem>>,
}

/// A free function.
pub(crate) struct Function {
    pub(crate) attrs: Vec<Attribute>,
    pub(crate) vis: Visibility,
    pub(crate) sig: Signature,
    pub(crate) body: Group,
}

/// An item in a trait or an `impl` block.
pub(crate) enum Item<Other> {
    Method(Box<Method>),
    Other(Other),
}

/// A method with its body left unparsed.
pub(crate) struct Method {
    pub(crate) attrs: Vec<Attribute>,
    pub(crate) vis: Visibility,
    pub(crate) sig: Signature,
    pub(crate) body: Option<Group>,
}

impl Parse for Trait {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let mut attrs = input.call(Attribute::parse_outer)?;
        let vis = input.parse()?;
        let unsafety = input.parse()?;
        let auto_token = input.parse()?;
        let trait_token = input.parse()?;
        let ident = input.parse()?;
        let mut generics: Generics = input.parse()?;
        let mut supertraits = Punctuated::new();
        if input.parse::<Option<Token![:]>>()?.is_some() {
            while !input.peek(Token![where]) && !input.peek(token::Brace) {
                supertraits.push_value(input.parse()?);
                if !input.peek(Token![+]) {
                    break;
                }
                supertraits.push_punct(input.parse()?);
            }
        }
        generics.where_clause = input.parse()?;
        let (_, items) = items(input, &mut attrs)?;
        Ok(Trait {
            attrs,
            vis,
            unsafety,
            auto_token,
            trait_token,
            ident,
            generics,
            supertraits,
            items,
        })
    }
}

impl Parse for Impl {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let mut attrs = input.call(Attribute::parse_outer)?;
        let unsafety = input.parse()?;
        let impl_token = input.parse()?;
        let mut generics: Generics = if input.peek(Token![<]) && !input.peek2(Token![<]) {
            input.parse()?
        } else {
            Generics::default()
        };
        let negative = input.parse()?;
        let first: Type = input.parse()?;
        let (trait_, self_ty) = match input.parse::<Option<Token![for]>>()? {
            Some(for_token) => (
                Some((negative, trait_path(first)?, for_token)),
                input.parse()?,
            ),
            None => (None, first),
        };
        generics.where_clause = input.parse()?;
        let (brace_token, items) = items(input, &mut attrs)?;
        Ok(Impl {
            attrs,
            unsafety,
            impl_token,
            generics,
            trait_,
            self_ty,
            brace_token,
            items,
        })
    }
}

/// Parses the trait of an `impl` block, which has the syntax of a type up to the `for`.
fn trait_path(ty: Type) -> Result<Path> {
    match ty {
        Type::Path(path) if path.qself.is_none() => Ok(path.path),
        // A fragment of a `macro_rules` macro.
        Type::Group(group) => trait_path(*group.elem),
        other => Err(syn::Error::new_spanned(
            other,
            "expected the path of a trait",
        )),
    }
}

impl Parse for Function {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        Ok(Function {
            attrs: input.call(Attribute::parse_outer)?,
            vis: input.parse()?,
            sig: input.parse()?,
            body: body(input)?,
        })
    }
}

/// Parses the items in the braces. Inner attributes are added to the others.
fn items<Other: Parse>(
    input: ParseStream<'_>,
    attrs: &mut Vec<Attribute>,
) -> Result<(token::Brace, Vec<Item<Other>>)> {
    let content;
    let brace_token = braced!(content in input);
    let inner = content.call(Attribute::parse_inner)?;
    attrs.extend(inner.into_iter().map(|attr| Attribute {
        style: AttrStyle::Outer,
        ..attr
    }));
    let mut items = Vec::new();
    while !content.is_empty() {
        let ahead = content.fork();
        ahead.call(Attribute::parse_outer)?;
        ahead.parse::<Visibility>()?;
        items.push(if is_function(&ahead) {
            Item::Method(Box::new(content.parse()?))
        } else {
            Item::Other(content.parse()?)
        });
    }
    Ok((brace_token, items))
}

fn is_function(input: ParseStream<'_>) -> bool {
    input.peek(Token![fn])
        || input.peek(Token![async])
        || input.peek(Token![unsafe])
        || input.peek(Token![extern])
        || (input.peek(Token![const])
            && (input.peek2(Token![fn])
                || input.peek2(Token![async])
                || input.peek2(Token![unsafe])
                || input.peek2(Token![extern])))
}

impl Parse for Method {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        Ok(Method {
            attrs: input.call(Attribute::parse_outer)?,
            vis: input.parse()?,
            sig: input.parse()?,
            body: match input.parse::<Option<Token![;]>>()? {
                Some(_) => None,
                None => Some(body(input)?),
            },
        })
    }
}

fn body(input: ParseStream<'_>) -> Result<Group> {
    // If an editor cannot repair a body it passes one name instead, and puts the body back into the
    // expansion. The compiler never passes such a function to a macro.
    if input.peek(Ident) {
        let name: Ident = input.parse()?;
        return Ok(Group::new(Delimiter::None, name.into_token_stream()));
    }
    if !input.peek(token::Brace) {
        return Err(input.error("expected the body of the function"));
    }
    match input.parse()? {
        TokenTree::Group(group) => Ok(group),
        other => Err(syn::Error::new(
            other.span(),
            "expected the body of the function",
        )),
    }
}

impl ToTokens for Method {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        let Method {
            attrs,
            vis,
            sig,
            body,
        } = self;
        tokens.extend(quote!(#(#attrs)* #vis #sig));
        match body {
            Some(body) => body.to_tokens(tokens),
            None => <Token![;]>::default().to_tokens(tokens),
        }
    }
}
