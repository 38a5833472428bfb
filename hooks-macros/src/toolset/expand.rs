//! From the model to the hook set of the tools, and the way of a call through it.

use proc_macro2::TokenStream;
use quote::{format_ident, quote, quote_spanned};

use super::model::{Tool, ToolSet};
use crate::attrs;
use crate::hooks;
use crate::krate;
use crate::spans;

// Input:
// #[derive(ToolSet)]
// enum Tools { Weather(WeatherArgs) }
//
// Output:
// what `#[hooks]` makes of
//     trait ToolsHooks {
//         #[hook(fallback, custom = ToolPipeline, name = WeatherHook)]
//         async fn weather(input: WeatherArgs, context: ToolCallContext) -> ToolDecision<…> { Run(input) }
//     }
// impl ToolSet for Tools { the names, and how each input is read }
// impl<X: ExecuteTool<WeatherArgs>> RunTools<X> for Tools { the hooks of the variant, then the tool }
pub(crate) fn expand(set: &ToolSet<'_>) -> syn::Result<TokenStream> {
    let toolset = &krate::toolset();
    let hooks = hooks::expanded(hook_trait(set, toolset))?;
    let impls = impls(set, toolset);
    Ok(quote!(#hooks #impls))
}

fn hook_trait(set: &ToolSet<'_>, toolset: &TokenStream) -> TokenStream {
    let ToolSet {
        vis, name, hooks, ..
    } = set;
    let doc = format!("The hooks of the tools of [`{name}`]: one method a tool.");
    let slots = set.tools.iter().map(|tool| slot(tool, toolset));
    quote_spanned! {spans::generated_at(name.span())=>
        #[doc = #doc]
        #vis trait #hooks {
            #(#slots)*
        }
    }
}

fn slot(tool: &Tool<'_>, toolset: &TokenStream) -> TokenStream {
    let Tool {
        variant,
        input,
        slot,
        hook,
        ..
    } = tool;
    // What `cfg` leaves out, a derive does not see.
    let kept = attrs::named(tool.attrs, &["doc", "deprecated"]);
    let undocumented = tool.description.is_empty().then(|| {
        let doc = format!("The calls of the tool `{}`.", tool.name);
        quote!(#[doc = #doc])
    });
    let place = spans::generated_at(variant.span());
    let decision = decision(tool, toolset);
    quote_spanned! {place=>
        #(#kept)*
        #undocumented
        #[hook(fallback, custom = #toolset::__private::ToolPipeline, name = #hook)]
        async fn #slot(input: #input, context: #toolset::ToolCallContext) -> #decision {
            #toolset::ToolDecision::Run(input)
        }
    }
}

/// `ToolDecision<WeatherArgs, <WeatherArgs as Tool>::Output>`, at the input: there the compiler
/// shows that it is none.
fn decision(tool: &Tool<'_>, toolset: &TokenStream) -> TokenStream {
    let input = tool.input;
    let (first, last) = spans::ends(input);
    let decision = spans::spread(input, quote!(#toolset::ToolDecision));
    let tool = spans::spread(input, quote!(#toolset::Tool));
    let open = quote_spanned!(first=> <);
    quote_spanned!(last=> #decision<#input, #open #input as #tool>::Output>)
}

fn impls(set: &ToolSet<'_>, toolset: &TokenStream) -> TokenStream {
    let ToolSet {
        name, hooks, tools, ..
    } = set;
    let hook_set = format_ident!("{hooks}Set");
    let private = quote!(#toolset::__private);
    let variants: Vec<_> = tools.iter().map(|tool| tool.variant).collect();
    let inputs: Vec<_> = tools.iter().map(|tool| tool.input).collect();
    let names: Vec<_> = tools.iter().map(|tool| &tool.name).collect();
    let descriptions = tools.iter().map(|tool| &tool.description);
    let slots = tools.iter().map(|tool| &tool.slot);
    quote_spanned! {spans::generated_at(name.span())=>
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

            fn __hooks_extend<'__h>(__hooks_set: &mut Self::Hooks<'__h>, __hooks_other: Self::Hooks<'__h>) {
                __hooks_set.extend(__hooks_other);
            }
        }

        #[automatically_derived]
        #[allow(deprecated)]
        impl<__X> #toolset::RunTools<__X> for #name
        where
            __X: #private::Sync + ?#private::Sized,
            #(__X: #toolset::ExecuteTool<#inputs>,)*
        {
            async fn run<'__a>(
                self,
                __hooks_context: #toolset::ToolCallContext,
                __hooks_set: &'__a Self::Hooks<'_>,
                __hooks_executor: &'__a __X,
            ) -> #private::Result<#private::Value, #toolset::ToolError> {
                match self {
                    #(
                            Self::#variants(__hooks_input) => {
                            let __hooks_decision = __hooks_set.#slots(
                                __hooks_input,
                                #private::Clone::clone(&__hooks_context),
                            );
                            #private::finish::<#inputs, __X>(__hooks_decision, __hooks_context, __hooks_executor).await
                        }
                    )*
                }
            }
        }
    }
}
