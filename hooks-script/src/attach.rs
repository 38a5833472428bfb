//! A script hook in the registries of `hooks-runtime`. It may hold something up, and never lets
//! anything through that another hook would not: it has no way to say "allow".

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
use crate::run::{Failure, Run, Stage, Verdict};
use crate::stack::{Occasion, Records};

type DataOf<T> = Arc<dyn Fn(&T) -> ContextData + Send + Sync>;

/// A hook that is attached, with what the host says about that.
#[derive(Clone)]
struct Attached {
    hook: ScriptHook,
    data: DataOf<Map>,
    history: Option<RunHistory>,
}

impl Attached {
    fn new(hook: &ScriptHook) -> Self {
        Attached {
            hook: hook.clone(),
            data: Arc::new(|_| ContextData::new()),
            history: None,
        }
    }

    /// Runs it, before or after `action`. What it throws is logged, and the run is recorded, also
    /// if it is given up (`S-15`, `S-20`).
    async fn run(&self, stage: Stage, action: &str, message: &Map) -> Run {
        let data = (self.data)(message);
        let occasion = Occasion::new().action(action);
        let mut records = Records::new(self.history.as_ref(), stage, &occasion);
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

/// A script hook as an event hook: the data of the event are the message.
///
/// | The hook | The answer |
/// |---|---|
/// | returns `{ out }` | `modify` with `out` in the place of the data; to go on, if it is the same |
/// | stops | `deny`, with class and message as the reason (`S-15`, `S-19`) |
/// | fails | an error, which the registration isolates unless it says otherwise; `deny`, if the hook [fails closed](ScriptHook::fail_closed) |
///
/// The host does not vouch for it: no answer of it asks or approves. Hooks that
/// look at the data for safety belong behind it, because they have to see what it makes of them.
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
    attached: Attached,
}

/// A script hook as a PRE or a POST hook: the request or the result, as JSON, is the message.
///
/// | The hook | Before the call | After it |
/// |---|---|---|
/// | returns | `CONTINUE`; it has to be an `{ out }`, which has no effect, because a request cannot be changed | nothing |
/// | stops | `DENY`: `error_type` is the class, `reason` the message | logged as an annotation (`S-18`) |
/// | fails | an error, which ends the run unless the registration says otherwise (`R-13`); `DENY`, if the hook [fails closed](ScriptHook::fail_closed) | an error, which is logged |
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
///          return { out: {} };
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
    attached: Attached,
}

impl ScriptHook {
    /// The hook for a [`HookRegistry`](hooks_runtime::HookRegistry), where it runs before what
    /// its event announces. It is given no `data` ([`ScriptEventHook::with_data`]).
    pub fn as_event_hook(&self) -> ScriptEventHook {
        ScriptEventHook {
            attached: Attached::new(self),
        }
    }

    /// The hook for a [`PhaseRegistry`](hooks_runtime::PhaseRegistry), under this id, before or
    /// after calls. It is given no `data` ([`ScriptPhaseHook::with_data`]).
    pub fn as_phase_hook(&self, id: impl Into<String>) -> ScriptPhaseHook {
        ScriptPhaseHook {
            id: id.into(),
            attached: Attached::new(self),
        }
    }

    /// What a run before something says: another message, a rejection, or that it failed.
    fn answer(&self, run: Run) -> Result<Result<Option<Map>, Rejection>, Failure> {
        match (self.outcome(&run).map(Option::<&Map>::cloned), run.verdict) {
            (Ok(_), Verdict::Failed(failure)) => Err(failure),
            (outcome, _) => Ok(outcome),
        }
    }
}

impl ScriptEventHook {
    /// What the hook is told of user, channel and guild, made of the data of the event.
    #[must_use]
    pub fn with_data(mut self, data: impl Fn(&Map) -> ContextData + Send + Sync + 'static) -> Self {
        self.attached.data = Arc::new(data);
        self
    }

    /// Where its runs are recorded, with the name of the event as the action (`S-20`); nowhere,
    /// unless given.
    #[must_use]
    pub fn with_history(mut self, history: RunHistory) -> Self {
        self.attached.history = Some(history);
        self
    }

    async fn run(self, event: Arc<str>, message: Arc<Map>) -> Result<HookResult, HookError> {
        let run = self.attached.run(Stage::Pre, &event, &message).await;
        Ok(match self.attached.hook.answer(run)? {
            Ok(Some(out)) if out != *message => HookResult::modify(out),
            Ok(_) => HookResult::proceed(),
            Err(Rejection { class, message, .. }) => {
                HookResult::deny(format!("{class}: {message}"))
            }
        })
    }
}

impl ScriptPhaseHook {
    /// What the hook is told of user, channel and guild, made of the request or the result.
    #[must_use]
    pub fn with_data(mut self, data: impl Fn(&Map) -> ContextData + Send + Sync + 'static) -> Self {
        self.attached.data = Arc::new(data);
        self
    }

    /// Where its runs are recorded, with the id of the hook as the action (`S-20`); nowhere,
    /// unless given.
    #[must_use]
    pub fn with_history(mut self, history: RunHistory) -> Self {
        self.attached.history = Some(history);
        self
    }
}

/// Something that scripts cannot be given as a message.
#[derive(Debug, thiserror::Error)]
#[error("what the hook `{hook}` is about is no JSON object; give the registry a struct or a map")]
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

/// The form of [`ScriptEventHook`].
#[doc(hidden)]
#[derive(Debug)]
pub enum Script {}

impl IntoHandler<Script> for ScriptEventHook {
    type Answer = BoxFuture<'static, Result<HookResult, HookError>>;

    const TRUSTED: bool = false;

    fn start<'a>(
        &'a self,
        _: &'a EntryMeta,
        mut context: EventContext<'_>,
        convert: impl FnOnce(Self::Answer, EventContext<'_>) -> HookFuture<'a, HandlerOutput>,
    ) -> HookFuture<'a, HandlerOutput> {
        let (event, data) = context.share();
        let answer: Self::Answer = Box::pin(self.clone().run(event, data));
        convert(answer, context)
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
                // A check that cannot see what it is to check has not passed.
                Err(error) if self.attached.hook.fail_closed => {
                    return Ok(deny("HookFailure", &error.to_string(), &self.id));
                }
                Err(error) => return Err(error),
            };
            let run = self.attached.run(Stage::Pre, &self.id, &message).await;
            Ok(match self.attached.hook.answer(run)? {
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
            match run.verdict {
                Verdict::Out(_) => Ok(()),
                Verdict::Stop(_) => {
                    // What it says is logged already, without what it repeats.
                    tracing::info!(
                        target: "hooks_script",
                        hook = self.id,
                        request_id,
                        "a hook has annotated a call"
                    );
                    Ok(())
                }
                Verdict::Failed(failure) => Err(failure.into()),
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
