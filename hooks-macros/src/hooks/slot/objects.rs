//! How the framework calls a slot's hooks: the slot's signature, and hooks as objects.

use proc_macro2::{Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::Lifetime;

use super::super::model::Kind;
use super::SlotExpansion;
use crate::names;
use crate::params::Param;
use crate::spans;

impl SlotExpansion<'_> {
    pub(super) fn signature(&self) -> TokenStream {
        let SlotExpansion {
            slot,
            private,
            cfgs,
            place,
            idents,
            args_type,
            last_type,
            ..
        } = self;
        let (name, output, method, owner) =
            (&slot.name, &slot.output, &slot.method, &self.set.name);
        let slot_text = self.text();
        let again = match slot.kind {
            Kind::Singleton | Kind::Custom(_) => TokenStream::new(),
            Kind::Always(_) | Kind::Fallback(_) => self.arguments_again(),
        };
        let relay = slot.pipeline().map(|_| self.relay());
        let default = if slot.ready {
            let default = names::default(method, *place);
            quote_spanned! {*place=>
                fn now<'__a>((#(#idents,)*): #args_type) -> #output {
                    <#private::NoHooks as #owner>::#default(#(#idents,)*)
                }
            }
        } else {
            let last = slot.passes_last().then(|| quote!(#private::Option::None));
            quote_spanned! {*place=>
                fn later<'__a>((#(#idents,)*): Self::Args<'__a>) -> impl #private::Future<Output = #output> + #private::MaybeSend {
                    #owner::#method(&#private::NoHooks, #(#idents,)* #last)
                }
            }
        };
        let ready = slot.ready;
        quote_spanned! {*place=>
            #relay

            #(#cfgs)*
            impl #private::Signature for dyn #name + '_ {
                type Args<'__a> = #args_type;
                type Last = #last_type;
                type Out = #output;
                const NAME: &'static #private::str = #slot_text;
                const READY: #private::bool = #ready;
                #default
                #again
            }
        }
    }

    /// The arguments again, for a further hook.
    fn arguments_again(&self) -> TokenStream {
        let SlotExpansion {
            slot,
            private,
            place,
            idents,
            ..
        } = self;
        if slot.params.iter().all(Param::is_reference) {
            return quote_spanned! {*place=>
                const REFERENCES: #private::bool = true;
                fn again<'__a>(args: &Self::Args<'__a>) -> Self::Args<'__a> {
                    *args
                }
            };
        }
        let again = slot.params.iter().map(|param| self.again(param));
        quote_spanned! {*place=>
            fn again<'__a>((#(#idents,)*): &Self::Args<'__a>) -> Self::Args<'__a> {
                (#(#again,)*)
            }
        }
    }

    /// The call apart from the other arguments, which alone are given again.
    fn relay(&self) -> Option<TokenStream> {
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
        let lifetime = Lifetime::new("'__a", Span::call_site());
        let types = context.iter().map(|param| param.type_for(&lifetime));
        let again = context.iter().map(|param| self.again(param));
        Some(quote_spanned! {*place=>
            #(#cfgs)*
            impl #private::Relay for dyn #name + '_ {
                type Call = #call_type;
                type Context<'__a> = (#(#types,)*);
                fn part<'__a>((#(#idents,)*): Self::Args<'__a>) -> (Self::Call, Self::Context<'__a>) {
                    (#ident, (#(#others,)*))
                }
                fn join<'__a>(#ident: Self::Call, (#(#others,)*): Self::Context<'__a>) -> Self::Args<'__a> {
                    (#(#idents,)*)
                }
                fn context<'__a>((#(#others,)*): &Self::Context<'__a>) -> Self::Context<'__a> {
                    (#(#again,)*)
                }
            }
        })
    }

    /// `<Ticket as HookArgument>::__hooks_again(ticket)`: an argument that cannot be
    /// given again is one error, at its type.
    fn again(&self, param: &Param) -> TokenStream {
        let (ident, private) = (&param.ident, &self.private);
        // With its lifetimes as the user wrote them: those of ours would be shown.
        spans::call_by_way_of(
            &param.ty,
            &quote!(#private::HookArgument),
            &TokenStream::new(),
            "__hooks_again",
            &quote!(#ident),
        )
    }

    /// What entries of the slot hold: a hook of its trait, or one of a group's.
    pub(super) fn objects(&self) -> TokenStream {
        let SlotExpansion {
            slot,
            private,
            cfgs,
            place,
            idents,
            args_type,
            last_type,
            ..
        } = self;
        let (name, output, method, owner) =
            (&slot.name, &slot.output, &slot.method, &self.set.name);
        let last = slot.passes_last().then(|| quote!(__hooks_last));
        let owned = slot.params.iter().map(|param| param.owned(private));
        let slot_text = self.text();
        // With the trait's name: for `__H::call` the compiler looks at every trait in scope that has
        // a `call`, which is that of every slot of the module.
        quote_spanned! {*place=>
            #(#cfgs)*
            impl<__H: #name> #private::Starts<#private::Leaf<__H>> for dyn #name + '_ {
                fn start<'__b, '__a: '__b>(
                    __hooks_hook: &'__b #private::Leaf<__H>,
                    args: #args_type,
                    last: #last_type,
                ) -> #private::HookFuture<'__b, #output> {
                    match <__H as #name>::__hooks_start(&__hooks_hook.0, args, last) {
                        #private::Ok(answer) => answer,
                        #private::Err(((#(#idents,)*), __hooks_last)) => {
                            #private::HookFuture::boxed(<__H as #name>::call(&__hooks_hook.0, #(#owned,)* #last))
                        }
                    }
                }
            }

            #(#cfgs)*
            impl<__P> #private::Starts<#private::Provider<__P>> for dyn #name + '_
            where
                __P: #private::Deref<Target: #owner> + #private::HookObject,
            {
                fn start<'__b, '__a: '__b>(
                    __hooks_provider: &'__b #private::Provider<__P>,
                    (#(#idents,)*): #args_type,
                    __hooks_last: #last_type,
                ) -> #private::HookFuture<'__b, #output> {
                    #private::HookFuture::__new(
                        const { #private::is_ready(<__P::Target as #owner>::__HOOKS_READY, #slot_text) },
                        #owner::#method(&*__hooks_provider.0, #(#idents,)* #last),
                    )
                }
            }
        }
    }
}
