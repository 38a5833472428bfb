//! Finds types that cannot be in the signature of a slot, as far as their tokens show it. The
//! compiler would refuse each of them in every generated item.

use proc_macro2::TokenStream;
use quote::ToTokens;
use syn::visit::{self, Visit};
use syn::{
    BoundLifetimes, GenericArgument, Generics, Ident, Lifetime, Path, PathArguments, PathSegment,
    Signature, TraitBound, Type, TypeFnPtr, TypeInfer,
};

use crate::params;

/// The invalid tokens, and the message.
pub(super) type Mistake = (TokenStream, &'static str);

/// Generics of a trait and of its slot. They are reported at their declaration, and not at their
/// uses.
pub(super) type Refused<'a> = [&'a Generics; 2];

/// Returns the error of a parameter's type.
pub(super) fn of_param(ty: &Type, refused: Refused<'_>) -> Option<Mistake> {
    const NAMED: &str = "a slot cannot use named lifetimes; elide this lifetime, or write `'_`";
    let lifetimes = refused.into_iter().flat_map(Generics::lifetimes);
    let declared = lifetimes.map(|declared| declared.lifetime.ident.clone());
    mistake(ty, NAMED, declared.collect(), |shape| match shape {
        Unsized::Str => "a parameter of a slot must be `Sized`; take `&str`",
        Unsized::Slice => "a parameter of a slot must be `Sized`; take `&[T]` or `Vec<T>`",
        Unsized::Object => {
            "a parameter of a slot must be `Sized`; take `&dyn Trait` or `Box<dyn Trait>`"
        }
    })
}

/// Returns the error of a slot's output type.
pub(super) fn of_output(ty: &Type) -> Option<Mistake> {
    const NAMED: &str = "a slot cannot use named lifetimes; return an owned value";
    mistake(ty, NAMED, Vec::new(), |shape| match shape {
        Unsized::Str => "the output of a slot must be `Sized`; return a `String`",
        Unsized::Slice => "the output of a slot must be `Sized`; return a `Vec<T>`",
        Unsized::Object => "the output of a slot must be `Sized`; return a `Box<dyn Trait>`",
    })
}

/// Returns the error of a companion's type.
pub(super) fn of_companion(ty: &Type) -> Option<Mistake> {
    const OWNS: &str = "a companion cannot borrow; use a type without lifetimes";
    mistake(
        ty,
        OWNS,
        Vec::new(),
        |_| "a companion must be `Sized`; use a type that implements its trait",
    )
    .or_else(|| params::borrows(ty).then(|| (ty.to_token_stream(), OWNS)))
}

fn mistake(
    ty: &Type,
    named: &'static str,
    declared: Vec<Ident>,
    remedy: fn(Unsized) -> &'static str,
) -> Option<Mistake> {
    anywhere(ty, named, declared).or_else(|| {
        let (found, shape) = without_size(ty)?;
        Some((found.to_token_stream(), remedy(shape)))
    })
}

/// Returns `true` if the compiler would refuse a function of this signature for a type that was
/// reported.
pub(super) fn cannot_stand(sig: &Signature, generics: &Generics) -> bool {
    let refused = [generics, &sig.generics];
    let output = params::output(sig);
    of_output(&output).is_some()
        || params::borrows(&output)
        || params::typed(&sig.inputs).any(|input| of_param(&input.ty, refused).is_some())
}

/// A slot belongs to no type, so `Self` has no meaning.
pub(super) const NO_SELF: &str = "`Self` is not available in a slot; write the type";

/// Returns an error for types that are invalid at any place. `named` is the message for a named
/// lifetime, except the lifetimes in `declared`.
fn anywhere(ty: &Type, named: &'static str, declared: Vec<Ident>) -> Option<Mistake> {
    struct Find {
        found: Option<Mistake>,
        named: &'static str,
        /// The declared lifetimes, and those of `for<'x>`.
        bound: Vec<Ident>,
    }
    impl<'a> Visit<'a> for Find {
        fn visit_bound_lifetimes(&mut self, bound: &'a BoundLifetimes) {
            let lifetimes = bound.lifetimes.iter().filter_map(|bound| match bound {
                syn::GenericParam::Lifetime(bound) => Some(bound.lifetime.ident.clone()),
                _ => None,
            });
            self.bound.extend(lifetimes);
        }

        fn visit_type_fn_ptr(&mut self, function: &'a TypeFnPtr) {
            let around = self.bound.len();
            visit::visit_type_fn_ptr(self, function);
            self.bound.truncate(around);
        }

        fn visit_trait_bound(&mut self, bound: &'a TraitBound) {
            let around = self.bound.len();
            visit::visit_trait_bound(self, bound);
            self.bound.truncate(around);
        }

        fn visit_lifetime(&mut self, lifetime: &'a Lifetime) {
            let name = &lifetime.ident;
            if name != "static" && name != "_" && !self.bound.contains(name) {
                self.found
                    .get_or_insert((lifetime.to_token_stream(), self.named));
            }
        }

        fn visit_path(&mut self, path: &'a Path) {
            let first = path.segments.first().map(|segment| &segment.ident);
            if let Some(name) = first.filter(|name| *name == "Self") {
                let message = NO_SELF;
                self.found.get_or_insert((name.to_token_stream(), message));
            }
            visit::visit_path(self, path);
        }

        fn visit_type_infer(&mut self, infer: &'a TypeInfer) {
            let message = "the types of a slot are not inferred; replace `_` with a type";
            self.found.get_or_insert((infer.to_token_stream(), message));
        }
    }
    let mut find = Find {
        found: None,
        named,
        bound: declared,
    };
    find.visit_type(ty);
    find.found
}

enum Unsized {
    Str,
    Slice,
    Object,
}

/// Returns the unsized part of a type that the whole contains by value.
fn without_size(ty: &Type) -> Option<(&Type, Unsized)> {
    match ty {
        Type::Group(group) => without_size(&group.elem),
        Type::Paren(paren) => without_size(&paren.elem),
        Type::Array(array) => without_size(&array.elem),
        Type::Tuple(tuple) => tuple.elems.iter().find_map(without_size),
        Type::Path(path) if path.qself.is_none() && path.path.is_ident("str") => {
            Some((ty, Unsized::Str))
        }
        Type::Path(path) => path.path.segments.last().and_then(held),
        Type::Slice(_) => Some((ty, Unsized::Slice)),
        Type::TraitObject(_) => Some((ty, Unsized::Object)),
        _ => None,
    }
}

/// As above, for the standard library's types that contain their argument by value.
fn held(segment: &PathSegment) -> Option<(&Type, Unsized)> {
    let arguments = match &segment.arguments {
        PathArguments::AngleBracketed(arguments) if is_holder(&segment.ident) => &arguments.args,
        _ => return None,
    };
    arguments.iter().find_map(|argument| match argument {
        GenericArgument::Type(ty) => without_size(ty),
        _ => None,
    })
}

fn is_holder(name: &Ident) -> bool {
    ["Option", "Result", "Vec"]
        .iter()
        .any(|holder| name == holder)
}
