//! Parameters may have any name: generated names do not clash with them.

use futures_executor::block_on;
use hooks_core::{Stateful, hooks, impl_hook, impl_hooks};

#[hooks]
trait AppHooks {
    #[hook(always)]
    async fn text(
        span: &str,
        hook: &str,
        room: &str,
        args: &str,
        last_: &str,
        set: &str,
        owner: &str,
        state: &str,
    ) -> String {
        [span, hook, room, args, last_, set, owner, state].concat()
    }

    #[hook(fallback)]
    async fn number(err: u8, entry: u8, key: u8, default: u8, call: u8, f: u8, this: u8) -> u8 {
        err + entry + key + default + call + f + this
    }

    #[hook(singleton)]
    async fn mixed(function: u8, answer: &u8, output: &str, companion: u8) -> u8 {
        async {}.await;
        let _ = output;
        function + answer + companion
    }

    #[hook(fallback)]
    async fn same(same: &str, given: u8) -> usize {
        same.len() + usize::from(given)
    }
}

struct Policy;

#[impl_hooks(AppHooksSet)]
impl AppHooks for Policy {
    async fn text(
        &self,
        span: &str,
        hook: &str,
        room: &str,
        args: &str,
        last_: &str,
        set: &str,
        owner: &str,
        state: &str,
        last: Option<String>,
    ) -> String {
        last.unwrap() + span + hook + room + args + last_ + set + owner + state
    }
}

// The function has the name of a parameter, and parameters have names of generated code.
#[impl_hook(Number)]
async fn room(room: u8, args: u8, _: u8, direct: u8, call: u8, f: u8, last: u8, _last: Option<u8>) -> u8 {
    async {}.await;
    room + args + direct + call + f + last
}

#[impl_hook(Mixed)]
async fn args(function: u8, &answer: &u8, args: &str, _: u8) -> u8 {
    let _ = args;
    function + answer
}

struct Count(u8);

impl StatefulMixed for Count {
    async fn call_mut(&mut self, function: u8, answer: &u8, output: String, companion: u8) -> u8 {
        self.0 += 1;
        self.0 + function + answer + companion + output.len() as u8
    }
}

pub(crate) fn main() {
    let set = AppHooksSet::new()
        .with_hooks(Policy)
        .with_number(Room)
        .with_number(async |err: u8, entry, key, default, call, f, this, last: Option<u8>| {
            last.unwrap() + err + entry + key + default + call + f + this
        })
        .with_mixed(Args);
    let text = set.text("a", "b", "c", "d", "e", "f", "g", "h");
    assert_eq!(block_on(text), "abcdefghabcdefgh");
    assert_eq!(block_on(set.number(1, 1, 1, 1, 1, 1, 1)), 13);
    assert_eq!(block_on(set.mixed(1, &2, "", 3)), 3);
    let set = set.with_mixed(Stateful::new(Count(0)));
    assert_eq!(block_on(set.mixed(1, &2, "four", 3)), 11);
    assert_eq!(block_on(set.same("four", 3)), 7);
}
