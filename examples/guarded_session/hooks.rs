//! Typed hooks of a session: the slots that run for each call before and after the registries, and
//! the policies registered in them.
//!
//! | Slot | Kind | Purpose |
//! |---|---|---|
//! | `rewrite` | fallback, with `last` | changes the call that runs |
//! | `validate` | always, stops at the first refusal | allows or refuses the call |
//! | `choose_shell` | singleton | selects the shell of a command |
//! | `redact` | always, with `last` | hides secrets in the output |
//! | `observe` | always | receives the final record |
//!
//! A call is rewritten first, before the registries, so that all hooks check the call that runs.

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
    /// Returns the call that runs instead. Each hook receives the output of the previous one.
    #[hook(fallback)]
    async fn rewrite(call: &Call) -> Draft {
        Draft::unchanged(call)
    }

    /// Returns an error to refuse the call; the first refusal ends the dispatch.
    #[hook(always, chain = ShortCircuit<(), Refusal>)]
    async fn validate(call: &Call) -> Result<(), Refusal> {
        let _ = call;
        Ok(())
    }

    /// Returns the shell for a command.
    #[hook(singleton)]
    async fn choose_shell(command: &str) -> Shell {
        let _ = command;
        Shell::Sh
    }

    /// Returns a text without the parts that must not be shown.
    #[hook(always)]
    async fn redact(text: &str) -> Redacted {
        Redacted {
            text: text.to_owned(),
            count: 0,
            by: Vec::new(),
        }
    }

    /// Observes each call after it is decided and has run.
    #[hook(always)]
    async fn observe(record: &Record) {
        let _ = record;
    }
}

/// The call that is to run, and its changes.
#[derive(Clone, Debug)]
pub(crate) struct Draft {
    pub(crate) call: Call,
    pub(crate) changes: Vec<Change>,
}

/// Hook that changed a call, and its reason.
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

/// Reason why a call must not run, and the hook that refused it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub(crate) hook: String,
    pub(crate) reason: String,
}

/// Text whose secrets are replaced.
#[derive(Clone, Debug)]
pub(crate) struct Redacted {
    pub(crate) text: String,
    /// Number of secrets.
    pub(crate) count: usize,
    /// Hooks that found them.
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

/// Returns the set that guards a session, counts in `tally` and shows `progress`.
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

/// Returns an entry named like the policy in its refusals.
fn policy<H>(hook: H, name: &'static str) -> Entry<H> {
    Entry::new(hook).key(name).name(name)
}

/// Adapts calls to the place where they run.
struct Workspace {
    has_bash: bool,
}

#[impl_hooks(SessionHooksSet)]
impl SessionHooks for Workspace {
    async fn rewrite(&self, call: &Call, last: Option<Draft>) -> Draft {
        let mut draft = last.unwrap_or_else(|| Draft::unchanged(call));
        let moved = relocate(&draft.call);
        draft.change("relocate", "the project is in the scratch copy now", moved);
        draft
    }

    async fn choose_shell(&self, _: &str) -> Shell {
        // The agent's tool is `bash`.
        match self.has_bash {
            true => Shell::Bash,
            false => Shell::Sh,
        }
    }
}

/// Refuses characters that make a command look like another one.
#[impl_hook(Validate)]
async fn hidden_text(call: &Call) -> Result<(), Refusal> {
    if display::hides_text(call.text()) {
        return refuse(
            "hidden_text",
            "contains control, bidirectional or invisible characters",
        );
    }
    Ok(())
}

/// Refuses file tools on known secret files; the classifiers check the files of commands.
#[impl_hook(Validate)]
async fn credentials(call: &Call) -> Result<(), Refusal> {
    match call {
        Call::Read { path } | Call::Write { path, .. } | Call::Edit { path, .. }
            if Classifier::new().is_secret_path(path) =>
        {
            refuse("credentials", format!("`{path}` contains secrets"))
        }
        _ => Ok(()),
    }
}

/// Refuses file tools on paths outside of the project; the classifiers check the paths of commands.
#[impl_hook(Validate)]
async fn paths(call: &Call) -> Result<(), Refusal> {
    match call {
        Call::Bash { .. } => Ok(()),
        Call::Read { path } | Call::Write { path, .. } | Call::Edit { path, .. } => {
            if paths::leads_out(path) {
                return refuse("paths", format!("`{path}` leads out of the project"));
            }
            if !matches!(call, Call::Read { .. }) && paths::is_git_internal(path) {
                return refuse("paths", format!("`{path}` is an internal file of git"));
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
