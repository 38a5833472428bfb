//! Two sets of one module may have slots of equal names: `name =` renames one of the traits.

use futures_executor::block_on;
use hooks_core::{Stateful, hooks, impl_hook};

#[hooks]
trait InputHooks {
    #[hook(always)]
    async fn check(prompt: &str) -> bool {
        prompt.is_empty()
    }
}

#[hooks]
trait OutputHooks {
    #[hook(always, name = CheckOutput)]
    async fn check(answer: &str) -> usize {
        answer.len()
    }
}

#[impl_hook(Check)]
async fn input(_prompt: &str, last: Option<bool>) -> bool {
    !last.unwrap()
}

#[impl_hook(CheckOutput)]
async fn output(_answer: &str, last: Option<usize>) -> usize {
    last.unwrap() + 1
}

struct Count(usize);

impl StatefulCheckOutput for Count {
    async fn call_mut(&mut self, _answer: String, last: Option<usize>) -> usize {
        self.0 += 1;
        last.unwrap() + self.0
    }
}

pub(crate) fn main() {
    let inputs = InputHooksSet::new().with_check(Input);
    let outputs = OutputHooksSet::new().with_check(Output).with_check(Stateful::new(Count(0)));
    assert!(block_on(inputs.check("prompt")));
    assert_eq!(block_on(outputs.check("answer")), 8);
}
