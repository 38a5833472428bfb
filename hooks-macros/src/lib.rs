//! The macros of `hooks-core` and `hooks-runtime`.
//!
//! | Macro | Input | Output |
//! |---|---|---|
//! | [`macro@hooks`] | a trait of slots | the implementable trait, its set, a trait a slot |
//! | [`macro@impl_hooks`] | an `impl` block of such a trait | the block, and its registration |
//! | [`macro@impl_hook`] | one function | a unit struct that implements a slot's trait |
//! | [`macro@ToolSet`] | an enum of tool inputs | the hook set of the tools, and the way of a call through it |
//!
//! Each goes through the same stations: `syntax` reads the item and leaves bodies
//! unparsed, so that an unfinished body does not disturb the rest; `validate` turns it
//! into a model in which a forbidden combination cannot be written down, and collects
//! every mistake on the way; `expand` turns the model into code and cannot fail.
//! Whatever has a loop, a branch or a lock is ordinary code in `hooks-core`.

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

/// Declares a hook set: one slot a method.
///
/// Every method is an `async fn` with a default body, without a receiver, and carries
/// one `#[hook(always | fallback | singleton, …)]`. See the crate `hooks-core` for what
/// is generated and how slots are dispatched.
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

/// Makes the methods of one `impl` block of a hook trait registrable as a whole:
/// `#[impl_hooks(AppHooksSet)] impl AppHooks for Policy { … }`. Only methods that stand
/// in the block are registered.
#[proc_macro_attribute]
pub fn impl_hooks(args: TokenStream, item: TokenStream) -> TokenStream {
    krate::with_framework(args.into(), item.clone().into(), |args| {
        impl_hooks::entry(args, item.into())
    })
    .into()
}

/// Makes a hook of one `async fn`: `#[impl_hook(ValidatePrompt)]` generates a unit
/// struct, named like the function in UpperCamelCase, that implements the slot's trait.
#[proc_macro_attribute]
pub fn impl_hook(args: TokenStream, item: TokenStream) -> TokenStream {
    krate::with_framework(args.into(), item.clone().into(), |args| {
        impl_hook::entry(args, item.into())
    })
    .into()
}

/// Generates the hook set of an enum of tools: `#[derive(ToolSet)] enum Tools { … }` makes
/// `ToolsHooks` and `ToolsHooksSet`, one slot a variant. See `hooks_runtime::toolset`.
#[proc_macro_derive(ToolSet, attributes(tool))]
pub fn tool_set(item: TokenStream) -> TokenStream {
    let args = toolset::args(item.clone().into());
    krate::with_framework(args, Default::default(), |_| toolset::entry(item.into())).into()
}
