//! `#[hook(kind, option = value, …)]` as it is written, options with their spans.

use proc_macro2::TokenTree;
use syn::parse::{Parse, ParseStream};
use syn::{Attribute, Ident, Path, Token, Type};

use crate::report::Report;

/// The attribute of one slot, before its combination is judged.
#[derive(Default)]
pub(crate) struct HookAttr {
    pub(crate) kind: Option<(KindWord, Ident)>,
    pub(crate) chain: Option<Opt<Type>>,
    pub(crate) aggregate: Option<Opt<Type>>,
    pub(crate) finalize: Option<Opt<Type>>,
    pub(crate) output: Option<Opt<Type>>,
    pub(crate) custom: Option<Opt<Path>>,
    pub(crate) name: Option<Opt<Ident>>,
    /// A word in the place of the kind, which has been reported: a kind must not be missed as
    /// well.
    pub(crate) unknown_kind: Option<Ident>,
}

/// An option: its key, for errors, and its value.
pub(crate) struct Opt<T> {
    pub(crate) key: Ident,
    pub(crate) value: T,
}

#[derive(Clone, Copy)]
pub(crate) enum KindWord {
    Always,
    Fallback,
    Singleton,
}

const OPTIONS: &str = "`chain`, `aggregate`, `finalize`, `output` and `name`";

impl HookAttr {
    /// Reads the attribute and reports every mistake in it.
    pub(crate) fn read(attr: &Attribute, report: &mut Report) -> Self {
        let mut hook = HookAttr::default();
        match &attr.meta {
            syn::Meta::List(_) => {
                let parsed = attr.parse_args_with(|input: ParseStream<'_>| {
                    while !input.is_empty() {
                        hook.read_one(input, report)?;
                        if !input.is_empty() {
                            input.parse::<Token![,]>()?;
                        }
                    }
                    Ok(())
                });
                let whole = report.ok(parsed).is_some();
                if whole && hook.kind.is_none() && hook.unknown_kind.is_none() {
                    report.error(
                        attr,
                        "a slot needs a kind; write `#[hook(always)]`, `#[hook(fallback)]` or `#[hook(singleton)]`",
                    );
                }
            }
            meta => report.error(
                meta,
                "a slot needs a kind; write `#[hook(always)]`, `#[hook(fallback)]` or `#[hook(singleton)]`",
            ),
        }
        hook
    }

    fn read_one(&mut self, input: ParseStream<'_>, report: &mut Report) -> syn::Result<()> {
        let key: Ident = input.parse()?;
        match key.to_string().as_str() {
            "always" => self.set_kind(KindWord::Always, key, report),
            "fallback" => self.set_kind(KindWord::Fallback, key, report),
            "singleton" => self.set_kind(KindWord::Singleton, key, report),
            "chain" => set(&mut self.chain, key, "Type", input, report)?,
            "aggregate" => set(&mut self.aggregate, key, "Type", input, report)?,
            "finalize" => set(&mut self.finalize, key, "Type", input, report)?,
            "output" => set(&mut self.output, key, "Type", input, report)?,
            "custom" => set(&mut self.custom, key, "path", input, report)?,
            "name" => set(&mut self.name, key, "Name", input, report)?,
            word if input.peek(Token![=]) => {
                report.error(
                    &key,
                    format!("unknown option `{word}`; the options of a slot are {OPTIONS}"),
                );
                skip_value(input)?;
            }
            word => {
                report.error(
                    &key,
                    format!("unknown kind `{word}`; the kinds of slot are `always`, `fallback` and `singleton`"),
                );
                self.unknown_kind = Some(key);
            }
        }
        Ok(())
    }

    fn set_kind(&mut self, kind: KindWord, word: Ident, report: &mut Report) {
        match &self.kind {
            Some((_, first)) if *first == word => {
                report.twice(&word);
            }
            Some((_, first)) => report.error(
                &word,
                format!("a slot has one kind, and this one is `{first}` already; remove `{word}`"),
            ),
            None => self.kind = Some((kind, word)),
        }
    }
}

fn set<T: Parse>(
    option: &mut Option<Opt<T>>,
    key: Ident,
    shape: &str,
    input: ParseStream<'_>,
    report: &mut Report,
) -> syn::Result<()> {
    if !input.peek(Token![=]) {
        report.error(
            &key,
            format!("`{key}` needs a value; write `{key} = {shape}`"),
        );
        return Ok(());
    }
    input.parse::<Token![=]>()?;
    let value = input.parse()?;
    if option.is_some() {
        report.twice(&key);
        return Ok(());
    }
    *option = Some(Opt { key, value });
    Ok(())
}

/// Skips `= anything` up to the next comma outside of angle brackets.
fn skip_value(input: ParseStream<'_>) -> syn::Result<()> {
    let mut depth = 0_usize;
    while !input.is_empty() && (depth > 0 || !input.peek(Token![,])) {
        if let TokenTree::Punct(punct) = input.parse()? {
            match punct.as_char() {
                '<' => depth += 1,
                '>' => depth = depth.saturating_sub(1),
                _ => {}
            }
        }
    }
    Ok(())
}
