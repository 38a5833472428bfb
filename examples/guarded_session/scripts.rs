//! `--script`: JavaScript hooks from untrusted authors.
//!
//! Each runs at `tool:pre`, before the hooks in Rust. It can refuse a call and rewrite it; other
//! hooks check the rewritten call like one of the agent. It cannot allow a call. A failing script
//! refuses the call.

use std::error::Error;
use std::path::{Path, PathBuf};

use hooks_runtime::HookRegistry;

use crate::display::escape;

/// Reason why a script cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("cannot use the hook {}: {problem}", escape(&.file.display().to_string()))]
pub(crate) struct ScriptError {
    file: PathBuf,
    #[source]
    problem: Box<dyn Error + Send + Sync>,
}

impl ScriptError {
    fn new(file: &Path, problem: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self {
            file: file.to_owned(),
            problem: problem.into(),
        }
    }
}

/// Loaded scripts, in order of registration.
#[derive(Debug, Default)]
pub(crate) struct Scripts {
    #[cfg(feature = "script")]
    hooks: Vec<hooks_script::ScriptHook>,
}

#[cfg(feature = "script")]
impl Scripts {
    /// Loads the scripts and runs their top levels.
    ///
    /// # Errors
    /// Returns an error for the first script that cannot be read or registered.
    pub(crate) fn load(files: &[PathBuf]) -> Result<Self, ScriptError> {
        let Some(first) = files.first() else {
            return Ok(Self::default());
        };
        let engine = hooks_script::ScriptEngine::builder()
            .build()
            .map_err(|error| ScriptError::new(first, error))?;
        let mut hooks = Vec::with_capacity(files.len());
        for file in files {
            let code =
                std::fs::read_to_string(file).map_err(|error| ScriptError::new(file, error))?;
            let name = file.file_name().unwrap_or_default().to_string_lossy();
            let manifest = hooks_script::Manifest::new(format!("file:{name}"), name, [])
                .map_err(|error| ScriptError::new(file, error))?;
            let hook = engine
                .register(manifest, &code)
                .map_err(|error| ScriptError::new(file, error))?;
            hooks.push(hook.fail_closed(true));
        }
        Ok(Self { hooks })
    }

    /// Registers the scripts for `tool:pre`. Returns `true` if there are any.
    pub(crate) fn register(&self, events: &HookRegistry) -> bool {
        use hooks_runtime::{FailurePolicy, RegisterOptions};

        for hook in &self.hooks {
            // Before all safety checks, which have to see the rewritten call.
            let options = RegisterOptions::new()
                .priority(-20)
                .on_failure(FailurePolicy::FailClosed);
            events.register(HookRegistry::TOOL_PRE, hook.as_event_hook(), options);
        }
        !self.hooks.is_empty()
    }
}

#[cfg(not(feature = "script"))]
impl Scripts {
    /// Loads no scripts: this build has no script engine.
    ///
    /// # Errors
    /// Returns an error if a file is given.
    pub(crate) fn load(files: &[PathBuf]) -> Result<Self, ScriptError> {
        match files.first() {
            None => Ok(Self::default()),
            Some(file) => Err(ScriptError::new(
                file,
                "this program was built without JavaScript; build it with `--features script`",
            )),
        }
    }

    pub(crate) fn register(&self, _: &HookRegistry) -> bool {
        false
    }
}
