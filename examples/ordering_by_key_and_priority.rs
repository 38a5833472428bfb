//! In which order do hooks run, and how do I replace one?
//!
//! Lower priorities run first; hooks with equal priority run in registration order. A key
//! identifies an entry: registering the key again replaces the hook in its place, and the key
//! removes it.

use hooks_core::{Entry, hooks};

#[hooks]
trait GreetingHooks {
    /// Builds a greeting; each hook adds a word.
    #[hook(fallback)]
    async fn greet(name: String) -> String {
        name
    }
}

/// Appends one word to the previous output.
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
