//! Expands `#[impl_hook(Slot)]`: a hook of one function.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::{FnArg, Ident, Path, ReturnType, Safety, Signature, Token, Type};

use crate::attrs;
use crate::body;
use crate::errors::{self, Errors};
use crate::krate;
use crate::names::{self, camel};
use crate::params::{self, Passing};
use crate::spans;
use crate::syntax::Function;

pub(crate) fn entry(args: TokenStream, item: TokenStream) -> TokenStream {
    let function: Function = match syn::parse2(item.clone()) {
        Ok(function) => function,
        Err(error) => return errors::with_errors(item.clone(), &not_a_function(item, error)),
    };
    let mut errors = Errors::default();
    let hook = validate(args, &function, &mut errors);
    errors.with_rest(hook.as_ref().map(expand))
}

fn not_a_function(item: TokenStream, error: syn::Error) -> syn::Error {
    match syn::parse2::<syn::Item>(item) {
        Ok(syn::Item::Impl(item)) => syn::Error::new_spanned(
            item.impl_token,
            "`#[impl_hook(…)]` is only valid on a function; use `#[impl_hooks(Set)]` on an `impl` block",
        ),
        Ok(syn::Item::Fn(_)) | Err(_) => error,
        Ok(item) => syn::Error::new_spanned(
            item,
            "`#[impl_hook(…)]` is only valid on a function; move it there",
        ),
    }
}

/// A function that is a hook.
struct Hook<'a> {
    slot: Path,
    function: &'a Function,
    /// Name of the generated struct.
    name: Ident,
    /// The valid signature.
    sig: Signature,
    params: Vec<&'a Type>,
    /// Where the return type is missing, if the slot has an output.
    omitted_at: Option<Span>,
}

/// Validates a function. A function with minor errors is expanded as a hook, so that its uses cause
/// no further errors.
fn validate<'a>(
    args: TokenStream,
    function: &'a Function,
    errors: &mut Errors,
) -> Option<Hook<'a>> {
    let slot = slot_path(args, errors);
    let mut sig = function.sig.clone();
    let mut mistakes = Errors::default();
    if let Some(future) = params::spelled_future(&sig) {
        mistakes.error(
            future,
            format!(
                "hook `{}` returns a future; write `async fn`, with the output of the future as return type",
                sig.ident
            ),
        );
    }
    if let Some(token) = sig.constness.take() {
        errors.error(token, "a hook cannot be `const`; remove it");
    }
    if let Safety::Unsafe(token) = std::mem::replace(&mut sig.safety, Safety::Default) {
        errors.error(token, "a hook cannot be `unsafe`; remove it");
    }
    for second in function
        .attrs
        .iter()
        .filter(|attr| attrs::calls(attr, "impl_hook"))
    {
        mistakes.error(
            second.path(),
            "duplicate `#[impl_hook(…)]`; write another function for the other slot",
        );
    }
    if !sig.generics.params.is_empty() {
        mistakes.error(
            &sig.generics.params,
            format!(
                "hook `{}` cannot be generic; use the types of the slot",
                sig.ident
            ),
        );
    }
    if let Some(FnArg::Receiver(receiver)) = sig.inputs.first() {
        mistakes.error(
            receiver,
            "`#[impl_hook(…)]` is not valid on a method; use `#[impl_hooks(Set)]` on the `impl` block",
        );
    }
    for arg in params::typed(&function.sig.inputs) {
        params::unconditional(arg, "hook", &mut mistakes);
    }
    let output = params::output(&sig);
    if params::borrows(&output) {
        mistakes.error(
            output,
            "the output of a hook cannot borrow; return an owned value",
        );
    }
    let name = camel(&sig.ident);
    match &name {
        None => mistakes.error(
            &sig.ident,
            format!(
                "the name of function `{}` cannot be converted into the name of a type; rename the function",
                sig.ident
            ),
        ),
        Some(name) => {
            if let Some(other) = taken(name, slot.as_ref(), &sig) {
                mistakes.error(
                    &sig.ident,
                    format!(
                        "the hook of function `{}` would be named `{name}`, which is taken by {other}; rename the function",
                        sig.ident
                    ),
                );
            }
        }
    }
    if errors.found_in(mistakes) {
        return None;
    }
    let (inputs, slot) = (&function.sig.inputs, slot?);
    let end = may_lack_output(function).then(|| sig.paren_token.span.close());
    // Each use of a plain function would repeat an error about its type; the compiler compares its body
    // with `()`, and proposes the return type.
    if let (Some(end), Some(_)) = (end, sig.asyncness) {
        sig.output = omitted_output(&slot, end);
    }
    Some(Hook {
        slot,
        omitted_at: end.map(spans::generated_at),
        function,
        name: name?,
        sig,
        params: params::typed(inputs).map(|arg| &*arg.ty).collect(),
    })
}

/// Returns `true` if the function has no return type, and its body ends in a value that may be the
/// output of the slot.
fn may_lack_output(function: &Function) -> bool {
    matches!(function.sig.output, ReturnType::Default) && body::ends_in_value(&function.body)
}

/// Returns `-> <<dyn Check as SlotDef>::Out as OmittedOutput>::Type`, which is `()` if the output of
/// the slot is `()`. Otherwise the compiler reports the missing return type, and compares neither
/// the body nor the slot with `()`.
fn omitted_output(slot: &Path, end: Span) -> ReturnType {
    let (private, end) = (krate::private(), spans::generated_at(end));
    let output = slot_output(slot, end);
    let omitted = quote_spanned!(end=> <#output as #private::OmittedOutput>::Type);
    ReturnType::Type(Token![->](end), Box::new(Type::Verbatim(omitted)))
}

/// Returns `<dyn Check as SlotDef>::Out`.
fn slot_output(slot: &Path, place: Span) -> TokenStream {
    let private = krate::private();
    quote_spanned!(place=> <dyn #slot as #private::SlotDef>::Out)
}

/// Returns an item that already has the name of the hook, and would be hidden by it.
fn taken(name: &Ident, slot: Option<&Path>, sig: &Signature) -> Option<&'static str> {
    let is_among = |names: &[&str]| names.iter().any(|taken| name == taken);
    let output = params::output(sig);
    let types = params::typed(&sig.inputs).map(|arg| &*arg.ty);
    // A path of several names refers to another module.
    if slot.is_some_and(|slot| slot.is_ident(name)) {
        Some("its slot")
    } else if is_among(names::PRELUDE_TYPES) || is_among(names::PRELUDE_VALUES) {
        Some("a name of the prelude")
    } else if names::in_types(types.chain([&output])).contains(name) {
        Some("a type in its signature")
    } else {
        None
    }
}

fn slot_path(args: TokenStream, errors: &mut Errors) -> Option<Path> {
    const SHAPE: &str = "expected the trait of a slot; write `#[impl_hook(ValidatePrompt)]`";
    if args.is_empty() {
        errors.push(syn::Error::new(Span::call_site(), SHAPE));
        return None;
    }
    errors.ok(syn::parse2(args.clone()).map_err(|_| syn::Error::new_spanned(args, SHAPE)))
}

// Input:
// #[impl_hook(Check)]
// async fn no_keys(prompt: &str) -> bool { !prompt.contains("sk-") }
//
// Output:
// async fn no_keys(prompt: &str) -> bool { … }
// struct NoKeys;
// impl Check for NoKeys {
//     async fn call(&self, prompt: String) -> bool { no_keys(&prompt).await }
//     fn __hooks_start(…) -> … { … no_keys with the borrowed prompt … }
// }
fn expand(hook: &Hook<'_>) -> TokenStream {
    let private = &krate::private();
    let Hook {
        slot,
        function,
        name,
        sig,
        ..
    } = hook;
    let Function {
        attrs, vis, body, ..
    } = function;
    let function = &sig.ident;
    let ready = body::is_ready(attrs.iter(), body);
    // The compiler refuses an `.await` in a function that is not async.
    let in_closure = ready && sig.asyncness.is_some();
    let body = body::emit(body, in_closure, sig);
    let docs = attrs::named(attrs, &["doc"]);
    let cfgs: Vec<_> = attrs::cfgs(attrs).collect();
    let doc = format!("The function `{function}` as a hook.");

    // If the name is taken, the compiler shows the head of the item.
    let item = quote_spanned!(spans::generated_at(function.span())=> struct #name;);
    let lints = attrs::named(attrs, LINT_LEVELS).cloned();
    let lints = lints.chain(attrs.iter().filter_map(attrs::allowed));
    let call = call(hook, private);
    let start = start(hook, private, ready);
    // An omitted return type names the slot's trait, which may be less visible than the function.
    let private_slot = hook.omitted_at.map(|_| quote!(, private_interfaces));
    quote! {
        #(#attrs)*
        #[allow(clippy::redundant_closure_call #private_slot)]
        #vis #sig #body

        #(#cfgs)*
        #(#docs)*
        ///
        #[doc = #doc]
        #[derive(#private::Debug, #private::Clone, #private::Copy, #private::Default)]
        #[allow(dead_code)]
        #vis #item

        #(#cfgs)*
        #(#lints)*
        #[allow(refining_impl_trait)]
        impl #slot for #name {
            #call
            #start
        }
    }
}

/// Returns the hook as if it were written by hand: the compiler compares it with the slot, and
/// reports a difference at the function.
fn call(hook: &Hook<'_>, private: &TokenStream) -> TokenStream {
    let (function, slot) = (&hook.function.sig.ident, &hook.slot);
    let is_async = hook.function.sig.asyncness.is_some();
    let output = match hook.omitted_at {
        Some(place) => {
            let output = slot_output(&hook.slot, place);
            quote_spanned!(place=> -> #output)
        }
        None => body::output(&hook.function.sig),
    };
    let idents = params::places(hook.params.len());
    let types = hook.params.iter().map(|ty| params::hook_type(ty, private));
    let given = hook
        .params
        .iter()
        .zip(&idents)
        .map(|(ty, ident)| match Passing::of(ty) {
            Passing::Str => quote!(&*#ident),
            Passing::Borrowed | Passing::Owned => quote!(#ident),
        });
    let receiver = quote_spanned!(function.span()=> &self);
    if !is_async {
        // In an async slot the output becomes a future, so that only the missing `async` is reported.
        let (returned, called) = match hook.omitted_at {
            // By way of two traits, as below.
            Some(place) => (
                slot_output(slot, place),
                quote_spanned! {place=> {
                    #[allow(unused_imports)]
                    use #private::direct::{LacksPlain as _, ReturnsPlain as _};
                    let __hooks_function = #private::direct::PlainFunction::<dyn #slot, _>::new(#function);
                    (&&__hooks_function).__hooks_call((#(#given,)*))
                }},
            ),
            None => (
                params::output(&hook.sig).to_token_stream(),
                quote!(#function(#(#given),*)),
            ),
        };
        let (first, last) = spans::ends(&returned);
        let (arrow, returned) = (
            quote_spanned!(first=> ->),
            quote_spanned!(last=> #private::direct::PlainOutput<dyn #slot, #returned>),
        );
        return quote! {
            #[allow(deprecated)]
            fn call(#receiver, #(#idents: #types),*) #arrow #returned {
                #private::direct::plain::<dyn #slot, _>(#called)
            }
        };
    }
    let call = match hook.omitted_at {
        // By way of two traits, so that a missing return type is reported at the function only.
        Some(place) => {
            quote_spanned! {place=>
                #[allow(unused_imports)]
                use #private::direct::{LacksOutput as _, ReturnsOutput as _};
                let __hooks_function = #private::direct::Function::<dyn #slot, _, false>::new(#function);
                (&&__hooks_function).__hooks_call((#(#given,)*)).await
            }
        }
        None => quote!(#function(#(#given),*).await),
    };
    quote! {
        #[allow(deprecated)]
        async fn call(#receiver, #(#idents: #types),*) #output {
            #call
        }
    }
}

/// Returns the method `__hooks_start`, which starts the function with the slot's own arguments if it
/// takes them unchanged.
fn start(hook: &Hook<'_>, private: &TokenStream, ready: bool) -> TokenStream {
    let (slot, function) = (&hook.slot, &hook.function.sig.ident);
    // If `last` is missing, the compiler points at the `fn`: an editor would show the generated
    // names at the span of the function's name.
    let check = spans::call_by_way_of(
        &quote_spanned!(hook.function.sig.fn_token.span=> _),
        &quote!(#private::direct::NotPassed),
        &TokenStream::new(),
        "__hooks_check",
        &quote_spanned!(Span::mixed_site()=> (&&&function).__hooks_left_out()),
    );
    let sig = &hook.function.sig;
    let (is_plain, wrapper) = match sig.asyncness {
        Some(_) => (
            None,
            quote_spanned!(Span::mixed_site()=> Function::<dyn #slot, _, #ready>),
        ),
        None => {
            let check = spans::call_by_way_of(
                &quote_spanned!(sig.fn_token.span=> _),
                &quote!(#private::direct::TakesPlain),
                &TokenStream::new(),
                "__hooks_check",
                &quote!(#private::PhantomData::<#private::ModeOf<dyn #slot>>),
            );
            (
                Some(quote!(#check;)),
                quote_spanned!(Span::mixed_site()=> PlainFunction::<dyn #slot, _>),
            )
        }
    };
    // At the macro's own site no local clashes with the user's names.
    quote_spanned! {Span::mixed_site()=>
        #[allow(deprecated)]
        #[inline]
        fn __hooks_start<'b, 'a: 'b>(
            &'b self,
            start: #private::Start<'a, dyn #slot>,
        ) -> #private::Started<'b, 'a, dyn #slot> {
            #[allow(unused_imports)]
            use #private::direct::{Owned as _, Plain as _, WithLast as _};
            let function = #private::direct::#wrapper::new(#function);
            #is_plain
            #check;
            (&&&function).__hooks_start(start)
        }
    }
}

/// Attributes that apply to the hook as well as to the function. An `expect` is fulfilled by the
/// function, and becomes an `allow` for the hook.
const LINT_LEVELS: &[&str] = &["allow", "warn", "deny", "forbid"];
