//! Where questions are put: once for all that ask the same at the same time, within their
//! time, and not at all where "allow always" has been the answer before.

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

use super::memory::Memory;
use super::option::ApprovalEffect;
use super::outcome::{Approval, ApprovalDecision};
use super::provider::Asks;
use super::request::{ApprovalAnswer, ApprovalRequest};
use crate::digest::Digest;
use crate::display::escape;
use crate::error::text;
use crate::lock::lock;

/// The questions of a host.
pub(crate) struct Desk {
    provider: Option<Arc<dyn Asks>>,
    timer: Arc<dyn Timer>,
    /// What "allow always" has been answered to.
    memory: Mutex<Memory>,
    /// The questions that are being asked. The lock is held for a look-up, never while
    /// anybody waits.
    open: Mutex<HashMap<Digest, Open>>,
    /// The number of the next question.
    last: AtomicU64,
}

/// One question, and all that wait for its answer: the first of them that is polled carries
/// it on, and when the last one is gone, it is withdrawn.
type Question = Shared<BoxFuture<'static, ApprovalDecision>>;

struct Open {
    /// Tells it from another one with the same identity.
    number: u64,
    question: WeakShared<BoxFuture<'static, ApprovalDecision>>,
}

impl Desk {
    pub(crate) fn new(provider: Option<Arc<dyn Asks>>, timer: Arc<dyn Timer>) -> Self {
        Desk {
            provider,
            timer,
            memory: Mutex::default(),
            open: Mutex::default(),
            last: AtomicU64::new(0),
        }
    }

    /// The decision on a request that can be had without asking.
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

    /// Asks, and waits for the answer.
    pub(crate) async fn ask(self: &Arc<Self>, request: Arc<ApprovalRequest>) -> Approval {
        let decision = match (self.known(&request), &self.provider) {
            (Some(decision), _) => decision,
            (None, None) => ApprovalDecision::NobodyToAsk,
            (None, Some(provider)) => self.wait(&request, provider).await,
        };
        self.conclude(request, decision)
    }

    /// The decision on a request that was answered elsewhere.
    pub(crate) fn settle(
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
            // A no is not too late.
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
                lock(&self.memory).remember(&request, memory);
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
        memory.is_some_and(|memory| lock(&self.memory).holds(request, &memory))
    }

    /// Forgets what was remembered for a session.
    pub(crate) fn forget(&self, session: &str) {
        lock(&self.memory).end(session);
    }

    /// Waits for the answer to the question of this request, for as long as the request has.
    async fn wait(
        self: &Arc<Self>,
        request: &Arc<ApprovalRequest>,
        provider: &Arc<dyn Asks>,
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

    /// The question of this request, which may be being asked already (`E-140`).
    fn question(
        self: &Arc<Self>,
        request: &Arc<ApprovalRequest>,
        provider: &Arc<dyn Asks>,
    ) -> Question {
        let identity = request.identity();
        let mut open = lock(&self.open);
        if let Some(question) = open.get(&identity).and_then(|open| open.question.upgrade()) {
            return question;
        }
        let place = Place {
            desk: Arc::downgrade(self),
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

impl fmt::Debug for Desk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Desk")
            .field("asks", &self.provider.is_some())
            .field("open", &lock(&self.open).len())
            .finish_non_exhaustive()
    }
}

/// Takes a question off the list when it has been answered or withdrawn.
struct Place {
    desk: Weak<Desk>,
    identity: Digest,
    number: u64,
}

impl Drop for Place {
    fn drop(&mut self) {
        if let Some(desk) = self.desk.upgrade() {
            let mut open = lock(&desk.open);
            // The place may have been taken by a question that was put since.
            if open
                .get(&self.identity)
                .is_some_and(|open| open.number == self.number)
            {
                open.remove(&self.identity);
            }
        }
    }
}

/// Puts a question to the provider.
async fn put(request: &Arc<ApprovalRequest>, provider: &dyn Asks) -> ApprovalDecision {
    let mut made = None;
    let asking = async {
        // Dropped behind the answer.
        let mut answering = pin!(provider.start(request));
        made = Some(match answering.as_mut().await {
            Ok(answer) => decision(request, &answer),
            Err(error) => failed(&error),
        });
    };
    let caught = AssertUnwindSafe(asking).catch_unwind().await;
    let panic = caught.err().map(Failure::panic);
    // What panics once the answer is there does not take it back.
    made.unwrap_or_else(|| match panic {
        Some(panic) => failed(&panic),
        None => failed(&"it ended without an answer"),
    })
}

/// A time that no timer has to measure: thirty years.
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
