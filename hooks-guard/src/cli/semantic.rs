//! Options of the semantic (second) stage. In: arguments and variables. Out: its configuration, and
//! a classifier that uses it.

#[cfg(feature = "semantic")]
mod endpoint;
#[cfg(not(feature = "semantic"))]
mod unsupported;

use clap::error::ErrorKind;
use clap::parser::ValueSource;
use clap::{ArgMatches, Args, Command, FromArgMatches};
use hooks_guard::classify::CLASSIFY_BUDGET;
use hooks_guard::config::SemanticConfig;

#[cfg(feature = "semantic")]
pub(crate) use self::endpoint::{StageError, classifier};
#[cfg(not(feature = "semantic"))]
pub(crate) use self::unsupported::{StageError, classifier};

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
