use hooks_core::hooks;

#[hooks]
trait AppHooks {
    #[hook(always, sync)]
    fn counted(points: usize) {}
}

fn main() {
    let mut score = 0;
    AppHooksSet::new().with_counted(|points: usize| score += points);
}
