//! Functions without a return type whose body ends in an expression.

#![deny(warnings)]

use std::cell::Cell;

use futures_executor::block_on;
use hooks_core::{hooks, impl_hook};

thread_local! {
    static CALLS: Cell<usize> = const { Cell::new(0) };
}

fn count(number: usize) {
    CALLS.with(|calls| calls.set(calls.get() + number));
}

async fn count_later(number: usize) {
    std::future::ready(()).await;
    count(number)
}

mod slots {
    use super::{count, hooks};

    #[hooks]
    pub(super) trait Notices {
        #[hook(always)]
        async fn notice(text: &str, number: usize) {
            count(text.len() * number)
        }
    }
}

use slots::{Notice, NoticesSet};

#[impl_hook(slots::Notice)]
pub async fn function(text: &str, number: usize) {
    match text {
        "" => (),
        _ => count(number),
    }
}

#[impl_hook(Notice)]
pub async fn lent(_text: &str, number: usize) {
    count_later(number).await
}

#[impl_hook(Notice)]
async fn of_owned(text: String, number: usize) {
    count(text.len() + number)
}

#[impl_hook(Notice)]
async fn panics_if_empty(text: &str, _number: usize) {
    assert!(!text.is_empty())
}

#[impl_hook(Notice)]
async fn ends_in_a_statement(_text: &str, number: usize) {
    if number > 0 {
        count(number);
    }
}

fn calls() -> usize {
    CALLS.with(Cell::take)
}

pub fn main() {
    fn assert_send<T: Send>(value: T) -> T {
        value
    }

    let set = NoticesSet::new()
        .with_notice(Function)
        .with_notice(Lent)
        .with_notice(OfOwned)
        .with_notice(PanicsIfEmpty)
        .with_notice(EndsInAStatement);
    block_on(assert_send(set.notice("four", 1)));
    assert_eq!(calls(), 1 + 1 + 5 + 1 + 4);

    // The functions, and their hooks without a dispatch.
    let () = block_on(assert_send(function("four", 2)));
    let () = block_on(assert_send(Notice::call(&Lent, "four".to_owned(), 2)));
    let () = block_on(assert_send(Notice::call(&OfOwned, "four".to_owned(), 2)));
    assert_eq!(calls(), 2 + 2 + 6);
}
