//! Hooks live as long as their set, and may borrow.

use futures_executor::block_on;
use hooks_core::{hooks, impl_hooks};

#[hooks]
trait AppHooks {
    #[hook(always)]
    async fn check(prompt: &str, limits: Limits<'_>, table: &[&str]) -> bool {
        prompt.len() < limits.0.len() + table.len()
    }

    #[hook(fallback)]
    async fn choose(task: &'static str) -> &'static str {
        task
    }
}

#[derive(Clone, Copy)]
struct Limits<'a>(&'a [u8]);

struct Policy<'a, 'b> {
    prefix: &'a str,
    others: &'b [&'a str],
}

#[impl_hooks(AppHooksSet)]
impl<'a, 'b> AppHooks for Policy<'a, 'b>
where
    'a: 'b,
{
    async fn check(&self, prompt: &str, _: Limits<'_>, _: &[&str], last: Option<bool>) -> bool {
        async {}.await;
        last.unwrap() && (prompt.starts_with(self.prefix) || self.others.contains(&prompt))
    }
}

struct Elided<'a>(&'a str);

#[impl_hooks(AppHooksSet)]
impl AppHooks for Elided<'_> {
    async fn choose(&self, task: &'static str, last: Option<&'static str>) -> &'static str {
        if task == self.0 { "elided" } else { last.unwrap_or(task) }
    }
}

struct Written<'a>(&'a str);

impl Check for Written<'_> {
    async fn call(&self, prompt: String, _: Limits<'_>, _: &[&str], _: Option<bool>) -> bool {
        async {}.await;
        prompt == self.0
    }
}

fn shorten<'s>(set: AppHooksSet<'static>, hook: &'s str) -> AppHooksSet<'s> {
    set.with_choose(move |task, _| async move { if task == hook { "hook" } else { task } })
}

pub(crate) fn main() {
    let prefix = String::from("a");
    let others = vec![prefix.as_str(), "b"];
    let policy = Policy { prefix: &prefix, others: &others };
    let set = AppHooksSet::new().with_hooks(&policy);
    let long = [0; 8];
    assert!(block_on(set.check("abc", Limits(&long), &["x"])));
    let set = set.with_check(Written(&prefix));
    assert!(!block_on(set.check("abc", Limits(&long), &[])));
    let set = AppHooksSet::new().with_hooks(Elided(&prefix));
    assert_eq!(block_on(set.choose("a")), "elided");
    let set = shorten(AppHooksSet::new(), &prefix);
    assert_eq!(block_on(set.choose("a")), "hook");
}
