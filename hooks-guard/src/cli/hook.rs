//! `hook`: the command that coding agents call before and after they use a tool.
//!
//! The agent always gets an answer in its own format before its timeout. An error, a missing
//! decision or a timeout is never an allow.

use std::io::{self, Read, Write};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use clap::Args;
use clap::builder::FalseyValueParser;
use hooks_guard::audit::Executed;
use hooks_guard::classify::Decision;
use hooks_guard::client::{Client, ClientError};
use hooks_guard::config::Config;
use hooks_guard::gate::Gate;
use hooks_guard::protocol::{
    self, Agent, AgentPrompt, Answer, Event, Hook, Question, Ran, Refused, Reply,
};
use hooks_guard::service::PermissionService;
use hooks_guard::{PermissionRequest, Ruling};
use serde_json::json;
use sha2::{Digest, Sha256};
use tokio::time::{Instant, sleep, timeout_at};

use super::Failure;
use super::calls::{Call, Calls};
use super::setup::{Setup, address, agents, gate, open_briefly, runtime};

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
    setup: Setup,
}

/// What the service may take for a decision; what it takes beyond the two seconds of a
/// classification is for its record.
const DECISION: Duration = Duration::from_secs(3);

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
    match print(&reply) {
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
        let config = options.setup.config()?;
        if !config.enabled {
            return Ok(protocol::done(hook));
        }
        let runtime = runtime()?;
        Ok(runtime.block_on(async {
            let guard = Guard {
                agent,
                config: &config,
                until: began + limit,
            };
            match event {
                Event::Ask(mut question) => {
                    if unattended && question.prompt == AgentPrompt::Shown {
                        question.prompt = AgentPrompt::Unattended;
                    }
                    guard.ask(question).await
                }
                Event::Ran(ran) => guard.ran(ran).await,
                Event::Refused(refused) => guard.refused(refused).await,
                Event::Nothing { hook, .. } => protocol::done(hook),
            }
        }))
    };
    work().unwrap_or_else(|error| protocol::failed(agent, Some(hook), &error.to_string()))
}

/// One call of a hook.
struct Guard<'a> {
    agent: Agent,
    config: &'a Config,
    /// When the agent must have its answer.
    until: Instant,
}

/// Who decided.
enum Decided {
    /// The service, which can be asked again.
    Service(Client, Ruling),
    /// This process; why not the service, where there is one.
    Here(Ruling, Option<ClientError>),
}

/// What came of a question to the operator.
enum Settled {
    Answer(Answer),
    /// It was approved, and is not any more what was asked about; why.
    Changed(String),
}

impl Guard<'_> {
    async fn ask(&self, mut question: Question) -> Reply {
        question.request.asks_itself = !question.unattended();
        let request = &mut question.request;
        self.complete(request);
        // One of the same name that never ran would be taken for this one, were this one decided
        // here.
        if let Some(calls) = Calls::of_environment() {
            calls.forget(request);
        }
        let decided = timeout_at(self.until, self.decide(&question)).await;
        let answer = match decided {
            Err(_) => undecided(&question, LATE.to_owned()),
            Ok(Err(why)) => undecided(&question, why),
            Ok(Ok(Decided::Here(ruling, service))) => {
                match (Answer::of(&question, &ruling), service) {
                    (Answer::Ask(reason), Some(error)) => {
                        undecided(&question, format!("{reason}; {error}"))
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
        let request = &question.request;
        let client = Client::new(address(self.config));
        let body = serde_json::to_value(request).map_err(|error| error.to_string())?;
        let limit = DECISION.min(self.left() / 2);
        let path = "/api/hooks/permission-request";
        let service = match client.post(path, &body, limit).await {
            Ok(value) => match serde_json::from_value(value) {
                Ok(ruling) => return Ok(Decided::Service(client, ruling)),
                Err(error) => {
                    tracing::debug!(%error, "what listens there is no service");
                    Some(ClientError::Strange)
                }
            },
            // Something is wrong with it, or with this request: what is decided here is no less
            // strict.
            Err(error) => {
                tracing::debug!(%error, "the service does not decide");
                Some(error).filter(|error| !matches!(error, ClientError::Away(_)))
            }
        };
        let ruling = self.here(question).await?;
        Ok(Decided::Here(ruling, service))
    }

    async fn here(&self, question: &Question) -> Result<Ruling, String> {
        let request = &question.request;
        let failed = |error: Failure| format!("hooks-guard cannot decide: {error}");
        let gate = gate(self.config, None).map_err(failed)?;
        let audit = match open_briefly(self.config).await {
            Ok(audit) => audit,
            Err(error) => return denied(&gate, request).await.ok_or_else(|| failed(error)),
        };
        let service = PermissionService::new(gate, audit.clone(), self.config.approval_ttl());
        // An operator cannot answer a question of a process that ends.
        let missing = protocol::approval_missing(question.hook.agent, question.prompt);
        let decided = service.request_without_operator(request.clone(), &missing);
        let ruling = match decided.await {
            Ok(ruling) => Ok(ruling),
            Err(error) => denied(service.gate(), request)
                .await
                .ok_or_else(|| format!("hooks-guard cannot decide: {error}")),
        };
        audit.leave();
        ruling
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
            && let Some(calls) = Calls::of_environment()
            && let Err(error) = calls.keep(request, &Call { id, secret })
        {
            tracing::warn!(%error, "that the command ran will not be recorded");
        }
    }

    /// Records that a tool ran.
    async fn ran(&self, mut ran: Ran) -> Reply {
        self.complete(&mut ran.request);
        let status = ran.outcome.exit_status;
        let status = status.and_then(|status| i32::try_from(status).ok());
        let calls = Calls::of_environment();
        let kept = calls.and_then(|calls| Some((calls.find(&ran.request)?, calls)));
        let reported = match kept {
            Some((call, calls)) => {
                let reported = self.report(&call, status).await;
                if reported.is_ok() {
                    calls.forget(&ran.request);
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
            let gate = gate(self.config, None)?;
            let audit = open_briefly(self.config).await?;
            let service = PermissionService::new(gate, audit.clone(), self.config.approval_ttl());
            let recorded = service
                .refused_by_agent(refused.request, &refused.reason)
                .await;
            audit.leave();
            Ok::<_, Failure>(recorded?)
        };
        match recorded.await {
            Ok(()) => protocol::done(refused.hook),
            Err(error) => protocol::failed(self.agent, Some(refused.hook), &error.to_string()),
        }
    }

    /// Reports to the service that what it decided about ran; where it is away, this process
    /// records it, because the agent tells it once.
    async fn report(&self, call: &Call, status: Option<i32>) -> Result<(), Failure> {
        let Call { id, secret } = call;
        let path = format!("/api/hooks/decisions/{id}/executed");
        let body = json!({ "secret": secret, "exit_status": status });
        let client = Client::new(address(self.config));
        // The rest of the time is for the trail.
        let limit = DECISION.min(self.left() / 2);
        let error = match client.post(&path, &body, limit).await {
            Ok(_) => return Ok(()),
            Err(ClientError::Refused { code, .. }) if code == "ALREADY_EXECUTED" => return Ok(()),
            // It is not away, and knows better.
            Err(error @ ClientError::Refused { status: ..500, .. }) => return Err(error.into()),
            Err(error) => error,
        };
        let both = |here: &dyn std::fmt::Display| Failure::Other(format!("{error}; {here}"));
        let trail = self.trail().await.map_err(|here| both(&here))?;
        let done = trail.executed(*id, secret, status).await;
        trail.audit().clone().leave();
        match done.map_err(|here| both(&here))? {
            Executed::Done(_) | Executed::Already(_) => Ok(()),
            Executed::WrongSecret | Executed::Unknown => Err(error.into()),
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
        let trail = self.trail().await?;
        let agent = self.agent.name();
        let done = trail.executed_call(agent, session, call, status).await;
        trail.audit().clone().leave();
        done?;
        Ok(())
    }

    /// The trail in this process, for what is recorded and not decided.
    async fn trail(&self) -> Result<PermissionService, Failure> {
        let audit = open_briefly(self.config).await?;
        let ttl = self.config.approval_ttl();
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
    let digest = hash.finalize();
    let short: String = digest[..16]
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    format!("command:{short}")
}
