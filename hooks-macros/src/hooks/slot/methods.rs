//! Generates the set's methods for a slot: registration and companions.

use proc_macro2::TokenStream;
use quote::{format_ident, quote, quote_spanned};
use syn::Ident;

use super::super::model::End;
use super::SlotExpansion;
use crate::attrs;
use crate::names;
use crate::spans::{self, SharedTokens};

impl SlotExpansion<'_> {
    pub(crate) fn set_methods(&self) -> [Option<TokenStream>; 5] {
        let dispatch = self.dispatch();
        let types = ["IntoHook", "Registrations"];
        let hooks = self.registration_methods("", types, ["a hook", "registrations"]);
        let companions = self.companion_methods();
        let around = self.slot.around.then(|| {
            let types = ["IntoAround", "AroundRegistrations"];
            self.registration_methods("_around", types, ["an around hook", "around hooks"])
        });
        [
            Some(dispatch),
            Some(hooks),
            Some(self.registered()),
            companions,
            around,
        ]
    }

    /// Returns the method that returns read access to the registrations.
    fn registered(&self) -> TokenStream {
        let SlotExpansion {
            slot,
            root,
            cfgs,
            place,
            vis,
            ..
        } = self;
        let (field, hook, h) = (&slot.method, &slot.name, self.lifetime());
        let deprecated = attrs::given(&slot.attrs, &["deprecated"]);
        let name = slot.names().read();
        let doc = format!("Returns read access to the registrations of the slot `{field}`.");
        quote_spanned! {*place=>
            #(#cfgs)*
            #(#deprecated)*
            #[doc = #doc]
            #[inline]
            #vis fn #name(&self) -> #root::RegistrationsRef<'_, #h, dyn #hook> {
                self.#field.__hooks_ref()
            }
        }
    }

    /// Returns the methods that register hooks. With the suffix `_around`, the hooks are around
    /// hooks.
    fn registration_methods(
        &self,
        suffix: &str,
        types: [&str; 2],
        [hook_doc, hooks_doc]: [&str; 2],
    ) -> TokenStream {
        let SlotExpansion {
            slot,
            root,
            cfgs,
            place,
            vis,
            ..
        } = self;
        let (field, hook) = (&slot.method, &slot.name);
        let deprecated: Vec<_> = attrs::given(&slot.attrs, &["deprecated"]).collect();
        let (form, h) = (names::form(hook), self.lifetime());
        let [into, listed] = types.map(|name| Ident::new(name, *place));
        let [with, register, registrations] = slot.names().registration(suffix);
        let inner_register = format_ident!("__hooks_register{suffix}", span = *place);
        let inner_registrations = format_ident!("__hooks{suffix}_mut", span = *place);
        let register_doc = format!("Registers {hook_doc} for the slot `{field}`.");
        let registrations_doc = format!("Returns the {hooks_doc} of the slot `{field}`.");
        // A value that is not a hook is refused at the name of the slot.
        let at_name = spans::generated_at(field.span());
        let into = spans::respan_prefix(field, quote!(#root::#into), *place);
        let bound = quote_spanned!(at_name=> impl #into<dyn #hook, #form> + #h);
        let bound = SharedTokens::from(bound);
        quote_spanned! {*place=>
            #(#cfgs)*
            #(#deprecated)*
            #[doc = #register_doc]
            #[track_caller]
            #vis fn #with<#form>(mut self, hook: #bound) -> Self {
                Self::#register(&mut self, hook);
                self
            }

            #(#cfgs)*
            #(#deprecated)*
            #[doc = #register_doc]
            #[track_caller]
            #vis fn #register<#form>(&mut self, hook: #bound) -> &mut Self {
                self.#field.#inner_register(hook);
                self
            }

            #(#cfgs)*
            #(#deprecated)*
            #[doc = #registrations_doc]
            #[inline]
            #vis fn #registrations(&mut self) -> #root::#listed<'_, #h, dyn #hook> {
                self.#field.#inner_registrations()
            }
        }
    }

    fn companion_methods(&self) -> Option<TokenStream> {
        let SlotExpansion {
            slot,
            private,
            cfgs,
            vis,
            ..
        } = self;
        if !self.has_companions() {
            return None;
        }
        let (field, output) = (&slot.method, &slot.output);
        let (h, root) = (self.lifetime(), &self.root);
        let names = slot.names();
        let chain = slot.chain().map(|_| {
            (
                "_chain",
                match slot.sync {
                    true => quote!(SyncChain<#output>),
                    false => quote!(Chain<#output>),
                },
                match slot.sync {
                    true => quote!(self.#field.__hooks_set_sync_chain(companion);),
                    false => quote!(self.#field.__hooks_set_chain(companion);),
                },
            )
        });
        let end = slot.end().map(|end| {
            let (name, role) = (end.trait_name(slot.sync), self.end_role(end));
            let args = self.end_args(end);
            (
                end.role.suffix(),
                quote!(#name #args),
                quote!(self.#field.__hooks_set_end(#private::By::<#role, _>::new(companion));),
            )
        });
        let methods = chain.into_iter().chain(end).map(|(suffix, bound, put)| {
            let with = names.method("with", suffix);
            let set = names.method("set", suffix);
            let doc = format!("Replaces the {} of the slot `{field}`.", &suffix[1..]);
            quote! {
                #(#cfgs)*
                #[doc = #doc]
                #vis fn #with(mut self, companion: impl #root::#bound + #h) -> Self {
                    Self::#set(&mut self, companion);
                    self
                }

                #(#cfgs)*
                #[doc = #doc]
                #vis fn #set(&mut self, companion: impl #root::#bound + #h) -> &mut Self {
                    #put
                    self
                }
            }
        });
        Some(methods.collect())
    }

    /// Returns `<Out>` or `<Out, Answer>`: the arguments of the trait of an aggregate or a
    /// finalizer.
    pub(super) fn end_args(&self, end: &End) -> TokenStream {
        let (output, result) = (&self.slot.output, end.output.iter());
        quote!(<#output #(, #result)*>)
    }

    /// `AggregateIntoRole<Answer>`
    pub(super) fn end_role(&self, end: &End) -> TokenStream {
        let (private, role) = (&self.private, format_ident!("{}Role", end.role_name()));
        let result = end.output.iter();
        self.role(quote!(#private::#role #(<#result>)*))
    }
}
