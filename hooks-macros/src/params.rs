//! Parameters of slots and hooks, and the forms in which they are passed.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote};
use syn::ext::IdentExt;
use syn::visit_mut::{self, VisitMut};
use syn::{
    FnArg, Ident, Lifetime, Pat, PatType, ReturnType, Signature, Token, Type, TypeReference,
};

use crate::attrs;
use crate::errors::Errors;
use crate::spans;

/// Maximum number of parameters of a slot; the core has impls up to this number.
pub(crate) const MAX_PARAMS: usize = 16;

/// One parameter.
pub(crate) struct Param {
    pub(crate) ident: Ident,
    pub(crate) ty: Type,
    pub(crate) passing: Passing,
}

/// The way of passing a parameter to several hooks.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Passing {
    /// `&str`: borrowed within the framework, a `String` in a hand-written hook.
    Str,
    /// A type that borrows: `&T`, `Ctx<'_>`.
    Borrowed,
    /// Any other type: cloned for each further hook.
    Owned,
}

impl Param {
    /// Parses a parameter; patterns and types that cannot be passed on are reported.
    pub(crate) fn read(arg: &PatType, errors: &mut Errors) -> Option<Self> {
        let ident = match &*arg.pat {
            Pat::Ident(pat) if pat.by_ref.is_none() && pat.subpat.is_none() => &pat.ident,
            Pat::Wild(pat) => {
                errors.error(pat, "a parameter of a slot must have a name; write `_name`");
                return None;
            }
            pat => {
                errors.error(
                    pat,
                    "a parameter of a slot must be an identifier; destructure the value in the body",
                );
                return None;
            }
        };
        Some(Param {
            ident: ident.clone(),
            ty: (*arg.ty).clone(),
            passing: Passing::of(&arg.ty),
        })
    }

    /// Returns `true` for a `&T`.
    pub(crate) fn is_reference(&self) -> bool {
        self.reference()
            .is_some_and(|reference| reference.mutability.is_none())
    }

    /// Returns the `mut` of a `&mut T`.
    pub(crate) fn mutability(&self) -> Option<Token![mut]> {
        self.reference()?.mutability
    }

    /// Returns the `'static` of a `&'static mut T`.
    pub(crate) fn mutable_for(&self) -> Option<&Lifetime> {
        self.mutability()?;
        let lifetime = self.reference()?.lifetime.as_ref()?;
        (lifetime.ident == "static").then_some(lifetime)
    }

    fn reference(&self) -> Option<&TypeReference> {
        match bare(&self.ty) {
            Type::Reference(reference) => Some(reference),
            _ => None,
        }
    }

    /// Returns the type in a hand-written hook.
    pub(crate) fn hook_type(&self, private: &impl ToTokens) -> TokenStream {
        hook_type(&self.ty, private)
    }

    /// Returns the value for a hand-written hook, from the slot's argument.
    pub(crate) fn owned(&self, private: &impl ToTokens) -> TokenStream {
        let ident = &self.ident;
        match self.passing {
            Passing::Str => quote!(#private::text(#ident)),
            Passing::Borrowed | Passing::Owned => quote!(#ident),
        }
    }

    /// Returns the type in a hand-written hook, with all lifetimes replaced by one.
    pub(crate) fn owned_type(&self, private: &impl ToTokens, lifetime: &Lifetime) -> TokenStream {
        match self.passing {
            Passing::Str => self.hook_type(private),
            Passing::Borrowed | Passing::Owned => self.type_for(lifetime).into_token_stream(),
        }
    }

    /// Returns the type with all lifetimes replaced by one.
    pub(crate) fn type_for(&self, lifetime: &Lifetime) -> Type {
        let mut ty = self.ty.clone();
        visit_mut::visit_type_mut(&mut Elided::Fill(lifetime), &mut ty);
        ty
    }
}

/// Returns the type of a parameter in a hand-written hook.
pub(crate) fn hook_type(ty: &Type, private: &impl ToTokens) -> TokenStream {
    match Passing::of(ty) {
        Passing::Str => spans::respan_range(ty, quote!(#private::String)),
        Passing::Borrowed | Passing::Owned => ty.to_token_stream(),
    }
}

impl Passing {
    pub(crate) fn of(ty: &Type) -> Self {
        if is_str(ty) {
            Passing::Str
        } else if borrows(ty) {
            Passing::Borrowed
        } else {
            Passing::Owned
        }
    }
}

/// Returns `true` for `&str` without a named lifetime; `&'_ str` has none.
fn is_str(ty: &Type) -> bool {
    match bare(ty) {
        Type::Reference(TypeReference {
            lifetime,
            mutability: None,
            elem,
            ..
        }) if lifetime.as_ref().is_none_or(|name| name.ident == "_") => {
            matches!(bare(elem), Type::Path(path) if path.qself.is_none() && path.path.is_ident("str"))
        }
        _ => false,
    }
}

/// Returns the type without surrounding parentheses, including the invisible groups around a type
/// that a macro received.
pub(crate) fn bare(mut ty: &Type) -> &Type {
    while let Type::Group(syn::TypeGroup { elem, .. }) | Type::Paren(syn::TypeParen { elem, .. }) =
        ty
    {
        ty = elem;
    }
    ty
}

/// Returns `true` if the type contains an elided lifetime.
pub(crate) fn borrows(ty: &Type) -> bool {
    lifetimes(ty) > 0
}

/// Returns the number of elided lifetimes in the type.
pub(crate) fn lifetimes(ty: &Type) -> usize {
    let mut found = 0;
    let mut ty = ty.clone();
    visit_mut::visit_type_mut(&mut Elided::Count(&mut found), &mut ty);
    found
}

/// Counts or replaces elided lifetimes. Those inside `fn(…)` and `Fn(…)` are bound there, and stay.
enum Elided<'a> {
    Count(&'a mut usize),
    /// Replaces all of them by this lifetime.
    Fill(&'a Lifetime),
}

impl Elided<'_> {
    fn visit(&mut self, lifetime: &mut Lifetime) {
        match self {
            Elided::Count(found) => **found += 1,
            Elided::Fill(name) => lifetime.ident = name.ident.clone(),
        }
    }
}

impl VisitMut for Elided<'_> {
    fn visit_lifetime_mut(&mut self, lifetime: &mut Lifetime) {
        if lifetime.ident == "_" {
            self.visit(lifetime);
        }
    }

    fn visit_type_reference_mut(&mut self, reference: &mut TypeReference) {
        let span = reference.and_token.span;
        reference
            .lifetime
            .get_or_insert_with(|| Lifetime::new("'_", span));
        visit_mut::visit_type_reference_mut(self, reference);
    }

    fn visit_type_fn_ptr_mut(&mut self, _: &mut syn::TypeFnPtr) {}

    fn visit_parenthesized_generic_arguments_mut(
        &mut self,
        _: &mut syn::ParenthesizedGenericArguments,
    ) {
    }
}

/// Reports a parameter with a `cfg`: generated code has it always. `of` names the owner of the
/// parameter.
pub(crate) fn unconditional(arg: &PatType, of: &str, errors: &mut Errors) {
    for attr in attrs::given(&arg.attrs, &["cfg"]) {
        errors.error(
            attr,
            format!("a parameter of a {of} cannot be conditional; put the `cfg` on the whole {of}"),
        );
    }
}

/// Returns the parameters after a receiver.
pub(crate) fn typed<'a>(
    inputs: impl IntoIterator<Item = &'a FnArg>,
) -> impl Iterator<Item = &'a PatType> {
    inputs.into_iter().filter_map(|arg| match arg {
        FnArg::Typed(arg) => Some(arg),
        FnArg::Receiver(_) => None,
    })
}

/// Returns `true` if a parameter has the name of the previous output, which the framework passes.
pub(crate) fn is_last(input: &PatType) -> bool {
    matches!(&*input.pat, Pat::Ident(pat) if pat.ident.unraw() == "last")
}

/// Returns `true` if the type is written as an `Option`, as that of `last` is.
pub(crate) fn is_option(ty: &Type) -> bool {
    let Type::Path(ty) = ty else {
        return false;
    };
    let last = ty.path.segments.last();
    last.is_some_and(|segment| segment.ident == "Option")
}

/// Returns `true` if a hook takes no `last`, as far as can be seen, and its slot may pass it.
pub(crate) fn may_lack_last(sig: &Signature) -> bool {
    let last = typed(&sig.inputs).last();
    let takes_last = last.is_some_and(|last| is_last(last) || is_option(&last.ty));
    !takes_last && matches!(sig.output, ReturnType::Type(..))
}

/// Returns positional names for this many parameters, which cannot clash with the user's names: a
/// parameter of the user may be a pattern, or have the function's name.
pub(crate) fn places(params: usize) -> Vec<Ident> {
    (0..params)
        .map(|at| Ident::new(&format!("argument_{at}"), Span::mixed_site()))
        .collect()
}

/// Returns the output type of a function; `()` by default.
pub(crate) fn output(sig: &Signature) -> Type {
    match &sig.output {
        ReturnType::Type(_, ty) => (**ty).clone(),
        ReturnType::Default => syn::parse_quote_spanned!(sig.ident.span()=> ()),
    }
}

/// Returns the `impl Future` that a function without `async` returns.
pub(crate) fn spelled_future(sig: &Signature) -> Option<syn::TypeImplTrait> {
    let is_future = |bound: &syn::TypeParamBound| match bound {
        syn::TypeParamBound::Trait(bound) => {
            let last = bound.path.segments.last();
            last.is_some_and(|segment| segment.ident == "Future")
        }
        _ => false,
    };
    match output(sig) {
        Type::ImplTrait(output) if sig.asyncness.is_none() => {
            output.bounds.iter().any(is_future).then_some(output)
        }
        _ => None,
    }
}

/// Returns the first of these types that is `impl Trait`, or contains one.
pub(crate) fn impl_trait(ty: &Type) -> Option<syn::TypeImplTrait> {
    struct Find(Option<syn::TypeImplTrait>);
    impl<'a> syn::visit::Visit<'a> for Find {
        fn visit_type_impl_trait(&mut self, found: &'a syn::TypeImplTrait) {
            self.0.get_or_insert_with(|| found.clone());
        }
    }
    let mut find = Find(None);
    syn::visit::Visit::visit_type(&mut find, ty);
    find.0
}
