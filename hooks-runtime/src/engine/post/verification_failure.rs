//! `verification-failure`: checks that failed.

use regex::{Regex, RegexSet};
use serde_json::json;

use crate::engine::context::EngineContext;
use crate::engine::error::EngineError;
use crate::engine::record::{Head, clip};
use crate::engine::session::Lesson;
use crate::engine::tools::ToolRole;
use crate::{HookError, PostHook, ToolResult};

/// Records tests, linters and builds that failed, for later sessions.
///
/// | | |
/// |---|---|
/// | Input | results with an intent of tools that run a command (parameter `command`), if a [pattern](Self::PATTERNS) matches it; the exit code, else `Exit code: N` in the output, else whether the tool failed |
/// | Effect | the session gets a lesson, for [`SharedBrain`](crate::engine::SharedBrain) |
/// | Storage | `verification_failures.jsonl`: time, intent, session, request, tool, the command, the exit code, the last 2000 characters of the output |
#[derive(Debug, Clone)]
pub struct VerificationFailure {
    context: EngineContext,
    patterns: RegexSet,
    exit_code: Regex,
}

/// Maximum length of an output, in characters; the error is at its end.
const LENGTH: usize = 2000;

impl VerificationFailure {
    /// The file that the hook appends to.
    pub const FILE: &'static str = crate::engine::record::VERIFICATION_FAILURES;

    /// Default patterns of commands that check something.
    pub const PATTERNS: &'static [&'static str] = &[
        r"\b(cargo|go|npm|pnpm|yarn|dotnet|mvn|gradle|make)\s+(run\s+)?(test|lint|check|build|clippy|vet|verify)\b",
        r"\b(pytest|jest|vitest|eslint|tsc|ruff|mypy|clippy-driver|phpunit|rspec|ctest)\b",
    ];

    /// Creates a hook with the default patterns.
    pub fn new(context: &EngineContext) -> Self {
        VerificationFailure {
            context: context.clone(),
            patterns: RegexSet::new(Self::PATTERNS).expect("they are patterns"),
            exit_code: Regex::new(r"Exit code: (-?\d+)").expect("it is a pattern"),
        }
    }

    /// Sets the regular expressions of commands that check something.
    ///
    /// # Errors
    /// If a pattern is not a regular expression.
    pub fn patterns<'p>(
        mut self,
        patterns: impl IntoIterator<Item = &'p str>,
    ) -> Result<Self, EngineError> {
        let patterns: Vec<&str> = patterns.into_iter().collect();
        self.patterns = RegexSet::new(&patterns).map_err(|source| EngineError::Pattern {
            pattern: patterns.join("`, `"),
            source,
        })?;
        Ok(self)
    }

    /// Returns the exit code, if the result contains one.
    fn code(&self, result: &ToolResult) -> Option<i32> {
        result.exit_code.or_else(|| {
            let output = result.output.as_deref()?;
            // The program may have printed one too; the tool's is the last.
            let last = self.exit_code.captures_iter(output).last()?;
            last[1].parse().ok()
        })
    }
}

#[diagnostic::do_not_recommend]
impl PostHook<ToolResult> for VerificationFailure {
    fn id(&self) -> &str {
        "verification-failure"
    }

    async fn execute(
        &self,
        result: &ToolResult,
        request_id: Option<&str>,
    ) -> Result<(), HookError> {
        let request = &result.request;
        let Some(intent) = self.context.intent_of(request) else {
            return Ok(());
        };
        let runs = self.context.tools().role(&request.tool) == ToolRole::Command;
        let command = request.text("command").filter(|_| runs);
        let Some(command) = command.filter(|command| self.patterns.is_match(command)) else {
            return Ok(());
        };
        let code = self.code(result);
        if code.map_or(result.success, |code| code == 0) {
            return Ok(());
        }
        let ended = match code {
            Some(code) => format!("ended with exit code {code}"),
            None => "failed".to_owned(),
        };
        let lesson = Lesson::new("verification-failure", Some(intent), command, ended);
        self.context.session().learn(lesson);
        let output = result.output.as_deref().unwrap_or_default();
        let all = output.chars().count();
        let skipped = clip(output, all.saturating_sub(LENGTH)).len();
        let line = Head::new(intent, result, request_id).with(json!({
            "command": command,
            "exit_code": code,
            "output": output[skipped..],
        }));
        self.context.write(Self::FILE, vec![line]).await
    }
}
