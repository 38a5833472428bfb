//! Expands the model into the hook set of the tools, and the code that runs a call.

use proc_macro2::{Span, TokenStream};
use quote::quote;
use syn::Ident;
use syn::ext::IdentExt;

use super::model::{Tool, ToolSet};
use crate::attrs;
use crate::hooks;
use crate::krate;
use crate::names;
use crate::syntax;

// Input:
// #[derive(ToolSet)]
// enum Tools { #[tool(output = Forecast)] Weather(WeatherArgs) }
//
// Output:
// the expansion of `#[hooks]` on
//     trait ToolsHooks {
//         #[hook(fallback, custom = ToolPipeline, name = WeatherHook)]
//         async fn weather(input: WeatherArgs, context: ToolCallContext) -> ToolDecision<WeatherArgs, Forecast> { Run(input) }
//     }
// impl ToolSet for Tools { the names, and the parser of each input }
// impl<X: ExecuteTool<WeatherArgs, Forecast>> RunTools<X> for Tools { the hooks of the variant, then the tool }
pub(crate) fn expand(set: &ToolSet<'_>) -> syn::Result<TokenStream> {
    let toolset = &krate::toolset();
    hooks::check(hook_trait(set, toolset, Ident::clone))?;
    let hooks = hooks::expanded(hook_trait(set, toolset, of_the_derive))?;
    let impls = impls(set, toolset);
    Ok(quote!(#hooks #impls))
}

/// Returns the name without its place among the user's tokens. For generated items at such a place,
/// the compiler suggests a type parameter wherever a type is not found: once per item. The macro
/// reports its own errors about a name at its place before.
fn of_the_derive(name: &Ident) -> Ident {
    let mut name = name.clone();
    name.set_span(Span::call_site());
    name
}

fn hook_trait(
    set: &ToolSet<'_>,
    toolset: &TokenStream,
    placed: fn(&Ident) -> Ident,
) -> TokenStream {
    let ToolSet {
        vis, name, hooks, ..
    } = set;
    let doc = format!("The hooks of the tools of [`{name}`]: one method a tool.");
    let hooks = placed(hooks);
    let slots = set.tools.iter().map(|tool| slot(tool, toolset, placed));
    quote! {
        #[doc = #doc]
        #vis trait #hooks {
            #(#slots)*
        }
    }
}

fn slot(tool: &Tool<'_>, toolset: &TokenStream, placed: fn(&Ident) -> Ident) -> TokenStream {
    let Tool {
        input,
        output,
        slot,
        hook,
        ..
    } = tool;
    // A derive does not see variants that `cfg` removes.
    let kept = attrs::named(tool.attrs, &["doc", "deprecated"]);
    let undocumented = tool.description.is_empty().then(|| {
        let doc = format!("The calls of the tool `{}`.", tool.name);
        quote!(#[doc = #doc])
    });
    let (slot, hook) = (placed(slot), placed(hook));
    quote! {
        #(#kept)*
        #undocumented
        #[hook(fallback, custom = #toolset::__private::ToolPipeline, name = #hook)]
        async fn #slot(input: #input, context: #toolset::ToolCallContext) -> #toolset::ToolDecision<#input, #output> {
            #toolset::ToolDecision::Run(input)
        }
    }
}

fn impls(set: &ToolSet<'_>, toolset: &TokenStream) -> TokenStream {
    let ToolSet {
        name, hooks, tools, ..
    } = set;
    let hook_set = names::set(hooks, hooks.span());
    let private = quote!(#toolset::__private);
    let executor = executor(set);
    let variants: Vec<_> = tools.iter().map(|tool| tool.variant).collect();
    let inputs: Vec<_> = tools.iter().map(|tool| tool.input).collect();
    let outputs: Vec<_> = tools.iter().map(|tool| &tool.output).collect();
    let names: Vec<_> = tools.iter().map(|tool| &tool.name).collect();
    let descriptions = tools.iter().map(|tool| &tool.description);
    let slots = tools.iter().map(|tool| &tool.slot);
    quote! {
        #[automatically_derived]
        #[allow(deprecated)]
        impl #toolset::ToolSet for #name {
            type Hooks<'__h> = #hook_set<'__h>;

            const __HOOKS_TOOLS: &'static [#private::Listed<Self>] = &[
                #(
                    #private::Listed::new(#names, #descriptions, |__hooks_tool, __hooks_input| {
                        #private::read::<#inputs, Self>(__hooks_tool, __hooks_input, Self::#variants)
                    }),
                )*
            ];

            fn name(&self) -> &'static #private::str {
                match self {
                    #(Self::#variants(_) => #names,)*
                }
            }

            fn __hooks_extend<'__h>(
                __hooks_set: &mut Self::Hooks<'__h>,
                __hooks_other: Self::Hooks<'__h>,
            ) -> #private::Result<(), #private::RegistrationError> {
                __hooks_set.try_extend(__hooks_other)?;
                #private::Ok(())
            }
        }

        #[automatically_derived]
        #[allow(deprecated)]
        impl<#executor> #toolset::RunTools<#executor> for #name
        where
            #executor: #private::Sync + ?#private::Sized,
            #(#executor: #toolset::ExecuteTool<#inputs, #outputs>,)*
        {
            async fn run<'__a>(
                self,
                __hooks_context: #toolset::ToolCallContext,
                __hooks_set: &'__a Self::Hooks<'_>,
                __hooks_executor: &'__a #executor,
            ) -> #private::Ran {
                match self {
                    #(
                            Self::#variants(__hooks_input) => {
                            let __hooks_decision = __hooks_set.#slots(
                                __hooks_input,
                                #private::Clone::clone(&__hooks_context),
                            );
                            #private::finish::<#inputs, #outputs, #executor>(
                                __hooks_decision,
                                __hooks_context,
                                __hooks_executor,
                                #private::write::<#outputs>,
                            ).await
                        }
                    )*
                }
            }
        }
    }
}

/// Returns a name for the executor's type. The compiler shows it beside errors of the user, so it
/// is short, and differs from all names in the set and in the types of the tools.
fn executor(set: &ToolSet<'_>) -> Ident {
    let types = set.tools.iter().map(|tool| {
        let (input, output) = (tool.input, &tool.output);
        quote!(#input #output)
    });
    let set = set.name;
    let taken = syntax::idents(quote!(#set #(#types)*));
    let mut name = "Executor".to_owned();
    while taken.iter().any(|ident| ident.unraw() == name) {
        name.push('_');
    }
    Ident::new(&name, Span::call_site())
}
