//! Dispatches of async slots from synchronous code.

use std::future::{Future, pending};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use hooks_core::{Aggregate, Entry, Next, PendingHookError, hooks, run_now};

use crate::kit::{panics, yield_once};

#[derive(Default)]
pub(crate) struct Sum;

impl Aggregate<usize> for Sum {
    async fn call(&self, outputs: Vec<usize>) -> usize {
        outputs.into_iter().sum()
    }
}

#[hooks]
trait Game {
    #[hook(always)]
    async fn hit(points: usize) -> usize {
        points
    }

    #[hook(always, aggregate = Sum)]
    async fn score(points: usize) -> usize {
        points
    }

    #[hook(always, aggregate = Sum, concurrent)]
    async fn votes(points: usize) -> usize {
        points
    }

    #[hook(fallback)]
    async fn saved(wait: bool) {
        if wait {
            yield_once().await;
        }
    }

    #[hook(singleton, around)]
    async fn opened(level: usize) -> usize {
        level
    }
}

#[derive(Debug, Default)]
struct Seen(AtomicUsize);

impl Seen {
    fn hook(
        self: &Arc<Self>,
    ) -> impl Fn(usize, Option<usize>) -> std::future::Ready<usize> + use<> {
        let seen = Arc::clone(self);
        move |points, last| {
            seen.0.fetch_add(1, Ordering::SeqCst);
            std::future::ready(points + last.unwrap_or_default())
        }
    }
}

fn names(waits: &PendingHookError) -> (Option<&str>, Option<&str>) {
    (waits.slot(), waits.hook())
}

#[test]
fn t_65_a_dispatch_returns_its_result() {
    let set = GameSet::new()
        .with_hit(async |points: usize, last: Option<usize>| points * 10 + last.unwrap())
        .with_score(async |points: usize| points * 2)
        .with_votes(async |points: usize| points * 3)
        .with_opened_around(async |level: usize, next: Next<'_, dyn Opened>| {
            next.call((level,)).await + 1
        });
    assert_eq!(run_now(set.hit(1)), Ok(11));
    assert_eq!(run_now(set.score(1)), Ok(3));
    assert_eq!(run_now(set.votes(1)), Ok(4));
    assert_eq!(run_now(set.opened(1)), Ok(2));
    assert_eq!(run_now(set.saved(false)), Ok(()));
}

#[test]
fn t_65_a_hook_that_waits_is_named_and_dropped_after_those_before_it() {
    struct Dropped(Arc<AtomicBool>);
    impl Drop for Dropped {
        fn drop(&mut self) {
            self.0.store(true, Ordering::SeqCst);
        }
    }

    let (before, after) = (Arc::new(Seen::default()), Arc::new(Seen::default()));
    let dropped = Arc::new(AtomicBool::new(false));
    let waiting = {
        let dropped = Arc::clone(&dropped);
        move |_: usize, _: Option<usize>| {
            let guard = Dropped(Arc::clone(&dropped));
            async move {
                let _guard = guard;
                pending().await
            }
        }
    };
    let set = GameSet::new()
        .with_hit(before.hook())
        .with_hit(Entry::new(waiting).key("network"))
        .with_hit(after.hook());
    let waits = run_now(set.hit(1)).unwrap_err();
    assert_eq!(names(&waits), (Some("hit"), Some("network")));
    assert_eq!(
        waits.to_string(),
        "hook `network` of slot `hit` is pending; await the dispatch, or register hooks that complete at once"
    );
    assert_eq!(before.0.load(Ordering::SeqCst), 1);
    assert_eq!(after.0.load(Ordering::SeqCst), 0);
    assert!(dropped.load(Ordering::SeqCst));
    // The set stays usable.
    assert!(run_now(set.hit(1)).is_err());
}

#[test]
fn t_65_concurrent_hooks_and_defaults_are_named_by_their_slot() {
    let set = GameSet::new()
        .with_votes(async |points: usize| points)
        .with_votes(Entry::new(async |_: usize| pending().await).name("first"))
        .with_votes(Entry::new(async |_: usize| pending().await).name("second"));
    let waits = run_now(set.votes(1)).unwrap_err();
    assert_eq!(names(&waits), (Some("votes"), Some("first")));
    let waits = run_now(set.saved(true)).unwrap_err();
    assert_eq!(names(&waits), (Some("saved"), None));
    let waits = run_now(pending::<()>()).unwrap_err();
    assert_eq!(names(&waits), (None, None));
}

#[test]
fn t_65_the_hook_of_the_outer_dispatch_is_named() {
    let inner = GameSet::new()
        .with_hit(Entry::new(async |_: usize, _: Option<usize>| pending().await).key("inner"));
    let outer = GameSet::new().with_score(
        Entry::new(move |points: usize| {
            let inner = inner.clone();
            async move { inner.hit(points).await }
        })
        .key("outer"),
    );
    let waits = run_now(outer.score(1)).unwrap_err();
    assert_eq!(names(&waits), (Some("score"), Some("outer")));
}

#[test]
fn t_65_a_hook_runs_another_dispatch_at_once() {
    let inner = GameSet::new()
        .with_hit(Entry::new(async |_: usize, _: Option<usize>| pending().await).key("inner"));
    let outer = GameSet::new().with_score(move |points: usize| {
        let waits = run_now(inner.hit(points)).unwrap_err();
        std::future::ready(waits.hook().map_or(0, str::len))
    });
    assert_eq!(run_now(outer.score(0)), Ok(5));
}

#[test]
fn t_65_a_panic_reaches_the_caller() {
    let set = GameSet::new().with_hit(|_: usize, _: Option<usize>| async { panic!("boom") });
    assert_eq!(panics(async { run_now(set.hit(1)) }), "boom");
    assert_eq!(run_now(std::future::ready(1)), Ok(1));
}

#[test]
fn t_65_a_dispatch_that_ran_before_is_continued_elsewhere() {
    fn once<T>(
        future: std::pin::Pin<&mut (impl Future<Output = T> + ?Sized)>,
    ) -> Result<T, PendingHookError> {
        run_now(future)
    }
    let set = GameSet::new().with_hit(
        Entry::new(async |points: usize, _: Option<usize>| {
            yield_once().await;
            points
        })
        .key("k"),
    );
    let mut dispatch = Box::pin(set.hit(3));
    assert_eq!(
        names(&once(dispatch.as_mut()).unwrap_err()),
        (Some("hit"), Some("k"))
    );
    assert_eq!(once(dispatch.as_mut()), Ok(3));
}

#[derive(Default)]
pub(crate) struct Slow;

impl Aggregate<usize> for Slow {
    async fn call(&self, _: Vec<usize>) -> usize {
        pending().await
    }
}

#[test]
fn t_65_the_parts_outside_of_the_loop_are_not_named() {
    let set = GameSet::new().with_score_aggregate(Slow);
    assert_eq!(names(&run_now(set.score(1)).unwrap_err()), (None, None));
    let set = GameSet::new()
        .with_opened_around(async |_: usize, _: Next<'_, dyn Opened>| pending().await);
    let error = run_now(set.opened(1)).unwrap_err();
    assert_eq!(names(&error), (None, None));
    assert_eq!(
        error.to_string(),
        "the call is pending; await the dispatch, or register hooks that complete at once"
    );
}

#[test]
fn t_65_the_error_of_a_call_inside_of_a_hook_does_not_replace_that_of_the_hook() {
    let inner = GameSet::new()
        .with_hit(Entry::new(async |_: usize, _: Option<usize>| pending().await).key("inner"));
    let outer = GameSet::new().with_score(
        Entry::new(move |points: usize| {
            assert_eq!(
                run_now(inner.hit(points)).unwrap_err().hook(),
                Some("inner")
            );
            pending()
        })
        .key("outer"),
    );
    let error = run_now(outer.score(1)).unwrap_err();
    assert_eq!(names(&error), (Some("score"), Some("outer")));
}
