//! `hook`: the command that coding agents call before and after they use a tool.
//!
//! The agent always gets an answer in its own format before its timeout. An error, a missing
//! decision or a timeout is never an allow.
//!
//! A project can set variables in the environment of its agent, and another process can listen at
//! the service's address. The hook therefore finds its files by its arguments and the system's user
//! database alone, and sends nothing to a service that does not prove that it has the key.

use std::io::{self, Read, Write};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use clap::Args;
use clap::builder::FalseyValueParser;
use hooks_guard::audit::Executed;
use hooks_guard::classify::Decision;
use hooks_guard::client::{Client, ClientError};
use hooks_guard::doctor::SERVER_VARIABLES;
use hooks_guard::gate::Gate;
use hooks_guard::proof::KeyError;
use hooks_guard::protocol::{
    self, Agent, AgentPrompt, Answer, Event, Hook, Question, Ran, Refused, Reply,
};
use hooks_guard::service::PermissionService;
use hooks_guard::{PermissionRequest, Ruling};
use serde_json::json;
use sha2::{Digest, Sha256};
use tokio::sync::oneshot;
use tokio::time::{Instant, sleep, timeout_at};

use super::calls::{Call, Calls};
use super::failure::Failure;
use super::ownership;
use super::setup::{
    HookSetup, Loaded, address, agents, gate, gate_by_tables, open_briefly, runtime,
};

#[derive(Debug, Args)]
pub(crate) struct Options {
    /// The agent.
    #[arg(value_parser = agents())]
    agent: Agent,
    /// For how many seconds the agent waits, by its settings.
    #[arg(long, value_name = "SECONDS")]
    timeout: Option<u64>,
    /// For an agent without a user at the keyboard: asks the operator in place of the agent's
    /// user, and denies if no service runs. Claude Code tells this by itself.
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

/// What the service may take for a decision; what it takes beyond the two seconds of a
/// classification is for its record.
const DECISION: Duration = Duration::from_secs(3);

/// Timeout of the handshake. The service needs neither its trail nor its rules for it: only a stopped
/// service takes longer, or an overloaded machine.
const HANDSHAKE: Duration = Duration::from_millis(600);

/// Timeout of a decision of the hook alone, from the start of the hook. Another process, such as a
/// stopped service, may have the trail locked.
const ALONE: Duration = Duration::from_millis(900);

/// Timeout of a decision of the hook alone if the service failed later than [`ALONE`].
const AFTERWARDS: Duration = Duration::from_millis(500);

/// The error if the trail was not written within these timeouts.
const LOCKED: &str = "the audit trail was not written in time; look for a process that has it locked, such as a stopped `hooks-guard serve`";

/// How long a service that somebody is waited for at may be away: it may be starting anew.
const RESTART: Duration = Duration::from_secs(10);

/// What an answer may be late by before it is given up: what keeps its own time has told why.
const GRACE: Duration = Duration::from_millis(300);

/// As much as the first thread of a process has.
const STACK: usize = 8 << 20;

/// What the thread that answers says to the one that keeps the time.
enum Said {
    /// What the agent calls for.
    Hook(Hook),
    Reply(Reply),
}

/// Answers one call of a hook. Its exit status is the agent's.
///
/// The answer is found on a thread of its own. Most agents go on when a hook is late: whatever
/// holds that thread up, be it a file or an input without an end, the agent is refused in time.
pub(crate) fn hook(options: Options) -> u8 {
    let (agent, installed) = (options.agent, options.timeout.map(Duration::from_secs));
    if let Err(error) = forget_variables() {
        let reply = protocol::failed(agent, None, &format!("it cannot be started anew: {error}"));
        return finish(&reply);
    }
    let began = Instant::now();
    let (say, said) = mpsc::channel();
    let finds = move || {
        let reply = reply(options, began, &say);
        // Whoever does not hear it has given it up.
        let _ = say.send(Said::Reply(reply));
    };
    let reply = match thread::Builder::new().stack_size(STACK).spawn(finds) {
        Ok(_) => in_time(&said, agent, installed, began),
        Err(error) => protocol::failed(agent, None, &format!("no thread starts: {error}")),
    };
    finish(&reply)
}

/// Starts the hook anew without the variables that lead to another server, if one is set.
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
fn finish(reply: &Reply) -> u8 {
    match print(reply) {
        Ok(()) => reply.exit,
        // Without an answer an agent may run the tool; every agent takes status 2 for a refusal.
        Err(error) => {
            let _ = writeln!(
                io::stderr().lock(),
                "hooks-guard: the answer cannot be written ({error}): refused"
            );
            2
        }
    }
}

/// The reply if it comes in the agent's time, else a refusal.
fn in_time(
    said: &mpsc::Receiver<Said>,
    agent: Agent,
    installed: Option<Duration>,
    began: Instant,
) -> Reply {
    let mut hook = None;
    loop {
        let until = began + protocol::limit(agent, hook, installed) + GRACE;
        match said.recv_timeout(until.saturating_duration_since(Instant::now())) {
            Ok(Said::Hook(found)) => hook = Some(found),
            Ok(Said::Reply(reply)) => return reply,
            Err(RecvTimeoutError::Timeout) => return protocol::failed(agent, hook, LATE),
            Err(RecvTimeoutError::Disconnected) => {
                return protocol::failed(agent, hook, "hooks-guard has panicked");
            }
        }
    }
}

/// The reason of a denial if the operator did not answer a question in time.
const NO_ANSWER: &str = "the operator did not answer in time; approve the request in the console, \
                         with `hooks-guard approve` or `hooks-guard watch`";

const LATE: &str = "no decision was made in the agent's time";

fn reply(options: Options, began: Instant, say: &mpsc::Sender<Said>) -> Reply {
    let agent = options.agent;
    match read() {
        Err(error) => protocol::failed(agent, None, &format!("the input cannot be read: {error}")),
        Ok(input) => match protocol::read(agent, &input) {
            Err(error) => protocol::failed(agent, error.hook, &error.to_string()),
            Ok(event) => answer(options, event, began, say),
        },
    }
}

fn read() -> io::Result<Vec<u8>> {
    let mut input = Vec::new();
    let most = protocol::MOST_BYTES as u64 + 1;
    io::stdin().lock().take(most).read_to_end(&mut input)?;
    Ok(input)
}

/// Prints the reply.
///
/// # Errors
/// When the standard output cannot be written, or leads nowhere. The standard error only informs.
fn print(reply: &Reply) -> io::Result<()> {
    if !reply.stderr.is_empty() {
        let _ = writeln!(io::stderr().lock(), "{}", reply.stderr);
    }
    if reply.stdout.is_empty() {
        return Ok(());
    }
    let mut out = io::stdout().lock();
    if is_null_device(&out) {
        return Err(io::Error::other("it is closed or the null device"));
    }
    writeln!(out, "{}", reply.stdout)?;
    out.flush()
}

/// Returns whether what is written to `out` is lost without an error. The runtime opens the null
/// device in place of a standard output that is closed.
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

fn answer(options: Options, event: Event, began: Instant, say: &mpsc::Sender<Said>) -> Reply {
    let (Event::Ask(Question { hook, .. })
    | Event::Ran(Ran { hook, .. })
    | Event::Refused(Refused { hook, .. })
    | Event::Nothing { hook, .. }) = &event;
    let hook = *hook;
    let _ = say.send(Said::Hook(hook));
    let agent = options.agent;
    let variable = |name: &str| std::env::var(name).ok();
    let unattended = options.unattended || protocol::is_unattended(agent, variable);
    let limit = protocol::limit(agent, Some(hook), options.timeout.map(Duration::from_secs));
    let work = || -> Result<Reply, Failure> {
        let loaded = options.setup.load()?;
        let mut event = event;
        if let Event::Ask(question) = &mut event
            && unattended
            && question.prompt == AgentPrompt::Shown
        {
            question.prompt = AgentPrompt::Unattended;
        }
        if let Some(problem) = ownership::problem(&loaded, directory(&event)) {
            let why = format!("hooks-guard cannot decide: {problem}");
            return Ok(match &event {
                Event::Ask(question) => protocol::answer(question, &undecided(question, why)),
                _ => protocol::failed(agent, Some(hook), &why),
            });
        }
        if !loaded.config.enabled {
            return Ok(protocol::done(hook));
        }
        let runtime = runtime()?;
        let reply = runtime.block_on(async {
            let guard = Guard {
                agent,
                calls: Calls::in_folder(loaded.calls()),
                is_new: loaded.trail_file().is_some_and(|file| !file.exists()),
                loaded: &loaded,
                began,
                until: began + limit,
            };
            match event {
                Event::Ask(question) => guard.ask(question).await,
                Event::Ran(ran) => guard.ran(ran).await,
                Event::Refused(refused) => guard.refused(refused).await,
                Event::Nothing { hook, .. } => protocol::done(hook),
            }
        });
        // What still waits for a lock is not waited for.
        runtime.shutdown_background();
        Ok(reply)
    };
    work().unwrap_or_else(|error| protocol::failed(agent, Some(hook), &error.to_string()))
}

/// The directory that an event names.
fn directory(event: &Event) -> Option<&Path> {
    let request = match event {
        Event::Ask(question) => &question.request,
        Event::Ran(ran) => &ran.request,
        Event::Refused(refused) => &refused.request,
        Event::Nothing { .. } => return None,
    };
    request.cwd.as_deref()
}

/// One call of a hook.
struct Guard<'a> {
    agent: Agent,
    calls: Calls,
    loaded: &'a Loaded,
    /// Whether the trail has to be made, which takes longer, and no process can have it locked.
    is_new: bool,
    began: Instant,
    /// When the agent must have its answer.
    until: Instant,
}

/// Who decided.
enum Decided {
    /// The service, which can be asked again.
    Service(Client, Ruling),
    /// This process; why not the service, where there is one.
    Here(Ruling, Option<String>),
}

/// What came of a question to the operator.
enum Settled {
    Answer(Answer),
    /// The request was approved, and its files have changed since the question; with the reason.
    Changed(String),
}

impl Guard<'_> {
    async fn ask(&self, mut question: Question) -> Reply {
        question.request.asks_itself = !question.unattended();
        let request = &mut question.request;
        self.complete(request);
        // One of the same name that never ran would be taken for this one, were this one decided
        // here.
        self.calls.forget(request);
        let decided = timeout_at(self.until, self.decide(&question)).await;
        let answer = match decided {
            Err(_) => undecided(&question, LATE.to_owned()),
            Ok(Err(why)) => undecided(&question, why),
            // The service may have refused this trail, of which a new process knows no earlier state.
            Ok(Ok(Decided::Here(ruling, Some(why)))) if ruling.approved => {
                undecided(&question, format!("{}; {why}", ruling.reasoning))
            }
            Ok(Ok(Decided::Here(ruling, service))) => {
                match (Answer::of(&question, &ruling), service) {
                    (Answer::Ask(reason), Some(why)) => {
                        undecided(&question, format!("{reason}; {why}"))
                    }
                    (answer, _) => answer,
                }
            }
            Ok(Ok(Decided::Service(client, ruling))) => {
                self.remember(&question.request, &ruling);
                self.settle(&question, &client, &ruling).await
            }
        };
        protocol::answer(&question, &answer)
    }

    /// Names the agent, and the call if the agent has no name for it.
    fn complete(&self, request: &mut PermissionRequest) {
        request.agent = Some(self.agent.name().to_owned());
        request
            .call_id
            .get_or_insert_with(|| call_of(request.command.as_str(), request.cwd.as_deref()));
    }

    /// The decision of the service, or where there is none, of this process.
    async fn decide(&self, question: &Question) -> Result<Decided, String> {
        let why = match self.client() {
            Ok(Some(client)) => match self.decided_by(&client, question).await {
                Ok(ruling) => return Ok(Decided::Service(client, ruling)),
                Err(why) => why,
            },
            Ok(None) => {
                let place = address(&self.loaded.config);
                let unproved = ClientError::Unproved(place.to_string());
                let listens = Client::new(place).is_reachable(HANDSHAKE).await;
                listens.then(|| unproved.to_string())
            }
            Err(error) => Some(error.to_string()),
        };
        let ruling = self.here(question).await;
        match (ruling, why) {
            (Ok(ruling), why) => Ok(Decided::Here(ruling, why)),
            (Err(error), Some(why)) => Err(format!("{error}; {why}")),
            (Err(error), None) => Err(error),
        }
    }

    /// A client that has the service prove itself; none if no service has made a key yet.
    fn client(&self) -> Result<Option<Client>, Failure> {
        match self.loaded.client() {
            Ok(client) => Ok(Some(client.with_handshake_timeout(HANDSHAKE))),
            Err(Failure::Key(KeyError::Missing(_))) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// When this process gives up what it does with the trail itself.
    fn soon(&self) -> Instant {
        if self.is_new {
            return self.until;
        }
        let (soon, now) = (self.began + ALONE, Instant::now());
        // A handshake that is given up leaves enough.
        let is_enough = soon.saturating_duration_since(now) >= (ALONE - HANDSHAKE) / 2;
        let soon = if is_enough { soon } else { now + AFTERWARDS };
        soon.min(self.until)
    }

    /// The decision of the service; an error is why it does not count, if a service is there.
    ///
    /// A service that has proved itself decides. A decision that lets the request run counts only if
    /// this process is no stricter, or if the operator has approved the request: the key alone does
    /// not open the gate.
    async fn decided_by(
        &self,
        client: &Client,
        question: &Question,
    ) -> Result<Ruling, Option<String>> {
        let body = serde_json::to_value(&question.request);
        let body = body.map_err(|error| Some(error.to_string()))?;
        let failed = |error: ClientError| {
            tracing::debug!(%error, "the service does not decide");
            (!matches!(error, ClientError::Away(_))).then(|| error.to_string())
        };
        let connected = client.connect().await.map_err(failed)?;
        // While the service judges.
        let own = self.own_rulings(&question.request);
        let limit = DECISION.min(self.left() / 2);
        let answer = connected.post("/api/hooks/permission-request", &body, limit);
        // Something is wrong with it, or with this request: what is decided here is no less strict.
        let ruling: Ruling = match answer.await {
            Ok(value) => serde_json::from_value(value).map_err(|_| failed(ClientError::Strange))?,
            Err(error) => return Err(failed(error)),
        };
        if ruling.approved || !permits(&ruling) {
            return Ok(ruling);
        }
        let own = match own.await {
            Ok(own) => own.map_err(|error| Some(error.to_string()))?,
            Err(_) => return Err(Some("hooks-guard has panicked".to_owned())),
        };
        // A language model can only raise a class: without it, no less is allowed.
        match own.iter().all(|own| strictness(own) <= strictness(&ruling)) {
            true => Ok(ruling),
            false => Err(Some(format!(
                "the service would allow it, and this hook would not; check that both read `{}` and \
                 its rules",
                self.loaded.file.display()
            ))),
        }
    }

    /// Returns the rulings of this process about a request, by the tables and rules: one for each
    /// home that `~` may be. A thread of its own judges while the service does.
    fn own_rulings(
        &self,
        request: &PermissionRequest,
    ) -> oneshot::Receiver<Result<Vec<Ruling>, Failure>> {
        let own = self.loaded.places.home.clone();
        let homes: Vec<PathBuf> = std::iter::once(own).chain(self.other_home()).collect();
        let (loaded, request) = (self.loaded.clone(), request.clone());
        let (send, receive) = oneshot::channel();
        let judge = move || -> Result<Vec<Ruling>, Failure> {
            let runtime = runtime()?;
            let judged = homes.iter().map(|home| {
                let gate = gate_by_tables(&loaded, home)?;
                Ok(runtime.block_on(gate.judge(&request)).ruling)
            });
            judged.collect()
        };
        let judges = move || {
            // The receiver is dropped if the rulings are not needed any more.
            let _ = send.send(judge());
        };
        // If no thread starts, the sender is dropped, and the receiver gets an error.
        let _ = thread::Builder::new().stack_size(STACK).spawn(judges);
        receive
    }

    /// The home that `~` is for the agent's shell, if it is not the user's: both are judged by.
    fn other_home(&self) -> Option<PathBuf> {
        let home = std::env::var_os("HOME").map(PathBuf::from)?;
        (home.is_absolute() && home != self.loaded.places.home).then_some(home)
    }

    /// The gate of this process: of those for each home, the one that is stricter about a request.
    async fn gate(&self, request: &PermissionRequest) -> Result<Gate, Failure> {
        let gate = gate(self.loaded, None)?;
        let Some(home) = self.other_home() else {
            return Ok(gate);
        };
        let other = gate_by_tables(self.loaded, &home)?;
        let by_other = strictness(&other.judge(request).await.ruling);
        let by_own = strictness(&gate.judge(request).await.ruling);
        Ok(if by_other > by_own { other } else { gate })
    }

    async fn here(&self, question: &Question) -> Result<Ruling, String> {
        let request = &question.request;
        let failed = |error: &dyn std::fmt::Display| format!("hooks-guard cannot decide: {error}");
        let gate = self.gate(request).await.map_err(|error| failed(&error))?;
        let recorded = async {
            let audit = open_briefly(&self.loaded.config).await?;
            let ttl = self.loaded.config.approval_ttl();
            let service = PermissionService::new(gate.clone(), audit.clone(), ttl);
            // An operator cannot answer a question of a process that ends.
            let missing = protocol::approval_missing(question.hook.agent, question.prompt);
            let decided = service.request_without_operator(request.clone(), &missing);
            let decided = decided.await;
            audit.leave();
            Ok::<_, Failure>(decided?)
        };
        let error = match timeout_at(self.soon(), recorded).await {
            Ok(Ok(ruling)) => return Ok(ruling),
            Ok(Err(error)) => failed(&error),
            Err(_) => failed(&LOCKED),
        };
        denied(&gate, request).await.ok_or(error)
    }

    /// Converts a ruling of the service to an answer. If the agent shows no prompt, waits for the
    /// operator. What changed while the question was open is asked about again.
    async fn settle(&self, question: &Question, client: &Client, ruling: &Ruling) -> Answer {
        let mut again = None;
        loop {
            let ruling = again.as_ref().unwrap_or(ruling);
            match self.settle_once(question, client, ruling).await {
                Settled::Answer(answer) => return answer,
                Settled::Changed(why) if self.left() < Duration::from_millis(500) => {
                    return Answer::Deny(why);
                }
                Settled::Changed(why) => match self.decide(question).await {
                    Ok(Decided::Service(_, ruling)) => {
                        self.remember(&question.request, &ruling);
                        again = Some(ruling);
                    }
                    Ok(Decided::Here(..)) => return Answer::Deny(why),
                    Err(error) => return Answer::Deny(format!("{why}; {error}")),
                },
            }
        }
    }

    async fn settle_once(&self, question: &Question, client: &Client, ruling: &Ruling) -> Settled {
        let asks = ruling.decision == Decision::RequiresConfirmation && !ruling.denied;
        let (Some(id), Some(secret)) = (ruling.id, &ruling.secret) else {
            return Settled::Answer(Answer::of(question, ruling));
        };
        if !asks || ruling.left_to_agent || !question.unattended() {
            return Settled::Answer(Answer::of(question, ruling));
        }
        let reason = format!("{}: {}", ruling.classification, ruling.reasoning);
        let denied = |why: String| Settled::Answer(Answer::Deny(format!("{reason}; {why}")));
        let mut away = None;
        loop {
            let left = self.left();
            if left < Duration::from_millis(500) {
                return denied(NO_ANSWER.to_owned());
            }
            let seconds = left.as_secs().saturating_sub(1).min(30);
            let path = format!("/api/hooks/decisions/{id}?wait={seconds}");
            let record = client.get(&path, left).await;
            let said = match &record {
                Ok(record) => {
                    away = None;
                    record["user_response"].as_str()
                }
                Err(ClientError::Late(_)) => continue,
                Err(error) if is_away(error) && within(RESTART, &mut away) => {
                    sleep(Duration::from_millis(200)).await;
                    continue;
                }
                Err(error) => return denied(error.to_string()),
            };
            match said {
                None if seconds == 0 => {
                    return denied(NO_ANSWER.to_owned());
                }
                None => {}
                Some("APPROVED") => {
                    let path = format!("/api/hooks/decisions/{id}/redeem");
                    let body = json!({ "secret": secret });
                    return match client.post(&path, &body, self.left()).await {
                        Ok(_) => Settled::Answer(Answer::Allow(format!(
                            "{reason}; approved by the operator"
                        ))),
                        Err(ClientError::Refused { code, error, .. }) if code == "CHANGED" => {
                            Settled::Changed(format!("{reason}; {error}"))
                        }
                        Err(error) => denied(error.to_string()),
                    };
                }
                Some("TIMEOUT") => {
                    return denied(NO_ANSWER.to_owned());
                }
                Some(_) => return denied("denied by the operator".to_owned()),
            }
        }
    }

    fn left(&self) -> Duration {
        self.until.saturating_duration_since(Instant::now())
    }

    /// Keeps the decision's secret for the end of the call.
    fn remember(&self, request: &PermissionRequest, ruling: &Ruling) {
        if let (Some(id), Some(secret)) = (ruling.id, ruling.secret.clone())
            && let Err(error) = self.calls.keep(request, &Call { id, secret })
        {
            tracing::warn!(%error, "that the command ran will not be recorded");
        }
    }

    /// Records that a tool ran.
    async fn ran(&self, mut ran: Ran) -> Reply {
        self.complete(&mut ran.request);
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
            None => self.ran_here(&ran.request, status).await,
        };
        match reported {
            Ok(()) => protocol::done(ran.hook),
            Err(error) => protocol::failed(self.agent, Some(ran.hook), &error.to_string()),
        }
    }

    /// Records that the agent itself refused a tool.
    async fn refused(&self, mut refused: Refused) -> Reply {
        self.complete(&mut refused.request);
        let recorded = async {
            let config = &self.loaded.config;
            let gate = gate(self.loaded, None)?;
            let audit = open_briefly(config).await?;
            let service = PermissionService::new(gate, audit.clone(), config.approval_ttl());
            let recorded = service
                .refused_by_agent(refused.request, &refused.reason)
                .await;
            audit.leave();
            Ok::<_, Failure>(recorded?)
        };
        let why = match timeout_at(self.soon(), recorded).await {
            Ok(Ok(())) => return protocol::done(refused.hook),
            Ok(Err(error)) => error.to_string(),
            Err(_) => LOCKED.to_owned(),
        };
        protocol::failed(self.agent, Some(refused.hook), &why)
    }

    /// Reports to the service that what it decided about ran; where it is away, this process
    /// records it, because the agent tells it once.
    async fn report(&self, call: &Call, status: Option<i32>) -> Result<(), Failure> {
        let Call { id, secret } = call;
        let path = format!("/api/hooks/decisions/{id}/executed");
        let body = json!({ "secret": secret, "exit_status": status });
        let error = match self.client() {
            Err(error) => error,
            Ok(None) => Failure::Other(format!(
                "no service of {} has a key",
                address(&self.loaded.config)
            )),
            Ok(Some(client)) => {
                // The rest of the time is for the trail.
                let limit = DECISION.min(self.left() / 2);
                match client.post(&path, &body, limit).await {
                    Ok(_) => return Ok(()),
                    Err(ClientError::Refused { code, .. }) if code == "ALREADY_EXECUTED" => {
                        return Ok(());
                    }
                    // It is not away, and knows better.
                    Err(error @ ClientError::Refused { status: ..500, .. }) => {
                        return Err(error.into());
                    }
                    Err(error) => error.into(),
                }
            }
        };
        let both = |here: &dyn std::fmt::Display| Failure::Other(format!("{error}; {here}"));
        let recorded = async {
            let trail = self.trail().await?;
            let done = trail.executed(*id, secret, status).await;
            trail.audit().clone().leave();
            Ok::<_, Failure>(done?)
        };
        let late = |_| both(&LOCKED);
        let done = timeout_at(self.soon(), recorded).await.map_err(late)?;
        match done.map_err(|here| both(&here))? {
            Executed::Done(_) | Executed::Already(_) => Ok(()),
            Executed::WrongSecret | Executed::Unknown => Err(error),
        }
    }

    async fn ran_here(
        &self,
        request: &PermissionRequest,
        status: Option<i32>,
    ) -> Result<(), Failure> {
        let (Some(session), Some(call)) = (&request.session_id, &request.call_id) else {
            return Ok(());
        };
        let agent = self.agent.name();
        let recorded = async {
            let trail = self.trail().await?;
            let done = trail.executed_call(agent, session, call, status).await;
            trail.audit().clone().leave();
            done?;
            Ok(())
        };
        let late = |_| Failure::Other(LOCKED.to_owned());
        timeout_at(self.soon(), recorded).await.map_err(late)?
    }

    /// The trail in this process, for what is recorded and not decided.
    async fn trail(&self) -> Result<PermissionService, Failure> {
        let audit = open_briefly(&self.loaded.config).await?;
        let ttl = self.loaded.config.approval_ttl();
        Ok(PermissionService::new(Gate::by_tables(), audit, ttl))
    }
}

/// The answer if there is no decision: asks through the agent's prompt if it shows one, else
/// denies.
fn undecided(question: &Question, why: String) -> Answer {
    match question.unattended() {
        false => Answer::Ask(why),
        true => Answer::Deny(why),
    }
}

/// Returns whether the agent may run a request without an approval: some agents run what is left to
/// them.
fn permits(ruling: &Ruling) -> bool {
    strictness(ruling) < 2
}

/// Returns how strict a decision is: 0 for an allow, 3 for a denial.
fn strictness(ruling: &Ruling) -> u8 {
    match ruling {
        Ruling { denied: true, .. } => 3,
        Ruling {
            decision: Decision::AutoAllowed,
            ..
        } => 0,
        Ruling {
            left_to_agent: true,
            ..
        } => 1,
        _ => 2,
    }
}

/// The denial of a request, if it is denied: it holds where it cannot be recorded as well.
async fn denied(gate: &Gate, request: &PermissionRequest) -> Option<Ruling> {
    let ruling = gate.judge(request).await.ruling;
    ruling.denied.then_some(ruling)
}

/// Whether nobody is there, or somebody who is about to go; a question that was asked stays open.
fn is_away(error: &ClientError) -> bool {
    match error {
        ClientError::Away(_) | ClientError::Strange => true,
        ClientError::Refused { code, .. } => code == "SHUTTING_DOWN",
        _ => false,
    }
}

/// Whether it is not longer than that since this was called first.
fn within(limit: Duration, first: &mut Option<Instant>) -> bool {
    first.get_or_insert_with(Instant::now).elapsed() < limit
}

/// A name for a call of which the agent has none: what it does, and where.
fn call_of(command: &str, cwd: Option<&std::path::Path>) -> String {
    let mut hash = Sha256::new();
    hash.update(command);
    hash.update([0]);
    hash.update(cwd.map_or(&[][..], |cwd| cwd.as_os_str().as_encoded_bytes()));
    format!("command:{}", hex::encode(&hash.finalize()[..16]))
}
