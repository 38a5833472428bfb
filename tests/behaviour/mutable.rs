//! `&mut T` parameters: the hooks of a slot change one value, one after the other.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use futures::executor::block_on;
use hooks_core::{
    Aggregate, Entry, Finalize, Next, ShortCircuit, Stateful, hooks, impl_hook, impl_hooks,
};

use crate::kit::{Log, in_every_form, panics, poll_once, run_counting, yield_once};

/// Neither `Clone` nor `Sync`.
#[derive(Debug, Default)]
pub(crate) struct Document {
    text: String,
    changes: std::cell::Cell<usize>,
}

impl Document {
    fn new(text: &str) -> Self {
        Document {
            text: text.to_owned(),
            ..Document::default()
        }
    }

    fn push(&mut self, text: &str) {
        self.text.push_str(text);
        self.changes.set(self.changes.get() + 1);
    }
}

/// Owned, and cloned for each hook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Author(&'static str);

#[derive(Default)]
pub(crate) struct Sum;

impl Aggregate<usize> for Sum {
    async fn call(&self, outputs: Vec<usize>) -> usize {
        yield_once().await;
        outputs.into_iter().sum()
    }
}

#[derive(Default)]
pub(crate) struct Double;

impl Finalize<usize> for Double {
    async fn call(&self, value: usize) -> usize {
        value * 2
    }
}

macro_rules! rules {
    ($form:ident, $($pause:tt)*) => {
        mod $form {
            use super::*;

            #[hooks]
            trait Editor {
                #[hook(always)]
                async fn saved(doc: &mut Document, path: &str, author: Author) {
                    $($pause)*
                    doc.push("default ");
                    let _ = (path, author);
                }

                #[hook(always, chain = ShortCircuit<(), String>)]
                async fn before_save(doc: &mut Document, path: &str) -> Result<(), String> {
                    $($pause)*
                    doc.push("default ");
                    if path.is_empty() { Err("no path".to_owned()) } else { Ok(()) }
                }

                #[hook(fallback, chain = ShortCircuit<(), String>)]
                async fn opened(doc: &mut Document) -> Result<(), String> {
                    $($pause)*
                    doc.push("default ");
                    Ok(())
                }

                #[hook(fallback)]
                async fn indent(doc: &mut Document) -> usize {
                    $($pause)*
                    doc.push("default ");
                    0
                }

                #[hook(always, aggregate = Sum)]
                async fn count(doc: &mut Document) -> usize {
                    $($pause)*
                    doc.push("default ");
                    1
                }

                #[hook(always, finalize = Double, around)]
                async fn measure(doc: &mut Document, prefix: &str) -> usize {
                    $($pause)*
                    doc.push(prefix);
                    doc.text.len()
                }

                #[hook(singleton)]
                async fn format(doc: &mut Document) {
                    $($pause)*
                    doc.push("default ");
                }

                #[hook(always)]
                async fn several(first: &mut Document, second: &mut [u8], third: &mut (dyn std::io::Write + Send)) {
                    $($pause)*
                    first.push("default ");
                    second[0] += 1;
                    third.write_all(&[1]).unwrap();
                }
            }

            #[impl_hook(Saved)]
            async fn by_function(doc: &mut Document, path: &str, author: Author) {
                $($pause)*
                doc.push(path);
                doc.push(author.0);
            }

            #[impl_hook(Several)]
            async fn several_by_function(first: &mut Document, second: &mut [u8], third: &mut (dyn std::io::Write + Send)) {
                $($pause)*
                first.push("function ");
                second[0] *= 10;
                third.write_all(&[2]).unwrap();
            }

            struct ByTrait(&'static str);

            impl BeforeSave for ByTrait {
                async fn call(&self, doc: &mut Document, path: String) -> Result<(), String> {
                    $($pause)*
                    doc.push(self.0);
                    if path == self.0 { Err(path) } else { Ok(()) }
                }
            }

            impl StatefulIndent for usize {
                async fn call_mut(&mut self, doc: &mut Document, last: Option<usize>) -> usize {
                    $($pause)*
                    *self += 1;
                    doc.push("state ");
                    last.unwrap_or(100) + *self
                }
            }

            #[derive(Clone)]
            struct Plugin(Log);

            #[impl_hooks(EditorSet)]
            impl Editor for Plugin {
                async fn indent(&self, doc: &mut Document, last: Option<usize>) -> usize {
                    $($pause)*
                    self.0.add(format!("{last:?}"));
                    doc.push("group ");
                    last.unwrap_or(0) + 1
                }

                async fn count(&self, doc: &mut Document) -> usize {
                    $($pause)*
                    doc.push("group ");
                    10
                }
            }

            #[test]
            fn t_62_hooks_change_one_value_in_their_order() {
                let set = EditorSet::new()
                    .with_saved(ByFunction)
                    .with_saved(async |doc: &mut Document, path: String, _: Author| {
                        $($pause)*
                        doc.push(&path);
                    })
                    .with_saved(Entry::new(Arc::new(ByFunction)).priority(-1));
                let mut doc = Document::new("");
                block_on(set.saved(&mut doc, "a ", Author("b ")));
                assert_eq!(doc.text, "default a b a b a ");
                assert_eq!(doc.changes.get(), 6);
                block_on(set.saved(&mut doc, "c ", Author("d ")));
                assert_eq!(doc.changes.get(), 12);
            }

            #[test]
            fn t_33_a_chain_stops_and_keeps_what_was_changed() {
                let set = EditorSet::new()
                    .with_before_save(ByTrait("one "))
                    .with_before_save(Box::new(ByTrait("two ")))
                    .with_before_save(ByTrait("three "));
                let mut doc = Document::new("");
                assert_eq!(block_on(set.before_save(&mut doc, "two ")), Err("two ".to_owned()));
                assert_eq!(doc.text, "default one two ");
                let mut doc = Document::new("");
                assert_eq!(block_on(set.before_save(&mut doc, "x")), Ok(()));
                assert_eq!(doc.text, "default one two three ");
                let mut doc = Document::new("");
                assert_eq!(block_on(set.before_save(&mut doc, "")), Err("no path".to_owned()));
                assert_eq!(doc.text, "default ");
            }

            #[test]
            fn t_62_the_default_of_a_fallback_slot_with_a_chain_runs_last() {
                let set = EditorSet::new().with_opened(async |doc: &mut Document| {
                    $($pause)*
                    doc.push("hook ");
                    Ok(())
                });
                let mut doc = Document::new("");
                assert_eq!(block_on(set.opened(&mut doc)), Ok(()));
                assert_eq!(doc.text, "hook default ");
                let mut doc = Document::new("");
                assert_eq!(block_on(EditorSet::new().opened(&mut doc)), Ok(()));
                assert_eq!(doc.text, "default ");
            }

            #[test]
            fn t_24_hooks_receive_last_beside_the_value() {
                let log = Log::default();
                let set = EditorSet::new()
                    .with_indent(Stateful::new(0_usize))
                    .with_hooks(Plugin(log.clone()));
                let mut doc = Document::new("");
                assert_eq!(block_on(set.indent(&mut doc)), 102);
                assert_eq!(doc.text, "state group ");
                assert_eq!(log.take(), ["Some(101)"]);
                assert_eq!(block_on(set.indent(&mut doc)), 103);
                assert_eq!(block_on(EditorSet::new().indent(&mut doc)), 0);
                assert_eq!(doc.text, "state group state group default ");
            }

            #[test]
            fn t_62_companions_process_the_outputs() {
                let set = EditorSet::new().with_hooks(Plugin(Log::default()));
                let mut doc = Document::new("");
                assert_eq!(block_on(set.count(&mut doc)), 11);
                assert_eq!(doc.text, "default group ");
                let mut doc = Document::new("12");
                assert_eq!(block_on(set.measure(&mut doc, "34")), 8);
            }

            #[test]
            fn t_62_around_hooks_lend_the_value_to_the_call() {
                async fn twice(
                    doc: &mut Document,
                    prefix: &str,
                    next: Next<'_, dyn Measure>,
                ) -> usize {
                    $($pause)*
                    doc.push("<");
                    let one = next.call((&mut *doc, prefix)).await;
                    doc.push("|");
                    let two = next.call((&mut *doc, "b")).await;
                    doc.push(">");
                    one + two
                }
                let set = EditorSet::new().with_measure_around(twice);
                let mut doc = Document::new("");
                assert_eq!(block_on(set.measure(&mut doc, "a")), 2 * 2 + 4 * 2);
                assert_eq!(doc.text, "<a|b>");
            }

            #[test]
            fn t_62_a_singleton_passes_the_value_on() {
                let set = EditorSet::new();
                let mut doc = Document::new("");
                block_on(set.format(&mut doc));
                let set = set.with_format(async |doc: &mut Document| {
                    $($pause)*
                    doc.push("hook ");
                });
                block_on(set.format(&mut doc));
                assert_eq!(doc.text, "default hook ");
            }

            #[test]
            fn t_62_several_values_of_any_form() {
                let set = EditorSet::new().with_several(SeveralByFunction).with_several(SeveralByFunction);
                let (mut doc, mut bytes, mut list) = (Document::new(""), [1, 2], Vec::new());
                block_on(set.several(&mut doc, &mut bytes, &mut list));
                assert_eq!(doc.text, "default function function ");
                assert_eq!((bytes, list), ([200, 2], vec![1, 2, 2]));
            }

            #[test]
            fn t_62_conditions_see_the_value() {
                let set = EditorSet::new()
                    .with_opened(Entry::new(async |doc: &mut Document| {
                        $($pause)*
                        doc.push("first ");
                        Ok(())
                    }).when(|doc: &&mut Document| doc.text.is_empty()))
                    .with_opened(async |doc: &mut Document| {
                        $($pause)*
                        doc.push("second ");
                        Ok(())
                    });
                let mut doc = Document::new("");
                block_on(set.opened(&mut doc)).unwrap();
                block_on(set.opened(&mut doc)).unwrap();
                assert_eq!(doc.text, "first second default second default ");
            }

            #[test]
            fn t_51_a_dispatch_is_send_and_can_be_spawned() {
                fn spawned(set: EditorSet<'static>) -> impl Future<Output = String> + Send {
                    async move {
                        let mut doc = Document::new("");
                        set.before_save(&mut doc, "a").await.unwrap();
                        set.opened(&mut doc).await.unwrap();
                        set.measure(&mut doc, "b").await;
                        doc.text
                    }
                }
                let set = EditorSet::new().with_before_save(ByTrait("hook "));
                let text = std::thread::spawn(move || block_on(spawned(set))).join().unwrap();
                assert_eq!(text, "default hook default b");
            }
        }
    };
}

in_every_form!(rules);

mod once {
    use super::*;

    #[hooks]
    trait Steps {
        #[hook(always)]
        async fn step(doc: &mut Document, author: Author) {}

        #[hook(fallback)]
        async fn named(doc: &mut String) {
            doc.push_str("default");
        }
    }

    #[impl_hook(Step)]
    async fn changes(doc: &mut Document, author: Author) {
        doc.push(author.0);
    }

    #[test]
    fn t_62_a_dropped_dispatch_leaves_the_value_as_the_hooks_left_it() {
        let set = StepsSet::new()
            .with_step(Changes)
            .with_step(async |doc: &mut Document, _: Author| {
                doc.push("half ");
                yield_once().await;
                doc.push("whole ");
            })
            .with_step(Changes);
        let mut doc = Document::new("");
        {
            let mut dispatch = std::pin::pin!(set.step(&mut doc, Author("a ")));
            assert!(poll_once(dispatch.as_mut()).is_pending());
        }
        assert_eq!(doc.text, "a half ");
        let ((), pending) = run_counting(set.step(&mut doc, Author("b ")));
        assert_eq!(pending, 1);
        assert_eq!(doc.text, "a half b half whole b ");
    }

    #[test]
    fn t_62_a_panic_leaves_the_value_as_the_hooks_left_it() {
        async fn fails(doc: &mut Document, _: Author) {
            doc.push("before ");
            panic!("no more");
        }
        let set = StepsSet::new()
            .with_step(Changes)
            .with_step(fails)
            .with_step(Changes);
        let mut doc = Document::new("");
        assert_eq!(panics(set.step(&mut doc, Author("a "))), "no more");
        assert_eq!(doc.text, "a before ");
    }

    #[test]
    fn t_61_an_owned_argument_is_cloned_for_each_hook() {
        struct Counted(Arc<AtomicUsize>);
        impl Clone for Counted {
            fn clone(&self) -> Self {
                self.0.fetch_add(1, Ordering::Relaxed);
                Counted(Arc::clone(&self.0))
            }
        }
        #[hooks]
        trait Counts {
            #[hook(fallback)]
            async fn count(doc: &mut String, counted: Counted) {}
        }
        #[impl_hook(Count)]
        async fn push(doc: &mut String, counted: Counted) {
            doc.push('x');
            drop(counted);
        }
        let set = CountsSet::new().with_count(Push).with_count(Push);
        let (mut doc, clones) = (String::new(), Arc::default());
        block_on(set.count(&mut doc, Counted(Arc::clone(&clones))));
        assert_eq!(doc, "xx");
        assert_eq!(clones.load(Ordering::Relaxed), 2);
        assert_eq!(Arc::strong_count(&clones), 1);
    }

    #[test]
    fn t_40_a_set_of_mutable_slots_is_extended_and_cloned() {
        let one = StepsSet::new().with_named(async |doc: &mut String| doc.push_str("one "));
        let two = StepsSet::new().with_named(async |doc: &mut String| doc.push_str("two "));
        let mut set = one.clone();
        set.extend(two);
        let mut doc = String::new();
        block_on(set.named(&mut doc));
        block_on(one.named(&mut doc));
        assert_eq!(doc, "one two one ");
    }
}

/// A type that borrows is lent by way of a trait.
mod borrowing {
    use super::*;

    pub(crate) trait Scope: Send {
        fn define(&mut self, name: &str);
    }

    struct Context<'s> {
        source: &'s str,
        names: Vec<&'s str>,
    }

    impl Scope for Context<'_> {
        fn define(&mut self, name: &str) {
            if let Some(at) = self.source.find(name) {
                self.names.push(&self.source[at..at + name.len()]);
            }
        }
    }

    #[hooks]
    trait Pass {
        #[hook(always)]
        async fn entered(scope: &mut (dyn Scope + Send), name: &str) {
            scope.define(name);
        }
    }

    #[impl_hook(Entered)]
    async fn twice(scope: &mut (dyn Scope + Send), name: &str) {
        yield_once().await;
        scope.define(name);
    }

    #[test]
    fn t_62_a_type_that_borrows_is_lent_as_a_trait_object() {
        let set = PassSet::new().with_entered(Twice).with_entered(
            async |scope: &mut (dyn Scope + Send), name: String| scope.define(&name[1..]),
        );
        let source = String::from("let name = 1");
        let mut context = Context {
            source: &source,
            names: Vec::new(),
        };
        block_on(set.entered(&mut context, "name"));
        context.names.push("own");
        assert_eq!(context.names, ["name", "name", "ame", "own"]);
    }
}
