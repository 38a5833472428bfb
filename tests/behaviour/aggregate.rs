//! `aggregate = Type`: every output is collected, and a companion combines them.

use std::ops::ControlFlow;

use futures::executor::block_on;
use hooks_core::{Aggregate, AggregateInto, Chain, hooks, impl_hooks};

use crate::kit::{in_every_form, yield_once};

/// Cannot be cloned.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Label(String);

#[derive(Default)]
pub(crate) struct Join;

impl Aggregate<Label> for Join {
    async fn call(&self, outputs: Vec<Label>) -> Label {
        let labels: Vec<String> = outputs.into_iter().map(|label| label.0).collect();
        yield_once().await;
        Label(format!("({})", labels.join(" ")))
    }
}

/// Another type than the declared one, with state of its own.
pub(crate) struct JoinWith<'a>(&'a str);

impl Aggregate<Label> for JoinWith<'_> {
    async fn call(&self, outputs: Vec<Label>) -> Label {
        let labels: Vec<String> = outputs.into_iter().map(|label| label.0).collect();
        Label(labels.join(self.0))
    }
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Labels(Vec<String>);

#[derive(Default)]
pub(crate) struct Collect;

impl AggregateInto<Label, Labels> for Collect {
    async fn call(&self, outputs: Vec<Label>) -> Labels {
        Labels(outputs.into_iter().map(|label| label.0).collect())
    }
}

/// Another type than the declared one.
pub(crate) struct Reversed;

impl AggregateInto<Label, Labels> for Reversed {
    async fn call(&self, outputs: Vec<Label>) -> Labels {
        Labels(outputs.into_iter().rev().map(|label| label.0).collect())
    }
}

#[derive(Default)]
pub(crate) struct UntilStop;

impl Chain<Label> for UntilStop {
    async fn call(&self, output: &Label) -> ControlFlow<()> {
        if output.0.starts_with("stop") {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }
}

macro_rules! rules {
    ($form:ident, $($pause:tt)*) => {
        mod $form {
            use super::*;

            #[hooks]
            trait Labelling {
                #[hook(always, aggregate = Join)]
                async fn every(name: &str) -> Label {
                    $($pause)*
                    Label(format!("default {name}"))
                }

                #[hook(always, chain = UntilStop, aggregate = Join)]
                async fn some(name: &str) -> Label {
                    $($pause)*
                    Label(name.to_owned())
                }

                #[hook(fallback, aggregate = Join)]
                async fn others(name: &str) -> Label {
                    $($pause)*
                    Label(format!("default {name}"))
                }

                #[hook(fallback, aggregate = Collect, output = Labels)]
                async fn others_into(name: &str) -> Label {
                    $($pause)*
                    Label(format!("default {name}"))
                }

                #[hook(fallback, chain = UntilStop, aggregate = Join)]
                async fn first_others(name: &str) -> Label {
                    $($pause)*
                    Label(format!("default {name}"))
                }

                #[hook(fallback, chain = UntilStop, aggregate = Collect, output = Labels)]
                async fn first_others_into(name: &str) -> Label {
                    $($pause)*
                    Label(format!("default {name}"))
                }
            }

            struct Says(&'static str);

            #[impl_hooks(LabellingSet)]
            impl Labelling for Says {
                async fn every(&self, _name: &str) -> Label {
                    $($pause)*
                    Label(self.0.to_owned())
                }

                async fn some(&self, _name: &str) -> Label {
                    $($pause)*
                    Label(self.0.to_owned())
                }

                async fn others(&self, _name: &str) -> Label {
                    $($pause)*
                    Label(self.0.to_owned())
                }

                async fn others_into(&self, _name: &str) -> Label {
                    $($pause)*
                    Label(self.0.to_owned())
                }

                async fn first_others(&self, _name: &str) -> Label {
                    $($pause)*
                    Label(self.0.to_owned())
                }

                async fn first_others_into(&self, _name: &str) -> Label {
                    $($pause)*
                    Label(self.0.to_owned())
                }
            }

            fn saying(words: &[&'static str]) -> LabellingSet<'static> {
                let mut set = LabellingSet::new();
                for word in words {
                    set.register_hooks(Says(word));
                }
                set
            }

            /// Dispatch table, always + aggregate, no hooks: agg([default])
            #[test]
            fn always_aggregates_only_the_default_without_hooks() {
                assert_eq!(block_on(saying(&[]).every("x")).0, "(default x)");
            }

            /// Dispatch table, always + aggregate: the default is the first item
            #[test]
            fn always_aggregates_the_default_and_every_hook_in_order() {
                assert_eq!(block_on(saying(&["a", "b", "c"]).every("x")).0, "(default x a b c)");
            }

            /// Dispatch table, always + chain + aggregate: up to and including the breaking one
            #[test]
            fn always_aggregates_up_to_and_including_the_breaking_output() {
                let set = saying(&["a", "stop", "c"]);
                assert_eq!(block_on(set.some("x")).0, "(x a stop)");
                assert_eq!(block_on(set.some("stop x")).0, "(stop x)");
                assert_eq!(block_on(saying(&["a", "b"]).some("x")).0, "(x a b)");
                assert_eq!(block_on(saying(&[]).some("stop x")).0, "(stop x)");
            }

            /// Dispatch table, fallback + aggregate, no hooks: the default directly
            #[test]
            fn fallback_without_hooks_returns_the_default_unaggregated() {
                assert_eq!(block_on(saying(&[]).others("x")).0, "default x");
                assert_eq!(block_on(saying(&[]).first_others("x")).0, "default x");
            }

            /// Dispatch table, fallback + aggregate + output, no hooks: agg([default])
            #[test]
            fn fallback_with_an_output_type_aggregates_the_default_without_hooks() {
                let expected = Labels(vec!["default x".to_owned()]);
                assert_eq!(block_on(saying(&[]).others_into("x")), expected);
                assert_eq!(block_on(saying(&[]).first_others_into("x")), expected);
            }

            /// Dispatch table, fallback + aggregate: agg([h…])
            #[test]
            fn fallback_aggregates_the_hooks_without_the_default() {
                assert_eq!(block_on(saying(&["a"]).others("x")).0, "(a)");
                assert_eq!(block_on(saying(&["a", "b"]).others("x")).0, "(a b)");
                let expected = Labels(vec!["a".to_owned(), "b".to_owned()]);
                assert_eq!(block_on(saying(&["a", "b"]).others_into("x")), expected);
            }

            /// Dispatch table, fallback + chain + aggregate: collected until Break
            #[test]
            fn fallback_aggregates_up_to_and_including_the_breaking_output() {
                let set = saying(&["a", "stop", "c"]);
                assert_eq!(block_on(set.first_others("x")).0, "(a stop)");
                let expected = Labels(vec!["a".to_owned(), "stop".to_owned()]);
                assert_eq!(block_on(set.first_others_into("x")), expected);
            }

            /// Dispatch table, fallback + chain + aggregate: all continue → agg of all outputs
            #[test]
            fn fallback_aggregates_all_outputs_if_every_hook_continues() {
                assert_eq!(block_on(saying(&["a", "b"]).first_others("x")).0, "(a b)");
                let expected = Labels(vec!["a".to_owned(), "b".to_owned()]);
                assert_eq!(block_on(saying(&["a", "b"]).first_others_into("x")), expected);
            }

            /// T-32: a companion of another type can replace the declared companion
            #[test]
            fn with_aggregate_replaces_the_declared_aggregate() {
                let separator = String::from("/");
                let set = saying(&["a", "b"]).with_every_aggregate(JoinWith(&separator));
                assert_eq!(block_on(set.every("x")).0, "default x/a/b");
                let set = saying(&["a", "b"]).with_others_into_aggregate(Reversed);
                let expected = Labels(vec!["b".to_owned(), "a".to_owned()]);
                assert_eq!(block_on(set.others_into("x")), expected);
            }

            /// T-32, T-04: `set_…` changes the set in place
            #[test]
            fn set_aggregate_replaces_the_aggregate_in_place() {
                let mut set = saying(&["a", "b"]);
                set.set_every_aggregate(JoinWith("+"))
                    .set_others_into_aggregate(Reversed)
                    .register_hooks(Says("c"));
                assert_eq!(block_on(set.every("x")).0, "default x+a+b+c");
                assert_eq!(block_on(set.others_into("x")).0, ["c", "b", "a"]);
                assert_eq!(block_on(set.others("x")).0, "(a b c)");
            }
        }
    };
}

in_every_form!(rules);
