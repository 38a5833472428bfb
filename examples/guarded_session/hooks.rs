//! The typed hooks of a session: what is asked about each call before the registries see it
//! and after they have let it pass, and the policies that answer.
//!
//! | slot | kind | asks |
//! |---|---|---|
//! | `rewrite` | fallback, with `last` | what should run instead? |
//! | `validate` | always, stops at the first refusal | may it run? |
//! | `choose_shell` | singleton | which shell runs it? |
//! | `redact` | always, with `last` | what of its output must not be shown? |
//! | `observe` | always | who wants to know what became of it? |
//!
//! A call is rewritten first, before any registry sees it, so that what is judged is what runs.

use hooks_guard::classify::Classifier;
use hooks_runtime::{Entry, ShortCircuit, hooks, impl_hook, impl_hooks};
use serde::{Deserialize, Serialize};

use crate::display;
use crate::job::Shell;
use crate::progress::Progress;
use crate::report::{Record, Tally};
use crate::session::Call;
use crate::{paths, rewrites, secrets};

#[hooks]
pub(crate) trait SessionHooks {
    /// What runs in place of the call. Each hook gets what the one before made of it.
    #[hook(fallback)]
    async fn rewrite(call: &Call) -> Draft {
        Draft::unchanged(call)
    }

    /// Whether the call may run; the first refusal ends the question.
    #[hook(always, chain = ShortCircuit<(), Refusal>)]
    async fn validate(call: &Call) -> Result<(), Refusal> {
        let _ = call;
        Ok(())
    }

    /// The shell for a command.
    #[hook(singleton)]
    async fn choose_shell(command: &str) -> Shell {
        let _ = command;
        Shell::Sh
    }

    /// What of a text can be shown.
    #[hook(always)]
    async fn redact(text: &str) -> Redacted {
        Redacted {
            text: text.to_owned(),
            count: 0,
            by: Vec::new(),
        }
    }

    /// Told of each call once it is decided and done.
    #[hook(always)]
    async fn observe(record: &Record) {
        let _ = record;
    }
}

/// A call as it is to run, and what was changed to make it so.
#[derive(Clone, Debug)]
pub(crate) struct Draft {
    pub(crate) call: Call,
    pub(crate) changes: Vec<Change>,
}

/// A hook that changed a call, and its reason.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct Change {
    pub(crate) hook: String,
    pub(crate) reason: String,
}

impl Change {
    pub(crate) fn new(hook: &str, reason: &str) -> Self {
        Self {
            hook: hook.to_owned(),
            reason: reason.to_owned(),
        }
    }
}

impl Draft {
    pub(crate) fn unchanged(call: &Call) -> Self {
        Self {
            call: call.clone(),
            changes: Vec::new(),
        }
    }

    fn change(&mut self, hook: &str, reason: &str, call: Option<Call>) {
        if let Some(call) = call {
            self.call = call;
            self.changes.push(Change::new(hook, reason));
        }
    }
}

/// Why a call may not run, and which hook says so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub(crate) hook: String,
    pub(crate) reason: String,
}

/// A text with its secrets blacked out.
#[derive(Clone, Debug)]
pub(crate) struct Redacted {
    pub(crate) text: String,
    /// How many secrets there were.
    pub(crate) count: usize,
    /// The hooks that found them.
    pub(crate) by: Vec<&'static str>,
}

impl Redacted {
    fn then(mut self, hook: &'static str, redact: impl Fn(&str) -> (String, usize)) -> Self {
        let (text, count) = redact(&self.text);
        if count > 0 {
            self.by.push(hook);
        }
        Self {
            text,
            count: self.count + count,
            by: self.by,
        }
    }
}

/// The set that guards a session, told to count in `tally` and to show `progress`.
pub(crate) fn guard<'h>(tally: &'h Tally, progress: &'h Progress) -> SessionHooksSet<'h> {
    let mut set = SessionHooksSet::new()
        // The gravest reason is the one to give.
        .with_validate(policy(HiddenText, "hidden_text").priority(-30))
        .with_validate(policy(Credentials, "credentials").priority(-10))
        .with_validate(policy(Paths, "paths"))
        .with_redact(RedactTokens)
        .with_redact(RedactAssigned);
    set.register_hooks(Workspace {
        has_bash: has_bash(),
    })
    .register_hooks(tally)
    .register_hooks(progress);
    set
}

/// A policy under the name that it refuses with.
fn policy<H>(hook: H, name: &'static str) -> Entry<H> {
    Entry::new(hook).key(name).name(name)
}

/// Fits calls to the place where they run now.
struct Workspace {
    has_bash: bool,
}

#[impl_hooks(SessionHooksSet)]
impl SessionHooks for Workspace {
    async fn rewrite(&self, call: &Call, last: Option<Draft>) -> Draft {
        let mut draft = last.unwrap_or_else(|| Draft::unchanged(call));
        let moved = relocate(&draft.call);
        draft.change(
            "relocate",
            "the project lies in the scratch copy now",
            moved,
        );
        draft
    }

    async fn choose_shell(&self, _: &str) -> Shell {
        // The agent's tool is called `bash`.
        match self.has_bash {
            true => Shell::Bash,
            false => Shell::Sh,
        }
    }
}

/// Characters that make a command look like another one.
#[impl_hook(Validate)]
async fn hidden_text(call: &Call) -> Result<(), Refusal> {
    if display::hides_text(call.text()) {
        return refuse(
            "hidden_text",
            "it holds control, bidirectional or invisible characters",
        );
    }
    Ok(())
}

/// Files that are known to hold secrets; those that a command would read are seen by the
/// classifiers.
#[impl_hook(Validate)]
async fn credentials(call: &Call) -> Result<(), Refusal> {
    match call {
        Call::Read { path } | Call::Write { path, .. } | Call::Edit { path, .. }
            if Classifier::new().holds_secrets(path) =>
        {
            refuse("credentials", format!("`{path}` holds secrets"))
        }
        _ => Ok(()),
    }
}

/// Paths that lead out of the project; those of commands are seen by the classifiers.
#[impl_hook(Validate)]
async fn paths(call: &Call) -> Result<(), Refusal> {
    match call {
        Call::Bash { .. } => Ok(()),
        Call::Read { path } | Call::Write { path, .. } | Call::Edit { path, .. } => {
            if paths::leads_out(path) {
                return refuse("paths", format!("`{path}` leads out of the project"));
            }
            if !matches!(call, Call::Read { .. }) && paths::is_git_internal(path) {
                return refuse("paths", format!("`{path}` is git's own file"));
            }
            Ok(())
        }
    }
}

#[impl_hook(Redact)]
async fn redact_tokens(text: &str, last: Option<Redacted>) -> Redacted {
    redacted(text, last).then("redact_tokens", secrets::redact_tokens)
}

#[impl_hook(Redact)]
async fn redact_assigned(text: &str, last: Option<Redacted>) -> Redacted {
    redacted(text, last).then("redact_assigned", secrets::redact_assigned)
}

#[impl_hooks(SessionHooksSet)]
impl SessionHooks for Tally {
    async fn observe(&self, record: &Record) {
        self.count(record);
    }
}

#[impl_hooks(SessionHooksSet)]
impl SessionHooks for Progress {
    async fn observe(&self, record: &Record) {
        self.advance(record);
    }
}

fn refuse(hook: &'static str, reason: impl Into<String>) -> Result<(), Refusal> {
    Err(Refusal {
        hook: hook.to_owned(),
        reason: reason.into(),
    })
}

fn relocate(call: &Call) -> Option<Call> {
    let mut moved = call.clone();
    match &mut moved {
        Call::Bash { command } => *command = rewrites::relocate_command(command)?,
        Call::Read { path } | Call::Write { path, .. } | Call::Edit { path, .. } => {
            *path = rewrites::relocate_path(path)?;
        }
    }
    Some(moved)
}

fn redacted(text: &str, last: Option<Redacted>) -> Redacted {
    last.unwrap_or_else(|| Redacted {
        text: text.to_owned(),
        count: 0,
        by: Vec::new(),
    })
}

fn has_bash() -> bool {
    [
        "/bin/bash",
        "/usr/bin/bash",
        "/run/current-system/sw/bin/bash",
    ]
    .iter()
    .any(|path| std::path::Path::new(path).exists())
}
