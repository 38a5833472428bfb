//! Classification of commands. Takes a command; returns its class, findings and decision, from the
//! tables of [`hooks_classify`] and an optional second stage.
//!
//! Re-exports [`hooks_classify`]. [`StagedClassifier`] adds a [`Semantic`] stage, such as a language
//! model, to its [`Classifier`] and calls it for commands that the tables do not cover.

mod semantic;

pub use hooks_classify::*;
pub use semantic::{CLASSIFY_BUDGET, Semantic, SemanticError, SemanticInput, SemanticOutput};
#[cfg(feature = "semantic")]
pub use semantic::{EndpointError, OpenAiCompatible, OpenAiCompatibleBuilder};

use tokio::time::Instant;

use semantic::SemanticStage;

/// Classifies commands by a [`Classifier`], its first stage, and by a second stage.
///
/// Cheap to create and to clone.
#[derive(Clone, Debug, Default)]
pub struct StagedClassifier {
    tables: Classifier,
    semantic: Option<SemanticStage>,
}

impl StagedClassifier {
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

    /// Sets the place where the commands run; see [`Classifier::with_workspace`].
    #[must_use]
    pub fn with_workspace(mut self, workspace: impl Workspace + 'static) -> Self {
        self.tables = self.tables.with_workspace(workspace);
        self
    }

    /// Returns the first stage.
    #[must_use]
    pub fn tables(&self) -> &Classifier {
        &self.tables
    }

    /// Returns `true` if the second stage has answered at least once.
    #[must_use]
    pub fn model_answered(&self) -> bool {
        self.semantic.as_ref().is_some_and(SemanticStage::answered)
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
    /// Returns the errors of [`classify_in_context`](Classifier::classify_in_context).
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

    /// Like [`classify_fully`](Self::classify_fully), with the parts of the command.
    ///
    /// # Errors
    /// Returns the errors of [`classify_in_context`](Classifier::classify_in_context).
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
}

impl From<Classifier> for StagedClassifier {
    /// Returns a classifier without a second stage.
    fn from(tables: Classifier) -> Self {
        Self {
            tables,
            semantic: None,
        }
    }
}
