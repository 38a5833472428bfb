//! Scripted hooks of the table: outputs, companions and the list of calls, stored per thread so
//! that no slot needs an argument for it.

use std::cell::RefCell;
use std::ops::ControlFlow;
use std::pin::pin;

use hooks_core::{Aggregate, AggregateInto, Chain, Finalize, FinalizeInto};

use crate::kit::{poll_once, yield_once};
use crate::model::{Change, End, Event, Kind, Last, Row, Run, Script};

/// Form of a hook. The form must not affect a dispatch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// The slot trait, implemented by hand.
    Hand {
        suspends: bool,
    },
    Closure {
        suspends: bool,
    },
    Stateful {
        suspends: bool,
    },
    /// `#[impl_hook]` on a function.
    Function {
        suspends: bool,
    },
    /// `#[impl_hooks]`, a body without `.await`.
    Impl,
    /// `#[impl_hooks]`, a value that the set only borrows.
    Borrowed,
    /// `#[impl_hooks]`, a body with `.await`.
    ImplSuspending,
    /// `#[impl_hooks]`, a body in which a macro hides the `.await`.
    ImplHidden,
}

pub(crate) const FORMS: &[Form] = &[
    Form::Hand { suspends: false },
    Form::Hand { suspends: true },
    Form::Closure { suspends: false },
    Form::Closure { suspends: true },
    Form::Stateful { suspends: false },
    Form::Stateful { suspends: true },
    Form::Function { suspends: false },
    Form::Function { suspends: true },
    Form::Impl,
    Form::Borrowed,
    Form::ImplSuspending,
    Form::ImplHidden,
];

impl Form {
    /// Returns `true` if such a hook can be registered as an entry.
    pub(crate) fn takes_entry(self) -> bool {
        !matches!(
            self,
            Form::Impl | Form::Borrowed | Form::ImplSuspending | Form::ImplHidden
        )
    }

    pub(crate) fn is_function(self) -> bool {
        matches!(self, Form::Function { .. })
    }
}

/// One case: the construction of the set, and the scripts of its hooks.
#[derive(Clone, Debug)]
pub(crate) struct Setting {
    pub(crate) default: Script,
    pub(crate) changes: Vec<Change<Form>>,
    pub(crate) companions_suspend: bool,
    /// Number of polls after which a first dispatch is dropped, before the compared one.
    pub(crate) dropped_after: Option<usize>,
}

/// Record of one case.
#[derive(Debug)]
pub(crate) struct CaseRecord {
    pub(crate) run: Run,
    /// Calls of an earlier, dropped dispatch.
    pub(crate) dropped: Vec<Event>,
}

impl Setting {
    pub(crate) fn scripts(&self) -> impl Iterator<Item = Script> {
        self.changes.iter().flat_map(|change| {
            let registrations = match change {
                Change::Register(registration) => std::slice::from_ref(registration),
                Change::Extend(registrations) => registrations.as_slice(),
                Change::Remove { .. } => &[],
            };
            registrations.iter().map(|registration| registration.script)
        })
    }
}

/// One slot of the table, and the function that plays a case on it.
#[derive(Clone, Debug)]
pub(crate) struct Driver {
    pub(crate) name: &'static str,
    pub(crate) row: Row,
    pub(crate) run: fn(&Setting) -> CaseRecord,
}

/// The row of a slot, from the words of its declaration.
pub(crate) const fn row(kind: &str, options: [&str; 5], output: &str) -> Row {
    const fn is_set(option: &str) -> bool {
        !option.is_empty()
    }
    let kind = match kind.as_bytes() {
        b"always" => Kind::Always,
        b"fallback" => Kind::Fallback,
        b"singleton" => Kind::Singleton,
        _ => panic!("unknown kind"),
    };
    let [chain, aggregate, aggregate_into, finalize, finalize_into] = options;
    let end = if is_set(aggregate) {
        End::Aggregate
    } else if is_set(aggregate_into) {
        End::AggregateInto
    } else if is_set(finalize) {
        End::Finalize
    } else if is_set(finalize_into) {
        End::FinalizeInto
    } else {
        End::Plain
    };
    let unit = matches!(output.as_bytes(), b"()");
    Row {
        kind,
        chain: is_set(chain),
        end,
        unit,
    }
}

/// The id of the hooks written with `#[impl_hook]`, which are one value.
pub(crate) const FUNCTION: usize = 1_000;

#[derive(Default)]
struct Stage {
    events: Vec<Event>,
    default: Option<Script>,
    function: Option<Script>,
    /// `true` if the last output breaks the chain; units carry no script.
    breaking: bool,
    companions_suspend: bool,
}

thread_local! {
    static STAGE: RefCell<Stage> = RefCell::default();
}

fn with_stage<R>(act: impl FnOnce(&mut Stage) -> R) -> R {
    STAGE.with_borrow_mut(act)
}

/// Plays the dispatch that `dispatch` starts with `setting`, and returns its calls and its result.
pub(crate) fn play<R: Output, F: Future<Output = R>>(
    setting: &Setting,
    dispatch: impl Fn() -> F,
) -> CaseRecord {
    with_stage(|stage| {
        *stage = Stage {
            default: Some(setting.default),
            function: setting.scripts().find(|script| script.id == FUNCTION),
            companions_suspend: setting.companions_suspend,
            ..Stage::default()
        };
    });
    let events = || with_stage(|stage| std::mem::take(&mut stage.events));
    if let Some(polls) = setting.dropped_after {
        let mut dropped = pin!(dispatch());
        let _ = (0..polls).find(|_| poll_once(dropped.as_mut()).is_ready());
    }
    let dropped = events();
    let result = futures::executor::block_on(dispatch()).show();
    let run = Run {
        result,
        events: events(),
    };
    CaseRecord { run, dropped }
}

/// Output of a hook of the table, and of a dispatch.
pub(crate) trait Output {
    fn show(&self) -> String;
}

/// A value that is neither `Copy` nor `Clone` (T-34).
#[derive(Debug)]
pub(crate) struct LabeledOutput {
    label: String,
    breaks: bool,
}

/// Output of `AggregateInto` and `FinalizeInto`.
#[derive(Debug)]
pub(crate) struct Product(String);

impl Output for LabeledOutput {
    fn show(&self) -> String {
        self.label.clone()
    }
}

impl Output for () {
    fn show(&self) -> String {
        "()".into()
    }
}

impl Output for Product {
    fn show(&self) -> String {
        self.0.clone()
    }
}

/// Output of a hook, created from its script.
pub(crate) trait Scripted: Output {
    fn from_script(script: Script) -> Self;
}

impl Scripted for LabeledOutput {
    fn from_script(script: Script) -> Self {
        LabeledOutput {
            label: format!("#{}", script.id),
            breaks: script.breaks,
        }
    }
}

impl Scripted for () {
    fn from_script(_: Script) -> Self {}
}

/// An owned argument; every call must receive an equal one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Number(pub(crate) u64);

pub(crate) const NUMBER: Number = Number(4711);
pub(crate) const TEXT: &str = "grüße";

fn check_arguments(number: &Number, text: &str) {
    assert_eq!(*number, NUMBER);
    assert_eq!(text, TEXT);
}

/// Behaviour of every default.
pub(crate) fn play_default<R: Scripted>(number: &Number, text: &str) -> R {
    check_arguments(number, text);
    let script = with_stage(|stage| {
        stage.events.push(Event::Default);
        let script = stage.default.unwrap();
        stage.breaking = script.breaks;
        script
    });
    R::from_script(script)
}

/// Behaviour of every hook.
pub(crate) fn play_hook<R: Scripted>(script: Script, number: &Number, text: &str, last: Last) -> R {
    check_arguments(number, text);
    with_stage(|stage| {
        stage.events.push(Event::Hook {
            id: script.id,
            last,
        });
        stage.breaking = script.breaks;
    });
    R::from_script(script)
}

/// Behaviour of every hook written with `#[impl_hook]`.
pub(crate) fn play_function<R: Scripted>(number: &Number, text: &str, last: Last) -> R {
    let script = with_stage(|stage| stage.function.unwrap());
    play_hook(script, number, text, last)
}

pub(crate) fn recorded_last(last: Option<LabeledOutput>) -> Last {
    last.map_or(Last::Nothing, |output| Last::Output(output.label))
}

async fn companion_called(event: Event) {
    let suspends = with_stage(|stage| {
        stage.events.push(event);
        stage.companions_suspend
    });
    if suspends {
        yield_once().await;
    }
}

/// Breaks if the script requires it.
#[derive(Default)]
pub(crate) struct Breaks;

fn flow(breaks: bool) -> ControlFlow<()> {
    if breaks {
        ControlFlow::Break(())
    } else {
        ControlFlow::Continue(())
    }
}

impl Chain<LabeledOutput> for Breaks {
    async fn call(&self, output: &LabeledOutput) -> ControlFlow<()> {
        companion_called(Event::Chain {
            output: output.show(),
        })
        .await;
        flow(output.breaks)
    }
}

impl Chain<()> for Breaks {
    async fn call(&self, output: &()) -> ControlFlow<()> {
        companion_called(Event::Chain {
            output: output.show(),
        })
        .await;
        flow(with_stage(|stage| stage.breaking))
    }
}

/// Collects every output.
#[derive(Default)]
pub(crate) struct Gather;

async fn gather<T: Output>(outputs: Vec<T>) -> String {
    let outputs: Vec<String> = outputs.iter().map(Output::show).collect();
    let joined = outputs.join(",");
    companion_called(Event::Aggregate { outputs }).await;
    joined
}

impl Aggregate<LabeledOutput> for Gather {
    async fn call(&self, outputs: Vec<LabeledOutput>) -> LabeledOutput {
        let label = format!("aggregate[{}]", gather(outputs).await);
        LabeledOutput {
            label,
            breaks: false,
        }
    }
}

impl Aggregate<()> for Gather {
    async fn call(&self, outputs: Vec<()>) {
        gather(outputs).await;
    }
}

/// Collects every output into something else.
#[derive(Default)]
pub(crate) struct GatherInto;

impl<T: Output + Send> AggregateInto<T, Product> for GatherInto {
    async fn call(&self, outputs: Vec<T>) -> Product {
        Product(format!("gathered[{}]", gather(outputs).await))
    }
}

/// Changes the result.
#[derive(Default)]
pub(crate) struct Finish;

async fn finish<T: Output>(value: T) -> String {
    let value = value.show();
    companion_called(Event::Finalize {
        value: value.clone(),
    })
    .await;
    value
}

impl Finalize<LabeledOutput> for Finish {
    async fn call(&self, value: LabeledOutput) -> LabeledOutput {
        let label = format!("finalize[{}]", finish(value).await);
        LabeledOutput {
            label,
            breaks: false,
        }
    }
}

impl Finalize<()> for Finish {
    async fn call(&self, value: ()) {
        finish(value).await;
    }
}

/// Turns the result into something else.
#[derive(Default)]
pub(crate) struct FinishInto;

impl<T: Output + Send> FinalizeInto<T, Product> for FinishInto {
    async fn call(&self, value: T) -> Product {
        Product(format!("finished[{}]", finish(value).await))
    }
}
