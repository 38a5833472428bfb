//! Converts a trait into the model: every error is reported, at the tokens that cause it.

use std::collections::HashMap;

use proc_macro2::TokenStream;
use quote::{ToTokens, format_ident};
use syn::{Attribute, Ident, TraitItem, Type};

use super::model::{Companions, End, Kind, Role, Set, Slot, is_unit};
use super::{is_conditional, nested, others, recursion, types};
use crate::attrs;
use crate::body;
use crate::errors::Errors;
use crate::hook_attr::{HookAttr, KindWord};
use crate::names::{self, SlotNames, camel};
use crate::params::{self, Param, Passing};
use crate::spans;
use crate::syntax::{self, Item, Method, Trait};

pub(crate) fn validate(args: TokenStream, definition: &Trait) -> syn::Result<Set> {
    let mut errors = Errors::default();
    if !args.is_empty() {
        errors.error(
            &args,
            "`#[hooks]` takes only `crate = path`; move the options of a slot to its `#[hook(…)]`",
        );
    }
    header(definition, &mut errors);
    let nested = nested::read(definition, &mut errors);
    for attr in attrs::named(&definition.attrs, &["hook"]) {
        errors.error(
            attr,
            "`#[hook(…)]` is only valid on a method; move it to a slot",
        );
    }
    let mut slots: Vec<Slot> = definition
        .items
        .iter()
        .filter_map(|item| match item {
            Item::Method(method) => slot(method, definition, &mut errors),
            Item::Other(other) => {
                other_item(other, &mut errors);
                None
            }
        })
        .collect();
    recursion::mark(&mut slots);
    let set = Set {
        attrs: attrs::with_allowed(others(&definition.attrs)),
        vis: definition.vis.clone(),
        trait_token: definition.trait_token,
        name: definition.ident.clone(),
        set: names::set(
            &definition.ident,
            spans::generated_at(definition.ident.span()),
        ),
        lifetime: names::lifetime("h", slots.iter().flat_map(Slot::types)),
        slots,
        nested,
    };
    collisions(&set, &mut errors);
    errors.finish(set)
}

fn header(definition: &Trait, errors: &mut Errors) {
    if let Some(token) = definition.unsafety {
        errors.error(
            token,
            "a hook set cannot be an unsafe trait; remove `unsafe`",
        );
    }
    if let Some(token) = definition.auto_token {
        errors.error(token, "a hook set cannot be an auto trait; remove `auto`");
    }
    let generics = &definition.generics;
    if !generics.params.is_empty() {
        errors.error(
            &generics.params,
            "a hook set cannot be generic; use concrete types, or add parameters to the slots",
        );
    } else if let Some(clause) = &generics.where_clause {
        errors.error(
            clause.where_token,
            "a hook set cannot have a `where` clause; remove it",
        );
    }
    if !definition.supertraits.is_empty() {
        errors.error(
            &definition.supertraits,
            "a hook set cannot have supertraits; remove them (hooks are already `Send + Sync`)",
        );
    }
}

fn other_item(item: &TraitItem, errors: &mut Errors) {
    match item {
        TraitItem::Const(item) => errors.error(
            item.const_token,
            "a hook set contains only slots; move the constant out of the trait",
        ),
        TraitItem::Type(item) => errors.error(
            item.type_token,
            "a hook set contains only slots; replace the associated type with a concrete type",
        ),
        item => errors.error(
            item,
            "a hook set contains only slots; move this item out of the trait",
        ),
    }
}

fn slot(method: &Method, definition: &Trait, errors: &mut Errors) -> Option<Slot> {
    let (kind, flags) = kind(method, errors);
    for attr in attrs::named(&method.attrs, &["nested_hooks"]) {
        errors.error(
            attr,
            "`#[nested_hooks(…)]` is only valid on a trait; move it to the trait of the set",
        );
    }
    let sig = &method.sig;
    if sig.asyncness.is_none() && attrs::named(&method.attrs, &["hook"]).next().is_none() {
        // Already reported as a non-slot method.
        return None;
    }
    signature(method, flags.sync.as_ref(), errors);
    let inputs: Vec<_> = params::typed(&method.sig.inputs).cloned().collect();
    if let Some(kind @ (Kind::Custom(_) | Kind::Waterfall)) = &kind {
        call(method, kind, &inputs, errors);
    }
    let refused = [&definition.generics, &method.sig.generics];
    let params: Vec<_> = inputs
        .iter()
        .filter_map(|arg| param(arg, refused, errors))
        .collect();
    for (at, param) in params.iter().enumerate() {
        if params[..at].iter().any(|first| first.ident == param.ident) {
            errors.error(
                &param.ident,
                format!(
                    "duplicate parameter `{}`; rename or remove one",
                    param.ident
                ),
            );
        }
    }
    if let Some(kind) = &kind {
        mutable(&params, kind, flags.concurrent, errors);
    }
    if let Some(beyond) = inputs.get(params::MAX_PARAMS) {
        errors.error(
            beyond,
            format!(
                "a slot has at most {} parameters; group some of them in a struct",
                params::MAX_PARAMS
            ),
        );
    }
    let output = output(&method.sig, errors)?;
    let Some(body) = &method.body else {
        errors.error(
            &method.sig.ident,
            format!(
                "slot `{}` has no default; add a body, which runs if no hook is registered",
                method.sig.ident
            ),
        );
        return None;
    };
    Some(Slot {
        attrs: attrs::with_allowed(others(&method.attrs)),
        ready: flags.sync.is_some()
            || body::is_ready(others(&method.attrs).chain(others(&definition.attrs)), body),
        method: method.sig.ident.clone(),
        fn_token: method.sig.fn_token,
        name: trait_name(&method.sig.ident, flags.name, errors)?,
        params,
        parens: method.sig.paren_token.span.join(),
        inputs,
        output,
        kind: kind?,
        concurrent: flags.concurrent,
        around: flags.around,
        sync: flags.sync.is_some(),
        body: body.clone(),
        recursive: false,
    })
}

/// Returns the name of the slot's trait: the given one, else the method's name in camel case.
fn trait_name(method: &Ident, given: Option<Ident>, errors: &mut Errors) -> Option<Ident> {
    let name = match given {
        Some(given) => Some(spans::generated(&given)),
        None => camel(method),
    };
    if name.is_none() {
        errors.error(
            method,
            format!("the name of slot `{method}` cannot be converted into the name of a trait; add `name = OtherName` to its `#[hook(…)]`"),
        );
    }
    name
}

/// Returns the attribute that makes a method a slot.
fn hook_attr<'a>(method: &'a Method, errors: &mut Errors) -> Option<&'a Attribute> {
    if let Some(attr) = method.attrs.iter().find(|attr| is_conditional(attr)) {
        errors.error(
            attr,
            "`#[hook(…)]` is not valid inside `cfg_attr`; write it as a separate attribute, with `#[cfg(…)]` for a conditional slot",
        );
        return None;
    }
    let mut attrs = attrs::named(&method.attrs, &["hook"]);
    let first = attrs.next();
    if first.is_none() {
        let name = &method.sig.ident;
        errors.error(
            name,
            match method.sig.asyncness {
                Some(_) => format!("`{name}` is not a slot; mark it with `#[hook(always)]`, `#[hook(fallback)]`, `#[hook(singleton)]` or `#[hook(waterfall)]`"),
                None => format!("`{name}` is not a slot; move it out of the trait, mark it with `#[hook(always, sync)]`, or make it an `async fn` with `#[hook(always)]`"),
            },
        );
    }
    for second in attrs {
        errors.error(
            second,
            "duplicate `#[hook(…)]`; put all options into the first one",
        );
    }
    first
}

/// The options of a slot besides its kind and its companions.
#[derive(Default)]
pub(super) struct Flags {
    name: Option<Ident>,
    concurrent: bool,
    around: bool,
    sync: Option<Ident>,
}

pub(super) fn kind(method: &Method, errors: &mut Errors) -> (Option<Kind>, Flags) {
    let Some(attr) = hook_attr(method, errors) else {
        return Default::default();
    };
    let attr = HookAttr::read(attr, errors);
    concurrent(&attr, method, errors);
    sync(&attr, errors);
    let flags = Flags {
        name: attr.name.as_ref().map(|name| name.value.clone()),
        concurrent: attr.concurrent.is_some(),
        around: attr.around.is_some(),
        sync: attr.sync.clone(),
    };
    (of_word(attr, errors), flags)
}

/// Returns the kind with its companions.
fn of_word(attr: HookAttr, errors: &mut Errors) -> Option<Kind> {
    let (word, kind) = attr.kind.as_ref()?;
    if let (KindWord::Always | KindWord::Singleton | KindWord::Waterfall, Some(custom)) =
        (word, &attr.custom)
    {
        errors.error(
            &custom.key,
            format!(
                "`custom` is only valid for `fallback` slots; remove it, or replace `{kind}` with `fallback`"
            ),
        );
    }
    Some(match word {
        KindWord::Always => Kind::Always(companions(attr, errors)),
        KindWord::Fallback if attr.custom.is_some() => {
            for key in companion_keys(&attr) {
                errors.error(
                    key,
                    format!("a `custom` pipeline makes the result itself and takes no `{key}`; remove it"),
                );
            }
            Kind::Custom(attr.custom?.value)
        }
        KindWord::Fallback => Kind::Fallback(companions(attr, errors)),
        KindWord::Singleton => {
            for key in companion_keys(&attr) {
                errors.error(
                    key,
                    format!("a `{kind}` slot runs one hook and takes no `{key}`; remove it, or make the slot `always` or `fallback`"),
                );
            }
            Kind::Singleton
        }
        KindWord::Waterfall => {
            for key in companion_keys(&attr) {
                errors.error(
                    key,
                    format!("a `{kind}` slot passes each output on and takes no `{key}`; remove it, or make the slot `always` or `fallback`"),
                );
            }
            Kind::Waterfall
        }
    })
}

/// Checks that the hooks of a synchronous slot run one after the other.
fn sync(attr: &HookAttr, errors: &mut Errors) {
    if attr.sync.is_none() {
        return;
    }
    if let Some(concurrent) = &attr.concurrent {
        errors.error(
            concurrent,
            "the hooks of a `sync` slot run one after the other; remove `concurrent` or `sync`",
        );
    }
    if let Some(around) = &attr.around {
        errors.error(
            around,
            "the around hooks of a slot await the call; remove `around` or `sync`",
        );
    }
}

/// Checks that the hooks of a concurrent slot do not depend on each other.
fn concurrent(attr: &HookAttr, method: &Method, errors: &mut Errors) {
    let (Some(concurrent), None) = (&attr.concurrent, &attr.sync) else {
        return;
    };
    let has_aggregate = attr.aggregate.is_some() || attr.unread.iter().any(is_end);
    let message = if let Some((KindWord::Singleton, _)) = attr.kind {
        "a `singleton` slot runs one hook; remove `concurrent`"
    } else if attr.custom.is_some() {
        "a `custom` pipeline passes its call from hook to hook; remove `concurrent`"
    } else if let Some((KindWord::Waterfall, _)) = attr.kind {
        "a `waterfall` slot moves its value from hook to hook; remove `concurrent`"
    } else if attr.finalize.is_some() && !has_aggregate {
        "a `concurrent` slot takes an aggregate and no `finalize`; finalize the result in the aggregate"
    } else if attr.chain.is_some() && !has_aggregate {
        "the chain of a `concurrent` slot decides when its aggregate has enough outputs; add `aggregate = Type`, or remove `chain` or `concurrent`"
    } else if !has_aggregate && !is_unit(&params::output(&method.sig)) {
        "the hooks of a `concurrent` slot start together and receive no `last`; add `aggregate = Type`, or remove the return type or `concurrent`"
    } else {
        return;
    };
    errors.error(concurrent, message);
}

/// Returns the keys of the companions. `output` belongs to another option, if there is one.
fn companion_keys(attr: &HookAttr) -> impl Iterator<Item = &Ident> {
    let ends = [&attr.aggregate, &attr.finalize];
    let has_end = ends.iter().any(|end| end.is_some());
    let output = attr.output.as_ref().filter(|_| !has_end);
    let companions = [&attr.chain, ends[0], ends[1]].into_iter().flatten();
    companions.chain(output).map(|option| &option.key)
}

/// Checks that a slot has a value that is moved from hook to hook, and that it is owned.
fn call(method: &Method, kind: &Kind, inputs: &[syn::PatType], errors: &mut Errors) {
    let is_waterfall = matches!(kind, Kind::Waterfall);
    match inputs.first() {
        None => {
            let of = match is_waterfall {
                true => "the value that it moves from hook to hook",
                false => "the call of its `custom` pipeline",
            };
            let name = &method.sig.ident;
            errors.error(
                name,
                format!("slot `{name}` has no parameter for {of}; add it as the first parameter"),
            );
        }
        Some(call) if Passing::of(&call.ty) != Passing::Owned => errors.error(
            &call.ty,
            match is_waterfall {
                true => "a `waterfall` slot moves its first argument from hook to hook; take an owned type, or make the slot `always` with a `&mut` parameter",
                false => "a `custom` pipeline moves its call from hook to hook; take the first parameter by value",
            },
        ),
        Some(_) => {}
    }
}

/// Returns `true` for the keys of an aggregate or a finalizer.
fn is_end(key: &Ident) -> bool {
    key == "aggregate" || key == "finalize"
}

fn companions(attr: HookAttr, errors: &mut Errors) -> Companions {
    let HookAttr {
        chain,
        aggregate,
        finalize,
        output,
        unread,
        ..
    } = attr;
    if let (Some(_), Some(finalize)) = (&aggregate, &finalize) {
        errors.error(
            &finalize.key,
            "`finalize` and `aggregate` are mutually exclusive; finalize the result in the aggregate",
        );
    }
    let companion = aggregate
        .map(|option| (Role::Aggregate, option.value))
        .or(finalize.map(|option| (Role::Finalize, option.value)));
    let chain = chain.map(|option| option.value);
    // An option with an invalid value is not missing.
    let is_there = companion.is_some() || unread.iter().any(is_end);
    if let (false, Some(output)) = (is_there, &output) {
        errors.error(
            &output.key,
            "`output` requires an aggregate or a finalizer; add `aggregate = Type` or `finalize = Type`",
        );
    }
    let output = output.map(|option| option.value);
    let companions = chain
        .iter()
        .chain(companion.iter().map(|(_, companion)| companion));
    for companion in companions {
        if let Some((found, message)) = types::of_companion(companion) {
            errors.error(found, message);
        }
    }
    if let Some(output) = &output {
        output_type(output, false, errors);
    }
    Companions {
        chain,
        end: companion.map(|(role, companion)| End {
            role,
            companion,
            output,
        }),
    }
}

fn signature(method: &Method, sync: Option<&Ident>, errors: &mut Errors) {
    let (sig, vis) = (&method.sig, method.vis.to_token_stream());
    attrs::unconditional(&method.attrs, "slot", errors);
    if let Some(found) = method
        .body
        .as_ref()
        .and_then(|body| self_type(body.stream()))
    {
        errors.error(found, types::NO_SELF);
    }
    if !vis.is_empty() {
        errors.error(
            &vis,
            format!("a slot has the visibility of its trait; remove `{vis}`"),
        );
    }
    if let Some(future) = params::spelled_future(sig) {
        errors.error(
            future,
            format!(
                "slot `{}` returns a future; write `async fn`, with the output of the future as return type",
                sig.ident
            ),
        );
    } else if sig.asyncness.is_none() && sync.is_none() {
        errors.error(
            sig.fn_token,
            format!(
                "slot `{}` is not async; write `async fn`, or add `sync` to its `#[hook(…)]`",
                sig.ident
            ),
        );
    }
    if let (Some(token), Some(_)) = (sig.asyncness, sync) {
        errors.error(
            token,
            "a `sync` slot is a function that is not async; remove `async`, or remove `sync`",
        );
    }
    if let Some(token) = sig.constness {
        errors.error(token, "a slot cannot be `const`; remove it");
    }
    if let syn::Safety::Unsafe(token) = sig.safety {
        errors.error(token, "a slot cannot be `unsafe`; remove it");
    }
    if let Some(abi) = &sig.abi {
        errors.error(abi, "a slot cannot be `extern`; remove it");
    }
    if let Some(variadic) = &sig.variadic {
        errors.error(variadic, "a slot cannot be variadic; remove `...`");
    }
    if !sig.generics.params.is_empty() {
        errors.error(
            &sig.generics.params,
            format!("slot `{}` cannot be generic; use concrete types", sig.ident),
        );
    } else if let Some(clause) = &sig.generics.where_clause {
        errors.error(
            clause.where_token,
            "a slot cannot have a `where` clause; remove it",
        );
    }
    if let Some(receiver) = sig.receiver() {
        errors.error(
            receiver,
            "a slot is declared without a receiver; remove it (hooks get `&self` from the macro)",
        );
    }
}

/// Returns a `Self` in a body, unless the body may declare the type that it refers to.
pub(super) fn self_type(body: TokenStream) -> Option<Ident> {
    const DECLARE: &[&str] = &["enum", "impl", "struct", "trait", "union"];
    let found = syntax::idents(body);
    let declares = |name: &Ident| DECLARE.iter().any(|word| name == word);
    if found.iter().any(declares) {
        return None;
    }
    found.into_iter().find(|name| name == "Self")
}

fn param(arg: &syn::PatType, refused: types::Refused<'_>, errors: &mut Errors) -> Option<Param> {
    params::unconditional(arg, "slot", errors);
    let param = Param::read(arg, errors)?;
    if params::is_last(arg) {
        errors.error(
            &param.ident,
            "`last` is reserved for the previous output, which the macro adds; remove or rename the parameter",
        );
    }
    if let Some((found, message)) = types::of_param(&param.ty, refused) {
        errors.error(found, message);
    }
    if let Some(found) = params::impl_trait(&param.ty) {
        errors.error(
            found,
            "a parameter of a slot cannot be `impl Trait`; take a named type or a `&dyn Trait`",
        );
    }
    if let (Some(token), 2..) = (param.mutability(), params::lifetimes(&param.ty)) {
        errors.error(
            token,
            "a `&mut` parameter cannot lend a type that borrows; take a type without lifetimes, or separate parameters",
        );
    }
    Some(param)
}

/// Checks that the hooks that get a `&mut` run one after the other, and can get it for one call.
fn mutable(params: &[Param], kind: &Kind, concurrent: bool, errors: &mut Errors) {
    if !matches!(kind, Kind::Singleton) {
        for lifetime in params.iter().filter_map(Param::mutable_for) {
            errors.error(
                lifetime,
                "a `&mut` parameter is lent to one hook after the other; remove its lifetime",
            );
        }
    }
    let is_pipeline = matches!(kind, Kind::Custom(_) | Kind::Waterfall);
    let message = if concurrent {
        "hooks that run at the same time cannot share a mutable reference; remove `concurrent`, or take a value, which each hook gets a clone of"
    } else if is_pipeline {
        "a slot that moves its first argument from hook to hook lends no other; change the first argument, or take `&T`"
    } else {
        return;
    };
    // The call itself is checked with the pipeline.
    let others = params.iter().skip(usize::from(is_pipeline));
    for token in others.filter_map(Param::mutability) {
        errors.error(token, message);
    }
}

fn output(sig: &syn::Signature, errors: &mut Errors) -> Option<Type> {
    if params::spelled_future(sig).is_some() {
        return None;
    }
    let ty = params::output(sig);
    let borrows = params::typed(&sig.inputs).any(|input| params::borrows(&input.ty));
    output_type(&ty, borrows, errors).then_some(ty)
}

/// Checks that a dispatch can return the type; `may_borrow` is `true` if there is an argument to
/// borrow from.
fn output_type(ty: &Type, may_borrow: bool, errors: &mut Errors) -> bool {
    let mut mistakes = Errors::default();
    if let Some(found) = params::impl_trait(ty) {
        mistakes.error(
            found,
            "a slot cannot return `impl Trait`; return a named type or a `Box<dyn Trait>`",
        );
    } else if let Some((found, message)) = types::of_output(ty) {
        mistakes.error(found, message);
    } else if params::borrows(ty) {
        let message = if may_borrow {
            "the output of a slot cannot borrow from its parameters; return an owned value"
        } else {
            "the output of a slot without borrowed parameters cannot borrow; return an owned value or a `'static` one"
        };
        mistakes.error(ty, message);
    }
    !errors.found_in(mistakes)
}

/// Owner of a generated name; it may be configured away.
#[derive(Clone)]
struct Owner {
    text: String,
    is_optional: bool,
}

impl Owner {
    fn new(text: impl Into<String>) -> Self {
        Owner {
            text: text.into(),
            is_optional: false,
        }
    }

    /// Takes the name, and returns its earlier owner, if both can exist at once. A macro cannot
    /// evaluate `cfg`s, so two configured owners are accepted.
    fn take(&self, name: &Ident, names: &mut HashMap<Ident, Owner>) -> Option<String> {
        let other = names.insert(name.clone(), self.clone())?;
        (!(self.is_optional && other.is_optional)).then_some(other.text)
    }
}

/// Reports generated names that clash with each other, or with the set's own.
fn collisions(set: &Set, errors: &mut Errors) {
    let mut methods: HashMap<Ident, Owner> = names::RESERVED
        .iter()
        .map(|name| (format_ident!("{name}"), Owner::new("every hook set")))
        .collect();
    for nested in &set.nested {
        let name = SlotNames(&nested.field).method("with", "");
        let owner = Owner::new(format!("nested set `{}`", nested.field));
        if let Some(other) = owner.take(&name, &mut methods) {
            let owner = &owner.text;
            errors.error(
                &nested.field,
                format!(
                    "{owner} would get the method `{name}`, which {other} already has; choose another name"
                ),
            );
        }
    }
    let mut traits: HashMap<Ident, Owner> = HashMap::from([
        (set.name.clone(), Owner::new("the trait")),
        (set.set.clone(), Owner::new("the hook set")),
    ]);
    let types = set
        .slots
        .iter()
        .map(|slot| (&slot.method, names::in_types(slot.types())));
    let types: Vec<_> = types.collect();
    for (at, slot) in set.slots.iter().enumerate() {
        let owner = Owner {
            text: format!("slot `{}`", slot.method),
            is_optional: slot.is_optional(),
        };
        let mut before = set.slots[..at].iter();
        let twice = before.any(|first| {
            first.method == slot.method && !(first.is_optional() && slot.is_optional())
        });
        if twice {
            let message = format!("duplicate {}; rename or remove one", owner.text);
            errors.error(&slot.method, message);
            continue;
        }
        let method = slot
            .public_methods()
            .into_iter()
            .find_map(|name| Some((owner.take(&name, &mut methods)?, name)));
        if let Some((other, name)) = method {
            let owner = &owner.text;
            errors.error(
                &slot.method,
                format!(
                    "{owner} would get the method `{name}`, which {other} already has; choose another name"
                ),
            );
        }
        let name = slot.public_traits().into_iter().find_map(|name| {
            let user = types.iter().find(|(_, names)| names.contains(&name));
            let user = user.map(|(slot, _)| format!("a type of slot `{slot}`"));
            let prelude = || {
                let is_there = names::PRELUDE_TYPES.iter().any(|ty| name == ty);
                is_there.then(|| "a type of the prelude".to_owned())
            };
            let other = owner.take(&name, &mut traits).or(user).or_else(prelude)?;
            Some((name, other))
        });
        if let Some((name, other)) = name {
            let owner = &owner.text;
            errors.error(
                &slot.method,
                format!("the trait of {owner} would be named `{name}`, which is taken by {other}; add `name = OtherName` to its `#[hook(…)]`"),
            );
        }
    }
}
