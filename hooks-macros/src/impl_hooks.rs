//! Expands `#[impl_hooks(Set)]`: registers the methods of one `impl` block together.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::parse::{ParseStream, Parser};
use syn::{FnArg, Ident, ImplItem, Path, ReceiverKind, Token};

use crate::attrs;
use crate::body;
use crate::errors::{self, Errors};
use crate::krate;
use crate::names;
use crate::params;
use crate::spans;
use crate::syntax::{Impl, Item, Method};

pub(crate) fn entry(args: TokenStream, item: TokenStream) -> TokenStream {
    let mut block: Impl = match syn::parse2(item.clone()) {
        Ok(block) => block,
        Err(error) => return errors::with_errors(item.clone(), &not_an_impl(item, error)),
    };
    let mut errors = Errors::default();
    attrs::once(&mut block.attrs, "impl_hooks", &mut errors);
    let group = validate(args, &block, &mut errors);
    // Valid methods are registered, so that the value stays registrable, and its uses cause no
    // further errors.
    errors.with_rest(group.as_ref().map(expand))
}

fn not_an_impl(item: TokenStream, error: syn::Error) -> syn::Error {
    match syn::parse2::<syn::Item>(item) {
        Ok(syn::Item::Trait(item)) => syn::Error::new_spanned(
            item.trait_token,
            "`#[impl_hooks(…)]` is only valid on an `impl` block; use `#[hooks]` on a trait",
        ),
        Ok(syn::Item::Fn(item)) => syn::Error::new_spanned(
            item.sig.fn_token,
            "`#[impl_hooks(…)]` is only valid on an `impl` block; use `#[impl_hook(Slot)]` on a function",
        ),
        Ok(syn::Item::Impl(_)) | Err(_) => error,
        Ok(item) => syn::Error::new_spanned(
            item,
            "`#[impl_hooks(…)]` is only valid on an `impl` block of a hook trait; move it there",
        ),
    }
}

/// A block that provides hooks.
struct Group<'a> {
    block: &'a Impl,
    hook_trait: &'a Path,
    set: Path,
    methods: Vec<&'a Method>,
    /// Functions that are not hooks, which hooks may call.
    helpers: Vec<&'a Method>,
}

fn validate<'a>(args: TokenStream, block: &'a Impl, errors: &mut Errors) -> Option<Group<'a>> {
    let hook_trait = match &block.trait_ {
        Some((None, path, _)) => Some(path),
        Some((Some(bang), ..)) => {
            errors.error(bang, "a hook trait cannot have a negative impl; remove `!`");
            None
        }
        None => {
            errors.error(
                &block.self_ty,
                "`#[impl_hooks(…)]` is only valid on a trait impl; write `impl Trait for Type`",
            );
            None
        }
    };
    let set = set_path(args, hook_trait, errors);
    if let Some(token) = block.unsafety {
        errors.error(token, "a hook trait is not unsafe; remove `unsafe`");
    }
    let mut methods: Vec<&Method> = Vec::new();
    let mut helpers: Vec<&Method> = Vec::new();
    for item in &block.items {
        match item {
            Item::Method(found) => {
                let mut mistakes = Errors::default();
                method(found, &mut mistakes);
                duplicate(found, &methods, &mut mistakes);
                if !errors.found_in(mistakes) {
                    methods.push(found);
                } else if found.sig.receiver().is_none() && found.sig.asyncness.is_none() {
                    helpers.push(found);
                }
            }
            Item::Other(other) => other_item(other, errors),
        }
    }
    if block.items.is_empty() {
        errors.error(
            &block.self_ty,
            "this `impl` block has no hooks; implement a method, or remove `#[impl_hooks(…)]`",
        );
    }
    Some(Group {
        block,
        hook_trait: hook_trait?,
        set: set?,
        methods,
        helpers,
    })
}

/// Returns the set. If it is missing, or if the hook trait is in its place: the set that this trait
/// has if it is declared beside it.
fn set_path(args: TokenStream, hook_trait: Option<&Path>, errors: &mut Errors) -> Option<Path> {
    const SHAPE: &str =
        "expected the set that `#[hooks]` generated; write `#[impl_hooks(AppHooksSet)]`";
    if args.is_empty() {
        errors.push(syn::Error::new(Span::call_site(), SHAPE));
        return likely_set(hook_trait?);
    }
    let path = one_path.parse2(args.clone());
    let path = path.map_err(|_| syn::Error::new_spanned(args, SHAPE));
    let mut path = errors.ok(path)?;
    for segment in &mut path.segments {
        let arguments = std::mem::take(&mut segment.arguments);
        if !arguments.is_empty() {
            errors.error(arguments, "the set takes no generic arguments; remove them");
        }
    }
    let named = |path: &Path| path.to_token_stream().to_string();
    if hook_trait.is_some_and(|hook_trait| named(hook_trait) == named(&path)) {
        let set = likely_set(&path)?;
        let (hook_trait, name) = (named(&path), named(&set));
        errors.error(
            &path,
            format!("`{hook_trait}` is the trait and not its set; write `#[impl_hooks({name})]`"),
        );
        return Some(set);
    }
    Some(path)
}

/// Parses a path, and an optional comma after it.
fn one_path(input: ParseStream<'_>) -> syn::Result<Path> {
    let path = input.parse()?;
    input.parse::<Option<Token![,]>>()?;
    Ok(path)
}

fn likely_set(hook_trait: &Path) -> Option<Path> {
    let mut set = hook_trait.clone();
    let last = set.segments.last_mut()?;
    last.ident = names::set(&last.ident, last.ident.span());
    Some(set)
}

/// Reports a repeated method. A macro cannot evaluate `cfg`s, so two configured methods are
/// accepted.
fn duplicate(method: &Method, before: &[&Method], errors: &mut Errors) {
    let is_optional = |method: &Method| attrs::is_optional(&method.attrs);
    let name = &method.sig.ident;
    let mut same = before.iter().filter(|other| other.sig.ident == *name);
    if same.any(|other| !(is_optional(other) && is_optional(method))) {
        errors.error(
            name,
            format!("duplicate hook `{name}`; rename or remove one"),
        );
    }
}

fn other_item(item: &ImplItem, errors: &mut Errors) {
    const ONLY: &str = "an `impl` block of hooks contains only methods";
    match item {
        ImplItem::Const(item) => {
            errors.error(
                item.const_token,
                format!("{ONLY}; move the constant to another `impl` block"),
            );
        }
        ImplItem::Type(item) => {
            errors.error(
                item.type_token,
                format!("{ONLY}; move the type out of the block"),
            );
        }
        item => errors.error(item, format!("{ONLY}; move this item out of the block")),
    }
}

fn method(method: &Method, errors: &mut Errors) {
    let sig = &method.sig;
    attrs::unconditional(&method.attrs, "hook", errors);
    if sig.asyncness.is_none() && sig.receiver().is_none() {
        errors.error(
            sig.fn_token,
            format!(
                "function `{}` is not a hook; add `&self`, or move it to another `impl` block",
                sig.ident
            ),
        );
        return;
    }
    if let Some(future) = params::spelled_future(sig) {
        errors.error(
            future,
            format!(
                "hook `{}` returns a future; write `async fn`, with the output of the future as return type",
                sig.ident
            ),
        );
        return;
    }
    if method.body.is_none() {
        errors.error(
            &sig.ident,
            format!("hook `{}` has no body; add a body", sig.ident),
        );
    }
    if let Some(token) = sig.constness {
        errors.error(token, "a hook cannot be `const`; remove it");
    }
    if !sig.generics.params.is_empty() {
        errors.error(
            &sig.generics.params,
            format!(
                "hook `{}` cannot be generic; use the types of the slot",
                sig.ident
            ),
        );
    }
    receiver(method, errors);
    let inputs: Vec<_> = params::typed(&sig.inputs).collect();
    for input in &inputs {
        params::unconditional(input, "hook", errors);
    }
    for (at, input) in inputs.iter().enumerate() {
        if params::is_last(input) && at + 1 < inputs.len() {
            errors.error(
                input,
                "`last` must be the last parameter of a hook; move it to the end",
            );
        }
    }
}

fn receiver(method: &Method, errors: &mut Errors) {
    const SHARED: &str =
        "hooks are shared; take `&self`, and keep mutable state in a `Stateful` hook or a lock";
    match method.sig.inputs.first() {
        Some(FnArg::Receiver(receiver)) => match &receiver.kind {
            ReceiverKind::Reference(_, _, None) => {}
            _ => errors.error(receiver, SHARED),
        },
        _ => errors.error(
            &method.sig.ident,
            format!("hook `{}` has no receiver; add `&self`", method.sig.ident),
        ),
    }
}

// Input:
// #[impl_hooks(AppHooksSet)]
// impl AppHooks for Policy { async fn check(&self, prompt: &str) -> bool { true } }
//
// Output:
// impl AppHooks for Policy { async fn check(…) -> bool { (move || -> bool { true })() } }
// impl<'h> HookGroup<'h, AppHooksSet<'h>> for Policy { … set.<check>.__hooks_register(…) }
fn expand(group: &Group<'_>) -> TokenStream {
    let private = &krate::private();
    let Group {
        block,
        hook_trait,
        set,
        methods,
        helpers,
    } = group;
    let Impl {
        attrs,
        impl_token,
        generics,
        self_ty,
        brace_token,
        ..
    } = block;
    let where_clause = &generics.where_clause;
    let params = &generics.params;
    let (impl_generics, ..) = generics.split_for_impl();

    let bodies = methods.iter().map(|method| hook_body(method, block));
    let predicates = where_clause.iter().flat_map(|clause| &clause.predicates);
    let cfgs = attrs::cfgs(attrs);
    let own_set = own_set(set, hook_trait, private);
    let unknown = unknown_methods(methods, private);
    let registrations = methods.iter().map(|method| {
        let cfgs = attrs::cfgs(&method.attrs);
        let slot = registrations(method);
        quote! {
            #(#cfgs)*
            set.#slot().__hooks_register(group)?;
        }
    });
    let checks = checks(methods, private);
    let mut implementation = quote! {
        #(#attrs)*
        #[allow(refining_impl_trait)]
        #impl_token #impl_generics #hook_trait for #self_ty #where_clause
    };
    let ready = methods.iter().filter(|method| is_ready(method, block));
    let ready = ready.map(|method| {
        let (cfgs, name) = (attrs::cfgs(&method.attrs), name(method));
        quote!(#(#cfgs)* #name)
    });
    brace_token.surround(&mut implementation, |tokens| tokens.extend(bodies));
    // Generated outside of the expansion's spans, so that a caller of a helper is not reported.
    let helpers = (!helpers.is_empty()).then(|| {
        let cfgs = attrs::cfgs(attrs);
        quote! {
            #(#cfgs)*
            #[allow(dead_code)]
            impl #impl_generics #self_ty #where_clause {
                #(#helpers)*
            }
        }
    });
    quote! {
        #implementation

        #helpers

        #(#cfgs)*
        #[allow(deprecated)]
        impl<'__h, #params> #private::HookGroup<'__h, #set<'__h>> for #self_ty
        where
            Self: '__h,
            #(#predicates,)*
        {
            const __HOOKS_READY: &'static [&'static #private::str] = &[#(#ready),*];

            fn __hooks_register<__P>(
                group: &#private::Arc<#private::HookGroupPtr<__P, #set<'__h>>>,
                set: &mut #set<'__h>,
            ) -> #private::Result<(), #private::RegistrationError>
            where
                __P: #private::GroupPointer<Target = Self> + '__h,
            {
                #unknown
                let set = #own_set;
                #checks
                #(#registrations)*
                #private::Ok(())
            }
        }
    }
}

/// Returns the set if it belongs to the hook trait; another set is refused, at its name.
fn own_set(set: &Path, hook_trait: &Path, private: &TokenStream) -> TokenStream {
    let (at, _) = spans::ends(set);
    spans::call_by_way_of(
        &quote_spanned!(at=> _),
        &quote!(#private::SameSet),
        &quote!(<#set<'_>>),
        "__hooks_own",
        &quote!(set, <Self as #hook_trait>::__hooks_set()),
    )
}

/// Registers methods that the set does not have in no slot: the compiler already refuses them,
/// because the hook trait does not have them.
fn unknown_methods(methods: &[&Method], private: &TokenStream) -> TokenStream {
    let methods = methods.iter().map(|method| {
        let slot = registrations(method);
        let cfgs = attrs::cfgs(&method.attrs);
        quote! {
            #(#cfgs)*
            fn #slot(&mut self) -> #private::NoSlot {
                #private::NoSlot
            }
        }
    });
    quote! {
        #[allow(dead_code)]
        trait __HooksUnknown {
            #(#methods)*
        }
        impl<__T: ?#private::Sized> __HooksUnknown for __T {}
    }
}

/// Returns checks by type for methods that may lack `last`. The compiler also reports their number
/// of parameters.
fn checks(methods: &[&Method], private: &TokenStream) -> TokenStream {
    let may_lack_last = |method: &&&Method| params::may_lack_last(&method.sig);
    let mut checks = methods.iter().filter(may_lack_last).map(|method| {
        let (cfgs, slot) = (attrs::cfgs(&method.attrs), registrations(method));
        let count = params::typed(&method.sig.inputs).count();
        let check = spans::call_by_way_of(
            &quote_spanned!(method.sig.fn_token.span=> _),
            &quote!(#private::direct::NotPassed),
            &TokenStream::new(),
            "__hooks_check",
            &quote!((&&set.#slot().__hooks_method::<#count>()).__hooks_left_out()),
        );
        quote! {
            #(#cfgs)*
            #check;
        }
    });
    let Some(first) = checks.next() else {
        return TokenStream::new();
    };
    quote! {
        #[allow(unused_imports)]
        use #private::direct::{TakesArgs as _, TakesOther as _};
        #first
        #(#checks)*
    }
}

/// Returns the name of a method's slot as a string.
fn name(method: &Method) -> String {
    method.sig.ident.unraw().to_string()
}

/// Returns the method of the set that returns the slot's registrations, at the span of the hook.
fn registrations(method: &Method) -> Ident {
    let mut name = names::SlotNames(&method.sig.ident).registrations("");
    name.set_span(spans::generated_at(method.sig.fn_token.span));
    name
}

fn is_ready(method: &Method, block: &Impl) -> bool {
    let body = method.body.as_ref();
    let attrs = method.attrs.iter().chain(&block.attrs);
    method.sig.asyncness.is_some() && body.is_some_and(|body| body::is_ready(attrs, body))
}

fn hook_body(method: &Method, block: &Impl) -> TokenStream {
    let (Some(body), true) = (&method.body, is_ready(method, block)) else {
        return method.to_token_stream();
    };
    let Method {
        attrs, vis, sig, ..
    } = method;
    let body = body::emit(body, true, sig);
    quote! {
        #(#attrs)*
        #[allow(clippy::redundant_closure_call)]
        #vis #sig #body
    }
}
