//! Generates the definition of a slot, and the impls by which the framework calls its hooks.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::Ident;

use super::super::model::Kind;
use super::SlotExpansion;
use crate::names;
use crate::params::Param;
use crate::spans;

impl SlotExpansion<'_> {
    /// Returns the implementation of `SlotDef` for the type that names the slot.
    pub(super) fn definition(&self) -> TokenStream {
        let SlotExpansion {
            slot,
            private,
            cfgs,
            place,
            args_type,
            last_type,
            ..
        } = self;
        let (name, output, a) = (&slot.name, &slot.output, &self.args_lifetime);
        let slot_text = self.text();
        let passes_once = slot.passes_once();
        let copies = !passes_once && slot.params.iter().all(Param::is_reference);
        let passing = Ident::new(if copies { "Copied" } else { "Cloned" }, *place);
        let lends = slot.lends();
        let clone_args = (!passes_once && !copies && !lends).then(|| self.clone_args());
        let lend = lends.then(|| self.lend());
        let sent = self.of_async_slot("AsyncSlot");
        let awaiting = (!slot.ready).then(|| quote!(const READY: #private::bool = false;));
        let default = self.default();
        let owned_type = self.owned_type();
        let kind = self.kind();
        quote_spanned! {*place=>
            #(#cfgs)*
            impl #private::SlotDef for dyn #name + '_ {
                type Args<#a> = #args_type;
                type Passing = #private::#passing;
                type Last = #last_type;
                type Out = #output;
                type Owned<#a> = #owned_type;
                type Kind = #kind;
                const NAME: &'static #private::str = #slot_text;
                #awaiting
                #default
                #clone_args
            }

            #lend
            #sent
        }
    }

    /// Returns the implementation of a trait of slots with async hooks: an argument that is not sent
    /// between threads is refused at the parameters.
    fn of_async_slot(&self, of: &str) -> Option<TokenStream> {
        let SlotExpansion {
            slot,
            private,
            cfgs,
            place,
            ..
        } = self;
        if slot.sync {
            return None;
        }
        let (name, of) = (&slot.name, Ident::new(of, *place));
        let of = spans::respan_between(spans::ends(&self.args_type), quote!(#private::#of));
        Some(quote_spanned! {*place=>
            #(#cfgs)*
            impl #of for dyn #name + '_ {}
        })
    }

    /// Returns the implementation of `Lend`.
    fn lend(&self) -> TokenStream {
        let SlotExpansion {
            slot,
            private,
            cfgs,
            place,
            idents,
            args_lifetime: a,
            ..
        } = self;
        let (name, l) = (&slot.name, &names::lifetime("l", slot.types()));
        // Not in the core: the compiler of Rust 1.85 cannot prove there that the future is `Send`.
        let later = (!slot.ready).then(|| {
            let args = Ident::new("args", Span::mixed_site().located_at(*place));
            quote_spanned! {*place=>
                fn later_lent<#a>(
                    mut #args: Self::Args<#a>,
                ) -> impl #private::Future<Output = #private::Returned<#a, Self>> + #private::MaybeSend {
                    async move {
                        let output = <Self as #private::SlotDef>::later(Self::lend(&mut #args)).await;
                        (output, #args)
                    }
                }
            }
        });
        let lent = slot.params.iter().map(|param| match param.mutability() {
            Some(_) => {
                let ident = &param.ident;
                quote!(&mut **#ident)
            }
            None => self.clone_arg(param),
        });
        quote_spanned! {*place=>
            #(#cfgs)*
            impl #private::Lend for dyn #name + '_ {
                fn lend<#l, #a: #l>((#(#idents,)*): &#l mut Self::Args<#a>) -> Self::Args<#l> {
                    (#(#lent,)*)
                }

                #later
            }
        }
    }

    /// `Sequential<Always>`, `Lending<Always>`, `Concurrent<Always>`, `Waterfall` or `Custom`, or
    /// `Synchronous` of one of these
    fn kind(&self) -> TokenStream {
        let SlotExpansion { slot, private, .. } = self;
        let order = match (slot.concurrent, slot.lends()) {
            (true, _) => quote!(Concurrent),
            (false, true) => quote!(Lending),
            (false, false) => quote!(Sequential),
        };
        let kind = match &slot.kind {
            Kind::Always(_) => quote!(#private::#order<#private::Always>),
            Kind::Fallback(_) => quote!(#private::#order<#private::Fallback>),
            Kind::Singleton => quote!(#private::#order<#private::Singleton>),
            Kind::Waterfall => quote!(#private::Waterfall),
            Kind::Custom(_) => quote!(#private::Custom),
        };
        match slot.sync {
            true => quote!(#private::Synchronous<#kind>),
            false => kind,
        }
    }

    /// `[By<ChainRole, Stop>, By<AggregateIntoRole<Answer>, Count>]`, or `NoCompanion`
    pub(super) fn companion_types(&self) -> [TokenStream; 2] {
        let SlotExpansion { slot, private, .. } = self;
        let chain = slot
            .chain()
            .map(|chain| (self.role(quote!(#private::ChainRole)), chain));
        let end = slot.end().map(|end| (self.end_role(end), &end.companion));
        [chain, end].map(|companion| match companion {
            Some((role, companion)) => quote!(#private::By<#role, #companion>),
            None => quote!(#private::NoCompanion),
        })
    }

    /// Returns the implementation of `Companions`, which uses the companions by way of their traits: a
    /// companion that does not implement its trait causes one error, at the companion.
    pub(super) fn companions(&self) -> Option<TokenStream> {
        let SlotExpansion {
            slot,
            private,
            cfgs,
            place,
            ..
        } = self;
        if !self.has_companions() {
            return None;
        }
        let (name, output, result) = (&slot.name, &slot.output, slot.result_type());
        let a = &self.args_lifetime;
        let [chain_type, end_type] = self.companion_types();
        // Variables that cannot clash with the user's.
        let hidden = Span::mixed_site().located_at(*place);
        let [chain, end, dispatch] =
            ["chain", "end", "dispatch"].map(|name| Ident::new(name, hidden));
        let condition = slot.chain().map(|companion| {
            let condition = spans::call_by_way_of(
                companion,
                &self.chain_trait(),
                &quote!(<#output>),
                "__hooks_condition",
                &quote!(#chain),
            );
            quote_spanned! {*place=>
                #[inline]
                fn condition(
                    #chain: &#private::Chained<'_, #chain_type, #output>,
                ) -> impl #private::StopCondition<#output> {
                    #condition
                }
            }
        });
        let finish = match slot.end() {
            Some(of) => {
                let name = of.trait_name(slot.sync);
                spans::call_by_way_of(
                    &of.companion,
                    &quote!(#private::#name),
                    &self.end_args(of),
                    "__hooks_finish",
                    &quote!(#end, #dispatch),
                )
            }
            None => quote!(#dispatch),
        };
        Some(quote_spanned! {*place=>
            #(#cfgs)*
            impl #private::Companions<#chain_type, #end_type> for dyn #name + '_ {
                #condition

                #[inline]
                fn finish<#a>(
                    #end: &#a #private::EndOf<'_, Self, #end_type>,
                    #dispatch: impl #private::Future<Output = #private::OutputsOf<Self, #end_type>>
                        + #private::MaybeSend
                        + #a,
                ) -> impl #private::Future<Output = #result> + #private::MaybeSend {
                    #finish
                }
            }
        })
    }

    /// Returns `(String, Option<Out>,)`, the parameters of a hook.
    fn owned_type(&self) -> TokenStream {
        let SlotExpansion {
            slot,
            private,
            last_type,
            ..
        } = self;
        let a = &self.args_lifetime;
        let types = slot.params.iter().map(|param| param.owned_type(private, a));
        let last = slot.passes_last().then_some(last_type).into_iter();
        quote!((#(#types,)* #(#last,)*))
    }

    /// Returns the clone of the arguments for one more hook.
    fn clone_args(&self) -> TokenStream {
        let SlotExpansion {
            slot,
            place,
            idents,
            ..
        } = self;
        let a = &self.args_lifetime;
        let clones = slot.params.iter().map(|param| self.clone_arg(param));
        quote_spanned! {*place=>
            fn clone_args<#a>((#(#idents,)*): &Self::Args<#a>) -> Self::Args<#a> {
                (#(#clones,)*)
            }
        }
    }

    /// Returns the path of the trait of chains.
    fn chain_trait(&self) -> TokenStream {
        let private = &self.private;
        match self.slot.sync {
            true => quote!(#private::SyncChain),
            false => quote!(#private::Chain),
        }
    }

    /// Returns a role, in the mode of the slot.
    pub(super) fn role(&self, role: TokenStream) -> TokenStream {
        let private = &self.private;
        match self.slot.sync {
            true => quote!(#private::SyncRole<#role>),
            false => role,
        }
    }

    /// Returns the implementation of `Relay` for a slot that moves its call from hook to hook: it splits
    /// off the call, and clones only the other arguments.
    pub(super) fn relay(&self) -> Option<TokenStream> {
        let SlotExpansion {
            slot,
            private,
            cfgs,
            place,
            idents,
            ..
        } = self;
        let (call, context) = slot.params.split_first()?;
        let (name, call_type) = (&slot.name, &call.ty);
        let (ident, others) = idents.split_first()?;
        let a = &self.args_lifetime;
        let types = context.iter().map(|param| param.type_for(a));
        let clones = context.iter().map(|param| self.clone_arg(param));
        let output = &slot.output;
        let (interpreter, interprets, of) = match &slot.kind {
            Kind::Custom(pipeline) => (
                pipeline.to_token_stream(),
                quote!(#private::Pipeline),
                quote!(<#call_type, #output>),
            ),
            Kind::Waterfall => (
                output.to_token_stream(),
                quote!(#private::Forward),
                quote!(<#call_type>),
            ),
            Kind::Always(_) | Kind::Fallback(_) | Kind::Singleton => return None,
        };
        let steps = spans::call_by_way_of(
            &interpreter,
            &interprets,
            &of,
            "__hooks_steps",
            &TokenStream::new(),
        );
        let sent = self.of_async_slot("AsyncRelay");
        Some(quote_spanned! {*place=>
            #sent

            #(#cfgs)*
            impl #private::Relay for dyn #name + '_ {
                type Call = #call_type;
                type Context<#a> = (#(#types,)*);
                fn part<#a>((#(#idents,)*): Self::Args<#a>) -> (Self::Call, Self::Context<#a>) {
                    (#ident, (#(#others,)*))
                }
                fn join<#a>(#ident: Self::Call, (#(#others,)*): Self::Context<#a>) -> Self::Args<#a> {
                    (#(#idents,)*)
                }
                fn steps() -> impl #private::Steps<#call_type, #output> {
                    #steps
                }
                fn context<#a>((#(#others,)*): &Self::Context<#a>) -> Self::Context<#a> {
                    (#(#clones,)*)
                }
            }
        })
    }

    /// Returns `<Ticket as HookArgument>::__hooks_clone(ticket)`: an argument that cannot be cloned
    /// causes one error, at its type.
    fn clone_arg(&self, param: &Param) -> TokenStream {
        let (ident, private) = (&param.ident, &self.private);
        // With the user's lifetimes: errors would show generated ones.
        spans::call_by_way_of(
            &param.ty,
            &quote!(#private::HookArgument),
            &TokenStream::new(),
            "__hooks_clone",
            &quote!(#ident),
        )
    }

    /// Returns the impls that call a hook of the slot's trait, a stateful hook, and a hook of a
    /// group.
    pub(super) fn calls(&self) -> TokenStream {
        let SlotExpansion {
            slot,
            private,
            cfgs,
            place,
            idents,
            args_type,
            last_type,
            hook_args,
            ..
        } = self;
        let (name, method, owner) = (&slot.name, &slot.method, &self.set.name);
        let output = &slot.output;
        let (stateful, a, b) = (slot.stateful(), &self.args_lifetime, &self.hook_lifetime);
        let last = slot.passes_last().then(|| quote!(last));
        let future =
            quote_spanned!(*place=> impl #private::Future<Output = #output> + #private::MaybeSend);
        // Variables that cannot clash with the user's.
        let hidden = Span::mixed_site().located_at(*place);
        let [hook, args, value, is_ready] =
            ["hook", "args", "value", "is_ready"].map(|name| Ident::new(name, hidden));
        let owned = slot.params.iter().map(|param| param.owned(private));
        let readiness = slot.lends().then(|| {
            let is_ready = match slot.sync {
                true => quote!(true),
                false => quote! {
                    ::core::matches!(
                        #name::__hooks_start(#hook, #private::None),
                        #private::Started::IsReady(true),
                    )
                },
            };
            quote_spanned! {*place=>
                fn is_ready(#hook: &__H) -> #private::bool {
                    #is_ready
                }
            }
        });
        let started = |call: TokenStream| match slot.sync {
            true => quote_spanned!(*place=> #private::HookFuture::Ready(#call)),
            false => quote_spanned!(*place=> #private::pin(#call)),
        };
        let called = started(quote!(#name::call(#hook, #(#owned,)* #last)));
        let call_mut = quote!(#stateful::call_mut(#hook, #hook_args));
        let call_mut = match slot.sync {
            true => quote_spanned!(*place=> ::core::future::ready(#call_mut)),
            false => call_mut,
        };
        let of_method = quote!(#owner::#method(#value, #(#idents,)* #last));
        let of_method = match slot.sync {
            true => quote_spanned!(*place=> #private::HookFuture::Ready(#of_method)),
            false => quote_spanned!(*place=> #private::HookFuture::__new(#is_ready, #of_method)),
        };
        // With the trait's name: for `__H::call` the compiler searches every trait in scope with a
        // `call`, which includes the traits of all slots in the module. The signatures contain the
        // types of the slot, not the associated types of `SlotDef`, which the compiler would
        // normalise for each check of the function.
        quote_spanned! {*place=>
            #(#cfgs)*
            impl<__H: #name> #private::CallHook<__H> for dyn #name {
                fn start<#b, #a: #b>(
                    #hook: &#b __H,
                    #args: #args_type,
                    last: #last_type,
                ) -> #private::HookFuture<#b, #output> {
                    match #name::__hooks_start(#hook, #private::Some((#args, last))) {
                        #private::Started::Owned((#(#idents,)*), last) => {
                            #called
                        }
                        started => started.future(),
                    }
                }
                #readiness
            }

            #(#cfgs)*
            impl<#b, #a, __H: #stateful> #private::CallStateful<&#b mut __H, #private::OwnedArgs<#a, Self>> for dyn #name {
                fn call_mut(#hook: &#b mut __H, #private::OwnedArgs((#hook_args)): #private::OwnedArgs<#a, Self>) -> #future {
                    #call_mut
                }
                const ON_REENTRY: #private::OnReentry<Self> = <__H as #stateful>::on_reentrancy;
            }

            #(#cfgs)*
            impl<__T: #owner + ?#private::Sized> #private::CallMethod<__T> for dyn #name {
                fn start<#b, #a: #b>(
                    #value: &#b __T,
                    (#(#idents,)*): #args_type,
                    last: #last_type,
                    #is_ready: #private::bool,
                ) -> #private::HookFuture<#b, #output> {
                    #of_method
                }
            }
        }
    }
}
