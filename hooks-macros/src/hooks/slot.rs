//! Generates the items of one slot. This file has their shared parts, and the slot's part in the
//! set's struct and in the trait that applications implement.

mod definition;
mod dispatch;
mod methods;
mod traits;

use proc_macro2::{Delimiter, Group, Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::{Attribute, Ident, Lifetime, Token};

use super::model::{Set, Slot};
use crate::attrs;
use crate::body;
use crate::names;
use crate::params;
use crate::spans::{self, SharedTokens};

/// One slot, with the tokens that several of its items need.
///
/// Tokens that the compiler compares with a hook have the span of the user's tokens: the compiler
/// reports the expected type there.
#[derive(Clone)]
pub(crate) struct SlotExpansion<'a> {
    slot: &'a Slot,
    set: &'a Set,
    root: SharedTokens,
    private: SharedTokens,
    /// Lifetime for which a dispatch borrows the arguments.
    args_lifetime: Lifetime,
    /// Lifetime for which a call borrows its hook.
    hook_lifetime: Lifetime,
    /// `cfg` and lint attributes of the slot and of the trait.
    cfgs: Vec<&'a Attribute>,
    /// Attributes that users of the slot see.
    attrs: Vec<&'a Attribute>,
    /// Span of generated tokens: not the slot's name, at which an editor would show all of them.
    place: Span,
    /// Visibility of the set, at `place`.
    vis: SharedTokens,
    /// Spans of the first and the last token of the output.
    output_ends: (Span, Span),
    /// `prompt, count`
    idents: Vec<&'a Ident>,
    /// `(&'a str, usize,)`
    args_type: SharedTokens,
    /// `Option<Out>` or `()`
    last_type: SharedTokens,
    /// `prompt: String, count: usize, last: Option<Out>`, with `last` if the slot passes it: the
    /// parameters of a hook.
    hook_params: SharedTokens,
    /// `prompt, count, last`
    hook_args: SharedTokens,
    /// `impl Future<Output = Out> + MaybeSend`, or `Out` in a synchronous slot: the return type of a hook.
    hook_output: SharedTokens,
}

impl<'a> SlotExpansion<'a> {
    pub(crate) fn new(
        slot: &'a Slot,
        set: &'a Set,
        root: &SharedTokens,
        private: &SharedTokens,
        set_cfgs: &[&'a Attribute],
    ) -> Self {
        let place = spans::generated_at(slot.fn_token.span);
        let args_lifetime = names::lifetime("a", slot.types());
        let args = slot
            .params
            .iter()
            .map(|param| param.type_for(&args_lifetime));
        let output = &slot.output;
        let output_ends = spans::ends(output);
        let last_type = last_type(slot, private, output_ends);
        let last = last(slot);
        let idents: Vec<_> = slot.params.iter().map(|param| &param.ident).collect();
        let types = slot.params.iter().map(|param| param.hook_type(private));
        SlotExpansion {
            slot,
            set,
            root: root.respan(place),
            private: private.respan(place),
            cfgs: set_cfgs
                .iter()
                .copied()
                .chain(attrs::everywhere(&slot.attrs))
                .collect(),
            attrs: attrs::given(&slot.attrs, SHOWN).collect(),
            place,
            vis: SharedTokens::from(set.vis.to_token_stream()).respan(place),
            output_ends,
            args_type: tuple(quote!(#(#args,)*), spans::generated_at(slot.parens)).into(),
            hook_params: quote!(#(#idents: #types,)* #(#last: #last_type,)*).into(),
            hook_args: quote!(#(#idents,)* #(#last,)*).into(),
            hook_output: hook_output(slot, root, output_ends).into(),
            idents,
            last_type,
            args_lifetime,
            hook_lifetime: names::lifetime("b", slot.types()),
        }
    }

    /// Returns the expansion for a block that has the attributes of the trait, and this short name for
    /// the framework's module.
    pub(crate) fn inside(&self, private: &SharedTokens) -> Self {
        SlotExpansion {
            private: private.respan(self.place),
            last_type: last_type(self.slot, private, self.output_ends),
            cfgs: attrs::everywhere(&self.slot.attrs).collect(),
            ..self.clone()
        }
    }

    pub(crate) fn cfgs(&self) -> TokenStream {
        let cfgs = &self.cfgs;
        quote!(#(#cfgs)*)
    }

    pub(crate) fn slot_attrs(&self) -> &'a [Attribute] {
        &self.slot.attrs
    }

    pub(crate) fn field(&self) -> &'a Ident {
        &self.slot.method
    }

    /// Returns the lifetime of the set, at the slot's span.
    fn lifetime(&self) -> Lifetime {
        Lifetime::new(&self.set.lifetime.to_string(), self.place)
    }

    /// `TypedSlot<'h, dyn ValidatePrompt, By<ChainRole, Stop>, NoCompanion>`, or `AroundSlot<…>`
    pub(crate) fn field_type(&self) -> TokenStream {
        let (private, name, h) = (&self.private, &self.slot.name, self.lifetime());
        let slot = self.field_slot();
        let companions = (!self.is_plain()).then(|| self.companion_types());
        let companions = companions.iter().flatten();
        quote!(#private::#slot<#h, dyn #name #(, #companions)*>)
    }

    fn has_companions(&self) -> bool {
        self.slot.chain().is_some() || self.slot.end().is_some()
    }

    /// Returns `true` if the slot has neither companions nor around hooks.
    fn is_plain(&self) -> bool {
        !self.has_companions() && !self.slot.around
    }

    /// `TypedSlot::with_companions(By::new(<Stop as Default>::default()), NoCompanion)`, or
    /// `TypedSlot::without_companions()`
    pub(crate) fn field_value(&self) -> TokenStream {
        let (private, slot) = (&self.private, self.field_slot());
        if self.is_plain() {
            return quote!(#private::#slot::without_companions());
        }
        let companions = [self.slot.chain(), self.slot.end().map(|end| &end.companion)];
        let companions = companions.map(|companion| match companion {
            Some(ty) => {
                quote!(#private::By::new(<#ty as ::core::default::Default>::default()))
            }
            None => quote!(#private::NoCompanion),
        });
        quote!(#private::#slot::with_companions(#(#companions),*))
    }

    /// Returns `TypedSlot` or `AroundSlot`.
    fn field_slot(&self) -> Ident {
        let name = match self.slot.around {
            true => "AroundSlot",
            false => "TypedSlot",
        };
        Ident::new(name, self.place)
    }

    /// Returns the method of the trait that applications implement, which runs the default.
    pub(crate) fn trait_method(&self) -> TokenStream {
        let SlotExpansion {
            slot,
            private,
            cfgs,
            attrs,
            place,
            idents,
            last_type,
            hook_output,
            ..
        } = self;
        let types = slot.params.iter().map(|param| &param.ty);
        let method = &slot.method;
        // Variables that cannot clash with the default's.
        let hidden = Span::mixed_site().located_at(method.span());
        let receiver = quote_spanned!(hidden=> &self);
        let last = slot.passes_last().then(|| Ident::new("last", hidden));
        let last: Vec<_> = last.into_iter().collect();
        let name = &slot.name;
        let mut default = match slot.sync {
            true => quote!(<dyn #name as #private::SlotDef>::now((#(#idents,)*))),
            false => quote!(#private::default::<dyn #name>((#(#idents,)*))),
        };
        // The future borrows all arguments for one lifetime, which the signature cannot name if
        // they have several. The future of an `async` block does not have this lifetime in its
        // type.
        let is_async = !slot.sync;
        if is_async
            && slot
                .params
                .iter()
                .map(|param| params::lifetimes(&param.ty))
                .sum::<usize>()
                > 1
        {
            default = quote!(async move { #default.await });
        }
        quote_spanned! {*place=>
            #(#cfgs)*
            #(#attrs)*
            fn #method(#receiver, #(#idents: #types,)* #(#last: #last_type,)*) -> #hook_output {
                #default
            }
        }
    }

    /// Returns the default, as a method of the slot's definition.
    fn default(&self) -> TokenStream {
        let SlotExpansion {
            slot,
            private,
            place,
            idents,
            hook_output,
            args_type,
            ..
        } = self;
        let (output, a) = (&slot.output, &self.args_lifetime);
        if !slot.ready {
            let mut body = self.default_call(quote!(#[allow(clippy::unused_async)] async fn));
            if slot.recursive {
                body = quote_spanned!(*place=> { #private::boxed(#body) });
            }
            return quote_spanned! {*place=>
                fn later<#a>((#(#idents,)*): Self::Args<#a>) -> #hook_output #body
            };
        }
        // In a function that is not async, the compiler refuses an `.await`.
        let has_attrs = slot.inputs.iter().any(|input| !input.attrs.is_empty());
        if has_attrs || !self.default_attrs().is_empty() {
            let body = self.default_call(quote!(fn));
            return quote_spanned! {*place=>
                fn now<#a>((#(#idents,)*): Self::Args<#a>) -> #output #body
            };
        }
        let (pats, body) = (slot.inputs.iter().map(|input| &input.pat), &slot.body);
        // On the parameter, not in the body: the lint stays as it is for the user's variables.
        let unused = (!idents.is_empty()).then(|| quote!(#[allow(unused_variables)]));
        quote_spanned! {*place=>
            #[inline]
            fn now<#a>(#unused (#(#pats,)*): #args_type) -> #output #body
        }
    }

    /// Returns a call of the default as a separate function, with this `head`.
    fn default_call(&self, head: TokenStream) -> TokenStream {
        let SlotExpansion {
            slot,
            place,
            idents,
            ..
        } = self;
        let (inputs, output) = (&slot.inputs, &slot.output);
        let (attrs, body) = (self.default_attrs(), self.default_body());
        let head = spans::respan(head, *place);
        let method = spans::generated(&slot.method);
        quote_spanned! {*place=> {
            struct __HooksDefault;
            impl __HooksDefault {
                #(#attrs)*
                #head #method(#(#inputs),*) -> #output #body
            }
            __HooksDefault::#method(#(#idents),*)
        }}
    }

    /// Returns the attributes of the default's body. They were written for a function with the
    /// slot's name; the generated function is a function of a type, which cannot clash with another
    /// one.
    fn default_attrs(&self) -> Vec<&'a Attribute> {
        let of_the_body = |attr: &&Attribute| {
            !attrs::is_or_contains(attr, SHOWN) && !attrs::is_one_of(attr, &["cfg"])
        };
        self.slot.attrs.iter().filter(of_the_body).collect()
    }

    /// Returns the default's body. Parameter names document a slot for its hooks, so a default may
    /// leave parameters unused.
    fn default_body(&self) -> TokenStream {
        let (idents, body) = (&self.idents, &self.slot.body);
        if idents.is_empty() {
            return quote!(#body);
        }
        let used = quote!(let _ = (#(&#idents,)*););
        // Inner attributes are only valid at the start of a block.
        if body::has_attributes(body.stream()) {
            return quote!({ #used #body });
        }
        let stream = body.stream();
        let mut block = Group::new(Delimiter::Brace, quote!(#used #stream));
        block.set_span(body.span());
        block.into_token_stream()
    }

    /// Returns the slot's traits.
    pub(crate) fn traits(&self) -> [TokenStream; 2] {
        [self.hook_trait(), self.stateful_trait()]
    }

    /// Returns the slot's definition, and the impls that call its hooks.
    pub(crate) fn impls(&self) -> [Option<TokenStream>; 5] {
        [
            Some(self.definition()),
            self.companions(),
            self.relay(),
            Some(self.calls()),
            self.around(),
        ]
    }

    /// Returns `&self`, with the span of the slot's name, so that the compiler shows it there.
    fn receiver(&self) -> TokenStream {
        spans::respan_prefix(&self.slot.method, quote!(&self), self.place)
    }

    /// Returns `true` if the user documented the slot.
    fn is_documented(&self) -> bool {
        attrs::given(&self.slot.attrs, &["doc"]).next().is_some()
    }

    /// Returns the slot's name, for spans and descriptions.
    pub(crate) fn text(&self) -> String {
        self.slot.method.unraw().to_string()
    }
}

/// Attributes that users of a slot see.
const SHOWN: &[&str] = &["doc", "deprecated", "must_use"];

/// Returns `Option<Out>`, at the span of the output, or `()`.
fn last_type(slot: &Slot, private: &SharedTokens, ends: (Span, Span)) -> SharedTokens {
    if !slot.passes_last() {
        return quote!(()).into();
    }
    let output = &slot.output;
    let option = spans::respan_between(ends, quote!(#private::Option));
    quote_spanned!(ends.1=> #option<#output>).into()
}

/// Returns `last`, if the slot passes it.
fn last(slot: &Slot) -> Vec<Ident> {
    let last = slot.passes_last().then(|| format_ident!("last"));
    last.into_iter().collect()
}

/// Returns `impl Future<Output = Out> + MaybeSend`, at the span of the output, or `Out`.
fn hook_output(slot: &Slot, root: &SharedTokens, ends: (Span, Span)) -> TokenStream {
    let output = &slot.output;
    if slot.sync {
        return output.to_token_stream();
    }
    let keyword = Token![impl](ends.0);
    let future = spans::respan_between(ends, quote!(::core::future::Future));
    let send = spans::respan_between(ends, quote!(#root::MaybeSend));
    quote_spanned!(ends.1=> #keyword #future<Output = #output> + #send)
}

/// Returns a tuple whose errors are reported at the parameters.
fn tuple(of: TokenStream, place: Span) -> TokenStream {
    let mut tuple = Group::new(Delimiter::Parenthesis, of);
    tuple.set_span(place);
    tuple.into_token_stream()
}
