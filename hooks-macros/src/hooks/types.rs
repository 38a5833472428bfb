//! Types that cannot be in the signature of a slot, as far as their tokens tell. The compiler would
//! refuse each in everything that is generated from it.

use proc_macro2::TokenStream;
use quote::ToTokens;
use syn::visit::{self, Visit};
use syn::{GenericArgument, Ident, Path, PathArguments, PathSegment, Signature, Type, TypeInfer};

use crate::params;

/// What cannot be there, and the message.
pub(super) type Mistake = (TokenStream, &'static str);

/// What is wrong with the type of a parameter.
pub(super) fn of_param(ty: &Type) -> Option<Mistake> {
    mistake(ty, |shape| match shape {
        Unsized::Str => "a parameter of a slot needs a size; take `&str`",
        Unsized::Slice => "a parameter of a slot needs a size; take `&[T]` or `Vec<T>`",
        Unsized::Object => {
            "a parameter of a slot needs a size; take `&dyn Trait` or `Box<dyn Trait>`"
        }
    })
}

/// What is wrong with the type that a slot answers.
pub(super) fn of_output(ty: &Type) -> Option<Mistake> {
    mistake(ty, |shape| match shape {
        Unsized::Str => "the answer of a slot needs a size; answer a `String`",
        Unsized::Slice => "the answer of a slot needs a size; answer a `Vec<T>`",
        Unsized::Object => "the answer of a slot needs a size; answer a `Box<dyn Trait>`",
    })
}

fn mistake(ty: &Type, remedy: fn(Unsized) -> &'static str) -> Option<Mistake> {
    anywhere(ty).or_else(|| {
        let (found, shape) = without_size(ty)?;
        Some((found.to_token_stream(), remedy(shape)))
    })
}

/// Whether the compiler would refuse a function of this signature for a type that was reported.
pub(super) fn cannot_stand(sig: &Signature) -> bool {
    let answer = params::answer(sig);
    of_output(&answer).is_some()
        || params::borrows(&answer)
        || params::typed(&sig.inputs).any(|input| of_param(&input.ty).is_some())
}

/// What can be nowhere in a type of a slot.
fn anywhere(ty: &Type) -> Option<Mistake> {
    struct Find(Option<Mistake>);
    impl<'a> Visit<'a> for Find {
        fn visit_path(&mut self, path: &'a Path) {
            let first = path.segments.first().map(|segment| &segment.ident);
            if let Some(name) = first.filter(|name| *name == "Self") {
                let message = "a slot belongs to no type; name one in place of `Self`";
                self.0.get_or_insert((name.to_token_stream(), message));
            }
            visit::visit_path(self, path);
        }

        fn visit_type_infer(&mut self, infer: &'a TypeInfer) {
            let message = "the types of a slot are written out; name one in place of `_`";
            self.0.get_or_insert((infer.to_token_stream(), message));
        }
    }
    let mut find = Find(None);
    find.visit_type(ty);
    find.0
}

enum Unsized {
    Str,
    Slice,
    Object,
}

/// The part of a type that has no size, and that the whole holds by value.
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

/// The same of what the standard library's types hold by value.
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
