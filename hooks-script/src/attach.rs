//! Adapters that register a script hook in the registries of `hooks-runtime`. A script hook can
//! deny, never approve: it cannot let an action pass that another hook denies.

use std::fmt;
use std::future::Future;
use std::sync::Arc;

use hooks_runtime::events::event::EventContext;
use hooks_runtime::events::handler::HandlerOutput;
use hooks_runtime::{
    BoxFuture, EntryMeta, HookError, HookFuture, HookResponse, HookResult, IntoHandler, Map,
    PostHook, PreHook, ResponseAction,
};
use serde::Serialize;
use serde_json::Value;

use crate::decision::Rejection;
use crate::fields::ContextData;
use crate::history::RunHistory;
use crate::hook::ScriptHook;
use crate::run::{Failure, Run, RunResult, Stage};
use crate::stack::{RunContext, RunRecords};

type ContextDataFn<T> = Arc<dyn Fn(&T) -> ContextData + Send + Sync>;

/// A script hook with the settings of its adapter.
#[derive(Clone)]
struct AttachedHook {
    hook: ScriptHook,
    data: ContextDataFn<Map>,
    history: Option<RunHistory>,
}

impl AttachedHook {
    fn new(hook: &ScriptHook) -> Self {
        AttachedHook {
            hook: hook.clone(),
            data: Arc::new(|_| ContextData::new()),
            history: None,
        }
    }

    /// Runs the hook before or after `action`. Logs the exception that it throws and records the
    /// run, even if the future is dropped.
    async fn run(&self, stage: Stage, action: &str, message: &Map) -> Run {
        let data = (self.data)(message);
        let occasion = RunContext::new().action(action);
        let mut records = RunRecords::new(self.history.as_ref(), stage, &occasion);
        records.begin(&self.hook);
        let run = match stage {
            Stage::Pre => self.hook.run_pre(message, &data).await,
            Stage::Post => self.hook.run_post(message, &data).await,
        };
        records.put_run(&self.hook, &run, message, &data);
        records.keep().await;
        run
    }
}

/// A script hook as an event hook. The data of the event is the message.
///
/// | Hook | Result |
/// |---|---|
/// | returns `{ out }` | `modify` with `out` as the new data; `continue` if `out` equals the data |
/// | returns nothing | `continue` |
/// | stops | `deny`, with class and message as the reason |
/// | fails | an error, which the registration isolates by default; `deny` if the hook [fails closed](ScriptHook::fail_closed) |
///
/// The adapter never asks or approves. Register hooks that check the data for safety after this
/// hook, so that they see the data that it returns.
///
/// ```
/// use hooks_runtime::{Action, HookRegistry, RegisterOptions};
/// use hooks_script::{Manifest, ScriptEngine};
/// use serde_json::json;
///
/// let engine = ScriptEngine::builder().build()?;
/// let hook = engine.register(
///     Manifest::new("text:", "No removal", [])?,
///     "export default ({ in: { command } }) => {
///         if (command.startsWith('rm ')) throw new HookStopException('nothing is removed');
///         return { out: { command } };
///     };",
/// )?;
/// let hooks = HookRegistry::new();
/// hooks.register("tool:pre", hook.as_event_hook(), RegisterOptions::new());
///
/// # futures_executor::block_on(async {
/// let emission = hooks.emit("tool:pre", json!({"command": "rm -r /"})).await?;
/// assert_eq!(emission.action, Action::Deny);
/// # Ok::<_, hooks_runtime::EmitError>(())
/// # })?;
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct ScriptEventHook {
    attached: AttachedHook,
}

/// A script hook as a PRE or a POST hook. The request or the result, as JSON, is the message.
///
/// | Hook | Before the call | After the call |
/// |---|---|---|
/// | returns | `CONTINUE`; the hook returns nothing, or `{ out }`, which is ignored, because a request cannot be changed | nothing |
/// | stops | `DENY`: `error_type` is the class, `reason` the message | logged as an annotation |
/// | fails | an error, which ends the run by default; `DENY` if the hook [fails closed](ScriptHook::fail_closed) | an error, which is logged |
///
/// ```
/// use hooks_runtime::{PhaseRegistry, RegisterOptions, ResponseAction};
/// use hooks_script::{Manifest, ScriptEngine};
/// use serde_json::{Value, json};
///
/// let engine = ScriptEngine::builder().build()?;
/// let hook = engine.register(
///     Manifest::new("text:", "Budget", [])?,
///     "class OverBudget extends HookStopException {}
///      export default ({ in: { cost } }) => {
///          if (cost > 10) throw new OverBudget('at most 10');
///      };",
/// )?;
/// let registry: PhaseRegistry<Value, Value> = PhaseRegistry::new();
/// registry.register_pre(hook.as_phase_hook("budget"), RegisterOptions::new().trusted(false));
///
/// # futures_executor::block_on(async {
/// let response = registry.execute_pre(&json!({"cost": 11})).await?;
/// assert_eq!(response.action, ResponseAction::Deny);
/// assert_eq!(response.error_type.as_deref(), Some("OverBudget"));
/// # Ok::<_, hooks_runtime::HookError>(())
/// # }).unwrap();
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct ScriptPhaseHook {
    id: String,
    attached: AttachedHook,
}

impl ScriptHook {
    /// Returns the hook for a [`HookRegistry`](hooks_runtime::HookRegistry). It runs before the
    /// action that its event announces. It receives no `data` by default; see
    /// [`ScriptEventHook::with_data`].
    pub fn as_event_hook(&self) -> ScriptEventHook {
        ScriptEventHook {
            attached: AttachedHook::new(self),
        }
    }

    /// Returns the hook for a [`PhaseRegistry`](hooks_runtime::PhaseRegistry), with this id, to run
    /// before or after calls. It receives no `data` by default; see [`ScriptPhaseHook::with_data`].
    pub fn as_phase_hook(&self, id: impl Into<String>) -> ScriptPhaseHook {
        ScriptPhaseHook {
            id: id.into(),
            attached: AttachedHook::new(self),
        }
    }

    /// Converts a run before an action to a new message, a rejection, or a failure.
    fn event_result(&self, run: Run) -> Result<Result<Option<Map>, Rejection>, Failure> {
        match (self.outcome(&run).map(Option::<&Map>::cloned), run.result) {
            (Ok(_), RunResult::Failed(failure)) => Err(failure),
            (outcome, _) => Ok(outcome),
        }
    }
}

impl ScriptEventHook {
    /// Sets the function that derives user, channel and guild from the data of the event. Default:
    /// no context data.
    #[must_use]
    pub fn with_data(mut self, data: impl Fn(&Map) -> ContextData + Send + Sync + 'static) -> Self {
        self.attached.data = Arc::new(data);
        self
    }

    /// Sets the history that records the runs, with the name of the event as the action. Default:
    /// no history.
    #[must_use]
    pub fn with_history(mut self, history: RunHistory) -> Self {
        self.attached.history = Some(history);
        self
    }

    async fn run(self, event: Arc<str>, message: Arc<Map>) -> Result<HookResult, HookError> {
        let run = self.attached.run(Stage::Pre, &event, &message).await;
        Ok(match self.attached.hook.event_result(run)? {
            Ok(Some(out)) if out != *message => HookResult::modify(out),
            Ok(_) => HookResult::proceed(),
            Err(Rejection { class, message, .. }) => {
                HookResult::deny(format!("{class}: {message}"))
            }
        })
    }
}

impl ScriptPhaseHook {
    /// Sets the function that derives user, channel and guild from the request or the result.
    /// Default: no context data.
    #[must_use]
    pub fn with_data(mut self, data: impl Fn(&Map) -> ContextData + Send + Sync + 'static) -> Self {
        self.attached.data = Arc::new(data);
        self
    }

    /// Sets the history that records the runs, with the id of the hook as the action. Default: no
    /// history.
    #[must_use]
    pub fn with_history(mut self, history: RunHistory) -> Self {
        self.attached.history = Some(history);
        self
    }
}

/// Error returned when a request or a result does not serialize to a JSON object.
#[derive(Debug, thiserror::Error)]
#[error("the message of the hook `{hook}` is not a JSON object; use a struct or a map")]
struct NoMessage {
    hook: String,
}

impl NoMessage {
    fn of<T: Serialize + ?Sized>(value: &T, hook: &str) -> Result<Map, HookError> {
        match serde_json::to_value(value)? {
            Value::Object(message) => Ok(message),
            _ => Err(NoMessage {
                hook: hook.to_owned(),
            }
            .into()),
        }
    }
}

/// Marker type of the hook form of [`ScriptEventHook`].
#[doc(hidden)]
#[derive(Debug)]
pub enum Script {}

impl IntoHandler<Script> for ScriptEventHook {
    type Return = BoxFuture<'static, Result<HookResult, HookError>>;

    const TRUSTED: bool = false;

    fn start<'a>(
        &'a self,
        _: &'a EntryMeta,
        mut context: EventContext<'_>,
        convert: impl FnOnce(Self::Return, EventContext<'_>) -> HookFuture<'a, HandlerOutput>,
    ) -> HookFuture<'a, HandlerOutput> {
        let (event, data) = context.share();
        let output: Self::Return = Box::pin(self.clone().run(event, data));
        convert(output, context)
    }

    fn name(&self) -> Option<String> {
        Some(self.attached.hook.manifest().name().to_owned())
    }
}

impl<Req: Serialize + Sync + ?Sized> PreHook<Req> for ScriptPhaseHook {
    fn id(&self) -> &str {
        &self.id
    }

    fn execute(
        &self,
        request: &Req,
    ) -> impl Future<Output = Result<HookResponse, HookError>> + Send {
        let message = NoMessage::of(request, &self.id);
        async move {
            let message = match message {
                Ok(message) => message,
                // A check that cannot read its message fails closed.
                Err(error) if self.attached.hook.fails_closed() => {
                    return Ok(deny("HookFailure", &error.to_string(), &self.id));
                }
                Err(error) => return Err(error),
            };
            let run = self.attached.run(Stage::Pre, &self.id, &message).await;
            Ok(match self.attached.hook.event_result(run)? {
                Ok(_) => HookResponse::default(),
                Err(rejection) => deny(&rejection.class, &rejection.message, &rejection.hook),
            })
        }
    }
}

fn deny(class: &str, reason: &str, hook: &str) -> HookResponse {
    HookResponse::new(ResponseAction::Deny)
        .error_type(class)
        .reason(reason)
        .details(format!("stopped by the hook `{hook}`"))
}

impl<Res: Serialize + Sync + ?Sized> PostHook<Res> for ScriptPhaseHook {
    fn id(&self) -> &str {
        &self.id
    }

    fn execute(
        &self,
        result: &Res,
        request_id: Option<&str>,
    ) -> impl Future<Output = Result<(), HookError>> + Send {
        let message = NoMessage::of(result, &self.id);
        let request_id = request_id.map(str::to_owned);
        async move {
            let message = message?;
            let run = self.attached.run(Stage::Post, &self.id, &message).await;
            match run.result {
                RunResult::Returned(_) | RunResult::Unchanged => Ok(()),
                RunResult::Stop(_) => {
                    // The exception is already logged, with parts of the message removed.
                    tracing::info!(
                        target: "hooks_script",
                        hook = self.id,
                        request_id,
                        "a hook has annotated a call"
                    );
                    Ok(())
                }
                RunResult::Failed(failure) => Err(failure.into()),
            }
        }
    }
}

impl fmt::Debug for ScriptEventHook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ScriptEventHook")
            .field(&self.attached.hook)
            .finish()
    }
}

impl fmt::Debug for ScriptPhaseHook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScriptPhaseHook")
            .field("id", &self.id)
            .field("hook", &self.attached.hook)
            .finish()
    }
}
