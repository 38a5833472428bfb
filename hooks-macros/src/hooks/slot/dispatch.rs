//! Generates the dispatch of a slot: one call into the framework.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};

use super::super::model::{End, Role};
use super::SlotExpansion;
use crate::spans;

impl SlotExpansion<'_> {
    pub(super) fn dispatch(&self) -> TokenStream {
        let SlotExpansion {
            slot,
            cfgs,
            place,
            attrs,
            idents,
            ..
        } = self;
        let (field, result, vis) = (&slot.method, slot.result_type(), self.vis());
        let lifetime = &self.args_lifetime;
        let types = slot.params.iter().map(|param| param.type_for(lifetime));
        let (chain, root) = (self.chain(), &self.root);
        let args = quote!((#(#idents,)*));
        let run = match slot.end() {
            None if slot.pipeline().is_some() => {
                let pipeline = self.pipeline();
                quote!(__hooks_dispatch_custom(#pipeline, #args))
            }
            None if slot.chain().is_none() => quote!(__hooks_dispatch(#args)),
            None => quote!(__hooks_dispatch_chained(#chain, #args)),
            Some(end) => {
                let ended = self.end(end);
                match end.role {
                    Role::Aggregate => {
                        quote!(__hooks_dispatch_aggregated(#chain, #ended, #args))
                    }
                    Role::Finalize => {
                        quote!(__hooks_dispatch_finalized(#chain, #ended, #args))
                    }
                }
            }
        };
        quote_spanned! {*place=>
            #(#cfgs)*
            #(#attrs)*
            #[inline]
            #vis fn #field<#lifetime>(
                &#lifetime self,
                #(#idents: #types,)*
            ) -> impl ::core::future::Future<Output = #result> + #root::MaybeSend {
                self.#field.#run
            }
        }
    }

    /// Returns the chain, by way of its trait: a companion that does not implement it causes one
    /// error, at the companion.
    fn chain(&self) -> TokenStream {
        let SlotExpansion { slot, private, .. } = self;
        let Some(companion) = slot.chain() else {
            return quote!(#private::NoCompanion);
        };
        let (field, output) = (&slot.method, &slot.output);
        spans::call_by_way_of(
            companion,
            &quote!(#private::Chain),
            &quote!(<#output>),
            "__hooks_gate",
            &quote!(self.#field.__hooks_gate()),
        )
    }

    /// Returns the pipeline, by way of its trait.
    fn pipeline(&self) -> Option<TokenStream> {
        let SlotExpansion { slot, private, .. } = self;
        let (pipeline, (call, _)) = (slot.pipeline()?, slot.params.split_first()?);
        let (field, call, output) = (&slot.method, &call.ty, &slot.output);
        Some(spans::call_by_way_of(
            pipeline,
            &quote!(#private::Pipeline),
            &quote!(<#call, #output>),
            "__hooks_custom",
            &quote!(self.#field.__hooks_gate()),
        ))
    }

    /// Returns the aggregate or the finalizer, by way of its trait.
    fn end(&self, end: &End) -> TokenStream {
        let SlotExpansion { slot, private, .. } = self;
        let (field, name) = (&slot.method, end.trait_name());
        spans::call_by_way_of(
            &end.companion,
            &quote!(#private::#name),
            &self.end_args(end),
            "__hooks_end",
            &quote!(self.#field.__hooks_end()),
        )
    }
}
