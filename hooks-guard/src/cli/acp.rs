//! Implements `acp`, a proxy of the Agent Client Protocol between an editor and an agent. In: the
//! agent's command, and the editor's messages on standard input. Out: the agent's messages on
//! standard output, and the agent's exit status.

use std::ffi::OsString;
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::process::{ExitStatus, Stdio};
use std::sync::Arc;
use std::time::Duration;

use clap::{Args, ValueEnum};
use hooks_guard::acp::{
    AgentRequest, DecidedRequest, DecisionRecord, Evidence, Proxy, RecordKey, RequestDecision,
    RequestGate, RequestKind, RequestOutcome,
};
use hooks_guard::audit::UserResponse;
use hooks_guard::classify::Decision;
use hooks_guard::client::Client;
use hooks_guard::decider::{
    Decider, Deciders, DecisionSource, RemoteService, STACK_BYTES, approval_counts,
};
use hooks_guard::protocol::DENIED;
use hooks_guard::tool_call::{self, OperatorReply, RecordedQuestion};
use hooks_guard::{PermissionDecision, PermissionRequest};
use rustix::process::{Pid, Signal, kill_process};
use tokio::io::BufReader;
use tokio::process::{Child, Command};
use tokio::runtime::Builder;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, sleep_until, timeout};

use super::failure::CommandError;
use super::ownership;
use super::serve::logs;
use super::setup::{HookSetup, LoadedConfig, forget_variables};

#[derive(Debug, Args)]
pub(crate) struct AcpArgs {
    /// Name of the agent in the audit trail. Default: the name that the agent tells the editor,
    /// else `acp`.
    #[arg(long, value_name = "NAME")]
    agent: Option<String>,
    /// Who approves a request that needs approval. Default: the operator if the service runs, else
    /// the user of the editor.
    #[arg(long, value_name = "WHO")]
    ask: Option<Approver>,
    #[command(flatten)]
    setup: HookSetup,
    /// A variable for the agent only, as `NAME=VALUE`; set by this program when it restarts itself
    /// without the variables of a database.
    #[arg(long, value_name = "VARIABLE", hide = true)]
    agent_variable: Vec<OsString>,
    /// The agent's command, after `--`.
    #[arg(last = true, required = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

/// Who approves a request that needs approval.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Approver {
    /// The operator, in the console, with `approve` or with `watch`. Denied if no service runs.
    Operator,
    /// The user of the editor.
    Editor,
}

/// Timeout of a decision, without the answer of a person.
const DECIDE_TIMEOUT: Duration = Duration::from_secs(10);

/// How long the agent may run after the editor has closed its output, or after a signal.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(5);

/// How long the agent may run after SIGTERM.
const KILL_TIMEOUT: Duration = Duration::from_secs(3);

/// How long the agent's last messages may take after its end: another process may hold its output.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(5);

/// Runs the agent. Returns its exit status.
pub(crate) fn acp(options: AcpArgs) -> Result<u8, CommandError> {
    forget_variables(Some("--agent-variable"))?;
    // A configuration with an error denies every request; report it before the agent starts.
    options.setup.load()?;
    logs();
    let runtime = Builder::new_multi_thread()
        .worker_threads(2)
        .thread_stack_size(STACK_BYTES)
        .enable_all()
        .build()?;
    let status = runtime.block_on(run(options));
    // Do not wait for a thread that reads standard input.
    runtime.shutdown_background();
    status
}

async fn run(options: AcpArgs) -> Result<u8, CommandError> {
    let AcpArgs {
        agent,
        ask,
        setup,
        agent_variable,
        command,
    } = options;
    let mut child = spawn(&command, &agent_variable)?;
    let (Some(to_agent), Some(from_agent)) = (child.stdin.take(), child.stdout.take()) else {
        return Err(CommandError::Other("the agent has no pipes".to_owned()));
    };
    let gate = Arc::new(GuardGate {
        agent,
        ask,
        reports: start_reports(setup.clone()),
        setup,
    });
    let reports = gate.reports.clone();
    let agent = (BufReader::new(from_agent), to_agent);
    let client = (BufReader::new(tokio::io::stdin()), tokio::io::stdout());
    let (proxy, tasks) = Proxy::new(gate, agent, client);
    let mut read_agent = tokio::spawn(tasks.read_agent);
    let mut read_client = tokio::spawn(tasks.read_client);
    let mut write_client = tokio::spawn(tasks.write_client);
    tokio::spawn(tasks.write_agent);
    let mut signals = Signals::new()?;
    let mut client_reads = true;
    let mut client_writes = true;
    // When the agent gets the next signal, and which.
    let mut ending: Option<(Instant, Signal)> = None;
    let status = loop {
        let until = ending.map_or_else(Instant::now, |(until, _)| until);
        tokio::select! {
            status = child.wait() => break status?,
            _ = &mut read_client, if client_writes => {
                client_writes = false;
                ending.get_or_insert((Instant::now() + CLOSE_TIMEOUT, Signal::TERM));
            }
            _ = &mut write_client, if client_reads => {
                client_reads = false;
                // The writer also ends after the agent has closed its output.
                if !read_agent.is_finished() {
                    read_agent.abort();
                    proxy.close_agent("the client is gone").await;
                }
                ending.get_or_insert((Instant::now() + CLOSE_TIMEOUT, Signal::TERM));
            }
            signal = signals.next() => {
                send_signal(&child, signal);
                ending.get_or_insert((Instant::now() + CLOSE_TIMEOUT, Signal::TERM));
            }
            () = sleep_until(until), if ending.is_some() => {
                let signal = ending.map_or(Signal::KILL, |(_, signal)| signal);
                send_signal(&child, signal);
                ending = Some((Instant::now() + KILL_TIMEOUT, Signal::KILL));
            }
        }
    };
    if client_reads {
        let written = async {
            // Its errors are those of the agent's output, which has ended.
            let _ = (&mut read_agent).await;
            let _ = (&mut write_client).await;
        };
        let _ = timeout(DRAIN_TIMEOUT, written).await;
    }
    if timeout(DRAIN_TIMEOUT, flush(&reports)).await.is_err() {
        tracing::warn!("cannot record what became of the last requests before the timeout");
    }
    Ok(exit_status(status))
}

fn spawn(command: &[OsString], variables: &[OsString]) -> Result<Child, CommandError> {
    let Some((program, arguments)) = command.split_first() else {
        return Err(CommandError::Other("no command of the agent".to_owned()));
    };
    let mut command = Command::new(program);
    command
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .kill_on_drop(true);
    for variable in variables {
        if let Some((name, value)) = variable.to_str().and_then(|text| text.split_once('=')) {
            command.env(name, value);
        }
    }
    command.spawn().map_err(|error| {
        let program = program.to_string_lossy();
        CommandError::Other(format!("cannot start the agent `{program}`: {error}"))
    })
}

/// Returns the status with which a shell would report the end of the agent.
fn exit_status(status: ExitStatus) -> u8 {
    let signal = status.signal().map(|signal| signal + 128);
    let code = status.code().or(signal);
    code.and_then(|code| u8::try_from(code).ok()).unwrap_or(1)
}

fn send_signal(child: &Child, signal: Signal) {
    let pid = child.id().and_then(|pid| i32::try_from(pid).ok());
    if let Some(pid) = pid.and_then(Pid::from_raw) {
        // The agent may have ended.
        let _ = kill_process(pid, signal);
    }
}

/// The signals that are passed on to the agent.
struct Signals([(tokio::signal::unix::Signal, Signal); 4]);

impl Signals {
    fn new() -> io::Result<Self> {
        Ok(Self([
            (signal(SignalKind::terminate())?, Signal::TERM),
            (signal(SignalKind::interrupt())?, Signal::INT),
            (signal(SignalKind::hangup())?, Signal::HUP),
            (signal(SignalKind::quit())?, Signal::QUIT),
        ]))
    }

    async fn next(&mut self) -> Signal {
        let [terminate, interrupt, hangup, quit] = &mut self.0;
        tokio::select! {
            _ = terminate.0.recv() => terminate.1,
            _ = interrupt.0.recv() => interrupt.1,
            _ = hangup.0.recv() => hangup.1,
            _ = quit.0.recv() => quit.1,
        }
    }
}

/// Decides as `hooks-guard hook` does.
#[derive(Debug)]
struct GuardGate {
    agent: Option<String>,
    ask: Option<Approver>,
    setup: HookSetup,
    reports: mpsc::Sender<OutcomeReport>,
}

/// What became of a request, for the trail.
#[derive(Debug)]
enum OutcomeReport {
    Answered(Box<DecisionRecord>, RequestOutcome),
    Ran(RecordKey),
    /// Tells the receiver that the earlier reports are recorded.
    Flush(oneshot::Sender<()>),
}

/// Maximum number of reports that wait for the trail.
const MAX_REPORTS: usize = 64;

/// Starts a task that records the reports in their order.
fn start_reports(setup: HookSetup) -> mpsc::Sender<OutcomeReport> {
    let (send, mut receive) = mpsc::channel(MAX_REPORTS);
    tokio::spawn(async move {
        while let Some(report) = receive.recv().await {
            let recorded = match report {
                OutcomeReport::Answered(record, outcome) => {
                    record_answer(&setup, *record, outcome).await
                }
                OutcomeReport::Ran(key) => record_run(&setup, key).await,
                OutcomeReport::Flush(done) => {
                    // The receiver is gone after its timeout.
                    let _ = done.send(());
                    Ok(())
                }
            };
            if let Err(error) = recorded {
                tracing::warn!(%error, "cannot record what became of a request");
            }
        }
    });
    send
}

/// Waits until the earlier reports are recorded.
async fn flush(reports: &mpsc::Sender<OutcomeReport>) {
    let (done, is_done) = oneshot::channel();
    if reports.send(OutcomeReport::Flush(done)).await.is_ok() {
        // An error means that the task has ended.
        let _ = is_done.await;
    }
}

/// Name of an agent that tells none.
const UNNAMED: &str = "acp";

/// Reason of a denial if no operator can approve.
const MISSING: &str = "this request needs approval, but no service runs; run `hooks-guard serve` \
                       and approve the request there, or add a rule that allows it";

impl RequestGate for GuardGate {
    async fn decide(
        self: Arc<Self>,
        mut request: AgentRequest,
        agent: Option<String>,
    ) -> DecidedRequest {
        let name = self.agent.clone().or(agent);
        let name = name.unwrap_or_else(|| UNNAMED.to_owned());
        for reading in &mut request.readings {
            reading.agent = Some(name.clone());
        }
        let decided = timeout(DECIDE_TIMEOUT, self.try_decide(request)).await;
        let why = match decided {
            Ok(Ok(decided)) => return decided,
            Ok(Err(error)) => format!("hooks-guard cannot decide: {error}"),
            Err(_) => "no decision before the timeout; run `hooks-guard doctor`".to_owned(),
        };
        unrecorded(self.without_decision(why))
    }

    async fn report(&self, record: DecisionRecord, outcome: RequestOutcome) {
        let report = OutcomeReport::Answered(Box::new(record), outcome);
        // The task ends with the process only.
        let _ = self.reports.send(report).await;
    }

    async fn report_run(&self, key: RecordKey) {
        let _ = self.reports.send(OutcomeReport::Ran(key)).await;
    }
}

fn decider(deciders: &Deciders<LoadedConfig>) -> Decider<'_, LoadedConfig> {
    let now = Instant::now();
    Decider::new(deciders, now, now + DECIDE_TIMEOUT).in_long_lived_process()
}

/// Returns a decision without a record in the trail.
fn unrecorded(answer: RequestDecision) -> DecidedRequest {
    DecidedRequest {
        answer,
        record: None,
    }
}

/// Recorded as the answerer of a request that the user of the editor answered.
const BY_EDITOR: &str = "editor";
/// Recorded as the answerer of a request that a person approved in a request for permission.
const BY_PERMISSION: &str = "permission request";
/// Recorded as the answerer of a request that the editor or the agent cancelled.
const BY_AGENT: &str = "agent";

async fn record_answer(
    setup: &HookSetup,
    record: DecisionRecord,
    outcome: RequestOutcome,
) -> Result<(), CommandError> {
    let deciders = setup.load()?.deciders()?;
    let decider = decider(&deciders);
    let DecisionRecord { request, key } = record;
    let (response, by, note) = match outcome {
        RequestOutcome::AllowedByUser => (UserResponse::Approved, BY_EDITOR, None),
        RequestOutcome::AllowedByPermission => (UserResponse::Approved, BY_PERMISSION, None),
        RequestOutcome::DeniedByUser => (
            UserResponse::Denied,
            BY_EDITOR,
            Some("denied in the editor"),
        ),
        RequestOutcome::Cancelled => (UserResponse::Denied, BY_AGENT, Some("cancelled")),
    };
    let is_answered = decider
        .record_prompt_answer(key.id, &key.secret, response, by, note)
        .await?;
    match note {
        // The guard had allowed it.
        Some(why) if !is_answered => Ok(decider.record_denial(request, why).await?),
        _ => Ok(()),
    }
}

async fn record_run(setup: &HookSetup, key: RecordKey) -> Result<(), CommandError> {
    let deciders = setup.load()?.deciders()?;
    let decider = decider(&deciders);
    match key.by_service {
        true => {
            let RecordKey { id, secret, .. } = key;
            decider.report(id, &secret, None, None).await?;
        }
        false => decider.record_run(key.id, &key.secret).await?,
    }
    Ok(())
}

impl GuardGate {
    /// Returns the decision after a failure.
    fn without_decision(&self, why: String) -> RequestDecision {
        match self.ask {
            Some(Approver::Operator) => RequestDecision::Deny(why),
            Some(Approver::Editor) | None => RequestDecision::AskClient(why),
        }
    }

    async fn try_decide(&self, mut request: AgentRequest) -> Result<DecidedRequest, CommandError> {
        let undecided = unrecorded(RequestDecision::Undecided);
        let loaded = match self.setup.load() {
            Ok(loaded) => loaded,
            // The settings may deny the request.
            Err(error) => {
                let why = format!("hooks-guard cannot decide: {error}");
                return Ok(unrecorded(RequestDecision::Deny(why)));
            }
        };
        let cwd = request
            .readings
            .first()
            .and_then(|first| first.cwd.as_deref());
        if let Some(problem) = ownership::problem(&loaded, cwd) {
            return Err(CommandError::Other(problem));
        }
        if !loaded.config.enabled {
            return Ok(undecided);
        }
        let deciders = loaded.deciders()?;
        let decider = decider(&deciders);
        let readings = std::mem::take(&mut request.readings);
        let Some((mut asked, own)) = decider.strictest(readings).await? else {
            return Ok(undecided);
        };
        if request.evidence == Evidence::Display && !own.denied {
            return Ok(undecided);
        }
        // The request may ask for more than its readings.
        asked.confirm |= request.evidence == Evidence::Partial;
        asked.asks_itself = self.ask == Some(Approver::Editor) || request.is_approved;
        let source = match decider.decide_by_service(&asked).await {
            Ok((client, permission)) => DecisionSource::Service(client, permission),
            Err(why) => {
                asked.asks_itself = self.ask != Some(Approver::Operator) || request.is_approved;
                let decided = decider.decide_in_process(&asked, MISSING, why).await;
                decided.map_err(CommandError::Other)?
            }
        };
        let is_approved = request.is_approved;
        let decided = self.answer(request, asked, source, loaded.config.approval_ttl());
        Ok(match decided.answer {
            RequestDecision::AskClient(reason) if is_approved => {
                if let Some(record) = decided.record.clone() {
                    self.report(record, RequestOutcome::AllowedByPermission)
                        .await;
                }
                let reason = format!("{reason}; approved in the request for permission");
                DecidedRequest {
                    answer: RequestDecision::Allow(reason),
                    ..decided
                }
            }
            answer => DecidedRequest { answer, ..decided },
        })
    }

    /// Converts the decision of a source. `ttl` limits the time of the operator.
    fn answer(
        &self,
        request: AgentRequest,
        asked: PermissionRequest,
        source: DecisionSource,
        ttl: Duration,
    ) -> DecidedRequest {
        let (client, permission, failure) = match source {
            DecisionSource::Service(client, permission) => (Some(client), permission, None),
            DecisionSource::Local(permission, failure) => (None, permission, failure),
        };
        let answer = match (self.decision(&request, &asked, &permission), failure) {
            (RequestDecision::Allow(reason), Some(why))
                if !approval_counts(&permission, Some(&why)) =>
            {
                self.without_decision(format!("{reason}; {why}"))
            }
            (RequestDecision::AskClient(reason), Some(why)) => {
                RequestDecision::AskClient(format!("{reason}; {why}"))
            }
            (answer, _) => answer,
        };
        // The operator does not see the hidden part, and so cannot approve it.
        let is_for_editor = permission.hidden_code && self.ask.is_none();
        let reason = permission.reason();
        let by_service = client.is_some();
        let key = permission.id.zip(permission.secret);
        let key = key.map(|(id, secret)| RecordKey {
            id,
            secret,
            by_service,
        });
        let answer = match (answer, client, &key) {
            (RequestDecision::AskClient(_), Some(client), Some(key))
                if !asked.asks_itself && !is_for_editor =>
            {
                let question = RecordedQuestion {
                    id: key.id,
                    secret: key.secret.clone(),
                    reason,
                    edits: request.edits,
                    cwd: asked.cwd.clone(),
                };
                RequestDecision::AskOperator(Box::pin(ask_operator(client, question, ttl)))
            }
            (RequestDecision::AskClient(reason), ..)
                if self.ask == Some(Approver::Operator) && !request.is_approved =>
            {
                RequestDecision::Deny(format!("{reason}; {MISSING}"))
            }
            (answer, ..) => answer,
        };
        DecidedRequest {
            answer,
            record: key.map(|key| DecisionRecord {
                request: asked,
                key,
            }),
        }
    }

    /// Converts a decision; a request that needs approval becomes a question to the client.
    fn decision(
        &self,
        request: &AgentRequest,
        asked: &PermissionRequest,
        permission: &PermissionDecision,
    ) -> RequestDecision {
        let reason = permission.reason();
        if permission.denied {
            return RequestDecision::Deny(format!("{reason}; {DENIED}"));
        }
        if permission.left_to_agent {
            return RequestDecision::Undecided;
        }
        if permission.decision != Decision::AutoAllowed {
            return RequestDecision::AskClient(reason);
        }
        if permission.approved {
            return RequestDecision::Allow(reason);
        }
        if request.evidence != Evidence::Complete {
            let why = "the request has parts that the guard does not know";
            return match request.kind {
                RequestKind::Permission(_) => RequestDecision::Undecided,
                _ => self.without_decision(format!("{reason}; {why}")),
            };
        }
        // As for hooks: reading a file is left to the client's own rules, unless a rule allows it.
        match asked.file.is_some() && permission.rule.is_none() {
            true => RequestDecision::Undecided,
            false => RequestDecision::Allow(reason),
        }
    }
}

/// Waits for the operator's answer. The files that an approval is bound to must not have changed.
async fn ask_operator(
    client: Client,
    question: RecordedQuestion,
    ttl: Duration,
) -> Result<String, String> {
    let service = RemoteService::new(client);
    // The service denies the question at the end of its time.
    let deadline = Instant::now() + ttl + DECIDE_TIMEOUT;
    match tool_call::ask_operator(&service, question, deadline).await {
        OperatorReply::Approved(why) => Ok(why),
        OperatorReply::Denied(why) | OperatorReply::Changed(why) => Err(why),
    }
}
