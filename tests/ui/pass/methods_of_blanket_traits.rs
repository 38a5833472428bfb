//! A method of all the user's types does not clash with generated code.

use futures_executor::block_on;
use hooks_core::{hooks, impl_hook, impl_hooks};

trait Everything {
    fn start(&self) {}
    fn call(&self) {}
    fn check(&self) {}
    fn register(&self) {}
    fn dispatch(self) where Self: Sized {}
    fn gate(&self) {}
    fn end(&self) {}
    fn extend(&self) {}
    fn describe(&self) {}
    fn default(self) where Self: Sized {}
    fn clone(&self) {}
    fn len(&self) {}
}

impl<T: ?Sized> Everything for T {}

/// Functions of their types, too.
trait Made {
    fn from(_: &str) -> Self;
    fn new(_: u8) -> Self;
}

impl<T: Default> Made for T {
    fn from(_: &str) -> Self {
        T::default()
    }

    fn new(_: u8) -> Self {
        T::default()
    }
}

#[hooks]
trait Session {
    #[hook(always, chain = hooks_core::ShortCircuit<(), String>)]
    async fn check(_text: &str) -> Result<(), String> {
        Ok(())
    }
}

#[impl_hook(Check)]
async fn no(_text: &str) -> Result<(), String> {
    Err("no".into())
}

#[hooks]
#[nested_hooks(inner = SessionSet)]
trait Outer {
    #[hook(fallback)]
    async fn ask(_count: u8) -> bool {
        true
    }
}

struct Policy;

#[impl_hooks(SessionSet)]
impl Session for Policy {
    async fn check(&self, _: &str) -> Result<(), String> {
        Ok(())
    }
}

pub(crate) fn main() {
    let set = SessionSet::new().with_hooks(Policy).with_check(No);
    let outer = OuterSet::new().with_inner(set);
    let both = OuterSet::new().with_extended(outer);
    assert!(block_on(both.ask(1)));
    assert!(block_on(both.inner.check("a")).is_err());
}
