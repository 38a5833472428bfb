//! The macros of `hooks-core` and `hooks-runtime`. Depend on one of these crates, which re-export
//! the macros: generated code refers to them.
//!
//! | Macro | Input | Output |
//! |---|---|---|
//! | [`macro@hooks`] | a trait of slots | the implementable trait, its set, a trait per slot |
//! | [`macro@impl_hooks`] | an `impl` block of such a trait | the block, and its registration |
//! | [`macro@impl_hook`] | one function | a unit struct that implements a slot's trait |
//! | [`macro@ToolSet`] | an enum of tool inputs | the hook set of the tools, and the code that runs a call |
//!
//! The folder `docs` of the repository is a book. `mdbook build docs` writes it beside these pages:
//! [Generated code](../../book/generated-code.html) lists every generated name, and
//! [Errors](../../book/errors.html) explains every message of the macros.
//!
//! Each macro has three steps. `syntax` parses the item and leaves bodies unparsed, so that an unfinished
//! body does not affect the rest. `validate` converts it into a model, and collects
//! all errors: a combination that the model can represent and that is invalid is an error, too. `expand` converts the model into
//! code and cannot fail. Loops, branches and locks are in ordinary code of `hooks-core`.

#![forbid(unsafe_code)]

mod attrs;
mod body;
mod errors;
mod hook_attr;
mod hooks;
mod impl_hook;
mod impl_hooks;
mod krate;
mod names;
mod options;
mod params;
mod spans;
mod syntax;
#[cfg(test)]
mod tests;
mod toolset;

use proc_macro::TokenStream;

/// Generates a hook set from a trait: a struct that stores hooks and runs them in a defined order.
///
/// Each method of the trait is a *slot*, an extension point. Its body is the slot's default, which
/// decides the result if no hook is registered.
///
/// ```
/// use hooks_core::{Entry, hooks, impl_hook};
///
/// #[hooks]
/// trait AppHooks {
///     /// Redacts a text. Each hook receives the output of the hook before it.
///     #[hook(always)]
///     async fn redact(text: &str) -> String { text.replace("password", "***") }
///
///     /// Chooses the model for a prompt.
///     #[hook(singleton)]
///     async fn choose_model(_prompt: &str) -> String { "small".to_owned() }
/// }
///
/// // A hook of the slot `redact`: `#[hooks]` generates the trait `Redact`, `#[impl_hook]` the type
/// // `HideNames`.
/// #[impl_hook(Redact)]
/// async fn hide_names(text: &str, last: Option<String>) -> String {
///     last.unwrap_or_else(|| text.to_owned()).replace("Ada", "A.")
/// }
///
/// # fn block_on<T>(future: impl Future<Output = T>) -> T {
/// #     let mut context = std::task::Context::from_waker(std::task::Waker::noop());
/// #     match std::pin::pin!(future).poll(&mut context) {
/// #         std::task::Poll::Ready(output) => output,
/// #         std::task::Poll::Pending => unreachable!(),
/// #     }
/// # }
/// # block_on(async {
/// let mut hooks = AppHooksSet::new().with_redact(Entry::new(HideNames).key("names").priority(-5));
/// assert_eq!(hooks.redact("password of Ada").await, "*** of A.");
///
/// hooks.register_choose_model(async |_prompt: String| "large".to_owned());
/// assert_eq!(hooks.choose_model("hello").await, "large");
///
/// assert!(hooks.redact_mut().remove("names"));
/// assert_eq!(hooks.redact("password of Ada").await, "*** of Ada");
/// # });
/// ```
///
/// # Slots
///
/// A slot is an `async fn` with a body and one `#[hook(…)]`, without a receiver and without generic
/// parameters. With the option `sync` it is a `fn`.
///
/// - It has at most 16 parameters, of any name except `last`. References, also in a type such as
///   `Ctx<'_>`, are passed to each hook. Owned arguments must be `Clone`, except in a `singleton`, and
///   the first one of a `waterfall`. `&mut T` is lent to one hook after the other, and refused in
///   `concurrent` slots.
/// - The output is an owned type that is `Send`; a slot may also return nothing.
///
/// # Options of `#[hook(…)]`
///
/// The first word is the kind of the slot:
///
/// | Kind | Without hooks | With hooks | `last` for hooks |
/// |---|---|---|---|
/// | `always` | the default | the default, then the hooks in order; the last output is the result | the previous output |
/// | `fallback` | the default | the hooks in order; the last output is the result | the previous output, `None` for the first hook |
/// | `singleton` | the default | the hook registered last | |
/// | `waterfall` | the default | the first argument moves from hook to hook, and to the default last; an output that is an `Err` or a `Break` ends the dispatch | |
///
/// `last: Option<Output>` is the final parameter of a hook. A slot with `chain`, with `aggregate` or
/// without an output passes no `last`.
///
/// Options follow the kind, as in `#[hook(fallback, chain = FirstSuccess<String>)]`. The type of a
/// companion (`chain`, `aggregate`, `finalize`) implements `Default`:
///
/// | Option | Valid with | Trait of the type | Description |
/// |---|---|---|---|
/// | `chain = Type` | `always`, `fallback` | `Chain<Output>` | receives each output, and may stop the dispatch after it |
/// | `aggregate = Type` | `always`, `fallback`; not with `finalize` | `Aggregate<Output>` | reduces the outputs of a dispatch to one output |
/// | `finalize = Type` | `always`, `fallback`; not with `aggregate` | `Finalize<Output>` | transforms the result of a dispatch |
/// | `output = Type` | `aggregate` or `finalize` | `AggregateInto<Output, Type>`, `FinalizeInto<Output, Type>` | sets the type of the result |
/// | `concurrent` | `always`, `fallback`, with `aggregate` or without an output | | runs the hooks concurrently; the outputs keep their order, and a `chain` stops at the first output at which it breaks |
/// | `sync` | any kind; not with `concurrent` or `around` | `SyncChain`, `SyncAggregate`, … | hooks are functions that are not async, and the call returns the result |
/// | `around` | any kind | | adds around hooks (middleware), which enclose the default, the hooks and the companions |
/// | `name = Name` | any kind | | sets the name of the slot's trait; the default is the name of the method in UpperCamelCase |
///
/// `custom = Type` is internal to `#[derive(ToolSet)]`.
///
/// # Attributes of the trait
///
/// | Attribute | Description |
/// |---|---|
/// | `#[hooks(crate = path)]` | sets the path to `hooks-core` or `hooks-runtime`, for a framework that re-exports it; the default is the dependency that the code can name |
/// | `#[nested_hooks(field = Set, …)]` | adds for each pair a field with another hook set, with the visibility of the trait |
/// | `cfg`, `allow` | apply to all generated items, also on a slot |
///
/// # Generated names
///
/// For `trait AppHooks`:
///
/// | Name | Description |
/// |---|---|
/// | `AppHooks` | the trait, for `#[impl_hooks(AppHooksSet)]` |
/// | `AppHooksSet<'h>` | the hook set: `Clone`, `Debug`, `Default`; `'h` is the lifetime of borrowed hooks |
/// | `AppHooksSet::new()` | returns a set without hooks |
/// | `with_hooks(value)`, `register_hooks(value)`, `try_register_hooks(value)` | register the hooks of an `#[impl_hooks]` block, or of an `Entry` of its value |
/// | `remove_hooks(key)`, `set_enabled(key, bool)` | remove, enable or disable the hooks with a key in all slots |
/// | `remove_owner(owner)`, `set_owner_enabled(owner, bool)` | remove, enable or disable the hooks of an owner in all slots |
/// | `with_extended(set)`, `extend(set)`, `try_extend(set)` | add the hooks of another set |
/// | `for_call(change)` | returns a copy with changes, for one call |
/// | `describe()` | lists the slots, and their hooks in execution order |
/// | `tools`, `with_tools(set)` | the nested set of `#[nested_hooks(tools = …)]` |
///
/// For the slot `async fn redact(text: &str) -> String`:
///
/// | Name | Description |
/// |---|---|
/// | `AppHooksSet::redact(text)` | runs the slot: the dispatch |
/// | `with_redact(hook)`, `register_redact(hook)` | register a hook: a value that implements `Redact`, a closure, a `Stateful`, one of them behind `Arc`, `Box` or `&`, or an `Entry` with its key, name, priority, order and condition |
/// | `redact_ref()` | returns read access to the registrations: `is_empty()`, `has_enabled()`, `get(key)` |
/// | `redact_mut()` | returns the slot's `Registrations`, for example for `remove(key)` and `set_enabled(key, false)` |
/// | `with_redact_chain(…)`, `set_redact_chain(…)` | replace the chain; `…_aggregate` and `…_finalize` for the other companions |
/// | `with_redact_around(hook)`, `register_redact_around(hook)`, `redact_around_mut()` | register and return around hooks, if the slot has the option `around` |
/// | `Redact` | the trait of the slot's hooks, with the method `call(&self, text, last)`, written as `async fn` |
/// | `StatefulRedact` | the trait of hooks with mutable state, with `call_mut(&mut self, text, last)` |
///
/// Names that begin with `__hooks` are internal.
#[proc_macro_attribute]
pub fn hooks(args: TokenStream, item: TokenStream) -> TokenStream {
    krate::with_framework(args.into(), Default::default(), |args| {
        hooks::entry(args, item.into())
    })
    .into()
}

/// Registers the methods of an `impl` block together, as the hooks of several slots.
///
/// The attribute is on the `impl` block of a trait with [`macro@hooks`], and names the set. Each
/// method has `&self`, the parameters of its slot and, if the slot passes it, `last`. Only methods in
/// the block become hooks.
///
/// ```
/// use hooks_core::{hooks, impl_hooks};
///
/// #[hooks]
/// trait AppHooks {
///     #[hook(always)]
///     async fn allows(prompt: &str) -> bool { !prompt.is_empty() }
///
///     #[hook(singleton)]
///     async fn choose_model(_prompt: &str) -> String { "small".to_owned() }
/// }
///
/// struct Policy { forbidden: &'static str }
///
/// #[impl_hooks(AppHooksSet)]
/// impl AppHooks for Policy {
///     async fn allows(&self, prompt: &str, last: Option<bool>) -> bool {
///         last.unwrap_or(true) && !prompt.contains(self.forbidden)
///     }
/// }
///
/// # fn block_on<T>(future: impl Future<Output = T>) -> T {
/// #     let mut context = std::task::Context::from_waker(std::task::Waker::noop());
/// #     match std::pin::pin!(future).poll(&mut context) {
/// #         std::task::Poll::Ready(output) => output,
/// #         std::task::Poll::Pending => unreachable!(),
/// #     }
/// # }
/// # block_on(async {
/// let hooks = AppHooksSet::new().with_hooks(Policy { forbidden: "sk-" });
/// assert!(!hooks.allows("sk-123").await);
/// assert_eq!(hooks.choose_model("hello").await, "small");
/// # });
/// ```
///
/// `with_hooks(value)` and `register_hooks(value)` take a value, an `Arc` of it, a reference that
/// outlives the set, or an `Entry` of one of these, with a key, an order and a condition for all hooks.
///
/// A hook of a synchronous slot is a `fn` with `&self`.
///
/// | Option | Description |
/// |---|---|
/// | `AppHooksSet` | the path of the set, without its lifetime; required |
/// | `crate = path` | sets the path to the framework, as for [`macro@hooks`] |
#[proc_macro_attribute]
pub fn impl_hooks(args: TokenStream, item: TokenStream) -> TokenStream {
    krate::with_framework(args.into(), item.clone().into(), |args| {
        impl_hooks::entry(args, item.into())
    })
    .into()
}

/// Generates a hook from an `async fn`, or from a `fn` if the slot is synchronous: a unit struct that
/// implements the trait of a slot.
///
/// The function has the parameters of the slot and, if the slot passes it, `last`. The struct has the
/// name of the function in UpperCamelCase, and its visibility; it is `Clone`, `Copy`, `Debug` and
/// `Default`. The function remains callable. Borrowed parameters stay borrowed, and a function
/// without `.await` costs no allocation.
///
/// ```
/// use hooks_core::{hooks, impl_hook};
///
/// #[hooks]
/// trait AppHooks {
///     #[hook(singleton)]
///     async fn allows(prompt: &str) -> bool { !prompt.is_empty() }
/// }
///
/// #[impl_hook(Allows)]
/// async fn no_keys(prompt: &str) -> bool { !prompt.contains("sk-") }
///
/// # fn block_on<T>(future: impl Future<Output = T>) -> T {
/// #     let mut context = std::task::Context::from_waker(std::task::Waker::noop());
/// #     match std::pin::pin!(future).poll(&mut context) {
/// #         std::task::Poll::Ready(output) => output,
/// #         std::task::Poll::Pending => unreachable!(),
/// #     }
/// # }
/// # block_on(async {
/// let hooks = AppHooksSet::new().with_allows(NoKeys);
/// assert!(!hooks.allows("sk-123").await);
/// # });
/// ```
///
/// | Option | Description |
/// |---|---|
/// | `Allows` | the path of the slot's trait; required. `EventHook` of `hooks-runtime` for a hook of events |
/// | `crate = path` | sets the path to the framework, as for [`macro@hooks`] |
#[proc_macro_attribute]
pub fn impl_hook(args: TokenStream, item: TokenStream) -> TokenStream {
    krate::with_framework(args.into(), item.clone().into(), |args| {
        impl_hook::entry(args, item.into())
    })
    .into()
}

/// Generates the hook set of an enum of tools: `#[derive(ToolSet)] enum Tools { … }` adds
/// `ToolsHooks` and `ToolsHooksSet`, with one slot per variant. See `hooks_runtime::toolset`.
#[proc_macro_derive(ToolSet, attributes(tool))]
pub fn tool_set(item: TokenStream) -> TokenStream {
    let args = toolset::args(item.clone().into());
    krate::with_runtime(args, |_| toolset::entry(item.into())).into()
}
