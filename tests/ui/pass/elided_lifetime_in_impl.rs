//! A value that borrows may leave its lifetime to the compiler, as in any `impl` block.

use hooks_core::{hooks, impl_hooks};

#[hooks]
trait Greetings {
    #[hook(fallback)]
    async fn greet(name: &str) -> String {
        name.to_owned()
    }
}

struct Prefix<'a>(&'a str);

#[impl_hooks(GreetingsSet)]
impl Greetings for Prefix<'_> {
    async fn greet(&self, name: &str, _last: Option<String>) -> String {
        format!("{} {name}", self.0)
    }
}

pub(crate) fn main() {
    let word = String::from("dear");
    let owned = GreetingsSet::new().with_hooks(Prefix(&word));
    let prefix = Prefix(&word);
    let borrowed = owned.clone().with_hooks(&prefix);
    assert_eq!(futures_executor::block_on(owned.greet("Ada")), "dear Ada");
    assert_eq!(futures_executor::block_on(borrowed.greet("Ada")), "dear Ada");
}
