//! Checks of the engine's state.

use std::error::Error;
use std::future::Future;

use hooks_core::BoxFuture;

use super::context::EngineContext;

/// Reason for which a probe failed.
pub type Unhealthy = Box<dyn Error + Send + Sync>;

/// Checks that everything the hooks rely on is present.
///
/// Implemented for functions and closures that return a future of a `bool`, a `Result<(), E>` or a
/// `Result<bool, E>`.
pub trait HealthProbe: Send + Sync {
    /// Runs the check. An error, a panic and a timeout all count as unhealthy.
    fn check(&self) -> BoxFuture<'_, Result<(), Unhealthy>>;
}

impl<F, A> HealthProbe for F
where
    F: Fn() -> A + Send + Sync,
    A: Future + Send + 'static,
    A::Output: IntoHealth,
{
    fn check(&self) -> BoxFuture<'_, Result<(), Unhealthy>> {
        let answer = self();
        Box::pin(async move { answer.await.into_health() })
    }
}

/// Output of a function that is a [`HealthProbe`].
pub trait IntoHealth {
    /// Converts the output into a result.
    ///
    /// # Errors
    /// If the engine is unhealthy.
    fn into_health(self) -> Result<(), Unhealthy>;
}

impl IntoHealth for bool {
    fn into_health(self) -> Result<(), Unhealthy> {
        match self {
            true => Ok(()),
            false => Err("the probe says no".into()),
        }
    }
}

impl<T: IntoHealth, E: Into<Unhealthy>> IntoHealth for Result<T, E> {
    fn into_health(self) -> Result<(), Unhealthy> {
        self.map_err(Into::into)?.into_health()
    }
}

impl IntoHealth for () {
    fn into_health(self) -> Result<(), Unhealthy> {
        Ok(())
    }
}

/// The default probe: lines can be appended to the storage, and the file of intents is valid.
/// Without files the engine is healthy.
#[derive(Debug, Clone)]
pub struct FilesProbe {
    context: EngineContext,
}

impl FilesProbe {
    /// Creates a probe for the files of this context.
    pub fn new(context: &EngineContext) -> Self {
        FilesProbe {
            context: context.clone(),
        }
    }
}

impl HealthProbe for FilesProbe {
    fn check(&self) -> BoxFuture<'_, Result<(), Unhealthy>> {
        Box::pin(async {
            if !self.context.has_files() {
                return Ok(());
            }
            let checked = self.context.blocking(EngineContext::check_files).await;
            Ok(checked.map_err(Unhealthy::from)??)
        })
    }
}
