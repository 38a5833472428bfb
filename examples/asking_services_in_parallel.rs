//! How do the hooks of a slot run concurrently?
//!
//! In a slot with `concurrent`, all hooks start together and are polled in the same task, so slow
//! hooks overlap. The aggregate receives the outputs in the order of the entries, whichever hook is
//! ready first.

use std::time::{Duration, Instant};

use hooks_core::{AggregateInto, hooks};

/// Keeps the prices in the order of the shops.
#[derive(Default)]
struct List;

impl AggregateInto<u32, Vec<u32>> for List {
    async fn call(&self, prices: Vec<u32>) -> Vec<u32> {
        prices
    }
}

#[hooks]
trait ShopHooks {
    /// Returns the price of one shop.
    #[hook(always, aggregate = List, output = Vec<u32>, concurrent)]
    async fn prices(_article: &str) -> u32 {
        100
    }
}

/// A shop that needs some time.
struct Shop {
    price: u32,
    delay: Duration,
}

impl Prices for Shop {
    async fn call(&self, _article: String) -> u32 {
        tokio::time::sleep(self.delay).await;
        self.price
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let shop = |price, delay_ms| Shop {
        price,
        delay: Duration::from_millis(delay_ms),
    };
    let hooks = ShopHooksSet::new()
        .with_prices(shop(90, 300))
        .with_prices(shop(80, 100))
        .with_prices(shop(70, 200));

    let start = Instant::now();
    let prices = hooks.prices("lamp").await;
    println!("{prices:?} after {:?}", start.elapsed());
    assert_eq!(prices, [100, 90, 80, 70], "the order of the entries");
    assert!(start.elapsed() >= Duration::from_millis(300));
    assert!(
        start.elapsed() < Duration::from_millis(600),
        "the delays overlap"
    );
}
