//! A host for tests that applies hooks' results, and records everything.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard};

use super::EventRecorder;
use crate::approval::{ApprovalRequest, FixedAnswers};
use crate::lock::lock;
use crate::{
    AppliedEmission, Conversation, Coordinator, HookOutput, HookRegistry, IntoEventData, Message,
    UserDisplay, UserMessage, events,
};

/// A host for tests: a registry, a [`Coordinator`] and a conversation, with a record of all events,
/// questions, messages, output and injections.
///
/// By default, its user chooses the first option that denies. Without such an option the request
/// fails, and the default of the question applies.
///
/// ```
/// use hooks_runtime::testing::TestCoordinator;
/// use hooks_runtime::{Event, HookResult, RegisterOptions};
/// use serde_json::json;
///
/// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
/// let mut host = TestCoordinator::answering(["Allow once"]);
/// host.hooks().register(
///     "tool:pre",
///     |_: Event<'_>| HookResult::ask_user("Deploy?").user_message("asking first"),
///     RegisterOptions::new(),
/// );
///
/// // The question has no option `Allow once`, so the action is denied.
/// let applied = host.emit("tool:pre", json!({"tool_name": "deploy"})).await;
/// assert!(applied.is_denied());
/// assert_eq!(host.questions()[0].prompt, "Deploy?");
/// assert_eq!(host.messages()[0].text, "asking first");
/// host.events().assert_sequence(["tool:pre"]);
/// # });
/// ```
pub struct TestCoordinator {
    hooks: HookRegistry,
    coordinator: Coordinator,
    conversation: Conversation,
    answers: FixedAnswers,
    screen: Screen,
    events: EventRecorder,
}

impl TestCoordinator {
    /// Creates a host whose user chooses the first option that denies; without one, the request
    /// fails.
    pub fn new() -> Self {
        TestCoordinator::with_answers(FixedAnswers::deny())
    }

    /// Creates a host whose user chooses the first option that allows; without one, the request
    /// fails.
    pub fn allowing() -> Self {
        TestCoordinator::with_answers(FixedAnswers::allow())
    }

    /// Creates a host whose user gives these answers, one per question. After the last one, the
    /// default of a question applies.
    pub fn answering(labels: impl IntoIterator<Item = impl Into<String>>) -> Self {
        TestCoordinator::with_answers(FixedAnswers::labels(labels))
    }

    fn with_answers(answers: FixedAnswers) -> Self {
        let screen = Screen::default();
        let coordinator = Coordinator::builder()
            .provider(answers.clone())
            .display(screen.clone())
            .build();
        let (hooks, events) = (HookRegistry::new(), EventRecorder::new());
        events.attach(&hooks, events::STANDARD);
        TestCoordinator {
            hooks,
            coordinator,
            conversation: Conversation::new(),
            answers,
            screen,
            events,
        }
    }

    /// Returns the registry, to register the hooks under test with.
    pub fn hooks(&self) -> &HookRegistry {
        &self.hooks
    }

    /// Returns the coordinator, for more than [`emit`](Self::emit).
    pub fn coordinator(&self) -> &Coordinator {
        &self.coordinator
    }

    /// Returns the conversation, into which hooks inject.
    pub fn conversation(&mut self) -> &mut Conversation {
        &mut self.conversation
    }

    /// Emits an event, and applies the emission.
    ///
    /// # Panics
    /// If that fails.
    #[track_caller]
    pub fn emit(
        &mut self,
        event: &str,
        data: impl IntoEventData,
    ) -> impl Future<Output = AppliedEmission> {
        let caller = std::panic::Location::caller();
        async move {
            let conversation = &mut self.conversation;
            let applied = self
                .coordinator
                .emit(&self.hooks, event, data, conversation);
            match applied.await {
                Ok(applied) => applied,
                Err(error) => panic!("`{event}`, emitted at {caller}, is not applied: {error}"),
            }
        }
    }

    /// Returns the standard events that were emitted, with the data before the first hook.
    pub fn events(&self) -> &EventRecorder {
        &self.events
    }

    /// Returns the questions asked, in order, without those that a grant of "allow always"
    /// answered.
    pub fn questions(&self) -> Vec<Arc<ApprovalRequest>> {
        self.answers.asked()
    }

    /// Returns the messages that the user saw, in order.
    pub fn messages(&self) -> Vec<UserMessage> {
        self.screen.seen().messages.clone()
    }

    /// Returns the output that hooks printed and did not suppress, in order.
    pub fn output(&self) -> Vec<HookOutput> {
        self.screen.seen().output.clone()
    }

    /// Returns the messages that hooks have injected into the history, in order.
    pub fn injected(&self) -> Vec<&Message> {
        let history = self.conversation.history().iter();
        history
            .filter(|message| message.injected_by.is_some())
            .collect()
    }
}

impl Default for TestCoordinator {
    fn default() -> Self {
        TestCoordinator::new()
    }
}

impl fmt::Debug for TestCoordinator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TestCoordinator")
            .field("hooks", &self.hooks)
            .field("events", &self.events.names())
            .field("questions", &self.questions().len())
            .finish_non_exhaustive()
    }
}

/// Records the messages for the user.
#[derive(Clone, Default)]
struct Screen(Arc<Mutex<Seen>>);

#[derive(Default)]
struct Seen {
    messages: Vec<UserMessage>,
    output: Vec<HookOutput>,
}

impl Screen {
    fn seen(&self) -> MutexGuard<'_, Seen> {
        lock(&self.0)
    }
}

impl UserDisplay for Screen {
    fn message(&self, message: &UserMessage) {
        self.seen().messages.push(message.clone());
    }

    fn output(&self, output: &HookOutput) {
        self.seen().output.push(output.clone());
    }
}
