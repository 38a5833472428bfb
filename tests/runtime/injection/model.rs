//! Conversations, step by step, against a model of their rules (E-110 to E-115).

use hooks_runtime::{ContextRole, Conversation, InjectionStatus, Message, Role};
use proptest::prelude::*;

use super::{apply, limited, text};

/// A change of a conversation.
#[derive(Debug, Clone)]
enum Step {
    Push(Role, String),
    Inject(Vec<(ContextRole, String, bool, bool)>),
    Preview,
    Call,
}

/// The rules, as plainly as they can be written down.
#[derive(Debug, Default)]
struct Model {
    /// The last field: it was injected.
    kept: Vec<(Role, Vec<String>, bool)>,
    now: Vec<(Role, String, bool)>,
    audit: Vec<(usize, InjectionStatus)>,
}

const LIMIT: usize = 6;

impl Model {
    fn view(&self) -> Vec<(Role, Vec<String>)> {
        let mut view = self.kept.clone();
        let place = view.iter().rposition(|(.., is_injected)| !is_injected);
        let place = place.filter(|place| view[*place].0 == Role::Tool);
        for (role, text, is_behind) in &self.now {
            match place {
                Some(place) if *is_behind => view[place].1.push(text.clone()),
                _ => view.push((*role, vec![text.clone()], true)),
            }
        }
        plain(view)
    }

    fn inject(&mut self, items: &[(ContextRole, String, bool, bool)]) -> bool {
        let length = |text: &str| text.chars().count();
        let is_refused = items.iter().any(|(_, text, ..)| length(text) > LIMIT);
        for (role, text, ephemeral, append) in items {
            let role = match role {
                ContextRole::System => Role::System,
                ContextRole::User => Role::User,
                ContextRole::Assistant => Role::Assistant,
            };
            let fate = match (is_refused, ephemeral) {
                (true, _) => InjectionStatus::Refused,
                (false, true) => {
                    self.now.push((role, text.clone(), *append));
                    InjectionStatus::Ephemeral
                }
                (false, false) => {
                    self.kept.push((role, vec![text.clone()], true));
                    InjectionStatus::Stored
                }
            };
            self.audit.push((length(text), fate));
        }
        is_refused
    }
}

fn plain(messages: Vec<(Role, Vec<String>, bool)>) -> Vec<(Role, Vec<String>)> {
    let messages = messages.into_iter();
    messages.map(|(role, lines, _)| (role, lines)).collect()
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let role = prop::sample::select(&[Role::System, Role::User, Role::Assistant, Role::Tool][..]);
    let context = prop::sample::select(
        &[
            ContextRole::System,
            ContextRole::User,
            ContextRole::Assistant,
        ][..],
    );
    let item = (context, "[a-zäß🦀]{1,7}", any::<bool>(), any::<bool>());
    let step = prop_oneof![
        2 => (role, "[a-z]{1,4}").prop_map(|(role, text)| Step::Push(role, text)),
        3 => prop::collection::vec(item, 0..4).prop_map(Step::Inject),
        1 => Just(Step::Preview),
        1 => Just(Step::Call),
    ];
    prop::collection::vec(step, 0..20)
}

/// Messages as the lines of their texts: the separator within one message is not specified.
fn lines(messages: &[Message]) -> Vec<(Role, Vec<String>)> {
    let lines = |message: &Message| {
        let lines = message.content.lines().filter(|line| !line.is_empty());
        (message.role, lines.map(str::to_owned).collect())
    };
    messages.iter().map(lines).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn e_110_to_e_115_a_conversation_matches_the_reference_model(steps in steps()) {
        let coordinator = limited(LIMIT);
        let (mut conversation, mut model) = (Conversation::new(), Model::default());
        for step in steps {
            match step {
                Step::Push(role, text) => {
                    conversation.push(Message::new(role, &*text));
                    model.kept.push((role, vec![text], false));
                }
                Step::Inject(items) => {
                    let results = items.iter().map(|(role, content, ephemeral, append)| {
                        text(content)
                            .context_injection_role(*role)
                            .ephemeral(*ephemeral)
                            .append_to_last_tool_result(*append)
                    });
                    let applying = apply(&coordinator, &mut conversation, results);
                    let applied = futures::executor::block_on(applying);
                    prop_assert_eq!(applied.is_err(), model.inject(&items));
                }
                Step::Preview => prop_assert_eq!(lines(&conversation.preview_call()), model.view()),
                Step::Call => {
                    prop_assert_eq!(lines(&conversation.next_call()), model.view());
                    model.now.clear();
                }
            }
            prop_assert_eq!(lines(conversation.history()), plain(model.kept.clone()));
        }
        prop_assert_eq!(lines(&conversation.next_call()), model.view());
        let audit: Vec<_> = conversation.audit().map(|r| (r.chars, r.status)).collect();
        prop_assert_eq!(audit, model.audit);
    }
}
