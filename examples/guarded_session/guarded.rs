//! Takes one call through the hooks: rewrite, validate, run, redact, observe.

use std::time::{Duration, Instant};

use crate::display::{escape, shorten};
use crate::execute::{Executor, Outcome};
use crate::hooks::{Draft, SessionHooksSet};
use crate::job::Job;
use crate::report::{Decision, Record, Status, escape_output};
use crate::session::Call;

/// Hooks, and what runs the calls that they allow.
#[derive(Debug)]
pub(crate) struct Guarded<'a, 'h> {
    hooks: &'a SessionHooksSet<'h>,
    executor: Executor<'a>,
    /// How many hooks validate a call.
    policies: usize,
}

impl<'a, 'h> Guarded<'a, 'h> {
    pub(crate) fn new(hooks: &'a SessionHooksSet<'h>, executor: Executor<'a>) -> Self {
        let slots = hooks.describe().slots;
        let policies = slots
            .iter()
            .find(|slot| slot.slot == "validate")
            .map_or(0, |slot| slot.entries.len());
        Self {
            hooks,
            executor,
            policies,
        }
    }

    /// Asks the hooks about call `number`, which stands in `line`, runs what they
    /// allow, and tells what came of it.
    pub(crate) async fn pass(&self, number: usize, line: usize, call: &Call) -> Record {
        let start = Instant::now();
        let draft = self.hooks.rewrite(call).await;
        let mut record = self.record(call, &draft).await;
        (record.number, record.line) = (number, line);
        match self.hooks.validate(&draft.call).await {
            Err(refusal) => {
                record.decision = Decision::Refused;
                record.by = refusal.hook.to_owned();
                record.why = self.shown(&refusal.reason).await;
            }
            Ok(()) => self.run(draft.call, &mut record).await,
        }
        record.took = start.elapsed();
        self.hooks.observe(&record).await;
        record
    }

    /// What is known of the call before it is validated.
    async fn record(&self, call: &Call, draft: &Draft) -> Record {
        let (hooks, reasons): (Vec<_>, Vec<_>) = draft.changes.iter().copied().unzip();
        let mut record = Record {
            number: 0,
            line: 0,
            tool: call.tool(),
            call: self.shown(call.text()).await,
            decision: Decision::Allowed,
            by: "validate".to_owned(),
            why: format!("none of its {} hooks objects", self.policies),
            ran: None,
            status: Status::NotRun,
            exit_code: None,
            redactions: 0,
            output: String::new(),
            took: Duration::ZERO,
        };
        if !hooks.is_empty() {
            record.decision = Decision::Rewritten;
            record.by = hooks.join(", ");
            record.why = reasons.join("; ");
            record.ran = Some(self.shown(draft.call.text()).await);
        }
        record
    }

    async fn run(&self, call: Call, record: &mut Record) {
        let job = match call {
            Call::Bash { command } => Job::Shell {
                shell: self.hooks.choose_shell(&command).await,
                command,
            },
            Call::Read { path } => Job::Read { path },
            Call::Write { path, text } => Job::Write { path, text },
            Call::Edit { path, old, new } => Job::Edit { path, old, new },
        };
        let run = self.executor.run(job).await;
        let redacted = self.hooks.redact(&run.output).await;
        record.output = escape_output(&redacted.text);
        record.redactions = redacted.count;
        if redacted.count > 0 {
            record.why += &format!(
                "; {} secrets blacked out by {}",
                redacted.count,
                redacted.by.join(", ")
            );
        }
        (record.status, record.exit_code) = match &run.outcome {
            Outcome::Exited(0) => (Status::Succeeded, Some(0)),
            Outcome::Exited(code) => (Status::Failed, Some(*code)),
            Outcome::TimedOut => (Status::TimedOut, None),
            Outcome::OutputLimit => (Status::OutputLimit, None),
            Outcome::DiskLimit => (Status::DiskLimit, None),
            Outcome::Failed(error) => {
                record.output = escape(error);
                (Status::Failed, None)
            }
        };
        let last_line = record.output.lines().rfind(|line| !line.trim().is_empty());
        if let (Some(line), Status::Failed) = (last_line, record.status) {
            record.why += &format!("; its last words: {}", shorten(line.trim(), 80));
        }
    }

    /// `text` as it can be shown: a command, too, can hold a secret.
    async fn shown(&self, text: &str) -> String {
        escape(&self.hooks.redact(text).await.text)
    }
}
