//! Who answers when a hook asks: `--approve`.

use std::sync::Arc;

use clap::ValueEnum;
use hooks_runtime::approval::{
    ApprovalAnswer, ApprovalProvider, ApprovalRequest, FixedAnswers, TerminalPrompt,
};
use hooks_runtime::{CoordinatorBuilder, HookError};

use crate::progress::Progress;

/// How questions are answered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Approve {
    /// Yes, to each.
    Always,
    /// No, to each.
    #[default]
    Never,
    /// As the user says at the terminal; without a terminal, no.
    Ask,
}

impl Approve {
    /// Has the coordinator ask in this way. The progress bar makes room for a question.
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

/// Asks at the terminal, without the progress bar in between.
struct AtTheTerminal {
    prompt: TerminalPrompt,
    progress: Progress,
}

impl ApprovalProvider for AtTheTerminal {
    async fn ask(&self, request: &Arc<ApprovalRequest>) -> Result<ApprovalAnswer, HookError> {
        // Nothing draws it while the replay waits for the answer.
        self.progress.make_room();
        self.prompt.ask(request).await
    }
}
