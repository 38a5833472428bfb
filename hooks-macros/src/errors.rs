//! Collects errors, so that all of them are reported at once.

use proc_macro2::TokenStream;
use quote::ToTokens;
use syn::Ident;

/// The errors found so far.
#[derive(Default)]
pub(crate) struct Errors {
    errors: Option<syn::Error>,
}

impl Errors {
    /// Reports an error at these tokens.
    pub(crate) fn error(&mut self, at: impl ToTokens, message: impl std::fmt::Display) {
        self.push(syn::Error::new_spanned(at, message));
    }

    /// Reports a repeated option.
    pub(crate) fn duplicate(&mut self, key: &Ident) {
        self.error(key, format!("duplicate `{key}`; remove one"));
    }

    pub(crate) fn push(&mut self, error: syn::Error) {
        match &mut self.errors {
            Some(errors) => errors.combine(error),
            None => self.errors = Some(error),
        }
    }

    /// Returns the value of a result, or reports its error.
    pub(crate) fn ok<T>(&mut self, result: syn::Result<T>) -> Option<T> {
        result.map_err(|error| self.push(error)).ok()
    }

    /// Adds the errors of a part, and returns `true` if there are any.
    pub(crate) fn found_in(&mut self, part: Errors) -> bool {
        let found = part.errors.is_some();
        part.errors.into_iter().for_each(|errors| self.push(errors));
        found
    }

    /// Returns the expansion of an item whose invalid parts were left out: the rest, and the
    /// errors.
    pub(crate) fn with_rest(self, rest: Option<TokenStream>) -> TokenStream {
        let errors = self.errors.map(|errors| errors.to_compile_error());
        quote::quote! { #rest #errors }
    }

    /// Returns `true` if there are no errors.
    pub(crate) fn is_empty(&self) -> bool {
        self.errors.is_none()
    }

    /// Returns the value, or the errors if there are any.
    pub(crate) fn finish<T>(self, value: T) -> syn::Result<T> {
        self.errors.map_or(Ok(value), Err)
    }
}

/// Returns the expansion of an invalid item: the user's item as it would be without the macro, and
/// the errors. One error thus does not cause others.
pub(crate) fn with_errors(item: TokenStream, errors: &syn::Error) -> TokenStream {
    let errors = errors.to_compile_error();
    quote::quote! { #item #errors }
}
