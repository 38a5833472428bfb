//! `#[hooks]`: from a trait of slots to its hook set.

mod expand;
mod model;
mod nested;
mod recover;
mod recursion;
mod slot;
mod types;
mod validate;

use std::collections::HashSet;

use proc_macro2::TokenStream;
use quote::quote;

use crate::attrs;
use crate::errors::{self, Errors};
use crate::krate;
use crate::params;
use crate::syntax::{Item, Method, Trait};

pub(crate) fn entry(args: TokenStream, item: TokenStream) -> TokenStream {
    let mut definition: Trait = match syn::parse2(item.clone()) {
        Ok(definition) => definition,
        Err(error) => return errors::with_errors(item.clone(), &not_a_trait(item, error)),
    };
    let mut errors = Errors::default();
    attrs::once(&mut definition.attrs, "hooks", &mut errors);
    let expanded = match validate::validate(args, &definition) {
        Ok(set) => expand::expand(&set),
        Err(mistakes) => {
            errors.push(mistakes);
            recovered(&definition).unwrap_or_else(|| fallback(&definition))
        }
    };
    errors.with_rest(Some(expanded))
}

/// Returns the errors of a trait that another macro wrote.
pub(crate) fn check(item: TokenStream) -> syn::Result<()> {
    let definition: Trait = syn::parse2(item)?;
    validate::validate(TokenStream::new(), &definition).map(|_| ())
}

/// Returns the expansion of a trait that another macro wrote.
pub(crate) fn expanded(item: TokenStream) -> syn::Result<TokenStream> {
    let definition: Trait = syn::parse2(item)?;
    let set = validate::validate(TokenStream::new(), &definition)?;
    Ok(expand::expand(&set))
}

/// Returns the error for an item that does not parse as a trait.
fn not_a_trait(item: TokenStream, error: syn::Error) -> syn::Error {
    match syn::parse2::<syn::Item>(item) {
        Ok(syn::Item::Struct(item)) => syn::Error::new_spanned(item.struct_token, TRAITS_ONLY),
        Ok(syn::Item::Enum(item)) => syn::Error::new_spanned(item.enum_token, TRAITS_ONLY),
        Ok(syn::Item::Fn(item)) => syn::Error::new_spanned(item.sig.fn_token, TRAITS_ONLY),
        Ok(syn::Item::Impl(item)) => syn::Error::new_spanned(
            item.impl_token,
            "`#[hooks]` is only valid on a trait; use `#[impl_hooks(…)]` on an `impl` block",
        ),
        Ok(syn::Item::Trait(_)) | Err(_) => error,
        Ok(item) => syn::Error::new_spanned(item, TRAITS_ONLY),
    }
}

const TRAITS_ONLY: &str =
    "`#[hooks]` is only valid on a trait; declare the slots as methods of a trait";

/// Returns the trait and its set without the invalid parts, if these can be removed.
fn recovered(definition: &Trait) -> Option<TokenStream> {
    let recovered = recover::recover(definition)?;
    let set = validate::validate(TokenStream::new(), &recovered).ok()?;
    Some(expand::expand(&set))
}

/// Returns the trait as it would be without the macro, with the items that blocks under
/// `#[impl_hooks]` refer to.
fn fallback(definition: &Trait) -> TokenStream {
    let Trait {
        attrs,
        vis,
        unsafety,
        trait_token,
        ident,
        generics,
        supertraits,
        items,
        ..
    } = definition;
    let attrs = others(attrs);
    let mut names = HashSet::new();
    let items = items.iter().filter_map(|item| match item {
        // A repeated name was already reported.
        Item::Method(method) if !names.insert(&method.sig.ident) => None,
        Item::Method(method) if types::cannot_stand(&method.sig, generics) => None,
        Item::Method(method) => Some(fallback_method(method)),
        Item::Other(other) => Some(quote!(#other)),
    });
    let where_clause = &generics.where_clause;
    quote! {
        #(#attrs)*
        #[allow(async_fn_in_trait, dead_code, unused_variables)]
        #vis #unsafety #trait_token #ident #generics : #supertraits #where_clause {
            #(#items)*
            #[doc(hidden)]
            fn __hooks_set<__T>() -> __T {
                ::core::unreachable!()
            }
        }
    }
}

fn fallback_method(method: &Method) -> TokenStream {
    let Method {
        attrs, sig, body, ..
    } = method;
    let attrs = others(attrs);
    let mut names = HashSet::new();
    let inputs = sig.inputs.iter().filter(|input| match input {
        // A repeated name was already reported.
        syn::FnArg::Typed(input) => match &*input.pat {
            syn::Pat::Ident(pat) => names.insert(&pat.ident),
            _ => true,
        },
        syn::FnArg::Receiver(_) => true,
    });
    let (receiver, last) = hook_params(method);
    let inputs = receiver.into_iter().chain(inputs.cloned()).chain(last);
    let sig = syn::Signature {
        constness: None,
        abi: None,
        inputs: inputs.collect(),
        ..sig.clone()
    };
    match body {
        Some(body) => quote!(#(#attrs)* #sig #body),
        None => quote!(#(#attrs)* #sig;),
    }
}

/// Returns the additional parameters of hooks' methods, as far as they are known: the receiver and
/// `last`.
fn hook_params(method: &Method) -> (Option<syn::FnArg>, Option<syn::FnArg>) {
    let sig = &method.sig;
    let ty = params::output(sig);
    // The output of the default would borrow from a receiver.
    if params::borrows(&ty) {
        return (None, None);
    }
    let has_last = params::typed(&sig.inputs).any(params::is_last);
    let private = krate::private();
    let last = !has_last && recover::takes_last(method);
    let last = last.then(|| syn::parse_quote!(last: #private::Option<#ty>));
    let receiver = sig.receiver().is_none();
    (receiver.then(|| syn::parse_quote!(&self)), last)
}

/// Returns the attributes of other macros.
fn others(attrs: &[syn::Attribute]) -> impl Iterator<Item = &syn::Attribute> {
    attrs.iter().filter(|attr| !is_helper(attr))
}

fn is_helper(attr: &syn::Attribute) -> bool {
    attrs::is_one_of(attr, &["hook", "nested_hooks"]) || is_conditional(attr)
}

/// Returns `true` for a `#[hook(…)]` in a `cfg_attr`, which only the compiler can evaluate. On the
/// trait the compiler has evaluated it when the macro is called.
fn is_conditional(attr: &syn::Attribute) -> bool {
    attrs::cfg_attr_contains(attr, "hook")
}
