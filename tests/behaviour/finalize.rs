//! `finalize = Type`: a companion converts the result for the caller.

use futures::executor::block_on;
use hooks_core::{Finalize, FinalizeInto, ShortCircuit, hooks, impl_hooks};

use crate::kit::{in_every_form, yield_once};

/// Cannot be cloned.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Text(String);

#[derive(Default)]
pub(crate) struct Quote;

impl Finalize<Text> for Quote {
    async fn call(&self, value: Text) -> Text {
        yield_once().await;
        Text(format!("“{}”", value.0))
    }
}

/// Another type than the declared one, with state of its own.
pub(crate) struct Between<'a>(&'a str, &'a str);

impl Finalize<Text> for Between<'_> {
    async fn call(&self, value: Text) -> Text {
        Text(format!("{}{}{}", self.0, value.0, self.1))
    }
}

#[derive(Default)]
pub(crate) struct Length;

impl FinalizeInto<Text, usize> for Length {
    async fn call(&self, value: Text) -> usize {
        value.0.chars().count()
    }
}

/// Another type than the declared one.
pub(crate) struct Bytes;

impl FinalizeInto<Text, usize> for Bytes {
    async fn call(&self, value: Text) -> usize {
        value.0.len()
    }
}

#[derive(Default)]
pub(crate) struct Describe;

impl Finalize<Result<u32, String>> for Describe {
    async fn call(&self, value: Result<u32, String>) -> Result<u32, String> {
        value
            .map(|number| number * 100)
            .map_err(|error| format!("refused: {error}"))
    }
}

macro_rules! rules {
    ($form:ident, $($pause:tt)*) => {
        mod $form {
            use super::*;

            #[hooks]
            trait Texts {
                #[hook(always, finalize = Quote)]
                async fn say(text: &str) -> Text {
                    $($pause)*
                    Text(text.to_owned())
                }

                #[hook(fallback, finalize = Quote)]
                async fn reply(text: &str) -> Text {
                    $($pause)*
                    Text(format!("default to {text}"))
                }

                #[hook(always, finalize = Length, output = usize)]
                async fn measure(text: &str) -> Text {
                    $($pause)*
                    Text(text.to_owned())
                }

                #[hook(always, chain = ShortCircuit<u32, String>, finalize = Describe)]
                async fn check(number: u32) -> Result<u32, String> {
                    $($pause)*
                    if number == 0 { Err("zero".to_owned()) } else { Ok(number) }
                }
            }

            struct Adds(&'static str);

            #[impl_hooks(TextsSet)]
            impl Texts for Adds {
                async fn say(&self, _text: &str, last: Option<Text>) -> Text {
                    $($pause)*
                    Text(format!("{}+{}", last.unwrap().0, self.0))
                }

                async fn reply(&self, _text: &str, last: Option<Text>) -> Text {
                    $($pause)*
                    Text(format!("{:?}+{}", last.map(|text| text.0), self.0))
                }

                async fn measure(&self, _text: &str, last: Option<Text>) -> Text {
                    $($pause)*
                    Text(format!("{}{}", last.unwrap().0, self.0))
                }

                async fn check(&self, number: u32) -> Result<u32, String> {
                    $($pause)*
                    if number > 9 {
                        return Err(format!("{} finds it too big", self.0));
                    }
                    Ok(number + 1)
                }
            }

            /// Dispatch table, any + finalize, no hooks
            #[test]
            fn the_default_is_finalized_without_hooks() {
                assert_eq!(block_on(TextsSet::new().say("x")).0, "“x”");
                assert_eq!(block_on(TextsSet::new().reply("x")).0, "“default to x”");
                assert_eq!(block_on(TextsSet::new().check(7)), Ok(700));
            }

            /// Dispatch table, any + finalize: once, at the end; `last` is as without it
            #[test]
            fn the_result_is_finalized_once_and_last_is_not_finalized() {
                let set = TextsSet::new().with_hooks(Adds("a")).with_hooks(Adds("b"));
                assert_eq!(block_on(set.say("x")).0, "“x+a+b”");
                assert_eq!(block_on(set.reply("x")).0, r#"“Some("None+a")+b”"#);
            }

            /// Dispatch table, any + finalize: also an early exit
            #[test]
            fn an_early_exit_is_finalized() {
                let set = TextsSet::new().with_hooks(Adds("a")).with_hooks(Adds("b"));
                assert_eq!(block_on(set.check(0)), Err("refused: zero".to_owned()));
                assert_eq!(block_on(set.check(10)), Err("refused: a finds it too big".to_owned()));
                assert_eq!(block_on(set.check(5)), Ok(600));
            }

            /// T-31, `output`: the dispatch returns another type than the hooks do
            #[test]
            fn output_changes_the_return_type_of_the_dispatch_not_of_hooks() {
                assert_eq!(block_on(TextsSet::new().measure("grün")), 4);
                let set = TextsSet::new().with_hooks(Adds("a")).with_hooks(Adds("b"));
                assert_eq!(block_on(set.measure("grün")), 6);
            }

            /// T-32: a companion of another type can replace the declared companion
            #[test]
            fn with_finalize_replaces_the_declared_finalize() {
                let (open, close) = (String::from("<"), String::from(">"));
                let set = TextsSet::new().with_say_finalize(Between(&open, &close));
                assert_eq!(block_on(set.say("x")).0, "<x>");
                assert_eq!(block_on(set.reply("x")).0, "“default to x”");
                let set = TextsSet::new().with_measure_finalize(Bytes);
                assert_eq!(block_on(set.measure("grün")), 5);
            }

            /// T-32, T-04: `set_…` changes the set in place
            #[test]
            fn set_finalize_replaces_the_finalize_in_place() {
                let mut set = TextsSet::new();
                set.set_say_finalize(Between("<", ">"))
                    .set_measure_finalize(Bytes)
                    .register_hooks(Adds("a"));
                assert_eq!(block_on(set.say("x")).0, "<x+a>");
                assert_eq!(block_on(set.measure("grün")), 6);
            }
        }
    };
}

in_every_form!(rules);
