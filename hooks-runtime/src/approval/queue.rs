//! A queue of questions for a user interface. Questions are answered by id, from any task and in
//! any order.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, Mutex, MutexGuard};

use tokio::sync::{Notify, oneshot};

use super::provider::ApprovalProvider;
use super::request::{ApprovalAnswer, ApprovalRequest};
use crate::HookError;
use crate::lock::lock;

/// The pending questions. Clones share one queue.
///
/// A pending question costs an entry here and its future: no thread, and no lock. On timeout, or if
/// the caller drops its future, the question leaves the queue.
///
/// ```
/// use hooks_runtime::approval::ApprovalQueue;
///
/// # async fn show(_: &hooks_runtime::approval::ApprovalRequest) -> String { String::new() }
/// async fn window(queue: ApprovalQueue) {
///     loop {
///         let request = queue.next().await;
///         let label = show(&request).await;
///         if let Err(gone) = queue.answer(&request.id, &*label) {
///             eprintln!("{gone}");
///         }
///     }
/// }
/// ```
#[derive(Debug, Clone, Default)]
pub struct ApprovalQueue {
    inner: Arc<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    /// By number, in order of arrival.
    waiting: Mutex<Waiting>,
    arrivals: Notify,
}

#[derive(Debug, Default)]
struct Waiting {
    by_id: HashMap<Arc<str>, u64>,
    questions: BTreeMap<u64, QueuedQuestion>,
    /// Questions that [`ApprovalQueue::next`] has not returned yet.
    unseen: BTreeSet<u64>,
    last: u64,
}

#[derive(Debug)]
struct QueuedQuestion {
    request: Arc<ApprovalRequest>,
    reply: oneshot::Sender<ApprovalAnswer>,
}

/// No caller waits for the answer to this question.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "the question `{id}` is not pending; it was answered, it expired, or its requester has stopped waiting"
)]
#[non_exhaustive]
pub struct NotWaiting {
    /// The id that was passed.
    pub id: String,
}

impl ApprovalQueue {
    /// Creates an empty queue.
    pub fn new() -> Self {
        ApprovalQueue::default()
    }

    /// Returns the next question that has not been returned yet, in order of arrival; waits for one
    /// if there is none. Returning a question does not answer it: it stays
    /// [`pending`](Self::pending).
    ///
    /// Cancel safe: dropping the future loses no question.
    pub async fn next(&self) -> Arc<ApprovalRequest> {
        loop {
            let arrival = self.inner.arrivals.notified();
            if let Some(request) = self.try_next() {
                return request;
            }
            arrival.await;
        }
    }

    /// Like [`next`](Self::next), without waiting.
    pub fn try_next(&self) -> Option<Arc<ApprovalRequest>> {
        let mut waiting = self.lock();
        let number = waiting.unseen.pop_first()?;
        let request = Arc::clone(&waiting.questions.get(&number)?.request);
        let is_more = !waiting.unseen.is_empty();
        drop(waiting);
        if is_more {
            // Another caller may wait for the remaining questions.
            self.inner.arrivals.notify_one();
        }
        Some(request)
    }

    /// Returns all pending questions, in order of arrival.
    pub fn pending(&self) -> Vec<Arc<ApprovalRequest>> {
        let waiting = self.lock();
        let questions = waiting.questions.values();
        questions
            .map(|question| Arc::clone(&question.request))
            .collect()
    }

    /// Returns the number of pending questions.
    pub fn len(&self) -> usize {
        self.lock().questions.len()
    }

    /// Returns `true` if no question is pending.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Answers a question, for all its callers.
    ///
    /// # Errors
    /// If the question is not pending. The second answer to a question is an error.
    pub fn answer(&self, id: &str, answer: impl Into<ApprovalAnswer>) -> Result<(), NotWaiting> {
        let question = self.lock().take_by_id(id);
        let sent = question.map(|question| question.reply.send(answer.into()));
        match sent {
            Some(Ok(())) => Ok(()),
            _ => Err(NotWaiting { id: id.to_owned() }),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        lock(&self.inner.waiting)
    }
}

impl Waiting {
    fn take_by_id(&mut self, id: &str) -> Option<QueuedQuestion> {
        let number = *self.by_id.get(id)?;
        self.take(number)
    }

    fn take(&mut self, number: u64) -> Option<QueuedQuestion> {
        self.unseen.remove(&number);
        let question = self.questions.remove(&number)?;
        // An equal question may have been asked since.
        if self.by_id.get(&question.request.id) == Some(&number) {
            self.by_id.remove(&question.request.id);
        }
        Some(question)
    }
}

impl ApprovalProvider for ApprovalQueue {
    async fn ask(&self, request: &Arc<ApprovalRequest>) -> Result<ApprovalAnswer, HookError> {
        let (reply, answer) = oneshot::channel();
        let _place = self.enter(request, reply);
        Ok(answer.await?)
    }
}

impl ApprovalQueue {
    fn enter(
        &self,
        request: &Arc<ApprovalRequest>,
        reply: oneshot::Sender<ApprovalAnswer>,
    ) -> Place<'_> {
        let question = QueuedQuestion {
            request: Arc::clone(request),
            reply,
        };
        let mut waiting = self.lock();
        waiting.last += 1;
        let number = waiting.last;
        waiting.by_id.insert(Arc::clone(&request.id), number);
        waiting.questions.insert(number, question);
        waiting.unseen.insert(number);
        drop(waiting);
        self.inner.arrivals.notify_one();
        Place {
            queue: self,
            number,
        }
    }
}

/// A place in the queue; dropping it removes the question.
struct Place<'q> {
    queue: &'q ApprovalQueue,
    number: u64,
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        let question = self.queue.lock().take(self.number);
        drop(question);
    }
}
