//! Slots whose hooks move a value from one to the next (`#[hook(waterfall)]`).

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use futures::executor::block_on;
use hooks_core::{Entry, Forward, Next, Stateful, hooks, impl_hook, impl_hooks};

use crate::kit::{in_every_form, panics, poll_once, run_counting};

/// Neither `Clone` nor `Sync`, as a request with a body is.
#[derive(Debug, Default)]
pub(crate) struct Request {
    path: String,
    body: std::cell::RefCell<Vec<u8>>,
}

impl Request {
    fn new(path: &str) -> Self {
        Request {
            path: path.to_owned(),
            ..Request::default()
        }
    }

    fn and(mut self, text: &str) -> Self {
        self.path.push_str(text);
        self.body.get_mut().push(b'.');
        self
    }
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Refusal(u16);

/// Cloned for each hook.
#[derive(Debug, Clone)]
pub(crate) struct User(&'static str);

#[derive(Debug)]
pub(crate) enum Verdict {
    PassOn(Request),
    Redirect(&'static str),
}

impl Forward<Request> for Verdict {
    fn forward(self) -> ControlFlow<Self, Request> {
        match self {
            Verdict::PassOn(request) => ControlFlow::Continue(request),
            Verdict::Redirect(_) => ControlFlow::Break(self),
        }
    }
}

macro_rules! rules {
    ($form:ident, $($pause:tt)*) => {
        mod $form {
            use super::*;

            #[hooks]
            trait Server {
                #[hook(waterfall)]
                async fn changed(request: Request, user: User, by: &str) -> Request {
                    $($pause)*
                    request.and(&format!("|default for {} by {by}", user.0))
                }

                #[hook(waterfall)]
                async fn checked(request: Request) -> Result<Request, Refusal> {
                    $($pause)*
                    if request.path == "/secret" { Err(Refusal(403)) } else { Ok(request) }
                }

                #[hook(waterfall)]
                async fn answered(request: Request) -> ControlFlow<&'static str, Request> {
                    $($pause)*
                    ControlFlow::Continue(request)
                }

                #[hook(waterfall, around)]
                async fn routed(request: Request) -> Verdict {
                    $($pause)*
                    Verdict::PassOn(request)
                }
            }

            #[impl_hook(Changed)]
            async fn tagged(request: Request, user: User, by: &str) -> Request {
                $($pause)*
                request.and(&format!("|{}{by}", user.0))
            }

            #[impl_hook(Checked)]
            async fn refuse(_request: Request) -> Result<Request, Refusal> {
                $($pause)*
                Err(Refusal(400))
            }

            struct Plugin;

            #[impl_hooks(ServerSet)]
            impl Server for Plugin {
                async fn changed(&self, request: Request, _: User, _: &str) -> Request {
                    $($pause)*
                    request.and("|plugin")
                }

                async fn answered(&self, request: Request) -> ControlFlow<&'static str, Request> {
                    $($pause)*
                    if request.path.is_empty() { ControlFlow::Break("empty") } else { ControlFlow::Continue(request) }
                }
            }

            const ADA: User = User("ada");

            #[test]
            fn t_64_the_default_runs_last_and_alone_without_hooks() {
                let set = ServerSet::new();
                let (request, _) = run_counting(set.changed(Request::new("/"), ADA, "me"));
                assert_eq!(request.path, "/|default for ada by me");
                let refused = run_counting(set.checked(Request::new("/secret"))).0;
                assert_eq!(refused.unwrap_err(), Refusal(403));
            }

            #[test]
            fn t_64_each_hook_gets_the_value_of_the_hook_before() {
                let set = ServerSet::new()
                    .with_changed(Tagged)
                    .with_hooks(Plugin)
                    .with_changed(async |request: Request, user: User, by: String| {
                        $($pause)*
                        request.and(&format!("|closure {}{by}", user.0))
                    });
                let (request, _) = run_counting(set.changed(Request::new("/"), ADA, "1"));
                assert_eq!(request.path, "/|ada1|plugin|closure ada1|default for ada by 1");
                assert_eq!(request.body.into_inner(), b"....");
            }

            #[test]
            fn t_64_an_error_or_a_break_ends_the_dispatch() {
                let later = Arc::new(AtomicUsize::new(0));
                let set = ServerSet::new()
                    .with_checked(async |request: Request| { $($pause)* Ok(request.and("x")) })
                    .with_checked(Refuse)
                    .with_checked({
                        let later = Arc::clone(&later);
                        move |request: Request| {
                            later.fetch_add(1, Ordering::SeqCst);
                            async move { Ok(request) }
                        }
                    })
                    .with_hooks(Plugin)
                    .with_routed(async |request: Request| {
                        $($pause)*
                        if request.path == "/old" { Verdict::Redirect("/new") } else { Verdict::PassOn(request) }
                    });
                assert_eq!(run_counting(set.checked(Request::new("/"))).0.unwrap_err(), Refusal(400));
                assert_eq!(later.load(Ordering::SeqCst), 0);
                let answered = run_counting(set.answered(Request::new(""))).0;
                assert!(matches!(answered, ControlFlow::Break("empty")), "{answered:?}");
                let answered = run_counting(set.answered(Request::new("/"))).0;
                assert!(matches!(answered, ControlFlow::Continue(_)), "{answered:?}");
                let routed = run_counting(set.routed(Request::new("/old"))).0;
                assert!(matches!(routed, Verdict::Redirect("/new")), "{routed:?}");
            }

            #[test]
            fn t_64_around_hooks_enclose_all_hooks() {
                async fn shorten(request: Request, next: Next<'_, dyn Routed>) -> Verdict {
                    $($pause)*
                    match next.call((request.and("a"),)).await {
                        Verdict::PassOn(request) => Verdict::PassOn(request.and("z")),
                        other @ Verdict::Redirect(_) => other,
                    }
                }
                let set = ServerSet::new()
                    .with_routed_around(shorten)
                    .with_routed(async |request: Request| { $($pause)* Verdict::PassOn(request.and("m")) });
                match run_counting(set.routed(Request::new("/"))).0 {
                    Verdict::PassOn(request) => assert_eq!(request.path, "/amz"),
                    other @ Verdict::Redirect(_) => panic!("{other:?}"),
                }
            }

            #[test]
            fn t_64_conditions_see_the_value_that_was_passed_to_the_call() {
                let set = ServerSet::new()
                    .with_checked(async |request: Request| { $($pause)* Ok(request.and("b")) })
                    .with_checked(
                        Entry::new(Refuse).when(|request: &Request| request.path == "/ab"),
                    )
                    .with_checked(Entry::new(Refuse).key("off").enabled(false));
                assert_eq!(run_counting(set.checked(Request::new("/a"))).0.unwrap().path, "/ab");
                assert!(run_counting(set.checked(Request::new("/ab"))).0.is_err());
            }
        }
    };
}
in_every_form!(rules);

/// Not `Clone`.
#[derive(Debug)]
pub(crate) struct Total(u32);

#[hooks]
trait Steps {
    #[hook(waterfall, sync)]
    fn step(value: Total, by: &u32) -> Total {
        Total(value.0 * 1000 + by)
    }
}

#[impl_hook(Step)]
fn add(value: Total, by: &u32) -> Total {
    Total(value.0 + by)
}

struct Times(u32);

impl StatefulStep for Times {
    fn call_mut(&mut self, value: Total, _: &u32) -> Total {
        self.0 += 1;
        Total(value.0 * self.0)
    }
}

#[test]
fn t_63_t_64_a_synchronous_slot_moves_its_value() {
    let set = StepsSet::new()
        .with_step(Add)
        .with_step(Stateful::new(Times(1)))
        .with_step(|value: Total, by: &u32| Total(value.0 - by));
    assert_eq!(set.step(Total(1), &3).0, (4 * 2 - 3) * 1000 + 3);
    assert_eq!(set.describe().slots[0].kind, "waterfall");
    assert!(set.describe().slots[0].companions.is_empty());
}

#[test]
fn t_64_a_dispatch_can_be_spawned_and_panic() {
    #[hooks]
    trait Outbox {
        #[hook(waterfall)]
        async fn sent(request: Request) -> Result<Request, Refusal> {
            Ok(request)
        }
    }

    fn is_send<T: Send>(value: T) -> T {
        value
    }

    let set = OutboxSet::new().with_sent(async |request: Request| {
        crate::kit::yield_once().await;
        Ok(request.and("x"))
    });
    let dispatch = is_send(set.sent(Request::new("/")));
    assert_eq!(block_on(dispatch).unwrap().path, "/x");
    let spawned = set.clone();
    let sent = std::thread::spawn(move || block_on(spawned.sent(Request::new("/"))));
    assert_eq!(sent.join().unwrap().unwrap().path, "/x");
    let set = set.with_sent(|_: Request| async { panic!("boom") });
    assert_eq!(panics(set.sent(Request::new("/"))), "boom");
}

/// Counts how often it is dropped.
struct Counted(Arc<AtomicUsize>);

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

#[hooks]
trait Trays {
    #[hook(waterfall)]
    async fn moving(value: Counted) -> Counted {
        value
    }
}

struct Passing(usize);

impl StatefulMoving for Passing {
    async fn call_mut(&mut self, value: Counted) -> Counted {
        self.0 += 1;
        crate::kit::yield_once().await;
        value
    }
}

#[test]
fn t_64_a_dropped_dispatch_drops_the_value_once() {
    let drops = Arc::new(AtomicUsize::new(0));
    let set = TraysSet::new()
        .with_moving(Stateful::new(Passing(0)))
        .with_moving(async |value: Counted| value);
    let value = block_on(set.moving(Counted(Arc::clone(&drops))));
    assert_eq!(drops.load(Ordering::SeqCst), 0);
    drop(value);
    assert_eq!(drops.swap(0, Ordering::SeqCst), 1);

    let mut dropped = Box::pin(set.moving(Counted(Arc::clone(&drops))));
    assert!(poll_once(dropped.as_mut()).is_pending());
    assert_eq!(drops.load(Ordering::SeqCst), 0);
    drop(dropped);
    assert_eq!(drops.swap(0, Ordering::SeqCst), 1);
    drop(set.moving(Counted(Arc::clone(&drops))));
    assert_eq!(
        drops.load(Ordering::SeqCst),
        1,
        "a dispatch that was not polled"
    );
}

#[test]
fn t_64_sets_are_composed_and_a_condition_may_panic() {
    let extended = StepsSet::new()
        .with_step(Entry::new(Add).key("add"))
        .with_extended(
            StepsSet::new()
                .with_step(Entry::new(|value: Total, _: &u32| Total(value.0 * 7)).key("add")),
        );
    assert_eq!(extended.step(Total(2), &3).0, 14_003);
    let copy = extended.for_call(|set| {
        set.register_step(Add);
    });
    assert_eq!(copy.step(Total(2), &3).0, 17_003);
    assert_eq!(extended.step(Total(2), &3).0, 14_003);

    let set = StepsSet::new().with_step(Entry::new(Add).when(|value: &Total, by: &&u32| {
        assert_ne!(**by, 0, "no step");
        value.0 > 0
    }));
    assert_eq!(set.step(Total(0), &1).0, 1);
    assert_eq!(set.step(Total(1), &1).0, 2001);
    assert!(panics(async { set.step(Total(1), &0) }).contains("no step"));
}
