//! Parses `#[hook(kind, option = value, …)]`, with the spans of its options.

use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;
use syn::ext::IdentExt;
use syn::parse::ParseStream;
use syn::{Attribute, Ident, Meta, Path, Token, Type, token};

use crate::errors::Errors;
use crate::options::{self, Value};

/// The attribute of one slot, before its combination is validated.
#[derive(Default)]
pub(crate) struct HookAttr {
    pub(crate) kind: Option<(KindWord, Ident)>,
    pub(crate) chain: Option<Opt<Type>>,
    pub(crate) aggregate: Option<Opt<Type>>,
    pub(crate) finalize: Option<Opt<Type>>,
    pub(crate) output: Option<Opt<Type>>,
    pub(crate) custom: Option<Opt<Path>>,
    pub(crate) name: Option<Opt<Ident>>,
    pub(crate) concurrent: Option<Ident>,
    pub(crate) around: Option<Ident>,
    pub(crate) sync: Option<Ident>,
    /// Text in the place of the kind, which has been reported: a missing kind must not be reported
    /// as well.
    pub(crate) unknown_kind: Option<String>,
    /// Keys of unknown options.
    pub(crate) unknown: Vec<Ident>,
    /// Keys of options with invalid values.
    pub(crate) unread: Vec<Ident>,
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
    Waterfall,
}

impl KindWord {
    /// Returns `true` if hooks receive the previous output, unless a companion looks at it.
    pub(crate) fn passes_last(self) -> bool {
        matches!(self, KindWord::Always | KindWord::Fallback)
    }

    fn of(word: &Ident) -> Option<Self> {
        match word.to_string().as_str() {
            "always" => Some(KindWord::Always),
            "fallback" => Some(KindWord::Fallback),
            "singleton" => Some(KindWord::Singleton),
            "waterfall" => Some(KindWord::Waterfall),
            _ => None,
        }
    }
}

const OPTIONS: &str =
    "`chain`, `aggregate`, `finalize`, `output`, `concurrent`, `around`, `sync` or `name`";

const NEEDS_A_KIND: &str = "missing kind of the slot; write `#[hook(always)]`, `#[hook(fallback)]`, `#[hook(singleton)]` or `#[hook(waterfall)]`";

impl HookAttr {
    /// Parses the attribute, and reports every error in it.
    pub(crate) fn read(attr: &Attribute, errors: &mut Errors) -> Self {
        let mut hook = HookAttr::default();
        match &attr.meta {
            Meta::List(_) => {
                options::read_all(attr, errors, |input, errors| hook.read_one(input, errors));
                if hook.kind.is_none() && hook.unknown_kind.is_none() {
                    errors.error(attr, NEEDS_A_KIND);
                }
            }
            Meta::NameValue(value) => {
                hook.kind = written_kind(value.value.to_token_stream());
                let word = hook.kind.as_ref();
                let word = word.map_or("always".to_owned(), |(_, word)| word.to_string());
                errors.error(
                    value,
                    format!("expected options in parentheses; write `#[hook({word})]`"),
                );
            }
            Meta::Path(path) => errors.error(path, NEEDS_A_KIND),
        }
        hook
    }

    fn read_one(&mut self, input: ParseStream<'_>, errors: &mut Errors) -> syn::Result<()> {
        if !input.peek(Ident::peek_any) {
            return self.read_other(input, errors);
        }
        let key = input.call(Ident::parse_any)?;
        if let Some(kind) = KindWord::of(&key) {
            self.set_kind(kind, &key, errors);
            return no_value(&key, input, errors);
        }
        let is_read = match key.to_string().as_str() {
            "concurrent" => return set_flag(&mut self.concurrent, key, input, errors),
            "around" => return set_flag(&mut self.around, key, input, errors),
            "sync" => return set_flag(&mut self.sync, key, input, errors),
            "chain" => set(&mut self.chain, &key, input, errors)?,
            "aggregate" => set(&mut self.aggregate, &key, input, errors)?,
            "finalize" => set(&mut self.finalize, &key, input, errors)?,
            "output" => set(&mut self.output, &key, input, errors)?,
            "custom" => set(&mut self.custom, &key, input, errors)?,
            "name" => set(&mut self.name, &key, input, errors)?,
            _ => return self.read_unknown(&key, input, errors),
        };
        if !is_read {
            self.unread.push(key);
        }
        Ok(())
    }

    /// Parses the text after a word that is neither a kind nor an option.
    fn read_unknown(
        &mut self,
        key: &Ident,
        input: ParseStream<'_>,
        errors: &mut Errors,
    ) -> syn::Result<()> {
        if !has_value(input) {
            errors.error(
                key,
                format!(
                    "unknown kind `{key}`; expected `always`, `fallback`, `singleton` or `waterfall`"
                ),
            );
            self.unknown_kind = Some(key.to_string());
            return Ok(());
        }
        let value = options::rest(input)?.into_iter().skip(1).collect();
        match written_kind(value) {
            Some((kind, word)) => {
                errors.error(
                    key,
                    format!("expected the kind as a single word; write `{word}`"),
                );
                self.set_kind(kind, &word, errors);
            }
            None => {
                errors.error(key, format!("unknown option `{key}`; expected {OPTIONS}"));
                self.unknown.push(key.clone());
            }
        }
        Ok(())
    }

    /// Parses text that begins neither a kind nor an option.
    fn read_other(&mut self, input: ParseStream<'_>, errors: &mut Errors) -> syn::Result<()> {
        let found = options::rest(input)?;
        match written_kind(found.clone()) {
            Some((kind, word)) => {
                errors.error(
                    found,
                    format!("expected the kind as a single word; write `{word}`"),
                );
                self.set_kind(kind, &word, errors);
            }
            None => {
                self.unknown_kind = Some(found.to_string());
                errors.error(
                    found,
                    "expected a kind or an option; write, for example, `always, chain = Type`",
                );
            }
        }
        Ok(())
    }

    fn set_kind(&mut self, kind: KindWord, word: &Ident, errors: &mut Errors) {
        match &self.kind {
            Some((_, first)) if first == word => errors.duplicate(word),
            Some((_, first)) => errors.error(
                word,
                format!("a slot has only one kind, and this slot is `{first}`; remove `{word}`"),
            ),
            None => self.kind = Some((kind, word.clone())),
        }
    }
}

/// Sets an option, and returns `true` if its value is valid.
fn set<T: Value>(
    option: &mut Option<Opt<T>>,
    key: &Ident,
    input: ParseStream<'_>,
    errors: &mut Errors,
) -> syn::Result<bool> {
    let Some(value) = options::value(key, input, errors)? else {
        return Ok(false);
    };
    if option.is_some() {
        errors.duplicate(key);
    } else {
        *option = Some(Opt {
            key: key.clone(),
            value,
        });
    }
    Ok(true)
}

/// Sets an option without a value.
fn set_flag(
    flag: &mut Option<Ident>,
    key: Ident,
    input: ParseStream<'_>,
    errors: &mut Errors,
) -> syn::Result<()> {
    if flag.is_some() {
        errors.duplicate(&key);
    }
    no_value(flag.insert(key), input, errors)
}

/// Returns `true` if a value seems to follow a word.
fn has_value(input: ParseStream<'_>) -> bool {
    input.peek(Token![=]) || input.peek(Token![:]) || input.peek(token::Paren)
}

fn no_value(word: &Ident, input: ParseStream<'_>, errors: &mut Errors) -> syn::Result<()> {
    if has_value(input) {
        errors.error(
            options::rest(input)?,
            format!("`{word}` takes no value; write only `{word}`"),
        );
    }
    Ok(())
}

/// Returns the kind that is written in an invalid place, as a word or in quotes.
fn written_kind(tokens: TokenStream) -> Option<(KindWord, Ident)> {
    let mut tokens = tokens.into_iter();
    let word = match (tokens.next()?, tokens.next()) {
        (TokenTree::Ident(word), None) => word,
        (token, None) => options::quoted(token)?.parse().ok()?,
        _ => return None,
    };
    Some((KindWord::of(&word)?, word))
}
