//! The cases by name: the measured code and its baseline.

use std::hint::black_box;

use hooks_core::Entry;

use crate::contenders::{
    self, ArrangedFunction, BenchSet, BorrowingFunction, Boxed, BoxedWaiting, Changing, Draft,
    EnclosedFunction, JoinedFunction, MutableBenchSet, OptionBenchSet, OwningFunction, Plain,
    Ready, Verdict, Waiting,
};
use crate::events;
use crate::workload::{Word, block_on, words};

/// One dispatch, ready to be repeated.
pub(crate) type Run = Box<dyn FnMut()>;

/// A slot with a number of hooks.
pub(crate) struct Case {
    pub(crate) slot: &'static str,
    pub(crate) hooks: usize,
    /// The framework.
    pub(crate) ours: Run,
    /// The baseline.
    pub(crate) baseline: Run,
    pub(crate) subject: Subject,
}

/// Subject of a case, which determines its baseline and its targets.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Subject {
    /// Hooks that do not await, against hand-written static calls.
    Ready,
    /// No hooks that do not await, against the direct call of the default.
    Empty,
    /// No framework at all, against hand-written static calls.
    Floor,
    /// Hooks that await, against `async_trait` objects.
    Awaiting,
    /// Hooks by other ways than `#[impl_hooks]`, against hand-written static calls.
    Function,
    /// Functions and closures given a `String` each, against hand-written static calls.
    Owned,
    /// Slots and entries with options, against hand-written static calls.
    Options,
    /// An emission whose hooks continue, against hand-written code.
    Event,
    /// Such an emission with so many fields that an event hashes their names, as the limit does.
    EventMany,
    /// An emission whose hooks each change a field, against hand-written code.
    EventModify,
    /// An emission whose hooks receive an `Arc` of the data, against hand-written code.
    EventShared,
    /// An emission as it is commonly written, without the framework, against hand-written code.
    EventCommon,
    /// An emission without hooks, against an indexed look-up.
    EventEmpty,
}

impl Case {
    /// Returns the displayed name of the slot.
    pub(crate) fn name(&self) -> String {
        self.slot.replace('_', " ")
    }

    /// Returns the displayed slot and number of hooks.
    pub(crate) fn label(&self) -> String {
        let plural = if self.hooks == 1 { "" } else { "s" };
        format!("{}, {} hook{plural}", self.name(), self.hooks)
    }

    /// Returns the greatest ratio of times that meets the target, if there is a target.
    pub(crate) fn ratio_target(&self) -> Option<f64> {
        match (self.subject, self.hooks) {
            (Subject::Ready, _) if self.slot == OWN_CHAIN => Some(1.45),
            (Subject::Ready, 1) => Some(1.30),
            (Subject::Ready, _) => Some(1.20),
            (Subject::Awaiting, _) => Some(1.10),
            (Subject::Event, 1) => Some(2.50),
            (Subject::Event, _) => Some(1.25),
            (Subject::EventModify, 4..) => Some(1.15),
            _ => None,
        }
    }

    /// Returns the allocations that meet the target.
    pub(crate) fn allocation_target(&self) -> u64 {
        match self.subject {
            Subject::Ready | Subject::Empty => u64::from(self.slot == AGGREGATE),
            Subject::Awaiting => self.hooks as u64,
            Subject::Floor | Subject::Function => 0,
            // Each call boxes the future of a closure.
            Subject::Owned if self.slot == "owned_closure" => u64::MAX,
            // The caller's own `String`, and a clone for each hook except the last.
            Subject::Owned => 1 + self.hooks as u64,
            Subject::Event | Subject::EventMany | Subject::EventShared | Subject::EventEmpty => 0,
            // The number must not grow with the data.
            Subject::EventModify | Subject::EventCommon => u64::MAX,
            // Around hooks and hooks selected by conditions allocate.
            Subject::Options => u64::MAX,
        }
    }
}

const AGGREGATE: &str = "aggregate";
const OWN_CHAIN: &str = "own_chain";

/// Maximum number of instructions of an empty slot beyond the direct call of the default.
pub(crate) const EMPTY_TARGET: i64 = 80;

/// One dispatch of a slot, inlined into its own loop body as every contender is.
macro_rules! dispatch {
    ($future:expr) => {
        Box::new(move || {
            // Looked at as a caller would; a whole `Result` in a black box costs by itself.
            let _ = black_box(block_on($future).is_ok());
        }) as Run
    };
}

/// One call of a synchronous slot.
macro_rules! call {
    ($output:expr) => {
        Box::new(move || {
            let _ = black_box($output.is_ok());
        }) as Run
    };
}

fn ready<const N: usize>() -> BenchSet<'static> {
    words::<N>()
        .into_iter()
        .fold(BenchSet::new(), |set, word| set.with_hooks(Ready(word)))
}

fn waiting<const N: usize>() -> BenchSet<'static> {
    words::<N>()
        .into_iter()
        .fold(BenchSet::new(), |set, word| set.with_hooks(Waiting(word)))
}

fn boxed<const N: usize>() -> Vec<Box<dyn Boxed>> {
    words::<N>()
        .into_iter()
        .map(|word| Box::new(BoxedWaiting(word)) as Box<dyn Boxed>)
        .collect()
}

fn repeated<const N: usize>(
    with: impl Fn(BenchSet<'static>) -> BenchSet<'static>,
) -> BenchSet<'static> {
    (0..N).fold(BenchSet::new(), |set, _| with(set))
}

async fn closure(prompt: String, last: Option<Verdict>) -> Verdict {
    last.unwrap_or(Ok(()))?;
    Word::FIRST.check(&prompt)
}

/// Returns a case of a list of hooks without any framework.
fn plain<const N: usize>(prompt: &'static str) -> Case {
    let objects: Vec<Box<dyn Plain>> = words::<N>()
        .into_iter()
        .map(|word| Box::new(word) as Box<dyn Plain>)
        .collect();
    let hooks = words::<N>();
    Case {
        slot: "no_framework",
        hooks: N,
        ours: dispatch!(contenders::plain_always(&objects, black_box(prompt))),
        baseline: dispatch!(contenders::limit_always(&hooks, black_box(prompt))),
        subject: Subject::Floor,
    }
}

/// Returns the cases of hooks that change a value, move a value, and are functions.
fn signatures<const N: usize>(prompt: &'static str) -> [Case; 3] {
    let set = || {
        words::<N>()
            .into_iter()
            .fold(MutableBenchSet::new(), |set, word| {
                set.with_hooks(Changing(word))
            })
    };
    let hooks = words::<N>();
    let subject = if N == 0 {
        Subject::Empty
    } else {
        Subject::Ready
    };
    let draft = move || Draft { prompt, checks: 0 };
    let case = |slot, ours, baseline| Case {
        slot,
        hooks: N,
        ours,
        baseline,
        subject,
    };
    let (lends, moves, calls) = (set(), set(), set());
    let (mut ours, mut baseline) = (draft(), draft());
    [
        case(
            "mutable",
            dispatch!(lends.mutable(black_box(&mut ours))),
            dispatch!(contenders::limit_mutable(&hooks, black_box(&mut baseline))),
        ),
        case(
            "waterfall",
            dispatch!(moves.waterfall(black_box(draft()))),
            dispatch!(contenders::limit_waterfall(&hooks, black_box(draft()))),
        ),
        case(
            "synchronous",
            call!(calls.synchronous(black_box(prompt))),
            call!(contenders::limit_synchronous(&hooks, black_box(prompt))),
        ),
    ]
}

fn sized<const N: usize>(prompt: &'static str) -> Vec<Case> {
    macro_rules! case {
        ($name:expr, $subject:ident, $set:expr => $slot:ident($arg:expr), $hooks:expr => $baseline:ident) => {{
            let (set, hooks) = ($set, $hooks);
            Case {
                slot: $name,
                hooks: N,
                ours: dispatch!(set.$slot($arg)),
                baseline: dispatch!(contenders::$baseline(&hooks, $arg)),
                subject: Subject::$subject,
            }
        }};
    }
    macro_rules! ready {
        ($slot:ident, $limit:ident) => {{
            let mut case = case!(
                stringify!($slot), Ready,
                ready::<N>() => $slot(black_box(prompt)),
                words::<N>() => $limit
            );
            if N == 0 {
                case.subject = Subject::Empty;
            }
            case
        }};
    }
    macro_rules! awaiting {
        ($name:literal, $slot:ident, $objects:ident) => {
            case!(
                $name, Awaiting,
                waiting::<N>() => $slot(black_box(prompt)),
                boxed::<N>() => $objects
            )
        };
    }
    macro_rules! owned {
        ($name:literal, $hook:expr) => {
            case!(
                $name, Owned,
                repeated::<N>(|set| set.with_owned($hook)) => owned(black_box(prompt).to_owned()),
                [Word::FIRST; N] => limit_owned
            )
        };
    }
    let mut cases = vec![
        ready!(always, limit_always),
        ready!(fallback, limit_fallback),
        ready!(chain, limit_chain),
        ready!(own_chain, limit_chain),
        ready!(aggregate, limit_aggregate),
    ];
    cases.extend(signatures::<N>(prompt));
    if N <= 1 {
        cases.push(ready!(singleton, limit_singleton));
    }
    if N > 0 {
        cases.push(plain::<N>(prompt));
        cases.push(awaiting!("always_awaiting", always, boxed_always));
        cases.push(awaiting!("chain_awaiting", chain, boxed_chain));
    }
    if N == 1 || N == 4 {
        cases.push(case!(
            "function", Function,
            repeated::<N>(|set| set.with_always(BorrowingFunction)) => always(black_box(prompt)),
            [Word::FIRST; N] => limit_always
        ));
        cases.push(owned!("owned_function", OwningFunction));
        cases.push(owned!("owned_closure", closure));
        cases.extend(options::<N>(prompt));
    }
    cases
}

/// Dispatches with one more hook than the set has.
async fn for_call(set: &OptionBenchSet<'_>, prompt: &str) -> Verdict {
    let call = set.for_call(|call| _ = call.register_arranged(ArrangedFunction));
    call.arranged(prompt).await
}

/// Returns the cases of slots and entries with options.
fn options<const N: usize>(prompt: &'static str) -> [Case; 7] {
    fn set<const N: usize>(
        with: impl Fn(OptionBenchSet<'static>, usize) -> OptionBenchSet<'static>,
    ) -> OptionBenchSet<'static> {
        (0..N).fold(OptionBenchSet::new(), with)
    }
    macro_rules! case {
        ($name:literal, $set:expr => $slot:ident, $baseline:ident) => {{
            let (set, hooks) = (set::<N>($set), [Word::FIRST; N]);
            Case {
                slot: $name,
                hooks: N,
                ours: dispatch!(set.$slot(black_box(prompt))),
                baseline: dispatch!(contenders::$baseline(&hooks, black_box(prompt))),
                subject: Subject::Options,
            }
        }};
    }
    let keyed = |number: usize| Entry::new(ArrangedFunction).key(number.to_string());
    let others = (1..N).fold(OptionBenchSet::new(), |set, _| {
        set.with_arranged(ArrangedFunction)
    });
    let hooks = [Word::FIRST; N];
    [
        Case {
            slot: "for_call",
            hooks: N,
            ours: dispatch!(for_call(&others, black_box(prompt))),
            baseline: dispatch!(contenders::limit_chain(&hooks, black_box(prompt))),
            subject: Subject::Options,
        },
        case!("around", |set, _| set.with_enclosed_around(contenders::around) => enclosed, limit_always),
        case!("around_unused", |set, _| set.with_enclosed(EnclosedFunction) => enclosed, limit_always),
        case!("concurrent", |set, _| set.with_joined(JoinedFunction) => joined, limit_aggregate),
        case!("relative_order", |set, number| match number {
            0 => set.with_arranged(keyed(0)),
            _ => set.with_arranged(keyed(number).before("0")),
        } => arranged, limit_chain),
        case!("disabled", |set, number| {
            let disabled = Entry::new(ArrangedFunction).enabled(false);
            set.with_arranged(keyed(number)).with_arranged(disabled)
        } => arranged, limit_chain),
        case!("conditional", |set, number| {
            set.with_arranged(keyed(number).when(|prompt: &&str| !prompt.is_empty()))
        } => arranged, limit_chain),
    ]
}

/// Returns all cases, for this prompt.
pub(crate) fn all(prompt: &'static str) -> Vec<Case> {
    [
        sized::<0>(prompt),
        sized::<1>(prompt),
        sized::<4>(prompt),
        sized::<16>(prompt),
        events::all(prompt),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// Returns the shared values of several threads: a set, and the words of the static calls.
pub(crate) fn shared() -> (BenchSet<'static>, [Word; 4]) {
    (ready::<4>(), words::<4>())
}
