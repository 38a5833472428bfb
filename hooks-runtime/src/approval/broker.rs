//! Sends approval requests to the provider. Identical requests at the same time share one
//! question; a request that a session grant covers is answered without a question.

use std::collections::HashMap;
use std::fmt;
use std::future::pending;
use std::panic::AssertUnwindSafe;
use std::pin::pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;

use futures_util::future::{Either, FutureExt, Shared, WeakShared, select};
use hooks_core::{BoxFuture, Failure, Timer};
use jiff::Timestamp;

use super::grants::SessionGrants;
use super::option::ApprovalEffect;
use super::outcome::{Approval, ApprovalDecision};
use super::provider::DynApprovalProvider;
use super::request::{ApprovalAnswer, ApprovalRequest};
use crate::digest::Digest;
use crate::display::escape;
use crate::error::text;
use crate::lock::lock;

/// Approval requests of one host.
pub(crate) struct ApprovalBroker {
    provider: Option<Arc<dyn DynApprovalProvider>>,
    timer: Arc<dyn Timer>,
    /// Answers of "allow always".
    grants: Mutex<SessionGrants>,
    /// Questions without an answer. The lock is held for a look-up, never over an `.await`.
    open: Mutex<HashMap<Digest, Open>>,
    /// Number of the next question.
    last: AtomicU64,
}

/// Future of one question, shared by all callers that wait for the answer. If the last caller
/// drops it, the question is withdrawn.
type SharedQuestion = Shared<BoxFuture<'static, ApprovalDecision>>;

struct Open {
    /// Distinguishes questions with the same identity.
    number: u64,
    question: WeakShared<BoxFuture<'static, ApprovalDecision>>,
}

impl ApprovalBroker {
    pub(crate) fn new(
        provider: Option<Arc<dyn DynApprovalProvider>>,
        timer: Arc<dyn Timer>,
    ) -> Self {
        ApprovalBroker {
            provider,
            timer,
            grants: Mutex::default(),
            open: Mutex::default(),
            last: AtomicU64::new(0),
        }
    }

    /// Returns the decision on a request that needs no question.
    pub(crate) fn known(&self, request: &ApprovalRequest) -> Option<ApprovalDecision> {
        if self.is_remembered(request) {
            return Some(ApprovalDecision::Remembered);
        }
        let is_over = request.time_left(Timestamp::now()).is_zero();
        is_over.then_some(match self.provider {
            Some(_) => ApprovalDecision::TimedOut,
            None => ApprovalDecision::NobodyToAsk,
        })
    }

    /// Sends the request to the provider, and returns the decision.
    pub(crate) async fn ask(self: &Arc<Self>, request: Arc<ApprovalRequest>) -> Approval {
        let decision = match (self.known(&request), &self.provider) {
            (Some(decision), _) => decision,
            (None, None) => ApprovalDecision::NobodyToAsk,
            (None, Some(provider)) => self.wait(&request, provider).await,
        };
        self.conclude(request, decision)
    }

    /// Returns the decision on a request that was answered elsewhere.
    pub(crate) fn resolve(
        &self,
        request: Arc<ApprovalRequest>,
        answer: &ApprovalAnswer,
    ) -> Approval {
        let decision = match decision(&request, answer) {
            ApprovalDecision::Chosen(option)
                if option.effect.is_allowed() && request.time_left(Timestamp::now()).is_zero() =>
            {
                ApprovalDecision::TimedOut
            }
            // A denial is accepted after the deadline.
            decision => decision,
        };
        self.conclude(request, decision)
    }

    pub(crate) fn conclude(
        &self,
        request: Arc<ApprovalRequest>,
        decision: ApprovalDecision,
    ) -> Approval {
        let is_lasting = matches!(
            &decision,
            ApprovalDecision::Chosen(option) if option.effect == ApprovalEffect::AllowAlways
        );
        if is_lasting {
            if let Some(memory) = request.memory() {
                lock(&self.grants).remember(&request, memory);
            }
        }
        let approval = Approval { request, decision };
        tracing::info!(
            target: "hooks_runtime",
            id = &*approval.request.id,
            event = &*approval.request.event,
            hook = &*approval.request.hook,
            allowed = approval.is_allowed(),
            "approval {}",
            escape(&approval.to_string())
        );
        approval
    }

    fn is_remembered(&self, request: &ApprovalRequest) -> bool {
        let memory = request.memory();
        memory.is_some_and(|memory| lock(&self.grants).holds(request, &memory))
    }

    /// Removes the grants of a session.
    pub(crate) fn forget(&self, session: &str) {
        lock(&self.grants).end(session);
    }

    /// Waits for the answer until the deadline of the request.
    async fn wait(
        self: &Arc<Self>,
        request: &Arc<ApprovalRequest>,
        provider: &Arc<dyn DynApprovalProvider>,
    ) -> ApprovalDecision {
        let left = request.time_left(Timestamp::now());
        let up = async {
            match left < ENDLESS {
                true => self.timer.sleep(left).await,
                false => pending().await,
            }
        };
        let up = pin!(AssertUnwindSafe(up).catch_unwind());
        match select(self.question(request, provider), up).await {
            Either::Left((decision, _)) => decision,
            Either::Right((Ok(()), _)) => ApprovalDecision::TimedOut,
            Either::Right((Err(panic), _)) => {
                ApprovalDecision::NoTime(text(&Failure::panic(panic)))
            }
        }
    }

    /// Returns the question of this request, which an identical request may have opened.
    fn question(
        self: &Arc<Self>,
        request: &Arc<ApprovalRequest>,
        provider: &Arc<dyn DynApprovalProvider>,
    ) -> SharedQuestion {
        let identity = request.identity();
        let mut open = lock(&self.open);
        if let Some(question) = open.get(&identity).and_then(|open| open.question.upgrade()) {
            return question;
        }
        let place = Place {
            broker: Arc::downgrade(self),
            identity,
            number: self.last.fetch_add(1, Ordering::Relaxed),
        };
        let number = place.number;
        let (request, provider) = (Arc::clone(request), Arc::clone(provider));
        let question: BoxFuture<'static, _> = Box::pin(async move {
            let _place = place;
            put(&request, &*provider).await
        });
        let question = question.shared();
        if let Some(weak) = question.downgrade() {
            open.insert(
                identity,
                Open {
                    number,
                    question: weak,
                },
            );
        }
        question
    }
}

impl fmt::Debug for ApprovalBroker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ApprovalBroker")
            .field("asks", &self.provider.is_some())
            .field("open", &lock(&self.open).len())
            .finish_non_exhaustive()
    }
}

/// Removes a question from `open` when it is answered or withdrawn.
struct Place {
    broker: Weak<ApprovalBroker>,
    identity: Digest,
    number: u64,
}

impl Drop for Place {
    fn drop(&mut self) {
        if let Some(broker) = self.broker.upgrade() {
            let mut open = lock(&broker.open);
            // A later question with the same identity may have replaced it.
            if open
                .get(&self.identity)
                .is_some_and(|open| open.number == self.number)
            {
                open.remove(&self.identity);
            }
        }
    }
}

/// Sends a request to the provider.
async fn put(
    request: &Arc<ApprovalRequest>,
    provider: &dyn DynApprovalProvider,
) -> ApprovalDecision {
    let mut made = None;
    let asking = async {
        // Dropped after the answer is stored.
        let mut answering = pin!(provider.start(request));
        made = Some(match answering.as_mut().await {
            Ok(answer) => decision(request, &answer),
            Err(error) => failed(&error),
        });
    };
    let caught = AssertUnwindSafe(asking).catch_unwind().await;
    let panic = caught.err().map(Failure::panic);
    // A panic after the answer does not change the answer.
    made.unwrap_or_else(|| match panic {
        Some(panic) => failed(&panic),
        None => failed(&"it ended without an answer"),
    })
}

/// Timeout above which no timer is started: thirty years.
const ENDLESS: Duration = Duration::from_secs(30 * 365 * 24 * 60 * 60);

fn failed(why: &dyn fmt::Display) -> ApprovalDecision {
    ApprovalDecision::Failed(text(why))
}

fn decision(request: &ApprovalRequest, answer: &ApprovalAnswer) -> ApprovalDecision {
    match request.option(answer) {
        Some(option) => ApprovalDecision::Chosen(option.clone()),
        None => ApprovalDecision::NotOffered(answer.label.clone()),
    }
}
