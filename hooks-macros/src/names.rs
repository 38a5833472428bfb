//! The names of what is generated.

use heck::ToUpperCamelCase;
use quote::format_ident;
use syn::Ident;
use syn::ext::IdentExt;

use crate::spans;

/// `validate_prompt` → `ValidatePrompt`, where the method is named.
pub(crate) fn camel(method: &Ident) -> Ident {
    let name = method.unraw().to_string().to_upper_camel_case();
    let span = spans::generated_at(method.span());
    // `r#self_` and the like come out as keywords.
    syn::parse_str::<Ident>(&name)
        .map(|_| Ident::new(&name, span))
        .unwrap_or_else(|_| format_ident!("{}_", name, span = span))
}

/// The names derived from one slot's method.
pub(crate) struct SlotNames<'a>(pub(crate) &'a Ident);

impl SlotNames<'_> {
    /// `with_validate_prompt`, or with a suffix `with_validate_prompt_chain`.
    pub(crate) fn method(&self, prefix: &str, suffix: &str) -> Ident {
        format_ident!("{prefix}_{}{suffix}", self.0.unraw(), span = self.0.span())
    }

    /// `__hooks_default_validate_prompt` and the like.
    pub(crate) fn hidden(&self, role: &str) -> Ident {
        hidden(role, self.0)
    }
}

/// `__hooks_slot_validate_prompt` and the like.
pub(crate) fn hidden(role: &str, method: &Ident) -> Ident {
    format_ident!("__hooks_{role}_{}", method.unraw(), span = method.span())
}
