//! A `for<'h>` in the types of a slot is its own, whatever the lifetimes of generated items are called.

use hooks_core::{Aggregate, FinalizeInto};

type Text = str;
type Rendering = Box<dyn for<'a, 'b, 's> Fn(&'a str, &'b str, &'s str) -> &'s str + Send + Sync>;

#[derive(Default)]
struct Last;

impl Aggregate<Option<Rendering>> for Last {
    async fn call(&self, outputs: Vec<Option<Rendering>>) -> Option<Rendering> {
        outputs.into_iter().next_back().flatten()
    }
}

#[derive(Default)]
struct Measures;

impl FinalizeInto<Option<Rendering>, usize> for Measures {
    async fn call(&self, result: Option<Rendering>) -> usize {
        result.map_or(0, |render| render("a", "b", "three").len())
    }
}

#[hooks_core::hooks]
trait AppHooks {
    #[hook(singleton)]
    async fn render(by: Box<dyn for<'h> Fn(&'h Text) -> &'h Text + Send + Sync>) -> usize {
        by("four").len()
    }

    #[hook(always, aggregate = Last)]
    async fn last_renderer(
        _by: fn(&str),
    ) -> Option<Box<dyn for<'a, 'b, 's> Fn(&'a str, &'b str, &'s str) -> &'s str + Send + Sync>> {
        None
    }

    #[hook(always, finalize = Measures, output = usize)]
    async fn length(
    ) -> Option<Box<dyn for<'a, 'b, 's> Fn(&'a str, &'b str, &'s str) -> &'s str + Send + Sync>> {
        Some(Box::new(|_, _, text| text))
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
        assert!(hooks.last_renderer(|_| ()).await.is_none());
        assert_eq!(hooks.length().await, 5);
        assert!(hooks.renderer().await.is_none());
        assert!(hooks.trimmer().await.is_none());
    });
}
