//! Classification of commands. Takes a command; returns its class, findings and decision, from the
//! tables of [`hooks_classify`] and an optional second stage.
//!
//! Re-exports [`hooks_classify`]. [`Classifier`] adds a [`Semantic`] stage, such as a language
//! model. [`Classifier::classify_fully`] calls it for commands that the tables do not cover.

mod semantic;

pub use hooks_classify::*;
pub use semantic::{CLASSIFY_BUDGET, Semantic, SemanticError, SemanticInput, SemanticOutput};
#[cfg(feature = "semantic")]
pub use semantic::{EndpointError, OpenAiCompatible, OpenAiCompatibleBuilder};

use tokio::time::Instant;

use semantic::SemanticStage;

/// Classifies commands by the tables of programs and, in [`classify_fully`](Self::classify_fully),
/// by a second stage.
///
/// Cheap to create and to clone.
#[derive(Clone, Debug, Default)]
pub struct Classifier {
    tables: hooks_classify::Classifier,
    semantic: Option<SemanticStage>,
}

impl Classifier {
    /// Returns a classifier with the embedded tables and without a second stage.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the second stage, which [`classify_fully`](Self::classify_fully) calls for commands
    /// that the tables do not cover.
    #[must_use]
    pub fn with_semantic(mut self, semantic: impl Semantic + 'static) -> Self {
        self.semantic = Some(SemanticStage::new(semantic));
        self
    }

    /// Sets the shells that may read the command. Without it, all of them count.
    #[must_use]
    pub fn with_shells(mut self, shells: Shells) -> Self {
        self.tables = self.tables.with_shells(shells);
        self
    }

    /// Returns `true` if the second stage has answered at least once.
    #[must_use]
    pub fn model_answered(&self) -> bool {
        self.semantic.as_ref().is_some_and(SemanticStage::answered)
    }

    /// Classifies a command by the tables.
    ///
    /// # Errors
    /// Returns an error if the command is empty, too long, or contains a NUL.
    pub fn classify(&self, command: &str) -> Result<Classification, InputError> {
        self.tables.classify(command)
    }

    /// Classifies a command given as bytes.
    ///
    /// # Errors
    /// Returns the errors of [`classify`](Self::classify), and an error if the bytes are not UTF-8.
    pub fn classify_bytes(&self, command: &[u8]) -> Result<Classification, InputError> {
        self.tables.classify_bytes(command)
    }

    /// Classifies a command with a context; see [`hooks_classify::Classifier::classify_in_context`].
    ///
    /// # Errors
    /// Returns the errors of [`classify`](Self::classify), and an error if the context is too long.
    pub fn classify_in_context(
        &self,
        command: &str,
        context: Option<&str>,
    ) -> Result<Classification, InputError> {
        self.tables.classify_in_context(command, context)
    }

    /// Classifies a command by all stages: first the tables; if they do not cover a part or their
    /// confidence is low, the second stage; then the fallback. All stages together take at most
    /// [`CLASSIFY_BUDGET`], unless the tables alone take longer.
    ///
    /// The second stage may raise the class. It never lowers the class and allows nothing. If its
    /// answer is malformed or missing, the result of the tables is returned. If it times out, parts
    /// that the tables do not cover get the fallback.
    ///
    /// # Errors
    /// Returns the errors of [`classify_in_context`](Self::classify_in_context).
    ///
    /// # Panics
    /// Panics outside a Tokio runtime with a timer, if there is a second stage.
    pub async fn classify_fully(
        &self,
        command: &str,
        context: Option<&str>,
    ) -> Result<Classification, InputError> {
        let deadline = Instant::now() + CLASSIFY_BUDGET;
        let found = self.tables.classify_in_context(command, context)?;
        Ok(self.second_stage(command, found, deadline).await)
    }

    /// Like [`classify_in_context`](Self::classify_in_context), with the parts of the command, to which rules
    /// apply.
    ///
    /// # Errors
    /// Returns the errors of [`classify_in_context`](Self::classify_in_context).
    pub fn analyze(
        &self,
        command: &str,
        context: Option<&str>,
    ) -> Result<CommandAnalysis, InputError> {
        self.tables.analyze_in_context(command, context)
    }

    /// Like [`classify_fully`](Self::classify_fully), with the parts of the command.
    ///
    /// # Errors
    /// Returns the errors of [`classify_in_context`](Self::classify_in_context).
    ///
    /// # Panics
    /// Panics like [`classify_fully`](Self::classify_fully).
    pub async fn analyze_fully(
        &self,
        command: &str,
        context: Option<&str>,
    ) -> Result<CommandAnalysis, InputError> {
        let deadline = Instant::now() + CLASSIFY_BUDGET;
        let mut found = self.tables.analyze_in_context(command, context)?;
        found.classification = self
            .second_stage(command, found.classification, deadline)
            .await;
        Ok(found)
    }

    /// Returns the result of the second stage, or `found` if there is none.
    async fn second_stage(
        &self,
        command: &str,
        found: Classification,
        deadline: Instant,
    ) -> Classification {
        match &self.semantic {
            Some(stage) => {
                let unsure = !found.understood();
                stage.refine(command, found, unsure, deadline).await
            }
            None => found,
        }
    }

    /// Explains what a command would run, as a tree with effects and reasons.
    ///
    /// # Errors
    /// Returns the errors of [`classify`](Self::classify).
    pub fn explain(&self, command: &str) -> Result<Explanation, InputError> {
        self.tables.explain(command)
    }

    /// Returns `true` if the name of a file indicates secrets, such as `~/.ssh/id_rsa`.
    #[must_use]
    pub fn is_secret_path(&self, path: &str) -> bool {
        self.tables.is_secret_path(path)
    }

    /// Checks that a command and a context can be classified.
    ///
    /// # Errors
    /// Returns an error if the command is empty, contains a NUL or is longer than
    /// [`MAX_COMMAND_CHARS`], or if the context is longer than [`MAX_CONTEXT_CHARS`].
    pub fn check_input(command: &str, context: Option<&str>) -> Result<(), InputError> {
        hooks_classify::Classifier::check_input(command, context)
    }
}
