//! What a second stage is asked and answers. In: a command with what the tables found. Out: a question
//! without secrets; then a class with its reason, or an error.

use std::error::Error as StdError;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use hooks_classify::{Classification, Crud, Method};
use thiserror::Error;

use crate::mask::Masked;

/// How long a classification may take with all its stages.
pub const MOST_TIME: Duration = Duration::from_secs(2);

/// What is kept of a reason, a model's or the tables', in characters.
pub(super) const MOST_REASONING: usize = 300;

/// How many findings of the tables a model is told.
pub(super) const MOST_REASONS: usize = 10;

/// What is asked of a [`Semantic`]. Secrets and e-mail addresses are masked in
/// all of it; nothing of it may be taken for an instruction.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Question {
    /// The command.
    pub command: String,
    /// Where the caller says that it belongs, such as `git`.
    pub context: Option<String>,
    /// The class by the tables; a lower one will not be heard. None if they
    /// have found out nothing.
    pub class: Option<Crud>,
    /// What the tables say of its parts, the one that decided first.
    pub reasons: Vec<String>,
}

impl Question {
    /// What is asked about a command of which the tables say this.
    #[must_use]
    pub fn new(command: &str, verdict: &Classification) -> Self {
        let masked = Masked::for_model(command);
        let mut reasons: Vec<String> = Vec::new();
        for finding in &verdict.findings {
            let reason = masked.other(&finding.reason);
            let reason: String = reason.chars().take(MOST_REASONING).collect();
            if reasons.len() < MOST_REASONS && !reasons.contains(&reason) {
                reasons.push(reason);
            }
        }
        Self {
            context: verdict
                .context
                .as_deref()
                .map(|context| masked.other(context)),
            class: (verdict.method != Method::Fallback).then_some(verdict.crud),
            command: masked.text,
            reasons,
        }
    }
}

/// What a [`Semantic`] makes of a command.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// The strongest effect.
    pub class: Crud,
    /// Why. It is shown cut to 300 characters and without control characters.
    pub reasoning: String,
    /// How likely the class is right, 0 to 1; shown as 0.8 at most.
    pub confidence: f64,
}

impl Answer {
    /// An answer.
    #[must_use]
    pub fn new(class: Crud, reasoning: impl Into<String>, confidence: f64) -> Self {
        Self {
            class,
            reasoning: reasoning.into(),
            confidence,
        }
    }
}

/// Why there is no answer. What the tables say then stays.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SemanticError {
    /// It is not what was asked for.
    #[error("the answer is malformed: {0}; use a model that follows a JSON schema")]
    Malformed(&'static str),
    /// It is too long to be one.
    #[error("the answer has more than {limit} bytes; use a model that follows a JSON schema")]
    TooLarge {
        /// What it may have.
        limit: usize,
    },
    /// The server answers with another status than success.
    #[error("the server answers with status {0}; look into its log")]
    Status(u16),
    /// It took too long.
    #[error("there is no answer in time; use a smaller model")]
    Late,
    /// The implementation panicked.
    #[error("the implementation of `Semantic` panicked")]
    Panicked,
    /// The question does not arrive, or the answer does not.
    #[error("there is no answer: {0}")]
    Failed(#[source] Box<dyn StdError + Send + Sync>),
}

/// Says what a command would do, by its meaning. Written with an
/// `async fn`.
///
/// ```
/// use hooks_guard::classify::{Answer, Classifier, Crud, Decision, Question, Semantic, SemanticError};
///
/// /// Knows the one program that everybody here uses.
/// struct House;
///
/// impl Semantic for House {
///     async fn ask(&self, question: &Question) -> Result<Answer, SemanticError> {
///         if question.command.contains("housectl purge") {
///             return Ok(Answer::new(Crud::Delete, "`housectl purge` empties a room", 0.8));
///         }
///         Err(SemanticError::Malformed("not one of our programs"))
///     }
/// }
///
/// # tokio::runtime::Builder::new_current_thread().enable_time().build()?.block_on(async {
/// let classifier = Classifier::new().with_semantic(House);
/// let verdict = classifier.classify_fully("housectl purge 7", None).await?;
/// assert_eq!(verdict.crud, Crud::Delete);
/// assert_eq!(verdict.decision, Decision::RequiresConfirmation);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not judge commands; implement `Semantic` for it",
    label = "not a semantic stage"
)]
pub trait Semantic: Send + Sync {
    /// Answers a question. The future is dropped when the time is over.
    ///
    /// # Errors
    /// If there is no answer to be had.
    fn ask(
        &self,
        question: &Question,
    ) -> impl Future<Output = Result<Answer, SemanticError>> + Send;
}

impl<S: Semantic + ?Sized> Semantic for Arc<S> {
    fn ask(
        &self,
        question: &Question,
    ) -> impl Future<Output = Result<Answer, SemanticError>> + Send {
        (**self).ask(question)
    }
}
