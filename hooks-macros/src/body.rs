//! Decides from tokens and attributes whether a body can suspend.

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};
use quote::{ToTokens, quote, quote_spanned};
use syn::{Attribute, Block, Expr, Path, ReturnType, Signature, Stmt};

use crate::spans;

/// Macros of the standard library that contain no `.await` of their own; their arguments are
/// checked like other tokens.
const HARMLESS: &[&str] = &[
    "assert",
    "assert_eq",
    "assert_ne",
    "cfg",
    "column",
    "concat",
    "dbg",
    "debug_assert",
    "debug_assert_eq",
    "debug_assert_ne",
    "env",
    "eprint",
    "eprintln",
    "file",
    "format",
    "format_args",
    "include_bytes",
    "include_str",
    "line",
    "matches",
    "module_path",
    "option_env",
    "panic",
    "print",
    "println",
    "stringify",
    "todo",
    "unimplemented",
    "unreachable",
    "vec",
    "write",
    "writeln",
];

/// Crates whose event macros contain no `.await`, if named by path (`tracing::info!`).
const HARMLESS_CRATES: &[&str] = &["log", "tracing"];

/// Attributes that do not change a body.
const INERT: &[&str] = &[
    "allow",
    "cfg",
    "cold",
    "deny",
    "deprecated",
    "doc",
    "expect",
    "forbid",
    "inline",
    "must_use",
    "track_caller",
    "warn",
];

/// Tools whose attributes are not macros.
const TOOLS: &[&str] = &["clippy", "diagnostic", "rustfmt"];

/// Returns `true` if the future of a function with this body is certain to be ready at the first
/// poll. The attributes are those of the function and of the surrounding block: an unknown
/// attribute may add an `.await` to the body.
pub(crate) fn is_ready<'a>(mut attrs: impl Iterator<Item = &'a Attribute>, body: &Group) -> bool {
    attrs.all(|attr| is_inert(attr.path()))
        && !has_attributes(body.stream())
        && !may_await(body.stream())
}

/// Returns `true` if the body begins with inner attributes, `#![…]`, which only a function's body
/// can have.
pub(crate) fn has_attributes(body: TokenStream) -> bool {
    let mut tokens = body.into_iter();
    let mut is = |wanted| matches!(tokens.next(), Some(TokenTree::Punct(found)) if found.as_char() == wanted);
    is('#') && is('!')
}

fn is_inert(attr: &Path) -> bool {
    let names: Vec<_> = attr.segments.iter().map(|segment| &segment.ident).collect();
    match names.as_slice() {
        [name] => INERT.iter().any(|inert| name == inert),
        [krate, name] if *krate == "tracing" => *name == "instrument",
        [tool, ..] => TOOLS.iter().any(|known| tool == known),
        [] => false,
    }
}

/// Returns `true` if the body may suspend: it contains the word `await`, or a macro that may expand
/// to one.
fn may_await(body: TokenStream) -> bool {
    let tokens: Vec<TokenTree> = body.into_iter().collect();
    tokens.iter().enumerate().any(|(at, token)| match token {
        TokenTree::Ident(ident) => ident == "await",
        TokenTree::Group(group) => may_await(group.stream()) || unknown_macro(&tokens[..at]),
        TokenTree::Punct(_) | TokenTree::Literal(_) => false,
    })
}

/// Returns `true` if the tokens before a group make it the input of an unknown macro.
fn unknown_macro(before: &[TokenTree]) -> bool {
    let (rest, name) = match before {
        [rest @ .., TokenTree::Ident(name), TokenTree::Punct(bang)] if bang.as_char() == '!' => {
            (rest, name)
        }
        // `macro_rules! name { … }`
        [.., TokenTree::Punct(bang), TokenTree::Ident(_)] => return bang.as_char() == '!',
        _ => return false,
    };
    let harmless = match rest {
        [
            ..,
            TokenTree::Ident(krate),
            TokenTree::Punct(a),
            TokenTree::Punct(b),
        ] if a.as_char() == ':' && b.as_char() == ':' => {
            HARMLESS_CRATES.iter().any(|known| krate == known)
                || (["std", "core", "alloc"].iter().any(|known| krate == known)
                    && HARMLESS.iter().any(|known| name == known))
        }
        _ => HARMLESS.iter().any(|known| name == known),
    };
    !harmless
}

/// Returns the body of an `async fn` with this signature, in braces.
///
/// A body that cannot suspend is put into a closure, in which the compiler refuses an `.await`. The
/// future around it is therefore certain to be ready at the first poll, and the dispatch does not
/// box it.
pub(crate) fn emit(body: &Group, ready: bool, sig: &Signature) -> TokenStream {
    // Input: { let x = 1; Ok(x) }
    // Output: { (move || -> Result<u8, ()> { let x = 1; Ok(x) })() }
    if !ready || body.delimiter() != Delimiter::Brace {
        return quote!(#body);
    }
    let output = output(sig);
    let mut outer = Group::new(Delimiter::Brace, quote!((move || #output #body)()));
    outer.set_span(body.span());
    outer.into_token_stream()
}

/// Returns `true` if the body ends in an expression that may have another value than `()`.
pub(crate) fn ends_in_value(body: &Group) -> bool {
    let Ok(block) = syn::parse2::<Block>(body.to_token_stream()) else {
        return false;
    };
    let Some(Stmt::Expr(value, None)) = block.stmts.last() else {
        return false;
    };
    match value {
        Expr::If(value) => value.else_branch.is_some(),
        Expr::Assign(_) | Expr::ForLoop(_) | Expr::Loop(_) | Expr::Return(_) | Expr::While(_) => {
            false
        }
        _ => true,
    }
}

/// Returns the output of a function, also `()` if there is none. If the body returns another type,
/// the compiler then reports the body, not the generated code.
pub(crate) fn output(sig: &Signature) -> TokenStream {
    match &sig.output {
        ReturnType::Default => quote_spanned!(spans::generated_at(sig.ident.span())=> -> ()),
        output @ ReturnType::Type(..) => output.to_token_stream(),
    }
}

#[cfg(test)]
mod tests {
    use super::may_await;

    fn body_may_await(body: &str) -> bool {
        may_await(body.parse().unwrap())
    }

    #[test]
    fn an_await_is_found_at_any_depth() {
        assert!(body_may_await("x.await"));
        assert!(body_may_await("{ if a { [b.await] } }"));
        assert!(body_may_await("format!(\"{}\", x.await)"));
        assert!(body_may_await("async { x.await }"));
        assert!(!body_may_await("\"x.await\""));
        assert!(!body_may_await("awaited + r#awaiting"));
    }

    #[test]
    fn an_unknown_macro_may_await() {
        assert!(body_may_await("join!(a, b)"));
        assert!(body_may_await("tokio::join!(a, b)"));
        assert!(body_may_await("select! { a => b }"));
        assert!(body_may_await("macro_rules! m { () => {} }"));
        assert!(body_may_await("other::format!(\"\")"));
    }

    #[test]
    fn known_macros_and_negations_do_not_await() {
        assert!(!body_may_await(
            "println!(\"{x}\"); vec![1, 2]; matches!(x, Some(_))"
        ));
        assert!(!body_may_await("std::format!(\"{x}\")"));
        assert!(!body_may_await("tracing::info!(x, \"seen\")"));
        assert!(!body_may_await("!(a) && a != (b)"));
    }
}
