//! State of a session between its calls. Every lock here is held for a few lines, and never across
//! an `.await`.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard};

use serde::Serialize;

use super::call::{CallUsage, ToolRequest};
use crate::Map;
use crate::lock::lock;

/// Stage of an agent's turn. It advances automatically, and returns to the beginning with
/// [`Session::begin_turn`].
///
/// | Stage | Ends when | Allowed tools |
/// |---|---|---|
/// | `Request` | an intent is selected, or [`Session::record_reasoning`] is called | read-only tools |
/// | `Reasoning` | the first destructive call passes | every tool |
/// | `Action` | the next turn begins, or another intent is selected | every tool |
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "UPPERCASE")]
#[non_exhaustive]
pub enum Stage {
    /// The user has made a request.
    #[default]
    Request,
    /// The agent has planned, and an intent may be selected.
    Reasoning,
    /// The agent has begun to act.
    Action,
}

/// State of a session between its calls. Clones share one session.
///
/// ```
/// use hooks_runtime::engine::{Session, Stage};
///
/// let session = Session::new();
/// assert_eq!(session.stage(), Stage::Request);
/// session.select_intent("REQ-12");
/// assert_eq!(session.active_intent().as_deref(), Some("REQ-12"));
///
/// session.begin_turn();
/// assert_eq!(session.stage(), Stage::Request);
/// ```
#[derive(Debug, Clone, Default)]
pub struct Session {
    inner: Arc<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    turn: Mutex<Turn>,
    meter: Mutex<Meter>,
    last_call: Mutex<Option<LastCall>>,
    progress: Mutex<BTreeMap<String, IntentActivity>>,
    lessons: Mutex<VecDeque<Lesson>>,
}

/// The turn context.
#[derive(Debug, Default)]
struct Turn {
    stage: Stage,
    intent: Option<String>,
    /// Hash of each file when the agent last read or wrote it.
    baselines: BTreeMap<String, String>,
}

/// Resources used.
#[derive(Debug, Default)]
struct Meter {
    session: Spent,
    intents: BTreeMap<String, Spent>,
}

/// Resources used so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Spent {
    /// Calls that a budget has let through.
    pub calls: u64,
    /// Tokens of the model, and cost.
    pub usage: CallUsage,
}

impl Spent {
    /// Saturates: a counter that wraps around would allow calls again.
    fn add(&mut self, usage: CallUsage) {
        self.usage.tokens = self.usage.tokens.saturating_add(usage.tokens);
        self.usage.cost_micros = self.usage.cost_micros.saturating_add(usage.cost_micros);
    }
}

#[derive(Debug)]
struct LastCall {
    tool: String,
    params: Map,
    times: u32,
}

/// Progress of the work on an intent.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct IntentActivity {
    /// Calls that ended.
    pub calls: u64,
    /// Calls that failed.
    pub failures: u64,
    /// Files that were changed.
    pub files: BTreeSet<String>,
}

/// A finding for later sessions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Lesson {
    /// Kind of the finding, such as `scope-violation`.
    pub kind: String,
    /// Intent of the call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub intent_id: Option<String>,
    /// Subject: a file, a command.
    pub subject: String,
    /// Text of the lesson.
    pub lesson: String,
}

impl Lesson {
    /// Creates a lesson of this kind, on this subject.
    pub fn new(
        kind: impl Into<String>,
        intent: Option<&str>,
        subject: impl Into<String>,
        lesson: impl Into<String>,
    ) -> Self {
        Lesson {
            kind: kind.into(),
            intent_id: intent.map(str::to_owned),
            subject: subject.into(),
            lesson: lesson.into(),
        }
    }
}

/// Maximum number of pending lessons; the oldest are dropped.
const WAITING_LESSONS: usize = 256;

impl Session {
    /// Creates a session without state.
    pub fn new() -> Self {
        Session::default()
    }

    /// Returns the stage of the turn.
    pub fn stage(&self) -> Stage {
        self.turn().stage
    }

    /// Returns the intent that was selected last.
    pub fn active_intent(&self) -> Option<String> {
        self.turn().intent.clone()
    }

    /// Begins a turn: the user has made a new request. The selected intent and the known hashes
    /// stay.
    pub fn begin_turn(&self) {
        self.turn().stage = Stage::Request;
    }

    /// Records that the agent has planned.
    pub fn record_reasoning(&self) {
        let mut turn = self.turn();
        if turn.stage == Stage::Request {
            turn.stage = Stage::Reasoning;
        }
    }

    /// Selects the intent that the session works on, which counts as planning.
    pub fn select_intent(&self, id: impl Into<String>) {
        let mut turn = self.turn();
        turn.intent = Some(id.into());
        turn.stage = Stage::Reasoning;
    }

    /// Begins the stage of action, and returns `true` if the agent has planned.
    pub(crate) fn act(&self) -> bool {
        let mut turn = self.turn();
        let may = turn.stage != Stage::Request;
        if may {
            turn.stage = Stage::Action;
        }
        may
    }

    /// Returns the hash of a file when the agent last read or wrote it, by its path relative to the
    /// workspace.
    pub fn baseline(&self, path: &str) -> Option<String> {
        self.turn().baselines.get(path).cloned()
    }

    /// Sets the hash of a file that the agent has read or written; `None` removes it.
    pub fn set_baseline(&self, path: impl Into<String>, hash: Option<String>) {
        let mut turn = self.turn();
        match hash {
            Some(hash) => drop(turn.baselines.insert(path.into(), hash)),
            None => drop(turn.baselines.remove(&path.into())),
        }
    }

    /// Returns the resources that the session has used, or one intent of it.
    pub fn spent(&self, intent: Option<&str>) -> Spent {
        let meter = lock(&self.inner.meter);
        match intent {
            None => meter.session,
            Some(id) => meter.intents.get(id).copied().unwrap_or_default(),
        }
    }

    /// Adds the resources of a call.
    pub fn charge(&self, intent: Option<&str>, usage: CallUsage) {
        let mut meter = lock(&self.inner.meter);
        meter.session.add(usage);
        if let Some(id) = intent {
            meter.intents.entry(id.to_owned()).or_default().add(usage);
        }
    }

    /// Counts a call, unless the test returns an error; atomically, so that two calls cannot both
    /// take the last place. The test receives what the session has used, and what the intent has
    /// used; all unknown intents count as one.
    pub(crate) fn count_call<E>(
        &self,
        intent: Option<&str>,
        known: impl Fn(&str) -> bool,
        test: impl FnOnce(&Spent, Option<&Spent>) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut meter = lock(&self.inner.meter);
        let spent = intent.map(|id| {
            let same = |other: &str| other == id || !(known(id) || known(other));
            let mut all = Spent::default();
            for (_, spent) in meter.intents.iter().filter(|(other, _)| same(other)) {
                all.calls = all.calls.saturating_add(spent.calls);
                all.add(spent.usage);
            }
            all
        });
        test(&meter.session, spent.as_ref())?;
        meter.session.calls = meter.session.calls.saturating_add(1);
        if let Some(id) = intent {
            let spent = meter.intents.entry(id.to_owned()).or_default();
            spent.calls = spent.calls.saturating_add(1);
        }
        Ok(())
    }

    /// Returns how often in a row this call has been made, from 1. Parameters are compared by
    /// value; the order of keys has no effect.
    pub(crate) fn repeat(&self, request: &ToolRequest) -> u32 {
        let mut last = lock(&self.inner.last_call);
        match &mut *last {
            Some(last) if last.tool == request.tool && last.params == request.params => {
                last.times = last.times.saturating_add(1);
                last.times
            }
            other => {
                *other = Some(LastCall {
                    tool: request.tool.clone(),
                    params: request.params.clone(),
                    times: 1,
                });
                1
            }
        }
    }

    /// Resets repeated calls and the turn: its stage, the selected intent and the known hashes.
    /// Resources used and the progress of intents stay.
    pub fn reset(&self) {
        *lock(&self.inner.last_call) = None;
        *self.turn() = Turn::default();
    }

    /// Returns the progress of an intent.
    pub fn progress(&self, intent: &str) -> IntentActivity {
        let progress = lock(&self.inner.progress);
        progress.get(intent).cloned().unwrap_or_default()
    }

    pub(crate) fn advance(
        &self,
        intent: &str,
        step: impl FnOnce(&mut IntentActivity),
    ) -> IntentActivity {
        let mut progress = lock(&self.inner.progress);
        let progress = progress.entry(intent.to_owned()).or_default();
        step(progress);
        progress.clone()
    }

    /// Adds a lesson for the hook that writes them. At most 256 are pending; the oldest are
    /// dropped.
    pub fn learn(&self, lesson: Lesson) {
        let mut lessons = lock(&self.inner.lessons);
        lessons.push_back(lesson);
        give_way(&mut lessons);
    }

    /// Returns lessons that could not be written to the queue, before the newer ones.
    pub(crate) fn give_back(&self, older: VecDeque<Lesson>) {
        let mut lessons = lock(&self.inner.lessons);
        let mut newer = std::mem::replace(&mut *lessons, older);
        lessons.append(&mut newer);
        give_way(&mut lessons);
    }

    /// Takes the pending lessons, oldest first.
    pub(crate) fn take_lessons(&self) -> VecDeque<Lesson> {
        std::mem::take(&mut *lock(&self.inner.lessons))
    }

    fn turn(&self) -> MutexGuard<'_, Turn> {
        lock(&self.inner.turn)
    }
}

/// Drops the oldest lessons above the limit.
fn give_way(lessons: &mut VecDeque<Lesson>) {
    let surplus = lessons.len().saturating_sub(WAITING_LESSONS);
    lessons.drain(..surplus);
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn r_31_spent_usage_saturates() {
        let session = Session::new();
        for _ in 0..2 {
            session.charge(Some("REQ-1"), CallUsage::new(u64::MAX, u64::MAX));
        }
        let full = CallUsage::new(u64::MAX, u64::MAX);
        assert_eq!(session.spent(None).usage, full);
        assert_eq!(session.spent(Some("REQ-1")).usage, full);
    }

    #[test]
    fn r_30_parameters_are_compared_by_value() {
        let session = Session::new();
        let call = |params: &str| {
            let params = serde_json::from_str(params).unwrap();
            session.repeat(&ToolRequest::new("t").params(params))
        };
        assert_eq!(call(r#"{"a": {"x": 1, "y": [1, 2]}, "b": 2}"#), 1);
        assert_eq!(call(r#"{"b": 2, "a": {"y": [1, 2], "x": 1}}"#), 2);
        assert_eq!(call(r#"{"b": 2, "a": {"y": [2, 1], "x": 1}}"#), 1);
        assert_eq!(
            session.repeat(&ToolRequest::new("t").param("b", json!("2"))),
            1
        );
    }

    #[test]
    fn r_26_the_number_of_pending_lessons_is_bounded() {
        let session = Session::new();
        for n in 0..300 {
            session.learn(Lesson::new("k", None, n.to_string(), ""));
        }
        let lessons = session.take_lessons();
        assert_eq!(lessons.len(), WAITING_LESSONS);
        assert_eq!(lessons[0].subject, "44");
    }

    #[test]
    fn r_26_returned_lessons_precede_pending_lessons() {
        let session = Session::new();
        let learn = |n: u32| session.learn(Lesson::new("k", None, n.to_string(), ""));
        (0..200).for_each(learn);
        let taken = session.take_lessons();
        (200..300).for_each(learn);
        session.give_back(taken);
        let lessons = session.take_lessons();
        let ends = (&*lessons[0].subject, &*lessons[255].subject);
        assert_eq!((lessons.len(), ends), (256, ("44", "299")));
    }
}
