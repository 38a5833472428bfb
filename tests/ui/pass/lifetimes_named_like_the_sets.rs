//! A `for<'h>` in the types of a slot is its own, whatever the lifetime of the set is called.

type Text = str;

#[hooks_core::hooks]
trait AppHooks {
    #[hook(singleton)]
    async fn render(by: Box<dyn for<'h> Fn(&'h Text) -> &'h Text + Send + Sync>) -> usize {
        by("four").len()
    }

    #[hook(fallback)]
    async fn renderer() -> Option<fn(&str) -> &str> {
        None
    }

    #[hook(singleton)]
    async fn trimmer() -> Option<Box<dyn for<'h> Fn(&'h str) -> &'h str + Send + Sync>> {
        Some(Box::new(|text| text.trim()))
    }
}

pub(crate) fn main() {
    let hooks = AppHooksSet::new().with_trimmer(async || None);
    futures_executor::block_on(async {
        assert_eq!(hooks.render(Box::new(|text| &text[1..])).await, 3);
        assert!(hooks.renderer().await.is_none());
        assert!(hooks.trimmer().await.is_none());
    });
}
