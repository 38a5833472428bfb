//! A tool that only records its calls.

use std::fmt;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use hooks_core::Timer;
use serde::Serialize;
use serde_json::Value;

use super::shown;
use crate::lock::lock;
use crate::{HookError, HostTimer};

/// A tool for tests of code that calls tools: it returns a configured output, and records its
/// inputs. Clones share one tool.
///
/// ```
/// use hooks_runtime::testing::MockTool;
/// use serde_json::json;
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let tool = MockTool::new("bash").returning(json!({"stdout": "a b"}));
/// let output = tool.call(json!({"command": "ls"})).await.unwrap();
/// assert_eq!(output["stdout"], "a b");
/// tool.assert_called_with(json!({"command": "ls"}));
///
/// let broken = MockTool::new("bash").failing("no such command");
/// assert_eq!(broken.call(()).await.unwrap_err().to_string(), "no such command");
/// # });
/// ```
#[derive(Clone)]
pub struct MockTool {
    name: Arc<str>,
    output: Arc<OutputFn>,
    delay: Duration,
    calls: Arc<Mutex<Vec<Value>>>,
}

/// Computes the output from the input.
type OutputFn = dyn Fn(&Value) -> Result<Value, HookError> + Send + Sync;

impl MockTool {
    /// Creates a tool that returns `null` at once, by default.
    pub fn new(name: impl Into<Arc<str>>) -> Self {
        MockTool {
            name: name.into(),
            output: Arc::new(|_| Ok(Value::Null)),
            delay: Duration::ZERO,
            calls: Arc::default(),
        }
    }

    /// Returns this for every call.
    #[must_use]
    pub fn returning(self, output: impl Into<Value>) -> Self {
        let output = output.into();
        self.with(move |_| Ok(output.clone()))
    }

    /// Fails every call with this message.
    #[must_use]
    pub fn failing(self, message: impl Into<String>) -> Self {
        let message = message.into();
        self.with(move |_| Err(HookError::new(message.clone())))
    }

    /// Returns the output of this function for each input.
    #[must_use]
    pub fn with(
        mut self,
        output: impl Fn(&Value) -> Result<Value, HookError> + Send + Sync + 'static,
    ) -> Self {
        self.output = Arc::new(output);
        self
    }

    /// Delays each call, by tokio's clock within a tokio runtime.
    #[must_use]
    pub fn after(mut self, delay: Duration) -> Self {
        self.delay = delay;
        self
    }

    /// Returns its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Calls the tool. The call is recorded at its start, even if it is dropped or fails.
    ///
    /// The input is any value with a JSON form: a map, a [`Value`], your own struct; `()` is
    /// `null`.
    ///
    /// # Errors
    /// If the tool is configured to fail, or the input has no JSON form.
    ///
    /// # Panics
    /// If the tool has a delay, in a tokio runtime without its time driver.
    pub async fn call(&self, input: impl Serialize) -> Result<Value, HookError> {
        let input = serde_json::to_value(input)?;
        lock(&self.calls).push(input.clone());
        if !self.delay.is_zero() {
            HostTimer.sleep(self.delay).await;
        }
        (self.output)(&input)
    }

    /// Returns the inputs of its calls, in order.
    pub fn calls(&self) -> Vec<Value> {
        lock(&self.calls).clone()
    }

    /// Asserts that at least one of its calls had this input.
    ///
    /// # Panics
    /// If none had; the message lists the inputs. Also if this value has no JSON form.
    #[track_caller]
    pub fn assert_called_with(&self, input: impl Serialize) {
        let expected = match serde_json::to_value(input) {
            Ok(expected) => expected,
            Err(error) => panic!("the expected input has no JSON form: {error}"),
        };
        let calls = self.calls();
        assert!(
            calls.contains(&expected),
            "tool `{}` was not called with {}; {}",
            self.name,
            shown::json(&expected),
            list(&calls),
        );
    }

    /// Asserts that it was called this many times.
    ///
    /// # Panics
    /// If it was not; the message shows its calls.
    #[track_caller]
    pub fn assert_called_times(&self, expected: usize) {
        let calls = self.calls();
        assert!(
            calls.len() == expected,
            "tool `{}` was called {} times, not {expected}; {}",
            self.name,
            calls.len(),
            list(&calls),
        );
    }

    /// Asserts that it was not called.
    ///
    /// # Panics
    /// If it was; the message shows its calls.
    #[track_caller]
    pub fn assert_not_called(&self) {
        self.assert_called_times(0);
    }
}

fn list(calls: &[Value]) -> String {
    if calls.is_empty() {
        return "it was not called at all".to_owned();
    }
    let calls: Vec<_> = calls.iter().map(shown::json).collect();
    format!("it was called with {}", calls.join(", "))
}

impl fmt::Debug for MockTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MockTool")
            .field("name", &self.name)
            .field("delay", &self.delay)
            .field("calls", &self.calls())
            .finish_non_exhaustive()
    }
}
