//! Warnings, and a span for each dispatch and each hook if a subscriber is set.

use std::any::Any;
use std::fmt::Debug;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex};

use futures::executor::block_on;
use hooks_core::{Entry, FirstSuccess, Next, hooks, impl_hook, impl_hooks};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};

use crate::kit::{Log, in_every_form, listen, poll_once, yield_once};

/// One span or event that was seen.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    span: bool,
    name: &'static str,
    level: Level,
    /// All fields as `name=value`, the message under its own name.
    fields: Vec<(String, String)>,
    /// The position of the surrounding span in the list.
    parent: Option<usize>,
}

impl Seen {
    /// Returns `true` if a field, or the name, contains `text`.
    fn says(&self, text: &str) -> bool {
        self.name.contains(text) || self.fields.iter().any(|(_, value)| value.contains(text))
    }

    pub(crate) fn field(&self, name: &str) -> Option<&str> {
        let field = self.fields.iter().find(|(field, _)| field == name);
        field.map(|(_, value)| value.as_str())
    }
}

#[derive(Debug, Default)]
struct State {
    seen: Vec<Seen>,
    entered: Vec<usize>,
}

/// Keeps everything, in order; a span's id is its position plus one.
#[derive(Clone, Debug, Default)]
struct Collector(Arc<Mutex<State>>);

#[derive(Default)]
struct Fields(Vec<(String, String)>);

impl Visit for Fields {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.0.push((field.name().to_owned(), value.to_owned()));
    }

    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.0.push((field.name().to_owned(), format!("{value:?}")));
    }
}

fn position(id: &Id) -> usize {
    usize::try_from(id.into_u64()).unwrap() - 1
}

impl Subscriber for Collector {
    fn enabled(&self, _metadata: &Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        let mut fields = Fields::default();
        span.record(&mut fields);
        let mut state = self.0.lock().unwrap();
        let parent = match span.parent() {
            Some(parent) => Some(position(parent)),
            None if span.is_contextual() => state.entered.last().copied(),
            None => None,
        };
        state.seen.push(Seen {
            span: true,
            name: span.metadata().name(),
            level: *span.metadata().level(),
            fields: fields.0,
            parent,
        });
        Id::from_u64(u64::try_from(state.seen.len()).unwrap())
    }

    fn record(&self, span: &Id, values: &Record<'_>) {
        let mut fields = Fields::default();
        values.record(&mut fields);
        self.0.lock().unwrap().seen[position(span)]
            .fields
            .extend(fields.0);
    }

    fn record_follows_from(&self, _span: &Id, _follows: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut fields = Fields::default();
        event.record(&mut fields);
        let mut state = self.0.lock().unwrap();
        let parent = state.entered.last().copied();
        state.seen.push(Seen {
            span: false,
            name: event.metadata().name(),
            level: *event.metadata().level(),
            fields: fields.0,
            parent,
        });
    }

    fn enter(&self, span: &Id) {
        self.0.lock().unwrap().entered.push(position(span));
    }

    fn exit(&self, span: &Id) {
        let mut state = self.0.lock().unwrap();
        let left = state.entered.pop();
        assert_eq!(
            left,
            Some(position(span)),
            "spans are left in the order they were entered"
        );
    }
}

impl Collector {
    fn seen(&self) -> Vec<Seen> {
        self.0.lock().unwrap().seen.clone()
    }

    fn entered(&self) -> usize {
        self.0.lock().unwrap().entered.len()
    }
}

/// Runs `act` with a collector, and returns the recorded items.
pub(crate) fn collect<R>(act: impl FnOnce() -> R) -> (R, Vec<Seen>) {
    let collector = Collector::default();
    let result = listen(collector.clone(), act);
    assert_eq!(collector.entered(), 0, "a span is still entered");
    (result, collector.seen())
}

fn warnings(seen: &[Seen]) -> Vec<Seen> {
    seen.iter()
        .filter(|seen| seen.level == Level::WARN)
        .cloned()
        .collect()
}

const OVERWRITTEN: &str = "singleton hook registration overwritten; last registered hook wins";

macro_rules! rules {
    ($form:ident, $($pause:tt)*) => {
        mod $form {
            use super::*;

            #[hooks]
            trait AppHooks {
                #[hook(singleton)]
                async fn cost_center() -> &'static str {
                    $($pause)*
                    "default"
                }

                #[hook(always)]
                async fn observe(log: &Log) {
                    $($pause)*
                    log.add("default");
                }

                #[hook(fallback)]
                async fn choose(log: &Log) -> u32 {
                    $($pause)*
                    log.add("default");
                    0
                }
            }

            #[hooks]
            trait Answers {
                #[hook(fallback, chain = FirstSuccess<u32>)]
                async fn answer() -> Option<u32> {
                    $($pause)*
                    tracing::info!("by default");
                    None
                }
            }

            #[impl_hook(Answer)]
            async fn abstains() -> Option<u32> {
                $($pause)*
                None
            }

            #[hooks]
            #[nested_hooks(app = AppHooksSet)]
            trait OuterHooks {
                #[hook(always)]
                async fn outer_step() {
                    $($pause)*
                }
            }

            struct Named(&'static str);

            #[impl_hooks(AppHooksSet)]
            impl AppHooks for Named {
                async fn cost_center(&self) -> &'static str {
                    $($pause)*
                    self.0
                }

                async fn observe(&self, log: &Log) {
                    $($pause)*
                    log.add(self.0);
                    tracing::info!(hook = self.0, "inside");
                }

                async fn choose(&self, log: &Log, last: Option<u32>) -> u32 {
                    $($pause)*
                    log.add(self.0);
                    last.unwrap_or(0) + 1
                }
            }

            struct Center;

            impl CostCenter for Center {
                async fn call(&self) -> &'static str {
                    $($pause)*
                    "center"
                }
            }

            #[track_caller]
            fn assert_one_overwrite_warning(seen: &[Seen], slot: &str) {
                let warnings = warnings(seen);
                assert_eq!(warnings.len(), 1, "{warnings:?}");
                assert!(!warnings[0].span);
                assert_eq!(warnings[0].field("message"), Some(OVERWRITTEN));
                assert_eq!(warnings[0].field("slot"), Some(slot));
            }

            /// T-30
            #[test]
            fn overwriting_a_singleton_warns_and_names_the_slot() {
                let (mut set, seen) = collect(|| AppHooksSet::new().with_cost_center(Center));
                assert_eq!(warnings(&seen).len(), 0, "the first registration overwrites nothing");

                let (_, seen) = collect(|| {
                    set.register_cost_center(Center);
                });
                assert_one_overwrite_warning(&seen, "cost_center");
                let (_, seen) = collect(|| {
                    set.register_cost_center(Entry::new(Center).priority(-1));
                });
                assert_one_overwrite_warning(&seen, "cost_center");
            }

            /// T-30, T-20: also when it comes with a whole value, once for its one singleton
            #[test]
            fn registering_a_value_warns_about_an_overwritten_singleton() {
                let set = AppHooksSet::new().with_cost_center(Center);
                let (set, seen) = collect(|| set.with_hooks(Named("a")));
                assert_one_overwrite_warning(&seen, "cost_center");
                assert_eq!(block_on(set.cost_center()), "a");
            }

            /// T-30: slots that take many hooks never warn
            #[test]
            fn registering_many_hooks_on_other_slots_does_not_warn() {
                let (_, seen) = collect(|| {
                    AppHooksSet::new()
                        .with_choose(Entry::new(Two).key("k"))
                        .with_choose(Entry::new(Two).key("k"))
                        .with_choose(Two)
                });
                assert_eq!(warnings(&seen).len(), 0, "{seen:?}");
            }

            struct Two;

            impl Choose for Two {
                async fn call(&self, _log: &Log, _last: Option<u32>) -> u32 {
                    $($pause)*
                    2
                }
            }

            /// T-40: also if `extend` replaced one
            #[test]
            fn extend_warns_only_if_a_singleton_is_replaced() {
                let with_center = || AppHooksSet::new().with_cost_center(Center);
                let (_, seen) = collect(|| {
                    with_center().extend(with_center());
                });
                assert_one_overwrite_warning(&seen, "cost_center");
                let (_, seen) = collect(|| AppHooksSet::new().with_extended(with_center()));
                assert_eq!(warnings(&seen).len(), 0, "there was none");
                let (_, seen) = collect(|| with_center().with_extended(AppHooksSet::new()));
                assert_eq!(warnings(&seen).len(), 0, "there was no other");
            }

            /// T-40, T-41: also in nested sets
            #[test]
            fn extend_warns_about_a_replaced_singleton_of_a_nested_set() {
                let make = || {
                    let app = AppHooksSet::new().with_cost_center(Center);
                    OuterHooksSet::new().with_app(app)
                };
                let (_, seen) = collect(|| make().with_extended(make()));
                assert_one_overwrite_warning(&seen, "cost_center");
            }

            /// T-30: a removed hook is not overwritten
            #[test]
            fn registering_after_a_removal_does_not_warn() {
                let entry = Entry::new(Center).key("k");
                let mut set = AppHooksSet::new().with_cost_center(entry);
                assert!(set.cost_center_mut().remove("k"));
                let (_, seen) = collect(|| {
                    set.register_cost_center(Center);
                });
                assert_eq!(warnings(&seen).len(), 0);
            }

            /// Spans: one for the dispatch, one in it for each hook
            #[test]
            fn a_dispatch_has_a_span_with_one_child_span_per_hook() {
                let set = AppHooksSet::new().with_hooks(Named("a")).with_hooks(Named("b"));
                let (count, seen) = collect(|| block_on(set.choose(&Log::new())));
                assert_eq!(count, 2);
                let spans: Vec<&Seen> = seen.iter().filter(|seen| seen.span).collect();
                assert_eq!(spans.len(), 3, "{spans:?}");
                assert!(spans[0].says("choose"), "it must name the slot: {spans:?}");
                assert_eq!(spans[0].parent, None);
                let dispatch = seen.iter().position(|seen| seen.span);
                assert_eq!(spans[1].parent, dispatch, "{spans:?}");
                assert_eq!(spans[2].parent, dispatch, "{spans:?}");
            }

            /// Spans: a hook's span covers its body, to the end, however often it suspends
            #[test]
            fn events_of_a_hook_are_inside_its_span() {
                let set = AppHooksSet::new().with_hooks(Named("a")).with_hooks(Named("b"));
                let (_, seen) = collect(|| block_on(set.observe(&Log::new())));
                let inside: Vec<&Seen> = seen.iter().filter(|seen| !seen.span).collect();
                assert_eq!(inside.len(), 2, "{seen:?}");
                let parents = inside.iter().map(|event| event.parent.unwrap());
                let parents: Vec<usize> = parents.collect();
                assert_ne!(parents[0], parents[1], "each hook has a span of its own");
                for parent in parents {
                    let dispatch = seen[parent].parent.expect("a hook's span is in the dispatch's");
                    assert!(seen[dispatch].says("observe"), "{seen:?}");
                }
            }

            /// Spans: a default is part of the dispatch, also if it runs after the hooks
            #[test]
            fn events_of_a_default_are_inside_the_span_of_the_dispatch() {
                let set = AnswersSet::new().with_answer(Abstains);
                let (_, seen) = collect(|| block_on(set.answer()));
                let event = seen.iter().find(|seen| !seen.span).expect("the default logs");
                let dispatch = event.parent.expect("the event is inside a span");
                assert_eq!(seen[dispatch].name, "dispatch", "{seen:?}");
            }

            /// Spans: the caller's span is the parent
            #[test]
            fn the_span_of_a_dispatch_is_inside_the_span_of_the_caller() {
                let set = AppHooksSet::new().with_hooks(Named("a"));
                let (_, seen) = collect(|| {
                    let outer = tracing::info_span!("outer");
                    let _entered = outer.enter();
                    block_on(set.choose(&Log::new()))
                });
                assert_eq!(seen[0].name, "outer");
                assert!(seen[1].says("choose"), "{seen:?}");
                assert_eq!(seen[1].parent, Some(0));
            }

            /// DESIGN: an empty slot returns before any span
            #[test]
            fn a_dispatch_without_hooks_creates_no_span() {
                let set = AppHooksSet::new();
                let (_, seen) = collect(|| block_on(set.choose(&Log::new())));
                assert!(seen.is_empty(), "{seen:?}");
                let (_, seen) = collect(|| block_on(set.cost_center()));
                assert!(seen.is_empty(), "{seen:?}");
            }

            /// Spans: a subscriber does not change the result
            #[test]
            fn a_subscriber_does_not_change_the_result_of_a_dispatch() {
                let set = AppHooksSet::new().with_hooks(Named("a")).with_hooks(Named("b"));
                let (quiet, heard) = (Log::new(), Log::new());
                let result = block_on(set.choose(&quiet));
                let (same, _) = collect(|| block_on(set.choose(&heard)));
                assert_eq!(result, same);
                assert_eq!(quiet.lines(), heard.lines());
            }
        }
    };
}

in_every_form!(rules);

#[hooks]
trait SlowHooks {
    #[hook(fallback)]
    async fn slow(log: &Log) {
        log.add("default");
    }
}

struct Pauses;

#[impl_hooks(SlowHooksSet)]
impl SlowHooks for Pauses {
    async fn slow(&self, log: &Log) {
        log.add("before");
        yield_once().await;
        log.add("after");
    }
}

/// Spans: between polls no span of a suspended dispatch is entered
#[test]
fn a_suspended_dispatch_leaves_no_span_entered() {
    let set = SlowHooksSet::new().with_hooks(Pauses);
    let collector = Collector::default();
    listen(collector.clone(), || {
        let log = Log::new();
        let mut first = Box::pin(set.slow(&log));
        let mut second = Box::pin(set.slow(&log));
        assert!(poll_once(first.as_mut()).is_pending());
        assert_eq!(collector.entered(), 0);
        assert!(poll_once(second.as_mut()).is_pending());
        assert_eq!(collector.entered(), 0);
        drop(second);
        assert_eq!(collector.entered(), 0);
        assert!(poll_once(first.as_mut()).is_ready());
        assert_eq!(collector.entered(), 0);
        assert_eq!(log.lines(), ["before", "before", "after"]);
    });
    let spans: Vec<Seen> = collector
        .seen()
        .into_iter()
        .filter(|seen| seen.span)
        .collect();
    assert_eq!(spans.len(), 4, "a dispatch and a hook, twice: {spans:?}");
}

#[hooks]
trait BrokenHooks {
    #[hook(always)]
    async fn outer(_pending: bool) -> u8 {
        0
    }

    #[hook(fallback, around)]
    async fn enclosed(_pending: bool) -> u8 {
        0
    }
}

/// The payload is the hook's own.
#[derive(Debug, PartialEq)]
struct Payload(u8);

/// Panics in the first or in the second poll.
struct Broken;

impl Outer for Broken {
    async fn call(&self, pending: bool, _last: Option<u8>) -> u8 {
        if pending {
            yield_once().await;
        }
        std::panic::panic_any(Payload(1))
    }
}

/// As `Broken`, without a future.
#[impl_hook(Outer)]
async fn broken_at_once(_pending: bool, _last: Option<u8>) -> u8 {
    panic!("at once")
}

async fn breaks(pending: bool, next: Next<'_, dyn Enclosed>) -> u8 {
    next.call((pending,)).await;
    std::panic::panic_any(Payload(2))
}

/// Returns the payload of the panic, and the errors in the log.
fn broken<R>(run: impl Future<Output = R>) -> (Box<dyn Any + Send>, Vec<Seen>) {
    let (result, seen) = collect(|| catch_unwind(AssertUnwindSafe(|| block_on(run))));
    let is_error = |seen: &Seen| !seen.span && seen.level == Level::ERROR;
    let errors = seen.into_iter().filter(is_error).collect();
    (result.err().expect("the run panics"), errors)
}

#[test]
fn a_panic_in_a_span_is_logged_with_its_slot_and_hook_and_keeps_its_payload() {
    for pending in [false, true] {
        let set = BrokenHooksSet::new()
            .with_outer(|_: bool, _: Option<u8>| std::future::ready(1))
            .with_outer(Entry::new(Broken).name("broken"));
        let (payload, errors) = broken(set.outer(pending));
        assert_eq!(payload.downcast_ref(), Some(&Payload(1)));
        assert_eq!(errors.len(), 1, "{errors:?}");
        assert_eq!(errors[0].field("slot"), Some("outer"));
        assert_eq!(errors[0].field("hook"), Some("broken"));
        let message = "hook `broken` of slot `outer` panicked: not a text";
        assert_eq!(errors[0].field("message"), Some(message));
        // The event is within the span of the hook.
        assert!(errors[0].parent.is_some());

        let set = BrokenHooksSet::new().with_enclosed_around(Entry::new(breaks).name("around"));
        let (payload, errors) = broken(set.enclosed(pending));
        assert_eq!(payload.downcast_ref(), Some(&Payload(2)));
        assert_eq!(errors.len(), 1, "{errors:?}");
        let message = "around hook `around` panicked: not a text";
        assert_eq!(errors[0].field("message"), Some(message));
    }
    let set = BrokenHooksSet::new().with_outer(BrokenAtOnce);
    let (payload, errors) = broken(set.outer(false));
    assert_eq!(payload.downcast_ref(), Some(&"at once"));
    let message = "hook `BrokenAtOnce` of slot `outer` panicked: at once";
    assert_eq!(errors[0].field("message"), Some(message));
}
