//! How does one call run with other hooks than the set has?
//!
//! `for_call` returns a copy of the set with changes: hooks added, removed, disabled or replaced.
//! A copy shares the hooks, so it is cheap, and it may hold hooks that borrow local data.

use hooks_core::{Entry, hooks, impl_hook};

#[hooks]
trait PromptHooks {
    #[hook(fallback)]
    async fn prompt(text: &str) -> String {
        text.to_owned()
    }
}

#[impl_hook(Prompt)]
async fn polite(text: &str, last: Option<String>) -> String {
    format!("please {}", last.as_deref().unwrap_or(text))
}

/// Appends a note that it borrows from its caller.
struct Note<'n>(&'n str);

impl Prompt for Note<'_> {
    async fn call(&self, text: String, last: Option<String>) -> String {
        format!("{} ({})", last.unwrap_or(text), self.0)
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let hooks = PromptHooksSet::new().with_prompt(Entry::new(Polite).key("polite"));

    // Added for one call.
    let note = String::from("in two words");
    let with_note = hooks.for_call(|set| _ = set.register_prompt(Note(&note)));
    assert_eq!(
        with_note.prompt("sum up").await,
        "please sum up (in two words)"
    );

    // Left out of one call.
    let curt = hooks.for_call(|set| _ = set.prompt_mut().set_enabled("polite", false));
    assert_eq!(curt.prompt("sum up").await, "sum up");

    // The set itself has not changed.
    assert_eq!(hooks.prompt("sum up").await, "please sum up");
    println!("{}", with_note.describe());
}
