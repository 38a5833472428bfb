//! The script engine: hooks are registered with it and run on its worker threads.

use std::fmt;
use std::num::NonZeroUsize;
use std::sync::Arc;

use sha2::{Digest, Sha256};

use crate::engine_state::EngineState;
use crate::error::{BuildError, RegisterError};
use crate::fields::PublicFields;
use crate::hook::ScriptHook;
use crate::limits::Limits;
use crate::manifest::Manifest;
use crate::run::Failure;
use crate::sandbox::{self, CallEnd, CallTexts, LoadJob, Pool, RunLimits, Sandbox, Status};
use crate::source;

/// Runs hooks in sandboxed JavaScript: QuickJS, compiled to WebAssembly.
///
/// Clones share the engine. Its worker threads end when the last clone and the last hook are
/// dropped.
///
/// ```
/// use hooks_script::{ContextData, Manifest, RunResult, ScriptEngine};
/// use serde_json::json;
///
/// let engine = ScriptEngine::builder().build()?;
/// let hook = engine.register(
///     Manifest::new("https://example.org/shout.js", "Shout", [])?,
///     "export default ({ in: message }) => ({ out: { ...message, text: message.text.toUpperCase() } });",
/// )?;
///
/// # futures_executor::block_on(async {
/// let message = json!({"text": "hello"});
/// let run = hook.run_pre(message.as_object().unwrap(), &ContextData::new()).await;
/// let RunResult::Returned(message) = run.result else { panic!("{:?}", run.result) };
/// assert_eq!(message["text"], "HELLO");
/// # });
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct ScriptEngine {
    shared: Arc<EngineState>,
}

/// Builder of a [`ScriptEngine`].
#[must_use]
pub struct ScriptEngineBuilder {
    limits: Limits,
    fields: PublicFields,
    workers: NonZeroUsize,
    queue: NonZeroUsize,
    hash_memory: bool,
    clock: Box<dyn Fn() -> i64 + Send + Sync>,
    random: Box<dyn Fn() -> u64 + Send + Sync>,
}

impl ScriptEngine {
    /// Returns a builder with default settings.
    pub fn builder() -> ScriptEngineBuilder {
        let cores = std::thread::available_parallelism().map_or(2, NonZeroUsize::get);
        ScriptEngineBuilder {
            limits: Limits::default(),
            fields: PublicFields::new(),
            workers: NonZeroUsize::new(cores.min(4)).unwrap_or(NonZeroUsize::MIN),
            queue: NonZeroUsize::new(256).unwrap_or(NonZeroUsize::MIN),
            hash_memory: false,
            clock: Box::new(|| 0),
            random: Box::new(|| 1),
        }
    }

    /// Returns the limits of a run.
    pub fn limits(&self) -> &Limits {
        self.shared.sandbox.limits()
    }

    /// Compiles a hook and runs its top level once. Every run starts from the resulting state.
    ///
    /// Blocks this thread until a worker has loaded the hook. In async code, call it on a thread
    /// that may block.
    ///
    /// # Errors
    ///
    /// Returns the problem with the source, with line and column.
    pub fn register(&self, manifest: Manifest, source: &str) -> Result<ScriptHook, RegisterError> {
        let limit = self.limits().source;
        if source.len() > limit {
            let bytes = source.len();
            return Err(RegisterError::TooLarge { bytes, limit });
        }
        let hash = sandbox::hex(&Sha256::digest(source));
        if let Some(expected) = manifest.pinned_hash().filter(|&expected| expected != hash) {
            return Err(RegisterError::Pinned {
                expected: expected.to_owned(),
                found: hash,
            });
        }
        let load = LoadJob {
            source: source.as_bytes().to_vec(),
            given: self.shared.call_args(Arc::default(), RunLimits::default()),
        };
        let no_worker = || RegisterError::Engine("its worker has stopped".to_owned());
        let (report, snapshot) = self.shared.pool.load(load).ok_or_else(no_worker)?;
        match report.ended {
            CallEnd::Returned(status, texts) => match (status, snapshot) {
                (Status::Done, Some(snapshot)) => Ok(ScriptHook::new(
                    Arc::clone(&self.shared),
                    manifest,
                    snapshot,
                    hash,
                    source,
                )),
                (Status::Syntax, _) => Err(syntax(source, texts)),
                (Status::Imported, _) => {
                    let module = texts.message.strip_prefix("cannot import '");
                    let module = module
                        .and_then(|rest| rest.rsplit_once('\''))
                        .map_or("", |(name, _)| name);
                    Err(RegisterError::Import {
                        position: source::of_import(source, module),
                        message: texts.message,
                    })
                }
                (Status::Exports, _) => Err(exports(source, &texts.text())),
                (Status::Unsettled, _) => {
                    let why = "its top level awaits a promise that never settles";
                    Err(RegisterError::Load(Failure::BadReturn(why.to_owned())))
                }
                _ => Err(RegisterError::Load(texts.thrown())),
            },
            CallEnd::Failed(Failure::Engine(message)) => Err(RegisterError::Engine(message)),
            CallEnd::Failed(failure) => Err(RegisterError::Load(failure)),
            CallEnd::Cancelled => Err(no_worker()),
        }
    }
}

/// Rewrites a compiler error with a remedy, and locates it in the source: the compiler does not
/// always report a position.
fn syntax(source: &str, texts: CallTexts) -> RegisterError {
    let position = texts
        .position()
        .or_else(|| source::of_expression(source, &texts.text()))
        .or_else(|| source::of_quoted(source, &texts.message));
    let second = source::of_second_default(source);
    let (message, position) = match texts.message.as_str() {
        "invalid redefinition of global identifier" if second.is_some() => {
            ("duplicate `export default`".to_owned(), second)
        }
        "unexpected token in expression: ''" => {
            let message = "the source ends in the middle of an expression or a block";
            (message.to_owned(), position)
        }
        _ => (texts.message, position),
    };
    RegisterError::Syntax { message, position }
}

fn exports(source: &str, extra: &str) -> RegisterError {
    let (message, name) = match extra {
        "default" => (
            "`default` is not a plain function".to_owned(),
            Some("default"),
        ),
        "" => ("missing `default` export".to_owned(), None),
        name => (format!("unexpected export `{name}`"), Some(name)),
    };
    RegisterError::Exports {
        position: Some(source::of_export(source, name)),
        message,
    }
}

impl ScriptEngineBuilder {
    /// Sets the limits of a run.
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Sets the fields of a user, a channel and a guild that hooks can see. Default: none.
    pub fn public_fields(mut self, fields: PublicFields) -> Self {
        self.fields = fields;
        self
    }

    /// Sets the clock of the runs, in milliseconds since 1970. The time is constant during a run.
    /// Default: 0.
    pub fn clock(mut self, now_ms: impl Fn() -> i64 + Send + Sync + 'static) -> Self {
        self.clock = Box::new(now_ms);
        self
    }

    /// Sets the seed of `Math.random` for each run. Default: a fixed seed.
    pub fn random(mut self, seed: impl Fn() -> u64 + Send + Sync + 'static) -> Self {
        self.random = Box::new(seed);
        self
    }

    /// Sets the number of threads on which hooks run. Default: one per core, at most four.
    pub fn workers(mut self, workers: NonZeroUsize) -> Self {
        self.workers = workers;
        self
    }

    /// Sets the length of the queue for workers. If it is full, further runs wait until there is
    /// room. Default: 256.
    pub fn queue(mut self, queue: NonZeroUsize) -> Self {
        self.queue = queue;
        self
    }

    /// Sets whether runs report a hash of the memory that they leave, for tests of determinism.
    /// Hashing takes longer than a small run.
    pub fn hash_memory(mut self, hash: bool) -> Self {
        self.hash_memory = hash;
        self
    }

    /// Starts the engine and its workers.
    ///
    /// # Errors
    ///
    /// Returns an error if a limit is out of range, or if the system cannot provide threads or
    /// memory.
    pub fn build(self) -> Result<ScriptEngine, BuildError> {
        let limits = &self.limits;
        within("heap", limits.heap as u64, 512 << 10, 256 << 20)?;
        within(
            "stack",
            limits.stack as u64,
            16 << 10,
            Limits::MAX_STACK as u64,
        )?;
        within("fuel", limits.fuel, 1, u64::MAX / 2)?;
        within("input_fuel", limits.input_fuel, 1, u64::MAX / 2)?;
        within("load_fuel", limits.load_fuel, 1, u64::MAX / 2)?;
        let wall = u64::try_from(limits.wall.as_millis()).unwrap_or(u64::MAX);
        within("wall", wall, 1, 24 * 60 * 60 * 1000)?;
        within("jobs", limits.jobs.into(), 1, i32::MAX as u64)?;
        let (engine, _) = sandbox::module()?;
        sandbox::watch(engine)?;
        let sandbox = Arc::new(Sandbox::new(self.limits, self.hash_memory)?);
        let shared = EngineState {
            pool: Pool::start(&sandbox, self.workers.get(), self.queue.get())?,
            sandbox,
            fields: self.fields,
            clock: self.clock,
            random: self.random,
        };
        Ok(ScriptEngine {
            shared: Arc::new(shared),
        })
    }
}

fn within(limit: &'static str, value: u64, least: u64, most: u64) -> Result<(), BuildError> {
    if (least..=most).contains(&value) {
        return Ok(());
    }
    Err(BuildError::Limit {
        limit,
        value,
        least,
        most,
    })
}

impl fmt::Debug for ScriptEngine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScriptEngine")
            .field("limits", self.limits())
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for ScriptEngineBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScriptEngineBuilder")
            .field("limits", &self.limits)
            .field("workers", &self.workers)
            .finish_non_exhaustive()
    }
}
