//! Passes each call through the registries and the typed set: decide, run, report.

use std::time::{Duration, Instant};

use crate::display::{escape, shorten};
use crate::execute::{Executor, Outcome};
use crate::explain::{Explanation, Section, TYPED};
use crate::hooks::{Draft, Refusal, SessionHooksSet};
use crate::job::Job;
use crate::registries::{Class, OpenError, Registries};
use crate::report::{Decision, LAST_LINE, Record, Status, Tally, escape_output};
use crate::session::Call;
use crate::trail::{Approved, Decided, Trail};

/// Name in the report if a decision cannot be recorded.
const TRAIL: &str = "audit-trail";

/// Hooks, and the executor of the calls that they allow.
#[derive(Debug)]
pub(crate) struct Guarded<'a, 'h> {
    registries: Registries,
    hooks: &'a SessionHooksSet<'h>,
    executor: Executor<'a>,
    trail: &'a Trail,
    /// Hooks that validate a call, in execution order.
    policies: Vec<String>,
}

/// Progress of one call.
#[derive(Debug)]
pub(crate) struct Passing {
    /// Number of the call in the session, from 1.
    pub(crate) number: usize,
    /// The call as changed by the hooks so far.
    pub(crate) draft: Draft,
    /// Class from the classifiers.
    pub(crate) class: Option<Class>,
    /// Messages of the hooks for the agent and the user.
    pub(crate) told: Vec<String>,
    /// Answer to a question about the call, if a hook asked one.
    pub(crate) approval: Option<Approved>,
    /// Present only for `--explain`.
    pub(crate) explanation: Option<Explanation>,
}

impl Passing {
    pub(crate) fn new(number: usize, call: &Call, is_explained: bool) -> Self {
        Self {
            number,
            draft: Draft::unchanged(call),
            class: None,
            told: Vec::new(),
            approval: None,
            explanation: is_explained.then(Explanation::default),
        }
    }

    pub(crate) fn explain(&mut self, section: impl FnOnce() -> Section) {
        if let Some(explanation) = &mut self.explanation {
            explanation.push(section());
        }
    }
}

impl<'a, 'h> Guarded<'a, 'h> {
    pub(crate) fn new(
        registries: Registries,
        hooks: &'a SessionHooksSet<'h>,
        executor: Executor<'a>,
        trail: &'a Trail,
    ) -> Self {
        let slots = hooks.describe().slots.into_iter();
        let policies = slots
            .filter(|slot| slot.slot == "validate")
            .flat_map(|slot| slot.entries)
            .map(|entry| entry.name);
        Self {
            registries,
            hooks,
            executor,
            trail,
            policies: policies.collect(),
        }
    }

    /// Starts a session of this many calls. Returns the messages of the hooks, ready for display.
    ///
    /// # Errors
    /// Returns an error if a hook denies the session.
    pub(crate) async fn start(&mut self, calls: usize) -> Result<Vec<String>, OpenError> {
        let told = self.registries.start(calls).await?;
        Ok(self.all_shown(&told).await)
    }

    /// Ends the session. Returns the messages of the hooks, ready for display.
    pub(crate) async fn end(&mut self, tally: &Tally) -> Vec<String> {
        let told = self.registries.end(tally).await;
        self.all_shown(&told).await
    }

    /// Returns the registries.
    pub(crate) fn registries(&self) -> &Registries {
        &self.registries
    }

    /// Passes call `number` from `line` of the session: dispatches the hooks, runs the call if they
    /// allow it, reports the result, and explains it on request.
    pub(crate) async fn pass(
        &mut self,
        number: usize,
        line: usize,
        call: &Call,
        is_explained: bool,
    ) -> (Record, Option<Explanation>) {
        let start = Instant::now();
        let mut passing = Passing::new(number, call, is_explained);
        let shown = self.shown(call.text()).await;
        self.registries
            .begin_turn(&format!("{} {shown}", call.tool()));
        let verdict = self.decide(&mut passing).await;
        let mut record = self.record(call, &passing.draft).await;
        (record.number, record.line) = (number, line);
        if let Err(refusal) = &verdict {
            self.refuse(&mut record, refusal).await;
        }
        let recorded = self.write_down(&passing, &verdict, &record, start.elapsed());
        let verdict = match recorded.await {
            Err(unwritten) if verdict.is_ok() => {
                self.refuse(&mut record, &unwritten).await;
                Err(unwritten)
            }
            _ => verdict,
        };
        let has_run = verdict.is_ok();
        if has_run {
            self.run(passing.draft.call.clone(), &mut record).await;
            if let Err(error) = self.trail.ran(number, record.exit_code).await {
                record.note(&format!("the run is not recorded: {error}"));
            }
            self.registries.tool_post(&record, &mut passing).await;
        } else {
            self.registries.refused(&record);
        }
        for told in &passing.told {
            record.note(&self.shown(told).await);
        }
        record.took = start.elapsed();
        if has_run {
            self.registries.post(&record, &mut passing).await;
        }
        self.hooks.observe(&record).await;
        if let Some(explanation) = &mut passing.explanation {
            explanation.complete(|title| match title {
                TYPED => self.policies.clone(),
                title => self.registries.names(title),
            });
            explanation.push(self.registries.explain_view());
            explanation.show(async |text| self.shown(text).await).await;
        }
        (record, passing.explanation)
    }

    async fn refuse(&self, record: &mut Record, refusal: &Refusal) {
        record.decision = Decision::Refused;
        record.by = self.shown(&refusal.hook).await;
        record.why = self.shown(&refusal.reason).await;
        record.ran = None;
    }

    /// Writes the decision to disk. If that fails, returns a refusal, so that nothing runs
    /// unrecorded.
    async fn write_down(
        &self,
        passing: &Passing,
        verdict: &Result<(), Refusal>,
        record: &Record,
        took: Duration,
    ) -> Result<(), Refusal> {
        let call = &passing.draft.call;
        let shown = self.hooks.redact(call.text()).await.text;
        let written = self.trail.decided(Decided {
            number: passing.number,
            call,
            shown: &shown,
            refused: verdict.is_err(),
            record,
            approval: passing.approval.as_ref(),
            took,
        });
        written.await.map_err(|error| Refusal {
            hook: TRAIL.to_owned(),
            reason: format!("the decision cannot be recorded: {error}"),
        })
    }

    /// Decides on a call in this order; the first refusal ends it, and the call does not run.
    ///
    /// 1. The typed set rewrites the call for its execution environment.
    /// 2. PRE, the hook engine, checks it.
    /// 3. The classifiers determine the effects of its command and check them.
    /// 4. `tool:pre` receives the class, may change the call, and may ask the user; the classifiers
    ///    check the changed call.
    /// 5. The typed set validates the final call, which no later hook can change.
    async fn decide(&mut self, passing: &mut Passing) -> Result<(), Refusal> {
        let Draft { call, changes } = self.hooks.rewrite(&passing.draft.call).await;
        let rewritten: Vec<_> = changes.iter().map(|change| change.hook.clone()).collect();
        passing.draft.call = call;
        passing.draft.changes.extend(changes);
        self.registries.pre(passing).await?;
        self.registries.classify(passing).await?;
        self.registries.tool_pre(passing).await?;
        let verdict = self.hooks.validate(&passing.draft.call).await;
        passing.explain(|| self.explain_typed(&rewritten, &verdict));
        verdict
    }

    /// Derives the results of the typed set from its outputs: all `rewrite` hooks run, and
    /// `validate` hooks run in order until one refuses.
    fn explain_typed(&self, rewritten: &[String], verdict: &Result<(), Refusal>) -> Section {
        let refuser = verdict.as_ref().err().map(|refusal| &refusal.hook);
        let end = self.policies.iter().position(|name| Some(name) == refuser);
        let policies = self.policies.iter().enumerate().map(|(at, name)| {
            let became = match end {
                Some(end) if at == end => "stopped the dispatch",
                Some(end) if at > end => "skipped",
                _ => "completed",
            };
            (name.clone(), became.to_owned())
        });
        let rewrites = rewritten
            .iter()
            .map(|name| (name.clone(), "rewrote the call".to_owned()));
        let outcome = match verdict {
            Ok(()) => "no objection".to_owned(),
            Err(Refusal { hook, reason }) => format!("refused by {hook}: {reason}"),
        };
        Section::inferred(TYPED, outcome, rewrites.chain(policies))
    }

    /// Returns the record of a decided call that is not refused.
    async fn record(&self, call: &Call, draft: &Draft) -> Record {
        let changes = draft.changes.iter();
        let (hooks, reasons): (Vec<_>, Vec<_>) = changes
            .map(|change| (&*change.hook, &*change.reason))
            .unzip();
        let mut record = Record {
            number: 0,
            line: 0,
            tool: call.tool(),
            call: self.shown(call.text()).await,
            decision: Decision::Allowed,
            by: "validate".to_owned(),
            why: format!("no hook objected ({} ran)", self.policies.len()),
            notes: String::new(),
            ran: None,
            status: Status::NotRun,
            exit_code: None,
            redactions: 0,
            output: String::new(),
            took: Duration::ZERO,
        };
        if !hooks.is_empty() {
            record.decision = Decision::Rewritten;
            record.by = self.shown(&hooks.join(", ")).await;
            record.why = self.shown(&reasons.join("; ")).await;
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
            let by = redacted.by.join(", ");
            record.note(&format!("{} secrets redacted by {by}", redacted.count));
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
            record.note(&format!("{LAST_LINE}{}", shorten(line.trim(), 80)));
        }
    }

    async fn all_shown(&self, texts: &[String]) -> Vec<String> {
        let mut shown = Vec::with_capacity(texts.len());
        for text in texts {
            shown.push(self.shown(text).await);
        }
        shown
    }

    /// Redacts and escapes `text` for display: commands can contain secrets too.
    async fn shown(&self, text: &str) -> String {
        escape(&self.hooks.redact(text).await.text)
    }
}
