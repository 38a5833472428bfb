//! Expands the model into the trait and its set.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::Lifetime;
use syn::ext::IdentExt;

use super::model::{Nested, Set, Slot};
use super::slot::SlotExpansion;
use crate::attrs;
use crate::krate;
use crate::names::SlotNames;
use crate::spans::{self, SharedTokens};

// Input:
// #[hooks]
// trait AppHooks { #[hook(always)] async fn check(prompt: &str) -> Result<(), String> { … } }
//
// Output:
// trait AppHooks { fn check(&self, prompt: &str, last: Option<…>) -> impl Future<…> }
// struct AppHooksSet<'h> { check: TypedSlot<'h, dyn Check, NoCompanion, NoCompanion> }
// impl<'h> AppHooksSet<'h> { new, with_check, register_check, …, check, with_hooks, extend, … }
// and the items that `slot` generates for each slot
pub(crate) fn expand(set: &Set) -> TokenStream {
    let Set {
        attrs,
        vis,
        trait_token,
        name,
        set: set_name,
        lifetime,
        slots,
        nested,
    } = set;
    // Refused code that belongs to the set as a whole is reported at its keyword: at its name, an
    // editor would show all of it.
    let trait_name = spans::generated(name);
    let place = spans::generated_at(trait_token.span);
    let h = &Lifetime::new(&lifetime.to_string(), place);
    let root = &SharedTokens::from(krate::root()).respan(place);
    let private = &SharedTokens::from(quote_spanned!(place=> #root::__private));
    let cfgs: Vec<_> = attrs::everywhere(attrs).collect();
    let optional = nested.is_empty() && slots.iter().all(Slot::is_optional);
    // The items of one block have a short name for the module that they use.
    let short = &SharedTokens::from(quote_spanned!(place=> __hooks));
    let slots: Vec<_> = slots
        .iter()
        .map(|slot| SlotExpansion::new(slot, set, root, private, &cfgs))
        .collect();
    let inner: Vec<_> = slots.iter().map(|slot| slot.inside(short)).collect();
    let slot_cfgs: Vec<_> = slots.iter().map(SlotExpansion::cfgs).collect();
    let fields: Vec<_> = slots.iter().map(SlotExpansion::field).collect();
    let field_types = slots.iter().map(SlotExpansion::field_type);
    let field_values = slots.iter().map(SlotExpansion::field_value);
    let trait_methods = slots.iter().map(SlotExpansion::trait_method);
    let set_methods = slots.iter().flat_map(SlotExpansion::set_methods).flatten();
    let traits = slots.iter().flat_map(SlotExpansion::traits);
    let impls = inner.iter().flat_map(SlotExpansion::impls).flatten();

    let nested_fields: Vec<_> = nested.iter().map(|nested| &nested.field).collect();
    // Errors about a nested set are reported at its name.
    let nested_sets = nested.iter().map(|Nested { set, .. }| {
        let (_, end) = spans::ends(set);
        quote_spanned!(spans::generated_at(end)=> #set<#h>)
    });
    let nested_sets: Vec<_> = nested_sets.collect();
    let with_nested = nested
        .iter()
        .map(|nested| SlotNames(&nested.field).method("with", ""));
    let nested_names = nested.iter().map(|nested| nested.field.unraw().to_string());

    // If all slots of a set may be configured away, the set still needs its lifetime.
    let marker = optional.then(|| quote!(__hooks_lifetime));
    let marker: Vec<_> = marker.iter().collect();

    // The lint also applies to the user's bodies, so it is left out if possible.
    let all_attrs = slots
        .iter()
        .map(SlotExpansion::slot_attrs)
        .chain([attrs.as_slice()]);
    let deprecated = all_attrs
        .flat_map(|attrs| attrs::given(attrs, &["deprecated"]))
        .next();
    let deprecated = deprecated.map(|_| quote!(, deprecated));
    let mutable = (!slots.is_empty() || !nested.is_empty()).then(|| quote!(mut));
    let [other, visit] = match mutable {
        Some(_) => [quote!(other), quote!(visit)],
        None => [quote!(_), quote!(_)],
    };
    let set_text = set_name.to_string();
    let set_doc = format!("The hooks registered for the slots of [`{name}`], and their dispatch.");
    let trait_doc = format!(
        "Implement it under `#[impl_hooks({set_name})]` and register the value with [`{set_name}::with_hooks`]."
    );

    let is_documented = attrs::given(attrs, &["doc"]).next().is_some();
    let blank = is_documented.then(|| quote!(#[doc = ""]));

    quote_spanned! {place=>
        #(#attrs)*
        #blank
        #[doc = #trait_doc]
        #[allow(dead_code, unused_variables, clippy::all, clippy::pedantic #deprecated)]
        #vis #trait_token #trait_name {
            #(#trait_methods)*

            #[doc(hidden)]
            fn __hooks_set<#h>() -> #private::PhantomData<#set_name<#h>>
            where
                Self: ::core::marker::Sized,
            {
                #private::PhantomData
            }
        }

        #(#cfgs)*
        #[doc = #set_doc]
        #[allow(dead_code, non_snake_case #deprecated)]
        #[must_use = "a set without dispatches runs no hook"]
        #vis struct #set_name<#h> {
            #(#slot_cfgs #fields: #field_types,)*
            #(
                #[doc = "The nested hook set."]
                #vis #nested_fields: #nested_sets,
            )*
            #(#marker: #private::PhantomData<&#h ()>,)*
        }

        #(#cfgs)*
        #[allow(missing_docs, dead_code, non_snake_case, clippy::all, clippy::pedantic #deprecated)]
        impl<#h> #set_name<#h> {
            /// Creates a set without hooks: every slot runs its default.
            #[inline]
            #vis fn new() -> Self {
                #set_name {
                    #(#slot_cfgs #fields: #field_values,)*
                    #(#nested_fields: <#nested_sets as #private::Default>::default(),)*
                    #(#marker: #private::PhantomData,)*
                }
            }

            #(#set_methods)*

            #(
                /// Replaces the nested set.
                #[inline]
                #vis fn #with_nested(mut self, set: #nested_sets) -> Self {
                    self.#nested_fields = set;
                    self
                }
            )*

            /// Registers all hooks that a value, or a borrowed value, provides, or an entry of the value.
            ///
            /// # Panics
            /// If the entry is refused.
            #[track_caller]
            #vis fn with_hooks(
                mut self,
                hooks: impl #root::HookGroup<#h, Self> + #root::HookObject + #h,
            ) -> Self {
                Self::register_hooks(&mut self, hooks);
                self
            }

            /// Registers all hooks that a value, or a borrowed value, provides, or an entry of the value.
            ///
            /// # Panics
            /// If the entry is refused.
            #[track_caller]
            #vis fn register_hooks(
                &mut self,
                hooks: impl #root::HookGroup<#h, Self> + #root::HookObject + #h,
            ) -> &mut Self {
                #private::registered(Self::try_register_hooks(self, hooks))
            }

            /// Like `register_hooks`; if the entry is refused, returns an error, and the set is unchanged.
            ///
            /// # Errors
            /// If the entry is refused in one of the slots.
            #vis fn try_register_hooks(
                &mut self,
                hooks: impl #root::HookGroup<#h, Self> + #root::HookObject + #h,
            ) -> #private::Result<&mut Self, #root::RegistrationError> {
                #private::HookGroup::__hooks_register_owned(hooks, #private::None, self)?;
                #private::Result::Ok(self)
            }

            /// Removes the hooks with this key from all slots and nested sets. Returns `false` if there
            /// are none.
            #[inline]
            #[must_use]
            #vis fn remove_hooks(&mut self, key: &#private::str) -> #private::bool {
                let mut found = false;
                Self::__hooks_visit(self, &mut |slot| found |= slot.remove(key));
                found
            }

            /// Enables or disables the hooks with this key in all slots and nested sets. Returns `false`
            /// if there are none.
            #[inline]
            #[must_use]
            #vis fn set_enabled(
                &mut self,
                key: &#private::str,
                is_enabled: #private::bool,
            ) -> #private::bool {
                let mut found = false;
                Self::__hooks_visit(self, &mut |slot| found |= slot.set_enabled(key, is_enabled));
                found
            }

            /// Removes the hooks of this owner from all slots and nested sets, and returns their number.
            #[inline]
            #vis fn remove_owner(&mut self, owner: &#private::str) -> #private::usize {
                let mut found = 0;
                Self::__hooks_visit(self, &mut |slot| found += slot.remove_owner(owner));
                found
            }

            /// Enables or disables the hooks of this owner in all slots and nested sets, and returns their
            /// number.
            #[inline]
            #vis fn set_owner_enabled(
                &mut self,
                owner: &#private::str,
                is_enabled: #private::bool,
            ) -> #private::usize {
                let mut found = 0;
                Self::__hooks_visit(self, &mut |slot| found += slot.set_owner_enabled(owner, is_enabled));
                found
            }

            #[doc(hidden)]
            #[inline]
            #vis fn __hooks_visit(
                &mut self,
                #visit: &mut dyn #private::FnMut(&mut dyn #private::ErasedSlot),
            ) {
                #(#slot_cfgs self.#fields.__hooks_visit(visit);)*
                #(<#nested_sets>::__hooks_visit(&mut self.#nested_fields, visit);)*
            }

            // `#[inline]` leaves the code to the crate that calls it, because each slot has a list of
            // its own type: `cargo build --release` of six declared traits takes 1.9 s, not 13.6 s.
            /// Registers the entries of another set after those of this set; equal keys replace.
            ///
            /// # Panics
            /// If the order of the entries would be a cycle.
            #[inline]
            #[track_caller]
            #vis fn with_extended(mut self, other: Self) -> Self {
                Self::extend(&mut self, other);
                self
            }

            /// Registers the entries of another set after those of this set; equal keys replace.
            ///
            /// # Panics
            /// If the order of the entries would be a cycle.
            #[inline]
            #[track_caller]
            #vis fn extend(&mut self, other: Self) -> &mut Self {
                #private::registered(Self::try_extend(self, other))
            }

            /// Like `extend`; if the order of the entries would be a cycle, returns an error, and the
            /// set is unchanged.
            #[inline]
            #vis fn try_extend(
                &mut self,
                other: Self,
            ) -> #private::Result<&mut Self, #root::RegistrationError> {
                Self::__hooks_check(self, &other)?;
                #(#slot_cfgs self.#fields.__hooks_extend(other.#fields);)*
                #(<#nested_sets>::extend(&mut self.#nested_fields, other.#nested_fields);)*
                #private::Result::Ok(self)
            }

            #[doc(hidden)]
            #[inline]
            #vis fn __hooks_check(
                &self,
                #other: &Self,
            ) -> #private::Result<(), #root::RegistrationError> {
                #(#slot_cfgs self.#fields.__hooks_check(&other.#fields)?;)*
                #(<#nested_sets>::__hooks_check(&self.#nested_fields, &other.#nested_fields)?;)*
                #private::Result::Ok(())
            }

            /// Returns a copy of the set with changes, for one call or a few calls. The copy shares the
            /// hooks of this set, which does not change.
            #vis fn for_call<'__c>(
                &self,
                change: impl ::core::ops::FnOnce(&mut #set_name<'__c>),
            ) -> #set_name<'__c>
            where
                #h: '__c,
            {
                let mut set: #set_name<'__c> = #private::Clone::clone(self);
                change(&mut set);
                set
            }

            /// Returns the registrations, in execution order.
            #[inline]
            #vis fn describe(&self) -> #root::SetDescription {
                let #mutable description = #root::SetDescription::__new(#set_text);
                #(#slot_cfgs description.__slot(self.#fields.__hooks_describe());)*
                #(description.__nested(#nested_names, <#nested_sets>::describe(&self.#nested_fields));)*
                description
            }
        }

        #(#traits)*

        #(#cfgs)*
        #[allow(unused_braces, unused_qualifications, clippy::all, clippy::pedantic #deprecated)]
        const _: () = {
            use #private as #short;

            impl #short::Debug for #set_name<'_> {
                #[inline]
                fn fmt(&self, f: &mut #short::Formatter<'_>) -> #short::FmtResult {
                    #short::Debug::fmt(&#set_name::describe(self).__names(), f)
                }
            }

            impl #short::Clone for #set_name<'_> {
                #[inline]
                fn clone(&self) -> Self {
                    #set_name {
                        #(#slot_cfgs #fields: self.#fields.__hooks_clone(),)*
                        #(#nested_fields: #short::Clone::clone(&self.#nested_fields),)*
                        #(#marker: #short::PhantomData,)*
                    }
                }
            }

            impl #short::Default for #set_name<'_> {
                #[inline]
                fn default() -> Self {
                    Self::new()
                }
            }

            #(#impls)*
        };
    }
}
