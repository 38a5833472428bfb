//! `--approve`: answers to the questions of hooks.

use std::sync::Arc;

use clap::ValueEnum;
use hooks_runtime::approval::{
    ApprovalAnswer, ApprovalProvider, ApprovalRequest, FixedAnswers, TerminalPrompt,
};
use hooks_runtime::{CoordinatorBuilder, HookError};

use crate::progress::Progress;

/// Source of the answers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Approve {
    /// Always yes.
    Always,
    /// Always no.
    #[default]
    Never,
    /// The user's answer in the terminal; no if there is no terminal.
    Ask,
}

impl Approve {
    /// Configures the coordinator with this source. The progress bar is hidden during a question.
    pub(super) fn provide(self, to: CoordinatorBuilder, progress: &Progress) -> CoordinatorBuilder {
        match self {
            Self::Always => to.provider(FixedAnswers::allow()),
            Self::Never => to.provider(FixedAnswers::deny()),
            Self::Ask => to.provider(AtTheTerminal {
                prompt: TerminalPrompt::new(),
                progress: progress.clone(),
            }),
        }
    }
}

/// Asks in the terminal with a hidden progress bar.
struct AtTheTerminal {
    prompt: TerminalPrompt,
    progress: Progress,
}

impl ApprovalProvider for AtTheTerminal {
    async fn ask(&self, request: &Arc<ApprovalRequest>) -> Result<ApprovalAnswer, HookError> {
        // The bar is not drawn while the replay waits for the answer.
        self.progress.make_room();
        self.prompt.ask(request).await
    }
}
