//! The traits of a slot's hooks, and what implements them for the user.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::ext::IdentExt;

use super::SlotExpansion;
use crate::params::{Param, Passing};
use crate::spans;

impl SlotExpansion<'_> {
    /// The trait of the slot.
    pub(super) fn hook_trait(&self) -> TokenStream {
        let SlotExpansion {
            slot,
            private,
            cfgs,
            attrs,
            place,
            args_type,
            last_type,
            hook_params,
            hook_future,
            ..
        } = self;
        let (name, set, output) = (&slot.name, &self.set.set, &slot.output);
        let vis = self.vis();
        let doc = format!("A hook of the slot `{}` of [`{set}`].", slot.method);
        let shown = name.unraw();
        let message = format!(
            "`{{Self}}` is not a hook of the slot `{}`; implement `{shown}` for it, or `{}` and register it as `Stateful::new(…)`",
            slot.method,
            slot.stateful(),
        );
        // The compiler reads the note as a format, too.
        let note = if self.takes_closures() {
            format!(
                "a closure is a hook where it takes what `{shown}::call` does, answers a future of what that does, and is `Send` and `Sync`; an `async` closure that moves what it captures is none, but `move |…| {{{{ let own = own.clone(); async move {{{{ … }}}} }}}}` is"
            )
        } else {
            format!(
                "no closure is a hook of this slot, which lends its arguments; write an `async fn` under `#[impl_hook({shown})]`"
            )
        };
        let bound = spans::ahead_of(
            &slot.method,
            quote!(#private::HookObject),
            slot.fn_token.span,
        );
        let receiver = self.receiver();
        // Where a name is taken, the compiler shows the head of the item.
        let keyword = quote_spanned!(spans::generated_at(slot.method.span())=> trait);
        // What `__hooks_start` answers is `Started`, written out: the compiler need not ask the
        // slot's signature what that is.
        quote_spanned! {*place=>
            #(#cfgs)*
            #(#attrs)*
            ///
            #[doc = #doc]
            #[allow(dead_code, clippy::option_option, clippy::too_many_arguments, clippy::type_complexity)]
            #[diagnostic::on_unimplemented(message = #message, label = "not a hook of this slot", note = #note)]
            #vis #keyword #name: #bound {
                /// Runs the hook.
                fn call(#receiver, #hook_params) -> #hook_future
                where
                    Self: #private::Sized;

                #[doc(hidden)]
                fn __hooks_start<'__b, '__a: '__b>(
                    &'__b self,
                    args: #args_type,
                    last: #last_type,
                ) -> #private::Result<#private::HookFuture<'__b, #output>, (#args_type, #last_type)>
                where
                    Self: #private::Sized,
                {
                    #private::Err((args, last))
                }
            }
        }
    }

    /// The trait of hooks with state.
    pub(super) fn stateful_trait(&self) -> TokenStream {
        let SlotExpansion {
            slot,
            private,
            cfgs,
            place,
            hook_params,
            hook_future,
            ..
        } = self;
        let (output, set) = (&slot.output, &self.set.set);
        let vis = self.vis();
        let stateful = slot.stateful();
        let doc = format!(
            "A hook with state of the slot `{}` of [`{set}`]; register it as `Stateful::new(value)`.",
            slot.method
        );
        let bound = spans::ahead_of(
            &slot.method,
            quote!(#private::MaybeSend),
            slot.fn_token.span,
        );
        let receiver = spans::ahead_of(&slot.method, quote!(&mut self), *place);
        quote_spanned! {*place=>
            #(#cfgs)*
            #[doc = #doc]
            #[allow(dead_code, clippy::option_option, clippy::too_many_arguments, clippy::type_complexity)]
            #vis trait #stateful: #bound {
                /// Runs the hook.
                fn call_mut(#receiver, #hook_params) -> #hook_future;

                /// Answers a call from inside the hook's own call; panics unless overridden.
                fn on_reentrancy(err: #private::HookReentrancyError) -> #output {
                    #private::reentered(err)
                }
            }
        }
    }

    /// A hook with state is one of the slot.
    pub(super) fn stateful(&self) -> TokenStream {
        let SlotExpansion {
            slot,
            private,
            cfgs,
            place,
            hook_params,
            hook_args,
            last_type,
            hook_future,
            ..
        } = self;
        let (name, stateful) = (&slot.name, slot.stateful());
        let slot_text = self.text();
        let mut lifetimes = Vec::new();
        let types: Vec<_> = (slot.params.iter())
            .map(|param| param.hook_type_for(private, &mut lifetimes))
            .collect();
        let last = slot.passes_last().then_some(last_type).into_iter();
        quote_spanned! {*place=>
            #(#cfgs)*
            #[diagnostic::do_not_recommend]
            impl<__H: #stateful> #name for #private::Stateful<__H>
            where
                for<#(#lifetimes),*> #private::Given<__H, (#(#types,)* #(#last,)*)>: #private::MaybeSend,
            {
                fn call(&self, #hook_params) -> #hook_future {
                    self.__hooks_call(#slot_text, <__H as #stateful>::call_mut, #private::Given::new((#hook_args)), <__H as #stateful>::on_reentrancy)
                }
            }
        }
    }

    fn takes_closures(&self) -> bool {
        let borrows = |param: &Param| param.passing == Passing::Borrowed;
        !self.slot.params.iter().any(borrows)
    }

    /// Closures are hooks where nothing is borrowed (`T-10`).
    pub(super) fn closures(&self) -> TokenStream {
        let SlotExpansion {
            slot,
            private,
            cfgs,
            place,
            last_type,
            hook_params,
            hook_args,
            ..
        } = self;
        if !self.takes_closures() {
            return TokenStream::new();
        }
        let (name, output) = (&slot.name, &slot.output);
        let types = slot.params.iter().map(|param| param.hook_type(private));
        let last = slot.passes_last().then_some(last_type).into_iter();
        quote_spanned! {*place=>
            #(#cfgs)*
            #[diagnostic::do_not_recommend]
            impl<__F, __Fut> #name for __F
            where
                __F: #private::Fn(#(#types,)* #(#last,)*) -> __Fut + #private::HookObject,
                __Fut: #private::Future<Output = #output> + #private::MaybeSend,
            {
                fn call(&self, #hook_params) -> __Fut {
                    self(#hook_args)
                }
            }
        }
    }
}
