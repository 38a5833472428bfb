use std::rc::Rc;

use hooks_core::hooks;

#[hooks]
trait AppHooks {
    #[hook(always)]
    async fn check(prompt: &mut Rc<str>) {
        *prompt = "".into();
    }
}

fn main() {}
