//! A tool that does nothing but remember.

use std::fmt;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use hooks_core::Timer;
use serde::Serialize;
use serde_json::Value;

use super::shown;
use crate::lock::lock;
use crate::{HookError, HostTimer};

/// A tool for tests of what calls tools: it answers what it is told to, and remembers what it
/// was called with. A clone is the same tool.
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
    answer: Arc<Answer>,
    delay: Duration,
    calls: Arc<Mutex<Vec<Value>>>,
}

/// What a tool makes of its input.
type Answer = dyn Fn(&Value) -> Result<Value, HookError> + Send + Sync;

impl MockTool {
    /// A tool that answers `null` at once, unless it is told otherwise.
    pub fn new(name: impl Into<Arc<str>>) -> Self {
        MockTool {
            name: name.into(),
            answer: Arc::new(|_| Ok(Value::Null)),
            delay: Duration::ZERO,
            calls: Arc::default(),
        }
    }

    /// Has it answer every call with this.
    #[must_use]
    pub fn returning(self, output: impl Into<Value>) -> Self {
        let output = output.into();
        self.with(move |_| Ok(output.clone()))
    }

    /// Has it fail every call with this message.
    #[must_use]
    pub fn failing(self, message: impl Into<String>) -> Self {
        let message = message.into();
        self.with(move |_| Err(HookError::new(message.clone())))
    }

    /// Has it answer with what this function makes of the input.
    #[must_use]
    pub fn with(
        mut self,
        answer: impl Fn(&Value) -> Result<Value, HookError> + Send + Sync + 'static,
    ) -> Self {
        self.answer = Arc::new(answer);
        self
    }

    /// Has it take so long, by tokio's clock within a tokio runtime.
    #[must_use]
    pub fn after(mut self, delay: Duration) -> Self {
        self.delay = delay;
        self
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Calls it. The call is remembered from the moment that it begins, also where it is
    /// dropped or fails.
    ///
    /// The input is anything that has a JSON form: a map, a [`Value`], a struct of yours; `()`
    /// is `null`.
    ///
    /// # Errors
    /// If it is told to fail, or the input has no JSON form.
    ///
    /// # Panics
    /// If it is to take long, in a tokio runtime without its time driver.
    pub async fn call(&self, input: impl Serialize) -> Result<Value, HookError> {
        let input = serde_json::to_value(input)?;
        lock(&self.calls).push(input.clone());
        if !self.delay.is_zero() {
            HostTimer.sleep(self.delay).await;
        }
        (self.answer)(&input)
    }

    /// What it was called with, in order.
    pub fn calls(&self) -> Vec<Value> {
        lock(&self.calls).clone()
    }

    /// Holds that one of its calls had this input.
    ///
    /// # Panics
    /// If none had; the message shows those that it had. Also if this has no JSON form.
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

    /// Holds that it was called so many times.
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

    /// Holds that it was not called.
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
