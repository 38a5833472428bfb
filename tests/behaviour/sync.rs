//! Synchronous slots (`#[hook(…, sync)]`): hooks are functions, and a call returns its output.

use std::cell::{Cell, RefCell};
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Barrier};

use futures::executor::block_on;
use hooks_core::{
    Entry, FirstSuccess, HookReentrancyError, ShortCircuit, Stateful, SyncAggregate,
    SyncAggregateInto, SyncChain, SyncFinalize, SyncFinalizeInto, hooks, impl_hook, impl_hooks,
};

use crate::kit::Log;

/// Not `Clone`.
#[derive(Debug, Default)]
pub(crate) struct Document(String);

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Author(&'static str);

#[derive(Default)]
pub(crate) struct UntilEmpty;

impl SyncChain<String> for UntilEmpty {
    fn call(&self, output: &String) -> ControlFlow<()> {
        if output.is_empty() {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }
}

#[derive(Default)]
pub(crate) struct Join;

impl SyncAggregate<String> for Join {
    fn call(&self, outputs: Vec<String>) -> String {
        outputs.join("+")
    }
}

#[derive(Default)]
pub(crate) struct Count(usize);

impl SyncAggregateInto<bool, usize> for Count {
    fn call(&self, outputs: Vec<bool>) -> usize {
        self.0 + outputs.into_iter().filter(|output| *output).count()
    }
}

#[derive(Default)]
pub(crate) struct Quote;

impl SyncFinalize<String> for Quote {
    fn call(&self, result: String) -> String {
        format!("'{result}'")
    }
}

#[derive(Default)]
pub(crate) struct Length(usize);

impl SyncFinalizeInto<String, usize> for Length {
    fn call(&self, result: String) -> usize {
        self.0 + result.len()
    }
}

#[hooks]
trait Compiler {
    #[hook(always, sync)]
    fn rename(name: &str, author: Author, by: &usize) -> String {
        format!("{name}{by}{}", author.0)
    }

    #[hook(fallback, sync)]
    fn suggest(text: &str) -> String {
        text.to_owned()
    }

    #[hook(singleton, sync)]
    fn target(level: usize, ticket: Document) -> String {
        format!("{level}{}", ticket.0)
    }

    #[hook(always, sync)]
    fn started(log: &Log) {
        log.add("default");
    }

    #[hook(always, sync, chain = UntilEmpty)]
    fn line(number: usize) -> String {
        format!("line {number}")
    }

    #[hook(fallback, sync, chain = FirstSuccess<usize>)]
    fn price(item: &str) -> Option<usize> {
        Some(item.len())
    }

    #[hook(always, sync, aggregate = Join)]
    fn parts(name: &str) -> String {
        name.to_owned()
    }

    #[hook(fallback, sync, aggregate = Join)]
    fn fallback_parts(name: &str) -> String {
        name.to_owned()
    }

    #[hook(always, sync, aggregate = Count, output = usize)]
    fn votes(name: &str) -> bool {
        name.is_empty()
    }

    #[hook(always, sync, finalize = Quote)]
    fn title(name: &str) -> String {
        name.to_owned()
    }

    #[hook(fallback, sync, chain = UntilEmpty, finalize = Length, output = usize)]
    fn width(name: &str) -> String {
        name.to_owned()
    }

    #[hook(always, sync, chain = ShortCircuit<(), String>)]
    fn before_write(doc: &mut Document, author: Author) -> Result<(), String> {
        doc.0.push_str(author.0);
        Ok(())
    }

    /// An async slot in the same trait.
    #[hook(always)]
    async fn uploaded(name: &str) -> usize {
        name.len()
    }
}

#[impl_hook(Rename)]
fn shout(name: &str, _author: Author, _by: &usize, last: Option<String>) -> String {
    format!("{}/{}", last.unwrap_or_default(), name.to_uppercase())
}

/// Takes owned arguments.
#[impl_hook(Rename)]
fn owned(name: String, author: Author, by: &usize, last: Option<String>) -> String {
    format!("{}/{name}{by}{author:?}", last.unwrap_or_default())
}

#[impl_hook(Started)]
fn note_start(log: &Log) {
    log.add("hook");
}

#[impl_hook(BeforeWrite)]
fn dot(doc: &mut Document, _author: Author) -> Result<(), String> {
    doc.0.push('.');
    Ok(())
}

const A: Author = Author("A");

#[test]
fn t_63_a_call_returns_the_output_of_the_default() {
    let set = CompilerSet::new();
    assert_eq!(set.rename("x", A, &1), "x1A");
    assert_eq!(set.suggest("x"), "x");
    assert_eq!(set.target(2, Document("y".into())), "2y");
    assert_eq!(set.line(3), "line 3");
    assert_eq!(set.price("tea"), Some(3));
    assert_eq!(set.parts("p"), "p");
    assert_eq!(set.fallback_parts("p"), "p");
    assert_eq!(set.votes(""), 1);
    assert_eq!(set.title("t"), "'t'");
    assert_eq!(set.width("four"), 4);
    let mut doc = Document::default();
    assert_eq!(set.before_write(&mut doc, A), Ok(()));
    assert_eq!(doc.0, "A");
    assert_eq!(block_on(set.uploaded("n")), 1);
}

#[test]
fn t_63_functions_and_closures_are_hooks_and_receive_last() {
    let set = CompilerSet::new()
        .with_rename(Shout)
        .with_rename(Owned)
        .with_rename(|name: String, _: Author, _: &usize, last: Option<String>| {
            format!("{}/{name}!", last.unwrap())
        });
    assert_eq!(set.rename("x", A, &1), "x1A/X/x1Author(\"A\")/x!");
    let set = CompilerSet::new().with_suggest(|_: String, last: Option<String>| {
        assert_eq!(last, None);
        "closure".to_owned()
    });
    assert_eq!(set.suggest("x"), "closure");
}

#[test]
fn t_63_a_singleton_moves_its_arguments() {
    let set = CompilerSet::new()
        .with_target(|level: usize, ticket: Document| format!("{}:{level}", ticket.0));
    assert_eq!(set.target(1, Document("doc".into())), "doc:1");
}

#[test]
fn t_63_a_slot_without_output_runs_every_hook() {
    let set = CompilerSet::new()
        .with_started(NoteStart)
        .with_started(|log: &Log| log.add("closure"));
    let log = Log::default();
    set.started(&log);
    assert_eq!(log.take(), ["default", "hook", "closure"]);
}

#[test]
fn t_63_a_chain_stops_the_dispatch_and_can_be_replaced() {
    let ran = Arc::new(AtomicUsize::new(0));
    let counting = |ran: &Arc<AtomicUsize>, text: &'static str| {
        let ran = Arc::clone(ran);
        move |_: usize| {
            ran.fetch_add(1, Ordering::SeqCst);
            text.to_owned()
        }
    };
    let set = CompilerSet::new()
        .with_line(counting(&ran, "a"))
        .with_line(counting(&ran, ""))
        .with_line(counting(&ran, "b"));
    assert_eq!(set.line(1), "");
    assert_eq!(ran.swap(0, Ordering::SeqCst), 2);

    struct Never;
    impl SyncChain<String> for Never {
        fn call(&self, _: &String) -> ControlFlow<()> {
            ControlFlow::Continue(())
        }
    }
    let set = set.with_line_chain(Never);
    assert_eq!(set.line(1), "b");
    assert_eq!(ran.load(Ordering::SeqCst), 3);
    let description = set.describe();
    let line = description
        .slots
        .iter()
        .find(|slot| slot.slot == "line")
        .unwrap();
    assert!(format!("{line:?}").contains("Never"), "{line:?}");
}

#[test]
fn t_63_a_fallback_runs_if_no_hook_stops_the_chain() {
    let set = CompilerSet::new().with_price(|_: String| None);
    assert_eq!(set.price("tea"), Some(3));
    let set = set.with_price(|_: String| Some(7));
    assert_eq!(set.price("tea"), Some(7));
}

#[test]
fn t_63_aggregates_and_finalizers_are_functions_and_can_be_replaced() {
    let set = CompilerSet::new()
        .with_parts(|_: String| "a".to_owned())
        .with_parts(|_: String| "b".to_owned())
        .with_votes(|_: String| true)
        .with_votes(|_: String| false)
        .with_title(|name: String, _: Option<String>| name + "!")
        .with_width(|name: String| name + "!");
    assert_eq!(set.parts("p"), "p+a+b");
    assert_eq!(set.votes("x"), 1);
    assert_eq!(set.title("t"), "'t!'");
    // The hook of a fallback slot with a chain that did not stop is followed by the default.
    assert_eq!(set.width("t"), 1);

    struct Reversed;
    impl SyncAggregate<String> for Reversed {
        fn call(&self, outputs: Vec<String>) -> String {
            outputs.into_iter().rev().collect()
        }
    }
    let mut set = set
        .with_parts_aggregate(Reversed)
        .with_votes_aggregate(Count(100))
        .with_width_finalize(Length(1000));
    set.set_title_finalize(Stars);
    assert_eq!(set.parts("p"), "bap");
    assert_eq!(set.votes("x"), 101);
    assert_eq!(set.width("t"), 1001);
    assert_eq!(set.title("t"), "*t!*");
}

struct Stars;

impl SyncFinalize<String> for Stars {
    fn call(&self, result: String) -> String {
        format!("*{result}*")
    }
}

#[test]
fn t_63_hooks_change_a_mutable_argument_one_after_the_other() {
    let set = CompilerSet::new()
        .with_before_write(Dot)
        .with_before_write(|doc: &mut Document, author: Author| {
            doc.0.push_str(author.0);
            if doc.0.len() > 4 {
                Err("long".to_owned())
            } else {
                Ok(())
            }
        })
        .with_before_write(Dot);
    let mut doc = Document::default();
    assert_eq!(set.before_write(&mut doc, A), Ok(()));
    assert_eq!(doc.0, "A.A.");
    assert_eq!(set.before_write(&mut doc, A), Err("long".to_owned()));
    assert_eq!(doc.0, "A.A.A.A");
}

struct Plugin {
    prefix: &'static str,
    starts: AtomicUsize,
}

#[impl_hooks(CompilerSet)]
impl Compiler for Plugin {
    fn rename(&self, name: &str, _: Author, _: &usize, last: Option<String>) -> String {
        format!("{}{name}{}", self.prefix, last.unwrap())
    }

    fn started(&self, log: &Log) {
        log.add(format!(
            "plugin {}",
            self.starts.fetch_add(1, Ordering::SeqCst)
        ));
    }

    fn before_write(&self, doc: &mut Document, _: Author) -> Result<(), String> {
        doc.0.push_str(self.prefix);
        Ok(())
    }

    async fn uploaded(&self, name: &str, last: Option<usize>) -> usize {
        crate::kit::yield_once().await;
        last.unwrap() + name.len()
    }
}

#[test]
fn t_63_a_block_has_hooks_of_both_modes() {
    let plugin = Plugin {
        prefix: "p",
        starts: AtomicUsize::new(0),
    };
    let set = CompilerSet::new().with_hooks(&plugin);
    assert_eq!(set.rename("x", A, &1), "pxx1A");
    let log = Log::default();
    set.started(&log);
    set.started(&log);
    assert_eq!(log.take(), ["default", "plugin 0", "default", "plugin 1"]);
    let mut doc = Document::default();
    set.before_write(&mut doc, A).unwrap();
    assert_eq!(doc.0, "Ap");
    assert_eq!(block_on(set.uploaded("name")), 8);
    // The trait's methods run the defaults.
    assert_eq!(Compiler::suggest(&plugin, "s", None), "s");
}

struct Hand(usize);

impl Suggest for Hand {
    fn call(&self, text: String, last: Option<String>) -> String {
        format!("{text}{}{}", self.0, last.unwrap_or_default())
    }
}

#[test]
fn t_63_a_hook_may_implement_the_trait_of_the_slot_and_be_behind_a_pointer() {
    let borrowed = Hand(1);
    let set = CompilerSet::new()
        .with_suggest(&borrowed)
        .with_suggest(Box::new(Hand(2)))
        .with_suggest(Arc::new(Hand(3)))
        .with_suggest(Arc::new(|text: String, last: Option<String>| {
            format!("{text}end{}", last.unwrap())
        }));
    assert_eq!(set.suggest("a"), "aenda3a2a1");
    let mut set = CompilerSet::new()
        .with_suggest(Entry::new(Hand(2)).key("two").priority(1))
        .with_suggest(Entry::new(Hand(1)).key("one"))
        .with_suggest(Entry::new(Hand(9)).when(|text: &&str| text.is_empty()));
    assert_eq!(set.suggest("a"), "a2a1");
    assert_eq!(set.suggest(""), "291");
    assert!(set.suggest_mut().remove("two"));
    assert!(set.suggest_mut().set_enabled("one", false));
    assert_eq!(set.suggest("a"), "a");
}

struct Counter(usize);

impl StatefulSuggest for Counter {
    fn call_mut(&mut self, text: String, _: Option<String>) -> String {
        self.0 += 1;
        format!("{text}{}", self.0)
    }
}

impl StatefulBeforeWrite for Counter {
    fn call_mut(&mut self, doc: &mut Document, _: Author) -> Result<(), String> {
        self.0 += 1;
        doc.0.push_str(&self.0.to_string());
        Ok(())
    }
}

#[test]
fn t_63_a_stateful_hook_has_its_state_alone() {
    let counter = Stateful::new(Counter(0));
    let set = CompilerSet::new()
        .with_suggest(counter.clone())
        .with_before_write(counter);
    assert_eq!(set.suggest("a"), "a1");
    let mut doc = Document::default();
    set.before_write(&mut doc, A).unwrap();
    assert_eq!(doc.0, "A2");
    let start = Barrier::new(4);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                start.wait();
                for _ in 0..100 {
                    set.suggest("a");
                }
            });
        }
    });
    assert_eq!(set.suggest("a"), "a403");
}

struct Recursive(CompilerSet<'static>, Arc<AtomicUsize>);

thread_local! {
    static AGAIN: Cell<Option<CompilerSet<'static>>> = const { Cell::new(None) };
}

impl StatefulLine for Recursive {
    fn call_mut(&mut self, number: usize) -> String {
        let set = AGAIN.take().unwrap();
        let inner = set.line(number);
        self.1.fetch_add(1, Ordering::SeqCst);
        format!("{inner}, {}", self.0.line(number))
    }

    fn on_reentrancy(error: HookReentrancyError) -> String {
        assert_eq!(error.slot, "line");
        "again".to_owned()
    }
}

#[test]
fn t_63_a_call_from_inside_the_hooks_own_call_is_reported() {
    let calls = Arc::new(AtomicUsize::new(0));
    let hook = Stateful::new(Recursive(CompilerSet::new(), Arc::clone(&calls)));
    let set = CompilerSet::new().with_line(hook);
    AGAIN.set(Some(set.clone()));
    assert_eq!(set.line(5), "again, line 5");
    assert_eq!(calls.load(Ordering::SeqCst), 1);
}

#[test]
fn t_63_hooks_dispatch_other_slots_and_their_own() {
    #[hooks]
    trait Tree {
        #[hook(fallback, sync)]
        fn depth(set: &TreeSet<'_>, levels: usize) -> usize {
            if levels == 0 {
                0
            } else {
                1 + set.depth(set, levels - 1)
            }
        }
    }
    assert_eq!(TreeSet::new().depth(&TreeSet::new(), 4), 4);
    let set = TreeSet::new().with_depth(|set: &TreeSet<'_>, levels: usize, _: Option<usize>| {
        if levels == 0 {
            100
        } else {
            1 + set.depth(set, levels - 1)
        }
    });
    assert_eq!(set.depth(&set, 3), 103);
}

#[test]
fn t_63_a_panic_reaches_the_caller_and_leaves_the_set_usable() {
    let set = CompilerSet::new()
        .with_suggest(Stateful::new(Counter(0)))
        .with_suggest(|text: String, last: Option<String>| {
            assert_ne!(text, "bad");
            last.unwrap()
        });
    let caught = catch_unwind(AssertUnwindSafe(|| set.suggest("bad")));
    assert!(caught.is_err());
    assert_eq!(set.suggest("good"), "good2");
}

#[test]
fn t_63_sets_are_composed_as_those_of_async_slots() {
    let first = CompilerSet::new().with_suggest(Entry::new(Hand(1)).key("one"));
    let second = CompilerSet::new()
        .with_suggest(Entry::new(Hand(2)).key("one"))
        .with_line_chain(AtOnce)
        .with_title_finalize(Stars);
    let set = first
        .with_line(|_: usize| unreachable_text())
        .with_extended(second);
    assert_eq!(set.suggest("a"), "a2");
    assert_eq!(
        set.line(1),
        "line 1",
        "the chain of the other set stops after the default"
    );
    assert_eq!(set.title("t"), "*t*");
    let changed = set.for_call(|set| {
        set.register_suggest(|text: String, last: Option<String>| text + &last.unwrap());
    });
    assert_eq!(changed.suggest("a"), "aa2");
    assert_eq!(set.suggest("a"), "a2");
    let kind = &set.describe().slots[1];
    assert_eq!(kind.kind, "fallback");
}

struct AtOnce;

impl SyncChain<String> for AtOnce {
    fn call(&self, _: &String) -> ControlFlow<()> {
        ControlFlow::Break(())
    }
}

fn unreachable_text() -> String {
    unreachable!("the chain stops before")
}

struct Panics(usize);

impl StatefulSuggest for Panics {
    fn call_mut(&mut self, text: String, _: Option<String>) -> String {
        self.0 += 1;
        assert_ne!(text, "bad");
        format!("{text}{}", self.0)
    }

    fn on_reentrancy(_: HookReentrancyError) -> String {
        "re-entered".to_owned()
    }
}

#[test]
fn t_63_a_panic_in_a_stateful_hook_releases_its_state() {
    let set = CompilerSet::new().with_suggest(Stateful::new(Panics(0)));
    assert!(catch_unwind(AssertUnwindSafe(|| set.suggest("bad"))).is_err());
    assert_eq!(
        set.suggest("good"),
        "good2",
        "neither locked nor re-entered"
    );
}

#[test]
fn t_63_a_slot_of_many_hooks_runs_all_of_them_in_order() {
    let set = (0..200_usize).fold(CompilerSet::new(), |set, number| {
        set.with_suggest(
            Entry::new(move |_: String, last: Option<String>| {
                let last = last.unwrap_or_default();
                assert_eq!(last.len(), number);
                last + "x"
            })
            .key(number.to_string()),
        )
    });
    assert_eq!(set.suggest("").len(), 200);
}

#[test]
fn t_63_a_subscriber_records_the_spans_of_a_call() {
    let set = CompilerSet::new()
        .with_suggest(Entry::new(Hand(1)).name("first"))
        .with_before_write(Dot);
    let (outputs, seen) = crate::tracing::collect(|| {
        let mut doc = Document::default();
        (set.suggest("a"), set.before_write(&mut doc, A))
    });
    assert_eq!(outputs, ("a1".to_owned(), Ok(())));
    let slots: Vec<_> = seen.iter().filter_map(|span| span.field("slot")).collect();
    assert!(
        slots.contains(&"suggest") && slots.contains(&"before_write"),
        "{slots:?}"
    );
}

#[test]
fn t_63_a_nested_set_and_a_copy_for_one_call() {
    mod outer {
        use super::CompilerSet;

        #[hooks_core::hooks]
        #[nested_hooks(compiler = CompilerSet)]
        pub(super) trait Outer {
            #[hook(always, sync)]
            fn run(text: &str) -> usize {
                text.len()
            }
        }
    }
    let set = outer::OuterSet::new().with_compiler(CompilerSet::new().with_suggest(Hand(1)));
    assert_eq!(set.compiler.suggest("a"), "a1");
    let copy = set.for_call(|set| {
        set.compiler.register_suggest(Hand(2));
        set.register_run(|text: String, last: Option<usize>| text.len() + last.unwrap());
    });
    assert_eq!(
        (copy.compiler.suggest("a"), copy.run("abc")),
        ("a2a1".to_owned(), 6)
    );
    assert_eq!(
        (set.compiler.suggest("a"), set.run("abc")),
        ("a1".to_owned(), 3)
    );
}

/// A plain method of an async slot may return a future of its own, and is then not taken for one that
/// cannot wait.
#[test]
fn t_23_a_method_that_returns_a_box_of_a_future_may_wait() {
    struct Boxed;

    #[impl_hooks(CompilerSet)]
    impl Compiler for Boxed {
        fn uploaded(
            &self,
            name: &str,
            last: Option<usize>,
        ) -> futures::future::BoxFuture<'static, usize> {
            let length = name.len();
            Box::pin(async move {
                crate::kit::yield_once().await;
                length + last.unwrap()
            })
        }
    }
    let set = CompilerSet::new().with_hooks(Boxed);
    assert_eq!(block_on(set.uploaded("four")), 8);
}

/// Neither `Send` nor `Sync`.
#[derive(Clone, Default)]
struct Tree {
    nodes: Rc<RefCell<Vec<&'static str>>>,
}

#[hooks]
trait CompilerHooks {
    #[hook(always, sync)]
    fn analysed(tree: &Tree, depth: Rc<usize>) -> usize {
        tree.nodes.borrow().len() + *depth
    }

    #[hook(always, sync, chain = hooks_core::ShortCircuit<(), usize>)]
    fn rewritten(tree: &mut Tree, depth: Rc<usize>) -> Result<(), usize> {
        tree.nodes.borrow_mut().push("default");
        if *depth > 1 { Err(*depth) } else { Ok(()) }
    }

    #[hook(waterfall, sync)]
    fn counted(count: usize, tree: &Tree) -> usize {
        count + tree.nodes.borrow().len()
    }

    #[hook(singleton, sync)]
    fn finished(tree: Tree) -> usize {
        tree.nodes.borrow().len()
    }
}

#[impl_hook(Analysed)]
fn twice(tree: &Tree, depth: Rc<usize>, last: Option<usize>) -> usize {
    last.unwrap_or_default() * 2 + tree.nodes.borrow().len() + *depth
}

struct Pass;

#[impl_hooks(CompilerHooksSet)]
impl CompilerHooks for Pass {
    fn rewritten(&self, tree: &mut Tree, _: Rc<usize>) -> Result<(), usize> {
        tree.nodes.borrow_mut().push("pass");
        Ok(())
    }

    fn finished(&self, tree: Tree) -> usize {
        tree.nodes.borrow().len() * 10
    }
}

struct Seen(Vec<&'static str>);

impl StatefulAnalysed for Seen {
    fn call_mut(&mut self, tree: &Tree, _: Rc<usize>, _: Option<usize>) -> usize {
        self.0.extend(tree.nodes.borrow().iter());
        self.0.len()
    }
}

#[test]
fn t_63_arguments_stay_on_their_thread() {
    fn shared<T: Send + Sync>(set: T) -> T {
        set
    }
    let set = shared(
        CompilerHooksSet::new()
            .with_analysed(Twice)
            .with_rewritten(|tree: &mut Tree, depth: Rc<usize>| {
                tree.nodes.borrow_mut().push("closure");
                if *depth > 0 { Err(0) } else { Ok(()) }
            })
            .with_counted(
                Entry::new(|count: usize, tree: &Tree| count * tree.nodes.borrow().len())
                    .when(|_: &usize, tree: &&Tree| !tree.nodes.borrow().is_empty()),
            )
            .with_hooks(Pass),
    );
    let mut tree = Tree::default();
    assert_eq!(set.rewritten(&mut tree, Rc::new(2)), Err(2));
    assert_eq!(set.rewritten(&mut tree, Rc::new(1)), Err(0));
    assert_eq!(set.rewritten(&mut tree, Rc::new(0)), Ok(()));
    let nodes = [
        "default", "default", "closure", "default", "closure", "pass",
    ];
    assert_eq!(*tree.nodes.borrow(), nodes);
    assert_eq!(set.analysed(&tree, Rc::new(1)), (6 + 1) * 2 + 6 + 1);
    assert_eq!(set.counted(2, &tree), 2 * 6 + 6);
    assert_eq!(set.counted(2, &Tree::default()), 2);
    let set = set.with_analysed(Stateful::new(Seen(vec!["first"])));
    assert_eq!(set.analysed(&tree, Rc::new(1)), 7);
    assert_eq!(set.finished(tree), 60);
}
