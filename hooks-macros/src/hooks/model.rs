//! Model of a hook set. Its types exclude some invalid combinations, such as a singleton with
//! companions; `validate` reports the others, such as a concurrent singleton, before the expansion.

use proc_macro2::Group;
use proc_macro2::Span;
use quote::format_ident;
use syn::{Attribute, Ident, Lifetime, Path, Token, Type, Visibility};

use crate::attrs;
use crate::names::SlotNames;
use crate::params::Param;

/// A hook set.
pub(crate) struct Set {
    pub(crate) attrs: Vec<Attribute>,
    pub(crate) vis: Visibility,
    pub(crate) trait_token: Token![trait],
    /// The trait, in the user's spelling.
    pub(crate) name: Ident,
    /// `<Trait>Set`.
    pub(crate) set: Ident,
    /// Lifetime of its hooks.
    pub(crate) lifetime: Lifetime,
    pub(crate) slots: Vec<Slot>,
    pub(crate) nested: Vec<Nested>,
}

/// A nested set.
pub(crate) struct Nested {
    pub(crate) field: Ident,
    pub(crate) set: Path,
}

/// One slot.
pub(crate) struct Slot {
    pub(crate) attrs: Vec<Attribute>,
    pub(crate) method: Ident,
    pub(crate) fn_token: Token![fn],
    /// The slot's trait.
    pub(crate) name: Ident,
    pub(crate) params: Vec<Param>,
    /// Span of the parameter list.
    pub(crate) parens: Span,
    /// The parameters of the default, as the user wrote them.
    pub(crate) inputs: Vec<syn::PatType>,
    /// Return type of hooks; `()` by default.
    pub(crate) output: Type,
    pub(crate) kind: Kind,
    /// `true` if the hooks run concurrently.
    pub(crate) concurrent: bool,
    /// `true` if the slot has around hooks.
    pub(crate) around: bool,
    /// `true` if the hooks are functions that are not `async`.
    pub(crate) sync: bool,
    pub(crate) body: Group,
    /// `true` if the default's body cannot suspend.
    pub(crate) ready: bool,
    /// Whether the default may dispatch its own slot, at once or by way of the defaults of others.
    pub(crate) recursive: bool,
}

pub(crate) enum Kind {
    Always(Companions),
    Fallback(Companions),
    Singleton,
    /// The first argument is moved from hook to hook.
    Waterfall,
    /// `fallback`, with the pipeline that interprets outputs.
    Custom(Path),
}

pub(crate) struct Companions {
    pub(crate) chain: Option<Type>,
    pub(crate) end: Option<End>,
}

/// The last step of a dispatch.
pub(crate) struct End {
    pub(crate) role: Role,
    pub(crate) companion: Type,
    /// Result of the dispatch, if it differs from the hooks' output.
    pub(crate) output: Option<Type>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    Aggregate,
    Finalize,
}

impl Slot {
    fn companions(&self) -> Option<&Companions> {
        match &self.kind {
            Kind::Always(companions) | Kind::Fallback(companions) => Some(companions),
            Kind::Singleton | Kind::Waterfall | Kind::Custom(_) => None,
        }
    }

    pub(crate) fn chain(&self) -> Option<&Type> {
        self.companions()?.chain.as_ref()
    }

    pub(crate) fn end(&self) -> Option<&End> {
        self.companions()?.end.as_ref()
    }

    /// Returns the types that the user wrote.
    pub(crate) fn types(&self) -> impl Iterator<Item = &Type> {
        let params = self.params.iter().map(|param| &param.ty);
        let end = self.end().into_iter();
        let end = end.flat_map(|end| [Some(&end.companion), end.output.as_ref()]);
        let options = [self.chain()].into_iter().chain(end).flatten();
        params.chain([&self.output]).chain(options)
    }

    /// Returns `true` if the arguments, or the first of them, are moved, and not cloned, for a hook.
    pub(crate) fn passes_once(&self) -> bool {
        self.companions().is_none()
    }

    /// Returns `true` if hooks receive the previous output.
    pub(crate) fn passes_last(&self) -> bool {
        let aggregates = self.end().is_some_and(|end| end.role == Role::Aggregate);
        self.companions().is_some() && self.chain().is_none() && !aggregates && !self.is_unit()
    }

    /// Returns `true` if hooks, one after the other, get the same `&mut` arguments. A singleton has one
    /// hook, and passes them on.
    pub(crate) fn lends(&self) -> bool {
        self.companions().is_some()
            && !self.concurrent
            && self.params.iter().any(|param| param.mutability().is_some())
    }

    fn is_unit(&self) -> bool {
        is_unit(&self.output)
    }

    /// Returns the type of the dispatch's result.
    pub(crate) fn result_type(&self) -> &Type {
        self.end()
            .and_then(|end| end.output.as_ref())
            .unwrap_or(&self.output)
    }

    /// Returns `true` if the slot may be configured away while the set stays.
    pub(crate) fn is_optional(&self) -> bool {
        attrs::is_optional(&self.attrs)
    }

    pub(crate) fn names(&self) -> SlotNames<'_> {
        SlotNames(&self.method)
    }

    /// Returns the name of the trait of stateful hooks.
    pub(crate) fn stateful(&self) -> Ident {
        format_ident!("Stateful{}", self.name)
    }

    /// Returns the names of the public traits.
    pub(crate) fn public_traits(&self) -> [Ident; 2] {
        [self.name.clone(), self.stateful()]
    }

    /// Returns the names of the set's public methods.
    pub(crate) fn public_methods(&self) -> Vec<Ident> {
        let names = self.names();
        let mut methods = vec![self.method.clone()];
        methods.extend(names.registration(""));
        methods.push(names.read());
        if self.around {
            methods.extend(names.registration("_around"));
        }
        let chain = self.chain().map(|_| "_chain");
        let end = self.end().map(|end| end.role.suffix());
        for suffix in chain.into_iter().chain(end) {
            methods.extend([names.method("with", suffix), names.method("set", suffix)]);
        }
        methods
    }
}

impl End {
    /// Returns the name of the trait that the companion implements in a slot, which may be synchronous.
    pub(crate) fn trait_name(&self, sync: bool) -> Ident {
        let name = self.role_name();
        match sync {
            true => format_ident!("Sync{name}"),
            false => format_ident!("{name}"),
        }
    }

    /// Returns the name of the role, without `Role`.
    pub(crate) fn role_name(&self) -> String {
        let role = self.role.name();
        match self.output {
            Some(_) => format!("{role}Into"),
            None => role.to_owned(),
        }
    }
}

impl Role {
    fn name(self) -> &'static str {
        match self {
            Role::Aggregate => "Aggregate",
            Role::Finalize => "Finalize",
        }
    }

    pub(crate) fn suffix(self) -> &'static str {
        match self {
            Role::Aggregate => "_aggregate",
            Role::Finalize => "_finalize",
        }
    }
}

/// Returns `true` for `()`, also from a macro's fragment or in parentheses.
pub(super) fn is_unit(ty: &Type) -> bool {
    match ty {
        Type::Tuple(tuple) => tuple.elems.is_empty(),
        Type::Group(group) => is_unit(&group.elem),
        Type::Paren(paren) => is_unit(&paren.elem),
        _ => false,
    }
}
