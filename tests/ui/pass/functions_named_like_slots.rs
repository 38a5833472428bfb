//! A default may call a function with the name of its slot.

#![allow(dead_code)]

use futures_executor::block_on;
use hooks_core::hooks;

async fn load(path: &str) -> String {
    format!("loaded {path}")
}

fn count(mut start: u8) -> u8 {
    start += 10;
    start
}

fn inlined(start: u8) -> u8 {
    start + 20
}

#[hooks]
trait AppHooks {
    #[hook(fallback)]
    async fn load(path: &str) -> String {
        load(path).await
    }

    #[hook(always)]
    async fn count(mut start: u8) -> u8 {
        start += 1;
        count(start)
    }

    #[hook(always)]
    #[inline]
    async fn inlined(start: u8) -> u8 {
        inlined(start)
    }

    #[hook(always)]
    async fn early(stop: bool) -> Result<u8, String> {
        if stop {
            return Err("stopped".to_owned());
        }
        std::future::ready(()).await;
        "7".parse::<u8>().map_err(|why| why.to_string())?;
        Ok(7)
    }
}

pub(crate) fn main() {
    let set = AppHooksSet::new();
    assert_eq!(block_on(set.load("a")), "loaded a");
    assert_eq!(block_on(set.count(1)), 12);
    assert_eq!(block_on(set.inlined(1)), 21);
    assert_eq!(block_on(set.early(true)), Err("stopped".to_owned()));
    assert_eq!(block_on(set.early(false)), Ok(7));
}
