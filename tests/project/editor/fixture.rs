//! The file that is open in the editor: slots, a block of hooks, a function that is a hook, a dispatch.

use hooks_core::{hooks, impl_hook, impl_hooks};

/// A prompt before it is sent.
#[derive(Debug, Clone)]
pub(crate) struct Prompt {
    pub(crate) text: String,
}

impl Prompt {
    /// Returns `true` for an empty prompt.
    pub(crate) fn is_blank(&self) -> bool {
        self.text.trim().is_empty()
    }
}

#[hooks]
pub(crate) trait AppHooks {
    /// Decides about a prompt before it is sent.
    #[hook(always)]
    async fn allows(prompt: &Prompt) -> bool {
        !prompt.is_blank()
    }

    /// The model that answers.
    #[hook(fallback)]
    async fn choose_model(task: &str) -> String {
        task.to_owned()
    }
}

pub(crate) struct Policy {
    pub(crate) is_strict: bool,
}

#[impl_hooks(AppHooksSet)]
impl AppHooks for Policy {
    async fn allows(&self, prompt: &Prompt, last: Option<bool>) -> bool {
        last.unwrap_or(true) && !(self.is_strict && prompt.is_blank())
    }
}

#[impl_hook(ChooseModel)]
async fn large(task: &str, last: Option<String>) -> String {
    last.unwrap_or_default() + task
}

pub(crate) async fn ask(prompt: Prompt) -> Option<String> {
    let policy = Policy { is_strict: true };
    let hooks = AppHooksSet::new()
        .with_hooks(policy)
        .with_choose_model(Large);
    if !hooks.allows(&prompt).await {
        return None;
    }
    Some(hooks.choose_model("talk").await)
}
