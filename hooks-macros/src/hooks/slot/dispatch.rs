//! Generates the dispatch of a slot: one call into the framework.

use proc_macro2::{Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::Ident;

use super::super::model::{End, Role};
use super::SlotExpansion;
use crate::spans;

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
        let args = quote!((#(#idents,)*));
        let run = match slot.around {
            true => quote!(self.#field.__hooks_dispatch_around(#args)),
            false => self.run(&quote!(self.#field), &args),
        };
        quote_spanned! {*place=>
            #(#cfgs)*
            #(#attrs)*
            #[inline]
            #vis fn #field<#lifetime>(
                &#lifetime self,
                #(#idents: #types,)*
            ) -> impl ::core::future::Future<Output = #result> + #root::MaybeSend {
                #run
            }
        }
    }

    /// Returns the dispatch of a slot without its around hooks.
    fn run(&self, of: &TokenStream, args: &TokenStream) -> TokenStream {
        let slot = self.slot;
        let chain = self.chain(of);
        match slot.end() {
            None if slot.pipeline().is_some() => {
                let pipeline = self.pipeline(of);
                quote!(#of.__hooks_dispatch_custom(#pipeline, #args))
            }
            None if slot.concurrent => quote!(#of.__hooks_dispatch_concurrent(#args)),
            None if slot.chain().is_none() => quote!(#of.__hooks_dispatch(#args)),
            None => quote!(#of.__hooks_dispatch_chained(#chain, #args)),
            Some(end) => {
                let ended = self.end(end, of);
                match end.role {
                    Role::Aggregate if slot.concurrent => {
                        quote!(#of.__hooks_dispatch_concurrent_aggregated(#chain, #ended, #args))
                    }
                    Role::Aggregate => {
                        quote!(#of.__hooks_dispatch_aggregated(#chain, #ended, #args))
                    }
                    Role::Finalize => {
                        quote!(#of.__hooks_dispatch_finalized(#chain, #ended, #args))
                    }
                }
            }
        }
    }

    /// Returns the impls for a slot with around hooks.
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
        let (name, result, inner) = (&slot.name, slot.result_type(), self.inner_type());
        let (a, h) = (&self.args_lifetime, self.lifetime());
        // Variables that cannot clash with the user's.
        let hidden = Span::mixed_site().located_at(*place);
        let [value, args] = ["value", "args"].map(|name| Ident::new(name, hidden));
        let run = self.run(&quote!(#value), &quote!(#args));
        Some(quote_spanned! {*place=>
            #(#cfgs)*
            impl #private::AroundCall for dyn #name + '_ {
                type Args<#a> = #args_type;
                type Output = #result;
            }

            #(#cfgs)*
            impl<#h> #private::DispatchInner<#inner> for dyn #name + '_ {
                fn dispatch<#a>(
                    #value: &#a #inner,
                    #args: <Self as #private::AroundCall>::Args<#a>,
                ) -> impl #private::Future<Output = #result> + #private::MaybeSend {
                    #run
                }
            }
        })
    }

    /// Returns the chain, by way of its trait: a companion that does not implement it causes one
    /// error, at the companion.
    fn chain(&self, of: &TokenStream) -> TokenStream {
        let SlotExpansion { slot, private, .. } = self;
        let Some(companion) = slot.chain() else {
            return quote!(#private::NoCompanion);
        };
        let output = &slot.output;
        spans::call_by_way_of(
            companion,
            &quote!(#private::Chain),
            &quote!(<#output>),
            "__hooks_gate",
            &quote!(#of.__hooks_gate()),
        )
    }

    /// Returns the pipeline, by way of its trait.
    fn pipeline(&self, of: &TokenStream) -> Option<TokenStream> {
        let SlotExpansion { slot, private, .. } = self;
        let (pipeline, (call, _)) = (slot.pipeline()?, slot.params.split_first()?);
        let (call, output) = (&call.ty, &slot.output);
        Some(spans::call_by_way_of(
            pipeline,
            &quote!(#private::Pipeline),
            &quote!(<#call, #output>),
            "__hooks_custom",
            &quote!(#of.__hooks_gate()),
        ))
    }

    /// Returns the aggregate or the finalizer, by way of its trait.
    fn end(&self, end: &End, of: &TokenStream) -> TokenStream {
        let private = &self.private;
        let name = end.trait_name();
        spans::call_by_way_of(
            &end.companion,
            &quote!(#private::#name),
            &self.end_args(end),
            "__hooks_end",
            &quote!(#of.__hooks_end()),
        )
    }
}
