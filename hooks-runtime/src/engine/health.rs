//! Whether the engine is in a state in which its answers mean something.

use std::error::Error;
use std::future::Future;

use hooks_core::BoxFuture;

use super::context::EngineContext;

/// Why a probe says that something is wrong.
pub type Unhealthy = Box<dyn Error + Send + Sync>;

/// Asks whether everything that the hooks rely on is there.
///
/// A function or closure that returns a future of a `bool`, a `Result<(), E>` or a
/// `Result<bool, E>` is one.
pub trait HealthProbe: Send + Sync {
    /// Asks. An error says that something is wrong, as do a panic and a timeout.
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

/// What a function may answer as a [`HealthProbe`].
pub trait IntoHealth {
    /// Nothing if all is well, else what is wrong.
    ///
    /// # Errors
    /// If something is wrong.
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

/// The probe of an engine that is not given one: its storage folder takes lines, and the file
/// of its intents holds intents. Without files all is well.
#[derive(Debug, Clone)]
pub struct FilesProbe {
    context: EngineContext,
}

impl FilesProbe {
    /// Looks at the files of this context.
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
