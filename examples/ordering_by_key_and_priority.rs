//! In which order do hooks run, and how is one of them replaced?
//!
//! Lower priorities first; among equals, first in, first out. A key names an
//! entry: registering it again replaces the hook in its place, and it can be
//! removed by that name.

use hooks_core::{Entry, hooks};

#[hooks]
trait GreetingHooks {
    /// Each hook adds a word.
    #[hook(fallback)]
    async fn greet(name: String) -> String {
        name
    }
}

/// Adds one word to what the hooks before have said.
struct Word(&'static str);

impl Greet for Word {
    async fn call(&self, _name: String, last: Option<String>) -> String {
        match last {
            Some(said) => format!("{said} {}", self.0),
            None => self.0.to_owned(),
        }
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let mut hooks = GreetingHooksSet::new()
        .with_greet(Word("dear"))
        .with_greet(Entry::new(Word("friend")).key("whom").priority(10))
        .with_greet(Entry::new(Word("good")).key("what"))
        .with_greet(Entry::new(Word("hello")).priority(-5));
    expect(&hooks, "hello dear good friend").await;

    // The same key again: another hook in the same place.
    hooks.register_greet(Entry::new(Word("old")).key("what"));
    expect(&hooks, "hello dear old friend").await;

    // Another priority: another place.
    hooks.register_greet(Entry::new(Word("stranger")).key("whom").priority(-7));
    expect(&hooks, "stranger hello dear old").await;

    assert!(hooks.greet_mut().remove("whom"));
    assert!(!hooks.greet_mut().remove("whom"));
    expect(&hooks, "hello dear old").await;
}

async fn expect(hooks: &GreetingHooksSet<'_>, expected: &str) {
    let said = hooks.greet("Ann".to_owned()).await;
    println!("{said}");
    assert_eq!(said, expected);
}
