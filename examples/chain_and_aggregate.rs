//! How do several outputs become one result, and how does a dispatch stop early?
//!
//! A chain inspects each output and may stop the dispatch. `ShortCircuit` and `FirstSuccess` come
//! with the crate; any type can implement the trait. An aggregate gets all outputs at once and
//! combines them into one value, of another type if `output` declares one.

use std::ops::ControlFlow;

use hooks_core::{AggregateInto, Chain, FirstSuccess, hooks, impl_hook};

#[hooks]
trait SearchHooks {
    /// Explains a word. The first hook that knows it ends the dispatch.
    #[hook(fallback, chain = FirstSuccess<&'static str>)]
    async fn look_up(word: &str) -> Option<&'static str> {
        let _ = word;
        None
    }

    /// Returns the quality of a match: the mean of all hooks' scores.
    #[hook(fallback, aggregate = Mean, output = f64)]
    async fn score(word: &str) -> u32 {
        let _ = word;
        0
    }

    /// Returns the number of hits, counted up to one hundred.
    #[hook(always, chain = Enough)]
    async fn count(word: &str) -> u32 {
        let _ = word;
        0
    }
}

#[derive(Default)]
struct Mean;

impl AggregateInto<u32, f64> for Mean {
    async fn call(&self, outputs: Vec<u32>) -> f64 {
        let sum: u32 = outputs.iter().sum();
        f64::from(sum) / outputs.len() as f64
    }
}

#[derive(Default)]
struct Enough;

impl Chain<u32> for Enough {
    async fn call(&self, output: &u32) -> ControlFlow<()> {
        if *output >= 100 {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }
}

#[impl_hook(LookUp)]
async fn glossary(word: &str) -> Option<&'static str> {
    (word == "slot").then_some("glossary")
}

#[impl_hook(LookUp)]
async fn encyclopedia(word: &str) -> Option<&'static str> {
    word.starts_with('s').then_some("encyclopedia")
}

#[impl_hook(Score)]
async fn length(word: &str) -> u32 {
    word.len() as u32
}

#[impl_hook(Score)]
async fn constant(_word: &str) -> u32 {
    1
}

#[impl_hook(Count)]
async fn a_few(_word: &str) -> u32 {
    7
}

#[impl_hook(Count)]
async fn very_many(_word: &str) -> u32 {
    1000
}

#[impl_hook(Count)]
async fn never_asked(_word: &str) -> u32 {
    unreachable!("the chain has stopped before")
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let hooks = SearchHooksSet::new()
        .with_look_up(Glossary)
        .with_look_up(Encyclopedia)
        .with_score(Length)
        .with_score(Constant)
        .with_count(AFew)
        .with_count(VeryMany)
        .with_count(NeverAsked);

    for (word, expected) in [
        ("slot", Some("glossary")),
        ("sun", Some("encyclopedia")),
        ("moon", None),
    ] {
        let found = hooks.look_up(word).await;
        println!("{word}: {}", found.unwrap_or("unknown"));
        assert_eq!(found, expected);
    }

    let score = hooks.score("slot").await;
    println!("score: {score}");
    assert!((score - 2.5).abs() < f64::EPSILON);

    let count = hooks.count("slot").await;
    println!("count: {count}");
    assert_eq!(count, 1000);
}
