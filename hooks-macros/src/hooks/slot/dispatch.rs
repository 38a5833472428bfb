//! Generates the dispatch of a slot: one call into the framework.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::Ident;

use super::SlotExpansion;

impl SlotExpansion<'_> {
    pub(super) fn dispatch(&self) -> TokenStream {
        let SlotExpansion {
            slot,
            cfgs,
            place,
            vis,
            attrs,
            idents,
            ..
        } = self;
        let (field, result) = (&slot.method, slot.result_type());
        let lifetime = &self.args_lifetime;
        let types = slot.params.iter().map(|param| param.type_for(lifetime));
        let root = &self.root;
        let dispatch = match slot.sync {
            true => "__hooks_dispatch_now",
            false => "__hooks_dispatch",
        };
        let dispatch = Ident::new(dispatch, *place);
        let returned = match slot.sync {
            true => quote!(#result),
            false => quote_spanned! {*place=>
                impl ::core::future::Future<Output = #result> + #root::MaybeSend
            },
        };
        quote_spanned! {*place=>
            #(#cfgs)*
            #(#attrs)*
            #[inline]
            #vis fn #field<#lifetime>(&#lifetime self, #(#idents: #types,)*) -> #returned {
                self.#field.#dispatch((#(#idents,)*))
            }
        }
    }

    /// Returns the impl for a slot with around hooks.
    pub(super) fn around(&self) -> Option<TokenStream> {
        let SlotExpansion {
            slot,
            private,
            cfgs,
            place,
            args_type,
            ..
        } = self;
        if !slot.around {
            return None;
        }
        let (name, result, a) = (&slot.name, slot.result_type(), &self.args_lifetime);
        Some(quote_spanned! {*place=>
            #(#cfgs)*
            impl #private::AroundCall for dyn #name + '_ {
                type Args<#a> = #args_type;
                type Output = #result;
            }
        })
    }
}
