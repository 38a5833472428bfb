//! Generates the traits of a slot's hooks.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};

use super::SlotExpansion;
use crate::spans;

impl SlotExpansion<'_> {
    /// Returns the trait of the slot.
    pub(super) fn hook_trait(&self) -> TokenStream {
        let SlotExpansion {
            slot,
            private,
            cfgs,
            attrs,
            place,
            vis,
            hook_params,
            hook_output,
            args_type,
            last_type,
            args_lifetime: a,
            hook_lifetime: b,
            ..
        } = self;
        let (name, set) = (&slot.name, &self.set.set);
        let blank = self.is_documented().then(|| quote!(#[doc = ""]));
        let doc = format!("A hook of the slot `{}` of [`{set}`].", slot.method);
        let bound = spans::respan_prefix(
            &slot.method,
            quote!(#private::HookObject),
            slot.fn_token.span,
        );
        let receiver = self.receiver();
        // If the name is taken, the compiler shows the head of the item.
        let keyword = quote_spanned!(spans::generated_at(slot.method.span())=> trait);
        // `__hooks_start` has two lifetimes with a bound, so that its implementation under
        // `#[impl_hook]`, which names the types of the slot by their projections, has equal ones.
        quote_spanned! {*place=>
            #(#cfgs)*
            #(#attrs)*
            #blank
            #[doc = #doc]
            #[allow(missing_docs, clippy::all, clippy::pedantic)]
            #vis #keyword #name: #bound {
                fn call(#receiver, #hook_params) -> #hook_output
                where
                    Self: ::core::marker::Sized;

                #[doc(hidden)]
                #[inline]
                fn __hooks_start<#b, #a: #b>(
                    &#b self,
                    start: #private::Option<(#args_type, #last_type)>,
                ) -> #private::Started<#b, #a, dyn #name>
                where
                    Self: ::core::marker::Sized,
                {
                    #private::owned(start, false)
                }
            }
        }
    }

    /// Returns the trait of stateful hooks.
    pub(super) fn stateful_trait(&self) -> TokenStream {
        let SlotExpansion {
            slot,
            private,
            cfgs,
            place,
            vis,
            hook_params,
            hook_output,
            ..
        } = self;
        let (output, set) = (&slot.output, &self.set.set);
        let stateful = slot.stateful();
        let doc = format!(
            "A hook with state of the slot `{}` of [`{set}`]; register it as `Stateful::new(value)`.",
            slot.method
        );
        let bound = spans::respan_prefix(
            &slot.method,
            quote!(#private::MaybeSend),
            slot.fn_token.span,
        );
        let receiver = spans::respan_prefix(&slot.method, quote!(&mut self), *place);
        quote_spanned! {*place=>
            #(#cfgs)*
            #[doc = #doc]
            #[allow(missing_docs, clippy::all, clippy::pedantic)]
            #vis trait #stateful: #bound {
                fn call_mut(#receiver, #hook_params) -> #hook_output;

                /// Handles a call from inside the hook's own call; panics by default.
                fn on_reentrancy(err: #private::HookReentrancyError) -> #output {
                    #private::reentered(err)
                }
            }
        }
    }
}
