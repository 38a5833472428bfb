//! Removes reported errors from a trait.
//!
//! The set is generated from the rest, so that blocks that implement its hooks and code that uses
//! them cause no further errors. If an error cannot be removed without changing the signature of
//! hooks, nothing is generated.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Attribute, FnArg, Generics, Ident, Safety, Signature, Token, Visibility};

use super::model::is_unit;
use super::{others, validate};
use crate::attrs;
use crate::errors::Errors;
use crate::hook_attr::{HookAttr, KindWord};
use crate::krate;
use crate::params;
use crate::syntax::{self, Item, Method, Trait};

pub(super) fn recover(definition: &Trait) -> Option<Trait> {
    let mut items: Vec<Item<_>> = Vec::new();
    for item in &definition.items {
        match item {
            Item::Method(found) => items.push(Item::Method(Box::new(method(found)?))),
            // Hooks do not need it; bodies may name it.
            Item::Other(_) => return None,
        }
    }
    Some(Trait {
        attrs: definition.attrs.clone(),
        vis: definition.vis.clone(),
        unsafety: None,
        auto_token: None,
        trait_token: definition.trait_token,
        ident: definition.ident.clone(),
        generics: Generics {
            where_clause: None,
            ..definition.generics.clone()
        },
        supertraits: Default::default(),
        items,
    })
}

fn method(method: &Method) -> Option<Method> {
    let sig = &method.sig;
    let guess = Guess::of(method);
    let body = match &method.body {
        Some(body) if sig.receiver().is_some() && mentions_self(body.stream()) => return None,
        Some(body) if validate::self_type(body.stream()).is_none() => body.clone(),
        _ => syn::parse2(quote!({ ::core::unreachable!() })).ok()?,
    };
    let inputs = params::typed(&sig.inputs).map(|input| {
        FnArg::Typed(syn::PatType {
            attrs: Vec::new(),
            ..input.clone()
        })
    });
    let generics = Generics {
        where_clause: None,
        ..sig.generics.clone()
    };
    Some(Method {
        attrs: others(&method.attrs)
            .cloned()
            .chain([hook(method)])
            .collect(),
        vis: Visibility::Inherited,
        sig: Signature {
            constness: None,
            asyncness: (!guess.sync).then(|| Token![async](sig.fn_token.span)),
            safety: Safety::Default,
            abi: None,
            generics,
            inputs: inputs.collect(),
            ..sig.clone()
        },
        body: Some(body),
    })
}

/// Returns the attribute of a slot; if it is invalid, a guess of the intended one, as far as hooks
/// depend on it.
fn hook(method: &Method) -> Attribute {
    let attrs: Vec<_> = attrs::named(&method.attrs, &["hook"]).collect();
    let mut errors = Errors::default();
    validate::kind(method, &mut errors);
    let guess = Guess::of(method);
    let given = attrs
        .first()
        .map(|attr| HookAttr::read(attr, &mut Errors::default()));
    let is_given = given.is_some_and(|given| given.sync.is_some() == guess.sync);
    if let ([attr], true, true) = (&attrs[..], errors.is_empty(), is_given) {
        return Attribute::clone(attr);
    }
    let name = guess.name.into_iter();
    let kind = match guess.kind {
        KindWord::Always => quote!(always),
        KindWord::Fallback => quote!(fallback),
        KindWord::Singleton => quote!(singleton),
        KindWord::Waterfall => quote!(waterfall),
    };
    let private = krate::private();
    let chain = guess.is_looked_at.then(|| quote!(#private::NoCompanion));
    let chain = chain.into_iter();
    let around = guess.around.into_iter();
    let sync = guess.sync.then(|| quote!(, sync));
    syn::parse_quote!(#[hook(#kind #(, name = #name)* #(, chain = #chain)* #(, #around)* #sync)])
}

/// Returns `true` if the hooks of a slot, which may be invalid, probably receive the previous
/// output.
pub(super) fn takes_last(method: &Method) -> bool {
    let guess = Guess::of(method);
    !is_unit(&params::output(&method.sig)) && !guess.is_looked_at && guess.kind.passes_last()
}

/// Guess of a slot's kind and options, from its first attribute.
struct Guess {
    kind: KindWord,
    name: Option<Ident>,
    /// `true` if a companion sees every output, so hooks receive none.
    is_looked_at: bool,
    /// The option `around`, which adds methods to the set.
    around: Option<Ident>,
    sync: bool,
}

impl Guess {
    fn of(method: &Method) -> Self {
        let attr = attrs::named(&method.attrs, &["hook"]).next();
        let hook = attr.map(|attr| HookAttr::read(attr, &mut Errors::default()));
        let hook = hook.unwrap_or_default();
        let kind = hook.kind.as_ref().map(|(kind, _)| *kind);
        let kind = kind.or(hook.unknown_kind.as_deref().map(guess_kind));
        let kind = kind.unwrap_or(KindWord::Always);
        // By the first letter, which is right in most misspelt keys.
        let looks = |key: &Ident| key.to_string().starts_with(['a', 'c']);
        let has_companion = hook.chain.is_some()
            || hook.aggregate.is_some()
            || hook.concurrent.is_some()
            || hook.unread.iter().chain(&hook.unknown).any(looks);
        Guess {
            kind,
            is_looked_at: has_companion && kind.passes_last(),
            name: hook.name.map(|name| name.value),
            sync: hook.around.is_none() && is_sync(method, hook.sync.is_some()),
            around: hook.around,
        }
    }
}

/// Returns `true` if the hooks of a slot are probably not async: the method is not, or has the option
/// `sync`, and its default does not await.
fn is_sync(method: &Method, has_option: bool) -> bool {
    let is_plain = method.sig.asyncness.is_none() && params::spelled_future(&method.sig).is_none();
    let body = method.body.as_ref();
    (has_option || is_plain) && !body.is_some_and(|body| awaits(body.stream()))
}

fn awaits(body: TokenStream) -> bool {
    syntax::idents(body).iter().any(|name| name == "await")
}

/// Returns the probable meaning of a word in the place of the kind.
fn guess_kind(word: &str) -> KindWord {
    match word
        .trim_start_matches('"')
        .to_lowercase()
        .as_bytes()
        .first()
    {
        Some(b's') => KindWord::Singleton,
        Some(b'f') => KindWord::Fallback,
        Some(b'w') => KindWord::Waterfall,
        _ => KindWord::Always,
    }
}

fn mentions_self(tokens: TokenStream) -> bool {
    syntax::idents(tokens).iter().any(|name| name == "self")
}
