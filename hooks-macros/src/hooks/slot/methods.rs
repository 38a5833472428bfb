//! Generates the set's methods for a slot: registration and companions.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};

use super::SlotExpansion;
use crate::attrs;
use crate::names;
use crate::spans;

impl SlotExpansion<'_> {
    pub(crate) fn set_methods(&self) -> TokenStream {
        let SlotExpansion {
            slot, cfgs, place, ..
        } = self;
        let (field, hook, vis) = (&slot.method, &slot.name, self.vis());
        let deprecated: Vec<_> = attrs::given(&slot.attrs, &["deprecated"]).collect();
        let h = self.lifetime();
        let names = slot.names();
        let with = names.method("with", "");
        let register = names.method("register", "");
        let registrations = names.registrations();
        let dispatch = self.dispatch();
        let companions = self.companion_methods();
        let around = self.around_methods();
        let register_doc = format!("Registers a hook for the slot `{field}`.");
        let registrations_doc = format!("Returns the registrations of the slot `{field}`.");
        let (form, root) = (names::form(hook), &self.root);
        // A value that is not a hook is refused at the name of the slot.
        let at_name = spans::generated_at(field.span());
        let into_hook = spans::respan_prefix(field, quote!(#root::IntoHook), *place);
        let bound = quote_spanned!(at_name=> impl #into_hook<dyn #hook, #form> + #h);
        quote_spanned! {*place=>
            #dispatch

            #(#cfgs)*
            #(#deprecated)*
            #[doc = #register_doc]
            #[track_caller]
            #vis fn #with<#form>(mut self, hook: #bound) -> Self {
                self.#field.__hooks_register(hook);
                self
            }

            #(#cfgs)*
            #(#deprecated)*
            #[doc = #register_doc]
            #[track_caller]
            #vis fn #register<#form>(&mut self, hook: #bound) -> &mut Self {
                self.#field.__hooks_register(hook);
                self
            }

            #(#cfgs)*
            #(#deprecated)*
            #[doc = #registrations_doc]
            #vis fn #registrations(&mut self) -> #root::Registrations<'_, #h, dyn #hook> {
                self.#field.__hooks_mut()
            }

            #companions
            #around
        }
    }

    /// Returns the methods that register around hooks.
    fn around_methods(&self) -> Option<TokenStream> {
        let SlotExpansion {
            slot, cfgs, place, ..
        } = self;
        if !slot.around {
            return None;
        }
        let (field, hook, vis) = (&slot.method, &slot.name, self.vis());
        let deprecated: Vec<_> = attrs::given(&slot.attrs, &["deprecated"]).collect();
        let (form, root, h) = (names::form(hook), &self.root, self.lifetime());
        let [with, register, registrations] = slot.names().around();
        let doc = format!("Registers an around hook for the slot `{field}`.");
        let registrations_doc = format!("Returns the around hooks of the slot `{field}`.");
        // A value that is not a hook is refused at the name of the slot.
        let at_name = spans::generated_at(field.span());
        let into_around = spans::respan_prefix(field, quote!(#root::IntoAround), *place);
        let bound = quote_spanned!(at_name=> impl #into_around<dyn #hook, #form> + #h);
        Some(quote_spanned! {*place=>
            #(#cfgs)*
            #(#deprecated)*
            #[doc = #doc]
            #[track_caller]
            #vis fn #with<#form>(mut self, hook: #bound) -> Self {
                self.#field.__hooks_register_around(hook);
                self
            }

            #(#cfgs)*
            #(#deprecated)*
            #[doc = #doc]
            #[track_caller]
            #vis fn #register<#form>(&mut self, hook: #bound) -> &mut Self {
                self.#field.__hooks_register_around(hook);
                self
            }

            #(#cfgs)*
            #(#deprecated)*
            #[doc = #registrations_doc]
            #vis fn #registrations(&mut self) -> #root::AroundRegistrations<'_, #h, dyn #hook> {
                self.#field.__hooks_around_mut()
            }
        })
    }

    fn companion_methods(&self) -> TokenStream {
        let SlotExpansion {
            slot,
            private,
            cfgs,
            ..
        } = self;
        let (field, vis, output) = (&slot.method, self.vis(), &slot.output);
        let (h, root) = (self.lifetime(), &self.root);
        let names = slot.names();
        let chain = slot.chain().map(|_| {
            (
                "_chain",
                quote!(Chain<#output>),
                quote!(self.#field.__hooks_set_chain(companion);),
            )
        });
        let end = slot.end().map(|end| {
            let (name, args, wrapper) = (end.trait_name(), self.end_args(end), end.wrapper());
            (
                end.role.suffix(),
                quote!(#name #args),
                quote!(self.#field.__hooks_set_end(#private::#wrapper(companion));),
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
        quote!(#(#methods)*)
    }
}
