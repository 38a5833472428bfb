//! How does a plugin run its hook before or after the hook of another plugin?
//!
//! `before` and `after` name the key of the other entry. They take precedence over priorities, and
//! move the entry that states them. An unknown key and a cycle are refused at registration.

use hooks_core::{Entry, hooks};

#[hooks]
trait LogHooks {
    /// Changes a line before it is written.
    #[hook(fallback)]
    async fn write(line: &str) -> String {
        line.to_owned()
    }
}

/// Adds a word in front of the line.
struct Tag(&'static str);

impl Write for Tag {
    async fn call(&self, line: String, last: Option<String>) -> String {
        format!("{} {}", self.0, last.unwrap_or(line))
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let mut hooks = LogHooksSet::new()
        .with_write(Entry::new(Tag("signed")).key("sign").priority(100))
        .with_write(Entry::new(Tag("redacted")).key("redact"))
        // The plugin knows the keys, and not the priorities.
        .with_write(Entry::new(Tag("compressed")).key("compress").after("sign"))
        .with_write(Entry::new(Tag("counted")).key("count").before("redact"));

    // Each hook writes in front of the previous ones.
    assert_eq!(
        hooks.write("login").await,
        "compressed signed redacted counted login"
    );
    println!("{}", hooks.describe());

    // A switch: a disabled hook keeps its place, and the entries that name it keep theirs.
    assert!(hooks.write_mut().set_enabled("sign", false));
    assert_eq!(
        hooks.write("login").await,
        "compressed redacted counted login"
    );
}
