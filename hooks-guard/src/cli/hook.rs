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
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::Command;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use clap::Args;
use clap::builder::FalseyValueParser;
use hooks_guard::audit::ExecutionResult;
use hooks_guard::changes::FileChanges;
use hooks_guard::classify::Decision;
use hooks_guard::client::{Client, ClientError};
use hooks_guard::doctor::SERVER_VARIABLES;
use hooks_guard::gate::Gate;
use hooks_guard::proof::KeyError;
use hooks_guard::protocol::{
    self, Agent, AgentDecision, AgentDenial, AgentHook, DecisionRequest, HookEvent, HookReply,
    ProtocolError, ToolRun,
};
use hooks_guard::service::PermissionService;
use hooks_guard::tool_call::{self, NO_DECISION, QuestionAnswer, QuestionService, RedeemError};
use hooks_guard::{PermissionDecision, PermissionRequest};
use serde_json::json;
use tokio::sync::oneshot;
use tokio::time::{Instant, sleep, timeout_at};

use super::calls::{CallStore, StoredCall};
use super::color::is_turned_off;
use super::failure::CommandError;
use super::ownership;
use super::setup::{
    HookSetup, LoadedConfig, address, agents, gate, gate_without_model, open_one_shot, runtime,
};

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

/// Timeout of a decision of the service: two seconds for the classification, the rest for writing
/// the record.
const DECISION_TIMEOUT: Duration = Duration::from_secs(3);

/// Timeout of the handshake. The service needs neither its trail nor its rules for it, so only a
/// stopped service or an overloaded machine takes longer.
const HANDSHAKE_TIMEOUT: Duration = Duration::from_millis(600);

/// Timeout of a decision of this process without the service, from the start of the hook. Another
/// process, such as a stopped service, may have locked the trail.
const LOCAL_TIMEOUT: Duration = Duration::from_millis(900);

/// Timeout of a decision of this process if the service failed later than [`LOCAL_TIMEOUT`].
const LATE_LOCAL_TIMEOUT: Duration = Duration::from_millis(500);

/// Error if the trail was not written within these timeouts.
const LOCKED: &str = "timeout while writing the audit trail; look for a process that has locked \
                      it, such as a stopped `hooks-guard serve`";

/// How long to retry while an operator's answer is pending and the service is unreachable; it may
/// be restarting.
const RECONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// Extra time after the deadline, so that a task that enforces its own timeout can still report its
/// reason.
const GRACE_PERIOD: Duration = Duration::from_millis(300);

/// Stack size, equal to that of a process's first thread.
const STACK_BYTES: usize = 8 << 20;

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
    if let Err(error) = forget_variables() {
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

/// Restarts the hook without the variables that would redirect it to another server, if one is set.
fn forget_variables() -> io::Result<()> {
    let mut set = SERVER_VARIABLES
        .into_iter()
        .filter(|name| std::env::var_os(name).is_some());
    let Some(first) = set.next() else {
        return Ok(());
    };
    let mut command = Command::new(std::env::current_exe()?);
    command.args(std::env::args_os().skip(1)).env_remove(first);
    for name in set {
        command.env_remove(name);
    }
    Err(command.exec())
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
    match read() {
        Err(error) => {
            protocol::failure_reply(agent, None, &format!("cannot read the input: {error}"))
        }
        Ok(input) => match protocol::read(agent, &input) {
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
        let runtime = runtime()?;
        let reply = runtime.block_on(async {
            let guard = HookCallContext {
                agent,
                calls: CallStore::in_folder(loaded.calls()),
                is_new: loaded.trail_file().is_some_and(|file| !file.exists()),
                loaded: &loaded,
                began,
                deadline: began + limit,
            };
            match event {
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
    loaded: &'a LoadedConfig,
    /// `true` if the trail does not exist yet: creating it takes longer, and no process can have
    /// locked it.
    is_new: bool,
    began: Instant,
    /// Deadline of the agent's reply.
    deadline: Instant,
}

/// A decision and where it was made.
enum DecisionSource {
    /// Made by the service, which can be asked again.
    Service(Client, PermissionDecision),
    /// Made by this process; with the reason why the service's decision was not used, if a service
    /// is there.
    Local(PermissionDecision, Option<String>),
}

impl HookCallContext<'_> {
    async fn ask(&self, mut question: DecisionRequest) -> HookReply {
        question.request.asks_itself = !question.unattended();
        let request = &mut question.request;
        tool_call::complete(request, self.agent.name());
        // Forget an earlier call with this name that never ran: if this process decides, the stored
        // decision would be attributed to the new call.
        self.calls.forget(request);
        let decided = timeout_at(self.deadline, self.decide(&question)).await;
        let answer = match decided {
            Err(_) => tool_call::without_decision(&question, NO_DECISION.to_owned()),
            Ok(Err(why)) => tool_call::without_decision(&question, why),
            // The service may have refused this trail, and a new process cannot know its earlier
            // state.
            Ok(Ok(DecisionSource::Local(permission, Some(why)))) if permission.approved => {
                tool_call::without_decision(&question, format!("{}; {why}", permission.reasoning))
            }
            Ok(Ok(DecisionSource::Local(permission, service))) => {
                match (AgentDecision::of(&question, &permission), service) {
                    (AgentDecision::Ask(reason), Some(why)) => {
                        tool_call::without_decision(&question, format!("{reason}; {why}"))
                    }
                    (answer, _) => answer,
                }
            }
            Ok(Ok(DecisionSource::Service(client, permission))) => {
                self.store_secret(&question.request, &permission);
                let service = RemoteService {
                    hook: self,
                    client,
                    unreachable_since: Mutex::new(None),
                };
                tool_call::resolve(&service, &question, permission, self.deadline).await
            }
        };
        protocol::decision_reply(&question, &answer)
    }

    /// Returns the decision of the service or, if there is no service, of this process.
    async fn decide(&self, question: &DecisionRequest) -> Result<DecisionSource, String> {
        let why = match self.client() {
            Ok(Some(client)) => match self.decided_by(&client, question).await {
                Ok(permission) => return Ok(DecisionSource::Service(client, permission)),
                Err(why) => why,
            },
            Ok(None) => {
                let place = address(&self.loaded.config);
                let unproved = ClientError::Unproved(place.to_string());
                let listens = Client::new(place).is_reachable(HANDSHAKE_TIMEOUT).await;
                listens.then(|| unproved.to_string())
            }
            Err(error) => Some(error.to_string()),
        };
        let permission = self.decide_locally(question).await;
        match (permission, why) {
            (Ok(permission), why) => Ok(DecisionSource::Local(permission, why)),
            (Err(error), Some(why)) => Err(format!("{error}; {why}")),
            (Err(error), None) => Err(error),
        }
    }

    /// Returns a client that requires proof of the key, or `None` if no service has created a key
    /// yet.
    fn client(&self) -> Result<Option<Client>, CommandError> {
        match self.loaded.client() {
            Ok(client) => Ok(Some(client.with_handshake_timeout(HANDSHAKE_TIMEOUT))),
            Err(CommandError::Key(KeyError::Missing(_))) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Returns the deadline of this process's own work with the trail.
    fn local_deadline(&self) -> Instant {
        if self.is_new {
            return self.deadline;
        }
        let (soon, now) = (self.began + LOCAL_TIMEOUT, Instant::now());
        // A handshake that timed out still leaves enough time.
        let is_enough =
            soon.saturating_duration_since(now) >= (LOCAL_TIMEOUT - HANDSHAKE_TIMEOUT) / 2;
        let soon = if is_enough {
            soon
        } else {
            now + LATE_LOCAL_TIMEOUT
        };
        soon.min(self.deadline)
    }

    /// Returns the decision of the service. An error holds the reason why it was not used, if a
    /// service is there.
    ///
    /// A service that has proved that it has the key decides. A decision that lets the request run
    /// counts only if this process is not stricter, or if the operator has approved the request:
    /// the key alone does not open the gate.
    async fn decided_by(
        &self,
        client: &Client,
        question: &DecisionRequest,
    ) -> Result<PermissionDecision, Option<String>> {
        let body = serde_json::to_value(&question.request);
        let body = body.map_err(|error| Some(error.to_string()))?;
        let failed = |error: ClientError| {
            tracing::debug!(%error, "the service does not decide");
            (!matches!(error, ClientError::Unreachable(_))).then(|| error.to_string())
        };
        let connected = client.connect().await.map_err(failed)?;
        // Evaluate in parallel with the service.
        let own = self.local_decisions(&question.request);
        let limit = DECISION_TIMEOUT.min(self.remaining() / 2);
        let answer = connected.post("/api/hooks/permission-request", &body, limit);
        // The service or the request is faulty; this process decides, and its decision is at least
        // as strict.
        let permission: PermissionDecision = match answer.await {
            Ok(value) => serde_json::from_value(value)
                .map_err(|_| failed(ClientError::UnexpectedResponse))?,
            Err(error) => return Err(failed(error)),
        };
        if permission.approved || !permits(&permission) {
            return Ok(permission);
        }
        let own = match own.await {
            Ok(own) => own.map_err(|error| Some(error.to_string()))?,
            Err(_) => return Err(Some("hooks-guard panicked".to_owned())),
        };
        // A language model can only raise a class, so a decision without it never allows less.
        match own
            .iter()
            .all(|own| strictness(own) <= strictness(&permission))
        {
            true => Ok(permission),
            false => Err(Some(format!(
                "the service allows this command, but the hook's own check does not; make sure \
                 that both use `{}` and its rules",
                self.loaded.file.display()
            ))),
        }
    }

    /// Evaluates a request by the tables and rules of this process, once for each directory that
    /// `~` may mean. A thread runs this in parallel with the service.
    fn local_decisions(
        &self,
        request: &PermissionRequest,
    ) -> oneshot::Receiver<Result<Vec<PermissionDecision>, CommandError>> {
        let own = self.loaded.places.home.clone();
        let homes: Vec<PathBuf> = std::iter::once(own).chain(self.other_home()).collect();
        let (loaded, request) = (self.loaded.clone(), request.clone());
        let (send, receive) = oneshot::channel();
        let evaluate = move || -> Result<Vec<PermissionDecision>, CommandError> {
            let runtime = runtime()?;
            let decisions = homes.iter().map(|home| {
                let gate = gate_without_model(&loaded, home)?;
                Ok(runtime.block_on(gate.decide(&request)).permission)
            });
            decisions.collect()
        };
        let evaluation = move || {
            // The receiver is dropped if the decisions are no longer needed.
            let _ = send.send(evaluate());
        };
        // If no thread starts, the sender is dropped, and the receiver gets an error.
        let _ = thread::Builder::new()
            .stack_size(STACK_BYTES)
            .spawn(evaluation);
        receive
    }

    /// Returns the home directory of the agent's shell, if it differs from the user's. Requests are
    /// evaluated with both.
    fn other_home(&self) -> Option<PathBuf> {
        let home = std::env::var_os("HOME").map(PathBuf::from)?;
        (home.is_absolute() && home != self.loaded.places.home).then_some(home)
    }

    /// Returns the gate of this process: among those for each home directory, the strictest about
    /// this request.
    async fn gate(&self, request: &PermissionRequest) -> Result<Gate, CommandError> {
        let gate = gate(self.loaded, None)?;
        let Some(home) = self.other_home() else {
            return Ok(gate);
        };
        let other = gate_without_model(self.loaded, &home)?;
        let by_other = strictness(&other.decide(request).await.permission);
        let by_own = strictness(&gate.decide(request).await.permission);
        Ok(if by_other > by_own { other } else { gate })
    }

    async fn decide_locally(
        &self,
        question: &DecisionRequest,
    ) -> Result<PermissionDecision, String> {
        let request = &question.request;
        let failed = |error: &dyn std::fmt::Display| format!("hooks-guard cannot decide: {error}");
        let gate = self.gate(request).await.map_err(|error| failed(&error))?;
        if request.mcp.is_some() {
            let decided = gate.decide(request).await;
            if decided.unknown_tool {
                return Ok(decided.permission);
            }
        }
        let recorded = async {
            let audit = open_one_shot(&self.loaded.config).await?;
            let ttl = self.loaded.config.approval_ttl();
            let service = PermissionService::new(gate.clone(), audit.clone(), ttl);
            // An operator cannot answer a question of a process that exits.
            let missing = protocol::approval_missing(question.hook.agent, question.prompt);
            let decided = service.request_without_operator(request.clone(), &missing);
            let decided = decided.await;
            audit.leave_open();
            Ok::<_, CommandError>(decided?)
        };
        let error = match timeout_at(self.local_deadline(), recorded).await {
            Ok(Ok(permission)) => return Ok(permission),
            Ok(Err(error)) => failed(&error),
            Err(_) => failed(&LOCKED),
        };
        find_denial(&gate, request).await.ok_or(error)
    }

    fn remaining(&self) -> Duration {
        self.deadline.saturating_duration_since(Instant::now())
    }

    /// Stores the decision's secret for the end of the call.
    fn store_secret(&self, request: &PermissionRequest, permission: &PermissionDecision) {
        if let (Some(id), Some(secret)) = (permission.id, permission.secret.clone())
            && let Err(error) = self.calls.store(request, &StoredCall { id, secret })
        {
            tracing::warn!(%error, "the execution of this command will not be recorded");
        }
    }

    /// Records that a tool ran.
    async fn record_run(&self, mut ran: ToolRun) -> HookReply {
        tool_call::complete(&mut ran.request, self.agent.name());
        let status = ran.outcome.exit_status;
        let status = status.and_then(|status| i32::try_from(status).ok());
        let reported = match self.calls.find(&ran.request) {
            Some(call) => {
                let reported = self.report(&call, status).await;
                if reported.is_ok() {
                    self.calls.forget(&ran.request);
                }
                reported
            }
            None => self.record_locally(&ran.request, status).await,
        };
        match reported {
            Ok(()) => protocol::empty_reply(ran.hook),
            Err(error) => protocol::failure_reply(self.agent, Some(ran.hook), &error.to_string()),
        }
    }

    /// Records that the agent itself denied a tool call.
    async fn record_denial(&self, mut refused: AgentDenial) -> HookReply {
        tool_call::complete(&mut refused.request, self.agent.name());
        let recorded = async {
            let config = &self.loaded.config;
            let gate = gate(self.loaded, None)?;
            let audit = open_one_shot(config).await?;
            let service = PermissionService::new(gate, audit.clone(), config.approval_ttl());
            let recorded = service
                .record_agent_denial(refused.request, &refused.reason)
                .await;
            audit.leave_open();
            Ok::<_, CommandError>(recorded?)
        };
        let why = match timeout_at(self.local_deadline(), recorded).await {
            Ok(Ok(())) => return protocol::empty_reply(refused.hook),
            Ok(Err(error)) => error.to_string(),
            Err(_) => LOCKED.to_owned(),
        };
        protocol::failure_reply(self.agent, Some(refused.hook), &why)
    }

    /// Reports to the service that an approved call ran. If the service is unreachable, this
    /// process records it, because the agent reports a call only once.
    async fn report(&self, call: &StoredCall, status: Option<i32>) -> Result<(), CommandError> {
        let StoredCall { id, secret } = call;
        let path = format!("/api/hooks/decisions/{id}/executed");
        let body = json!({ "secret": secret, "exit_status": status });
        let error = match self.client() {
            Err(error) => error,
            Ok(None) => CommandError::Other(format!(
                "the service at {} has not created a key yet",
                address(&self.loaded.config)
            )),
            Ok(Some(client)) => {
                // Leave the rest of the time for the trail.
                let limit = DECISION_TIMEOUT.min(self.remaining() / 2);
                match client.post(&path, &body, limit).await {
                    Ok(_) => return Ok(()),
                    Err(ClientError::Refused { code, .. }) if code == "ALREADY_EXECUTED" => {
                        return Ok(());
                    }
                    // The service is reachable and rejects the report.
                    Err(error @ ClientError::Refused { status: ..500, .. }) => {
                        return Err(error.into());
                    }
                    Err(error) => error.into(),
                }
            }
        };
        let both = |here: &dyn std::fmt::Display| CommandError::Other(format!("{error}; {here}"));
        let recorded = async {
            let trail = self.trail().await?;
            let done = trail.record_execution(*id, secret, status).await;
            trail.audit().clone().leave_open();
            Ok::<_, CommandError>(done?)
        };
        let late = |_| both(&LOCKED);
        let done = timeout_at(self.local_deadline(), recorded)
            .await
            .map_err(late)?;
        match done.map_err(|here| both(&here))? {
            ExecutionResult::Done(_) | ExecutionResult::Already(_) => Ok(()),
            ExecutionResult::WrongSecret | ExecutionResult::Unknown => Err(error),
        }
    }

    async fn record_locally(
        &self,
        request: &PermissionRequest,
        status: Option<i32>,
    ) -> Result<(), CommandError> {
        let (Some(session), Some(call)) = (&request.session_id, &request.call_id) else {
            return Ok(());
        };
        let agent = self.agent.name();
        let recorded = async {
            let trail = self.trail().await?;
            let done = trail
                .record_call_execution(agent, session, call, status)
                .await;
            trail.audit().clone().leave_open();
            done?;
            Ok(())
        };
        let late = |_| CommandError::Other(LOCKED.to_owned());
        timeout_at(self.local_deadline(), recorded)
            .await
            .map_err(late)?
    }

    /// Opens the trail in this process, to record calls without deciding.
    async fn trail(&self) -> Result<PermissionService, CommandError> {
        let audit = open_one_shot(&self.loaded.config).await?;
        let ttl = self.loaded.config.approval_ttl();
        Ok(PermissionService::new(Gate::tables_only(), audit, ttl))
    }
}

/// Returns `true` if the agent may run a request without an approval: some agents run requests that
/// are left to them.
fn permits(permission: &PermissionDecision) -> bool {
    strictness(permission) < 2
}

/// Returns how strict a decision is, from 0 for an allow to 3 for a denial.
fn strictness(permission: &PermissionDecision) -> u8 {
    match permission {
        PermissionDecision { denied: true, .. } => 3,
        PermissionDecision {
            decision: Decision::AutoAllowed,
            ..
        } => 0,
        PermissionDecision {
            left_to_agent: true,
            ..
        } => 1,
        _ => 2,
    }
}

/// Returns the decision about a request if it is a denial: a denial holds even if it cannot be
/// recorded.
async fn find_denial(gate: &Gate, request: &PermissionRequest) -> Option<PermissionDecision> {
    let permission = gate.decide(request).await.permission;
    permission.denied.then_some(permission)
}

/// Returns `true` if the service is unreachable or shutting down; a question that was asked stays
/// pending.
fn is_unreachable(error: &ClientError) -> bool {
    match error {
        ClientError::Unreachable(_) | ClientError::UnexpectedResponse => true,
        ClientError::Refused { code, .. } => code == "SHUTTING_DOWN",
        _ => false,
    }
}

/// The running service, to which this process has sent a question.
struct RemoteService<'a> {
    hook: &'a HookCallContext<'a>,
    client: Client,
    /// Time of the first of consecutive failures to reach the service.
    unreachable_since: Mutex<Option<Instant>>,
}

impl RemoteService<'_> {
    /// Returns `true` until [`RECONNECT_TIMEOUT`] has passed since the first failure.
    fn retries(&self) -> bool {
        let since = self.unreachable_since.lock();
        let mut since = since.unwrap_or_else(PoisonError::into_inner);
        since.get_or_insert_with(Instant::now).elapsed() < RECONNECT_TIMEOUT
    }

    fn set_reached(&self) {
        let since = self.unreachable_since.lock();
        *since.unwrap_or_else(PoisonError::into_inner) = None;
    }
}

impl QuestionService for RemoteService<'_> {
    async fn decide_again(
        &self,
        question: &DecisionRequest,
    ) -> Result<PermissionDecision, Option<String>> {
        match self.hook.decide(question).await {
            Ok(DecisionSource::Service(_, permission)) => {
                self.hook.store_secret(&question.request, &permission);
                Ok(permission)
            }
            Ok(DecisionSource::Local(..)) => Err(None),
            Err(error) => Err(Some(error)),
        }
    }

    async fn show_changes(&self, id: i64, secret: &str, changes: FileChanges, limit: Duration) {
        let path = format!("/api/hooks/decisions/{id}/changes");
        let body = json!({ "secret": secret, "changes": changes });
        if let Err(error) = self.client.post(&path, &body, limit).await {
            tracing::debug!(%error, "the question does not show its changes");
        }
    }

    async fn wait_for_answer(
        &self,
        id: i64,
        wait: u64,
        limit: Duration,
    ) -> Result<Option<QuestionAnswer>, String> {
        let path = format!("/api/hooks/decisions/{id}?wait={wait}");
        let record = match self.client.get(&path, limit).await {
            Ok(record) => record,
            Err(ClientError::Timeout(_)) => return Ok(None),
            Err(error) if is_unreachable(&error) && self.retries() => {
                sleep(Duration::from_millis(200)).await;
                return Ok(None);
            }
            Err(error) => return Err(error.to_string()),
        };
        self.set_reached();
        Ok(record["user_response"].as_str().map(|answer| match answer {
            "APPROVED" => QuestionAnswer::Approved,
            "TIMEOUT" => QuestionAnswer::Expired,
            _ => QuestionAnswer::Denied {
                note: record["answer_note"].as_str().map(str::to_owned),
            },
        }))
    }

    async fn redeem(&self, id: i64, secret: &str, limit: Duration) -> Result<(), RedeemError> {
        let path = format!("/api/hooks/decisions/{id}/redeem");
        let body = json!({ "secret": secret });
        match self.client.post(&path, &body, limit).await {
            Ok(_) => Ok(()),
            Err(ClientError::Refused { code, error, .. }) if code == "CHANGED" => {
                Err(RedeemError::Changed(error))
            }
            Err(error) => Err(RedeemError::Failed(error.to_string())),
        }
    }
}
