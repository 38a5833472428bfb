//! Options of the semantic (second) stage. In: arguments and variables. Out: its configuration, and
//! a classifier that uses it.

use std::env;
use std::error::Error as _;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use clap::error::ErrorKind;
use clap::parser::ValueSource;
use clap::{ArgMatches, Args, Command, FromArgMatches};
use hooks_guard::classify::{
    CLASSIFY_BUDGET, Classifier, EndpointError, OpenAiCompatible, Semantic, SemanticError,
    SemanticInput, SemanticOutput,
};
use hooks_guard::config::SemanticConfig;
use hooks_runtime::display::escape;
use thiserror::Error;

/// Variable with the API key. Every process of the machine could read a key on the command line.
const KEY_VARIABLE: &str = "HOOKS_GUARD_SEMANTIC_KEY";

/// Options of the second stage, which depend on each other.
#[derive(Debug)]
pub(crate) struct SemanticArgs(SemanticValues);

#[derive(Debug, Args)]
#[command(next_help_heading = "Second stage")]
#[group(skip)]
struct SemanticValues {
    /// Asks a language model about commands that the tables do not know: the base URL of an
    /// OpenAI-compatible endpoint, such as `http://localhost:11434/v1`.
    ///
    /// Its answers can raise a class and never lower one. If the endpoint needs an API key, set the
    /// variable HOOKS_GUARD_SEMANTIC_KEY.
    #[arg(
        long,
        value_name = "URL",
        env = "HOOKS_GUARD_SEMANTIC_URL",
        hide_env_values = true,
        requires = "semantic_model"
    )]
    semantic_url: Option<String>,
    /// The model to use.
    #[arg(long, value_name = "NAME", env = "HOOKS_GUARD_SEMANTIC_MODEL")]
    semantic_model: Option<String>,
    /// Timeout of an answer; at most the two seconds of a classification.
    #[arg(
        long,
        value_name = "MILLISECONDS",
        default_value_t = CLASSIFY_BUDGET.as_millis() as u64,
        value_parser = clap::value_parser!(u64).range(1..=CLASSIFY_BUDGET.as_millis() as u64)
    )]
    timeout: u64,
}

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

impl Args for SemanticArgs {
    fn augment_args(command: Command) -> Command {
        SemanticValues::augment_args(command)
    }

    fn augment_args_for_update(command: Command) -> Command {
        SemanticValues::augment_args_for_update(command)
    }
}

impl FromArgMatches for SemanticArgs {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let given = SemanticValues::from_arg_matches(matches)?;
        // `requires` would count variables as well: one that is set for another command would stop
        // a service that configures its second stage in the file, or has none.
        let typed = |id: &str| matches.value_source(id) == Some(ValueSource::CommandLine);
        let alone = [
            ("semantic_model", "--semantic-model"),
            ("timeout", "--timeout"),
        ]
        .into_iter()
        .find(|(id, _)| given.semantic_url.is_none() && typed(id));
        match alone {
            None => Ok(Self(given)),
            Some((_, option)) => Err(clap::Error::raw(
                ErrorKind::MissingRequiredArgument,
                format!("`{option}` requires an endpoint; set one with `--semantic-url`"),
            )),
        }
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl SemanticArgs {
    /// Returns the configuration of the second stage, if the options name an endpoint.
    pub(crate) fn stage(self) -> Option<SemanticConfig> {
        let Self(given) = self;
        Some(SemanticConfig {
            url: given.semantic_url?,
            model: given.semantic_model?,
            timeout_ms: Some(given.timeout),
        })
    }
}

/// Returns a classifier with this second stage.
pub(crate) fn classifier(stage: SemanticConfig) -> Result<Classifier, StageError> {
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
    let classifier = Classifier::new();
    // Build the masking tables now, not during the first command.
    if let Ok(verdict) = classifier.classify("true") {
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
