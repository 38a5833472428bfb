//! A module may shadow names of the standard library.

#![allow(dead_code, non_camel_case_types, non_snake_case)]

mod shadowed {
    mod std {}
    mod core {}
    mod alloc {}
    mod hooks_core {}
    struct Option;
    struct Result;
    struct String;
    struct Box;
    struct Arc;
    struct PhantomData;
    struct Poll;
    struct Entry;
    struct bool;
    struct str;
    struct usize;
    trait Send {}
    trait Sync {}
    trait Sized {}
    trait Clone {}
    trait Copy {}
    trait Default {}
    trait Debug {}
    trait Deref {}
    trait From {}
    trait Into {}
    trait Future {}
    trait FnOnce {}
    trait Stateful {}
    trait HookObject {}
    fn Some() {}
    fn None() {}
    fn Ok() {}
    fn Err() {}

    #[::hooks_core::hooks]
    pub trait AppHooks {
        #[hook(always)]
        async fn check(prompt: &::std::primitive::str, count: u8) -> u8 {
            prompt.len() as u8 + count
        }

        #[hook(fallback, chain = Stop, aggregate = Sum, output = u16)]
        async fn gather(ticket: u8) -> u8 {
            async {}.await;
            ticket
        }

        #[hook(singleton)]
        async fn notify(prompt: &::std::primitive::str) {
            let _ = prompt;
        }
    }

    pub struct Stop;

    impl ::std::default::Default for Stop {
        fn default() -> Self {
            Stop
        }
    }

    impl ::hooks_core::Chain<u8> for Stop {
        async fn call(&self, _output: &u8) -> ::std::ops::ControlFlow<()> {
            ::std::ops::ControlFlow::Continue(())
        }
    }

    pub struct Sum;

    impl ::std::default::Default for Sum {
        fn default() -> Self {
            Sum
        }
    }

    impl ::hooks_core::AggregateInto<u8, u16> for Sum {
        async fn call(&self, outputs: ::std::vec::Vec<u8>) -> u16 {
            outputs.into_iter().map(u16::from).sum()
        }
    }

    pub struct Policy;

    #[::hooks_core::impl_hooks(AppHooksSet)]
    impl AppHooks for Policy {
        async fn check(
            &self,
            prompt: &::std::primitive::str,
            count: u8,
            last: ::std::option::Option<u8>,
        ) -> u8 {
            last.unwrap() + prompt.len() as u8 + count
        }
    }

    #[::hooks_core::impl_hook(Gather)]
    pub async fn twice(ticket: u8) -> u8 {
        2 * ticket
    }

    pub struct Count(pub u8);

    impl StatefulGather for Count {
        async fn call_mut(&mut self, ticket: u8) -> u8 {
            self.0 += ticket;
            self.0
        }
    }
}

use futures_executor::block_on;
use hooks_core::Stateful;
use shadowed::*;

pub(crate) fn main() {
    let set = AppHooksSet::new()
        .with_hooks(Policy)
        .with_gather(Twice)
        .with_gather(Stateful::new(Count(1)));
    assert_eq!(block_on(set.check("ab", 1)), 6);
    assert_eq!(block_on(set.gather(2)), 7);
    block_on(set.notify("prompt"));
    let _ = format!("{:?} {}", set.clone(), set.describe());
}
