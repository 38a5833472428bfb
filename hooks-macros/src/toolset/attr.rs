//! Parses `#[tool(output = Type, name = "…", hook = Name)]`.

use proc_macro2::TokenStream;
use syn::parse::ParseStream;
use syn::{Attribute, Ident, LitStr, Meta, Token, Type};

use crate::attrs;
use crate::errors::Errors;
use crate::krate;
use crate::options;

/// The options of one variant.
#[derive(Default)]
pub(crate) struct ToolAttr {
    pub(crate) output: Option<Type>,
    pub(crate) name: Option<LitStr>,
    pub(crate) hook: Option<Ident>,
}

const SHAPE: &str = "expected an option of `#[tool(…)]`; write `#[tool(output = Type)]`";

impl ToolAttr {
    /// Parses the attributes of a variant, and reports every error in them.
    pub(crate) fn read(attrs: &[Attribute], errors: &mut Errors) -> Self {
        let mut tool = ToolAttr::default();
        for attr in attrs::named(attrs, &["tool"]) {
            match &attr.meta {
                Meta::List(list) if !list.tokens.is_empty() => {
                    options::read_all(attr, errors, |input, errors| tool.read_one(input, errors));
                }
                _ => errors.error(attr, SHAPE),
            }
        }
        tool
    }

    fn read_one(&mut self, input: ParseStream<'_>, errors: &mut Errors) -> syn::Result<()> {
        let at = input.span();
        let key: Ident = input.parse().map_err(|_| syn::Error::new(at, SHAPE))?;
        match key.to_string().as_str() {
            "output" => {
                let shape = "the output of a tool must be a type; write `output = Type`";
                let output = value(&key, input, shape)?;
                set(&mut self.output, &key, output, errors);
            }
            "name" => {
                let shape = "the name of a tool must be a string; write `name = \"…\"`";
                let name: LitStr = value(&key, input, shape)?;
                if name.value().trim().is_empty() {
                    errors.error(
                        &name,
                        "the name of a tool cannot be empty; write a name, or remove `name`",
                    );
                }
                set(&mut self.name, &key, name, errors);
            }
            "hook" => {
                let shape =
                    "the trait of a tool's hooks must be an identifier; write `hook = Name`";
                let hook = value(&key, input, shape)?;
                set(&mut self.hook, &key, hook, errors);
            }
            word => {
                return Err(syn::Error::new_spanned(
                    &key,
                    format!("unknown option `{word}`; expected `output`, `name` or `hook`"),
                ));
            }
        }
        Ok(())
    }
}

/// Returns `crate = path` of `#[tool(…)]` on the enum; any other option is an error there.
pub(crate) fn of_the_enum(attrs: &[Attribute], errors: &mut Errors) -> TokenStream {
    let mut paths = TokenStream::new();
    for attr in attrs::named(attrs, &["tool"]) {
        let args = match &attr.meta {
            Meta::List(list) => list.tokens.clone(),
            Meta::Path(_) | Meta::NameValue(_) => TokenStream::new(),
        };
        let (rest, path) = krate::take_path(args.clone(), &mut Errors::default());
        match path {
            Some(_) if rest.is_empty() => paths.extend(args),
            _ => errors.error(
                attr,
                "`#[tool(…)]` takes only `crate = path` on the enum; move the other options to a variant",
            ),
        }
    }
    paths
}

fn value<T: syn::parse::Parse>(key: &Ident, input: ParseStream<'_>, shape: &str) -> syn::Result<T> {
    if !input.peek(Token![=]) {
        return Err(syn::Error::new_spanned(key, shape));
    }
    input.parse::<Token![=]>()?;
    let at = input.span();
    input.parse().map_err(|_| syn::Error::new(at, shape))
}

fn set<T>(option: &mut Option<T>, key: &Ident, value: T, errors: &mut Errors) {
    if option.is_some() {
        errors.duplicate(key);
    } else {
        *option = Some(value);
    }
}
