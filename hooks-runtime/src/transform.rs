//! Transforms: hooks that receive a value, and may return a changed one. They change the result of
//! a tool before an agent receives it, or a request before the hooks that check it.
//!
//! ```
//! use hooks_runtime::transform::{TransformFn, TransformInput, TransformRegistry, Transformed};
//! use hooks_runtime::RegisterOptions;
//!
//! # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
//! let results: TransformRegistry<str> = TransformRegistry::new();
//! results.register(
//!     TransformFn::new("redact", |result: TransformInput<'_, str>| {
//!         if result.current().contains("sk-") {
//!             Transformed::changed(result.current().replace("sk-", "***"))
//!         } else {
//!             Transformed::Unchanged
//!         }
//!     }),
//!     RegisterOptions::new(),
//! );
//!
//! let result = results.apply("key: sk-1").await?;
//! assert_eq!(&*result.value, "key: ***1");
//! assert_eq!(&*result.raw, "key: sk-1");
//! assert_eq!(&*result.changed_by[0], "redact");
//! # Ok::<_, hooks_runtime::transform::TransformError>(())
//! # }).unwrap();
//! ```
//!
//! # Order and failure
//!
//! Hooks run one after the other, by priority, lower first; equal priorities in order of
//! registration. Each receives the value as the earlier hooks left it, and the raw value.
//!
//! | Hook | Effect |
//! |---|---|
//! | returns [`Unchanged`](Transformed::Unchanged) or [`Changed`](Transformed::Changed) | the next hook runs |
//! | returns [`Denied`](Transformed::Denied) | no later hook runs; the caller gets [`TransformError::Denied`] and no value |
//! | fails, panics or exceeds its timeout | no later hook runs; the caller gets [`TransformError::Failed`] and no value |
//! | the same, with [`FailClosed`](FailurePolicy::FailClosed) | as `Denied` |
//! | the same, with [`Isolate`](FailurePolicy::Isolate) | is logged; the next hook receives the value that this hook received |

use std::any::type_name;
use std::error::Error;
use std::fmt;
use std::future::Future;
use std::marker::PhantomData;
use std::ops::Deref;
use std::sync::{Arc, Mutex};

use hooks_core::__private::{drop_catching_panic, registered};
use hooks_core::{
    EntryDescription, EntryMeta, Failure, FailurePolicy, HookFuture, HookObject, Never, Policy,
    Registration, RegistrationError, Slot, Step, Timer,
};
use serde::Serialize;

use crate::HookError;
use crate::error::text;
use crate::lock::lock;
use crate::registry::call::{Call, DynCall, PlainHook, admits, log_failure};
use crate::registry::filter::ToolName;
use crate::registry::options::RegisterOptions;
use crate::registry::slot::{Registered, SharedSlot};
use crate::timer::HostTimer;

/// Input of a transform: the value as earlier hooks left it, and the raw value.
pub struct TransformInput<'a, T: ?Sized> {
    current: &'a T,
    raw: &'a T,
}

impl<'a, T: ?Sized> TransformInput<'a, T> {
    /// Returns the value as earlier hooks left it.
    pub fn current(&self) -> &'a T {
        self.current
    }

    /// Returns the value before all changes.
    pub fn raw(&self) -> &'a T {
        self.raw
    }
}

impl<T: ?Sized> Clone for TransformInput<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T: ?Sized> Copy for TransformInput<'_, T> {}

impl<T: ?Sized + fmt::Debug> fmt::Debug for TransformInput<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TransformInput")
            .field("current", &self.current)
            .field("raw", &self.raw)
            .finish()
    }
}

/// Output of a transform.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use = "without it, the value stays unchanged"]
pub enum Transformed<T: ?Sized> {
    /// The value stays as it is.
    Unchanged,
    /// This value replaces it.
    Changed(Arc<T>),
    /// The caller gets no value, for this reason.
    Denied(String),
}

impl<T: ?Sized> Transformed<T> {
    /// Replaces the value.
    pub fn changed(value: impl Into<Arc<T>>) -> Self {
        Transformed::Changed(value.into())
    }

    /// Withholds the value, for this reason.
    pub fn denied(reason: impl Into<String>) -> Self {
        Transformed::Denied(reason.into())
    }
}

/// A hook that may change a value.
///
/// ```
/// use hooks_runtime::HookError;
/// use hooks_runtime::transform::{TransformHook, TransformInput, Transformed};
///
/// /// Cuts long outputs.
/// struct MaxLength(usize);
///
/// impl TransformHook<String> for MaxLength {
///     fn id(&self) -> &str {
///         "max-length"
///     }
///
///     async fn transform(
///         &self,
///         input: TransformInput<'_, String>,
///     ) -> Result<Transformed<String>, HookError> {
///         Ok(match input.current().char_indices().nth(self.0) {
///             Some((end, _)) => Transformed::changed(input.current()[..end].to_owned()),
///             None => Transformed::Unchanged,
///         })
///     }
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a transform of `{T}`; implement `TransformHook<{T}>`, or wrap a closure: `TransformFn::new(\"id\", |input: TransformInput<'_, {T}>| …)`",
    label = "not a transform"
)]
pub trait TransformHook<T: ?Sized>: Send + Sync {
    /// Returns the id: registering another hook with this id replaces it.
    fn id(&self) -> &str;

    /// Changes the value. Implement it as an `async fn`.
    ///
    /// # Errors
    /// If the hook fails: the caller gets no value, unless the registration
    /// [isolates](FailurePolicy::Isolate) failures.
    fn transform(
        &self,
        input: TransformInput<'_, T>,
    ) -> impl Future<Output = Result<Transformed<T>, HookError>> + Send;

    #[doc(hidden)]
    fn __start<'a>(
        &'a self,
        raw: &Arc<T>,
        current: &Arc<T>,
    ) -> HookFuture<'a, Result<Transformed<T>, HookError>>
    where
        Self: Sized,
        T: Send + Sync + 'a,
    {
        let (raw, current) = (Arc::clone(raw), Arc::clone(current));
        HookFuture::boxed(async move {
            let input = TransformInput {
                current: &*current,
                raw: &*raw,
            };
            self.transform(input).await
        })
    }
}

#[diagnostic::do_not_recommend]
impl<T: ?Sized, H: TransformHook<T>> TransformHook<T> for Arc<H> {
    fn id(&self) -> &str {
        (**self).id()
    }

    fn transform(
        &self,
        input: TransformInput<'_, T>,
    ) -> impl Future<Output = Result<Transformed<T>, HookError>> + Send {
        (**self).transform(input)
    }

    fn __start<'a>(
        &'a self,
        raw: &Arc<T>,
        current: &Arc<T>,
    ) -> HookFuture<'a, Result<Transformed<T>, HookError>>
    where
        T: Send + Sync + 'a,
    {
        (**self).__start(raw, current)
    }
}

/// A function as a transform. It returns directly, without a future.
pub struct TransformFn<F, R = ()> {
    id: String,
    function: F,
    output: PhantomData<fn() -> R>,
}

impl<F> TransformFn<F> {
    /// Creates a hook from a function that takes a [`TransformInput`] and returns a
    /// [`Transformed`] or a `Result<Transformed<T>, E>`.
    pub fn new<T: ?Sized, R>(id: impl Into<String>, function: F) -> TransformFn<F, R>
    where
        F: Fn(TransformInput<'_, T>) -> R,
    {
        TransformFn {
            id: id.into(),
            function,
            output: PhantomData,
        }
    }
}

impl<T, F, R> TransformHook<T> for TransformFn<F, R>
where
    T: ?Sized + Send + Sync,
    F: Fn(TransformInput<'_, T>) -> R + HookObject,
    R: IntoTransformed<T>,
{
    fn id(&self) -> &str {
        &self.id
    }

    async fn transform(&self, input: TransformInput<'_, T>) -> Result<Transformed<T>, HookError> {
        (self.function)(input).into_transformed()
    }

    fn __start<'a>(
        &'a self,
        raw: &Arc<T>,
        current: &Arc<T>,
    ) -> HookFuture<'a, Result<Transformed<T>, HookError>>
    where
        T: Send + Sync + 'a,
    {
        let input = TransformInput {
            current: &**current,
            raw: &**raw,
        };
        HookFuture::Ready((self.function)(input).into_transformed())
    }
}

impl<F, R> fmt::Debug for TransformFn<F, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("TransformFn").field(&self.id).finish()
    }
}

/// Return type of a function that is a transform.
#[diagnostic::on_unimplemented(
    message = "invalid output `{Self}` of a transform of `{T}`; return a `Transformed<{T}>` or a `Result<Transformed<{T}>, E>` whose `E` is a string or an error that is `Send + Sync`",
    label = "invalid output"
)]
pub trait IntoTransformed<T: ?Sized> {
    /// Converts the value.
    #[doc(hidden)]
    fn into_transformed(self) -> Result<Transformed<T>, HookError>;
}

impl<T: ?Sized> IntoTransformed<T> for Transformed<T> {
    fn into_transformed(self) -> Result<Transformed<T>, HookError> {
        Ok(self)
    }
}

#[diagnostic::do_not_recommend]
impl<T: ?Sized, E: Into<Box<dyn Error + Send + Sync>>> IntoTransformed<T>
    for Result<Transformed<T>, E>
{
    fn into_transformed(self) -> Result<Transformed<T>, HookError> {
        self.map_err(HookError::new)
    }
}

/// The run of transforms: each receives the raw value and the current one.
struct TransformCall<T: ?Sized>(PhantomData<fn(&T)>);

impl<T: ?Sized + 'static> Call for TransformCall<T> {
    type Input<'a> = TransformOutcome<T>;
    type Subject = T;
    type Output = Transformed<T>;

    const SLOT: &'static str = "transforms";
    const HOOK: &'static str = "transform";
}

impl<T, H> DynCall<TransformCall<T>> for PlainHook<H>
where
    T: ?Sized + Send + Sync + 'static,
    H: TransformHook<T>,
{
    fn start<'b, 'a: 'b>(
        &'b self,
        input: &TransformOutcome<T>,
    ) -> HookFuture<'b, Result<Transformed<T>, HookError>> {
        self.0.__start(&input.raw, &input.value)
    }
}

/// Transforms of values of type `T`, in execution order. Clones share one registry.
///
/// Every method takes `&self`, on any thread. A hook that is registered or removed during a run
/// affects later runs only.
pub struct TransformRegistry<T: ?Sized + 'static> {
    hooks: SharedSlot<dyn DynCall<TransformCall<T>>>,
    tool_name: Arc<Mutex<Option<ToolName<T>>>>,
}

impl<T: ?Sized + 'static> TransformRegistry<T> {
    /// Creates a registry without hooks, with [`HostTimer`] as its timer.
    pub fn new() -> Self {
        TransformRegistry::with_timer(Arc::new(HostTimer))
    }

    /// Creates a registry without hooks, with this timer.
    pub fn with_timer(timer: Arc<dyn Timer>) -> Self {
        TransformRegistry {
            hooks: SharedSlot::new(TransformCall::<T>::SLOT, Slot::with_timer(timer)),
            tool_name: Arc::default(),
        }
    }

    /// Returns a copy of the registry. The copy shares the hooks and the counts of their failures;
    /// later changes of one do not affect the other.
    pub(crate) fn copied(&self) -> Self {
        TransformRegistry {
            hooks: self.hooks.copied(),
            tool_name: Arc::new(Mutex::new(self.tool_name())),
        }
    }

    /// Returns the function that returns the name of the tool in a value, if there is one.
    pub(crate) fn tool_name(&self) -> Option<ToolName<T>> {
        *lock(&self.tool_name)
    }

    /// Sets the function that returns the name of the tool in a value, for later registrations with
    /// [`tools`](RegisterOptions::tools). If the function returns `None` or panics, the hook runs.
    pub fn set_tool_name(&self, tool_name: fn(&T) -> Option<&str>) {
        *lock(&self.tool_name) = Some(tool_name);
    }

    /// Returns `true` if no hook is registered.
    pub fn is_empty(&self) -> bool {
        self.hooks.is_empty()
    }

    /// Returns the hooks in execution order.
    pub fn hooks(&self) -> Vec<TransformDescriptor> {
        self.hooks.describe(TransformDescriptor::new)
    }

    /// Removes the hook with this id, and returns `true` if it existed.
    pub fn deregister(&self, id: &str) -> bool {
        self.hooks.remove(id)
    }

    /// Enables or disables the hook with this id, and returns `true` if it exists. A disabled hook
    /// keeps its place, and does not run. Enabling a hook resets its failures: see
    /// [`RegisterOptions::disable_after`].
    pub fn set_enabled(&self, id: &str, is_enabled: bool) -> bool {
        self.hooks.set_enabled(id, is_enabled)
    }
}

impl<T: ?Sized + Send + Sync + 'static> TransformRegistry<T> {
    /// Returns a copy of the registry with changes, for one run or for some. The copy shares the
    /// hooks, and the registry stays unchanged.
    #[must_use]
    pub fn for_call(&self, change: impl FnOnce(&Self)) -> Self {
        let copy = self.copied();
        change(&copy);
        copy
    }

    /// Registers a hook; replaces a hook with an equal id. Priority 0 by default.
    ///
    /// # Panics
    /// If [`try_register`](Self::try_register) returns an error.
    #[track_caller]
    pub fn register<H>(&self, hook: H, options: RegisterOptions) -> Registration
    where
        H: TransformHook<T> + 'static,
    {
        registered(self.try_register(hook, options))
    }

    /// Like [`register`](Self::register), and returns an error if the hook is refused. The hook is
    /// then dropped, and the registry is unchanged.
    ///
    /// # Errors
    /// If the options are for events only ([`key`](RegisterOptions::key),
    /// [`phase`](RegisterOptions::phase), [`when`](RegisterOptions::when)), name an unknown id,
    /// filter inputs of another type, match [tools](RegisterOptions::tools) without
    /// [their names](Self::set_tool_name), make the order a cycle, or disable a hook
    /// whose failures are not isolated.
    pub fn try_register<H>(
        &self,
        hook: H,
        options: RegisterOptions,
    ) -> Result<Registration, RegistrationError>
    where
        H: TransformHook<T> + 'static,
    {
        let registered = Registered {
            id: hook.id().to_owned(),
            hook_type: type_name::<H>(),
            policy: policy(options.on_failure),
            priority: 0,
            tool_name: self.tool_name(),
        };
        let hook = Arc::new(PlainHook(hook));
        self.hooks.register(hook, registered, options)
    }

    /// Runs the hooks on a value.
    ///
    /// Dropping the future cancels the running hook, and starts no further ones.
    ///
    /// # Errors
    /// If a hook denies or fails. The caller must not use the raw value instead of the result.
    pub async fn apply(
        &self,
        value: impl Into<Arc<T>>,
    ) -> Result<TransformOutcome<T>, TransformError> {
        let raw = value.into();
        let hooks = self.hooks.load();
        let policy = TransformPolicy {
            outcome: Ok(TransformOutcome {
                value: Arc::clone(&raw),
                raw,
                changed_by: Vec::new(),
            }),
        };
        let outcome = self.hooks.run(&hooks, policy, None).await;
        drop_catching_panic(hooks);
        outcome
    }
}

impl<T: ?Sized + 'static> Default for TransformRegistry<T> {
    fn default() -> Self {
        TransformRegistry::new()
    }
}

impl<T: ?Sized + 'static> Clone for TransformRegistry<T> {
    fn clone(&self) -> Self {
        TransformRegistry {
            hooks: self.hooks.clone(),
            tool_name: Arc::clone(&self.tool_name),
        }
    }
}

impl<T: ?Sized + 'static> fmt::Debug for TransformRegistry<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ids = self
            .hooks
            .describe(|entry, _| entry.key().map(str::to_owned));
        f.debug_tuple("TransformRegistry").field(&ids).finish()
    }
}

/// Returns the failure policy of a transform; the default is `Propagate`.
fn policy(chosen: Option<FailurePolicy>) -> FailurePolicy {
    chosen.unwrap_or(FailurePolicy::Propagate)
}

/// One hook of a [`TransformRegistry`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct TransformDescriptor {
    /// Id of the hook.
    pub id: String,
    /// Failure policy.
    pub on_failure: FailurePolicy,
    /// Failures since the last success, if a number of them disables the hook; else 0.
    pub failures: u32,
    /// Its entry, with the id as the key.
    #[serde(flatten)]
    pub entry: EntryDescription,
}

impl TransformDescriptor {
    fn new(entry: &EntryMeta, failures: u32) -> Self {
        TransformDescriptor {
            id: entry.key().unwrap_or_default().to_owned(),
            on_failure: policy(entry.on_failure()),
            failures,
            entry: entry.into(),
        }
    }
}

impl Deref for TransformDescriptor {
    type Target = EntryDescription;

    fn deref(&self) -> &EntryDescription {
        &self.entry
    }
}

/// Result of a run: the value after all changes, and the raw value.
#[derive(Debug)]
#[non_exhaustive]
pub struct TransformOutcome<T: ?Sized> {
    /// The value after all changes.
    pub value: Arc<T>,
    /// The value before all changes.
    pub raw: Arc<T>,
    /// Names of the hooks that changed the value, in execution order.
    pub changed_by: Vec<Arc<str>>,
}

impl<T: ?Sized> Clone for TransformOutcome<T> {
    fn clone(&self) -> Self {
        TransformOutcome {
            value: Arc::clone(&self.value),
            raw: Arc::clone(&self.raw),
            changed_by: self.changed_by.clone(),
        }
    }
}

/// Reason for which there is no value.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum TransformError {
    /// A hook denied the value.
    Denied {
        /// Name of the hook.
        hook: Arc<str>,
        /// Reason of the hook.
        reason: String,
    },
    /// A hook failed.
    Failed(HookError),
}

impl fmt::Display for TransformError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TransformError::Denied { hook, reason } => write!(f, "denied by `{hook}`: {reason}"),
            // Names the hook.
            TransformError::Failed(error) => error.fmt(f),
        }
    }
}

impl Error for TransformError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            TransformError::Denied { .. } => None,
            TransformError::Failed(error) => error.failure().source(),
        }
    }
}

/// Policy of a run.
struct TransformPolicy<T: ?Sized> {
    outcome: Result<TransformOutcome<T>, TransformError>,
}

impl<'h, T: ?Sized + 'static> Policy<dyn DynCall<TransformCall<T>> + 'h> for TransformPolicy<T> {
    type HookOutput = Result<Transformed<T>, HookError>;
    type Output = Result<TransformOutcome<T>, TransformError>;
    type Future = Never<()>;

    const CATCH_FAILURES: bool = true;

    fn slot_name(&self) -> &str {
        TransformCall::<T>::SLOT
    }

    fn admits(&mut self, entry: &EntryMeta, hook: &(dyn DynCall<TransformCall<T>> + 'h)) -> bool {
        let outcome = self.outcome.as_ref();
        outcome.is_ok_and(|outcome| admits(hook, &outcome.value, entry))
    }

    fn invoke<'b>(
        &mut self,
        _: &'b EntryMeta,
        hook: &'b (dyn DynCall<TransformCall<T>> + 'h),
        _: bool,
    ) -> HookFuture<'b, Self::HookOutput>
    where
        Self: 'b,
    {
        match &self.outcome {
            Ok(outcome) => hook.start(outcome),
            // An error ends the run.
            Err(_) => HookFuture::Ready(Ok(Transformed::Unchanged)),
        }
    }

    fn validate_output(&mut self, output: Self::HookOutput) -> Result<Self::HookOutput, Failure> {
        output.map(Ok).map_err(HookError::into_failure)
    }

    fn on_output(&mut self, entry: &EntryMeta, output: Self::HookOutput) -> Step<Self, Never<()>> {
        match (output, &mut self.outcome) {
            (Ok(Transformed::Changed(value)), Ok(outcome)) => {
                outcome.value = value;
                outcome.changed_by.push(entry.name_arc());
                Step::Next
            }
            (Ok(Transformed::Denied(reason)), _) => {
                let hook = entry.name_arc();
                self.outcome = Err(TransformError::Denied { hook, reason });
                Step::Stop
            }
            _ => Step::Next,
        }
    }

    fn on_failure(&mut self, entry: &EntryMeta, failure: Failure) -> Step<Self, Never<()>> {
        let policy = policy(entry.on_failure());
        let hook = entry.name_arc();
        if policy == FailurePolicy::Propagate {
            self.outcome = Err(TransformError::Failed(HookError::of(hook, failure)));
            return Step::Stop;
        }
        log_failure::<TransformCall<T>>(entry, &failure);
        let reason = format!("hook `{hook}` {}", text(&failure));
        drop_catching_panic(failure);
        if policy == FailurePolicy::Isolate {
            return Step::Next;
        }
        // An unknown policy denies.
        self.outcome = Err(TransformError::Denied { hook, reason });
        Step::Stop
    }

    fn finish(self) -> Self::Output {
        self.outcome
    }
}
