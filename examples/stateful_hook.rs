//! How does a hook keep state between dispatches?
//!
//! Implement the slot's `Stateful…` trait, whose method takes `&mut self`, and register the value
//! in `Stateful::new`. If the hook is called from inside its own call, `on_reentrancy` returns its
//! output instead.

use std::sync::Arc;

use hooks_core::{HookReentrancyError, Stateful, hooks};

#[hooks]
trait TicketHooks {
    /// Returns the number of the next ticket.
    #[hook(singleton)]
    async fn next_ticket(series: &str) -> String {
        format!("{series}-0")
    }
}

/// Counts from one.
struct Counter {
    next: usize,
}

impl StatefulNextTicket for Counter {
    async fn call_mut(&mut self, series: String) -> String {
        let number = self.next;
        self.next += 1;
        format!("{series}-{number}")
    }
}

/// Dispatches to the set that it is registered in, which calls itself again.
struct Nested {
    inner: Arc<std::sync::OnceLock<TicketHooksSet<'static>>>,
}

impl StatefulNextTicket for Nested {
    async fn call_mut(&mut self, series: String) -> String {
        match self.inner.get() {
            Some(set) => format!("outer of {}", set.next_ticket(&series).await),
            None => series,
        }
    }

    fn on_reentrancy(error: HookReentrancyError) -> String {
        format!("nothing: `{}` is busy", error.slot)
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let hooks = TicketHooksSet::new().with_next_ticket(Stateful::new(Counter { next: 1 }));
    for expected in ["A-1", "A-2", "A-3"] {
        let ticket = hooks.next_ticket("A").await;
        println!("{ticket}");
        assert_eq!(ticket, expected);
    }

    // A clone shares the hook and its state.
    let clone = hooks.clone();
    assert_eq!(clone.next_ticket("B").await, "B-4");
    assert_eq!(hooks.next_ticket("B").await, "B-5");

    let inner = Arc::new(std::sync::OnceLock::new());
    let hooks = TicketHooksSet::new().with_next_ticket(Stateful::new(Nested {
        inner: inner.clone(),
    }));
    let _ = inner.set(hooks.clone());
    let ticket = hooks.next_ticket("C").await;
    println!("{ticket}");
    assert_eq!(ticket, "outer of nothing: `next_ticket` is busy");
}
