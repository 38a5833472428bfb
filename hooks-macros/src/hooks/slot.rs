//! What is generated for one slot.

use proc_macro2::{Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Attribute, Ident, Lifetime, ReturnType, Type};

use super::model::{Kind, Role, Set, Slot};
use crate::body;
use crate::params::Passing;

/// One slot, with the token lists that several of its items need.
pub(crate) struct SlotExpansion<'a> {
    slot: &'a Slot,
    set: &'a Set,
    private: &'a TokenStream,
    /// `cfg` attributes of the slot and of the trait.
    cfgs: Vec<&'a Attribute>,
    /// `doc`, `deprecated` and `must_use`: what users of the slot see.
    attrs: Vec<&'a Attribute>,
    /// `prompt, count`
    idents: Vec<&'a Ident>,
    /// `String, usize`
    hook_types: Vec<TokenStream>,
    /// `(&'a str, usize,)`
    args_type: TokenStream,
    /// `last`, where the slot passes it.
    last: Option<Ident>,
    /// `Option<Out>` or `()`
    last_type: TokenStream,
}

impl<'a> SlotExpansion<'a> {
    pub(crate) fn new(
        slot: &'a Slot,
        set: &'a Set,
        private: &'a TokenStream,
        set_cfgs: &[&'a Attribute],
    ) -> Self {
        let of = |names: &'static [&'static str]| {
            slot.attrs
                .iter()
                .filter(move |attr| names.iter().any(|name| attr.path().is_ident(name)))
        };
        let lifetime = Lifetime::new("'__a", Span::call_site());
        let args = slot.params.iter().map(|param| param.type_for(&lifetime));
        let output = &slot.output;
        let last = slot
            .passes_last()
            .then(|| Ident::new("last", slot.method.span()));
        SlotExpansion {
            slot,
            set,
            private,
            cfgs: set_cfgs.iter().copied().chain(of(&["cfg"])).collect(),
            attrs: of(&["doc", "deprecated", "must_use"]).collect(),
            idents: slot.params.iter().map(|param| &param.ident).collect(),
            hook_types: slot
                .params
                .iter()
                .map(|param| param.hook_type(private))
                .collect(),
            args_type: quote!((#(#args,)*)),
            last_type: match last {
                Some(_) => quote!(#private::Option<#output>),
                None => quote!(()),
            },
            last,
        }
    }

    pub(crate) fn cfgs(&self) -> TokenStream {
        let cfgs = &self.cfgs;
        quote!(#(#cfgs)*)
    }

    pub(crate) fn field(&self) -> &'a Ident {
        &self.slot.method
    }

    /// `TypedSlot<'h, dyn ValidatePrompt, Always>`
    pub(crate) fn field_type(&self) -> TokenStream {
        let SlotExpansion { slot, private, .. } = self;
        let (name, output) = (&slot.name, &slot.output);
        let kind = match slot.kind {
            Kind::Always(_) => quote!(#private::Always),
            Kind::Fallback(_) => quote!(#private::Fallback),
            Kind::Singleton => quote!(#private::Singleton),
        };
        let chain = match slot.chain() {
            Some(chain) => quote!(#private::Chained<'h, #chain, #output>),
            None => quote!(#private::NoCompanion),
        };
        let end = match slot.end() {
            Some(end) => {
                let wrapper = wrapper(slot, private);
                let (companion, answer) = (&end.companion, slot.answer());
                let role = match end.role {
                    Role::Aggregate => quote!(Aggregated),
                    Role::Finalize => quote!(Finalized),
                };
                quote!(#private::#role<'h, #wrapper<#companion>, #output, #answer>)
            }
            None => quote!(#private::NoCompanion),
        };
        match (slot.chain(), slot.end()) {
            (None, None) => quote!(#private::TypedSlot<'h, dyn #name, #kind>),
            (Some(_), None) => quote!(#private::TypedSlot<'h, dyn #name, #kind, #chain>),
            _ => quote!(#private::TypedSlot<'h, dyn #name, #kind, #chain, #end>),
        }
    }

    /// `TypedSlot::new(Companion::declared(), NoCompanion)`
    pub(crate) fn field_value(&self) -> TokenStream {
        let SlotExpansion { slot, private, .. } = self;
        let companion = |declared: Option<&Type>| match declared {
            Some(ty) => quote_spanned!(ty.span()=> #private::Companion::declared()),
            None => quote!(#private::NoCompanion),
        };
        let chain = companion(slot.chain());
        let end = companion(slot.end().map(|end| &end.companion));
        quote!(#private::TypedSlot::new(#chain, #end))
    }

    /// The method of the trait that applications implement.
    pub(crate) fn trait_method(&self) -> TokenStream {
        let SlotExpansion {
            slot,
            private,
            cfgs,
            attrs,
            idents,
            last,
            last_type,
            ..
        } = self;
        let (method, output, set) = (&slot.method, &slot.output, &self.set.set);
        let types = slot.params.iter().map(|param| &param.ty);
        let default = slot.names().hidden("default");
        let last = last.iter();
        let ignore_last = last.clone();
        quote! {
            #(#cfgs)*
            #(#attrs)*
            fn #method(
                &self,
                #(#idents: #types,)*
                #(#last: #last_type,)*
            ) -> impl #private::Future<Output = #output> + #private::MaybeSend {
                #(let _ = #ignore_last;)*
                #set::#default(#(#idents),*)
            }
        }
    }

    /// The default, as a function of its own.
    pub(crate) fn default_fn(&self) -> TokenStream {
        let SlotExpansion { slot, cfgs, .. } = self;
        let attrs = slot.attrs.iter().filter(|attr| {
            !["cfg", "doc", "deprecated", "must_use"]
                .iter()
                .any(|name| attr.path().is_ident(name))
        });
        let (inputs, output) = (&slot.inputs, &slot.output);
        let arrow: ReturnType = syn::parse_quote!(-> #output);
        let default = slot.names().hidden("default");
        let body = body::emit(&slot.body, slot.ready, &arrow);
        quote! {
            #(#cfgs)*
            #(#attrs)*
            #[allow(clippy::redundant_closure_call, clippy::unused_async)]
            async fn #default(#(#inputs),*) #arrow #body
        }
    }

    /// Registration, dispatch and companions of the slot in the set.
    pub(crate) fn set_methods(&self) -> TokenStream {
        let SlotExpansion {
            slot,
            private,
            cfgs,
            ..
        } = self;
        let (field, hook, vis) = (&slot.method, &slot.name, &self.set.vis);
        let deprecated: Vec<_> = slot
            .attrs
            .iter()
            .filter(|attr| attr.path().is_ident("deprecated"))
            .collect();
        let names = slot.names();
        let with = names.method("with", "");
        let register = names.method("register", "");
        let with_entry = names.method("with", "_entry");
        let register_entry = names.method("register", "_entry");
        let remove = names.method("remove", "");
        let accessor = names.hidden("slot");
        let field_type = self.field_type();
        let dispatch = self.dispatch();
        let companions = self.companion_methods();
        let register_doc = format!("Registers a hook for the slot `{field}`.");
        let entry_doc =
            format!("Registers a hook for the slot `{field}` under a key, a name or a priority.");
        let remove_doc = format!(
            "Removes the hook of this key from the slot `{field}`, and says whether there was one."
        );
        quote! {
            #dispatch

            #(#cfgs)*
            #(#deprecated)*
            #[doc = #register_doc]
            #[must_use]
            #vis fn #with(mut self, hook: impl #hook + 'h) -> Self {
                self.#field.register(hook);
                self
            }

            #(#cfgs)*
            #(#deprecated)*
            #[doc = #register_doc]
            #vis fn #register(&mut self, hook: impl #hook + 'h) -> &mut Self {
                self.#field.register(hook);
                self
            }

            #(#cfgs)*
            #(#deprecated)*
            #[doc = #entry_doc]
            #[must_use]
            #vis fn #with_entry(mut self, entry: #private::Entry<impl #hook + 'h>) -> Self {
                self.#field.register_entry(entry);
                self
            }

            #(#cfgs)*
            #(#deprecated)*
            #[doc = #entry_doc]
            #vis fn #register_entry(&mut self, entry: #private::Entry<impl #hook + 'h>) -> &mut Self {
                self.#field.register_entry(entry);
                self
            }

            #(#cfgs)*
            #(#deprecated)*
            #[doc = #remove_doc]
            #vis fn #remove(&mut self, key: &str) -> bool {
                self.#field.remove(key)
            }

            #companions

            #(#cfgs)*
            #[doc(hidden)]
            #vis fn #accessor(&mut self) -> &mut #field_type {
                &mut self.#field
            }
        }
    }

    fn dispatch(&self) -> TokenStream {
        let SlotExpansion {
            slot,
            private,
            cfgs,
            attrs,
            idents,
            ..
        } = self;
        let (field, answer, vis, set) = (&slot.method, slot.answer(), &self.set.vis, &self.set.set);
        let lifetime = Lifetime::new("'__a", Span::call_site());
        let types = slot.params.iter().map(|param| param.type_for(&lifetime));
        let default = slot.names().hidden("default");
        let chain = match slot.chain() {
            Some(chain) => quote_spanned!(chain.span()=> self.#field.chain()),
            None => quote!(&#private::NoCompanion),
        };
        let readiness = if slot.ready {
            quote!(ReadyDefault)
        } else {
            quote!(WaitingDefault)
        };
        let args = quote! {
            (#(#idents,)*),
            #private::#readiness(|(#(#idents,)*)| #set::#default(#(#idents),*))
        };
        let run = match slot.end() {
            None => quote!(self.#field.dispatch(#chain, #args)),
            Some(end) => {
                let (step, accessor) = match (end.role, &end.output) {
                    (Role::Aggregate, None) => (quote!(dispatch_aggregated), quote!(aggregate)),
                    (Role::Aggregate, Some(_)) => {
                        (quote!(dispatch_aggregated), quote!(aggregate_into))
                    }
                    (Role::Finalize, None) => (quote!(dispatch_finalized), quote!(finalize)),
                    (Role::Finalize, Some(_)) => {
                        (quote!(dispatch_finalized), quote!(finalize_into))
                    }
                };
                let end = quote_spanned!(end.companion.span()=> self.#field.#accessor());
                quote!(self.#field.#step(#chain, #end, #args))
            }
        };
        quote! {
            #(#cfgs)*
            #(#attrs)*
            #vis fn #field<'__a>(
                &'__a self,
                #(#idents: #types,)*
            ) -> impl #private::Future<Output = #answer> + #private::MaybeSend + use<'__a, 'h> {
                #run
            }
        }
    }

    fn companion_methods(&self) -> TokenStream {
        let SlotExpansion {
            slot,
            private,
            cfgs,
            ..
        } = self;
        let (field, vis, output, answer) =
            (&slot.method, &self.set.vis, &slot.output, slot.answer());
        let names = slot.names();
        let chain = slot.chain().map(|_| {
            (
                "_chain",
                quote!(Chain<#output>),
                quote!(self.#field.set_chain(companion);),
            )
        });
        let end = slot.end().map(|end| {
            let bound = match (end.role, &end.output) {
                (Role::Aggregate, None) => quote!(Aggregate<#output>),
                (Role::Aggregate, Some(_)) => quote!(AggregateInto<#output, #answer>),
                (Role::Finalize, None) => quote!(Finalize<#output>),
                (Role::Finalize, Some(_)) => quote!(FinalizeInto<#output, #answer>),
            };
            let wrapper = wrapper(slot, private);
            (
                end.role.suffix(),
                bound,
                quote!(self.#field.set_end(#wrapper(companion));),
            )
        });
        let methods = chain.into_iter().chain(end).map(|(suffix, bound, put)| {
            let with = names.method("with", suffix);
            let set = names.method("set", suffix);
            let doc = format!("Replaces the {} of the slot `{field}`.", &suffix[1..]);
            quote! {
                #(#cfgs)*
                #[doc = #doc]
                #[must_use]
                #vis fn #with(mut self, companion: impl #private::#bound + 'h) -> Self {
                    #put
                    self
                }

                #(#cfgs)*
                #[doc = #doc]
                #vis fn #set(&mut self, companion: impl #private::#bound + 'h) -> &mut Self {
                    #put
                    self
                }
            }
        });
        quote!(#(#methods)*)
    }

    /// The slot's traits, and how the framework calls what implements them.
    pub(crate) fn items(&self) -> TokenStream {
        let hook_trait = self.hook_trait();
        let stateful = self.stateful();
        let closures = self.closures();
        let signature = self.signature();
        let objects = self.objects();
        quote!(#hook_trait #stateful #closures #signature #objects)
    }

    fn hook_trait(&self) -> TokenStream {
        let SlotExpansion {
            slot,
            private,
            cfgs,
            attrs,
            idents,
            hook_types,
            args_type,
            last,
            last_type,
            ..
        } = self;
        let (vis, name, output, set) = (&self.set.vis, &slot.name, &slot.output, &self.set.set);
        let doc = format!("A hook of the slot `{}` of [`{set}`].", slot.method);
        let owned = slot.params.iter().map(|param| {
            let ident = &param.ident;
            match param.passing {
                Passing::Str => quote!(#private::String::from(#ident)),
                Passing::Borrowed | Passing::Owned => quote!(#ident),
            }
        });
        let last_ident = last.iter();
        let last_value = last.iter().map(|_| quote!(__hooks_last));
        quote! {
            #(#cfgs)*
            #(#attrs)*
            ///
            #[doc = #doc]
            #[allow(dead_code)]
            #vis trait #name: #private::HookObject {
                /// Runs the hook.
                fn call(
                    &self,
                    #(#idents: #hook_types,)*
                    #(#last_ident: #last_type,)*
                ) -> impl #private::Future<Output = #output> + #private::MaybeSend
                where
                    Self: #private::Sized;

                #[doc(hidden)]
                fn __hooks_start<'__b, '__a: '__b>(
                    &'__b self,
                    args: #args_type,
                    room: &mut #private::Room<'__b, #output>,
                ) -> #private::Poll<()>
                where
                    Self: #private::Sized,
                {
                    #name::__hooks_start_owned(self, args, room)
                }

                #[doc(hidden)]
                fn __hooks_start_owned<'__b, '__a: '__b>(
                    &'__b self,
                    (#(#idents,)*): #args_type,
                    __hooks_room: &mut #private::Room<'__b, #output>,
                ) -> #private::Poll<()>
                where
                    Self: #private::Sized,
                {
                    let __hooks_last = <#last_type as #private::Handover<#output>>::hand_over(__hooks_room);
                    __hooks_room.later(#name::call(self, #(#owned,)* #(#last_value,)*))
                }
            }
        }
    }

    fn stateful(&self) -> TokenStream {
        let SlotExpansion {
            slot,
            private,
            cfgs,
            idents,
            hook_types,
            last,
            last_type,
            ..
        } = self;
        let (vis, name, output, set) = (&self.set.vis, &slot.name, &slot.output, &self.set.set);
        let stateful = slot.stateful();
        let slot_text = syn::ext::IdentExt::unraw(&slot.method).to_string();
        let doc = format!(
            "A hook with state of the slot `{}` of [`{set}`]; register it as `Stateful::new(value)`.",
            slot.method
        );
        let last: Vec<_> = last.iter().collect();
        quote! {
            #(#cfgs)*
            #[doc = #doc]
            #[allow(dead_code)]
            #vis trait #stateful: #private::MaybeSend {
                /// Runs the hook.
                fn call_mut(
                    &mut self,
                    #(#idents: #hook_types,)*
                    #(#last: #last_type,)*
                ) -> impl #private::Future<Output = #output> + #private::MaybeSend;

                /// Answers a call that the running call makes to its own hook; panics
                /// unless overridden.
                fn on_reentrancy(err: #private::HookReentrancyError) -> #output {
                    #private::reentered(err)
                }
            }

            #(#cfgs)*
            #[allow(deprecated)]
            impl<__H: #stateful> #name for #private::Stateful<__H> {
                async fn call(
                    &self,
                    #(#idents: #hook_types,)*
                    #(#last: #last_type,)*
                ) -> #output {
                    match self.__hooks_lock(#slot_text).await {
                        Ok(mut __hooks_state) => {
                            let __hooks_call = __H::call_mut(&mut *__hooks_state, #(#idents,)* #(#last,)*);
                            self.__hooks_run(__hooks_call).await
                        }
                        Err(__hooks_err) => __H::on_reentrancy(__hooks_err),
                    }
                }
            }
        }
    }

    /// Closures are hooks where nothing is borrowed (`T-10`).
    fn closures(&self) -> TokenStream {
        let SlotExpansion {
            slot,
            private,
            cfgs,
            idents,
            hook_types,
            last,
            last_type,
            ..
        } = self;
        let borrows = |param: &crate::params::Param| param.passing == Passing::Borrowed;
        if slot.params.iter().any(borrows) {
            return TokenStream::new();
        }
        let (name, output) = (&slot.name, &slot.output);
        let last: Vec<_> = last.iter().collect();
        let last_types: Vec<_> = last.iter().map(|_| last_type).collect();
        quote! {
            #(#cfgs)*
            #[allow(deprecated)]
            #[diagnostic::do_not_recommend]
            impl<__F, __Fut> #name for __F
            where
                __F: Fn(#(#hook_types,)* #(#last_types,)*) -> __Fut + #private::HookObject,
                __Fut: #private::Future<Output = #output> + #private::MaybeSend,
            {
                fn call(
                    &self,
                    #(#idents: #hook_types,)*
                    #(#last: #last_types,)*
                ) -> impl #private::Future<Output = #output> + #private::MaybeSend {
                    self(#(#idents,)* #(#last,)*)
                }
            }
        }
    }

    fn signature(&self) -> TokenStream {
        let SlotExpansion {
            slot,
            private,
            cfgs,
            idents,
            args_type,
            last_type,
            ..
        } = self;
        let (name, output) = (&slot.name, &slot.output);
        let slot_text = syn::ext::IdentExt::unraw(&slot.method).to_string();
        let replay = match slot.kind {
            Kind::Singleton => TokenStream::new(),
            Kind::Always(_) | Kind::Fallback(_) => {
                let again = slot.params.iter().map(|param| {
                    let ident = &param.ident;
                    quote_spanned!(param.ty.span()=> #private::replay(#ident))
                });
                quote! {
                    #(#cfgs)*
                    #[allow(deprecated)]
                    impl #private::Replay for dyn #name + '_ {
                        fn replay<'__a>((#(#idents,)*): &Self::Args<'__a>) -> Self::Args<'__a> {
                            (#(#again,)*)
                        }
                    }
                }
            }
        };
        quote! {
            #(#cfgs)*
            #[allow(deprecated)]
            impl #private::Signature for dyn #name + '_ {
                type Args<'__a> = #args_type;
                type Last = #last_type;
                type Out = #output;
                const NAME: &'static str = #slot_text;
            }

            #replay
        }
    }

    fn objects(&self) -> TokenStream {
        let SlotExpansion {
            slot,
            private,
            cfgs,
            idents,
            args_type,
            last,
            last_type,
            ..
        } = self;
        let (name, output, method, owner) =
            (&slot.name, &slot.output, &slot.method, &self.set.name);
        let last = last.iter().map(|_| quote!(__hooks_last));
        quote! {
            #(#cfgs)*
            #[allow(deprecated)]
            impl<__H: #name> #private::Object<dyn #name + '_> for #private::Leaf<__H> {
                fn start<'__b, '__a: '__b>(
                    &'__b self,
                    args: #args_type,
                    room: &mut #private::Room<'__b, #output>,
                ) -> #private::Poll<()> {
                    __H::__hooks_start(&self.0, args, room)
                }
            }

            #(#cfgs)*
            #[allow(deprecated)]
            impl<__P, const __READY: bool> #private::Object<dyn #name + '_> for #private::Member<__P, __READY>
            where
                __P: #private::Deref<Target: #owner> + #private::HookObject,
            {
                fn start<'__b, '__a: '__b>(
                    &'__b self,
                    (#(#idents,)*): #args_type,
                    __hooks_room: &mut #private::Room<'__b, #output>,
                ) -> #private::Poll<()> {
                    let __hooks_last = <#last_type as #private::Handover<#output>>::hand_over(__hooks_room);
                    __hooks_room.answer::<__READY>(#owner::#method(self.owner(), #(#idents,)* #(#last,)*))
                }
            }
        }
    }
}

/// `ByAggregate` and the like: what makes a companion the last step of a dispatch.
fn wrapper(slot: &Slot, private: &TokenStream) -> TokenStream {
    let end = slot.end().map(|end| (end.role, end.output.is_some()));
    match end {
        Some((Role::Aggregate, false)) => quote!(#private::ByAggregate),
        Some((Role::Aggregate, true)) => quote!(#private::ByAggregateInto),
        Some((Role::Finalize, false)) => quote!(#private::ByFinalize),
        Some((Role::Finalize, true)) => quote!(#private::ByFinalizeInto),
        None => quote!(#private::NoCompanion),
    }
}
