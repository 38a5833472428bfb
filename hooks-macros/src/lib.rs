//! The macros of `hooks-core` and `hooks-runtime`.
//!
//! | Macro | Input | Output |
//! |---|---|---|
//! | [`macro@hooks`] | a trait of slots | the implementable trait, its set, a trait per slot |
//! | [`macro@impl_hooks`] | an `impl` block of such a trait | the block, and its registration |
//! | [`macro@impl_hook`] | one function | a unit struct that implements a slot's trait |
//! | [`macro@ToolSet`] | an enum of tool inputs | the hook set of the tools, and the code that runs a call |
//!
//! Each has three steps. `syntax` parses the item and leaves bodies unparsed, so that an unfinished
//! body does not affect the rest. `validate` converts it into a model in which an invalid
//! combination cannot be represented, and collects all errors. `expand` converts the model into
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

/// Declares a hook set, with one slot per method.
///
/// Every method is an `async fn` with a default body, without a receiver, and with one
/// `#[hook(always | fallback | singleton, …)]`. See the crate `hooks-core` for the generated items
/// and the dispatch of slots.
///
/// A framework that re-exports `hooks-core` is named by `#[hooks(crate = framework::hooks_core)]`;
/// `#[impl_hooks(…, crate = …)]`, `#[impl_hook(…, crate = …)]` and `#[tool(crate = …)]` on an enum
/// of tools take the same option.
#[proc_macro_attribute]
pub fn hooks(args: TokenStream, item: TokenStream) -> TokenStream {
    krate::with_framework(args.into(), Default::default(), |args| {
        hooks::entry(args, item.into())
    })
    .into()
}

/// Makes the methods of one `impl` block of a hook trait registrable together:
/// `#[impl_hooks(AppHooksSet)] impl AppHooks for Policy { … }`. Only methods in the block are
/// registered.
#[proc_macro_attribute]
pub fn impl_hooks(args: TokenStream, item: TokenStream) -> TokenStream {
    krate::with_framework(args.into(), item.clone().into(), |args| {
        impl_hooks::entry(args, item.into())
    })
    .into()
}

/// Generates a hook from one `async fn`: `#[impl_hook(ValidatePrompt)]` adds a unit struct, named
/// like the function in UpperCamelCase, that implements the slot's trait.
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
    krate::with_framework(args, Default::default(), |_| toolset::entry(item.into())).into()
}
