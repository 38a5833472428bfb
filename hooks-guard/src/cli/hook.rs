//! Implements `hook`, the command that coding agents call before and after they use a tool. In: the
//! agent's JSON on standard input. Out: the reply in the agent's format, and its exit status.
//!
//! The agent gets a reply before its timeout. An error, a missing decision or a timeout is never an
//! allow.
//!
//! A project can set variables in the environment of its agent, and another process can listen at
//! the service's address. The hook therefore finds its files by its arguments and the system's user
//! database only, and sends nothing to a service that does not prove that it has the key.

use std::io::{self, IsTerminal, Read, Write};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use clap::Args;
use clap::builder::FalseyValueParser;
use hooks_guard::decider::{Decider, DecisionSource, RemoteService, STACK_BYTES, local_answer};
use hooks_guard::protocol::{
    self, Agent, AgentDenial, AgentHook, DecisionRequest, HookEvent, HookReply, ProtocolError,
    ToolRun,
};
use hooks_guard::tool_call::{self, NO_DECISION, QuestionDecider};
use hooks_guard::{PermissionDecision, PermissionRequest};
use tokio::time::{Instant, timeout_at};

use super::calls::{CallStore, StoredCall};
use super::color::is_turned_off;
use super::failure::CommandError;
use super::ownership;
use super::setup::{HookSetup, LoadedConfig, agents, forget_variables, runtime};

#[derive(Debug, Args)]
pub(crate) struct HookArgs {
    /// The agent.
    #[arg(value_parser = agents())]
    agent: Agent,
    /// Timeout in the agent's settings, in seconds.
    #[arg(long, value_name = "SECONDS")]
    timeout: Option<u64>,
    /// The agent has no user at the keyboard: asks the operator instead of the agent's user, and
    /// denies if no service runs. Claude Code is detected automatically.
    #[arg(
        long,
        env = "HOOKS_GUARD_UNATTENDED",
        value_parser = FalseyValueParser::new(),
        hide_env_values = true
    )]
    unattended: bool,
    #[command(flatten)]
    setup: HookSetup,
}

/// Extra time after the deadline, so that a task that enforces its own timeout can still report its
/// reason.
const GRACE_PERIOD: Duration = Duration::from_millis(300);

/// Message from the worker thread to the thread that enforces the deadline.
enum WorkerMessage {
    /// The hook that the agent calls.
    Hook(AgentHook),
    Reply(HookReply),
}

/// Answers one call of a hook. Returns the exit status that the agent expects.
///
/// A worker thread finds the answer. Most agents run the tool if a hook is late, so this thread
/// replies with a denial at the deadline even if the worker is blocked, for example by a file or an
/// endless input.
pub(crate) fn hook(options: HookArgs) -> u8 {
    let (agent, installed) = (options.agent, options.timeout.map(Duration::from_secs));
    if let Err(error) = forget_variables(None) {
        let reply =
            protocol::failure_reply(agent, None, &format!("cannot restart the hook: {error}"));
        return finish(&reply);
    }
    let began = Instant::now();
    let (sender, receiver) = mpsc::channel();
    let finds = move || {
        let reply = reply(options, began, &sender);
        // The receiver is gone if the deadline has passed.
        let _ = sender.send(WorkerMessage::Reply(reply));
    };
    let reply = match thread::Builder::new().stack_size(STACK_BYTES).spawn(finds) {
        Ok(_) => wait_for_reply(&receiver, agent, installed, began),
        Err(error) => {
            protocol::failure_reply(agent, None, &format!("cannot start a thread: {error}"))
        }
    };
    finish(&reply)
}

/// Prints the reply. Returns the exit status.
fn finish(reply: &HookReply) -> u8 {
    match print(reply) {
        Ok(()) => reply.exit,
        // Without a reply an agent may run the tool; every agent treats status 2 as a denial.
        Err(error) => {
            let _ = writeln!(
                io::stderr().lock(),
                "hooks-guard: cannot write the reply ({error}), so the tool call is denied"
            );
            2
        }
    }
}

/// Returns the reply if it arrives before the agent's timeout, else a denial.
fn wait_for_reply(
    receiver: &mpsc::Receiver<WorkerMessage>,
    agent: Agent,
    installed: Option<Duration>,
    began: Instant,
) -> HookReply {
    let mut hook = None;
    loop {
        let until = began + protocol::limit(agent, hook, installed) + GRACE_PERIOD;
        match receiver.recv_timeout(until.saturating_duration_since(Instant::now())) {
            Ok(WorkerMessage::Hook(found)) => hook = Some(found),
            Ok(WorkerMessage::Reply(reply)) => return reply,
            Err(RecvTimeoutError::Timeout) => {
                return protocol::failure_reply(agent, hook, NO_DECISION);
            }
            Err(RecvTimeoutError::Disconnected) => {
                return protocol::failure_reply(
                    agent,
                    hook,
                    "hooks-guard panicked; report it as a bug, with the output of `hooks-guard doctor`",
                );
            }
        }
    }
}

fn reply(options: HookArgs, began: Instant, say: &mpsc::Sender<WorkerMessage>) -> HookReply {
    let agent = options.agent;
    let directory = std::env::current_dir().ok();
    match read() {
        Err(error) => {
            protocol::failure_reply(agent, None, &format!("cannot read the input: {error}"))
        }
        Ok(input) => match protocol::read_in(agent, &input, directory.as_deref()) {
            Err(error) => invalid(agent, &error),
            Ok(event) => answer(options, event, began, say),
        },
    }
}

/// Returns the denial of an invalid input. On a terminal, the error shows the invalid line.
fn invalid(agent: Agent, error: &ProtocolError) -> HookReply {
    let mut reply = protocol::failure_reply(agent, error.hook, &error.to_string());
    if !reply.stderr.is_empty()
        && io::stderr().is_terminal()
        && let Some(report) = error.report(!is_turned_off())
    {
        reply.stderr = report;
    }
    reply
}

fn read() -> io::Result<Vec<u8>> {
    let mut input = Vec::new();
    let most = protocol::MAX_INPUT_BYTES as u64 + 1;
    io::stdin().lock().take(most).read_to_end(&mut input)?;
    Ok(input)
}

/// Prints the reply.
///
/// # Errors
/// If standard output cannot be written or is the null device. Errors on standard error are
/// ignored.
fn print(reply: &HookReply) -> io::Result<()> {
    if !reply.stderr.is_empty() {
        let _ = writeln!(io::stderr().lock(), "{}", reply.stderr);
    }
    if reply.stdout.is_empty() {
        return Ok(());
    }
    let mut out = io::stdout().lock();
    if is_null_device(&out) {
        return Err(io::Error::other(
            "standard output is closed or the null device",
        ));
    }
    writeln!(out, "{}", reply.stdout)?;
    out.flush()
}

/// Returns `true` if output to `out` is lost without an error. If standard output is closed, the
/// Rust runtime opens the null device in its place.
#[cfg(unix)]
fn is_null_device(out: &impl std::os::fd::AsFd) -> bool {
    use std::os::unix::fs::MetadataExt;
    let device = |file: std::fs::File| file.metadata().map(|file| file.rdev());
    let out = out.as_fd().try_clone_to_owned().map(Into::into);
    match (out.and_then(device), std::fs::metadata("/dev/null")) {
        (Ok(out), Ok(null)) => out != 0 && out == null.rdev(),
        _ => false,
    }
}

#[cfg(not(unix))]
fn is_null_device<T>(_: &T) -> bool {
    false
}

fn answer(
    options: HookArgs,
    event: HookEvent,
    began: Instant,
    say: &mpsc::Sender<WorkerMessage>,
) -> HookReply {
    let hook = event.hook();
    let _ = say.send(WorkerMessage::Hook(hook));
    let agent = options.agent;
    let variable = |name: &str| std::env::var(name).ok();
    let unattended = options.unattended || protocol::is_unattended(agent, variable);
    let limit = protocol::limit(agent, Some(hook), options.timeout.map(Duration::from_secs));
    let work = || -> Result<HookReply, CommandError> {
        let loaded = options.setup.load()?;
        let mut event = event;
        if let HookEvent::Ask(question) = &mut event
            && unattended
        {
            question.set_unattended();
        }
        if let Some(problem) = ownership::problem(&loaded, event.directory()) {
            return Ok(tool_call::undecided_reply(agent, &event, &problem));
        }
        if !loaded.config.enabled {
            return Ok(protocol::empty_reply(hook));
        }
        let deciders = loaded.deciders()?;
        let runtime = runtime()?;
        let reply = runtime.block_on(async {
            let guard = HookCallContext {
                agent,
                calls: CallStore::in_folder(loaded.calls()),
                decider: Decider::new(&deciders, began, began + limit),
            };
            match event {
                HookEvent::Ask(question) if agent.reports_denied_calls() => {
                    let request = question.request.clone();
                    let reply = guard.ask(question).await;
                    guard.store_denial(&request, &reply);
                    reply
                }
                HookEvent::Ask(question) => guard.ask(question).await,
                HookEvent::Ran(ran) => guard.record_run(ran).await,
                HookEvent::Refused(refused) => guard.record_denial(refused).await,
                HookEvent::Nothing { hook, .. } => protocol::empty_reply(hook),
            }
        });
        // Do not wait for tasks that are blocked by a lock.
        runtime.shutdown_background();
        Ok(reply)
    };
    work().unwrap_or_else(|error| protocol::failure_reply(agent, Some(hook), &error.to_string()))
}

/// One call of a hook.
struct HookCallContext<'a> {
    agent: Agent,
    calls: CallStore,
    /// Its deadline is that of the agent's reply.
    decider: Decider<'a, LoadedConfig>,
}

impl HookCallContext<'_> {
    async fn ask(&self, mut question: DecisionRequest) -> HookReply {
        question.request.asks_itself = !question.unattended();
        let request = &mut question.request;
        tool_call::complete(request, self.agent.name());
        // Forget an earlier call with this name that never ran: if this process decides, the stored
        // decision would be attributed to the new call.
        self.calls.forget(request);
        let decided = timeout_at(self.decider.deadline(), self.decide(&question)).await;
        let answer = match decided {
            Err(_) => tool_call::without_decision(&question, NO_DECISION.to_owned()),
            Ok(Err(why)) => tool_call::without_decision(&question, why),
            Ok(Ok(DecisionSource::Local(permission, failure))) => {
                local_answer(&question, &permission, failure.as_deref())
            }
            Ok(Ok(DecisionSource::Service(client, permission))) => {
                self.store_secret(&question.request, &permission);
                let service = RemoteService::new(client);
                let deadline = self.decider.deadline();
                tool_call::resolve(&service, self, &question, permission, deadline).await
            }
        };
        protocol::decision_reply(&question, &answer)
    }

    async fn decide(&self, question: &DecisionRequest) -> Result<DecisionSource, String> {
        // An operator cannot answer a question of a process that exits.
        let missing = protocol::approval_missing(question.hook.agent, question.prompt);
        self.decider.decide(&question.request, &missing).await
    }

    /// Stores the decision's secret for the end of the call.
    fn store_secret(&self, request: &PermissionRequest, permission: &PermissionDecision) {
        if let (Some(id), Some(secret)) = (permission.id, permission.secret.clone())
            && let Err(error) = self.calls.store(request, &StoredCall { id, secret })
        {
            tracing::warn!(%error, "the execution of this command will not be recorded");
        }
    }

    /// Stores the reason of a denial for the end of the call, which the agent reports as a run.
    fn store_denial(&self, request: &PermissionRequest, reply: &HookReply) {
        if let Some(reason) = reply.denial_reason()
            && let Err(error) = self.calls.store_denial(request, &reason)
        {
            tracing::warn!(%error, "this call will be recorded as one that ran");
        }
    }

    /// Records that a tool ran.
    async fn record_run(&self, mut ran: ToolRun) -> HookReply {
        // Without a denial, or with another error, the tool did run.
        if let Some(reason) = self.calls.take_denial(&ran.request)
            && ran.outcome.error.as_ref() == Some(&reason)
        {
            self.calls.forget(&ran.request);
            return protocol::empty_reply(ran.hook);
        }
        tool_call::complete(&mut ran.request, self.agent.name());
        let status = ran.outcome.exit_status;
        let status = status.and_then(|status| i32::try_from(status).ok());
        let reported = match self.calls.find(&ran.request) {
            Some(call) => {
                let reported = self
                    .decider
                    .report(call.id, &call.secret, Some(&ran.request), status)
                    .await;
                if reported.is_ok() {
                    self.calls.forget(&ran.request);
                }
                reported
            }
            None => self.decider.record_locally(&ran.request, status).await,
        };
        match reported {
            Ok(other) => tool_call::run_reply(ran.hook, other.as_ref()),
            Err(error) => protocol::failure_reply(self.agent, Some(ran.hook), &error.to_string()),
        }
    }

    /// Records that the agent itself denied a tool call.
    async fn record_denial(&self, mut refused: AgentDenial) -> HookReply {
        tool_call::complete(&mut refused.request, self.agent.name());
        match self
            .decider
            .record_denial(refused.request, &refused.reason)
            .await
        {
            Ok(()) => protocol::empty_reply(refused.hook),
            Err(why) => protocol::failure_reply(self.agent, Some(refused.hook), &why.to_string()),
        }
    }
}

impl QuestionDecider for HookCallContext<'_> {
    async fn decide_again(
        &self,
        question: &DecisionRequest,
    ) -> Result<PermissionDecision, Option<String>> {
        match self.decide(question).await {
            Ok(DecisionSource::Service(_, permission)) => {
                self.store_secret(&question.request, &permission);
                Ok(permission)
            }
            Ok(DecisionSource::Local(..)) => Err(None),
            Err(error) => Err(Some(error)),
        }
    }
}
