//! The names of what is generated.

use heck::ToUpperCamelCase;
use proc_macro2::Span;
use quote::format_ident;
use syn::Ident;
use syn::ext::IdentExt;

use crate::spans;

/// `validate_prompt` → `ValidatePrompt`, where the method is named; nothing for `_1`.
pub(crate) fn camel(method: &Ident) -> Option<Ident> {
    let name = method.unraw().to_string().to_upper_camel_case();
    let span = spans::generated_at(method.span());
    // `r#self_` and the like come out as keywords.
    let longer = format!("{name}_");
    [name, longer]
        .into_iter()
        .find(|name| name != "_" && syn::parse_str::<Ident>(name).is_ok())
        .map(|name| Ident::new(&name, span))
}

/// The names derived from one slot's method.
pub(crate) struct SlotNames<'a>(pub(crate) &'a Ident);

impl SlotNames<'_> {
    /// `with_validate_prompt`, or with a suffix `with_validate_prompt_chain`.
    pub(crate) fn method(&self, prefix: &str, suffix: &str) -> Ident {
        format_ident!("{prefix}_{}{suffix}", self.0.unraw(), span = self.0.span())
    }
}

/// `AppHooks` → `AppHooksSet`
pub(crate) fn set(hook_trait: &Ident, place: Span) -> Ident {
    format_ident!("{}Set", hook_trait.unraw(), span = place)
}

/// `__hooks_default_validate_prompt`
pub(crate) fn default(method: &Ident, place: Span) -> Ident {
    format_ident!("__hooks_default_{}", method.unraw(), span = place)
}

/// `__hooks_slot_validate_prompt`
pub(crate) fn slot(method: &Ident, place: Span) -> Ident {
    format_ident!("__hooks_slot_{}", method.unraw(), span = place)
}
