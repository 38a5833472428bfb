//! `verification-failure`: checks that failed.

use regex::{Regex, RegexSet};
use serde_json::json;

use crate::engine::context::EngineContext;
use crate::engine::error::EngineError;
use crate::engine::record::{Head, clip};
use crate::engine::session::Lesson;
use crate::engine::tools::ToolRole;
use crate::{HookError, PostHook, ToolResult};

/// Notes tests, linters and builds that failed, so that the next session knows.
///
/// | | |
/// |---|---|
/// | Input | results with an intent of tools that run a command (parameter `command`), where a [pattern](Self::PATTERNS) matches it; the exit code, else `Exit code: N` in the output, else whether the tool failed |
/// | Effect | the session learns of a failure, for [`SharedBrain`](crate::engine::SharedBrain) |
/// | Storage | `verification_failures.jsonl`: time, intent, session, request, tool, the command, the exit code, the last 2000 characters of what it said |
#[derive(Debug, Clone)]
pub struct VerificationFailure {
    context: EngineContext,
    patterns: RegexSet,
    exit_code: Regex,
}

/// The characters that are written of an output; what went wrong stands at its end.
const LENGTH: usize = 2000;

impl VerificationFailure {
    /// The file that the lines go to.
    pub const FILE: &'static str = crate::engine::record::VERIFICATION_FAILURES;

    /// Commands that check something, unless others are named.
    pub const PATTERNS: &'static [&'static str] = &[
        r"\b(cargo|go|npm|pnpm|yarn|dotnet|mvn|gradle|make)\s+(run\s+)?(test|lint|check|build|clippy|vet|verify)\b",
        r"\b(pytest|jest|vitest|eslint|tsc|ruff|mypy|clippy-driver|phpunit|rspec|ctest)\b",
    ];

    /// With the usual patterns.
    pub fn new(context: &EngineContext) -> Self {
        VerificationFailure {
            context: context.clone(),
            patterns: RegexSet::new(Self::PATTERNS).expect("they are patterns"),
            exit_code: Regex::new(r"Exit code: (-?\d+)").expect("it is a pattern"),
        }
    }

    /// Takes for checks the commands that one of these regular expressions matches.
    ///
    /// # Errors
    /// If one is no regular expression.
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

    /// The exit code, if the result tells.
    fn code(&self, result: &ToolResult) -> Option<i32> {
        result.exit_code.or_else(|| {
            let output = result.output.as_deref()?;
            // The program may have said it as well; the tool says it last.
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
