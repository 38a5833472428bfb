//! Input and output of a second stage. Takes a command with the result of the tables; builds a
//! question without secrets, and defines the answer and its errors.

use std::error::Error as StdError;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use hooks_classify::{Classification, Crud};
use thiserror::Error;

use crate::mask::Masked;

/// Timeout of a classification with all its stages.
pub const CLASSIFY_BUDGET: Duration = Duration::from_secs(2);

/// Maximum length of a reason from a model or the tables, in characters.
pub(super) const MAX_REASON_CHARS: usize = 300;

/// Maximum number of reasons of the tables in a question.
pub(super) const MAX_REASONS: usize = 10;

/// Input of a [`Semantic`]. Secrets and e-mail addresses are masked in all fields. No field may be
/// treated as an instruction.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct SemanticInput {
    /// The command.
    pub command: String,
    /// Context of the command as given by the caller, such as `git`.
    pub context: Option<String>,
    /// Class by the tables; an answer with a lower class is ignored. `None` if the tables have no
    /// result.
    pub class: Option<Crud>,
    /// Reasons of the tables, the decisive one first.
    pub reasons: Vec<String>,
}

impl SemanticInput {
    /// Returns the question about a command with this result of the tables.
    #[must_use]
    pub fn new(command: &str, verdict: &Classification) -> Self {
        let masked = Masked::for_model(command);
        let mut reasons: Vec<String> = Vec::new();
        for finding in &verdict.findings {
            let reason = masked.other(&finding.reason);
            let reason: String = reason.chars().take(MAX_REASON_CHARS).collect();
            if reasons.len() < MAX_REASONS && !reasons.contains(&reason) {
                reasons.push(reason);
            }
        }
        Self {
            context: verdict
                .context
                .as_deref()
                .map(|context| masked.other(context)),
            class: (!verdict.has_failed()).then_some(verdict.crud),
            command: masked.text,
            reasons,
        }
    }
}

/// Output of a [`Semantic`].
#[derive(Clone, Debug, PartialEq)]
pub struct SemanticOutput {
    /// The strongest effect.
    pub class: Crud,
    /// Reason. Shown with at most 300 characters and without control characters.
    pub reasoning: String,
    /// Probability that the class is right, from 0 to 1; shown as 0.8 at most.
    pub confidence: f64,
}

impl SemanticOutput {
    /// Returns an answer.
    #[must_use]
    pub fn new(class: Crud, reasoning: impl Into<String>, confidence: f64) -> Self {
        Self {
            class,
            reasoning: reasoning.into(),
            confidence,
        }
    }
}

/// Error of a [`Semantic`]. The result of the tables is then used.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SemanticError {
    /// The answer does not have the expected form.
    #[error("the answer is malformed: {0}; use a model that follows a JSON schema")]
    Malformed(&'static str),
    /// The answer is too long.
    #[error("the answer is longer than {limit} bytes; use a model that follows a JSON schema")]
    TooLarge {
        /// Maximum length.
        limit: usize,
    },
    /// The server responded with a status other than success.
    #[error("the server responded with status {0}; check its log")]
    Status(u16),
    /// The answer took too long.
    #[error("no answer within the timeout; use a smaller model")]
    Timeout,
    /// The implementation panicked.
    #[error("the implementation of `Semantic` panicked")]
    Panicked,
    /// The question or the answer could not be transferred.
    #[error("no answer: {0}")]
    Failed(#[source] Box<dyn StdError + Send + Sync>),
}

/// Classifies a command by its meaning. Implement it with an `async fn`.
///
/// ```
/// use hooks_guard::classify::{
///     StagedClassifier, Crud, Decision, Semantic, SemanticError, SemanticInput, SemanticOutput,
/// };
///
/// /// Knows an in-house program.
/// struct House;
///
/// impl Semantic for House {
///     async fn ask(&self, question: &SemanticInput) -> Result<SemanticOutput, SemanticError> {
///         if question.command.contains("housectl purge") {
///             return Ok(SemanticOutput::new(Crud::Delete, "`housectl purge` empties a room", 0.8));
///         }
///         Err(SemanticError::Malformed("not one of our programs"))
///     }
/// }
///
/// # tokio::runtime::Builder::new_current_thread().enable_time().build()?.block_on(async {
/// let classifier = StagedClassifier::new().with_semantic(House);
/// let verdict = classifier.classify_fully("housectl purge 7", None).await?;
/// assert_eq!(verdict.crud, Crud::Delete);
/// assert_eq!(verdict.decision, Decision::RequiresConfirmation);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not classify commands; implement `Semantic` for it",
    label = "not a semantic stage"
)]
pub trait Semantic: Send + Sync {
    /// Answers a question. The future is dropped after a timeout.
    ///
    /// # Errors
    /// Returns an error if there is no answer.
    fn ask(
        &self,
        question: &SemanticInput,
    ) -> impl Future<Output = Result<SemanticOutput, SemanticError>> + Send;
}

impl<S: Semantic + ?Sized> Semantic for Arc<S> {
    fn ask(
        &self,
        question: &SemanticInput,
    ) -> impl Future<Output = Result<SemanticOutput, SemanticError>> + Send {
        (**self).ask(question)
    }
}
