//! How does a hook enclose a call, as middleware does?
//!
//! A slot with the option `around` takes around hooks. Such a hook runs code before and after the
//! rest of the call, and decides how often the rest runs: `next` runs the inner around hooks, the
//! default, the hooks and the companions. The first around hook is the outermost.

use std::time::Instant;

use hooks_core::{Around, Entry, Next, hooks, impl_hook};

#[hooks]
trait ClientHooks {
    /// Sends a request; the attempt number is an argument, so that hooks can change it.
    #[hook(fallback, around)]
    async fn send(url: &str, attempt: u32) -> Result<String, String> {
        Err(format!("no transport for {url}, attempt {attempt}"))
    }
}

/// A transport that fails twice.
#[impl_hook(Send)]
async fn flaky(
    url: &str,
    attempt: u32,
    _last: Option<Result<String, String>>,
) -> Result<String, String> {
    match attempt {
        1 | 2 => Err(format!("attempt {attempt} timed out")),
        _ => Ok(format!("{url}: attempt {attempt} succeeded")),
    }
}

/// Calls the rest again after a failure.
struct Retry {
    attempts: u32,
}

impl Around<dyn Send> for Retry {
    async fn call<'a>(
        &'a self,
        (url, _): (&'a str, u32),
        next: Next<'a, dyn Send>,
    ) -> Result<String, String> {
        let mut result = Err("no attempt was made".to_owned());
        for attempt in 1..=self.attempts {
            result = next.call((url, attempt)).await;
            if result.is_ok() {
                break;
            }
            println!("retry: {result:?}");
        }
        result
    }
}

/// Measures the call; a function is an around hook, too.
async fn timed(url: &str, attempt: u32, next: Next<'_, dyn Send>) -> Result<String, String> {
    let start = Instant::now();
    let result = next.call((url, attempt)).await;
    println!("timed: {url} took {:?}", start.elapsed());
    result
}

/// Returns an error without a call of `next`.
async fn offline(url: &str, _attempt: u32, _next: Next<'_, dyn Send>) -> Result<String, String> {
    Err(format!("{url}: offline"))
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let mut hooks = ClientHooksSet::new()
        .with_send(Flaky)
        .with_send_around(Entry::new(Retry { attempts: 3 }).key("retry"))
        .with_send_around(Entry::new(timed).before("retry"));
    println!("{}", hooks.describe());

    let result = hooks.send("example.org", 1).await;
    assert_eq!(result.as_deref(), Ok("example.org: attempt 3 succeeded"));

    // Without the retry, the first failure is the result.
    assert!(hooks.send_around_mut().set_enabled("retry", false));
    let result = hooks.send("example.org", 1).await;
    assert_eq!(result, Err("attempt 1 timed out".to_owned()));

    // The outermost hook does not call `next`: nothing else runs.
    hooks.register_send_around(Entry::new(offline).priority(-10));
    let result = hooks.send("example.org", 1).await;
    assert_eq!(result, Err("example.org: offline".to_owned()));
}
