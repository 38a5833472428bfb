//! What a session remembers between its calls. Every lock here is held for a few lines, and
//! never across a wait.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard};

use serde::Serialize;

use super::call::{ToolRequest, Usage};
use crate::Map;
use crate::lock::lock;

/// How far the turn of an agent is. It goes forward by itself, and back to the beginning with
/// [`Session::begin_turn`].
///
/// | Stage | Left when | Lets through |
/// |---|---|---|
/// | `Request` | an intent is selected, or [`Session::record_reasoning`] is called | tools that only look |
/// | `Reasoning` | the first destructive call passes | every tool |
/// | `Action` | the next turn begins, or another intent is selected | every tool |
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "UPPERCASE")]
#[non_exhaustive]
pub enum Stage {
    /// Something was asked for.
    #[default]
    Request,
    /// It is known what is to be done, and for which intent.
    Reasoning,
    /// It is being done.
    Action,
}

/// What a session remembers between its calls. A clone is the same session.
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
    progress: Mutex<BTreeMap<String, Progress>>,
    lessons: Mutex<VecDeque<Lesson>>,
}

/// The turn context.
#[derive(Debug, Default)]
struct Turn {
    stage: Stage,
    intent: Option<String>,
    /// The hash of what the agent last saw or left in a file.
    baselines: BTreeMap<String, String>,
}

/// What has been used up.
#[derive(Debug, Default)]
struct Meter {
    session: Spent,
    intents: BTreeMap<String, Spent>,
}

/// What has been used up so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Spent {
    /// Calls that a budget has let through.
    pub calls: u64,
    /// Tokens of the model, and cost.
    pub usage: Usage,
}

impl Spent {
    /// Saturates: what wraps around would be allowed again.
    fn add(&mut self, usage: Usage) {
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

/// How far the work on an intent is.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Progress {
    /// Calls that ended.
    pub calls: u64,
    /// Calls that failed.
    pub failures: u64,
    /// Files that were changed.
    pub files: BTreeSet<String>,
}

/// Something that the next session should know.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Lesson {
    /// What kind of thing happened, such as `scope-violation`.
    pub kind: String,
    /// The intent for which it happened.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub intent_id: Option<String>,
    /// What it is about: a file, a command.
    pub subject: String,
    /// What is to be learned.
    pub lesson: String,
}

impl Lesson {
    /// A lesson of this kind, about this.
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

/// Lessons that wait for somebody to write them down; the oldest give way.
const WAITING_LESSONS: usize = 256;

impl Session {
    /// A session that remembers nothing yet.
    pub fn new() -> Self {
        Session::default()
    }

    /// How far the turn is.
    pub fn stage(&self) -> Stage {
        self.turn().stage
    }

    /// The intent that was selected last.
    pub fn active_intent(&self) -> Option<String> {
        self.turn().intent.clone()
    }

    /// Begins a turn: something new was asked for, and has to be thought about. The selected
    /// intent and what was read stay known.
    pub fn begin_turn(&self) {
        self.turn().stage = Stage::Request;
    }

    /// Says that the agent has thought about what was asked.
    pub fn record_reasoning(&self) {
        let mut turn = self.turn();
        if turn.stage == Stage::Request {
            turn.stage = Stage::Reasoning;
        }
    }

    /// Selects the intent that the session works on, which counts as thinking.
    pub fn select_intent(&self, id: impl Into<String>) {
        let mut turn = self.turn();
        turn.intent = Some(id.into());
        turn.stage = Stage::Reasoning;
    }

    /// Says that something is being done. Answers whether it may be, because somebody thought
    /// about it.
    pub(crate) fn act(&self) -> bool {
        let mut turn = self.turn();
        let may = turn.stage != Stage::Request;
        if may {
            turn.stage = Stage::Action;
        }
        may
    }

    /// The hash of what the agent last saw or left in a file, from the workspace on.
    pub fn baseline(&self, path: &str) -> Option<String> {
        self.turn().baselines.get(path).cloned()
    }

    /// Remembers the hash of what the agent has seen or left in a file; `None` forgets it.
    pub fn set_baseline(&self, path: impl Into<String>, hash: Option<String>) {
        let mut turn = self.turn();
        match hash {
            Some(hash) => drop(turn.baselines.insert(path.into(), hash)),
            None => drop(turn.baselines.remove(&path.into())),
        }
    }

    /// What the session has used up, or one intent of it.
    pub fn spent(&self, intent: Option<&str>) -> Spent {
        let meter = lock(&self.inner.meter);
        match intent {
            None => meter.session,
            Some(id) => meter.intents.get(id).copied().unwrap_or_default(),
        }
    }

    /// Adds what a call used up.
    pub fn charge(&self, intent: Option<&str>, usage: Usage) {
        let mut meter = lock(&self.inner.meter);
        meter.session.add(usage);
        if let Some(id) = intent {
            meter.intents.entry(id.to_owned()).or_default().add(usage);
        }
    }

    /// Counts a call, unless the test has something against what was spent; in one step, so
    /// that two calls do not both take the last place. The test is given what the session has
    /// spent, and the intent; to one that is not known, all that are not known have spent
    /// together.
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

    /// Which time in a row it is that this very call is made, from 1. Parameters are compared
    /// by value: the order of keys says nothing.
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

    /// Forgets repeated calls and the turn: its stage, the selected intent and what was read.
    /// What was spent, and how far intents are, stays.
    pub fn reset(&self) {
        *lock(&self.inner.last_call) = None;
        *self.turn() = Turn::default();
    }

    /// How far the work on an intent is.
    pub fn progress(&self, intent: &str) -> Progress {
        let progress = lock(&self.inner.progress);
        progress.get(intent).cloned().unwrap_or_default()
    }

    pub(crate) fn advance(&self, intent: &str, step: impl FnOnce(&mut Progress)) -> Progress {
        let mut progress = lock(&self.inner.progress);
        let progress = progress.entry(intent.to_owned()).or_default();
        step(progress);
        progress.clone()
    }

    /// Keeps a lesson for the hook that writes them down. At most 256 wait; the oldest give
    /// way.
    pub fn learn(&self, lesson: Lesson) {
        let mut lessons = lock(&self.inner.lessons);
        lessons.push_back(lesson);
        give_way(&mut lessons);
    }

    /// Keeps lessons that were taken and could not be written down: they are older than those
    /// that wait by now.
    pub(crate) fn give_back(&self, older: VecDeque<Lesson>) {
        let mut lessons = lock(&self.inner.lessons);
        let mut newer = std::mem::replace(&mut *lessons, older);
        lessons.append(&mut newer);
        give_way(&mut lessons);
    }

    /// Takes the lessons that wait, the oldest first.
    pub(crate) fn take_lessons(&self) -> VecDeque<Lesson> {
        std::mem::take(&mut *lock(&self.inner.lessons))
    }

    fn turn(&self) -> MutexGuard<'_, Turn> {
        lock(&self.inner.turn)
    }
}

/// Drops the oldest lessons, where too many wait.
fn give_way(lessons: &mut VecDeque<Lesson>) {
    let surplus = lessons.len().saturating_sub(WAITING_LESSONS);
    lessons.drain(..surplus);
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn r_31_what_was_spent_never_wraps_around() {
        let session = Session::new();
        for _ in 0..2 {
            session.charge(Some("REQ-1"), Usage::new(u64::MAX, u64::MAX));
        }
        let full = Usage::new(u64::MAX, u64::MAX);
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
    fn r_26_lessons_that_nobody_takes_do_not_pile_up() {
        let session = Session::new();
        for n in 0..300 {
            session.learn(Lesson::new("k", None, n.to_string(), ""));
        }
        let lessons = session.take_lessons();
        assert_eq!(lessons.len(), WAITING_LESSONS);
        assert_eq!(lessons[0].subject, "44");
    }

    #[test]
    fn r_26_lessons_that_come_back_are_older_than_those_that_wait() {
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
