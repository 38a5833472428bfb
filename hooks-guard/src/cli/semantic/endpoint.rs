//! The semantic (second) stage. In: its configuration. Out: a classifier that sends commands to its
//! endpoint.

use std::env;
use std::error::Error as _;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use hooks_guard::classify::{
    CLASSIFY_BUDGET, EndpointError, OpenAiCompatible, Semantic, SemanticError, SemanticInput,
    SemanticOutput, StagedClassifier,
};
use hooks_guard::config::SemanticConfig;
use hooks_runtime::display::escape;
use thiserror::Error;

/// Variable with the API key. Every process of the machine could read a key on the command line.
const KEY_VARIABLE: &str = "HOOKS_GUARD_SEMANTIC_KEY";

/// Error while building the second stage.
#[derive(Debug, Error)]
pub(crate) enum StageError {
    #[error("`http` is allowed only for this machine; use an `https` URL")]
    Http,
    #[error("`{KEY_VARIABLE}` is not valid UTF-8; correct its value")]
    Key,
    #[error(transparent)]
    Endpoint(EndpointError),
}

/// Returns a classifier with this second stage.
pub(crate) fn classifier(stage: SemanticConfig) -> Result<StagedClassifier, StageError> {
    let limit = stage
        .timeout_ms
        .map_or(CLASSIFY_BUDGET, Duration::from_millis);
    let mut endpoint = OpenAiCompatible::builder(stage.url, stage.model).timeout(limit);
    match env::var(KEY_VARIABLE) {
        Ok(key) => endpoint = endpoint.api_key(key),
        Err(env::VarError::NotPresent) => {}
        Err(env::VarError::NotUnicode(_)) => return Err(StageError::Key),
    }
    let endpoint = endpoint.build().map_err(|error| match error {
        EndpointError::Http => StageError::Http,
        error => StageError::Endpoint(error),
    })?;
    let classifier = StagedClassifier::new();
    // Build the masking tables now, not during the first command.
    if let Ok(verdict) = classifier.tables().classify("true") {
        drop(SemanticInput::new("true", &verdict));
    }
    Ok(classifier.with_semantic(ReportOnce::new(endpoint)))
}

/// Reports once that the endpoint gives no answers: the decisions of the tables look equal with and
/// without it.
struct ReportOnce<S> {
    stage: S,
    is_reported: AtomicBool,
}

impl<S> ReportOnce<S> {
    fn new(stage: S) -> Self {
        Self {
            stage,
            is_reported: AtomicBool::new(false),
        }
    }

    fn report(&self, error: &SemanticError) {
        if !self.is_reported.swap(true, Ordering::Relaxed) {
            let mut why = error.to_string();
            let mut source = error.source().and_then(|source| source.source());
            while let Some(cause) = source {
                why = format!("{why}: {cause}");
                source = cause.source();
            }
            let why = escape(&why);
            eprintln!(
                "hooks-guard: the second stage failed: {why}; the decisions of the tables stand"
            );
        }
    }
}

impl<S: Semantic> Semantic for ReportOnce<S> {
    async fn ask(&self, question: &SemanticInput) -> Result<SemanticOutput, SemanticError> {
        // The classifier drops a question at its timeout.
        let mut waiting = TimeoutReporter {
            stage: self,
            is_done: false,
        };
        let answer = self.stage.ask(question).await;
        waiting.is_done = true;
        if let Err(error) = &answer {
            self.report(error);
        }
        answer
    }
}

struct TimeoutReporter<'a, S> {
    stage: &'a ReportOnce<S>,
    is_done: bool,
}

impl<S> Drop for TimeoutReporter<'_, S> {
    fn drop(&mut self) {
        if !self.is_done {
            self.stage.report(&SemanticError::Timeout);
        }
    }
}
