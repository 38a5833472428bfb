//! One slot for every row of the table, with a driver that plays a case on it.

use hooks_core::{Entry, Stateful, hooks, impl_hook, impl_hooks};

use super::stage::{
    Breaks, CaseRecord, Driver, Finish, FinishInto, Form, Gather, GatherInto, LabeledOutput,
    NUMBER, Number, Product, Setting, TEXT, play, play_default, play_function, play_hook,
    recorded_last, row,
};
use crate::kit::yield_once;
use crate::model::{Change, Last, Registration, Script};

/// An await that the tokens of a body do not show.
macro_rules! pause {
    () => {
        yield_once().await
    };
}

/// Declares each slot twice, in a module with a ready default and in a module
/// with a suspending default, and lists the drivers.
///
/// The options of a slot are `kind [chain] [aggregate] [aggregate into another
/// type] [finalize] [finalize into another type]`; both the `#[hook(…)]` and the
/// model's [`Row`](crate::model::Row) are made of them.
macro_rules! table {
    ($($name:ident: $last:ident $output:tt $kind:ident $([$($option:ident)?])*;)*) => {
        pub(super) const DRIVERS: &[Driver] = &[$(
            Driver {
                name: concat!(stringify!($name), ", ready default"),
                row: row(stringify!($kind), [$(stringify!($($option)?)),*], stringify!($output)),
                run: $name::ready::run,
            },
            Driver {
                name: concat!(stringify!($name), ", suspending default"),
                row: row(stringify!($kind), [$(stringify!($($option)?)),*], stringify!($output)),
                run: $name::suspending::run,
            },
        )*];

        $(mod $name {
            slot! { $last ready $output $kind ($([$($option)?])*) {} }
            slot! { $last suspending $output $kind ($([$($option)?])*) { yield_once().await; } }
        })*
    };
}

/// Defines how a slot's hooks take `last`, and what they record of it.
macro_rules! slot {
    (last $($rest:tt)*) => {
        slot! { @ [, last: Option<LabeledOutput>] [recorded_last(last)] $($rest)* }
    };
    (none $($rest:tt)*) => {
        slot! { @ [] [Last::Absent] $($rest)* }
    };
    (@
        [$($last:tt)*] [$($given:tt)*]
        $form:ident $output:tt $kind:ident (
            [$($chain:ident)?]
            [$($aggregate:ident)?] [$($aggregate_into:ident)?]
            [$($finalize:ident)?] [$($finalize_into:ident)?]
        )
        { $($pause:tt)* }
    ) => {
        pub(super) mod $form {
            use super::super::*;

            #[hooks]
            pub(crate) trait Table {
                #[hook(
                    $kind
                    $(, $chain = Breaks)?
                    $(, $aggregate = Gather)?
                    $(, $aggregate_into = GatherInto, output = Product)?
                    $(, $finalize = Finish)?
                    $(, $finalize_into = FinishInto, output = Product)?
                )]
                async fn slot(number: Number, text: &str) -> $output {
                    $($pause)*
                    play_default(&number, text)
                }
            }

            struct Hand {
                script: Script,
                suspends: bool,
            }

            impl Slot for Hand {
                async fn call(&self, number: Number, text: String $($last)*) -> $output {
                    if self.suspends {
                        yield_once().await;
                    }
                    play_hook(self.script, &number, &text, $($given)*)
                }
            }

            impl StatefulSlot for Hand {
                async fn call_mut(&mut self, number: Number, text: String $($last)*) -> $output {
                    if self.suspends {
                        yield_once().await;
                    }
                    play_hook(self.script, &number, &text, $($given)*)
                }
            }

            struct Impl(Script);

            #[impl_hooks(TableSet)]
            impl Table for Impl {
                async fn slot(&self, number: Number, text: &str $($last)*) -> $output {
                    play_hook(self.0, &number, text, $($given)*)
                }
            }

            struct ImplSuspending(Script);

            #[impl_hooks(TableSet)]
            impl Table for ImplSuspending {
                async fn slot(&self, number: Number, text: &str $($last)*) -> $output {
                    yield_once().await;
                    play_hook(self.0, &number, text, $($given)*)
                }
            }

            struct ImplHidden(Script);

            #[impl_hooks(TableSet)]
            impl Table for ImplHidden {
                async fn slot(&self, number: Number, text: &str $($last)*) -> $output {
                    pause!();
                    play_hook(self.0, &number, text, $($given)*)
                }
            }

            #[impl_hook(Slot)]
            async fn function(number: Number, text: &str $($last)*) -> $output {
                play_function(&number, text, $($given)*)
            }

            #[impl_hook(Slot)]
            async fn function_suspending(number: Number, text: &str $($last)*) -> $output {
                yield_once().await;
                play_function(&number, text, $($given)*)
            }

            fn register<'h>(
                set: &mut TableSet<'h>,
                registration: &Registration<Form>,
                borrowed: &'h [Impl],
            ) {
                let script = registration.script;
                match registration.form {
                    Form::Hand { suspends } => {
                        entry(set, registration, Hand { script, suspends });
                    }
                    Form::Closure { suspends } => {
                        let closure = move |number: Number, text: String $($last)*| async move {
                            if suspends {
                                yield_once().await;
                            }
                            play_hook::<$output>(script, &number, &text, $($given)*)
                        };
                        entry(set, registration, closure);
                    }
                    Form::Stateful { suspends } => {
                        entry(set, registration, Stateful::new(Hand { script, suspends }));
                    }
                    Form::Function { suspends: false } => entry(set, registration, Function),
                    Form::Function { suspends: true } => {
                        entry(set, registration, FunctionSuspending);
                    }
                    Form::Impl => {
                        set.register_hooks(Impl(script));
                    }
                    Form::Borrowed => {
                        let value = borrowed.iter().find(|value| value.0.id == script.id);
                        set.register_hooks(value.unwrap());
                    }
                    Form::ImplSuspending => {
                        set.register_hooks(ImplSuspending(script));
                    }
                    Form::ImplHidden => {
                        set.register_hooks(ImplHidden(script));
                    }
                }
            }

            /// Registers without an entry if it would have no options.
            fn entry<'h, M: 'static>(
                set: &mut TableSet<'h>,
                registration: &Registration<Form>,
                hook: impl hooks_core::Hook<dyn Slot, M> + 'h,
            ) {
                match (registration.key, registration.priority) {
                    (None, 0) => set.register_slot(hook),
                    (None, priority) => {
                        set.register_slot(Entry::new(hook).priority(priority))
                    }
                    (Some(key), priority) => {
                        set.register_slot(Entry::new(hook).key(key).priority(priority))
                    }
                };
            }

            pub(in super::super) fn run(setting: &Setting) -> CaseRecord {
                let borrowed: Vec<Impl> = setting.scripts().map(Impl).collect();
                let mut set = TableSet::new();
                for change in &setting.changes {
                    match change {
                        Change::Register(registration) => {
                            register(&mut set, registration, &borrowed);
                        }
                        Change::Remove { key } => {
                            let _ = set.slot_mut().remove(key);
                        }
                        Change::Extend(registrations) => {
                            let mut other = TableSet::new();
                            for registration in registrations {
                                register(&mut other, registration, &borrowed);
                            }
                            set.extend(other);
                        }
                    }
                }
                play(setting, || set.slot(NUMBER, TEXT))
            }
        }
    };
}
table! {
    always: last LabeledOutput always [] [] [] [] [];
    always_aggregate: none LabeledOutput always [] [aggregate] [] [] [];
    always_aggregate_into: none LabeledOutput always [] [] [aggregate] [] [];
    always_finalize: last LabeledOutput always [] [] [] [finalize] [];
    always_finalize_into: last LabeledOutput always [] [] [] [] [finalize];
    always_chain: none LabeledOutput always [chain] [] [] [] [];
    always_chain_aggregate: none LabeledOutput always [chain] [aggregate] [] [] [];
    always_chain_aggregate_into: none LabeledOutput always [chain] [] [aggregate] [] [];
    always_chain_finalize: none LabeledOutput always [chain] [] [] [finalize] [];
    always_chain_finalize_into: none LabeledOutput always [chain] [] [] [] [finalize];

    fallback: last LabeledOutput fallback [] [] [] [] [];
    fallback_aggregate: none LabeledOutput fallback [] [aggregate] [] [] [];
    fallback_aggregate_into: none LabeledOutput fallback [] [] [aggregate] [] [];
    fallback_finalize: last LabeledOutput fallback [] [] [] [finalize] [];
    fallback_finalize_into: last LabeledOutput fallback [] [] [] [] [finalize];
    fallback_chain: none LabeledOutput fallback [chain] [] [] [] [];
    fallback_chain_aggregate: none LabeledOutput fallback [chain] [aggregate] [] [] [];
    fallback_chain_aggregate_into: none LabeledOutput fallback [chain] [] [aggregate] [] [];
    fallback_chain_finalize: none LabeledOutput fallback [chain] [] [] [finalize] [];
    fallback_chain_finalize_into: none LabeledOutput fallback [chain] [] [] [] [finalize];

    singleton: none LabeledOutput singleton [] [] [] [] [];

    unit_always: none () always [] [] [] [] [];
    unit_always_aggregate: none () always [] [aggregate] [] [] [];
    unit_always_aggregate_into: none () always [] [] [aggregate] [] [];
    unit_always_finalize: none () always [] [] [] [finalize] [];
    unit_always_finalize_into: none () always [] [] [] [] [finalize];
    unit_always_chain: none () always [chain] [] [] [] [];
    unit_always_chain_aggregate: none () always [chain] [aggregate] [] [] [];
    unit_always_chain_aggregate_into: none () always [chain] [] [aggregate] [] [];
    unit_always_chain_finalize: none () always [chain] [] [] [finalize] [];
    unit_always_chain_finalize_into: none () always [chain] [] [] [] [finalize];

    unit_fallback: none () fallback [] [] [] [] [];
    unit_fallback_aggregate: none () fallback [] [aggregate] [] [] [];
    unit_fallback_aggregate_into: none () fallback [] [] [aggregate] [] [];
    unit_fallback_finalize: none () fallback [] [] [] [finalize] [];
    unit_fallback_finalize_into: none () fallback [] [] [] [] [finalize];
    unit_fallback_chain: none () fallback [chain] [] [] [] [];
    unit_fallback_chain_aggregate: none () fallback [chain] [aggregate] [] [] [];
    unit_fallback_chain_aggregate_into: none () fallback [chain] [] [aggregate] [] [];
    unit_fallback_chain_finalize: none () fallback [chain] [] [] [finalize] [];
    unit_fallback_chain_finalize_into: none () fallback [chain] [] [] [] [finalize];

    unit_singleton: none () singleton [] [] [] [] [];
}
