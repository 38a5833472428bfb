//! The second stage of a classification. Takes a command with the result of the tables; returns
//! that result, or one with a higher class, according to a language model or another [`Semantic`].
//!
//! The answer is not trusted: it may raise a class, but never lowers one and never allows anything.
//! A command that instructs the model to call it harmless gains nothing.

mod ask;
#[cfg(feature = "semantic")]
mod openai;
#[cfg(feature = "semantic")]
mod prompt;

use std::error::Error as StdError;
use std::fmt;
use std::future::{Future, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use hooks_classify::{Classification, Crud, Decision, Method};
use hooks_runtime::display::hides_text;
use tokio::time::{Instant, timeout_at};

use self::ask::MAX_REASON_CHARS;

pub use self::ask::{CLASSIFY_BUDGET, Semantic, SemanticError, SemanticInput, SemanticOutput};
#[cfg(feature = "semantic")]
pub use self::openai::{EndpointError, OpenAiCompatible, OpenAiCompatibleBuilder};

/// Confidence below which the second stage is called; the statistics count it as low, too.
const LOW_CONFIDENCE: f64 = 0.8;

/// Maximum confidence of an answer, which proves nothing.
const MAX_CONFIDENCE: f64 = LOW_CONFIDENCE;

type SemanticFuture<'a> =
    Pin<Box<dyn Future<Output = Result<SemanticOutput, SemanticError>> + Send + 'a>>;

/// Type-erased [`Semantic`].
trait DynSemantic: Send + Sync {
    fn start<'a>(&'a self, question: &'a SemanticInput) -> SemanticFuture<'a>;
}

impl<S: Semantic> DynSemantic for S {
    fn start<'a>(&'a self, question: &'a SemanticInput) -> SemanticFuture<'a> {
        Box::pin(self.ask(question))
    }
}

/// Second stage of a classifier.
#[derive(Clone)]
pub(super) struct SemanticStage {
    semantic: Arc<dyn DynSemantic>,
    answered: Arc<AtomicBool>,
}

impl fmt::Debug for SemanticStage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Stage")
    }
}

impl SemanticStage {
    pub(super) fn new(semantic: impl Semantic + 'static) -> Self {
        Self {
            semantic: Arc::new(semantic),
            answered: Arc::default(),
        }
    }

    /// Returns `true` if there was an answer.
    pub(super) fn answered(&self) -> bool {
        self.answered.load(Ordering::Relaxed)
    }

    /// Returns the result of the tables, combined with an answer of the stage. The stage is called
    /// only if a part was not covered (`unsure`) or the confidence is low, and if the class can
    /// still rise.
    pub(super) async fn refine(
        &self,
        command: &str,
        verdict: Classification,
        unsure: bool,
        deadline: Instant,
    ) -> Classification {
        if verdict.crud == Crud::Delete || !(unsure || verdict.confidence < LOW_CONFIDENCE) {
            return verdict;
        }
        let question = SemanticInput::new(command, &verdict);
        let answer = match timeout_at(deadline, self.ask(&question)).await {
            Ok(answer) => answer.and_then(is_valid),
            Err(_) => Err(SemanticError::Timeout),
        };
        match answer {
            Ok(answer) => {
                self.answered.store(true, Ordering::Relaxed);
                combine(verdict, &answer)
            }
            Err(error) => {
                tracing::warn!(
                    error = &error as &dyn StdError,
                    "no answer from the semantic stage"
                );
                without_answer(verdict, unsure, &error)
            }
        }
    }

    /// Asks the stage. A panic at any point is an error.
    async fn ask(&self, question: &SemanticInput) -> Result<SemanticOutput, SemanticError> {
        let started = catch_unwind(AssertUnwindSafe(|| self.semantic.start(question)));
        let mut asking = started.map_err(|_| SemanticError::Panicked)?;
        poll_fn(move |cx| {
            catch_unwind(AssertUnwindSafe(|| asking.as_mut().poll(cx)))
                .unwrap_or(std::task::Poll::Ready(Err(SemanticError::Panicked)))
        })
        .await
    }
}

fn is_valid(answer: SemanticOutput) -> Result<SemanticOutput, SemanticError> {
    if (0.0..=1.0).contains(&answer.confidence) {
        Ok(answer)
    } else {
        Err(SemanticError::Malformed(
            "the confidence is not between 0 and 1",
        ))
    }
}

/// Combines a result with an answer. Never lowers the class and never allows anything.
fn combine(mut verdict: Classification, answer: &SemanticOutput) -> Classification {
    let nothing_found = verdict.has_failed();
    if !nothing_found && answer.class <= verdict.crud {
        return verdict;
    }
    let why = escape_text(&answer.reasoning);
    let before = match nothing_found {
        true => String::new(),
        false => verdict.explanation_of_effects(),
    };
    let explanation = format!(
        "A language model classified this as {}: {why}. This is not proven and requires approval. {before}",
        answer.class
    );
    explanation.trim_end().clone_into(&mut verdict.explanation);
    verdict.decision = Decision::RequiresConfirmation;
    verdict.crud = answer.class;
    verdict.reasoning = format!("according to a language model: {why}");
    verdict.confidence = answer.confidence.min(MAX_CONFIDENCE);
    verdict.method = Method::Semantic;
    verdict
}

fn without_answer(verdict: Classification, unsure: bool, error: &SemanticError) -> Classification {
    // A timeout leads to the fallback, unless the tables have a higher class.
    let open = verdict.has_failed() || unsure && verdict.crud <= Crud::Create;
    if open && matches!(error, SemanticError::Timeout) {
        let mut late = Classification::timed_out();
        late.terminal_input = verdict.terminal_input;
        late.context = verdict.context;
        late.findings = verdict.findings;
        return late;
    }
    verdict
}

/// Escapes untrusted text for a terminal: invisible characters, and characters that change how
/// others appear.
fn escape_text(text: &str) -> String {
    let mut shown = String::new();
    let mut length = 0;
    for character in text.trim().chars() {
        let written = if invisible(character) {
            character.escape_unicode().to_string()
        } else {
            character.to_string()
        };
        length += written.chars().count();
        if length >= MAX_REASON_CHARS {
            shown.push('…');
            return shown;
        }
        shown.push_str(&written);
    }
    if shown.is_empty() {
        "no reason given".to_owned()
    } else {
        shown.trim_end_matches('.').to_owned()
    }
}

/// Returns `true` for characters that are invisible or change how others appear, including line
/// breaks and tabs.
fn invisible(character: char) -> bool {
    character.is_control() || hides_text(character.encode_utf8(&mut [0; 4]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(class: Crud) -> SemanticOutput {
        SemanticOutput::new(class, "so it seems", 0.95)
    }

    fn nothing_found() -> Classification {
        let mut verdict = Classification::fallback("it could not be analysed");
        verdict.context = Some("git".to_owned());
        verdict
    }

    #[test]
    fn p_07_an_unproven_read_requires_confirmation() {
        let verdict = combine(nothing_found(), &answer(Crud::Read));
        assert_eq!(verdict.crud, Crud::Read);
        assert_eq!(verdict.decision, Decision::RequiresConfirmation);
        assert_eq!(verdict.method, Method::Semantic);
        assert_eq!(verdict.context.as_deref(), Some("git"));
        assert_eq!(verdict.confidence, MAX_CONFIDENCE);
        assert!(!verdict.understood(), "the class is not proven");
    }

    #[test]
    fn p_07_the_output_of_the_model_replaces_the_fallback() {
        let verdict = combine(nothing_found(), &answer(Crud::Update));
        assert_eq!(
            (verdict.crud, verdict.method),
            (Crud::Update, Method::Semantic)
        );
        assert_eq!(
            verdict.reasoning,
            "according to a language model: so it seems"
        );
    }

    #[test]
    fn p_08_a_timeout_without_a_table_class_has_the_timeout_texts() {
        let verdict = without_answer(nothing_found(), true, &SemanticError::Timeout);
        assert_eq!(verdict.crud, Crud::Create);
        assert_eq!(verdict.decision, Decision::RequiresConfirmation);
        assert_eq!(verdict.confidence, 0.0);
        assert_eq!(verdict.method, Method::Fallback);
        assert_eq!(
            verdict.reasoning,
            "Classification timed out; defaulting to safest option"
        );
        assert_eq!(
            verdict.explanation,
            "The classifier could not determine the command type within 2 seconds. \
             Defaulting to CREATE (safest) to require confirmation."
        );
        assert_eq!(verdict.context.as_deref(), Some("git"));
    }

    #[test]
    fn p_07_an_error_without_a_table_class_keeps_the_fallback() {
        assert_eq!(
            without_answer(nothing_found(), true, &SemanticError::Status(500)),
            nothing_found()
        );
    }

    #[test]
    fn an_input_without_a_table_class_has_no_class() {
        let question = SemanticInput::new("frob a@example.org", &nothing_found());
        assert_eq!(question.class, None);
        assert_eq!(question.command, "frob [e-mail]");
        assert_eq!(question.context.as_deref(), Some("git"));
    }

    #[test]
    fn texts_of_a_model_are_escaped_and_truncated() {
        assert_eq!(
            escape_text("a\u{1b}[2Jb\nc\u{202e}d\u{200b}"),
            "a\\u{1b}[2Jb\\u{a}c\\u{202e}d\\u{200b}"
        );
        assert_eq!(escape_text(" It deletes. "), "It deletes");
        assert_eq!(escape_text("\u{3000}"), "no reason given");
        let long = escape_text(&"\u{7}".repeat(5000));
        assert!(
            long.chars().count() <= MAX_REASON_CHARS && long.ends_with("\\u{7}…"),
            "{long}"
        );
    }
}
