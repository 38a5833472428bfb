//! Names of generated items.

use std::collections::HashSet;

use heck::ToUpperCamelCase;
use proc_macro2::Span;
use quote::{ToTokens, format_ident};
use syn::ext::IdentExt;
use syn::visit::{self, Visit};
use syn::{Ident, Lifetime, Path, TraitBound, Type, TypePath};

use crate::spans;
use crate::syntax;

/// Returns the name of a crate in code, from the name of its package or of the dependency.
pub(crate) fn crate_of(package: &str) -> String {
    package.replace('-', "_")
}

/// Converts `validate_prompt` into `ValidatePrompt`, at the method's span; `None` for `_1`.
pub(crate) fn camel(method: &Ident) -> Option<Ident> {
    let name = method.unraw().to_string().to_upper_camel_case();
    let span = spans::generated_at(method.span());
    // `r#self_` and similar names would become keywords.
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

    /// `with_validate_prompt`, `register_validate_prompt` and `validate_prompt_mut`, or with a suffix
    /// `with_validate_prompt_around`, `register_validate_prompt_around` and
    /// `validate_prompt_around_mut`.
    pub(crate) fn registration(&self, suffix: &str) -> [Ident; 3] {
        [
            self.method("with", suffix),
            self.method("register", suffix),
            self.registrations(suffix),
        ]
    }

    /// `validate_prompt_ref`
    pub(crate) fn read(&self) -> Ident {
        format_ident!("{}_ref", self.0.unraw(), span = self.0.span())
    }

    /// `validate_prompt_mut`, or with a suffix `validate_prompt_around_mut`.
    pub(crate) fn registrations(&self, suffix: &str) -> Ident {
        format_ident!("{}{suffix}_mut", self.0.unraw(), span = self.0.span())
    }
}

/// `AppHooks` → `AppHooksSet`
pub(crate) fn set(hook_trait: &Ident, place: Span) -> Ident {
    format_ident!("{}Set", hook_trait.unraw(), span = place)
}

/// Returns a lifetime of this name; `'__a` for `a` if a type of the user has a `for<'a>`.
pub(crate) fn lifetime<'a>(name: &str, types: impl IntoIterator<Item = &'a Type>) -> Lifetime {
    let mut taken = types
        .into_iter()
        .flat_map(|ty| syntax::idents(ty.to_token_stream()));
    let prefix = if taken.any(|taken| taken == name) {
        "__"
    } else {
        ""
    };
    Lifetime::new(&format!("'{prefix}{name}"), Span::call_site())
}

/// Returns the type parameter for the form of a registered hook: `M`, unless the slot's trait has
/// this name.
pub(crate) fn form(hook_trait: &Ident) -> Ident {
    let name = if hook_trait == "M" { "Form" } else { "M" };
    Ident::new(name, Span::call_site())
}

/// Types with one meaning in every module.
pub(crate) const PRELUDE_TYPES: &[&str] = &["Box", "Option", "Result", "String", "Vec"];

/// Values with one meaning in every module.
pub(crate) const PRELUDE_VALUES: &[&str] = &["Err", "None", "Ok", "Some"];

/// Returns the names in types that are not part of a path: `Result` in `Result<u8, String>`,
/// `Error` in `Box<dyn Error>`.
pub(crate) fn in_types<'a>(types: impl IntoIterator<Item = &'a Type>) -> HashSet<Ident> {
    struct Names(HashSet<Ident>);
    impl Names {
        fn first_of(&mut self, path: &Path) {
            if let (None, Some(first)) = (path.leading_colon, path.segments.first()) {
                self.0.insert(first.ident.clone());
            }
        }
    }
    impl<'a> Visit<'a> for Names {
        fn visit_type_path(&mut self, path: &'a TypePath) {
            if path.qself.is_none() {
                self.first_of(&path.path);
            }
            visit::visit_type_path(self, path);
        }

        fn visit_trait_bound(&mut self, bound: &'a TraitBound) {
            self.first_of(&bound.path);
            visit::visit_trait_bound(self, bound);
        }
    }
    let mut names = Names(HashSet::new());
    types.into_iter().for_each(|ty| names.visit_type(ty));
    names.0
}

/// Methods of every set.
pub(crate) const RESERVED: &[&str] = &[
    "new",
    "with_hooks",
    "register_hooks",
    "try_register_hooks",
    "remove_hooks",
    "remove_owner",
    "set_owner_enabled",
    "set_enabled",
    "with_extended",
    "extend",
    "try_extend",
    "describe",
    "for_call",
    "default",
    "clone",
];
