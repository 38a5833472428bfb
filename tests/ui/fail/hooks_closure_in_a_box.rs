use hooks_core::hooks;

#[hooks]
trait AppHooks {
    #[hook(always, sync)]
    fn counted(points: usize) {}
}

fn main() {
    let boxed: Box<dyn Fn(usize)> = Box::new(|_| {});
    AppHooksSet::new().with_counted(boxed);
}
